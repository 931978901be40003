// The tile registers of AMX: eight, each of 16 rows of 64 bytes, and a product of two of them that sums pairs
// of bf16 in fp32. Two policies: the processor's, and one in plain C++ by which what is built on tiles is
// tested where no processor has them.
#pragma once

#include "meaning/target.hpp"

namespace fw::FLASHWAVE_TARGET {

inline constexpr int tile_side = 16;  // rows of a tile, and 32-bit units of a row
inline constexpr i64 tile_row_bytes = 4 * tile_side;

#if defined(__AMX_BF16__)
// What LDTILECFG reads. All tiles are whole: operands that have less are filled up with zeros.
struct alignas(64) TileConfiguration {
  unsigned char palette, start_row, reserved[14];
  unsigned short row_bytes[16];
  unsigned char rows[16];
};
inline constexpr TileConfiguration whole_tiles = {
    1, 0, {}, {64, 64, 64, 64, 64, 64, 64, 64}, {16, 16, 16, 16, 16, 16, 16, 16}};

// Written in assembly: the _tile_loadd of GCC 12 does not tell the compiler that it reads memory.
struct HardwareTiles {
  static FLASHWAVE_RULE void configure() { asm volatile("ldtilecfg %0" : : "m"(whole_tiles)); }
  static FLASHWAVE_RULE void release() { asm volatile("tilerelease"); }

  template <int T>
  static FLASHWAVE_RULE void zero() {
    asm volatile("tilezero %%tmm%c0" : : "i"(T));
  }
  template <int T>
  static FLASHWAVE_RULE void load(const void* from, i64 stride) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(stride), "i"(T) : "memory");
  }
  template <int T>
  static FLASHWAVE_RULE void store(void* to, i64 stride) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(stride), "i"(T) : "memory");
  }
  template <int C, int A, int B>
  static FLASHWAVE_RULE void multiply_add() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(C), "i"(A), "i"(B));
  }
};
#endif

// TDPBF16PS as Intel's manual defines it: rounds to nearest even and takes subnormal numbers for zero, going
// in and coming out, whatever MXCSR says.
struct TileArithmetic {
  static FLASHWAVE_RULE float without_subnormal(float x) {
    return __builtin_fabsf(x) < 0x1p-126f ? __builtin_copysignf(0.0f, x) : x;
  }
  static FLASHWAVE_RULE float even(u32 pair) {
    return without_subnormal(__builtin_bit_cast(float, pair << 16));
  }
  static FLASHWAVE_RULE float odd(u32 pair) {
    return without_subnormal(__builtin_bit_cast(float, pair & 0xffff0000u));
  }
  static FLASHWAVE_RULE float add(float a, float b) { return without_subnormal(a + b); }
  // A product of two bf16 is exact in double precision, and a sum that is rounded to it first rounds to float
  // as if at once. What is tiny is judged after rounding: half a step below 2^-126 is not.
  static FLASHWAVE_RULE float multiply_add(float a, float b, float c) {
    const double sum = (double)a * (double)b + (double)c;
    return (float)(__builtin_fabs(sum) < 0x1.ffffffp-127 ? __builtin_copysign(0.0, sum) : sum);
  }
};

// Tiles in memory. An instruction without a configuration is undefined, as it is for the processor.
struct EmulatedTiles {
  struct State {
    bool configured;
    u32 tile[8][tile_side][tile_side];
  };
  static inline thread_local State state;
  using Tile = u32 (&)[tile_side][tile_side];

  static void configure() { state = {.configured = true, .tile = {}}; }
  static void release() { state = {}; }
  static FLASHWAVE_RULE Tile tile(int number) {
    if (!state.configured) __builtin_trap();
    return state.tile[number];
  }

  template <int T>
  static void zero() {
    __builtin_memset(&tile(T), 0, sizeof(Tile));
  }
  template <int T>
  static void load(const void* from, i64 stride) {
    for (int r = 0; r < tile_side; ++r)
      __builtin_memcpy(tile(T)[r], (const char*)from + r * stride, tile_row_bytes);
  }
  template <int T>
  static void store(void* to, i64 stride) {
    for (int r = 0; r < tile_side; ++r) __builtin_memcpy((char*)to + r * stride, tile(T)[r], tile_row_bytes);
  }
  template <int C, int A, int B>
  static void multiply_add() {
    multiply_add(tile(C), tile(A), tile(B));
  }

  // c += a b. The even and the odd halves of a's pairs have sums of their own, which meet at the end.
  static void multiply_add(Tile c, Tile a, Tile b) {
    using Arithmetic = TileArithmetic;
    float b_even[tile_side][tile_side], b_odd[tile_side][tile_side];
    for (int k = 0; k < tile_side; ++k)
      for (int n = 0; n < tile_side; ++n) {
        b_even[k][n] = Arithmetic::even(b[k][n]);
        b_odd[k][n] = Arithmetic::odd(b[k][n]);
      }
    for (int m = 0; m < tile_side; ++m) {
      float even[tile_side] = {}, odd[tile_side] = {};
      for (int k = 0; k < tile_side; ++k) {
        const float a_even = Arithmetic::even(a[m][k]), a_odd = Arithmetic::odd(a[m][k]);
        for (int n = 0; n < tile_side; ++n) {
          even[n] = Arithmetic::multiply_add(a_even, b_even[k][n], even[n]);
          odd[n] = Arithmetic::multiply_add(a_odd, b_odd[k][n], odd[n]);
        }
      }
      for (int n = 0; n < tile_side; ++n) {
        const float sum = Arithmetic::without_subnormal(__builtin_bit_cast(float, c[m][n]));
        c[m][n] = __builtin_bit_cast(u32, Arithmetic::add(sum, Arithmetic::add(even[n], odd[n])));
      }
    }
  }
};

}  // namespace fw::FLASHWAVE_TARGET
