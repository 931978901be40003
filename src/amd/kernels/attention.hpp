// Forward attention of one wave: its packed rows against the keys they see, a tile at a time.
//
// Scores are computed transposed, St = K Qt, so that a row lies in one column of lanes: its maximum and sum
// are register arithmetic. P leaves the accumulator of St in the layout in which Ot = Vt Pt takes it: lane l
// holds row l % 16 and keys 4 * (l / 16) + g of a block, which is an order of k that V then follows
// (element.hpp). Keys and values come straight from memory. Which columns of V make a matrix instruction's 16
// rows is free too: lane i has `width` neighbouring ones, so that it reads and writes them together.
#pragma once

#include "amd/kernels/operand.hpp"
#include "amd/kernels/scoring.hpp"
#include "meaning/loop.hpp"
#include "meaning/softmax.hpp"

namespace fw::FLASHWAVE_TARGET {

// Buckets: the largest head dimensions.
template <int Qk, int V>
struct Dims {
  static constexpr int qk = Qk, v = V;
};
// Waves of a workgroup, groups of 16 rows of a wave, keys of a tile.
template <int Waves, int RowGroups, int Keys>
struct Block {
  static constexpr int waves = Waves, row_groups = RowGroups, keys = Keys;
};

// What is compiled apart.
template <class Element, class Dims, class Block, bool Scored>
struct Shape : Dims, Block {
  using E = Element;
  using Dims::qk, Dims::v, Block::keys;
  static constexpr bool scored = Scored;

  static constexpr int units_q = qk / (4 * E::unit);    // of a row of Q or K in one lane
  static constexpr int units_p = keys / (4 * E::unit);  // of a row of P in one lane
  static constexpr int blocks = keys / 16;              // of scores
  static constexpr int columns = v / 16;                // of a row of the output in one lane, over 4
  static constexpr int width = columns % 8 == 0 && E::unit == 8 ? 8 : columns % 4 == 0 ? 4 : 2;
  static constexpr int dwords = width * sizeof(typename E::Stored) / 4;
  // Units of K read at once.
  static constexpr int ahead = units_q <= 8 ? units_q : units_q % 8 == 0 ? 8 : 6;
};

// Rows of keys: found by one multiplication where they lie one stride apart and the stride fits.
template <class E>
struct KeyRows {
  RowPointer<E> first;  // of key 0
  int stride;           // bytes; 0 = another rule finds them

  FLASHWAVE_DEVICE KeyRows(const Args& a, const Tensor& t, const Sequence& s, int kv_head)
      : first(row_at<E>(t.data, a.page_size ? 0 : key_offset(a, t, s, kv_head, 0))) {
    const i64 bytes = t.row * (i64)sizeof(typename E::Stored);
    stride = !a.page_size && bytes == (int)bytes ? (int)bytes : 0;
  }
  template <int N>
  FLASHWAVE_DEVICE void find(RowPointer<E> (&rows)[N], const int (&keys)[N], const Tensor& t,
                             const Sequence& s, int kv_head) const {
    if (stride) {
      FLASHWAVE_EACH(i, N)
      rows[i] = (RowPointer<E>)((const FLASHWAVE_GLOBAL char*)first + (i64)keys[i] * stride);
    } else {
      const Args& a = arguments<AttentionLaunch>().args;
      FLASHWAVE_EACH(i, N) rows[i] = row_at<E>(t.data, key_offset(a, t, s, kv_head, keys[i]));
    }
  }
};

template <class S>
struct AttentionMachine {
  using E = typename S::E;
  static constexpr bool scored = S::scored;
  static constexpr int R = S::row_groups;

  const Args& a;
  Sequence sequence;
  WaveRows<R> rows;
  int kv_head;
  Unit unit;
  KeyRows<E> rows_k, rows_v;
  Reading reading_k, reading_v;
  Unit16 q[R][S::units_q];
  Row<Lane> row[R];  // the sum is that of this lane's keys
  f32x4 out[R][S::columns];

  struct Scores {
    ScoreTile<R, S::blocks> x;
  };
  struct Weights {
    Unit16 x[R][S::units_p];
  };
  struct Fades {
    Lane x[R];
  };

  // Tiles count slots, so that one call of the dropout's generator never serves two tiles.
  FLASHWAVE_DEVICE int first_key(int tile) const { return tile * S::keys - sequence.first_slot; }
  // Rows that nobody sees repeat one that somebody sees: what lies there could be NaN, or not ours.
  FLASHWAVE_DEVICE int readable(int key) const { return most(rows.any.begin, least(key, rows.any.end - 1)); }

  FLASHWAVE_DEVICE Scores multiply(int tile) {
    Scores s;
    const int group = lane_id() / 16;
    RowPointer<E> key_rows[S::blocks];
    int keys[S::blocks];
    FLASHWAVE_EACH(b, S::blocks) keys[b] = readable(first_key(tile) + 16 * b + lane_id() % 16);
    rows_k.find(key_rows, keys, a.k, sequence, kv_head);
    FLASHWAVE_EACH(b, S::blocks) {
      f32x4 block[R];
      FLASHWAVE_EACH(r, R) block[r] = f32x4(0.0f);
      FLASHWAVE_EACH(first, S::units_q / S::ahead) {
        Unit16 k[S::ahead];
        read_units<E>(k, key_rows[b], (first * S::ahead * 4 + group) * E::unit, 4 * E::unit, a.dim_qk,
                      reading_k);
        FLASHWAVE_EACH(u, S::ahead)
        FLASHWAVE_EACH(r, R) block[r] = E::mma(k[u], q[r][first * S::ahead + u], block[r]);
      }
      FLASHWAVE_EACH(r, R) FLASHWAVE_EACH(g, 4) s.x[r][b][g] = apart(block[r][g]);
    }
    return s;
  }

  FLASHWAVE_DEVICE void score(Scores& s, int tile) {
    score_tile<R, S::blocks>(s.x, arguments<AttentionLaunch>().args, sequence, rows, first_key(tile));
  }
  FLASHWAVE_DEVICE bool whole(int tile) const {
    return first_key(tile) >= rows.all.begin && first_key(tile) + S::keys <= rows.all.end;
  }
  FLASHWAVE_DEVICE void hide(Scores& s, int tile) { hide_tile<R, S::blocks>(s.x, rows, first_key(tile)); }

  FLASHWAVE_DEVICE Fades absorb(Scores& s) {
    Fades fades;
    const Lane in_log2(unit.in_log2);
    FLASHWAVE_EACH(r, R) {
      float top = -infinity;
      FLASHWAVE_EACH(b, S::blocks)
      FLASHWAVE_EACH(g, 4) top = __builtin_fmaxf(top, s.x[r][b][g]);
      const Step<Lane> step = raise(row[r], Lane(row_max(top)), in_log2);
      FLASHWAVE_EACH(b, S::blocks)
      FLASHWAVE_EACH(g, 4) {
        const Lane p = weight(Lane(s.x[r][b][g]), step.base, in_log2);
        row[r].sum = row[r].sum + p;
        s.x[r][b][g] = p.x;
      }
      settle(
          row[r].sum.x);  // before drop, which changes what was summed: later the compiler would need copies
      fades.x[r] = step.fade;
    }
    return fades;
  }

  FLASHWAVE_DEVICE void drop(Scores& s, int tile) {
    const Args& args = arguments<AttentionLaunch>().args;
    if (args.drop_below) drop_tile<R, S::blocks>(s.x, args, sequence, rows, first_key(tile));
  }

  FLASHWAVE_DEVICE Weights narrow(const Scores& s) {
    Weights p;
    FLASHWAVE_EACH(r, R)
    FLASHWAVE_EACH(u, S::units_p) {
      if constexpr (E::unit == 4) {
        FLASHWAVE_EACH(e, 4) p.x[r][u][e] = as<u32>(s.x[r][u][e]);
      } else {
        FLASHWAVE_EACH(i, 4) {
          const float (&four)[4] = s.x[r][2 * u + i / 2];
          p.x[r][u][i] = E::narrow_two(four[i % 2 * 2], four[i % 2 * 2 + 1]);
        }
      }
    }
    return p;
  }

  FLASHWAVE_DEVICE void accumulate(const Fades& fades, const Weights& p, int tile) {
    FLASHWAVE_EACH(r, R)
    if (__builtin_amdgcn_ballot_w64(fades.x[r].x != 1.0f)) FLASHWAVE_EACH(c, S::columns)
    out[r][c] *= fades.x[r].x;
    FLASHWAVE_EACH(u, S::units_p) {
      RowPointer<E> values[E::unit];
      int keys[E::unit];
      FLASHWAVE_EACH(e, E::unit)
      keys[e] = readable(first_key(tile) + key_of(u * (E::unit / 4) + e / 4, e % 4));
      rows_v.find(values, keys, a.v, sequence, kv_head);
      FLASHWAVE_EACH(m, S::columns / S::width) {
        vec<u32, S::dwords> block[E::unit];
        read_columns<E>(block, values, (16 * m + lane_id() % 16) * S::width, a.dim_v, reading_v);
        FLASHWAVE_EACH(c, S::width) {
          const Unit16 column = column_of<E>(block, c);
          FLASHWAVE_EACH(r, R)
          out[r][m * S::width + c] = E::mma(column, p.x[r][u], out[r][m * S::width + c]);
        }
      }
    }
  }
};

}  // namespace fw::FLASHWAVE_TARGET
