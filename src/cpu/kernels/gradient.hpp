// From S and dP of a panel and a tile to P and dS: the rules of backward between its products.
//
//   P = exp(S - lse)    dP' = dropout(dP)    dS = P (dP' - delta)    and back through softcap
//
// The scale is left to dQ and dK, which take it once an element instead of once a pair.
#pragma once

#include "cpu/kernels/operand.hpp"
#include "cpu/kernels/scoring.hpp"
#include "cpu/kernels/scratch.hpp"
#include "meaning/softmax.hpp"

namespace fw::FLASHWAVE_TARGET {

// What backward knows of each row beside who it is.
template <int W>
struct RowStatistics {
  float lse[W], delta[W];
};

template <int W>
FLASHWAVE_RULE void read_statistics(RowStatistics<W>& statistics, const Args& a, const Sequence& s,
                                    const PanelRows<W>& rows, const float* delta, int stride) {
  for (int r = 0; r < W; ++r) {
    const bool there = r < rows.count;
    // A lane without a row: whatever its score, exp(score - inf) is 0.
    statistics.lse[r] =
        there ? ((const float*)a.lse.data)[query_offset(a.lse, s, rows.query[r], rows.head[r])] : infinity;
    statistics.delta[r] = there ? delta[r * stride] : 0.0f;
  }
}

template <class P, int W>
struct GradientScratch {
  using Unit = typename P::Unit;
  float* scores;     // (tile_keys, W): S, then P
  float* gradients;  // (tile_keys, W): dP, then dS
  float *capped, *bias, *kept, *staging;
  Half *weight_halves, *gradient_halves;      // P and dS as bf16, for pair products
  const Unit **weight_rows, **gradient_rows;  // P and dS of a key, lanes in a row: left of dV and dK
  Unit* gradient_columns;                     // dS by (pairs of) keys: right of dQ

  GradientScratch() = default;
  GradientScratch(const Args& a, Scratch& scratch, bool there) {
    scores = scratch.take<float>(tile_keys * W);
    gradients = scratch.take<float>(tile_keys * W);
    capped = scratch.take<float>(a.softcap != 0 ? tile_keys * W : 0);
    bias = scratch.take<float>(a.bias ? tile_keys * W : 0);
    staging = scratch.take<float>(Staging::size(most(a.dim_qk, most(a.dim_v, tile_keys))));
    kept = scratch.take<float>(a.drop_below ? tile_keys * W : 0);
    weight_halves = scratch.take<Half>(P::pair == 2 ? tile_keys * W : 0);
    gradient_halves = scratch.take<Half>(P::pair == 2 ? tile_keys * W : 0);
    weight_rows = scratch.take<const Unit*>(tile_keys);
    gradient_rows = scratch.take<const Unit*>(tile_keys);
    gradient_columns = P::pair == 2 ? scratch.take<Unit>(tile_keys / 2 * W) : (Unit*)gradients;
    if (!there) return;
    for (int i = 0; i < tile_keys; ++i) {
      weight_rows[i] = P::pair == 2 ? (const Unit*)(weight_halves + i * W) : (const Unit*)(scores + i * W);
      gradient_rows[i] =
          P::pair == 2 ? (const Unit*)(gradient_halves + i * W) : (const Unit*)(gradients + i * W);
    }
  }
};

// The rows of q (or dout) that a panel's lanes stand for.
template <class E, int W>
FLASHWAVE_RULE void find_queries(const void** found, const Tensor& t, const Sequence& s,
                                 const PanelRows<W>& rows) {
  for (int r = 0; r < rows.count; ++r)
    found[r] = (const typename E::Stored*)t.data + query_offset(t, s, rows.query[r], rows.head[r]);
}

// What dropout multiplies each dP by: kept_scale or 0.
template <int W>
FLASHWAVE_RULE void fill_kept(float* kept, const Args& a, const Sequence& s, const PanelRows<W>& rows,
                              Range keys) {
  each_dropped(a, s, rows, keys, [&](int key, int at, Lanes gone) {
    store(kept + (i64)(key - keys.begin) * W + at, select(gone, Vec(0.0f), Vec(kept_scale(a))));
  });
}

// The tile in hand, and what one pair of (vector of rows, key) makes of S and dP.
template <class P, int W, bool Scored>
struct Gradient {
  const GradientScratch<P, W>& g;
  const Args& a;
  const PanelRows<W>& rows;
  const RowStatistics<W>& statistics;
  Range keys;
  Unit unit;
  bool whole;

  struct Result {
    Vec weight;   // P as it multiplies V: dropped, not yet made good
    Vec bias;     // dS, the gradient of the score itself
    Vec product;  // dS behind softcap: the gradient of scale * q.k
  };

  FLASHWAVE_RULE Result at(int i, int lane) const {
    const i64 place = (i64)i * W + lane;
    const Vec p = probability(load(g.scores + place), load(statistics.lse + lane), unit);
    Vec weight = p, dp = load(g.gradients + place);
    if constexpr (Scored) {
      if (a.drop_below) {
        const Vec kept = load(g.kept + place);
        weight = select(kept == Vec(0.0f), Vec(0.0f), p);
        dp = dp * kept;
      }
    }
    Vec ds = score_gradient(p, dp, load(statistics.delta + lane));
    if (!whole) {
      const Lanes seen = sees(rows, lane, keys.begin + i);
      weight = select(seen, weight, Vec(0.0f));
      ds = select(seen, ds, Vec(0.0f));
    }
    Vec product = ds;
    if constexpr (Scored) {
      if (a.softcap != 0) product = ds * softcap_slope(load(g.capped + place), a.softcap);
    }
    return {weight, ds, product};
  }
};

template <class P, int W, bool Scored>
FLASHWAVE_RULE Gradient<P, W, Scored> open_gradient(const GradientScratch<P, W>& g, const Args& a,
                                                    const Sequence& s, const PanelRows<W>& rows,
                                                    const RowStatistics<W>& statistics, Range keys,
                                                    Unit unit) {
  if constexpr (Scored) {
    if (a.bias) gather_bias(g.bias, a, s, rows, keys, g.staging);
    score_tile(g.scores, a.softcap != 0 ? g.capped : nullptr, a.bias ? g.bias : nullptr, a, rows, keys);
    if (a.drop_below) fill_kept(g.kept, a, s, rows, keys);
  }
  return {g, a, rows, statistics, keys, unit, rows.sees_all(keys)};
}

// Writes P and dS of the tile in every form that the products take.
template <class P, int W, bool Scored>
FLASHWAVE_RULE void write_gradient(const Gradient<P, W, Scored>& gradient) {
  const GradientScratch<P, W>& g = gradient.g;
  const int count = gradient.keys.count();
  for (int i = 0; i < count; i += P::pair) {
#pragma GCC unroll 4
    for (int at = 0; at < W; at += lanes) {
      const auto even = gradient.at(i, at);
      if constexpr (P::pair == 2) {
        auto odd = even;
        odd.weight = odd.product = Vec(0.0f);
        if (i + 1 < count) {
          odd = gradient.at(i + 1, at);
          P::store_halves(g.weight_halves + (i + 1) * W + at, odd.weight);
          P::store_halves(g.gradient_halves + (i + 1) * W + at, odd.product);
        }
        P::store_halves(g.weight_halves + i * W + at, even.weight);
        P::store_halves(g.gradient_halves + i * W + at, even.product);
        P::store_pair(g.gradient_columns + i / 2 * W + at, even.product, odd.product);
      } else {
        store(g.scores + i * W + at, even.weight);
        store(g.gradients + i * W + at, even.product);
      }
    }
  }
}

}  // namespace fw::FLASHWAVE_TARGET
