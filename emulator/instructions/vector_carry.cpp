// Additions with carry, and multiplications whose result has 64 bits: they write a mask of lanes too.
#include "instructions/vector.hpp"

namespace cdna {
namespace {

// a + b + carry, or a - b - borrow; the operands are result, mask out, a, b and, with carry, mask in.
template <bool subtract, bool reversed, bool carry>
void add_carry(Wave& w, const Instruction& i) {
  Lanes<uint32_t> room[2], out;
  Lanes<bool> over;
  const uint32_t* a = fetch<uint32_t>(w, i, i.operand[reversed ? 3 : 2], reversed, room[0]);
  const uint32_t* b = fetch<uint32_t>(w, i, i.operand[reversed ? 2 : 3], !reversed, room[1]);
  const LaneMask in(carry ? read_scalar64(w, i.operand[4]) : 0);
  for (int l = 0; l < kLanes; ++l) {
    const uint32_t extra = in.lane[l] & 1;
    const uint32_t x = subtract ? a[l] - b[l] - extra : a[l] + b[l] + extra;
    over.x[l] = subtract ? (b[l] > a[l] || (extra && b[l] == a[l])) : (x < a[l] || (extra && x == a[l]));
    out.x[l] = x;
  }
  const uint64_t lanes = w.exec();
  store<uint32_t>(w, i, out, 2);
  w.set_pair(i.operand[1].index, mask_of(over.x) & lanes);
}

template <class T>
void multiply_add_wide(Wave& w, const Instruction& i) {
  Lanes<uint32_t> room[2];
  Lanes<uint64_t> room_c, out;
  Lanes<bool> over;
  const uint32_t* a = fetch<uint32_t>(w, i, i.operand[2], 0, room[0]);
  const uint32_t* b = fetch<uint32_t>(w, i, i.operand[3], 1, room[1]);
  const uint64_t* c = fetch<uint64_t>(w, i, i.operand[4], 2, room_c);
  for (int l = 0; l < kLanes; ++l) {
    const auto product =
        static_cast<uint64_t>(static_cast<T>(a[l])) * static_cast<uint64_t>(static_cast<T>(b[l]));
    out.x[l] = product + c[l];
    over.x[l] = out.x[l] < product;
  }
  const uint64_t lanes = w.exec();
  store<uint64_t>(w, i, out, 3);
  w.set_pair(i.operand[1].index, mask_of(over.x) & lanes);
}

// Signed overflow of the 64-bit sum; int32 operands widen with their sign.
struct Wide32 {
  int64_t x;
  explicit Wide32(uint32_t bits) : x(static_cast<int32_t>(bits)) {}
  explicit operator uint64_t() const { return static_cast<uint64_t>(x); }
};

Definition with_mask(const char* name, Handler run, bool wide) {
  Definition d{name, run, Class::vector, 2};
  if (wide) d.sources[2] = Type::unsigned64, d.clocks = 16;
  return d;
}

}  // namespace

Definitions vector_carry() {
  return {
      with_mask("v_add_co_u32", add_carry<false, false, false>, false),
      with_mask("v_sub_co_u32", add_carry<true, false, false>, false),
      with_mask("v_subrev_co_u32", add_carry<true, true, false>, false),
      with_mask("v_addc_co_u32", add_carry<false, false, true>, false),
      with_mask("v_subb_co_u32", add_carry<true, false, true>, false),
      with_mask("v_subbrev_co_u32", add_carry<true, true, true>, false),
      with_mask("v_mad_u64_u32", multiply_add_wide<uint32_t>, true),
      with_mask("v_mad_i64_i32", multiply_add_wide<Wide32>, true),
  };
}

}  // namespace cdna
