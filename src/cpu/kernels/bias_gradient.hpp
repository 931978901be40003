// dbias: dS of a slice of the bias, summed over everything that the bias was broadcast over, in a fixed
// order. S and dP are computed once more for it: two products of backward's five, and only when dbias is
// asked for.
#pragma once

#include "cpu/kernels.hpp"
#include "cpu/kernels/backward.hpp"

namespace fw::FLASHWAVE_TARGET {

using cpu::BiasTask;

template <class P, int W>
struct BiasScratch {
  using Unit = typename P::Unit;
  GradientTile<P>* tile;
  const void** found;
  Unit *keys, *values;
  Unit *q_columns, *dout_columns;
  GradientScratch<P, W> gradient;
  float* sums;  // (W rows, or 1 where the query dimension broadcasts; tile_keys)

  BiasScratch(const Args& a, void* base, u64* bytes = nullptr) {
    Scratch scratch(base);
    tile = scratch.take<GradientTile<P>>(1);
    found = scratch.take<const void*>(most(tile_keys, W));
    keys = scratch.take<Unit>(tile_keys * copy_stride<P>(a.dim_qk));
    values = scratch.take<Unit>(tile_keys * copy_stride<P>(a.dim_v));
    q_columns = scratch.take<Unit>(padded(units<P>(a.dim_qk)) * W);
    dout_columns = scratch.take<Unit>(padded(units<P>(a.dim_v)) * W);
    gradient = GradientScratch<P, W>(a, scratch, base != nullptr);
    sums = scratch.take<float>(W * tile_keys);
    if (bytes) *bytes = scratch.used();
  }
};

// Adds dS of up to W queries of one (batch, head) against the tile's keys to sums: a row a query, or all of
// them in the first row where the bias is the same for every query.
template <class E, class P, int N>
FLASHWAVE_RULE void add_bias_gradient(const BiasScratch<P, N * lanes>& scratch, const Args& a,
                                      const BiasTask& task, const Sequence& s, int head, int first, int count,
                                      Range keys) {
  constexpr int W = N * lanes;
  using Units = typename P::Unit;
  const int group = a.heads_q / a.heads_k, kv_head = head / group;
  PanelRows<W> rows;
  describe_rows(rows, a, s, Pack{1, head}, first, count);
  if (intersect(keys, rows.any).empty()) return;
  RowStatistics<W> statistics;
  read_statistics(
      statistics, a, s, rows,
      task.delta + s.batch * task.delta_batch + kv_head * task.delta_head + first * group + head % group,
      group);

  find_queries<E>(scratch.found, a.q, s, rows);
  transpose_rows<E, P, W>(scratch.q_columns, scratch.found, count, a.dim_qk, false, scratch.gradient.staging);
  find_queries<E>(scratch.found, a.dout, s, rows);
  transpose_rows<E, P, W>(scratch.dout_columns, scratch.found, count, a.dim_v, false,
                          scratch.gradient.staging);
  GradientTile<P>& tile = *scratch.tile;
  find_rows<E>(scratch.found, a, a.k, s, kv_head, keys);
  point_to_rows<E, P>(tile.key_rows, scratch.keys, scratch.found, keys.count(), a.dim_qk);
  find_rows<E>(scratch.found, a, a.v, s, kv_head, keys);
  point_to_rows<E, P>(tile.value_rows, scratch.values, scratch.found, keys.count(), a.dim_v);
  product<P, N, Before::nothing>(scratch.gradient.scores, W, keys.count(), AlongRows<Units>{tile.key_rows},
                                 scratch.q_columns, W, units<P>(a.dim_qk));
  product<P, N, Before::nothing>(scratch.gradient.gradients, W, keys.count(),
                                 AlongRows<Units>{tile.value_rows}, scratch.dout_columns, W,
                                 units<P>(a.dim_v));

  const auto gradient =
      open_gradient<P, W, true>(scratch.gradient, a, s, rows, statistics, keys, unit_of(1.0f));
  for (int i = 0; i < keys.count(); ++i) {
    float ds[W];
    for (int at = 0; at < W; at += lanes) store(ds + at, gradient.at(i, at).bias);
    const int column = keys.begin + i - task.key_begin;
    for (int r = 0; r < count; ++r)
      scratch.sums[(a.dbias_row ? r : 0) * tile_keys + column % tile_keys] += ds[r];
  }
}

// Writes sums of queries first.. and the tile's columns.
FLASHWAVE_RULE void write_bias_gradient(const float* sums, const Args& a, const BiasTask& task, int first,
                                        int count, Range columns) {
  for (int r = 0; r < count; ++r) {
    const i64 row =
        task.bias_batch * a.dbias_batch + task.bias_head * a.dbias_head + (first + r) * a.dbias_row;
    for (int column = columns.begin; column < columns.end; ++column) {
      const float x = sums[r * tile_keys + column - columns.begin];
      switch (a.bias_element) {
        case Element::fp16: ((Half*)a.dbias)[row + column] = narrow_fp16(x); break;
        case Element::bf16: ((Half*)a.dbias)[row + column] = narrow_bf16(x); break;
        default: ((float*)a.dbias)[row + column] = x;
      }
    }
  }
}

// The members of a broadcast dimension, or the one of a dimension that is not.
FLASHWAVE_RULE Range members(i64 stride, int at, int all) {
  return stride == 0 ? Range{0, all} : Range{at, at + 1};
}

template <class E, class P>
void dbias(const Args& a, const BiasTask& task, void* memory) {
  constexpr int N = panel_vectors, W = N * lanes;
  const BiasScratch<P, W> scratch(a, memory);
  const Range batches = members(a.dbias_batch, task.bias_batch, a.batch);
  const Range heads = members(a.dbias_head, task.bias_head, a.heads_q);
  const int step = a.dbias_row ? W : task.row_count;  // queries that are summed before anything is written
  for (int begin = task.key_begin; begin < task.key_end; begin += tile_keys) {
    const Range columns{begin, least(begin + tile_keys, task.key_end)};
    for (int first = task.row_begin; first < task.row_begin + task.row_count; first += step) {
      const int end = least(first + step, task.row_begin + task.row_count);
      for (int i = 0; i < W * tile_keys; ++i) scratch.sums[i] = 0;
      for (int b = batches.begin; b < batches.end; ++b) {
        const Sequence s = sequence_of(a, b);
        const Range keys = intersect(columns, {0, s.keys});
        if (keys.empty()) continue;
        for (int head = heads.begin; head < heads.end; ++head)
          for (int row = first; row < least(end, s.queries); row += W)
            add_bias_gradient<E, P, N>(scratch, a, task, s, head, row, least(W, least(end, s.queries) - row),
                                       keys);
      }
      write_bias_gradient(scratch.sums, a, task, first, a.dbias_row ? end - first : 1, columns);
    }
  }
}

template <class P>
u64 bias_scratch(const Args& a) {
  u64 bytes;
  BiasScratch<P, panel_vectors * lanes>(a, nullptr, &bytes);
  return bytes;
}

}  // namespace fw::FLASHWAVE_TARGET
