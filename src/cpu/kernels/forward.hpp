// Forward: a block of packed query rows against the keys it sees, a tile at a time.
//
// A block is up to `panels_of_block` panels; they share each tile's addresses and its interleaved V, so those
// cost little. S^T stays in the first cache level, O^T and Q^T in the second.
#pragma once

#include "cpu/kernels.hpp"
#include "cpu/kernels/ahead.hpp"
#include "cpu/kernels/decode.hpp"
#include "cpu/kernels/operand.hpp"
#include "cpu/kernels/scoring.hpp"
#include "cpu/kernels/scratch.hpp"
#include "cpu/kernels/write_row.hpp"
#include "meaning/loop.hpp"
#include "meaning/softmax.hpp"

namespace fw::FLASHWAVE_TARGET {

using cpu::ForwardTask;

template <class P, int W>
struct ForwardPanel {
  typename P::Unit* q;  // (units of D, W)
  float* out;           // (Dv, W), not yet divided by the sum
  float max[W], sum[W], fade[W];
  PanelRows<W> rows;
};

// A tile of keys, shared by the panels of a block.
template <class P>
struct KeyTile {
  Range keys;
  const typename P::Unit* key_rows[tile_keys];
  const typename P::Unit* value_rows[tile_keys];
};

template <class P, int W>
struct ForwardScratch {
  ForwardPanel<P, W>* panels;
  KeyTile<P>* tile;
  Ahead* ahead;
  const void** found;               // addresses of rows
  typename P::Unit *keys, *values;  // copies, where rows cannot be used in place
  float* scores;                    // (tile_keys, W): S, then P
  typename P::Unit* pairs;          // P as pairs
  float* bias;
  float* staging;

  ForwardScratch(const Args& a, void* base, u64* bytes = nullptr) {
    Scratch scratch(base);
    panels = scratch.take<ForwardPanel<P, W>>(panels_of_block);
    tile = scratch.take<KeyTile<P>>(1);
    ahead = scratch.take<Ahead>(1);
    found = scratch.take<const void*>(tile_keys);
    keys = scratch.take<typename P::Unit>(tile_keys * copy_stride<P>(a.dim_qk));
    values = scratch.take<typename P::Unit>(tile_keys / P::pair * copy_stride<FloatProduct>(a.dim_v));
    scores = scratch.take<float>(tile_keys * W);
    pairs = scratch.take<typename P::Unit>(P::pair == 2 ? tile_keys / 2 * W : 0);
    bias = scratch.take<float>(a.bias ? tile_keys * W : 0);
    staging = scratch.take<float>(Staging::size(most(a.dim_qk, most(a.dim_v, tile_keys))));
    for (int i = 0; i < panels_of_block; ++i) {
      auto* q = scratch.take<typename P::Unit>(padded(units<P>(a.dim_qk)) * W);
      float* out = scratch.take<float>(padded(a.dim_v) * W);
      if (base) panels[i].q = q, panels[i].out = out;
    }
    if (bytes) *bytes = scratch.used();
  }
};

// The machine of meaning/loop.hpp: one panel.
template <class E, class P, int N, bool Scored>
struct ForwardMachine {
  static constexpr bool scored = Scored;
  static constexpr int W = N * lanes;

  const Args& a;
  const Sequence& sequence;
  const ForwardScratch<P, W>& scratch;
  ForwardPanel<P, W>& panel;
  Unit unit;

  struct Scores {
    float* s;
    Range keys;  // of the tile, those that this panel looks at
  };

  // Keys of the tile that some row sees. Pairs start at an even key of the tile.
  FLASHWAVE_RULE Range keys_of(const KeyTile<P>& tile) const {
    Range keys = intersect(tile.keys, panel.rows.any);
    keys.begin -= (keys.begin - tile.keys.begin) % P::pair;
    return keys;
  }

  FLASHWAVE_RULE Scores multiply(int) {
    const KeyTile<P>& tile = *scratch.tile;
    const Range keys = keys_of(tile);
    product<P, N, Before::nothing>(
        scratch.scores, W, keys.count(),
        AlongRows<typename P::Unit>{tile.key_rows + (keys.begin - tile.keys.begin)}, panel.q, W,
        units<P>(a.dim_qk), nullptr, *scratch.ahead);
    return {scratch.scores, keys};
  }

  FLASHWAVE_RULE void score(Scores& s, int) {
    if (a.bias) gather_bias(scratch.bias, a, sequence, panel.rows, s.keys, scratch.staging);
    score_tile(s.s, nullptr, a.bias ? scratch.bias : nullptr, a, panel.rows, s.keys);
  }

  FLASHWAVE_RULE bool whole(int) const { return panel.rows.sees_all(keys_of(*scratch.tile)); }
  FLASHWAVE_RULE void hide(Scores& s, int) { hide_tile(s.s, panel.rows, s.keys); }

  // The running maximum of one vector of rows meets the tile's, then every score becomes its weight.
  FLASHWAVE_RULE const float* absorb(Scores& s) {
    const int count = s.keys.count();
    const Vec in_log2 = Vec(unit.in_log2);
    if (count % P::pair)  // the empty half of the last pair
      for (int at = 0; at < W; at += lanes) store(s.s + count * W + at, Vec(-infinity));
    for (int at = 0; at < W; at += lanes) {
      Vec top[4] = {Vec(-infinity), Vec(-infinity), Vec(-infinity),
                    Vec(-infinity)};  // four chains hide the latency
      int i = 0;
      for (; i + 4 <= count; i += 4)
#pragma GCC unroll 4
        for (int c = 0; c < 4; ++c) top[c] = max(top[c], load(s.s + (i + c) * W + at));
      for (; i < count; ++i) top[0] = max(top[0], load(s.s + i * W + at));

      Row<Vec> row{load(panel.max + at), load(panel.sum + at)};
      const Step<Vec> step = raise(row, max(max(top[0], top[1]), max(top[2], top[3])), in_log2);
      const Vec sum = weigh(s.s + at, count, step.base, in_log2, at);
      store(panel.max + at, row.max);
      store(panel.sum + at, row.sum + sum);
      store(panel.fade + at, step.fade);
    }
    return panel.fade;
  }

  // Scores of one vector of rows become weights; returns their sum.
  FLASHWAVE_RULE Vec weigh(float* s, int count, Vec base, Vec in_log2, int at) {
    Vec sum[2] = {Vec(0.0f), Vec(0.0f)};
    if constexpr (P::pair == 2) {
      for (int i = 0; i < count; i += 2) {
        const Vec even = weight_of_pair(load(s + i * W), base, in_log2);
        const Vec odd = weight_of_pair(load(s + (i + 1) * W), base, in_log2);
        sum[0] = sum[0] + even;
        sum[1] = sum[1] + odd;
        if constexpr (Scored) {
          store(s + i * W, even);
          store(s + (i + 1) * W, odd);
        } else {
          P::store_pair(scratch.pairs + i / 2 * W + at, even, odd);
        }
      }
    } else {
      int i = 0;
      for (; i + 2 <= count; i += 2)
#pragma GCC unroll 2
        for (int c = 0; c < 2; ++c) {
          const Vec p = weight(load(s + (i + c) * W), base, in_log2);
          sum[c] = sum[c] + p;
          store(s + (i + c) * W, p);
        }
      if (i < count) {
        const Vec p = weight(load(s + i * W), base, in_log2);
        sum[0] = sum[0] + p;
        store(s + i * W, p);
      }
    }
    return sum[0] + sum[1];
  }

  // What becomes a bf16 next needs no more than 2^-13.
  FLASHWAVE_RULE Vec weight_of_pair(Vec s, Vec base, Vec in_log2) {
    return exp2_coarse((s - base) * in_log2);
  }

  FLASHWAVE_RULE void drop(Scores& s, int) {
    if (a.drop_below) drop_tile(s.s, a, sequence, panel.rows, s.keys);
  }

  struct Weights {
    const typename P::Unit* p;
    Range keys;
  };
  FLASHWAVE_RULE Weights narrow(const Scores& s) {
    if constexpr (P::pair == 1) {
      return {s.s, s.keys};
    } else {
      if constexpr (Scored)  // a plain panel has them from `weigh`
        for (int i = 0; i < s.keys.count(); i += 2)
          for (int at = 0; at < W; at += lanes)
            P::store_pair(scratch.pairs + i / 2 * W + at, load(s.s + i * W + at),
                          load(s.s + (i + 1) * W + at));
      return {scratch.pairs, s.keys};
    }
  }

  FLASHWAVE_RULE void accumulate(const float* fade, const Weights& p, int) {
    const KeyTile<P>& tile = *scratch.tile;
    const auto* const* values = tile.value_rows + (p.keys.begin - tile.keys.begin) / P::pair;
    product<P, N, Before::fading>(panel.out, W, a.dim_v, AcrossRows<typename P::Unit>{values}, p.p, W,
                                  units<P>(p.keys.count()), fade, *scratch.ahead);
  }
};

template <class E, class P, int W>
FLASHWAVE_RULE void open_panel(ForwardPanel<P, W>& panel, const Args& a, const Sequence& s, Pack pack,
                               int first, int count, float* staging, bool negate) {
  describe_rows(panel.rows, a, s, pack, first, count);
  const void* q[W];
  for (int r = 0; r < count; ++r)
    q[r] =
        (const typename E::Stored*)a.q.data + query_offset(a.q, s, panel.rows.query[r], panel.rows.head[r]);
  transpose_rows<E, P, W>(panel.q, q, count, a.dim_qk, negate, staging);
  for (int at = 0; at < W; at += lanes) {
    const Row<Vec> fresh = fresh_row<Vec>();
    store(panel.max + at, fresh.max);
    store(panel.sum + at, fresh.sum);
  }
  for (i64 i = 0; i < (i64)a.dim_v * W; i += lanes) store(panel.out + i, Vec(0.0f));
}

// Divides by the sum and writes out and lse: those of the call, or a split's share of them.
template <class E, class P, int W>
FLASHWAVE_RULE void close_panel(ForwardPanel<P, W>& panel, const Args& a, const Sequence& s,
                                const ForwardTask& task, int first, Unit unit, float* memory) {
  const bool partial = task.partial_out != nullptr;
  float sink[W], scale[W], lse[W];
  for (int r = 0; r < W; ++r)
    sink[r] = a.sink && !partial ? value_at(a.sink, a.sink_element, panel.rows.head[r]) : -infinity;
  for (int at = 0; at < W; at += lanes) {
    const Total<Vec> total =
        finish(Row<Vec>{load(panel.max + at), load(panel.sum + at)}, load(sink + at), unit);
    store(scale + at, total.scale * Vec(kept_scale(a)));
    store(lse + at, total.lse);
  }
  const Staging staging = stage(memory, a.dim_v);
  for (int r = 0; r < panel.rows.count; ++r) {
    if (r % lanes == 0) to_rows(staging.rows, staging.stride, panel.out + r, W, a.dim_v);
    float* row = staging.row(r % lanes);
    for (int d = 0; d < a.dim_v; ++d) row[d] = output_value(row[d], scale[r]);
    write_row<E>(row, lse[r], a, s, task, panel.rows.query[r], panel.rows.head[r],
                 first + r - task.row_begin);
  }
}

template <class E, class P>
FLASHWAVE_RULE void load_tile(KeyTile<P>& tile, const Args& a, const Sequence& s, int kv_head, Range keys,
                              const void** found, typename P::Unit* key_copy, typename P::Unit* value_copy) {
  tile.keys = keys;
  find_rows<E>(found, a, a.k, s, kv_head, keys);
  point_to_rows<E, P>(tile.key_rows, key_copy, found, keys.count(), a.dim_qk);
  find_rows<E>(found, a, a.v, s, kv_head, keys);
  point_to_columns<E, P>(tile.value_rows, value_copy, found, keys.count(), a.dim_v);
}

template <class E, class P, int N, bool Scored>
void forward_block(const Args& a, const ForwardTask& task, const Sequence& s, void* memory) {
  constexpr int W = N * lanes;
  const ForwardScratch<P, W> scratch(a, memory);
  const Pack pack = pack_of(a, task.kv_head);
  // A plain panel leaves the scale to the softmax, as the unit of its scores; its sign goes into q.
  const bool negate = !Scored && a.scale < 0;
  const Unit unit = unit_of(Scored ? 1.0f : negate ? -a.scale : a.scale);

  const int panels = (task.row_count + W - 1) / W;
  for (int i = 0; i < panels; ++i)
    open_panel<E, P, W>(scratch.panels[i], a, s, pack, task.row_begin + i * W,
                        least(W, task.row_count - i * W), scratch.staging, negate);

  const Range any = visible_to_any(s.mask, pack.query(task.row_begin),
                                   pack.query(task.row_begin + task.row_count - 1), s.keys);
  const Range keys = intersect(any, {task.key_begin, task.key_end});
  for (int begin = keys.begin; begin < keys.end; begin += tile_keys) {
    load_tile<E, P>(*scratch.tile, a, s, task.kv_head, {begin, least(begin + tile_keys, keys.end)},
                    scratch.found, scratch.keys, scratch.values);
    look_ahead<E>(*scratch.ahead, a, s, task.kv_head,
                  {begin + tile_keys, least(begin + 2 * tile_keys, keys.end)}, panels * products_of_tile);
    for (int i = 0; i < panels; ++i) {
      ForwardMachine<E, P, N, Scored> machine{a, s, scratch, scratch.panels[i], unit};
      if (!machine.keys_of(*scratch.tile).empty()) attend_tile(machine, begin / tile_keys);
    }
  }

  for (int i = 0; i < panels; ++i)
    close_panel<E, P, W>(scratch.panels[i], a, s, task, task.row_begin + i * W, unit, scratch.staging);
}

template <class E, class P>
void forward(const Args& a, const ForwardTask& task, void* scratch) {
  const Sequence s = sequence_of(a, task.batch);
  const bool narrow = task.row_count <= lanes;  // one vector of rows instead of a whole panel
  if (is_scored(a)) {
    narrow ? forward_block<E, P, 1, true>(a, task, s, scratch)
           : forward_block<E, P, panel_vectors, true>(a, task, s, scratch);
  } else if (is_decode(task)) {
    decode<E, typename VectorProduct<P>::type>(a, task, s, scratch);
  } else {
    narrow ? forward_block<E, P, 1, false>(a, task, s, scratch)
           : forward_block<E, P, panel_vectors, false>(a, task, s, scratch);
  }
}

template <class E, class P>
u64 forward_scratch(const Args& a) {
  u64 block, few;
  ForwardScratch<P, panel_vectors * lanes>(a, nullptr, &block);
  DecodeScratch<E, typename VectorProduct<P>::type, decode_rows>(a, nullptr, &few);
  return most(block, few);
}

inline int forward_rows(const Args&) { return panels_of_block * panel_vectors * lanes; }
inline int forward_keys(const Args&) { return tile_keys; }

}  // namespace fw::FLASHWAVE_TARGET
