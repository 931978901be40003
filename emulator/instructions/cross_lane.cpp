// Values that move between lanes, or between lanes and scalar registers.
#include <bit>
#include <utility>

#include "instructions/vector.hpp"

namespace cdna {
namespace {

void v_readfirstlane_b32(Wave& w, const Instruction& i) {
  const int lane = w.exec() ? std::countr_zero(w.exec()) : 0;
  Row32 room;
  w.s[i.operand[0].index] = read_row(w, i.operand[1], room)[lane];
}

void v_readlane_b32(Wave& w, const Instruction& i) {
  Row32 room;
  w.s[i.operand[0].index] = read_row(w, i.operand[1], room)[read_scalar(w, i.operand[2]) & 63];
}

void v_writelane_b32(Wave& w, const Instruction& i) {
  w.v[i.operand[0].index][read_scalar(w, i.operand[2]) & 63] = read_scalar(w, i.operand[1]);
}

void v_swap_b32(Wave& w, const Instruction& i) {
  uint32_t *a = w.v[i.operand[0].index], *b = w.v[i.operand[1].index];
  for (int l = 0; l < kLanes; ++l)
    if (w.exec() >> l & 1) std::swap(a[l], b[l]);
}

// Rows of `size` lanes: odd rows of the destination change places with even rows of the source.
template <int size>
void permlane_swap(Wave& w, const Instruction& i) {
  uint32_t *d = w.v[i.operand[0].index], *s = w.v[i.operand[1].index];
  const uint64_t exec = w.exec();
  for (int base = 0; base < kLanes; base += 2 * size)
    for (int l = base; l < base + size; ++l) {
      const uint32_t up = d[l + size], down = s[l];
      if (exec >> (l + size) & 1) d[l + size] = down;
      if (exec >> l & 1) s[l] = up;
    }
}

// How many lanes before this one have their bit set, in the low or high half of the wave.
template <bool high>
void mbcnt(Wave& w, const Instruction& i) {
  Row32 room[2];
  Lanes<uint32_t> out;
  const uint32_t* mask = read_row(w, i.operand[1], room[0]);
  const uint32_t* base = read_row(w, i.operand[2], room[1]);
  for (int l = 0; l < kLanes; ++l) {
    const uint64_t before = (1ull << l) - 1;
    const auto part = static_cast<uint32_t>(high ? before >> 32 : before);
    out.x[l] = base[l] + static_cast<uint32_t>(std::popcount(mask[l] & part));
  }
  store<uint32_t>(w, i, out, 2);
}

Definition make(const char* name, Handler run) { return {name, run, Class::vector}; }

Definition swaps(const char* name, Handler run, uint8_t archs) {
  Definition d = make(name, run);
  d.writes_sources = true;
  d.accumulates = true;
  d.only = archs;
  return d;
}

Definition keeps(Definition d) {
  d.accumulates = true;
  return d;
}

}  // namespace

Definitions cross_lane() {
  return {
      make("v_readfirstlane_b32", v_readfirstlane_b32),
      make("v_readlane_b32", v_readlane_b32),
      keeps(make("v_writelane_b32", v_writelane_b32)),
      swaps("v_swap_b32", v_swap_b32, 0),
      swaps("v_permlane16_swap_b32", permlane_swap<16>, only(Arch::gfx950)),
      swaps("v_permlane32_swap_b32", permlane_swap<32>, only(Arch::gfx950)),
      make("v_mbcnt_lo_u32_b32", mbcnt<false>),
      make("v_mbcnt_hi_u32_b32", mbcnt<true>),
  };
}

}  // namespace cdna
