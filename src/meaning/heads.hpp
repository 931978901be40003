// Grouped heads: the queries of all q heads that share a kv head are rows of one packed sequence, so that
// they share every key and value that is read. Packed row r is query r / group of head
// kv_head * group + r % group.
#pragma once

#include "meaning/args.hpp"

namespace fw::FLASHWAVE_TARGET {

struct Pack {
  int group, first_head;
  FLASHWAVE_RULE int query(int row) const { return row / group; }
  FLASHWAVE_RULE int head(int row) const { return first_head + row % group; }
};

FLASHWAVE_RULE Pack pack_of(const Args& a, int kv_head) {
  const int group = a.heads_q / a.heads_k;
  return {group, kv_head * group};
}

}  // namespace fw::FLASHWAVE_TARGET
