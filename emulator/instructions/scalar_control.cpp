// Branches, barriers, waits, and access to the wave's own state.
#include "decode/program.hpp"
#include "instructions/operands.hpp"
#include "instructions/tables.hpp"

namespace cdna {
namespace {

void nothing(Wave&, const Instruction&) {}

void s_endpgm(Wave& w, const Instruction&) {
  w.settle(Counter::vector_memory, 0);
  w.settle(Counter::local, 0);
  w.state = State::finished;
}

void s_barrier(Wave& w, const Instruction&) { w.state = State::at_barrier; }

// vmcnt is bits 3:0 and 15:14, lgkmcnt bits 11:8.
void s_waitcnt(Wave& w, const Instruction& i) {
  w.settle(Counter::vector_memory, (i.immediate & 15) | (i.immediate >> 14 & 3) << 4);
  w.settle(Counter::local, i.immediate >> 8 & 15);
}

void s_branch(Wave& w, const Instruction& i) { w.pc = i.target; }

template <auto taken>
void branch_if(Wave& w, const Instruction& i) {
  if (taken(w)) w.pc = i.target;
}

void s_getpc_b64(Wave& w, const Instruction& i) {
  w.set_pair(i.operand[0].index, w.program->address_of(w.pc));
}

void s_setpc_b64(Wave& w, const Instruction& i) {
  w.pc = w.program->index_of(read_scalar64(w, i.operand[0]));
}

void s_swappc_b64(Wave& w, const Instruction& i) {
  const uint64_t target = read_scalar64(w, i.operand[1]);
  w.set_pair(i.operand[0].index, w.program->address_of(w.pc));
  w.pc = w.program->index_of(target);
}

// hwreg: register in bits 5:0, offset in bits 10:6, width less one in bits 15:11.
struct Field {
  int which, offset, width;
  explicit Field(uint16_t code) : which(code & 63), offset(code >> 6 & 31), width((code >> 11 & 31) + 1) {}
  uint32_t mask() const { return width == 32 ? ~0u : (1u << width) - 1; }
};
constexpr int kModeRegister = 1, kXccRegister = 20;

void s_getreg_b32(Wave& w, const Instruction& i) {
  const Field f(i.immediate);
  if (f.which != kModeRegister && f.which != kXccRegister && f.which > 7)
    fault(w, "hardware register " + std::to_string(f.which) + " is not modelled");
  const uint32_t value = f.which == kModeRegister ? w.mode : 0;
  w.s[i.operand[0].index] = value >> f.offset & f.mask();
}

void set_register(Wave& w, const Field& f, uint32_t value) {
  if (f.which != kModeRegister)
    fault(w, "writing hardware register " + std::to_string(f.which) + " is not modelled");
  w.mode = (w.mode & ~(f.mask() << f.offset)) | (value & f.mask()) << f.offset;
  set_float_mode(FloatMode::single(w.mode));
}

void s_setreg_b32(Wave& w, const Instruction& i) {
  set_register(w, Field(i.immediate), read_scalar(w, i.operand[1]));
}
void s_setreg_imm32_b32(Wave& w, const Instruction& i) {
  set_register(w, Field(i.immediate), static_cast<uint32_t>(i.operand[1].value));
}

void s_trap(Wave& w, const Instruction&) { fault(w, "trap"); }

Definition make(const char* name, Handler handler, Class kind, uint8_t destinations = 0) {
  Definition d{name, handler, kind, destinations};
  d.sources.fill(Type::unsigned64);
  return d;
}

void add_idle(Definitions& all) {
  for (const char* name : {"s_nop", "v_nop"}) all.push_back(make(name, nothing, Class::nop));
  for (const char* name :
       {"s_setprio",      "s_sleep",      "s_sethalt",        "s_setkill",          "s_icache_inv",
        "s_dcache_inv",   "s_dcache_wb",  "s_dcache_inv_vol", "s_dcache_wb_vol",    "s_incperflevel",
        "s_decperflevel", "s_ttracedata", "s_sendmsg",        "s_wakeup",           "s_code_end",
        "buffer_wbl2",    "buffer_inv",   "buffer_wbinvl1",   "buffer_wbinvl1_vol", "buffer_invl2"})
    all.push_back(make(name, nothing, Class::other));
}

}  // namespace

Definitions scalar_control() {
  constexpr Class kBranch = Class::branch;
  Definitions all = {
      make("s_endpgm", s_endpgm, Class::other),
      make("s_barrier", s_barrier, Class::barrier),
      make("s_waitcnt", s_waitcnt, Class::wait),
      make("s_branch", s_branch, kBranch),
      make("s_cbranch_scc0", branch_if<[](const Wave& w) { return !w.scc; }>, kBranch),
      make("s_cbranch_scc1", branch_if<[](const Wave& w) { return w.scc; }>, kBranch),
      make("s_cbranch_vccz", branch_if<[](const Wave& w) { return w.vcc() == 0; }>, kBranch),
      make("s_cbranch_vccnz", branch_if<[](const Wave& w) { return w.vcc() != 0; }>, kBranch),
      make("s_cbranch_execz", branch_if<[](const Wave& w) { return w.exec() == 0; }>, kBranch),
      make("s_cbranch_execnz", branch_if<[](const Wave& w) { return w.exec() != 0; }>, kBranch),
      make("s_getpc_b64", s_getpc_b64, Class::scalar, 1),
      make("s_setpc_b64", s_setpc_b64, Class::other),
      make("s_swappc_b64", s_swappc_b64, Class::other, 1),
      make("s_getreg_b32", s_getreg_b32, Class::scalar, 1),
      make("s_setreg_b32", s_setreg_b32, Class::scalar),
      make("s_setreg_imm32_b32", s_setreg_imm32_b32, Class::scalar),
      make("s_trap", s_trap, Class::other),
  };
  add_idle(all);
  return all;
}

}  // namespace cdna
