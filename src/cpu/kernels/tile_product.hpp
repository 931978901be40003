// The products of product.hpp on tile registers: bf16 pairs, the same operands, and results in the same
// places. Only what lies on the left differs: its rows are the same number of bytes apart, since an
// instruction loads sixteen of them. operand.hpp sees to that.
//
// Tiles are always whole. Where a product ends within one, a copy that zeros fill up is loaded, so that
// nothing is read that the product has not, and infinities next to it stay out of it.
#pragma once

#include "cpu/kernels/product.hpp"
#include "cpu/simd/tiles.hpp"

namespace fw::FLASHWAVE_TARGET {

template <class T>
struct TileProduct : Pairs {
  using Tiles = T;
};

// The product of kernels that multiply vectors by their own loops: tiles have no part in these.
template <class P>
struct VectorProduct {
  using type = P;
};
template <Tiled P>
struct VectorProduct<P> {
#if defined(__AVX512BF16__)
  using type = PairProduct;
#else
  using type = FloatProduct;
#endif
};

// A thread's tiles, from their configuration to their release.
template <class Tiles>
struct TilesInUse {
  TilesInUse() { Tiles::configure(); }
  ~TilesInUse() { Tiles::release(); }
  TilesInUse(const TilesInUse&) = delete;
  TilesInUse& operator=(const TilesInUse&) = delete;
};

// Units between the elements of a transposed tile of keys: left(i, k) = rows[k][i * across_stride]. Three
// cache lines, so that sixteen neighbours share no set.
inline constexpr i64 across_stride = 48;

// Rows that are the same number of bytes apart.
struct SpacedRows {
  const char* first;
  i64 stride;
  FLASHWAVE_RULE const char* at(int row, int unit) const { return first + row * stride + unit * 4; }
};
FLASHWAVE_RULE SpacedRows spaced(AlongRows<u32> left, int count) {
  const auto* first = (const char*)left.rows[0];
  return {first, count > 1 ? (const char*)left.rows[1] - first : 0};
}
FLASHWAVE_RULE SpacedRows spaced(AcrossRows<u32> left, int) {
  return {(const char*)left.rows[0], 4 * across_stride};
}

template <int N, class Visit>
FLASHWAVE_RULE void each(Visit visit) {
  if constexpr (N > 1) each<N - 1>(visit);
  visit.template operator()<N - 1>();
}

// Loads tile T: `rows` rows of `units` units, zeros behind them.
template <class Tiles, int T>
FLASHWAVE_RULE void load_tile_of(SpacedRows from, int rows, int units) {
  if (rows >= tile_side && units >= tile_side) {
    Tiles::template load<T>(from.first, from.stride);
  } else {
    alignas(64) u32 copy[tile_side][tile_side] = {};
    for (int r = 0; r < least(rows, tile_side); ++r)
      __builtin_memcpy(copy[r], from.at(r, 0), 4 * least(units, tile_side));
    Tiles::template load<T>(copy, tile_row_bytes);
  }
}

// M x N tiles of sums, in tiles 0 to 3; the left side passes through 4 and 5, the right side through 6 and 7.
// `rows` are left's: fewer than sixteen only with M = 1.
template <class Tiles, int M, int N, Before before>
void multiply_tiles(float* out, i64 out_stride, SpacedRows left, int rows, const u32* right, i64 right_stride,
                    int depth, const float* fade) {
  static_assert(M * N <= 4 && N <= 2);
  const auto place = [&](int i, int j) { return out + i * tile_side * out_stride + j * tile_side; };
  if constexpr (before == Before::fading)
    for (int i = 0; i < M * tile_side; ++i)
      for (int j = 0; j < N * tile_side; j += lanes)
        store(out + i * out_stride + j, load(fade + j) * load(out + i * out_stride + j));
  each<M>([&]<int i>() {
    each<N>([&]<int j>() {
      if constexpr (before == Before::nothing) {
        Tiles::template zero<i * N + j>();
      } else {
        Tiles::template load<i * N + j>(place(i, j), 4 * out_stride);
      }
    });
  });
  for (int k = 0; k < depth; k += tile_side) {
    const int units = depth - k;
    each<N>([&]<int j>() {
      const SpacedRows columns{(const char*)(right + k * right_stride + j * tile_side), 4 * right_stride};
      load_tile_of<Tiles, 6 + j>(columns, units, tile_side);
    });
    each<M>([&]<int i>() {
      const SpacedRows row{left.at(i * tile_side, k), left.stride};
      load_tile_of<Tiles, 4 + i % 2>(row, rows, units);
      each<N>([&]<int j>() { Tiles::template multiply_add<i * N + j, 4 + i % 2, 6 + j>(); });
    });
  }
  each<M>([&]<int i>() {
    each<N>([&]<int j>() { Tiles::template store<i * N + j>(place(i, j), 4 * out_stride); });
  });
}

// M tiles of rows against all N tiles of columns.
template <class Tiles, int M, int N, Before before>
void multiply_columns(float* out, i64 out_stride, SpacedRows left, int rows, const u32* right,
                      i64 right_stride, int depth, const float* fade) {
  constexpr int columns = N == 1 ? 1 : 2;
  static_assert(N % columns == 0);
  for (int j = 0; j < N * tile_side; j += columns * tile_side)
    multiply_tiles<Tiles, M, columns, before>(out + j, out_stride, left, rows, right + j, right_stride, depth,
                                              before == Before::fading ? fade + j : nullptr);
}

// The last rows, fewer than a tile has: their sums are copied there and back.
template <class Tiles, int N, Before before>
void multiply_rest(float* out, i64 out_stride, SpacedRows left, int rows, const u32* right, i64 right_stride,
                   int depth, const float* fade) {
  constexpr int W = N * tile_side;
  alignas(64) float sums[tile_side * W] = {};
  if constexpr (before != Before::nothing)
    for (int r = 0; r < rows; ++r) __builtin_memcpy(sums + r * W, out + r * out_stride, 4 * W);
  multiply_columns<Tiles, 1, N, before>(sums, W, left, rows, right, right_stride, depth, fade);
  for (int r = 0; r < rows; ++r) __builtin_memcpy(out + r * out_stride, sums + r * W, 4 * W);
}

// `meanwhile` is called as often as product.hpp would, or oftener.
template <Tiled P, int N, Before before, class Left, class... Meanwhile>
void product(float* out, i64 out_stride, int count, Left left, const typename P::Unit* right,
             i64 right_stride, int depth, const float* fade = nullptr, Meanwhile&&... meanwhile) {
  using Tiles = typename P::Tiles;
  constexpr int most_rows = N == 1 ? 4 : 2;  // four tiles of sums
  const SpacedRows rows = spaced(left, count);
  const auto from = [&](int i) { return SpacedRows{rows.at(i, 0), rows.stride}; };
  const auto leave = [&](int done) {
    for (int i = 0; i < done; i += panel_keys) (meanwhile(), ...);
    return done;
  };
  const auto run = [&]<int M>(int i) {
    multiply_columns<Tiles, M, N, before>(out + i * out_stride, out_stride, from(i), M * tile_side, right,
                                          right_stride, depth, fade);
    return leave(M * tile_side);
  };
  int i = 0;
  while (count - i >= most_rows * tile_side) i += run.template operator()<most_rows>(i);
  while (count - i >= 2 * tile_side) i += run.template operator()<2>(i);
  if (count - i >= tile_side) i += run.template operator()<1>(i);
  if (i == count) return;
  multiply_rest<Tiles, N, before>(out + i * out_stride, out_stride, from(i), count - i, right, right_stride,
                                  depth, fade);
  leave(count - i);
}

}  // namespace fw::FLASHWAVE_TARGET
