// Dot products of two, four or eight narrow numbers, added to a 32-bit sum.
#include "instructions/vector.hpp"

namespace cdna {
namespace {

// Both inputs and the result lose subnormals, whatever MODE says.
float flushed(float x) { return std::abs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }

struct Pair {
  float low, high;
};

template <class T>
Pair pair_of(uint32_t x) {
  if constexpr (std::is_same_v<T, half>)
    return {from_half(static_cast<uint16_t>(x)), from_half(static_cast<uint16_t>(x >> 16))};
  else
    return {from_brain(static_cast<uint16_t>(x)), from_brain(static_cast<uint16_t>(x >> 16))};
}

// VOP3P: neg_lo and neg_hi, and op_sel picks halves; the accumulating VOP2 form has none of them.
template <class T>
uint32_t arranged(const Instruction& i, uint32_t x, int n) {
  const uint32_t low = i.modifiers.op_sel >> n & 1 ? x >> 16 : x & 0xffff;
  const uint32_t high = i.modifiers.op_sel_hi >> n & 1 ? x >> 16 : x & 0xffff;
  return (low ^ (i.modifiers.neg_lo >> n & 1) << 15) | (high ^ (i.modifiers.neg_hi >> n & 1) << 15) << 16;
}

template <class T, bool accumulate>
void dot_two(Wave& w, const Instruction& i) {
  Row32 room[2];
  Lanes<float> room_c, out;
  const uint32_t* a = read_row(w, i.operand[1], room[0]);
  const uint32_t* b = read_row(w, i.operand[2], room[1]);
  const float* c = accumulate ? reinterpret_cast<const float*>(w.v[i.operand[0].index])
                              : fetch<float>(w, i, i.operand[3], 2, room_c);
  for (int l = 0; l < kLanes; ++l) {
    const Pair x = pair_of<T>(arranged<T>(i, a[l], 0)), y = pair_of<T>(arranged<T>(i, b[l], 1));
    const float sum = std::fma(flushed(x.low), flushed(y.low), flushed(c[l]));
    out.x[l] = flushed(std::fma(flushed(x.high), flushed(y.high), sum));
  }
  store<float>(w, i, out, 3);
}

template <int bits, bool is_signed>
int32_t element(uint32_t x, int n) {
  const uint32_t field = x >> (bits * n) & ((1u << bits) - 1);
  return is_signed ? static_cast<int32_t>(field << (32 - bits)) >> (32 - bits) : static_cast<int32_t>(field);
}

template <int bits, bool is_signed, bool accumulate>
void dot_integers(Wave& w, const Instruction& i) {
  Row32 room[3], out;
  const uint32_t* a = read_row(w, i.operand[1], room[0]);
  const uint32_t* b = read_row(w, i.operand[2], room[1]);
  const uint32_t* c = accumulate ? w.v[i.operand[0].index] : read_row(w, i.operand[3], room[2]);
  for (int l = 0; l < kLanes; ++l) {
    int64_t sum = is_signed ? static_cast<int64_t>(static_cast<int32_t>(c[l])) : static_cast<int64_t>(c[l]);
    for (int n = 0; n < 32 / bits; ++n)
      sum += static_cast<int64_t>(element<bits, is_signed>(a[l], n)) * element<bits, is_signed>(b[l], n);
    if (i.has(kClamp)) {
      const int64_t low = is_signed ? INT32_MIN : 0, high = is_signed ? INT32_MAX : UINT32_MAX;
      sum = sum < low ? low : sum > high ? high : sum;
    }
    out.x[l] = static_cast<uint32_t>(sum);
  }
  write_row(w, i.operand[0].index, out.x, w.exec());
}

Definition dot(const char* name, Handler run, bool accumulates) {
  Definition d{name, run, Class::packed};
  d.accumulates = accumulates;
  d.sources = {Type::bits, Type::bits, Type::single, Type::single};
  return d;
}

}  // namespace

Definitions vector_dot() {
  return {
      dot("v_dot2_f32_f16", dot_two<half, false>, false),
      dot("v_dot2_f32_bf16", dot_two<brain, false>, false),
      dot("v_dot2c_f32_f16", dot_two<half, true>, true),
      dot("v_dot2c_f32_bf16", dot_two<brain, true>, true),
      dot("v_dot2_i32_i16", dot_integers<16, true, false>, false),
      dot("v_dot2_u32_u16", dot_integers<16, false, false>, false),
      dot("v_dot4_i32_i8", dot_integers<8, true, false>, false),
      dot("v_dot4_u32_u8", dot_integers<8, false, false>, false),
      dot("v_dot8_i32_i4", dot_integers<4, true, false>, false),
      dot("v_dot8_u32_u4", dot_integers<4, false, false>, false),
      dot("v_dot2c_i32_i16", dot_integers<16, true, true>, true),
      dot("v_dot4c_i32_i8", dot_integers<8, true, true>, true),
      dot("v_dot8c_i32_i4", dot_integers<4, true, true>, true),
  };
}

}  // namespace cdna
