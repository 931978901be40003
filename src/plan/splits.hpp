// How the keys of a sequence are cut into ranges that different threads or waves work on.
//
// Everything here depends on the Problem (and, within a call, on a sequence's own length): never on threads
// or load, so that the bits of a result do not either.
#pragma once

#include <cstdint>
#include <string>

#include "meaning/cut.hpp"
#include "problem/problem.hpp"

namespace fw {

// Forward: each range gives a partial out and lse, which are then merged.
struct Splits {
  int count = 1;          // most ranges a sequence is cut into
  std::int64_t keys = 0;  // fixed length of a range (deterministic); 0 = the count is fixed instead
  std::string reason;     // one clause for explain
};
Splits choose_splits(const Problem& problem);

// Its rule is src/meaning/cut.hpp.
using host::Cut;
using host::cut_sequence;
using host::split_rows;

// The most ranges that cut_sequence makes of a sequence with so many keys or fewer.
std::int64_t most_ranges(int count, std::int64_t fixed_keys, std::int64_t keys);

// Backward: ranges of keys that own their dk and dv, and a share of dq each, so at most four of them.
int choose_chunks(const Problem& problem);
Cut cut_chunks(int chunks, std::int64_t keys);

}  // namespace fw
