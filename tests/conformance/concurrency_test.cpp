// Several threads, a forked child, threads that come and go: every call finishes with the bits it has alone.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "conformance/lines.hpp"

namespace {

using namespace lab;

const char* const lines[] = {
    "fwd+bwd b2 hq4 hkv2 sq200 sk260 d64 bf16 causal want=lse",
    "fwd b3 hq8 hkv2 sq1 sk1500 d64 fp32 cache lens=random splits=5",
    "fwd+bwd b1 hq2 sq100 sk100 d72 fp16 dropout=0.3 want=mask",
    "fwd b1 hq1 sq2 sk3 d8 fp32",
};

std::vector<std::vector<unsigned char>> bits_of_all() {
  std::vector<std::vector<unsigned char>> all;
  for (const char* line : lines) all.push_back(bits_of_line(line));
  return all;
}

TEST(Concurrency, CallersShareThePoolAndGetTheirOwnBits) {
  const auto want = bits_of_all();
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> callers;
  for (int caller = 0; caller < 6; ++caller)
    callers.emplace_back([&, caller] {
      for (int round = 0; round < 8; ++round) {
        const auto which = static_cast<std::size_t>(caller + round) % std::size(lines);
        if (bits_of_line(lines[which]) != want[which]) ++wrong;
      }
    });
  callers.clear();  // joins
  EXPECT_EQ(wrong, 0);
}

TEST(Concurrency, MessagesBelongToTheirThread) {
  Lab lab;
  Call bad = lab.inputs(fp32, {.seq_q = 2, .seq_k = 2, .heads_q = 3, .heads_k = 2});
  bad.out = lab.unwritten(fp32, {1, 2, 3, 64});
  ASSERT_NE(flashwave_run(&bad), FLASHWAVE_OK);
  const std::string here = flashwave_message();
  std::thread([] {
    EXPECT_STREQ(flashwave_message(), "");
    flashwave_case* c = nullptr;
    EXPECT_NE(flashwave_case_parse("nonsense", &c), FLASHWAVE_OK);
  }).join();
  EXPECT_EQ(flashwave_message(), here);
}

// The child of a fork has none of the parent's threads, and must not wait for them.
TEST(Concurrency, AChildOfAForkHasAPoolOfItsOwn) {
  const auto want = bits_of_all();  // the parent's pool is there
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);
    _exit(bits_of_all() == want ? 0 : 1);
  }
  EXPECT_EQ(bits_of_all(), want);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
}

TEST(Concurrency, ThreadsThatEndLeaveNothingBehind) {
  const auto want = bits_of_line(lines[0]);
  for (int i = 0; i < 20; ++i) std::thread([&] { EXPECT_EQ(bits_of_line(lines[0]), want); }).join();
}

TEST(Concurrency, TheNumberOfThreadsMayChangeBetweenCalls) {
  const auto want = bits_of_line(lines[0]);
  std::atomic<bool> done = false;
  std::jthread changing([&] {
    for (int i = 0; !done; ++i) flashwave_set_threads(1 + i % 3);
  });
  for (int i = 0; i < 10; ++i) EXPECT_EQ(bits_of_line(lines[0]), want);
  done = true;
  changing.join();
  flashwave_set_threads(0);
}

}  // namespace
