// Sentences, strict numbers, element types, and the generator.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "base/dtype.hpp"
#include "base/random.hpp"
#include "base/text.hpp"

namespace fw {
namespace {

TEST(Say, JoinsPartsAndWritesTheShortestNumbers) {
  EXPECT_EQ(say("sq is ", 3, ", at most ", std::int64_t{-2}), "sq is 3, at most -2");
  EXPECT_EQ(say(0.1f, " ", 1e30, " ", 0.5), "0.1 1e+30 0.5");
  EXPECT_EQ(say(), "");
}

// Sentences end up in terminals and in JSON: no bytes of the caller's get there.
TEST(InQuotes, RepeatsOnlyWhatPrints) {
  EXPECT_EQ(in_quotes("sq1x"), "\"sq1x\"");
  EXPECT_EQ(in_quotes("a\n\x1b[31m\xff"), "\"a??[31m?\"");
  EXPECT_EQ(in_quotes(std::string(41, 'x')), "\"" + std::string(40, 'x') + "...\"");
}

TEST(NumberIn, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(number_in<int>("12"), 12);
  EXPECT_EQ(number_in<int>("-12"), -12);
  for (const char* bad : {"", " 1", "1 ", "1x", "+1", "0x1", "1.0", "2147483648", "-"})
    EXPECT_FALSE(number_in<int>(bad).has_value()) << bad;
  EXPECT_FALSE(number_in<std::uint64_t>("-1").has_value());
  EXPECT_EQ(number_in<std::uint64_t>("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_FALSE(number_in<std::uint64_t>("18446744073709551616").has_value());
  EXPECT_EQ(number_in<float>("0.1"), 0.1f);
  EXPECT_EQ(number_in<float>("-1e-3"), -1e-3f);
  for (const char* bad : {"", "1e99", "1,5", "0.1f"}) EXPECT_FALSE(number_in<float>(bad).has_value()) << bad;
}

TEST(NumberIn, ReadsBackWhatSayWrites) {
  SplitMix64 random(3);
  for (int i = 0; i < 2000; ++i) {
    const auto number =
        static_cast<float>(random.next()) * 1e-12f / static_cast<float>(1 + random.below(1000));
    EXPECT_EQ(number_in<float>(say(number)), number);
  }
}

// The generator's published values: data and lengths everywhere depend on them.
TEST(SplitMix64, GivesItsPublishedValues) {
  SplitMix64 random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317u);
  EXPECT_EQ(random.next(), 3203168211198807973u);
  EXPECT_EQ(random.next(), 9817491932198370423u);
  EXPECT_EQ(SplitMix64(5).below(0), 0u);
}

TEST(DType, NamesAndSizes) {
  for (int i = 1; i <= 10; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(dtype_named(name_of(dtype)), dtype);
    EXPECT_GT(size_of(dtype), 0u);
  }
  EXPECT_EQ(size_of(DType::none), 0u);
  EXPECT_EQ(size_of(static_cast<DType>(99)), 0u);
  EXPECT_EQ(size_of(DType::bf16), 2u);
  EXPECT_FALSE(dtype_named("float").has_value());
  EXPECT_TRUE(is_float(DType::fp8e5m2));
  EXPECT_FALSE(is_float(DType::int32));
}

}  // namespace
}  // namespace fw
