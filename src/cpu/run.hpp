// One call on the CPU's kernels: a forward or a backward pass, and the merging of partial results.
#pragma once

#include "base/status.hpp"
#include "cpu/kernels.hpp"
#include "plan/plan.hpp"
#include "problem/call.hpp"

namespace fw::cpu {

// `seconds` is what one thread would take, roughly. Nothing has been written when these refuse.
Status run_forward(const Kernels& kernels, const Plan& plan, const Call& call, double seconds);
Status run_backward(const Kernels& kernels, const Plan& plan, const Call& call, double seconds);
Status run_combine(const CombineCall& call);

// Scratch of one thread of a backward call whose widest range has so many keys.
std::size_t backward_scratch(const Kernels& kernels, const Args& args, int keys);

// Writes args.dropout_mask whole.
void write_dropout_mask(const Args& args);

}  // namespace fw::cpu
