// What calls are taken for, which layouts are legal, and which values.
#include <gtest/gtest.h>

#include "problem/call.hpp"
#include "problem/case.hpp"
#include "support.hpp"

namespace fw {
namespace {

using test::Sample;

constexpr test::Sizes sizes{2, 4, 2, 3, 16, 8, 8, DType::bf16};

Problem described(const Call& call) {
  Problem p;
  const Status status = describe(call, p);
  EXPECT_TRUE(status.ok()) << status.message();
  return p;
}

Problem of_line(std::string_view line) {
  Case c;
  const Status status = parse(line, c);
  EXPECT_TRUE(status.ok()) << status.message();
  return c.problem;
}

testing::AssertionResult legal(const Call& call) {
  Problem p;
  Status status = describe(call, p);
  if (status.ok()) status = check_values(call, p);
  return status.ok() ? testing::AssertionSuccess() : testing::AssertionFailure() << status.message();
}

TEST(Describe, ADenseCallIsItsLine) {
  Sample s(sizes);
  s.call.right = 0;
  s.call.left = -5;
  s.call.scale_given = true;
  s.call.scale = 0.5f;
  s.give(&Call::alibi, DType::fp32, {2, 4}).fill(0);
  s.give(&Call::bias, DType::uint8, {1, 4, 1, 16}).fill(1);
  s.give(&Call::sink, DType::fp32, {4}).fill(0);
  s.call.dropout = 0.5f;
  s.give(&Call::dropout_mask, DType::uint8, {2, 4, 3, 16});
  s.call.splits = 2;
  EXPECT_EQ(described(s.call),
            of_line("fwd b2 hq4 hkv2 sq3 sk16 d8 bf16 causal scale=0.5 alibi=bh bias=1h1k:bool sink:fp32 "
                    "dropout=0.5 splits=2 want=lse,mask"));
}

TEST(Describe, ABackwardCallIsItsLine) {
  Sample s(sizes);
  s.give(&Call::bias, DType::fp32, {2, 1, 3, 16}).fill(0);
  s.give(&Call::sink, DType::bf16, {4}).fill(0);
  s.make_backward();
  EXPECT_EQ(described(s.call),
            of_line("bwd b2 hq4 hkv2 sq3 sk16 d8 bf16 bias=b1qk:fp32 sink want=dlse,dbias,dsink"));
}

TEST(Describe, ACacheCallIsItsLine) {
  Sample s(sizes);
  s.call.lse = {};
  s.give_int32(&Call::cache_seqlens, {5, 9});
  s.give_int32(&Call::leftpad, {0, 3});
  s.give(&Call::k, DType::bf16, {5, 16, 2, 8}).fill(0);
  s.give(&Call::v, DType::bf16, {5, 16, 2, 8}).fill(0);
  s.give_int32(&Call::cache_batch_idx, {4, 1});
  s.give(&Call::k_new, DType::bf16, {2, 2, 2, 8}).fill(0);
  s.give(&Call::v_new, DType::bf16, {2, 2, 2, 8}).fill(0);
  s.give(&Call::rotary_cos, DType::fp32, {16, 3}).fill(1);
  s.give(&Call::rotary_sin, DType::fp32, {16, 3}).fill(0);
  s.call.rotary_interleaved = true;
  EXPECT_EQ(described(s.call),
            of_line("fwd b2 hq4 hkv2 sq3 sk16 d8 bf16 cache append=2 rotary=6i:fp32 batchidx leftpad"));
  EXPECT_TRUE(legal(s.call));
}

TEST(Describe, PartsOfDenseSequencesMayBeUsed) {
  Sample s(sizes);
  s.call.lse = {};
  s.give_int32(&Call::seqused_q, {3, 0});
  EXPECT_EQ(described(s.call), of_line("fwd b2 hq4 hkv2 sq3 sk16 d8 bf16 seqused=q"));
  s.give_int32(&Call::seqused_k, {16, 0});
  EXPECT_EQ(described(s.call), of_line("fwd b2 hq4 hkv2 sq3 sk16 d8 bf16 seqused=qk"));
  EXPECT_TRUE(legal(s.call));
}

void make_varlen(Sample& s) {
  s.give(&Call::q, DType::bf16, {6, 4, 8}).randomize(1);
  s.give(&Call::k, DType::bf16, {9, 2, 8}).randomize(2);
  s.give(&Call::v, DType::bf16, {9, 2, 8}).randomize(3);
  s.give(&Call::out, DType::bf16, {6, 4, 8});
  s.give(&Call::lse, DType::fp32, {4, 6});
  s.give_int32(&Call::cu_seqlens_q, {0, 2, 6});
  s.give_int32(&Call::cu_seqlens_k, {0, 5, 9});
}

TEST(Describe, AVarlenCallFindsItsLongestSequences) {
  Sample s(sizes);
  make_varlen(s);
  EXPECT_EQ(described(s.call), of_line("fwd b2 hq4 hkv2 sq4 sk5 d8 bf16 varlen want=lse"));
  s.call.max_seq_q = 7;
  s.call.max_seq_k = 9;
  EXPECT_EQ(described(s.call), of_line("fwd b2 hq4 hkv2 sq7 sk9 d8 bf16 varlen want=lse"));
  s.give(&Call::bias, DType::bf16, {2, 1, 7, 9}).fill(0);
  EXPECT_TRUE(legal(s.call));
  s.give_int32(&Call::cu_seqlens_q, {0, 2, 4});  // fewer rows than the tensor has
  EXPECT_TRUE(legal(s.call));
}

void make_paged(Sample& s) {
  s.give(&Call::k, DType::bf16, {6, 4, 2, 8}).randomize(2);
  s.give(&Call::v, DType::bf16, {6, 4, 2, 8}).randomize(3);
  s.give(&Call::block_table, DType::int32, {2, 3}).assign({0, 1, 2, 3, 4, 5});
}

TEST(Describe, PagesGiveTheCapacity) {
  Sample s(sizes);
  s.call.lse = {};
  make_paged(s);
  Problem wanted = of_line("fwd b2 hq4 hkv2 sq3 sk12 d8 bf16 paged=4");
  wanted.pages = 6;
  EXPECT_EQ(described(s.call), wanted);
  s.call.max_seq_k = 10;
  wanted.seq_k = 10;
  EXPECT_EQ(described(s.call), wanted);
  s.give_int32(&Call::cache_seqlens, {10, 0});
  wanted.lengths = Lengths::cache;
  EXPECT_EQ(described(s.call), wanted);
  EXPECT_TRUE(legal(s.call));
}

TEST(Describe, PagedGradientsHaveThePoolsShape) {
  Sample s(sizes);
  make_paged(s);
  s.make_backward();
  EXPECT_TRUE(legal(s.call));
}

TEST(Describe, EmptySizesAreLegal) {
  for (const test::Sizes empty :
       {test::Sizes{0, 4, 2, 3, 16, 8, 8, DType::bf16}, test::Sizes{2, 0, 0, 3, 16, 8, 8, DType::bf16},
        test::Sizes{2, 4, 2, 0, 16, 8, 8, DType::bf16}, test::Sizes{2, 4, 2, 3, 0, 8, 8, DType::bf16},
        test::Sizes{2, 0, 2, 3, 16, 8, 8, DType::bf16}}) {
    Sample s(empty);
    s.call.q.data = empty.seq_q == 0 ? nullptr : s.call.q.data;
    EXPECT_TRUE(legal(s.call));
    s.make_backward();
    EXPECT_TRUE(legal(s.call));
  }
  Sample s(sizes);  // cu_seqlens [0]: no sequence at all
  s.give(&Call::q, DType::bf16, {0, 4, 8});
  s.give(&Call::k, DType::bf16, {0, 2, 8});
  s.give(&Call::v, DType::bf16, {0, 2, 8});
  s.give(&Call::out, DType::bf16, {0, 4, 8});
  s.give(&Call::lse, DType::fp32, {4, 0});
  s.give_int32(&Call::cu_seqlens_q, {0});
  s.give_int32(&Call::cu_seqlens_k, {0});
  EXPECT_TRUE(legal(s.call));
}

// --- layouts

TEST(Layout, InputsMayRepeatRunBackwardsAndAlias) {
  Sample s(sizes);
  s.make_backward();
  for (int i = 0; i < 3; ++i) s.call.dout.stride[i] = 0;  // out.sum().backward()
  EXPECT_TRUE(legal(s.call));
  s.call.k.data = static_cast<std::uint16_t*>(s.call.k.data) + 15 * s.call.k.stride[1];
  s.call.k.stride[1] = -s.call.k.stride[1];
  EXPECT_TRUE(legal(s.call));
  Sample mla(sizes);
  mla.call.v = mla.call.k;
  EXPECT_TRUE(legal(mla.call));
}

TEST(Layout, SingleElementDimensionsAreFree) {
  Sample s({1, 1, 1, 1, 16, 8, 1, DType::bf16});
  s.call.q.stride = {-7, 0, 1 << 20, 1};
  s.call.v.stride[3] = -3;  // Dv is 1
  s.call.out.stride = {0, 0, 0, 0};
  s.call.lse.stride = {0, 0, 0};
  EXPECT_TRUE(legal(s.call));
}

TEST(Layout, PackedGradientsAreApart) {
  Sample s({2, 4, 4, 16, 16, 8, 8, DType::bf16});
  s.make_backward();
  std::vector<std::uint16_t> packed(2 * 16 * 3 * 4 * 8);
  View* parts[] = {&s.call.dq, &s.call.dk, &s.call.dv};
  for (int i = 0; i < 3; ++i) {
    parts[i]->data = packed.data() + i * 4 * 8;
    parts[i]->stride = {16 * 3 * 4 * 8, 3 * 4 * 8, 8, 1};
  }
  EXPECT_TRUE(legal(s.call));
  parts[1]->data = packed.data() + 4 * 8 - 1;
  EXPECT_FALSE(legal(s.call));
}

TEST(Layout, PagesOfOneBufferMayBothBeAppendedTo) {
  Sample s(sizes);
  make_paged(s);
  s.give_int32(&Call::cache_seqlens, {5, 9});
  s.give(&Call::k_new, DType::bf16, {2, 2, 2, 8}).fill(0);
  s.give(&Call::v_new, DType::bf16, {2, 2, 2, 8}).fill(0);
  std::vector<std::uint16_t> pool(6 * 2 * 4 * 2 * 8);  // (pages,2,page_size,Hk,D)
  View* parts[] = {&s.call.k, &s.call.v};
  for (int i = 0; i < 2; ++i) {
    parts[i]->data = pool.data() + i * 4 * 2 * 8;
    parts[i]->stride = {2 * 4 * 2 * 8, 2 * 8, 8, 1};
  }
  EXPECT_TRUE(legal(s.call));
}

TEST(Layout, RowsMayLieFarApart) {
  Sample s(sizes);
  make_varlen(s);
  s.call.out.stride[0] = std::int64_t{1} << 30;
  s.call.q.stride[0] = std::int64_t{1} << 30;
  EXPECT_TRUE(legal(s.call));
}

// --- values

// 512 filled slots in 32 pages of 16, one query that sees the last 32: only columns 30 and 31 count.
TEST(CheckValues, ColumnsThatNoRowSeesMayHoldAnything) {
  Sample s({1, 1, 1, 1, 1, 8, 8, DType::bf16});
  s.give(&Call::k, DType::bf16, {40, 16, 1, 8});
  s.give(&Call::v, DType::bf16, {40, 16, 1, 8});
  test::Tensor& table = s.give(&Call::block_table, DType::int32, {1, 34}).fill(-1);
  s.give_int32(&Call::cache_seqlens, {512});
  s.call.left = 31;
  s.call.right = 0;
  table.set(0, 999);
  table.set(30, 7);
  table.set(31, 39);
  EXPECT_TRUE(legal(s.call));
  table.set(31, 40);
  EXPECT_FALSE(legal(s.call));
  table.set(31, 39);
  s.call.left = 32;  // slot 479, of column 29, comes into sight
  EXPECT_FALSE(legal(s.call));
  s.give_int32(&Call::leftpad, {480});
  EXPECT_TRUE(legal(s.call));
  s.give_int32(&Call::cache_seqlens, {0});
  s.give_int32(&Call::leftpad, {0});
  table.fill(-1);
  EXPECT_TRUE(legal(s.call));
}

TEST(CheckValues, HostileNumbersDoNotOverflow) {
  const double least = std::numeric_limits<std::int32_t>::min(),
               most = std::numeric_limits<std::int32_t>::max();
  for (const double bad : {least, most}) {
    Sample s(sizes);
    s.give_int32(&Call::diagonals, {bad, bad});
    s.call.left = s.call.right = std::numeric_limits<int>::max();
    EXPECT_TRUE(legal(s.call));
    make_paged(s);
    EXPECT_TRUE(legal(s.call));
    Sample varlen(sizes);
    make_varlen(varlen);
    varlen.give_int32(&Call::cu_seqlens_q, {0, bad, 6});
    EXPECT_FALSE(legal(varlen.call));
    varlen.give_int32(&Call::cu_seqlens_q, {bad, -bad, bad});
    EXPECT_FALSE(legal(varlen.call));
    Sample cache(sizes);
    cache.give_int32(&Call::cache_seqlens, {bad, 0});
    EXPECT_FALSE(legal(cache.call));
    cache.give_int32(&Call::cache_seqlens, {0, 0});
    cache.give_int32(&Call::leftpad, {0, bad});
    EXPECT_FALSE(legal(cache.call));
  }
}

TEST(CheckValues, RotaryNeedsTheRowsThatTurn) {
  Sample s(sizes);
  s.give_int32(&Call::cache_seqlens, {5, 9});
  s.give(&Call::rotary_cos, DType::bf16, {10, 4}).fill(1);
  s.give(&Call::rotary_sin, DType::bf16, {10, 4}).fill(0);
  EXPECT_TRUE(legal(s.call));  // every row sees every key: all turn by position 9
  s.call.right = 0;
  EXPECT_FALSE(legal(s.call));  // rows turn by 9, 10, 11
  s.give_int32(&Call::rotary_seqlens, {7, 7});
  EXPECT_TRUE(legal(s.call));
  s.give_int32(&Call::rotary_seqlens, {7, 8});
  EXPECT_FALSE(legal(s.call));
}

TEST(CheckValues, SharedCacheRowsMayBeReadButNotAppendedTo) {
  Sample s(sizes);
  s.give_int32(&Call::cache_seqlens, {5, 9});
  s.give_int32(&Call::cache_batch_idx, {1, 1});
  EXPECT_TRUE(legal(s.call));
  s.give(&Call::k_new, DType::bf16, {2, 1, 2, 8}).fill(0);
  s.give(&Call::v_new, DType::bf16, {2, 1, 2, 8}).fill(0);
  EXPECT_FALSE(legal(s.call));
}

TEST(CheckValues, AnAppendMayFillTheCacheToTheBrim) {
  Sample s(sizes);
  s.give_int32(&Call::cache_seqlens, {14, 0});
  s.give(&Call::k_new, DType::bf16, {2, 2, 2, 8}).fill(0);
  s.give(&Call::v_new, DType::bf16, {2, 2, 2, 8}).fill(0);
  EXPECT_TRUE(legal(s.call));
  s.give_int32(&Call::cache_seqlens, {15, 0});
  EXPECT_FALSE(legal(s.call));
}

// --- combine

struct Partials {
  test::Tensor outs, lses, sink, out, lse;
  CombineCall call;
  explicit Partials(bool ragged)
      : outs(DType::fp32,
             ragged ? std::vector<std::int64_t>{3, 5, 4, 8} : std::vector<std::int64_t>{3, 2, 5, 4, 8}),
        lses(DType::fp32,
             ragged ? std::vector<std::int64_t>{3, 4, 5} : std::vector<std::int64_t>{3, 2, 4, 5}),
        sink(DType::bf16, {4}),
        out(DType::bf16, ragged ? std::vector<std::int64_t>{5, 4, 8} : std::vector<std::int64_t>{2, 5, 4, 8}),
        lse(DType::fp32, ragged ? std::vector<std::int64_t>{4, 5} : std::vector<std::int64_t>{2, 4, 5}),
        call{outs.view, lses.view, sink.view, out.view, lse.view} {}
};

TEST(CheckCombine, TakesDenseAndRaggedPartials) {
  for (const bool ragged : {false, true}) {
    Partials p(ragged);
    EXPECT_TRUE(check_combine(p.call).ok()) << check_combine(p.call).message();
    p.call.sink = p.call.lse = {};
    EXPECT_TRUE(check_combine(p.call).ok());
  }
}

TEST(CheckCombine, RefusesWhatDoesNotFit) {
  const auto rule = [](auto fault) {
    Partials p(false);
    fault(p.call);
    return check_combine(p.call).rule();
  };
  EXPECT_EQ(rule([](CombineCall& c) { c.outs = {}; }), "tensor-missing");
  EXPECT_EQ(rule([](CombineCall& c) { c.lses.shape[0] = 2; }), "tensor-shape");
  EXPECT_EQ(rule([](CombineCall& c) { c.sink.rank = 2; }), "tensor-rank");
  EXPECT_EQ(rule([](CombineCall& c) { c.outs.dtype = DType::fp16; }), "dtype-mixed");
  EXPECT_EQ(rule([](CombineCall& c) { c.out.dtype = DType::int32; }), "dtype-known");
  EXPECT_EQ(rule([](CombineCall& c) { c.lse.dtype = DType::int32; }), "tensor-dtype");
  EXPECT_EQ(rule([](CombineCall& c) {
              c.outs.shape[0] = c.lses.shape[0] = std::int64_t{1} << 62;
              c.outs.stride[0] = c.lses.stride[0] = 0;
            }),
            "size-limit");
  EXPECT_EQ(rule([](CombineCall& c) { c.out.stride[0] = 0; }), "output-overlap");
  EXPECT_EQ(rule([](CombineCall& c) { c.lse.data = c.lses.data; }), "output-overlap");
}

}  // namespace
}  // namespace fw
