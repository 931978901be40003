// Where a tile of keys and values lies in LDS, for the kernels of long sequences.
//
// A lane works on units of 16 bytes: 8 neighbouring elements of a row of Q or K, or 8 keys of a column of P
// or V. Lanes form groups of M, the rows of a matrix instruction (CDNA3 ISA: A and B hold row l % M; C and D
// of the 32x32 shape hold column l % 32, row 8 * (g/4) + 4 * (l/32) + g % 4; 16x16 as in element.hpp); the
// groups hold neighbouring units.
//
// K is kept row by row, V column by column, and the units of a row or column are permuted so that lanes which
// the LDS serves together meet all its banks. A 16-byte read is served in sets of 8 lanes (0-3 with 20-23,
// 4-7 with 16-19, 8-11 with 28-31, 12-15 with 24-27) and 32 banks, or 8 slots of 16 bytes; on gfx950 in sets
// of 16 (0-3, 12-15, 20-27; 4-11, 16-19, 28-31) and 16 slots. A 16-byte write is served 8 neighbouring lanes
// at a time.
#pragma once

#include "amd/kernels/element.hpp"

namespace fw::FLASHWAVE_TARGET {

#if defined(__gfx950__)
inline constexpr bool wide_banks = true;
#else
inline constexpr bool wide_banks = false;
#endif

template <int Qk, int V, int M_, int Keys>
struct Tile {
  static constexpr int qk = Qk, v = V, M = M_, keys = Keys;
  static constexpr int groups = lanes / M;
  static constexpr int row_bytes = Qk * 2, column_bytes = Keys * 2;
  static constexpr int units_q = Qk / (8 * groups);    // of a row of Q or K in one lane
  static constexpr int units_p = Keys / (8 * groups);  // of a column of P or V in one lane

  // Two buffers, each with K, then V; their addresses differ in one bit.
  static constexpr u32 key_bytes = Keys * row_bytes, value_bytes = V * column_bytes;
  static constexpr u32 buffer = key_bytes + value_bytes <= 16384 ? 16384 : 32768;
  static constexpr u32 bytes = buffer + key_bytes + value_bytes;
  static_assert(key_bytes + value_bytes <= buffer);

  // Slots after which the order of a row's units repeats, and the units of one lane in them.
  static constexpr bool even_rows = Qk % 128 == 0;  // a row ends where the widest set of banks does
  static constexpr int period = wide_banks && even_rows ? 16 : 8;
  static constexpr int key_places = period / groups;
  static FLASHWAVE_DEVICE int key_turn(int row) {
    return wide_banks && !even_rows ? row / 2 % 8 : row % period;
  }
  // Byte of a unit in a tile of K; of a unit of 8 keys in one of V.
  static FLASHWAVE_DEVICE int key_place(int row, int unit) {
    return row * row_bytes + (unit ^ key_turn(row)) * 16;
  }
  static FLASHWAVE_DEVICE int value_place(int column, int unit) {
    if constexpr (Keys == 64) {  // the 5 keeps apart what one store writes: 8 lanes hold even columns 0 to 14
      return column * column_bytes + (unit ^ (column & 7) ^ (column >> 3 & 1) * 5) * 16;
    } else {
      const int place = column ^ (column >> 3 & 1);
      const int turn = wide_banks ? -(place / 4) & 3 : place / 2 & 3;
      return place * column_bytes + (unit ^ turn) * 16;
    }
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
