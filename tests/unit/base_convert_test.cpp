// Conversions of 16-bit floats, for every bit pattern there is.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/convert.hpp"

namespace fw {
namespace {

// What a bit pattern denotes, from the definition of the format.
double denoted(std::uint16_t bits, int exponent_bits, int fraction_bits) {
  const double sign = bits >> 15 ? -1 : 1;
  const int exponent = (bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  if (exponent == (1 << exponent_bits) - 1)
    return fraction ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
}

struct Format {
  int exponent_bits, fraction_bits;
  float (*widen)(std::uint16_t);
  std::uint16_t (*narrow)(float);
};
constexpr Format formats[] = {{8, 7, float_from_bf16, bf16_from_float},
                              {5, 10, float_from_fp16, fp16_from_float}};

TEST(Convert, EveryPatternWidensToWhatItDenotesAndBack) {
  for (const Format& format : formats) {
    for (int i = 0; i < 65536; ++i) {
      const auto bits = static_cast<std::uint16_t>(i);
      const double value = denoted(bits, format.exponent_bits, format.fraction_bits);
      const float widened = format.widen(bits);
      if (std::isnan(value)) {
        ASSERT_TRUE(std::isnan(widened)) << i;
        ASSERT_TRUE(std::isnan(format.widen(format.narrow(widened)))) << i;
      } else {
        ASSERT_EQ(static_cast<double>(widened), value) << i;
        ASSERT_EQ(std::signbit(widened), std::signbit(value)) << i;
        ASSERT_EQ(format.narrow(widened), bits) << i;
      }
    }
  }
}

// Between two neighbours: the lower below the middle, the upper above it, the even one at it.
TEST(Convert, NarrowingRoundsToTheNearestAndTiesToEven) {
  for (const Format& format : formats) {
    const int infinity_bits = ((1 << format.exponent_bits) - 1) << format.fraction_bits;
    for (int i = 0; i + 1 < infinity_bits; ++i) {
      const auto below = static_cast<std::uint16_t>(i), above = static_cast<std::uint16_t>(i + 1);
      const double low = denoted(below, format.exponent_bits, format.fraction_bits);
      const double high = denoted(above, format.exponent_bits, format.fraction_bits);
      const auto middle = static_cast<float>((low + high) / 2);  // one bit more, so exact
      ASSERT_EQ(format.narrow(middle), i % 2 == 0 ? below : above) << i;
      ASSERT_EQ(format.narrow(std::nextafter(middle, 0.0f)), below) << i;
      ASSERT_EQ(format.narrow(std::nextafter(middle, INFINITY)), above) << i;
      ASSERT_EQ(format.narrow(-std::nextafter(middle, 0.0f)), below | 0x8000) << i;
    }
  }
}

TEST(Convert, BeyondTheLargestIsInfinity) {
  EXPECT_EQ(fp16_from_float(65519.996f), 0x7bff);
  EXPECT_EQ(fp16_from_float(65520.0f), 0x7c00);
  EXPECT_EQ(fp16_from_float(-1e30f), 0xfc00);
  EXPECT_EQ(bf16_from_float(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(fp16_from_float(1e-30f), 0);
  EXPECT_EQ(fp16_from_float(-1e-30f), 0x8000);
}

}  // namespace
}  // namespace fw
