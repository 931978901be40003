// One forward call, or the merging of partial results, on a device: kernels put on the caller's stream.
#pragma once

#include "base/status.hpp"
#include "gpu/device.hpp"
#include "plan/plan.hpp"
#include "problem/call.hpp"

namespace fw::amd {

Status run_forward(const gpu::Device& device, const Plan& plan, const Call& call);
Status run_combine(const gpu::Device& device, const CombineCall& call);

// Loads what a call of this plan will run.
Status load_kernels(const gpu::Device& device, const Plan& plan);

}  // namespace fw::amd
