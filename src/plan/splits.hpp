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

using host::Cut;
using host::cut_sequence;
using host::split_rows;

// Forward: each range gives a partial out and lse, which are then merged.
struct Splits {
  int count = 1;          // most ranges a sequence is cut into
  std::int64_t keys = 0;  // fixed length of a range (deterministic); 0 = the count is fixed instead
  std::string reason;     // one clause for explain
};
// What a machine needs to be busy: so many tasks, each of at most so many packed rows.
struct Crew {
  std::int64_t tasks = 64;  // every thread of a large CPU has a few, and merging still costs nothing
  std::int64_t rows = split_rows;
};
Splits choose_splits(const Problem& problem, const Crew& crew = {});

// The most ranges that cut_sequence makes of a sequence with so many keys or fewer.
std::int64_t most_ranges(int count, std::int64_t fixed_keys, std::int64_t keys);

// Backward: ranges of keys that own their dk and dv, and a share of dq each, so at most four of them.
int choose_chunks(const Problem& problem);
Cut cut_chunks(int chunks, std::int64_t keys);

}  // namespace fw
