#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "support/safetensors.hpp"

namespace tools {
namespace {

namespace fs = std::filesystem;

std::string file_of(const std::string& header, std::size_t data_bytes, std::uint64_t claimed) {
  std::string bytes(8, '\0');
  for (int i = 0; i < 8; ++i) bytes[static_cast<std::size_t>(i)] = static_cast<char>(claimed >> 8 * i);
  return bytes + header + std::string(data_bytes, '\1');
}
std::string file_of(const std::string& header, std::size_t data_bytes) {
  return file_of(header, data_bytes, header.size());
}

Outcome parse(const std::string& file, SafetensorsHeader& header) {
  return parse_safetensors({reinterpret_cast<const unsigned char*>(file.data()), file.size()}, file.size(),
                           header);
}

std::string refusal(const std::string& file) {
  SafetensorsHeader header;
  const Outcome outcome = parse(file, header);
  EXPECT_TRUE(outcome.ok() || outcome.code() == FLASHWAVE_INVALID);
  return outcome.message();
}

TEST(Safetensors, ReadsAHeader) {
  SafetensorsHeader header;
  const std::string text =
      R"({"__metadata__":{"model":"m"},"b":{"dtype":"BF16","shape":[2,3],"data_offsets":[4,16]},)"
      R"("a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},"none":{"dtype":"U8","shape":[0,9],"data_offsets":[4,4]}})";
  ASSERT_EQ(parse(file_of(text, 12 + 4), header).message(), "");
  ASSERT_EQ(header.tensors.size(), 3u);
  EXPECT_EQ(header.tensors[0].name, "a");
  EXPECT_EQ(header.tensors[1].name, "none");
  EXPECT_EQ(header.tensors[2].shape, (Shape{2, 3}));
  EXPECT_EQ(header.metadata.at("model"), "m");
  EXPECT_EQ(header.data_begin, 8 + text.size());
}

struct Malformed {
  const char* name;
  std::string file;
  const char* sentence;  // part of the refusal
};
std::string one(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"x":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}
const Malformed malformed[] = {
    {"empty", "", "ends before its header"},
    {"short", std::string(7, '\0'), "ends before its header"},
    {"header_cut", file_of("{}", 0, 3), "the file ends before"},
    {"header_huge", file_of("{}", 0, (16u << 20) + 1), "more than the 16777216"},
    {"header_wraps", file_of("{}", 0, ~std::uint64_t{0}), "more than the 16777216"},
    {"not_json", file_of("{\"x\":", 0), "not a JSON object"},
    {"not_object", file_of("[1]", 0), "not a JSON object"},
    {"trailing", file_of("{} x", 0), "not a JSON object"},
    {"deep", file_of("{\"x\":" + std::string(10000, '[') + std::string(10000, ']') + "}", 0),
     "nested deeper"},
    {"twice",
     file_of(
         R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
         1),
     "stands in the header twice"},
    {"entry_not_object", file_of(R"({"x":3})", 0), "lacks one of"},
    {"no_shape", file_of(R"({"x":{"dtype":"U8","data_offsets":[0,0]}})", 0), "lacks one of"},
    {"dtype_unknown", file_of(one("\"Q4\"", "[1]", "[0,1]"), 1), "dtype that is not known"},
    {"dtype_number", file_of(one("7", "[1]", "[0,1]"), 1), "dtype that is not known"},
    {"shape_negative", file_of(one("\"U8\"", "[-1]", "[0,1]"), 1), "not a list of sizes"},
    {"shape_fraction", file_of(one("\"U8\"", "[1.5]", "[0,1]"), 1), "not a list of sizes"},
    {"shape_text", file_of(one("\"U8\"", "\"1\"", "[0,1]"), 1), "not a list of sizes"},
    {"shape_overflow", file_of(one("\"F32\"", "[4294967296,4294967296]", "[0,0]"), 0), "too large to count"},
    {"shape_wraps_to_fit", file_of(one("\"F32\"", "[4611686018427387904,4]", "[0,0]"), 0),
     "too large to count"},
    {"offsets_three", file_of(one("\"U8\"", "[1]", "[0,1,2]"), 1), "not two positions"},
    {"offsets_negative", file_of(one("\"U8\"", "[1]", "[-1,0]"), 1), "not two positions"},
    {"offsets_misordered", file_of(one("\"U8\"", "[1]", "[1,0]"), 1), "before its begin"},
    {"offsets_beyond", file_of(one("\"U8\"", "[2]", "[0,2]"), 1), "but the file holds 1 bytes"},
    {"size_differs", file_of(one("\"F32\"", "[1]", "[0,2]"), 2), "but its dtype and shape make 4"},
    {"overlap",
     file_of(
         R"({"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"y":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
         3),
     "overlaps the one before"},
    {"hole",
     file_of(
         R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"y":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}})",
         3),
     "belong to no tensor"},
    {"tail", file_of(one("\"U8\"", "[1]", "[0,1]"), 2), "the last 1 bytes"},
    {"metadata", file_of(R"({"__metadata__":{"a":1}})", 0), "__metadata__ is not"},
};

class SafetensorsMalformed : public testing::TestWithParam<Malformed> {};
TEST_P(SafetensorsMalformed, IsRefused) {
  const std::string sentence = refusal(GetParam().file);
  EXPECT_NE(sentence.find(GetParam().sentence), std::string::npos) << "said: " << sentence;
}
INSTANTIATE_TEST_SUITE_P(All, SafetensorsMalformed, testing::ValuesIn(malformed),
                         [](const auto& test) { return std::string(test.param.name); });

class SafetensorsFile : public testing::Test {
 protected:
  SafetensorsFile()
      : folder_(fs::temp_directory_path() / ("flashwave_safetensors_" + std::to_string(getpid()))) {
    fs::create_directory(folder_);
  }
  ~SafetensorsFile() override { fs::remove_all(folder_); }
  std::string path(const char* name) const { return (folder_ / name).string(); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  fs::path folder_;
};

TEST_F(SafetensorsFile, ComesBackAsItWasWritten) {
  Arena arena(Memory::poisoned);
  const flashwave_tensor bytes = arena.add(FLASHWAVE_UINT8, {3});
  const flashwave_tensor strided = arena.add(FLASHWAVE_BF16, {2, 3, 2, 4}, Form::gaps);
  fill_bytes(bytes, 7);
  for_each_row(strided, [&](std::int64_t row, std::int64_t offset) {
    for (int j = 0; j < 4; ++j)
      store(strided.data, FLASHWAVE_BF16, offset + j, static_cast<float>(row * 4 + j));
  });
  const flashwave_tensor empty = arena.add(FLASHWAVE_FP32, {0, 5});
  // The bytes come first, so the bf16 tensor does not lie at an even place of the file.
  ASSERT_EQ(
      write_safetensors(path("t"), {{"a", bytes}, {"b", strided}, {"c", empty}}, {{"k", "v"}}).message(), "");
  EXPECT_EQ(files(), 1u);

  Safetensors file;
  ASSERT_EQ(file.read(path("t")).message(), "");
  EXPECT_EQ(file.header().metadata.at("k"), "v");
  flashwave_tensor read;
  ASSERT_TRUE(file.tensor("b", read).ok());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(read.data) % 2, 0u);
  EXPECT_EQ(shape_of(read), (Shape{2, 3, 2, 4}));
  for (int i = 0; i < 48; ++i) EXPECT_EQ(load(read.data, FLASHWAVE_BF16, i), i);
  ASSERT_TRUE(file.tensor("c", read).ok());
  EXPECT_EQ(elements(read), 0);
  EXPECT_FALSE(file.tensor("d", read).ok());
}

TEST_F(SafetensorsFile, ThatIsNotThereOrNoFileIsRefused) {
  Safetensors file;
  EXPECT_EQ(file.read(path("missing")).code(), FLASHWAVE_INVALID);
  EXPECT_NE(file.read(folder_.string()).message().find("not a regular file"), std::string::npos);
  mkfifo(path("pipe").c_str(), 0600);
  EXPECT_NE(file.read(path("pipe")).message().find("not a regular file"), std::string::npos);
}

TEST_F(SafetensorsFile, Int64CannotBeUsed) {
  std::ofstream(path("t")) << file_of(one("\"I64\"", "[1]", "[0,8]"), 8);
  Safetensors file;
  ASSERT_TRUE(file.read(path("t")).ok());
  flashwave_tensor read;
  EXPECT_NE(file.tensor("x", read).message().find("int32"), std::string::npos);
}

TEST_F(SafetensorsFile, NothingStaysOfAWriteThatFails) {
  std::ofstream(path("t")) << "before";
  Arena arena(Memory::poisoned);
  flashwave_tensor odd = arena.add(FLASHWAVE_FP8E5M2, {1});
  EXPECT_EQ(write_safetensors(path("t"), {{"a", odd}}).code(), FLASHWAVE_INVALID);
  EXPECT_FALSE(write_safetensors(path("no/such/folder"), {}).ok());
  fs::create_directory(path("folder"));
  EXPECT_FALSE(write_safetensors(path("folder"), {}).ok());
  std::string text;
  std::ifstream(path("t")) >> text;
  EXPECT_EQ(text, "before");
  EXPECT_EQ(files(), 2u);
}

}  // namespace
}  // namespace tools
