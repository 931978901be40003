// Public reports about dropout, determinism, ignored flags, sinks.
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "lab/lab.hpp"

namespace {

using namespace lab;

// https://github.com/ROCm/rocm-libraries/pull/6533, https://github.com/Dao-AILab/flash-attention/issues/314,
// https://github.com/ROCm/flash-attention/issues/167
class DropoutReport : public testing::TestWithParam<int> {
 protected:
  Call inputs() {
    Call call = lab_.inputs(fp16, {.batch = 3, .seq_q = GetParam(), .seq_k = 40, .heads_q = 8, .heads_k = 2});
    call.dropout = 0.3f;
    call.seed = 42;
    return call;
  }
  Lab lab_;
};

TEST_P(DropoutReport, EachCallBatchAndHeadHasAMaskOfItsOwn) {
  Call call = inputs();
  std::set<std::string> masks;
  for (const std::uint64_t offset : {0u, 1000u}) {
    call.offset = offset;
    const Call done = lab_.forward(call, {.lse = true, .mask = true});
    expect_right(done);
    for (std::int64_t b = 0; b < 3; ++b)
      for (std::int64_t head = 0; head < 8; ++head) {
        const auto mask = bits(at(at(done.dropout_mask, 0, b), 0, head));
        masks.emplace(mask.begin(), mask.end());
      }
  }
  EXPECT_EQ(masks.size(), 2u * 3u * 8u);
}

TEST_P(DropoutReport, TheSameSeedDrawsTheSameMaskWhetherOrNotItIsAskedFor) {
  const Call call = inputs();
  const Call with = lab_.forward(call, {.lse = true, .mask = true});
  const Call without = lab_.forward(call);
  EXPECT_EQ(bits({with.out, with.lse}), bits({without.out, without.lse}));
  EXPECT_EQ(bits(lab_.forward(call, {.mask = true}).dropout_mask), bits(with.dropout_mask));
}

TEST_P(DropoutReport, OfNothingIsNoDropout) {
  Call call = inputs();
  call.dropout = 0;
  const Call zero = lab_.forward(call);
  call.seed = 7;
  EXPECT_EQ(bits(lab_.forward(call).out), bits(zero.out));
  call.dropout = 1;
  call.out = lab_.unwritten(fp16, {3, GetParam(), 8, 64});
  expect_refused(call, "dropout-range", "1");
}

INSTANTIATE_TEST_SUITE_P(Rows, DropoutReport, testing::Values(1, 5));

// https://github.com/Dao-AILab/flash-attention/issues/2244, .../414, .../746
TEST(Deterministic, ThirtyRunsOnOneTwoAndFiveThreadsAreEqual) {
  Lab lab;
  Call dense =
      lab.inputs(bf16, {.batch = 2, .seq_q = 256, .seq_k = 256, .heads_q = 8, .heads_k = 2, .dim = 128});
  set_causal(dense);
  Call windowed = dense;
  set_window(windowed, 50, 20);
  windowed.dropout = 0.2f;
  Call ragged =
      lab.inputs(bf16, {.batch = 0, .seq_q = 300, .seq_k = 300, .heads_q = 8, .heads_k = 2, .dim = 64});
  set_causal(ragged);
  ragged.cu_seqlens_q = ragged.cu_seqlens_k = lab.ints({0, 100, 101, 101, 150, 217, 290, 300});
  for (Call call : {dense, windowed, ragged}) {
    call.deterministic = 1;
    std::vector<unsigned char> first;
    for (int run = 0; run < 30; ++run) {
      const int threads[] = {1, 2, 5};
      ASSERT_EQ(flashwave_set_threads(threads[run % 3]), FLASHWAVE_OK);
      Lab own;
      Call done = own.forward(call);
      done.dout = own.normal("dout", bf16, tools::shape_of(done.out));
      const Call g = own.backward(done);
      const auto got = bits({done.out, done.lse, g.dq, g.dk, g.dv});
      if (run == 0) first = got;
      ASSERT_EQ(got, first) << "run " << run;
    }
  }
  flashwave_set_threads(0);
}

// https://github.com/ROCm/aiter/pull/3742, https://github.com/pytorch/pytorch/issues/154582,
// https://github.com/pytorch/pytorch/issues/122753
struct Flag {
  const char* name;
  std::function<void(Lab&, Call&)> set;
};

void PrintTo(const Flag& flag, std::ostream* out) { *out << flag.name; }

class Flags : public testing::TestWithParam<Flag> {};

TEST_P(Flags, ChangeTheAnswerOfEachPassAndItIsRight) {
  for (const int dtype : {fp32, bf16}) {
    Lab lab;
    const Call off =
        lab.inputs(dtype, {.batch = 2, .seq_q = 20, .seq_k = 30, .heads_q = 4, .heads_k = 2, .dim = 32});
    Call on = off;
    GetParam().set(lab, on);
    const Call off_done = lab.forward(off), on_done = lab.forward(on);
    EXPECT_NE(bits(on_done.out), bits(off_done.out));
    expect_right(on_done);
    if (tools::given(on.block_table) || tools::given(on.leftpad)) return;  // forward only
    const Call off_gradients = lab.backward(off_done), on_gradients = lab.backward(on_done);
    for (flashwave_tensor Call::* member : {&Call::dq, &Call::dk, &Call::dv})
      EXPECT_NE(bits(on_gradients.*member), bits(off_gradients.*member));
    expect_right(on_gradients);
  }
}

const Flag flags[] = {
    {"causal", [](Lab&, Call& c) { set_causal(c); }},
    {"window", [](Lab&, Call& c) { set_window(c, 5, 2); }},
    {"diagonal", [](Lab&, Call& c) { set_causal(c), c.has_diagonal = 1, c.diagonal = 2; }},
    {"scale", [](Lab&, Call& c) { c.has_scale = 1, c.scale = 0.9f; }},
    {"softcap", [](Lab&, Call& c) { c.softcap = 0.5f; }},
    {"alibi", [](Lab& lab, Call& c) { c.alibi = lab.constant(0.3f, fp32, {4}); }},
    {"bias", [](Lab& lab, Call& c) { c.bias = lab.normal("bias", c.q.dtype, {2, 4, 20, 30}); }},
    {"dropout", [](Lab&, Call& c) { c.dropout = 0.4f; }},
    {"sink", [](Lab& lab, Call& c) { c.sink = lab.constant(1, fp32, {4}); }},
    {"seqused", [](Lab& lab, Call& c) { c.seqused_k = lab.ints({20, 3}); }},
    {"leftpad",
     [](Lab& lab, Call& c) { c.cache_seqlens = lab.ints({30, 30}), c.leftpad = lab.ints({4, 11}); }},
    {"block_table",
     [](Lab& lab, Call& c) {
       c.k = lab.normal("k", c.k.dtype, {4, 15, 2, 32});
       c.v = lab.normal("v", c.v.dtype, {4, 15, 2, 32});
       c.block_table = lab.table({{3, 0}, {1, 2}});
     }},
};
INSTANTIATE_TEST_SUITE_P(On, Flags, testing::ValuesIn(flags), [](const auto& of) { return of.param.name; });

// https://github.com/Dao-AILab/flash-attention/issues/1797, .../1973, .../pull/1819
TEST(Sink, IsOneMoreLogitOfEachHead) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const float sinks[] = {-infinity, -2, 0, 30};
  Lab lab;
  Call plain = lab.inputs(fp32, {.seq_q = 5, .seq_k = 3, .heads_q = 4, .heads_k = 2});
  set_causal(plain);
  Call call = plain;
  call.sink = lab.unwritten(fp32, {4});
  for (std::int64_t head = 0; head < 4; ++head) set(call.sink, {head}, sinks[head]);
  const Call without = lab.forward(plain), with = lab.forward(call);
  expect_right(with);
  EXPECT_EQ(bits(at(with.out, 2, 0)), bits(at(without.out, 2, 0)));  // a sink of -inf is none
  for (std::int64_t head = 1; head < 4; ++head)
    for (std::int64_t row = 0; row < 5; ++row) {
      const double lse = value(without.lse, {0, head, row});
      const double total = std::isinf(lse) ? sinks[head] : std::log(std::exp(lse) + std::exp(sinks[head]));
      EXPECT_NEAR(value(with.lse, {0, head, row}), total, 1e-5);
      for (std::int64_t d = 0; d < 64; ++d)
        EXPECT_NEAR(value(with.out, {0, row, head, d}),
                    value(without.out, {0, row, head, d}) * std::exp(lse - total), 2e-6);
    }
  const Call g = lab.backward(with, {.dsink = true});
  expect_right(g);
  for (std::int64_t head = 0; head < 4; ++head) {
    double want = 0;
    for (std::int64_t row = 0; row < 5; ++row)
      for (std::int64_t d = 0; d < 64 && head > 0; ++d)
        want -= std::exp(sinks[head] - value(with.lse, {0, head, row})) * value(g.dout, {0, row, head, d}) *
                value(with.out, {0, row, head, d});
    EXPECT_NEAR(value(g.dsink, {head}), want, 1e-5) << head;
  }
}

TEST(Sink, JoinsOnceWhateverTheSplits) {
  Lab lab;
  Call call = lab.inputs(fp32, {.seq_q = 5, .seq_k = 100, .heads_q = 4, .heads_k = 2});
  call.sink = lab.constant(3, fp32, {4});
  call.num_splits = 1;
  const Call whole = lab.forward(call);
  expect_right(whole);
  for (const int splits : {2, 3, 50}) {
    call.num_splits = splits;
    const Call done = lab.forward(call);
    expect_near(done.out, whole.out, 1e-6f);
    expect_near(done.lse, whole.lse, 2e-6f);
  }
}

}  // namespace
