#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "support/fuzz.hpp"
#include "support/suites.hpp"

namespace tools {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

TEST(Fuzz, TheSameNumberDrawsTheSameLine) {
  EXPECT_EQ(draw_problem(1, 7), draw_problem(1, 7));
  EXPECT_NE(draw_problem(1, 7), draw_problem(2, 7));
  EXPECT_NE(draw_problem(1, 7), draw_problem(1, 8));
}

TEST(Fuzz, MostLinesAreLegalAndAllFeaturesComeUp) {
  int legal = 0;
  std::set<std::string> seen;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    Case c;
    if (!parse_case(joined(draw_problem(1, i)), c).ok()) continue;
    ++legal;
    std::istringstream words(c.line);
    for (std::string word; words >> word;) seen.insert(word.substr(0, word.find_first_of("=0123456789:")));
  }
  EXPECT_GT(legal, 1500);
  for (const char* word : {"fwd",     "bwd",     "fwd+bwd", "causal",        "window",  "diagonal", "scale",
                           "softcap", "alibi",   "bias",    "sink",          "dropout", "varlen",   "cache",
                           "lens",    "seqused", "paged",   "append",        "rotary",  "batchidx", "leftpad",
                           "splits",  "layout",  "want",    "deterministic", "seed",    "values"})
    EXPECT_TRUE(seen.count(word)) << word;
}

TEST(Fuzz, AFailureShrinksToWhatMatters) {
  // Fails whenever softcap meets more than 10 keys.
  const auto fails = [](const std::string& line) {
    Case c;
    return parse_case(line, c).ok() && c.problem.softcap > 0 && c.problem.seq_k > 10;
  };
  const std::string smallest = shrink({"fwd+bwd", "b3", "hq6", "hkv2", "sq100", "sk130", "d64", "dv40",
                                       "bf16", "causal", "softcap=5", "sink", "want=lse"},
                                      fails);
  Case c;
  ASSERT_TRUE(parse_case(smallest, c).ok());
  EXPECT_EQ(c.line, "fwd b1 hq1 sq11 d1 fp32 softcap=5");
}

TEST(Fuzz, TheAmountIsACountOrATime) {
  FuzzOptions options;
  EXPECT_TRUE(read_fuzz_amount("200", options).ok());
  EXPECT_EQ(options.count, 200);
  EXPECT_TRUE(read_fuzz_amount("30s", options).ok());
  EXPECT_EQ(options.seconds, 30);
  for (const char* bad : {"", "s", "-3", "1.5", "3m", "99999999999"})
    EXPECT_FALSE(read_fuzz_amount(bad, options).ok()) << bad;
}

TEST(Suites, LinesAreOfThreeKinds) {
  CaseLine line;
  EXPECT_FALSE(read_case_line("  # nothing", line));
  EXPECT_FALSE(read_case_line("", line));
  ASSERT_TRUE(read_case_line("fwd sq1 d8 fp32 bias=1hqk:bool  # why", line));
  EXPECT_EQ(line.kind, CaseLine::Kind::plain);
  EXPECT_EQ(line.line, "fwd sq1 d8 fp32 bias=1hqk:bool");
  ASSERT_TRUE(read_case_line("refuse heads-divide: fwd hq3 hkv2 sq1 d8 fp32", line));
  EXPECT_EQ(line.kind, CaseLine::Kind::refuse);
  EXPECT_EQ(line.rule, "heads-divide");
  EXPECT_EQ(line.line, "fwd hq3 hkv2 sq1 d8 fp32");
  ASSERT_TRUE(read_case_line("may-decline: fwd sq1 d8 fp32 bias:bool", line));
  EXPECT_EQ(line.kind, CaseLine::Kind::may_decline);
  EXPECT_EQ(line.line, "fwd sq1 d8 fp32 bias:bool");
}

TEST(Suites, AnUnknownOneIsRefusedByNamingTheOthers) {
  std::vector<CaseLine> lines;
  const Outcome outcome = read_suite("no-such-suite", "cases", "", lines);
  EXPECT_EQ(outcome.code(), FLASHWAVE_INVALID);
  EXPECT_NE(outcome.message().find("quick"), std::string::npos) << outcome.message();
}

}  // namespace
}  // namespace tools
