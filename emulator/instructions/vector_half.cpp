// Vector arithmetic on fp16, one number a lane.
#include <algorithm>

#include "instructions/transcendental.hpp"
#include "instructions/vector.hpp"

namespace cdna {
namespace {

inline half larger(half a, half b) {
  const bool above = a.x > b.x || (a.x == b.x && !std::signbit(a.x));
  return a.x != a.x ? b : b.x != b.x ? a : above ? a : b;
}
inline half smaller(half a, half b) {
  const bool below = a.x < b.x || (a.x == b.x && std::signbit(a.x));
  return a.x != a.x ? b : b.x != b.x ? a : below ? a : b;
}

half median(half a, half b, half c) {
  if (a.x != a.x || b.x != b.x || c.x != c.x) return smaller(smaller(a, b), c);
  const half top = larger(larger(a, b), c);
  if (top.x == a.x) return larger(b, c);
  if (top.x == b.x) return larger(a, c);
  return larger(a, b);
}

// Exact in double, so that only the last rounding counts.
inline half fused(half a, half b, half c) {
  return {to_odd(static_cast<double>(a.x) * b.x + static_cast<double>(c.x))};
}

float without_subnormals(float x) { return std::abs(x) < 0x1p-14f ? std::copysign(0.0f, x) : x; }

// v_mad: two roundings, and subnormal numbers are flushed whatever MODE says.
half multiply_add(half a, half b, half c) {
  const float product =
      without_subnormals(from_half(to_half(without_subnormals(a.x) * without_subnormals(b.x))));
  const float sum = to_odd(static_cast<double>(product) + without_subnormals(c.x));
  return {without_subnormals(from_half(to_half(sum)))};
}

half fix_quotient(half quotient, half denominator, half numerator) {
  const float sign = std::signbit(denominator.x) != std::signbit(numerator.x) ? -1.0f : 1.0f;
  const float n = numerator.x, d = denominator.x;
  if (n != n) return numerator;
  if (d != d) return denominator;
  if ((n == 0 && d == 0) || (std::isinf(n) && std::isinf(d))) return {as_float(0xffc00000)};
  if (d == 0 || std::isinf(n)) return {std::copysign(INFINITY, sign)};
  if (std::isinf(d) || n == 0) return {std::copysign(0.0f, sign)};
  return {std::copysign(quotient.x, sign)};
}

uint32_t class_bit(half a) {
  const bool negative = std::signbit(a.x);
  switch (std::fpclassify(a.x)) {
    case FP_NAN: return as_bits(a.x) & 0x400000 ? 2 : 1;
    case FP_INFINITE: return negative ? 4 : 512;
    case FP_ZERO: return negative ? 32 : 64;
    default: break;
  }
  const bool subnormal = std::abs(a.x) < 0x1p-14f;
  return subnormal ? (negative ? 16 : 128) : (negative ? 8 : 256);
}

float mantissa(float x) {
  int e;
  return std::isfinite(x) && x != 0 ? std::frexp(x, &e) : x;
}
int16_t exponent(float x) {
  int e = 0;
  if (std::isfinite(x) && x != 0) std::frexp(x, &e);
  return static_cast<int16_t>(e);
}

float fraction(float x) {
  constexpr float kLargest = 1 - 0x1p-11f;
  return std::isfinite(x) ? std::min(x - std::floor(x), kLargest) : as_float(0x7fc00000);
}

double exact_exp2(float x) { return std::exp2(static_cast<double>(x)); }

}  // namespace

Definitions vector_half() {
  constexpr Class slow = Class::transcendental;
  constexpr Keep keep = Keep::other_half;
  Definitions all = {
      vector<[](half a, half b) { return half{a.x + b.x}; }>("v_add_f16"),
      vector<[](half a, half b) { return half{a.x - b.x}; }>("v_sub_f16"),
      vector<[](half a, half b) { return half{b.x - a.x}; }>("v_subrev_f16"),
      vector<[](half a, half b) { return half{a.x * b.x}; }>("v_mul_f16"),
      vector<[](half a, half b) { return larger(a, b); }>("v_max_f16"),
      vector<[](half a, half b) { return smaller(a, b); }>("v_min_f16"),
      accumulating<[](half a, half b, half c) { return multiply_add(a, b, c); }>("v_mac_f16"),
      vector<[](half a, half b, half c) { return multiply_add(a, b, c); }>("v_madmk_f16"),
      vector<[](half a, half b, half c) { return multiply_add(a, b, c); }>("v_madak_f16"),
      vector<[](half a, half b, half c) { return fused(a, b, c); }, keep>("v_fma_f16"),
      vector<[](half a, half b, half c) { return multiply_add(a, b, c); }, keep>("v_mad_f16"),
      vector<[](half a, half b, half c) { return larger(larger(a, b), c); }, keep>("v_max3_f16"),
      vector<[](half a, half b, half c) { return smaller(smaller(a, b), c); }, keep>("v_min3_f16"),
      vector<[](half a, half b, half c) { return median(a, b, c); }, keep>("v_med3_f16"),
      vector<[](half a, half b, half c) { return fix_quotient(a, b, c); }, keep>("v_div_fixup_f16"),
      vector<[](half a, int16_t b) { return half{std::ldexp(a.x, b)}; }>("v_ldexp_f16"),
      vector<[](half a) { return half{fraction(a.x)}; }>("v_fract_f16"),
      vector<[](half a) { return half{std::trunc(a.x)}; }>("v_trunc_f16"),
      vector<[](half a) { return half{std::ceil(a.x)}; }>("v_ceil_f16"),
      vector<[](half a) { return half{std::floor(a.x)}; }>("v_floor_f16"),
      vector<[](half a) { return half{std::nearbyint(a.x)}; }>("v_rndne_f16"),
      vector<[](half a) { return half{mantissa(a.x)}; }>("v_frexp_mant_f16"),
      vector<[](half a) { return exponent(a.x); }>("v_frexp_exp_i16_f16"),
      vector<[](half a) { return half{to_odd(exact_exp2(a.x))}; }>("v_exp_f16", slow),
      vector<[](half a) { return half{to_odd(std::log2(static_cast<double>(a.x)))}; }>("v_log_f16", slow),
      vector<[](half a) { return half{to_odd(1.0 / a.x)}; }>("v_rcp_f16", slow),
      vector<[](half a) { return half{to_odd(1.0 / std::sqrt(static_cast<double>(a.x)))}; }>("v_rsq_f16",
                                                                                             slow),
      vector<[](half a) { return half{to_odd(std::sqrt(static_cast<double>(a.x)))}; }>("v_sqrt_f16", slow),
      vector<[](half a) { return half{turn_sine(a.x)}; }>("v_sin_f16", slow),
      vector<[](half a) { return half{turn_cosine(a.x)}; }>("v_cos_f16", slow),
  };
  add_compare<[](half a, uint16_t b) { return (class_bit(a) & b) != 0; }>(all, "class_f16");
  return all;
}

}  // namespace cdna
