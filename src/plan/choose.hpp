// From what a backend can run to the Plan that is taken.
#pragma once

#include <span>
#include <string>

#include "base/status.hpp"
#include "plan/plan.hpp"
#include "problem/problem.hpp"

namespace fw {

// A family of kernels for the problem's dtype, as the backend offers it.
struct Instance {
  std::string name;     // "avx512bf16/bf16"
  std::string missing;  // why it cannot run here; empty = it can
  double seconds = 0;   // modelled time of the problem on one worker
};

// Fills in everything but device, tiles and thread_bytes. Among equals the first instance is taken; if none
// can run, the status is unavailable with the reason of each.
Status choose(const Problem& problem, std::span<const Instance> instances, Plan& out);

// The problem changes scores between q.k and the softmax, or drops weights. Scale 0 counts, since plain
// kernels leave the scale to the softmax.
bool scored(const Problem& problem);

// How keys are found: "dense", "varlen queries, paged keys".
std::string loader_of(const Problem& problem);

// Multiply-adds times two of one pass, from the shapes alone (sequences all at their longest).
double modelled_flops(const Problem& problem);

}  // namespace fw
