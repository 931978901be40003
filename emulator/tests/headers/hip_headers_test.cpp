// The binary interface against the HIP runtime's own headers, and a host program compiled with them. Built
// only where they are installed.
#include <gtest/gtest.h>
#include <hip/hip_runtime_api.h>

#include <cstring>

#include "../objects.hpp"
#include "cdna/emulator.h"
#include "hip/abi.hpp"

namespace cdna::test {
namespace {

TEST(HipHeaders, CodesAreTheirs) {
  EXPECT_EQ(hip::kInvalidValue, static_cast<int>(hipErrorInvalidValue));
  EXPECT_EQ(hip::kOutOfMemory, static_cast<int>(hipErrorOutOfMemory));
  EXPECT_EQ(hip::kNotInitialized, static_cast<int>(hipErrorNotInitialized));
  EXPECT_EQ(hip::kInvalidConfiguration, static_cast<int>(hipErrorInvalidConfiguration));
  EXPECT_EQ(hip::kInvalidDevicePointer, static_cast<int>(hipErrorInvalidDevicePointer));
  EXPECT_EQ(hip::kInvalidDeviceFunction, static_cast<int>(hipErrorInvalidDeviceFunction));
  EXPECT_EQ(hip::kNoDevice, static_cast<int>(hipErrorNoDevice));
  EXPECT_EQ(hip::kInvalidDevice, static_cast<int>(hipErrorInvalidDevice));
  EXPECT_EQ(hip::kInvalidImage, static_cast<int>(hipErrorInvalidImage));
  EXPECT_EQ(hip::kNoBinaryForGpu, static_cast<int>(hipErrorNoBinaryForGpu));
  EXPECT_EQ(hip::kFileNotFound, static_cast<int>(hipErrorFileNotFound));
  EXPECT_EQ(hip::kInvalidHandle, static_cast<int>(hipErrorInvalidHandle));
  EXPECT_EQ(hip::kIllegalState, static_cast<int>(hipErrorIllegalState));
  EXPECT_EQ(hip::kNotFound, static_cast<int>(hipErrorNotFound));
  EXPECT_EQ(hip::kNotReady, static_cast<int>(hipErrorNotReady));
  EXPECT_EQ(hip::kIllegalAddress, static_cast<int>(hipErrorIllegalAddress));
  EXPECT_EQ(hip::kLaunchOutOfResources, static_cast<int>(hipErrorLaunchOutOfResources));
  EXPECT_EQ(hip::kPeerAccessAlreadyEnabled, static_cast<int>(hipErrorPeerAccessAlreadyEnabled));
  EXPECT_EQ(hip::kPeerAccessNotEnabled, static_cast<int>(hipErrorPeerAccessNotEnabled));
  EXPECT_EQ(hip::kLaunchFailure, static_cast<int>(hipErrorLaunchFailure));
  EXPECT_EQ(hip::kNotSupported, static_cast<int>(hipErrorNotSupported));
  EXPECT_EQ(hip::kCaptureUnsupported, static_cast<int>(hipErrorStreamCaptureUnsupported));
  EXPECT_EQ(hip::kCaptureInvalidated, static_cast<int>(hipErrorStreamCaptureInvalidated));
  EXPECT_EQ(hip::kUnknown, static_cast<int>(hipErrorUnknown));
  EXPECT_EQ(hip::kNotCapturing, static_cast<int>(hipStreamCaptureStatusNone));
  EXPECT_EQ(hip::kCapturing, static_cast<int>(hipStreamCaptureStatusActive));
  EXPECT_EQ(hip::kInvalidatedCapture, static_cast<int>(hipStreamCaptureStatusInvalidated));
}

TEST(HipHeaders, AttributesAreTheirs) {
  EXPECT_EQ(hip::kEcc, static_cast<int>(hipDeviceAttributeEccEnabled));
  EXPECT_EQ(hip::kClockRate, static_cast<int>(hipDeviceAttributeClockRate));
  EXPECT_EQ(hip::kConcurrentKernels, static_cast<int>(hipDeviceAttributeConcurrentKernels));
  EXPECT_EQ(hip::kCooperativeLaunch, static_cast<int>(hipDeviceAttributeCooperativeLaunch));
  EXPECT_EQ(hip::kIntegrated, static_cast<int>(hipDeviceAttributeIntegrated));
  EXPECT_EQ(hip::kL2Bytes, static_cast<int>(hipDeviceAttributeL2CacheSize));
  EXPECT_EQ(hip::kMajor, static_cast<int>(hipDeviceAttributeComputeCapabilityMajor));
  EXPECT_EQ(hip::kManagedMemory, static_cast<int>(hipDeviceAttributeManagedMemory));
  EXPECT_EQ(hip::kBlockX, static_cast<int>(hipDeviceAttributeMaxBlockDimX));
  EXPECT_EQ(hip::kGridZ, static_cast<int>(hipDeviceAttributeMaxGridDimZ));
  EXPECT_EQ(hip::kThreadsPerBlock, static_cast<int>(hipDeviceAttributeMaxThreadsPerBlock));
  EXPECT_EQ(hip::kThreadsPerUnit, static_cast<int>(hipDeviceAttributeMaxThreadsPerMultiProcessor));
  EXPECT_EQ(hip::kMemoryBus, static_cast<int>(hipDeviceAttributeMemoryBusWidth));
  EXPECT_EQ(hip::kMemoryClock, static_cast<int>(hipDeviceAttributeMemoryClockRate));
  EXPECT_EQ(hip::kMinor, static_cast<int>(hipDeviceAttributeComputeCapabilityMinor));
  EXPECT_EQ(hip::kUnits, static_cast<int>(hipDeviceAttributeMultiprocessorCount));
  EXPECT_EQ(hip::kPciBus, static_cast<int>(hipDeviceAttributePciBusId));
  EXPECT_EQ(hip::kPciDomain, static_cast<int>(hipDeviceAttributePciDomainID));
  EXPECT_EQ(hip::kRegistersPerBlock, static_cast<int>(hipDeviceAttributeMaxRegistersPerBlock));
  EXPECT_EQ(hip::kLdsPerBlock, static_cast<int>(hipDeviceAttributeMaxSharedMemoryPerBlock));
  EXPECT_EQ(hip::kLdsPerUnit, static_cast<int>(hipDeviceAttributeSharedMemPerMultiprocessor));
  EXPECT_EQ(hip::kStreamPriorities, static_cast<int>(hipDeviceAttributeStreamPrioritiesSupported));
  EXPECT_EQ(hip::kUnifiedAddressing, static_cast<int>(hipDeviceAttributeUnifiedAddressing));
  EXPECT_EQ(hip::kWaveSize, static_cast<int>(hipDeviceAttributeWarpSize));
  EXPECT_EQ(hip::kMemoryPools, static_cast<int>(hipDeviceAttributeMemoryPoolsSupported));
  EXPECT_EQ(hip::kClockInstruction, static_cast<int>(hipDeviceAttributeClockInstructionRate));
  EXPECT_EQ(hip::kMostLdsPerUnit, static_cast<int>(hipDeviceAttributeMaxSharedMemoryPerMultiprocessor));
  EXPECT_EQ(hip::kRevision, static_cast<int>(hipDeviceAttributeAsicRevision));
  EXPECT_EQ(hip::kPhysicalUnits, static_cast<int>(hipDeviceAttributePhysicalMultiProcessorCount));
  EXPECT_EQ(hip::kMostThreads, static_cast<int>(HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
  EXPECT_EQ(hip::kRegisterCount, static_cast<int>(HIP_FUNC_ATTRIBUTE_NUM_REGS));
  EXPECT_EQ(hip::kMostDynamicShared, static_cast<int>(HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES));
}

TEST(HipHeaders, PointerAttributesAreWhereTheyLook) {
  EXPECT_EQ(sizeof(hip::PointerAttributes), sizeof(hipPointerAttribute_t));
  EXPECT_EQ(offsetof(hip::PointerAttributes, device), offsetof(hipPointerAttribute_t, device));
  EXPECT_EQ(offsetof(hip::PointerAttributes, device_pointer), offsetof(hipPointerAttribute_t, devicePointer));
  EXPECT_EQ(offsetof(hip::PointerAttributes, host_pointer), offsetof(hipPointerAttribute_t, hostPointer));
  EXPECT_EQ(offsetof(hip::PointerAttributes, managed), offsetof(hipPointerAttribute_t, isManaged));
  EXPECT_EQ(offsetof(hip::PointerAttributes, flags), offsetof(hipPointerAttribute_t, allocationFlags));
  EXPECT_EQ(hip::kParameterPointer, HIP_LAUNCH_PARAM_BUFFER_POINTER);
  EXPECT_EQ(hip::kParameterBytes, HIP_LAUNCH_PARAM_BUFFER_SIZE);
  EXPECT_EQ(hip::kParameterEnd, HIP_LAUNCH_PARAM_END);
}

TEST(HipHeaders, AHostProgramRunsAsItIs) {
  ASSERT_EQ(cdna_emulator_devices("gfx90a,gfx942,gfx950"), 0) << cdna_emulator_message();
  ASSERT_EQ(hipSetDevice(static_cast<int>(Arch::gfx942)), hipSuccess);
  hipModule_t module;
  hipFunction_t call;
  hipStream_t stream;
  hipEvent_t begin, end;
  int* out;
  ASSERT_EQ(hipModuleLoadData(&module, object_file(Arch::gfx942).data()), hipSuccess);
  ASSERT_EQ(hipModuleGetFunction(&call, module, "call"), hipSuccess);
  ASSERT_EQ(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking), hipSuccess);
  ASSERT_EQ(hipEventCreate(&begin), hipSuccess);
  ASSERT_EQ(hipEventCreate(&end), hipSuccess);
  ASSERT_EQ(hipMallocAsync(reinterpret_cast<void**>(&out), 256, stream), hipSuccess);
  struct {
    int* out;
    int x;
  } arguments{out, 20};
  size_t bytes = 12;
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &arguments, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   HIP_LAUNCH_PARAM_END};
  EXPECT_EQ(hipEventRecord(begin, stream), hipSuccess);
  EXPECT_EQ(hipModuleLaunchKernel(call, 1, 1, 1, 64, 1, 1, 0, stream, nullptr, extra), hipSuccess);
  EXPECT_EQ(hipEventRecord(end, stream), hipSuccess);
  int got[64] = {};
  EXPECT_EQ(hipMemcpyAsync(got, out, sizeof got, hipMemcpyDeviceToHost, stream), hipSuccess);
  EXPECT_EQ(hipStreamSynchronize(stream), hipSuccess);
  for (int n = 0; n < 64; ++n) EXPECT_EQ(got[n], 82 + 2 * n);
  float milliseconds = -1;
  EXPECT_EQ(hipEventElapsedTime(&milliseconds, begin, end), hipSuccess);
  EXPECT_GE(milliseconds, 0);
  EXPECT_STREQ(hipGetErrorString(hipSuccess), "no error");
  hipFreeAsync(out, stream);
  hipEventDestroy(begin);
  hipEventDestroy(end);
  hipStreamDestroy(stream);
  hipModuleUnload(module);
}

}  // namespace
}  // namespace cdna::test
