// exp2, log2 and tanh of a Vec, for every instruction set.
#pragma once

namespace fw::FLASHWAVE_TARGET {

// Minimax polynomial of 2^x on [-1/2, 1/2], relative error 2e-7; NaN stays NaN, -inf gives 0.
FLASHWAVE_RULE Vec exp2(Vec x) {
  const Split s = split(x);
  Vec p = Vec(1.33336498402e-3f);
  p = multiply_add(p, s.part, Vec(9.61817700701e-3f));
  p = multiply_add(p, s.part, Vec(5.55040868e-2f));
  p = multiply_add(p, s.part, Vec(0.2402264923f));
  p = multiply_add(p, s.part, Vec(0.6931471825f));
  p = multiply_add(p, s.part, Vec(1.0f));
  return scale_by_power(p, s.whole);
}

// For weights that are rounded to bf16 next: degree 3, relative error 1e-4 against the rounding's 2e-3.
FLASHWAVE_RULE Vec exp2_coarse(Vec x) {
  const Split s = split(x);
  Vec p = Vec(0.0554906f);
  p = multiply_add(p, s.part, Vec(0.2413797f));
  p = multiply_add(p, s.part, Vec(0.6931473f));
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
