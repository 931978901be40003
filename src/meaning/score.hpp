// The steps between q.k and the softmax, in their order: scale, softcap, ALiBi, bias. The mask comes last
// (mask.hpp).
#pragma once

#include "meaning/target.hpp"

namespace fw::FLASHWAVE_TARGET {

template <class V>
FLASHWAVE_RULE V softcap(V score, float cap) {
  return V(cap) * tanh(score * V(1.0f / cap));
}

// d softcap / d score, from its result: 1 - tanh^2.
template <class V>
FLASHWAVE_RULE V softcap_slope(V capped, float cap) {
  const V t = capped * V(1.0f / cap);
  return V(1.0f) - t * t;
}

// `distance` is the query's position minus the key's index.
template <class V>
FLASHWAVE_RULE V alibi(V score, V slope, V distance) {
  return score - slope * abs(distance);
}

}  // namespace fw::FLASHWAVE_TARGET
