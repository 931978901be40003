// Which kernels of this build run a problem on a device.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "amd/kernels.hpp"
#include "base/status.hpp"
#include "gpu/device.hpp"
#include "plan/plan.hpp"
#include "problem/problem.hpp"

namespace fw::amd {

// Null when this build has none of that kind for the architecture.
const Kernel* find_kernel(std::string_view arch, Kind kind, DType dtype);
const Kernel* find_kernel(std::string_view arch, std::string_view name);

// The kernels of a forward call. Those that the problem does not need are null.
struct Team {
  const Kernel *attention = nullptr, *combine = nullptr, *append = nullptr, *rotate = nullptr,
               *fill = nullptr, *mask = nullptr;
};

// The helpers of a call whose attention runs in so many splits.
Team helpers_of(const Problem& problem, std::string_view arch, int splits);

// Why no kernel here runs the problem; null: one does.
std::optional<std::string> declines(const Problem& problem, const gpu::Description& device);

// What runs instead of a kernel of kind fast when the rows of a call do not suit it: the plan's splits,
// another tile.
const Kernel* find_substitute(const Problem& problem, const gpu::Description& device);

// The cheapest kernel, the splits, the workspace; and why not each of the others.
Status choose(const Problem& problem, const gpu::Description& device, Plan& out);

}  // namespace fw::amd
