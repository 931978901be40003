// What is read of code objects, and what a damaged one comes to.
#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "gpu/message_pack.hpp"
#include "gpu/metadata.hpp"

namespace fw::gpu {
namespace {

using Bytes = std::vector<unsigned char>;

void put(Bytes& to, const void* from, std::size_t size) {
  const auto* const first = static_cast<const unsigned char*>(from);
  std::copy(first, first + size, std::back_inserter(to));
}
void put_text(Bytes& to, const std::string& text) {
  to.push_back(static_cast<unsigned char>(0xd9));
  to.push_back(static_cast<unsigned char>(text.size()));
  put(to, text.data(), text.size());
}

// {"amdhsa.kernels": [{".name": "attend", ".vgpr_count": 300, ".args": [{}], ".sgpr_spill_count": 7}]}
Bytes notes() {
  Bytes pack = {0x82};
  put_text(pack, "amdhsa.version");
  put(pack, "\x92\x01\x02", 3);
  put_text(pack, "amdhsa.kernels");
  pack.push_back(0x91);
  pack.push_back(0x84);
  put_text(pack, ".name");
  put_text(pack, "attend");
  put_text(pack, ".vgpr_count");
  put(pack, "\xcd\x01\x2c", 3);
  put_text(pack, ".args");
  put(pack, "\x91\x80", 2);
  put_text(pack, ".sgpr_spill_count");
  pack.push_back(7);
  return pack;
}

// An ELF file with one section, the note.
Bytes object() {
  const Bytes description = notes();
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_shoff = sizeof header;
  header.e_shnum = 1;
  Elf64_Shdr section{};
  section.sh_type = SHT_NOTE;
  section.sh_offset = sizeof header + sizeof section;
  Elf64_Nhdr note{7, static_cast<Elf64_Word>(description.size()), 32};
  section.sh_size = sizeof note + 8 + description.size();
  Bytes file;
  put(file, &header, sizeof header);
  put(file, &section, sizeof section);
  put(file, &note, sizeof note);
  put(file, "AMDGPU\0\0", 8);
  put(file, description.data(), description.size());
  return file;
}

TEST(Metadata, IsReadByName) {
  const Bytes file = object();
  const auto found = read_metadata(file, "attend");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->vgprs, 300);
  EXPECT_EQ(found->sgpr_spills, 7);
  EXPECT_EQ(found->lds_bytes, 0);
  EXPECT_FALSE(read_metadata(file, "another").has_value());
}

TEST(Metadata, OfAFileThatEndsEarlyIsNothing) {
  const Bytes file = object();
  for (std::size_t size = 0; size < file.size(); ++size)
    EXPECT_FALSE(read_metadata({file.data(), size}, "attend").has_value()) << size;
}

TEST(MessagePack, SkipsWhatItDoesNotKnow) {
  const Bytes bytes = {0x93, 0xc3, 0xd3, 1, 2, 3, 4, 5, 6, 7, 8, 0x81, 0xa1, 'k', 0xff, 42};
  MessagePack pack(bytes);
  pack.skip();
  EXPECT_EQ(pack.number(), 42);
  EXPECT_FALSE(pack.damaged());
  pack.skip();
  EXPECT_TRUE(pack.damaged());
}

TEST(Occupancy, FollowsFromRegistersAndLds) {
  Metadata m;
  m.vgprs = 64;
  EXPECT_EQ(occupancy(m, "gfx942", 256), 8);
  m.vgprs = 128;
  EXPECT_EQ(occupancy(m, "gfx942", 256), 4);
  m.vgprs = 129;
  EXPECT_EQ(occupancy(m, "gfx942", 256), 3);
  m.lds_bytes = 64 * 1024;
  EXPECT_EQ(occupancy(m, "gfx942", 256), 1);
  EXPECT_EQ(occupancy(m, "gfx950", 256), 2);
}

}  // namespace
}  // namespace fw::gpu
