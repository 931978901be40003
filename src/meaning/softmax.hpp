// The running softmax of a row: a maximum and a sum, and the four ways they change.
//
// V is a value a row lives in: one GPU lane, or a CPU vector of rows. Scores may be in any unit; `Unit` says
// how much of log2 (for exp2) and of the natural logarithm (for lse) one unit is. The maximum is kept in the
// scores' own unit, so that a score near the end of the float range is subtracted from it before anything is
// multiplied.
#pragma once

#include "meaning/target.hpp"

namespace fw::FLASHWAVE_TARGET {

struct Unit {
  float in_log2;
  float natural;
};
FLASHWAVE_RULE Unit unit_of(float scale) { return {scale * log2_e, scale}; }

template <class V>
struct Row {
  V max, sum;
};

template <class V>
FLASHWAVE_RULE Row<V> fresh_row() {
  return {V(-infinity), V(0.0f)};
}

// What to subtract for this maximum: a row that has seen nothing yet subtracts 0, for -inf - -inf is NaN.
template <class V>
FLASHWAVE_RULE V safe(V max) {
  return select(max == V(-infinity), V(0.0f), max);
}

// exp2 of a score over the maximum: the weight P before it is normalised.
template <class V>
FLASHWAVE_RULE V weight(V score, V base, V in_log2) {
  return exp2((score - base) * in_log2);
}

// A row meets a tile whose largest score is `tile_max`.
template <class V>
struct Step {
  V base;  // subtract this from the tile's scores
  V fade;  // and multiply what was summed so far by this
};
template <class V>
FLASHWAVE_RULE Step<V> raise(Row<V>& row, V tile_max, V in_log2) {
  const V top = max(row.max, tile_max);
  const V base = safe(top);
  const V fade = weight(row.max, base, in_log2);
  row = {top, row.sum * fade};
  return {base, fade};
}

// The end of a row: the sink joins the denominator, here and nowhere else.
template <class V>
struct Total {
  V scale;  // what the summed P V is multiplied by
  V lse;    // natural logarithm of the denominator; -inf for a row that saw nothing
};
template <class V>
FLASHWAVE_RULE Total<V> finish(Row<V> row, V sink, Unit unit) {
  const V log2_of_e = V(log2_e);
  const V row_max = row.max * V(unit.natural);
  const V top = max(row_max, sink);
  const V base = safe(top);
  const V fade = weight(row_max, base, log2_of_e);
  const V total = row.sum * fade + weight(sink, base, log2_of_e);
  const V scale = select(total == V(0.0f), V(0.0f), fade / total);
  return {scale, top + V(ln_2) * log2(total)};
}

// An element of out, from what was summed and the row's Total::scale. An empty row is +0, and no weight of it
// may turn an infinity into NaN.
FLASHWAVE_RULE float output_value(float sum, float scale) { return scale == 0 ? 0.0f : sum * scale; }

// P of a row whose lse is known (backward). Hidden scores are the caller's to remove: a scale may be
// negative.
template <class V>
FLASHWAVE_RULE V probability(V score, V lse, Unit unit) {
  return exp2((score * V(unit.natural) - safe(lse)) * V(log2_e));
}

// dS, the gradient of a score, from its weight, the gradient of that weight, and the row's delta =
// rowsum(out dout) - dlse.
template <class V>
FLASHWAVE_RULE V score_gradient(V p, V dp, V delta) {
  return p * (dp - delta);
}

}  // namespace fw::FLASHWAVE_TARGET
