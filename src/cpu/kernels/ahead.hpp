// The next tile of keys comes from memory while this one is multiplied. Rows of a (batch, seq, head, dim)
// tensor lie kilobytes apart, where hardware prefetchers do not follow.
#pragma once

#include "cpu/kernels/operand.hpp"

namespace fw::FLASHWAVE_TARGET {

// Asks for every cache line of some rows.
FLASHWAVE_RULE void prefetch_rows(const void* const* rows, int count, i64 bytes) {
  constexpr int second_level = 2;
  for (int i = 0; i < count; ++i)
    for (i64 at = 0; at < bytes; at += 64) __builtin_prefetch((const char*)rows[i] + at, 0, second_level);
}

// Rows to come: those of K, then those of V. A product takes `step` of them after each of its register tiles
// (the `meanwhile` of product.hpp), since all at once would wait for each other.
struct Ahead {
  const void* rows[2 * tile_keys];
  int taken, keys, values;
  i64 key_bytes, value_bytes;
  int step;

  FLASHWAVE_RULE void operator()() {
    const int end = least(taken + step, keys + values);
    prefetch_rows(rows + taken, least(end, keys) - taken, key_bytes);
    const int first_value = most(taken, keys);
    prefetch_rows(rows + first_value, end - first_value, value_bytes);
    taken = end;
  }
};

// Register tiles of the scores of one whole panel and tile of keys: at least so often may it be asked.
inline constexpr int products_of_tile = tile_keys / panel_keys;

// `chances`: how often a product will ask, at least.
template <class E>
FLASHWAVE_RULE void look_ahead(Ahead& ahead, const Args& a, const Sequence& s, int kv_head, Range keys,
                               int chances) {
  const int count = most(0, keys.count());
  ahead.taken = 0;
  ahead.keys = ahead.values = count;
  ahead.step = (2 * count + chances - 1) / chances;
  if (count == 0) return;
  ahead.key_bytes = a.dim_qk * (i64)sizeof(typename E::Stored);
  ahead.value_bytes = a.dim_v * (i64)sizeof(typename E::Stored);
  find_rows<E>(ahead.rows, a, a.k, s, kv_head, keys);
  find_rows<E>(ahead.rows + count, a, a.v, s, kv_head, keys);
}

}  // namespace fw::FLASHWAVE_TARGET
