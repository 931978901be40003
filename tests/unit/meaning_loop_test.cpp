// The loop on a machine of one scalar row, against attention written down: that the steps come in their
// order.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "meaning/loop.hpp"
#include "meaning/mask.hpp"
#include "meaning/score.hpp"
#include "meaning/softmax.hpp"
#include "meaning_lane.hpp"

namespace {

using namespace fw::host;
using fw::test::Lane;

constexpr int tile_keys = 3;
constexpr float cap = 2.0f;

bool kept(int key) { return key % 3 != 1; }
constexpr float keep_scale = 1.5f;

struct Tile {
  int first;
  std::vector<Lane> s;
};

template <bool Scored>
struct Scalar {
  static constexpr bool scored = Scored;
  const std::vector<float>& products;  // q.k
  const std::vector<float>& values;
  Range seen;
  Row<Lane> row = fresh_row<Lane>();
  Lane out{0};
  int hidden_tiles = 0;

  Tile multiply(int tile) {
    Tile t{tile * tile_keys, {}};
    for (int i = t.first; i < t.first + tile_keys && i < static_cast<int>(products.size()); ++i)
      t.s.push_back(Lane(products[static_cast<std::size_t>(i)]));
    return t;
  }
  void score(Tile& t, int) {
    for (Lane& s : t.s) s = softcap(s, cap);
  }
  bool whole(int tile) const { return tile * tile_keys >= seen.begin && (tile + 1) * tile_keys <= seen.end; }
  void hide(Tile& t, int) {
    ++hidden_tiles;
    for (std::size_t i = 0; i < t.s.size(); ++i)
      if (t.first + static_cast<int>(i) < seen.begin || t.first + static_cast<int>(i) >= seen.end)
        t.s[i] = Lane(-infinity);
  }
  Lane absorb(Tile& t) {
    Lane top(-infinity);
    for (const Lane s : t.s) top = max(top, s);
    const Step<Lane> step = raise(row, top, Lane(log2_e));
    for (Lane& s : t.s) {
      s = weight(s, step.base, Lane(log2_e));
      row.sum = row.sum + s;
    }
    return step.fade;
  }
  void drop(Tile& t, int) {
    for (std::size_t i = 0; i < t.s.size(); ++i)
      t.s[i] = kept(t.first + static_cast<int>(i)) ? t.s[i] * Lane(keep_scale) : Lane(0);
  }
  const Tile& narrow(const Tile& t) { return t; }
  void accumulate(Lane fade, const Tile& p, int) {
    out = out * fade;
    for (std::size_t i = 0; i < p.s.size(); ++i)
      out = out + p.s[i] * Lane(values[static_cast<std::size_t>(p.first) + i]);
  }
};

template <bool Scored>
void check(Range seen) {
  const std::vector<float> products = {1, -2, 0.5f, 3, 2, -1, 4, 0, 1.5f, -3, 2.5f};
  const std::vector<float> values = {2, 1, -1, 4, 3, 0.5f, -2, 1, 6, -4, 2};
  Scalar<Scored> machine{products, values, seen};
  for (int tile = seen.begin / tile_keys; tile * tile_keys < seen.end; ++tile) attend_tile(machine, tile);
  const Total<Lane> total = finish(machine.row, Lane(-infinity), unit_of(1));

  double sum = 0, weighted = 0;
  for (int i = seen.begin; i < seen.end; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double s = Scored ? cap * std::tanh(products[at] / cap) : products[at];
    sum += std::exp(s);
    weighted += std::exp(s) * (Scored ? (kept(i) ? keep_scale : 0) : 1) * values[at];
  }
  EXPECT_NEAR((machine.out * total.scale).x, weighted / sum, 1e-5);
  EXPECT_NEAR(total.lse.x, std::log(sum), 1e-5);  // what dropout takes stays in the denominator
  const int visited = (seen.end + tile_keys - 1) / tile_keys - seen.begin / tile_keys;
  if (seen.begin % tile_keys == 0 && seen.end % tile_keys == 0) {
    EXPECT_EQ(machine.hidden_tiles, 0);
  }
  EXPECT_LE(machine.hidden_tiles, std::min(visited, 2));  // only the edges are looked at
}

TEST(Loop, PlainAndScoredTiles) {
  for (const Range seen : {Range{0, 11}, Range{0, 9}, Range{3, 9}, Range{1, 8}, Range{4, 5}, Range{2, 10}}) {
    check<false>(seen);
    check<true>(seen);
  }
}

}  // namespace
