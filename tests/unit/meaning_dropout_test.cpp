// The dropout stream: Philox4x32-10 against its published answers, and where each number stands.
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "meaning/dropout.hpp"
#include "meaning_lane.hpp"

namespace {

using namespace fw;
using namespace fw::host;
using fw::test::Bits;
using Words = std::array<std::uint32_t, 4>;

// The generator of the paper, with a whole counter.
Words published(Words x, std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53u} * x[0], b = std::uint64_t{0xCD9E8D57u} * x[2];
    x = {static_cast<std::uint32_t>(b >> 32) ^ x[1] ^ key0, static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ x[3] ^ key1, static_cast<std::uint32_t>(a)};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return x;
}

Words ours(std::uint32_t low, std::uint32_t high, std::uint64_t seed) {
  const Philox<Bits> x = philox(Bits(low), Bits(high), seed);
  return {x.word[0].x, x.word[1].x, x.word[2].x, x.word[3].x};
}

TEST(Philox, KnownAnswers) {  // the vectors that come with Random123
  EXPECT_EQ(published({0, 0, 0, 0}, 0, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(published({~0u, ~0u, ~0u, ~0u}, ~0u, ~0u),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(published({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822, 0x299f31d0),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
  EXPECT_EQ(ours(0, 0, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

TEST(Philox, CounterAndSeedFillTheirWords) {
  for (std::uint32_t i = 1; i < 200; ++i) {
    const std::uint32_t low = i * 2654435761u, high = i * 40503u;
    const std::uint64_t seed = i * 0x9e3779b97f4a7c15u;
    ASSERT_EQ(ours(low, high, seed), published({low, high, 0, 0}, static_cast<std::uint32_t>(seed),
                                               static_cast<std::uint32_t>(seed >> 32)));
  }
}

TEST(Dropout, NumbersLieInLittleEndianOrder) {
  const Philox<Bits> x{{Bits(0x00020001), Bits(0x00040003), Bits(0x00060005), Bits(0xffff0007)}};
  for (int slot = 0; slot < 7; ++slot) {
    EXPECT_EQ(dropout_number(x, slot).x, static_cast<std::uint32_t>(slot + 1));
    EXPECT_EQ(dropout_number(x, slot + 64).x, static_cast<std::uint32_t>(slot + 1));
  }
  EXPECT_EQ(dropout_number(x, 7).x, 0xffffu);
}

Args call(std::int64_t heads, std::int64_t seq_q, std::int64_t seq_k) {
  Args a{};
  a.global_heads = heads;
  a.global_seq_q = seq_q;
  a.global_seq_k = seq_k;
  a.offset = 1000;
  return a;
}

TEST(Dropout, EveryRowHasCountersOfItsOwn) {
  const Args a = call(3, 5, 20);  // 20 keys: three calls a row
  std::set<unsigned long long> rows;
  for (int b = 0; b < 2; ++b)
    for (int head = 0; head < 3; ++head)
      for (int query = 0; query < 5; ++query) {
        const auto row = dropout_row(a, b, head, query);
        EXPECT_EQ(row, 1000u + static_cast<unsigned>(((b * 3 + head) * 5 + query) * 3));
        rows.insert(row);
      }
  EXPECT_EQ(rows.size(), 30u);
}

TEST(Dropout, AShardDrawsTheNumbersOfTheWhole) {
  const Args whole = call(8, 64, 128);
  Args shard = whole;
  shard.origin_batch = 2;
  shard.origin_head = 4;
  shard.origin_q = 32;
  shard.origin_k = 64;
  EXPECT_EQ(dropout_row(shard, 1, 3, 7), dropout_row(whole, 3, 7, 39) + 64 / 8);
}

TEST(Dropout, CountersPass32Bits) {
  const Args a = call(1 << 10, 1 << 20, 1 << 20);
  EXPECT_EQ(dropout_row(a, 3, 1, 2), 1000u + ((3ull * 1024 + 1) * (1 << 20) + 2) * (1 << 17));
}

}  // namespace
