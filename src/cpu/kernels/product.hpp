// The micro-kernel that all attention here is made of. Vector lanes lie along one dimension of the result
// (rows of q, or elements of a head); the other operand is broadcast, a 32-bit unit at a time, straight from
// where it lies: a float, or a pair of bf16.
//
//   out[i][lane] (+)= sum over k of left(i, k) * right[k][lane]
//
// left(i, k) is rows[i][k] or rows[k][i], so S^T = K Q^T and O^T += V^T P^T both run without a transposed or
// packed copy of K or V, on any stride and any page.
#pragma once

#include "cpu/simd/simd.hpp"

namespace fw::FLASHWAVE_TARGET {

struct FloatProduct {
  using Unit = float;
  static constexpr int pair = 1;  // values of the summed dimension in a unit
  using Right = Vec;
  static FLASHWAVE_RULE Right right(const Unit* p) { return load(p); }
  static FLASHWAVE_RULE Right left(const Unit* p) { return Vec(*p); }
  static FLASHWAVE_RULE Vec step(Vec sum, Right a, Right b) { return multiply_add(a, b, sum); }
};

// Units that are pairs of bf16, and how values are rounded to them: to nearest, ties to even.
struct Pairs {
  using Unit = u32;
  static constexpr int pair = 2;
  static FLASHWAVE_RULE void store_halves(Half* p, Vec x) {
#if defined(__AVX512BF16__)
    _mm256_storeu_si256((__m256i*)p, (__m256i)_mm512_cvtneps_pbh(x.r));
#else
    store_bf16(p, x);
#endif
  }
  // The halves of a lane are its two values.
  static FLASHWAVE_RULE void store_pair(Unit* p, Vec even, Vec odd) {
#if defined(__AVX512BF16__)
    const __m512i low = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(even.r));
    const __m512i high = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(odd.r));
    _mm512_storeu_si512(p, _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
#else
    float evens[lanes], odds[lanes];
    store(evens, even);
    store(odds, odd);
    for (int i = 0; i < lanes; ++i) p[i] = narrow_bf16(evens[i]) | (u32)narrow_bf16(odds[i]) << 16;
#endif
  }
};

#if defined(__AVX512BF16__)
// vdpbf16ps: two products a lane. It treats subnormal inputs as zero and rounds to nearest whatever MXCSR
// says.
struct PairProduct : Pairs {
  using Right = __m512bh;
  static FLASHWAVE_RULE Right right(const Unit* p) { return (__m512bh)_mm512_loadu_si512(p); }
  static FLASHWAVE_RULE Right left(const Unit* p) {
    int unit;
    __builtin_memcpy(&unit, p, sizeof unit);  // a row of bf16 need not be aligned to pairs
    return (__m512bh)_mm512_set1_epi32(unit);
  }
  static FLASHWAVE_RULE Vec step(Vec sum, Right a, Right b) { return Vec(_mm512_dpbf16_ps(sum.r, a, b)); }
  // Sixteen elements of two rows side by side: a lane holds (even, odd).
  static FLASHWAVE_RULE Right interleaved(const Half* even, const Half* odd) {
    const __m512i low = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i*)even));
    const __m512i high = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i*)odd));
    return (__m512bh)_mm512_or_si512(low, _mm512_slli_epi32(high, 16));
  }
};
#endif

// Rows of a register tile of N vectors. A narrow one has registers left for more rows, and needs them: each
// sum waits for its own last step.
template <int N>
inline constexpr int tile_rows = N == 1 ? 2 * panel_keys : panel_keys;

// left(i, k) = rows[i][k].
template <class Unit>
struct AlongRows {
  const Unit* const* rows;
  template <int M>
  struct Tile {
    const Unit* row[M];
    FLASHWAVE_RULE const Unit* at(int i, int k) const { return row[i] + k; }
  };
  template <int M>
  FLASHWAVE_RULE Tile<M> tile(int first) const {
    Tile<M> t;
#pragma GCC unroll 16
    for (int i = 0; i < M; ++i) t.row[i] = rows[first + i];
    return t;
  }
};

// left(i, k) = rows[k][i].
template <class Unit>
struct AcrossRows {
  const Unit* const* rows;
  template <int M>
  struct Tile {
    const Unit* const* rows;
    int first;
    FLASHWAVE_RULE const Unit* at(int i, int k) const { return rows[k] + first + i; }
  };
  template <int M>
  FLASHWAVE_RULE Tile<M> tile(int first) const {
    return {rows, first};
  }
};

// What out holds before: nothing, a sum, or a sum that has faded (a factor a lane).
enum class Before { nothing, sum, fading };

template <int M, int N, Before before>
FLASHWAVE_RULE void open_sums(Vec (&sum)[M][N], const float* out, i64 stride, const float* fade) {
#pragma GCC unroll 16
  for (int i = 0; i < M; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < N; ++j) {
      if constexpr (before == Before::nothing) sum[i][j] = Vec(0.0f);
      if constexpr (before == Before::sum) sum[i][j] = load(out + i * stride + j * lanes);
      if constexpr (before == Before::fading)
        sum[i][j] = load(fade + j * lanes) * load(out + i * stride + j * lanes);
    }
}

// Splits `count` rows into register tiles of M, then smaller ones, without a thin rest where two middling
// tiles do.
template <int M, class Visit>
FLASHWAVE_RULE void each_tile(int count, Visit visit) {
  int i = 0;
  for (; count - i >= M && !(M == 6 && count - i == 8); i += M) visit.template operator()<M>(i);
  for (; count - i >= 4; i += 4) visit.template operator()<4>(i);
  for (; count - i >= 2; i += 2) visit.template operator()<2>(i);
  if (i < count) visit.template operator()<1>(i);
}

// Whether P multiplies tiles: tile_product.hpp.
template <class P>
concept Tiled = requires { typename P::Tiles; };

// What a thread does beside a product: called after each of its register tiles.
struct Nothing {
  FLASHWAVE_RULE void operator()() const {}
};

// out (count, N * lanes) with rows `out_stride` apart, right (depth, N * lanes) units with rows
// `right_stride` apart.
template <class P, int N, Before before, class Left, class Meanwhile = Nothing>
  requires(!Tiled<P>)
FLASHWAVE_RULE void product(float* out, i64 out_stride, int count, Left left, const typename P::Unit* right,
                            i64 right_stride, int depth, const float* fade = nullptr,
                            Meanwhile&& meanwhile = {}) {
  each_tile<tile_rows<N>>(count, [&]<int M>(int first) {
    const auto tile = left.template tile<M>(first);
    float* const rows = out + first * out_stride;
    Vec sum[M][N];
    open_sums<M, N, before>(sum, rows, out_stride, fade);
    for (int k = 0; k < depth; ++k) {
      typename P::Right b[N];
#pragma GCC unroll 4
      for (int j = 0; j < N; ++j) b[j] = P::right(right + k * right_stride + j * lanes);
#pragma GCC unroll 16
      for (int i = 0; i < M; ++i) {
        const auto a = P::left(tile.at(i, k));
#pragma GCC unroll 4
        for (int j = 0; j < N; ++j) sum[i][j] = P::step(sum[i][j], a, b[j]);
      }
    }
#pragma GCC unroll 16
    for (int i = 0; i < M; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < N; ++j) store(rows + i * out_stride + j * lanes, sum[i][j]);
    meanwhile();
  });
}

}  // namespace fw::FLASHWAVE_TARGET
