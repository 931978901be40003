// The structs of flashwave.h and ours say the same.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "api/convert.hpp"
#include "problem/case.hpp"

namespace fw::api {
namespace {

TEST(Convert, AProblemSurvivesTheWayOutAndBack) {
  const char* lines[] = {
      "fwd sq1 d1 fp32",
      "fwd+bwd b2 hq8 hkv2 sq100 sk300 d72 dv40 bf16 window=64,0 diagonal=-7 scale=0 softcap=20 sink "
      "dropout=0.25 bias=b1qk alibi=bh seqused deterministic want=lse,mask,dlse,dbias,dsink",
      "fwd b3 hq4 hkv4 sq5 sk77 d64 fp16 cache paged=7 append=2 rotary=32i leftpad splits=3",
      "fwd b3 hq4 sq5 sk77 d64 fp32 varlen bias=1hqk:bool causal",
      "fwd b3 hq4 sq5 sk77 d64 fp32 cache batchidx",
  };
  for (const char* line : lines) {
    Case c;
    const Status parsed = parse(line, c);
    ASSERT_TRUE(parsed.ok()) << line << ": " << parsed.message();
    Problem back;
    ASSERT_TRUE(convert(convert(c.problem), back).ok());
    EXPECT_TRUE(back == c.problem) << line;
  }
}

TEST(Convert, EveryByteOfAProblemMatters) {
  // A field that one direction forgets would leave two different problems equal.
  flashwave_problem given{};
  const auto* last = reinterpret_cast<const unsigned char*>(&given.deterministic) + 4;
  for (auto* at = reinterpret_cast<unsigned char*>(&given.pass); at < last; at += 4) {
    given = flashwave_problem{};
    given.has_scale = 1;
    const bool is_scale = at == reinterpret_cast<unsigned char*>(&given.has_scale);
    *at = is_scale ? 0 : 1;
    if (at == reinterpret_cast<unsigned char*>(&given) + 12) continue;  // padding before batch
    Problem plain, changed;
    flashwave_problem base{};
    base.has_scale = 1;
    ASSERT_TRUE(convert(base, plain).ok());
    ASSERT_TRUE(convert(given, changed).ok());
    EXPECT_FALSE(plain == changed) << "offset " << at - reinterpret_cast<unsigned char*>(&given);
  }
}

TEST(Convert, EnumsOutOfRangeAreNamed) {
  flashwave_problem given{};
  given.alibi = 9;
  Problem out;
  const Status status = convert(given, out);
  EXPECT_EQ(status.code(), Code::invalid);
  EXPECT_EQ(status.message(), "alibi is 9, it goes from 0 to 2");

  flashwave_attention call{};
  call.pass = FLASHWAVE_BOTH;
  Call ours;
  EXPECT_EQ(convert(call, ours).message(), "pass is 2, it goes from 0 to 1");
}

struct Pair {
  flashwave_tensor flashwave_attention::* theirs;
  View Call::* ours;
};
#define PAIR(name) {&flashwave_attention::name, &Call::name}
constexpr Pair pairs[] = {PAIR(q),
                          PAIR(k),
                          PAIR(v),
                          PAIR(out),
                          PAIR(lse),
                          PAIR(dout),
                          PAIR(dlse),
                          PAIR(dq),
                          PAIR(dk),
                          PAIR(dv),
                          PAIR(dbias),
                          PAIR(dsink),
                          PAIR(alibi),
                          PAIR(bias),
                          PAIR(sink),
                          PAIR(dropout_mask),
                          PAIR(cu_seqlens_q),
                          PAIR(cu_seqlens_k),
                          PAIR(seqused_q),
                          PAIR(seqused_k),
                          PAIR(cache_seqlens),
                          PAIR(block_table),
                          PAIR(cache_batch_idx),
                          PAIR(leftpad),
                          PAIR(k_new),
                          PAIR(v_new),
                          PAIR(rotary_cos),
                          PAIR(rotary_sin),
                          PAIR(rotary_seqlens),
                          PAIR(diagonals)};
#undef PAIR

TEST(Convert, EveryTensorOfACallArrives) {
  flashwave_attention call{};
  int number = 0;
  for (const Pair& pair : pairs) call.*pair.theirs = {nullptr, FLASHWAVE_FP32, 1, {++number}, {1}};
  Call ours;
  ASSERT_TRUE(convert(call, ours).ok());
  number = 0;
  for (const Pair& pair : pairs) EXPECT_EQ((ours.*pair.ours).shape[0], ++number);
}

TEST(Convert, TensorsThatContradictThemselvesAreNamed) {
  float data = 0;
  flashwave_attention call{};
  Call ours;
  call.bias.rank = 6;
  EXPECT_EQ(convert(call, ours).message(), "bias has rank 6, it goes from 0 (absent) to 5");
  call.bias = {&data, FLASHWAVE_FP32, 0, {}, {}};
  EXPECT_EQ(convert(call, ours).message(), "bias has data but rank 0, which means absent");
  call.bias = {&data, 77, 1, {1}, {1}};
  EXPECT_EQ(convert(call, ours).message(), "the dtype of bias is 77, it goes from 0 to 10");
}

TEST(Convert, AWindowCountsOnlyWhenGiven) {
  flashwave_attention call{};
  call.window_left = 3;
  Call ours;
  ASSERT_TRUE(convert(call, ours).ok());
  EXPECT_EQ(ours.left, open_side);
  EXPECT_EQ(ours.right, open_side);
  call.has_window = 1;
  call.window_right = -5;
  ASSERT_TRUE(convert(call, ours).ok());
  EXPECT_EQ(ours.left, 3);
  EXPECT_EQ(ours.right, open_side);
}

}  // namespace
}  // namespace fw::api
