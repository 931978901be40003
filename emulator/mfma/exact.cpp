#include "mfma/exact.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace cdna {
namespace {

constexpr int kSmallest = -126, kProductBits = 24, kSumBits = 31, kAccumulatorBits = 24;
constexpr int kMostProducts = 16;

int64_t shift_down(int64_t x, int by) { return x >> std::min(by, 63); }

// Digits at `bits` fraction bits, and the exponent they count from.
struct Fixed {
  int64_t digits;
  int exponent;
};

// Toward zero, each product by itself.
Fixed add_products(const Significand* product, int count, int step, int fraction_bits) {
  int top = -100000;
  for (int n = 0; n < count; n += step) top = std::max(top, product[n].exponent);
  int64_t sum = 0;
  for (int n = 0; n < count; n += step) {
    const int64_t size = std::abs(static_cast<int64_t>(product[n].digits)) << (kProductBits - fraction_bits);
    const int64_t cut = shift_down(size, top - product[n].exponent);
    sum += product[n].digits < 0 ? -cut : cut;
  }
  return {sum, top};
}

float flush(float x) { return std::abs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }

float pairwise(const float* a, int a_step, const float* b, int b_step, int count) {
  if (count == 1) return flush(a[0] * b[0]);
  const int half = count / 2;
  return flush(pairwise(a, a_step, b, b_step, half) +
               pairwise(a + half * a_step, a_step, b + half * b_step, b_step, count - half));
}

}  // namespace

Significand significand(float x, Precision p) {
  if (x == 0) return {0, kSmallest};
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const int field = static_cast<int>(bits >> 23 & 0xff);
  auto digits = static_cast<int32_t>((bits & 0x7fffff) | (field ? 0x800000 : 0)) >> (23 - p.fraction);
  int exponent = field ? field - 127 : kSmallest;
  // A subnormal number of its own format, which fp32 holds as a normal one.
  if (exponent < p.smallest) digits >>= p.smallest - exponent, exponent = p.smallest;
  return {bits >> 31 ? -digits : digits, exponent};
}

float fused_dot_add(const float* a, int a_step, const float* b, int b_step, int count, Precision of_a,
                    Precision of_b, float c, bool even_odd) {
  double plain = c;
  bool above = false, below = false;
  Significand product[kMostProducts];
  for (int n = 0; n < count; ++n) {
    const float x = a[n * a_step], y = b[n * b_step];
    const double p = static_cast<double>(x) * y;
    plain += p;
    above |= p >= 0x1p128;
    below |= p <= -0x1p128;
    const Significand sx = significand(x, of_a), sy = significand(y, of_b);
    product[n] = {sx.digits * sy.digits, sx.exponent + sy.exponent};
  }
  if (!std::isfinite(plain)) return static_cast<float>(plain);
  if (above || below) return above && below ? NAN : above ? INFINITY : -INFINITY;
  const int fraction = of_a.fraction + of_b.fraction;
  Fixed sum = add_products(product, count, even_odd ? 2 : 1, fraction);
  if (even_odd) {
    const Fixed odd = add_products(product + 1, count - 1, 2, fraction);
    const int top = std::max(sum.exponent, odd.exponent);
    sum = {shift_down(sum.digits, top - sum.exponent) + shift_down(odd.digits, top - odd.exponent), top};
  }
  const Significand sc = significand(c, {23});
  const int top = std::max(sum.exponent, sc.exponent);
  const int64_t total = shift_down(sum.digits << (kSumBits - kProductBits), top - sum.exponent);
  int64_t accumulator =
      shift_down(static_cast<int64_t>(sc.digits) << (kAccumulatorBits - 23), top - sc.exponent);
  if (even_odd && sc.exponent < top - 25) accumulator = 0;
  const int64_t digits = total + (accumulator << (kSumBits - kAccumulatorBits));
  return static_cast<float>(std::ldexp(static_cast<double>(digits), top - kSumBits));
}

float pairwise_dot_add(const float* a, int a_step, const float* b, int b_step, int count, float c) {
  return flush(flush(c) + pairwise(a, a_step, b, b_step, count));
}

}  // namespace cdna
