// Freestanding ground of src/meaning: no std, no vendor header, so that every compiler and device takes it.
//
// Everything with code in it lives in fw::FLASHWAVE_TARGET. A translation unit built for another instruction
// set names its own target, so that the linker can never keep an AVX-512 copy of a function for an older
// machine.
#pragma once

#if !defined(FLASHWAVE_TARGET)
#define FLASHWAVE_TARGET host
#endif

#if defined(__HIP__) || defined(__CUDACC__)  // attributes, since no vendor header defines __host__ for us
#define FLASHWAVE_RULE __attribute__((host, device, always_inline)) inline
#else
#define FLASHWAVE_RULE __attribute__((always_inline)) inline
#endif

namespace fw {
using i64 = long long;
using u64 = unsigned long long;
using u32 = unsigned int;
}  // namespace fw

namespace fw::FLASHWAVE_TARGET {

inline constexpr float infinity = __builtin_inff();
inline constexpr float log2_e = 1.4426950408889634f;
inline constexpr float ln_2 = 0.6931471805599453f;

template <class T>
FLASHWAVE_RULE T least(T a, T b) {
  return b < a ? b : a;
}
template <class T>
FLASHWAVE_RULE T most(T a, T b) {
  return a < b ? b : a;
}

}  // namespace fw::FLASHWAVE_TARGET
