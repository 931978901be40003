#include "base/arch.hpp"

namespace cdna {
namespace {

constexpr Generation kGenerations[] = {
    {Arch::gfx90a, "gfx90a", "emulated MI250X", 0x3f, 65536, 110, 1700000, 1600000, 64ull << 30, 8 << 20},
    {Arch::gfx942, "gfx942", "emulated MI300X", 0x4c, 65536, 304, 2100000, 1300000, 192ull << 30, 4 << 20},
    {Arch::gfx950, "gfx950", "emulated MI355X", 0x4f, 163840, 256, 2400000, 2000000, 288ull << 30, 4 << 20},
};

}  // namespace

const Generation& generation(Arch arch) { return kGenerations[static_cast<int>(arch)]; }

const Generation* find_generation(std::string_view name) {
  for (const Generation& g : kGenerations)
    if (name == g.name) return &g;
  return nullptr;
}

const Generation* find_generation(uint32_t elf_machine) {
  for (const Generation& g : kGenerations)
    if (elf_machine == g.elf_machine) return &g;
  return nullptr;
}

}  // namespace cdna
