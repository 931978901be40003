#include "checks/hazards.hpp"

#include <algorithm>

#include "decode/definition.hpp"
#include "decode/program.hpp"
#include "machine/group.hpp"

namespace cdna {
namespace {

bool starts(const std::string& name, const char* with) { return name.rfind(with, 0) == 0; }

bool is_matrix(const Definition& d) { return d.kind == Class::matrix; }
bool is_valu(const Definition& d) { return starts(d.name, "v_") && !is_matrix(d) && d.kind != Class::nop; }
bool is_salu(const Definition& d) { return d.kind == Class::scalar; }
bool is_vector_memory(const Definition& d) {
  return d.kind == Class::load || d.kind == Class::store || d.kind == Class::atomic ||
         d.kind == Class::load_to_lds;
}
bool is_local_memory(const Definition& d) {
  return d.kind == Class::lds_read || d.kind == Class::lds_write || d.kind == Class::lds_atomic ||
         d.kind == Class::lds_permute;
}

bool is_single_matrix(const Definition& d) { return d.name.ends_with("f32") && !d.name.ends_with("xf32"); }
bool is_double_matrix(const Definition& d) { return d.name.ends_with("f64"); }

// The data operand of a store of more than 64 bits, -1: none. A buffer store with a scalar offset needs no
// wait.
int wide_store_data(const Instruction& i) {
  const Definition& d = *i.definition;
  if (d.kind != Class::store || (!d.name.ends_with("x3") && !d.name.ends_with("x4"))) return -1;
  if (!starts(d.name, "buffer_")) return 1;
  return i.operand[3].is_scalar() ? -1 : 0;
}

// The destination's half or byte is chosen, so the result is moved before it is written.
bool moves_result(const Instruction& i) {
  if (i.sdwa.used && i.sdwa.destination != 6) return true;
  const int sources = i.operands - i.definition->destinations;
  return i.definition->kind != Class::packed && !i.modifiers.has_op_sel_hi &&
         i.modifiers.op_sel >> sources & 1;
}

}  // namespace

// What one instruction needs of an earlier one.
struct Hazards::Need {
  Wave& w;
  Time now;
  // `what` has a % where the register's name belongs.
  void wait(Time since, int states, const char* what, int row = 0) const {
    if (now - since > states) return;
    std::string text = what;
    if (const size_t at = text.find('%'); at != text.npos)
      text.replace(at, 1, "v" + std::to_string(row) + " (of the register file)");
    fault(w, text + ": " + std::to_string(states) + " wait states are needed, there are " +
                 std::to_string(now - since - 1));
  }
};

void Hazards::restart(Arch arch) {
  arch_ = arch;
  now_ = matrix_free_ = 0;
  vector_.fill({});
  scalar_.fill({});
}

void Hazards::before(Wave& w, const Program& p, uint32_t index) {
  ++now_;
  const Instruction& i = p.code[index];
  if (is_matrix(*i.definition))
    check_matrix(w, p, index);
  else
    check(w, p, index);
  note(p, index);
  if (i.definition->name == "s_nop") now_ += i.immediate & 15;
}

void Hazards::check(Wave& w, const Program& p, uint32_t index) const {
  const Instruction& i = p.code[index];
  const Definition& d = *i.definition;
  const Effects& e = p.effects[index];
  const Need need{w, now_};
  const bool valu = is_valu(d), vmem = is_vector_memory(d), lds = is_local_memory(d);
  const bool newer = arch_ != Arch::gfx90a, dpp = i.dpp.lane != Lane::none;
  const bool lane_access = starts(d.name, "v_readlane") || starts(d.name, "v_writelane");
  const auto after_matrix = [&](const VectorRegister& r, bool memory) {
    if (r.matrix == kLongAgo) return 0;
    if (r.matrix_is_double && r.passes <= (arch_ == Arch::gfx950 ? 8 : 4)) return memory ? 9 : 6;
    if (r.matrix_is_double) return memory ? 18 : arch_ == Arch::gfx950 ? 19 : 11;
    if (newer && r.matrix_is_single) return r.passes + 2;
    return r.passes + 3 + (arch_ == Arch::gfx950 && r.passes != 2);
  };
  for (int n = 0; n < e.reads; ++n) {
    const RegisterSpan& s = e.read[n];
    for (int k = s.first; k < s.first + s.count; ++k) {
      if (s.scalar) {
        if (vmem)
          need.wait(scalar_[k].valu, 5,
                    "a vector memory instruction reads an SGPR that a vector instruction wrote");
        const bool chooses = lane_access && i.operand[2].is_scalar() && i.operand[2].index == k;
        if (chooses)
          need.wait(scalar_[k].valu, 4, "the lane is chosen by an SGPR that a vector instruction wrote");
        if (k >= kVcc && k < kVcc + 2 && starts(d.name, "v_div_fmas"))
          need.wait(scalar_[k].valu, 4, "v_div_fmas reads VCC that a vector instruction wrote");
        if (newer && valu && !chooses && s.count == 1)
          need.wait(scalar_[k].valu, 2, "a vector instruction reads an SGPR that a vector instruction wrote");
        // Buffer loads into LDS are not on the list, and production code relies on it.
        if (k == kM0 && (vmem || lds) && !starts(d.name, "buffer_"))
          need.wait(scalar_[k].salu, 1, "M0 was just written");
        continue;
      }
      const VectorRegister& r = vector_[k];
      if (valu || vmem || lds)
        need.wait(r.matrix, after_matrix(r, !valu), "reads % that a matrix instruction wrote", k);
      if (dpp && n == 0) need.wait(r.valu, 2, "DPP reads % that a vector instruction wrote", k);
      if (newer && valu && d.kind != Class::transcendental)
        need.wait(r.trans, 1, "reads % that a transcendental instruction wrote", k);
      if (newer && valu) need.wait(r.shifted, 1, "reads % whose half or byte was just written", k);
      if (newer && starts(d.name, "v_read")) need.wait(r.valu, 1, "reads a lane of % just written", k);
      if (starts(d.name, "v_permlane")) need.wait(r.valu, 2, "v_permlane reads % just written", k);
    }
  }
  if (dpp) need.wait(scalar_[kExec].valu, 5, "DPP after a vector instruction wrote EXEC");
  for (int n = 0; n < e.writes && valu; ++n) {
    const RegisterSpan& s = e.written[n];
    for (int k = s.first; k < s.first + s.count && !s.scalar; ++k) {
      const VectorRegister& r = vector_[k];
      need.wait(r.matrix, after_matrix(r, false), "overwrites % that a matrix instruction writes", k);
      need.wait(r.matrix_input, r.input_passes - 1, "overwrites % that a matrix instruction reads", k);
      need.wait(r.wide_store, newer ? 2 : 1, "overwrites % that a store sends", k);
    }
  }
}

void Hazards::check_matrix(Wave& w, const Program& p, uint32_t index) const {
  const Instruction& i = p.code[index];
  const Need need{w, now_};
  const bool single = is_single_matrix(*i.definition);
  for (int n = 1; n < i.operands; ++n) {
    const Operand& o = i.operand[n];
    for (int k = o.index; o.is_vector() && k < o.index + o.count; ++k) {
      const VectorRegister& r = vector_[k];
      need.wait(r.valu, 2, "a matrix instruction reads % that a vector instruction wrote", k);
      if (r.matrix == kLongAgo) continue;
      constexpr const char* what = "a matrix instruction reads % that another one wrote";
      const int more = arch_ == Arch::gfx950 && r.passes != 2;
      if (r.matrix_is_double) continue;
      if (n == 3) {
        if (r.matrix_first == o.index) continue;  // the same accumulators follow one another freely
        if (arch_ == Arch::gfx90a)
          need.wait(r.matrix, r.passes, what, k);
        else if (r.matrix_is_single)
          need.wait(r.matrix, single ? r.passes : 0, what, k);
        else
          need.wait(r.matrix, r.passes + 1 + more, what, k);
      } else if (arch_ != Arch::gfx90a && r.matrix_is_single) {
        need.wait(r.matrix, r.passes + 2, what, k);
      } else {
        need.wait(r.matrix, r.passes + 3 + more, what, k);
      }
    }
  }
}

void Hazards::note(const Program& p, uint32_t index) {
  const Instruction& i = p.code[index];
  const Definition& d = *i.definition;
  const Effects& e = p.effects[index];
  const bool valu = is_valu(d), salu = is_salu(d), matrix = is_matrix(d);
  if (const int data = wide_store_data(i); data >= 0)
    for (int k = 0; k < i.operand[data].count; ++k) vector_[i.operand[data].index + k].wide_store = now_;
  // Doubles are read at once, single precision too since gfx942.
  const bool reads_early = is_double_matrix(d) || (is_single_matrix(d) && arch_ != Arch::gfx90a);
  if (matrix && !reads_early && i.operand[3].is_vector())
    for (int k = 0; k < i.operand[3].count; ++k) {
      VectorRegister& r = vector_[i.operand[3].index + k];
      r.matrix_input = now_;
      r.input_passes = d.passes;
    }
  for (int n = 0; n < e.writes; ++n) {
    const RegisterSpan& s = e.written[n];
    for (int k = s.first; k < s.first + s.count; ++k) {
      if (s.scalar) {
        if (valu) scalar_[k].valu = now_;
        if (salu) scalar_[k].salu = now_, scalar_[k].valu = kLongAgo;
        continue;
      }
      VectorRegister& r = vector_[k];
      if (!matrix && !valu) {  // a load: what came before is over, for s_waitcnt lies between
        r = {};
        continue;
      }
      r.valu = valu ? now_ : kLongAgo;
      r.trans = d.kind == Class::transcendental ? now_ : kLongAgo;
      r.shifted = valu && moves_result(i) ? now_ : kLongAgo;
      r.matrix = matrix ? now_ : kLongAgo;
      r.matrix_first = i.operand[0].index;
      r.passes = d.passes;
      r.matrix_is_single = is_single_matrix(d);
      r.matrix_is_double = is_double_matrix(d);
    }
  }
}

}  // namespace cdna
