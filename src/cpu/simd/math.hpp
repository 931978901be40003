// exp2, log2 and tanh of a Vec, for every instruction set.
#pragma once

namespace fw::FLASHWAVE_TARGET {

// Polynomials of 2^x on [-1/2, 1/2] that are 1 at 0, so that a row's largest weight is exactly 1, and whose
// largest relative error is least (scripts/exp2_fit.py). NaN stays NaN, -inf gives 0.

// Relative error 1.6e-7.
FLASHWAVE_RULE Vec exp2(Vec x) {
  const Split s = split(x);
  Vec p = Vec(0.001326472848f);
  p = multiply_add(p, s.part, Vec(0.009671512991f));
  p = multiply_add(p, s.part, Vec(0.05550733581f));
  p = multiply_add(p, s.part, Vec(0.2402224243f));
  p = multiply_add(p, s.part, Vec(0.6931470037f));
  p = multiply_add(p, s.part, Vec(1.0f));
  return scale_by_power(p, s.whole);
}

// For weights that are rounded to bf16 next: relative error 1e-4 against the rounding's 2e-3.
FLASHWAVE_RULE Vec exp2_coarse(Vec x) {
  const Split s = split(x);
  Vec p = Vec(0.05500893295f);
  p = multiply_add(p, s.part, Vec(0.2422109991f));
  p = multiply_add(p, s.part, Vec(0.6932829022f));
  p = multiply_add(p, s.part, Vec(1.0f));
  return scale_by_power(p, s.whole);
}

// Once a row, not once a score: the C library's will do.
FLASHWAVE_RULE Vec log2(Vec x) {
  float value[lanes];
  store(value, x);
  for (float& v : value) v = __builtin_log2f(v);
  return load(value);
}

// 1 - 2 / (e^2x + 1); near 0, where that cancels, the Taylor series (error below 1e-8 of x for |x| < 0.35).
FLASHWAVE_RULE Vec tanh(Vec x) {
  const Vec far = Vec(1.0f) - Vec(2.0f) / (exp2(x * Vec(2.0f * log2_e)) + Vec(1.0f));
  const Vec square = x * x;
  Vec p = Vec(-1382.0f / 155925.0f);
  p = multiply_add(p, square, Vec(62.0f / 2835.0f));
  p = multiply_add(p, square, Vec(-17.0f / 315.0f));
  p = multiply_add(p, square, Vec(2.0f / 15.0f));
  p = multiply_add(p, square, Vec(-1.0f / 3.0f));
  const Vec near = multiply_add(x * square, p, x);
  return select(abs(x) < Vec(0.35f), near, far);
}

}  // namespace fw::FLASHWAVE_TARGET
