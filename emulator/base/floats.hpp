// Narrow floating-point formats, one value at a time; rounding is to nearest even unless said otherwise.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

#ifdef __F16C__
#include <immintrin.h>
#endif

namespace cdna {

inline float as_float(uint32_t bits) { return std::bit_cast<float>(bits); }
inline uint32_t as_bits(float value) { return std::bit_cast<uint32_t>(value); }
inline double as_double(uint64_t bits) { return std::bit_cast<double>(bits); }
inline uint64_t as_bits(double value) { return std::bit_cast<uint64_t>(value); }

// A binary format of sign, exponent and fraction: how its bits become a number and back.
struct Format {
  int exponent_bits, fraction_bits, bias;
  enum Top : uint8_t { ieee, finite_nan, no_specials, fnuz } top;  // what the top exponent (or -0) means
};
inline constexpr Format kE4m3{4, 3, 7, Format::finite_nan}, kE5m2{5, 2, 15, Format::ieee};
inline constexpr Format kE4m3Fnuz{4, 3, 8, Format::fnuz}, kE5m2Fnuz{5, 2, 16, Format::fnuz};
inline constexpr Format kE2m3{2, 3, 1, Format::no_specials}, kE3m2{3, 2, 3, Format::no_specials};
inline constexpr Format kE2m1{2, 1, 1, Format::no_specials};

float widen(uint32_t bits, const Format& format);

// Rounds to nearest even. Too large becomes the largest number when `saturate`, else infinity or NaN as the
// format has it; `noise` (32 bits) replaces rounding to nearest by adding it below the last kept bit.
uint32_t narrow(float value, const Format& format, bool saturate);
uint32_t narrow_stochastic(float value, const Format& format, bool saturate, uint32_t noise);

#ifdef __F16C__
inline float from_half(uint16_t bits) { return _cvtsh_ss(bits); }
inline uint16_t to_half(float value) { return _cvtss_sh(value, _MM_FROUND_CUR_DIRECTION); }
#else
inline float from_half(uint16_t bits) { return static_cast<float>(std::bit_cast<_Float16>(bits)); }
inline uint16_t to_half(float value) { return std::bit_cast<uint16_t>(static_cast<_Float16>(value)); }
#endif

inline float from_brain(uint16_t bits) { return as_float(static_cast<uint32_t>(bits) << 16); }
inline uint16_t to_brain(float value) {
  const uint32_t bits = as_bits(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// A double as a float whose last bit is sticky: rounding it once more gives what rounding once would.
inline float to_odd(double value) {
  float rounded = static_cast<float>(value);
  if (static_cast<double>(rounded) == value || !std::isfinite(rounded)) return rounded;
  if (std::abs(static_cast<double>(rounded)) > std::abs(value)) rounded = as_float(as_bits(rounded) - 1);
  return as_float(as_bits(rounded) | 1);
}

}  // namespace cdna
