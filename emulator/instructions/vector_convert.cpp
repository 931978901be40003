// Conversions between numbers of 16, 32 and 64 bits.
#include <algorithm>
#include <limits>

#include "instructions/vector.hpp"

namespace cdna {
namespace {

// To an integer: rounded toward zero, saturated, NaN to zero.
template <class To, class From>
constexpr To saturate(From x) {
  constexpr auto low = static_cast<double>(std::numeric_limits<To>::min());
  constexpr auto high = static_cast<double>(std::numeric_limits<To>::max());
  const double wide = static_cast<double>(x);
  if (wide != wide) return 0;
  return wide <= low    ? std::numeric_limits<To>::min()
         : wide >= high ? std::numeric_limits<To>::max()
                        : static_cast<To>(wide);
}

float byte(uint32_t x, int n) { return static_cast<float>(x >> (8 * n) & 0xff); }

// fp32 to fp16 toward zero.
uint32_t half_toward_zero(float x) {
  const uint16_t nearest = to_half(x);
  const float back = from_half(nearest);
  const bool grew = std::abs(back) > std::abs(x);
  return grew ? nearest - 1u : nearest;
}

uint32_t pack(uint32_t low, uint32_t high) { return (low & 0xffff) | high << 16; }

uint32_t normalised_signed(float x) {
  return static_cast<uint32_t>(saturate<int16_t>(std::nearbyint(std::clamp(x, -1.0f, 1.0f) * 32767.0f)));
}
uint32_t normalised_unsigned(float x) {
  return static_cast<uint32_t>(saturate<uint16_t>(std::nearbyint(std::clamp(x, 0.0f, 1.0f) * 65535.0f)));
}

uint32_t short_of(uint32_t x) { return std::min(x, 65535u); }
uint32_t short_of(int32_t x) { return static_cast<uint32_t>(std::clamp(x, -32768, 32767)); }

// A byte of the destination is replaced; the byte's number is the third source.
uint32_t replace_byte(float x, uint32_t position, uint32_t old) {
  const int shift = 8 * static_cast<int>(position & 3);
  const uint32_t value = saturate<uint8_t>(std::nearbyint(x));
  return (old & ~(0xffu << shift)) | value << shift;
}

}  // namespace

Definitions vector_convert() {
  constexpr Class kind = Class::conversion;
  return {
      vector<[](float a) { return half{a}; }>("v_cvt_f16_f32", kind),
      vector<[](half a) { return a.x; }>("v_cvt_f32_f16", kind),
      vector<[](uint32_t a) { return static_cast<float>(a); }>("v_cvt_f32_u32", kind),
      vector<[](int32_t a) { return static_cast<float>(a); }>("v_cvt_f32_i32", kind),
      vector<[](float a) { return saturate<uint32_t>(a); }>("v_cvt_u32_f32", kind),
      vector<[](float a) { return saturate<int32_t>(a); }>("v_cvt_i32_f32", kind),
      vector<[](float a) { return saturate<int32_t>(std::floor(a + 0.5f)); }>("v_cvt_rpi_i32_f32", kind),
      vector<[](float a) { return saturate<int32_t>(std::floor(a)); }>("v_cvt_flr_i32_f32", kind),
      vector<[](float a) { return static_cast<double>(a); }>("v_cvt_f64_f32", kind),
      vector<[](double a) { return static_cast<float>(a); }>("v_cvt_f32_f64", kind),
      vector<[](int32_t a) { return static_cast<double>(a); }>("v_cvt_f64_i32", kind),
      vector<[](uint32_t a) { return static_cast<double>(a); }>("v_cvt_f64_u32", kind),
      vector<[](double a) { return saturate<int32_t>(a); }>("v_cvt_i32_f64", kind),
      vector<[](double a) { return saturate<uint32_t>(a); }>("v_cvt_u32_f64", kind),
      vector<[](uint16_t a) { return half{static_cast<float>(a)}; }>("v_cvt_f16_u16", kind),
      vector<[](int16_t a) { return half{static_cast<float>(a)}; }>("v_cvt_f16_i16", kind),
      vector<[](half a) { return saturate<uint16_t>(a.x); }>("v_cvt_u16_f16", kind),
      vector<[](half a) { return saturate<int16_t>(a.x); }>("v_cvt_i16_f16", kind),
      vector<[](uint32_t a) { return byte(a, 0); }>("v_cvt_f32_ubyte0", kind),
      vector<[](uint32_t a) { return byte(a, 1); }>("v_cvt_f32_ubyte1", kind),
      vector<[](uint32_t a) { return byte(a, 2); }>("v_cvt_f32_ubyte2", kind),
      vector<[](uint32_t a) { return byte(a, 3); }>("v_cvt_f32_ubyte3", kind),
      vector<[](float a, uint32_t b, uint32_t c) { return replace_byte(a, b, c); }>("v_cvt_pk_u8_f32", kind),
      vector<[](float a, float b) { return pack(half_toward_zero(a), half_toward_zero(b)); }>(
          "v_cvt_pkrtz_f16_f32", kind),
      vector<[](float a, float b) { return pack(to_half(a), to_half(b)); }>("v_cvt_pk_f16_f32", kind),
      vector<[](float a, float b) { return pack(to_brain(a), to_brain(b)); }>("v_cvt_pk_bf16_f32", kind),
      vector<[](brain a) { return a.x; }>("v_cvt_f32_bf16", kind),
      vector<[](float a, float b) { return pack(normalised_signed(a), normalised_signed(b)); }>(
          "v_cvt_pknorm_i16_f32", kind),
      vector<[](float a, float b) { return pack(normalised_unsigned(a), normalised_unsigned(b)); }>(
          "v_cvt_pknorm_u16_f32", kind),
      vector<[](half a, half b) { return pack(normalised_signed(a.x), normalised_signed(b.x)); }>(
          "v_cvt_pknorm_i16_f16", kind),
      vector<[](half a, half b) { return pack(normalised_unsigned(a.x), normalised_unsigned(b.x)); }>(
          "v_cvt_pknorm_u16_f16", kind),
      vector<[](half a) { return static_cast<uint16_t>(normalised_signed(a.x)); }>("v_cvt_norm_i16_f16",
                                                                                   kind),
      vector<[](half a) { return static_cast<uint16_t>(normalised_unsigned(a.x)); }>("v_cvt_norm_u16_f16",
                                                                                     kind),
      vector<[](uint32_t a, uint32_t b) { return pack(short_of(a), short_of(b)); }>("v_cvt_pk_u16_u32", kind),
      vector<[](int32_t a, int32_t b) { return pack(short_of(a), short_of(b)); }>("v_cvt_pk_i16_i32", kind),
      vector<[](uint32_t a) { return (static_cast<float>(static_cast<int>(a << 28) >> 28) / 16.0f); }>(
          "v_cvt_off_f32_i4", kind),
      vector<[](uint32_t a) {
        const auto low = static_cast<int16_t>(a), high = static_cast<int16_t>(a >> 16);
        return static_cast<uint16_t>(std::clamp<int>(low, 0, 255) | std::clamp<int>(high, 0, 255) << 8);
      }>("v_sat_pk_u8_i16", kind),
  };
}

}  // namespace cdna
