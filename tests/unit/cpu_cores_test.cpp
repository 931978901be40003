#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "cpu/cores.hpp"

namespace fw::cpu {
namespace {

// A folder that looks like /sys/fs/cgroup.
class Groups : public testing::Test {
 protected:
  Groups()
      : root_(std::filesystem::temp_directory_path() / ("flashwave-groups-" + std::to_string(getpid()))) {}
  ~Groups() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  int cores(const std::string& membership) const { return cgroup_cores(root_.string(), membership); }

  std::filesystem::path root_;
};

TEST_F(Groups, NoFilesMeanNoLimit) { EXPECT_EQ(cores("0::/\n"), 0); }

TEST_F(Groups, Version2) {
  write("a/b/cpu.max", "250000 100000\n");
  EXPECT_EQ(cores("0::/a/b\n"), 3);  // a part of a processor counts as one
  write("a/cpu.max", "200000 100000\n");
  EXPECT_EQ(cores("0::/a/b\n"), 2);  // groups above limit too
  write("a/cpu.max", "max 100000\n");
  EXPECT_EQ(cores("0::/a/b\n"), 3);
  EXPECT_EQ(cores("0::/a\n"), 0);
  write("cpu.max", "100000 100000\n");
  EXPECT_EQ(cores("0::/a\n"), 1);
}

TEST_F(Groups, Version1) {
  write("cpu,cpuacct/job/cpu.cfs_quota_us", "400000\n");
  write("cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  const std::string membership = "5:memory:/job\n4:cpu,cpuacct:/job\n1:cpuset:/\n";
  EXPECT_EQ(cores(membership), 4);
  write("cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(cores(membership), 0);
}

TEST_F(Groups, NonsenseIsNoLimit) {
  write("a/cpu.max", "many few\n");
  EXPECT_EQ(cores("0::/a\nrubbish\n::\n"), 0);
}

TEST(Cores, ThereIsOne) { EXPECT_GE(usable_cores(), 1); }

}  // namespace
}  // namespace fw::cpu
