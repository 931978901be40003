// Calls on an emulated GPU that lines cannot say: streams that capture, workspaces, several devices and
// threads, lengths in the device's memory.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/case_data.hpp"
#include "support/members.hpp"
#include "support/on_device.hpp"
#include "support/outputs.hpp"

namespace {

using namespace tools;

constexpr const char* device = AMD_DEVICE;

// The runtime's own entry points, for what a caller of the library does with streams.
struct Hip {
  int (*hipStreamCreate)(void**);
  int (*hipStreamBeginCapture)(void*, int);
  int (*hipStreamEndCapture)(void*, void**);
  int (*hipGraphInstantiate)(void**, void*, void*, char*, std::size_t);
  int (*hipGraphLaunch)(void*, void*);
  int (*hipGetDevice)(int*);

  Hip() {
    flashwave_device found = FLASHWAVE_INIT(flashwave_device);
    EXPECT_EQ(flashwave_find_device(device, &found), FLASHWAVE_OK) << flashwave_message();
    void* const library = dlopen(found.driver, RTLD_NOW | RTLD_NOLOAD);
    const auto find = [&](auto& entry, const char* name) {
      entry = reinterpret_cast<std::remove_reference_t<decltype(entry)>>(dlsym(library, name));
    };
    find(hipStreamCreate, "hipStreamCreate");
    find(hipStreamBeginCapture, "hipStreamBeginCapture");
    find(hipStreamEndCapture, "hipStreamEndCapture");
    find(hipGraphInstantiate, "hipGraphInstantiate");
    find(hipGraphLaunch, "hipGraphLaunch");
    find(hipGetDevice, "hipGetDevice");
  }
};

// A forward call of a line, its tensors on a device.
struct Prepared {
  Prepared(const std::string& line, const char* where) : copies(where) {
    EXPECT_TRUE(parse_case(line, c).ok()) << line;
    data = std::make_unique<CaseData>(c, Memory::plain);
    call = forward_of(data->call());
    add_outputs(call, data->wants(FLASHWAVE_FORWARD), {}, outputs);
    host = call;
    call.device = where;
    EXPECT_EQ(copies.upload(call).message(), "");
  }
  void give_workspace() {
    EXPECT_EQ(flashwave_workspace_size(&call, &call.workspace_bytes), FLASHWAVE_OK) << flashwave_message();
    EXPECT_GT(call.workspace_bytes, 0u);
    EXPECT_EQ(copies.add_bytes(call.workspace_bytes, 0xff, call.workspace).message(), "");
  }
  std::vector<float> out() {
    EXPECT_EQ(copies.download().message(), "");
    std::vector<float> values;
    for (std::int64_t i = 0; i < elements(host.out); ++i)
      values.push_back(load(host.out.data, host.out.dtype, i));
    return values;
  }

  Case c;
  std::unique_ptr<CaseData> data;
  Arena outputs{Memory::poisoned};
  OnDevice copies;
  flashwave_attention call, host;
};

constexpr const char* split_line = "fwd b2 hq4 hkv2 sq2 sk200 d64 bf16 cache append=2 rotary=16 splits=3";

TEST(Amd, ACapturedCallRunsWhenItsGraphDoes) {
  Prepared eager(split_line, device), captured(split_line, device);
  eager.give_workspace();
  ASSERT_EQ(flashwave_run(&eager.call), FLASHWAVE_OK) << flashwave_message();
  captured.give_workspace();
  const Hip hip;
  void *stream = nullptr, *graph = nullptr, *ready = nullptr;
  ASSERT_EQ(hip.hipStreamCreate(&stream), 0);
  captured.call.stream = stream;
  ASSERT_EQ(hip.hipStreamBeginCapture(stream, 0), 0);
  EXPECT_EQ(flashwave_run(&captured.call), FLASHWAVE_OK) << flashwave_message();
  ASSERT_EQ(hip.hipStreamEndCapture(stream, &graph), 0);
  ASSERT_EQ(hip.hipGraphInstantiate(&ready, graph, nullptr, nullptr, 0), 0);
  ASSERT_EQ(hip.hipGraphLaunch(ready, stream), 0);
  EXPECT_EQ(captured.out(), eager.out());
}

TEST(Amd, ACaptureHasNoMemoryToGive) {
  Prepared p(split_line, device);
  ASSERT_EQ(flashwave_workspace_size(&p.call, &p.call.workspace_bytes), FLASHWAVE_OK);
  const Hip hip;
  void *stream = nullptr, *graph = nullptr;
  ASSERT_EQ(hip.hipStreamCreate(&stream), 0);
  p.call.stream = stream;
  ASSERT_EQ(hip.hipStreamBeginCapture(stream, 0), 0);
  EXPECT_EQ(flashwave_run(&p.call), FLASHWAVE_UNAVAILABLE);
  EXPECT_NE(std::string(flashwave_message()).find("this call needs a workspace of"), std::string::npos)
      << flashwave_message();
  EXPECT_EQ(hip.hipStreamEndCapture(stream, &graph), 0) << "the refusal broke the capture";
}

TEST(Amd, ThreadsAndDevicesDoNotMeet) {
  Prepared alone(split_line, device);
  ASSERT_EQ(flashwave_run(&alone.call), FLASHWAVE_OK) << flashwave_message();
  const std::vector<float> expected = alone.out();
  const std::string second = std::string(device) + ":1";
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      Prepared p(split_line, i % 2 == 0 ? device : second.c_str());
      for (int call = 0; call < 3; ++call)
        EXPECT_EQ(flashwave_run(&p.call), FLASHWAVE_OK) << flashwave_message();
    });
  for (std::thread& thread : threads) thread.join();
  Prepared elsewhere(split_line, second.c_str());
  ASSERT_EQ(flashwave_run(&elsewhere.call), FLASHWAVE_OK) << flashwave_message();
  EXPECT_EQ(elsewhere.out(), expected);
  int now = -1;
  EXPECT_EQ(Hip().hipGetDevice(&now), 0);
  EXPECT_EQ(now, 0) << "the caller's device was changed";
}

TEST(Amd, LengthsOnTheDeviceAreNotReadThere) {
  Prepared p("fwd b3 hq2 sq40 d32 bf16 varlen lens=random causal", device);
  EXPECT_EQ(flashwave_run(&p.call), FLASHWAVE_OK) << flashwave_message();
  p.call.max_seq_q = 0;
  EXPECT_EQ(flashwave_run(&p.call), FLASHWAVE_INVALID);
  EXPECT_STREQ(flashwave_rule(), "max-seq");
}

TEST(Amd, AnAllocatorServes) {
  struct Counts {
    int taken = 0, released = 0;
  } counts;
  Prepared p(split_line, device);
  p.call.allocator_context = &counts;
  p.call.allocate = [](void* context, std::size_t bytes, std::size_t) -> void* {
    ++static_cast<Counts*>(context)->taken;
    void* block = nullptr;
    return flashwave_allocate(device, bytes, &block) == FLASHWAVE_OK ? block : nullptr;
  };
  p.call.release = [](void* context, void* block) {
    ++static_cast<Counts*>(context)->released;
    EXPECT_EQ(flashwave_release(device, block), FLASHWAVE_OK);
  };
  EXPECT_EQ(flashwave_run(&p.call), FLASHWAVE_OK) << flashwave_message();
  EXPECT_EQ(counts.taken, 1);
  EXPECT_EQ(counts.released, 1);
}

TEST(Amd, PartialResultsMerge) {
  constexpr std::int64_t parts = 2, rows = 3, dim = 4;
  std::vector<float> outs(parts * rows * dim), lses(parts * rows), out(rows * dim), lse(rows);
  for (std::size_t i = 0; i < outs.size(); ++i) outs[i] = static_cast<float>(i);
  lses = {0, 1, -INFINITY, 0, 2, 5};
  const auto on = [&](const std::vector<float>& values) {
    void* block = nullptr;
    EXPECT_EQ(flashwave_allocate(device, values.size() * 4, &block), FLASHWAVE_OK);
    EXPECT_EQ(flashwave_copy(device, block, values.data(), values.size() * 4), FLASHWAVE_OK);
    return block;
  };
  flashwave_combine call = FLASHWAVE_INIT(flashwave_combine);
  call.device = device;
  call.outs = contiguous(on(outs), FLASHWAVE_FP32, {parts, 1, rows, 1, dim});
  call.lses = contiguous(on(lses), FLASHWAVE_FP32, {parts, 1, 1, rows});
  call.out = contiguous(on(out), FLASHWAVE_FP32, {1, rows, 1, dim});
  call.lse = contiguous(on(lse), FLASHWAVE_FP32, {1, 1, rows});
  ASSERT_EQ(flashwave_run_combine(&call), FLASHWAVE_OK) << flashwave_message();
  ASSERT_EQ(flashwave_copy(device, out.data(), call.out.data, out.size() * 4), FLASHWAVE_OK);
  ASSERT_EQ(flashwave_copy(device, lse.data(), call.lse.data, lse.size() * 4), FLASHWAVE_OK);
  EXPECT_FLOAT_EQ(out[0], 6);  // weights 1/2, 1/2 of 0 and 12
  EXPECT_FLOAT_EQ(lse[0], std::log(2.0f));
  EXPECT_FLOAT_EQ(out[2 * dim], 20);  // the first partial saw nothing
  EXPECT_FLOAT_EQ(lse[2], 5);
  for (const flashwave_tensor* t : {&call.outs, &call.lses, &call.out, &call.lse})
    flashwave_release(device, t->data);
}

TEST(Amd, ADeviceWithoutKernelsSaysWhichThereAre) {
  flashwave_device found = FLASHWAVE_INIT(flashwave_device);
  ASSERT_EQ(flashwave_find_device(device, &found), FLASHWAVE_OK);
  EXPECT_STREQ(found.isa, AMD_ARCH);
  EXPECT_STREQ(found.missing, "");
  EXPECT_EQ(found.host_memory, 0);
  EXPECT_EQ(flashwave_find_device("emu:gfx000", &found), FLASHWAVE_UNAVAILABLE);
}

TEST(Amd, BackwardIsDeclinedWithASentence) {
  Case c;
  ASSERT_TRUE(parse_case("bwd sq10 d32 bf16", c).ok());
  EXPECT_EQ(flashwave_supports(device, &c.problem), FLASHWAVE_UNSUPPORTED);
  EXPECT_NE(std::string(flashwave_message()).find("no backward kernel"), std::string::npos)
      << flashwave_message();
}

}  // namespace
