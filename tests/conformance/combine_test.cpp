// Partial results over disjoint keys, merged by the public combine, are the whole.
#include <cmath>
#include <limits>

#include "lab/lab.hpp"

namespace {

using namespace lab;

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

flashwave_combine combine_of(Lab& lab, const flashwave_tensor& outs, const flashwave_tensor& lses) {
  flashwave_combine call = FLASHWAVE_INIT(flashwave_combine);
  call.outs = outs;
  call.lses = lses;
  Shape out = tools::shape_of(outs), lse = tools::shape_of(lses);
  out.erase(out.begin());
  lse.erase(lse.begin());
  call.out = lab.unwritten(outs.dtype, out);
  call.lse = lab.unwritten(fp32, lse);
  return call;
}

// Attention of a causal shard: keys first.. of the whole, seen from the same rows.
Call shard(const Call& whole, std::int64_t first, std::int64_t count, int diagonal) {
  Call part = whole;
  part.k = tools::narrow(whole.k, 1, first, count);
  part.v = tools::narrow(whole.v, 1, first, count);
  part.has_diagonal = 1;
  part.diagonal = diagonal - static_cast<int>(first);
  part.sink = {};
  return part;
}

class Ring : public testing::TestWithParam<int> {};

TEST_P(Ring, OfShardsIsTheWhole) {
  for (const bool sink : {false, true}) {
    Lab lab;
    Call whole = lab.inputs(GetParam(), {.batch = 2, .seq_q = 40, .seq_k = 96, .heads_q = 4, .heads_k = 2});
    set_causal(whole);
    if (sink) whole.sink = lab.normal("sink", fp32, {4});
    const Call want = lab.forward(whole);
    expect_right(want);

    const flashwave_tensor outs = lab.unwritten(fp32, {4, 2, 40, 4, 64}),
                           lses = lab.unwritten(fp32, {4, 2, 4, 40});
    for (int n = 0; n < 4; ++n) {  // the last two shards are hidden from some rows, one of them from most
      const Call done = lab.forward(shard(whole, n * 24, 24, 96 - 40));
      const auto part = at(outs, 0, n);
      for (std::int64_t b = 0; b < 2; ++b)
        for (std::int64_t row = 0; row < 40; ++row)
          for (std::int64_t head = 0; head < 4; ++head) {
            const bool empty = value(done.lse, {b, head, row}) == minus_infinity;
            for (std::int64_t d = 0; d < 64; ++d)  // what an empty partial holds does not matter
              set(part, {b, row, head, d},
                  empty ? std::numeric_limits<float>::quiet_NaN() : value(done.out, {b, row, head, d}));
          }
      tools::copy(at(lses, 0, n), done.lse);
    }
    for (const char* device : {"cpu", "reference"}) {
      flashwave_combine call = combine_of(lab, outs, lses);
      call.device = device;
      call.sink = whole.sink;
      ASSERT_EQ(flashwave_run_combine(&call), FLASHWAVE_OK) << flashwave_message();
      expect_near(call.out, want.out, GetParam() == fp32 ? 2e-6f : GetParam() == fp16 ? 2e-3f : 2e-2f);
      expect_near(call.lse, want.lse, GetParam() == fp32 ? 2e-6f : 4e-3f);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Ring, testing::Values(fp32, fp16, bf16),
                         [](const auto& of) { return tools::element_name(of.param); });

// A shard that says where it stands draws the whole's dropout mask, in both passes.
TEST(Origin, ShardsDropWhatTheWholeDrops) {
  Lab lab;
  Call whole = lab.inputs(fp32, {.batch = 3, .seq_q = 40, .seq_k = 96, .heads_q = 4, .heads_k = 2});
  whole.dropout = 0.4f;
  whole.seed = 99;
  whole.offset = 0xfffffff0u;
  const Call done = lab.forward(whole, {.lse = true, .mask = true});
  // Sequence 2, kv head 1, queries 8 .. 31, keys 48 .. 95.
  const auto cut = [](flashwave_tensor t, std::int64_t head, std::int64_t heads, std::int64_t row,
                      std::int64_t rows) {
    return tools::narrow(tools::narrow(tools::narrow(t, 0, 2, 1), 2, head, heads), 1, row, rows);
  };
  Call shard = whole;
  shard.q = cut(whole.q, 2, 2, 8, 24);
  shard.k = cut(whole.k, 1, 1, 48, 48);
  shard.v = cut(whole.v, 1, 1, 48, 48);
  shard.origin_batch = 2;
  shard.origin_head = 2;
  shard.origin_q = 8;
  shard.origin_k = 48;
  shard.global_heads = 4;
  shard.global_seq_q = 40;
  shard.global_seq_k = 96;
  const Call part = lab.forward(shard, {.lse = true, .mask = true});
  expect_right(part);
  expect_right(lab.backward(part));
  flashwave_tensor want = tools::narrow(tools::narrow(done.dropout_mask, 0, 2, 1), 1, 2, 2);
  want = tools::narrow(tools::narrow(want, 2, 8, 24), 3, 48, 48);
  EXPECT_EQ(bits(part.dropout_mask), bits(want));
}

TEST(Combine, OfEmptyPartialsIsEmpty) {
  Lab lab;
  const flashwave_tensor outs = lab.unwritten(bf16, {3, 5, 2, 16});  // NaN
  const flashwave_tensor lses = lab.constant(minus_infinity, fp32, {3, 2, 5});
  flashwave_combine call = combine_of(lab, outs, lses);
  ASSERT_EQ(flashwave_run_combine(&call), FLASHWAVE_OK) << flashwave_message();
  expect_all(call.out, 0);
  expect_all(call.lse, minus_infinity);
  call.sink = lab.constant(1.5f, fp32, {2});
  ASSERT_EQ(flashwave_run_combine(&call), FLASHWAVE_OK) << flashwave_message();
  expect_all(call.out, 0);
  expect_all(call.lse, 1.5f);
}

TEST(Combine, OfOnePartialIsIt) {
  Lab lab;
  const flashwave_tensor outs = lab.normal("outs", bf16, {1, 2, 7, 3, 33}),
                         lses = lab.normal("lses", fp32, {1, 2, 3, 7});
  flashwave_combine call = combine_of(lab, outs, lses);
  ASSERT_EQ(flashwave_run_combine(&call), FLASHWAVE_OK) << flashwave_message();
  EXPECT_EQ(bits(call.out), bits(at(outs, 0, 0)));
  expect_near(call.lse, at(lses, 0, 0), 1e-6f);
}

}  // namespace
