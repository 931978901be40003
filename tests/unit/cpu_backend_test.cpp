// The passes around the kernels: what is written where, by how many threads, and what happens before the
// first write.
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <string>
#include <vector>

#include "cpu/backend.hpp"
#include "cpu/pool.hpp"
#include "support.hpp"

namespace fw::cpu {
namespace {

using test::Sample;

const Backend& backend() {
  static const auto made = make_cpu_backend();
  return *made;
}

Status run(Sample& sample, const std::string& device = "cpu") {
  Plan plan;
  FW_TRY(backend().plan(sample.problem, device, plan));
  return backend().run(plan, sample.call);
}

void expect_near(Sample& got, Sample& wanted, View Call::* tensor, double tolerance) {
  const auto a = got[tensor].values(), b = wanted[tensor].values();
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_TRUE(std::abs(a[i] - b[i]) <= tolerance || a[i] == b[i])
        << i << ": " << a[i] << " is not " << b[i];
}

// A cache of 2 x 40 slots, of which 9 and 30 are filled; 3 tokens a sequence come.
void make_cached(Sample& s, DType dtype) {
  s.problem.lengths = Lengths::cache;
  s.problem.append = 3;
  s.problem.rotary = {.dim = 6, .interleaved = false, .dtype = DType::fp32};
  s.problem.right = 0;
  s.call.right = 0;
  s.give_int32(&Call::cache_seqlens, {9, 30});
  s.give(&Call::k_new, dtype, {2, 3, 2, 8}).randomize(6);
  s.give(&Call::v_new, dtype, {2, 3, 2, 8}).randomize(7);
  s.give(&Call::rotary_cos, DType::fp32, {64, 3}).randomize(8);
  s.give(&Call::rotary_sin, DType::fp32, {64, 3}).randomize(9);
}

Sample cached(DType dtype) {
  Sample s({.batch = 2, .heads_q = 4, .heads_k = 2, .seq_q = 3, .seq_k = 40, .dtype = dtype});
  make_cached(s, dtype);
  return s;
}

TEST(Append, WritesWhatTheOracleWrites) {
  for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16})
    for (const bool interleaved : {false, true})
      for (const bool masked : {false, true}) {
        Sample ours = cached(dtype), oracle = cached(dtype);
        for (Sample* s : {&ours, &oracle}) {
          s->problem.rotary.interleaved = s->call.rotary_interleaved = interleaved;
          s->problem.right = s->call.right = masked ? 0 : open_side;
        }
        ASSERT_TRUE(run(ours).ok());
        ASSERT_TRUE(run(oracle, "reference").ok());
        EXPECT_TRUE(ours[&Call::k].same_bits(oracle[&Call::k]));
        EXPECT_TRUE(ours[&Call::v].same_bits(oracle[&Call::v]));
        expect_near(ours, oracle, &Call::out, dtype == DType::fp32 ? 1e-5 : 0.05);
      }
}

TEST(Append, FindsPagesAndCacheRows) {
  Sample paged = cached(DType::fp32), dense = cached(DType::fp32), moved = cached(DType::fp32);
  ASSERT_TRUE(run(dense).ok());
  // The same cache in pages of 8 slots, in another order.
  const std::vector<double> table = {3, 9, 1, 7, 5, 0, 2, 4, 6, 8};
  paged.problem.page_size = 8;
  paged.problem.pages = 10;
  paged.give(&Call::block_table, DType::int32, {2, 5}).assign(table);
  Sample source = cached(DType::fp32);
  for (const auto tensor : {&Call::k, &Call::v}) {
    test::Tensor& pool = paged.give(tensor, DType::fp32, {10, 8, 2, 8});
    for (int b = 0; b < 2; ++b)
      for (int slot = 0; slot < 40; ++slot)
        for (int i = 0; i < 16; ++i)
          pool.set((static_cast<int>(table[b * 5 + slot / 8]) * 8 + slot % 8) * 16 + i,
                   source[tensor].get((b * 40 + slot) * 16 + i));
  }
  ASSERT_TRUE(run(paged).ok());
  EXPECT_TRUE(paged[&Call::out].same_bits(dense[&Call::out]));
  // The same cache with its rows exchanged.
  moved.problem.batch_index = true;
  moved.give_int32(&Call::cache_batch_idx, {1, 0});
  for (const auto tensor : {&Call::k, &Call::v})
    for (int i = 0; i < 2 * 40 * 16; ++i)
      moved[tensor].set(i, source[tensor].get((i + 40 * 16) % (2 * 40 * 16)));
  ASSERT_TRUE(run(moved).ok());
  EXPECT_TRUE(moved[&Call::out].same_bits(dense[&Call::out]));
}

Sample large(Pass pass, const std::string& what) {
  Sample s({.batch = 2,
            .heads_q = 4,
            .heads_k = 2,
            .seq_q = 150,
            .seq_k = 700,
            .dim_qk = 40,
            .dim_v = 24,
            .dtype = DType::bf16});
  s.problem.softcap = s.call.softcap = 5;
  s.problem.dropout = s.call.dropout = 0.2f;
  s.problem.sink = DType::fp32;
  s.give(&Call::sink, DType::fp32, {4}).randomize(10);
  s.problem.bias = {.dtype = DType::fp32, .head = true};
  s.give(&Call::bias, DType::fp32, {1, 4, 1, 700}).randomize(11);
  if (what == "splits") s.problem.splits = s.call.splits = 3;
  if (what == "causal") s.problem.right = s.call.right = 0;
  EXPECT_TRUE(run(s, "reference").ok());  // out and lse for backward
  if (pass == Pass::backward) {
    s.make_backward();
    s.problem.want_dlse = s.problem.want_dbias = s.problem.want_dsink = true;
  }
  return s;
}

// Bits do not depend on the number of threads, nor on the caller's rounding mode.
TEST(Backend, BitsDoNotDependOnThreads) {
  for (const Pass pass : {Pass::forward, Pass::backward})
    for (const char* what : {"plain", "causal", "splits"}) {
      if (pass == Pass::backward && std::string(what) == "splits") continue;
      set_threads(1);
      Sample alone = large(pass, what);
      ASSERT_TRUE(run(alone).ok());
      for (const int count : {2, 3, 8}) {
        set_threads(count);
        Sample together = large(pass, what);
        std::fesetround(count == 3 ? FE_UPWARD : FE_TONEAREST);
        const Status status = run(together);
        std::fesetround(FE_TONEAREST);
        ASSERT_TRUE(status.ok()) << status.message();
        std::vector<View Call::*> outputs = {&Call::out, &Call::lse};
        if (pass == Pass::backward) outputs = {&Call::dq, &Call::dk, &Call::dv, &Call::dbias, &Call::dsink};
        for (const auto tensor : outputs)
          EXPECT_TRUE(alone[tensor].same_bits(together[tensor])) << what << count;
      }
      set_threads(0);
    }
}

TEST(Backend, SplitsAgreeWithOnePass) {
  Sample whole = large(Pass::forward, "plain"), split = large(Pass::forward, "splits");
  ASSERT_TRUE(run(whole).ok());
  ASSERT_TRUE(run(split).ok());
  expect_near(split, whole, &Call::lse, 5e-5);
  expect_near(split, whole, &Call::out, 0.02);
}

// Rows of out beyond seqused are +0, their lse is -inf, their gradients are 0; slots beyond the keys have
// none either.
TEST(Backend, RowsThatDoNotCountAreWritten) {
  Sample s({.batch = 2, .heads_q = 2, .heads_k = 2, .seq_q = 5, .seq_k = 6});
  s.problem.seqused_q = s.problem.seqused_k = true;
  s.give_int32(&Call::seqused_q, {3, 0});
  s.give_int32(&Call::seqused_k, {4, 6});
  ASSERT_TRUE(run(s).ok());
  for (int b = 0; b < 2; ++b)
    for (int i = 0; i < 5; ++i)
      for (int h = 0; h < 2; ++h) {
        const bool counts = b == 0 && i < 3;
        const double out = s[&Call::out].get(((b * 5 + i) * 2 + h) * 8),
                     lse = s[&Call::lse].get((b * 2 + h) * 5 + i);
        EXPECT_EQ(counts, out != 0);
        EXPECT_FALSE(std::signbit(out) && out == 0);
        EXPECT_EQ(counts, lse != -test::infinity);
      }
  s.make_backward();
  s.problem.want_dlse = true;
  ASSERT_TRUE(run(s).ok());
  for (int b = 0; b < 2; ++b)
    for (int i = 0; i < 6; ++i)
      for (int d = 0; d < 16; ++d) {
        if (i < 5) {
          EXPECT_EQ(b == 0 && i < 3, s[&Call::dq].get((b * 5 + i) * 16 + d) != 0);
        }
        EXPECT_EQ(b == 0 && i < 4, s[&Call::dk].get((b * 6 + i) * 16 + d) != 0);
        EXPECT_EQ(b == 0 && i < 4, s[&Call::dv].get((b * 6 + i) * 16 + d) != 0);
      }
}

TEST(Backend, HeadsWithoutQueriesHaveNoGradient) {
  Sample s({.batch = 1, .heads_q = 0, .heads_k = 2, .seq_q = 5, .seq_k = 6});
  s.problem.bias.dtype = DType::fp32;
  s.give(&Call::bias, DType::fp32, {1, 1, 1, 6}).randomize(1);
  s.make_backward();
  s.problem.want_dlse = s.problem.want_dbias = true;
  ASSERT_TRUE(run(s).ok());
  for (const auto gradient : {&Call::dk, &Call::dv, &Call::dbias})
    for (const double x : s[gradient].values()) EXPECT_EQ(x, 0);
}

TEST(Backend, BackwardNeedsPagesOfItsOwn) {
  Sample s({.batch = 2, .heads_q = 1, .heads_k = 1, .seq_q = 4, .seq_k = 8});
  s.problem.page_size = 4;
  s.problem.pages = 4;
  for (const auto tensor : {&Call::k, &Call::v}) s.give(tensor, DType::fp32, {4, 4, 1, 8}).randomize(1);
  test::Tensor& table = s.give(&Call::block_table, DType::int32, {2, 2}).assign({0, 1, 2, 1});
  ASSERT_TRUE(run(s).ok());  // forward may share them
  s.make_backward();
  s.problem.want_dlse = true;
  const Status status = run(s);
  EXPECT_EQ(status.code(), Code::unsupported);
  EXPECT_NE(status.message().find("page 1"), std::string::npos);
  table.assign({0, 1, 2, 3});
  EXPECT_TRUE(run(s).ok());
}

TEST(Backend, DropoutMaskIsTheOracles) {
  Sample ours({.batch = 2, .heads_q = 3, .heads_k = 3, .seq_q = 5, .seq_k = 77}),
      oracle({.batch = 2, .heads_q = 3, .heads_k = 3, .seq_q = 5, .seq_k = 77});
  for (Sample* s : {&ours, &oracle}) {
    s->problem.dropout = s->call.dropout = 0.3f;
    s->problem.want_mask = true;
    s->call.seed = 0x123456789abcdefu;
    s->call.offset = 0xfffffff0u;  // the counter's high word matters
    s->give(&Call::dropout_mask, DType::uint8, {2, 3, 5, 77});
  }
  ASSERT_TRUE(run(ours).ok());
  ASSERT_TRUE(run(oracle, "reference").ok());
  EXPECT_TRUE(ours[&Call::dropout_mask].same_bits(oracle[&Call::dropout_mask]));
}

// What is refused for want of memory has written nothing.
TEST(Backend, MemoryIsFoundBeforeTheFirstWrite) {
  Sample s = cached(DType::fp32);
  const Sample& untouched = cached(DType::fp32);
  s.call.allocator = {.allocate = [](void*, std::size_t, std::size_t) -> void* { return nullptr; },
                      .release = [](void*, void*) {},
                      .context = nullptr};
  const Status status = run(s);
  EXPECT_EQ(status.code(), Code::exhausted);
  EXPECT_NE(status.message().find("workspace"), std::string::npos);
  EXPECT_TRUE(s[&Call::k].same_bits(const_cast<Sample&>(untouched)[&Call::k]));
  for (const double x : s[&Call::out].values()) EXPECT_TRUE(std::isnan(x));
}

TEST(Backend, ACallersWorkspaceIsUsedAndMeasured) {
  Sample s = cached(DType::fp32), own = cached(DType::fp32);
  ASSERT_TRUE(run(own).ok());
  Plan plan;
  ASSERT_TRUE(backend().plan(s.problem, "cpu", plan).ok());
  ASSERT_GT(plan.workspace, 0u);
  std::vector<std::byte> memory(plan.workspace + 256, std::byte{0xff});
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  s.call.workspace = memory.data() + (256 - address % 256);
  s.call.workspace_bytes = 1;
  EXPECT_EQ(backend().run(plan, s.call).code(), Code::invalid);
  s.call.workspace_bytes = plan.workspace;
  ASSERT_TRUE(backend().run(plan, s.call).ok());
  EXPECT_TRUE(s[&Call::out].same_bits(own[&Call::out]));
}

TEST(Backend, CombineMergesAndAddsTheSinkOnce) {
  test::Tensor outs(DType::bf16, {3, 2, 5, 2, 12}), lses(DType::fp32, {3, 2, 2, 5}), sink(DType::bf16, {2});
  outs.randomize(1);
  lses.randomize(2, 3);
  sink.randomize(3);
  lses.set(0, -test::infinity);
  for (int d = 0; d < 12; ++d) outs.set(d, test::nan);  // weighs nothing
  test::Tensor out(DType::fp32, {2, 5, 2, 12}), lse(DType::fp32, {2, 2, 5}),
      oracle_out(DType::fp32, {2, 5, 2, 12}), oracle_lse(DType::fp32, {2, 2, 5});
  ASSERT_TRUE(backend().combine({outs.view, lses.view, sink.view, out.view, lse.view}, "cpu").ok());
  ASSERT_TRUE(backend()
                  .combine({outs.view, lses.view, sink.view, oracle_out.view, oracle_lse.view}, "reference")
                  .ok());
  for (int i = 0; i < out.size(); ++i) EXPECT_NEAR(out.get(i), oracle_out.get(i), 1e-5);
  for (int i = 0; i < lse.size(); ++i) EXPECT_NEAR(lse.get(i), oracle_lse.get(i), 1e-5);
}

// Masks, grouped heads, odd sizes: what naive takes it computes right.
TEST(Naive, AgreesWithTheOracle) {
  for (const DType dtype : {DType::fp32, DType::bf16}) {
    const test::Sizes sizes{.batch = 2,
                            .heads_q = 4,
                            .heads_k = 2,
                            .seq_q = 70,
                            .seq_k = 133,
                            .dim_qk = 41,
                            .dim_v = 27,
                            .dtype = dtype};
    Sample naive(sizes), oracle(sizes);
    for (Sample* s : {&naive, &oracle}) {
      s->problem.left = s->call.left = 30;
      s->problem.right = s->call.right = 0;
      ASSERT_TRUE(run(*s, s == &naive ? "naive" : "reference").ok());
    }
    const double tolerance = dtype == DType::fp32 ? 2e-5 : 0.05;
    expect_near(naive, oracle, &Call::out, tolerance);
    expect_near(naive, oracle, &Call::lse, 2e-3);
    for (Sample* s : {&naive, &oracle}) {
      s->make_backward();
      s->problem.want_dlse = true;
      ASSERT_TRUE(run(*s, s == &naive ? "naive" : "reference").ok());
    }
    for (const auto gradient : {&Call::dq, &Call::dk, &Call::dv})
      expect_near(naive, oracle, gradient, tolerance);
  }
}

TEST(Naive, DeclinesWhatItHasNot) {
  Problem p;
  p.seq_q = p.seq_k = 16;
  p.dim_qk = p.dim_v = 8;
  EXPECT_FALSE(backend().declines(p, "naive").has_value());
  for (const auto change :
       {+[](Problem& q) { q.softcap = 1; }, +[](Problem& q) { q.sink = DType::fp32; },
        +[](Problem& q) { q.lengths = Lengths::cache; }, +[](Problem& q) { q.page_size = 4; },
        +[](Problem& q) { q.seqused_k = true; }, +[](Problem& q) { q.splits = 3; }}) {
    Problem changed = p;
    change(changed);
    EXPECT_TRUE(backend().declines(changed, "naive").has_value());
    EXPECT_FALSE(backend().declines(changed, "cpu").has_value());
    Plan plan;
    EXPECT_EQ(backend().plan(changed, "naive", plan).code(), Code::unsupported);
  }
}

TEST(Backend, SequencesBeyondTheLimitAreDeclined) {
  Problem p;
  p.seq_q = 1;
  p.seq_k = (std::int64_t{1} << 28) + 1;
  p.dim_qk = p.dim_v = 8;
  const auto reason = backend().declines(p, "cpu");
  ASSERT_TRUE(reason.has_value());
  EXPECT_NE(reason->find("268435456"), std::string::npos);
  p.seq_k -= 1;
  EXPECT_FALSE(backend().declines(p, "cpu").has_value());
}

}  // namespace
}  // namespace fw::cpu
