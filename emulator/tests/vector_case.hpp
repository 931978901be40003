// Rows of the tests of vector instructions: text, inputs of a lane, and what a scalar definition wants of it.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/arch.hpp"
#include "base/floats.hpp"

namespace cdna::test {

using u32 = uint32_t;
using u64 = uint64_t;
using i32 = int32_t;
using i64 = int64_t;

// Inputs of one lane: v[10:11], v[12:13], v[14:15], the old v[20:21], and the lane's bit of vcc.
struct In {
  u64 a, b, c, d;
  bool vcc;
  Arch arch;
  float fa() const { return as_float(static_cast<u32>(a)); }
  float fb() const { return as_float(static_cast<u32>(b)); }
  float fc() const { return as_float(static_cast<u32>(c)); }
  float fd() const { return as_float(static_cast<u32>(d)); }
  double da() const { return as_double(a); }
  double db() const { return as_double(b); }
  double dc() const { return as_double(c); }
  float ha(int n = 0) const { return from_half(static_cast<uint16_t>(a >> (16 * n))); }
  float hb(int n = 0) const { return from_half(static_cast<uint16_t>(b >> (16 * n))); }
  float hc(int n = 0) const { return from_half(static_cast<uint16_t>(c >> (16 * n))); }
};

enum Width { kWord = 1, kPair = 2, kMask = 3 };  // what the result is: v20, v[20:21], a bit of vcc
// How results are compared: numbers let any NaN pass.
enum Close { kEqual, kSingle, kHalf, kDouble, kHalves, kBrains, kSingles };

struct Case {
  std::string text;
  Width width;
  Close close;
  std::function<u64(const In&)> want;
};

inline u64 f(float x) { return std::bit_cast<u32>(x); }
inline u64 d(double x) { return std::bit_cast<u64>(x); }
// Rounded once from a double that is exact.
inline u64 h(double x) { return std::bit_cast<uint16_t>(static_cast<_Float16>(x)); }
inline u64 hh(double low, double high) { return h(low) | h(high) << 16; }
inline u32 lo(u64 x) { return static_cast<u32>(x); }
inline i32 s(u64 x) { return static_cast<i32>(x); }
inline i64 s24(u64 x) { return static_cast<i32>(static_cast<u32>(x) << 8) >> 8; }
inline u32 u24(u64 x) { return static_cast<u32>(x) & 0xffffff; }
inline int16_t s16(u64 x) { return static_cast<int16_t>(x); }
inline uint16_t u16(u64 x) { return static_cast<uint16_t>(x); }

inline float fmax_ieee(float a, float b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == 0 && b == 0) return std::signbit(a) ? b : a;
  return std::max(a, b);
}
inline float fmin_ieee(float a, float b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == 0 && b == 0) return std::signbit(a) ? a : b;
  return std::min(a, b);
}

inline float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }

// Two roundings, nothing subnormal.
inline u64 mad(float a, float b, float c) {
  const float product = flushed(flushed(a) * flushed(b));
  return f(flushed(product + flushed(c)));
}

inline u32 to_u32(double x) {
  return std::isnan(x) || x <= 0 ? 0 : x >= 4294967295.0 ? ~0u : static_cast<u32>(x);
}
inline i32 to_i32(double x) {
  return std::isnan(x)        ? 0
         : x <= -2147483648.0 ? INT32_MIN
         : x >= 2147483647.0  ? INT32_MAX
                              : static_cast<i32>(x);
}

inline u32 bf16(float x) {
  const u32 bits = std::bit_cast<u32>(x);
  if (std::isnan(x)) return bits >> 16 | 0x40;
  const u32 rest = bits & 0xffff, kept = bits >> 16;
  return kept + (rest > 0x8000 || (rest == 0x8000 && kept & 1));
}

// The half toward zero: step down from the nearest while it is too large.
inline u32 half_down(float x) {
  auto n = static_cast<_Float16>(x);
  auto bits = std::bit_cast<uint16_t>(n);
  while (std::abs(static_cast<float>(std::bit_cast<_Float16>(bits))) > std::abs(x) && (bits & 0x7fff)) --bits;
  return bits;
}

inline u32 perm(u32 a, u32 b, u32 selector) {
  u32 out = 0;
  for (int n = 0; n < 4; ++n) {
    const u32 k = selector >> (8 * n) & 255;
    const auto byte = [&](u32 m) { return m < 4 ? b >> (8 * m) & 255 : a >> (8 * (m - 4)) & 255; };
    u32 x = 255;
    if (k <= 7)
      x = byte(k);
    else if (k <= 11)
      x = byte(2 * (k - 8) + 1) & 128 ? 255 : 0;
    else if (k == 12)
      x = 0;
    out |= x << (8 * n);
  }
  return out;
}

using Cases = std::vector<Case>;
Cases arithmetic_cases();
Cases compare_cases();
Cases integer_cases();
Cases half_cases();
Cases packed_cases();
Cases double_cases();
Cases conversion_cases();
Cases small_float_cases();

// All of them.
const Cases& vector_cases();

}  // namespace cdna::test
