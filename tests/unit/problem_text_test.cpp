// Problem lines: what they denote, and that printing and parsing are inverse.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/random.hpp"
#include "base/text.hpp"
#include "problem/case.hpp"
#include "problem/words.hpp"

namespace fw {
namespace {

Case parsed(std::string_view line) {
  Case c;
  const Status status = parse(line, c);
  EXPECT_TRUE(status.ok()) << line << ": " << status.message();
  return c;
}

TEST(Text, DefaultsAreThoseOfTheGrammar) {
  const Case c = parsed("fwd sq5 d64 bf16");
  EXPECT_EQ(c.problem.pass, Pass::forward);
  EXPECT_EQ(c.problem.batch, 1);
  EXPECT_EQ(c.problem.heads_q, 1);
  EXPECT_EQ(c.problem.heads_k, 1);
  EXPECT_EQ(c.problem.seq_k, 5);
  EXPECT_EQ(c.problem.dim_v, 64);
  EXPECT_EQ(c.problem.left, open_side);
  EXPECT_EQ(c.problem.right, open_side);
  EXPECT_FALSE(c.problem.scale.has_value());
  EXPECT_EQ(c.problem.lengths, Lengths::dense);
  EXPECT_EQ(c.seed, 1u);
  EXPECT_EQ(parsed("fwd hq6 sq5 d64 bf16").problem.heads_k, 6);
}

TEST(Text, EveryWordArrivesInItsField) {
  const Case c = parsed(
      "fwd+bwd b2 hq8 hkv2 sq100 sk300 d72 dv40 fp16 window=64,3 diagonal=-7 scale=0.25 softcap=20 alibi=bh "
      "bias=1h1k:bool sink dropout=0.25 varlen lens=random seqused paged=7 layout=strided want=dsink,lse "
      "deterministic "
      "seed=18446744073709551615 values=outliers");
  const Problem& p = c.problem;
  EXPECT_EQ(p.pass, Pass::both);
  EXPECT_EQ(p.dtype, DType::fp16);
  EXPECT_EQ(p.batch, 2);
  EXPECT_EQ(p.heads_q, 8);
  EXPECT_EQ(p.heads_k, 2);
  EXPECT_EQ(p.seq_q, 100);
  EXPECT_EQ(p.seq_k, 300);
  EXPECT_EQ(p.dim_qk, 72);
  EXPECT_EQ(p.dim_v, 40);
  EXPECT_EQ(p.left, 64);
  EXPECT_EQ(p.right, 3);
  EXPECT_TRUE(p.diagonal_given);
  EXPECT_EQ(p.diagonal, -7);
  EXPECT_EQ(p.scale, 0.25f);
  EXPECT_EQ(p.softcap, 20.0f);
  EXPECT_EQ(p.alibi, Alibi::per_batch_head);
  EXPECT_EQ(p.bias, (BiasShape{DType::uint8, false, true, false}));
  EXPECT_EQ(p.sink, DType::fp16);
  EXPECT_EQ(p.dropout, 0.25f);
  EXPECT_EQ(p.lengths, Lengths::varlen);
  EXPECT_TRUE(p.seqused_q);
  EXPECT_TRUE(p.seqused_k);
  EXPECT_EQ(p.page_size, 7);
  EXPECT_TRUE(p.want_dsink);
  EXPECT_TRUE(p.want_lse);
  EXPECT_FALSE(p.want_dlse);
  EXPECT_TRUE(p.deterministic);
  EXPECT_EQ(c.lens, Lens::random);
  EXPECT_EQ(c.layout, Layout::strided);
  EXPECT_EQ(c.seed, 18446744073709551615u);
  EXPECT_EQ(c.values, Values::outliers);

  const Case d = parsed(
      "fwd b2 sq1 sk9 d8 bf16 cache lens=1,1/3,0 append=4 rotary=6i:fp32 batchidx leftpad=2,0 splits=3");
  EXPECT_EQ(d.problem.lengths, Lengths::cache);
  EXPECT_EQ(d.problem.append, 4);
  EXPECT_EQ(d.problem.rotary, (Rotary{6, true, DType::fp32}));
  EXPECT_TRUE(d.problem.batch_index);
  EXPECT_TRUE(d.problem.leftpad);
  EXPECT_EQ(d.problem.splits, 3);
  EXPECT_EQ(d.listed_k, (std::vector<std::int32_t>{3, 0}));
  EXPECT_EQ(d.listed_leftpad, (std::vector<std::int32_t>{2, 0}));
}

TEST(Text, CausalIsAWindow) {
  EXPECT_EQ(parsed("fwd sq5 d8 fp32 causal"), parsed("fwd sq5 d8 fp32 window=-1,0"));
  EXPECT_EQ(parsed("fwd sq5 d8 fp32 causal window=3,0"), parsed("fwd sq5 d8 fp32 window=3,0 causal"));
  EXPECT_EQ(parsed("fwd sq5 d8 fp32 window=-9,-2"), parsed("fwd sq5 d8 fp32"));
  EXPECT_EQ(print(parsed("fwd sq5 d8 fp32 window=-1,0")), "fwd b1 hq1 sq5 d8 fp32 causal");
  EXPECT_EQ(print(parsed("fwd sq5 d8 fp32 causal window=3,0")), "fwd b1 hq1 sq5 d8 fp32 window=3,0");
}

TEST(Text, AnOwnElementTypeNeedsNoSuffix) {
  EXPECT_EQ(parsed("fwd sq5 d8 fp32 sink:fp32 bias:fp32"), parsed("fwd sq5 d8 fp32 sink bias=bhqk"));
  EXPECT_NE(parsed("fwd sq5 d8 bf16 sink:fp32"), parsed("fwd sq5 d8 bf16 sink"));
  EXPECT_EQ(parsed("fwd bias sq5 sink d8 bf16").problem.bias.dtype, DType::bf16);
}

TEST(Text, SequsedIsOfKeysAndWhereRaggedOfBoth) {
  EXPECT_FALSE(parsed("fwd sq5 d8 fp32 seqused").problem.seqused_q);
  EXPECT_TRUE(parsed("fwd sq5 d8 fp32 seqused").problem.seqused_k);
  EXPECT_TRUE(parsed("fwd sq5 d8 fp32 varlen seqused").problem.seqused_q);
  EXPECT_EQ(print(parsed("fwd sq5 d8 fp32 varlen seqused=k")), "fwd b1 hq1 sq5 d8 fp32 varlen seqused=k");
  EXPECT_EQ(print(parsed("fwd sq5 d8 fp32 seqused=q")), "fwd b1 hq1 sq5 d8 fp32 seqused=q");
}

TEST(Text, BlanksDoNotMatter) { EXPECT_EQ(parsed("  fwd\tsq5   d8 fp32 \r\n"), parsed("fwd sq5 d8 fp32")); }

TEST(Text, AFailedParseLeavesTheCaseAlone) {
  Case c = parsed("fwd sq5 d8 fp32 seed=9");
  const Case before = c;
  EXPECT_FALSE(parse("fwd sq5 d8 fp32 seed=9 bogus", c).ok());
  EXPECT_EQ(c, before);
}

// Each word with values that are legal somewhere; what contradicts is refused and does not count.
const std::vector<std::string> choices[] = {
    {"fwd", "bwd", "fwd+bwd"},
    {"b0", "b1", "b2", "b3"},
    {"", "hq1", "hq4", "hq6"},
    {"", "hkv1", "hkv2"},
    {"sq0", "sq1", "sq17"},
    {"", "sk0", "sk5", "sk33"},
    {"d1", "d8", "d64", "d576"},
    {"", "dv1", "dv512"},
    {"fp32", "fp16", "bf16"},
    {"", "", "causal"},
    {"", "", "window=3,0", "window=0,2147483647", "window=-1,4", "window=5,-1"},
    {"", "", "diagonal=0", "diagonal=-2147483648", "diagonal=1,2", "diagonal=4,-5,6"},
    {"", "", "scale=0", "scale=-0.1", "scale=1e-30", "scale=0.33333334"},
    {"", "", "softcap=15.5"},
    {"", "", "alibi", "alibi=h", "alibi=bh"},
    {"", "", "bias", "bias:bool", "bias=1h1k", "bias=b1qk:bool", "bias=bhqk:fp32"},
    {"", "", "sink", "sink:fp32"},
    {"", "", "dropout=0.1", "dropout=0", "dropout=0.99999"},
    {"", "", "", "varlen", "cache"},
    {"", "", "lens=full", "lens=random", "lens=zeros", "lens=1,17/0,5", "lens=0,0,17/5,4,3"},
    {"", "", "seqused", "seqused=q", "seqused=k", "seqused=qk"},
    {"", "", "paged=1", "paged=7", "paged=1000000"},
    {"", "", "append=0", "append=1", "append=3"},
    {"", "", "rotary=2", "rotary=4i", "rotary=8i:fp32", "rotary=8:fp32"},
    {"", "", "batchidx"},
    {"", "", "leftpad", "leftpad=1,0", "leftpad=0,5,2"},
    {"", "", "splits=0", "splits=3"},
    {"", "", "layout=bshd", "layout=bhsd", "layout=packed", "layout=strided"},
    {"", "", "want=lse", "want=lse,mask", "want=dsink,dlse", "want=dbias"},
    {"", "", "deterministic"},
    {"", "", "seed=0", "seed=1", "seed=18446744073709551615"},
    {"", "", "values=normal", "values=sharp", "values=outliers", "values=tinydout"},
};

std::string random_line(SplitMix64& random, std::uint64_t rare) {
  std::vector<std::string> words;
  for (const auto& word : choices) {
    // Most words are left out most of the time: else hardly a line is free of contradictions.
    const bool may_miss = word.front().empty();
    const std::string& chosen =
        may_miss && random.below(rare) != 0 ? word.front() : word[random.below(word.size())];
    if (!chosen.empty()) words.push_back(chosen);
  }
  for (std::size_t i = words.size() - 1; i > 1; --i) std::swap(words[i], words[1 + random.below(i)]);
  std::string line;
  for (const std::string& word : words) line += say(line.empty() ? "" : " ", word);
  return line;
}

TEST(Text, PrintAndParseAreInverse) {
  SplitMix64 random(7);
  std::map<std::string, int> accepted_words;
  std::unordered_set<Problem, ProblemHash> problems;
  int accepted = 0;
  for (int i = 0; i < 40000; ++i) {
    const std::string line = random_line(random, 2 + i % 6);
    Case c;
    const Status status = parse(line, c);
    if (!status.ok()) {
      EXPECT_FALSE(status.rule().empty()) << line;
      continue;
    }
    ++accepted;
    problems.insert(c.problem);
    const std::string text = print(c);
    Case again;
    ASSERT_TRUE(parse(text, again).ok()) << line << " -> " << text;
    ASSERT_EQ(again, c) << line << " -> " << text;
    ASSERT_EQ(print(again), text) << line;
    ASSERT_EQ(ProblemHash()(again.problem), ProblemHash()(c.problem)) << line;
    for (const Word& word : words())
      if (!word.write(c).empty()) ++accepted_words[std::string(word.name)];
  }
  EXPECT_GT(accepted, 5000);
  EXPECT_GT(problems.size(), 4000u);
  for (const Word& word : words()) {
    if (word.name == "window") continue;  // print writes it under causal
    EXPECT_GT(accepted_words[std::string(word.name)], 10) << word.name;
  }
}

TEST(Text, EqualProblemsHashAlike) {
  const Problem zero = parsed("fwd sq5 d8 fp32 scale=0 softcap=0").problem;
  const Problem negative_zero = parsed("fwd sq5 d8 fp32 scale=-0 softcap=-0").problem;
  EXPECT_EQ(zero, negative_zero);
  EXPECT_EQ(ProblemHash()(zero), ProblemHash()(negative_zero));
}

TEST(Text, NoPrefixOfALineBreaksTheParser) {
  const std::string line =
      "fwd b2 hq4 hkv2 sq3 sk9 d8 dv4 bf16 window=1,0 diagonal=1,2 scale=1 bias=1h1k:bool cache lens=3,3/4,5 "
      "rotary=4i";
  for (std::size_t length = 0; length <= line.size(); ++length) {
    Case c;
    const Status status = parse(std::string_view(line).substr(0, length), c);
    EXPECT_EQ(status.ok(), status.message().empty());
  }
}

TEST(Extents, FullIsTheLongestEverywhere) {
  const Extents e = extents(parsed("fwd b3 sq4 sk9 d8 bf16 cache append=2"));
  EXPECT_EQ(e.queries, (std::vector<std::int32_t>{4, 4, 4}));
  EXPECT_EQ(e.keys, (std::vector<std::int32_t>{7, 7, 7}));
  EXPECT_EQ(e.diagonals, (std::vector<std::int32_t>{5, 5, 5}));
}

TEST(Extents, RandomStaysWithinAndIsEmptyNowAndThen) {
  const Case c = parsed("fwd b1000 sq4 sk9 d8 bf16 varlen paged=4 append=2 leftpad lens=random seed=3");
  const Extents e = extents(c);
  int empty_queries = 0, empty_keys = 0, longest_queries = 0, longest_keys = 0, padded = 0;
  for (std::size_t b = 0; b < 1000; ++b) {
    ASSERT_GE(e.queries[b], 0);
    ASSERT_LE(e.queries[b], 4);
    ASSERT_GE(e.keys[b], 0);
    ASSERT_LE(e.keys[b], 7);
    ASSERT_GE(e.leftpad[b], 0);
    ASSERT_LE(e.leftpad[b], e.keys[b]);
    EXPECT_EQ(e.diagonals[b], e.keys[b] + 2 - e.leftpad[b] - e.queries[b]);
    empty_queries += e.queries[b] == 0;
    empty_keys += e.keys[b] == 0;
    longest_queries += e.queries[b] == 4;
    longest_keys += e.keys[b] == 7;
    padded += e.leftpad[b] > 0;
  }
  EXPECT_NEAR(empty_queries, 125, 40);
  EXPECT_NEAR(empty_keys, 125, 40);
  EXPECT_GT(longest_queries, 100);
  EXPECT_GT(longest_keys, 60);
  EXPECT_GT(padded, 300);
}

// Lengths are part of what a line denotes, so they may never change.
TEST(Extents, ASeedAlwaysGivesTheSameLengths) {
  const Extents e = extents(parsed("fwd b6 sq100 sk1000 d8 bf16 varlen lens=random seed=42"));
  EXPECT_EQ(e.queries,
            extents(parsed("bwd b6 sq100 sk1000 d64 fp32 varlen lens=random seed=42 causal")).queries);
  EXPECT_EQ(e.keys, extents(parsed("fwd b6 sq100 sk1000 d8 bf16 cache lens=random seed=42")).keys);
  EXPECT_NE(e.keys, extents(parsed("fwd b6 sq100 sk1000 d8 bf16 cache lens=random seed=43")).keys);
  EXPECT_EQ(e.queries, (std::vector<std::int32_t>{92, 26, 47, 90, 0, 98}));
  EXPECT_EQ(e.keys, (std::vector<std::int32_t>{765, 6, 496, 48, 930, 264}));
}

TEST(Extents, ZerosLacksQueriesHereAndKeysThere) {
  const Extents e = extents(parsed("fwd b5 sq4 sk9 d8 bf16 varlen lens=zeros"));
  EXPECT_EQ(e.queries, (std::vector<std::int32_t>{4, 0, 4, 0, 4}));
  EXPECT_EQ(e.keys, (std::vector<std::int32_t>{0, 9, 9, 0, 0}));
  const Extents dense = extents(parsed("fwd b3 sq4 sk9 d8 bf16 seqused lens=zeros"));
  EXPECT_EQ(dense.queries, (std::vector<std::int32_t>{4, 4, 4}));
  EXPECT_EQ(dense.keys, (std::vector<std::int32_t>{0, 9, 9}));
}

TEST(Extents, ListsAndDiagonalsAreTaken) {
  const Extents e =
      extents(parsed("fwd b2 sq4 sk9 d8 bf16 varlen paged=2 lens=1,4/9,0 diagonal=3,-3 leftpad=2,1"));
  EXPECT_EQ(e.queries, (std::vector<std::int32_t>{1, 4}));
  EXPECT_EQ(e.keys, (std::vector<std::int32_t>{9, 0}));
  EXPECT_EQ(e.leftpad, (std::vector<std::int32_t>{2, 1}));
  EXPECT_EQ(e.diagonals, (std::vector<std::int32_t>{3, -3}));
}

}  // namespace
}  // namespace fw
