#include <gtest/gtest.h>

#include "reference/dropout.hpp"
#include "reference/reference.hpp"
#include "support.hpp"

namespace fw::test {
namespace {

using reference::philox4x32_10;
using Words = std::array<std::uint32_t, 4>;

// Known answers of the Random123 distribution (kat_vectors).
TEST(Philox, gives_the_published_answers) {
  EXPECT_EQ(philox4x32_10({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32_10({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

Sample dropping(const Sizes& sizes) {
  Sample s(sizes);
  s.call.dropout = 0.3f;
  s.call.seed = 0x123456789abcdef0u;
  s.call.offset = 0xfffffffffffffff0u;  // the counter may wrap
  s.give(&Call::dropout_mask, DType::uint8, {sizes.batch, sizes.heads_q, sizes.seq_q, sizes.seq_k});
  return s;
}

void run(Sample& s) { ASSERT_TRUE(reference::run(s.problem, s.call, reference::Mode::oracle).ok()); }

TEST(Dropout, is_the_mask_by_definition) {
  Sample s = dropping({.batch = 2, .heads_q = 3, .seq_q = 5, .seq_k = 21});
  run(s);
  std::int64_t at = 0;
  for (std::uint64_t row = 0; row < 2 * 3 * 5; ++row)
    for (std::uint64_t j = 0; j < 21; ++j) {
      const std::uint64_t counter = s.call.offset + row * 3 + j / 8;
      const Words words = philox4x32_10(
          {static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 0, 0},
          {0x9abcdef0u, 0x12345678u});
      const std::uint32_t number = words[j % 8 / 2] >> (j % 2 ? 16 : 0) & 0xffff;
      ASSERT_EQ(s[&Call::dropout_mask].get(at++), number >= 19661 ? 1 : 0);  // round(0.3 * 65536)
    }
}

TEST(Dropout, drops_what_the_mask_says_and_scales_the_rest) {
  Sample s = dropping({.seq_q = 9, .seq_k = 13, .dim_v = 13, .dtype = DType::fp64}),
         whole({.seq_q = 9, .seq_k = 13, .dim_v = 13, .dtype = DType::fp64});
  for (Sample* each : {&s, &whole})
    for (int i = 0; i < 13 * 13; ++i) (*each)[&Call::v].set(i, i / 13 == i % 13);
  run(s);
  run(whole);
  int dropped = 0;
  for (int i = 0; i < 9 * 13; ++i) {
    const double kept = s[&Call::dropout_mask].get(i);
    dropped += kept == 0;
    EXPECT_NEAR(s[&Call::out].get(i), whole[&Call::out].get(i) * kept / (1 - 19661 / 65536.0), 1e-7);
  }
  EXPECT_NEAR(dropped, 0.3 * 9 * 13, 15);
  EXPECT_TRUE(s[&Call::lse].same_bits(whole[&Call::lse]));
}

TEST(Dropout, of_a_shard_is_part_of_the_whole) {
  Sample whole = dropping({.batch = 2, .heads_q = 4, .seq_q = 6, .seq_k = 24});
  Sample shard = dropping({.batch = 1, .heads_q = 2, .seq_q = 3, .seq_k = 9});
  shard.call.origin_batch = 1;
  shard.call.origin_head = 2;
  shard.call.origin_q = 3;
  shard.call.origin_k = 8;
  shard.call.global_heads = 4;
  shard.call.global_seq_q = 6;
  shard.call.global_seq_k = 24;
  run(whole);
  run(shard);
  for (int h = 0; h < 2; ++h)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 9; ++j)
        ASSERT_EQ(shard[&Call::dropout_mask].get((h * 3 + i) * 9 + j),
                  whole[&Call::dropout_mask].get(((4 + 2 + h) * 6 + 3 + i) * 24 + 8 + j));
}

}  // namespace
}  // namespace fw::test
