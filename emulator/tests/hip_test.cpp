// A host program's view: the HIP entry points over emulated devices, and the emulator's own interface.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>

#include "cdna/emulator.h"
#include "hip/abi.hpp"
#include "objects.hpp"

using namespace cdna::hip;

extern "C" {
int hipGetDeviceCount(int*);
int hipSetDevice(int);
int hipGetDevicePropertiesR0600(DeviceProperties*, int);
int hipDeviceGetAttribute(int*, int, int);
int hipMalloc(void**, size_t);
int hipMallocAsync(void**, size_t, void*);
int hipFree(void*);
int hipMemcpy(void*, const void*, size_t, int);
int hipMemcpyAsync(void*, const void*, size_t, int, void*);
int hipMemset(void*, int, size_t);
int hipMemsetD32(void*, int, size_t);
int hipPointerGetAttributes(PointerAttributes*, const void*);
int hipStreamCreate(void**);
int hipStreamDestroy(void*);
int hipStreamSynchronize(void*);
int hipStreamIsCapturing(void*, int*);
int hipStreamBeginCapture(void*, int);
int hipStreamEndCapture(void*, void**);
int hipGraphInstantiate(void**, void*, void*, char*, size_t);
int hipGraphLaunch(void*, void*);
int hipGraphDestroy(void*);
int hipGraphExecDestroy(void*);
int hipDeviceSynchronize();
int hipModuleLoadData(void**, const void*);
int hipModuleUnload(void*);
int hipModuleGetFunction(void**, void*, const char*);
int hipModuleLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                          void**, void**);
int hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int*, void*, int, size_t);
int hipFuncGetAttribute(int*, int, void*);
int hipGetLastError();
const char* hipGetErrorName(int);
}

namespace cdna::test {
namespace {

class Hip : public testing::TestWithParam<Arch> {
 protected:
  void SetUp() override {
    ASSERT_EQ(cdna_emulator_devices("gfx90a,gfx942,gfx950"), 0) << cdna_emulator_message();
    ASSERT_EQ(hipSetDevice(static_cast<int>(GetParam())), kSuccess);
    ASSERT_EQ(hipModuleLoadData(&module, object_file(GetParam()).data()), kSuccess)
        << cdna_emulator_message();
    ASSERT_EQ(hipModuleGetFunction(&call, module, "call"), kSuccess);
    ASSERT_EQ(hipMalloc(&out, 256), kSuccess);
  }
  void TearDown() override {
    hipFree(out);
    hipModuleUnload(module);
    hipGetLastError();
  }
  int launch(void* stream, int x, void* to) {
    void* each[] = {&to, &x};
    return hipModuleLaunchKernel(call, 1, 1, 1, 64, 1, 1, 0, stream, each, nullptr);
  }
  int first() {
    int x = -1;
    EXPECT_EQ(hipMemcpy(&x, out, 4, 2), kSuccess);
    return x;
  }

  void *module = nullptr, *call = nullptr, *out = nullptr;
};

TEST_P(Hip, DevicesHaveTheirArchitecture) {
  int count = 0;
  EXPECT_EQ(hipGetDeviceCount(&count), kSuccess);
  EXPECT_EQ(count, 3);
  DeviceProperties p;
  EXPECT_EQ(hipGetDevicePropertiesR0600(&p, static_cast<int>(GetParam())), kSuccess);
  EXPECT_STREQ(p.arch_name, generation(GetParam()).name);
  int units = 0;
  EXPECT_EQ(hipDeviceGetAttribute(&units, kUnits, static_cast<int>(GetParam())), kSuccess);
  EXPECT_EQ(units, p.compute_units);
  EXPECT_EQ(hipSetDevice(3), kInvalidDevice);
  EXPECT_EQ(hipGetLastError(), kInvalidDevice);
  EXPECT_STREQ(hipGetErrorName(kInvalidDevice), "hipErrorInvalidDevice");
}

TEST_P(Hip, LaunchesByEitherKindOfArguments) {
  EXPECT_EQ(launch(nullptr, 20, out), kSuccess);
  EXPECT_EQ(first(), 82);
  struct {
    void* to;
    int x;
  } block{out, 30};
  size_t bytes = 12;
  void* extra[] = {kParameterPointer, &block, kParameterBytes, &bytes, kParameterEnd};
  EXPECT_EQ(hipModuleLaunchKernel(call, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra), kSuccess);
  EXPECT_EQ(first(), 122);
  bytes = 8;
  EXPECT_EQ(hipModuleLaunchKernel(call, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra), kInvalidValue);
  EXPECT_NE(std::string(cdna_emulator_message()).find("takes 12 bytes of arguments, 8 were given"),
            std::string::npos);
  EXPECT_EQ(hipModuleLaunchKernel(call, 1, 1, 1, 128, 1, 1, 0, nullptr, nullptr, extra),
            kInvalidConfiguration);
}

TEST_P(Hip, AFaultNamesItsPlaceAndDoesNotStick) {
  EXPECT_EQ(launch(nullptr, 20, static_cast<char*>(out) + 128), kIllegalAddress);
  EXPECT_NE(std::string(cdna_emulator_message()).find("0 bytes behind the end of allocation"),
            std::string::npos)
      << cdna_emulator_message();
  EXPECT_EQ(launch(nullptr, 1, out), kSuccess);
}

TEST_P(Hip, CopiesStayInTheirAllocation) {
  char room[512] = {};
  EXPECT_EQ(hipMemcpy(out, room, 257, 1), kInvalidValue);
  EXPECT_EQ(hipMemcpy(room, static_cast<char*>(out) + 200, 57, 2), kInvalidValue);
  EXPECT_EQ(hipMemset(out, 1, 256), kSuccess);
  EXPECT_EQ(first(), 0x01010101);
  EXPECT_EQ(hipMemsetD32(out, 77, 64), kSuccess);
  EXPECT_EQ(first(), 77);
  PointerAttributes a;
  EXPECT_EQ(hipPointerGetAttributes(&a, static_cast<char*>(out) + 8), kSuccess);
  EXPECT_EQ(a.type, kDevice);
  EXPECT_EQ(a.device, static_cast<int>(GetParam()));
  EXPECT_EQ(hipPointerGetAttributes(&a, room), kSuccess);
  EXPECT_EQ(a.type, kUnregistered);
}

TEST_P(Hip, CapturesRecordAndReplay) {
  void *stream, *graph, *copy;
  ASSERT_EQ(hipStreamCreate(&stream), kSuccess);
  hipMemset(out, 0, 256);
  ASSERT_EQ(hipStreamBeginCapture(stream, 0), kSuccess);
  EXPECT_EQ(launch(stream, 20, out), kSuccess);
  int status = 0;
  EXPECT_EQ(hipStreamIsCapturing(stream, &status), kSuccess);
  EXPECT_EQ(status, kCapturing);
  ASSERT_EQ(hipStreamEndCapture(stream, &graph), kSuccess);
  EXPECT_EQ(first(), 0);  // nothing ran yet
  ASSERT_EQ(hipGraphInstantiate(&copy, graph, nullptr, nullptr, 0), kSuccess);
  ASSERT_EQ(hipGraphLaunch(copy, stream), kSuccess);
  EXPECT_EQ(hipStreamSynchronize(stream), kSuccess);
  EXPECT_EQ(first(), 82);
  hipGraphExecDestroy(copy);
  hipGraphDestroy(graph);
  hipStreamDestroy(stream);
}

TEST_P(Hip, CapturesRefuseToWaitOrAllocate) {
  void *stream, *graph, *memory;
  ASSERT_EQ(hipStreamCreate(&stream), kSuccess);
  const auto refused = [&](auto forbidden) {
    ASSERT_EQ(hipStreamBeginCapture(stream, 0), kSuccess);
    EXPECT_EQ(forbidden(), kCaptureUnsupported);
    EXPECT_EQ(launch(stream, 1, out), kCaptureInvalidated);
    EXPECT_EQ(hipStreamEndCapture(stream, &graph), kCaptureInvalidated);
  };
  refused([&] { return hipMalloc(&memory, 64); });
  refused([&] { return hipMallocAsync(&memory, 64, stream); });
  refused([&] { return hipFree(out); });
  refused([&] { return hipDeviceSynchronize(); });
  refused([&] { return hipStreamSynchronize(stream); });
  refused([&] { return hipMemcpy(&memory, out, 8, 2); });
  hipStreamDestroy(stream);
}

TEST_P(Hip, ModulesSayWhatIsWrong) {
  void *m, *f;
  const Arch other = GetParam() == Arch::gfx90a ? Arch::gfx942 : Arch::gfx90a;
  EXPECT_EQ(hipModuleLoadData(&m, object_file(other).data()), kNoBinaryForGpu);
  EXPECT_EQ(hipModuleLoadData(&m, "not an object, but long enough to look at"), kInvalidImage);
  EXPECT_EQ(hipModuleGetFunction(&f, module, "absent"), kNotFound);
  int blocks = 0, lds = 0;
  ASSERT_EQ(hipModuleGetFunction(&f, module, "sum"), kSuccess);
  EXPECT_EQ(hipFuncGetAttribute(&lds, kSharedBytes, f), kSuccess);
  EXPECT_EQ(lds, 1024);
  EXPECT_EQ(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 256, 0), kSuccess);
  EXPECT_EQ(blocks, 8);
  EXPECT_EQ(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 256, 20000), kSuccess);
  EXPECT_EQ(blocks, static_cast<int>(generation(GetParam()).lds_bytes / 21024));
}

TEST_P(Hip, ThreadsShareADevice) {
  std::vector<std::thread> threads;
  std::vector<int> got(4, 0);
  for (int n = 0; n < 4; ++n)
    threads.emplace_back([&, n] {
      hipSetDevice(static_cast<int>(GetParam()));
      void* mine = nullptr;
      hipMalloc(&mine, 256);
      for (int round = 0; round < 5; ++round) launch(nullptr, n, mine);
      hipMemcpy(&got[n], mine, 4, 2);
      hipFree(mine);
    });
  for (std::thread& t : threads) t.join();
  for (int n = 0; n < 4; ++n) EXPECT_EQ(got[n], 4 * n + 2);
}

TEST_P(Hip, LaunchesAreComparedWhileOtherThreadsWork) {
  ASSERT_EQ(cdna_emulator_set("compare", "on"), 0);
  std::vector<std::thread> threads;
  std::vector<int> failures(3, 0);
  for (int n = 0; n < 3; ++n)
    threads.emplace_back([&, n] {
      hipSetDevice(static_cast<int>(GetParam()));
      for (int round = 0; round < 8; ++round) {
        void* mine = nullptr;
        int got = 0;
        hipMalloc(&mine, 1 << 16);
        failures[n] += launch(nullptr, 10 * n + round, mine) != kSuccess;
        hipMemcpy(&got, mine, 4, 2);
        failures[n] += got != 4 * (10 * n + round) + 2;
        hipFree(mine);
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(failures, (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(cdna_emulator_set("compare", "off"), 0);
}

TEST_P(Hip, CountersAndSettings) {
  cdna_emulator_reset_counters();
  EXPECT_EQ(cdna_emulator_set("counters", "on"), 0);
  EXPECT_EQ(launch(nullptr, 20, out), kSuccess);
  std::string text(cdna_emulator_counters(nullptr, 0), ' ');
  EXPECT_EQ(cdna_emulator_counters(text.data(), text.size()), text.size());
  EXPECT_NE(text.find("\"kernel\":\"call\""), std::string::npos) << text;
  EXPECT_NE(text.find("\"global_bytes\":256"), std::string::npos) << text;
  EXPECT_EQ(cdna_emulator_set("counters", "off"), 0);
  EXPECT_EQ(cdna_emulator_set("schedule", "sometimes"), 1);
  EXPECT_STREQ(cdna_emulator_message(),
               "schedule 'sometimes' is none of N, -N, barrier, -barrier, random:SEED");
  EXPECT_EQ(cdna_emulator_set("colour", "red"), 1);
  EXPECT_STREQ(cdna_emulator_message(), "setting 'colour' is unknown");
}

INSTANTIATE_TEST_SUITE_P(Each, Hip, testing::ValuesIn({Arch::gfx90a, Arch::gfx942, Arch::gfx950}),
                         [](const auto& p) { return generation(p.param).name; });

}  // namespace
}  // namespace cdna::test
