// DPP and SDWA: the plain instruction runs on rows beside the register file, into which its sources are
// moved.
#pragma once
#include "decode/instruction.hpp"
#include "machine/wave.hpp"

namespace cdna {

// Makes `plain` (a copy of `in`) read its vector sources, and for SDWA write its result, in spare rows.
void redirect(Instruction& plain, const Instruction& in);

void run_dpp(Wave& w, const Instruction& i);
void run_sdwa(Wave& w, const Instruction& i);

}  // namespace cdna
