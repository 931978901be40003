#include <gtest/gtest.h>

#include <cmath>

#include "support/case_data.hpp"
#include "support/members.hpp"
#include "support/numbers.hpp"
#include "support/sequences.hpp"

namespace tools {
namespace {

Case case_of(const std::string& line) {
  Case c;
  const Outcome outcome = parse_case(line, c);
  EXPECT_TRUE(outcome.ok()) << line << ": " << outcome.message();
  return c;
}

// All elements in logical order, poison as NaN.
std::vector<float> values(const flashwave_tensor& t) {
  std::vector<float> all;
  for_each_row(t, [&](std::int64_t, std::int64_t offset) {
    for (std::int64_t j = 0; j < t.shape[t.rank - 1]; ++j) all.push_back(load(t.data, t.dtype, offset + j));
  });
  return all;
}

std::uint64_t fingerprint(const flashwave_tensor& t) {
  std::uint64_t sum = 0;
  for (const float x : values(t)) sum = mix(sum ^ std::bit_cast<std::uint32_t>(x));
  return sum;
}

TEST(Numbers, AreTheDocumentedOnes) {
  // SplitMix64's published first outputs for seed 1234567 pin `mix` and the step.
  std::uint64_t state = 1234567;
  const auto next = [&] { return mix(state += 0x9e3779b97f4a7c15u); };
  EXPECT_EQ(next(), 6457827717110365317u);
  EXPECT_EQ(next(), 3203168211198807973u);
}

TEST(Numbers, LookNormal) {
  const Numbers numbers(1, "q");
  double sum = 0, squares = 0, fourth = 0;
  constexpr int count = 200000;
  for (int i = 0; i < count; ++i) {
    const double x = numbers.normal(static_cast<std::uint64_t>(i));
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
    ASSERT_LT(std::fabs(x), 3.47);
  }
  EXPECT_NEAR(sum / count, 0, 0.01);
  EXPECT_NEAR(squares / count, 1, 0.01);
  EXPECT_NEAR(fourth / count, 3 - 1.2 / 4, 0.05);  // four uniforms lack a little of the bell's tails
}

TEST(Numbers, NeedMoreBitsThanTf32AndBf16Have) {
  const Numbers numbers(1, "q");
  int long_ones = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(numbers.normal(i));
    long_ones += (bits & 0x1fff) != 0;  // the 13 bits that tf32 drops
  }
  EXPECT_GT(long_ones, 900);
}

// Whoever changes how data is made changes every recorded figure and failure: on purpose only.
TEST(CaseData, IsTheSameOnEveryMachine) {
  const Case c = case_of("fwd+bwd b2 hq4 hkv2 sq5 sk7 d8 bf16 bias sink alibi seed=3 want=dlse");
  const CaseData data(c, Memory::guarded);
  EXPECT_EQ(fingerprint(data.call().q), 4927808309677782619u);
  EXPECT_EQ(fingerprint(data.call().k), 10396388116175928190u);
  EXPECT_EQ(fingerprint(data.call().bias), 13974340216370802001u);
  EXPECT_EQ(fingerprint(data.call().alibi), 7193960035187829379u);
  EXPECT_EQ(fingerprint(data.call().dout), 18049141603765830265u);
}

TEST(CaseData, DoesNotDependOnLayoutOrMemory) {
  const std::string line = "fwd b2 hq4 hkv2 sq6 sk9 d8 fp16";
  const CaseData plain(case_of(line), Memory::plain);
  for (const char* layout : {"bhsd", "packed", "strided"}) {
    const CaseData other(case_of(line + " layout=" + layout), Memory::guarded);
    EXPECT_EQ(values(plain.call().q), values(other.call().q)) << layout;
    EXPECT_EQ(values(plain.call().k), values(other.call().k)) << layout;
    EXPECT_EQ(values(plain.call().v), values(other.call().v)) << layout;
  }
}

TEST(CaseData, PagesHoldWhatADenseCacheHolds) {
  const std::string line = "fwd b3 hq2 hkv2 sq2 sk20 d8 fp32 cache lens=random seed=5";
  const Case dense_case = case_of(line), paged_case = case_of(line + " paged=3");
  const CaseData dense(dense_case, Memory::poisoned), paged(paged_case, Memory::poisoned);
  const Sequences in_dense(dense.call()), in_pages(paged.call());
  std::int64_t compared = 0;
  for (std::size_t b = 0; b < in_dense.size(); ++b)
    for (std::int64_t slot = 0; slot < in_dense[b].keys; ++slot, ++compared)
      EXPECT_EQ(load(dense.call().k.data, FLASHWAVE_FP32, in_dense.key_offset(dense.call().k, b, slot, 1)),
                load(paged.call().k.data, FLASHWAVE_FP32, in_pages.key_offset(paged.call().k, b, slot, 1)));
  EXPECT_GT(compared, 5);
}

TEST(CaseData, WhatNoRowSeesIsPoison) {
  const Case c = case_of("fwd b2 hq1 sq2 sk20 d4 fp32 cache leftpad=0,3 lens=2,2/11,15 window=4,0");
  const CaseData data(c, Memory::guarded);
  const Sequences sequences(data.call());
  EXPECT_EQ(sequences.visible(0).begin, 11 - 2 - 4);
  EXPECT_EQ(sequences.visible(1).end, 15);
  for (std::size_t b = 0; b < 2; ++b)
    for (std::int64_t slot = 0; slot < 20; ++slot) {
      const float x =
          load(data.call().k.data, FLASHWAVE_FP32, sequences.key_offset(data.call().k, b, slot, 0));
      EXPECT_EQ(std::isnan(x), !sequences.visible(b).holds(slot)) << b << " " << slot;
    }
}

TEST(CaseData, UnusedColumnsAreMinusOneAndPagesAreDistinct) {
  const Case c = case_of("fwd b3 hq1 sq1 sk40 d4 fp32 cache paged=8 append=2 lens=1,1,1/0,17,38");
  const CaseData data(c, Memory::guarded);
  const auto& table = data.call().block_table;
  ASSERT_EQ(shape_of(table), (Shape{3, 5}));
  const auto* entries = static_cast<const std::int32_t*>(table.data);
  const std::int64_t used[] = {1, 3, 5};  // 0+2, 17+2 and 38+2 slots
  std::vector<std::int32_t> pages;
  for (int b = 0; b < 3; ++b)
    for (int column = 0; column < 5; ++column) {
      const std::int32_t page = entries[b * 5 + column];
      EXPECT_EQ(page == -1, column >= used[b]);
      if (page >= 0) pages.push_back(page);
    }
  std::sort(pages.begin(), pages.end());
  EXPECT_EQ(std::adjacent_find(pages.begin(), pages.end()), pages.end());
  EXPECT_LT(pages.back(), data.call().k.shape[0]);
}

TEST(Members, AKvHeadIsItsShareOfEveryTensor) {
  const Case c = case_of("fwd b1 hq6 hkv2 sq3 sk4 d8 fp32 bias=11qk alibi sink dropout=0.5");
  const CaseData data(c, Memory::guarded);
  const flashwave_attention part = of_kv_head(data.call(), 1);
  EXPECT_EQ(part.q.shape[2], 3);
  EXPECT_EQ(part.k.shape[2], 1);
  EXPECT_EQ(part.bias.shape[1], 1);
  EXPECT_EQ(part.alibi.shape[0], 3);
  EXPECT_EQ(part.origin_head, 3);
  EXPECT_EQ(part.global_heads, 6);
  EXPECT_EQ(load(part.q.data, FLASHWAVE_FP32, 0), load(data.call().q.data, FLASHWAVE_FP32, 3 * 8));
  EXPECT_EQ(load(part.sink.data, FLASHWAVE_FP32, 0), load(data.call().sink.data, FLASHWAVE_FP32, 3));
}

TEST(MemoryDeath, AGuardedBlockEndsAtAFault) {
  Block block(10, Memory::guarded);
  EXPECT_EQ(block.data()[9], poison);
  EXPECT_DEATH({ static_cast<volatile unsigned char*>(block.data())[10] = 1; }, "");
}

}  // namespace
}  // namespace tools
