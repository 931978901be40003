// What memory instructions moved and cost, one entry an instruction of the program.
#pragma once
#include <cstdint>
#include <vector>

#include "decode/instruction.hpp"

namespace cdna {

struct Wave;

struct MemoryUse {
  uint64_t global_bytes = 0;
  uint64_t transactions_64 = 0, transactions_128 = 0;  // lines of that many bytes that instructions touch
  uint64_t lds_bytes = 0;
  uint64_t lds_clocks = 0, lds_minimum = 0;
  MemoryUse& operator+=(const MemoryUse& o);
};

struct MemoryCounters {
  explicit MemoryCounters(size_t instructions) : use(instructions) {}
  void global(const Wave& w, const Instruction& i, const uint64_t* at, uint64_t lanes, int bytes);
  void local(const Wave& w, const Instruction& i, const uint32_t* at, uint64_t lanes, int bytes, bool read);
  void exchange(const Wave& w, const Instruction& i);

  std::vector<MemoryUse> use;
};

}  // namespace cdna
