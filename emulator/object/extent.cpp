// How long a code object in memory is, when the caller gives only where it starts.
#include <algorithm>
#include <cstring>
#include <string>

#include "object/code_object.hpp"
#include "object/elf.hpp"

namespace cdna {
namespace {

constexpr char kBundle[] = "__CLANG_OFFLOAD_BUNDLE__";

template <class T>
T peek(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// A bundle is a count and, for each entry, offset, size and the target's name.
const uint8_t* bundle_entry(const uint8_t* bundle, Arch arch) {
  const uint8_t* at = bundle + sizeof kBundle - 1;
  const auto count = peek<uint64_t>(at);
  at += 8;
  for (uint64_t n = 0; n < std::min<uint64_t>(count, 64); ++n) {
    const auto offset = peek<uint64_t>(at), size = peek<uint64_t>(at + 8), length = peek<uint64_t>(at + 16);
    if (length > 256) return nullptr;
    const std::string target(reinterpret_cast<const char*>(at + 24), length);
    if (size && target.find(generation(arch).name) != std::string::npos) return bundle + offset;
    at += 24 + length;
  }
  return nullptr;
}

}  // namespace

uint64_t file_bytes(const uint8_t*& image, Arch arch) {
  if (std::memcmp(image, kBundle, sizeof kBundle - 1) == 0) {
    const uint8_t* entry = bundle_entry(image, arch);
    if (!entry) return 0;
    image = entry;
  }
  if (std::memcmp(image, "\177ELF\2\1", 6) != 0) return 0;
  const auto header = peek<elf::Header>(image);
  uint64_t end = sizeof header + 0ull;
  end = std::max(end, header.shoff + uint64_t{header.shnum} * header.shentsize);
  end = std::max(end, header.phoff + uint64_t{header.phnum} * header.phentsize);
  for (int n = 0; n < header.phnum && header.phentsize == sizeof(elf::Segment); ++n) {
    const auto s = peek<elf::Segment>(image + header.phoff + n * sizeof(elf::Segment));
    end = std::max(end, s.offset + s.filesz);
  }
  for (int n = 0; n < header.shnum && header.shentsize == sizeof(elf::Section); ++n) {
    const auto s = peek<elf::Section>(image + header.shoff + n * sizeof(elf::Section));
    if (s.type != elf::kNoBits) end = std::max(end, s.offset + s.size);
  }
  return end;
}

}  // namespace cdna
