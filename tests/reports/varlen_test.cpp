// Public reports about ragged batches.
#include <cmath>

#include "lab/lab.hpp"

namespace {

using namespace lab;

// The call of one sequence of a ragged batch, in the batch's own memory.
Call sequence(Lab& lab, const Call& batch, int first_q, int count_q, int first_k, int count_k) {
  Call alone = batch;
  alone.out = alone.lse = {};
  alone.q = tools::narrow(batch.q, 0, first_q, count_q);
  alone.k = tools::narrow(batch.k, 0, first_k, count_k);
  alone.v = tools::narrow(batch.v, 0, first_k, count_k);
  alone.cu_seqlens_q = lab.ints({0, count_q});
  alone.cu_seqlens_k = lab.ints({0, count_k});
  alone.max_seq_q = count_q;
  alone.max_seq_k = count_k;
  return alone;
}

// https://github.com/Dao-AILab/flash-attention/issues/1537
TEST(Varlen, OneTokenASequenceWithEmptyOnesAmongThem) {
  Lab lab;
  Call call = lab.inputs(bf16, {.batch = 0, .seq_q = 2, .seq_k = 8, .heads_q = 9, .heads_k = 3});
  call.has_scale = 1;
  call.scale = 1;
  set_causal(call);
  call.cu_seqlens_q = lab.ints({0, 1, 1, 2});
  call.cu_seqlens_k = lab.ints({0, 3, 3, 8});
  call.max_seq_q = 1;
  call.max_seq_k = 5;
  const Call done = lab.forward(call);
  expect_right(done);
  EXPECT_EQ(bits(lab.forward(sequence(lab, call, 0, 1, 0, 3)).out), bits(tools::narrow(done.out, 0, 0, 1)));
  EXPECT_EQ(bits(lab.forward(sequence(lab, call, 1, 1, 3, 5)).out), bits(tools::narrow(done.out, 0, 1, 1)));
}

// https://github.com/Dao-AILab/flash-attention/issues/2562, .../1713, .../1947
TEST(Varlen, KeysOfASequenceWithoutQueriesHaveNoGradient) {
  Lab lab;
  for (const bool causal : {false, true}) {
    Call call = lab.inputs(bf16, {.batch = 0, .seq_q = 69, .seq_k = 255, .heads_q = 4, .heads_k = 1});
    if (causal) set_causal(call);
    call.cu_seqlens_q = lab.ints({0, 0, 38, 64, 64, 69});
    call.cu_seqlens_k = lab.ints({0, 79, 133, 159, 255, 255});
    const Call done = lab.forward(call);
    const Call gradients = lab.backward(done);
    for (const flashwave_tensor& t : {gradients.dk, gradients.dv}) {
      expect_all(tools::narrow(t, 0, 0, 79), 0);
      expect_all(tools::narrow(t, 0, 159, 96), 0);
    }
    expect_all(tools::narrow(done.out, 0, 64, 5), 0);  // queries without keys
    expect_all(tools::narrow(gradients.dq, 0, 64, 5), 0);
    expect_right(done);
    expect_right(gradients);
  }
}

// https://github.com/QwenLM/Qwen3-VL/issues/567, https://github.com/Dao-AILab/flash-attention/issues/742,
// .../2381
class BadSums : public testing::Test {
 protected:
  Call call_with(const flashwave_tensor& cu_q, const flashwave_tensor& cu_k) {
    Call call = lab_.inputs(fp32, {.batch = 0, .seq_q = 256, .seq_k = 256, .dim = 16});
    call.out = lab_.unwritten(fp32, {256, 1, 16});
    call.cu_seqlens_q = cu_q;
    call.cu_seqlens_k = cu_k;
    return call;
  }
  Lab lab_;
};

TEST_F(BadSums, Of64Bits) {
  flashwave_tensor wide = lab_.arena().add(FLASHWAVE_INT64, {3});
  const std::int64_t sums[] = {0, 128, 256};
  std::copy(std::begin(sums), std::end(sums), static_cast<std::int64_t*>(wide.data));
  expect_refused(call_with(wide, lab_.ints({0, 128, 256})), "dtype-int64", "int32");
}

TEST_F(BadSums, OfAnotherBatch) {
  expect_refused(call_with(lab_.ints({0, 256}), lab_.ints({0, 128, 256})), "tensor-shape", "cu_seqlens_k");
}

TEST_F(BadSums, ThatFall) {
  const flashwave_tensor fine = lab_.ints({0, 100, 200, 256});
  expect_refused(call_with(lab_.ints({0, 200, 100, 256}), fine), "cu-seqlens", "cu_seqlens_q");
  expect_refused(call_with(fine, lab_.ints({0, 200, 100, 256})), "cu-seqlens", "cu_seqlens_k");
}

TEST_F(BadSums, ThatDoNotBeginAtZero) {
  expect_refused(call_with(lab_.ints({1, 128, 256}), lab_.ints({0, 128, 256})), "cu-seqlens", "cu_seqlens_q");
}

TEST_F(BadSums, OfMoreRowsThanThereAre) {
  const flashwave_tensor fine = lab_.ints({0, 100, 200, 256});
  expect_refused(call_with(lab_.ints({0, 256, 512, 768}), fine), "cu-seqlens-rows", "cu_seqlens_q");
  expect_refused(call_with(fine, lab_.ints({0, 256, 512, 768})), "cu-seqlens-rows", "cu_seqlens_k");
}

TEST_F(BadSums, OfNothing) {
  expect_refused(call_with(lab_.ints({}), lab_.ints({})), "tensor-shape", "cu_seqlens_q");
}

// https://github.com/ROCm/aiter/issues/2229
TEST(Varlen, OneTokenEqualsTheSameTokenAmongOthers) {
  for (const int dtype : {fp16, bf16})
    for (const std::int64_t dim : {64, 128, 256}) {
      Lab lab;
      Call call =
          lab.inputs(dtype, {.batch = 0, .seq_q = 8, .seq_k = 512, .heads_q = 8, .heads_k = 8, .dim = dim});
      call.cu_seqlens_q = lab.ints({0, 8});
      call.cu_seqlens_k = lab.ints({0, 512});
      const Call all = lab.forward(call);
      expect_right(all);
      for (const int rows : {1, 2, 3, 7}) {
        const Call few = sequence(lab, call, 0, rows, 0, 512);
        const Call done = lab.forward(few);
        expect_right(done);
        expect_near(done.out, tools::narrow(all.out, 0, 0, rows), dtype == fp16 ? 1e-3f : 1e-2f);
      }
    }
}

// https://github.com/Dao-AILab/flash-attention/issues/487,
// https://github.com/huggingface/transformers/issues/29075,
// https://github.com/huggingface/transformers/pull/41966
TEST(Varlen, LeftPaddedSamplesEqualUnpaddedOnes) {
  Lab lab;
  const std::int64_t lengths[] = {5, 8};
  Call padded = lab.inputs(bf16, {.batch = 2, .seq_q = 8, .seq_k = 8, .heads_q = 4, .heads_k = 2, .dim = 32});
  for (const flashwave_tensor& t : {padded.q, padded.k, padded.v})
    tools::fill_bytes(tools::narrow(tools::narrow(t, 0, 0, 1), 1, 0, 3), tools::poison);
  set_causal(padded);

  Call ragged = padded;  // unpad: the rows that count, one after another
  for (flashwave_tensor Call::* member : {&Call::q, &Call::k, &Call::v}) {
    const flashwave_tensor from = padded.*member;
    const flashwave_tensor to = lab.unwritten(bf16, {13, from.shape[2], 32});
    tools::copy(tools::narrow(to, 0, 0, 5), at(tools::narrow(from, 1, 3, 5), 0, 0));
    tools::copy(tools::narrow(to, 0, 5, 8), at(from, 0, 1));
    ragged.*member = to;
  }
  ragged.cu_seqlens_q = ragged.cu_seqlens_k = lab.ints({0, 5, 13});
  const Call done = lab.forward(ragged);
  expect_right(done);

  Call cached = padded;  // the same by a cache whose padding is said
  cached.cache_seqlens = lab.ints({8, 8});
  cached.leftpad = lab.ints({3, 0});
  const Call with_cache = lab.forward(cached);
  for (int sample = 0; sample < 2; ++sample) {
    const std::int64_t first = sample ? 5 : 0, length = lengths[sample];
    const auto rows = tools::narrow(at(with_cache.out, 0, sample), 0, 8 - length, length);
    EXPECT_EQ(bits(rows), bits(tools::narrow(done.out, 0, first, length)));
  }
}

}  // namespace
