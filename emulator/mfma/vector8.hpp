// Eight floats at a time, with a fused multiply-add.
#pragma once

#ifdef __FMA__
#include <immintrin.h>
#endif

namespace cdna {

#ifdef __FMA__

struct Vector8 {
  __m256 x;
  static constexpr int kSize = 8;
  static Vector8 load(const float* p) { return {_mm256_loadu_ps(p)}; }
  static Vector8 all(float a) { return {_mm256_set1_ps(a)}; }
  void store(float* p) const { _mm256_storeu_ps(p, x); }
  void add_product(Vector8 a, Vector8 b) { x = _mm256_fmadd_ps(a.x, b.x, x); }
};

#else

struct Vector8 {
  float x[8];
  static constexpr int kSize = 8;
  static Vector8 load(const float* p) {
    Vector8 v;
    for (int n = 0; n < kSize; ++n) v.x[n] = p[n];
    return v;
  }
  static Vector8 all(float a) {
    Vector8 v;
    for (float& e : v.x) e = a;
    return v;
  }
  void store(float* p) const {
    for (int n = 0; n < kSize; ++n) p[n] = x[n];
  }
  void add_product(Vector8 a, Vector8 b) {
    for (int n = 0; n < kSize; ++n) x[n] = __builtin_fmaf(a.x[n], b.x[n], x[n]);
  }
};

#endif

}  // namespace cdna
