// The score steps: softcap and its slope, ALiBi.
#include <gtest/gtest.h>

#include <cmath>

#include "meaning/score.hpp"
#include "meaning_lane.hpp"

namespace {

using namespace fw::host;
using fw::test::Lane;

TEST(Softcap, IsCapTimesTanh) {
  for (const float cap : {0.5f, 3.0f, 50.0f})
    for (const float score : {-100.0f, -2.0f, 0.0f, 0.7f, 12.0f, 1e30f})
      EXPECT_NEAR(softcap(Lane(score), cap).x, cap * std::tanh(score / cap), 1e-5 * cap);
}

TEST(Softcap, SlopeIsItsDerivative) {
  for (const float cap : {0.5f, 3.0f, 20.0f})
    for (const float score : {-4.0f, -0.3f, 0.0f, 1.0f, 6.0f}) {
      const double step = 1e-3;
      const double rise =
          cap * (std::tanh((score + step) / cap) - std::tanh((score - step) / cap)) / (2 * step);
      EXPECT_NEAR(softcap_slope(softcap(Lane(score), cap), cap).x, rise, 1e-4) << score << " cap " << cap;
    }
}

TEST(Alibi, FallsWithDistanceOnBothSides) {
  EXPECT_EQ(alibi(Lane(1), Lane(0.5f), Lane(3)).x, -0.5f);
  EXPECT_EQ(alibi(Lane(1), Lane(0.5f), Lane(-3)).x, -0.5f);
  EXPECT_EQ(alibi(Lane(1), Lane(0.5f), Lane(0)).x, 1);
}

}  // namespace
