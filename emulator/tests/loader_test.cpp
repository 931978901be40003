// Code objects: what readelf says of them, and files that are broken in any way.
#include <gtest/gtest.h>

#include <cstdio>

#include "base/error.hpp"
#include "decode/program.hpp"
#include "object/message_pack.hpp"
#include "objects.hpp"

namespace cdna::test {
namespace {

std::string output_of(const std::string& command) {
  std::string out;
  FILE* pipe = popen(command.c_str(), "r");
  char room[4096];
  while (pipe && std::fgets(room, sizeof room, pipe)) out += room;
  if (pipe) pclose(pipe);
  return out;
}

int64_t number_behind(const std::string& text, size_t from, const std::string& key) {
  const size_t at = text.find(key, from);
  return at == text.npos ? -1 : std::stoll(text.substr(at + key.size()));
}

TEST(Loader, ReadsWhatReadelfReads) {
  for (int version : {4, 5, 6}) {
    const auto object = CodeObject::load(object_file(Arch::gfx942, version));
    EXPECT_EQ(object->version(), version);
    EXPECT_EQ(object->arch(), Arch::gfx942);
    const std::string notes = output_of("llvm-readelf-22 --notes " + object_path(Arch::gfx942, version));
    EXPECT_EQ(object->kernels().size(), 6u);
    for (const Kernel& k : object->kernels()) {
      // A kernel's entry ends with .wavefront_size; its keys are sorted, and .name comes amid them.
      const size_t name = notes.find(".name:           " + k.name + "\n");
      ASSERT_NE(name, notes.npos) << k.name;
      EXPECT_EQ(k.notes.private_bytes, number_behind(notes, name, ".private_segment_fixed_size:"));
      EXPECT_EQ(k.notes.sgprs, number_behind(notes, name, ".sgpr_count:"));
      EXPECT_EQ(k.notes.vgprs, number_behind(notes, name, ".vgpr_count:"));
      EXPECT_EQ(k.notes.vgpr_spills, number_behind(notes, name, ".vgpr_spill_count:"));
      EXPECT_GE(k.notes.kernarg_bytes, static_cast<int64_t>(k.explicit_kernarg_bytes()));
      EXPECT_EQ(k.descriptor.lds_bytes, static_cast<uint32_t>(k.notes.lds_bytes));
      EXPECT_EQ(k.descriptor.scratch_bytes, static_cast<uint32_t>(k.notes.private_bytes));
    }
  }
}

TEST(Loader, SaysWhatIsWrong) {
  std::vector<uint8_t> file = object_file(Arch::gfx942);
  const auto message = [](const std::vector<uint8_t>& bytes) -> std::string {
    try {
      CodeObject::load(bytes);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message({}), "the code object ends before its ELF header");
  EXPECT_EQ(message(std::vector<uint8_t>(file.begin(), file.begin() + 100)),
            "the code object ends before its program headers");
  std::vector<uint8_t> other = file;
  other[48] = 0x33;  // the machine in the flags
  EXPECT_NE(message(other).find("not gfx90a, gfx942 or gfx950"), std::string::npos);
  other = file;
  other[8] = 1;
  EXPECT_NE(message(other).find("version 3 is not supported"), std::string::npos);
  other = file;
  other[18] = 62;
  EXPECT_NE(message(other).find("not an HSA code object"), std::string::npos);
}

// Any damage gives an error or an object that loads and decodes, or says what it cannot; never a crash.
TEST(Loader, SurvivesDamage) {
  const std::vector<uint8_t>& file = object_file(Arch::gfx90a);
  uint32_t random = 7;
  const auto next = [&random](size_t below) {
    random = random * 1664525u + 1013904223u;
    return (random >> 8) % below;
  };
  int loaded = 0, refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<uint8_t> bytes = file;
    // Headers, notes and tables get most of the damage.
    const size_t within = next(3) ? 0x600 : bytes.size();
    for (size_t n = 1 + next(8); n > 0; --n) {
      const size_t at = next(4) ? next(within) : bytes.size() - 1 - next(0x800);
      bytes[at] = next(2) ? static_cast<uint8_t>(next(256)) : static_cast<uint8_t>(next(2) ? 0xff : 0x80);
    }
    if (!next(8)) bytes.resize(next(bytes.size()));
    try {
      const auto object = CodeObject::load(bytes);
      ++loaded;
      if (round % 50 == 0) decode(object, object->kernels()[0]);
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(loaded, 100);
  EXPECT_GT(refused, 100);
}

TEST(Loader, NestedNotesEnd) {
  const std::vector<uint8_t> deep(100000, 0x91);  // a list in a list in a list
  EXPECT_THROW(parse_message({deep}), Error);
  const uint8_t huge[] = {0xdd, 0xff, 0xff, 0xff, 0xff};  // a list of four billion
  EXPECT_THROW(parse_message({huge}), Error);
}

TEST(Loader, UnknownInstructionsAreAllNamed) {
  // s_endpgm behind two instructions that nobody implements: s_rfe_b64 and s_cbranch_g_fork.
  const uint32_t code[] = {0xbe801f04, 0xb8820400, 0xbf810000};
  std::vector<uint8_t> bytes(sizeof code);
  std::copy_n(reinterpret_cast<const uint8_t*>(code), sizeof code, bytes.begin());
  const auto object = CodeObject::of_code(Arch::gfx942, bytes, {});
  try {
    decode(object, object->kernels()[0]);
    FAIL() << "decoded";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("s_rfe_b64 (1, first at 0x0)"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace cdna::test
