// How the keys of one sequence are cut into ranges that different threads or waves work on. It follows from
// the sequence's own lengths and the plan alone, so that the bits of a result do not depend on anything else.
#pragma once

#include "meaning/target.hpp"

namespace fw::FLASHWAVE_TARGET {

struct Cut {
  int ranges;
  i64 keys;  // of a range; the last may be shorter
};

inline constexpr i64 range_step = 64;  // ranges start at multiples of this

// With a fixed length, only sequences with at most so many rows are cut: the others have work enough in their
// rows.
inline constexpr i64 split_rows = 256;

FLASHWAVE_RULE i64 divide_up(i64 a, i64 b) { return (a + b - 1) / b; }

FLASHWAVE_RULE Cut cut_evenly(i64 count, i64 keys) {
  const i64 range = divide_up(divide_up(most<i64>(keys, 1), count), range_step) * range_step;
  return {static_cast<int>(most<i64>(1, divide_up(keys, range))), range};
}

// One sequence with so many packed rows (queries times q heads a kv head) and keys, into ranges of
// `fixed_keys` keys or, when that is 0, into `count` of them at most.
FLASHWAVE_RULE Cut cut_sequence(int count, i64 fixed_keys, i64 rows, i64 keys) {
  if (fixed_keys == 0) return cut_evenly(count, keys);
  if (rows > split_rows) return {1, most<i64>(keys, 1)};
  return {static_cast<int>(most<i64>(1, divide_up(keys, fixed_keys))), fixed_keys};
}

}  // namespace fw::FLASHWAVE_TARGET
