// fp16 and bf16 rows to fp32 and back, by the fastest way the instruction set has.
#pragma once

#include "meaning/target.hpp"

namespace fw::FLASHWAVE_TARGET {

typedef unsigned short Half;

FLASHWAVE_RULE float float_of_bits(u32 bits) { return __builtin_bit_cast(float, bits); }
FLASHWAVE_RULE u32 bits_of_float(float x) { return __builtin_bit_cast(u32, x); }

FLASHWAVE_RULE float widen_bf16(Half x) { return float_of_bits((u32)x << 16); }
FLASHWAVE_RULE Half narrow_bf16(float x) {
  const u32 bits = bits_of_float(x);
  const u32 rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;  // to nearest, ties to even
  return (Half)((bits & 0x7fffffffu) > 0x7f800000u ? (bits >> 16) | 0x40u : rounded);
}

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
FLASHWAVE_RULE Vec load_bf16(const Half* p) {
  return Vec(_mm512_castsi512_ps(
      _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i*)p)), 16)));
}
FLASHWAVE_RULE Vec load_fp16(const Half* p) {
  return Vec(_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i*)p)));
}
FLASHWAVE_RULE void store_fp16(Half* p, Vec x) {
  _mm256_storeu_si256((__m256i*)p, _mm512_cvtps_ph(x.r, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
#elif defined(__AVX2__)
FLASHWAVE_RULE Vec load_bf16(const Half* p) {
  return Vec(
      _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i*)p)), 16)));
}
FLASHWAVE_RULE Vec load_fp16(const Half* p) {
  return Vec(_mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)p)));
}
FLASHWAVE_RULE void store_fp16(Half* p, Vec x) {
  _mm_storeu_si128((__m128i*)p, _mm256_cvtps_ph(x.r, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
#else
FLASHWAVE_RULE Vec load_bf16(const Half* p) {
  Vec x;
  for (int i = 0; i < lanes; ++i) x.r[i] = widen_bf16(p[i]);
  return x;
}
FLASHWAVE_RULE Vec load_fp16(const Half* p) {
  Vec x;
  for (int i = 0; i < lanes; ++i) x.r[i] = widen_fp16(p[i]);
  return x;
}
FLASHWAVE_RULE void store_fp16(Half* p, Vec x) {
  for (int i = 0; i < lanes; ++i) p[i] = narrow_fp16(x.r[i]);
}
#endif

FLASHWAVE_RULE void store_bf16(Half* p, Vec x) {
  float value[lanes];
  store(value, x);
  for (int i = 0; i < lanes; ++i) p[i] = narrow_bf16(value[i]);
}

}  // namespace fw::FLASHWAVE_TARGET
