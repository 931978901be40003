// Vector arithmetic and logic on 32- and 64-bit integers.
#include <algorithm>
#include <bit>

#include "instructions/vector.hpp"

namespace cdna {
namespace {

using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;

constexpr u32 low24(u32 x) { return x & 0xffffff; }
constexpr i32 signed24(u32 x) { return static_cast<i32>(x << 8) >> 8; }

// Fields: the offset and the width count modulo 32.
constexpr u32 field(u32 x, u32 offset, u32 width) { return x >> (offset & 31) & ((1u << (width & 31)) - 1); }
constexpr i32 signed_field(u32 x, u32 offset, u32 width) {
  const u32 bits = field(x, offset, width), sign = 1u << ((width - 1) & 31);
  return (width & 31) ? static_cast<i32>((bits ^ (bits & sign)) - (bits & sign)) : 0;
}

// Each byte of the selector names a byte of {a, b}, a sign, or a constant.
constexpr u32 permute_bytes(u32 a, u32 b, u32 selector) {
  const u64 from = static_cast<u64>(a) << 32 | b;
  u32 out = 0;
  for (int n = 0; n < 4; ++n) {
    const u32 s = selector >> (8 * n) & 0xff;
    u32 byte = 0xff;
    if (s < 8)
      byte = static_cast<u32>(from >> (8 * s)) & 0xff;
    else if (s < 12)
      byte = from >> (16 * (s - 8) + 15) & 1 ? 0xff : 0;
    else if (s == 12)
      byte = 0;
    out |= byte << (8 * n);
  }
  return out;
}

// The common case: the selector is the same in all lanes and names bytes only.
void v_perm_b32(Wave& w, const Instruction& i) {
  Lanes<u32> room[3], out;
  const u32* a = fetch<u32>(w, i, i.operand[1], 0, room[0]);
  const u32* b = fetch<u32>(w, i, i.operand[2], 1, room[1]);
  const u32* c = fetch<u32>(w, i, i.operand[3], 2, room[2]);
  const u32 s = c[0];
  const bool plain = !i.operand[3].is_vector() && !(s & 0xf8f8f8f8);
  if (plain) {
    for (int n = 0; n < 4; ++n) {
      const u32 from = s >> (8 * n) & 7, shift = 8 * (from & 3);
      const u32* word = from < 4 ? b : a;
      for (int l = 0; l < kLanes; ++l) {
        const u32 byte = (word[l] >> shift & 0xff) << (8 * n);
        out.x[l] = n ? out.x[l] | byte : byte;
      }
    }
  } else {
    for (int l = 0; l < kLanes; ++l) out.x[l] = permute_bytes(a[l], b[l], c[l]);
  }
  store<u32>(w, i, out, 3);
}

// Any function of three bits, by its truth table.
void v_bitop3_b32(Wave& w, const Instruction& i) {
  Lanes<u32> room[3], out;
  const u32* a = fetch<u32>(w, i, i.operand[1], 0, room[0]);
  const u32* b = fetch<u32>(w, i, i.operand[2], 1, room[1]);
  const u32* c = fetch<u32>(w, i, i.operand[3], 2, room[2]);
  for (u32& x : out.x) x = 0;
  for (int n = 0; n < 8; ++n) {
    if (!(i.modifiers.bitop3 >> n & 1)) continue;
    const u32 fa = n & 4 ? 0 : ~0u, fb = n & 2 ? 0 : ~0u, fc = n & 1 ? 0 : ~0u;
    for (int l = 0; l < kLanes; ++l) out.x[l] |= (a[l] ^ fa) & (b[l] ^ fb) & (c[l] ^ fc);
  }
  if (i.definition->parameter == 16)
    for (u32& x : out.x) x &= 0xffff;
  store<u32>(w, i, out, 3);
}

void v_cndmask_b32(Wave& w, const Instruction& i) {
  Lanes<u32> room[2], out;
  const LaneMask chosen(i.operands > 3 ? read_scalar64(w, i.operand[3]) : w.vcc());
  const u32* a = fetch<u32>(w, i, i.operand[1], 0, room[0]);
  const u32* b = fetch<u32>(w, i, i.operand[2], 1, room[1]);
  for (int l = 0; l < kLanes; ++l) out.x[l] = (b[l] & chosen.lane[l]) | (a[l] & ~chosen.lane[l]);
  store<u32>(w, i, out, 2);
}

constexpr u32 sum_of_differences(u32 a, u32 b, u32 c, bool masked) {
  for (int n = 0; n < 4; ++n) {
    const i32 x = a >> (8 * n) & 0xff, y = b >> (8 * n) & 0xff;
    if (masked && !y) continue;
    c += static_cast<u32>(x > y ? x - y : y - x);
  }
  return c;
}

constexpr u32 reversed(u32 x) {
  x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
  x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
  x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
  return __builtin_bswap32(x);
}

template <class T>
constexpr T median(T a, T b, T c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

constexpr i32 first_bit_of_sign(u32 x) {
  const u32 flipped = static_cast<i32>(x) < 0 ? ~x : x;
  return flipped ? std::countl_zero(flipped) : -1;
}

// Saturating when the clamp bit is set.
void v_add_u32(Wave& w, const Instruction& i) {
  Lanes<u32> room[2], out;
  const u32* a = fetch<u32>(w, i, i.operand[1], 0, room[0]);
  const u32* b = fetch<u32>(w, i, i.operand[2], 1, room[1]);
  const bool clamp = i.has(kClamp);
  for (int l = 0; l < kLanes; ++l) out.x[l] = a[l] + b[l];
  if (clamp)
    for (int l = 0; l < kLanes; ++l) out.x[l] = out.x[l] < a[l] ? ~0u : out.x[l];
  store<u32>(w, i, out, 2);
}

template <bool reversed>
void v_sub_u32(Wave& w, const Instruction& i) {
  Lanes<u32> room[2], out;
  const u32* a = fetch<u32>(w, i, i.operand[reversed ? 2 : 1], reversed, room[0]);
  const u32* b = fetch<u32>(w, i, i.operand[reversed ? 1 : 2], !reversed, room[1]);
  const bool clamp = i.has(kClamp);
  for (int l = 0; l < kLanes; ++l) out.x[l] = clamp && b[l] > a[l] ? 0 : a[l] - b[l];
  store<u32>(w, i, out, 2);
}

template <bool subtract>
void v_add_i32(Wave& w, const Instruction& i) {
  Lanes<i32> room[2], out;
  const i32* a = fetch<i32>(w, i, i.operand[1], 0, room[0]);
  const i32* b = fetch<i32>(w, i, i.operand[2], 1, room[1]);
  const bool clamp = i.has(kClamp);
  for (int l = 0; l < kLanes; ++l) {
    const i64 x = subtract ? static_cast<i64>(a[l]) - b[l] : static_cast<i64>(a[l]) + b[l];
    out.x[l] = static_cast<i32>(clamp ? std::clamp<i64>(x, INT32_MIN, INT32_MAX) : x);
  }
  store<i32>(w, i, out, 2);
}

Definition special(const char* name, Handler run) { return {name, run, Class::vector}; }

}  // namespace

Definitions vector_integer() {
  Definition bitop16 = special("v_bitop3_b16", v_bitop3_b32);
  bitop16.parameter = 16;
  Definition select = special("v_cndmask_b32", v_cndmask_b32);
  return {
      select,
      bitop16,
      special("v_bitop3_b32", v_bitop3_b32),
      special("v_perm_b32", v_perm_b32),
      special("v_add_u32", v_add_u32),
      special("v_sub_u32", v_sub_u32<false>),
      special("v_subrev_u32", v_sub_u32<true>),
      special("v_add_i32", v_add_i32<false>),
      special("v_sub_i32", v_add_i32<true>),
      vector<[](u32 a) { return a; }>("v_mov_b32"),
      vector<[](u64 a) { return a; }>("v_mov_b64"),
      vector<[](u32 a) { return a; }>("v_accvgpr_read_b32", Class::accumulator_move),
      vector<[](u32 a) { return a; }>("v_accvgpr_write_b32", Class::accumulator_move),
      vector<[](u32 a) { return a; }>("v_accvgpr_mov_b32", Class::accumulator_move),
      vector<[](u32 a) { return ~a; }>("v_not_b32"),
      vector<[](u32 a) { return reversed(a); }>("v_bfrev_b32"),
      vector<[](u32 a) { return a ? std::countl_zero(a) : -1; }>("v_ffbh_u32"),
      vector<[](u32 a) { return a ? std::countr_zero(a) : -1; }>("v_ffbl_b32"),
      vector<[](u32 a) { return first_bit_of_sign(a); }>("v_ffbh_i32"),
      vector<[](u32 a, u32 b) { return a & b; }>("v_and_b32"),
      vector<[](u32 a, u32 b) { return a | b; }>("v_or_b32"),
      vector<[](u32 a, u32 b) { return a ^ b; }>("v_xor_b32"),
      vector<[](u32 a, u32 b) { return ~(a ^ b); }>("v_xnor_b32"),
      vector<[](u32 a, u32 b) { return b << (a & 31); }>("v_lshlrev_b32"),
      vector<[](u32 a, u32 b) { return (b >> (a & 31)); }>("v_lshrrev_b32"),
      vector<[](u32 a, i32 b) { return (b >> (a & 31)); }>("v_ashrrev_i32"),
      vector<[](u32 a, u64 b) { return b << (a & 63); }>("v_lshlrev_b64"),
      vector<[](u32 a, u64 b) { return (b >> (a & 63)); }>("v_lshrrev_b64"),
      vector<[](u32 a, i64 b) { return (b >> (a & 63)); }>("v_ashrrev_i64"),
      vector<[](u32 a, u32 b) { return low24(a) * low24(b); }>("v_mul_u32_u24"),
      vector<[](u32 a, u32 b) { return (static_cast<u32>(static_cast<u64>(low24(a)) * low24(b) >> 32)); }>(
          "v_mul_hi_u32_u24"),
      vector<[](u32 a, u32 b) { return static_cast<u32>(static_cast<i64>(signed24(a)) * signed24(b)); }>(
          "v_mul_i32_i24"),
      vector<[](u32 a, u32 b) {
        return (static_cast<u32>(static_cast<i64>(signed24(a)) * signed24(b) >> 32));
      }>("v_mul_hi_i32_i24"),
      clocks(vector<[](u32 a, u32 b) { return a * b; }>("v_mul_lo_u32"), 16),
      clocks(vector<[](u32 a, u32 b) { return (static_cast<u32>(static_cast<u64>(a) * b >> 32)); }>(
                 "v_mul_hi_u32"),
             16),
      clocks(vector<[](i32 a, i32 b) { return (static_cast<u32>(static_cast<i64>(a) * b >> 32)); }>(
                 "v_mul_hi_i32"),
             16),
      vector<[](i32 a, i32 b) { return std::min(a, b); }>("v_min_i32"),
      vector<[](i32 a, i32 b) { return std::max(a, b); }>("v_max_i32"),
      vector<[](u32 a, u32 b) { return std::min(a, b); }>("v_min_u32"),
      vector<[](u32 a, u32 b) { return std::max(a, b); }>("v_max_u32"),
      vector<[](i32 a, i32 b, i32 c) { return std::min(std::min(a, b), c); }>("v_min3_i32"),
      vector<[](i32 a, i32 b, i32 c) { return std::max(std::max(a, b), c); }>("v_max3_i32"),
      vector<[](i32 a, i32 b, i32 c) { return median(a, b, c); }>("v_med3_i32"),
      vector<[](u32 a, u32 b, u32 c) { return std::min(std::min(a, b), c); }>("v_min3_u32"),
      vector<[](u32 a, u32 b, u32 c) { return std::max(std::max(a, b), c); }>("v_max3_u32"),
      vector<[](u32 a, u32 b, u32 c) { return median(a, b, c); }>("v_med3_u32"),
      vector<[](u32 a, u32 b, u32 c) { return a + b + c; }>("v_add3_u32"),
      vector<[](u32 a, u32 b, u32 c) { return (a << (b & 31)) + c; }>("v_lshl_add_u32"),
      vector<[](u32 a, u32 b, u32 c) { return (a + b) << (c & 31); }>("v_add_lshl_u32"),
      vector<[](u32 a, u32 b, u32 c) { return (a << (b & 31)) | c; }>("v_lshl_or_b32"),
      vector<[](u32 a, u32 b, u32 c) { return (a & b) | c; }>("v_and_or_b32"),
      vector<[](u32 a, u32 b, u32 c) { return a | b | c; }>("v_or3_b32"),
      vector<[](u32 a, u32 b, u32 c) { return (a ^ b) + c; }>("v_xad_u32"),
      vector<[](u32 a, u32 b, u32 c) { return field(a, b, c); }>("v_bfe_u32"),
      vector<[](u32 a, u32 b, u32 c) { return signed_field(a, b, c); }>("v_bfe_i32"),
      vector<[](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); }>("v_bfi_b32"),
      vector<[](u32 a, u32 b) { return ((1u << (a & 31)) - 1) << (b & 31); }>("v_bfm_b32"),
      vector<[](u32 a, u32 b) { return static_cast<u32>(std::popcount(a)) + b; }>("v_bcnt_u32_b32"),
      vector<[](u32 a, u32 b, u32 c) {
        return (static_cast<u32>((static_cast<u64>(a) << 32 | b) >> (c & 31)));
      }>("v_alignbit_b32"),
      vector<[](u32 a, u32 b, u32 c) {
        return (static_cast<u32>((static_cast<u64>(a) << 32 | b) >> (8 * (c & 3))));
      }>("v_alignbyte_b32"),
      vector<[](u32 a, u32 b, u32 c) { return low24(a) * low24(b) + c; }>("v_mad_u32_u24"),
      vector<[](u32 a, u32 b, u32 c) {
        return static_cast<u32>(static_cast<i64>(signed24(a)) * signed24(b)) + c;
      }>("v_mad_i32_i24"),
      vector<[](u32 a, u32 b, u32 c) { return sum_of_differences(a, b, c, false); }>("v_sad_u8"),
      vector<[](u32 a, u32 b, u32 c) { return sum_of_differences(a, b, c, true); }>("v_msad_u8"),
      vector<[](u32 a, u32 b, u32 c) { return ((a > b ? a - b : b - a) + c); }>("v_sad_u32"),
      vector<[](u64 a, u32 b, u64 c) { return (a << (b & 63)) + c; }>("v_lshl_add_u64"),
      vector<[](u32 a) { return ((a << 1) ^ (a >> 31 ? 197u : 0u)); }>("v_prng_b32"),
  };
}

}  // namespace cdna
