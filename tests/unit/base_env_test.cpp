// Environment variables, and that nothing is logged unless they ask.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/env.hpp"
#include "base/log.hpp"

namespace fw {
namespace {

class Env : public testing::Test {
 protected:
  static constexpr const char* names[] = {"FLASHWAVE_CPU_ISA",  "FLASHWAVE_THREADS", "FLASHWAVE_HIP_LIBRARY",
                                          "FLASHWAVE_VALIDATE", "FLASHWAVE_LOG",     "FLASHWAVE_TUNING"};
  void SetUp() override {
    for (const char* name : names) unsetenv(name);
  }
  void TearDown() override { SetUp(); }
};

TEST_F(Env, UnsetIsTheDefault) {
  const Environment e = read_environment();
  EXPECT_TRUE(e.status.ok());
  EXPECT_TRUE(e.cpu_isa.empty());
  EXPECT_EQ(e.threads, 0);
  EXPECT_FALSE(e.validate);
  EXPECT_EQ(e.log, LogLevel::off);
}

TEST_F(Env, EachVariableArrives) {
  setenv("FLASHWAVE_CPU_ISA", "avx2", 1);
  setenv("FLASHWAVE_THREADS", "3", 1);
  setenv("FLASHWAVE_HIP_LIBRARY", "/opt/libamdhip64.so", 1);
  setenv("FLASHWAVE_VALIDATE", "1", 1);
  setenv("FLASHWAVE_LOG", "info", 1);
  setenv("FLASHWAVE_TUNING", "/tmp/tuning", 1);
  const Environment e = read_environment();
  EXPECT_TRUE(e.status.ok()) << e.status.message();
  EXPECT_EQ(e.cpu_isa, "avx2");
  EXPECT_EQ(e.threads, 3);
  EXPECT_EQ(e.hip_library, "/opt/libamdhip64.so");
  EXPECT_TRUE(e.validate);
  EXPECT_EQ(e.log, LogLevel::info);
  EXPECT_EQ(e.tuning, "/tmp/tuning");
}

TEST_F(Env, WhatCannotBeMeantIsNamed) {
  for (const auto& [name, value] : {std::pair{"FLASHWAVE_THREADS", "0"},
                                    {"FLASHWAVE_THREADS", "two"},
                                    {"FLASHWAVE_THREADS", "99999999999"},
                                    {"FLASHWAVE_VALIDATE", "yes"},
                                    {"FLASHWAVE_LOG", "loud"}}) {
    setenv(name, value, 1);
    const Environment e = read_environment();
    EXPECT_EQ(e.status.code(), Code::invalid) << name;
    EXPECT_NE(e.status.message().find(name), std::string::npos) << e.status.message();
    EXPECT_NE(e.status.message().find(value), std::string::npos) << e.status.message();
    EXPECT_EQ(e.threads, 0);
    unsetenv(name);
  }
}

// The tests run without FLASHWAVE_LOG, and the environment is read once.
TEST_F(Env, NothingIsPrintedUnasked) {
  testing::internal::CaptureStderr();
  log(LogLevel::error, "unheard");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  testing::internal::CaptureStderr();
  print_log_line(LogLevel::info, "heard");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "flashwave info: heard\n");
}

}  // namespace
}  // namespace fw
