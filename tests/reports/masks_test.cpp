// Public reports about masks, alignment and empty rows.
#include <cmath>
#include <limits>

#include "lab/lab.hpp"

namespace {

using namespace lab;

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

// q = 0 gives every visible key the same weight, so that lse is the logarithm of their number.
std::vector<int> visible_counts(Lab& lab, std::int64_t rows, std::int64_t keys, int left, int right) {
  Call call = lab.inputs(fp32, {.seq_q = rows, .seq_k = keys, .dim = 32});
  call.q = lab.constant(0, fp32, {1, rows, 1, 32});
  set_window(call, left, right);
  const Call done = lab.forward(call);
  std::vector<int> counts;
  for (const float lse : values(done.lse)) counts.push_back(static_cast<int>(std::lround(std::exp(lse))));
  return counts;
}

// https://github.com/Dao-AILab/flash-attention/issues/1778, https://github.com/pytorch/pytorch/pull/193632
TEST(Masks, CausalWithMoreQueriesThanKeysLeavesTheFirstRowsBlind) {
  Lab lab;
  EXPECT_EQ(visible_counts(lab, 6, 2, -1, 0), (std::vector<int>{0, 0, 0, 0, 1, 2}));
  for (const int dtype : {fp32, fp16, bf16}) {
    Call call = lab.inputs(dtype, {.seq_q = 6, .seq_k = 2, .heads_q = 2, .heads_k = 2});
    set_causal(call);
    const Call done = lab.forward(call);
    const Call gradients = lab.backward(done);
    for (int row = 0; row < 4; ++row) {
      expect_all(tools::narrow(done.out, 1, row, 1), 0);
      expect_all(tools::narrow(gradients.dq, 1, row, 1), 0);
      expect_all(tools::narrow(done.lse, 2, row, 1), minus_infinity);
    }
    EXPECT_EQ(values(tools::narrow(done.out, 1, 4, 1)), values(tools::narrow(done.v, 1, 0, 1)));
    expect_right(gradients);
  }
}

// https://github.com/pytorch/pytorch/issues/127055, https://github.com/pytorch/pytorch/issues/138300
TEST(Masks, TilesThatLeftTheWindowAreNoNaN) {
  Lab lab;
  Call call = lab.inputs(fp32, {.seq_q = 640, .seq_k = 640});
  for (flashwave_tensor* t : {&call.q, &call.k, &call.v}) *t = lab.constant(1, fp32, {1, 640, 1, 64});
  set_window(call, 9, 0);
  const Call done = lab.forward(call);
  for (const float x : values(done.out)) ASSERT_NEAR(x, 1, 1e-6);
  for (int row = 0; row < 640; ++row)
    ASSERT_NEAR(value(done.lse, {0, 0, row}), 8 + std::log(std::min(row + 1, 10)), 1e-5);
}

// https://github.com/Dao-AILab/flash-attention/issues/895
TEST(Masks, ALargeRightSideIsNotCutToTheKeys) {
  Lab lab;
  const std::vector<int> counts = {4, 4, 4, 4, 4, 4, 4, 3, 2, 1};
  EXPECT_EQ(visible_counts(lab, 10, 4, 0, 100), counts);
  EXPECT_EQ(visible_counts(lab, 10, 4, 0, std::numeric_limits<int>::max()), counts);
  EXPECT_EQ(visible_counts(lab, 10, 4, 0, 3), (std::vector<int>{0, 0, 0, 1, 2, 3, 4, 3, 2, 1}));
}

// https://github.com/huggingface/transformers/issues/39408,
// https://github.com/Dao-AILab/flash-attention/issues/1133, .../1116
TEST(Masks, AWindowOfCountsIsInclusive) {
  Lab lab;
  constexpr int size = 16;
  Call call = lab.inputs(fp32, {.seq_q = size, .seq_k = size, .dim = 8, .dim_v = size});
  call.q = lab.constant(0, fp32, {1, size, 1, 8});
  call.v = lab.constant(0, fp32, {1, size, 1, size});
  for (int key = 0; key < size; ++key) set(call.v, {0, key, 0, key}, 1);  // out is the matrix of weights
  const auto weights = [&](int left, int right) {
    Call with = call;
    set_window(with, left, right);
    return lab.forward(with).out;
  };
  const flashwave_tensor causal = weights(-1, 0);
  expect_near(weights(-3, 0), causal, 1e-7f);  // any negative side is open
  expect_near(weights(size, 0), causal, 1e-7f);
  expect_near(weights(size - 1, 0), causal, 1e-7f);
  const flashwave_tensor shorter = weights(size - 2, 0);
  expect_near(tools::narrow(shorter, 1, 0, size - 1), tools::narrow(causal, 1, 0, size - 1), 1e-7f);
  EXPECT_EQ(value(shorter, {0, size - 1, 0, 0}), 0);
  const flashwave_tensor four = weights(3, 0);
  for (int key = 0; key < size; ++key)
    EXPECT_NEAR(value(four, {0, 10, 0, key}), key >= 7 && key <= 10 ? 0.25f : 0, 1e-7f) << key;
}

// https://github.com/vllm-project/vllm-omni/issues/5865
TEST(Masks, CrossAttentionKeepsEveryQueryOfAPaddedKeyBatch) {
  Lab lab;
  Call call =
      lab.inputs(fp32, {.batch = 0, .seq_q = 128, .seq_k = 10, .heads_q = 2, .heads_k = 2, .dim = 32});
  call.cu_seqlens_q = lab.ints({0, 64, 128});
  call.cu_seqlens_k = lab.ints({0, 7, 10});
  const Call done = lab.forward(call);
  expect_right(done);
  for (int sample = 0; sample < 2; ++sample) {
    const std::int64_t keys = sample ? 3 : 7;
    Call alone = FLASHWAVE_INIT(flashwave_attention);
    alone.q = tools::narrow(call.q, 0, sample * 64, 64);
    alone.k = tools::narrow(call.k, 0, sample * 7, keys);
    alone.v = tools::narrow(call.v, 0, sample * 7, keys);
    alone.cu_seqlens_q = lab.ints({0, 64});
    alone.cu_seqlens_k = lab.ints({0, static_cast<std::int32_t>(keys)});
    expect_near(lab.forward(alone).out, tools::narrow(done.out, 0, sample * 64, 64), 1e-6f);
  }
}

// https://github.com/facebookresearch/xformers/issues/1122
TEST(Masks, LengthsBeyondTheTensorAreRefused) {
  Lab lab;
  Call call = lab.inputs(fp32, {.batch = 0, .seq_q = 20, .seq_k = 5, .dim = 32});
  call.out = lab.unwritten(fp32, {20, 1, 32});
  call.cu_seqlens_q = lab.ints({0, 20});
  call.cu_seqlens_k = lab.ints({0, 20});
  expect_refused(call, "cu-seqlens-rows", "cu_seqlens_k");
}

}  // namespace
