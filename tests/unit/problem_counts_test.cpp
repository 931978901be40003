// Visible pairs and slots in closed form against the mask's definition, pair by pair.
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "problem/counts.hpp"
#include "problem/visible.hpp"

namespace fw {
namespace {

// Key j, counted from the first unpadded slot, as row i sees it.
bool sees(const Problem& p, const Sequence& s, std::int64_t i, std::int64_t j) {
  const std::int64_t position = i + s.diagonal;
  return (p.left < 0 || j >= position - p.left) && (p.right < 0 || j <= position + p.right);
}

struct Drawn {
  Problem problem;
  Sequence sequence;
};

Drawn draw(SplitMix64& random) {
  Drawn d;
  const auto side = [&] {
    const std::uint64_t kind = random.below(8);
    if (kind == 0) return 2147483647;
    return kind < 3 ? open_side : static_cast<int>(random.below(12));
  };
  d.problem.left = side();
  d.problem.right = side();
  d.sequence.queries = static_cast<std::int64_t>(random.below(12));
  d.sequence.keys = static_cast<std::int64_t>(random.below(14));
  d.sequence.leftpad = random.below(3) ? 0 : static_cast<std::int64_t>(random.below(16));
  d.sequence.diagonal = default_diagonal(d.sequence);
  const std::uint64_t kind = random.below(8);
  if (kind == 0) d.sequence.diagonal = -2147483648;
  if (kind == 1) d.sequence.diagonal = 2147483647;
  if (kind > 4) d.sequence.diagonal = static_cast<std::int64_t>(random.below(40)) - 20;
  return d;
}

TEST(Counts, PairsAndSlotsAreThoseOfTheDefinition) {
  SplitMix64 random(11);
  for (int trial = 0; trial < 20000; ++trial) {
    const auto [p, s] = draw(random);
    std::int64_t pairs = 0, first = -1, last = -1;
    for (std::int64_t j = 0; j + s.leftpad < s.keys; ++j) {
      for (std::int64_t i = 0; i < s.queries; ++i) {
        if (!sees(p, s, i, j)) continue;
        ++pairs;
        if (first < 0) first = j + s.leftpad;
        last = j + s.leftpad + 1;
      }
    }
    ASSERT_EQ(visible_pairs(p, s), pairs)
        << "left " << p.left << " right " << p.right << " queries " << s.queries << " keys " << s.keys
        << " leftpad " << s.leftpad << " at " << s.diagonal;
    const Slots slots = visible_slots(p, s);
    if (pairs == 0) {
      ASSERT_GE(slots.first, slots.last);
    } else {
      ASSERT_EQ(slots.first, first);
      ASSERT_EQ(slots.last, last);
    }
  }
}

TEST(Counts, LargeSequencesAreExact) {
  Problem p;
  const std::int64_t n = std::int64_t{1} << 30;
  EXPECT_EQ(visible_pairs(p, {n, n, 0, 0}), n * n);
  p.right = 0;
  EXPECT_EQ(visible_pairs(p, {n, n, 0, 0}), n * (n + 1) / 2);
}

Counts counts_of(std::string_view line, Pass pass) {
  Case c;
  const Status status = parse(line, c);
  EXPECT_TRUE(status.ok()) << status.message();
  return count(c, pass);
}

TEST(Counts, FlopsAndBytesAreAsDocumented) {
  const std::string_view line = "fwd+bwd b2 hq4 hkv2 sq3 sk5 d8 dv4 bf16 causal want=lse";
  const double pairs = 2 * 4 * (3 + 4 + 5);
  const Counts forward = counts_of(line, Pass::forward);
  EXPECT_EQ(forward.pairs, pairs);
  EXPECT_EQ(forward.flops, pairs * 2 * (8 + 4));
  const double q = 2 * 3 * 4 * 8 * 2, kv = 2 * 5 * 2 * (8 + 4) * 2, out = 2 * 3 * 4 * 4 * 2,
               lse = 2 * 3 * 4 * 4;
  EXPECT_EQ(forward.bytes, q + kv + out + lse);
  const Counts backward = counts_of(line, Pass::backward);
  EXPECT_EQ(backward.pairs, pairs);
  EXPECT_EQ(backward.flops, pairs * 2 * (3 * 8 + 2 * 4));
  EXPECT_EQ(backward.bytes, 2 * (q + kv + out) + lse);
  const Counts both = counts_of(line, Pass::both);
  EXPECT_EQ(both.pairs, pairs);
  EXPECT_EQ(both.flops, forward.flops + backward.flops);
  EXPECT_EQ(both.bytes, forward.bytes + backward.bytes);
}

TEST(Counts, RaggedLengthsCountAsTheyAre) {
  EXPECT_EQ(counts_of("fwd b3 sq4 sk6 d8 bf16 varlen lens=4,0,2/6,5,0", Pass::forward).pairs, 24);
  EXPECT_EQ(counts_of("fwd b1 sq6 sk2 d8 bf16 causal", Pass::forward).pairs, 0 + 0 + 0 + 0 + 1 + 2);
  EXPECT_EQ(counts_of("fwd b1 sq10 sk4 d8 bf16 window=0,100", Pass::forward).pairs, 4 * 7 + 3 + 2 + 1);
  EXPECT_EQ(counts_of("fwd b2 sq1 sk8 d8 bf16 cache lens=1,1/7,7 append=1 leftpad=0,3", Pass::forward).pairs,
            8 + 5);
  EXPECT_EQ(counts_of("fwd b0 sq10 sk4 d8 bf16", Pass::forward).flops, 0);
}

}  // namespace
}  // namespace fw
