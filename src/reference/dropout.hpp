// Which weights dropout keeps: Philox4x32-10, eight 16-bit numbers a call.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "problem/call.hpp"
#include "problem/problem.hpp"

namespace fw::reference {

std::array<std::uint32_t, 4> philox4x32_10(std::array<std::uint32_t, 4> counter,
                                           std::array<std::uint32_t, 2> key);

class Dropout {
 public:
  Dropout(const Problem& problem, const Call& call);

  bool active() const { return drop_below_ > 0; }
  float keep_scale() const { return 1.0f / (1.0f - static_cast<float>(drop_below_) / 65536.0f); }
  // Of the slots [begin, end) of query i: 1 = kept. Indices are this call's own.
  std::vector<std::uint8_t> kept(std::int64_t b, std::int64_t head, std::int64_t query, std::int64_t begin,
                                 std::int64_t end) const;

 private:
  std::uint32_t drop_below_;
  std::uint64_t seed_, offset_;
  std::int64_t origin_batch_, origin_head_, origin_query_, origin_slot_;
  std::int64_t heads_, queries_, slots_;  // of the whole attention
};

}  // namespace fw::reference
