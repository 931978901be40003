// 16-bit values, and bf16 to fp32 and back by the fastest way the instruction set has; fp16.hpp does fp16.
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

#if defined(__AVX512F__)
FLASHWAVE_RULE Vec load_bf16(const Half* p) {
  return Vec(_mm512_castsi512_ps(
      _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i*)p)), 16)));
}
#elif defined(__AVX2__)
FLASHWAVE_RULE Vec load_bf16(const Half* p) {
  return Vec(
      _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i*)p)), 16)));
}
#else
FLASHWAVE_RULE Vec load_bf16(const Half* p) {
  Vec x;
  for (int i = 0; i < lanes; ++i) x.r[i] = widen_bf16(p[i]);
  return x;
}
#endif

FLASHWAVE_RULE void store_bf16(Half* p, Vec x) {
  float value[lanes];
  store(value, x);
  for (int i = 0; i < lanes; ++i) p[i] = narrow_bf16(value[i]);
}

}  // namespace fw::FLASHWAVE_TARGET
