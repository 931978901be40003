#include "base/floats.hpp"

#include <algorithm>

namespace cdna {
namespace {

constexpr uint32_t kQuietNan = 0x7fc00000;

struct Limits {
  uint32_t largest;   // magnitude bits of the largest number
  uint32_t infinity;  // what overflow gives without saturation
  uint32_t nan;
};

Limits limits(const Format& f) {
  const uint32_t all = (1u << (f.exponent_bits + f.fraction_bits)) - 1, sign = all + 1;
  switch (f.top) {
    case Format::ieee: {
      const uint32_t infinity = all & ~((1u << f.fraction_bits) - 1);
      return {infinity - 1, infinity, all};
    }
    case Format::finite_nan: return {all - 1, all, all};
    case Format::fnuz: return {all, sign, sign};
    default: return {all, all, all};
  }
}

// |value| as a multiple of the format's step at its size, `extra` bits below the last kept one.
uint32_t magnitude(float value, const Format& f, uint32_t noise, bool stochastic) {
  const double size = std::abs(static_cast<double>(value));
  int exponent = size == 0 ? 1 - f.bias : std::max(std::ilogb(size), 1 - f.bias);
  const double scaled = std::ldexp(size, f.fraction_bits - exponent);
  double whole = std::floor(scaled);
  const double rest = scaled - whole;
  if (stochastic) {
    whole = std::floor(scaled + std::ldexp(static_cast<double>(noise), -32));
  } else if (rest > 0.5 || (rest == 0.5 && std::fmod(whole, 2) == 1)) {
    whole += 1;
  }
  // A carry into the next binade adds to the exponent by itself.
  return (static_cast<uint32_t>(exponent + f.bias - 1) << f.fraction_bits) + static_cast<uint32_t>(whole);
}

uint32_t convert(float value, const Format& f, bool saturate, uint32_t noise, bool stochastic) {
  const Limits l = limits(f);
  const uint32_t sign = std::signbit(value) ? 1u << (f.exponent_bits + f.fraction_bits) : 0;
  if (std::isnan(value)) return f.top == Format::fnuz ? l.nan : l.nan | sign;
  if (std::isinf(value) && !saturate) return f.top == Format::fnuz ? l.nan : l.infinity | sign;
  const bool beyond = std::isinf(value) || std::ilogb(std::max(std::abs(value), 1e-40f)) > 100;
  const uint32_t bits = beyond ? l.largest + 1 : magnitude(value, f, noise, stochastic);
  if (bits > l.largest) {
    if (saturate || f.top == Format::no_specials) return l.largest | sign;
    return f.top == Format::fnuz ? l.nan : l.infinity | sign;
  }
  if (bits == 0 && f.top == Format::fnuz) return 0;
  return bits | sign;
}

}  // namespace

float widen(uint32_t bits, const Format& f) {
  const uint32_t fraction_mask = (1u << f.fraction_bits) - 1, exponent_mask = (1u << f.exponent_bits) - 1;
  const uint32_t fraction = bits & fraction_mask, exponent = bits >> f.fraction_bits & exponent_mask;
  const bool negative = bits >> (f.fraction_bits + f.exponent_bits) & 1;
  if (f.top == Format::fnuz && negative && !fraction && !exponent) return as_float(kQuietNan);
  if (exponent == exponent_mask) {
    if (f.top == Format::ieee) return fraction ? as_float(kQuietNan) : negative ? -INFINITY : INFINITY;
    if (f.top == Format::finite_nan && fraction == fraction_mask) return as_float(kQuietNan);
  }
  const float size = exponent ? std::ldexp(static_cast<float>(fraction | (fraction_mask + 1)),
                                           static_cast<int>(exponent) - f.bias - f.fraction_bits)
                              : std::ldexp(static_cast<float>(fraction), 1 - f.bias - f.fraction_bits);
  return negative ? -size : size;
}

uint32_t narrow(float value, const Format& format, bool saturate) {
  return convert(value, format, saturate, 0, false);
}

uint32_t narrow_stochastic(float value, const Format& format, bool saturate, uint32_t noise) {
  return convert(value, format, saturate, noise, true);
}

}  // namespace cdna
