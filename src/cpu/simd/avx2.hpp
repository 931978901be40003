// Vectors of eight floats: AVX2, FMA and F16C.
#pragma once

#include <immintrin.h>

#include "meaning/target.hpp"

namespace fw::FLASHWAVE_TARGET {

inline constexpr int lanes = 8;
inline constexpr int panel_vectors = 2,
                     panel_keys = 6;  // 12 accumulators, 2 vectors, 1 broadcast: of 16 registers
inline constexpr int panels_of_block = 8;

struct Lanes {
  __m256 r;
};

struct Vec {
  __m256 r;
  Vec() = default;
  FLASHWAVE_RULE explicit Vec(float x) : r(_mm256_set1_ps(x)) {}
  FLASHWAVE_RULE explicit Vec(__m256 x) : r(x) {}
};
FLASHWAVE_RULE Vec load(const float* p) { return Vec(_mm256_loadu_ps(p)); }
FLASHWAVE_RULE void store(float* p, Vec x) { _mm256_storeu_ps(p, x.r); }
FLASHWAVE_RULE Vec operator+(Vec a, Vec b) { return Vec(_mm256_add_ps(a.r, b.r)); }
FLASHWAVE_RULE Vec operator-(Vec a, Vec b) { return Vec(_mm256_sub_ps(a.r, b.r)); }
FLASHWAVE_RULE Vec operator*(Vec a, Vec b) { return Vec(_mm256_mul_ps(a.r, b.r)); }
FLASHWAVE_RULE Vec operator/(Vec a, Vec b) { return Vec(_mm256_div_ps(a.r, b.r)); }
FLASHWAVE_RULE Lanes operator==(Vec a, Vec b) { return {_mm256_cmp_ps(a.r, b.r, _CMP_EQ_OQ)}; }
FLASHWAVE_RULE Lanes operator<(Vec a, Vec b) { return {_mm256_cmp_ps(a.r, b.r, _CMP_LT_OQ)}; }
FLASHWAVE_RULE Vec select(Lanes which, Vec yes, Vec no) {
  return Vec(_mm256_blendv_ps(no.r, yes.r, which.r));
}
FLASHWAVE_RULE Vec multiply_add(Vec a, Vec b, Vec c) { return Vec(_mm256_fmadd_ps(a.r, b.r, c.r)); }
// The second operand when either is NaN.
FLASHWAVE_RULE Vec max(Vec a, Vec b) { return Vec(_mm256_max_ps(a.r, b.r)); }
FLASHWAVE_RULE Vec min(Vec a, Vec b) { return Vec(_mm256_min_ps(a.r, b.r)); }
FLASHWAVE_RULE Vec abs(Vec a) { return Vec(_mm256_andnot_ps(_mm256_set1_ps(-0.0f), a.r)); }

struct Int {
  __m256i r;
  Int() = default;
  FLASHWAVE_RULE explicit Int(int x) : r(_mm256_set1_epi32(x)) {}
  FLASHWAVE_RULE explicit Int(__m256i x) : r(x) {}
};
FLASHWAVE_RULE Int load(const int* p) { return Int(_mm256_loadu_si256((const __m256i*)p)); }
FLASHWAVE_RULE Int operator+(Int a, Int b) { return Int(_mm256_add_epi32(a.r, b.r)); }
FLASHWAVE_RULE Int operator-(Int a, Int b) { return Int(_mm256_sub_epi32(a.r, b.r)); }
FLASHWAVE_RULE Lanes operator<(Int a, Int b) { return {_mm256_castsi256_ps(_mm256_cmpgt_epi32(b.r, a.r))}; }
FLASHWAVE_RULE Lanes operator&(Lanes a, Lanes b) { return {_mm256_and_ps(a.r, b.r)}; }
FLASHWAVE_RULE Vec to_float(Int a) { return Vec(_mm256_cvtepi32_ps(a.r)); }

struct Word {
  __m256i r;
  Word() = default;
  FLASHWAVE_RULE explicit Word(u32 x) : r(_mm256_set1_epi32((int)x)) {}
  FLASHWAVE_RULE explicit Word(__m256i x) : r(x) {}
};
FLASHWAVE_RULE Word load(const u32* p) { return Word(_mm256_loadu_si256((const __m256i*)p)); }
FLASHWAVE_RULE Word operator^(Word a, Word b) { return Word(_mm256_xor_si256(a.r, b.r)); }
FLASHWAVE_RULE Word operator&(Word a, Word b) { return Word(_mm256_and_si256(a.r, b.r)); }
FLASHWAVE_RULE Word operator>>(Word a, int bits) { return Word(_mm256_srli_epi32(a.r, bits)); }
FLASHWAVE_RULE Lanes operator<(Word a, Word b) {
  const __m256i flip = _mm256_set1_epi32((int)0x80000000u);  // AVX2 compares signed only
  return {_mm256_castsi256_ps(_mm256_cmpgt_epi32(_mm256_xor_si256(b.r, flip), _mm256_xor_si256(a.r, flip)))};
}
FLASHWAVE_RULE void multiply_wide(Word a, u32 b, Word& high, Word& low) {
  const __m256i factor = _mm256_set1_epi32((int)b);
  const __m256i even = _mm256_mul_epu32(a.r, factor);
  const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(a.r, 32), factor);
  low = Word(_mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA));
  high = Word(_mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA));
}

struct Split {
  Vec whole, part;
};
FLASHWAVE_RULE Split split(Vec x) {
  // Outside +-150 the answer is 0 or infinity anyway. min and max keep a NaN that is their second operand.
  const Vec kept = max(Vec(-150.0f), min(Vec(150.0f), x));
  const Vec whole = Vec(_mm256_round_ps(kept.r, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  return {whole, kept - whole};
}
FLASHWAVE_RULE Vec scale_by_power(Vec x, Vec whole) {
  // In two factors, so that both are normal numbers and the product rounds once.
  const __m256i n = _mm256_cvtps_epi32(whole.r);
  const __m256i half = _mm256_srai_epi32(n, 1);
  const __m256i bias = _mm256_set1_epi32(127);
  const __m256i first = _mm256_slli_epi32(_mm256_add_epi32(half, bias), 23);
  const __m256i second = _mm256_slli_epi32(_mm256_add_epi32(_mm256_sub_epi32(n, half), bias), 23);
  return Vec(_mm256_mul_ps(_mm256_mul_ps(x.r, _mm256_castsi256_ps(first)), _mm256_castsi256_ps(second)));
}

}  // namespace fw::FLASHWAVE_TARGET
