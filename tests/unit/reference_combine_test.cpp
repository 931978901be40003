// Partial results over disjoint keys merge to the result over all of them.
#include <gtest/gtest.h>

#include <algorithm>

#include "reference/reference.hpp"
#include "support.hpp"

namespace fw::test {
namespace {

constexpr DType fp64 = DType::fp64;
constexpr Sizes sizes{.batch = 2, .heads_q = 2, .heads_k = 1, .seq_q = 3, .seq_k = 9, .dtype = fp64};

void run(Sample& s) { ASSERT_TRUE(reference::run(s.problem, s.call, reference::Mode::oracle).ok()); }

// Keys [begin, end) of a sample, alone.
void hide_others(Sample& s, int begin, int end) {
  Tensor& bias = s.give(&Call::bias, DType::uint8, {1, 1, 1, 9});
  for (int j = 0; j < 9; ++j) bias.set(j, j >= begin && j < end);
}

TEST(Combine, merges_parts_and_adds_the_sink_once) {
  Sample whole(sizes);
  whole.give(&Call::sink, fp64, {2}).assign({0.5, -infinity});
  run(whole);

  const int bounds[] = {0, 4, 4, 9};  // the second part is empty
  Tensor outs(fp64, {3, 2, 3, 2, 8}), lses(fp64, {3, 2, 2, 3}), out(fp64, {2, 3, 2, 8}), lse(fp64, {2, 2, 3});
  for (int n = 0; n < 3; ++n) {
    Sample part(sizes);
    hide_others(part, bounds[n], bounds[n + 1]);
    run(part);
    for (int i = 0; i < 96; ++i) outs.set(n * 96 + i, n == 1 ? nan : part[&Call::out].get(i));
    for (int i = 0; i < 12; ++i) lses.set(n * 12 + i, part[&Call::lse].get(i));
  }
  CombineCall call;
  call.outs = outs.view;
  call.lses = lses.view;
  call.sink = whole.call.sink;
  call.out = out.view;
  call.lse = lse.view;
  ASSERT_TRUE(reference::combine(call).ok());
  for (int i = 0; i < 96; ++i) EXPECT_NEAR(out.get(i), whole[&Call::out].get(i), 1e-14);
  for (int i = 0; i < 12; ++i) EXPECT_NEAR(lse.get(i), whole[&Call::lse].get(i), 1e-14);
}

TEST(Combine, of_empty_parts_is_empty) {
  Tensor outs(fp64, {2, 1, 1, 1}), lses(fp64, {2, 1, 1}), out(fp64, {1, 1, 1}),
      lse(fp64, {1, 1});  // (N,Tq,Hq,Dv)
  lses.fill(-infinity);
  CombineCall call;
  call.outs = outs.view;
  call.lses = lses.view;
  call.out = out.view;
  call.lse = lse.view;
  ASSERT_TRUE(reference::combine(call).ok());
  EXPECT_EQ(out.get(0), 0);
  EXPECT_EQ(lse.get(0), -infinity);
}

}  // namespace
}  // namespace fw::test
