// The simplest value src/meaning can be written for: one float, one 32-bit word.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace fw::test {

struct Lane {
  float x = 0;
  Lane() = default;
  explicit Lane(float value) : x(value) {}
};

inline Lane operator+(Lane a, Lane b) { return Lane(a.x + b.x); }
inline Lane operator-(Lane a, Lane b) { return Lane(a.x - b.x); }
inline Lane operator*(Lane a, Lane b) { return Lane(a.x * b.x); }
inline Lane operator/(Lane a, Lane b) { return Lane(a.x / b.x); }
inline bool operator==(Lane a, Lane b) { return a.x == b.x; }
inline bool operator<(Lane a, Lane b) { return a.x < b.x; }
inline Lane select(bool which, Lane yes, Lane no) { return which ? yes : no; }
inline Lane max(Lane a, Lane b) { return b.x < a.x ? a : b; }  // the second when either is NaN
inline Lane abs(Lane a) { return Lane(std::fabs(a.x)); }
inline Lane exp2(Lane a) { return Lane(std::exp2(a.x)); }
inline Lane log2(Lane a) { return Lane(std::log2(a.x)); }
inline Lane tanh(Lane a) { return Lane(std::tanh(a.x)); }

struct Bits {
  std::uint32_t x = 0;
  Bits() = default;
  explicit Bits(std::uint32_t value) : x(value) {}
};

inline Bits operator^(Bits a, Bits b) { return Bits(a.x ^ b.x); }
inline Bits operator&(Bits a, Bits b) { return Bits(a.x & b.x); }
inline Bits operator>>(Bits a, int count) { return Bits(a.x >> count); }
inline void multiply_wide(Bits a, std::uint32_t b, Bits& high, Bits& low) {
  const std::uint64_t product = std::uint64_t{a.x} * b;
  high = Bits(static_cast<std::uint32_t>(product >> 32));
  low = Bits(static_cast<std::uint32_t>(product));
}

}  // namespace fw::test
