#include "instructions/flat_address.hpp"

namespace cdna {

Addresses global_addresses(const Wave& w, const Instruction& i, const Operand& vaddr, const Operand* saddr) {
  Addresses a;
  const auto offset = static_cast<uint64_t>(static_cast<int64_t>(i.modifiers.offset));
  if (saddr && saddr->is_scalar()) {
    const uint64_t base = w.pair(saddr->index) + offset;
    const uint32_t* low = w.v[vaddr.index];
    for (int l = 0; l < kLanes; ++l) a.lane[l] = base + low[l];
    return a;
  }
  const uint32_t *low = w.v[vaddr.index], *high = w.v[vaddr.index + 1];
  for (int l = 0; l < kLanes; ++l) a.lane[l] = (static_cast<uint64_t>(high[l]) << 32 | low[l]) + offset;
  return a;
}

FlatAccess split_flat(const Wave& w, const Addresses& a) {
  FlatAccess f;
  f.address = a;
  const uint64_t lanes = w.exec();
  for (int l = 0; l < kLanes; ++l) {
    const uint64_t window = a.lane[l] & ~(kApertureBytes - 1);
    const uint64_t bit = lanes & 1ull << l;
    f.offset[l] = static_cast<uint32_t>(a.lane[l]);
    (window == kSharedBase ? f.local : window == kPrivateBase ? f.scratch : f.global) |= bit;
  }
  return f;
}

void scratch_addresses(const Wave& w, const Instruction& i, const Operand& vaddr, const Operand& saddr,
                       uint32_t (&at)[kLanes]) {
  const uint32_t base =
      static_cast<uint32_t>(i.modifiers.offset) + (saddr.is_scalar() ? w.s[saddr.index] : 0);
  for (int l = 0; l < kLanes; ++l) at[l] = base + (vaddr.is_vector() ? w.v[vaddr.index][l] : 0);
}

Data extended(const Data& data, Shape shape) {
  if (shape.bytes >= 4) return data;
  Data out = data;
  const int unused = 32 - 8 * shape.bytes;
  for (uint32_t& x : out.word[0])
    x = shape.is_signed ? static_cast<uint32_t>(static_cast<int32_t>(x << unused) >> unused)
                        : x << unused >> unused;
  return out;
}

const Shapes& load_shapes() {
  static const Shapes shapes = {
      {"ubyte", {1}},
      {"sbyte", {1, true}},
      {"ushort", {2}},
      {"sshort", {2, true}},
      {"dword", {4}},
      {"dwordx2", {8}},
      {"dwordx3", {12}},
      {"dwordx4", {16}},
      {"ubyte_d16", {1, false, Shape::low}},
      {"ubyte_d16_hi", {1, false, Shape::high}},
      {"sbyte_d16", {1, true, Shape::low}},
      {"sbyte_d16_hi", {1, true, Shape::high}},
      {"short_d16", {2, false, Shape::low}},
      {"short_d16_hi", {2, false, Shape::high}},
  };
  return shapes;
}

const Shapes& store_shapes() {
  static const Shapes shapes = {
      {"byte", {1}},     {"byte_d16_hi", {1, false, Shape::high}},
      {"short", {2}},    {"short_d16_hi", {2, false, Shape::high}},
      {"dword", {4}},    {"dwordx2", {8}},
      {"dwordx3", {12}}, {"dwordx4", {16}},
  };
  return shapes;
}

const Shapes& lds_load_shapes() {
  static const Shapes shapes = {{"ubyte", {1}}, {"sbyte", {1, true}}, {"ushort", {2}},  {"sshort", {2, true}},
                                {"dword", {4}}, {"dwordx3", {12}},    {"dwordx4", {16}}};
  return shapes;
}

}  // namespace cdna
