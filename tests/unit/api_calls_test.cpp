// flashwave.h as a C caller meets it.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "flashwave/flashwave.h"

namespace {

std::string message() { return flashwave_message(); }
bool says(const char* part) { return message().find(part) != std::string::npos; }

flashwave_tensor tensor(void* data, flashwave_dtype dtype, std::int64_t seq, std::int64_t dim) {
  return {data, dtype, 4, {1, seq, 1, dim}, {seq * dim, dim, dim, 1}};
}

// One head, four queries and keys of 8 elements.
struct Small {
  std::vector<float> q, k, v, out;
  flashwave_attention call = FLASHWAVE_INIT(flashwave_attention);

  Small() : q(32), k(32), v(32), out(32, -1) {
    for (std::size_t i = 0; i < q.size(); ++i) {
      q[i] = std::sin(static_cast<float>(i));
      k[i] = std::cos(static_cast<float>(i));
      v[i] = static_cast<float>(i);
    }
    call.q = tensor(q.data(), FLASHWAVE_FP32, 4, 8);
    call.k = tensor(k.data(), FLASHWAVE_FP32, 4, 8);
    call.v = tensor(v.data(), FLASHWAVE_FP32, 4, 8);
    call.out = tensor(out.data(), FLASHWAVE_FP32, 4, 8);
  }
};

struct Line {
  flashwave_case* c = nullptr;
  flashwave_problem problem = FLASHWAVE_INIT(flashwave_problem);
  explicit Line(const char* line) {
    EXPECT_EQ(flashwave_case_parse(line, &c), FLASHWAVE_OK) << message();
    EXPECT_EQ(flashwave_case_problem(c, &problem), FLASHWAVE_OK);
  }
  ~Line() { flashwave_case_free(c); }
};

std::string take(char* text) {
  const std::string copy = text ? text : "";
  flashwave_free(text);
  return copy;
}

TEST(Calls, TheCpuAgreesWithTheOracle) {
  Small cpu, oracle;
  oracle.call.device = "reference";
  ASSERT_EQ(flashwave_run(&cpu.call), FLASHWAVE_OK) << message();
  ASSERT_EQ(flashwave_run(&oracle.call), FLASHWAVE_OK) << message();
  for (std::size_t i = 0; i < cpu.out.size(); ++i) EXPECT_NEAR(cpu.out[i], oracle.out[i], 1e-4);
}

TEST(Calls, NothingIsAnAnswerToNull) {
  EXPECT_EQ(flashwave_run(nullptr), FLASHWAVE_INVALID);
  EXPECT_EQ(message(), "flashwave_attention is null");
  EXPECT_EQ(flashwave_run_combine(nullptr), FLASHWAVE_INVALID);
  EXPECT_EQ(flashwave_supports(nullptr, nullptr), FLASHWAVE_INVALID);
  EXPECT_EQ(flashwave_make_plan(nullptr, nullptr, nullptr), FLASHWAVE_INVALID);
  EXPECT_EQ(flashwave_explain(nullptr, nullptr, nullptr), FLASHWAVE_INVALID);
  EXPECT_EQ(flashwave_device_at(0, nullptr), FLASHWAVE_INVALID);
  EXPECT_EQ(flashwave_case_parse(nullptr, nullptr), FLASHWAVE_INVALID);
  EXPECT_EQ(flashwave_case_problem(nullptr, nullptr), FLASHWAVE_INVALID);
  EXPECT_EQ(flashwave_case_recipe(nullptr, nullptr), FLASHWAVE_INVALID);
  EXPECT_EQ(flashwave_case_counts(nullptr, 0, nullptr), FLASHWAVE_INVALID);
  EXPECT_EQ(flashwave_case_print(nullptr, nullptr), FLASHWAVE_INVALID);
  flashwave_case_free(nullptr);
  flashwave_free(nullptr);
  Small small;
  EXPECT_EQ(flashwave_workspace_size(&small.call, nullptr), FLASHWAVE_INVALID);
  EXPECT_EQ(message(), "bytes is null");
}

TEST(Calls, AnUnknownDeviceIsNamedBesideTheKnownOnes) {
  Small small;
  small.call.device = "tpu:0";
  EXPECT_EQ(flashwave_run(&small.call), FLASHWAVE_UNAVAILABLE);
  EXPECT_EQ(message().rfind("device \"tpu:0\" is not known; this build has cpu", 0), 0u) << message();
  EXPECT_STREQ(flashwave_rule(), "");
  EXPECT_EQ(small.out[0], -1);
}

TEST(Calls, AStructOfANewerHeaderIsReadUntilItSaysMore) {
  struct Newer {
    flashwave_attention call;
    std::int64_t more;
  };
  Small small;
  Newer newer{small.call, 0};
  newer.call.struct_size = sizeof(Newer);
  EXPECT_EQ(flashwave_run(&newer.call), FLASHWAVE_OK) << message();
  newer.more = 1;
  EXPECT_EQ(flashwave_run(&newer.call), FLASHWAVE_UNSUPPORTED);
  EXPECT_TRUE(says("built for a newer flashwave")) << message();
}

TEST(Calls, ARefusedCallNamesItsRule) {
  Small small;
  small.call.softcap = -1;
  EXPECT_EQ(flashwave_run(&small.call), FLASHWAVE_INVALID);
  EXPECT_TRUE(says("softcap")) << message();
  bool known = false;
  for (std::size_t i = 0; i < flashwave_rule_count(); ++i)
    known = known || std::string(flashwave_rule_at(i)) == flashwave_rule();
  EXPECT_TRUE(known) << flashwave_rule();
  EXPECT_EQ(flashwave_rule_at(flashwave_rule_count()), nullptr);
  EXPECT_EQ(small.out[0], -1);
}

TEST(Calls, OnlyYardsticksWriteFp32Beside16BitInputs) {
  std::vector<std::uint16_t> bits(32, 0x3f80);
  std::vector<float> out(32);
  flashwave_attention call = FLASHWAVE_INIT(flashwave_attention);
  call.q = call.k = call.v = tensor(bits.data(), FLASHWAVE_BF16, 4, 8);
  call.out = tensor(out.data(), FLASHWAVE_FP32, 4, 8);
  for (const char* device : {"reference", "eager"}) {
    call.device = device;
    EXPECT_EQ(flashwave_run(&call), FLASHWAVE_OK) << message();
    EXPECT_FLOAT_EQ(out[31], 1);
  }
  call.device = "cpu";
  EXPECT_EQ(flashwave_run(&call), FLASHWAVE_INVALID);
  EXPECT_TRUE(says("out is fp32, but q is bf16")) << message();
}

TEST(Calls, AWorkspaceMustBeLargeEnough) {
  Small small;
  std::vector<float> lse(4, 0), more(5 * 32, 1);
  flashwave_attention& call = small.call;
  call.pass = FLASHWAVE_BACKWARD;
  call.lse = {lse.data(), FLASHWAVE_FP32, 3, {1, 1, 4}, {4, 4, 1}};
  call.dout = tensor(&more[0], FLASHWAVE_FP32, 4, 8);
  call.dq = tensor(&more[32], FLASHWAVE_FP32, 4, 8);
  call.dk = tensor(&more[64], FLASHWAVE_FP32, 4, 8);
  call.dv = tensor(&more[96], FLASHWAVE_FP32, 4, 8);
  std::size_t bytes = 0;
  ASSERT_EQ(flashwave_workspace_size(&call, &bytes), FLASHWAVE_OK) << message();
  ASSERT_GT(bytes, 0u);
  void* workspace = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  call.workspace = workspace;
  call.workspace_bytes = bytes - 1;
  EXPECT_EQ(flashwave_run(&call), FLASHWAVE_INVALID);
  EXPECT_TRUE(says("this call needs")) << message();
  call.workspace_bytes = bytes;
  EXPECT_EQ(flashwave_run(&call), FLASHWAVE_OK) << message();
  std::free(workspace);
}

TEST(Calls, PlansAreOfOnePass) {
  const Line both("fwd+bwd sq64 d64 fp32");
  flashwave_plan plan = FLASHWAVE_INIT(flashwave_plan);
  EXPECT_EQ(flashwave_supports(nullptr, &both.problem), FLASHWAVE_OK) << message();
  EXPECT_EQ(flashwave_make_plan(nullptr, &both.problem, &plan), FLASHWAVE_INVALID);
  EXPECT_TRUE(says("two calls")) << message();
  const Line one("fwd sq64 d64 fp32");
  ASSERT_EQ(flashwave_make_plan(nullptr, &one.problem, &plan), FLASHWAVE_OK) << message();
  EXPECT_GT(plan.tile_q, 0);
  EXPECT_GT(std::string(plan.instance).size(), 0u);
}

TEST(Calls, ExplainNamesThePlanAndEachFeature) {
  const Line line("fwd b1 hq8 hkv2 sq100 sk300 d72 dv40 bf16 window=64,0 softcap=20 sink paged=7 splits=3");
  char* text = nullptr;
  ASSERT_EQ(flashwave_explain(nullptr, &line.problem, &text), FLASHWAVE_OK) << message();
  const std::string said = take(text);
  for (const char* part :
       {"kernel", "tiles", "loader", "paged", "workspace", "3, as asked", "64 keys before and 0 after",
        "softcap", "sink", "7 slots a page", "candidates", "taken"})
    EXPECT_NE(said.find(part), std::string::npos) << part << " in\n" << said;
}

TEST(Calls, DevicesAreNumberedAndTheirThreadsAreOfNow) {
  for (const char* yardstick : {"reference", "eager", "naive"})
    EXPECT_EQ(flashwave_prepare(yardstick), FLASHWAVE_OK) << message();
  flashwave_device device = FLASHWAVE_INIT(flashwave_device);
  EXPECT_EQ(flashwave_device_at(flashwave_device_count(), &device), FLASHWAVE_INVALID);
  ASSERT_EQ(flashwave_device_at(0, &device), FLASHWAVE_OK);
  EXPECT_STREQ(device.name, "cpu");
  EXPECT_EQ(device.listed, 1);
  EXPECT_STREQ(device.missing, "");
  ASSERT_EQ(flashwave_set_threads(1), FLASHWAVE_OK);
  ASSERT_EQ(flashwave_device_at(0, &device), FLASHWAVE_OK);
  EXPECT_EQ(device.threads, 1);
  ASSERT_EQ(flashwave_set_threads(0), FLASHWAVE_OK);
  EXPECT_EQ(flashwave_set_threads(-1), FLASHWAVE_INVALID);
  EXPECT_EQ(flashwave_prepare(nullptr), FLASHWAVE_OK);
  EXPECT_EQ(flashwave_prepare("hip:0"), FLASHWAVE_UNAVAILABLE);
}

TEST(Calls, PeaksAreOfFloatTypes) {
  flashwave_peak peak = FLASHWAVE_INIT(flashwave_peak);
  EXPECT_EQ(flashwave_measure_peak(nullptr, FLASHWAVE_INT32, &peak), FLASHWAVE_INVALID);
  ASSERT_EQ(flashwave_measure_peak(nullptr, FLASHWAVE_FP32, &peak), FLASHWAVE_OK) << message();
  EXPECT_GT(peak.fma_flops, 1e6);
}

TEST(Calls, ACaseTellsItsRecipeItsCountsAndItsLine) {
  const Line line("fwd b2 hq2 sq4 d8 fp32 causal seed=7");
  flashwave_recipe recipe = FLASHWAVE_INIT(flashwave_recipe);
  ASSERT_EQ(flashwave_case_recipe(line.c, &recipe), FLASHWAVE_OK);
  EXPECT_EQ(recipe.seed, 7u);
  EXPECT_EQ(recipe.queries[1], 4);
  EXPECT_EQ(recipe.keys[1], 4);
  flashwave_counts counts = FLASHWAVE_INIT(flashwave_counts);
  ASSERT_EQ(flashwave_case_counts(line.c, FLASHWAVE_FORWARD, &counts), FLASHWAVE_OK);
  EXPECT_EQ(counts.pairs, 2 * 2 * 10);
  EXPECT_EQ(counts.flops, 2 * 2 * 10 * 2 * (8 + 8));
  EXPECT_EQ(flashwave_case_counts(line.c, FLASHWAVE_BOTH, &counts), FLASHWAVE_INVALID);
  char* text = nullptr;
  ASSERT_EQ(flashwave_case_print(line.c, &text), FLASHWAVE_OK);
  const Line again(take(text).c_str());
  EXPECT_EQ(again.problem.batch, 2);
  flashwave_case* none = nullptr;
  EXPECT_EQ(flashwave_case_parse("fwd b1 hq3 hkv2 sq8 sk8 d64 bf16", &none), FLASHWAVE_INVALID);
  EXPECT_EQ(none, nullptr);
}

struct Counter {
  int given = 0, taken = 0;
  bool empty = false;
};

void* count_allocate(void* context, std::size_t bytes, std::size_t alignment) {
  auto* counter = static_cast<Counter*>(context);
  if (counter->empty) return nullptr;
  ++counter->given;
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void count_release(void* context, void* block) {
  ++static_cast<Counter*>(context)->taken;
  std::free(block);
}

TEST(Calls, TheCallersAllocatorServesTheWorkspace) {
  const std::int64_t keys = 4096;
  std::vector<float> q(8, 1), k(8 * keys, 1), v(8 * keys, 2), out(8);
  Counter counter;
  flashwave_attention call = FLASHWAVE_INIT(flashwave_attention);
  call.q = tensor(q.data(), FLASHWAVE_FP32, 1, 8);
  call.k = tensor(k.data(), FLASHWAVE_FP32, keys, 8);
  call.v = tensor(v.data(), FLASHWAVE_FP32, keys, 8);
  call.out = tensor(out.data(), FLASHWAVE_FP32, 1, 8);
  call.num_splits = 4;
  call.allocate = count_allocate;
  call.release = count_release;
  call.allocator_context = &counter;
  ASSERT_EQ(flashwave_run(&call), FLASHWAVE_OK) << message();
  EXPECT_FLOAT_EQ(out[0], 2);
  EXPECT_GT(counter.given, 0);
  EXPECT_EQ(counter.given, counter.taken);
  counter.empty = true;
  EXPECT_EQ(flashwave_run(&call), FLASHWAVE_EXHAUSTED);
}

}  // namespace
