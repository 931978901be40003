// The algebra of rows: however keys are cut into tiles, splits and orders, a row ends the same.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "base/random.hpp"
#include "meaning/combine.hpp"
#include "meaning/softmax.hpp"
#include "meaning_lane.hpp"

namespace {

using namespace fw::host;
using fw::test::Lane;

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

struct Ended {
  float lse = 0, value = 0;  // of the row, and of its weighted sum of `values`
};

// A row of scores and the value of each key, attended to in tiles of the given sizes.
class Attended {
 public:
  Attended(std::vector<float> scores, float unit) : scores_(std::move(scores)), unit_(unit_of(unit)) {}

  // Values are 1, 2, 3, ...: exact in fp32, and different for each key.
  Ended in_tiles(const std::vector<int>& sizes, float sink = minus_infinity) const {
    Row<Lane> row = fresh_row<Lane>();
    float sum = 0;
    std::size_t at = 0;
    for (const int size : sizes) {
      Lane top(minus_infinity);
      for (int i = 0; i < size; ++i) top = max(top, Lane(scores_[at + static_cast<std::size_t>(i)]));
      const Step<Lane> step = raise(row, top, Lane(unit_.in_log2));
      sum *= step.fade.x;
      for (int i = 0; i < size; ++i, ++at) {
        const Lane p = weight(Lane(scores_[at]), step.base, Lane(unit_.in_log2));
        row.sum = row.sum + p;
        sum += p.x * static_cast<float>(at + 1);
      }
    }
    EXPECT_EQ(at, scores_.size());
    const Total<Lane> total = finish(row, Lane(sink), unit_);
    return {total.lse.x, total.scale.x == 0 ? 0 : sum * total.scale.x};
  }

  Ended exactly(double sink = minus_infinity) const {
    double top = sink;
    for (const float s : scores_) top = std::max(top, static_cast<double>(s) * unit_.natural);
    if (std::isinf(top)) return {minus_infinity, 0};
    double total = std::exp(sink - top), value = 0;
    for (std::size_t i = 0; i < scores_.size(); ++i) {
      const double p = std::exp(static_cast<double>(scores_[i]) * unit_.natural - top);
      total += p;
      value += p * static_cast<double>(i + 1);
    }
    return {static_cast<float>(top + std::log(total)), static_cast<float>(value / total)};
  }

 private:
  std::vector<float> scores_;
  Unit unit_;
};

std::vector<float> random_scores(std::size_t count, std::uint64_t seed, bool some_hidden) {
  fw::SplitMix64 random(seed);
  std::vector<float> scores(count);
  for (float& s : scores) {
    s = static_cast<float>(random.below(4000)) / 200 - 10;
    if (some_hidden && random.below(3) == 0) s = minus_infinity;
  }
  return scores;
}

void expect_same(Ended got, Ended want) {
  if (std::isinf(want.lse)) {
    EXPECT_EQ(got.lse, want.lse);
    EXPECT_EQ(got.value, 0);
    return;
  }
  EXPECT_NEAR(got.lse, want.lse, 2e-6 * (1 + std::fabs(want.lse)));
  EXPECT_NEAR(got.value, want.value, 4e-6 * (1 + std::fabs(want.value)));
}

TEST(Row, EndsTheSameHoweverItsKeysAreCut) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Attended row(random_scores(12, seed, seed % 2), 0.25f + 0.1f * static_cast<float>(seed));
    for (const std::vector<int>& sizes : {std::vector<int>{12},
                                          std::vector<int>(12, 1),
                                          {5, 7},
                                          {1, 10, 1},
                                          {3, 3, 3, 3},
                                          {0, 12},
                                          {4, 0, 8}})
      expect_same(row.in_tiles(sizes), row.exactly());
  }
}

TEST(Row, SurvivesTilesThatAreWhollyHidden) {
  const Attended row({minus_infinity, minus_infinity, minus_infinity, 2, minus_infinity, 1}, 1);
  for (const std::vector<int>& sizes : {std::vector<int>{3, 3}, {1, 1, 1, 1, 1, 1}, {2, 2, 2}})
    expect_same(row.in_tiles(sizes), row.exactly());
}

TEST(Row, ThatSawNothingIsEmpty) {
  const Ended nothing = Attended({}, 1).in_tiles({});
  EXPECT_EQ(nothing.lse, minus_infinity);
  EXPECT_EQ(nothing.value, 0);
  const Ended hidden = Attended({minus_infinity, minus_infinity}, 0.5f).in_tiles({1, 1});
  EXPECT_EQ(hidden.lse, minus_infinity);
  EXPECT_EQ(hidden.value, 0);
}

TEST(Row, LooksAtTheKeyWhoseScoreDwarfsTheOthers) {
  for (const std::vector<int>& sizes : {std::vector<int>{3}, {1, 1, 1}, {2, 1}})
    EXPECT_EQ(Attended({-2e4f, -1e4f, -3e38f}, 1).in_tiles(sizes).value, 2);
}

// All real scores lie below any finite stand-in for minus infinity:
// https://github.com/flashinfer-ai/flashinfer/issues/4267
TEST(Row, HasNoFiniteMinusInfinity) {
  const std::vector<float> scores(64, -262144.0f);
  const float unit = 0.088388348f;  // 128^-0.5
  const Ended ended = Attended(scores, unit).in_tiles({32, 32});
  EXPECT_NEAR(ended.lse, -23166.3161, 0.01);
  EXPECT_NEAR(ended.value, 32.5, 1e-4);
  const Ended far = Attended({-3e38f, -3e38f}, 1).in_tiles({1, 1});
  EXPECT_EQ(far.value, 1.5f);
}

TEST(Sink, JoinsTheDenominatorOnce) {
  for (const float sink : {-50.0f, -2.0f, 0.0f, 3.0f, 30.0f, 200.0f}) {
    const Attended row(random_scores(9, 77, false), 0.3f);
    for (const std::vector<int>& sizes : {std::vector<int>{9}, std::vector<int>(9, 1), {4, 5}})
      expect_same(row.in_tiles(sizes, sink), row.exactly(sink));
  }
}

TEST(Sink, OfMinusInfinityIsAbsent) {
  const Attended row(random_scores(9, 78, false), 0.3f);
  EXPECT_EQ(row.in_tiles({9}, minus_infinity).lse, row.in_tiles({9}).lse);
}

TEST(Sink, IsAllThatAnEmptyRowHas) {
  const Ended ended = Attended({minus_infinity}, 1).in_tiles({1}, 1.5f);
  EXPECT_FLOAT_EQ(ended.lse, 1.5f);
  EXPECT_EQ(ended.value, 0);
}

TEST(Probability, OfARowSumsToOne) {
  const std::vector<float> scores = random_scores(20, 5, false);
  const Attended row(scores, 0.7f);
  const float lse = row.in_tiles({20}).lse;
  double sum = 0;
  for (const float s : scores) sum += probability(Lane(s), Lane(lse), unit_of(0.7f)).x;
  EXPECT_NEAR(sum, 1, 1e-5);
}

TEST(Probability, IsNoNaNInAnEmptyRow) {
  EXPECT_EQ(probability(Lane(minus_infinity), Lane(minus_infinity), unit_of(1)).x, 0);
}

// Merging partial rows: any cut of the keys into splits, in any order of merging.
class Merged : public testing::TestWithParam<std::vector<int>> {};

TEST_P(Merged, PartialsAreTheWhole) {
  const std::vector<int>& sizes = GetParam();
  const int count = std::accumulate(sizes.begin(), sizes.end(), 0);
  const std::vector<float> scores = random_scores(static_cast<std::size_t>(count), 9, true);
  for (const float sink : {minus_infinity, 0.5f}) {
    std::vector<Ended> partials;
    std::size_t at = 0;
    for (const int size : sizes) {  // values count from 1 within a part: move them to the whole's
      const std::vector<float> part(scores.begin() + static_cast<std::ptrdiff_t>(at),
                                    scores.begin() + static_cast<std::ptrdiff_t>(at) + size);
      Ended ended = Attended(part, 1).in_tiles({size});
      ended.value += static_cast<float>(at);
      partials.push_back(ended);
      at += static_cast<std::size_t>(size);
    }
    for (int turn = 0; turn < 2; ++turn) {
      Row<Lane> row = fresh_row<Lane>();
      for (const Ended& p : partials) merge(row, Lane(p.lse));
      const Total<Lane> total = finish(row, Lane(sink), Unit{log2_e, 1.0f});
      float value = 0;
      for (const Ended& p : partials) {
        const float share = partial_weight(Lane(p.lse), total.lse).x;
        if (std::isinf(p.lse)) {
          EXPECT_EQ(share, 0);
        }
        if (share != 0) value += share * p.value;
      }
      expect_same({total.lse.x, value}, Attended(scores, 1).exactly(sink));
      std::reverse(partials.begin(), partials.end());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cuts, Merged,
                         testing::Values(std::vector<int>{10}, std::vector<int>{4, 6},
                                         std::vector<int>{1, 1, 8}, std::vector<int>{0, 5, 0, 5},
                                         std::vector<int>(10, 1)));

TEST(Merge, OfNothingWeighsNothing) {
  Row<Lane> row = fresh_row<Lane>();
  merge(row, Lane(minus_infinity));
  merge(row, Lane(minus_infinity));
  const Total<Lane> total = finish(row, Lane(minus_infinity), Unit{log2_e, 1.0f});
  EXPECT_EQ(total.lse.x, minus_infinity);
  EXPECT_EQ(partial_weight(Lane(minus_infinity), total.lse).x, 0);
}

}  // namespace
