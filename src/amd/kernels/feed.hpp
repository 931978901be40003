// Brings tiles of K and V from memory to LDS. Each of eight waves moves an eighth: 8 rows of K, and the 8
// rows of V that make one unit. A row of 128 elements is what 64 lanes move as dwords.
#pragma once

#include "amd/kernels/tile.hpp"
#include "meaning/keys.hpp"

namespace fw::FLASHWAVE_TARGET {

template <class T>
struct Feed {
  static constexpr int rows = 8;  // of a wave
  static_assert(T::D == 128 && T::keys == 8 * rows);

  const char *k, *v;       // key 0 of the sequence
  int k_stride, v_stride;  // bytes from key to key
  Range seen;              // keys that some row of the block sees: others are not read
  int last;                // tile; requests behind it repeat it
  int wave;
  u32 k_lane[key_period / 8];  // byte offset of this lane in a row of K
  u32 k_to, v_to[2];           // LDS addresses
  u32x4 k_tile;                // descriptor of the tile that fetch_key reads
  int k_first, k_last;         // rows of it that may be read
  u32 values[rows];

  FLASHWAVE_DEVICE void place(u32 lds, int wave_number) {
    const int lane = lane_id();
    wave = wave_number;
    FLASHWAVE_EACH(i, key_period / 8) k_lane[i] = T::key_slot(wave + 8 * i, lane / 4) * 16 + lane % 4 * 4;
    k_to = lds + wave * T::row_bytes;
    FLASHWAVE_EACH(i, 2)
    v_to[i] = lds + 2 * T::bytes + (2 * lane + i) * T::column_bytes + T::value_slot(2 * lane + i, wave) * 16;
  }

  // Rows that nobody sees repeat one that somebody sees: they are hidden later, but what lies there could be
  // NaN, or not ours.
  FLASHWAVE_DEVICE int first_row(int tile) const { return most(0, seen.begin - tile * T::keys); }
  FLASHWAVE_DEVICE int last_row(int tile) const { return least(T::keys, seen.end - tile * T::keys) - 1; }

  FLASHWAVE_DEVICE void aim_keys(int tile) {
    tile = least(tile, last);
    const u64 base = (u64)(k + (i64)tile * T::keys * k_stride);
    k_tile = {(u32)base, (u32)(base >> 32), 0xffffffffu, 0x00020000u};
    k_first = first_row(tile);
    k_last = last_row(tile);
  }
  // Row i goes from memory to LDS, lane after lane; the permutation is made on the memory side. The compiler
  // has a builtin for it, but then lets every later LDS read wait for it. M0 needs the wait state.
  FLASHWAVE_DEVICE void fetch_key(int i) {
    const int row = uniform(most(k_first, least(wave + 8 * i, k_last)) * k_stride);
    asm volatile("s_nop 0\n\tbuffer_load_dword %0, %1, %2 offen lds" ::"v"(k_lane[i % (key_period / 8)]),
                 "s"(k_tile), "s"(row), "{m0}"(k_to + 8 * i * T::row_bytes)
                 : "memory");
    if (i == rows - 1) k_to ^= T::bytes;
  }
  FLASHWAVE_DEVICE void fetch_keys(int tile) {
    aim_keys(tile);
    FLASHWAVE_EACH(i, rows) fetch_key(i);
  }

  FLASHWAVE_DEVICE void fetch_values(int tile) {
    tile = least(tile, last);
    const char* const base = v + (i64)tile * T::keys * v_stride;
    const auto resource = __builtin_amdgcn_make_buffer_rsrc((void*)base, (short)0, -1, 0x00020000);
    const int first = first_row(tile), end = last_row(tile);
    FLASHWAVE_EACH(i, rows) {
      const int row = most(first, least(T::key(wave / T::groups, wave % T::groups, i), end));
      values[i] = __builtin_amdgcn_raw_buffer_load_b32(resource, lane_id() * 4, row * v_stride, 0);
    }
  }
  // A lane has two neighbouring columns of 8 rows; LDS gets them as columns.
  FLASHWAVE_DEVICE void store_values() {
    u32x4 even, odd;
    FLASHWAVE_EACH(i, 4) {
      even[i] = low_halves(values[2 * i], values[2 * i + 1]);
      odd[i] = high_halves(values[2 * i], values[2 * i + 1]);
    }
    *(FLASHWAVE_LDS u32x4*)v_to[0] = even;
    *(FLASHWAVE_LDS u32x4*)v_to[1] = odd;
    FLASHWAVE_EACH(i, 2) v_to[i] ^= T::bytes;
  }
};

}  // namespace fw::FLASHWAVE_TARGET
