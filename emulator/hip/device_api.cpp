// hip* entry points: devices, errors, versions.
#include <cstring>

#include "hip/runtime.hpp"

using namespace cdna;
using namespace cdna::hip;

namespace {

constexpr int kVersion = 60443484;  // 6.4
constexpr int kGrid[] = {2147483647, 65536, 65536};
constexpr int kThreads = 1024, kThreadsPerUnit = 2048, kRegisterWords = 131072;

struct Names {
  int code;
  const char *name, *sentence;
};
constexpr Names kNames[] = {
    {kSuccess, "hipSuccess", "no error"},
    {kInvalidValue, "hipErrorInvalidValue", "invalid argument"},
    {kOutOfMemory, "hipErrorOutOfMemory", "out of memory"},
    {kNotInitialized, "hipErrorNotInitialized", "initialization error"},
    {kInvalidConfiguration, "hipErrorInvalidConfiguration", "invalid configuration argument"},
    {kInvalidDevicePointer, "hipErrorInvalidDevicePointer", "invalid device pointer"},
    {kInvalidDeviceFunction, "hipErrorInvalidDeviceFunction", "invalid device function"},
    {kNoDevice, "hipErrorNoDevice", "no ROCm-capable device is detected"},
    {kInvalidDevice, "hipErrorInvalidDevice", "invalid device ordinal"},
    {kInvalidImage, "hipErrorInvalidImage", "device kernel image is invalid"},
    {kNoBinaryForGpu, "hipErrorNoBinaryForGpu", "no kernel image is available for execution on the device"},
    {kFileNotFound, "hipErrorFileNotFound", "file not found"},
    {kInvalidHandle, "hipErrorInvalidHandle", "invalid resource handle"},
    {kIllegalState, "hipErrorIllegalState", "the operation cannot be performed in the present state"},
    {kNotFound, "hipErrorNotFound", "named symbol not found"},
    {kNotReady, "hipErrorNotReady", "device not ready"},
    {kIllegalAddress, "hipErrorIllegalAddress", "an illegal memory access was encountered"},
    {kLaunchOutOfResources, "hipErrorLaunchOutOfResources", "out of resources"},
    {kPeerAccessAlreadyEnabled, "hipErrorPeerAccessAlreadyEnabled", "peer access is already enabled"},
    {kPeerAccessNotEnabled, "hipErrorPeerAccessNotEnabled", "peer access has not been enabled"},
    {kLaunchFailure, "hipErrorLaunchFailure", "unspecified launch failure"},
    {kNotSupported, "hipErrorNotSupported", "operation not supported"},
    {kCaptureUnsupported, "hipErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {kCaptureInvalidated, "hipErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {kUnknown, "hipErrorUnknown", "unknown error"},
};

const Names& names(int code) {
  for (const Names& n : kNames)
    if (n.code == code) return n;
  return names(kUnknown);
}

void describe(DeviceProperties& p, const Generation& g, int ordinal) {
  std::memset(&p, 0, sizeof p);
  std::strncpy(p.name, g.product, sizeof p.name - 1);
  std::strncpy(p.arch_name, g.name, sizeof p.arch_name - 1);
  p.total_memory = g.memory_bytes;
  p.lds_per_block = p.lds_per_unit = p.most_lds_per_unit = p.lds_per_block_optin = g.lds_bytes;
  p.registers_per_block = p.registers_per_unit = kRegisterWords;
  p.wave_size = kLanes;
  p.pitch = 2147483647;
  p.threads_per_block = kThreads;
  for (int n = 0; n < 3; ++n) p.block_dimensions[n] = kThreads, p.grid_dimensions[n] = kGrid[n];
  p.clock_khz = g.clock_khz;
  p.constant_memory = 2147483647;
  p.major = 9;
  p.minor = g.arch == Arch::gfx90a ? 0 : g.arch == Arch::gfx942 ? 4 : 5;
  p.compute_units = g.compute_units;
  p.concurrent_kernels = p.ecc = p.unified_addressing = p.memory_pools = p.large_bar = 1;
  p.pci_bus = ordinal;
  p.async_engines = 8;
  p.memory_clock_khz = g.memory_clock_khz;
  p.memory_bus_bits = 8192;
  p.l2_bytes = g.l2_bytes;
  p.threads_per_unit = kThreadsPerUnit;
  p.blocks_per_unit = 2;
  p.clock_instruction_khz = 100000;
}

int attribute(int which, const DeviceProperties& p, bool& known) {
  switch (which) {
    case kEcc: return p.ecc;
    case kClockRate: return p.clock_khz;
    case kConcurrentKernels:
    case kUnifiedAddressing:
    case kMemoryPools: return 1;
    case kCooperativeLaunch:
    case kIntegrated:
    case kManagedMemory:
    case kStreamPriorities: return 0;
    case kL2Bytes: return p.l2_bytes;
    case kMajor: return p.major;
    case kMinor: return p.minor;
    case kBlocksPerUnit: return p.blocks_per_unit;
    case kBlockX:
    case kBlockY:
    case kBlockZ:
    case kThreadsPerBlock: return kThreads;
    case kGridX: return kGrid[0];
    case kGridY: return kGrid[1];
    case kGridZ: return kGrid[2];
    case kThreadsPerUnit: return p.threads_per_unit;
    case kMemoryBus: return p.memory_bus_bits;
    case kMemoryClock: return p.memory_clock_khz;
    case kUnits:
    case kPhysicalUnits: return p.compute_units;
    case kPciBus: return p.pci_bus;
    case kPciDevice:
    case kPciDomain:
    case kRevision: return 0;
    case kRegistersPerBlock:
    case kRegistersPerUnit: return kRegisterWords;
    case kLdsPerBlock:
    case kLdsPerBlockOptin:
    case kLdsPerUnit:
    case kMostLdsPerUnit: return static_cast<int>(p.lds_per_block);
    case kWaveSize: return kLanes;
    case kClockInstruction:
    case kWallClock: return p.clock_instruction_khz;
    default: known = false; return 0;
  }
}

}  // namespace

HIP_ENTRY hipInit(unsigned) { return Runtime::get().device_count() ? kSuccess : kNoDevice; }

HIP_ENTRY hipGetDeviceCount(int* count) {
  if (!count) return result(kInvalidValue);
  *count = Runtime::get().device_count();
  return *count ? kSuccess : result(kNoDevice);
}

HIP_ENTRY hipSetDevice(int n) {
  if (!Runtime::get().device(n)) return result(kInvalidDevice);
  thread_state().device = n;
  return kSuccess;
}

HIP_ENTRY hipGetDevice(int* n) {
  if (!n) return result(kInvalidValue);
  *n = thread_state().device;
  return kSuccess;
}

HIP_ENTRY hipDeviceGet(int* device, int ordinal) {
  if (!device) return result(kInvalidValue);
  if (!Runtime::get().device(ordinal)) return result(kInvalidDevice);
  *device = ordinal;
  return kSuccess;
}

HIP_ENTRY hipGetDevicePropertiesR0600(DeviceProperties* p, int n) {
  const Device* d = Runtime::get().device(n);
  if (!p) return result(kInvalidValue);
  if (!d) return result(kInvalidDevice);
  describe(*p, generation(d->arch), n);
  return kSuccess;
}

HIP_ENTRY hipDeviceGetAttribute(int* value, int which, int n) {
  const Device* d = Runtime::get().device(n);
  if (!value) return result(kInvalidValue);
  if (!d) return result(kInvalidDevice);
  DeviceProperties p;
  describe(p, generation(d->arch), n);
  bool known = true;
  *value = attribute(which, p, known);
  return known ? kSuccess : result(kInvalidValue);
}

HIP_ENTRY hipDeviceGetName(char* name, int room, int n) {
  const Device* d = Runtime::get().device(n);
  if (!name || room <= 0) return result(kInvalidValue);
  if (!d) return result(kInvalidDevice);
  std::strncpy(name, generation(d->arch).product, static_cast<size_t>(room));
  name[room - 1] = 0;
  return kSuccess;
}

HIP_ENTRY hipDeviceTotalMem(size_t* bytes, int n) {
  const Device* d = Runtime::get().device(n);
  if (!bytes) return result(kInvalidValue);
  if (!d) return result(kInvalidDevice);
  *bytes = generation(d->arch).memory_bytes;
  return kSuccess;
}

HIP_ENTRY hipDeviceSynchronize() { return result(Runtime::get().refuse_in_capture()); }
HIP_ENTRY hipDeviceReset() { return result(Runtime::get().refuse_in_capture()); }

HIP_ENTRY hipDeviceCanAccessPeer(int* can, int device, int peer) {
  Runtime& r = Runtime::get();
  if (!can) return result(kInvalidValue);
  if (!r.device(device) || !r.device(peer)) return result(kInvalidDevice);
  *can = device != peer;
  return kSuccess;
}

HIP_ENTRY hipDeviceEnablePeerAccess(int peer, unsigned) {
  Runtime& r = Runtime::get();
  Device* owner = r.device(peer);
  if (!owner) return result(kInvalidDevice);
  if (owner->peers.count(thread_state().device)) return result(kPeerAccessAlreadyEnabled);
  r.share_with_peer(peer, thread_state().device);
  return kSuccess;
}

HIP_ENTRY hipRuntimeGetVersion(int* version) {
  if (!version) return result(kInvalidValue);
  *version = kVersion;
  return kSuccess;
}
HIP_ENTRY hipDriverGetVersion(int* version) { return hipRuntimeGetVersion(version); }

HIP_ENTRY hipGetLastError() {
  const Code last = thread_state().last;
  thread_state().last = kSuccess;
  return last;
}
HIP_ENTRY hipPeekAtLastError() { return thread_state().last; }

extern "C" __attribute__((visibility("default"))) const char* hipGetErrorName(int e) { return names(e).name; }
extern "C" __attribute__((visibility("default"))) const char* hipGetErrorString(int e) {
  return names(e).sentence;
}
