// AMD GPUs as a Backend: on AMD's runtime, and emulated.
#pragma once

#include <memory>

#include "backend/backend.hpp"

namespace fw::amd {

std::unique_ptr<Backend> make_hip_backend();
std::unique_ptr<Backend> make_emulator_backend();

}  // namespace fw::amd
