// Conversions between formats; the narrow floating-point ones by search over all their numbers.
#include "vector_case.hpp"

namespace cdna::test {
namespace {

double clamped(double x, double low, double high) {
  return std::isnan(x) ? 0 : std::min(std::max(x, low), high);
}
u64 to_i16(double x) {
  return u16(static_cast<u64>(static_cast<i64>(clamped(std::trunc(x), -32768, 32767))));
}
u64 to_u16(double x) { return static_cast<u64>(clamped(std::trunc(x), 0, 65535)); }
u64 norm_signed(double x) {
  return to_i16(std::nearbyint(static_cast<double>(static_cast<float>(clamped(x, -1, 1)) * 32767.0f)));
}
u64 norm_unsigned(double x) {
  return to_u16(std::nearbyint(static_cast<double>(static_cast<float>(clamped(x, 0, 1)) * 65535.0f)));
}
u64 both(u64 low, u64 high) { return (low & 0xffff) | high << 16; }

Case row(const std::string& text, std::function<u64(const In&)> of, Close close = kEqual,
         Width width = kWord) {
  return {text, width, close, std::move(of)};
}

void add_integers(Cases& all) {
  const Cases rows = {
      row("v_cvt_f16_i16 v20, v10", [](const In& i) { return h(s16(i.a)); }),
      row("v_cvt_f16_u16 v20, v10", [](const In& i) { return h(u16(i.a)); }),
      row("v_cvt_i16_f16 v20, v10", [](const In& i) { return to_i16(i.ha()); }),
      row("v_cvt_u16_f16 v20, v10", [](const In& i) { return to_u16(i.ha()); }),
      row("v_cvt_f32_ubyte0 v20, v10", [](const In& i) { return f(static_cast<float>(i.a & 255)); }),
      row("v_cvt_f32_ubyte1 v20, v10", [](const In& i) { return f(static_cast<float>(i.a >> 8 & 255)); }),
      row("v_cvt_f32_ubyte3 v20, v10", [](const In& i) { return f(static_cast<float>(i.a >> 24 & 255)); }),
      row(
          "v_cvt_f64_i32 v[20:21], v10", [](const In& i) { return d(s(i.a)); }, kDouble, kPair),
      row(
          "v_cvt_f64_u32 v[20:21], v10", [](const In& i) { return d(lo(i.a)); }, kDouble, kPair),
      row("v_cvt_u32_f64 v20, v[10:11]", [](const In& i) { return u64{to_u32(i.da())}; }),
      row("v_cvt_flr_i32_f32 v20, v10",
          [](const In& i) { return u64{static_cast<u32>(to_i32(std::floor(i.fa())))}; }),
      row("v_cvt_rpi_i32_f32 v20, v10",
          [](const In& i) { return u64{static_cast<u32>(to_i32(std::floor(i.fa() + 0.5f)))}; }),
      row("v_cvt_off_f32_i4 v20, v10",
          [](const In& i) {
            const int x = static_cast<int>(i.a & 15);
            return f(static_cast<float>(x < 8 ? x : x - 16) / 16);
          }),
      row("v_cvt_norm_i16_f16 v20, v10", [](const In& i) { return norm_signed(i.ha()); }),
      row("v_cvt_norm_u16_f16 v20, v10", [](const In& i) { return norm_unsigned(i.ha()); }),
      row("v_cvt_pknorm_i16_f16 v20, v10, v12",
          [](const In& i) { return both(norm_signed(i.ha()), norm_signed(i.hb())); }),
      row("v_cvt_pknorm_u16_f16 v20, v10, v12",
          [](const In& i) { return both(norm_unsigned(i.ha()), norm_unsigned(i.hb())); }),
      row("v_cvt_pknorm_i16_f32 v20, v10, v12",
          [](const In& i) { return both(norm_signed(i.fa()), norm_signed(i.fb())); }),
      row("v_cvt_pknorm_u16_f32 v20, v10, v12",
          [](const In& i) { return both(norm_unsigned(i.fa()), norm_unsigned(i.fb())); }),
      row("v_cvt_pk_i16_i32 v20, v10, v12", [](const In& i) { return both(to_i16(s(i.a)), to_i16(s(i.b))); }),
      row("v_cvt_pk_u16_u32 v20, v10, v12",
          [](const In& i) { return both(to_u16(lo(i.a)), to_u16(lo(i.b))); }),
      row("v_cvt_pk_u8_f32 v20, v10, v12, v14",
          [](const In& i) {
            const int shift = 8 * static_cast<int>(i.b & 3);
            const auto byte = static_cast<u64>(clamped(std::nearbyint(i.fa()), 0, 255));
            return u64{lo((i.c & ~(u64{255} << shift)) | byte << shift)};
          }),
      row("v_sat_pk_u8_i16 v20, v10",
          [](const In& i) {
            const auto byte = [&](int n) {
              return static_cast<u64>(std::clamp<int>(static_cast<int16_t>(i.a >> (16 * n)), 0, 255));
            };
            return byte(0) | byte(1) << 8;
          }),
      row(
          "v_cvt_f32_bf16 v20, v10", [](const In& i) { return u64{lo(i.a << 16)}; }, kSingle),
      row(
          "v_cvt_pk_f16_f32 v20, v10, v12", [](const In& i) { return hh(i.fa(), i.fb()); }, kHalves),
  };
  all.insert(all.end(), rows.begin(), rows.end());
}

}  // namespace

Cases conversion_cases() {
  Cases all;
  add_integers(all);
  return all;
}

}  // namespace cdna::test
