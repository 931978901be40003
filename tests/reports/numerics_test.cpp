// Public reports about extreme and special values.
#include <cmath>
#include <limits>

#include "lab/lab.hpp"

namespace {

using namespace lab;

// https://github.com/flashinfer-ai/flashinfer/issues/4267, .../4450
TEST(Numerics, LogitsBelowAnyFiniteMinusInfinity) {
  Lab lab;
  Call call = lab.inputs(bf16, {.seq_q = 2, .seq_k = 64, .dim = 128});
  call.q = lab.constant(16, bf16, {1, 2, 1, 128});
  call.k = lab.constant(-128, bf16, {1, 64, 1, 128});
  const Call done = lab.forward(call);
  for (const float lse : values(done.lse))
    EXPECT_NEAR(lse, -23166.3161, 0.02);  // 128^-0.5 is rounded to fp32
  for (std::int64_t d = 0; d < 128; ++d) {
    double mean = 0;
    for (std::int64_t key = 0; key < 64; ++key) mean += value(call.v, {0, key, 0, d}) / 64;
    EXPECT_NEAR(value(done.out, {0, 1, 0, d}), mean, 4e-3);
  }
}

// https://github.com/ohdearquant/lattice/pull/373
TEST(Numerics, AMaskedKeyNeverOutweighsAValidOne) {
  for (const int dtype : {fp32, fp16, bf16}) {
    Lab lab;
    Call call = lab.inputs(dtype, {.seq_q = 1, .seq_k = 4, .dim = 1});
    call.has_scale = 1;
    call.scale = 1;
    call.q = lab.constant(1, dtype, {1, 1, 1, 1});
    call.k = lab.constant(0, dtype, {1, 4, 1, 1});
    set(call.k, {0, 0, 0, 0}, -20000);
    call.cache_seqlens = lab.ints({1});
    const Call done = lab.forward(call);
    EXPECT_EQ(value(done.out, {0, 0, 0, 0}), value(call.v, {0, 0, 0, 0}));
  }
}

TEST(Numerics, LogitsNearTheEndOfFp32AreFinite) {
  Lab lab;
  Call call = lab.inputs(fp32, {.seq_q = 3, .seq_k = 5, .dim = 1});
  call.has_scale = 1;
  call.scale = 1;
  call.q = lab.constant(1, fp32, {1, 3, 1, 1});
  for (std::int64_t key = 0; key < 5; ++key) set(call.k, {0, key, 0, 0}, key == 2 ? -2.9e38f : -3e38f);
  const Call done = lab.forward(call);
  for (const float x : values(done.out)) EXPECT_EQ(x, value(call.v, {0, 2, 0, 0}));
  for (const float x : values(done.lse)) EXPECT_EQ(x, -2.9e38f);
}

// https://github.com/pytorch/pytorch/issues/141128, https://github.com/pytorch/pytorch/issues/101967
class SpecialValues : public testing::TestWithParam<int> {
 protected:
  Call inputs(bool causal) {
    Call call =
        lab_.inputs(GetParam(), {.batch = 2, .seq_q = 16, .seq_k = 16, .heads_q = 4, .heads_k = 4, .dim = 8});
    if (causal) set_causal(call);
    return call;
  }
  Lab lab_;
};

TEST_P(SpecialValues, NaNOfAQueryStaysInItsRow) {
  for (const bool causal : {false, true})
    for (const float x : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      Call call = inputs(causal);
      const Call clean = lab_.forward(call);
      call.q = lab_.copy_of(call.q);
      for (std::int64_t d = 0; d < 8; ++d) set(call.q, {0, 3, 1, d}, x);
      const Call done = lab_.forward(call);
      for (const float got : values(at(at(at(done.out, 0, 0), 0, 3), 0, 1))) EXPECT_TRUE(std::isnan(got));
      EXPECT_TRUE(std::isnan(value(done.lse, {0, 1, 3})));
      for (std::int64_t d = 0; d < 8; ++d) set(done.out, {0, 3, 1, d}, value(clean.out, {0, 3, 1, d}));
      set(done.lse, {0, 1, 3}, value(clean.lse, {0, 1, 3}));
      EXPECT_EQ(bits({done.out, done.lse}), bits({clean.out, clean.lse}));
    }
}

TEST_P(SpecialValues, NaNOfAKeyReachesTheRowsThatSeeIt) {
  Call call = inputs(true);
  const Call clean = lab_.forward(call);
  call.k = lab_.copy_of(call.k);
  set(call.k, {1, 5, 2, 0}, std::numeric_limits<float>::quiet_NaN());
  const Call done = lab_.forward(call);
  for (std::int64_t row = 0; row < 16; ++row) {
    EXPECT_EQ(std::isnan(value(done.lse, {1, 2, row})), row >= 5) << row;
    EXPECT_EQ(std::isnan(value(done.out, {1, row, 2, 0})), row >= 5) << row;
  }
  EXPECT_EQ(bits(at(done.out, 0, 0)), bits(at(clean.out, 0, 0)));
}

TEST_P(SpecialValues, NaNOfAValueReachesTheRowsThatSeeIt) {
  for (const bool causal : {false, true}) {
    Call call = inputs(causal);
    const Call clean = lab_.forward(call);
    call.v = lab_.copy_of(call.v);
    for (std::int64_t d = 0; d < 8; ++d) set(call.v, {1, 5, 0, d}, std::numeric_limits<float>::quiet_NaN());
    const Call done = lab_.forward(call);
    for (std::int64_t row = causal ? 5 : 0; row < 16; ++row)
      EXPECT_TRUE(std::isnan(value(done.out, {1, row, 0, 3}))) << row;
    EXPECT_EQ(bits(done.lse), bits(clean.lse));
    EXPECT_EQ(bits(at(done.out, 0, 0)), bits(at(clean.out, 0, 0)));
    for (std::int64_t head = 1; head < 4; ++head)
      EXPECT_EQ(bits(at(at(done.out, 0, 1), 1, head)), bits(at(at(clean.out, 0, 1), 1, head)));
  }
}

INSTANTIATE_TEST_SUITE_P(Of, SpecialValues, testing::Values(fp32, fp16, bf16),
                         [](const auto& of) { return tools::element_name(of.param); });

}  // namespace
