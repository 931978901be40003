// Who sees whom. Causal, windows, shards and lengths are all values of one Mask.
#pragma once

#include "meaning/target.hpp"

namespace fw::FLASHWAVE_TARGET {

// Query i of a sequence stands at position i + diagonal and sees the keys from position - left to position +
// right. The host bounds all three, so that no sum here leaves int (src/backend/args.cpp).
struct Mask {
  int left, right;  // open when negative
  int diagonal;
};

struct Range {
  int begin, end;
  FLASHWAVE_RULE bool empty() const { return begin >= end; }
  FLASHWAVE_RULE int count() const { return empty() ? 0 : end - begin; }
};

FLASHWAVE_RULE Range intersect(Range a, Range b) { return {most(a.begin, b.begin), least(a.end, b.end)}; }

// The keys that one query sees, of a sequence with `keys` keys.
FLASHWAVE_RULE Range visible(Mask mask, int query, int keys) {
  const int position = query + mask.diagonal;
  const int begin = mask.left < 0 ? 0 : most(0, position - mask.left);
  const int end = mask.right < 0 ? keys : least(keys, position + mask.right + 1);
  return {begin, most(begin, end)};
}

// The keys that some query of first..last sees. Both ends of `visible` only grow with the query, and a step
// moves them by one at most, so the union has no holes.
FLASHWAVE_RULE Range visible_to_any(Mask mask, int first, int last, int keys) {
  return {visible(mask, first, keys).begin, visible(mask, last, keys).end};
}

// The keys that every query of first..last sees.
FLASHWAVE_RULE Range visible_to_all(Mask mask, int first, int last, int keys) {
  return {visible(mask, last, keys).begin, visible(mask, first, keys).end};
}

}  // namespace fw::FLASHWAVE_TARGET
