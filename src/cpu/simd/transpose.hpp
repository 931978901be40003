// Transposes a square of lanes x lanes values in registers.
#pragma once

#include "meaning/target.hpp"

namespace fw::FLASHWAVE_TARGET {

#if defined(__AVX512F__)
FLASHWAVE_RULE void transpose(Vec (&x)[16]) {
  // Pairs, then fours within 128-bit quarters, then quarters.
  __m512 pairs[16], fours[16], halves[16];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    pairs[2 * i] = _mm512_unpacklo_ps(x[2 * i].r, x[2 * i + 1].r);
    pairs[2 * i + 1] = _mm512_unpackhi_ps(x[2 * i].r, x[2 * i + 1].r);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {
    const __m512d a = _mm512_castps_pd(pairs[i]), b = _mm512_castps_pd(pairs[i + 1]);
    const __m512d c = _mm512_castps_pd(pairs[i + 2]), d = _mm512_castps_pd(pairs[i + 3]);
    fours[i] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, c));
    fours[i + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, c));
    fours[i + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(b, d));
    fours[i + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(b, d));
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    halves[i] = _mm512_shuffle_f32x4(fours[i], fours[i + 4], 0x88);
    halves[i + 4] = _mm512_shuffle_f32x4(fours[i], fours[i + 4], 0xdd);
    halves[i + 8] = _mm512_shuffle_f32x4(fours[i + 8], fours[i + 12], 0x88);
    halves[i + 12] = _mm512_shuffle_f32x4(fours[i + 8], fours[i + 12], 0xdd);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    x[i] = Vec(_mm512_shuffle_f32x4(halves[i], halves[i + 8], 0x88));
    x[i + 8] = Vec(_mm512_shuffle_f32x4(halves[i], halves[i + 8], 0xdd));
    x[i + 4] = Vec(_mm512_shuffle_f32x4(halves[i + 4], halves[i + 12], 0x88));
    x[i + 12] = Vec(_mm512_shuffle_f32x4(halves[i + 4], halves[i + 12], 0xdd));
  }
}
#elif defined(__AVX2__)
FLASHWAVE_RULE void transpose(Vec (&x)[8]) {
  __m256 pairs[8], fours[8];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    pairs[2 * i] = _mm256_unpacklo_ps(x[2 * i].r, x[2 * i + 1].r);
    pairs[2 * i + 1] = _mm256_unpackhi_ps(x[2 * i].r, x[2 * i + 1].r);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4) {
    fours[i] = _mm256_shuffle_ps(pairs[i], pairs[i + 2], 0x44);
    fours[i + 1] = _mm256_shuffle_ps(pairs[i], pairs[i + 2], 0xee);
    fours[i + 2] = _mm256_shuffle_ps(pairs[i + 1], pairs[i + 3], 0x44);
    fours[i + 3] = _mm256_shuffle_ps(pairs[i + 1], pairs[i + 3], 0xee);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    x[i] = Vec(_mm256_permute2f128_ps(fours[i], fours[i + 4], 0x20));
    x[i + 4] = Vec(_mm256_permute2f128_ps(fours[i], fours[i + 4], 0x31));
  }
}
#else
FLASHWAVE_RULE void transpose(Vec (&x)[lanes]) {
  Vec y[lanes];
  for (int i = 0; i < lanes; ++i)
    for (int j = 0; j < lanes; ++j) y[i].r[j] = x[j].r[i];
  for (int i = 0; i < lanes; ++i) x[i] = y[i];
}
#endif

// `lanes` rows of `count` values to `count` rows of lanes, whole squares at a time.
FLASHWAVE_RULE void to_columns(float* to, i64 to_stride, const float* from, i64 from_stride, int count) {
  for (int first = 0; first < count; first += lanes) {
    Vec square[lanes];
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i) square[i] = load(from + i * from_stride + first);
    transpose(square);
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i) store(to + (first + i) * to_stride, square[i]);
  }
}

// The way back.
FLASHWAVE_RULE void to_rows(float* to, i64 to_stride, const float* from, i64 from_stride, int count) {
  for (int first = 0; first < count; first += lanes) {
    Vec square[lanes];
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i) square[i] = load(from + (first + i) * from_stride);
    transpose(square);
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i) store(to + i * to_stride + first, square[i]);
  }
}

}  // namespace fw::FLASHWAVE_TARGET
