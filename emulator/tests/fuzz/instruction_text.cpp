// Whatever a disassembler prints: operands within the register files, or an error of one sentence.
#include <cstdlib>
#include <string>

#include "base/error.hpp"
#include "decode/instruction.hpp"
#include "decode/text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace cdna;
  Instruction i;
  std::string mnemonic;
  try {
    parse_text(i, mnemonic, std::string(reinterpret_cast<const char*>(bytes), size));
    if (i.operands > kMaxOperands) std::abort();
    for (int n = 0; n < i.operands; ++n) {
      const Operand& o = i.operand[n];
      if (o.is_vector() && o.index + o.count > 256) std::abort();
      if (o.is_scalar() && o.index + o.count > kScalars) std::abort();
    }
    for (const Arch arch : {Arch::gfx90a, Arch::gfx942, Arch::gfx950}) print_text(i, mnemonic, arch);
  } catch (const Error& e) {
    if (!*e.what()) std::abort();
  }
  return 0;
}
