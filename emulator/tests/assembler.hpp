// Machine code from text, by llvm-mc-22: one run for many lines.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/arch.hpp"

namespace cdna::test {

using Code = std::vector<uint8_t>;

// The bytes of each line; empty where the assembler refuses it.
std::vector<Code> assemble_lines(Arch arch, const std::vector<std::string>& lines);

// All lines together; the test fails when one is refused.
Code assemble(Arch arch, const std::string& text);

inline constexpr Arch kArchs[] = {Arch::gfx90a, Arch::gfx942, Arch::gfx950};

}  // namespace cdna::test
