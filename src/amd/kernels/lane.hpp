// A lane of a wave: the value on which GPU code applies the rules of src/meaning, and what lanes tell each
// other.
#pragma once

#include "meaning/target.hpp"

#define FLASHWAVE_DEVICE __attribute__((device, always_inline)) inline
#define FLASHWAVE_GLOBAL __attribute__((address_space(1)))
#define FLASHWAVE_LDS __attribute__((address_space(3)))
// Arrays stay in registers only if every loop over them is unrolled.
#define FLASHWAVE_EACH(i, n) _Pragma("unroll") for (int i = 0; i < (n); ++i)

namespace fw::FLASHWAVE_TARGET {

using u16 = unsigned short;
template <class T, int N>
using vec = T __attribute__((ext_vector_type(N)));
using f32x4 = vec<float, 4>;
using u32x2 = vec<u32, 2>;
using u32x4 = vec<u32, 4>;

inline constexpr int lanes = 64;

template <class To, class From>
FLASHWAVE_DEVICE To as(From x) {
  return __builtin_bit_cast(To, x);
}

// One value of a vector, for itself: else the compiler computes with pairs of them, and moves them to where
// pairs may lie.
FLASHWAVE_DEVICE float apart(float x) {
  asm("" : "+v"(x));
  return x;
}

// The value is computed by here.
FLASHWAVE_DEVICE void settle(float& x) { asm volatile("" : "+v"(x)); }

struct Lane {
  float x;
  FLASHWAVE_DEVICE Lane() {}
  FLASHWAVE_DEVICE explicit Lane(float value) : x(value) {}
};
FLASHWAVE_DEVICE Lane operator+(Lane a, Lane b) { return Lane(a.x + b.x); }
FLASHWAVE_DEVICE Lane operator-(Lane a, Lane b) { return Lane(a.x - b.x); }
FLASHWAVE_DEVICE Lane operator*(Lane a, Lane b) { return Lane(a.x * b.x); }
FLASHWAVE_DEVICE Lane operator/(Lane a, Lane b) { return Lane(a.x / b.x); }
FLASHWAVE_DEVICE bool operator==(Lane a, Lane b) { return a.x == b.x; }
FLASHWAVE_DEVICE Lane select(bool condition, Lane a, Lane b) { return Lane(condition ? a.x : b.x); }
FLASHWAVE_DEVICE Lane max(Lane a, Lane b) { return Lane(__builtin_fmaxf(a.x, b.x)); }
FLASHWAVE_DEVICE Lane abs(Lane a) { return Lane(__builtin_fabsf(a.x)); }
FLASHWAVE_DEVICE Lane exp2(Lane a) { return Lane(__builtin_amdgcn_exp2f(a.x)); }
FLASHWAVE_DEVICE Lane log2(Lane a) { return Lane(__builtin_amdgcn_logf(a.x)); }

// From exp2 where that is exact enough, near 0 from the series.
FLASHWAVE_DEVICE Lane tanh(Lane a) {
  const float size = __builtin_fabsf(a.x), square = a.x * a.x;
  const float e = __builtin_amdgcn_exp2f(size * (-2 * log2_e));
  const float large = __builtin_copysignf((1 - e) * __builtin_amdgcn_rcpf(1 + e), a.x);
  float series = __builtin_fmaf(square, 62.0f / 2835, -17.0f / 315);
  series = __builtin_fmaf(square, series, 2.0f / 15);
  series = __builtin_fmaf(square, series, -1.0f / 3);
  const float small = __builtin_fmaf(a.x * square, series, a.x);
  return Lane(size < 0.25f ? small : large);
}

// 32 bits of a lane, for dropout's numbers.
struct Word {
  u32 x;
  FLASHWAVE_DEVICE Word() {}
  FLASHWAVE_DEVICE explicit Word(u32 value) : x(value) {}
};
FLASHWAVE_DEVICE Word operator^(Word a, Word b) { return Word(a.x ^ b.x); }
FLASHWAVE_DEVICE Word operator&(Word a, Word b) { return Word(a.x & b.x); }
FLASHWAVE_DEVICE bool operator<(Word a, Word b) { return a.x < b.x; }
FLASHWAVE_DEVICE Word operator>>(Word a, int count) { return Word(a.x >> count); }
FLASHWAVE_DEVICE void multiply_wide(Word a, u32 b, Word& high, Word& low) {
  const u64 product = (u64)a.x * b;
  high = Word((u32)(product >> 32));
  low = Word((u32)product);
}

FLASHWAVE_DEVICE int lane_id() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)); }
// The compiler does not see that a value derived from the thread's number is the same in all lanes.
FLASHWAVE_DEVICE int uniform(int x) { return __builtin_amdgcn_readfirstlane(x); }

// The kernel's only argument, to be read when it is needed: the compiler would read all of it at the start of
// the kernel and then lack scalar registers for the rest. The empty instruction hides that the pointer is
// always the same.
template <class Launch>
FLASHWAVE_DEVICE const Launch& arguments() {
  auto* segment = __builtin_amdgcn_kernarg_segment_ptr();
  asm volatile("" : "+s"(segment));
  return *(const Launch*)segment;
}

// The value of the lane whose number differs in bit 4, in bit 5. gfx9 has no other way across half a wave
// than through the LDS crossbar; ds_swizzle stays within 32 lanes, ds_bpermute does not.
FLASHWAVE_DEVICE u32 across_16(u32 x) { return __builtin_amdgcn_ds_swizzle(x, 0x1f | 16 << 10); }
FLASHWAVE_DEVICE u32 across_32(u32 x) { return __builtin_amdgcn_ds_bpermute((lane_id() ^ 32) * 4, x); }

// What the four lanes that share a row (l, l ^ 16, l ^ 32, l ^ 48) have together.
FLASHWAVE_DEVICE float row_max(float x) {
  x = __builtin_fmaxf(x, as<float>(across_16(as<u32>(x))));
  return __builtin_fmaxf(x, as<float>(across_32(as<u32>(x))));
}
FLASHWAVE_DEVICE float row_sum(float x) {
  x += as<float>(across_16(as<u32>(x)));
  return x + as<float>(across_32(as<u32>(x)));
}

}  // namespace fw::FLASHWAVE_TARGET
