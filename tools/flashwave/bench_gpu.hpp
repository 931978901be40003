// bench on a GPU: real ones are timed; for an emulated one, counters and a time modelled from them.
#pragma once

#include <string>
#include <vector>

#include "support/case.hpp"
#include "support/outcome.hpp"

namespace tools {

Outcome bench_gpu(const std::vector<Case>& cases, const flashwave_device& device, int rounds, bool json);

}  // namespace tools
