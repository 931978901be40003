// What a C caller sees of failures and exceptions.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>

#include "api/failure.hpp"

namespace fw::api {
namespace {

int code(Code c) { return static_cast<int>(c); }

TEST(Failure, AStatusBecomesItsCodeSentenceAndRule) {
  EXPECT_EQ(guard([] { return Status(Code::invalid, "a sentence", "a-rule"); }), code(Code::invalid));
  EXPECT_STREQ(last_message(), "a sentence");
  EXPECT_STREQ(last_rule(), "a-rule");
  EXPECT_EQ(guard([] { return unsupported("another"); }), code(Code::unsupported));
  EXPECT_STREQ(last_rule(), "");
}

TEST(Failure, NoExceptionPasses) {
  EXPECT_EQ(guard([]() -> Status { throw std::bad_alloc(); }), code(Code::exhausted));
  EXPECT_STREQ(last_message(), "out of memory");
  EXPECT_EQ(guard([]() -> Status { throw std::length_error("too long"); }), code(Code::internal));
  EXPECT_STREQ(last_message(), "too long");
  EXPECT_EQ(guard([]() -> Status { throw 3; }), code(Code::internal));
}

TEST(Failure, EachThreadHasItsOwn) {
  guard([] { return invalid("mine"); });
  std::thread([] {
    EXPECT_STREQ(last_message(), "");
    guard([] { return invalid("yours"); });
  }).join();
  EXPECT_STREQ(last_message(), "mine");
}

TEST(Failure, AnEndlessSentenceIsCut) {
  guard([] { return Status(Code::invalid, std::string(5000, 'x'), std::string(5000, 'y')); });
  EXPECT_EQ(std::string(last_message()), std::string(1023, 'x'));
  EXPECT_EQ(std::string(last_rule()), std::string(63, 'y'));
}

}  // namespace
}  // namespace fw::api
