// Brings tiles of K and V from memory to LDS, eight waves together.
//
// K goes straight to LDS: an instruction moves 64 dwords to consecutive places, so that the permutation of
// units is made on the memory side. V passes through registers, where 8 rows become columns.
#pragma once

#include "amd/kernels/tile.hpp"
#include "meaning/mask.hpp"

namespace fw::FLASHWAVE_TARGET {

template <class T>
struct Feed {
  static constexpr int waves = 8;
  static constexpr int rows = T::keys / waves;            // of K, of a wave
  static constexpr int pieces = T::row_bytes / 256;       // of a row, that 64 lanes move,
  static constexpr bool half_piece = T::row_bytes % 256;  // and one that 32 lanes move
  static constexpr int patterns = wide_banks ? 2 : 1;     // of the order of units, in rows 8 apart
  static constexpr bool one_unit = T::v >= 128;           // of 8 rows of V, for all lanes of a wave
  static constexpr int value_waves = T::keys / 8 * (T::v / 2) / lanes;  // a lane moves 8 rows of 2 columns

  const char *k, *v;       // key 0 of the sequence
  int k_stride, v_stride;  // bytes from key to key
  Range seen;              // keys that some row of the block sees: others are not read
  int last;                // tile; requests behind it repeat it
  int wave;
  u32 k_lane[patterns];        // byte of this lane in a row of K
  u32 k_to, v_to[2];           // LDS addresses
  u32x4 k_tile;                // descriptor of the tile that fetch_key reads
  Range k_rows;                // of it, that may be read
  int value_unit, value_pair;  // of 8 rows of V, and of columns: what this lane moves
  u32 values[8];

  FLASHWAVE_DEVICE void place(u32 lds, int wave_number) {
    wave = wave_number;
    FLASHWAVE_EACH(i, patterns)
    k_lane[i] = (lane_id() / 4 ^ T::key_turn(wave + waves * i)) * 16 + lane_id() % 4 * 4;
    k_to = lds + wave * T::row_bytes;
    const int thread = wave / (waves / value_waves) * lanes + lane_id();
    value_pair = thread % (T::v / 2);
    value_unit = thread / (T::v / 2);
    if (one_unit) value_unit = uniform(value_unit);
    FLASHWAVE_EACH(i, 2) v_to[i] = lds + T::key_bytes + T::value_place(2 * value_pair + i, value_unit);
  }

  // Rows that nobody sees repeat one that somebody sees: they are hidden later, but what lies there could be
  // NaN, or not ours.
  // Scalars: without `uniform` the compiler makes max3 of two maxima, which only lanes have.
  FLASHWAVE_DEVICE Range rows_of(int tile) const {
    return {uniform(most(0, seen.begin - tile * T::keys)),
            uniform(least(T::keys, seen.end - tile * T::keys))};
  }
  static FLASHWAVE_DEVICE int nearest(Range rows, int row) {
    return most(rows.begin, least(row, rows.end - 1));
  }

  FLASHWAVE_DEVICE void aim_keys(int tile) {
    tile = least(tile, last);
    const u64 base = (u64)(k + (i64)tile * T::keys * k_stride);
    k_tile = {(u32)base, (u32)(base >> 32), 0xffffffffu, 0x00020000u};
    k_rows = rows_of(tile);
  }
  // The compiler has a builtin for it, but then lets every later LDS read wait for it. M0 needs the wait
  // state.
  template <int piece>
  FLASHWAVE_DEVICE void fetch_piece(int i, int row) {
    asm volatile("s_nop 0\n\tbuffer_load_dword %0, %1, %2 offen offset:%4 lds" ::"v"(k_lane[i % patterns]),
                 "s"(k_tile), "s"(row), "{m0}"(k_to + waves * i * T::row_bytes), "i"(256 * piece)
                 : "memory");
  }
  FLASHWAVE_DEVICE void fetch_key(int i) {
    const int row = uniform(nearest(k_rows, wave + waves * i) * k_stride);
    if constexpr (pieces > 0) fetch_piece<0>(i, row);
    if constexpr (pieces > 1) fetch_piece<1>(i, row);
    if constexpr (half_piece)
      if (lane_id() < 32) fetch_piece<pieces>(i, row);
    if (i == rows - 1) k_to ^= T::buffer;
  }
  FLASHWAVE_DEVICE void fetch_keys(int tile) {
    aim_keys(tile);
    FLASHWAVE_EACH(i, rows) fetch_key(i);
  }

  // Where not all waves have values to move, every other or every fourth one does.
  FLASHWAVE_DEVICE bool moves_values() const { return wave % (waves / value_waves) == 0; }

  FLASHWAVE_DEVICE void fetch_values(int tile) {
    if (!moves_values()) return;
    tile = least(tile, last);
    const char* const base = v + (i64)tile * T::keys * v_stride;
    const auto resource = __builtin_amdgcn_make_buffer_rsrc((void*)base, (short)0, -1, 0x00020000);
    const Range readable = rows_of(tile);
    FLASHWAVE_EACH(e, 8) {
      const int row = nearest(readable, T::key(value_unit / T::groups, value_unit % T::groups, e)) * v_stride;
      values[e] = __builtin_amdgcn_raw_buffer_load_b32(resource, value_pair * 4 + (one_unit ? 0 : row),
                                                       one_unit ? row : 0, 0);
    }
  }
  FLASHWAVE_DEVICE void store_values() {
    if (moves_values()) {
      u32x4 even, odd;
      FLASHWAVE_EACH(i, 4) {
        even[i] = low_halves(values[2 * i], values[2 * i + 1]);
        odd[i] = high_halves(values[2 * i], values[2 * i + 1]);
      }
      *(FLASHWAVE_LDS u32x4*)v_to[0] = even;
      *(FLASHWAVE_LDS u32x4*)v_to[1] = odd;
    }
    FLASHWAVE_EACH(i, 2) v_to[i] ^= T::buffer;
  }
};

}  // namespace fw::FLASHWAVE_TARGET
