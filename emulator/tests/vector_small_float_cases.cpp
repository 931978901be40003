// fp8, bf8 and fp4, by search over all their numbers.
#include "vector_case.hpp"

namespace cdna::test {
namespace {

enum Kind { kFp8, kBf8, kFp4 };

struct Small {
  int exponent_bits, fraction_bits, bias;
  bool fnuz;
  int bits() const { return 1 + exponent_bits + fraction_bits; }
  u32 sign() const { return 1u << (exponent_bits + fraction_bits); }
  // As if every exponent were an ordinary one.
  double size(u32 code) const {
    const int fraction = static_cast<int>(code & ((1u << fraction_bits) - 1)),
              e = static_cast<int>(code >> fraction_bits);
    return e ? std::ldexp((1 << fraction_bits) + fraction, e - bias - fraction_bits)
             : std::ldexp(fraction, 1 - bias - fraction_bits);
  }
  // The largest number's code, and what is beyond it.
  u32 largest() const {
    if (fnuz || bits() == 4) return sign() - 1;
    return exponent_bits == 4 ? 0x7e : 0x7b;
  }
  u32 overflow(bool negative) const {
    if (fnuz) return 0x80;
    if (bits() == 4) return largest() | (negative ? sign() : 0);
    return (exponent_bits == 4 ? 0x7f : 0x7c) | (negative ? 0x80 : 0);
  }
};

Small small(Kind kind, Arch arch) {
  const bool fnuz = arch == Arch::gfx942;
  if (kind == kFp4) return {2, 1, 1, false};
  return kind == kFp8 ? Small{4, 3, fnuz ? 8 : 7, fnuz} : Small{5, 2, fnuz ? 16 : 15, fnuz};
}

double widen(u32 code, const Small& t) {
  const u32 size = code & (t.sign() - 1);
  const bool negative = code & t.sign();
  if (t.fnuz && code == 0x80) return NAN;
  if (!t.fnuz && t.bits() == 8 && size > t.largest())
    return size == 0x7c && t.exponent_bits == 5 ? (negative ? -INFINITY : INFINITY) : NAN;
  return negative ? -t.size(size) : t.size(size);
}

// The nearest number, of two the even one.
u32 narrow(double x, const Small& t) {
  const bool negative = std::signbit(x);
  if (std::isnan(x))
    return t.fnuz          ? 0x80
           : t.bits() == 4 ? t.largest() | (negative ? t.sign() : 0)
                           : 0x7f | (negative ? 0x80 : 0);
  u32 code = 0;
  while (code <= t.largest() && t.size(code + 1) <= std::abs(x)) ++code;  // the one below
  const double rest = std::abs(x) - t.size(code), step = t.size(code + 1) - t.size(code);
  if (rest > step / 2 || (rest == step / 2 && code & 1)) ++code;
  if (code > t.largest()) return t.overflow(negative);
  if (!code && t.fnuz) return 0;
  return code | (negative ? t.sign() : 0);
}

// Noise of 32 bits decides instead.
u32 narrow_by(double x, u32 noise, const Small& t) {
  const bool negative = std::signbit(x);
  if (std::isnan(x) || std::isinf(x)) return narrow(x, t);
  u32 code = 0;
  while (code <= t.largest() && t.size(code + 1) <= std::abs(x)) ++code;
  const double step = t.size(code + 1) - t.size(code);
  if ((std::abs(x) - t.size(code)) / step + std::ldexp(noise, -32) >= 1) ++code;
  if (code > t.largest()) return t.overflow(negative);
  if (!code && t.fnuz) return 0;
  return code | (negative ? t.sign() : 0);
}

double scale_of(u64 bits) {
  const int e = static_cast<int>(bits >> 23 & 255);
  return e == 255 ? NAN : std::ldexp(1.0, e - 127);
}

u64 place(u64 old, u64 x, int shift, u64 mask) { return lo((old & ~(mask << shift)) | (x & mask) << shift); }
float brain(u64 bits) { return as_float(static_cast<u32>(bits & 0xffff) << 16); }

void add_plain(Cases& all, Kind k, const std::string& name) {
  const auto format = [k](const In& i) { return small(k, i.arch); };
  const Cases rows = {
      {"v_cvt_f32_" + name + " v20, v10", kWord, kSingle,
       [=](const In& i) { return f(static_cast<float>(widen(i.a & 255, format(i)))); }},
      {"v_cvt_f32_" + name + "_sdwa v20, v10 src0_sel:BYTE_2", kWord, kSingle,
       [=](const In& i) { return f(static_cast<float>(widen(i.a >> 16 & 255, format(i)))); }},
      {"v_cvt_pk_f32_" + name + " v[20:21], v10", kPair, kSingles,
       [=](const In& i) {
         const auto at = [&](int n) { return f(static_cast<float>(widen(i.a >> (8 * n) & 255, format(i)))); };
         return at(0) | at(1) << 32;
       }},
      {"v_cvt_pk_" + name + "_f32 v20, v10, v12 op_sel:[0,0,1]", kWord, kEqual,
       [=](const In& i) {
         return place(i.d, narrow(i.fa(), format(i)) | narrow(i.fb(), format(i)) << 8, 16, 0xffff);
       }},
      {"v_cvt_sr_" + name + "_f32 v20, v10, v12", kWord, kEqual,
       [=](const In& i) { return place(i.d, narrow_by(i.fa(), lo(i.b), format(i)), 0, 255); }},
  };
  all.insert(all.end(), rows.begin(), rows.end());
}

// To and from fp32, fp16 and bf16 with a scale of powers of two.
void add_scaled(Cases& all, Kind k, const std::string& name) {
  const Small t = small(k, Arch::gfx950);
  const int bits = t.bits();
  const u64 each = (1u << bits) - 1, both = (1u << 2 * bits) - 1;
  const auto wide = [=](const In& i, int n) {
    return static_cast<float>(widen(static_cast<u32>(i.a >> (bits * n) & each), t) * scale_of(i.b));
  };
  const auto pack = [=](const In& i, double low, double high, u64 scale) {
    const auto at = [&](double x) { return u64{narrow(static_cast<float>(x / scale_of(scale)), t)}; };
    return place(i.d, at(low) | at(high) << bits, 0, both);
  };
  const Cases rows = {
      {"v_cvt_scalef32_pk_f32_" + name + " v[20:21], v10, v12", kPair, kSingles,
       [=](const In& i) { return f(wide(i, 0)) | f(wide(i, 1)) << 32; }},
      {"v_cvt_scalef32_pk_f16_" + name + " v20, v10, v12", kWord, kHalves,
       [=](const In& i) { return hh(wide(i, 0), wide(i, 1)); }},
      {"v_cvt_scalef32_pk_bf16_" + name + " v20, v10, v12", kWord, kBrains,
       [=](const In& i) { return u64{bf16(wide(i, 0))} | u64{bf16(wide(i, 1))} << 16; }},
      {"v_cvt_scalef32_pk_" + name + "_f32 v20, v10, v12, v14", kWord, kEqual,
       [=](const In& i) { return pack(i, i.fa(), i.fb(), i.c); }},
      {"v_cvt_scalef32_pk_" + name + "_f16 v20, v10, v12", kWord, kEqual,
       [=](const In& i) { return pack(i, i.ha(0), i.ha(1), i.b); }},
      {"v_cvt_scalef32_pk_" + name + "_bf16 v20, v10, v12", kWord, kEqual,
       [=](const In& i) { return pack(i, brain(i.a), brain(i.a >> 16), i.b); }},
  };
  all.insert(all.end(), rows.begin(), rows.end());
  if (k == kFp4) return;
  all.push_back({"v_cvt_scalef32_f32_" + name + " v20, v10, v12", kWord, kSingle,
                 [=](const In& i) { return f(wide(i, 0)); }});
  all.push_back({"v_cvt_scalef32_f16_" + name + " v20, v10, v12", kWord, kHalves,
                 [=](const In& i) { return place(i.d, h(wide(i, 0)), 0, 0xffff); }});
}

}  // namespace

Cases small_float_cases() {
  Cases all;
  add_plain(all, kFp8, "fp8");
  add_plain(all, kBf8, "bf8");
  add_scaled(all, kFp8, "fp8");
  add_scaled(all, kBf8, "bf8");
  add_scaled(all, kFp4, "fp4");
  all.push_back({"v_cvt_sr_f16_f32 v20, v10, v12", kWord, kHalves, [](const In& i) {
                   // Noise below the thirteen bits that go, then toward zero.
                   const bool finite = std::isfinite(i.fa());
                   const float x =
                       as_float((lo(i.a) + (finite ? lo(i.b) >> 19 : 0)) & (finite ? 0xffffe000 : ~0u));
                   return place(i.d, h(x), 0, 0xffff);
                 }});
  all.push_back({"v_cvt_sr_bf16_f32 v20, v10, v12", kWord, kHalves, [](const In& i) {
                   const bool finite = std::isfinite(i.fa());
                   const u32 sum = lo(i.a) + (finite ? lo(i.b) >> 16 : 0);
                   return place(i.d, std::isnan(i.fa()) ? bf16(i.fa()) : sum >> 16, 0, 0xffff);
                 }});
  return all;
}

}  // namespace cdna::test
