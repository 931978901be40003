// Rows of a tensor in the units a product takes. A row that already is in that form is used where it lies;
// else it is widened, or padded to a whole unit with zeros.
#pragma once

#include "cpu/kernels/element.hpp"
#include "cpu/kernels/product.hpp"
#include "cpu/kernels/tile_product.hpp"
#include "meaning/keys.hpp"

namespace fw::FLASHWAVE_TARGET {

inline constexpr int tile_keys = 96;  // keys that are looked at together: S^T of a 64-row panel is 24 KiB

// Units of a row of `dim` elements.
template <class P>
FLASHWAVE_RULE int units(int dim) {
  return (dim + P::pair - 1) / P::pair;
}

// A dimension in whole vectors: how far apart rows are whose elements are lanes.
FLASHWAVE_RULE i64 padded(int dim) { return (dim + lanes - 1) / lanes * lanes; }

// Rows of scratch copies are this far apart: a cache line more than a power of two, so that they do not share
// sets.
template <class P>
FLASHWAVE_RULE i64 copy_stride(int dim) {
  return (units<P>(dim) + 15) / 16 * 16 + 16;
}

template <class E, class P>
inline constexpr bool same_form = P::pair == 2 || sizeof(typename E::Stored) == 4;

// Writes one row as units.
template <class E, class P>
FLASHWAVE_RULE void copy_row(typename P::Unit* out, const typename E::Stored* in, int dim) {
  if constexpr (P::pair == 2) {
    out[units<P>(dim) - 1] = 0;  // the second half of an odd row's last pair
    __builtin_memcpy(out, in, dim * sizeof *in);
  } else {
    widen_row<E>(out, in, dim);
  }
}

template <class P>
FLASHWAVE_RULE void negate_row(typename P::Unit* row, int count) {
  for (int k = 0; k < count; ++k) {
    if constexpr (P::pair == 2) {
      row[k] ^= 0x80008000u;
    } else {
      row[k] = -row[k];
    }
  }
}

FLASHWAVE_RULE bool evenly_spaced(const void* const* rows, int count) {
  for (int i = 2; i < count; ++i)
    if ((const char*)rows[i] - (const char*)rows[i - 1] != (const char*)rows[1] - (const char*)rows[0])
      return false;
  return true;
}

// Rows this far apart share sets of the first cache level, which keeps eight lines of each: read across,
// every one of a tile's rows misses it. A wide panel has arithmetic enough for each line to hide that, a
// narrow one has not (AVX2, fp32: 65 % of the peak in place, 83 % from a copy).
FLASHWAVE_RULE bool share_sets(const void* const* rows, int count) {
  constexpr i64 same_sets = 2048;
  constexpr bool narrow = panel_vectors * lanes < 64;
  return narrow && count > 8 && ((const char*)rows[1] - (const char*)rows[0]) % same_sets == 0;
}

// Rows as they can be broadcast along their own dimension (K for S, V for dP). `copy` holds what cannot stay.
template <class E, class P>
FLASHWAVE_RULE void point_to_rows(const typename P::Unit** rows, typename P::Unit* copy,
                                  const void* const* in, int count, int dim, bool may_stay = true) {
  const bool in_place =
      may_stay && same_form<E, P> && dim % P::pair == 0 && (!Tiled<P> || evenly_spaced(in, count));
  for (int i = 0; i < count; ++i) {
    const auto* row = (const typename E::Stored*)in[i];
    if (in_place) {
      rows[i] = (const typename P::Unit*)row;
    } else {
      rows[i] = copy + i * copy_stride<P>(dim);
      copy_row<E, P>(copy + i * copy_stride<P>(dim), row, dim);
    }
  }
}

// Two rows of bf16 side by side: unit d holds (even[d], odd[d]).
FLASHWAVE_RULE void interleave(u32* out, const Half* even, const Half* odd, int dim) {
  int d = 0;
#if defined(__AVX512F__)
  const __m512i zero = _mm512_setzero_si512();
  for (; d + 16 <= dim; d += 16) {
    const __m512i low = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i*)(even + d)));
    const __m512i high = odd ? _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i*)(odd + d))) : zero;
    _mm512_storeu_si512(out + d, _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
  }
#endif
  for (; d < dim; ++d) out[d] = even[d] | (odd ? (u32)odd[d] << 16 : 0u);
}

// Pairs of rows as columns: unit u of row d holds element d of rows 2u and 2u + 1.
FLASHWAVE_RULE void transpose_pairs(u32* out, const void* const* in, int count, int dim) {
  static_assert(across_stride >= tile_keys / 2);
  for (int first = 0; first < count; first += 2 * lanes)
    for (int d = 0; d < dim; d += lanes) {
      u32 square[lanes * lanes] = {};
      for (int i = first; i < least(first + 2 * lanes, count); i += 2)
        interleave(square + (i - first) / 2 * lanes, (const Half*)in[i] + d,
                   i + 1 < count ? (const Half*)in[i + 1] + d : nullptr, least(lanes, dim - d));
      to_columns((float*)out + d * across_stride + first / 2, across_stride, (const float*)square, lanes,
                 lanes);
    }
}

// Rows as they can be broadcast across rows (V for O, K for dQ): with a pair product two rows make one of
// pairs, with tiles these are columns.
template <class E, class P>
FLASHWAVE_RULE void point_to_columns(const typename P::Unit** rows, typename P::Unit* copy,
                                     const void* const* in, int count, int dim) {
  if constexpr (Tiled<P>) {
    transpose_pairs(copy, in, count, dim);
    for (int k = 0; k < units<P>(count); ++k) rows[k] = copy + k;
  } else if constexpr (P::pair == 2) {
    const i64 stride = copy_stride<FloatProduct>(dim);  // a unit for each element of the dimension
    for (int i = 0; i < count; i += 2) {
      rows[i / 2] = copy + i / 2 * stride;
      interleave(copy + i / 2 * stride, (const Half*)in[i], i + 1 < count ? (const Half*)in[i + 1] : nullptr,
                 dim);
    }
  } else {
    point_to_rows<E, P>(rows, copy, in, count, dim, !share_sets(in, count));
  }
}

// A vector of rows, staged on its way to columns or back. Rows are apart as scratch copies are.
struct Staging {
  float* rows;
  i64 stride;
  static i64 size(int dim) { return lanes * copy_stride<FloatProduct>(dim); }
  float* row(int i) const { return rows + i * stride; }
};
FLASHWAVE_RULE Staging stage(float* memory, int dim) { return {memory, copy_stride<FloatProduct>(dim)}; }

// right[k][lane] = unit k of row `lane`, zeros in lanes without a row. The units are filled up to whole
// vectors of k.
template <class E, class P, int W>
FLASHWAVE_RULE void transpose_rows(typename P::Unit* right, const void* const* in, int count, int dim,
                                   bool negate, float* memory) {
  using Unit = typename P::Unit;
  const Staging staging = stage(memory, dim);
  const int depth = units<P>(dim), whole = (int)padded(depth);
  for (int first = 0; first < W; first += lanes) {
    for (int i = 0; i < lanes; ++i) {
      auto* row = (Unit*)staging.row(i);
      const bool there = first + i < count;
      if (there) copy_row<E, P>(row, (const typename E::Stored*)in[first + i], dim);
      for (int k = there ? depth : 0; k < whole; ++k) row[k] = 0;
      if (negate) negate_row<P>(row, depth);
    }
    to_columns((float*)right + first, W, staging.rows, staging.stride, whole);
  }
}

// right[r][lane] = element `lane` of row r (of rows 2r and 2r + 1 with a pair product), zeros behind the
// last.
template <class E, class P, int W>
FLASHWAVE_RULE void copy_rows(typename P::Unit* right, const void* const* in, int count, int dim) {
  for (i64 i = 0; i < W / P::pair * padded(dim); ++i) right[i] = 0;
  for (int r = 0; r < count; r += P::pair) {
    auto* out = right + r / P::pair * padded(dim);
    if constexpr (P::pair == 2) {
      interleave(out, (const Half*)in[r], r + 1 < count ? (const Half*)in[r + 1] : nullptr, dim);
    } else {
      widen_row<E>(out, (const typename E::Stored*)in[r], dim);
    }
  }
}

// The address of each key of a range, whatever pages they lie on.
template <class E>
FLASHWAVE_RULE void find_rows(const void** rows, const Args& a, const Tensor& t, const Sequence& s,
                              int kv_head, Range range) {
  each_run(a, t, s, kv_head, range, [&](int first, int count, i64 offset) {
    const auto* run = (const typename E::Stored*)t.data + offset;
    for (int i = 0; i < count; ++i) rows[first - range.begin + i] = run + i * t.row;
  });
}

}  // namespace fw::FLASHWAVE_TARGET
