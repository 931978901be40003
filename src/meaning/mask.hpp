// Who sees whom. Causal, windows, shards and lengths are all values of one Mask.
#pragma once

#include "meaning/target.hpp"

namespace fw::FLASHWAVE_TARGET {

// Query i of a sequence stands at position i + diagonal and sees the keys from position - left to position +
// right. The host bounds all three, so that no sum here leaves int (src/cpu/args.cpp).
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

// The key tiles that a block of queries visits, and which of them need no look at the mask.
// Tile t holds the keys from origin + t * size on.
struct Span {
  int begin, whole_begin, whole_end, end;
  FLASHWAVE_RULE bool whole(int tile) const { return tile >= whole_begin && tile < whole_end; }
};

FLASHWAVE_RULE Span span_of(Range any, Range all, int origin, int size) {
  if (any.empty()) return {0, 0, 0, 0};
  const int begin = (any.begin - origin) / size;
  const int end = (any.end - origin + size - 1) / size;
  if (all.empty()) return {begin, end, end, end};
  const int whole_begin = least(end, (most(all.begin - origin, 0) + size - 1) / size);
  const int whole_end = most(whole_begin, (all.end - origin) / size);
  return {begin, whole_begin, whole_end, end};
}

}  // namespace fw::FLASHWAVE_TARGET
