// The speed limit of the arithmetic: independent multiply-adds in registers, as many as hide the latency.
#pragma once

#include <time.h>

#include "cpu/kernels/tile_product.hpp"

namespace fw::FLASHWAVE_TARGET {

FLASHWAVE_RULE double seconds_now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// One more step of a chain. The compiler may find no shortcut to its end.
template <class P, class Left, class Right>
FLASHWAVE_RULE void lengthen(Vec& sum, const Left& a, const Right& b) {
  sum = P::step(sum, a, b);
#if defined(FLASHWAVE_SIMD_WIDE)  // no register holds one
  asm volatile("" : "+m"(sum.r));
#elif defined(__x86_64__)
  asm volatile("" : "+v"(sum.r));
#else
  asm volatile("" : "+w"(sum.r));
#endif
}

// flop/s of P's step on this thread.
template <class P>
double step_limit(double seconds) {
  constexpr int chains = 12;  // latency 4 (5 on some), two a cycle
  alignas(64) static const float zeros[lanes] = {};
  typename P::Unit unit{};
  const auto a = P::left(&unit), b = P::right((const typename P::Unit*)zeros);
  // Variables, not an array: GCC keeps an array in memory here, and then stores are timed (half of the peak).
  const Vec zero = Vec(0.0f);
  Vec s0 = zero, s1 = zero, s2 = zero, s3 = zero, s4 = zero, s5 = zero;
  Vec s6 = zero, s7 = zero, s8 = zero, s9 = zero, s10 = zero, s11 = zero;
  const double start = seconds_now();
  double elapsed = 0, steps = 0;
  while (elapsed < seconds) {
    for (int i = 0; i < 100000; ++i) {
      lengthen<P>(s0, a, b), lengthen<P>(s1, a, b), lengthen<P>(s2, a, b), lengthen<P>(s3, a, b);
      lengthen<P>(s4, a, b), lengthen<P>(s5, a, b), lengthen<P>(s6, a, b), lengthen<P>(s7, a, b);
      lengthen<P>(s8, a, b), lengthen<P>(s9, a, b), lengthen<P>(s10, a, b), lengthen<P>(s11, a, b);
    }
    steps += 100000.0 * chains;
    elapsed = seconds_now() - start;
  }
  return steps * lanes * P::pair * 2 / elapsed;
}

// The same of tiles: four sums, as in the products.
template <class Tiles>
double tile_limit(double seconds) {
  each<8>([]<int i>() { Tiles::template zero<i>(); });
  const double start = seconds_now();
  double elapsed = 0, steps = 0;
  while (elapsed < seconds) {
    for (int i = 0; i < 1000; ++i)
      each<4>([]<int c>() { Tiles::template multiply_add<c, 4 + c / 2, 6 + c % 2>(); });
    steps += 4000.0;
    elapsed = seconds_now() - start;
  }
  return steps * tile_side * tile_side * tile_side * Pairs::pair * 2 / elapsed;
}

}  // namespace fw::FLASHWAVE_TARGET
