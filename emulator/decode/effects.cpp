#include "decode/effects.hpp"

#include "decode/definition.hpp"

namespace cdna {
namespace {

class Builder {
 public:
  void read(const Operand& o) {
    if (o.is_vector() || o.is_scalar()) add(effects.read, effects.reads, span(o));
  }
  void write(const Operand& o) {
    if (o.is_vector() || o.is_scalar()) add(effects.written, effects.writes, span(o));
  }
  void read_scalar(uint16_t first, uint8_t count) { add(effects.read, effects.reads, {first, count, true}); }
  void write_scalar(uint16_t first, uint8_t count) {
    add(effects.written, effects.writes, {first, count, true});
  }

  Effects effects;

 private:
  static RegisterSpan span(const Operand& o) {
    return {o.index, static_cast<uint8_t>(o.count), o.is_scalar()};
  }
  template <size_t n>
  static void add(std::array<RegisterSpan, n>& spans, uint8_t& count, RegisterSpan s) {
    if (count < n) spans[count++] = s;
  }
};

bool starts(const std::string& name, const char* with) { return name.rfind(with, 0) == 0; }

}  // namespace

Effects effects_of(const Instruction& in) {
  Builder b;
  const Definition* d = in.definition;
  if (!d) return b.effects;
  const bool returns = d->kind == Class::atomic && in.has(kReturns);
  const bool returns_apart = returns && !d->accumulates;
  const int destinations = returns_apart ? 1 : in.has(kLds) ? 0 : d->destinations;
  for (int n = 0; n < in.operands; ++n) {
    const bool written = n < destinations || d->writes_sources || (returns && n == 0);
    const bool kept = in.dpp.lane != Lane::none ? !in.dpp.bound_control : in.sdwa.used && in.sdwa.unused == 2;
    if (written) b.write(in.operand[n]);
    if (!written || d->writes_sources || (n == 0 && (d->accumulates || kept))) b.read(in.operand[n]);
  }
  const std::string& name = d->name;
  if (starts(name, "v_div_fmas") || starts(name, "s_cbranch_vcc")) b.read_scalar(kVcc, 2);
  if (starts(name, "s_cbranch_exec") || name.find("saveexec") != name.npos) b.read_scalar(kExec, 2);
  if (starts(name, "v_cmpx") || name.find("saveexec") != name.npos || name.find("wrexec") != name.npos)
    b.write_scalar(kExec, 2);
  if (d->kind == Class::load_to_lds || in.has(kLds) || name == "ds_read_addtid_b32") b.read_scalar(kM0, 1);
  return b.effects;
}

}  // namespace cdna
