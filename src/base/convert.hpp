// Scalar conversions between fp32 and the 16-bit types, exact and portable (no hardware half needed).
// Rounding is to nearest, ties to even; overflow gives infinity; NaN stays NaN.
#pragma once

#include <bit>
#include <cstdint>

#include "base/dtype.hpp"

namespace fw {

inline float float_from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

inline std::uint16_t bf16_from_float(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

inline float float_from_fp16(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 31u;
  const std::uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0) {  // zero or subnormal: fraction * 2^-24 is exact in fp32
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  const std::uint32_t wide = exponent == 31 ? 255u : exponent + 112u;
  return std::bit_cast<float>(sign | (wide << 23) | (fraction << 13));
}

inline std::uint16_t fp16_from_float(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return sign | 0x7e00u;
  if (magnitude >= 0x477ff000u) return sign | 0x7c00u;  // 65520 and above round to infinity
  if (magnitude < 0x38800000u) {                        // below 2^-14: subnormal, step 2^-24
    const float steps = std::bit_cast<float>(magnitude) * 0x1p24f;
    const float rounded = (steps + 0x1p23f) - 0x1p23f;  // nearest even integer
    return sign | static_cast<std::uint16_t>(rounded);
  }
  const std::uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return sign | static_cast<std::uint16_t>((rounded - 0x38000000u) >> 13);
}

// Any floating element to fp32 and back; dtype is fp32, fp16 or bf16.
inline float load_float(const void* data, DType dtype, std::int64_t index) {
  switch (dtype) {
    case DType::fp16: return float_from_fp16(static_cast<const std::uint16_t*>(data)[index]);
    case DType::bf16: return float_from_bf16(static_cast<const std::uint16_t*>(data)[index]);
    default: return static_cast<const float*>(data)[index];
  }
}

inline void store_float(void* data, DType dtype, std::int64_t index, float value) {
  switch (dtype) {
    case DType::fp16: static_cast<std::uint16_t*>(data)[index] = fp16_from_float(value); break;
    case DType::bf16: static_cast<std::uint16_t*>(data)[index] = bf16_from_float(value); break;
    default: static_cast<float*>(data)[index] = value;
  }
}

}  // namespace fw
