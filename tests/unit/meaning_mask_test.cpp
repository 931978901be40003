// Who sees whom, against the definition applied key by key.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "meaning/mask.hpp"

namespace {

using namespace fw::host;

bool sees(Mask mask, int query, int key, int keys) {
  const int position = query + mask.diagonal;
  return key >= 0 && key < keys && (mask.left < 0 || key >= position - mask.left) &&
         (mask.right < 0 || key <= position + mask.right);
}

struct Place {
  Mask mask;
  int keys;
  std::string text() const {
    return "left " + std::to_string(mask.left) + " right " + std::to_string(mask.right) + " diagonal " +
           std::to_string(mask.diagonal) + " keys " + std::to_string(keys);
  }
};

template <class Visit>
void each_place(Visit visit) {
  for (const int left : {-1, 0, 1, 2, 5, 40})
    for (const int right : {-1, 0, 1, 3, 40})
      for (int diagonal = -9; diagonal <= 9; diagonal += 3)
        for (const int keys : {0, 1, 2, 5, 7, 8, 13}) visit(Place{{left, right, diagonal}, keys});
}

constexpr int queries = 9;

TEST(Mask, VisibleIsTheDefinition) {
  each_place([](const Place& p) {
    for (int query = 0; query < queries; ++query) {
      const Range range = visible(p.mask, query, p.keys);
      ASSERT_LE(range.begin, range.end) << p.text();
      for (int key = -3; key < p.keys + 3; ++key)
        ASSERT_EQ(sees(p.mask, query, key, p.keys), key >= range.begin && key < range.end)
            << p.text() << " query " << query << " key " << key;
    }
  });
}

TEST(Mask, AnyIsTheUnionAndAllTheIntersection) {
  each_place([](const Place& p) {
    for (int first = 0; first < queries; ++first)
      for (int last = first; last < queries; ++last) {
        const Range any = visible_to_any(p.mask, first, last, p.keys);
        const Range all = visible_to_all(p.mask, first, last, p.keys);
        for (int key = 0; key < p.keys; ++key) {
          int count = 0;
          for (int query = first; query <= last; ++query) count += sees(p.mask, query, key, p.keys);
          const bool in_any = key >= any.begin && key < any.end;
          const bool in_all = key >= all.begin && key < all.end;
          ASSERT_EQ(in_all, count == last - first + 1) << p.text() << " rows " << first << ".." << last;
          // Rows that see nothing stand before the first key or behind the last, so no hole can open.
          if (count > 0) {
            ASSERT_TRUE(in_any) << p.text() << " rows " << first << ".." << last << " key " << key;
          }
          if (!in_any) {
            ASSERT_EQ(count, 0) << p.text();
          }
        }
      }
  });
}

TEST(Mask, CausalIsBottomRight) {  // two keys, six queries: 0 0 0 0 1 2 keys are seen
  const std::vector<int> counts = {0, 0, 0, 0, 1, 2};
  for (int query = 0; query < 6; ++query)
    EXPECT_EQ(visible({-1, 0, 2 - 6}, query, 2).count(), counts[static_cast<std::size_t>(query)]);
}

TEST(Mask,
     ARightSideBeyondTheKeysIsNotCutToThem) {  // https://github.com/Dao-AILab/flash-attention/issues/895
  const std::vector<int> counts = {4, 4, 4, 4, 4, 4, 4, 3, 2, 1};
  for (int query = 0; query < 10; ++query)
    EXPECT_EQ(visible({0, 100, 4 - 10}, query, 4).count(), counts[static_cast<std::size_t>(query)]);
}

TEST(Range, CountsAndIntersects) {
  EXPECT_EQ((Range{3, 3}).count(), 0);
  EXPECT_EQ((Range{5, 2}).count(), 0);
  EXPECT_TRUE(intersect({0, 4}, {4, 9}).empty());
  EXPECT_EQ(intersect({0, 5}, {2, 9}).begin, 2);
  EXPECT_EQ(intersect({0, 5}, {2, 9}).end, 5);
}

}  // namespace
