// exp2, log2, reciprocal and roots as the hardware's quarter-rate unit gives them: subnormal inputs and
// results flushed. The hardware is within one unit of the last place by unpublished tables; these are rounded
// from double.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

namespace cdna {

inline float flush(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  return bits & 0x7f800000 ? x : std::bit_cast<float>(bits & 0x80000000);
}

// Branchless, so that 64 lanes become vector code.
inline float exp2_flushed(float x) {
  const double wide = x < -150.0f ? -150.0 : x > 200.0f ? 200.0 : static_cast<double>(x);
  constexpr double kShift = 0x1.8p52;
  const double shifted = wide + kShift;  // the low bits hold the rounded integer
  const double f = wide - (shifted - kShift);
  // (f ln 2)^n / n!
  double p = 7.0549116208011233e-9;
  p = std::fma(p, f, 1.0178086009239699e-7);
  p = std::fma(p, f, 1.3215486790144307e-6);
  p = std::fma(p, f, 1.5252733804059840e-5);
  p = std::fma(p, f, 1.5403530393381608e-4);
  p = std::fma(p, f, 1.3333558146428443e-3);
  p = std::fma(p, f, 9.6181291076284772e-3);
  p = std::fma(p, f, 5.5504108664821580e-2);
  p = std::fma(p, f, 2.4022650695910072e-1);
  p = std::fma(p, f, 6.9314718055994531e-1);
  p = std::fma(p, f, 1.0);
  const uint64_t power = (std::bit_cast<uint64_t>(shifted) + 1023) << 52;
  const float result = static_cast<float>(p * std::bit_cast<double>(power));
  const float flushed = result < 0x1p-126f ? 0.0f : result;
  return x != x ? x : flushed;
}

inline float log2_flushed(float x) {
  const float y = flush(x);
  return y < 0 ? std::bit_cast<float>(0x7fc00000) : static_cast<float>(std::log2(static_cast<double>(y)));
}

inline float reciprocal(float x) { return flush(1.0f / flush(x)); }

inline float reciprocal_root(float x) {
  const float y = flush(x);
  if (y < 0) return std::bit_cast<float>(0x7fc00000);
  return static_cast<float>(1.0 / std::sqrt(static_cast<double>(y)));
}

inline constexpr double kTwoPi = 6.283185307179586;

// Of an angle in turns; infinities have none.
inline float turn_sine(float x) {
  if (std::isinf(x)) return std::bit_cast<float>(0xffc00000);
  if (x == 0) return x;
  const double turn = std::fmod(static_cast<double>(x), 1.0), sine = std::sin(kTwoPi * turn);
  return std::fmod(turn, 0.5) == 0 ? 0.0f : static_cast<float>(sine);
}

inline float turn_cosine(float x) {
  if (std::isinf(x)) return std::bit_cast<float>(0xffc00000);
  const double turn = std::fmod(static_cast<double>(x), 1.0);
  return std::fmod(turn, 0.5) != 0 && std::fmod(turn, 0.25) == 0
             ? 0.0f
             : static_cast<float>(std::cos(kTwoPi * turn));
}

}  // namespace cdna
