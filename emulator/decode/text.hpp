// Between an instruction's text and its parts.
#pragma once
#include <string>
#include <string_view>

#include "base/arch.hpp"
#include "decode/instruction.hpp"

namespace cdna {

// Reads operands and modifiers; throws Error naming what it does not understand. Vector registers keep the
// numbers of the text; `accumulator` tells v from a.
void parse_text(Instruction& out, std::string& mnemonic, std::string_view text);

// The inverse, for checks that nothing was lost.
std::string print_text(const Instruction& in, std::string_view mnemonic, Arch arch);

}  // namespace cdna
