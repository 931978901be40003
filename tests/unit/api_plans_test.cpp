// Plans are made once for a bucket of lengths.
#include <gtest/gtest.h>

#include "api/plans.hpp"

namespace fw::api {
namespace {

// Counts how often it is asked to plan, and notes what for.
class Counting : public Backend {
 public:
  std::vector<Device> devices() const override { return {}; }
  std::optional<std::string> declines(const Problem& problem, std::string_view) const override {
    if (problem.softcap != 0) return "no softcap today";
    return std::nullopt;
  }
  Status plan(const Problem& problem, std::string_view device, Plan& out) const override {
    ++planned;
    out.problem = problem;
    out.device = device;
    out.instance = "avx512bf16/bf16/scored/a longish name";
    out.loader = "dense";
    out.tile_k = static_cast<int>(problem.seq_k);
    out.candidates = {{"one", "", 1}, {"two", "cannot", 2}};
    return {};
  }
  Status run(const Plan&, const Call&) const override { return {}; }
  Status combine(const CombineCall&, std::string_view) const override { return {}; }
  Status peak(std::string_view, DType, Peak&) const override { return {}; }

  mutable int planned = 0;
};

Device named(const char* name) {
  Device device;
  device.name = name;
  return device;
}

Problem decode(std::int64_t keys) {
  Problem problem;
  problem.seq_q = 1;
  problem.seq_k = keys;
  problem.dim_qk = problem.dim_v = 64;
  return problem;
}

TEST(Plans, BucketsHoldTheirLengthsAndAreAnEighthWideAtMost) {
  for (std::int64_t n = 0; n < 20000; ++n) {
    const std::int64_t room = bucket(n);
    ASSERT_GE(room, n);
    ASSERT_LE((room - n) * 8, n) << n;
    ASSERT_EQ(bucket(room), room);
    ASSERT_LE(room, bucket(n + 1));
  }
  EXPECT_EQ(bucket(4096), 4096);
  EXPECT_EQ(bucket(4097), 4608);
}

TEST(Plans, ADecodeStepFindsThePlanOfTheStepBefore) {
  const Counting backend;
  const Target target{&backend, named("counting")};
  Plan plan;
  for (std::int64_t keys = 2049; keys <= 2304; ++keys) {
    ASSERT_TRUE(find_plan(target, decode(keys), plan).ok());
    EXPECT_EQ(plan.problem.seq_k, keys);  // the problem that is run ...
    EXPECT_EQ(plan.tile_k, 2304);         // ... with the plan of its bucket
    EXPECT_TRUE(plan.candidates.empty());
  }
  EXPECT_EQ(backend.planned, 1);
  ASSERT_TRUE(find_plan(target, decode(2305), plan).ok());
  EXPECT_EQ(backend.planned, 2);
}

TEST(Plans, DevicesDoNotShareThem) {
  const Counting backend;
  const Target one{&backend, named("one")}, two{&backend, named("two")};
  Plan plan;
  ASSERT_TRUE(find_plan(one, decode(100), plan).ok());
  ASSERT_TRUE(find_plan(two, decode(100), plan).ok());
  EXPECT_EQ(plan.device, "two");
  EXPECT_EQ(backend.planned, 2);
}

TEST(Plans, AFreshPlanKeepsItsCandidates) {
  const Counting backend;
  const Target target{&backend, named("fresh")};
  Plan plan;
  ASSERT_TRUE(make_plan(target, decode(100), plan).ok());
  EXPECT_EQ(plan.candidates.size(), 2u);
  EXPECT_EQ(plan.problem.seq_k, 100);
}

TEST(Plans, ADeclineIsUnsupportedAndNamesTheDevice) {
  const Counting backend;
  const Target target{&backend, named("picky")};
  Problem problem = decode(100);
  problem.softcap = 3;
  Plan plan;
  const Status status = find_plan(target, problem, plan);
  EXPECT_EQ(status.code(), Code::unsupported);
  EXPECT_EQ(status.message(), "picky declines: no softcap today");
  EXPECT_EQ(backend.planned, 0);
}

TEST(Plans, BothPassesAreTwoCallsWithTheirOwnWishes) {
  Problem problem = decode(10);
  problem.pass = Pass::both;
  problem.want_lse = problem.want_mask = problem.want_dlse = problem.want_dbias = problem.want_dsink = true;
  const auto each = passes(problem);
  ASSERT_EQ(each.size(), 2u);
  EXPECT_TRUE(each[0].pass == Pass::forward && each[0].want_lse && each[0].want_mask);
  EXPECT_FALSE(each[0].want_dlse || each[0].want_dbias || each[0].want_dsink);
  EXPECT_TRUE(each[1].pass == Pass::backward && each[1].want_dlse && each[1].want_dbias &&
              each[1].want_dsink);
  EXPECT_FALSE(each[1].want_lse || each[1].want_mask);
  problem.pass = Pass::forward;
  EXPECT_EQ(passes(problem).size(), 1u);
}

}  // namespace
}  // namespace fw::api
