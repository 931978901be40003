// The score steps and dropout of a panel against a tile of keys: meaning/score.hpp and meaning/dropout.hpp on
// vectors.
#pragma once

#include "cpu/kernels/operand.hpp"
#include "cpu/kernels/panel.hpp"
#include "meaning/dropout.hpp"
#include "meaning/score.hpp"

namespace fw::FLASHWAVE_TARGET {

// Whether a call has any of these steps; scale 0 is one, since a plain loop divides the scale out.
FLASHWAVE_RULE bool is_scored(const Args& a) {
  return a.softcap != 0 || a.alibi || a.bias || a.drop_below != 0 || a.scale == 0;
}

// bias[key][lane] of a tile, as floats.
template <int W>
FLASHWAVE_RULE void gather_bias(float* bias, const Args& a, const Sequence& s, const PanelRows<W>& rows,
                                Range keys, float* memory) {
  const Staging staging = stage(memory, tile_keys);
  for (int first = 0; first < W; first += lanes) {
    for (int i = 0; i < lanes; ++i) {
      const int r = first + i;  // lanes without a row repeat the last one
      const i64 row =
          s.batch * a.bias_batch + rows.head[r] * a.bias_head + rows.query[r] * a.bias_row + s.first_slot;
      widen_values(staging.row(i), a.bias, a.bias_element, row + keys.begin, keys.count());
    }
    to_columns(bias + first, W, staging.rows, staging.stride, keys.count());
  }
}

// s[key][lane] from q.k to the score that the mask and softmax see. `capped`, if given, keeps the value after
// softcap, from which backward takes its slope.
template <int W>
FLASHWAVE_RULE void score_tile(float* s, float* capped, const float* bias, const Args& a,
                               const PanelRows<W>& rows, Range keys) {
  for (int key = keys.begin; key < keys.end; ++key) {
    for (int at = 0; at < W; at += lanes) {
      const i64 place = (i64)(key - keys.begin) * W + at;
      Vec x = load(s + place) * Vec(a.scale);
      if (a.softcap != 0) x = softcap(x, a.softcap);
      if (capped) store(capped + place, x);
      if (a.alibi) x = alibi(x, load(rows.slope + at), distance(rows, at, key));
      if (bias) x = x + load(bias + place);
      store(s + place, x);
    }
  }
}

template <int W>
FLASHWAVE_RULE void hide_tile(float* s, const PanelRows<W>& rows, Range keys) {
  for (int key = keys.begin; key < keys.end; ++key) {
    for (int at = 0; at < W; at += lanes) {
      float* place = s + (i64)(key - keys.begin) * W + at;
      store(place, select(sees(rows, at, key), load(place), Vec(-infinity)));
    }
  }
}

// Calls visit(key, at, gone) for every vector of weights of a tile; `gone` says which lanes dropout takes.
template <int W, class Visit>
FLASHWAVE_RULE void each_dropped(const Args& a, const Sequence& s, const PanelRows<W>& rows, Range keys,
                                 Visit visit) {
  for (int at = 0; at < W; at += lanes) {
    u64 counter[lanes];
    for (int i = 0; i < lanes; ++i)
      counter[i] = dropout_row(a, s.batch, rows.head[at + i], rows.query[at + i]);
    for (int key = keys.begin; key < keys.end;) {
      const int slot = s.first_slot + key;
      const int end = least(keys.end, key + 8 - slot % 8);
      u32 low[lanes], high[lanes];
      for (int i = 0; i < lanes; ++i) {
        low[i] = (u32)(counter[i] + slot / 8);
        high[i] = (u32)((counter[i] + slot / 8) >> 32);
      }
      const Philox<Word> numbers = philox(load(low), load(high), a.seed);
      for (; key < end; ++key) visit(key, at, dropped(a, dropout_number(numbers, s.first_slot + key)));
    }
  }
}

template <int W>
FLASHWAVE_RULE void drop_tile(float* p, const Args& a, const Sequence& s, const PanelRows<W>& rows,
                              Range keys) {
  each_dropped(a, s, rows, keys, [&](int key, int at, Lanes gone) {
    float* place = p + (i64)(key - keys.begin) * W + at;
    store(place, select(gone, Vec(0.0f), load(place)));
  });
}

}  // namespace fw::FLASHWAVE_TARGET
