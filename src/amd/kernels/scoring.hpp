// The score steps and dropout of a wave's rows against a tile of keys: meaning/score.hpp and
// meaning/dropout.hpp on lanes. A lane has the scores of one row of each group, against four neighbouring
// keys of each block of 16 (element.hpp).
#pragma once

#include "amd/kernels/element.hpp"
#include "amd/kernels/work.hpp"
#include "meaning/dropout.hpp"
#include "meaning/score.hpp"

namespace fw::FLASHWAVE_TARGET {

template <int R, int Blocks>
using ScoreTile = float[R][Blocks][4];  // values apart, for they change apart

// Key of element g of a block, less the tile's first.
FLASHWAVE_DEVICE int key_of(int block, int g) { return 16 * block + lane_id() / 16 * 4 + g; }

// Calls body(score, row group, key) for every score of this lane.
template <int R, int Blocks, class Body>
FLASHWAVE_DEVICE void each_score(ScoreTile<R, Blocks>& s, int first_key, Body body) {
  FLASHWAVE_EACH(r, R)
  FLASHWAVE_EACH(b, Blocks)
  FLASHWAVE_EACH(g, 4) s[r][b][g] = body(Lane(s[r][b][g]), r, first_key + key_of(b, g)).x;
}

// Bias of one row against the keys of this lane. Hidden keys repeat one that is there.
template <Element element, int Blocks>
FLASHWAVE_DEVICE void read_bias(float (&bias)[Blocks][4], const void* data, i64 row, int first_key,
                                int keys) {
  FLASHWAVE_EACH(b, Blocks)
  FLASHWAVE_EACH(g, 4) {
    const int key = most(0, least(first_key + key_of(b, g), keys - 1));
    bias[b][g] = value_at(data, element, row + key);
  }
}
template <int Blocks>
FLASHWAVE_DEVICE void read_bias(float (&bias)[Blocks][4], const Args& a, i64 row, int first_key, int keys) {
  switch (a.bias_element) {
    case Element::fp16: return read_bias<Element::fp16>(bias, a.bias, row, first_key, keys);
    case Element::bf16: return read_bias<Element::bf16>(bias, a.bias, row, first_key, keys);
    case Element::uint8: return read_bias<Element::uint8>(bias, a.bias, row, first_key, keys);
    default: return read_bias<Element::fp32>(bias, a.bias, row, first_key, keys);
  }
}

// Whether a step needs scores in their own unit. Else the scale stays with the softmax, as the unit of
// scores; slopes of ALiBi come in that unit too, if they can.
FLASHWAVE_DEVICE bool needs_scale(const Args& a) {
  constexpr float least_unit = 1e-6f;
  return a.softcap != 0 || a.bias || (a.scale < 0 ? -a.scale : a.scale) < least_unit;
}

template <int R, int Blocks>
FLASHWAVE_DEVICE void alibi_tile(ScoreTile<R, Blocks>& s, const Sequence& seq, const WaveRows<R>& rows,
                                 int first_key) {
  FLASHWAVE_EACH(r, R) {
    // Distances of neighbouring keys differ by whole numbers, so one conversion serves all of them.
    const Lane first((float)(rows.query[r] + seq.mask.diagonal - first_key - key_of(0, 0)));
    FLASHWAVE_EACH(b, Blocks)
    FLASHWAVE_EACH(g, 4)
    s[r][b][g] = alibi(Lane(s[r][b][g]), Lane(rows.slope[r]), first - Lane((float)(16 * b + g))).x;
  }
}

// From q.k to the score that the mask and softmax see.
template <int R, int Blocks>
FLASHWAVE_DEVICE void score_tile(ScoreTile<R, Blocks>& s, const Args& a, const Sequence& seq,
                                 const WaveRows<R>& rows, int first_key) {
  if (needs_scale(a)) {
    const Lane scale(a.scale);
    if (a.softcap != 0)
      each_score<R, Blocks>(s, first_key, [&](Lane x, int, int) { return softcap(x * scale, a.softcap); });
    else
      each_score<R, Blocks>(s, first_key, [&](Lane x, int, int) { return x * scale; });
  }
  if (a.alibi) alibi_tile<R, Blocks>(s, seq, rows, first_key);
  if (a.bias) {
    FLASHWAVE_EACH(r, R) {
      const i64 row =
          seq.batch * a.bias_batch + rows.head[r] * a.bias_head + rows.query[r] * a.bias_row + seq.first_slot;
      float bias[Blocks][4];
      read_bias(bias, a, row, first_key, seq.keys);
      FLASHWAVE_EACH(b, Blocks)
      FLASHWAVE_EACH(g, 4) s[r][b][g] += bias[b][g];
    }
  }
}

template <int R, int Blocks>
FLASHWAVE_DEVICE void hide_tile(ScoreTile<R, Blocks>& s, const WaveRows<R>& rows, int first_key) {
  each_score<R, Blocks>(s, first_key, [&](Lane x, int r, int key) {
    return select((u32)(key - rows.seen[r].begin) < (u32)rows.seen[r].count(), x, Lane(-infinity));
  });
}

// Weights that dropout takes become 0. `first_key` lies at a slot that is a multiple of 32.
//
// A call of Philox serves eight slots, which belong to two lanes: l and l ^ 16. So each of them makes the
// call of one block of a pair, and they swap the halves.
template <int R, int Blocks>
FLASHWAVE_DEVICE void drop_tile(ScoreTile<R, Blocks>& p, const Args& a, const Sequence& s,
                                const WaveRows<R>& rows, int first_key) {
  static_assert(Blocks % 2 == 0);
  const bool odd = lane_id() / 16 % 2;
  FLASHWAVE_EACH(r, R) {
    const u64 row = dropout_row(a, s.batch, rows.head[r], rows.query[r]);
    FLASHWAVE_EACH(pair, Blocks / 2) {
      const int slot = s.first_slot + first_key + key_of(2 * pair + odd, 0);
      const u64 counter = row + slot / 8;
      const auto own = philox(Word((u32)counter), Word((u32)(counter >> 32)), a.seed);
      const u32x2 first = {own.word[0].x, own.word[1].x}, second = {own.word[2].x, own.word[3].x};
      const u32x2 kept = odd ? second : first, given = odd ? first : second;
      const u32x2 swapped = {across_16(given[0]), across_16(given[1])};
      FLASHWAVE_EACH(half, 2) {
        const u32x2 words = half == odd ? kept : swapped;  // half == odd: this lane made the block's call
        const Philox<Word> numbers{{Word(words[0]), Word(words[1]), Word(words[0]), Word(words[1])}};
        FLASHWAVE_EACH(g, 4) {
          const Word number = dropout_number(numbers, g);  // slots g and 4 + g, by what stands in the words
          float& x = p[r][2 * pair + half][g];
          x = dropped(a, number) ? 0.0f : x;
        }
      }
    }
  }
}

}  // namespace fw::FLASHWAVE_TARGET
