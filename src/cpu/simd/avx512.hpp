// Vectors of sixteen floats: AVX-512 F, BW, CD, DQ, VL.
#pragma once

#include <immintrin.h>

#include "meaning/target.hpp"

namespace fw::FLASHWAVE_TARGET {

inline constexpr int lanes = 16;
inline constexpr int panel_vectors = 4,
                     panel_keys = 6;  // 24 accumulators, 4 vectors, 1 broadcast: of 32 registers
inline constexpr int panels_of_block = 4;

struct Lanes {
  __mmask16 r;
};

struct Vec {
  __m512 r;
  Vec() = default;
  FLASHWAVE_RULE explicit Vec(float x) : r(_mm512_set1_ps(x)) {}
  FLASHWAVE_RULE explicit Vec(__m512 x) : r(x) {}
};
FLASHWAVE_RULE Vec load(const float* p) { return Vec(_mm512_loadu_ps(p)); }
FLASHWAVE_RULE void store(float* p, Vec x) { _mm512_storeu_ps(p, x.r); }
FLASHWAVE_RULE Vec operator+(Vec a, Vec b) { return Vec(_mm512_add_ps(a.r, b.r)); }
FLASHWAVE_RULE Vec operator-(Vec a, Vec b) { return Vec(_mm512_sub_ps(a.r, b.r)); }
FLASHWAVE_RULE Vec operator*(Vec a, Vec b) { return Vec(_mm512_mul_ps(a.r, b.r)); }
FLASHWAVE_RULE Vec operator/(Vec a, Vec b) { return Vec(_mm512_div_ps(a.r, b.r)); }
FLASHWAVE_RULE Lanes operator==(Vec a, Vec b) { return {_mm512_cmp_ps_mask(a.r, b.r, _CMP_EQ_OQ)}; }
FLASHWAVE_RULE Lanes operator<(Vec a, Vec b) { return {_mm512_cmp_ps_mask(a.r, b.r, _CMP_LT_OQ)}; }
FLASHWAVE_RULE Vec select(Lanes which, Vec yes, Vec no) {
  return Vec(_mm512_mask_blend_ps(which.r, no.r, yes.r));
}
FLASHWAVE_RULE Vec multiply_add(Vec a, Vec b, Vec c) { return Vec(_mm512_fmadd_ps(a.r, b.r, c.r)); }
// The second operand when either is NaN.
FLASHWAVE_RULE Vec max(Vec a, Vec b) { return Vec(_mm512_max_ps(a.r, b.r)); }
FLASHWAVE_RULE Vec abs(Vec a) { return Vec(_mm512_abs_ps(a.r)); }

struct Int {
  __m512i r;
  Int() = default;
  FLASHWAVE_RULE explicit Int(int x) : r(_mm512_set1_epi32(x)) {}
  FLASHWAVE_RULE explicit Int(__m512i x) : r(x) {}
};
FLASHWAVE_RULE Int load(const int* p) { return Int(_mm512_loadu_si512(p)); }
FLASHWAVE_RULE Int operator+(Int a, Int b) { return Int(_mm512_add_epi32(a.r, b.r)); }
FLASHWAVE_RULE Int operator-(Int a, Int b) { return Int(_mm512_sub_epi32(a.r, b.r)); }
FLASHWAVE_RULE Lanes operator<(Int a, Int b) { return {_mm512_cmplt_epi32_mask(a.r, b.r)}; }
FLASHWAVE_RULE Lanes operator&(Lanes a, Lanes b) { return {(__mmask16)(a.r & b.r)}; }
FLASHWAVE_RULE Vec to_float(Int a) { return Vec(_mm512_cvtepi32_ps(a.r)); }

struct Word {
  __m512i r;
  Word() = default;
  FLASHWAVE_RULE explicit Word(u32 x) : r(_mm512_set1_epi32((int)x)) {}
  FLASHWAVE_RULE explicit Word(__m512i x) : r(x) {}
};
FLASHWAVE_RULE Word load(const u32* p) { return Word(_mm512_loadu_si512(p)); }
FLASHWAVE_RULE Word operator^(Word a, Word b) { return Word(_mm512_xor_si512(a.r, b.r)); }
FLASHWAVE_RULE Word operator&(Word a, Word b) { return Word(_mm512_and_si512(a.r, b.r)); }
FLASHWAVE_RULE Word operator>>(Word a, int bits) { return Word(_mm512_srli_epi32(a.r, (unsigned)bits)); }
FLASHWAVE_RULE Lanes operator<(Word a, Word b) { return {_mm512_cmplt_epu32_mask(a.r, b.r)}; }
FLASHWAVE_RULE void multiply_wide(Word a, u32 b, Word& high, Word& low) {
  const __m512i factor = _mm512_set1_epi32((int)b);
  const __m512i even = _mm512_mul_epu32(a.r, factor);
  const __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(a.r, 32), factor);
  low = Word(_mm512_mask_blend_epi32(0xAAAA, even, _mm512_slli_epi64(odd, 32)));
  high = Word(_mm512_mask_blend_epi32(0xAAAA, _mm512_srli_epi64(even, 32), odd));
}

struct Split {
  Vec whole, part;
};
FLASHWAVE_RULE Split split(Vec x) {
  const Vec whole = Vec(_mm512_roundscale_ps(x.r, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  return {whole, x - whole};  // NaN for -inf, of which scalef makes 0 all the same
}
FLASHWAVE_RULE Vec scale_by_power(Vec x, Vec whole) { return Vec(_mm512_scalef_ps(x.r, whole.r)); }

}  // namespace fw::FLASHWAVE_TARGET
