// What the bits of a result may not depend on: threads, layout, pages, capacity, other sequences.
#include "conformance/lines.hpp"

namespace {

using namespace lab;

class Threads : public testing::TestWithParam<const char*> {
 protected:
  ~Threads() override { flashwave_set_threads(0); }
};

TEST_P(Threads, AnyNumberGivesEqualBits) {
  std::vector<unsigned char> one;
  for (const int threads : {1, 2, 5, 2, 5}) {
    ASSERT_EQ(flashwave_set_threads(threads), FLASHWAVE_OK) << flashwave_message();
    const auto got = bits_of_line(GetParam());
    ASSERT_FALSE(got.empty());
    if (threads == 1) one = got;
    ASSERT_EQ(got, one) << threads << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Lines, Threads,
    testing::Values(
        "fwd+bwd b2 hq8 hkv2 sq300 sk333 d64 bf16 causal want=lse",
        "fwd+bwd b1 hq3 hkv1 sq500 sk700 d72 dv40 fp32 window=100,20 softcap=9 sink want=lse,dsink",
        "fwd+bwd b1 hq2 sq1100 sk1100 d64 fp16 dropout=0.2 want=mask",
        "fwd+bwd b5 hq4 hkv2 sq200 sk200 d64 bf16 varlen lens=random alibi=bh want=dlse",
        "fwd+bwd b3 hq4 hkv2 sq65 sk257 d32 fp32 bias=1h1k want=dbias",
        "fwd+bwd b2 hq8 hkv2 sq1024 sk1024 d128 bf16 causal deterministic",
        "fwd b3 hq8 hkv2 sq1 sk3000 d64 bf16 cache lens=random want=lse",
        "fwd b1 hq16 hkv2 sq1 sk5000 d128 fp32 cache paged=16 want=lse",
        "fwd b2 hq4 hkv1 sq5 sk2000 d64 fp16 causal cache lens=random append=5 rotary=32 splits=7",
        "fwd b4 hq4 sq33 sk900 d64 bf16 causal varlen lens=random paged=48 splits=3"));

// Cases hold the same numbers in every layout.
class Layouts : public testing::TestWithParam<const char*> {};

TEST_P(Layouts, GiveEqualBits) {
  const std::string line = GetParam();
  const auto plain = bits_of_line(line);
  for (const char* layout : {" layout=bhsd", " layout=packed", " layout=strided"}) {
    // In the strided layout dout is one vector for all heads, and ragged batches have rows to spare.
    if (layout == std::string(" layout=strided") && line.starts_with("fwd+bwd")) continue;
    EXPECT_EQ(bits_of_line(line + layout), plain) << layout;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Lines, Layouts,
    testing::Values("fwd+bwd b2 hq6 hkv2 sq65 sk100 d72 dv40 bf16 causal want=lse",
                    "fwd+bwd b2 hq3 sq70 sk70 d33 fp32 window=9,9 want=lse",
                    "fwd+bwd b3 hq4 hkv2 sq40 sk50 d64 fp16 varlen lens=random want=lse",
                    "fwd b2 hq6 hkv2 sq65 sk100 d72 dv40 bf16 causal want=lse",
                    "fwd b2 hq8 hkv2 sq3 sk300 d64 bf16 cache lens=random splits=4",
                    "fwd b2 hq8 hkv2 sq3 sk300 d64 fp16 cache lens=random paged=10 splits=2"));

// For a given number of splits.
class Pages : public testing::TestWithParam<const char*> {};

TEST_P(Pages, OfAnySizeGiveEqualBits) {
  const std::string line = GetParam();
  const auto dense = bits_of_line(line);
  for (const char* size : {"1", "2", "7", "16", "64", "100", "1000"})
    EXPECT_EQ(bits_of_line(line + " paged=" + size), dense) << size;
}

INSTANTIATE_TEST_SUITE_P(
    Lines, Pages,
    testing::Values("fwd b2 hq8 hkv2 sq1 sk700 d64 bf16 cache lens=random splits=1 want=lse",
                    "fwd b2 hq8 hkv2 sq1 sk700 d64 bf16 cache lens=random splits=5 want=lse",
                    "fwd b3 hq4 sq20 sk300 d72 fp32 causal cache lens=random splits=2",
                    "fwd b2 hq4 hkv1 sq2 sk90 d64 fp16 window=40,0 cache lens=random append=2 splits=3",
                    "fwd b2 hq4 hkv1 sq2 sk90 d64 fp32 cache lens=random leftpad splits=3"));

TEST(Capacity, OfACacheDoesNotShow) {
  // A single sequence has the same numbers in any capacity.
  const auto with = [](const char* capacity, const char* splits) {
    return bits_of_line(std::string("fwd b1 hq8 hkv2 sq2 sk") + capacity +
                        " d64 bf16 causal cache lens=2/333 want=lse splits=" + splits);
  };
  for (const char* splits : {"1", "3", "8"})
    for (const char* capacity : {"334", "512", "5000"})
      EXPECT_EQ(with(capacity, splits), with("333", splits)) << capacity;
}

// Batch-invariant decode: with `deterministic` the splits of a sequence do not depend on its neighbours.
TEST(Batch, DoesNotShowInADeterministicDecode) {
  for (const std::int64_t rows : {1, 3}) {
    Lab lab;
    Call together = lab.inputs(bf16, {.batch = 7, .seq_q = rows, .seq_k = 3000, .heads_q = 4, .heads_k = 2});
    together.deterministic = 1;
    const Call done = lab.forward(together);
    expect_right(done);
    for (const std::int64_t b : {0, 6}) {
      Call alone = together;
      for (flashwave_tensor Call::* member : {&Call::q, &Call::k, &Call::v})
        alone.*member = tools::narrow(together.*member, 0, b, 1);
      const Call done_alone = lab.forward(alone);
      EXPECT_EQ(bits({done_alone.out, done_alone.lse}),
                bits({tools::narrow(done.out, 0, b, 1), tools::narrow(done.lse, 0, b, 1)}));
    }
  }
}

// A sequence of a ragged batch, and its gradients, when all others are NaN.
TEST(Neighbours, OfARaggedBatchDoNotShow) {
  for (const int dtype : {fp32, bf16}) {
    Lab lab;
    Call call =
        lab.inputs(dtype, {.batch = 0, .seq_q = 90, .seq_k = 120, .heads_q = 4, .heads_k = 2, .dim = 40});
    const std::int32_t rows[] = {0, 30, 31, 64, 90}, keys[] = {0, 17, 60, 60, 120};
    call.cu_seqlens_q = lab.ints({std::begin(rows), std::end(rows)});
    call.cu_seqlens_k = lab.ints({std::begin(keys), std::end(keys)});
    set_causal(call);
    call.dout = lab.normal("dout", dtype, {90, 4, 40});
    const auto run = [&](const Call& with) {
      Call plain = with;
      plain.dout = {};
      Call done = lab.forward(plain);
      done.dout = with.dout;
      return std::pair{done, lab.backward(done)};
    };
    const auto [done, gradients] = run(call);
    expect_right(done);
    expect_right(gradients);
    for (int b = 0; b < 4; ++b) {
      Call other = call;
      const auto only = [&](flashwave_tensor& t, const std::int32_t* sums) {
        const flashwave_tensor whole = t;
        t = lab.unwritten(t.dtype, tools::shape_of(t));
        const std::int64_t count = sums[b + 1] - sums[b];
        tools::copy(tools::narrow(t, 0, sums[b], count), tools::narrow(whole, 0, sums[b], count));
      };
      only(other.q, rows);
      only(other.dout, rows);
      only(other.k, keys);
      only(other.v, keys);
      const auto [other_done, other_gradients] = run(other);
      const auto mine = [&](const Call& d, const Call& g) {
        const std::int64_t q = rows[b + 1] - rows[b], k = keys[b + 1] - keys[b];
        return bits({tools::narrow(d.out, 0, rows[b], q), tools::narrow(d.lse, 1, rows[b], q),
                     tools::narrow(g.dq, 0, rows[b], q), tools::narrow(g.dk, 0, keys[b], k),
                     tools::narrow(g.dv, 0, keys[b], k)});
      };
      EXPECT_EQ(mine(other_done, other_gradients), mine(done, gradients)) << "sequence " << b;
    }
  }
}

}  // namespace
