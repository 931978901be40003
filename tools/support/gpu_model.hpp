// A kernel's time from what the emulator counted: modelled, never measured. docs/amd.md says how, and how far
// it is off.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tools {

struct Bound {
  std::string name = "nothing";
  double seconds = 0;
};

struct Modelled {
  double seconds = 0;
  Bound bound;  // the busiest part of the device
};

// `kernel` is an object of cdna_emulator_counters().
Modelled model_kernel(const std::string& arch, const nlohmann::ordered_json& kernel);

}  // namespace tools
