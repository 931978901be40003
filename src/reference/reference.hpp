// The oracle: attention in double precision, from a definition of its own that shares nothing with
// src/meaning. Beside it `eager`, the same mathematics in the precision a plain framework would use: the
// yardstick of rounding.
#pragma once

#include <functional>

#include "base/status.hpp"
#include "problem/call.hpp"
#include "problem/problem.hpp"

namespace fw::reference {

enum class Mode {
  oracle,  // reads the inputs as they are, computes in double, rounds each result once
  eager,   // products summed in fp32, scores and weights rounded to q's dtype (docs/semantics.md, "Accuracy")
};

// Runs task(0) .. task(tasks - 1), each once, in any order, and returns when all have ended. Empty = one by
// one. Results do not depend on it.
using Parallel = std::function<void(int tasks, const std::function<void(int)>& task)>;

// One pass over host memory; `call` has been described and value-checked. `splits` and the workspace are not
// used. Every output may be fp32 (or fp64), whatever the dtype of the inputs: it then holds the result before
// the last rounding. Backward recomputes out and lse from q, k and v, so that it judges gradients without the
// rounding of the given ones.
Status run(const Problem& problem, const Call& call, Mode mode, const Parallel& parallel = {});

// In double.
Status combine(const CombineCall& call);

}  // namespace fw::reference
