// How results are rounded, and that neither threads nor their order show in them.
#include <gtest/gtest.h>

#include <thread>

#include "reference/elements.hpp"
#include "reference/reference.hpp"
#include "support.hpp"

namespace fw::test {
namespace {

using reference::Mode;

// Just above the midpoint of 1 and its successor: a double that the nearest float would put on the midpoint.
TEST(Rounding, happens_once) {
  Tensor bf16(DType::bf16, {1}), fp16(DType::fp16, {1});
  for (const double sign : {1.0, -1.0}) {
    reference::store(bf16.view, 0, sign * (1 + 0x1p-8 + 0x1p-40));
    EXPECT_EQ(bf16.get(0), sign * (1 + 0x1p-7));
    reference::store(bf16.view, 0, sign * (1 + 0x1p-8));
    EXPECT_EQ(bf16.get(0), sign * 1);
    reference::store(bf16.view, 0, sign * (1 + 0x3p-8 - 0x1p-40));
    EXPECT_EQ(bf16.get(0), sign * (1 + 0x1p-7));
    reference::store(fp16.view, 0, sign * (1 + 0x1p-11 + 0x1p-40));
    EXPECT_EQ(fp16.get(0), sign * (1 + 0x1p-10));
    reference::store(fp16.view, 0, sign * (0x1p-25 + 0x1p-60));
    EXPECT_EQ(fp16.get(0), sign * 0x1p-24);
    reference::store(fp16.view, 0, sign * 1e300);
    EXPECT_EQ(fp16.get(0), sign * infinity);
    reference::store(fp16.view, 0, sign * 0.0);
    EXPECT_EQ(std::signbit(fp16.get(0)), sign < 0);
  }
  reference::store(bf16.view, 0, nan);
  EXPECT_TRUE(std::isnan(bf16.get(0)));
}

// The worst |eager - oracle| over the largest |oracle|, of one result.
double error_of(Sample& eager, Sample& oracle, View Call::* result) {
  double worst = 0, largest = 0;
  for (std::int64_t i = 0; i < eager[result].size(); ++i) {
    worst = std::max(worst, std::fabs(eager[result].get(i) - oracle[result].get(i)));
    largest = std::max(largest, std::fabs(oracle[result].get(i)));
  }
  return worst / largest;
}

void give_unrounded(Sample& s, std::initializer_list<View Call::*> results) {
  for (View Call::* result : results) {
    const View& view = s.call.*result;
    s.give(result, DType::fp32, {view.shape.begin(), view.shape.begin() + view.rank});
  }
}

TEST(Eager, errs_as_its_dtype_does) {
  const struct {
    DType dtype;
    double least, most;
  } bounds[] = {{DType::fp32, 1e-8, 3e-6}, {DType::fp16, 1e-4, 3e-3}, {DType::bf16, 1e-3, 3e-2}};
  for (const auto& bound : bounds) {
    const Sizes sizes{.heads_q = 2,
                      .heads_k = 1,
                      .seq_q = 100,
                      .seq_k = 150,
                      .dim_qk = 40,
                      .dim_v = 24,
                      .dtype = bound.dtype};
    Sample eager(sizes), oracle(sizes);
    give_unrounded(oracle, {&Call::out});
    const auto compare = [&](View Call::* result) {
      const double error = error_of(eager, oracle, result);
      EXPECT_GT(error, bound.least) << name_of(bound.dtype);
      EXPECT_LT(error, bound.most) << name_of(bound.dtype);
    };
    ASSERT_TRUE(reference::run(eager.problem, eager.call, Mode::eager).ok());
    ASSERT_TRUE(reference::run(oracle.problem, oracle.call, Mode::oracle).ok());
    compare(&Call::out);

    for (Sample* s : {&eager, &oracle}) {
      give_unrounded(*s, {&Call::out});
      s->give(&Call::out, bound.dtype, {1, 100, 2, 24});
    }
    ASSERT_TRUE(
        reference::run(eager.problem, eager.call, Mode::eager).ok());  // whose out and lse backward reads
    for (Sample* s : {&eager, &oracle}) s->make_backward();
    give_unrounded(oracle, {&Call::dq, &Call::dk, &Call::dv});
    ASSERT_TRUE(reference::run(eager.problem, eager.call, Mode::eager).ok());
    ASSERT_TRUE(reference::run(oracle.problem, oracle.call, Mode::oracle).ok());
    for (View Call::* gradient : {&Call::dq, &Call::dk, &Call::dv}) compare(gradient);
  }
}

float to_bf16(float x) { return float_from_bf16(bf16_from_float(x)); }

// One query of one dimension against 16 keys: what eager is to do, each step written out.
struct ByHand {
  float q, k[16], v[16], bias[16];
  float weight[16], lse, out;

  explicit ByHand(Sample& s) : q(static_cast<float>(s[&Call::q].get(0))) {
    for (int j = 0; j < 16; ++j) {
      k[j] = static_cast<float>(s[&Call::k].get(j));
      v[j] = static_cast<float>(s[&Call::v].get(j));
      bias[j] = static_cast<float>(s[&Call::bias].get(j));
    }
  }
  template <class Step>
  void attend(Step step) {
    float score[16], top = -1e30f, total = 0, sum = 0;
    for (int j = 0; j < 16; ++j) {
      score[j] = step(0.7f * step(q * k[j]));
      score[j] = step(2 * std::tanh(score[j] / 2));
      score[j] = step(score[j] - 0.3f * static_cast<float>(15 - j));
      score[j] = step(score[j] + bias[j]);
      top = std::max(top, score[j]);
    }
    for (const float x : score) total += std::exp(x - top);
    lse = top + std::log(total);
    for (int j = 0; j < 16; ++j) {
      sum += to_bf16(std::exp(score[j] - top) / total) * v[j];
      weight[j] = std::exp(score[j] - lse);
    }
    out = to_bf16(sum);
  }
};

TEST(Eager, rounds_each_step) {
  for (std::uint64_t seed = 10; seed < 40; ++seed) {
    Sample s({.seq_q = 1, .seq_k = 16, .dim_qk = 1, .dim_v = 1, .dtype = DType::bf16});
    s.call.scale_given = true;
    s.call.scale = 0.7f;
    s.call.softcap = 2;
    s.give(&Call::alibi, DType::fp32, {1}).assign({0.3});
    s.give(&Call::bias, DType::bf16, {1, 1, 1, 16}).randomize(seed);
    for (View Call::* input : {&Call::q, &Call::k, &Call::v}) s[input].randomize(++seed);
    give_unrounded(s, {&Call::out});
    ByHand expected(s);
    expected.attend(to_bf16);
    ASSERT_TRUE(reference::run(s.problem, s.call, Mode::eager).ok());
    EXPECT_EQ(s[&Call::out].get(0), expected.out);

    s.make_backward();
    s[&Call::dlse].fill(0);
    const auto dout = static_cast<float>(s[&Call::dout].get(0));
    expected.attend([](float x) { return x; });
    s[&Call::out].assign({expected.out});
    s[&Call::lse].assign({expected.lse});
    float dq = 0;
    ASSERT_TRUE(reference::run(s.problem, s.call, Mode::eager).ok());
    for (int j = 0; j < 16; ++j) {
      const float ds = expected.weight[j] * (dout * expected.v[j] - expected.out * dout);
      const float t = std::tanh(0.7f * (expected.q * expected.k[j]) / 2);
      dq += to_bf16(ds * (1 - t * t)) * expected.k[j];
      EXPECT_EQ(s[&Call::dv].get(j), to_bf16(to_bf16(expected.weight[j]) * dout));
      EXPECT_EQ(s[&Call::dbias].get(j), to_bf16(ds));
    }
    EXPECT_EQ(s[&Call::dq].get(0), to_bf16(0.7f * dq));
  }
}

TEST(Oracle, rounds_its_unrounded_result) {
  Sample narrow({.seq_q = 30, .seq_k = 40, .dtype = DType::bf16}),
      wide({.seq_q = 30, .seq_k = 40, .dtype = DType::bf16});
  give_unrounded(wide, {&Call::out});
  ASSERT_TRUE(reference::run(narrow.problem, narrow.call, Mode::oracle).ok());
  ASSERT_TRUE(reference::run(wide.problem, wide.call, Mode::oracle).ok());
  for (std::int64_t i = 0; i < narrow[&Call::out].size(); ++i)
    ASSERT_EQ(narrow[&Call::out].get(i),
              float_from_bf16(bf16_from_float(static_cast<float>(wide[&Call::out].get(i)))));
}

// Tasks from the last to the first, on three threads.
void backwards_on_threads(int tasks, const std::function<void(int)>& task) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      for (int i = tasks - 1 - t; i >= 0; i -= 3) task(i);
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(Tasks, leave_no_trace_in_the_bits) {
  for (const Mode mode : {Mode::oracle, Mode::eager}) {
    const Sizes sizes{.batch = 2, .heads_q = 4, .heads_k = 2, .seq_q = 150, .seq_k = 200};
    Sample alone(sizes), threaded(sizes);
    for (Sample* s : {&alone, &threaded}) {
      s->give(&Call::bias, DType::fp32, {1, 1, 1, 200}).randomize(6);
      s->give(&Call::sink, DType::fp32, {4}).randomize(7);
      s->call.right = 0;
    }
    ASSERT_TRUE(reference::run(alone.problem, alone.call, mode).ok());
    ASSERT_TRUE(reference::run(threaded.problem, threaded.call, mode, backwards_on_threads).ok());
    EXPECT_TRUE(alone[&Call::out].same_bits(threaded[&Call::out]));
    alone.make_backward();
    threaded.make_backward();
    ASSERT_TRUE(reference::run(alone.problem, alone.call, mode).ok());
    ASSERT_TRUE(reference::run(threaded.problem, threaded.call, mode, backwards_on_threads).ok());
    for (View Call::* gradient : {&Call::dq, &Call::dk, &Call::dv, &Call::dbias, &Call::dsink})
      EXPECT_TRUE(alone[gradient].same_bits(threaded[gradient]));
  }
}

}  // namespace
}  // namespace fw::test
