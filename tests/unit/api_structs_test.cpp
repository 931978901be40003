// How structs of other sizes cross the C ABI.
#include <gtest/gtest.h>

#include "api/structs.hpp"

namespace fw::api {
namespace {

struct Known {
  std::uint32_t struct_size;
  std::int32_t first, second;
};

struct Newer {
  Known known;
  std::int32_t third;
};

TEST(Structs, ASmallerOneReadsMissingFieldsAsZero) {
  const Known given{offsetof(Known, second), 7, 9};
  Known read_back{};
  ASSERT_TRUE(read(&given, "known", read_back).ok());
  EXPECT_EQ(read_back.first, 7);
  EXPECT_EQ(read_back.second, 0);
}

TEST(Structs, ALargerOneIsReadWhenItsExcessIsZero) {
  const Newer given{{sizeof(Newer), 7, 9}, 0};
  Known read_back{};
  ASSERT_TRUE(read(&given.known, "known", read_back).ok());
  EXPECT_EQ(read_back.second, 9);
}

TEST(Structs, ALargerOneWithMoreToSayIsUnsupported) {
  const Newer given{{sizeof(Newer), 7, 9}, 1};
  Known read_back{};
  const Status status = read(&given.known, "known", read_back);
  EXPECT_EQ(status.code(), Code::unsupported);
  EXPECT_NE(status.message().find("built for a newer flashwave"), std::string::npos);
}

TEST(Structs, NullAndAForgottenSizeAreInvalid) {
  Known read_back{};
  const Known* volatile null = nullptr;
  EXPECT_EQ(read<Known>(null, "known", read_back).code(), Code::invalid);
  const Known unsized{};
  const Status status = read(&unsized, "known", read_back);
  EXPECT_EQ(status.code(), Code::invalid);
  EXPECT_NE(status.message().find("known.struct_size is 0"), std::string::npos);
}

TEST(Structs, WritingStopsAtTheCallersSizeAndKeepsIt) {
  Known callers{offsetof(Known, second), 0, 5};
  ASSERT_TRUE(write(&callers, "known", Known{sizeof(Known), 1, 2}).ok());
  EXPECT_EQ(callers.struct_size, offsetof(Known, second));
  EXPECT_EQ(callers.first, 1);
  EXPECT_EQ(callers.second, 5);

  Newer larger{{sizeof(Newer), 0, 0}, 0};
  ASSERT_TRUE(write(&larger.known, "known", Known{sizeof(Known), 1, 2}).ok());
  EXPECT_EQ(larger.known.struct_size, sizeof(Newer));
  EXPECT_EQ(larger.known.second, 2);
}

}  // namespace
}  // namespace fw::api
