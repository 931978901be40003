// Which kernel is taken, and what is declined, of those that this build has.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "amd/choose.hpp"

namespace fw::amd {
namespace {

gpu::Description mi300() { return {"hip:0", "gfx942", "MI300X", 304, std::size_t{192} << 30}; }

Problem sample() {
  Problem p;
  p.dtype = DType::bf16;
  p.heads_q = p.heads_k = 16;
  p.seq_q = p.seq_k = 4096;
  p.dim_qk = p.dim_v = 128;
  return p;
}

TEST(AmdDeclines, BackwardAndWhatLeavesAnInt) {
  Problem p = sample();
  p.pass = Pass::backward;
  EXPECT_NE(declines(p, mi300())->find("backward"), std::string::npos);
  p = sample();
  p.seq_k = (std::int64_t{1} << 28) + 1;
  EXPECT_NE(declines(p, mi300())->find("sequences are at most"), std::string::npos);
  p = sample();
  p.diagonal_per_batch = true;
  p.left = 1 << 30;
  EXPECT_NE(declines(p, mi300())->find("beside diagonals"), std::string::npos);
}

TEST(AmdDeclines, AnArchitectureWithoutKernels) {
  gpu::Description other = mi300();
  other.arch = "gfx000";
  EXPECT_NE(declines(sample(), other)->find("no kernel for gfx000"), std::string::npos);
}

class WithKernels : public testing::Test {
 protected:
  void SetUp() override {
    if (find_kernel("gfx942", Kind::combine, DType::bf16) == nullptr) GTEST_SKIP() << "no kernels for gfx942";
  }
};

TEST_F(WithKernels, TheNarrowestThatFitsIsTaken) {
  Plan plan;
  Problem p = sample();
  p.dim_qk = p.dim_v = 64;
  ASSERT_TRUE(choose(p, mi300(), plan).ok());
  const Kernel* taken = find_kernel("gfx942", plan.instance);
  ASSERT_NE(taken, nullptr);
  EXPECT_EQ(taken->dim_qk, 64);
  EXPECT_EQ(taken->dtype, DType::bf16);
}

TEST_F(WithKernels, ChangedScoresNeedAKernelThatKnowsThem) {
  Plan plan;
  Problem p = sample();
  p.softcap = 20;
  ASSERT_TRUE(choose(p, mi300(), plan).ok());
  EXPECT_NE(find_kernel("gfx942", plan.instance)->kind, Kind::plain);
  EXPECT_NE(find_kernel("gfx942", plan.instance)->kind, Kind::fast);
}

TEST_F(WithKernels, ASubstituteIsNeverFast) {
  EXPECT_EQ(find_substitute(sample(), mi300())->kind, Kind::plain);
}

TEST_F(WithKernels, DecodeIsSplitOverTheDevice) {
  Plan plan;
  Problem p = sample();
  p.seq_q = 1;
  p.heads_k = 2;
  p.seq_k = 65536;
  ASSERT_TRUE(choose(p, mi300(), plan).ok());
  EXPECT_GT(plan.splits, 64);
  EXPECT_GT(plan.workspace, 0u);
}

TEST_F(WithKernels, DeterministicSplitsDoNotDependOnTheBatch) {
  Problem p = sample();
  p.seq_q = 1;
  p.seq_k = 8192;
  p.deterministic = true;
  Plan one, many;
  ASSERT_TRUE(choose(p, mi300(), one).ok());
  p.batch = 64;
  ASSERT_TRUE(choose(p, mi300(), many).ok());
  EXPECT_EQ(one.split_keys, many.split_keys);
  EXPECT_EQ(one.splits, many.splits);
  EXPECT_GT(one.splits, 1);
}

TEST_F(WithKernels, NamesAreUniqueInAnArchitecture) {
  std::set<std::string> names;
  for (const Kernel& kernel : all_kernels())
    EXPECT_TRUE(names.insert(std::string(kernel.code.arch) + "/" + kernel.code.name).second)
        << kernel.code.name;
}

}  // namespace
}  // namespace fw::amd
