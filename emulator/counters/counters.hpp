// What a kernel executed, in all and for each of its loops.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "counters/memory_counters.hpp"
#include "decode/definition.hpp"
#include "decode/program.hpp"

namespace cdna {

// Raw: executions and memory use of every instruction.
struct KernelCounts {
  std::shared_ptr<const Program> program;
  std::vector<uint64_t> executed;
  std::vector<uint64_t> jumped;   // branches taken
  std::vector<MemoryUse> memory;  // empty: not counted
  uint64_t waves = 0, groups = 0, launches = 0;

  void add(const KernelCounts& other);
};

struct Totals {
  uint64_t instructions = 0;
  std::array<uint64_t, kClasses> by_class{};
  // Clocks that one wave keeps each pipe busy, summed over waves.
  uint64_t matrix_clocks = 0, vector_clocks = 0, transcendental_clocks = 0;
  uint64_t valu = 0;        // vector instructions but matrix and transcendental ones
  uint64_t moves = 0;       // those of them that only move registers
  uint64_t nop_states = 0;  // that s_nop waits
  MemoryUse memory;
};

// From a label to the branch back to it; iterations are counted over all waves.
struct LoopCounts {
  uint32_t first = 0, last = 0;  // instructions
  uint64_t address = 0;
  uint64_t iterations = 0;
  int depth = 1;
  Totals totals;
};

Totals totals(const KernelCounts& counts);
std::vector<LoopCounts> loops(const KernelCounts& counts);

// One line for each number, or JSON.
std::string report(const KernelCounts& counts);
std::string report_json(const KernelCounts& counts);

}  // namespace cdna
