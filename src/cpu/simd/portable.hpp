// Vectors in plain C++ (GCC and clang vector extensions): any machine, and the model for the others. Of four
// floats; of sixteen, like AVX-512's, for what only runs on such (the software twins of other instruction
// sets).
#pragma once

#include "meaning/target.hpp"

namespace fw::FLASHWAVE_TARGET {

#if defined(FLASHWAVE_SIMD_WIDE)
inline constexpr int lanes = 16, panel_vectors = 4, panel_keys = 6, panels_of_block = 4;
#elif defined(__aarch64__)
inline constexpr int lanes = 4, panel_vectors = 4, panel_keys = 6;  // 24 accumulators of 32 registers
inline constexpr int panels_of_block = 8;
#else
inline constexpr int lanes = 4, panel_vectors = 2, panel_keys = 4;  // 8 accumulators of 16 registers
inline constexpr int panels_of_block = 8;
#endif

typedef float FloatRegister __attribute__((vector_size(4 * lanes)));
typedef int IntRegister __attribute__((vector_size(4 * lanes)));
typedef u32 WordRegister __attribute__((vector_size(4 * lanes)));

struct Lanes {  // a yes or no for each lane
  IntRegister r;
};

struct Vec {
  FloatRegister r;
  Vec() = default;
  FLASHWAVE_RULE explicit Vec(float x) : r(x - FloatRegister{}) {}  // -0 stays -0
  FLASHWAVE_RULE explicit Vec(FloatRegister x) : r(x) {}
};
FLASHWAVE_RULE Vec load(const float* p) {
  Vec x;
  __builtin_memcpy(&x.r, p, sizeof x.r);
  return x;
}
FLASHWAVE_RULE void store(float* p, Vec x) { __builtin_memcpy(p, &x.r, sizeof x.r); }
FLASHWAVE_RULE Vec operator+(Vec a, Vec b) { return Vec(a.r + b.r); }
FLASHWAVE_RULE Vec operator-(Vec a, Vec b) { return Vec(a.r - b.r); }
FLASHWAVE_RULE Vec operator*(Vec a, Vec b) { return Vec(a.r * b.r); }
FLASHWAVE_RULE Vec operator/(Vec a, Vec b) { return Vec(a.r / b.r); }
FLASHWAVE_RULE Lanes operator==(Vec a, Vec b) { return {a.r == b.r}; }
FLASHWAVE_RULE Lanes operator<(Vec a, Vec b) { return {a.r < b.r}; }
FLASHWAVE_RULE Vec select(Lanes which, Vec yes, Vec no) { return Vec(which.r ? yes.r : no.r); }
FLASHWAVE_RULE Vec multiply_add(Vec a, Vec b, Vec c) {
#if defined(__aarch64__)
  Vec x;
  for (int i = 0; i < lanes; ++i) x.r[i] = __builtin_fmaf(a.r[i], b.r[i], c.r[i]);
  return x;
#else
  return a * b + c;
#endif
}
// As on x86: the second operand when either is NaN.
FLASHWAVE_RULE Vec max(Vec a, Vec b) { return select(b < a, a, b); }
FLASHWAVE_RULE Vec min(Vec a, Vec b) { return select(a < b, a, b); }
FLASHWAVE_RULE Vec abs(Vec a) { return Vec((FloatRegister)((IntRegister)a.r & 0x7fffffff)); }

struct Int {
  IntRegister r;
  Int() = default;
  FLASHWAVE_RULE explicit Int(int x) : r(x - IntRegister{}) {}
  FLASHWAVE_RULE explicit Int(IntRegister x) : r(x) {}
};
FLASHWAVE_RULE Int load(const int* p) {
  Int x;
  __builtin_memcpy(&x.r, p, sizeof x.r);
  return x;
}
FLASHWAVE_RULE Int operator+(Int a, Int b) { return Int(a.r + b.r); }
FLASHWAVE_RULE Int operator-(Int a, Int b) { return Int(a.r - b.r); }
FLASHWAVE_RULE Lanes operator<(Int a, Int b) { return {a.r < b.r}; }
FLASHWAVE_RULE Lanes operator&(Lanes a, Lanes b) { return {a.r & b.r}; }
FLASHWAVE_RULE Vec to_float(Int a) { return Vec(__builtin_convertvector(a.r, FloatRegister)); }

struct Word {  // 32 unsigned bits a lane
  WordRegister r;
  Word() = default;
  FLASHWAVE_RULE explicit Word(u32 x) : r(x - WordRegister{}) {}
  FLASHWAVE_RULE explicit Word(WordRegister x) : r(x) {}
};
FLASHWAVE_RULE Word load(const u32* p) {
  Word x;
  __builtin_memcpy(&x.r, p, sizeof x.r);
  return x;
}
FLASHWAVE_RULE Word operator^(Word a, Word b) { return Word(a.r ^ b.r); }
FLASHWAVE_RULE Word operator&(Word a, Word b) { return Word(a.r & b.r); }
FLASHWAVE_RULE Word operator>>(Word a, int bits) { return Word(a.r >> bits); }
FLASHWAVE_RULE Lanes operator<(Word a, Word b) { return {a.r < b.r}; }
FLASHWAVE_RULE void multiply_wide(Word a, u32 b, Word& high, Word& low) {
  for (int i = 0; i < lanes; ++i) {
    const u64 product = (u64)a.r[i] * b;
    high.r[i] = (u32)(product >> 32);
    low.r[i] = (u32)product;
  }
}

// 2^x split: x = whole + part with |part| <= 1/2, and a way to multiply by 2^whole that reaches 0 and
// infinity.
struct Split {
  Vec whole, part;
};
FLASHWAVE_RULE Split split(Vec x) {
  // Outside +-150 the answer is 0 or infinity anyway. min and max keep a NaN that is their second operand.
  // Adding 1.5 * 2^23 leaves the nearest integer in the low bits.
  const Vec kept = max(Vec(-150.0f), min(Vec(150.0f), x));
  const Vec whole = (kept + Vec(12582912.0f)) - Vec(12582912.0f);
  return {whole, kept - whole};
}
FLASHWAVE_RULE Vec scale_by_power(Vec x, Vec whole) {
  // In two factors, so that both are normal numbers and the product rounds once.
  const IntRegister n = __builtin_convertvector(whole.r, IntRegister);
  const IntRegister half = n >> 1;
  const FloatRegister first = (FloatRegister)((half + 127) << 23);
  const FloatRegister second = (FloatRegister)((n - half + 127) << 23);
  return Vec(x.r * first * second);
}

}  // namespace fw::FLASHWAVE_TARGET
