// What atomic instructions do to a word: new value from the old one and the operand.
#pragma once
#include <algorithm>
#include <cstdint>

#include "base/floats.hpp"

namespace cdna::atomic {

inline uint32_t add_halves(uint32_t a, uint32_t b) {
  const auto part = [](uint32_t x, uint32_t y, int shift) {
    const float sum =
        from_half(static_cast<uint16_t>(x >> shift)) + from_half(static_cast<uint16_t>(y >> shift));
    return static_cast<uint32_t>(to_half(sum)) << shift;
  };
  return part(a, b, 0) | part(a, b, 16);
}

inline uint32_t add_brains(uint32_t a, uint32_t b) {
  const auto part = [](uint32_t x, uint32_t y, int shift) {
    const float sum =
        from_brain(static_cast<uint16_t>(x >> shift)) + from_brain(static_cast<uint16_t>(y >> shift));
    return static_cast<uint32_t>(to_brain(sum)) << shift;
  };
  return part(a, b, 0) | part(a, b, 16);
}

// The L2 cache's adder flushes subnormal inputs.
inline uint32_t add_floats_flushed(uint32_t a, uint32_t b) {
  const auto flush = [](uint32_t x) { return x & 0x7f800000 ? x : x & 0x80000000; };
  return as_bits(as_float(flush(a)) + as_float(flush(b)));
}

template <class T, class F>
T with_floats(T a, T b, F f) {
  if constexpr (sizeof(T) == 8)
    return as_bits(f(as_double(a), as_double(b)));
  else
    return as_bits(f(as_float(a), as_float(b)));
}

template <class T>
T add_real(T a, T b) {
  return with_floats(a, b, [](auto x, auto y) { return x + y; });
}
template <class T>
T min_real(T a, T b) {
  return with_floats(a, b, [](auto x, auto y) { return x != x ? y : y != y ? x : y < x ? y : x; });
}
template <class T>
T max_real(T a, T b) {
  return with_floats(a, b, [](auto x, auto y) { return x != x ? y : y != y ? x : y > x ? y : x; });
}

template <class T>
T add(T old, T x) {
  return old + x;
}
template <class T>
T sub(T old, T x) {
  return old - x;
}
template <class T>
T rsub(T old, T x) {
  return x - old;
}
template <class T>
T inc(T old, T x) {
  return old >= x ? 0 : old + 1;
}
template <class T>
T dec(T old, T x) {
  return old == 0 || old > x ? x : old - 1;
}
template <class T>
T umin(T old, T x) {
  return std::min(old, x);
}
template <class T>
T umax(T old, T x) {
  return std::max(old, x);
}
template <class T>
T smin(T old, T x) {
  using S = std::make_signed_t<T>;
  return static_cast<T>(std::min(static_cast<S>(old), static_cast<S>(x)));
}
template <class T>
T smax(T old, T x) {
  using S = std::make_signed_t<T>;
  return static_cast<T>(std::max(static_cast<S>(old), static_cast<S>(x)));
}
template <class T>
T and_(T old, T x) {
  return old & x;
}
template <class T>
T or_(T old, T x) {
  return old | x;
}
template <class T>
T xor_(T old, T x) {
  return old ^ x;
}
template <class T>
T swap(T, T x) {
  return x;
}

}  // namespace cdna::atomic
