// Which keys the rows of one sequence see, as counted on the host: exact, 64 bit, closed form.
#pragma once

#include <algorithm>
#include <cstdint>

#include "problem/problem.hpp"

namespace fw {

struct Sequence {
  std::int64_t queries = 0;  // rows that are computed
  std::int64_t keys = 0;     // slots, new ones and padding included
  std::int64_t leftpad = 0;  // the first visible slot
  std::int64_t diagonal = 0;

  // Keys that count: they are numbered from leftpad.
  std::int64_t unpadded() const { return std::max<std::int64_t>(keys - leftpad, 0); }
};

// Where row 0 stands unless the caller says it: rows and keys end together.
inline std::int64_t default_diagonal(const Sequence& s) { return s.keys - s.leftpad - s.queries; }

// Row i sees keys first(i) .. last(i)-1, where both are clamp(i + some offset, 0, unpadded).
struct Sight {
  std::int64_t first_offset, last_offset;
};

inline Sight sight(const Problem& p, const Sequence& s) {
  const std::int64_t below_all = -s.queries;  // an offset whose clamp is 0 for each row
  const std::int64_t above_all = s.unpadded();
  return {p.left < 0 ? below_all : s.diagonal - p.left, p.right < 0 ? above_all : s.diagonal + p.right + 1};
}

// Slots that some row sees: first .. last-1, none when first >= last.
struct Slots {
  std::int64_t first, last;
};

inline Slots visible_slots(const Problem& p, const Sequence& s) {
  if (s.queries == 0 || s.unpadded() == 0) return {0, 0};
  const Sight sees = sight(p, s);
  const std::int64_t first = std::clamp<std::int64_t>(sees.first_offset, 0, s.unpadded());
  const std::int64_t last = std::clamp<std::int64_t>(sees.last_offset + s.queries - 1, 0, s.unpadded());
  return {s.leftpad + first, s.leftpad + last};
}

// Sum over i in 0 .. count-1 of clamp(offset + i, 0, top).
inline std::int64_t sum_of_clamped(std::int64_t offset, std::int64_t count, std::int64_t top) {
  const std::int64_t zeros = std::clamp<std::int64_t>(-offset, 0, count);  // rows clamped to 0
  const std::int64_t full = std::clamp<std::int64_t>(count - (top - offset), 0, count - zeros);  // to top
  const std::int64_t rising = count - zeros - full;
  return rising * (offset + zeros) + rising * (rising - 1) / 2 + full * top;
}

// (query, key) pairs of one head.
inline std::int64_t visible_pairs(const Problem& p, const Sequence& s) {
  const Sight sees = sight(p, s);
  return sum_of_clamped(sees.last_offset, s.queries, s.unpadded()) -
         sum_of_clamped(sees.first_offset, s.queries, s.unpadded());
}

}  // namespace fw
