// The parts of the memory a call needs beside its tensors, each at a multiple of 256 bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.hpp"
#include "plan/plan.hpp"
#include "problem/problem.hpp"

namespace fw {

// How many rows each part holds. A plan reckons with the longest sequence throughout, a call with its own.
struct Room {
  std::int64_t partials = 0;  // rows of split partials: out in fp32, and lse
  std::int64_t queries = 0;   // rotated rows of q
  std::int64_t deltas = 0;    // values of rowsum(out dout) - dlse
  std::int64_t shares = 0;    // rows of dq in fp32
};
Status room_for(const Problem& problem, const Plan& plan, Room& out);

struct Workspace {  // offsets in bytes
  std::size_t partial_out = 0, partial_lse = 0, query = 0, delta = 0, dq = 0;
  std::size_t bytes = 0;          // of it all
  std::size_t partial_bytes = 0;  // of the partials
};
Status lay_out(const Problem& problem, const Room& room, Workspace& out);

// The sizes that a plan states, from its problem and splits.
Status reckon_workspace(Plan& plan);

}  // namespace fw
