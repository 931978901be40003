// The devices reference and eager: the oracle on the CPU's threads.
#pragma once

#include "base/status.hpp"
#include "plan/plan.hpp"
#include "problem/call.hpp"
#include "reference/reference.hpp"

namespace fw::cpu {

Status run_reference(const Plan& plan, const Call& call, reference::Mode mode);

}  // namespace fw::cpu
