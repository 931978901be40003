// Public reports about what is supported and what is said when it is not.
#include "lab/lab.hpp"
#include "support/case.hpp"
#include "support/case_data.hpp"
#include "support/members.hpp"

namespace {

using namespace lab;

// https://github.com/Dao-AILab/flash-attention/issues/622, .../13,
// https://github.com/unslothai/unsloth/issues/827
TEST(Support, Fp32IsComputedInFp32) {
  Lab lab;
  Call call = lab.inputs(fp32, {.seq_q = 33, .seq_k = 47, .heads_q = 2, .heads_k = 2});
  set_causal(call);
  const Call done = lab.forward(call);
  Call exact = call;
  exact.device = "reference";
  exact.out = lab.unwritten(fp32, {1, 33, 2, 64});
  ASSERT_EQ(flashwave_run(&exact), FLASHWAVE_OK) << flashwave_message();
  expect_near(done.out, exact.out, 5e-6f);
}

TEST(Support, MixedAndForeignTypesAreRefusedByName) {
  Lab lab;
  Call mixed = lab.inputs(bf16, {.seq_q = 4, .seq_k = 4, .dim = 16});
  mixed.out = lab.unwritten(bf16, {1, 4, 1, 16});
  mixed.k = lab.normal("k", fp16, {1, 4, 1, 16});
  expect_refused(mixed, "dtype-mixed", "fp16");
  mixed.k = lab.normal("k", bf16, {1, 4, 1, 16});
  mixed.v = lab.normal("v", fp32, {1, 4, 1, 16});
  expect_refused(mixed, "dtype-mixed", "fp32");

  Call whole = mixed;
  for (flashwave_tensor Call::* member : {&Call::q, &Call::k, &Call::v, &Call::out})
    whole.*member = lab.arena().add(FLASHWAVE_INT32, {1, 4, 1, 16});
  expect_refused(whole, "dtype-known", "int32");
}

// The first code that is not ok of the case's passes.
int run(const char* device, const tools::Case& c) {
  const tools::CaseData data(c, tools::Memory::guarded);
  tools::Arena memory(tools::Memory::guarded);
  Call forward = tools::forward_of(data.call());
  tools::add_outputs(forward, data.wants(FLASHWAVE_FORWARD), data.style(), memory);
  const int code = tools::run_on(device, forward, tools::Memory::poisoned).code();
  if (code != FLASHWAVE_OK || !c.backward()) return code;
  Call backward = tools::backward_of(data.call());
  backward.out = forward.out;
  backward.lse = forward.lse;
  tools::add_outputs(backward, data.wants(FLASHWAVE_BACKWARD), data.style(), memory);
  return tools::run_on(device, backward, tools::Memory::poisoned).code();
}

// What is said to be supported runs, and what is not said to be does not.
// https://github.com/ROCm/aiter/issues/5040, https://github.com/ROCm/flash-attention/issues/120
class Devices : public testing::TestWithParam<const char*> {};

TEST_P(Devices, AnswerAsTheyRun) {
  const std::string device = GetParam();
  const char* features[] = {
      "",          "causal",         "window=3,2",     "softcap=5",      "alibi",         "bias",
      "bias:fp32", "bias=1h1k:bool", "sink",           "dropout=0.2",    "varlen",        "seqused",
      "paged=4",   "cache",          "cache append=1", "cache rotary=2", "cache leftpad", "cache batchidx",
      "splits=2",  "deterministic"};
  for (const char* pass : {"fwd", "fwd+bwd"})
    for (const char* dtype : {"fp32", "fp16", "bf16"})
      for (const char* dim : {"d2", "d64", "d72 dv40", "d128", "d192 dv128", "d256", "d576 dv512"})
        for (const char* feature : features) {
          const std::string line =
              std::string(pass) + " b1 hq2 hkv1 sq3 sk8 " + dim + " " + dtype + " " + feature;
          tools::Case c;
          if (!tools::parse_case(line, c).ok()) continue;  // a contradiction, such as append with bwd
          const int answer = flashwave_supports(device.c_str(), &c.problem);
          if (answer == FLASHWAVE_OK) {
            EXPECT_EQ(run(device.c_str(), c), FLASHWAVE_OK) << line;
          } else {
            EXPECT_EQ(answer, FLASHWAVE_UNSUPPORTED) << line;
            EXPECT_EQ(device, "naive") << line << ": " << flashwave_message();  // the others do everything
            EXPECT_EQ(run(device.c_str(), c), FLASHWAVE_UNSUPPORTED) << line;
          }
        }
}

INSTANTIATE_TEST_SUITE_P(All, Devices, testing::Values("cpu", "reference", "eager", "naive"),
                         [](const auto& of) { return std::string(of.param); });

}  // namespace
