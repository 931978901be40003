// Conversions of 16-bit values by every instruction set that this machine has, against the portable ones of
// base: all 65,536 values, and all edges of rounding. Vectors and what is left behind the last one.
#include "cpu_halves.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/convert.hpp"
#include "cpu/isa.hpp"

#define FLASHWAVE_DECLARE(isa)                 \
  namespace fw::isa {                          \
  extern const RowConversions row_conversions; \
  }
FLASHWAVE_DECLARE(portable)
#if defined(FLASHWAVE_CPU_X86)
FLASHWAVE_DECLARE(avx2)
FLASHWAVE_DECLARE(avx512)
#endif
#if defined(FLASHWAVE_CPU_AVX512FP16)
FLASHWAVE_DECLARE(avx512fp16)
#endif

namespace fw::cpu {
namespace {

using Halves = std::vector<std::uint16_t>;
using Floats = std::vector<float>;

class Halves16 : public testing::TestWithParam<const RowConversions*> {
 protected:
  void SetUp() override {
    for (const Offer& offer : offers_here())
      if (std::string(offer.isa->name) == GetParam()->isa && !offer.missing.empty())
        GTEST_SKIP() << offer.missing;
  }
  // A row at once, and rows too short for a vector.
  template <class To, class From>
  std::vector<To> convert(void (*row)(To*, const From*, int), const std::vector<From>& from, bool whole) {
    std::vector<To> to(from.size());
    const int step = whole ? static_cast<int>(from.size()) : GetParam()->lanes - 1;
    for (int i = 0; i < static_cast<int>(from.size()); i += step)
      row(to.data() + i, from.data() + i, std::min(step, static_cast<int>(from.size()) - i));
    return to;
  }
};

void expect_same(float got, float wanted, unsigned of) {
  if (std::isnan(wanted))
    ASSERT_TRUE(std::isnan(got)) << of;
  else
    ASSERT_EQ(std::bit_cast<std::uint32_t>(got), std::bit_cast<std::uint32_t>(wanted)) << of;
}

Halves all_halves() {
  Halves all(65536);
  for (unsigned i = 0; i < 65536; ++i) all[i] = static_cast<std::uint16_t>(i);
  return all;
}

TEST_P(Halves16, EveryValueIsWidened) {
  const Halves all = all_halves();
  for (const bool whole : {true, false}) {
    const Floats fp16 = convert(GetParam()->widen_fp16, all, whole);
    const Floats bf16 = convert(GetParam()->widen_bf16, all, whole);
    for (unsigned i = 0; i < 65536; ++i) {
      expect_same(fp16[i], float_from_fp16(all[i]), i);
      expect_same(bf16[i], float_from_bf16(all[i]), i);
    }
  }
}

// Every value, the middle between it and the next, and the floats beside both; what overflows; NaN.
Floats edges(float (*widen)(std::uint16_t)) {
  Floats edges;
  const auto add = [&](float x) {
    const float up = std::numeric_limits<float>::infinity();
    for (const float y : {x, std::nextafter(x, up), std::nextafter(x, -up)})
      edges.insert(edges.end(), {y, -y});
  };
  for (unsigned i = 0; i < 0x8000; ++i) {
    const auto half = static_cast<std::uint16_t>(i);
    const float x = widen(half), next = widen(static_cast<std::uint16_t>(i + 1));
    add(x);
    if (std::isfinite(x)) add(std::isfinite(next) ? x + (next - x) / 2 : x + (x - widen(half - 1)) / 2);
  }
  for (const float x : {std::numeric_limits<float>::max(), std::numeric_limits<float>::min(),
                        std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::quiet_NaN()})
    add(x);
  return edges;
}

TEST_P(Halves16, EveryEdgeIsRoundedToNearestEven) {
  for (const bool whole : {true, false}) {
    const Floats fp16 = edges(float_from_fp16), bf16 = edges(float_from_bf16);
    const Halves to_fp16 = convert(GetParam()->narrow_fp16, fp16, whole);
    const Halves to_bf16 = convert(GetParam()->narrow_bf16, bf16, whole);
    for (std::size_t i = 0; i < fp16.size(); ++i) {
      const std::uint16_t wanted = fp16_from_float(fp16[i]);
      if (std::isnan(fp16[i]))
        ASSERT_TRUE(std::isnan(float_from_fp16(to_fp16[i])));
      else
        ASSERT_EQ(to_fp16[i], wanted) << fp16[i];
    }
    for (std::size_t i = 0; i < bf16.size(); ++i) {
      const std::uint16_t wanted = bf16_from_float(bf16[i]);
      if (std::isnan(bf16[i]))
        ASSERT_TRUE(std::isnan(float_from_bf16(to_bf16[i])));
      else
        ASSERT_EQ(to_bf16[i], wanted) << bf16[i];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Halves16,
                         testing::Values(&portable::row_conversions
#if defined(FLASHWAVE_CPU_X86)
                                         ,
                                         &avx2::row_conversions, &avx512::row_conversions
#endif
#if defined(FLASHWAVE_CPU_AVX512FP16)
                                         ,
                                         &avx512fp16::row_conversions
#endif
                                         ),
                         [](const auto& one) { return std::string(one.param->isa); });

}  // namespace
}  // namespace fw::cpu
