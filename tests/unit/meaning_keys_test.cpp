// Where queries and keys of a sequence are, against addressing slot by slot; packed heads; rotary pairs.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "meaning/heads.hpp"
#include "meaning/keys.hpp"
#include "meaning/rotary.hpp"
#include "meaning_lane.hpp"

namespace {

using namespace fw;
using namespace fw::host;

Args dense() {
  Args a{};
  a.batch = 3;
  a.seq_q = 10;
  a.seq_k = 20;
  a.left = -1;
  a.right = 0;
  return a;
}

TEST(Sequence, OfADenseBatch) {
  const Sequence s = sequence_of(dense(), 2);
  EXPECT_EQ(s.queries, 10);
  EXPECT_EQ(s.keys, 20);
  EXPECT_EQ(s.mask.diagonal, 10);
  EXPECT_EQ(s.q_batch, 2);
  EXPECT_EQ(s.k_batch, 2);
  EXPECT_EQ(s.q_row, 0);
}

TEST(Sequence, OfARaggedBatchStandsWhereTheSumsSay) {
  Args a = dense();
  const int q[] = {0, 4, 4, 9}, k[] = {0, 7, 12, 12};
  a.cu_seqlens_q = q;
  a.cu_seqlens_k = k;
  const Sequence s = sequence_of(a, 1);
  EXPECT_EQ(s.queries, 0);
  EXPECT_EQ(s.keys, 5);
  EXPECT_EQ(s.mask.diagonal, 5);
  EXPECT_EQ(s.q_batch, 0);
  EXPECT_EQ(s.k_batch, 0);
  EXPECT_EQ(s.q_row, 4);
  EXPECT_EQ(s.k_row, 7);
  EXPECT_EQ(sequence_of(a, 2).queries, 5);
  EXPECT_EQ(sequence_of(a, 2).mask.diagonal, -5);
}

TEST(Sequence, UsedRowsComeBeforeAllottedOnes) {
  Args a = dense();
  const int q[] = {0, 4, 8, 12}, k[] = {0, 7, 14, 21}, used_q[] = {1, 2, 3}, used_k[] = {3, 2, 1};
  a.cu_seqlens_q = q;
  a.cu_seqlens_k = k;
  a.seqused_q = used_q;
  a.seqused_k = used_k;
  const Sequence s = sequence_of(a, 1);
  EXPECT_EQ(s.queries, 2);
  EXPECT_EQ(s.keys, 2);
  EXPECT_EQ(s.q_row, 4);
  EXPECT_EQ(s.k_row, 7);
}

TEST(Sequence, CountsKeysFromThePaddingAndGrowsByTheAppend) {
  Args a = dense();
  const int filled[] = {5, 9, 0}, padding[] = {0, 4, 3}, index[] = {7, 1, 4};
  a.seqused_k = filled;
  a.leftpad = padding;
  a.cache_batch_idx = index;
  a.append = 2;
  EXPECT_EQ(sequence_of(a, 0).keys, 7);
  EXPECT_EQ(sequence_of(a, 1).keys, 7);
  EXPECT_EQ(sequence_of(a, 1).first_slot, 4);
  EXPECT_EQ(sequence_of(a, 1).mask.diagonal, 7 - 10);
  EXPECT_EQ(sequence_of(a, 1).k_batch, 1);
  EXPECT_EQ(sequence_of(a, 2).keys, 0);  // padding beyond the last key
  EXPECT_EQ(sequence_of(a, 2).k_batch, 4);
}

TEST(Sequence, AGivenDiagonalIsKept) {
  Args a = dense();
  a.has_diagonal = 1;
  a.diagonal = -3;
  EXPECT_EQ(sequence_of(a, 1).mask.diagonal, -3);
  const int each[] = {1, 2, 3};
  a.diagonals = each;
  EXPECT_EQ(sequence_of(a, 1).mask.diagonal, 2);
}

TEST(QueryOffset, UsesBatchRowAndHead) {
  Args a = dense();
  const Tensor t{nullptr, 1000, 100, 10};
  EXPECT_EQ(query_offset(t, sequence_of(a, 2), 5, 3), 2 * 1000 + 5 * 100 + 3 * 10);
  const int q[] = {0, 4, 4, 9};
  a.cu_seqlens_q = q;
  EXPECT_EQ(query_offset(t, sequence_of(a, 2), 1, 3), (4 + 1) * 100 + 3 * 10);
}

TEST(QueryOffset, PassesTwoToTheThirtyOne) {
  const Tensor t{nullptr, 0, 1ll << 30, 0};
  EXPECT_EQ(query_offset(t, sequence_of(dense(), 0), 9, 0), 9ll << 30);
}

// The offsets of a range of keys, run by run.
std::vector<long long> offsets_of(const Args& a, const Tensor& t, const Sequence& s, int head, Range range) {
  std::vector<long long> offsets;
  int next = range.begin;
  each_run(a, t, s, head, range, [&](int first, int count, long long offset) {
    EXPECT_EQ(first, next);
    next = first + count;
    for (int i = 0; i < count; ++i) offsets.push_back(offset + i * t.row);
  });
  EXPECT_EQ(next, range.begin < range.end ? range.end : range.begin);
  return offsets;
}

TEST(EachRun, OfPagesFindsEverySlot) {
  const Tensor t{nullptr, 5000, 100, 7};
  const int table[] = {4,  0,  9,  2,  7,  1,  8,  5,  3,  6,  11, 10, 12, 14, 13, 15, 20, 19, 18, 17,
                       30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49};
  for (const int page_size : {1, 2, 3, 7, 16})
    for (const int padding : {0, 1, 5})
      for (int begin = 0; begin < 9; begin += 2)
        for (int end = begin; end <= 15; end += 3) {
          Args a = dense();
          const int filled[] = {20, 20, 20}, leftpad[] = {padding, padding, padding};
          a.page_size = page_size;
          a.block_table = table;
          a.block_table_stride = 20;
          a.seqused_k = filled;
          a.leftpad = leftpad;
          const int batch = 1;
          const auto offsets = offsets_of(a, t, sequence_of(a, batch), 3, {begin, end});
          std::vector<long long> want;
          for (int key = begin; key < end; ++key) {
            const int slot = padding + key;
            want.push_back(table[batch * 20 + slot / page_size] * 5000ll + slot % page_size * 100 + 3 * 7);
          }
          ASSERT_EQ(offsets, want) << "page size " << page_size << " padding " << padding;
        }
}

TEST(EachRun, OfDenseKeysIsOne) {
  Args a = dense();
  const int padding[] = {0, 0, 2};
  a.leftpad = padding;
  const Tensor t{nullptr, 1000, 10, 1};
  int runs = 0;
  each_run(a, t, sequence_of(a, 2), 4, Range{3, 8}, [&](int first, int count, long long offset) {
    ++runs;
    EXPECT_EQ(first, 3);
    EXPECT_EQ(count, 5);
    EXPECT_EQ(offset, 2 * 1000 + (2 + 3) * 10 + 4);
  });
  EXPECT_EQ(runs, 1);
}

TEST(Pack, RowsOfAKvHeadAreAllQueriesOfItsHeads) {
  Args a{};
  a.heads_q = 12;
  a.heads_k = 4;
  std::set<std::pair<int, int>> seen;
  for (int kv_head = 0; kv_head < 4; ++kv_head) {
    const Pack pack = pack_of(a, kv_head);
    for (int row = 0; row < 3 * 5; ++row) {
      EXPECT_EQ(pack.head(row) / 3, kv_head);
      if (row > 0) {
        EXPECT_LE(pack.query(row - 1), pack.query(row));  // so that a block of rows is a block of queries
      }
      seen.insert({pack.query(row), pack.head(row)});
    }
  }
  EXPECT_EQ(seen.size(), 12u * 5u);
}

TEST(Rotary, PairsTouchEachElementOnce) {
  for (const bool interleaved : {false, true})
    for (const int dim : {2, 6, 16, 30}) {
      std::set<int> elements;
      for (int t = 0; t < dim / 2; ++t) {
        const Pair pair = rotary_pair(t, dim, interleaved);
        EXPECT_EQ(pair.second - pair.first, interleaved ? 1 : dim / 2);
        elements.insert(pair.first);
        elements.insert(pair.second);
      }
      EXPECT_EQ(static_cast<int>(elements.size()), dim);
      EXPECT_EQ(*elements.rbegin(), dim - 1);
    }
}

TEST(Rotary, TurnsCounterclockwise) {
  test::Lane x(3), y(4);
  turn(x, y, test::Lane(0.6f), test::Lane(0.8f));
  EXPECT_FLOAT_EQ(x.x, 3 * 0.6f - 4 * 0.8f);
  EXPECT_FLOAT_EQ(y.x, 3 * 0.8f + 4 * 0.6f);
}

TEST(Rotary, QueriesStandApartOnlyUnderAMask) {
  EXPECT_EQ(rotary_position(100, 5, true), 105);
  EXPECT_EQ(rotary_position(100, 5, false), 100);
}

}  // namespace
