#include "instructions/lane_select.hpp"

#include "decode/program.hpp"
#include "instructions/operands.hpp"

namespace cdna {
namespace {

// Spare rows: two for each of three sources, then the result.
constexpr int kSource = kRegisters;
constexpr int kResult = kRegisters + 6;

int first_source(const Instruction& i) { return i.definition->destinations; }

// The lane that lane n of a DPP source comes from; negative: none.
int source_lane(const Dpp& d, int n) {
  const int row = n & ~15, in_row = n & 15, amount = d.argument[0];
  switch (d.lane) {
    case Lane::quad_perm: return (n & ~3) + d.argument[n & 3];
    case Lane::row_shl: return in_row + amount < 16 ? n + amount : -1;
    case Lane::row_shr: return in_row >= amount ? n - amount : -1;
    case Lane::row_ror: return row + ((in_row - amount) & 15);
    case Lane::wave_shl: return n < 63 ? n + 1 : -1;
    case Lane::wave_rol: return (n + 1) & 63;
    case Lane::wave_shr: return n > 0 ? n - 1 : -1;
    case Lane::wave_ror: return (n - 1) & 63;
    case Lane::row_mirror: return row + 15 - in_row;
    case Lane::row_half_mirror: return (n & ~7) + 7 - (n & 7);
    case Lane::row_bcast15: return n > 15 ? row - 1 : -1;
    case Lane::row_bcast31: return n > 31 ? 31 : -1;
    case Lane::row_newbcast: return row + amount;
    case Lane::none: break;
  }
  return n;
}

uint32_t select(uint32_t x, int selector, bool sign_extend) {
  if (selector == 6) return x;
  const int bits = selector < 4 ? 8 : 16, shift = selector < 4 ? 8 * selector : 16 * (selector - 4);
  const uint32_t field = x >> shift & ((1u << bits) - 1);
  return sign_extend ? static_cast<uint32_t>(static_cast<int32_t>(field << (32 - bits)) >> (32 - bits))
                     : field;
}

uint32_t insert(uint32_t old, uint32_t x, int selector, int unused) {
  if (selector == 6) return x;
  const int bits = selector < 4 ? 8 : 16, shift = selector < 4 ? 8 * selector : 16 * (selector - 4);
  const uint32_t mask = ((1u << bits) - 1) << shift, field = x << shift & mask;
  if (unused == 2) return (old & ~mask) | field;
  if (unused == 0) return field;
  const bool negative = field >> (shift + bits - 1) & 1;
  return field | (negative ? ~((1ull << (shift + bits)) - 1) & 0xffffffffu : 0u);
}

}  // namespace

void redirect(Instruction& plain, const Instruction& in) {
  const int first = first_source(in);
  const bool sdwa = in.dpp.lane == Lane::none;
  plain.dpp = {};
  plain.sdwa = {};
  for (int n = first; n < in.operands && n < first + (sdwa ? 2 : 1); ++n) {
    Operand& o = plain.operand[n];
    if (o.kind == OperandKind::off || (o.is_scalar() && o.count == 2)) continue;  // a mask of lanes
    o.kind = OperandKind::vector;
    o.index = static_cast<uint16_t>(kSource + 2 * (n - first));
    o.sign_extend = false;
  }
  if (sdwa && in.operand[0].is_vector()) plain.operand[0].index = kResult;
}

void run_dpp(Wave& w, const Instruction& i) {
  const Instruction& plain = w.program->inner[i.inner];
  const Operand& source = i.operand[first_source(i)];
  const uint64_t exec = w.exec();
  uint64_t written = 0;
  for (int word = 0; word < source.count; ++word) {
    const uint32_t* from = w.v[source.index + word];
    uint32_t* to = w.v[kSource + word];
    written = 0;
    for (int n = 0; n < kLanes; ++n) {
      const int lane = source_lane(i.dpp, n);
      const bool valid = lane >= 0 && (exec >> lane & 1);
      to[n] = valid ? from[lane] : 0;
      const bool masked = (i.dpp.row_mask >> (n / 16) & 1) && (i.dpp.bank_mask >> (n / 4 % 4) & 1);
      if (masked && (valid || i.dpp.bound_control)) written |= 1ull << n;
    }
  }
  w.set_pair(kExec, exec & written);
  plain.run(w, plain);
  w.set_pair(kExec, exec);
}

void run_sdwa(Wave& w, const Instruction& i) {
  const Instruction& plain = w.program->inner[i.inner];
  const int first = first_source(i);
  for (int n = 0; n < 2 && first + n < i.operands; ++n) {
    const Operand& o = i.operand[first + n];
    if (o.is_scalar() && o.count == 2) continue;
    Row32 room;
    const uint32_t* from = read_row(w, o, room);
    uint32_t* to = w.v[kSource + 2 * n];
    for (int l = 0; l < kLanes; ++l) to[l] = select(from[l], i.sdwa.source[n], o.sign_extend);
  }
  const bool vector_result = i.operand[0].is_vector();
  const int row = i.operand[0].index;
  if (vector_result && i.definition->accumulates) std::memcpy(w.v[kResult], w.v[row], sizeof w.v[row]);
  plain.run(w, plain);
  if (!vector_result) return;
  if (i.operand[0].count == 2) {  // a pair has no parts
    write_row(w, row, w.v[kResult], w.exec());
    write_row(w, row + 1, w.v[kResult + 1], w.exec());
    return;
  }
  Row32 out;
  for (int l = 0; l < kLanes; ++l)
    out.x[l] = insert(w.v[row][l], w.v[kResult][l], i.sdwa.destination, i.sdwa.unused);
  write_row(w, row, out.x, w.exec());
}

}  // namespace cdna
