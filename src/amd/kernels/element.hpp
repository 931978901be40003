// Element types of tensors: their matrix products, and how floats become them.
//
// A lane works on units of 16 bytes. The 16x16 matrix instructions (CDNA3 ISA, "Matrix Arithmetic
// Instructions": A and B hold row l % 16, k = K/4 * (l/16) + e; C and D hold column l % 16, row 4 * (l/16) +
// g) multiply A^T by B over k; any order of k will do as long as A and B agree on it. So unit e of A times
// unit e of B is the product over 4 units of 16 bytes, one of each group of 16 lanes, whatever K the
// instruction has.
#pragma once

#include "amd/kernels/lane.hpp"
#include "meaning/args.hpp"

namespace fw::FLASHWAVE_TARGET {

using Unit16 = u32x4;

using half_unit = vec<short, 4>;
FLASHWAVE_DEVICE half_unit half_of(Unit16 x, int i) {
  return as<half_unit>(i ? u32x2{x[2], x[3]} : u32x2{x[0], x[1]});
}
using f32x16 = vec<float, 16>;

// Instructions that two units of 16-bit elements make, and whether weights are best cut to 16 bits: gfx950
// rounds as cheaply.
#if defined(__gfx950__)
inline constexpr int steps_of_unit = 1;
inline constexpr bool weights_are_cut = false;
#else
inline constexpr int steps_of_unit = 2;
inline constexpr bool weights_are_cut = true;
#endif

FLASHWAVE_DEVICE u32 low_halves(u32 low, u32 high) { return __builtin_amdgcn_perm(high, low, 0x05040100u); }
FLASHWAVE_DEVICE u32 high_halves(u32 low, u32 high) { return __builtin_amdgcn_perm(high, low, 0x07060302u); }

struct Fp32 {
  using Stored = float;
  static constexpr int unit = 4;  // elements
  static constexpr u32 sign = 0x80000000u;

  static FLASHWAVE_DEVICE float widen(float x) { return x; }
  static FLASHWAVE_DEVICE float narrow_one(float x) { return x; }
  static FLASHWAVE_DEVICE f32x4 mma(Unit16 a, Unit16 b, f32x4 c) {
    FLASHWAVE_EACH(e, 4)
    c = __builtin_amdgcn_mfma_f32_16x16x4f32(as<float>(a[e]), as<float>(b[e]), c, 0, 0, 0);
    return c;
  }
};

struct Fp16 {
  using Stored = u16;
  static constexpr int unit = 8, steps = steps_of_unit;
  static constexpr bool cuts = weights_are_cut;
  static constexpr u32 sign = 0x80008000u;
  static constexpr short one = 0x3c00;
  using x4 = vec<_Float16, 4>;
  using x8 = vec<_Float16, 8>;

  static FLASHWAVE_DEVICE float widen(u16 x) { return (float)as<_Float16>(x); }
  static FLASHWAVE_DEVICE u16 narrow_one(float x) { return as<u16>((_Float16)x); }
  static FLASHWAVE_DEVICE u32 narrow_two(float low, float high) {
    return as<u32>(vec<_Float16, 2>{(_Float16)low, (_Float16)high});
  }
  static FLASHWAVE_DEVICE u32 cut_two(float low, float high) {
    return cuts ? as<u32>(__builtin_amdgcn_cvt_pkrtz(low, high)) : narrow_two(low, high);
  }
  // One step of the product of two units, in either shape.
  static FLASHWAVE_DEVICE f32x4 mma(Unit16 a, Unit16 b, f32x4 c, [[maybe_unused]] int step) {
#if defined(__gfx950__)
    return __builtin_amdgcn_mfma_f32_16x16x32_f16(as<x8>(a), as<x8>(b), c, 0, 0, 0);
#else
    return __builtin_amdgcn_mfma_f32_16x16x16f16(as<x4>(half_of(a, step)), as<x4>(half_of(b, step)), c, 0, 0,
                                                 0);
#endif
  }
  static FLASHWAVE_DEVICE f32x16 mma(Unit16 a, Unit16 b, f32x16 c, [[maybe_unused]] int step) {
#if defined(__gfx950__)
    return __builtin_amdgcn_mfma_f32_32x32x16_f16(as<x8>(a), as<x8>(b), c, 0, 0, 0);
#else
    return __builtin_amdgcn_mfma_f32_32x32x8f16(as<x4>(half_of(a, step)), as<x4>(half_of(b, step)), c, 0, 0,
                                                0);
#endif
  }
  static FLASHWAVE_DEVICE f32x4 mma(Unit16 a, Unit16 b, f32x4 c) {
    FLASHWAVE_EACH(step, steps) c = mma(a, b, c, step);
    return c;
  }
  // Sixteen products of 4x4 matrices: lane l holds row l % 4 of A, and column l % 4 of B and C, of block l
  // / 4.
  static FLASHWAVE_DEVICE f32x4 mma_4(half_unit a, half_unit b, f32x4 c) {
    return __builtin_amdgcn_mfma_f32_4x4x4f16(as<x4>(a), as<x4>(b), c, 0, 0, 0);
  }
};

struct Bf16 {
  using Stored = u16;
  static constexpr int unit = 8, steps = steps_of_unit;
  static constexpr bool cuts = weights_are_cut;
  static constexpr u32 sign = 0x80008000u;
  static constexpr short one = 0x3f80;
  using x8 = vec<__bf16, 8>;

  static FLASHWAVE_DEVICE float widen(u16 x) { return as<float>((u32)x << 16); }
  // To nearest, ties to even, in the upper half. A NaN stays one: those that arithmetic makes or passes on
  // have no low bits that could carry.
  static FLASHWAVE_DEVICE u32 nearest(float x) { return as<u32>(x) + 0x7fffu + (as<u32>(x) >> 16 & 1u); }
  static FLASHWAVE_DEVICE u16 narrow_one(float x) { return (u16)(nearest(x) >> 16); }
  static FLASHWAVE_DEVICE u32 narrow_two(float low, float high) {
#if defined(__gfx950__)
    return as<u32>(vec<__bf16, 2>{(__bf16)low, (__bf16)high});
#else
    return high_halves(nearest(low), nearest(high));
#endif
  }
  static FLASHWAVE_DEVICE u32 cut_two(float low, float high) {
    return cuts ? high_halves(as<u32>(low), as<u32>(high)) : narrow_two(low, high);
  }
  // One step of the product of two units, in either shape.
  static FLASHWAVE_DEVICE f32x4 mma(Unit16 a, Unit16 b, f32x4 c, [[maybe_unused]] int step) {
#if defined(__gfx950__)
    return __builtin_amdgcn_mfma_f32_16x16x32_bf16(as<x8>(a), as<x8>(b), c, 0, 0, 0);
#else
    return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(half_of(a, step), half_of(b, step), c, 0, 0, 0);
#endif
  }
  static FLASHWAVE_DEVICE f32x16 mma(Unit16 a, Unit16 b, f32x16 c, [[maybe_unused]] int step) {
#if defined(__gfx950__)
    return __builtin_amdgcn_mfma_f32_32x32x16_bf16(as<x8>(a), as<x8>(b), c, 0, 0, 0);
#else
    return __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(half_of(a, step), half_of(b, step), c, 0, 0, 0);
#endif
  }
  static FLASHWAVE_DEVICE f32x4 mma(Unit16 a, Unit16 b, f32x4 c) {
    FLASHWAVE_EACH(step, steps) c = mma(a, b, c, step);
    return c;
  }
  // Sixteen products of 4x4 matrices: lane l holds row l % 4 of A, and column l % 4 of B and C, of block l
  // / 4.
  static FLASHWAVE_DEVICE f32x4 mma_4(half_unit a, half_unit b, f32x4 c) {
    return __builtin_amdgcn_mfma_f32_4x4x4bf16_1k(a, b, c, 0, 0, 0);
  }
};

// A value whose type is known at run time only: biases, sinks, partials.
FLASHWAVE_DEVICE float value_at(const void* data, Element element, i64 index) {
  switch (element) {
    case Element::fp16: return Fp16::widen(((const FLASHWAVE_GLOBAL u16*)data)[index]);
    case Element::bf16: return Bf16::widen(((const FLASHWAVE_GLOBAL u16*)data)[index]);
    case Element::uint8: return ((const FLASHWAVE_GLOBAL unsigned char*)data)[index] ? 0.0f : -infinity;
    default: return ((const FLASHWAVE_GLOBAL float*)data)[index];
  }
}
FLASHWAVE_DEVICE void set_value(void* data, Element element, i64 index, float x) {
  switch (element) {
    case Element::fp16: ((FLASHWAVE_GLOBAL u16*)data)[index] = Fp16::narrow_one(x); break;
    case Element::bf16: ((FLASHWAVE_GLOBAL u16*)data)[index] = Bf16::narrow_one(x); break;
    default: ((FLASHWAVE_GLOBAL float*)data)[index] = x;
  }
}

}  // namespace fw::FLASHWAVE_TARGET
