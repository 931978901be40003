#include "objects.hpp"

#include <fstream>
#include <iterator>
#include <map>

namespace cdna::test {

std::string object_path(Arch arch, int version) {
  return std::string(CDNA_TEST_OBJECTS "/mix-") + generation(arch).name + "-v" + std::to_string(version) +
         ".co";
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
