// Small cases with answers known by hand, and values that are not numbers.
#include <gtest/gtest.h>

#include <algorithm>

#include "reference/reference.hpp"
#include "support.hpp"

namespace fw::test {
namespace {

using reference::Mode;

constexpr DType fp64 = DType::fp64;

void run(Sample& s, Mode mode = Mode::oracle) { ASSERT_TRUE(reference::run(s.problem, s.call, mode).ok()); }

void expect_near(Tensor& got, const std::vector<double>& expected, double tolerance = 1e-14) {
  ASSERT_EQ(got.size(), static_cast<std::int64_t>(expected.size()));
  for (std::int64_t i = 0; i < got.size(); ++i) {
    const double value = expected[static_cast<std::size_t>(i)];
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(got.get(i))) << "element " << i;
    else if (std::isinf(value))
      EXPECT_EQ(got.get(i), value) << "element " << i;
    else
      EXPECT_NEAR(got.get(i), value, tolerance) << "element " << i;
  }
}

// One query, two keys, one dimension; scale 1.
Sample two_keys() {
  Sample s({.seq_q = 1, .seq_k = 2, .dim_qk = 1, .dim_v = 1, .dtype = fp64});
  s[&Call::q].assign({1});
  s[&Call::k].assign({0, std::log(3)});
  s[&Call::v].assign({4, 8});
  s.call.scale_given = true;
  s.call.scale = 1;
  return s;
}

TEST(Value, of_two_keys) {
  Sample s = two_keys();
  run(s);
  expect_near(s[&Call::out], {7});
  expect_near(s[&Call::lse], {std::log(4)});

  s.make_backward();
  s[&Call::dout].assign({1});
  s[&Call::dlse].assign({2});
  run(s);  // P = (1, 3)/4, dS = P * (v - 7 + 2)
  expect_near(s[&Call::dv], {0.25, 0.75});
  expect_near(s[&Call::dk], {-0.25, 2.25});
  expect_near(s[&Call::dq], {2.25 * std::log(3)});
}

TEST(Value, of_a_sink) {
  Sample s = two_keys();
  s.give(&Call::sink, fp64, {1}).assign({std::log(4)});
  run(s);
  expect_near(s[&Call::out], {3.5});
  expect_near(s[&Call::lse], {std::log(8)});

  s.make_backward();
  s[&Call::dout].assign({1});
  s[&Call::dlse].assign({2});
  run(s);  // the sink weighs 1/2: (2 - 3.5)/2
  expect_near(s[&Call::dsink], {-0.75});
  expect_near(s[&Call::dv], {0.125, 0.375});
}

TEST(Value, default_scale_is_of_dim_qk) {
  Sample s({.seq_q = 1, .seq_k = 2, .dim_qk = 4, .dim_v = 1, .dtype = fp64});
  s[&Call::q].fill(1);
  s[&Call::k].assign({0, 0, 0, 0, 1, 1, 1, 1});
  s[&Call::v].assign({0, 1});
  run(s);
  expect_near(s[&Call::out], {1 / (1 + std::exp(-2.0))});
}

// c tanh(s/c), then ALiBi, then bias.
TEST(Value, of_each_score_step) {
  Sample s({.heads_q = 1, .seq_q = 2, .seq_k = 3, .dim_qk = 1, .dim_v = 3, .dtype = fp64});
  s[&Call::q].assign({1, -2});
  s[&Call::k].assign({1, 2, -1});
  s[&Call::v].assign({1, 0, 0, 0, 1, 0, 0, 0, 1});
  s.call.scale_given = true;
  s.call.scale = 0.5;
  s.call.softcap = 2;
  s.give(&Call::alibi, fp64, {1}).assign({0.25});
  s.give(&Call::bias, fp64, {1, 1, 2, 3}).assign({0.1, -0.2, 0.3, 0.4, -infinity, 0.6});
  run(s);
  std::vector<double> out, lse;
  for (int i = 0; i < 2; ++i) {
    double weight[3], total = 0;
    for (int j = 0; j < 3; ++j) {
      const double capped = 2 * std::tanh(0.5 * s[&Call::q].get(i) * s[&Call::k].get(j) / 2);
      weight[j] = std::exp(capped - 0.25 * std::abs(i + 1 - j) + s[&Call::bias].get(3 * i + j));
      total += weight[j];
    }
    for (const double w : weight) out.push_back(w / total);
    lse.push_back(std::log(total));
  }
  expect_near(s[&Call::out], out);
  expect_near(s[&Call::lse], lse);
}

TEST(Value, of_grouped_heads_is_that_of_repeated_keys) {
  Sample grouped({.batch = 2, .heads_q = 6, .heads_k = 2, .seq_q = 3, .seq_k = 5, .dtype = fp64});
  run(grouped);
  for (int h = 0; h < 6; ++h) {
    Sample one({.batch = 2, .seq_q = 3, .seq_k = 5, .dtype = fp64});
    for (int row = 0; row < 2 * 3; ++row)
      for (int d = 0; d < 8; ++d)
        one[&Call::q].set(row * 8 + d, grouped[&Call::q].get((row * 6 + h) * 8 + d));
    for (int row = 0; row < 2 * 5; ++row)
      for (int d = 0; d < 8; ++d) {
        one[&Call::k].set(row * 8 + d, grouped[&Call::k].get((row * 2 + h / 3) * 8 + d));
        one[&Call::v].set(row * 8 + d, grouped[&Call::v].get((row * 2 + h / 3) * 8 + d));
      }
    run(one);
    for (int row = 0; row < 2 * 3; ++row)
      for (int d = 0; d < 8; ++d)
        ASSERT_EQ(one[&Call::out].get(row * 8 + d), grouped[&Call::out].get((row * 6 + h) * 8 + d));
  }
}

// Report 1778 of flash-attention: six queries and two keys, causal, see 0 0 0 0 1 2 keys.
TEST(Value, of_empty_rows_is_zero) {
  Sample s({.seq_q = 6, .seq_k = 2, .dim_qk = 2, .dim_v = 1, .dtype = fp64});
  s[&Call::q].fill(0);
  s[&Call::v].assign({1, 3});
  s.call.right = 0;
  run(s);
  expect_near(s[&Call::out], {0, 0, 0, 0, 1, 2});
  expect_near(s[&Call::lse], {-infinity, -infinity, -infinity, -infinity, 0, std::log(2)});
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(std::signbit(s[&Call::out].get(i)));

  s.make_backward();
  s[&Call::dout].assign({nan, nan, nan, nan, 1, 1});  // what an empty row is multiplied with does not matter
  s[&Call::dlse].assign({nan, nan, nan, nan, 0, 0});
  run(s);
  expect_near(s[&Call::dv], {1.5, 0.5});
  for (int i = 0; i < 4 * 2; ++i) EXPECT_EQ(s[&Call::dq].get(i), 0);
}

// Report 1797 of flash-attention: sinks of every size, causal, the first two of five rows empty.
TEST(Value, of_sinks_with_empty_rows) {
  const double sinks[] = {-infinity, -2, 0, 30};
  const Sizes sizes{.heads_q = 4, .heads_k = 2, .seq_q = 5, .seq_k = 3, .dtype = fp64};
  Sample with(sizes), without(sizes);
  with.call.right = without.call.right = 0;
  with.give(&Call::sink, fp64, {4}).assign({sinks, sinks + 4});
  run(with);
  run(without);
  for (int h = 0; h < 4; ++h)
    for (int i = 0; i < 5; ++i) {
      const double plain = without[&Call::lse].get(h * 5 + i), sunk = with[&Call::lse].get(h * 5 + i);
      if (i < 2)
        EXPECT_EQ(sunk, sinks[h]);
      else
        EXPECT_NEAR(sunk, std::log(std::exp(plain) + std::exp(sinks[h])), 1e-13);
      for (int d = 0; d < 8; ++d) {
        const int at = (i * 4 + h) * 8 + d;
        EXPECT_NEAR(with[&Call::out].get(at),
                    i < 2 ? 0 : without[&Call::out].get(at) * std::exp(plain - sunk), 1e-13);
      }
    }
}

// Report 4267 of flashinfer: no stand-in for minus infinity lies below every real score.
TEST(Value, of_very_low_scores) {
  Sample s({.seq_q = 1, .seq_k = 64, .dim_qk = 128, .dim_v = 1, .dtype = DType::bf16});
  s[&Call::q].fill(16);
  s[&Call::k].fill(-128);
  double mean = 0;
  for (const double v : s[&Call::v].values()) mean += v / 64;
  s.give(&Call::out, DType::fp32, {1, 1, 1, 1});
  run(s);
  expect_near(s[&Call::out], {mean}, 1e-6);
  expect_near(s[&Call::lse], {-23166.3161}, 2e-3);

  Sample huge({.seq_q = 1, .seq_k = 2, .dim_qk = 1, .dim_v = 1});
  huge[&Call::q].fill(1);
  huge[&Call::k].assign({-3.2e38, -3.0e38});
  huge[&Call::v].assign({1, 2});
  run(huge);
  expect_near(huge[&Call::out], {2});
  expect_near(huge[&Call::lse], {static_cast<double>(-3.0e38f)}, 1e31);
}

TEST(Value, nan_stays_in_the_row_of_its_query) {
  Sample s({.batch = 2, .heads_q = 2, .heads_k = 2, .seq_q = 5, .seq_k = 7, .dtype = fp64});
  s[&Call::q].set((3 * 2 + 1) * 8 + 2, nan);  // batch 0, query 3, head 1
  s.call.right = 0;
  run(s);
  for (int i = 0; i < 2 * 5 * 2 * 8; ++i)
    EXPECT_EQ(std::isnan(s[&Call::out].get(i)), i / 8 == 3 * 2 + 1) << i;
  for (int i = 0; i < 2 * 2 * 5; ++i) EXPECT_EQ(std::isnan(s[&Call::lse].get(i)), i == 5 + 3) << i;

  s.make_backward();
  run(s);
  for (int i = 0; i < 2 * 7 * 2 * 8; ++i) {  // its query sees keys 0 .. 5 of its head
    const bool reached = i / 8 % 2 == 1 && i / 16 <= 5;
    EXPECT_EQ(std::isnan(s[&Call::dk].get(i)), reached) << i;
    EXPECT_EQ(std::isnan(s[&Call::dv].get(i)), reached) << i;
  }
}

TEST(Value, nan_in_a_key_or_value_reaches_who_sees_it) {
  for (View Call::* poisoned : {&Call::k, &Call::v}) {
    Sample s({.seq_q = 7, .seq_k = 7, .dtype = fp64});
    s[poisoned].set(3 * 8 + 1, poisoned == &Call::v ? infinity : nan);
    s.call.left = 1;
    s.call.right = 1;
    run(s);
    for (int i = 0; i < 7; ++i) EXPECT_EQ(std::isfinite(s[&Call::out].get(i * 8 + 1)), i < 2 || i > 4) << i;
    s.make_backward();
    run(s);
    for (int i = 0; i < 7 * 8; ++i)
      EXPECT_EQ(std::isfinite(s[&Call::dq].get(i)), i / 8 < 2 || i / 8 > 4) << i;
  }
}

TEST(Value, of_rows_past_the_used_ones_is_written) {
  Sample s({.batch = 2, .seq_q = 3, .seq_k = 2, .dim_qk = 1, .dim_v = 1, .dtype = fp64});
  s[&Call::q].assign({0, nan, nan, nan, nan, nan});
  s[&Call::v].assign({1, 3, nan, nan});
  s.give_int32(&Call::seqused_q, {1, 0});
  run(s);
  expect_near(s[&Call::out], {2, 0, 0, 0, 0, 0});
  expect_near(s[&Call::lse], {std::log(2), -infinity, -infinity, -infinity, -infinity, -infinity});
  s.make_backward();
  run(s);
  for (int i = 1; i < 6; ++i) EXPECT_EQ(s[&Call::dq].get(i), 0);
}

TEST(Value, of_varlen_is_that_of_each_sequence) {
  Sample all({.batch = 3, .heads_q = 2, .seq_q = 4, .seq_k = 5, .dtype = fp64});
  all.give(&Call::q, fp64, {8, 2, 8}).randomize(1);  // one more row than cu_seqlens covers, also below
  all.give(&Call::k, fp64, {9, 1, 8}).randomize(2);
  all.give(&Call::v, fp64, {9, 1, 8}).randomize(3);
  all.give(&Call::out, fp64, {8, 2, 8});
  all.give(&Call::lse, fp64, {2, 8});
  all.give_int32(&Call::cu_seqlens_q, {0, 3, 3, 7});
  all.give_int32(&Call::cu_seqlens_k, {0, 5, 7, 8});
  all.call.right = 0;
  run(all);
  const int first_q[] = {0, 3}, first_k[] = {0, 7}, queries[] = {3, 4},
            keys[] = {5, 1};  // without the empty one
  for (int n = 0; n < 2; ++n) {
    Sample one({.heads_q = 2, .seq_q = queries[n], .seq_k = keys[n], .dtype = fp64});
    for (int i = 0; i < queries[n] * 16; ++i) one[&Call::q].set(i, all[&Call::q].get(first_q[n] * 16 + i));
    for (int i = 0; i < keys[n] * 8; ++i) {
      one[&Call::k].set(i, all[&Call::k].get(first_k[n] * 8 + i));
      one[&Call::v].set(i, all[&Call::v].get(first_k[n] * 8 + i));
    }
    one.call.right = 0;
    run(one);
    for (int i = 0; i < queries[n] * 16; ++i)
      ASSERT_EQ(one[&Call::out].get(i), all[&Call::out].get(first_q[n] * 16 + i));
    for (int h = 0; h < 2; ++h)
      for (int i = 0; i < queries[n]; ++i)
        ASSERT_EQ(one[&Call::lse].get(h * queries[n] + i), all[&Call::lse].get(h * 8 + first_q[n] + i));
  }
  for (int i = 7 * 16; i < 8 * 16; ++i) EXPECT_EQ(all[&Call::out].get(i), 0);
  EXPECT_EQ(all[&Call::lse].get(7), -infinity);
}

TEST(Value, of_nothing) {
  for (const Sizes& sizes :
       {Sizes{.batch = 0, .seq_q = 3, .seq_k = 4}, Sizes{.heads_q = 0, .heads_k = 0, .seq_q = 5, .seq_k = 7},
        Sizes{.seq_q = 0, .seq_k = 4}, Sizes{.seq_q = 3, .seq_k = 0}}) {
    Sample s(sizes);
    run(s);
    for (const double x : s[&Call::out].values()) EXPECT_EQ(x, 0);
    s.make_backward();
    run(s);
    for (View Call::* gradient : {&Call::dq, &Call::dk, &Call::dv})
      for (const double x : s[gradient].values()) EXPECT_EQ(x, 0);
  }
}

}  // namespace
}  // namespace fw::test
