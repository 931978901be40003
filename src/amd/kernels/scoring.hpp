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
using ScoreTile = f32x4[R][Blocks];

// Key of element g of a block, less the tile's first.
FLASHWAVE_DEVICE int key_of(int block, int g) { return 16 * block + lane_id() / 16 * 4 + g; }

// Calls body(score, row group, key) for every score of this lane.
template <int R, int Blocks, class Body>
FLASHWAVE_DEVICE void each_score(ScoreTile<R, Blocks>& s, int first_key, Body body) {
  FLASHWAVE_EACH(r, R)
  FLASHWAVE_EACH(b, Blocks)
  FLASHWAVE_EACH(g, 4) s[r][b][g] = body(Lane(s[r][b][g]), r, first_key + key_of(b, g)).x;
}

template <Element element, int R, int Blocks>
FLASHWAVE_DEVICE void add_bias(ScoreTile<R, Blocks>& s, const Args& a, const Sequence& seq,
                               const WaveRows<R>& rows, int first_key) {
  FLASHWAVE_EACH(r, R) {
    const i64 row =
        seq.batch * a.bias_batch + rows.head[r] * a.bias_head + rows.query[r] * a.bias_row + seq.first_slot;
    FLASHWAVE_EACH(b, Blocks)
    FLASHWAVE_EACH(g, 4) {
      const int key = most(0, least(first_key + key_of(b, g), seq.keys - 1));  // others are hidden anyway
      s[r][b][g] += value_at(a.bias, element, row + key);
    }
  }
}

// Whether scores are more than q.k in a unit that the softmax can take as it is.
FLASHWAVE_DEVICE bool changes_scores(const Args& a) {
  return a.softcap != 0 || a.alibi || a.bias || a.scale == 0;
}

// From q.k to the score that the mask and softmax see.
template <int R, int Blocks>
FLASHWAVE_DEVICE void score_tile(ScoreTile<R, Blocks>& s, const Args& a, const Sequence& seq,
                                 const WaveRows<R>& rows, int first_key) {
  const Lane scale(a.scale);
  each_score<R, Blocks>(s, first_key, [&](Lane x, int, int) { return x * scale; });
  if (a.softcap != 0)
    each_score<R, Blocks>(s, first_key, [&](Lane x, int, int) { return softcap(x, a.softcap); });
  if (a.alibi) {
    FLASHWAVE_EACH(r, R) {
      const Lane slope(a.alibi[seq.batch * a.alibi_batch + rows.head[r]]);
      const int position = rows.query[r] + seq.mask.diagonal;
      FLASHWAVE_EACH(b, Blocks)
      FLASHWAVE_EACH(g, 4)
      s[r][b][g] = alibi(Lane(s[r][b][g]), slope, Lane((float)(position - (first_key + key_of(b, g))))).x;
    }
  }
  switch (a.bias ? a.bias_element : Element::none) {
    case Element::none: break;
    case Element::fp32: add_bias<Element::fp32, R, Blocks>(s, a, seq, rows, first_key); break;
    case Element::fp16: add_bias<Element::fp16, R, Blocks>(s, a, seq, rows, first_key); break;
    case Element::bf16: add_bias<Element::bf16, R, Blocks>(s, a, seq, rows, first_key); break;
    case Element::uint8: add_bias<Element::uint8, R, Blocks>(s, a, seq, rows, first_key); break;
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
          f32x4& four = p[r][2 * pair + half];
          four[g] = number.x < a.drop_below ? 0.0f : four[g];
        }
      }
    }
  }
}

}  // namespace fw::FLASHWAVE_TARGET
