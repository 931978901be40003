// How many clocks an LDS access of a wave takes: lanes in sets, banks of four bytes, one word a bank and
// clock.
#pragma once
#include <cstdint>

#include "base/arch.hpp"

namespace cdna {

struct BankCost {
  uint32_t clocks = 0;
  uint32_t minimum = 0;  // without conflicts
};

// `at`: byte addresses of the 64 lanes; lanes outside `mask` take no part.
BankCost bank_cost(Arch arch, const uint32_t* at, uint64_t mask, int bytes, bool read);

}  // namespace cdna
