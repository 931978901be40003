#include <gtest/gtest.h>

#include <climits>
#include <cstdint>
#include <initializer_list>

#include "cpu/args.hpp"
#include "meaning/mask.hpp"
#include "support.hpp"

namespace fw::cpu {
namespace {

// What the mask means, in numbers that cannot overflow.
bool shown(std::int64_t left, std::int64_t right, std::int64_t diagonal, std::int64_t i, std::int64_t j) {
  const std::int64_t position = i + diagonal;
  return (left < 0 || j >= position - left) && (right < 0 || j <= position + right);
}

// Every sum that a kernel forms stays an int, and nobody sees anything else than before.
TEST(BoundMask, ShowsTheSameKeys) {
  constexpr int last = static_cast<int>(longest_sequence) - 1;
  const auto around = [](std::initializer_list<std::int64_t> centres) {
    std::vector<int> values;
    for (const std::int64_t centre : centres)
      for (std::int64_t value = centre - 2; value <= centre + 2; ++value)
        if (value >= INT_MIN && value <= INT_MAX) values.push_back(static_cast<int>(value));
    return values;
  };
  const auto reach = longest_sequence;
  const auto sides = around({0, reach, 2 * reach, 3 * reach, 4 * reach, 8 * reach});
  const auto diagonals = around(
      {0, 1000, -1000, reach, -reach, 2 * reach, -2 * reach, 4 * reach, -4 * reach, 8 * reach, -8 * reach});
  const int places[] = {0, 1, 2, 3, 999, 1000, 1001, last / 2, last - 1, last};
  for (const int left : sides)
    for (const int right : sides)
      for (const int diagonal : diagonals) {
        const BoundedMask bounded = bound_mask(left, right, diagonal);
        for (const int i : places) {
          std::int64_t position = std::int64_t{i} + bounded.diagonal;
          ASSERT_LE(position + std::max(bounded.right, 0) + 1, INT_MAX);
          ASSERT_GE(position - std::max(bounded.left, 0), INT_MIN);
          for (const int j : places)
            ASSERT_EQ(shown(left, right, diagonal, i, j),
                      shown(bounded.left, bounded.right, bounded.diagonal, i, j))
                << left << " " << right << " " << diagonal << " at " << i << ", " << j;
        }
      }
}

TEST(BoundMask, LeavesOrdinaryMasksAlone) {
  for (const int diagonal : {-100000, -1, 0, 1, 100000})
    for (const int left : {-1, 0, 7, 1 << 28}) {
      const BoundedMask bounded = bound_mask(left, 3, diagonal);
      EXPECT_EQ(bounded.left, left);
      EXPECT_EQ(bounded.right, 3);
      EXPECT_EQ(bounded.diagonal, diagonal);
    }
}

// All sequences share left and right, so these may not depend on the diagonal.
TEST(BoundMask, SidesDoNotDependOnTheDiagonal) {
  for (const int side : {0, 5, 1 << 29, 1 << 30, INT_MAX}) {
    const BoundedMask a = bound_mask(side, side, INT_MIN), b = bound_mask(side, side, INT_MAX);
    EXPECT_EQ(a.left, b.left);
    EXPECT_EQ(a.right, b.right);
  }
}

TEST(HostArgs, StridesOfDenseTensors) {
  test::Sample sample(
      {.batch = 2, .heads_q = 4, .heads_k = 2, .seq_q = 5, .seq_k = 7, .dim_qk = 8, .dim_v = 16});
  const HostArgs made = host_args(sample.problem, sample.call);
  EXPECT_EQ(made.args.q.batch, 5 * 4 * 8);
  EXPECT_EQ(made.args.q.row, 4 * 8);
  EXPECT_EQ(made.args.q.head, 8);
  EXPECT_EQ(made.args.v.row, 2 * 16);
  EXPECT_EQ(made.args.lse.batch, 4 * 5);
  EXPECT_EQ(made.args.lse.head, 5);
  EXPECT_EQ(made.args.lse.row, 1);
}

TEST(HostArgs, StridesOfRaggedTensors) {
  test::Sample sample({.batch = 2, .heads_q = 4, .heads_k = 4, .seq_q = 5, .seq_k = 5});
  sample.problem.lengths = Lengths::varlen;
  sample.give(&Call::q, DType::fp32, {9, 4, 8});
  sample.give(&Call::lse, DType::fp32, {4, 9});
  sample.give_int32(&Call::cu_seqlens_q, {0, 4, 9});
  const Args args = host_args(sample.problem, sample.call).args;
  EXPECT_EQ(args.q.batch, 0);
  EXPECT_EQ(args.q.row, 4 * 8);
  EXPECT_EQ(args.lse.batch, 0);
  EXPECT_EQ(args.lse.head, 9);
  EXPECT_EQ(args.lse.row, 1);
  EXPECT_EQ(args.cu_seqlens_q[2], 9);
}

TEST(HostArgs, BroadcastDimensionsOfABiasHaveNoStride) {
  test::Sample sample({.batch = 2, .heads_q = 4, .heads_k = 4, .seq_q = 5, .seq_k = 7});
  sample.problem.bias = {.dtype = DType::fp32, .batch = true, .query = true};
  sample.give(&Call::bias, DType::fp32, {2, 1, 5, 7});
  const Args args = host_args(sample.problem, sample.call).args;
  EXPECT_EQ(args.bias_batch, 5 * 7);
  EXPECT_EQ(args.bias_head, 0);
  EXPECT_EQ(args.bias_row, 7);
}

TEST(HostArgs, CacheLengthsAreTheKeysUnlessSequsedIsGiven) {
  test::Sample sample({.seq_k = 7});
  sample.give_int32(&Call::cache_seqlens, {3});
  EXPECT_EQ(*host_args(sample.problem, sample.call).args.seqused_k, 3);
  sample.give_int32(&Call::seqused_k, {2});
  EXPECT_EQ(*host_args(sample.problem, sample.call).args.seqused_k, 2);
}

TEST(HostArgs, DiagonalsOfSequencesAreBoundedInACopy) {
  test::Sample sample({.batch = 2});
  sample.problem.right = 0;
  sample.problem.diagonal_per_batch = true;
  sample.give_int32(&Call::diagonals, {3, INT_MAX});
  const HostArgs made = host_args(sample.problem, sample.call);
  EXPECT_EQ(made.args.diagonals[0], 3);
  EXPECT_LE(made.args.diagonals[1], 1 << 30);
  EXPECT_EQ(sample[&Call::diagonals].get(1), INT_MAX);
}

TEST(HostArgs, DropoutIsCountedInSixteenBits) {
  test::Sample sample({.heads_q = 3, .heads_k = 3, .seq_q = 5, .seq_k = 7});
  sample.problem.dropout = 0.25f;
  Args args = host_args(sample.problem, sample.call).args;
  EXPECT_EQ(args.drop_below, 16384u);
  EXPECT_EQ(args.keep_scale, 1.0f / 0.75f);
  EXPECT_EQ(args.global_heads, 3);
  EXPECT_EQ(args.global_seq_q, 5);
  EXPECT_EQ(args.global_seq_k, 7);
  sample.call.global_heads = 30;
  sample.problem.dropout = 0.9999999f;
  args = host_args(sample.problem, sample.call).args;
  EXPECT_EQ(args.drop_below, 65535u);
  EXPECT_EQ(args.global_heads, 30);
}

}  // namespace
}  // namespace fw::cpu
