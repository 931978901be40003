// Who sees whom, read off the weights: q = 0 makes them uniform, and v = identity shows them.
#include <gtest/gtest.h>

#include "reference/reference.hpp"
#include "support.hpp"

namespace fw::test {
namespace {

using reference::Mode;

struct Ends {
  std::int64_t queries, slots;
  int left, right, diagonal;
  bool diagonal_given;
  std::int64_t leftpad;
};

// The definition, pair by pair.
bool visible(const Ends& e, std::int64_t i, std::int64_t slot) {
  const std::int64_t j = slot - e.leftpad;
  const std::int64_t diagonal = e.diagonal_given ? e.diagonal : e.slots - e.leftpad - e.queries;
  const std::int64_t p = i + diagonal;
  return j >= 0 && slot < e.slots && (e.left < 0 || j >= p - e.left) && (e.right < 0 || j <= p + e.right);
}

// The whole dense storage has `capacity` slots; those past e.slots hold NaN.
void check(const Ends& e, std::int64_t capacity) {
  Sample s({.seq_q = e.queries, .seq_k = capacity, .dim_qk = 2, .dim_v = capacity, .dtype = DType::fp64});
  s[&Call::q].fill(0);
  for (std::int64_t slot = 0; slot < capacity; ++slot)
    for (std::int64_t d = 0; d < capacity; ++d)
      s[&Call::v].set(slot * capacity + d, slot >= e.slots || slot < e.leftpad ? nan : slot == d);
  s.give_int32(&Call::seqused_k, {static_cast<double>(e.slots)});
  s.give_int32(&Call::leftpad, {static_cast<double>(e.leftpad)});
  s.call.left = e.left;
  s.call.right = e.right;
  s.call.diagonal_given = e.diagonal_given;
  s.call.diagonal = e.diagonal;
  ASSERT_TRUE(reference::run(s.problem, s.call, Mode::oracle).ok());
  for (std::int64_t i = 0; i < e.queries; ++i) {
    int count = 0;
    for (std::int64_t slot = 0; slot < capacity; ++slot) count += visible(e, i, slot);
    for (std::int64_t slot = 0; slot < capacity; ++slot)
      ASSERT_NEAR(s[&Call::out].get(i * capacity + slot), visible(e, i, slot) ? 1.0 / count : 0, 1e-15)
          << "query " << i << " slot " << slot << " of queries " << e.queries << " slots " << e.slots
          << " left " << e.left << " right " << e.right << " diagonal " << e.diagonal << " leftpad "
          << e.leftpad;
    if (count == 0)
      ASSERT_EQ(s[&Call::lse].get(i), -infinity);
    else
      ASSERT_NEAR(s[&Call::lse].get(i), std::log(count), 1e-15);
  }
}

TEST(Mask, is_the_definition) {
  for (const std::int64_t queries : {1, 3, 7})
    for (const std::int64_t slots : {0, 1, 5, 8})
      for (const int left : {-1, 0, 2, 100})
        for (const int right : {-1, 0, 1, 2147483647})
          for (const int diagonal : {-9, -1, 0, 2, 9, 1000})  // 1000: the default one
            for (const std::int64_t leftpad : {0, 2, 6})
              check({queries, slots, left, right, diagonal, diagonal != 1000, leftpad}, 9);
}

// Issue 895 of flash-attention: a window wider than the keys hides none of them.
TEST(Mask, wide_right_window_counts) {
  Sample s({.seq_q = 10, .seq_k = 4, .dtype = DType::fp64});
  s[&Call::q].fill(0);
  s.call.left = 0;
  s.call.right = 2147483647;
  ASSERT_TRUE(reference::run(s.problem, s.call, Mode::oracle).ok());
  const int counts[] = {4, 4, 4, 4, 4, 4, 4, 3, 2, 1};
  for (int i = 0; i < 10; ++i) EXPECT_NEAR(s[&Call::lse].get(i), std::log(counts[i]), 1e-15);
}

TEST(Mask, spans_blocks_of_queries_and_keys) {
  for (const std::int64_t keys : {1, 127, 128, 129, 300})
    for (const std::int64_t queries : {63, 64, 65, 130}) {
      Sample s({.seq_q = queries, .seq_k = keys, .dim_v = 1, .dtype = DType::fp64});
      s[&Call::q].fill(0);
      s[&Call::v].fill(1);
      s.call.left = 140;
      s.call.right = 3;
      ASSERT_TRUE(reference::run(s.problem, s.call, Mode::oracle).ok());
      const Ends e{queries, keys, 140, 3, 0, false, 0};
      for (std::int64_t i = 0; i < queries; ++i) {
        int count = 0;
        for (std::int64_t j = 0; j < keys; ++j) count += visible(e, i, j);
        if (count == 0)
          ASSERT_EQ(s[&Call::lse].get(i), -infinity);
        else
          ASSERT_NEAR(s[&Call::lse].get(i), std::log(count), 1e-14);
        ASSERT_NEAR(s[&Call::out].get(i), count ? 1 : 0, 1e-14);
      }
    }
}

}  // namespace
}  // namespace fw::test
