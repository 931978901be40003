// How attention runs, in the words of a Machine: what a GPU wave or a CPU core can do with one tile of keys.
#pragma once

#include "meaning/target.hpp"

namespace fw::FLASHWAVE_TARGET {

// One block of queries meets one tile of keys.
template <class Machine>
FLASHWAVE_RULE void attend_tile(Machine& m, int tile) {
  auto s = m.multiply(tile);                        // S = Q Kt
  if constexpr (Machine::scored) m.score(s, tile);  // scale, softcap, ALiBi, bias
  if (!m.whole(tile)) m.hide(s, tile);              // only edge tiles ask who sees whom
  const auto fade = m.absorb(s);                    // P = exp2(S - max); older sums fade
  if constexpr (Machine::scored) m.drop(s, tile);   // after the sum: the denominator keeps what dropout takes
  m.accumulate(fade, m.narrow(s), tile);            // O = fade O + P V
}

}  // namespace fw::FLASHWAVE_TARGET
