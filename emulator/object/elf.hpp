// The ELF structures that a code object uses, for machines whose system headers lack them.
#pragma once
#include <cstdint>

namespace cdna::elf {

struct Header {
  uint8_t ident[16];
  uint16_t type, machine;
  uint32_t version;
  uint64_t entry, phoff, shoff;
  uint32_t flags;
  uint16_t ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};
struct Segment {
  uint32_t type, flags;
  uint64_t offset, vaddr, paddr, filesz, memsz, align;
};
struct Section {
  uint32_t name, type;
  uint64_t flags, addr, offset, size;
  uint32_t link, info;
  uint64_t addralign, entsize;
};
struct Symbol {
  uint32_t name;
  uint8_t info, other;
  uint16_t shndx;
  uint64_t value, size;
};
struct Relocation {
  uint64_t offset, info;
  int64_t addend;
};
struct Note {
  uint32_t namesz, descsz, type;
};

inline constexpr uint16_t kMachineAmdgpu = 0xe0;
inline constexpr uint8_t kOsHsa = 64;
inline constexpr uint32_t kLoad = 1, kNote = 4;                                        // segments
inline constexpr uint32_t kRela = 4, kNoBits = 8, kDynamicSymbols = 11, kSymbols = 2;  // sections
inline constexpr uint16_t kAbsolute = 0xfff1;  // the section of symbols that are plain numbers
inline constexpr uint64_t kExecutable = 4;     // section flags
inline constexpr uint32_t kExecutableSegment = 1;
inline constexpr uint32_t kMetadataNote = 32;
inline constexpr uint32_t kAbs64 = 3, kRelative64 = 13;  // R_AMDGPU_*

}  // namespace cdna::elf
