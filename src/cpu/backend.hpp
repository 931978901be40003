// The CPU backend: the device "cpu", and the yardsticks "reference", "eager" and "naive", which are reached
// by name only.
#pragma once

#include <memory>

#include "backend/backend.hpp"

namespace fw::cpu {

std::unique_ptr<Backend> make_cpu_backend();

}  // namespace fw::cpu
