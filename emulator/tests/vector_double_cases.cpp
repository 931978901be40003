// fp64, and the three steps of a division.
#include "vector_case.hpp"

namespace cdna::test {
namespace {

double larger(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? b : a;
  return a > b || (a == b && std::signbit(b)) ? a : b;
}
double smaller(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? b : a;
  return a < b || (a == b && std::signbit(a)) ? a : b;
}
double mantissa_of(double x) {
  int e;
  return std::isfinite(x) && x != 0 ? std::frexp(x, &e) : x;
}

Case one(const std::string& name, std::function<double(double)> of) {
  return {name + " v[20:21], v[10:11]", kPair, kDouble, [of](const In& i) { return d(of(i.da())); }};
}
Case two(const std::string& name, std::function<double(double, double)> of) {
  return {name + " v[20:21], v[10:11], v[12:13]", kPair, kDouble,
          [of](const In& i) { return d(of(i.da(), i.db())); }};
}

// What a quotient becomes whose operands leave no choice; nothing for others.
template <class T>
bool special_quotient(T denominator, T numerator, T& out) {
  const bool negative = std::signbit(denominator) != std::signbit(numerator);
  if (std::isnan(numerator) || std::isnan(denominator) || (numerator == 0 && denominator == 0) ||
      (std::isinf(numerator) && std::isinf(denominator)))
    out = static_cast<T>(NAN);
  else if (denominator == 0 || std::isinf(numerator))
    out = static_cast<T>(negative ? -INFINITY : INFINITY);
  else if (std::isinf(denominator) || numerator == 0)
    out = static_cast<T>(negative ? -0.0 : 0.0);
  else
    return false;
  return true;
}

}  // namespace

Cases double_cases() {
  return {
      two("v_max_f64", larger),
      two("v_min_f64", smaller),
      one("v_ceil_f64", [](double x) { return std::ceil(x); }),
      one("v_floor_f64", [](double x) { return std::floor(x); }),
      one("v_trunc_f64", [](double x) { return std::trunc(x); }),
      one("v_rndne_f64", [](double x) { return std::nearbyint(x); }),
      one("v_fract_f64",
          [](double x) { return std::isfinite(x) ? std::min(x - std::floor(x), 1 - 0x1p-53) : NAN; }),
      one("v_frexp_mant_f64", mantissa_of),
      one("v_rcp_f64", [](double x) { return 1 / x; }),
      one("v_rsq_f64", [](double x) { return 1 / std::sqrt(x); }),
      one("v_sqrt_f64", [](double x) { return std::sqrt(x); }),
      {"v_frexp_exp_i32_f64 v20, v[10:11]", kWord, kEqual,
       [](const In& i) {
         int e = 0;
         if (std::isfinite(i.da()) && i.da() != 0) std::frexp(i.da(), &e);
         return u64{static_cast<u32>(e)};
       }},
      {"v_ldexp_f64 v[20:21], v[10:11], v12", kPair, kDouble,
       [](const In& i) { return d(std::ldexp(i.da(), s(i.b))); }},
      {"v_fmac_f64 v[20:21], v[10:11], v[12:13]", kPair, kDouble,
       [](const In& i) { return d(std::fma(i.da(), i.db(), as_double(i.d))); }},
      // The quotient that comes in is right by itself here: only signs and special operands are the row's.
      {"v_rcp_f64 v[20:21], v[12:13]\nv_div_fixup_f64 v[20:21], v[20:21], v[12:13], 1.0", kPair, kDouble,
       [](const In& i) {
         double out;
         return special_quotient(i.db(), 1.0, out) ? d(out) : d(1 / i.db());
       }},
      {"v_mov_b32 v20, 0x3c00\nv_div_fixup_f16 v20, v20, v10, v12", kWord, kHalves,
       [](const In& i) {
         float out;
         const bool special = special_quotient(i.ha(), i.hb(), out);
         return special ? h(out) : h(std::signbit(i.ha()) != std::signbit(i.hb()) ? -1.0 : 1.0);
       }},
  };
}

}  // namespace cdna::test
