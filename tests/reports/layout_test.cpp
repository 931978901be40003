// Public reports about strides and tails. Offsets beyond 2^31 are in tests/conformance.
#include "lab/lab.hpp"

namespace {

using namespace lab;

// The elements of t in memory laid out otherwise.
enum class View { plain, head_major, every_second };
flashwave_tensor viewed(Lab& lab, const flashwave_tensor& t, View view) {
  if (view == View::plain) return lab.copy_of(t);
  if (view == View::head_major) return lab.copy_of(t, Form::heads_first);
  flashwave_tensor twice = lab.unwritten(t.dtype, {t.shape[0], 2 * t.shape[1], t.shape[2], t.shape[3]});
  twice.shape[1] /= 2;
  twice.stride[1] *= 2;
  tools::copy(twice, t);
  return twice;
}

// https://github.com/ROCm/pytorch/issues/3230, https://github.com/Dao-AILab/flash-attention/pull/1562,
// https://github.com/flagos-ai/FlagAttention/issues/45
TEST(Layout, OfEachTensorIsItsOwn) {
  Lab lab;
  const Call call = lab.inputs(bf16, {.seq_q = 62, .seq_k = 62, .heads_q = 16, .heads_k = 16, .dim = 128});
  Call done = lab.forward(call);
  done.dout = lab.normal("dout", bf16, {1, 62, 16, 128});
  const Call gradients = lab.backward(done);
  expect_right(gradients);
  const auto want = bits({done.out, done.lse, gradients.dq, gradients.dk, gradients.dv});
  const View views[] = {View::plain, View::head_major, View::every_second};
  for (const View q : views)
    for (const View k : views)
      for (const View v : views) {
        Call other = call;
        other.q = viewed(lab, call.q, q);
        other.k = viewed(lab, call.k, k);
        other.v = viewed(lab, call.v, v);
        Call other_done = lab.forward(other);
        other_done.dout = viewed(lab, done.dout, v);
        const Call g = lab.backward(other_done);
        ASSERT_EQ(bits({other_done.out, other_done.lse, g.dq, g.dk, g.dv}), want);
      }
}

// https://github.com/ROCm/pytorch/issues/3230: q, k, v cut from one packed tensor
TEST(Layout, OfThePackedTensor) {
  Lab lab;
  const Call call =
      lab.inputs(bf16, {.batch = 2, .seq_q = 33, .seq_k = 33, .heads_q = 3, .heads_k = 3, .dim = 40});
  const flashwave_tensor packed = lab.unwritten(bf16, {2, 33, 9, 40});
  Call cut = call;
  int first = 0;
  for (flashwave_tensor Call::* member : {&Call::q, &Call::k, &Call::v}) {
    cut.*member = tools::narrow(packed, 2, first, 3);
    tools::copy(cut.*member, call.*member);
    first += 3;
  }
  EXPECT_EQ(bits(lab.forward(cut).out), bits(lab.forward(call).out));
}

// https://github.com/Dao-AILab/flash-attention/issues/355, https://github.com/ROCm/flash-attention/issues/40,
// https://github.com/pytorch/pytorch/issues/133671
TEST(Layout, OfTheIncomingGradientIsFree) {
  for (const int dtype : {fp32, bf16}) {
    Lab lab;
    const Call call =
        lab.inputs(dtype, {.batch = 2, .seq_q = 49, .seq_k = 49, .heads_q = 2, .heads_k = 2, .dim = 32});
    Call done = lab.forward(call);
    done.dout = lab.constant(1, dtype, {2, 49, 2, 32});
    const Call plain = lab.backward(done);
    expect_right(plain);
    const auto want = bits({plain.dq, plain.dk, plain.dv});

    flashwave_tensor expanded = lab.constant(1, dtype, {1, 1, 1, 32});
    for (int axis = 0; axis < 3; ++axis) {
      expanded.shape[axis] = done.out.shape[axis];
      expanded.stride[axis] = 0;
    }
    flashwave_tensor sliced = lab.unwritten(dtype, {2, 49, 2, 80});
    sliced.shape[3] = 32;
    tools::copy(sliced, done.dout);
    for (const flashwave_tensor& dout : {expanded, lab.copy_of(done.dout, Form::heads_first), sliced,
                                         lab.copy_of(done.dout, Form::backward)}) {
      done.dout = dout;
      const Call g = lab.backward(done);
      EXPECT_EQ(bits({g.dq, g.dk, g.dv}), want);
    }
  }
}

// https://github.com/Dao-AILab/flash-attention/issues/1076,
// https://github.com/ROCm/rocm-libraries/pull/11519, https://github.com/pytorch/pytorch/issues/156022. Each
// tensor of a lab ends at a page that faults.
TEST(Layout, NothingIsReadOrWrittenPastTheLastRow) {
  for (const int dtype : {fp32, fp16, bf16})
    for (const std::int64_t dim : {8, 40, 64, 72, 128})
      for (std::int64_t size = 1; size <= 130; size += dtype == fp16 ? 7 : 3) {
        Lab lab(static_cast<std::uint64_t>(size));
        const Call call = lab.inputs(dtype, {.seq_q = size, .seq_k = 131 - size, .dim = dim});
        const Call done = lab.forward(call);
        const Call gradients = lab.backward(done);
        if (size % 5 != 1) continue;
        expect_right(done);
        expect_right(gradients);
      }
}

}  // namespace
