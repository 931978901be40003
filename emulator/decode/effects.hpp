// Which registers an instruction reads and writes, for checks.
#pragma once
#include <array>
#include <cstdint>

#include "decode/instruction.hpp"

namespace cdna {

struct RegisterSpan {
  uint16_t first = 0;
  uint8_t count = 0;
  bool scalar = false;
};

struct Effects {
  std::array<RegisterSpan, 8> read{};
  std::array<RegisterSpan, 5> written{};
  uint8_t reads = 0, writes = 0;
};

Effects effects_of(const Instruction& in);

}  // namespace cdna
