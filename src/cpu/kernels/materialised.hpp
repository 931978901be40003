// Attention with the whole score matrix in memory, on the same products: what the device `naive` is made of.
//
// The scores of a head lie a panel after the other, (keys, W) each. Every step below goes over all keys,
// hidden ones too, as a chain of matrix products and passes does.
#pragma once

#include "cpu/kernels.hpp"
#include "cpu/kernels/backward.hpp"

namespace fw::FLASHWAVE_TARGET {

using cpu::PanelTask;

template <class E, class P, int N>
struct Materialised {
  static constexpr int W = N * lanes;
  using Unit = typename P::Unit;
  using Stored = typename E::Stored;

  struct Memory {
    const void** found;
    const Unit** rows;
    Unit *copies, *queries, *pairs;
    Half* halves;
    float *sums, *staging;

    Memory(const Args& a, void* base, u64* bytes = nullptr) {
      Scratch scratch(base);
      const int dim = most(a.dim_qk, a.dim_v), count = most(tile_keys, W);
      found = scratch.take<const void*>(count);
      rows = scratch.take<const Unit*>(count);
      copies = scratch.take<Unit>(tile_keys * copy_stride<FloatProduct>(dim));
      queries = scratch.take<Unit>(W * padded(dim));
      staging = scratch.take<float>(Staging::size(dim));
      pairs = scratch.take<Unit>(tile_keys * W);
      halves = scratch.take<Half>(tile_keys * W);
      sums = scratch.take<float>(padded(dim) * W);
      if (bytes) *bytes = scratch.used();
    }
  };

  struct Panel {
    Sequence sequence;
    PanelRows<W> rows;
    int kv_head;
    Range keys;  // all but those that no query of the sequence sees: these may hold anything

    Panel(const Args& a, const PanelTask& task) : sequence(sequence_of(a, task.batch)) {
      kv_head = task.head / (a.heads_q / a.heads_k);
      keys = visible_to_any(sequence.mask, 0, sequence.queries - 1, sequence.keys);
      const int first = task.panel * W;
      describe_rows(rows, a, sequence, Pack{1, task.head}, first, least(W, sequence.queries - first));
    }
  };

  template <class Visit>
  static FLASHWAVE_RULE void each_key_tile(Range keys, Visit visit) {
    for (int begin = keys.begin; begin < keys.end; begin += tile_keys)
      visit(Range{begin, least(begin + tile_keys, keys.end)});
  }

  static u64 scratch(const Args& a) {
    u64 bytes;
    Memory(a, nullptr, &bytes);
    return bytes;
  }

  // out = keys queries^T.
  static void multiply(const Args& a, const PanelTask& task, const Tensor& keys, const Tensor& queries,
                       int dim, float* out, void* memory) {
    const Memory m(a, memory);
    const Panel panel(a, task);
    find_queries<E>(m.found, queries, panel.sequence, panel.rows);
    transpose_rows<E, P, W>(m.queries, m.found, panel.rows.count, dim, false, m.staging);
    each_key_tile(panel.keys, [&](Range tile) {
      find_rows<E>(m.found, a, keys, panel.sequence, panel.kv_head, tile);
      point_to_rows<E, P>(m.rows, m.copies, m.found, tile.count(), dim);
      product<P, N, Before::nothing>(out + (i64)tile.begin * W, W, tile.count(), AlongRows<Unit>{m.rows},
                                     m.queries, W, units<P>(dim));
    });
  }

  // Scores become normalised weights; writes lse.
  static void softmax(const Args& a, const PanelTask& task, float* s) {
    const Panel panel(a, task);
    const Range keys = panel.keys;
    const float sink = a.sink ? value_at(a.sink, a.sink_element, task.head) : -infinity;
    float lse[W];
    for (int at = 0; at < W; at += lanes) {
      Row<Vec> row = fresh_row<Vec>();
      for (int key = keys.begin; key < keys.end; ++key) {
        float* const place = s + (i64)key * W + at;
        const Vec score = select(sees(panel.rows, at, key), load(place) * Vec(a.scale), Vec(-infinity));
        store(place, score);
        row.max = max(row.max, score);
      }
      const Vec base = safe(row.max);
      for (int key = keys.begin; key < keys.end; ++key) {
        float* const place = s + (i64)key * W + at;
        const Vec p = weight(load(place), base, Vec(log2_e));
        store(place, p);
        row.sum = row.sum + p;
      }
      const Total<Vec> total = finish(row, Vec(sink), unit_of(1.0f));
      for (int key = keys.begin; key < keys.end; ++key) {
        float* const place = s + (i64)key * W + at;
        store(place, load(place) * total.scale);
      }
      store(lse + at, total.lse);
    }
    if (!a.lse.data) return;
    for (int r = 0; r < panel.rows.count; ++r)
      ((float*)a.lse.data)[query_offset(a.lse, panel.sequence, panel.rows.query[r], task.head)] = lse[r];
  }

  // Weights of a tile as the right side of a product.
  static FLASHWAVE_RULE const Unit* as_pairs(const Memory& m, const float* weights, int count) {
    if constexpr (P::pair == 1) {
      return weights;
    } else {
      for (int i = 0; i < count; i += 2)
        for (int at = 0; at < W; at += lanes)
          P::store_pair(m.pairs + i / 2 * W + at, load(weights + i * W + at),
                        i + 1 < count ? load(weights + (i + 1) * W + at) : Vec(0.0f));
      return m.pairs;
    }
  }

  // out = scale weights^T keys, rounded once.
  static void weigh(const Args& a, const PanelTask& task, const float* weights, const Tensor& keys, int dim,
                    float scale, const Tensor& out, void* memory) {
    const Memory m(a, memory);
    const Panel panel(a, task);
    for (i64 i = 0; i < (i64)dim * W; ++i) m.sums[i] = 0;
    each_key_tile(panel.keys, [&](Range tile) {
      find_rows<E>(m.found, a, keys, panel.sequence, panel.kv_head, tile);
      point_to_columns<E, P>(m.rows, m.copies, m.found, tile.count(), dim);
      product<P, N, Before::sum>(m.sums, W, dim, AcrossRows<Unit>{m.rows},
                                 as_pairs(m, weights + (i64)tile.begin * W, tile.count()), W,
                                 units<P>(tile.count()));
    });
    const Staging staging = stage(m.staging, dim);
    for (int r = 0; r < panel.rows.count; ++r) {
      if (r % lanes == 0) to_rows(staging.rows, staging.stride, m.sums + r, W, dim);
      float* const row = staging.row(r % lanes);
      for (int d = 0; d < dim; ++d) row[d] *= scale;
      narrow_row<E>((Stored*)out.data + query_offset(out, panel.sequence, panel.rows.query[r], task.head),
                    row, dim);
    }
  }

  // Scores become weights again, and gradients of weights those of scores.
  static void differentiate(const Args& a, const PanelTask& task, float* s, float* g, const float* delta,
                            int stride) {
    const Panel panel(a, task);
    RowStatistics<W> statistics;
    read_statistics(statistics, a, panel.sequence, panel.rows, delta + (i64)task.panel * W * stride, stride);
    for (int key = panel.keys.begin; key < panel.keys.end; ++key)
      for (int at = 0; at < W; at += lanes) {
        const i64 place = (i64)key * W + at;
        const Vec p =
            select(sees(panel.rows, at, key),
                   probability(load(s + place), load(statistics.lse + at), unit_of(a.scale)), Vec(0.0f));
        store(s + place, p);
        store(g + place, score_gradient(p, load(g + place), load(statistics.delta + at)));
      }
  }

  // Adds weights queries of one panel to the sums of some keys, (keys, padded dim).
  static void gather(const Args& a, const PanelTask& task, const float* weights, int key_begin, int key_count,
                     const Tensor& queries, int dim, float* sums, void* memory) {
    const Memory m(a, memory);
    const Panel panel(a, task);
    const Range keys = intersect(panel.keys, {key_begin, key_begin + key_count});
    if (keys.empty()) return;
    find_queries<E>(m.found, queries, panel.sequence, panel.rows);
    copy_rows<E, P, W>(m.queries, m.found, panel.rows.count, dim);
    for (int i = 0; i < keys.count(); ++i) {
      const float* const from = weights + (i64)(keys.begin + i) * W;
      if constexpr (P::pair == 1) {
        m.rows[i] = from;
      } else {
        for (int at = 0; at < W; at += lanes) P::store_halves(m.halves + i * W + at, load(from + at));
        m.rows[i] = (const Unit*)(m.halves + i * W);
      }
    }
    add_product<P, N>(sums + (keys.begin - key_begin) * padded(dim), keys.count(), AlongRows<Unit>{m.rows},
                      m.queries, dim, W / P::pair);
  }
};

}  // namespace fw::FLASHWAVE_TARGET
