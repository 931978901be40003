// The part of the HIP runtime's binary interface that is used: numbers, structures and entry points of ROCm 6
// and later. Nothing links the runtime: a Driver opens it.
#pragma once

#include <cstddef>
#include <type_traits>

namespace fw::gpu {

enum HipCode : int { hip_success = 0, hip_out_of_memory = 2, hip_no_device = 100 };
enum HipCopy : int { hip_copy_default = 4 };  // the runtime sees by the pointers where they lie

// hipDeviceProp_tR0600: only what is read has a name. Newer runtimes may write more, hence the room behind.
struct HipProperties {
  char name[256];
  char skip0[32];
  std::size_t memory_bytes;
  char skip1[92];
  int compute_units;
  char skip2[768];
  char arch[256];  // "gfx942:sramecc+:xnack-"
  char skip3[2680];
};
static_assert(offsetof(HipProperties, memory_bytes) == 288);
static_assert(offsetof(HipProperties, compute_units) == 388);
static_assert(offsetof(HipProperties, arch) == 1160);

// A parameter block of a launch is passed as this list.
inline void* const hip_parameter_pointer = reinterpret_cast<void*>(1);
inline void* const hip_parameter_bytes = reinterpret_cast<void*>(2);
inline void* const hip_parameter_end = reinterpret_cast<void*>(3);

using HipStream = void*;
using HipModule = void*;
using HipFunction = void*;

#define FW_HIP_ENTRIES(entry)                                                                               \
  entry(hipInit, int(unsigned));                                                                            \
  entry(hipGetDeviceCount, int(int*));                                                                      \
  entry(hipGetDevicePropertiesR0600, int(HipProperties*, int));                                             \
  entry(hipGetDevice, int(int*));                                                                           \
  entry(hipSetDevice, int(int));                                                                            \
  entry(hipRuntimeGetVersion, int(int*));                                                                   \
  entry(hipModuleLoadData, int(HipModule*, const void*));                                                   \
  entry(hipModuleGetFunction, int(HipFunction*, HipModule, const char*));                                   \
  entry(hipModuleLaunchKernel, int(HipFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
                                   unsigned, HipStream, void**, void**));                                   \
  entry(hipMalloc, int(void**, std::size_t));                                                               \
  entry(hipFree, int(void*));                                                                               \
  entry(hipMallocAsync, int(void**, std::size_t, HipStream));                                               \
  entry(hipFreeAsync, int(void*, HipStream));                                                               \
  entry(hipMemcpy, int(void*, const void*, std::size_t, int));                                              \
  entry(hipMemcpyAsync, int(void*, const void*, std::size_t, int, HipStream));                              \
  entry(hipStreamSynchronize, int(HipStream));                                                              \
  entry(hipStreamIsCapturing, int(HipStream, int*));                                                        \
  entry(hipDeviceSynchronize, int());                                                                       \
  entry(hipGetLastError, int());                                                                            \
  entry(hipGetErrorName, const char*(int));                                                                 \
  entry(hipGetErrorString, const char*(int))

// Every entry is there: a Driver is not opened otherwise.
struct Hip {
#define FW_HIP_MEMBER(name, ...) std::add_pointer_t<__VA_ARGS__> name = nullptr
  FW_HIP_ENTRIES(FW_HIP_MEMBER);
#undef FW_HIP_MEMBER
};

}  // namespace fw::gpu
