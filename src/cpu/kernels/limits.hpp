// The speed limit of the arithmetic: independent multiply-adds in registers, as many as hide the latency.
#pragma once

#include <time.h>

#include "cpu/kernels/product.hpp"

namespace fw::FLASHWAVE_TARGET {

FLASHWAVE_RULE double seconds_now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// flop/s of P's step on this thread.
template <class P>
double step_limit(double seconds) {
  constexpr int chains = 12;  // latency 4 (5 on some), two a cycle
  alignas(64) static const float zeros[lanes] = {};
  typename P::Unit unit{};
  const auto a = P::left(&unit), b = P::right((const typename P::Unit*)zeros);
  Vec sum[chains];
  for (Vec& x : sum) x = Vec(0.0f);
  const double start = seconds_now();
  double elapsed = 0, steps = 0;
  while (elapsed < seconds) {
    for (int i = 0; i < 100000; ++i) {
#pragma GCC unroll 12
      for (int c = 0; c < chains; ++c) {
        sum[c] = P::step(sum[c], a, b);
#if defined(__x86_64__)
        asm volatile("" : "+v"(sum[c].r));  // keeps the compiler from finding a shortcut
#else
        asm volatile("" : "+w"(sum[c].r));
#endif
      }
    }
    steps += 100000.0 * chains;
    elapsed = seconds_now() - start;
  }
  return steps * lanes * P::pair * 2 / elapsed;
}

}  // namespace fw::FLASHWAVE_TARGET
