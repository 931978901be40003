// Operands read and written: scalars, and rows of 64 lanes as the type an operation wants.
#pragma once
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/floats.hpp"
#include "decode/definition.hpp"
#include "machine/group.hpp"
#include "machine/wave.hpp"

namespace cdna {

// Types an operation can ask for beside the integers, float and double.
struct half {
  float x;
};  // an fp16 number, widened
struct brain {
  float x;
};  // a bf16 number, widened

// Mask of lanes -> a word a lane, all ones where the lane is in it.
struct alignas(64) LaneMask {
  uint32_t lane[kLanes];
  explicit LaneMask(uint64_t mask);
};
inline LaneMask::LaneMask(uint64_t mask) {
  for (int part = 0; part < 2; ++part) {
    const uint32_t bits = static_cast<uint32_t>(mask >> (32 * part));
    for (int l = 0; l < 32; ++l) lane[32 * part + l] = 0u - (bits >> l & 1);
  }
}

// The other way: a lane is in the mask when its word is not zero.
uint64_t mask_of(const uint32_t (&lane)[kLanes]);

uint32_t read_special(const Wave& w, Special which);

inline uint32_t read_scalar(const Wave& w, const Operand& o, int word = 0) {
  switch (o.kind) {
    case OperandKind::scalar: return w.s[o.index + word];
    case OperandKind::constant: return static_cast<uint32_t>(word ? o.value >> 32 : o.value);
    case OperandKind::special: return word ? 0 : read_special(w, static_cast<Special>(o.index));
    case OperandKind::vector: return w.v[o.index + word][0];
    default: return 0;
  }
}

inline uint64_t read_scalar64(const Wave& w, const Operand& o) {
  switch (o.kind) {
    case OperandKind::scalar: return w.pair(o.index);
    case OperandKind::constant: return o.value;
    case OperandKind::special:
      if (o.index <= static_cast<int>(Special::private_limit))  // an aperture is the high half of its address
        return static_cast<uint64_t>(read_special(w, static_cast<Special>(o.index))) << 32;
      return read_special(w, static_cast<Special>(o.index));
    default: return 0;
  }
}

struct alignas(64) Row32 {
  uint32_t x[kLanes];
};

// The words of a source, broadcast into `room` when they are scalar; without modifiers.
inline const uint32_t* read_row(const Wave& w, const Operand& o, Row32& room, int word = 0) {
  if (o.kind == OperandKind::vector) return w.v[o.index + word];
  const uint32_t x = o.is_constant() || o.is_scalar()
                         ? read_scalar(w, o, word)
                         : static_cast<uint32_t>(read_scalar64(w, o) >> (32 * word));
  for (uint32_t& lane : room.x) lane = x;
  return room.x;
}

// Where an operation's values of a type live, 64 of them.
template <class T>
struct alignas(64) Lanes {
  using Element = T;
  T x[kLanes];
};
template <>
struct alignas(64) Lanes<half> {
  using Element = float;
  float x[kLanes];
};
template <>
struct alignas(64) Lanes<brain> {
  using Element = float;
  float x[kLanes];
};
template <>
struct alignas(64) Lanes<bool> {
  using Element = uint32_t;
  uint32_t x[kLanes];
};

bool half_mode_flushes_input(const Wave& w);
void widen_halves(float* out, const uint32_t* row, bool high);
void narrow_halves(uint32_t* out, const float* in);

// Source number `n` (operand `o`) of an instruction as 64 values of type T, modifiers applied.
template <class T>
const typename Lanes<T>::Element* fetch(const Wave& w, const Instruction& i, const Operand& o, int n,
                                        Lanes<T>& room) {
  [[maybe_unused]] Row32 spread;
  [[maybe_unused]] const bool high = i.modifiers.op_sel >> n & 1;
  if constexpr (std::is_same_v<T, float>) {
    const uint32_t* row = read_row(w, o, reinterpret_cast<Row32&>(room));
    if (!o.negate && !o.absolute) return reinterpret_cast<const float*>(row);
    const uint32_t keep = o.absolute ? 0x7fffffff : ~0u, flip = o.negate ? 0x80000000 : 0;
    auto* out = reinterpret_cast<uint32_t*>(room.x);
    for (int l = 0; l < kLanes; ++l) out[l] = (row[l] & keep) ^ flip;
    return room.x;
  } else if constexpr (std::is_same_v<T, half> || std::is_same_v<T, brain>) {
    const uint32_t* row = read_row(w, o, spread);
    if constexpr (std::is_same_v<T, half>) {
      widen_halves(room.x, row, high);
      if (half_mode_flushes_input(w))
        for (float& x : room.x) x = std::abs(x) < 0x1p-14f ? std::copysign(0.0f, x) : x;
    } else {
      for (int l = 0; l < kLanes; ++l) room.x[l] = as_float(high ? row[l] & 0xffff0000 : row[l] << 16);
    }
    if (o.absolute)
      for (float& x : room.x) x = std::abs(x);
    if (o.negate)
      for (float& x : room.x) x = -x;
    return room.x;
  } else if constexpr (sizeof(T) == 8) {
    Row32 other;
    const uint32_t* low = read_row(w, o, spread, 0);
    const uint32_t* top = read_row(w, o, other, 1);
    auto* out = reinterpret_cast<uint64_t*>(room.x);
    for (int l = 0; l < kLanes; ++l) out[l] = static_cast<uint64_t>(top[l]) << 32 | low[l];
    if (o.absolute)
      for (int l = 0; l < kLanes; ++l) out[l] &= ~0ull >> 1;
    if (o.negate)
      for (int l = 0; l < kLanes; ++l) out[l] ^= 1ull << 63;
    return room.x;
  } else if constexpr (sizeof(T) == 2) {
    const uint32_t* row = read_row(w, o, spread);
    const int shift = high ? 16 : 0;
    for (int l = 0; l < kLanes; ++l) room.x[l] = static_cast<T>(row[l] >> shift);
    return room.x;
  } else {
    static_assert(sizeof(T) == 4 && std::is_integral_v<T>);
    const uint32_t* row = read_row(w, o, reinterpret_cast<Row32&>(room));
    if (!o.negate && !o.absolute) return reinterpret_cast<const T*>(row);
    const uint32_t keep = o.absolute ? 0x7fffffff : ~0u, flip = o.negate ? 0x80000000 : 0;
    for (int l = 0; l < kLanes; ++l) room.x[l] = static_cast<T>((row[l] & keep) ^ flip);
    return room.x;
  }
}

inline void write_row(Wave& w, int row, const uint32_t* value, uint64_t lanes) {
  uint32_t* out = w.v[row];
  if (lanes == kAllLanes) {
    std::memcpy(out, value, sizeof w.v[row]);
    return;
  }
  const LaneMask mask(lanes);
  for (int l = 0; l < kLanes; ++l) out[l] = (value[l] & mask.lane[l]) | (out[l] & ~mask.lane[l]);
}

// clamp and the output factor, on results as floats.
void modify_output(float* x, const Instruction& i);
void modify_output(double* x, const Instruction& i);

// 16-bit results: into the half that op_sel names (bit `n`), the other half zero or kept.
void write_half_row(Wave& w, const Instruction& i, const uint32_t* value, int n, bool keep);

// Writes a result of type T to operand 0; `sources` is their number (for op_sel's bit of the destination).
template <class T>
void store(Wave& w, const Instruction& i, Lanes<T>& result, int sources, bool keep_half = false) {
  const int row = i.operand[0].index;
  [[maybe_unused]] const bool modified = i.modifiers.omod || i.has(kClamp);
  if constexpr (std::is_same_v<T, half>) {
    if (modified) modify_output(result.x, i);
    Row32 bits;
    narrow_halves(bits.x, result.x);
    write_half_row(w, i, bits.x, sources, keep_half);
  } else if constexpr (std::is_same_v<T, brain>) {
    Row32 bits;
    for (int l = 0; l < kLanes; ++l) bits.x[l] = to_brain(result.x[l]);
    write_half_row(w, i, bits.x, sources, keep_half);
  } else if constexpr (sizeof(T) == 8) {
    if constexpr (std::is_same_v<T, double>)
      if (modified) modify_output(result.x, i);
    Row32 low, top;
    const auto* bits = reinterpret_cast<const uint64_t*>(result.x);
    for (int l = 0; l < kLanes; ++l) {
      low.x[l] = static_cast<uint32_t>(bits[l]);
      top.x[l] = static_cast<uint32_t>(bits[l] >> 32);
    }
    write_row(w, row, low.x, w.exec());
    write_row(w, row + 1, top.x, w.exec());
  } else if constexpr (sizeof(T) == 2) {
    Row32 bits;
    for (int l = 0; l < kLanes; ++l) bits.x[l] = static_cast<uint16_t>(result.x[l]);
    write_half_row(w, i, bits.x, sources, keep_half);
  } else {
    if constexpr (std::is_same_v<T, float>)
      if (modified) modify_output(result.x, i);
    write_row(w, row, reinterpret_cast<const uint32_t*>(result.x), w.exec());
  }
}

}  // namespace cdna
