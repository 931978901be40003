// Two numbers in a register or in a pair, dot products, and fp16 mixed with fp32.
#include "vector_case.hpp"

namespace cdna::test {
namespace {

int part(u64 x, int n) { return static_cast<int>(x >> (16 * n) & 0xffff); }
int signed_part(u64 x, int n) { return static_cast<int16_t>(x >> (16 * n)); }

Case halves(const std::string& name, std::function<double(float, float)> of) {
  return {name + " v20, v10, v12", kWord, kHalves,
          [of](const In& i) { return hh(of(i.ha(0), i.hb(0)), of(i.ha(1), i.hb(1))); }};
}
Case halves3(const std::string& name, std::function<double(float, float, float)> of) {
  return {name + " v20, v10, v12, v14", kWord, kHalves,
          [of](const In& i) { return hh(of(i.ha(0), i.hb(0), i.hc(0)), of(i.ha(1), i.hb(1), i.hc(1))); }};
}
template <class Part>
Case shorts(const std::string& name, Part part_of, std::function<int(int, int)> of) {
  return {name + " v20, v10, v12", kWord, kEqual, [=](const In& i) {
            const auto at = [&](int n) {
              return u64{u16(static_cast<u64>(of(part_of(i.a, n), part_of(i.b, n))))};
            };
            return at(0) | at(1) << 16;
          }};
}
template <class Part>
Case shorts3(const std::string& name, Part part_of) {
  return {name + " v20, v10, v12, v14", kWord, kEqual, [=](const In& i) {
            const auto at = [&](int n) {
              return u64{u16(static_cast<u64>(i64{part_of(i.a, n)} * part_of(i.b, n) + part_of(i.c, n)))};
            };
            return at(0) | at(1) << 16;
          }};
}

// Only for rows whose NaN bits are the harness's business.
Case singles(const std::string& text, std::function<float(float, float, float)> of) {
  return {text, kPair, kSingles, [of](const In& i) {
            const auto at = [](u64 x, int n) { return as_float(static_cast<u32>(x >> (32 * n))); };
            return f(of(at(i.a, 0), at(i.b, 0), at(i.c, 0))) | f(of(at(i.a, 1), at(i.b, 1), at(i.c, 1)))
                                                                   << 32;
          }};
}

// Elements of `bits`, their products added to c.
u64 dot(u64 a, u64 b, u64 c, int bits, bool is_signed) {
  u64 sum = c;
  for (int n = 0; n < 32; n += bits) {
    const auto element = [&](u64 x) {
      const auto field = static_cast<i64>(x >> n & ((1u << bits) - 1));
      return is_signed && field >> (bits - 1) ? field - (i64{1} << bits) : field;
    };
    sum += static_cast<u64>(element(a) * element(b));
  }
  return lo(sum);
}

u64 dot_half(u64 a, u64 b, u32 c, bool brain) {
  const auto at = [&](u64 x, int n) {
    const auto bits = static_cast<uint16_t>(x >> (16 * n));
    return flushed(brain ? as_float(u32{bits} << 16) : from_half(bits));
  };
  const float sum = std::fma(at(a, 0), at(b, 0), flushed(as_float(c)));
  return f(flushed(std::fma(at(a, 1), at(b, 1), sum)));
}

float max_any(float a, float b) { return std::isnan(a) || std::isnan(b) ? NAN : fmax_ieee(a, b); }
float min_any(float a, float b) { return std::isnan(a) || std::isnan(b) ? NAN : fmin_ieee(a, b); }

void add_dots(Cases& all) {
  struct Row {
    const char *name, *accumulating;
    int bits;
    bool is_signed;
  };
  for (const Row& r :
       {Row{"v_dot2_i32_i16", "v_dot2c_i32_i16", 16, true}, Row{"v_dot2_u32_u16", nullptr, 16, false},
        Row{"v_dot4_i32_i8", "v_dot4c_i32_i8", 8, true}, Row{"v_dot4_u32_u8", nullptr, 8, false},
        Row{"v_dot8_i32_i4", "v_dot8c_i32_i4", 4, true}, Row{"v_dot8_u32_u4", nullptr, 4, false}}) {
    all.push_back({std::string(r.name) + " v20, v10, v12, v14", kWord, kEqual,
                   [r](const In& i) { return dot(i.a, i.b, i.c, r.bits, r.is_signed); }});
    if (r.accumulating)
      all.push_back({std::string(r.accumulating) + " v20, v10, v12", kWord, kEqual,
                     [r](const In& i) { return dot(i.a, i.b, i.d, r.bits, r.is_signed); }});
  }
  for (const bool brain : {false, true}) {
    const std::string type = brain ? "bf16" : "f16";
    all.push_back({"v_dot2_f32_" + type + " v20, v10, v12, v14", kWord, kSingle,
                   [brain](const In& i) { return dot_half(i.a, i.b, lo(i.c), brain); }});
    all.push_back({"v_dot2c_f32_" + type + " v20, v10, v12", kWord, kSingle,
                   [brain](const In& i) { return dot_half(i.a, i.b, lo(i.d), brain); }});
  }
}

}  // namespace

Cases packed_cases() {
  Cases all = {
      halves("v_pk_max_f16", [](float a, float b) { return fmax_ieee(a, b); }),
      halves("v_pk_min_f16", [](float a, float b) { return fmin_ieee(a, b); }),
      halves3("v_pk_maximum3_f16", [](float a, float b, float c) { return max_any(max_any(a, b), c); }),
      halves3("v_pk_minimum3_f16", [](float a, float b, float c) { return min_any(min_any(a, b), c); }),
      {"v_pk_fmac_f16 v20, v10, v12", kWord, kHalves,
       [](const In& i) {
         const auto at = [&](int n) { return double{i.ha(n)} * i.hb(n) + from_half(u16(i.d >> (16 * n))); };
         return hh(at(0), at(1));
       }},
      shorts("v_pk_add_i16", signed_part, [](int a, int b) { return a + b; }),
      shorts("v_pk_sub_i16", signed_part, [](int a, int b) { return a - b; }),
      shorts("v_pk_sub_u16", part, [](int a, int b) { return a - b; }),
      shorts("v_pk_mul_lo_u16", part,
             [](int a, int b) { return static_cast<int>(static_cast<u32>(a) * static_cast<u32>(b)); }),
      shorts("v_pk_lshlrev_b16", part, [](int a, int b) { return b << (a & 15); }),
      shorts("v_pk_lshrrev_b16", part, [](int a, int b) { return b >> (a & 15); }),
      shorts("v_pk_ashrrev_i16", signed_part, [](int a, int b) { return b >> (a & 15); }),
      shorts("v_pk_max_i16", signed_part, [](int a, int b) { return std::max(a, b); }),
      shorts("v_pk_max_u16", part, [](int a, int b) { return std::max(a, b); }),
      shorts("v_pk_min_i16", signed_part, [](int a, int b) { return std::min(a, b); }),
      shorts("v_pk_min_u16", part, [](int a, int b) { return std::min(a, b); }),
      shorts3("v_pk_mad_i16", signed_part),
      shorts3("v_pk_mad_u16", part),
      singles("v_pk_add_f32 v[20:21], v[10:11], v[12:13]", [](float a, float b, float) { return a + b; }),
      singles("v_pk_add_f32 v[20:21], v[10:11], v[12:13] neg_lo:[0,1] neg_hi:[0,1]",
              [](float a, float b, float) { return a - b; }),
      singles("v_pk_fma_f32 v[20:21], v[10:11], v[12:13], v[14:15]",
              [](float a, float b, float c) { return std::fma(a, b, c); }),
  };
  add_dots(all);
  return all;
}

}  // namespace cdna::test
