// fp16 to fp32 and back, by the fastest way the instruction set has.
#pragma once

#include "cpu/simd/halves.hpp"
#include "meaning/target.hpp"

namespace fw::FLASHWAVE_TARGET {

#if defined(__AVX512FP16__)
// One instruction each, single values too.
inline constexpr int to_nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

FLASHWAVE_RULE float widen_fp16(Half x) {
  const __m128h value = _mm_castsi128_ph(_mm_cvtsi32_si128(x));
  return _mm_cvtss_f32(_mm_cvtsh_ss(_mm_setzero_ps(), value));
}
FLASHWAVE_RULE Half narrow_fp16(float x) {
  const __m128h value = _mm_cvt_roundss_sh(_mm_setzero_ph(), _mm_set_ss(x), to_nearest);
  return (Half)_mm_cvtsi128_si32(_mm_castph_si128(value));
}
FLASHWAVE_RULE Vec load_fp16(const Half* p) {
  return Vec(_mm512_cvtxph_ps(_mm256_castsi256_ph(_mm256_loadu_si256((const __m256i*)p))));
}
FLASHWAVE_RULE void store_fp16(Half* p, Vec x) {
  _mm256_storeu_si256((__m256i*)p, _mm256_castph_si256(_mm512_cvtx_roundps_ph(x.r, to_nearest)));
}
#else
// Scaling by 2^112 moves fp16's exponent to fp32's place and makes subnormals exact.
FLASHWAVE_RULE float widen_fp16(Half x) {
  const u32 sign = (u32)(x & 0x8000u) << 16, magnitude = x & 0x7fffu;
  const float value = float_of_bits(magnitude << 13) * 0x1p112f;
  const u32 special = magnitude >= 0x7c00u ? 0x7f800000u | magnitude << 13 : bits_of_float(value);
  return float_of_bits(sign | special);
}
FLASHWAVE_RULE Half narrow_fp16(float x) {
  const u32 bits = bits_of_float(x), sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
  const u32 normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - 0x38000000u) >> 13;
  const float steps = float_of_bits(magnitude) * 0x1p24f;  // below 2^-14 a step is 2^-24
  const u32 tiny = (u32)((steps + 0x1p23f) - 0x1p23f);
  const u32 finite = magnitude < 0x38800000u ? tiny : normal;
  const u32 large = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
  return (Half)(sign | (magnitude >= 0x477ff000u ? large : finite));
}

#if defined(__AVX512F__)
FLASHWAVE_RULE Vec load_fp16(const Half* p) {
  return Vec(_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i*)p)));
}
FLASHWAVE_RULE void store_fp16(Half* p, Vec x) {
  _mm256_storeu_si256((__m256i*)p, _mm512_cvtps_ph(x.r, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
#elif defined(__AVX2__)
FLASHWAVE_RULE Vec load_fp16(const Half* p) {
  return Vec(_mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)p)));
}
FLASHWAVE_RULE void store_fp16(Half* p, Vec x) {
  _mm_storeu_si128((__m128i*)p, _mm256_cvtps_ph(x.r, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
#else
FLASHWAVE_RULE Vec load_fp16(const Half* p) {
  Vec x;
  for (int i = 0; i < lanes; ++i) x.r[i] = widen_fp16(p[i]);
  return x;
}
FLASHWAVE_RULE void store_fp16(Half* p, Vec x) {
  for (int i = 0; i < lanes; ++i) p[i] = narrow_fp16(x.r[i]);
}
#endif
#endif

}  // namespace fw::FLASHWAVE_TARGET
