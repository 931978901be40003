// Vector arithmetic on fp32.
#include <bit>

#include "instructions/transcendental.hpp"
#include "instructions/vector.hpp"

namespace cdna {
namespace {

float quiet(float x) { return as_float(as_bits(x) | 0x400000); }

// Maximum and minimum treat one NaN as absent, and tell +0 from -0.
inline float larger(float a, float b) {
  const bool above = a > b || (a == b && !(as_bits(a) >> 31));
  return a != a ? b : b != b ? a : above ? a : b;
}
inline float smaller(float a, float b) {
  const bool below = a < b || (a == b && as_bits(a) >> 31);
  return a != a ? b : b != b ? a : below ? a : b;
}

float median(float a, float b, float c) {
  if (a != a || b != b || c != c) return smaller(smaller(a, b), c);
  const float top = larger(larger(a, b), c);
  if (top == a) return larger(b, c);
  if (top == b) return larger(a, c);
  return larger(a, b);
}

// These let a NaN through.
inline float maximum(float a, float b) { return a != a || b != b ? as_float(0x7fc00000) : larger(a, b); }
inline float minimum(float a, float b) { return a != a || b != b ? as_float(0x7fc00000) : smaller(a, b); }

// The legacy product: zero times anything is zero.
float legacy(float a, float b) { return a == 0 || b == 0 ? 0.0f : a * b; }

float fraction(float x) {
  if (!std::isfinite(x)) return as_float(0x7fc00000);
  return smaller(x - std::floor(x), as_float(0x3f7fffff));
}

float mantissa(float x) {
  if (!std::isfinite(x) || x == 0) return x;
  int exponent;
  return std::frexp(x, &exponent);
}

int32_t exponent(float x) {
  if (!std::isfinite(x) || x == 0) return 0;
  int e;
  std::frexp(x, &e);
  return e;
}

int exponent_field(float x) { return static_cast<int>(as_bits(x) >> 23 & 0xff); }

// Repairs the quotient that the division sequence computed: signs, zeros, infinities, NaN, extreme exponents.
float fix_quotient(float quotient, float denominator, float numerator) {
  const bool negative = (as_bits(denominator) ^ as_bits(numerator)) >> 31;
  const auto sign = [negative](float x) { return negative ? -x : x; };
  if (numerator != numerator) return quiet(numerator);
  if (denominator != denominator) return quiet(denominator);
  if (numerator == 0 && denominator == 0) return as_float(0xffc00000);
  if (std::isinf(numerator) && std::isinf(denominator)) return as_float(0xffc00000);
  if (denominator == 0 || std::isinf(numerator)) return sign(INFINITY);
  if (std::isinf(denominator) || numerator == 0) return sign(0.0f);
  if (exponent_field(numerator) - exponent_field(denominator) < -150) return sign(as_float(1) * 0.5f);
  if (quotient != quotient) return sign(INFINITY);  // the sequence overflowed on its way
  return sign(std::abs(quotient));
}

struct Scaled {
  float value;
  bool flag;  // the quotient needs scaling back
};

// S0 is the one of denominator S1 and numerator S2 to be scaled.
Scaled scale_for_division(float s0, float s1, float s2) {
  const auto subnormal = [](float x) { return std::fpclassify(x) == FP_SUBNORMAL; };
  const bool denominator = as_bits(s0) == as_bits(s1);
  if (s2 == 0 || s1 == 0) return {as_float(0x7fc00000), false};
  if (exponent_field(s2) - exponent_field(s1) >= 96) return {denominator ? std::ldexp(s0, 64) : s0, true};
  if (subnormal(s1)) return {std::ldexp(s0, 64), false};
  const double inverse = 1.0 / s1, quotient = static_cast<double>(s2) / s1;
  const bool small_inverse = std::abs(inverse) < 0x1p-126, small_quotient = std::abs(quotient) < 0x1p-126;
  // The manual scales the denominator up here, which would overflow; down is what the sequence needs.
  if (small_inverse && small_quotient) return {denominator ? std::ldexp(s0, -64) : s0, true};
  if (small_inverse) return {std::ldexp(s0, -64), false};
  if (small_quotient) return {as_bits(s0) == as_bits(s2) ? std::ldexp(s0, 64) : s0, true};
  if (exponent_field(s2) <= 23) return {std::ldexp(s0, 64), false};
  return {s0, false};
}

void v_div_scale_f32(Wave& w, const Instruction& i) {
  Lanes<float> room[3], result;
  const float* in[3];
  for (int n = 0; n < 3; ++n) in[n] = fetch<float>(w, i, i.operand[2 + n], n, room[n]);
  uint64_t flags = 0;
  for (int l = 0; l < kLanes; ++l) {
    const Scaled s = scale_for_division(in[0][l], in[1][l], in[2][l]);
    result.x[l] = s.value;
    flags |= static_cast<uint64_t>(s.flag) << l;
  }
  const uint64_t lanes = w.exec();
  store<float>(w, i, result, 3);
  w.set_pair(i.operand[1].index, flags & lanes);
}

void v_div_fmas_f32(Wave& w, const Instruction& i) {
  Lanes<float> room[3], result;
  const float* in[3];
  for (int n = 0; n < 3; ++n) in[n] = fetch<float>(w, i, i.operand[1 + n], n, room[n]);
  const uint64_t scaled = w.vcc();
  for (int l = 0; l < kLanes; ++l) {
    // One rounding, of the scaled sum.
    const double x =
        std::fma(static_cast<double>(in[0][l]), static_cast<double>(in[1][l]), static_cast<double>(in[2][l]));
    const bool up = exponent_field(in[2][l]) > 127;
    result.x[l] = scaled >> l & 1 ? static_cast<float>(std::ldexp(x, up ? 64 : -64))
                                  : std::fma(in[0][l], in[1][l], in[2][l]);
  }
  store<float>(w, i, result, 3);
}

// v_mad: two roundings, and subnormal numbers are flushed whatever MODE says.
float multiply_add(float a, float b, float c) { return flush(flush(flush(a) * flush(b)) + flush(c)); }

// v_cmp_class: bits of the classes asked for.
uint32_t class_bit(float x) {
  const bool negative = std::signbit(x);
  switch (std::fpclassify(x)) {
    case FP_NAN: return as_bits(x) & 0x400000 ? 2 : 1;
    case FP_INFINITE: return negative ? 4 : 512;
    case FP_NORMAL: return negative ? 8 : 256;
    case FP_SUBNORMAL: return negative ? 16 : 128;
    default: return negative ? 32 : 64;
  }
}

}  // namespace

Definitions vector_single() {
  constexpr Class slow = Class::transcendental;
  Definition scale{"v_div_scale_f32", v_div_scale_f32, Class::vector, 2};
  scale.sources.fill(Type::single);
  Definition fmas{"v_div_fmas_f32", v_div_fmas_f32, Class::vector};
  fmas.sources.fill(Type::single);
  Definitions all = {
      scale,
      fmas,
      vector<[](float a, float b) { return a + b; }>("v_add_f32"),
      vector<[](float a, float b) { return a - b; }>("v_sub_f32"),
      vector<[](float a, float b) { return b - a; }>("v_subrev_f32"),
      vector<[](float a, float b) { return a * b; }>("v_mul_f32"),
      vector<[](float a, float b) { return legacy(a, b); }>("v_mul_legacy_f32"),
      vector<[](float a, float b) { return larger(a, b); }>("v_max_f32"),
      vector<[](float a, float b) { return smaller(a, b); }>("v_min_f32"),
      vector<[](float a, float b, float c) { return std::fma(a, b, c); }>("v_fma_f32"),
      vector<[](float a, float b, float c) { return std::fma(a, b, c); }>("v_fmamk_f32"),
      vector<[](float a, float b, float c) { return std::fma(a, b, c); }>("v_fmaak_f32"),
      accumulating<[](float a, float b, float c) { return std::fma(a, b, c); }>("v_fmac_f32"),
      vector<[](float a, float b, float c) { return multiply_add(a, b, c); }>("v_mad_f32"),
      vector<[](float a, float b, float c) { return multiply_add(a, b, c); }>("v_madmk_f32"),
      vector<[](float a, float b, float c) { return multiply_add(a, b, c); }>("v_madak_f32"),
      vector<[](float a, float b, float c) { return flush(flush(legacy(flush(a), flush(b))) + flush(c)); }>(
          "v_mad_legacy_f32"),
      accumulating<[](float a, float b, float c) { return multiply_add(a, b, c); }>("v_mac_f32"),
      vector<[](float a, float b, float c) { return larger(larger(a, b), c); }>("v_max3_f32"),
      vector<[](float a, float b, float c) { return smaller(smaller(a, b), c); }>("v_min3_f32"),
      vector<[](float a, float b, float c) { return maximum(maximum(a, b), c); }>("v_maximum3_f32"),
      vector<[](float a, float b, float c) { return minimum(minimum(a, b), c); }>("v_minimum3_f32"),
      vector<[](float a, float b, float c) { return median(a, b, c); }>("v_med3_f32"),
      vector<[](float a, float b, float c) { return fix_quotient(a, b, c); }>("v_div_fixup_f32"),
      vector<[](float a, int32_t b) { return std::ldexp(a, b); }>("v_ldexp_f32"),
      vector<[](float a) { return fraction(a); }>("v_fract_f32"),
      vector<[](float a) { return std::trunc(a); }>("v_trunc_f32"),
      vector<[](float a) { return std::ceil(a); }>("v_ceil_f32"),
      vector<[](float a) { return std::floor(a); }>("v_floor_f32"),
      vector<[](float a) { return std::nearbyint(a); }>("v_rndne_f32"),
      vector<[](float a) { return mantissa(a); }>("v_frexp_mant_f32"),
      vector<[](float a) { return exponent(a); }>("v_frexp_exp_i32_f32"),
      vector<[](float a) { return exp2_flushed(a); }>("v_exp_f32", slow),
      vector<[](float a) { return exp2_flushed(a); }>("v_exp_legacy_f32", slow),
      vector<[](float a) { return log2_flushed(a); }>("v_log_f32", slow),
      vector<[](float a) { return log2_flushed(a); }>("v_log_legacy_f32", slow),
      vector<[](float a) { return reciprocal(a); }>("v_rcp_f32", slow),
      vector<[](float a) { return reciprocal(a); }>("v_rcp_iflag_f32", slow),
      vector<[](float a) { return reciprocal_root(a); }>("v_rsq_f32", slow),
      vector<[](float a) { return std::sqrt(a); }>("v_sqrt_f32", slow),
      vector<[](float a) { return turn_sine(a); }>("v_sin_f32", slow),
      vector<[](float a) { return turn_cosine(a); }>("v_cos_f32", slow),
  };
  // The two "3" forms that propagate NaN are gfx950's only.
  for (Definition& d : all)
    if (d.name == "v_maximum3_f32" || d.name == "v_minimum3_f32") d.only = only(Arch::gfx950);
  add_compare<[](float a, uint32_t b) { return (class_bit(a) & b) != 0; }>(all, "class_f32");
  return all;
}

}  // namespace cdna
