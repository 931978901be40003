// One workgroup while it runs, and what all workgroups of a launch share.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "machine/memory_map.hpp"
#include "machine/wave.hpp"

namespace cdna {

struct MemoryCounters;
class Checker;

// Flat addresses in these windows mean LDS and private memory.
constexpr uint64_t kSharedBase = 1ull << 48, kPrivateBase = 2ull << 48, kApertureBytes = 1ull << 32;

struct Group {
  std::array<uint32_t, 3> id{};
  std::vector<uint8_t> lds;  // as large as the kernel may use
  std::shared_ptr<const Regions> regions;
  MemoryCounters* counters = nullptr;  // of memory accesses; null: not counted
  Checker* checker = nullptr;          // null: no checks beyond bounds
};

// "wave 3 of workgroup (0,1,2), instruction 'text' at 0x100 of kernel k"
std::string where(const Wave& w);

[[noreturn]] void fault(const Wave& w, const std::string& what);

}  // namespace cdna
