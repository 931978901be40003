// Offsets beyond 2^31 elements: rows 2^30 elements apart in memory of which only the touched pages exist.
// https://github.com/Dao-AILab/flash-attention/issues/2611, https://github.com/vllm-project/vllm/issues/50427
#include <sys/mman.h>

#include "lab/lab.hpp"

namespace {

using namespace lab;

constexpr std::int64_t far = std::int64_t{1} << 30;

// Sparse memory for a tensor whose axis 0 has a stride of 2^30 elements.
class Sparse {
 public:
  explicit Sparse(std::size_t bytes) : bytes_(bytes) {
    data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  ~Sparse() {
    if (there()) munmap(data_, bytes_);
  }
  Sparse(const Sparse&) = delete;
  Sparse& operator=(const Sparse&) = delete;
  bool there() const { return data_ != MAP_FAILED; }
  void* data() const { return data_; }

 private:
  std::size_t bytes_;
  void* data_;
};

class FarStrides : public testing::Test {
 protected:
  // A copy of t, or room for its like, with an axis far apart.
  flashwave_tensor spread(const flashwave_tensor& t, int axis) {
    const auto size = static_cast<std::size_t>(t.shape[axis] * far + tools::elements(t));
    memory_.push_back(std::make_unique<Sparse>(size * tools::element_bytes(t.dtype)));
    EXPECT_TRUE(memory_.back()->there()) << "the machine gives no address space";
    flashwave_tensor wide = t;
    wide.data = memory_.back()->data();
    wide.stride[axis] = far;
    tools::copy(wide, t);
    return wide;
  }

  // Each tensor in turn, and all of them together, far apart along an axis: nothing may change.
  void expect_same_in_every_place(Call call, int axis) {
    const Call compact = lab_.forward(call);
    Call compact_done = compact;
    compact_done.dout = lab_.normal("dout", call.q.dtype, tools::shape_of(compact.out));
    const Call compact_gradients = lab_.backward(compact_done);
    const auto want =
        bits({compact.out, compact.lse, compact_gradients.dq, compact_gradients.dk, compact_gradients.dv});
    flashwave_tensor Call::* const members[] = {&Call::q,    &Call::k,  &Call::v,  &Call::out,
                                                &Call::dout, &Call::dq, &Call::dk, &Call::dv};
    for (std::size_t place = 0; place <= std::size(members); ++place) {
      const auto is_far = [&](flashwave_tensor Call::* member) {
        return place == std::size(members) || members[place] == member;
      };
      const auto put = [&](flashwave_tensor Call::* member, const flashwave_tensor& t) {
        return is_far(member) ? spread(t, axis) : t;
      };
      Call forward = call;
      for (flashwave_tensor Call::* member : {&Call::q, &Call::k, &Call::v})
        forward.*member = put(member, call.*member);
      const auto fresh = [&](const flashwave_tensor& like) {
        return lab_.unwritten(like.dtype, tools::shape_of(like));
      };
      forward.out = put(&Call::out, fresh(compact.out));
      forward.lse = fresh(compact.lse);
      const Call done = lab_.forward(forward);
      Call backward = done;
      backward.pass = FLASHWAVE_BACKWARD;
      backward.dout = put(&Call::dout, compact_done.dout);
      backward.dq = put(&Call::dq, fresh(call.q));
      backward.dk = put(&Call::dk, fresh(call.k));
      backward.dv = put(&Call::dv, fresh(call.v));
      const tools::Outcome outcome = tools::run_on("cpu", backward, tools::Memory::guarded);
      ASSERT_TRUE(outcome.ok()) << outcome.message();
      EXPECT_EQ(bits({done.out, done.lse, backward.dq, backward.dk, backward.dv}), want) << "place " << place;
      memory_.clear();
    }
  }

  Lab lab_;
  std::vector<std::unique_ptr<Sparse>> memory_;
};

TEST_F(FarStrides, OfRaggedRows) {
  for (const int dtype : {fp32, bf16}) {
    Call call = lab_.inputs(dtype, {.batch = 0, .seq_q = 4, .seq_k = 4});
    call.cu_seqlens_q = call.cu_seqlens_k = lab_.ints({0, 1, 4});
    expect_same_in_every_place(call, 0);
    call.cu_seqlens_q = call.cu_seqlens_k = lab_.ints({0, 4});
    expect_same_in_every_place(call, 0);
  }
}

TEST_F(FarStrides, OfRows) {
  Call call = lab_.inputs(fp16, {.seq_q = 4, .seq_k = 5, .heads_q = 2, .heads_k = 1});
  set_causal(call);
  expect_same_in_every_place(call, 1);
}

TEST_F(FarStrides, OfBatches) {
  expect_same_in_every_place(
      lab_.inputs(bf16, {.batch = 4, .seq_q = 3, .seq_k = 5, .heads_q = 2, .heads_k = 2}), 0);
}

TEST_F(FarStrides, OfHeads) {
  expect_same_in_every_place(lab_.inputs(fp32, {.seq_q = 3, .seq_k = 5, .heads_q = 4, .heads_k = 4}), 2);
}

TEST_F(FarStrides, OfPages) {
  for (const bool append : {false, true}) {
    Call call = lab_.inputs(bf16, {.batch = 2, .seq_q = 2, .seq_k = 1, .heads_q = 2, .heads_k = 1});
    call.k = lab_.normal("k", bf16, {6, 4, 1, 64});
    call.v = lab_.normal("v", bf16, {6, 4, 1, 64});
    call.block_table = lab_.table({{5, 0, 3}, {2, 4, 1}});
    call.cache_seqlens = lab_.ints({9, 5});
    if (append) {
      call.k_new = lab_.normal("k_new", bf16, {2, 2, 1, 64});
      call.v_new = lab_.normal("v_new", bf16, {2, 2, 1, 64});
    }
    Call wide = call;
    wide.k = spread(call.k, 0);
    wide.v = spread(call.v, 0);
    wide.out = lab_.unwritten(bf16, {2, 2, 2, 64});
    wide.lse = lab_.unwritten(fp32, {2, 2, 2});
    const Call want = lab_.forward(call), done = lab_.forward(wide);
    EXPECT_EQ(bits({done.out, done.lse, wide.k, wide.v}), bits({want.out, want.lse, want.k, want.v}));
  }
}

}  // namespace
