#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "cpu/amx.hpp"
#include "cpu/isa.hpp"

namespace fw::cpu {
namespace {

[[maybe_unused]] Problem problem_of(DType dtype) {
  Problem problem;
  problem.dtype = dtype;
  problem.seq_q = problem.seq_k = 64;
  problem.dim_qk = problem.dim_v = 64;
  return problem;
}

std::vector<Offer> with(std::initializer_list<Offer> offers) { return offers; }

TEST(Isa, PortableRunsAnywhere) {
  const auto offers = offers_here();
  ASSERT_FALSE(offers.empty());
  EXPECT_STREQ(offers.back().isa->name, "portable");
  EXPECT_TRUE(offers.back().missing.empty());
}

TEST(Isa, ForcedOneIsTheOnlyOne) {
  auto offers = offers_here();
  ASSERT_TRUE(force("portable", offers).ok());
  EXPECT_STREQ(best_of(offers).name, "portable");
  for (const Offer& offer : offers)
    EXPECT_EQ(offer.missing.empty(), std::string("portable") == offer.isa->name) << offer.isa->name;
  EXPECT_EQ(instances_of(offers, problem_of(DType::fp32)).front().missing.empty(), offers.size() == 1);
}

TEST(Isa, UnknownOnesAreNamedWithThoseThereAre) {
  auto offers = offers_here();
  const Status status = force("sse9", offers);
  EXPECT_EQ(status.code(), Code::unavailable);
  EXPECT_NE(status.message().find("sse9"), std::string::npos);
  EXPECT_NE(status.message().find("portable"), std::string::npos);
  EXPECT_EQ(best_of(offers).name, best_of(offers_here()).name);  // nothing was changed
}

#if !defined(FLASHWAVE_CPU_X86)
TEST(Isa, KnownWordsWithoutKernelsSaySo) {
  for (const char* word : {"avx2", "avx512", "avx512bf16", "avx512fp16", "amx"}) {
    auto offers = offers_here();
    const Status status = force(word, offers);
    EXPECT_EQ(status.code(), Code::unavailable);
    EXPECT_NE(status.message().find("no kernels"), std::string::npos) << status.message();
  }
}
#endif

#if defined(FLASHWAVE_CPU_TWINS)
TEST(Isa, ATwinRunsOnlyOnRequest) {
  auto offers = offers_here();
  for (const Offer& offer : offers) EXPECT_STRNE(offer.isa->name, "amx_emulated");
  ASSERT_TRUE(force("amx_emulated", offers).ok());
  const Isa& twin = best_of(offers);
  EXPECT_STREQ(twin.name, "amx_emulated");
  for (const Offer& offer : offers) EXPECT_EQ(offer.missing.empty(), offer.isa == &twin) << offer.isa->name;
  EXPECT_STREQ(kernels_of(twin, DType::bf16).instance, "amx_emulated/bf16");
  EXPECT_EQ(&kernels_of(twin, DType::fp32), &kernels_of(isa_portable, DType::fp32));
  EXPECT_EQ(instances_of(offers, problem_of(DType::bf16)).front().missing, "");
}
#endif

TEST(Isa, EachThingThatTilesNeedHasItsSentence) {
  AmxState state = {.tiles = true, .bf16 = true, .saved = true, .permitted = true};
  EXPECT_EQ(amx_missing(state), "");
  state.permitted = false;
  EXPECT_EQ(amx_missing(state), "the operating system does not permit AMX tiles to this process");
  state.saved = false;
  EXPECT_EQ(amx_missing(state), "the operating system does not save AMX tiles");
  state.bf16 = false;
  EXPECT_EQ(amx_missing(state), "this processor's AMX lacks bf16");
  state.tiles = false;
  EXPECT_EQ(amx_missing(state), "this processor lacks AMX tiles");
}

#if defined(__x86_64__)
// The kernel's own list of what the processor has and what may be used of it.
TEST(Isa, TilesAreFoundWhereTheSystemSeesThem) {
  std::ifstream file("/proc/cpuinfo");
  std::stringstream text;
  text << file.rdbuf();
  const bool listed = text.str().find(" amx_bf16") != std::string::npos;
  const AmxState state = amx_here();
  EXPECT_EQ(state.tiles && state.bf16 && state.saved, listed && state.saved);
  EXPECT_LE(state.permitted, listed);
}
#endif

#if defined(FLASHWAVE_CPU_X86)
TEST(Isa, WhatTheProcessorLacksSaysSo) {
  auto offers = with({{&isa_avx512, "this processor lacks AVX-512"}, {&isa_avx2, ""}, {&isa_portable, ""}});
  const Status status = force("avx512", offers);
  EXPECT_EQ(status.code(), Code::unavailable);
  EXPECT_NE(status.message().find("lacks AVX-512"), std::string::npos);
  EXPECT_NE(status.message().find("avx2, portable"), std::string::npos);
  EXPECT_EQ(status.message().find("avx512,"), std::string::npos);
}

TEST(Isa, TheBestUsableOneIsTaken) {
  const auto offers = with({{&isa_avx512, "lacking"}, {&isa_avx2, ""}, {&isa_portable, ""}});
  EXPECT_STREQ(best_of(offers).name, "avx2");
}

// avx512bf16 has bf16 kernels of its own; the others it shares with avx512, and they are listed once.
TEST(Isa, SharedKernelsAreListedOnce) {
  const auto offers = with({{&isa_avx512bf16, "lacking"}, {&isa_avx512, ""}, {&isa_portable, ""}});
  const auto fp32 = instances_of(offers, problem_of(DType::fp32));
  ASSERT_EQ(fp32.size(), 2u);
  EXPECT_EQ(fp32[0].missing, "");
  const auto bf16 = instances_of(offers, problem_of(DType::bf16));
  ASSERT_EQ(bf16.size(), 3u);
  EXPECT_EQ(bf16[0].missing, "lacking");
}
#endif

TEST(Isa, PlansNameTheirKernels) {
  const auto offers = offers_here();
  for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
    const Problem problem = problem_of(dtype);
    Plan plan;
    ASSERT_TRUE(choose(problem, instances_of(offers, problem), plan).ok());
    EXPECT_EQ(&kernels_of(isa_of(plan, offers), dtype), &kernels_of(best_of(offers), dtype));
    EXPECT_NE(plan.instance.find("/plain"), std::string::npos);
  }
}

}  // namespace
}  // namespace fw::cpu
