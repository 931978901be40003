// Public reports about empty and degenerate sizes.
#include <cmath>

#include "lab/lab.hpp"

namespace {

using namespace lab;

// https://github.com/Dao-AILab/flash-attention/issues/1159, https://github.com/pytorch/pytorch/pull/166318,
// https://github.com/pytorch/pytorch/pull/198022
TEST(Empty, BatchHeadsAndRowsMayBeZeroInEveryPass) {
  const auto runs = [](Lab& lab, Call call) {
    set_causal(call);
    const Call done = lab.forward(call);
    lab.backward(done);
    call = lab.forward(call, {});  // nor is lse needed
  };
  {
    Lab lab;
    Call call = FLASHWAVE_INIT(flashwave_attention);
    call.q = lab.unwritten(bf16, {0, 3952, 10, 64});
    call.k = lab.unwritten(bf16, {0, 16, 10, 64});
    call.v = lab.unwritten(bf16, {0, 16, 10, 64});
    runs(lab, call);
    call.q.data = call.k.data = call.v.data = nullptr;  // as frameworks hand over what is empty
    runs(lab, call);
  }
  {
    Lab lab;
    Call call = FLASHWAVE_INIT(flashwave_attention);
    call.q = lab.unwritten(fp16, {2, 5, 0, 64});
    call.k = lab.unwritten(fp16, {2, 7, 0, 64});
    call.v = lab.unwritten(fp16, {2, 7, 0, 64});
    runs(lab, call);
  }
  {
    Lab lab;
    Call call = FLASHWAVE_INIT(flashwave_attention);
    call.q = lab.unwritten(fp32, {0, 2, 64});
    call.k = lab.unwritten(fp32, {0, 2, 64});
    call.v = lab.unwritten(fp32, {0, 2, 64});
    call.cu_seqlens_q = call.cu_seqlens_k = lab.ints({0});
    runs(lab, call);
  }
}

// https://github.com/Dao-AILab/flash-attention/issues/334
TEST(Empty, OneKeyHasAllTheWeight) {
  for (const std::int64_t dim : {1, 3, 8, 16})
    for (const std::int64_t rows : {1, 2, 17}) {
      Lab lab;
      Call call = lab.inputs(fp16, {.seq_q = rows, .seq_k = 1, .dim = dim});
      for (const flashwave_tensor& t : {call.q, call.k, call.v})
        for (std::int64_t i = 0; i < tools::elements(t); ++i)
          tools::store(t.data, fp16, i, 3 * tools::load(t.data, fp16, i));
      Call done = lab.forward(call);
      done.dout = lab.constant(1, fp16, {1, rows, 1, dim});
      const Call gradients = lab.backward(done);
      for (std::int64_t row = 0; row < rows; ++row)
        EXPECT_EQ(values(at(done.out, 1, row)), values(at(call.v, 1, 0)));
      expect_all(gradients.dv, static_cast<float>(rows));
      for (const flashwave_tensor& t : {gradients.dq, gradients.dk})
        for (const float x : values(t)) EXPECT_LT(std::fabs(x), 1e-3f);
    }
}

}  // namespace
