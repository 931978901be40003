// Plans, made for bucketed lengths and remembered: a decode step that grows Sk finds the plan of the step
// before.
#pragma once

#include <cstdint>
#include <vector>

#include "api/registry.hpp"
#include "base/status.hpp"
#include "plan/plan.hpp"

namespace fw::api {

// The least of eight lengths an octave that is not below `length`: a plan for it has room for `length`.
// Powers of two are among them, so a limit that is one is never passed by rounding up.
std::int64_t bucket(std::int64_t length);

// A problem of both passes is two calls, each with the wishes that concern it.
std::vector<Problem> passes(const Problem& problem);

// Ok, or why the device does not run this pass.
Status accepts(const Target& target, const Problem& problem);

// A fresh plan with all candidates, and the same plan from the cache, where candidates are left out.
Status make_plan(const Target& target, const Problem& problem, Plan& out);
Status find_plan(const Target& target, const Problem& problem, Plan& out);

}  // namespace fw::api
