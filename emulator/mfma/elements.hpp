// The input formats of matrix instructions: how a lane's registers become numbers.
#pragma once
#include <array>
#include <cstdint>

#include "instructions/operands.hpp"

namespace cdna {

// Registers of up to 8 words a lane, the lanes of A or B possibly permuted.
struct MatrixRows {
  const uint32_t* row[8];
  alignas(64) uint32_t room[8][kLanes];
};

// Numbers of eight bits or fewer, by their bits.
const std::array<float, 256>& small_numbers(const Format& format);

namespace element {

struct F32 {
  static constexpr int kBits = 32, kFraction = 23, kSmallest = -126;
  static float widen(uint32_t word, int) { return as_float(word); }
};
// fp32 cut to ten fraction bits.
struct Xf32 {
  static constexpr int kBits = 32, kFraction = 10, kSmallest = -126;
  static float widen(uint32_t word, int) { return as_float(word & 0xffffe000); }
};
struct F16 {
  static constexpr int kBits = 16, kFraction = 10, kSmallest = -14;
  static float widen(uint32_t word, int n) { return from_half(static_cast<uint16_t>(word >> (16 * n))); }
};
struct Bf16 {
  static constexpr int kBits = 16, kFraction = 7, kSmallest = -126;
  static float widen(uint32_t word, int n) { return as_float(n ? word & 0xffff0000 : word << 16); }
};

}  // namespace element
}  // namespace cdna
