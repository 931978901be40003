// How partial results over disjoint keys become one: a partial is a Row whose maximum is its lse and whose
// sum is 1.
#pragma once

#include "meaning/softmax.hpp"

namespace fw::FLASHWAVE_TARGET {

// The denominator of all partials, in natural units: raise with each lse, then finish with the sink.
template <class V>
FLASHWAVE_RULE void merge(Row<V>& row, V lse) {
  const Step<V> step = raise(row, lse, V(log2_e));
  row.sum = row.sum + weight(lse, step.base, V(log2_e));
}

// Weight of a partial in the merged row. One that saw nothing weighs 0, whatever its out holds.
template <class V>
FLASHWAVE_RULE V partial_weight(V lse, V total_lse) {
  return weight(lse, safe(total_lse), V(log2_e));
}

}  // namespace fw::FLASHWAVE_TARGET
