// A judge that lets a wrong result pass is worthless: each test here spoils one thing of a right result.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "support/case_data.hpp"
#include "support/check.hpp"
#include "support/judge.hpp"
#include "support/members.hpp"
#include "support/sequences.hpp"

namespace tools {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

// A right result, made by the oracle itself.
class Solved {
 public:
  explicit Solved(const std::string& line) {
    EXPECT_EQ(parse_case(line, case_).message(), "");
    data_ = std::make_unique<CaseData>(case_, Memory::poisoned);
    forward = forward_of(data_->call());
    add_outputs(forward, data_->wants(FLASHWAVE_FORWARD), data_->style(), arena_);
    EXPECT_EQ(run_on("reference", forward, Memory::plain).message(), "");
    if (!case_.backward()) return;
    backward = backward_of(data_->call());
    backward.out = forward.out;
    backward.lse = forward.lse;
    add_outputs(backward, data_->wants(FLASHWAVE_BACKWARD), data_->style(), arena_);
    EXPECT_EQ(run_on("reference", backward, Memory::plain).message(), "");
  }

  std::vector<std::string> faults(const JudgeOptions& options = {}) const {
    Verdict verdict;
    EXPECT_EQ(judge(data_->call(), forward, options, verdict).message(), "");
    if (case_.backward()) {
      EXPECT_EQ(judge(data_->call(), backward, options, verdict).message(), "");
    }
    return verdict.faults;
  }
  std::string fault() const {
    const auto all = faults();
    return all.empty() ? "" : all.front();
  }
  std::int64_t heads_judged(const JudgeOptions& options) const {
    Verdict verdict;
    EXPECT_EQ(judge(data_->call(), forward, options, verdict).message(), "");
    return verdict.heads_judged;
  }

  flashwave_attention forward = FLASHWAVE_INIT(flashwave_attention), backward = forward;

 private:
  Case case_;
  std::unique_ptr<CaseData> data_;
  Arena arena_{Memory::poisoned};
};

void set(const flashwave_tensor& t, std::int64_t offset, float x) { store(t.data, t.dtype, offset, x); }
float get(const flashwave_tensor& t, std::int64_t offset) { return load(t.data, t.dtype, offset); }

bool names(const std::string& sentence, const std::string& part) {
  return sentence.find(part) != std::string::npos;
}

TEST(Judge, RightResultsPass) {
  for (const char* line :
       {"fwd b2 hq4 hkv2 sq9 sk17 d8 bf16 causal want=lse",
        "fwd b2 hq2 sq5 sk20 d8 fp16 cache lens=random append=2 rotary=4 want=lse",
        "fwd+bwd b2 hq4 hkv2 sq9 sk7 d8 fp32 causal sink bias dropout=0.3 want=mask,dsink,dbias",
        "fwd+bwd b3 hq2 sq9 sk12 d8 bf16 varlen lens=zeros seqused layout=strided want=lse"})
    EXPECT_EQ(Solved(line).fault(), "") << line;
}

TEST(Judge, AWrongElementFails) {
  Solved s("fwd b1 hq2 sq9 d8 fp32");
  set(s.forward.out, 100, get(s.forward.out, 100) + 1e-4f);
  EXPECT_TRUE(names(s.fault(), "out[0,6,0,4]")) << s.fault();
}

TEST(Judge, AnErrorBelowTheBoundPasses) {
  Solved s("fwd b1 hq2 sq9 d8 fp32");
  set(s.forward.out, 100, get(s.forward.out, 100) + 5e-6f);
  EXPECT_EQ(s.fault(), "");
}

TEST(Judge, ABiasInTheMeanFails) {
  Solved s("fwd b1 hq8 sq64 d64 bf16");
  EXPECT_EQ(s.fault(), "");
  const flashwave_tensor& out = s.forward.out;
  for (std::int64_t i = 0; i < elements(out); ++i)
    set(out, i, get(out, i) * 1.004f);  // within the largest error
  EXPECT_TRUE(names(s.fault(), "mean error")) << s.fault();
}

TEST(Judge, NaNAndInfinityFail) {
  for (const float bad : {std::nanf(""), infinity, -infinity}) {
    Solved s("fwd b1 hq2 sq9 d8 fp16");
    set(s.forward.out, 3, bad);
    EXPECT_TRUE(names(s.fault(), "out[0,0,0,3]")) << s.fault();
  }
}

TEST(Judge, WhatIsNotWrittenFails) {
  Solved s("fwd+bwd b1 hq2 sq9 d8 bf16 want=lse");
  for (const flashwave_tensor* t :
       {&s.forward.out, &s.forward.lse, &s.backward.dq, &s.backward.dk, &s.backward.dv}) {
    flashwave_tensor one = contiguous(t->data, t->dtype, {1});
    std::vector<unsigned char> before(one.data ? at(one, 0) : nullptr, at(one, 1));
    fill_bytes(one, poison);
    EXPECT_TRUE(names(s.fault(), "never written")) << s.fault();
    std::copy(before.begin(), before.end(), at(one, 0));
  }
  EXPECT_EQ(s.fault(), "");
}

TEST(Judge, AnEmptyRowIsExactlyPlusZero) {
  const std::string line = "fwd+bwd b1 hq1 sq4 sk2 d8 fp32 causal want=lse";  // rows 0 and 1 see nothing
  for (const float bad : {1e-30f, -0.0f}) {
    Solved s(line);
    set(s.forward.out, 8, bad);
    EXPECT_TRUE(names(s.fault(), "exactly +0")) << s.fault();
  }
  Solved s(line);
  set(s.backward.dq, 0, 1e-30f);
  EXPECT_TRUE(names(s.fault(), "dq[0,0,0,0]")) << s.fault();
}

TEST(Judge, AnEmptyRowOfABiasIsExactlyZeroToo) {
  Solved s("fwd b1 hq40 sq1 sk1 d8 fp32 bias:bool want=lse");
  std::int64_t hidden = 0;  // a head whose only key the bias hides
  while (hidden < 40 && get(s.forward.lse, hidden) != -infinity) ++hidden;
  ASSERT_LT(hidden, 40);
  set(s.forward.out, hidden * 8, 1e-30f);
  EXPECT_TRUE(names(s.fault(), "exactly +0")) << s.fault();
}

TEST(Judge, AKeyNobodySeesHasExactlyNoGradient) {
  Solved s("fwd+bwd b1 hq1 sq2 sk9 d8 fp32 window=2,0");
  set(s.backward.dk, 0, 1e-30f);
  set(s.backward.dv, 3 * 8 + 1, 1e-30f);
  const auto faults = s.faults();
  ASSERT_EQ(faults.size(), 2u);
  EXPECT_TRUE(names(faults[0], "dk[0,0,0,0]")) << faults[0];
  EXPECT_TRUE(names(faults[1], "dv[0,3,0,1]")) << faults[1];
}

TEST(Judge, LseHasItsOwnBounds) {
  Solved s("fwd b1 hq2 sq9 d8 fp32 want=lse");
  set(s.forward.lse, 4, get(s.forward.lse, 4) + 1e-4f);
  EXPECT_TRUE(names(s.fault(), "lse[0,0,4]")) << s.fault();

  Solved empty("fwd b1 hq1 sq4 sk2 d8 bf16 causal want=lse");
  set(empty.forward.lse, 0, -1e30f);
  EXPECT_TRUE(names(empty.fault(), "lse[0,0,0]")) << empty.fault();

  Solved coarse("fwd b1 hq1 sq4 d8 bf16 want=lse");
  set(coarse.forward.lse, 0, get(coarse.forward.lse, 0) + 1e-3f);
  EXPECT_EQ(coarse.fault(), "");
  Solved many("fwd b1 hq1 sq4 sk1100 d8 bf16 want=lse");
  set(many.forward.lse, 0, get(many.forward.lse, 0) + 1e-3f);
  EXPECT_TRUE(names(many.fault(), "lse[0,0,0]")) << many.fault();
}

TEST(Judge, TheDropoutMaskIsEqual) {
  Solved s("fwd b1 hq2 sq9 d8 fp32 dropout=0.5 want=mask");
  unsigned char* kept = at(s.forward.dropout_mask, 20);
  *kept = 1 - *kept;
  EXPECT_TRUE(names(s.fault(), "dropout_mask[0,0,2,2]")) << s.fault();
  *kept = 255;
  EXPECT_TRUE(names(s.fault(), "dropout_mask[0,0,2,2]")) << s.fault();
}

TEST(Judge, CachesHoldTheNewKeysAndNothingElseChanges) {
  const std::string line = "fwd b2 hq1 sq2 sk9 d8 fp32 cache lens=2,2/3,5 append=2";
  Solved appended(line);
  EXPECT_EQ(appended.fault(), "");
  set(appended.forward.v, 4 * 8, get(appended.forward.v, 4 * 8) + 1e-6f);
  EXPECT_TRUE(names(appended.fault(), "v[0,4,0,0]")) << appended.fault();
  Solved beyond(line);
  set(beyond.forward.k, 8 * 8, 0);  // a slot behind the new ones
  EXPECT_TRUE(names(beyond.fault(), "k[0,8,0,0]")) << beyond.fault();
}

TEST(Judge, TinyGradientsAreJudgedAsClosely) {
  Solved s("fwd+bwd b1 hq2 sq40 d32 fp16 values=tinydout");
  EXPECT_EQ(s.fault(), "");
  fill_bytes(s.backward.dv, 0);  // as if everything had been flushed
  EXPECT_TRUE(names(s.fault(), "dv[")) << s.fault();
}

TEST(Judge, LargeCallsAreJudgedOnFourKvHeads) {
  Solved s("fwd b1 hq12 hkv6 sq20 d8 fp32 dropout=0.3 alibi bias sink want=mask,lse");
  EXPECT_EQ(s.faults({.sample_above = 1}), std::vector<std::string>());
  EXPECT_LE(s.heads_judged({.sample_above = 1}), 4);
  EXPECT_EQ(s.heads_judged({}), 6);
  EXPECT_EQ(s.heads_judged({.all_heads = true, .sample_above = 1}), 6);
  set(s.forward.out, 11 * 8, 100);  // the last head of row 0, which is always judged
  EXPECT_EQ(s.faults({.sample_above = 1}).size(), 1u);
}

TEST(Check, TheCpuPassesAndAnUnknownDeviceDoesNotRun) {
  Case c;
  ASSERT_TRUE(parse_case("fwd+bwd b2 hq4 hkv2 sq40 sk50 d24 bf16 causal layout=strided want=lse", c).ok());
  Verdict verdict;
  EXPECT_EQ(check_case(c, {}, verdict).message(), "");
  EXPECT_TRUE(verdict.passed()) << verdict.faults.front();
  CheckOptions nowhere;
  nowhere.device = "abacus";
  EXPECT_FALSE(check_case(c, nowhere, verdict).ok());
}

}  // namespace
}  // namespace tools
