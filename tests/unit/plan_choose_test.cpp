#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "plan/bytes.hpp"
#include "plan/choose.hpp"
#include "plan/splits.hpp"
#include "plan/workspace.hpp"

namespace fw {
namespace {

Problem problem_of(std::int64_t batch, std::int64_t heads_q, std::int64_t heads_k, std::int64_t seq_q,
                   std::int64_t seq_k) {
  Problem p;
  p.batch = batch;
  p.heads_q = heads_q;
  p.heads_k = heads_k;
  p.seq_q = seq_q;
  p.seq_k = seq_k;
  p.dim_qk = p.dim_v = 64;
  return p;
}

const Instance fast{"fast", "", 1e-3}, slow{"slow", "", 2e-3}, broken{"broken", "it is broken", 1e-6};

const Candidate& candidate(const Plan& plan, const std::string& name) {
  for (const Candidate& c : plan.candidates)
    if (c.name == name) return c;
  ADD_FAILURE() << "no candidate " << name;
  static const Candidate none;
  return none;
}

TEST(Choose, TakesTheCheapestThatCanRun) {
  const Instance all[] = {broken, slow, fast};
  Plan plan;
  ASSERT_TRUE(choose(problem_of(4, 16, 16, 2048, 2048), all, plan).ok());
  EXPECT_EQ(plan.instance, "fast/plain");
  EXPECT_EQ(candidate(plan, "broken/plain").declined, "it is broken");
  EXPECT_EQ(candidate(plan, "slow/plain").declined, "");
  EXPECT_GT(candidate(plan, "slow/plain").cost, candidate(plan, "fast/plain").cost);
  EXPECT_NE(candidate(plan, "fast/scored").declined, "");
  EXPECT_NE(candidate(plan, "fast/plain/split").declined, "");
}

TEST(Choose, NothingThatCanRunIsUnavailable) {
  const Instance all[] = {broken};
  Plan plan;
  const Status status = choose(problem_of(1, 1, 1, 8, 8), all, plan);
  EXPECT_EQ(status.code(), Code::unavailable);
  EXPECT_NE(status.message().find("it is broken"), std::string::npos);
}

TEST(Choose, ScoreStepsNeedTheScoredKernels) {
  const Instance all[] = {fast};
  const auto chosen = [&](auto change) {
    Problem p = problem_of(4, 16, 16, 2048, 2048);
    change(p);
    Plan plan;
    EXPECT_TRUE(choose(p, all, plan).ok());
    return plan.instance;
  };
  EXPECT_EQ(chosen([](Problem& p) { p.softcap = 20; }), "fast/scored");
  EXPECT_EQ(chosen([](Problem& p) { p.alibi = Alibi::per_head; }), "fast/scored");
  EXPECT_EQ(chosen([](Problem& p) { p.bias.dtype = DType::uint8; }), "fast/scored");
  EXPECT_EQ(chosen([](Problem& p) { p.dropout = 0.1f; }), "fast/scored");
  EXPECT_EQ(chosen([](Problem& p) { p.scale = 0.0f; }), "fast/scored");
  EXPECT_EQ(chosen([](Problem& p) { p.sink = DType::fp32, p.right = 0; }), "fast/plain");
}

TEST(Splits, AreMadeWhereRowsAreFew) {
  EXPECT_EQ(choose_splits(problem_of(1, 32, 8, 1, 8192)).count, 8);   // 8 row tasks, 64 wanted
  EXPECT_EQ(choose_splits(problem_of(1, 32, 8, 1, 2048)).count, 4);   // at least 512 keys each
  EXPECT_EQ(choose_splits(problem_of(64, 32, 8, 1, 8192)).count, 1);  // enough sequences
  EXPECT_EQ(choose_splits(problem_of(1, 16, 16, 2048, 2048)).count, 1);
  EXPECT_EQ(choose_splits(problem_of(1, 1, 1, 1, 100)).count, 1);
  EXPECT_EQ(choose_splits(problem_of(0, 0, 0, 0, 0)).count, 1);
}

TEST(Splits, AskedForNumbersAreObeyed) {
  Problem p = problem_of(64, 32, 8, 1000, 1000);
  p.splits = 3;
  EXPECT_EQ(choose_splits(p).count, 3);
  p.deterministic = true;
  EXPECT_EQ(choose_splits(p).count, 3);
  EXPECT_EQ(choose_splits(p).keys, 0);
}

TEST(Splits, BackwardHasNone) {
  Problem p = problem_of(1, 8, 8, 1, 8192);
  p.pass = Pass::backward;
  EXPECT_EQ(choose_splits(p).count, 1);
}

// A sequence is cut alike whatever else is in the batch, and however large the cache is.
TEST(Splits, DeterministicOnesDependOnTheSequenceAlone) {
  for (const std::int64_t batch : {1, 7, 500})
    for (const std::int64_t capacity : {3000, 8192, 100000}) {
      Problem p = problem_of(batch, 32, 8, 1, capacity);
      p.deterministic = true;
      const Splits splits = choose_splits(p);
      const Cut cut = cut_sequence(splits.count, splits.keys, 4, 2500);
      EXPECT_EQ(cut.ranges, 3);
      EXPECT_EQ(cut.keys, 1024);
      EXPECT_EQ(cut_sequence(splits.count, splits.keys, 100000, 2500).ranges, 1);
    }
}

// For a given number of splits the ranges follow from the sequence's own length.
TEST(Splits, CutCoversAllKeysOnce) {
  for (const int count : {1, 2, 3, 7, 128})
    for (const std::int64_t keys : {0, 1, 63, 64, 65, 1000, 4097}) {
      const Cut cut = cut_sequence(count, 0, 1, keys);
      EXPECT_GE(cut.ranges, 1);
      EXPECT_LE(cut.ranges, count);
      EXPECT_GE(cut.ranges * cut.keys, keys);
      if (keys > 0) {
        EXPECT_LT((cut.ranges - 1) * cut.keys, keys);  // none is empty
      }
    }
}

TEST(Chunks, AreAtMostFourAndFewWhereHeadsAreMany) {
  EXPECT_EQ(choose_chunks(problem_of(1, 1, 1, 4096, 4096)), 4);
  EXPECT_EQ(choose_chunks(problem_of(1, 16, 16, 2048, 2048)), 2);
  EXPECT_EQ(choose_chunks(problem_of(8, 16, 16, 2048, 2048)), 1);
  EXPECT_EQ(choose_chunks(problem_of(1, 1, 1, 100, 100)), 1);
  EXPECT_EQ(choose_chunks(problem_of(0, 0, 0, 0, 0)), 1);
}

TEST(Bytes, RememberOverflow) {
  constexpr std::int64_t large = std::int64_t{1} << 40;
  EXPECT_FALSE((Bytes(large) * Bytes(4)).overflow());
  EXPECT_TRUE((Bytes(large) * Bytes(large)).overflow());
  EXPECT_TRUE((Bytes(large) * Bytes(large) * Bytes(0)).overflow());
  EXPECT_TRUE((Bytes(std::numeric_limits<std::int64_t>::max()) + Bytes(1)).overflow());
  EXPECT_TRUE(Bytes(std::numeric_limits<std::int64_t>::max()).rounded_up(256).overflow());
  EXPECT_EQ(Bytes(257).rounded_up(256).value(), 512u);
}

TEST(Workspace, PartsAreAlignedAndApart) {
  Problem p = problem_of(1, 3, 1, 5, 1000);
  p.dim_qk = 72;
  p.dim_v = 40;
  Workspace w;
  ASSERT_TRUE(lay_out(p, {.partials = 7, .queries = 5, .deltas = 3, .shares = 9}, w).ok());
  EXPECT_EQ(w.partial_out, 0u);
  EXPECT_GE(w.partial_lse, 7u * 40 * 4);
  EXPECT_GE(w.partial_bytes, w.partial_lse + 7 * 4);
  EXPECT_EQ(w.query, w.partial_bytes);
  EXPECT_GE(w.delta, w.query + 5 * 72 * 4);
  EXPECT_GE(w.dq, w.delta + 3 * 4);
  EXPECT_GE(w.bytes, w.dq + 9 * 72 * 4);
  for (const std::size_t offset : {w.partial_lse, w.query, w.delta, w.dq, w.bytes})
    EXPECT_EQ(offset % 256, 0u);
}

TEST(Workspace, NothingNeededIsNothingTaken) {
  const Instance all[] = {fast};
  Plan plan;
  ASSERT_TRUE(choose(problem_of(4, 16, 16, 2048, 2048), all, plan).ok());
  EXPECT_EQ(plan.workspace, 0u);
}

// Extra memory of backward: deltas, and at most four dq in fp32.
TEST(Workspace, BackwardTakesAtMostFourDq) {
  const Instance all[] = {fast};
  Problem p = problem_of(1, 2, 1, 4096, 4096);
  p.pass = Pass::backward;
  Plan plan;
  ASSERT_TRUE(choose(p, all, plan).ok());
  const std::size_t rows = 2 * 4096;
  EXPECT_EQ(plan.chunks, 4);
  EXPECT_EQ(plan.workspace, rows * 4 + 4 * rows * 64 * 4);
}

// Ranges start at multiples of 64 keys, so 65 keys make two of them, whatever number is asked for.
TEST(Workspace, SplitsBeyondTheKeysTakeNoRoom) {
  const Instance all[] = {fast};
  Problem p = problem_of(3, 24, 3, 8, 65);
  p.splits = 65535;
  Plan plan;
  ASSERT_TRUE(choose(p, all, plan).ok());
  const std::size_t rows = 3 * 24 * 8;
  EXPECT_EQ(plan.splits, 65535);
  EXPECT_EQ(plan.workspace, 2 * rows * (64 + 1) * 4);
  p.seq_k = 64;
  ASSERT_TRUE(choose(p, all, plan).ok());
  EXPECT_EQ(plan.workspace, 0u);
}

TEST(Splits, NoSequenceMakesMoreRangesThanTheRoomFor) {
  for (const int count : {1, 2, 3, 7, 64, 65535})
    for (const std::int64_t most : {0, 1, 64, 65, 300, 1000})
      for (std::int64_t keys = 0; keys <= most; ++keys)
        ASSERT_LE(cut_sequence(count, 0, 4, keys).ranges, most_ranges(count, 0, most));
}

TEST(Workspace, TooLargeIsExhausted) {
  const Instance all[] = {fast};
  Problem p = problem_of(std::int64_t{1} << 30, std::int64_t{1} << 30, 1, 1, 8192);
  p.splits = 65535;
  Plan plan;
  EXPECT_EQ(choose(p, all, plan).code(), Code::exhausted);
}

// The model needs to be right about proportions only.
TEST(Flops, FollowTheMask) {
  Problem p = problem_of(2, 4, 2, 1024, 1024);
  const double whole = modelled_flops(p);
  EXPECT_DOUBLE_EQ(whole, 2.0 * 4 * 1024 * 1024 * 2 * 128);
  p.right = 0;
  EXPECT_NEAR(modelled_flops(p) / whole, 0.5, 0.01);
  p.left = 63;
  EXPECT_NEAR(modelled_flops(p) / whole, 64.0 / 1024, 0.01);
  p.pass = Pass::backward;
  EXPECT_NEAR(modelled_flops(p) / whole, 2.5 * 64.0 / 1024, 0.01);
}

}  // namespace
}  // namespace fw
