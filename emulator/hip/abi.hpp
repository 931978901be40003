// The HIP runtime's binary interface, as far as it is spoken: numbers and structures of ROCm 6 and later.
#pragma once
#include <cstddef>
#include <cstdint>

namespace cdna::hip {

enum Code : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kInvalidConfiguration = 9,
  kInvalidDevicePointer = 17,
  kInvalidDeviceFunction = 98,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kNoBinaryForGpu = 209,
  kFileNotFound = 301,
  kInvalidHandle = 400,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kPeerAccessAlreadyEnabled = 704,
  kPeerAccessNotEnabled = 705,
  kLaunchFailure = 719,
  kNotSupported = 801,
  kCaptureUnsupported = 900,
  kCaptureInvalidated = 901,
  kIllegalState = 401,
  kUnknown = 999,
};

enum CaptureStatus : int { kNotCapturing = 0, kCapturing = 1, kInvalidatedCapture = 2 };

enum MemoryType : int { kUnregistered = 0, kHost = 1, kDevice = 2, kManaged = 3 };

struct PointerAttributes {
  int type, device;
  void *device_pointer, *host_pointer;
  int managed;
  unsigned flags;
};
static_assert(sizeof(PointerAttributes) == 32);

// hipDeviceProp_tR0600: only the fields that are set have names.
struct DeviceProperties {
  char name[256];
  char uuid[16];
  char skip0[16];
  size_t total_memory;  // 288
  size_t lds_per_block;
  int registers_per_block, wave_size;
  size_t pitch;
  int threads_per_block;  // 320
  int block_dimensions[3], grid_dimensions[3];
  int clock_khz;
  size_t constant_memory;  // 352
  int major, minor;
  char skip1[20];
  int compute_units;  // 388
  char skip2[184];
  int concurrent_kernels;  // 576
  int ecc;
  int pci_bus, pci_device, pci_domain, tcc;
  int async_engines;  // 600
  int unified_addressing;
  int memory_clock_khz, memory_bus_bits;
  int l2_bytes;  // 616
  int persisting_l2;
  int threads_per_unit;  // 624
  char skip3[12];
  size_t lds_per_unit;  // 640
  int registers_per_unit;
  char skip4[44];
  size_t lds_per_block_optin;  // 696
  char skip5[8];
  int blocks_per_unit;  // 712
  char skip6[28];
  int memory_pools;  // 744
  char skip7[412];
  char arch_name[256];       // 1160
  size_t most_lds_per_unit;  // 1416
  int clock_instruction_khz;
  unsigned features;
  char skip8[32];
  int large_bar;  // 1464
  int revision;
};
static_assert(sizeof(DeviceProperties) == 1472);
static_assert(offsetof(DeviceProperties, total_memory) == 288);
static_assert(offsetof(DeviceProperties, threads_per_block) == 320);
static_assert(offsetof(DeviceProperties, clock_khz) == 348);
static_assert(offsetof(DeviceProperties, constant_memory) == 352);
static_assert(offsetof(DeviceProperties, compute_units) == 388);
static_assert(offsetof(DeviceProperties, concurrent_kernels) == 576);
static_assert(offsetof(DeviceProperties, async_engines) == 600);
static_assert(offsetof(DeviceProperties, l2_bytes) == 616);
static_assert(offsetof(DeviceProperties, threads_per_unit) == 624);
static_assert(offsetof(DeviceProperties, lds_per_unit) == 640);
static_assert(offsetof(DeviceProperties, lds_per_block_optin) == 696);
static_assert(offsetof(DeviceProperties, blocks_per_unit) == 712);
static_assert(offsetof(DeviceProperties, memory_pools) == 744);
static_assert(offsetof(DeviceProperties, arch_name) == 1160);
static_assert(offsetof(DeviceProperties, most_lds_per_unit) == 1416);
static_assert(offsetof(DeviceProperties, large_bar) == 1464);

// hipDeviceAttribute_t
enum Attribute : int {
  kEcc = 0,
  kClockRate = 5,
  kConcurrentKernels = 8,
  kCooperativeLaunch = 10,
  kIntegrated = 16,
  kL2Bytes = 19,
  kMajor = 23,
  kManagedMemory = 24,
  kBlocksPerUnit = 25,
  kBlockX = 26,
  kBlockY = 27,
  kBlockZ = 28,
  kGridX = 29,
  kGridY = 30,
  kGridZ = 31,
  kThreadsPerBlock = 56,
  kThreadsPerUnit = 57,
  kMemoryBus = 59,
  kMemoryClock = 60,
  kMinor = 61,
  kUnits = 63,
  kPciBus = 67,
  kPciDevice = 68,
  kPciDomain = 69,
  kRegistersPerBlock = 71,
  kRegistersPerUnit = 72,
  kLdsPerBlock = 74,
  kLdsPerBlockOptin = 75,
  kLdsPerUnit = 76,
  kStreamPriorities = 78,
  kUnifiedAddressing = 85,
  kWaveSize = 87,
  kMemoryPools = 88,
  kClockInstruction = 10000,
  kMostLdsPerUnit = 10002,
  kRevision = 10012,
  kPhysicalUnits = 10015,
  kWallClock = 10017,
};

// hipFunction_attribute
enum FunctionAttribute : int {
  kMostThreads = 0,
  kSharedBytes = 1,
  kConstantBytes = 2,
  kLocalBytes = 3,
  kRegisterCount = 4,
  kPtx = 5,
  kBinary = 6,
  kCacheMode = 7,
  kMostDynamicShared = 8,
  kSharedCarveout = 9,
};

inline void* const kParameterPointer = reinterpret_cast<void*>(1);
inline void* const kParameterBytes = reinterpret_cast<void*>(2);
inline void* const kParameterEnd = reinterpret_cast<void*>(3);

}  // namespace cdna::hip
