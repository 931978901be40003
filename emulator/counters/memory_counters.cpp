#include "counters/memory_counters.hpp"

#include <algorithm>
#include <bit>

#include "counters/bank_model.hpp"
#include "machine/wave.hpp"

namespace cdna {
namespace {

constexpr uint32_t kExchangeClocks = 2;  // the crossbar moves 32 lanes a clock

constexpr uint64_t kLine = 64;

}  // namespace

MemoryUse& MemoryUse::operator+=(const MemoryUse& o) {
  global_bytes += o.global_bytes;
  transactions_64 += o.transactions_64;
  transactions_128 += o.transactions_128;
  lds_bytes += o.lds_bytes;
  lds_clocks += o.lds_clocks;
  lds_minimum += o.lds_minimum;
  return *this;
}

void MemoryCounters::global(const Wave& w, const Instruction&, const uint64_t* at, uint64_t lanes,
                            int bytes) {
  MemoryUse& u = use[w.pc - 1];
  u.global_bytes += static_cast<uint64_t>(std::popcount(lanes)) * static_cast<uint64_t>(bytes);
  uint64_t lines[2 * kLanes];
  int count = 0;
  for (uint64_t rest = lanes; rest; rest &= rest - 1) {
    const uint64_t a = at[std::countr_zero(rest)];
    const uint64_t first = a / kLine, last = (a + static_cast<uint64_t>(bytes) - 1) / kLine;
    if (!count || lines[count - 1] != first) lines[count++] = first;
    if (last != first) lines[count++] = last;
  }
  std::sort(lines, lines + count);
  uint64_t* const end = std::unique(lines, lines + count);
  u.transactions_64 += static_cast<uint64_t>(end - lines);
  for (uint64_t* line = lines; line != end; ++line) *line /= 2;
  u.transactions_128 += static_cast<uint64_t>(std::unique(lines, end) - lines);
}

void MemoryCounters::local(const Wave& w, const Instruction&, const uint32_t* at, uint64_t lanes, int bytes,
                           bool read) {
  MemoryUse& u = use[w.pc - 1];
  u.lds_bytes += static_cast<uint64_t>(std::popcount(lanes)) * static_cast<uint64_t>(bytes);
  const BankCost cost = bank_cost(w.arch, at, lanes, bytes, read);
  u.lds_clocks += cost.clocks;
  u.lds_minimum += cost.minimum;
}

void MemoryCounters::exchange(const Wave& w, const Instruction&) {
  use[w.pc - 1].lds_clocks += kExchangeClocks;
  use[w.pc - 1].lds_minimum += kExchangeClocks;
}

}  // namespace cdna
