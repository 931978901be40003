// What happens before attention reads the cache: q is rotated into memory of its own, new keys (rotated too)
// and values are written to their slots.
#pragma once

#include "meaning/args.hpp"
#include "problem/call.hpp"
#include "problem/problem.hpp"

namespace fw::cpu {

// Writes k_new and v_new to the slots from cache_seqlens on.
void append_keys(const Problem& problem, const Call& call, const Args& args);

// Writes the rotated queries to `memory`, dense or ragged as q is, without gaps, and makes args.q point
// there.
void rotate_queries(const Problem& problem, const Call& call, void* memory, Args& args);

}  // namespace fw::cpu
