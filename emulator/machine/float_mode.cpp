#include "machine/float_mode.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace cdna {

#if defined(__x86_64__)

void set_float_mode(uint32_t part) {
  // MODE counts nearest, up, down, zero; the host nearest, down, up, zero.
  constexpr uint32_t kRounding[] = {0, 2, 1, 3};
  constexpr uint32_t kMasked = 0x1f80, kFlush = 0x8000, kInputsZero = 0x40;
  const uint32_t subnormals = part >> 4 & 3;  // bit 0: inputs allowed, bit 1: outputs allowed
  _mm_setcsr(kMasked | kRounding[part & 3] << 13 | (subnormals & 1 ? 0 : kInputsZero) |
             (subnormals & 2 ? 0 : kFlush));
}

FloatGuard::FloatGuard() : saved_(_mm_getcsr()) {}
FloatGuard::~FloatGuard() { _mm_setcsr(static_cast<uint32_t>(saved_)); }

#elif defined(__aarch64__)

void set_float_mode(uint32_t part) {
  constexpr uint64_t kRounding[] = {0, 1, 2, 3};
  const uint64_t flush = (part >> 4 & 3) == 3 ? 0 : 1ull << 24;
  const uint64_t control = kRounding[part & 3] << 22 | flush;
  __asm__ volatile("msr fpcr, %0" : : "r"(control));
}

FloatGuard::FloatGuard() { __asm__ volatile("mrs %0, fpcr" : "=r"(saved_)); }
FloatGuard::~FloatGuard() { __asm__ volatile("msr fpcr, %0" : : "r"(saved_)); }

#else
#error "the emulator knows the floating-point control of x86-64 and AArch64 only"
#endif

}  // namespace cdna
