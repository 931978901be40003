#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/element.hpp"

namespace tools {
namespace {

// The value of a 16-bit pattern by its definition.
double value_of(std::uint16_t bits, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const double sign = bits >> 15 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1)
    return fraction ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
}

TEST(ToolsElement, EveryHalfHasItsDefinedValueAndComesBack) {
  for (int i = 0; i < 65536; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const double fp16 = value_of(bits, 5, 10), bf16 = value_of(bits, 8, 7);
    if (std::isnan(fp16)) {
      EXPECT_TRUE(std::isnan(from_fp16(bits)) && std::isnan(from_fp16(to_fp16(from_fp16(bits))))) << i;
    } else {
      ASSERT_EQ(from_fp16(bits), fp16) << i;
      ASSERT_EQ(to_fp16(from_fp16(bits)), bits);
    }
    if (std::isnan(bf16)) {
      EXPECT_TRUE(std::isnan(from_bf16(bits)) && std::isnan(from_bf16(to_bf16(from_bf16(bits))))) << i;
    } else {
      ASSERT_EQ(from_bf16(bits), bf16) << i;
      ASSERT_EQ(to_bf16(from_bf16(bits)), bits);
    }
  }
}

// Between each two neighbours the middle goes to the even one, and what is beside the middle to the nearer.
template <class From, class To>
void expect_nearest_even(From from, To to, std::uint16_t infinity) {
  for (std::uint16_t low = 0; low + 1 < infinity; ++low) {
    const double middle = (double{from(low)} + double{from(static_cast<std::uint16_t>(low + 1))}) / 2;
    const auto x = static_cast<float>(middle);
    ASSERT_EQ(x, middle);
    ASSERT_EQ(to(x), low + (low & 1));
    ASSERT_EQ(to(std::nextafter(x, 0.0f)), low);
    ASSERT_EQ(to(std::nextafter(x, 1e30f)), low + 1);
    ASSERT_EQ(to(-x), 0x8000 | (low + (low & 1)));
  }
}
TEST(ToolsElement, Fp16RoundsToNearestEven) { expect_nearest_even(from_fp16, to_fp16, 0x7c00); }
TEST(ToolsElement, Bf16RoundsToNearestEven) { expect_nearest_even(from_bf16, to_bf16, 0x7000); }

TEST(ToolsElement, LargeNumbersBecomeInfinite) {
  EXPECT_EQ(to_fp16(65519.996f), 0x7bff);
  EXPECT_EQ(to_fp16(65520.0f), 0x7c00);
  EXPECT_EQ(to_fp16(-std::numeric_limits<float>::infinity()), 0xfc00);
  EXPECT_EQ(to_bf16(std::numeric_limits<float>::max()), 0x7f80);
}

TEST(ToolsElement, UlpIsTheDistanceOfNeighbours) {
  EXPECT_EQ(ulp(FLASHWAVE_BF16, 1.5), 0x1p-7);
  EXPECT_EQ(ulp(FLASHWAVE_FP16, 1.5), 0x1p-10);
  EXPECT_EQ(ulp(FLASHWAVE_FP32, 1.5), 0x1p-23);
  EXPECT_EQ(ulp(FLASHWAVE_FP16, 0), 0x1p-24);
  EXPECT_EQ(ulp(FLASHWAVE_BF16, 0.9), 0x1p-8);
}

}  // namespace
}  // namespace tools
