// Passes over rows of scores, each a loop that the compiler turns into vectors.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace replica {

constexpr float infinity = std::numeric_limits<float>::infinity();

// To 20 bits, as PyTorch's exp_u20: 2^n times a polynomial for the rest; the addition of a large number
// rounds.
inline float exponential(float x) {
  constexpr float log2e = 1.44269504f, ln2 = 0.693147181f, large = 0x1.8p23f;
  const float shifted = x * log2e + large;
  const float r = x - (shifted - large) * ln2;
  const float power =
      1 + r * (1 + r * (0.5f + r * (0.166666667f + r * (0.0416666667f + r * 0.00833333333f))));
  const std::int32_t bits = std::bit_cast<std::int32_t>(power) + (std::bit_cast<std::int32_t>(shifted) << 23);
  return x < -87 ? 0 : std::bit_cast<float>(bits);
}

inline void store(float& to, float value) { to = value; }
inline void store(std::uint16_t& to, float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  to = static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

inline float scale_and_max(float* row, std::int64_t count, float scale) {
  float most = -infinity;
#pragma omp simd reduction(max : most)
  for (std::int64_t j = 0; j < count; ++j) {
    row[j] *= scale;
    most = row[j] > most ? row[j] : most;
  }
  return most;
}

template <class Weight>
float exp_and_sum(Weight* weights, const float* row, std::int64_t count, float most) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t j = 0; j < count; ++j) {
    const float weight = exponential(row[j] - most);
    sum += weight;
    store(weights[j], weight);
  }
  return sum;
}

template <class To>
void multiply(To* to, const float* row, std::int64_t count, float factor) {
#pragma omp simd
  for (std::int64_t j = 0; j < count; ++j) store(to[j], row[j] * factor);
}

inline float dot(const float* a, const float* b, std::int64_t count) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t j = 0; j < count; ++j) sum += a[j] * b[j];
  return sum;
}

}  // namespace replica
