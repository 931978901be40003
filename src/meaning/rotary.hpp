// Rotary position embedding of one row: which elements form pairs, and how a pair turns.
#pragma once

#include "meaning/target.hpp"

namespace fw::FLASHWAVE_TARGET {

struct Pair {
  int first, second;  // elements of the row
};

// Pair t of R/2: neighbours when interleaved, else an element of each half of the first R.
FLASHWAVE_RULE Pair rotary_pair(int t, int rotary_dim, bool interleaved) {
  return interleaved ? Pair{2 * t, 2 * t + 1} : Pair{t, t + rotary_dim / 2};
}

template <class V>
FLASHWAVE_RULE void turn(V& first, V& second, V cos, V sin) {
  const V x = first, y = second;
  first = x * cos - y * sin;
  second = x * sin + y * cos;
}

// Position of a query when its sequence starts at `start`: each its own under a causal mask or a window.
FLASHWAVE_RULE i64 rotary_position(i64 start, i64 query, bool masked) {
  return masked ? start + query : start;
}

}  // namespace fw::FLASHWAVE_TARGET
