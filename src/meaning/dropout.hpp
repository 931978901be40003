// Which weights dropout keeps: Philox4x32-10 (Salmon et al., SC'11), one call for eight neighbouring keys.
// The numbers depend on the global place of a query and key alone, so shards, backends and passes agree.
#pragma once

#include "meaning/args.hpp"

namespace fw::FLASHWAVE_TARGET {

// U is a 32-bit unsigned value: one lane, or a vector of them; multiply_wide gives both halves of the
// product.
template <class U>
struct Philox {
  U word[4];
};

template <class U>
FLASHWAVE_RULE Philox<U> philox(U counter_low, U counter_high, u64 seed) {
  Philox<U> x{{counter_low, counter_high, U(0u), U(0u)}};
  u32 key_low = static_cast<u32>(seed), key_high = static_cast<u32>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    U high0, low0, high1, low1;
    multiply_wide(x.word[0], 0xD2511F53u, high0, low0);
    multiply_wide(x.word[2], 0xCD9E8D57u, high1, low1);
    x = {{high1 ^ x.word[1] ^ U(key_low), low1, high0 ^ x.word[3] ^ U(key_high), low0}};
    key_low += 0x9E3779B9u;
    key_high += 0xBB67AE85u;
  }
  return x;
}

// Counter of the first eight keys of a query; each further eight keys add one. `slot` counts padding too.
FLASHWAVE_RULE u64 dropout_row(const Args& a, int batch, int head, int query) {
  const u64 row = ((u64)(batch + a.origin_batch) * (u64)a.global_heads + (u64)(head + a.origin_head)) *
                      (u64)a.global_seq_q +
                  (u64)(query + a.origin_q);
  return a.offset + row * (u64)((a.global_seq_k + 7) / 8) + (u64)(a.origin_k / 8);
}

// The 16-bit number of a slot, of the call that covers it.
template <class U>
FLASHWAVE_RULE U dropout_number(const Philox<U>& x, int slot) {
  const U word = x.word[(slot % 8) / 2];
  return slot % 2 ? word >> 16 : word & U(0xffffu);
}

// Whether dropout takes a slot with this number.
template <class U>
FLASHWAVE_RULE auto dropped(const Args& a, U number) {
  return number < U(a.drop_below);
}

// What the weights that dropout leaves are multiplied by. Results take it at their end, in fp32: a weight
// that is rounded to 16 bits is rounded without it.
FLASHWAVE_RULE float kept_scale(const Args& a) { return a.drop_below ? a.keep_scale : 1.0f; }

}  // namespace fw::FLASHWAVE_TARGET
