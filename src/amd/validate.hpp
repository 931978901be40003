// FLASHWAVE_VALIDATE=1: lengths, tables and indices are read from the device and checked as the CPU checks
// them. The only place that waits for the caller's stream.
#pragma once

#include "base/status.hpp"
#include "gpu/device.hpp"
#include "problem/call.hpp"
#include "problem/problem.hpp"

namespace fw::amd {

Status validate(const gpu::Device& device, const Call& call, const Problem& problem);

}  // namespace fw::amd
