// The three generations that are executed, and what differs between them.
#pragma once
#include <cstdint>
#include <string_view>

namespace cdna {

enum class Arch : uint8_t { gfx90a, gfx942, gfx950 };

struct Generation {
  Arch arch;
  const char* name;      // what LLVM calls it
  const char* product;   // a card that carries it
  uint32_t elf_machine;  // e_flags & 0xff
  uint32_t lds_bytes;    // a workgroup's limit
  int compute_units;
  int clock_khz, memory_clock_khz;
  uint64_t memory_bytes;
  int l2_bytes;
};

const Generation& generation(Arch arch);
const Generation* find_generation(std::string_view name);
const Generation* find_generation(uint32_t elf_machine);

}  // namespace cdna
