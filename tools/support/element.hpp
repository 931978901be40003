// Elements of tensors as the tools see them: sizes, names, and exact conversion to and from fp32.
// Written apart from the library's own conversions, so that one can find a fault of the other.
#pragma once

#include <flashwave/flashwave.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace tools {

inline std::size_t element_bytes(int dtype) {
  switch (dtype) {
    case FLASHWAVE_FP32:
    case FLASHWAVE_INT32: return 4;
    case FLASHWAVE_FP16:
    case FLASHWAVE_BF16: return 2;
    case FLASHWAVE_INT64: return 8;
    case FLASHWAVE_NONE: return 0;
    default: return 1;
  }
}

inline const char* element_name(int dtype) {
  constexpr const char* names[] = {"none",    "fp32",        "fp16",  "bf16",  "fp8e4m3fn", "fp8e4m3fnuz",
                                   "fp8e5m2", "fp8e5m2fnuz", "int32", "uint8", "int64"};
  return dtype >= 0 && dtype <= FLASHWAVE_INT64 ? names[dtype] : "an unknown dtype";
}

inline float from_bf16(std::uint16_t half) { return std::bit_cast<float>(std::uint32_t{half} << 16); }

inline std::uint16_t to_bf16(float x) {
  auto bits = std::bit_cast<std::uint32_t>(x);
  if (std::isnan(x)) return static_cast<std::uint16_t>(bits >> 16 | 0x40u);
  bits += 0x7fffu + (bits >> 16 & 1u);  // nearest, ties to even
  return static_cast<std::uint16_t>(bits >> 16);
}

// Exponent and fraction move into place and are scaled by 2^112, which is exact, subnormals included.
inline float from_fp16(std::uint16_t half) {
  const std::uint32_t sign = std::uint32_t{half & 0x8000u} << 16;
  const std::uint32_t moved = std::uint32_t{half & 0x7fffu} << 13;
  if (moved >= 0x7c00u << 13) return std::bit_cast<float>(sign | 0x70000000u | moved);  // infinity and NaN
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(std::bit_cast<float>(moved) * 0x1p112f) | sign);
}

inline std::uint16_t to_fp16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  const float size = std::fabs(x);
  if (std::isnan(x)) return sign | 0x7e00u;
  if (size >= 65520.0f) return sign | 0x7c00u;
  if (size < 0x1p-14f) {  // the step of 0.5 in fp32 is that of fp16's subnormals, so the addition rounds
    return sign | static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(size + 0.5f) - 0x3f000000u);
  }
  const auto magnitude = std::bit_cast<std::uint32_t>(size);
  return sign | static_cast<std::uint16_t>((magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13);
}

inline float load(const void* data, int dtype, std::int64_t index) {
  switch (dtype) {
    case FLASHWAVE_FP16: return from_fp16(static_cast<const std::uint16_t*>(data)[index]);
    case FLASHWAVE_BF16: return from_bf16(static_cast<const std::uint16_t*>(data)[index]);
    case FLASHWAVE_UINT8: return static_cast<const std::uint8_t*>(data)[index];
    default: return static_cast<const float*>(data)[index];
  }
}

inline void store(void* data, int dtype, std::int64_t index, float x) {
  switch (dtype) {
    case FLASHWAVE_FP16: static_cast<std::uint16_t*>(data)[index] = to_fp16(x); break;
    case FLASHWAVE_BF16: static_cast<std::uint16_t*>(data)[index] = to_bf16(x); break;
    default: static_cast<float*>(data)[index] = x;
  }
}

// The distance between neighbouring values of the type at `size`.
inline double ulp(int dtype, double size) {
  const int fraction = dtype == FLASHWAVE_BF16 ? 7 : dtype == FLASHWAVE_FP16 ? 10 : 23;
  const int smallest = dtype == FLASHWAVE_FP16 ? -14 : -126;
  const int exponent = size > 0 ? std::ilogb(size) : smallest;
  return std::ldexp(1.0, std::max(exponent, smallest) - fraction);
}

}  // namespace tools
