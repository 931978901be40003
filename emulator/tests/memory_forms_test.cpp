// Loads and stores of every width by every path to memory.
#include <span>

#include "memory_place.hpp"
#include "rows.hpp"

namespace cdna::test {
namespace {

struct Form {
  std::string text;
  Path path;
  int bytes;
  bool is_signed = false, high = false,
       half = false;  // high: of a register; half: the other one becomes zero
  int second = 0;     // where another part of as many bytes lies; 0: none
};

struct Width {
  const char* name;
  int bytes;
  bool is_signed, half, high;
};
constexpr Width kLoads[] = {{"ubyte", 1, false, false, false},    {"sbyte", 1, true, false, false},
                            {"ushort", 2, false, false, false},   {"sshort", 2, true, false, false},
                            {"dword", 4, false, false, false},    {"dwordx2", 8, false, false, false},
                            {"dwordx3", 12, false, false, false}, {"dwordx4", 16, false, false, false},
                            {"ubyte_d16", 1, false, true, false}, {"ubyte_d16_hi", 1, false, true, true},
                            {"sbyte_d16", 1, true, true, false},  {"sbyte_d16_hi", 1, true, true, true},
                            {"short_d16", 2, false, true, false}, {"short_d16_hi", 2, false, true, true}};
constexpr Width kLdsLoads[] = {{"u8", 1, false, false, false},     {"i8", 1, true, false, false},
                               {"u16", 2, false, false, false},    {"i16", 2, true, false, false},
                               {"b32", 4, false, false, false},    {"b64", 8, false, false, false},
                               {"b96", 12, false, false, false},   {"b128", 16, false, false, false},
                               {"u8_d16", 1, false, true, false},  {"u8_d16_hi", 1, false, true, true},
                               {"i8_d16", 1, true, true, false},   {"i8_d16_hi", 1, true, true, true},
                               {"u16_d16", 2, false, true, false}, {"u16_d16_hi", 2, false, true, true}};
constexpr Width kStores[] = {{"byte", 1, false, false, false},     {"byte_d16_hi", 1, false, false, true},
                             {"short", 2, false, false, false},    {"short_d16_hi", 2, false, false, true},
                             {"dword", 4, false, false, false},    {"dwordx2", 8, false, false, false},
                             {"dwordx3", 12, false, false, false}, {"dwordx4", 16, false, false, false}};
constexpr Width kLdsStores[] = {{"b8", 1, false, false, false},   {"b8_d16_hi", 1, false, false, true},
                                {"b16", 2, false, false, false},  {"b16_d16_hi", 2, false, false, true},
                                {"b32", 4, false, false, false},  {"b64", 8, false, false, false},
                                {"b96", 12, false, false, false}, {"b128", 16, false, false, false}};

const char* word_of(Path path) {
  constexpr const char* kWords[] = {"global", "flat", "buffer", "scratch", "ds"};
  return kWords[static_cast<int>(path)];
}

std::string registers(int first, int bytes) {
  const int n = (bytes + 3) / 4;
  return n == 1 ? "v" + std::to_string(first)
                : "v[" + std::to_string(first) + ":" + std::to_string(first + n - 1) + "]";
}

std::vector<Form> loads() {
  std::vector<Form> all;
  for (const Path path : kPaths)
    for (const Width& w :
         path == Path::lds ? std::span<const Width>(kLdsLoads) : std::span<const Width>(kLoads))
      all.push_back({std::string(word_of(path)) + (path == Path::lds ? "_read_" : "_load_") + w.name + " " +
                         registers(20, w.bytes) + ", " + address_of(path, false),
                     path, w.bytes, w.is_signed, w.high, w.half});
  for (const int bytes : {4, 8}) {
    const std::string bits = "_b" + std::to_string(8 * bytes) + " " + registers(20, 2 * bytes) + ", v5 ";
    const std::string units = bytes == 4 ? "offset0:2 offset1:4" : "offset0:1 offset1:2";
    all.push_back({"ds_read2" + bits + units, Path::lds, bytes, false, false, false, 16});
    all.push_back({"ds_read2st64" + bits + (bytes == 4 ? "offset0:0 offset1:8" : "offset0:0 offset1:4"),
                   Path::lds, bytes, false, false, false, 2048});
  }
  return all;
}

std::vector<Form> stores() {
  std::vector<Form> all;
  for (const Path path : kPaths)
    for (const Width& w :
         path == Path::lds ? std::span<const Width>(kLdsStores) : std::span<const Width>(kStores)) {
      std::string operands = address_of(path, true);
      if (const size_t at = operands.find('%'); at != operands.npos)
        operands.replace(at, 1, registers(20, w.bytes));
      else
        operands = registers(20, w.bytes) + ", " + operands;
      all.push_back(
          {std::string(word_of(path)) + (path == Path::lds ? "_write_" : "_store_") + w.name + " " + operands,
           path, w.bytes, false, w.high});
    }
  for (const int bytes : {4, 8}) {
    const std::string bits = "_b" + std::to_string(8 * bytes) + " v5, " + registers(20, bytes) + ", " +
                             registers(20 + bytes / 4, bytes) + " ";
    const std::string units = bytes == 4 ? "offset0:2 offset1:4" : "offset0:1 offset1:2";
    all.push_back({"ds_write2" + bits + units, Path::lds, bytes, false, false, false, 16});
    all.push_back({"ds_write2st64" + bits + (bytes == 4 ? "offset0:0 offset1:8" : "offset0:0 offset1:4"),
                   Path::lds, bytes, false, false, false, 2048});
  }
  return all;
}

// Where a form's first part lies in a lane's memory: the two-place forms by stride begin at its start.
uint32_t begin_of(const Form& form) { return form.text.find("st64") == form.text.npos ? 8 : 0; }

constexpr uint64_t kExecs[] = {kAllLanes, 0x9234567812345671ull};
constexpr uint32_t kOld = 0x5a5a5a5a;

void expect_loaded(Place& p, const Form& form, uint64_t exec) {
  Wave& w = p.bench.wave();
  for (uint32_t l = 0; l < kLanes; ++l) {
    const auto part = [&](uint32_t at, int bytes) {
      return static_cast<uint32_t>(p.read(form.path, l, at, bytes));
    };
    for (int k = 0; k < (form.bytes + 3) / 4 * (form.second ? 2 : 1); ++k) {
      const int words = (form.bytes + 3) / 4;
      const uint32_t at = k < words ? begin_of(form) + 4u * static_cast<uint32_t>(k)
                                    : static_cast<uint32_t>(form.second + 4 * (k - words));
      uint32_t want = part(at, std::min(form.bytes, 4));
      if (form.is_signed)
        want = static_cast<uint32_t>(static_cast<int32_t>(want << (32 - 8 * form.bytes)) >>
                                     (32 - 8 * form.bytes));
      if (form.half) want &= 0xffff;
      if (form.high) want <<= 16;
      ASSERT_EQ(w.v[20 + k][l], exec >> l & 1 ? want : kOld) << form.text << " lane " << l << " word " << k;
    }
  }
}

class MemoryForms : public testing::TestWithParam<Arch> {};

TEST_P(MemoryForms, LoadsBringWhatIsThere) {
  std::vector<std::string> lines;
  for (const Form& f : loads()) lines.push_back(f.text);
  const std::vector<Code> code = assemble_lines(GetParam(), lines);
  for (size_t n = 0; n < lines.size(); ++n)
    for (const uint64_t exec : kExecs) {
      ASSERT_FALSE(code[n].empty()) << lines[n];
      Place p(GetParam());
      const Form form = loads()[n];
      for (uint32_t l = 0; l < kLanes; ++l)
        for (uint32_t at = 0; at < kLaneBytes; ++at)
          p.byte(form.path, l, at) = static_cast<uint8_t>(l * 37 + at * 101 + 3);
      for (int k = 0; k < 8; ++k) std::fill_n(p.bench.wave().v[20 + k], kLanes, kOld);
      p.bench.wave().set_pair(kExec, exec);
      p.bench.run(code[n]);
      expect_loaded(p, form, exec);
    }
}

TEST_P(MemoryForms, StoresWriteThatAndNothingElse) {
  std::vector<std::string> lines;
  for (const Form& f : stores()) lines.push_back(f.text);
  const std::vector<Code> code = assemble_lines(GetParam(), lines);
  for (size_t n = 0; n < lines.size(); ++n)
    for (const uint64_t exec : kExecs) {
      ASSERT_FALSE(code[n].empty()) << lines[n];
      Place p(GetParam()), want(GetParam());
      const Form form = stores()[n];
      Wave& w = p.bench.wave();
      w.set_pair(kExec, exec);
      for (uint32_t l = 0; l < kLanes; ++l) {
        for (uint32_t at = 0; at < kLaneBytes; ++at)
          p.byte(form.path, l, at) = want.byte(form.path, l, at) = 0xee;
        for (int k = 0; k < 4; ++k)
          w.v[20 + k][l] = 0x01234567u * static_cast<uint32_t>(k + 1) + l * 0x01010101u;
      }
      for (uint32_t l = 0; l < kLanes; ++l) {
        if (!(exec >> l & 1)) continue;
        const int words = (form.bytes + 3) / 4;
        for (int k = 0; k < words * (form.second ? 2 : 1); ++k) {
          const uint32_t at = k < words ? begin_of(form) + 4u * static_cast<uint32_t>(k)
                                        : static_cast<uint32_t>(form.second + 4 * (k - words));
          want.write(form.path, l, at, std::min(form.bytes, 4), w.v[20 + k][l] >> (form.high ? 16 : 0));
        }
      }
      p.bench.run(code[n]);
      EXPECT_EQ(p.bench.group.lds, want.bench.group.lds) << form.text;
      for (uint32_t l = 0; l < kLanes; ++l)
        for (uint32_t at = 0; at < kLaneBytes; ++at)
          ASSERT_EQ(p.byte(form.path, l, at), want.byte(form.path, l, at))
              << form.text << " lane " << l << " byte " << at;
    }
}

INSTANTIATE_TEST_SUITE_P(Each, MemoryForms, testing::ValuesIn(kArchs),
                         [](const auto& p) { return generation(p.param).name; });

}  // namespace

std::vector<std::string> memory_lines(Arch) {
  std::vector<std::string> lines;
  for (const Form& f : loads()) lines.push_back(f.text);
  for (const Form& f : stores()) lines.push_back(f.text);
  return lines;
}

}  // namespace cdna::test
