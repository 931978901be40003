#include "counters/bank_model.hpp"

#include <algorithm>
#include <bit>
#include <span>

namespace cdna {
namespace {

// The lanes that are served together. Written as masks of lanes.
constexpr uint64_t lanes(int first, int last) {
  return (last == 63 ? ~0ull : (1ull << (last + 1)) - 1) & ~((1ull << first) - 1);
}
constexpr uint64_t upper(uint64_t mask) { return mask << 32; }

constexpr uint64_t kHalves[] = {lanes(0, 31), lanes(32, 63)};
constexpr uint64_t kQuarters[] = {lanes(0, 15), lanes(16, 31), lanes(32, 47), lanes(48, 63)};
constexpr uint64_t kEighths[] = {lanes(0, 7),   lanes(8, 15),  lanes(16, 23), lanes(24, 31),
                                 lanes(32, 39), lanes(40, 47), lanes(48, 55), lanes(56, 63)};
constexpr uint64_t kWide[] = {lanes(0, 3) | lanes(20, 23), lanes(4, 7) | lanes(16, 19),
                              lanes(8, 11) | lanes(28, 31), lanes(12, 15) | lanes(24, 27)};
constexpr uint64_t kWideReads[] = {kWide[0],        kWide[1],        kWide[2],        kWide[3],
                                   upper(kWide[0]), upper(kWide[1]), upper(kWide[2]), upper(kWide[3])};
constexpr uint64_t kWide950[] = {lanes(0, 3) | lanes(12, 15) | lanes(20, 27),
                                 lanes(4, 11) | lanes(16, 19) | lanes(28, 31)};
constexpr uint64_t kWideReads950[] = {kWide950[0], kWide950[1], upper(kWide950[0]), upper(kWide950[1])};

struct Service {
  std::span<const uint64_t> sets;
  uint32_t banks;
};

Service service(Arch arch, int bytes, bool read) {
  const bool more_banks = arch == Arch::gfx950 && read && bytes >= 8;
  if (bytes <= 4) return {kHalves, 32};
  if (bytes == 8) return more_banks ? Service{kHalves, 64} : Service{kQuarters, 32};
  if (more_banks) return {kWideReads950, 64};
  if (read) return {kWideReads, 32};
  return {kEighths, 32};
}

// The most different words that one bank has to give to a set of lanes.
uint32_t turns(const uint32_t* at, uint64_t set, int words, uint32_t banks) {
  uint32_t seen[64][8];
  uint8_t count[64] = {};
  uint32_t most = 1;
  for (uint64_t rest = set; rest; rest &= rest - 1) {
    const uint32_t first = at[std::countr_zero(rest)] / 4;
    for (int k = 0; k < words; ++k) {
      const uint32_t word = first + static_cast<uint32_t>(k), bank = word % banks;
      uint8_t& n = count[bank];
      const uint32_t known = std::min<uint32_t>(n, 8);
      if (std::find(seen[bank], seen[bank] + known, word) != seen[bank] + known) continue;
      if (n < 8) seen[bank][n] = word;
      most = std::max<uint32_t>(most, ++n);
    }
  }
  return most;
}

}  // namespace

BankCost bank_cost(Arch arch, const uint32_t* at, uint64_t mask, int bytes, bool read) {
  const Service s = service(arch, bytes, read);
  BankCost cost;
  for (const uint64_t set : s.sets) {
    cost.clocks += turns(at, set & mask, (bytes + 3) / 4, s.banks);
    cost.minimum += 1;
  }
  return cost;
}

}  // namespace cdna
