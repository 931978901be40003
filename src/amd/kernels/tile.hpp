// Where a tile of keys and values lies in LDS, for the kernels of long sequences.
//
// A lane works on units of 16 bytes: 8 neighbouring elements of a row of Q or K, or 8 keys of a column of P
// or V. Lanes form groups of M, the rows of a matrix instruction (CDNA3 ISA: A and B hold row l % M; C and D
// of the 32x32 shape hold column l % 32, row 8 * (g/4) + 4 * (l/32) + g % 4; 16x16 as in element.hpp); the
// groups hold neighbouring units. K is kept row by row, V column by column, and within a row or column the
// units are permuted so that the lanes which the LDS serves together meet all its banks: 8 lanes of a 16-byte
// read or write, lanes 0-3 and 20-23 for example, take 128 bytes; on gfx950 16 lanes take 256.
#pragma once

#include "amd/kernels/element.hpp"

namespace fw::FLASHWAVE_TARGET {

#if defined(__gfx950__)
inline constexpr int key_period = 16;  // rows of K after which the order of units repeats
#else
inline constexpr int key_period = 8;
#endif

template <int D_, int M_>
struct Tile {
  static constexpr int D = D_, M = M_;
  static constexpr int keys = 64, groups = lanes / M;
  static constexpr int row_bytes = D * 2, column_bytes = keys * 2;
  static constexpr u32 bytes = keys * row_bytes;       // of K, and of V
  static constexpr int units_q = D / (8 * groups);     // of a row of Q or K in one lane
  static constexpr int units_p = keys / (8 * groups);  // of a column of P or V in one lane
  static constexpr int key_places =
      key_period / groups;  // units of K after which addresses differ by a constant

  static FLASHWAVE_DEVICE int key_slot(int row, int unit) { return unit ^ row % key_period; }
  // The 5 keeps apart what one store writes: 8 lanes hold the even columns 0 to 14.
  static FLASHWAVE_DEVICE int value_slot(int column, int unit) {
    return unit ^ (column & 7) ^ (column >> 3 & 1) * 5;
  }
  // The key of element e of unit u in a lane group: two runs of 4, as the accumulator of St has them.
  static FLASHWAVE_DEVICE int key(int u, int group, int e) {
    return (2 * u + e / 4) * 4 * groups + 4 * group + e % 4;
  }
};

// Nothing is scheduled across this line: the order of a loop's text is the order in the machine.
FLASHWAVE_DEVICE void pin() { __builtin_amdgcn_sched_barrier(0); }
FLASHWAVE_DEVICE void barrier() {
  pin();
  __builtin_amdgcn_s_barrier();
  pin();
}
// Every memory operation of this wave has ended: vmcnt(0) lgkmcnt(0).
FLASHWAVE_DEVICE void drain() {
  pin();
  __builtin_amdgcn_s_waitcnt(0x0070);
  pin();
}

}  // namespace fw::FLASHWAVE_TARGET
