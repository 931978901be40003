// The machine code of one kernel, decoded and ready to run.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "decode/effects.hpp"
#include "decode/instruction.hpp"
#include "object/code_object.hpp"

namespace cdna {

struct Program {
  std::shared_ptr<CodeObject> object;
  Kernel kernel;
  Arch arch = Arch::gfx942;
  uint32_t entry = 0;              // index of the first instruction
  std::vector<Instruction> code;   // ends with one that faults
  std::vector<Listing> listing;    // beside code
  std::vector<Effects> effects;    // beside code
  std::vector<Instruction> inner;  // what DPP and SDWA wrap

  // Index of the instruction at an address of this process; faults when there is none.
  uint32_t index_of(uint64_t address) const;
  uint64_t address_of(uint32_t index) const;
};

// Throws Error listing every instruction that a wave may reach and that is not understood.
std::shared_ptr<const Program> decode(std::shared_ptr<CodeObject> object, const Kernel& kernel);

// A few instructions alone, for tests and tools: `code` holds machine code for `arch`.
struct PlainInstruction {
  Instruction instruction;
  std::string mnemonic;
};
std::vector<PlainInstruction> decode_plain(Arch arch, const uint8_t* code, size_t bytes);

}  // namespace cdna
