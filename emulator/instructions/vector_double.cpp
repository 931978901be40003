// Vector arithmetic on fp64.
#include "instructions/vector.hpp"

namespace cdna {
namespace {

inline double larger(double a, double b) {
  const bool above = a > b || (a == b && !std::signbit(a));
  return a != a ? b : b != b ? a : above ? a : b;
}
inline double smaller(double a, double b) {
  const bool below = a < b || (a == b && std::signbit(a));
  return a != a ? b : b != b ? a : below ? a : b;
}

int exponent_field(double x) { return static_cast<int>(as_bits(x) >> 52 & 0x7ff); }

double fix_quotient(double quotient, double denominator, double numerator) {
  const double sign = std::signbit(denominator) != std::signbit(numerator) ? -1.0 : 1.0;
  const double nan = as_double(0xfff8000000000000ull);
  if (numerator != numerator) return numerator;
  if (denominator != denominator) return denominator;
  if ((numerator == 0 && denominator == 0) || (std::isinf(numerator) && std::isinf(denominator))) return nan;
  if (denominator == 0 || std::isinf(numerator)) return std::copysign(INFINITY, sign);
  if (std::isinf(denominator) || numerator == 0) return std::copysign(0.0, sign);
  if (exponent_field(numerator) - exponent_field(denominator) < -1075) return std::copysign(0.0, sign);
  if (quotient != quotient) return std::copysign(INFINITY, sign);  // the sequence overflowed on its way
  return std::copysign(quotient, sign);
}

struct Scaled {
  double value;
  bool flag;
};

Scaled scale_for_division(double s0, double s1, double s2) {
  const auto subnormal = [](double x) { return std::fpclassify(x) == FP_SUBNORMAL; };
  const bool denominator = s0 == s1;
  if (s2 == 0 || s1 == 0) return {as_double(0x7ff8000000000000ull), false};
  if (exponent_field(s2) - exponent_field(s1) >= 768) return {denominator ? std::ldexp(s0, 128) : s0, true};
  if (subnormal(s1)) return {std::ldexp(s0, 128), false};
  const bool small_inverse = subnormal(1.0 / s1), small_quotient = subnormal(s2 / s1) || s2 / s1 == 0;
  // As for fp32: the manual scales up, which would overflow.
  if (small_inverse && small_quotient) return {denominator ? std::ldexp(s0, -128) : s0, true};
  if (small_inverse) return {std::ldexp(s0, -128), false};
  if (small_quotient) return {s0 == s2 ? std::ldexp(s0, 128) : s0, true};
  if (exponent_field(s2) <= 53) return {std::ldexp(s0, 128), false};
  return {s0, false};
}

void v_div_scale_f64(Wave& w, const Instruction& i) {
  Lanes<double> room[3], result;
  const double* in[3];
  for (int n = 0; n < 3; ++n) in[n] = fetch<double>(w, i, i.operand[2 + n], n, room[n]);
  uint64_t flags = 0;
  for (int l = 0; l < kLanes; ++l) {
    const Scaled s = scale_for_division(in[0][l], in[1][l], in[2][l]);
    result.x[l] = s.value;
    flags |= static_cast<uint64_t>(s.flag) << l;
  }
  const uint64_t lanes = w.exec();
  store<double>(w, i, result, 3);
  w.set_pair(i.operand[1].index, flags & lanes);
}

void v_div_fmas_f64(Wave& w, const Instruction& i) {
  Lanes<double> room[3], result;
  const double* in[3];
  for (int n = 0; n < 3; ++n) in[n] = fetch<double>(w, i, i.operand[1 + n], n, room[n]);
  const uint64_t scaled = w.vcc();
  for (int l = 0; l < kLanes; ++l) {
    const double x = std::fma(in[0][l], in[1][l], in[2][l]);
    const bool up = exponent_field(in[2][l]) > 1023;
    result.x[l] = scaled >> l & 1 ? std::ldexp(x, up ? 128 : -128) : x;
  }
  store<double>(w, i, result, 3);
}

uint32_t class_bit(double x) {
  const bool negative = std::signbit(x);
  switch (std::fpclassify(x)) {
    case FP_NAN: return as_bits(x) >> 51 & 1 ? 2 : 1;
    case FP_INFINITE: return negative ? 4 : 512;
    case FP_NORMAL: return negative ? 8 : 256;
    case FP_SUBNORMAL: return negative ? 16 : 128;
    default: return negative ? 32 : 64;
  }
}

double fraction(double x) {
  if (!std::isfinite(x)) return as_double(0x7ff8000000000000ull);
  return smaller(x - std::floor(x), as_double(0x3fefffffffffffffull));
}

int32_t exponent(double x) {
  int e = 0;
  if (std::isfinite(x) && x != 0) std::frexp(x, &e);
  return e;
}

double mantissa(double x) {
  int e;
  return std::isfinite(x) && x != 0 ? std::frexp(x, &e) : x;
}

Definition with_flag(const char* name, Handler run, uint8_t destinations) {
  Definition d{name, run, Class::vector, destinations};
  d.sources.fill(Type::fp64);
  return d;
}

}  // namespace

Definitions vector_double() {
  constexpr Class slow = Class::transcendental;
  Definitions all = {
      with_flag("v_div_scale_f64", v_div_scale_f64, 2),
      with_flag("v_div_fmas_f64", v_div_fmas_f64, 1),
      vector<[](double a, double b) { return a + b; }>("v_add_f64"),
      vector<[](double a, double b) { return a * b; }>("v_mul_f64"),
      vector<[](double a, double b) { return larger(a, b); }>("v_max_f64"),
      vector<[](double a, double b) { return smaller(a, b); }>("v_min_f64"),
      vector<[](double a, double b, double c) { return std::fma(a, b, c); }>("v_fma_f64"),
      accumulating<[](double a, double b, double c) { return std::fma(a, b, c); }>("v_fmac_f64"),
      vector<[](double a, double b, double c) { return fix_quotient(a, b, c); }>("v_div_fixup_f64"),
      vector<[](double a, int32_t b) { return std::ldexp(a, b); }>("v_ldexp_f64"),
      vector<[](double a) { return fraction(a); }>("v_fract_f64"),
      vector<[](double a) { return std::trunc(a); }>("v_trunc_f64"),
      vector<[](double a) { return std::ceil(a); }>("v_ceil_f64"),
      vector<[](double a) { return std::floor(a); }>("v_floor_f64"),
      vector<[](double a) { return std::nearbyint(a); }>("v_rndne_f64"),
      vector<[](double a) { return mantissa(a); }>("v_frexp_mant_f64"),
      vector<[](double a) { return exponent(a); }>("v_frexp_exp_i32_f64"),
      vector<[](double a) { return 1.0 / a; }>("v_rcp_f64", slow),
      vector<[](double a) { return 1.0 / std::sqrt(a); }>("v_rsq_f64", slow),
      vector<[](double a) { return std::sqrt(a); }>("v_sqrt_f64", slow),
  };
  add_compare<[](double a, uint32_t b) { return (class_bit(a) & b) != 0; }>(all, "class_f64");
  return all;
}

}  // namespace cdna
