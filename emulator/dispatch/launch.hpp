// Runs a kernel: all its workgroups, spread over host threads.
#pragma once
#include <memory>

#include "counters/counters.hpp"
#include "decode/program.hpp"
#include "dispatch/arguments.hpp"
#include "dispatch/settings.hpp"
#include "machine/memory_map.hpp"

namespace cdna {

struct Launch {
  std::shared_ptr<const Program> program;
  Grid grid;
  std::vector<uint8_t> arguments;  // from kernel_arguments
  Settings settings;
  MemoryMap* memory = nullptr;
};

// Returns what was counted; throws Fault when a wave did something wrong, Error when the launch itself is.
KernelCounts run(const Launch& launch);

// Waves of this kernel that one SIMD can hold.
int waves_per_simd(const Program& program);

}  // namespace cdna
