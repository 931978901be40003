// Caches: append, rotary, pages, left padding.
#include <gtest/gtest.h>

#include "reference/reference.hpp"
#include "support.hpp"

namespace fw::test {
namespace {

using reference::Mode;

void run(Sample& s) { ASSERT_TRUE(reference::run(s.problem, s.call, Mode::oracle).ok()); }

// x turned by position * rate[t] in pair t, as the tables of give_rotary say.
std::vector<double> turned(std::vector<double> x, int pairs, bool interleaved, double position) {
  for (int t = 0; t < pairs; ++t) {
    double& a = x[static_cast<std::size_t>(interleaved ? 2 * t : t)];
    double& b = x[static_cast<std::size_t>(interleaved ? 2 * t + 1 : t + pairs)];
    const double angle = position * (0.3 + t), first = a;
    a = first * std::cos(angle) - b * std::sin(angle);
    b = first * std::sin(angle) + b * std::cos(angle);
  }
  return x;
}

void give_rotary(Sample& s, int pairs, bool interleaved) {
  Tensor& cos = s.give(&Call::rotary_cos, DType::fp32, {32, pairs});
  Tensor& sin = s.give(&Call::rotary_sin, DType::fp32, {32, pairs});
  for (int i = 0; i < 32 * pairs; ++i) {
    cos.set(i, std::cos(i / pairs * (0.3 + i % pairs)));
    sin.set(i, std::sin(i / pairs * (0.3 + i % pairs)));
  }
  s.call.rotary_interleaved = interleaved;
}

std::vector<double> row_of(const Tensor& tensor, std::int64_t row, std::int64_t width) {
  std::vector<double> values;
  for (std::int64_t d = 0; d < width; ++d) values.push_back(tensor.get(row * width + d));
  return values;
}

// Two sequences with 0 and 7 filled slots of 12, three new keys, six queries.
Sample appending() {
  Sample s({.batch = 2, .heads_q = 2, .heads_k = 1, .seq_q = 3, .seq_k = 12, .dim_qk = 8, .dim_v = 8});
  s.problem.lengths = Lengths::cache;
  s.give_int32(&Call::cache_seqlens, {0, 7});
  s.give(&Call::k_new, DType::fp32, {2, 3, 1, 8}).randomize(7);
  s.give(&Call::v_new, DType::fp32, {2, 3, 1, 8}).randomize(8);
  return s;
}

TEST(Cache, append_writes_the_next_slots_only) {
  Sample s = appending(), before = appending();
  run(s);
  for (int b = 0; b < 2; ++b)
    for (int slot = 0; slot < 12; ++slot) {
      const int fresh = slot - (b ? 7 : 0);
      const bool is_new = fresh >= 0 && fresh < 3;
      EXPECT_EQ(row_of(s[&Call::k], b * 12 + slot, 8), is_new ? row_of(s[&Call::k_new], b * 3 + fresh, 8)
                                                              : row_of(before[&Call::k], b * 12 + slot, 8));
      EXPECT_EQ(row_of(s[&Call::v], b * 12 + slot, 8), is_new ? row_of(s[&Call::v_new], b * 3 + fresh, 8)
                                                              : row_of(before[&Call::v], b * 12 + slot, 8));
    }
  EXPECT_EQ(s[&Call::cache_seqlens].values(), (std::vector<double>{0, 7}));

  // The same attention over a cache that holds the keys already.
  Sample filled({.batch = 2, .heads_q = 2, .heads_k = 1, .seq_q = 3, .seq_k = 12});
  filled[&Call::k].assign(s[&Call::k].values());
  filled[&Call::v].assign(s[&Call::v].values());
  filled.give_int32(&Call::seqused_k, {3, 10});
  run(filled);
  EXPECT_TRUE(filled[&Call::out].same_bits(s[&Call::out]));
  EXPECT_TRUE(filled[&Call::lse].same_bits(s[&Call::lse]));
}

TEST(Cache, rotary_turns_new_keys_and_queries) {
  for (const bool interleaved : {false, true})
    for (const bool causal : {false, true})
      for (const bool own_positions : {false, true}) {
        Sample s = appending();
        give_rotary(s, 3, interleaved);
        if (causal) s.call.right = 0;
        if (own_positions) s.give_int32(&Call::rotary_seqlens, {11, 2});
        run(s);

        Sample turned_by_hand = appending();
        if (causal) turned_by_hand.call.right = 0;
        for (int b = 0; b < 2; ++b)
          for (int t = 0; t < 3; ++t) {
            const double start = own_positions ? (b ? 2 : 11) : (b ? 7 : 0);
            const auto key = turned(row_of(s[&Call::k_new], b * 3 + t, 8), 3, interleaved, start + t);
            for (int d = 0; d < 8; ++d) turned_by_hand[&Call::k_new].set((b * 3 + t) * 8 + d, key[d]);
            for (int h = 0; h < 2; ++h) {
              const int row = (b * 3 + t) * 2 + h;
              const auto query =
                  turned(row_of(s[&Call::q], row, 8), 3, interleaved, causal ? start + t : start);
              for (int d = 0; d < 8; ++d) turned_by_hand[&Call::q].set(row * 8 + d, query[d]);
            }
          }
        run(turned_by_hand);
        for (View Call::* written : {&Call::k, &Call::v, &Call::out})
          for (std::int64_t i = 0; i < s[written].size(); ++i)
            ASSERT_NEAR(s[written].get(i), turned_by_hand[written].get(i), 2e-6);
      }
}

TEST(Cache, rotary_rounds_once_to_the_caches_dtype) {
  Sample s({.seq_q = 1, .seq_k = 4, .dtype = DType::bf16});
  s.give_int32(&Call::cache_seqlens, {2});
  s.give(&Call::k_new, DType::bf16, {1, 1, 1, 8}).randomize(7);
  s.give(&Call::v_new, DType::bf16, {1, 1, 1, 8}).randomize(8);
  give_rotary(s, 4, true);
  run(s);
  const auto exact = turned(row_of(s[&Call::k_new], 0, 8), 4, true, 2);
  for (int d = 0; d < 8; ++d)
    EXPECT_NEAR(s[&Call::k].get(2 * 8 + d), exact[static_cast<std::size_t>(d)],
                std::fabs(exact[static_cast<std::size_t>(d)]) * 0x1p-8 + 1e-6);
}

TEST(Cache, pages_are_gathered_and_unused_ones_never_read) {
  Sample dense({.batch = 2, .heads_q = 2, .heads_k = 2, .seq_q = 2, .seq_k = 8});
  Sample paged({.batch = 2, .heads_q = 2, .heads_k = 2, .seq_q = 2, .seq_k = 8});
  for (Sample* s : {&dense, &paged}) {
    s->give_int32(&Call::seqused_k, {8, 5});
    s->call.left = 2;
    s->call.right = 0;
  }
  // Windows begin at slots 4 and 1: the first pages of sequence 0 and the last of sequence 1 are nobody's.
  const int table[2][4] = {{-1, -1, 5, 2}, {4, 0, 3, -1}};
  paged.problem.page_size = 2;
  paged.give(&Call::block_table, DType::int32, {2, 4}).assign({-1, -1, 5, 2, 4, 0, 3, -1});
  for (View Call::* pool : {&Call::k, &Call::v}) {
    paged.give(pool, DType::fp32, {6, 2, 2, 8});  // NaN where nothing is copied
    for (int b = 0; b < 2; ++b)
      for (int slot = 0; slot < 8; ++slot) {
        const int page = table[b][slot / 2];
        if (page < 0 || slot >= (b ? 5 : 8)) continue;
        for (int i = 0; i < 16; ++i)
          paged[pool].set((page * 2 + slot % 2) * 16 + i, dense[pool].get((b * 8 + slot) * 16 + i));
      }
  }
  run(dense);
  run(paged);
  EXPECT_TRUE(dense[&Call::out].same_bits(paged[&Call::out]));

  dense.make_backward();
  paged.make_backward();
  run(dense);
  run(paged);
  EXPECT_TRUE(dense[&Call::dq].same_bits(paged[&Call::dq]));
  std::vector<double> expected(6 * 2 * 16, 0);
  for (int b = 0; b < 2; ++b)
    for (int slot = 0; slot < 8; ++slot)
      for (int i = 0; i < 16 && table[b][slot / 2] >= 0; ++i)
        expected[static_cast<std::size_t>((table[b][slot / 2] * 2 + slot % 2) * 16 + i)] =
            dense[&Call::dk].get((b * 8 + slot) * 16 + i);
  EXPECT_EQ(paged[&Call::dk].values(), expected);
}

TEST(Cache, batch_index_and_leftpad_choose_the_slots) {
  Sample s({.batch = 2, .seq_q = 1, .seq_k = 4, .dim_qk = 1, .dim_v = 1});
  s.give(&Call::k, DType::fp32, {3, 4, 1, 1}).fill(1);
  s.give(&Call::v, DType::fp32, {3, 4, 1, 1}).assign({nan, nan, nan, nan, 1, 2, 4, 8, nan, 16, 32, nan});
  s.give_int32(&Call::cache_batch_idx, {2, 1});
  s.give_int32(&Call::cache_seqlens, {3, 4});
  s.give_int32(&Call::leftpad, {1, 2});
  run(s);
  EXPECT_EQ(s[&Call::out].values(), (std::vector<double>{24, 6}));
  s.give_int32(&Call::leftpad, {3, 9});  // nothing is left
  run(s);
  EXPECT_EQ(s[&Call::out].values(), (std::vector<double>{0, 0}));
  EXPECT_EQ(s[&Call::lse].values(), (std::vector<double>{-infinity, -infinity}));
}

}  // namespace
}  // namespace fw::test
