#include "objects.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>

namespace cdna::test {

std::string object_path(Arch arch, int version) {
  static std::map<std::pair<Arch, int>, std::string> paths;
  std::string& path = paths[{arch, version}];
  if (!path.empty()) return path;
  path = testing::TempDir() + "cdna-mix-" + std::to_string(getpid()) + "-" + generation(arch).name + "-v" +
         std::to_string(version) + ".co";
  const std::string command =
      "clang++-22 -x hip --offload-device-only --no-gpu-bundle-output -nogpulib -nogpuinc -std=c++20 -O3 "
      "-mcode-object-version=" +
      std::to_string(version) + " --offload-arch=" + generation(arch).name +
      " " CDNA_TEST_SOURCES "/kernels/mix.hip -o " + path;
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  return path;
}

const std::vector<uint8_t>& object_file(Arch arch, int version) {
  static std::map<std::pair<Arch, int>, std::vector<uint8_t>> files;
  std::vector<uint8_t>& bytes = files[{arch, version}];
  if (bytes.empty()) {
    std::ifstream file(object_path(arch, version), std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
  }
  return bytes;
}

}  // namespace cdna::test
