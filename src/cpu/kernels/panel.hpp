// A panel: as many packed query rows as the register tile has lanes, and what each of them is.
#pragma once

#include "cpu/kernels/element.hpp"
#include "meaning/heads.hpp"
#include "meaning/keys.hpp"

namespace fw::FLASHWAVE_TARGET {

// One array a fact, so that a vector of rows is one load. Lanes without a row see no key.
template <int W>
struct PanelRows {
  int begin[W], end[W];  // the keys a row sees
  int position[W];       // query + diagonal
  int query[W], head[W];
  float slope[W];  // ALiBi
  int count;       // rows there are
  Range any, all;  // keys that some row, that every row sees

  bool sees_all(Range keys) const { return keys.begin >= all.begin && keys.end <= all.end; }
};

template <int W>
FLASHWAVE_RULE void describe_rows(PanelRows<W>& rows, const Args& a, const Sequence& s, Pack pack, int first,
                                  int count) {
  rows.count = count;
  for (int r = 0; r < W; ++r) {
    const int row = first + least(r, count - 1);
    const Range seen = r < count ? visible(s.mask, pack.query(row), s.keys) : Range{0, 0};
    rows.begin[r] = seen.begin;
    rows.end[r] = seen.end;
    rows.query[r] = pack.query(row);
    rows.head[r] = pack.head(row);
    rows.position[r] = rows.query[r] + s.mask.diagonal;
    rows.slope[r] = a.alibi ? a.alibi[s.batch * a.alibi_batch + rows.head[r]] : 0.0f;
  }
  rows.any = visible_to_any(s.mask, rows.query[0], rows.query[count - 1], s.keys);
  rows.all = visible_to_all(s.mask, rows.query[0], rows.query[count - 1], s.keys);
}

// Which lanes of vector `at` see `key`.
template <int W>
FLASHWAVE_RULE Lanes sees(const PanelRows<W>& rows, int at, int key) {
  return (Int(key) < load(rows.end + at)) & (load(rows.begin + at) < Int(key + 1));
}

// Distance from a lane's position to a key, for ALiBi.
template <int W>
FLASHWAVE_RULE Vec distance(const PanelRows<W>& rows, int at, int key) {
  return to_float(load(rows.position + at) - Int(key));
}

}  // namespace fw::FLASHWAVE_TARGET
