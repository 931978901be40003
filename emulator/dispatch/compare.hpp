// The same launch in every order that hardware might choose: right kernels give equal bits.
#pragma once
#include <span>

#include "dispatch/launch.hpp"

namespace cdna {

// An order of events: turns of waves, when results arrive, which workgroup is first.
struct Order {
  const char* schedule;
  bool late, groups_backward;
  std::string text() const;
  void apply(Settings& s) const;
};
std::span<const Order> orders();

// Runs a launch as it is set, then in each of the orders on the same memory. Returns what the first run
// counted; throws Fault at the first byte of device memory that differs. Not for kernels that add
// floating-point numbers atomically.
KernelCounts run_compared(const Launch& launch);

}  // namespace cdna
