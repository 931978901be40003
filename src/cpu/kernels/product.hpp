// The two micro-kernels that all attention here is made of. Vector lanes are rows of q; the other operand is
// broadcast, a 32-bit unit at a time, straight from where it lies: a float, or a pair of bf16.
//
//   multiply     out[i][lane]  = sum over k of left[i][k] * right[k][lane]
//   accumulate   out[i][lane]  = fade[lane] * out[i][lane] + sum over k of left[k][i] * right[k][lane]
//
// S^T = K Q^T is the first, O^T += V^T P^T the second: neither K nor V is ever transposed or packed for it.
#pragma once

#include "meaning/target.hpp"

namespace fw::FLASHWAVE_TARGET {

struct FloatProduct {
  using Unit = float;
  static constexpr int pair = 1;  // values of the summed dimension in a unit
  using Right = Vec;
  static FLASHWAVE_RULE Right right(const Unit* p) { return load(p); }
  static FLASHWAVE_RULE Right left(const Unit* p) { return Vec(*p); }
  static FLASHWAVE_RULE Vec step(Vec sum, Right a, Right b) { return multiply_add(a, b, sum); }
};

#if defined(__AVX512BF16__)
// vdpbf16ps: two products a lane. It treats subnormal inputs as zero and rounds to nearest whatever MXCSR
// says.
struct PairProduct {
  using Unit = u32;
  static constexpr int pair = 2;
  using Right = __m512bh;
  static FLASHWAVE_RULE Right right(const Unit* p) { return (__m512bh)_mm512_loadu_si512(p); }
  static FLASHWAVE_RULE Right left(const Unit* p) {
    int unit;
    __builtin_memcpy(&unit, p, sizeof unit);  // a row of bf16 need not be aligned to pairs
    return (__m512bh)_mm512_set1_epi32(unit);
  }
  static FLASHWAVE_RULE Vec step(Vec sum, Right a, Right b) { return Vec(_mm512_dpbf16_ps(sum.r, a, b)); }
  static FLASHWAVE_RULE void store_pair(Unit* p, Vec even, Vec odd) {
    // Rounds to nearest, ties to even; the halves of a lane are its two values.
    const __m512i low = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(even.r));
    const __m512i high = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(odd.r));
    _mm512_storeu_si512(p, _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
  }
};
#endif

// Rows of a register tile of N vectors. A narrow one has registers left for more rows, and needs them: each
// sum waits for its own last step.
template <int N>
inline constexpr int tile_rows = N == 1 ? 2 * panel_keys : panel_keys;

// Splits `count` rows into register tiles of M, then smaller ones, without a thin rest where two middling
// tiles do.
template <int M, class Tile>
FLASHWAVE_RULE void each_tile(int count, Tile tile) {
  int i = 0;
  for (; count - i >= M && !(M == 6 && count - i == 8); i += M) tile.template operator()<M>(i);
  for (; count - i >= 4; i += 4) tile.template operator()<4>(i);
  for (; count - i >= 2; i += 2) tile.template operator()<2>(i);
  if (i < count) tile.template operator()<1>(i);
}

template <int M, int N>
FLASHWAVE_RULE void store_tile(float* out, const Vec (&sum)[M][N]) {
#pragma GCC unroll 16
  for (int i = 0; i < M; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < N; ++j) store(out + (i * N + j) * lanes, sum[i][j]);
}

// out (count, N * lanes), left: `count` rows, right (depth, N * lanes) units.
template <class P, int N>
FLASHWAVE_RULE void multiply(float* out, const typename P::Unit* const* left, int count,
                             const typename P::Unit* right, int depth) {
  each_tile<tile_rows<N>>(count, [&]<int M>(int first) {
    const typename P::Unit* row[M];
#pragma GCC unroll 16
    for (int i = 0; i < M; ++i) row[i] = left[first + i];
    Vec sum[M][N];
#pragma GCC unroll 16
    for (int i = 0; i < M; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < N; ++j) sum[i][j] = Vec(0.0f);
    for (int k = 0; k < depth; ++k) {
      typename P::Right b[N];
#pragma GCC unroll 4
      for (int j = 0; j < N; ++j) b[j] = P::right(right + (k * N + j) * lanes);
#pragma GCC unroll 16
      for (int i = 0; i < M; ++i) {
        const auto a = P::left(row[i] + k);
#pragma GCC unroll 4
        for (int j = 0; j < N; ++j) sum[i][j] = P::step(sum[i][j], a, b[j]);
      }
    }
    store_tile(out + first * N * lanes, sum);
  });
}

// out (count, N * lanes) += ..., left: `depth` rows, right (depth, N * lanes) units, fade (N * lanes).
template <class P, int N>
FLASHWAVE_RULE void accumulate(float* out, const float* fade, const typename P::Unit* const* left, int count,
                               const typename P::Unit* right, int depth) {
  each_tile<tile_rows<N>>(count, [&]<int M>(int first) {
    float* tile = out + first * N * lanes;
    Vec sum[M][N];
#pragma GCC unroll 16
    for (int i = 0; i < M; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < N; ++j) sum[i][j] = load(fade + j * lanes) * load(tile + (i * N + j) * lanes);
    for (int k = 0; k < depth; ++k) {
      const typename P::Unit* row = left[k] + first;
      typename P::Right b[N];
#pragma GCC unroll 4
      for (int j = 0; j < N; ++j) b[j] = P::right(right + (k * N + j) * lanes);
#pragma GCC unroll 16
      for (int i = 0; i < M; ++i) {
        const auto a = P::left(row + i);
#pragma GCC unroll 4
        for (int j = 0; j < N; ++j) sum[i][j] = P::step(sum[i][j], a, b[j]);
      }
    }
    store_tile(tile, sum);
  });
}

}  // namespace fw::FLASHWAVE_TARGET
