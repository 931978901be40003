// What this machine could do at best, measured now on all threads at once.
#pragma once

#include "backend/backend.hpp"
#include "base/status.hpp"
#include "cpu/kernels.hpp"

namespace fw::cpu {

Status measure_peak(const Isa& isa, Peak& out);

}  // namespace fw::cpu
