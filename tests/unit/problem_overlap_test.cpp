// Shared memory of strided views against the list of all their bytes.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "base/random.hpp"
#include "problem/overlap.hpp"

namespace fw {
namespace {

std::byte* const base = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 20);

std::vector<std::intptr_t> addresses(const View& view) {
  std::vector<std::intptr_t> all;
  if (view.empty()) return all;
  std::array<std::int64_t, View::max_rank> index{};
  while (true) {
    std::int64_t offset = 0;
    for (int i = 0; i < view.rank; ++i) offset += index[i] * view.stride[i];
    all.push_back(reinterpret_cast<std::intptr_t>(view.data) +
                  offset * static_cast<std::intptr_t>(size_of(view.dtype)));
    int dim = view.rank - 1;
    while (dim >= 0 && ++index[dim] == view.shape[dim]) index[dim--] = 0;
    if (dim < 0) return all;
  }
}

bool overlaps_itself_by_list(const View& view) {
  const auto all = addresses(view);
  return std::set<std::intptr_t>(all.begin(), all.end()).size() != all.size();
}

bool overlap_by_list(const View& a, const View& b) {
  std::set<std::intptr_t> bytes;
  for (const std::intptr_t address : addresses(a))
    for (std::size_t i = 0; i < size_of(a.dtype); ++i) bytes.insert(address + static_cast<std::intptr_t>(i));
  for (const std::intptr_t address : addresses(b))
    for (std::size_t i = 0; i < size_of(b.dtype); ++i)
      if (bytes.contains(address + static_cast<std::intptr_t>(i))) return true;
  return false;
}

View random_view(SplitMix64& random) {
  constexpr DType dtypes[] = {DType::fp32, DType::bf16, DType::uint8};
  View view;
  view.dtype = dtypes[random.below(3)];
  view.rank = 1 + static_cast<int>(random.below(4));
  for (int i = 0; i < view.rank; ++i) {
    view.shape[i] =
        static_cast<std::int64_t>(random.below(random.below(10) ? 4 : 1) + (random.below(12) ? 1 : 0));
    view.stride[i] = static_cast<std::int64_t>(random.below(13)) - (random.below(3) ? 0 : 6);
  }
  view.data = base + random.below(48);
  return view;
}

TEST(Overlap, IsWhatTheListOfBytesSays) {
  SplitMix64 random(5);
  int met = 0, apart = 0, self_met = 0, self_apart = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    const View a = random_view(random), b = random_view(random);
    ASSERT_EQ(overlaps_itself(a), overlaps_itself_by_list(a)) << trial;
    ASSERT_EQ(overlap(a, b), overlap_by_list(a, b)) << trial;
    (overlap(a, b) ? met : apart) += 1;
    (overlaps_itself(a) ? self_met : self_apart) += 1;
  }
  for (const int seen : {met, apart, self_met, self_apart}) EXPECT_GT(seen, 2000);
}

// q, k and v of one (B,S,3,H,D) buffer: their memory interleaves and nowhere meets.
TEST(Overlap, PackedViewsAreApart) {
  const std::int64_t batch = 8, seq = 4096, heads = 32, dim = 128;
  const auto part = [&](std::int64_t which, std::int64_t extra) {
    View view;
    view.dtype = DType::bf16;
    view.rank = 4;
    view.shape = {batch, seq, heads, dim + extra};
    view.stride = {seq * 3 * heads * dim, 3 * heads * dim, dim, 1};
    view.data = base + which * heads * dim * 2;
    return view;
  };
  EXPECT_FALSE(overlap(part(0, 0), part(1, 0)));
  EXPECT_FALSE(overlap(part(1, 0), part(2, 0)));
  EXPECT_FALSE(overlap(part(0, 0), part(2, 0)));
  EXPECT_FALSE(overlaps_itself(part(1, 0)));
  EXPECT_TRUE(overlap(part(1, 1), part(2, 0)));  // one element too wide
  EXPECT_TRUE(overlaps_itself(part(1, 1)));
}

TEST(Overlap, HugeStridesDoNotOverflow) {
  View a;
  a.dtype = DType::fp32;
  a.rank = 3;
  a.shape = {4, 1, 64};
  a.stride = {std::int64_t{1} << 50, std::int64_t{1} << 62, 1};
  a.data = base;
  View b = a;
  b.data = base + 256;
  EXPECT_FALSE(overlaps_itself(a));
  EXPECT_FALSE(overlap(a, b));
  b.data = base + 252;
  EXPECT_TRUE(overlap(a, b));
}

// An equation that the search cannot settle in its steps counts as an overlap, and is given up soon.
TEST(Overlap, AHardQuestionEndsSoon) {
  View a;
  a.dtype = DType::uint8;
  a.rank = 5;
  a.shape = {1000003, 1000033, 1000037, 1000039, 1};
  a.stride = {1000081, 1000099, 1000117, 1000121, 1};
  a.data = base;
  EXPECT_TRUE(overlaps_itself(a));
}

}  // namespace
}  // namespace fw
