// Which queries and keys meet in one pair of matrix products.
#pragma once

#include <algorithm>
#include <cstdint>

#include "replica.hpp"

namespace replica {

struct Blocks {
  std::int64_t queries, keys;
};

inline Blocks blocks_for(std::int64_t queries) {
  return {queries >= 768 ? 256 : queries >= 192 ? 64 : 32, 512};
}

inline std::int64_t blocks_in(std::int64_t rows, std::int64_t block) { return (rows + block - 1) / block; }

// Keys that the first `end` queries see. A block of keys is cut at the last key of all, not here.
inline std::int64_t keys_seen(const ReplicaShape& shape, std::int64_t end) {
  return shape.causal ? std::min(end, shape.keys) : shape.keys;
}

}  // namespace replica
