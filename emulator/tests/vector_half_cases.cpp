// One fp16 number a lane, and the fp32 rows that the arithmetic ones leave out.
#include "vector_case.hpp"

namespace cdna::test {
namespace {

double fraction_of(double x, double largest) {
  return std::isfinite(x) ? std::min(x - std::floor(x), largest) : NAN;
}

double mantissa_of(double x) {
  int e;
  return std::isfinite(x) && x != 0 ? std::frexp(x, &e) : x;
}
int exponent_of(double x) {
  int e = 0;
  if (std::isfinite(x) && x != 0) std::frexp(x, &e);
  return e;
}

float max_any(float a, float b) { return std::isnan(a) || std::isnan(b) ? NAN : fmax_ieee(a, b); }
float min_any(float a, float b) { return std::isnan(a) || std::isnan(b) ? NAN : fmin_ieee(a, b); }

// As the manual has it: a NaN makes it the smallest, and equal zeros are one another's equals whatever their
// sign.
float middle(float a, float b, float c) {
  if (std::isnan(a) || std::isnan(b) || std::isnan(c)) return fmin_ieee(fmin_ieee(a, b), c);
  const float top = std::max({a, b, c});
  return top == a ? fmax_ieee(b, c) : top == b ? fmax_ieee(a, c) : fmax_ieee(a, b);
}

// Rounded twice, nothing subnormal.
float flushed_half(float x) { return std::abs(x) < 0x1p-14f ? std::copysign(0.0f, x) : x; }
u64 mad_half(float a, float b, float c) {
  const auto product = static_cast<_Float16>(double{flushed_half(a)} * flushed_half(b));
  const auto sum = static_cast<_Float16>(double{flushed_half(static_cast<float>(product))} + flushed_half(c));
  return h(flushed_half(static_cast<float>(sum)));
}

double turns(double x, bool cosine) {
  if (!std::isfinite(x)) return NAN;
  const double rest = std::fmod(x, 1.0), quarter = 4 * rest;
  const bool zero = quarter == std::floor(quarter) && (std::fmod(quarter, 2) != 0) == cosine;
  if (zero) return !cosine && x == 0 ? x : 0.0;
  return cosine ? std::cos(2 * M_PI * rest) : std::sin(2 * M_PI * rest);
}

Case one(const std::string& name, std::function<double(float)> of) {
  return {name + " v20, v10", kWord, kHalf, [of](const In& i) { return h(of(i.ha())); }};
}
Case two(const std::string& name, std::function<double(float, float)> of) {
  return {name + " v20, v10, v12", kWord, kHalf, [of](const In& i) { return h(of(i.ha(), i.hb())); }};
}
// The other half stays.
Case three(const std::string& name, std::function<double(float, float, float)> of) {
  return {name + " v20, v10, v12, v14", kWord, kHalves,
          [of](const In& i) { return h(of(i.ha(), i.hb(), i.hc())) | (i.d & 0xffff0000); }};
}
Case single(const std::string& name, std::function<float(float)> of) {
  return {name + " v20, v10", kWord, kSingle, [of](const In& i) { return f(of(i.fa())); }};
}
Case single3(const std::string& name, std::function<float(float, float, float)> of) {
  return {name + " v20, v10, v12, v14", kWord, kSingle,
          [of](const In& i) { return f(of(i.fa(), i.fb(), i.fc())); }};
}

void add_halves(Cases& all) {
  const Cases rows = {
      one("v_ceil_f16", [](float x) { return std::ceil(x); }),
      one("v_floor_f16", [](float x) { return std::floor(x); }),
      one("v_trunc_f16", [](float x) { return std::trunc(x); }),
      one("v_rndne_f16", [](float x) { return std::nearbyint(x); }),
      one("v_fract_f16", [](float x) { return fraction_of(x, 1 - 0x1p-11); }),
      one("v_frexp_mant_f16", [](float x) { return mantissa_of(x); }),
      one("v_exp_f16", [](float x) { return std::exp2(double{x}); }),
      one("v_log_f16", [](float x) { return std::log2(double{x}); }),
      one("v_rcp_f16", [](float x) { return 1.0 / x; }),
      one("v_rsq_f16", [](float x) { return 1.0 / std::sqrt(double{x}); }),
      one("v_sqrt_f16", [](float x) { return std::sqrt(double{x}); }),
      one("v_sin_f16", [](float x) { return turns(x, false); }),
      one("v_cos_f16", [](float x) { return turns(x, true); }),
      two("v_sub_f16", [](float a, float b) { return double{a} - b; }),
      two("v_subrev_f16", [](float a, float b) { return double{b} - a; }),
      two("v_min_f16", [](float a, float b) { return fmin_ieee(a, b); }),
      three("v_max3_f16", [](float a, float b, float c) { return fmax_ieee(fmax_ieee(a, b), c); }),
      three("v_min3_f16", [](float a, float b, float c) { return fmin_ieee(fmin_ieee(a, b), c); }),
      three("v_med3_f16", [](float a, float b, float c) { return middle(a, b, c); }),
      {"v_frexp_exp_i16_f16 v20, v10", kWord, kEqual,
       [](const In& i) { return u64{u16(static_cast<u64>(exponent_of(i.ha())))}; }},
      {"v_ldexp_f16 v20, v10, v12", kWord, kHalf,
       [](const In& i) { return h(std::ldexp(double{i.ha()}, s16(i.b))); }},
      {"v_fmac_f16 v20, v10, v12", kWord, kHalf,
       [](const In& i) { return h(double{i.ha()} * i.hb() + from_half(u16(i.d))); }},
      {"v_mac_f16 v20, v10, v12", kWord, kHalf,
       [](const In& i) { return mad_half(i.ha(), i.hb(), from_half(u16(i.d))); }},
      {"v_madmk_f16 v20, v10, 0x4248, v12", kWord, kHalf,
       [](const In& i) { return mad_half(i.ha(), from_half(0x4248), i.hb()); }},
      {"v_madak_f16 v20, v10, v12, 0x4248", kWord, kHalf,
       [](const In& i) { return mad_half(i.ha(), i.hb(), from_half(0x4248)); }},
      {"v_mad_f16 v20, v10, v12, v14", kWord, kHalves,
       [](const In& i) { return mad_half(i.ha(), i.hb(), i.hc()) | (i.d & 0xffff0000); }},
  };
  all.insert(all.end(), rows.begin(), rows.end());
}

void add_singles(Cases& all) {
  const Cases rows = {
      single("v_fract_f32", [](float x) { return static_cast<float>(fraction_of(x, 1 - 0x1p-24)); }),
      single("v_frexp_mant_f32", [](float x) { return static_cast<float>(mantissa_of(x)); }),
      single("v_sin_f32", [](float x) { return static_cast<float>(turns(x, false)); }),
      single("v_cos_f32", [](float x) { return static_cast<float>(turns(x, true)); }),
      single("v_rcp_iflag_f32", [](float x) { return flushed(1.0f / flushed(x)); }),
      single("v_exp_legacy_f32", [](float x) { return flushed(static_cast<float>(std::exp2(double{x}))); }),
      single("v_log_legacy_f32", [](float x) { return static_cast<float>(std::log2(double{flushed(x)})); }),
      single3("v_med3_f32", [](float a, float b, float c) { return middle(a, b, c); }),
      single3("v_maximum3_f32", [](float a, float b, float c) { return max_any(max_any(a, b), c); }),
      single3("v_minimum3_f32", [](float a, float b, float c) { return min_any(min_any(a, b), c); }),
      single3("v_mad_legacy_f32",
              [](float a, float b, float c) {
                const float product =
                    flushed(a) == 0 || flushed(b) == 0 ? 0.0f : flushed(flushed(a) * flushed(b));
                return flushed(product + flushed(c));
              }),
      {"v_mul_legacy_f32 v20, v10, v12", kWord, kSingle,
       [](const In& i) { return f(i.fa() == 0 || i.fb() == 0 ? 0.0f : i.fa() * i.fb()); }},
      {"v_fmaak_f32 v20, v10, v12, 0x40490fdb", kWord, kSingle,
       [](const In& i) { return f(std::fma(i.fa(), i.fb(), as_float(0x40490fdb))); }},
      {"v_fmamk_f32 v20, v10, 0x40490fdb, v12", kWord, kSingle,
       [](const In& i) { return f(std::fma(i.fa(), as_float(0x40490fdb), i.fb())); }},
      {"v_frexp_exp_i32_f32 v20, v10", kWord, kEqual,
       [](const In& i) { return u64{static_cast<u32>(exponent_of(i.fa()))}; }},
  };
  all.insert(all.end(), rows.begin(), rows.end());
}

}  // namespace

Cases half_cases() {
  Cases all;
  add_halves(all);
  add_singles(all);
  return all;
}

}  // namespace cdna::test
