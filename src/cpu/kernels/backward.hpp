// Backward: all queries of a kv head against a range of its keys.
//
// Blocks of queries outside, tiles of keys inside. dQ^T of a block stays with its panels; dK and dV of the
// whole range are summed in fp32 and rounded once, at the end. Five products a tile:
//
//   S^T = K Q^T    dP^T = V dO^T    dV += P^T dO    dK += dS^T Q    dQ^T += K^T dS^T
#pragma once

#include "cpu/kernels.hpp"
#include "cpu/kernels/ahead.hpp"
#include "cpu/kernels/gradient.hpp"
#include "cpu/kernels/operand.hpp"
#include "cpu/kernels/scratch.hpp"

namespace fw::FLASHWAVE_TARGET {

using cpu::BackwardTask;

// A panel of queries as the right side of every product it takes part in.
template <class P, int W>
struct BackwardPanel {
  typename P::Unit *q_columns, *dout_columns;  // (units of D, W): lanes are queries
  typename P::Unit *q_rows, *dout_rows;        // (W / pair, padded D): lanes are elements
  float* dq;                                   // (D, W)
  PanelRows<W> rows;
  RowStatistics<W> statistics;
};

template <class P>
struct GradientTile {
  Range keys;
  const typename P::Unit* key_rows[tile_keys];
  const typename P::Unit* key_columns[tile_keys];
  const typename P::Unit* value_rows[tile_keys];
};

template <class P, int W>
struct BackwardScratch {
  using Unit = typename P::Unit;
  BackwardPanel<P, W>* panels;
  GradientTile<P>* tile;
  Ahead* ahead;
  const void** found;
  Unit *keys, *key_pairs, *values;
  GradientScratch<P, W> gradient;
  float *dk, *dv;  // (keys of the range, padded D)

  BackwardScratch(const Args& a, int range, void* base, u64* bytes = nullptr) {
    Scratch scratch(base);
    panels = scratch.take<BackwardPanel<P, W>>(panels_of_block);
    tile = scratch.take<GradientTile<P>>(1);
    ahead = scratch.take<Ahead>(1);
    found = scratch.take<const void*>(most(tile_keys, W));
    keys = scratch.take<Unit>(tile_keys * copy_stride<P>(a.dim_qk));
    key_pairs = scratch.take<Unit>(P::pair == 2 ? tile_keys / 2 * copy_stride<FloatProduct>(a.dim_qk) : 0);
    values = scratch.take<Unit>(tile_keys * copy_stride<P>(a.dim_v));
    gradient = GradientScratch<P, W>(a, scratch, base != nullptr);
    dk = scratch.take<float>(range * padded(a.dim_qk));
    dv = scratch.take<float>(range * padded(a.dim_v));
    for (int i = 0; i < panels_of_block; ++i) {
      BackwardPanel<P, W> panel;
      panel.q_columns = scratch.take<Unit>(padded(units<P>(a.dim_qk)) * W);
      panel.dout_columns = scratch.take<Unit>(padded(units<P>(a.dim_v)) * W);
      panel.q_rows = scratch.take<Unit>(W / P::pair * padded(a.dim_qk));
      panel.dout_rows = scratch.take<Unit>(W / P::pair * padded(a.dim_v));
      panel.dq = scratch.take<float>(padded(a.dim_qk) * W);
      if (base) panels[i] = panel;
    }
    if (bytes) *bytes = scratch.used();
  }
};

template <class E, class P, int W>
FLASHWAVE_RULE void open_panel(BackwardPanel<P, W>& panel, const Args& a, const Sequence& s, Pack pack,
                               const float* delta, int first, int count,
                               const BackwardScratch<P, W>& scratch) {
  describe_rows(panel.rows, a, s, pack, first, count);
  read_statistics(panel.statistics, a, s, panel.rows, delta + first, 1);
  find_queries<E>(scratch.found, a.q, s, panel.rows);
  transpose_rows<E, P, W>(panel.q_columns, scratch.found, count, a.dim_qk, false, scratch.gradient.staging);
  copy_rows<E, P, W>(panel.q_rows, scratch.found, count, a.dim_qk);
  find_queries<E>(scratch.found, a.dout, s, panel.rows);
  transpose_rows<E, P, W>(panel.dout_columns, scratch.found, count, a.dim_v, false, scratch.gradient.staging);
  copy_rows<E, P, W>(panel.dout_rows, scratch.found, count, a.dim_v);
  for (i64 i = 0; i < (i64)a.dim_qk * W; i += lanes) store(panel.dq + i, Vec(0.0f));
}

template <class E, class P, int W>
FLASHWAVE_RULE void load_tile(const BackwardScratch<P, W>& scratch, const Args& a, const Sequence& s,
                              int kv_head, Range keys) {
  GradientTile<P>& tile = *scratch.tile;
  tile.keys = keys;
  find_rows<E>(scratch.found, a, a.k, s, kv_head, keys);
  point_to_rows<E, P>(tile.key_rows, scratch.keys, scratch.found, keys.count(), a.dim_qk);
  if constexpr (P::pair == 2) {
    point_to_columns<E, P>(tile.key_columns, scratch.key_pairs, scratch.found, keys.count(), a.dim_qk);
  } else {
    for (int i = 0; i < keys.count(); ++i) tile.key_columns[i] = tile.key_rows[i];
  }
  find_rows<E>(scratch.found, a, a.v, s, kv_head, keys);
  point_to_rows<E, P>(tile.value_rows, scratch.values, scratch.found, keys.count(), a.dim_v);
}

// out (count, padded dim) += left (count, W) * rows (W, padded dim), a register tile of columns at a time.
template <class P, int N>
FLASHWAVE_RULE void add_product(float* out, int count, AlongRows<typename P::Unit> left,
                                const typename P::Unit* rows, int dim, int depth) {
  const i64 stride = padded(dim);
  i64 d = 0;
  for (; d + N * lanes <= stride; d += N * lanes)
    product<P, N, Before::sum>(out + d, stride, count, left, rows + d, stride, depth);
  for (; d < stride; d += lanes)
    product<P, 1, Before::sum>(out + d, stride, count, left, rows + d, stride, depth);
}

// One panel meets one tile: its share of dK, dV and dQ.
template <class P, int N>
FLASHWAVE_RULE void differentiate_tile(const Args& a, const Sequence& s,
                                       const BackwardScratch<P, N * lanes>& scratch,
                                       BackwardPanel<P, N * lanes>& panel, Range range, Unit unit,
                                       bool scored) {
  constexpr int W = N * lanes;
  using Units = typename P::Unit;
  const GradientTile<P>& tile = *scratch.tile;
  const GradientScratch<P, W>& g = scratch.gradient;
  Range keys = intersect(tile.keys, panel.rows.any);
  if (keys.empty()) return;
  keys.begin -= (keys.begin - tile.keys.begin) % P::pair;  // pairs start at an even key of the tile
  const int first = keys.begin - tile.keys.begin, count = keys.count();

  product<P, N, Before::nothing>(g.scores, W, count, AlongRows<Units>{tile.key_rows + first}, panel.q_columns,
                                 W, units<P>(a.dim_qk), nullptr, *scratch.ahead);
  product<P, N, Before::nothing>(g.gradients, W, count, AlongRows<Units>{tile.value_rows + first},
                                 panel.dout_columns, W, units<P>(a.dim_v), nullptr, *scratch.ahead);
  if (scored) {
    write_gradient(open_gradient<P, W, true>(g, a, s, panel.rows, panel.statistics, keys, unit));
  } else {
    write_gradient(open_gradient<P, W, false>(g, a, s, panel.rows, panel.statistics, keys, unit));
  }

  const i64 at = keys.begin - range.begin;
  add_product<P, N>(scratch.dv + at * padded(a.dim_v), count, AlongRows<Units>{g.weight_rows},
                    panel.dout_rows, a.dim_v, W / P::pair);
  add_product<P, N>(scratch.dk + at * padded(a.dim_qk), count, AlongRows<Units>{g.gradient_rows},
                    panel.q_rows, a.dim_qk, W / P::pair);
  product<P, N, Before::sum>(panel.dq, W, a.dim_qk, AcrossRows<Units>{tile.key_columns + first / P::pair},
                             g.gradient_columns, W, units<P>(count));
}

// dK or dV of the range: rounded once, here.
template <class E>
FLASHWAVE_RULE void write_keys(const Args& a, const Tensor& t, const Sequence& s, int kv_head, Range range,
                               const float* sums, int dim, float scale, float* row) {
  each_run(a, t, s, kv_head, range, [&](int first, int count, i64 offset) {
    for (int i = 0; i < count; ++i) {
      const float* sum = sums + (first + i - range.begin) * padded(dim);
      for (int d = 0; d < dim; ++d) row[d] = sum[d] * scale;
      narrow_row<E>((typename E::Stored*)t.data + offset + i * t.row, row, dim);
    }
  });
}

template <class E, class P>
void backward(const Args& a, const BackwardTask& task, void* memory) {
  constexpr int N = panel_vectors, W = N * lanes;
  const Sequence s = sequence_of(a, task.batch);
  const Range range{task.key_begin, task.key_end};
  const BackwardScratch<P, W> scratch(a, range.count(), memory);
  const Pack pack = pack_of(a, task.kv_head);
  const bool scored = is_scored(a);
  const Unit unit = unit_of(scored ? 1.0f : a.scale);
  const int rows = s.queries * pack.group;
  for (i64 i = 0; i < range.count() * padded(a.dim_qk); ++i) scratch.dk[i] = 0;
  for (i64 i = 0; i < range.count() * padded(a.dim_v); ++i) scratch.dv[i] = 0;

  for (int block = 0; block < rows; block += panels_of_block * W) {
    const int block_rows = least(panels_of_block * W, rows - block), panels = (block_rows + W - 1) / W;
    for (int i = 0; i < panels; ++i)
      open_panel<E, P, W>(scratch.panels[i], a, s, pack, task.delta, block + i * W,
                          least(W, block_rows - i * W), scratch);
    const Range any = visible_to_any(s.mask, pack.query(block), pack.query(block + block_rows - 1), s.keys);
    const Range keys = intersect(any, range);
    for (int begin = keys.begin; begin < keys.end; begin += tile_keys) {
      load_tile<E, P>(scratch, a, s, task.kv_head, {begin, least(begin + tile_keys, keys.end)});
      look_ahead<E>(*scratch.ahead, a, s, task.kv_head,
                    {begin + tile_keys, least(begin + 2 * tile_keys, keys.end)}, panels * products_of_tile);
      for (int i = 0; i < panels; ++i)
        differentiate_tile<P, N>(a, s, scratch, scratch.panels[i], range, unit, scored);
    }
    for (int i = 0; i < panels; ++i) {
      const BackwardPanel<P, W>& panel = scratch.panels[i];
      const Staging staging = stage(scratch.gradient.staging, a.dim_qk);
      for (int r = 0; r < panel.rows.count; ++r) {
        if (r % lanes == 0) to_rows(staging.rows, staging.stride, panel.dq + r, W, a.dim_qk);
        float* dq = task.dq + (i64)(block + i * W + r) * a.dim_qk;
        for (int d = 0; d < a.dim_qk; ++d) dq[d] = staging.row(r % lanes)[d] * a.scale;
      }
    }
  }
  write_keys<E>(a, a.dk, s, task.kv_head, range, scratch.dk, a.dim_qk, a.scale, scratch.gradient.staging);
  write_keys<E>(a, a.dv, s, task.kv_head, range, scratch.dv, a.dim_v, kept_scale(a),
                scratch.gradient.staging);
}

template <class P>
u64 backward_scratch(const Args& a, int keys) {
  u64 bytes;
  BackwardScratch<P, panel_vectors * lanes>(a, keys, nullptr, &bytes);
  return bytes;
}

}  // namespace fw::FLASHWAVE_TARGET
