// Public reports about caches: pages, appends, padding, rotary, splits, requests of length zero.
#include <cmath>
#include <limits>
#include <numeric>

#include "lab/lab.hpp"

namespace {

using namespace lab;

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

// k and v of a dense cache as pages, in the order of `table`.
Call paged(Lab& lab, const Call& dense, const std::vector<std::vector<std::int32_t>>& table,
           std::int64_t size) {
  Call call = dense;
  std::int32_t pages = 0;
  for (const auto& row : table)
    for (const std::int32_t page : row) pages = std::max(pages, page + 1);
  for (flashwave_tensor Call::* member : {&Call::k, &Call::v}) {
    const flashwave_tensor& from = dense.*member;
    call.*member = lab.unwritten(from.dtype, {pages, size, from.shape[2], from.shape[3]});
    for (std::int64_t b = 0; b < from.shape[0]; ++b)
      for (std::int64_t slot = 0; slot < from.shape[1]; ++slot) {
        const std::int32_t page = table[static_cast<std::size_t>(b)][static_cast<std::size_t>(slot / size)];
        if (page >= 0)
          tools::copy(at(at(call.*member, 0, page), 0, slot % size), at(at(from, 0, b), 0, slot));
      }
  }
  call.block_table = lab.table(table);
  return call;
}

// https://github.com/vllm-project/vllm/pull/30887
TEST(Cache, PagesOutsideTheWindowAreNotRead) {
  Lab lab;
  constexpr std::int64_t keys = 512, page = 16;
  Call dense = lab.inputs(bf16, {.seq_q = 1, .seq_k = keys, .heads_q = 2, .heads_k = 2});
  dense.cache_seqlens = lab.ints({keys});
  set_window(dense, 31, 0);
  const Call want = lab.forward(dense);
  expect_right(want);
  // Pages of the slots from 480 on are seen. The others point to a page of NaN, or nowhere.
  std::vector<std::int32_t> to_rubbish(32, 40), to_nothing(32, -1);
  for (std::int32_t column = 30; column < 32; ++column)
    to_rubbish[static_cast<std::size_t>(column)] = to_nothing[static_cast<std::size_t>(column)] = 35 - column;
  for (const auto& row : {to_rubbish, to_nothing}) {
    Call call = paged(lab, dense, {row}, page);
    if (row == to_rubbish)
      for (const flashwave_tensor& t : {call.k, call.v})
        tools::fill_bytes(tools::narrow(t, 0, 40, 1), tools::poison);
    for (const int splits : {0, 1, 5}) {
      call.num_splits = splits;
      const Call done = lab.forward(call);
      expect_near(done.out, want.out, 8e-3f);
      if (splits == 1) {
        EXPECT_EQ(bits(done.out), bits(want.out));
      }
    }
  }
}

// https://github.com/flashinfer-ai/flashinfer/issues/3716, https://github.com/ROCm/rocm-libraries/pull/10309
TEST(Cache, PaddingLanesAreNotInTheDenominator) {
  std::vector<std::int64_t> lengths(300);
  std::iota(lengths.begin(), lengths.end(), 1);
  for (const std::int64_t more : {511, 513, 1000, 4095, 4097}) lengths.push_back(more);
  for (const std::int64_t keys : lengths) {
    Lab lab;
    Call dense = lab.inputs(bf16, {.seq_k = keys, .dim = 128});
    dense.q = lab.constant(0, bf16, {1, 1, 1, 128});
    dense.v = lab.constant(1, bf16, {1, keys, 1, 128});

    Call ragged = dense;
    for (flashwave_tensor Call::* member : {&Call::q, &Call::k, &Call::v})
      ragged.*member = at(dense.*member, 0, 0);
    ragged.cu_seqlens_q = lab.ints({0, 1});
    ragged.cu_seqlens_k = lab.ints({0, static_cast<std::int32_t>(keys)});
    std::vector<std::int32_t> order(static_cast<std::size_t>((keys + 15) / 16));
    std::iota(order.rbegin(), order.rend(), 0);
    Call pages = paged(lab, dense, {order}, 16);
    pages.seqused_k = lab.ints({static_cast<std::int32_t>(keys)});
    for (Call call : {dense, ragged, pages})
      for (const int splits : {1, 3}) {
        call.num_splits = splits;
        const Call done = lab.forward(call);
        expect_all(done.out, 1);
        ASSERT_NEAR(values(done.lse)[0], std::log(static_cast<double>(keys)), 1e-5) << keys << " keys";
      }
  }
}

// https://github.com/Dao-AILab/flash-attention/issues/2709, .../pull/2711, .../issues/638
class Overfull : public testing::Test {
 protected:
  Call with_pages(std::int32_t filled, std::vector<std::int32_t> row, bool append) {
    Call call = lab_.inputs(fp32, {.seq_q = 1, .seq_k = 1});
    call.k = lab_.normal("pages", fp32, {4, 256, 1, 64});
    call.v = lab_.normal("pages", fp32, {4, 256, 1, 64});
    call.out = lab_.unwritten(fp32, {1, 1, 1, 64});
    call.block_table = lab_.table({std::move(row)});
    call.cache_seqlens = lab_.ints({filled});
    if (append) {
      call.k_new = lab_.normal("k_new", fp32, {1, 1, 1, 64});
      call.v_new = lab_.normal("v_new", fp32, {1, 1, 1, 64});
    }
    return call;
  }
  Lab lab_;
};

TEST_F(Overfull, TableIsRefused) { expect_refused(with_pages(600, {0, 1}, false), "cache-seqlens", "600"); }
TEST_F(Overfull, TableWithoutRoomForANewKeyIsRefused) {
  expect_refused(with_pages(512, {0, 1}, true), "cache-full", "512");
}
TEST_F(Overfull, DenseCacheWithoutRoomForANewKeyIsRefused) {
  Call call = lab_.inputs(fp32, {.seq_q = 1, .seq_k = 16, .heads_q = 2, .heads_k = 2});
  call.out = lab_.unwritten(fp32, {1, 1, 2, 64});
  call.cache_seqlens = lab_.ints({16});
  call.k_new = lab_.normal("k_new", fp32, {1, 1, 2, 64});
  call.v_new = lab_.normal("v_new", fp32, {1, 1, 2, 64});
  expect_refused(call, "cache-full", "16");
}
TEST_F(Overfull, TableEntriesThatAreNoPageAreRefused) {
  expect_refused(with_pages(300, {0, 999}, false), "block-table", "999");
  expect_refused(with_pages(300, {-5, 0}, false), "block-table", "-5");
  expect_refused(with_pages(256, {0, -1}, true), "block-table", "-1");
}
TEST_F(Overfull, UnusedEntriesMayBeMinusOne) { lab_.forward(with_pages(256, {3, -1}, false)); }
TEST_F(Overfull, NegativeLengthsAreRefused) {
  expect_refused(with_pages(-1, {0, 1}, false), "cache-seqlens", "-1");
}

// https://github.com/Dao-AILab/flash-attention/issues/1788
TEST(Cache, PaddingOnTheLeftIsNotAttendedTo) {
  for (const bool append : {false, true})
    for (const bool rotary : {false, true}) {
      Lab lab;
      Call call = lab.inputs(fp32, {.batch = 2, .seq_q = 1, .seq_k = 9, .dim = 32});
      for (const flashwave_tensor& t : {call.k, call.v})
        for (std::int64_t slot = 0; slot < 3; ++slot)
          for (std::int64_t d = 0; d < 32; ++d) set(t, {1, slot, 0, d}, 1000);
      set_causal(call);
      call.cache_seqlens = lab.ints({8, 8});
      call.leftpad = lab.ints({0, 3});
      if (append) {
        call.k_new = lab.normal("k_new", fp32, {2, 1, 1, 32});
        call.v_new = lab.normal("v_new", fp32, {2, 1, 1, 32});
      }
      if (rotary) {
        call.rotary_cos = lab.constant(0.6f, fp32, {16, 8});
        call.rotary_sin = lab.constant(0.8f, fp32, {16, 8});
      }
      const Call before = call;
      call.k = lab.copy_of(call.k);
      call.v = lab.copy_of(call.v);
      const Call done = lab.forward(call);
      expect_right(before, done);
      for (const float x : values(at(done.out, 0, 1))) EXPECT_LT(std::fabs(x), 10);
    }
}

// https://github.com/flagos-ai/FlagGems/pull/6375, https://github.com/flagos-ai/FlagGems/issues/5235
TEST(Cache, PagesOfKAndVMayShareAStoreAndOutMayLieAnyhow) {
  Lab lab;
  constexpr std::int64_t heads = 2, page = 16;
  const flashwave_tensor store = lab.normal("store", bf16, {12, 2, page * heads * 64});
  const auto half = [&](std::int64_t which) {
    flashwave_tensor t = at(store, 1, which);  // (pages, page * heads * 64)
    t.rank = 4;
    t.shape[1] = page, t.shape[2] = heads, t.shape[3] = 64;
    t.stride[1] = heads * 64, t.stride[2] = 64, t.stride[3] = 1;
    return t;
  };
  Call call = lab.inputs(bf16, {.batch = 2, .seq_q = 3, .seq_k = 1, .heads_q = 4, .heads_k = heads});
  call.k = half(0);
  call.v = half(1);
  call.block_table = lab.table({{7, 2, 11, 0}, {5, 9, 1, -1}});
  call.cache_seqlens = lab.ints({60, 35});
  Call gathered = call;  // the same keys, dense
  gathered.block_table = {};
  for (flashwave_tensor Call::* member : {&Call::k, &Call::v}) {
    gathered.*member = lab.unwritten(bf16, {2, 64, heads, 64});
    for (std::int64_t b = 0; b < 2; ++b)
      for (std::int64_t slot = 0; slot < (b ? 48 : 64); ++slot) {
        const auto* row = static_cast<const std::int32_t*>(call.block_table.data) + b * 4;
        tools::copy(at(at(gathered.*member, 0, b), 0, slot),
                    at(at(call.*member, 0, row[slot / page]), 0, slot % page));
      }
  }
  for (const int splits : {1, 4}) {
    call.num_splits = gathered.num_splits = splits;
    const Call want = lab.forward(gathered);
    expect_right(want);
    for (const Form form : {Form::rows, Form::heads_first, Form::gaps}) {
      Call into = call;
      const flashwave_tensor whole =
          lab.unwritten(bf16, {2, 3, 6, 64}, form);  // out is its four middle heads
      into.out = tools::narrow(whole, 2, 1, 4);
      into.lse = lab.unwritten(fp32, {2, 4, 3});
      const Call done = lab.forward(into);
      EXPECT_EQ(bits({done.out, done.lse}), bits({want.out, want.lse}));
      for (const std::int64_t head : {0, 5})
        for (const unsigned char byte : bits(tools::narrow(whole, 2, head, 1)))
          ASSERT_EQ(byte, tools::poison);
    }
  }
}

// https://github.com/flashinfer-ai/flashinfer/pull/4975, https://github.com/vllm-project/vllm/pull/37442,
// https://github.com/NVIDIA/cudnn-frontend/issues/702
TEST(Cache, RequestsOfLengthZeroAreWritten) {
  Lab lab;
  Call dense = lab.inputs(bf16, {.batch = 3, .seq_q = 1, .seq_k = 8, .heads_q = 4, .heads_k = 4});
  dense.cache_seqlens = lab.ints({0, 5, 0});
  Call pages = paged(lab, dense, {{-1, -1}, {3, 1}, {-1, -1}}, 4);
  for (Call call : {dense, pages})
    for (const int splits : {1, 4}) {
      call.num_splits = splits;
      const Call done = lab.forward(call);
      for (const std::int64_t b : {0, 2}) {
        expect_all(at(done.out, 0, b), 0);
        expect_all(at(done.lse, 0, b), minus_infinity);
      }
      expect_right(done);
    }
}

// https://github.com/Dao-AILab/flash-attention/issues/907, .../1585
TEST(Cache, AlibiIsTheSameInTrainingAndDecode) {
  for (const bool per_batch : {false, true})
    for (const bool causal : {false, true}) {
      Lab lab;
      Call dense =
          lab.inputs(fp32, {.batch = 2, .seq_q = 9, .seq_k = 9, .heads_q = 4, .heads_k = 2, .dim = 32});
      if (causal) set_causal(dense);
      dense.alibi = lab.normal("slopes", fp32, per_batch ? Shape{2, 4} : Shape{4});
      Call lengths = dense;
      lengths.seqused_k = lab.ints({9, 5});
      const Call training = lab.forward(lengths);
      expect_right(training);

      Call last = dense;  // the last row alone, from a cache
      last.q = tools::narrow(dense.q, 1, 8, 1);
      last.cache_seqlens = lab.ints({9, 5});
      Call appended = last;  // and with its newest key not yet in it
      appended.cache_seqlens = lab.ints({8, 4});
      for (const auto& [member, from] : {std::pair{&Call::k_new, &Call::k}, {&Call::v_new, &Call::v}}) {
        appended.*member = lab.unwritten(fp32, {2, 1, 2, 32});
        tools::copy(at(appended.*member, 0, 0), tools::narrow(at(dense.*from, 0, 0), 0, 8, 1));
        tools::copy(at(appended.*member, 0, 1), tools::narrow(at(dense.*from, 0, 1), 0, 4, 1));
      }
      for (const Call& call : {last, appended, paged(lab, last, {{4, 0, 2}, {1, 3, -1}}, 4)}) {
        const Call done = lab.forward(call);
        expect_near(done.out, tools::narrow(training.out, 1, 8, 1), 2e-6f);
        expect_near(done.lse, tools::narrow(training.lse, 2, 8, 1), 2e-6f);
      }
    }
}

// https://github.com/Dao-AILab/flash-attention/issues/817,
// https://github.com/Dao-AILab/flash-attention/issues/1402
class RotaryReport : public testing::Test {
 protected:
  Call appending(std::int64_t fresh, std::int64_t turned, std::int64_t table_rows) {
    Call call = lab_.inputs(fp32, {.batch = 2, .seq_q = fresh, .seq_k = 32, .heads_q = 2, .heads_k = 2});
    call.cache_seqlens = lab_.ints({0, 7});
    call.k_new = lab_.normal("k_new", fp32, {2, fresh, 2, 64});
    call.v_new = lab_.normal("v_new", fp32, {2, fresh, 2, 64});
    call.rotary_cos = lab_.unwritten(fp32, {table_rows, turned / 2});
    call.rotary_sin = lab_.unwritten(fp32, {table_rows, turned / 2});
    for (std::int64_t row = 0; row < table_rows; ++row)
      for (std::int64_t t = 0; t < turned / 2; ++t) {
        const double angle = static_cast<double>(row) /
                             std::pow(100.0, 2.0 * static_cast<double>(t) / static_cast<double>(turned));
        set(call.rotary_cos, {row, t}, static_cast<float>(std::cos(angle)));
        set(call.rotary_sin, {row, t}, static_cast<float>(std::sin(angle)));
      }
    call.out = lab_.unwritten(fp32, {2, fresh, 2, 64});
    return call;
  }

  // One row of a tensor (B,S,H,D) at position p, turned by hand.
  std::vector<float> turned_row(const Call& call, const flashwave_tensor& t, std::int64_t b, std::int64_t row,
                                std::int64_t position) {
    std::vector<float> x = values(at(at(at(t, 0, b), 0, row), 0, 1));
    const std::int64_t half = call.rotary_cos.shape[1];
    for (std::int64_t i = 0; i < half; ++i) {
      const float c = value(call.rotary_cos, {position, i}), s = value(call.rotary_sin, {position, i});
      float& first = x[static_cast<std::size_t>(call.rotary_interleaved ? 2 * i : i)];
      float& second = x[static_cast<std::size_t>(call.rotary_interleaved ? 2 * i + 1 : i + half)];
      const float a = first, o = second;
      first = a * c - o * s;
      second = a * s + o * c;
    }
    return x;
  }
  Lab lab_;
};

TEST_F(RotaryReport, NewKeysAreStoredTurnedFromTheFilledLengthOn) {
  for (const std::int64_t turned : {2, 6, 16, 18, 30, 64})
    for (const std::int64_t fresh : {1, 3})
      for (const int interleaved : {0, 1})
        for (const bool causal : {false, true}) {
          Call call = appending(fresh, turned, 32);
          call.rotary_interleaved = interleaved;
          if (causal) set_causal(call);
          const Call before = call;
          call.k = lab_.copy_of(call.k);
          call.v = lab_.copy_of(call.v);
          const Call done = lab_.forward(call);
          expect_right(before, done);
          for (std::int64_t b = 0; b < 2; ++b)
            for (std::int64_t r = 0; r < fresh; ++r) {
              const std::int64_t position = (b ? 7 : 0) + r;
              const auto want = turned_row(call, call.k_new, b, r, position);
              const auto got = values(at(at(at(done.k, 0, b), 0, position), 0, 1));
              for (std::size_t d = 0; d < want.size(); ++d)
                ASSERT_NEAR(got[d], want[d], d < static_cast<std::size_t>(turned) ? 1e-6 : 0) << d;
              EXPECT_EQ(bits(at(at(done.v, 0, b), 0, position)), bits(at(at(call.v_new, 0, b), 0, r)));
            }
        }
}

// Without a mask all queries stand at the filled length, with one each at its own place.
TEST_F(RotaryReport, QueriesAreTurnedAtTheirPositions) {
  for (const bool causal : {false, true}) {
    Call call = appending(3, 16, 32);
    if (causal) set_causal(call);
    Call by_hand = call;
    by_hand.q = lab_.copy_of(call.q);
    by_hand.k = lab_.copy_of(call.k);
    by_hand.v = lab_.copy_of(call.v);
    by_hand.out = {};
    by_hand.rotary_cos = by_hand.rotary_sin = {};
    by_hand.k_new = lab_.copy_of(call.k_new);
    for (std::int64_t b = 0; b < 2; ++b)
      for (std::int64_t r = 0; r < 3; ++r) {
        // Head 1 is turned by hand, head 0 is not compared.
        const std::int64_t start = b ? 7 : 0;
        const auto q = turned_row(call, call.q, b, r, causal ? start + r : start);
        const auto k = turned_row(call, call.k_new, b, r, start + r);
        for (std::int64_t d = 0; d < 64; ++d) {
          set(by_hand.q, {b, r, 1, d}, q[static_cast<std::size_t>(d)]);
          set(by_hand.k_new, {b, r, 1, d}, k[static_cast<std::size_t>(d)]);
        }
      }
    const Call want = lab_.forward(by_hand);
    const Call done = lab_.forward(call);
    expect_near(at(done.out, 2, 1), at(want.out, 2, 1), 4e-6f);
  }
}

TEST_F(RotaryReport, OddDimensionsAndShortTablesAreRefused) {
  Call odd = appending(1, 16, 32);
  odd.rotary_cos = lab_.constant(1, fp32, {32, 33});
  odd.rotary_sin = lab_.constant(0, fp32, {32, 33});
  expect_refused(odd, "rotary-dim", "66");
  expect_refused(appending(3, 16, 9), "rotary-rows", "9");
}

}  // namespace
