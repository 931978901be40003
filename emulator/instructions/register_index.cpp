// VGPR indexing: between s_set_gpr_idx_on and _off, M0 is added to the register numbers of vector
// instructions.
#include "decode/program.hpp"
#include "instructions/operands.hpp"
#include "instructions/tables.hpp"

namespace cdna {
namespace {

// M0: the index in bits 7:0, and in bits 15:12 what it applies to: sources 0 to 2, the destination.
void shift_registers(Instruction& in, uint32_t m0) {
  const int first = in.definition->destinations;
  const auto shift = [m0](Operand& o) {
    if (o.is_vector()) o.index = static_cast<uint16_t>(o.index + (m0 & 0xff));
  };
  if (m0 >> 15 & 1 && first > 0) shift(in.operand[0]);
  for (int n = 0; n < 3 && first + n < in.operands; ++n)
    if (m0 >> (12 + n) & 1) shift(in.operand[first + n]);
}

bool is_vector_alu(const Definition& d) { return d.name.rfind("v_", 0) == 0; }

// The region is straight-line code: it runs here, up to its end.
void s_set_gpr_idx_on(Wave& w, const Instruction& i) {
  const uint32_t index = read_scalar(w, i.operand[0]) & 0xff, which = i.immediate >> 8 & 15u;
  w.s[kM0] = (w.s[kM0] & 0xffff0f00) | index | which << 12;
  for (;;) {
    const Instruction& next = w.program->code[w.pc++];
    if (!next.definition) fault(w, "the code ends inside a region of indexed registers");
    const std::string& name = next.definition->name;
    if (name == "s_set_gpr_idx_off") return;
    if (next.definition->kind == Class::branch || name == "s_endpgm" || name == "s_barrier")
      fault(w, "control flow inside a region of indexed registers is not modelled");
    if (is_vector_alu(*next.definition)) {
      Instruction shifted = next;
      shift_registers(shifted, w.s[kM0]);
      for (int n = 0; n < shifted.operands; ++n)
        if (shifted.operand[n].is_vector() && shifted.operand[n].index >= kRegisters)
          fault(w, "an indexed register lies outside the register file");
      shifted.run(w, shifted);
    } else {
      next.run(w, next);
    }
  }
}

void s_set_gpr_idx_idx(Wave& w, const Instruction& i) {
  w.s[kM0] = (w.s[kM0] & ~0xffu) | (read_scalar(w, i.operand[0]) & 0xff);
}

void s_set_gpr_idx_mode(Wave& w, const Instruction& i) {
  w.s[kM0] = (w.s[kM0] & ~0xf000u) | (i.immediate & 15u) << 12;
}

void nothing(Wave&, const Instruction&) {}

}  // namespace

Definitions register_index() {
  const auto make = [](const char* name, Handler run) { return Definition{name, run, Class::scalar, 0}; };
  return {make("s_set_gpr_idx_on", s_set_gpr_idx_on), make("s_set_gpr_idx_off", nothing),
          make("s_set_gpr_idx_idx", s_set_gpr_idx_idx), make("s_set_gpr_idx_mode", s_set_gpr_idx_mode)};
}

}  // namespace cdna
