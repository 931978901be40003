// Plain decode: a handful of packed rows against many keys. Lanes lie along the head dimension, so that a
// key's row is read in whole vectors, once, for all rows of its group; the panels of forward.hpp, which
// scored decode keeps, would leave most of their lanes empty.
//
// A tile's scores lie as (keys, R): a vector holds lanes / R neighbouring keys of all R rows.
#pragma once

#include "cpu/kernels.hpp"
#include "cpu/kernels/ahead.hpp"
#include "cpu/kernels/operand.hpp"
#include "cpu/kernels/panel.hpp"
#include "cpu/kernels/scratch.hpp"
#include "cpu/kernels/write_row.hpp"
#include "meaning/softmax.hpp"

namespace fw::FLASHWAVE_TARGET {

using cpu::ForwardTask;

inline constexpr int decode_rows = lanes < 8 ? lanes : 8;  // the most that this file takes

// How a product reads operands along the head dimension.
template <class E, class P>
struct AlongHead {
  using Stored = typename E::Stored;
  // Elements of a row that one vector of the first product takes.
  static constexpr int step = lanes * P::pair;

  static FLASHWAVE_RULE typename P::Right part(const Stored* row) {
    if constexpr (P::pair == 2) {
      return P::right((const typename P::Unit*)row);
    } else {
      return E::widen(row);
    }
  }
  // `lanes` elements of a row of V, of a pair of rows with a pair product.
  static FLASHWAVE_RULE typename P::Right values(const Stored* const* rows, int d) {
    if constexpr (P::pair == 2) {
      return P::interleaved(rows[0] + d, rows[1] + d);
    } else {
      return E::widen(rows[0] + d);
    }
  }
};

template <class E, class P, int R>
struct DecodeScratch {
  using Stored = typename E::Stored;
  typename P::Unit* q;  // (R, units of D in whole vectors)
  float* out;           // (R, padded Dv)
  float* scores;        // (tile_keys, R): S, then P
  typename P::Unit* pairs;
  Half* halves;
  const void** found;
  Ahead* ahead;
  const Stored **keys, **values;
  Stored *key_copy, *value_copy;  // of rows that are not whole vectors

  DecodeScratch(const Args& a, void* base, u64* bytes = nullptr) {
    Scratch scratch(base);
    q = scratch.take<typename P::Unit>(R * padded(units<P>(a.dim_qk)));
    out = scratch.take<float>(R * padded(a.dim_v));
    scores = scratch.take<float>((tile_keys + lanes) * R);
    pairs = scratch.take<typename P::Unit>(P::pair == 2 ? tile_keys / 2 * R : 0);
    halves = scratch.take<Half>(P::pair == 2 ? (tile_keys + lanes) * R : 0);
    found = scratch.take<const void*>(tile_keys);
    ahead = scratch.take<Ahead>(1);
    keys = scratch.take<const Stored*>(tile_keys + lanes);
    values = scratch.take<const Stored*>(tile_keys + 2);
    key_copy = scratch.take<Stored>(tile_keys * whole(a.dim_qk, lanes * P::pair));
    value_copy = scratch.take<Stored>(tile_keys * whole(a.dim_v, lanes));
    if (bytes) *bytes = scratch.used();
  }
  // P as the product takes it.
  FLASHWAVE_RULE const typename P::Unit* weights() const {
    if constexpr (P::pair == 2) {
      return pairs;
    } else {
      return scores;
    }
  }
  static FLASHWAVE_RULE i64 whole(int dim, int step) { return (dim + step - 1) / step * step; }
};

// Rows that end in a whole vector are read where they lie, others from a copy that zeros fill up.
template <class E>
FLASHWAVE_RULE void point_to_vectors(const typename E::Stored** rows, typename E::Stored* copy,
                                     const void* const* in, int count, int dim, int step) {
  using Stored = typename E::Stored;
  const i64 whole = (dim + step - 1) / step * step;
  for (int i = 0; i < count; ++i) {
    rows[i] = (const Stored*)in[i];
    if (whole == dim) continue;
    Stored* row = copy + i * whole;
    __builtin_memcpy(row, in[i], dim * sizeof(Stored));
    for (i64 d = dim; d < whole; ++d) row[d] = Stored(0);
    rows[i] = row;
  }
}

// q in whole vectors along the head, zeros in rows that are not there.
template <class E, class P, int R, class Rows>
FLASHWAVE_RULE void load_queries(const DecodeScratch<E, P, R>& scratch, const Args& a, const Sequence& s,
                                 const Rows& d, bool negate) {
  const i64 stride = padded(units<P>(a.dim_qk));
  for (i64 i = 0; i < R * stride; ++i) scratch.q[i] = 0;
  for (int r = 0; r < d.rows.count; ++r) {
    const i64 row = query_offset(a.q, s, d.rows.query[r], d.rows.head[r]);
    copy_row<E, P>(scratch.q + r * stride, (const typename E::Stored*)a.q.data + row, a.dim_qk);
    if (negate) negate_row<P>(scratch.q + r * stride, units<P>(a.dim_qk));
  }
}

// The running softmax of the R rows, and what the lanes of a vector of scores stand for: lane l is row l % R
// and key l / R of the vector's. State is repeated in all lanes of a row.
template <int R>
struct DecodeRows {
  PanelRows<lanes> rows;
  int key_of_lane[lanes];
  Row<Vec> state;

  FLASHWAVE_RULE Lanes sees(int first_key, int end) const {
    const Int key = Int(first_key) + load(key_of_lane);
    return (key < load(rows.end)) & (key < Int(end)) & (load(rows.begin) < key + Int(1));
  }
};

template <int R>
FLASHWAVE_RULE void describe_rows(DecodeRows<R>& d, const Args& a, const Sequence& s, Pack pack, int first,
                                  int count) {
  describe_rows(d.rows, a, s, pack, first, count);
  for (int l = 0; l < lanes; ++l) {
    d.key_of_lane[l] = l / R;
    d.rows.begin[l] = d.rows.begin[l % R];
    d.rows.end[l] = d.rows.end[l % R];
  }
  d.state = fresh_row<Vec>();
}

// Combines the lanes of each row, to all of them.
template <int R, class Combine>
FLASHWAVE_RULE Vec over_keys(Vec x, Combine combine) {
  float value[2 * lanes];
  for (int distance = lanes / 2; distance >= R; distance /= 2) {
    store(value, x);
    store(value + lanes, x);
    x = combine(x, load(value + distance));  // lane l meets lane l + distance, around the end
  }
  return x;
}

// S of a tile: a vector of results at a time, each lane the product of one row and one key. The next tile
// comes from memory meanwhile, a row of it for each key here, and one for each key in accumulate_columns.
template <class E, class P, int R>
FLASHWAVE_RULE void multiply_tile(const DecodeScratch<E, P, R>& scratch, const Args& a, int count) {
  using Head = AlongHead<E, P>;
  const i64 stride = padded(units<P>(a.dim_qk));
  constexpr int keys = lanes / R;
  for (int i = count; i < count + keys; ++i)
    scratch.keys[i] = scratch.keys[count - 1];  // fill the last vector
  for (int first = 0; first < count; first += keys) {
    Vec sum[lanes];
#pragma GCC unroll 16
    for (int l = 0; l < lanes; ++l) sum[l] = Vec(0.0f);
    for (int d = 0; d < a.dim_qk; d += Head::step) {
#pragma GCC unroll 16
      for (int key = 0; key < keys; ++key) {
        const auto k = Head::part(scratch.keys[first + key] + d);
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r)
          sum[key * R + r] = P::step(sum[key * R + r], k, P::right(scratch.q + r * stride + d / P::pair));
      }
    }
    transpose(sum);
#pragma GCC unroll 4
    for (int width = lanes / 2; width > 0; width /= 2)
#pragma GCC unroll 8
      for (int l = 0; l < width; ++l) sum[l] = sum[l] + sum[l + width];
    store(scratch.scores + first * R, sum[0]);
    for (int key = 0; key < keys; ++key) (*scratch.ahead)();
  }
}

// S becomes P. Returns what O fades by.
template <class E, class P, int R>
FLASHWAVE_RULE Vec absorb_tile(DecodeRows<R>& d, const DecodeScratch<E, P, R>& scratch, Range keys,
                               Unit unit) {
  constexpr int step = lanes / R;
  const bool whole = d.rows.sees_all(keys);
  Vec top = Vec(-infinity);
  for (int key = keys.begin; key < keys.end; key += step) {
    float* s = scratch.scores + (key - keys.begin) * R;
    if (!whole || key + step > keys.end) store(s, select(d.sees(key, keys.end), load(s), Vec(-infinity)));
    top = max(top, load(s));
  }
  top = over_keys<R>(top, [](Vec x, Vec y) { return max(x, y); });
  const Step<Vec> raised = raise(d.state, top, Vec(unit.in_log2));
  Vec sum = Vec(0.0f);
  for (int i = 0; i < keys.count() * R; i += lanes) {
    const Vec p = weight(load(scratch.scores + i), raised.base, Vec(unit.in_log2));
    sum = sum + p;
    store(scratch.scores + i, p);
  }
  d.state.sum = d.state.sum + over_keys<R>(sum, [](Vec x, Vec y) { return x + y; });
  if constexpr (P::pair == 2) {
    for (int i = 0; i < (keys.count() + 1) * R; i += lanes)
      P::store_halves(scratch.halves + i, load(scratch.scores + i));
    if (keys.count() % 2)  // the empty half of the last pair
      for (int r = 0; r < R; ++r) scratch.halves[keys.count() * R + r] = 0;
    for (int i = 0; i < keys.count(); i += 2)
      for (int r = 0; r < R; ++r)
        scratch.pairs[i / 2 * R + r] = scratch.halves[i * R + r] | (u32)scratch.halves[(i + 1) * R + r] << 16;
  }
  return raised.fade;
}

// O = fade O + P V, C vectors of the head at a time.
template <class E, class P, int R, int C>
FLASHWAVE_RULE void accumulate_columns(const DecodeScratch<E, P, R>& scratch, const float* fade, i64 stride,
                                       int d, int count) {
  Vec sum[R][C];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
    for (int c = 0; c < C; ++c) sum[r][c] = Vec(fade[r]) * load(scratch.out + r * stride + d + c * lanes);
  for (int i = 0; i < count; i += P::pair) {
    typename P::Right v[C];
#pragma GCC unroll 4
    for (int c = 0; c < C; ++c) v[c] = AlongHead<E, P>::values(scratch.values + i, d + c * lanes);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const auto p = P::left(scratch.weights() + i / P::pair * R + r);
#pragma GCC unroll 4
      for (int c = 0; c < C; ++c) sum[r][c] = P::step(sum[r][c], p, v[c]);
    }
    if (d == 0)
      for (int key = 0; key < P::pair; ++key) (*scratch.ahead)();
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
    for (int c = 0; c < C; ++c) store(scratch.out + r * stride + d + c * lanes, sum[r][c]);
}

template <class E, class P, int R>
FLASHWAVE_RULE void accumulate_tile(const DecodeScratch<E, P, R>& scratch, const Args& a, Vec fades,
                                    int count) {
  constexpr int columns = R <= 4 ? 4 : 2;  // R * columns sums in registers
  float fade[lanes];
  store(fade, fades);
  scratch.values[count] = scratch.values[count - 1];  // the other half of an odd last pair weighs 0
  const i64 stride = padded(a.dim_v);
  int d = 0;
  for (; d + columns * lanes <= stride; d += columns * lanes)
    accumulate_columns<E, P, R, columns>(scratch, fade, stride, d, count);
  for (; d < stride; d += lanes) accumulate_columns<E, P, R, 1>(scratch, fade, stride, d, count);
}

template <class E, class P, int R>
void decode_block(const Args& a, const ForwardTask& task, const Sequence& s, void* memory) {
  const DecodeScratch<E, P, R> scratch(a, memory);
  const Pack pack = pack_of(a, task.kv_head);
  const bool negate = a.scale < 0;
  const Unit unit = unit_of(negate ? -a.scale : a.scale);
  DecodeRows<R> d;
  describe_rows(d, a, s, pack, task.row_begin, task.row_count);
  load_queries(scratch, a, s, d, negate);
  for (i64 i = 0; i < R * padded(a.dim_v); i += lanes) store(scratch.out + i, Vec(0.0f));

  const Range keys = intersect(d.rows.any, {task.key_begin, task.key_end});
  for (int begin = keys.begin; begin < keys.end; begin += tile_keys) {
    const Range tile{begin, least(begin + tile_keys, keys.end)};
    look_ahead<E>(*scratch.ahead, a, s, task.kv_head, {tile.end, least(tile.end + tile_keys, keys.end)},
                  2 * tile.count());
    find_rows<E>(scratch.found, a, a.v, s, task.kv_head, tile);
    point_to_vectors<E>(scratch.values, scratch.value_copy, scratch.found, tile.count(), a.dim_v, lanes);
    find_rows<E>(scratch.found, a, a.k, s, task.kv_head, tile);
    point_to_vectors<E>(scratch.keys, scratch.key_copy, scratch.found, tile.count(), a.dim_qk,
                        AlongHead<E, P>::step);
    multiply_tile<E, P, R>(scratch, a, tile.count());
    const Vec fade = absorb_tile<E, P, R>(d, scratch, tile, unit);
    accumulate_tile<E, P, R>(scratch, a, fade, tile.count());
  }

  float sink[lanes], scale[lanes], lse[lanes];
  for (int l = 0; l < lanes; ++l)
    sink[l] = a.sink && !task.partial_out ? value_at(a.sink, a.sink_element, d.rows.head[l % R]) : -infinity;
  const Total<Vec> total = finish(d.state, load(sink), unit);
  store(scale, total.scale);
  store(lse, total.lse);
  for (int r = 0; r < task.row_count; ++r) {
    float* row = scratch.out + r * padded(a.dim_v);
    for (int i = 0; i < a.dim_v; ++i) row[i] = output_value(row[i], scale[r]);
    write_row<E>(row, lse[r], a, s, task, d.rows.query[r], d.rows.head[r], r);
  }
}

// Whether a plain task is one for this file.
FLASHWAVE_RULE bool is_decode(const ForwardTask& task) { return task.row_count <= decode_rows; }

// The least R that has room for the task's rows.
template <class E, class P>
void decode(const Args& a, const ForwardTask& task, const Sequence& s, void* memory) {
  if (task.row_count == 1) return decode_block<E, P, 1>(a, task, s, memory);
  if (task.row_count == 2) return decode_block<E, P, 2>(a, task, s, memory);
  if (task.row_count <= 4) return decode_block<E, P, 4>(a, task, s, memory);
  if constexpr (decode_rows >= 8) return decode_block<E, P, 8>(a, task, s, memory);
}

}  // namespace fw::FLASHWAVE_TARGET
