// Values exchanged between lanes through the LDS crossbar, without memory.
#include "counters/memory_counters.hpp"
#include "instructions/memory.hpp"
#include "instructions/tables.hpp"

namespace cdna {
namespace {

void finish(Wave& w, const Instruction& i, const Data& data) {
  const uint64_t lanes = w.exec();
  const Operand& o = i.operand[0];
  if (w.group->counters) w.group->counters->exchange(w, i);
  w.poison(o, lanes);
  w.later(Counter::local, [o, data, lanes](Wave& then) { deliver(then, o, {4}, data, lanes); });
}

// Each lane names the lane it reads; lanes that are off give zero.
void ds_bpermute_b32(Wave& w, const Instruction& i) {
  Row32 room[2];
  const uint32_t* at = read_row(w, i.operand[1], room[0]);
  const uint32_t* from = read_row(w, i.operand[2], room[1]);
  const uint64_t exec = w.exec();
  Data data;
  for (int l = 0; l < kLanes; ++l) {
    const uint32_t lane = (at[l] + static_cast<uint32_t>(i.modifiers.offset)) >> 2 & 63;
    data.word[0][l] = exec >> lane & 1 ? from[lane] : 0;
  }
  finish(w, i, data);
}

// Each lane names the lane it writes; the highest wins, lanes nobody names get zero.
void ds_permute_b32(Wave& w, const Instruction& i) {
  Row32 room[2];
  const uint32_t* at = read_row(w, i.operand[1], room[0]);
  const uint32_t* from = read_row(w, i.operand[2], room[1]);
  const uint64_t exec = w.exec();
  Data data;
  for (uint32_t& x : data.word[0]) x = 0;
  for (int l = 0; l < kLanes; ++l)
    if (exec >> l & 1) data.word[0][(at[l] + static_cast<uint32_t>(i.modifiers.offset)) >> 2 & 63] = from[l];
  finish(w, i, data);
}

int swizzled(int lane, uint32_t pattern) {
  const int group = lane & 32, n = lane & 31;
  if (pattern >= 0xc000) {  // rotation of 32 lanes, of which some bits stay
    const int amount = static_cast<int>(pattern >> 5 & 31), keep = static_cast<int>(pattern & 31);
    const int moved = pattern >> 10 & 1 ? n - amount : n + amount;
    return group | (n & keep) | (moved & 31 & ~keep);
  }
  if (pattern & 0x8000) return (lane & ~3) | static_cast<int>(pattern >> (2 * (lane & 3)) & 3);
  const int and_mask = pattern & 31, or_mask = pattern >> 5 & 31, xor_mask = pattern >> 10 & 31;
  return group | (((n & and_mask) | or_mask) ^ xor_mask);
}

void ds_swizzle_b32(Wave& w, const Instruction& i) {
  const auto pattern = static_cast<uint32_t>(i.immediate);
  if (pattern >= 0xe000) fault(w, "the FFT swizzle is not modelled");
  Row32 room;
  const uint32_t* from = read_row(w, i.operand[1], room);
  const uint64_t exec = w.exec();
  Data data;
  for (int l = 0; l < kLanes; ++l) {
    const int lane = swizzled(l, pattern);
    data.word[0][l] = exec >> lane & 1 ? from[lane] : 0;
  }
  finish(w, i, data);
}

}  // namespace

Definitions local_exchange() {
  constexpr Class kind = Class::lds_permute;
  return {{"ds_bpermute_b32", ds_bpermute_b32, kind},
          {"ds_permute_b32", ds_permute_b32, kind},
          {"ds_swizzle_b32", ds_swizzle_b32, kind}};
}

}  // namespace cdna
