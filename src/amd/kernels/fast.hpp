// Attention of long sequences: eight waves share one block of packed query rows and walk over its tiles of 64
// keys.
//
// A tile costs a wave a matrix phase (Ot += Vt Pt of the last tile, then St = K Qt of this one) and a softmax
// phase. Waves 4-7 run one phase behind waves 0-3, and each SIMD holds one wave of either group: its matrix
// pipe works for one wave while the other wave computes exponentials. Two barriers a tile keep the groups
// apart.
//
//   phase        2t              2t+1            2t+2
//   waves 0-3    matrix t        softmax t       matrix t+1
//   waves 4-7    softmax t-1     matrix t        softmax t
//
// Matrix t reads keys t and values t-1, stores values t and requests keys t+1, all double buffered: in phases
// 2t and 2t+1 everybody reads one half of the buffers and fills the other.
#pragma once

#include "amd/kernels/feed.hpp"
#include "amd/kernels/output.hpp"
#include "amd/kernels/stream.hpp"

namespace fw::FLASHWAVE_TARGET {

// Tiles that hold some of the keys, and tiles that hold nothing else.
template <class T>
FLASHWAVE_DEVICE Range tiles_around(Range keys) {
  if (keys.empty()) return {0, 0};
  return {keys.begin / T::keys, (keys.end + T::keys - 1) / T::keys};
}
template <class T>
FLASHWAVE_DEVICE Range tiles_within(Range keys) {
  return {(keys.begin + T::keys - 1) / T::keys, keys.end / T::keys};
}

template <class W>
struct FastWave {
  using E = typename W::E;
  using T = typename W::T;
  static constexpr int waves = 8;

  Piece piece;
  Sequence sequence;
  Pack pack;
  int rows;       // packed, of the sequence
  int first_row;  // of this wave
  int wave;
  Range split;
  Range all, own, whole;  // tiles: of the block, of this wave, and those that need no mask
  W w;
  Feed<T> feed;

  // Query and head of this lane's row of group r; lanes without a row repeat the last one.
  struct Place {
    int query, head;
    bool there;
  };
  FLASHWAVE_DEVICE Place place(int r) const {
    int first = first_row;  // worked out when needed: else the compiler keeps all of it through the loop
    asm volatile("" : "+s"(first));
    const int row = first + r * T::M + w.column, mine = least(row, rows - 1);
    return {pack.query(mine), pack.head(mine), row < rows};
  }

  FLASHWAVE_DEVICE Range keys_of_rows(int first, int count, bool every) const {
    const int begin = pack.query(first), end = pack.query(least(first + count, rows) - 1);
    const Range keys = every ? visible_to_all(sequence.mask, begin, end, sequence.keys)
                             : visible_to_any(sequence.mask, begin, end, sequence.keys);
    const Range mine = intersect(keys, split);
    return {uniform(mine.begin), uniform(mine.end)};
  }

  // False: the sequence has no rows here.
  FLASHWAVE_DEVICE bool take(const AttentionLaunch& l) {
    const Args& a = l.args;
    piece = piece_of(l);
    sequence = bounded_sequence(a, l.bounds, piece.batch);
    pack = pack_of(a, piece.kv_head);
    rows = sequence.queries * pack.group;
    split = split_range(l, sequence, piece.split);
    wave = uniform(__builtin_amdgcn_workitem_id_x() / lanes);
    const int block_row = piece.row_tile * waves * W::rows;
    first_row = block_row + wave * W::rows;
    if (block_row >= rows) return false;
    feed.seen = keys_of_rows(block_row, waves * W::rows, false);
    all = tiles_around<T>(feed.seen);
    own = whole = {all.begin, all.begin};
    if (first_row < rows) {
      const Range mine = tiles_around<T>(keys_of_rows(first_row, W::rows, false));
      if (!mine.empty()) own = mine;
      whole = tiles_within<T>(keys_of_rows(first_row, W::rows, true));
    }
    feed.last = all.end - 1;
    return true;
  }

  FLASHWAVE_DEVICE void open(const AttentionLaunch& l, u32 lds) {
    const Args& a = l.args;
    feed.k = (const char*)row_at<E>(a.k.data, key_offset(a, a.k, sequence, piece.kv_head, 0));
    feed.v = (const char*)row_at<E>(a.v.data, key_offset(a, a.v, sequence, piece.kv_head, 0));
    feed.k_stride = uniform((int)a.k.row * 2);
    feed.v_stride = uniform((int)a.v.row * 2);
    feed.place(lds, wave);
    if (!all.empty()) {
      feed.fetch_values(all.begin);
      feed.fetch_keys(all.begin);
      feed.fetch_keys(all.begin + 1);
    }
    // The scale is left to the softmax; its sign goes into q.
    w.open(lds, (a.scale < 0 ? -a.scale : a.scale) * log2_e);
    FLASHWAVE_EACH(r, R) {
      const Place at = place(r);
      read_units<E>(w.q[r], row_at<E>(a.q.data, query_offset(a.q, sequence, at.query, at.head)),
                    w.group * E::unit, T::groups * E::unit, T::qk, Reading::whole);
      if (a.scale < 0) FLASHWAVE_EACH(u, T::units_q) w.q[r][u] ^= E::sign;
    }
  }

  // A tile that only other waves see: keep pace and feed them.
  FLASHWAVE_DEVICE void serve(int tile) {
    drain();
    barrier();
    feed.fetch_values(tile + 1);
    barrier();
    feed.store_values();
    feed.fetch_keys(tile + 2);
  }

  FLASHWAVE_DEVICE void hide(int tile) {
    w.hide(tile,
           [&](int r) { return intersect(visible(sequence.mask, place(r).query, sequence.keys), split); });
  }

  FLASHWAVE_DEVICE void attend(int tile) {
    w.multiply();
    __builtin_amdgcn_s_setprio(0);
    feed.fetch_values(tile + 1);
    pin();
    if (tile < whole.begin || tile >= whole.end) hide(tile);
    w.absorb();
    feed.aim_keys(tile + 2);
    barrier();
    __builtin_amdgcn_s_setprio(1);
    w.read_first_values();
    w.accumulate([&](int unit) {
      if (unit == 0) feed.store_values();
      if (unit >= 1 && unit <= feed.rows / 2) FLASHWAVE_EACH(i, 2) feed.fetch_key(2 * unit - 2 + i);
    });
  }

  FLASHWAVE_DEVICE void run() {
    if (all.empty()) return;
    const bool follows = wave >= waves / 2;
    feed.store_values();
    drain();
    barrier();
    if (follows) barrier();
    int tile = all.begin;
    for (; tile < own.begin; ++tile) {
      serve(tile);
      w.swap_keys();
      w.swap_values();
    }
    pin();
    w.read_first_keys();
    w.settle();
    for (; tile < own.end; ++tile) attend(tile);
    __builtin_amdgcn_s_setprio(0);
    for (; tile < all.end; ++tile) serve(tile);
    drain();
    if (!follows) barrier();
  }

  FLASHWAVE_DEVICE void close(const AttentionLaunch& l) {
    FLASHWAVE_EACH(r, R) {
      const Place at = place(r);
      const auto closed = w.close(r, sink_of(l, at.head));
      if (!at.there) continue;
      const OutputRow to = output_row(l, sequence, piece.split, at.query, at.head);
      if (w.group == 0) write_lse(to, closed.total.lse.x);
      FLASHWAVE_EACH(n, T::v / (4 * T::groups)) {
        float x[4];
        FLASHWAVE_EACH(e, 4)
        x[e] = output_value(w.out[r][4 * n / W::registers][4 * n % W::registers + e], closed.scale);
        write_values<E>(to, 4 * (T::groups * n + w.group), x);
      }
    }
  }

  static constexpr int R = W::rows / T::M;
};

template <class W>
FLASHWAVE_DEVICE void fast_attention() {
  __attribute__((shared)) static __attribute__((aligned(1024))) char memory[W::T::bytes];
  const u32 lds = (u32)(u64)(FLASHWAVE_LDS char*)memory;
  FastWave<W> wave;
  if (!wave.take(arguments<AttentionLaunch>())) return;
  wave.open(arguments<AttentionLaunch>(), lds);
  wave.run();
  wave.close(arguments<AttentionLaunch>());
}

}  // namespace fw::FLASHWAVE_TARGET
