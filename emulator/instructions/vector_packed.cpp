// Packed arithmetic: two fp16 or 16-bit integers in a register, two fp32 in a pair; and fp16 mixed with fp32.
#include <algorithm>
#include <limits>

#include "instructions/vector.hpp"

namespace cdna {
namespace {

// Half `part` (0, 1) of source n is chosen by op_sel or op_sel_hi, negated by neg_lo or neg_hi.
bool chosen_high(const Instruction& i, int part, int n) {
  return (part ? i.modifiers.op_sel_hi : i.modifiers.op_sel) >> n & 1;
}
bool negated(const Instruction& i, int part, int n) {
  return (part ? i.modifiers.neg_hi : i.modifiers.neg_lo) >> n & 1;
}

inline float larger(float a, float b) {
  const bool above = a > b || (a == b && !(as_bits(a) >> 31));
  return a != a ? b : b != b ? a : above ? a : b;
}
inline float smaller(float a, float b) {
  const bool below = a < b || (a == b && as_bits(a) >> 31);
  return a != a ? b : b != b ? a : below ? a : b;
}

// These let a NaN through.
inline float maximum(float a, float b) { return a != a || b != b ? as_float(0x7fc00000) : larger(a, b); }
inline float minimum(float a, float b) { return a != a || b != b ? as_float(0x7fc00000) : smaller(a, b); }

// --- two fp16 ---------------------------------------------------------------------------------------------

const float* half_part(const Wave& w, const Instruction& i, int n, int part, Lanes<half>& room) {
  Row32 spread;
  widen_halves(room.x, read_row(w, i.operand[1 + n], spread), chosen_high(i, part, n));
  if (half_mode_flushes_input(w))
    for (float& x : room.x) x = std::abs(x) < 0x1p-14f ? std::copysign(0.0f, x) : x;
  if (negated(i, part, n))
    for (float& x : room.x) x = -x;
  return room.x;
}

template <auto op, int sources, bool accumulate = false>
void packed_half(Wave& w, const Instruction& i) {
  const FloatScope scope(FloatMode::single(w.mode), float_part<half>(w.mode));
  Row32 out{};
  for (int part = 0; part < 2; ++part) {
    Lanes<half> room[3];
    const float* in[3] = {};
    for (int n = 0; n < sources; ++n) in[n] = half_part(w, i, n, part, room[n]);
    if (accumulate) {
      widen_halves(room[2].x, w.v[i.operand[0].index], part);
      in[2] = room[2].x;
    }
    Lanes<float> result;
    for (int l = 0; l < kLanes; ++l) {
      if constexpr (sources == 3 || accumulate)
        result.x[l] = op(in[0][l], in[1][l], in[2][l]);
      else
        result.x[l] = op(in[0][l], in[1][l]);
    }
    if (i.has(kClamp)) modify_output(result.x, i);
    Row32 bits;
    narrow_halves(bits.x, result.x);
    const bool flush = !(w.mode >> 7 & 1);
    for (int l = 0; l < kLanes; ++l) {
      const uint32_t x = flush && !(bits.x[l] & 0x7c00) ? bits.x[l] & 0x8000 : bits.x[l];
      out.x[l] |= x << (16 * part);
    }
  }
  write_row(w, i.operand[0].index, out.x, w.exec());
}

inline float fused_half(float a, float b, float c) {
  return to_odd(static_cast<double>(a) * b + static_cast<double>(c));
}

// --- two 16-bit integers ----------------------------------------------------------------------------------

template <class T, auto op, int sources>
void packed_short(Wave& w, const Instruction& i) {
  Row32 out{};
  for (int part = 0; part < 2; ++part) {
    Lanes<T> in[3];
    for (int n = 0; n < sources; ++n) {
      Row32 spread;
      const uint32_t* row = read_row(w, i.operand[1 + n], spread);
      const int shift = chosen_high(i, part, n) ? 16 : 0;
      for (int l = 0; l < kLanes; ++l) in[n].x[l] = static_cast<T>(row[l] >> shift);
    }
    for (int l = 0; l < kLanes; ++l) {
      int x;
      if constexpr (sources == 3)
        x = op(in[0].x[l], in[1].x[l], in[2].x[l]);
      else
        x = op(in[0].x[l], in[1].x[l]);
      if (i.has(kClamp)) x = std::clamp<int>(x, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
      out.x[l] |= static_cast<uint32_t>(static_cast<uint16_t>(x)) << (16 * part);
    }
  }
  write_row(w, i.operand[0].index, out.x, w.exec());
}

// --- two fp32 ---------------------------------------------------------------------------------------------

const float* single_part(const Wave& w, const Instruction& i, int n, int part, Lanes<float>& room) {
  const Operand& o = i.operand[1 + n];
  // A constant has one word: both parts read it.
  const int word = o.is_constant() ? 0 : chosen_high(i, part, n);
  const uint32_t* row = read_row(w, o, reinterpret_cast<Row32&>(room), word);
  if (!negated(i, part, n)) return reinterpret_cast<const float*>(row);
  auto* out = reinterpret_cast<uint32_t*>(room.x);
  for (int l = 0; l < kLanes; ++l) out[l] = row[l] ^ 0x80000000;
  return room.x;
}

template <auto op, int sources>
void packed_single(Wave& w, const Instruction& i) {
  Lanes<float> result[2];
  for (int part = 0; part < 2; ++part) {
    Lanes<float> room[3];
    const float* in[3] = {};
    for (int n = 0; n < sources; ++n) in[n] = single_part(w, i, n, part, room[n]);
    for (int l = 0; l < kLanes; ++l) {
      if constexpr (sources == 3)
        result[part].x[l] = op(in[0][l], in[1][l], in[2][l]);
      else
        result[part].x[l] = op(in[0][l], in[1][l]);
    }
    if (i.has(kClamp)) modify_output(result[part].x, i);
  }
  for (int part = 0; part < 2; ++part)
    write_row(w, i.operand[0].index + part, reinterpret_cast<uint32_t*>(result[part].x), w.exec());
}

void v_pk_mov_b32(Wave& w, const Instruction& i) {
  Row32 room[2], out[2];
  for (int part = 0; part < 2; ++part) {
    const uint32_t* row = read_row(w, i.operand[1 + part], room[part], i.modifiers.op_sel >> part & 1);
    std::memcpy(out[part].x, row, sizeof out[part].x);
  }
  for (int part = 0; part < 2; ++part) write_row(w, i.operand[0].index + part, out[part].x, w.exec());
}

// --- mixed ------------------------------------------------------------------------------------------------

// op_sel_hi says that a source is fp16, op_sel in which half; neg_lo negates, neg_hi takes the absolute
// value.
const float* mixed_source(const Wave& w, const Instruction& i, int n, Lanes<float>& room) {
  const Operand& o = i.operand[1 + n];
  Row32 spread;
  const uint32_t* row = read_row(w, o, spread);
  if (i.modifiers.op_sel_hi >> n & 1)
    widen_halves(room.x, row, i.modifiers.op_sel >> n & 1);
  else
    std::memcpy(room.x, row, sizeof room.x);
  if (o.absolute || i.modifiers.neg_hi >> n & 1)
    for (float& x : room.x) x = std::abs(x);
  if (o.negate || i.modifiers.neg_lo >> n & 1)
    for (float& x : room.x) x = -x;
  return room.x;
}

enum class Into : uint8_t { single, low, high };

template <Into into>
void fma_mix(Wave& w, const Instruction& i) {
  Lanes<float> room[3], result;
  const float* in[3];
  for (int n = 0; n < 3; ++n) in[n] = mixed_source(w, i, n, room[n]);
  for (int l = 0; l < kLanes; ++l) result.x[l] = std::fma(in[0][l], in[1][l], in[2][l]);
  if (i.has(kClamp)) modify_output(result.x, i);
  const int row = i.operand[0].index;
  if constexpr (into == Into::single) {
    write_row(w, row, reinterpret_cast<uint32_t*>(result.x), w.exec());
  } else {
    Row32 bits;
    narrow_halves(bits.x, result.x);
    const uint32_t* old = w.v[row];
    for (int l = 0; l < kLanes; ++l)
      bits.x[l] =
          into == Into::high ? bits.x[l] << 16 | (old[l] & 0xffff) : bits.x[l] | (old[l] & 0xffff0000);
    write_row(w, row, bits.x, w.exec());
  }
}

Definition packed(const char* name, Handler run, Type type, bool accumulates = false) {
  Definition d{name, run, Class::packed};
  d.sources.fill(type);
  d.accumulates = accumulates;
  return d;
}

Definition mixed(const char* name, Handler run, bool keeps) {
  Definition d{name, run, Class::vector};
  d.sources.fill(Type::single);
  d.accumulates = keeps;
  d.parameter = kDefaultLow;
  return d;
}

template <class T, auto op, int sources>
Definition shorts(const char* name) {
  return packed(name, packed_short<T, op, sources>, Type::bits);
}

}  // namespace

Definitions vector_packed() {
  using u16 = uint16_t;
  using i16 = int16_t;
  constexpr auto product = [](u16 a, u16 b) {
    return static_cast<int>(static_cast<uint32_t>(a) * b & 0xffff);
  };
  constexpr auto mad = [](u16 a, u16 b, u16 c) {
    return static_cast<int>((static_cast<uint32_t>(a) * b + c));
  };
  return {
      packed("v_pk_add_f16", packed_half<[](float a, float b) { return a + b; }, 2>, Type::half),
      packed("v_pk_mul_f16", packed_half<[](float a, float b) { return a * b; }, 2>, Type::half),
      packed("v_pk_max_f16", packed_half<[](float a, float b) { return larger(a, b); }, 2>, Type::half),
      packed("v_pk_min_f16", packed_half<[](float a, float b) { return smaller(a, b); }, 2>, Type::half),
      packed("v_pk_fma_f16", packed_half<[](float a, float b, float c) { return fused_half(a, b, c); }, 3>,
             Type::half),
      packed("v_pk_fmac_f16",
             packed_half<[](float a, float b, float c) { return fused_half(a, b, c); }, 2, true>, Type::half,
             true),
      packed("v_pk_maximum3_f16",
             packed_half<[](float a, float b, float c) { return maximum(maximum(a, b), c); }, 3>, Type::half),
      packed("v_pk_minimum3_f16",
             packed_half<[](float a, float b, float c) { return minimum(minimum(a, b), c); }, 3>, Type::half),
      packed("v_pk_add_f32", packed_single<[](float a, float b) { return a + b; }, 2>, Type::single),
      packed("v_pk_mul_f32", packed_single<[](float a, float b) { return a * b; }, 2>, Type::single),
      packed("v_pk_fma_f32", packed_single<[](float a, float b, float c) { return std::fma(a, b, c); }, 3>,
             Type::single),
      packed("v_pk_mov_b32", v_pk_mov_b32, Type::bits),
      shorts<u16, [](u16 a, u16 b) { return a + b; }, 2>("v_pk_add_u16"),
      shorts<u16, [](u16 a, u16 b) { return a - b; }, 2>("v_pk_sub_u16"),
      shorts<i16, [](i16 a, i16 b) { return a + b; }, 2>("v_pk_add_i16"),
      shorts<i16, [](i16 a, i16 b) { return a - b; }, 2>("v_pk_sub_i16"),
      shorts<u16, product, 2>("v_pk_mul_lo_u16"),
      shorts<u16, mad, 3>("v_pk_mad_u16"),
      shorts<i16, [](i16 a, i16 b, i16 c) { return a * b + c; }, 3>("v_pk_mad_i16"),
      shorts<u16, [](u16 a, u16 b) { return b << (a & 15); }, 2>("v_pk_lshlrev_b16"),
      shorts<u16, [](u16 a, u16 b) { return (b >> (a & 15)); }, 2>("v_pk_lshrrev_b16"),
      shorts<i16, [](i16 a, i16 b) { return (b >> (a & 15)); }, 2>("v_pk_ashrrev_i16"),
      shorts<u16, [](u16 a, u16 b) { return static_cast<int>(std::max(a, b)); }, 2>("v_pk_max_u16"),
      shorts<i16, [](i16 a, i16 b) { return static_cast<int>(std::max(a, b)); }, 2>("v_pk_max_i16"),
      shorts<u16, [](u16 a, u16 b) { return static_cast<int>(std::min(a, b)); }, 2>("v_pk_min_u16"),
      shorts<i16, [](i16 a, i16 b) { return static_cast<int>(std::min(a, b)); }, 2>("v_pk_min_i16"),
      mixed("v_fma_mix_f32", fma_mix<Into::single>, false),
      mixed("v_fma_mixlo_f16", fma_mix<Into::low>, true),
      mixed("v_fma_mixhi_f16", fma_mix<Into::high>, true),
  };
}

}  // namespace cdna
