// Public reports about head dimensions and head counts.
#include <cmath>

#include "lab/lab.hpp"

namespace {

using namespace lab;

// https://github.com/Dao-AILab/flash-attention/issues/1347
TEST(Heads, TheDefaultScaleIsThatOfTheUnpaddedDimension) {
  for (const std::int64_t dim : {1, 3, 7, 9, 33, 59, 111, 200}) {
    Lab lab;
    Call call = lab.inputs(fp32, {.seq_q = 10, .seq_k = 10, .heads_q = 2, .heads_k = 2, .dim = dim});
    const Call done = lab.forward(call);
    EXPECT_EQ(done.out.shape[3], dim);
    call.has_scale = 1;
    call.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(dim)));
    const Call said = lab.forward(call);
    EXPECT_EQ(bits({done.out, done.lse}), bits({said.out, said.lse}));
    expect_right(said);
  }
}

// https://github.com/turboderp-org/exllamav3/pull/316, https://github.com/ROCm/aotriton/pull/179
TEST(Heads, RepeatedCallsOfAnOddDimensionAreEqual) {
  std::vector<unsigned char> first;
  for (int run = 0; run < 4; ++run) {
    Lab lab;  // fresh memory, full of NaN, each time
    const Call call = lab.inputs(fp16, {.seq_q = 512, .seq_k = 512, .heads_q = 16, .heads_k = 16, .dim = 72});
    const Call done = lab.forward(call);
    const auto got = bits({done.out, done.lse});
    if (run == 0) first = got;
    ASSERT_EQ(got, first);
    if (run == 0) expect_right(done);
  }
}

// https://github.com/vllm-project/vllm-omni/issues/7484,
// https://github.com/Dao-AILab/flash-attention/issues/2427
TEST(Heads, ADimensionBeyondTheLimitIsRefusedByName) {
  Lab lab;
  Call call = lab.inputs(fp16, {.seq_q = 64, .seq_k = 64, .dim = 1024, .dim_v = 64});
  call.out = lab.unwritten(fp16, {1, 64, 1, 64});
  expect_refused(call, "dim-qk-limit", "576");
  call = lab.inputs(fp16, {.seq_q = 64, .seq_k = 64, .dim = 64, .dim_v = 1024});
  call.out = lab.unwritten(fp16, {1, 64, 1, 1024});
  expect_refused(call, "dim-v-limit", "512");
}

// https://github.com/Dao-AILab/flash-attention/pull/2186, https://github.com/vllm-project/vllm/pull/51011
class Groups : public testing::TestWithParam<std::pair<int, int>> {};

TEST_P(Groups, EqualRepeatedKeysAndValues) {
  const auto [heads_q, heads_k] = GetParam();
  const std::int64_t group = heads_q / heads_k;
  for (const std::int64_t rows : {1, 2, 9}) {
    Lab lab;
    Call call =
        lab.inputs(fp32, {.seq_q = rows, .seq_k = 20, .heads_q = heads_q, .heads_k = heads_k, .dim = 16});
    set_causal(call);
    const Call done = lab.forward(call);
    const Call gradients = lab.backward(done);
    Call repeated = call;
    for (flashwave_tensor Call::* member : {&Call::k, &Call::v}) {
      repeated.*member = lab.unwritten(fp32, {1, 20, heads_q, 16});
      for (std::int64_t head = 0; head < heads_q; ++head)
        tools::copy(tools::narrow(repeated.*member, 2, head, 1),
                    tools::narrow(call.*member, 2, head / group, 1));
    }
    Call repeated_done = lab.forward(repeated);
    repeated_done.dout = gradients.dout;
    const Call g = lab.backward(repeated_done);
    expect_near(done.out, repeated_done.out, 2e-6f);
    expect_near(gradients.dq, g.dq, 1e-5f);
    for (std::int64_t head = 0; head < heads_k; ++head)
      for (std::int64_t key = 0; key < 20; ++key)
        for (std::int64_t d = 0; d < 16; ++d) {
          double dk = 0, dv = 0;
          for (std::int64_t member = 0; member < group; ++member) {
            dk += value(g.dk, {0, key, head * group + member, d});
            dv += value(g.dv, {0, key, head * group + member, d});
          }
          ASSERT_NEAR(value(gradients.dk, {0, key, head, d}), dk, 4e-5);
          ASSERT_NEAR(value(gradients.dv, {0, key, head, d}), dv, 4e-5);
        }
  }
}

INSTANTIATE_TEST_SUITE_P(Reports, Groups,
                         testing::Values(std::pair{3, 1}, std::pair{5, 1}, std::pair{6, 2}, std::pair{7, 1},
                                         std::pair{12, 1}, std::pair{14, 2}, std::pair{28, 4},
                                         std::pair{40, 8}, std::pair{96, 8}, std::pair{48, 1}));

// https://github.com/fla-org/flash-linear-attention/issues/1029
TEST(Heads, CountsThatDoNotDivideAreRefused) {
  for (const auto& [heads_q, heads_k] : {std::pair{3, 2}, {33, 2}, {4, 0}, {2, 4}}) {
    Lab lab;
    Call call = lab.inputs(bf16, {.seq_q = 4, .seq_k = 4, .heads_q = heads_q, .heads_k = heads_k, .dim = 16});
    call.out = lab.unwritten(bf16, {1, 4, heads_q, 16});
    expect_refused(call, "heads-divide", std::to_string(heads_q));
  }
}

// https://github.com/pytorch/pytorch/pull/186434, https://github.com/Dao-AILab/flash-attention/pull/708,
// https://github.com/Dao-AILab/flash-attention/pull/2528
TEST(Heads, OfOneBatchElementDependOnNoOther) {
  const auto check = [](std::int64_t batch, int heads_k, std::int64_t rows, std::int64_t keys, bool causal) {
    Lab lab;
    Call call = lab.inputs(
        bf16, {.batch = batch, .seq_q = rows, .seq_k = keys, .heads_q = 8, .heads_k = heads_k, .dim = 128});
    call.q = lab.copy_of(call.q, Form::gaps);  // a batch stride of its own
    if (causal) set_causal(call);
    const Call done = lab.forward(call);
    expect_right(done);
    for (std::int64_t b = 0; b < batch; ++b) {
      Call other = call;
      for (flashwave_tensor Call::* member : {&Call::q, &Call::k, &Call::v}) {
        other.*member = lab.copy_of(call.*member);
        for (std::int64_t c = 0; c < batch; ++c)
          if (c != b) tools::fill_bytes(tools::narrow(other.*member, 0, c, 1), tools::poison);
      }
      EXPECT_EQ(bits(at(lab.forward(other).out, 0, b)), bits(at(done.out, 0, b)));
    }
  };
  for (const std::int64_t batch : {1, 2, 5})
    for (const std::int64_t keys : {1, 7, 512}) check(batch, 2, 1, keys, keys == 7);
  check(2, 2, 4, 9, true);  // as many rows as a group has heads
  check(2, 1, 2, 2, true);
}

}  // namespace
