#include "support/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "support/file.hpp"

namespace tools {

namespace {

using nlohmann::json;

constexpr std::uint64_t length_bytes = 8;
constexpr int deepest = 3;  // of the header's JSON: {"name": {"shape": [...]}}

struct Type {
  std::string_view name;
  std::uint64_t bytes;
  int dtype;  // of the library, or none
};
constexpr Type types[] = {
    {"F32", 4, FLASHWAVE_FP32},   {"F16", 2, FLASHWAVE_FP16},     {"BF16", 2, FLASHWAVE_BF16},
    {"I32", 4, FLASHWAVE_INT32},  {"I64", 8, FLASHWAVE_INT64},    {"U8", 1, FLASHWAVE_UINT8},
    {"BOOL", 1, FLASHWAVE_UINT8}, {"F64", 8, FLASHWAVE_NONE},     {"I16", 2, FLASHWAVE_NONE},
    {"I8", 1, FLASHWAVE_NONE},    {"U16", 2, FLASHWAVE_NONE},     {"U32", 4, FLASHWAVE_NONE},
    {"U64", 8, FLASHWAVE_NONE},   {"F8_E4M3", 1, FLASHWAVE_NONE}, {"F8_E5M2", 1, FLASHWAVE_NONE},
};

const Type* type_named(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(types), std::end(types), [&](const Type& t) { return t.name == name; });
  return found == std::end(types) ? nullptr : found;
}

template <class... Parts>
Outcome refuse(fmt::format_string<Parts...> sentence, Parts&&... parts) {
  return invalid("safetensors: " + fmt::format(sentence, std::forward<Parts>(parts)...));
}

// A name out of a file, fit for a sentence.
std::string shown(std::string_view name) {
  constexpr std::size_t longest = 60;
  std::string text = "'";
  for (const char c : name.substr(0, longest)) text += c >= ' ' && c <= '~' ? c : '?';
  return text + (name.size() > longest ? "...'" : "'");
}

bool whole_number(const json& value) { return value.is_number_unsigned(); }

Outcome read_entry(const std::string& name, const json& entry, std::uint64_t data_bytes, StoredTensor& out) {
  const std::string label = shown(name);
  if (!entry.is_object() || !entry.contains("dtype") || !entry.contains("shape") ||
      !entry.contains("data_offsets"))
    return refuse("tensor {} lacks one of dtype, shape and data_offsets", label);
  const json &dtype = entry["dtype"], &shape = entry["shape"], &offsets = entry["data_offsets"];
  const Type* type = dtype.is_string() ? type_named(dtype.get_ref<const std::string&>()) : nullptr;
  if (type == nullptr) return refuse("tensor {} has a dtype that is not known", label);
  if (!shape.is_array() || !std::all_of(shape.begin(), shape.end(), whole_number))
    return refuse("the shape of tensor {} is not a list of sizes", label);
  if (!offsets.is_array() || offsets.size() != 2 ||
      !std::all_of(offsets.begin(), offsets.end(), whole_number))
    return refuse("the data_offsets of tensor {} are not two positions", label);
  out.name = name;
  out.dtype = type->name;
  std::uint64_t bytes = type->bytes;
  for (const json& extent : shape) {
    const auto size = extent.get<std::uint64_t>();
    if (size > INT64_MAX || __builtin_mul_overflow(bytes, size, &bytes))
      return refuse("the shape of tensor {} is too large to count", label);
    out.shape.push_back(static_cast<std::int64_t>(size));
  }
  out.begin = offsets[0].get<std::uint64_t>();
  out.end = offsets[1].get<std::uint64_t>();
  if (out.begin > out.end)
    return refuse("tensor {} ends at {}, before its begin {}", label, out.end, out.begin);
  if (out.end > data_bytes)
    return refuse("tensor {} ends at byte {}, but the file holds {} bytes of data", label, out.end,
                  data_bytes);
  if (out.end - out.begin != bytes)
    return refuse("tensor {} has {} bytes, but its dtype and shape make {}", label, out.end - out.begin,
                  bytes);
  return {};
}

// JSON that is an object without a name twice and without depth; anything else is refused before it is built.
Outcome read_json(std::string_view text, json& out) {
  bool deep = false;
  std::set<std::string> names;
  std::string twice;
  const auto watch = [&](int depth, json::parse_event_t event, json& parsed) {
    if (depth > deepest) deep = true;
    if (event == json::parse_event_t::key && depth == 1 &&
        !names.insert(parsed.get_ref<const std::string&>()).second)
      twice = parsed.get_ref<const std::string&>();
    return !deep;
  };
  out = json::parse(text, watch, false);
  if (deep) return refuse("the header is nested deeper than a header is");
  if (out.is_discarded() || !out.is_object()) return refuse("the header is not a JSON object");
  if (!twice.empty()) return refuse("tensor {} stands in the header twice", shown(twice));
  return {};
}

Outcome read_metadata(const json& entry, std::map<std::string, std::string>& out) {
  if (!entry.is_object()) return refuse("__metadata__ is not an object of texts");
  for (const auto& [key, value] : entry.items()) {
    if (!value.is_string()) return refuse("__metadata__ is not an object of texts");
    out[key] = value.get<std::string>();
  }
  return {};
}

}  // namespace

Outcome parse_safetensors(std::span<const unsigned char> start, std::uint64_t file_bytes,
                          SafetensorsHeader& out) {
  out = {};
  if (file_bytes < length_bytes || start.size() < length_bytes)
    return refuse("the file has {} bytes and ends before its header", file_bytes);
  std::uint64_t length = 0;
  for (std::uint64_t i = 0; i < length_bytes; ++i) length |= std::uint64_t{start[i]} << 8 * i;
  if (length > safetensors_header_limit)
    return refuse("the header claims {} bytes, more than the {} that are allowed", length,
                  safetensors_header_limit);
  if (length > file_bytes - length_bytes || length > start.size() - length_bytes)
    return refuse("the header claims {} bytes, but the file ends before", length);
  json header;
  TOOLS_TRY(read_json(
      {reinterpret_cast<const char*>(start.data()) + length_bytes, static_cast<std::size_t>(length)},
      header));
  out.data_begin = length_bytes + length;
  const std::uint64_t data_bytes = file_bytes - out.data_begin;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") {
      TOOLS_TRY(read_metadata(entry, out.metadata));
    } else {
      TOOLS_TRY(read_entry(name, entry, data_bytes, out.tensors.emplace_back()));
    }
  }
  std::sort(out.tensors.begin(), out.tensors.end(), [](const StoredTensor& a, const StoredTensor& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t end = 0;
  for (const StoredTensor& t : out.tensors) {
    if (t.begin < end) return refuse("tensor {} overlaps the one before it", shown(t.name));
    if (t.begin > end) return refuse("bytes {} to {} of the data belong to no tensor", end, t.begin);
    end = t.end;
  }
  if (end != data_bytes) return refuse("the last {} bytes of the file belong to no tensor", data_bytes - end);
  return {};
}

Outcome Safetensors::read(const std::string& path) {
  path_ = path;
  File file;
  TOOLS_TRY(file.open(path));
  const std::uint64_t size = file.size();
  std::vector<unsigned char> start(static_cast<std::size_t>(std::min(size, length_bytes)));
  TOOLS_TRY(file.read(start, 0));
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < start.size(); ++i) length |= std::uint64_t{start[i]} << 8 * i;
  if (length <= safetensors_header_limit && start.size() == length_bytes) {
    start.resize(static_cast<std::size_t>(std::min(size, length_bytes + length)));
    TOOLS_TRY(file.read(start, 0));
  }
  if (Outcome outcome = parse_safetensors(start, size, header_); !outcome.ok())
    return invalid(path + ": " + outcome.message());
  data_.resize(static_cast<std::size_t>(size - header_.data_begin));
  return file.read(data_, header_.data_begin);
}

const StoredTensor* Safetensors::find(const std::string& name) const {
  for (const StoredTensor& t : header_.tensors)
    if (t.name == name) return &t;
  return nullptr;
}

Outcome Safetensors::tensor(const std::string& name, flashwave_tensor& out) {
  const StoredTensor* stored = find(name);
  if (stored == nullptr) return invalid(fmt::format("{} holds no tensor {}", path_, shown(name)));
  const int dtype = type_named(stored->dtype)->dtype;
  if (dtype == FLASHWAVE_INT64)
    return invalid(fmt::format("tensor {} is I64; lengths, tables and indices are int32 (I32)", shown(name)));
  if (dtype == FLASHWAVE_NONE)
    return invalid(fmt::format("tensor {} is {}; F32, F16, BF16, I32, U8 and BOOL can be used", shown(name),
                               stored->dtype));
  if (stored->shape.empty() || stored->shape.size() > FLASHWAVE_MAX_RANK)
    return invalid(fmt::format("tensor {} has {} dimensions; 1 to {} are allowed", shown(name),
                               stored->shape.size(), FLASHWAVE_MAX_RANK));
  unsigned char* bytes = data_.data() + stored->begin;
  out = contiguous(bytes, dtype, stored->shape);
  if (reinterpret_cast<std::uintptr_t>(bytes) % element_bytes(dtype) != 0) {
    out = copies_.add(dtype, stored->shape);
    if (elements(out) > 0)
      std::memcpy(out.data, bytes, static_cast<std::size_t>(stored->end - stored->begin));
  }
  return {};
}

Outcome write_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                          const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::uint64_t end = 0;
  for (const auto& [name, tensor] : tensors) {
    const auto* type = std::find_if(std::begin(types), std::end(types),
                                    [&](const Type& t) { return t.dtype == tensor.dtype; });
    if (type == std::end(types) || tensor.dtype == FLASHWAVE_NONE)
      return invalid(fmt::format("tensor {} is {}, which a safetensors file is not written with here",
                                 shown(name), element_name(tensor.dtype)));
    const std::uint64_t begin = end;
    end += static_cast<std::uint64_t>(elements(tensor)) * type->bytes;
    header[name] = {{"dtype", type->name}, {"shape", shape_of(tensor)}, {"data_offsets", {begin, end}}};
  }
  std::string text = header.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');  // the data starts aligned
  if (text.size() > safetensors_header_limit) return invalid("the header would be larger than readers allow");
  std::string start(length_bytes, '\0');
  for (std::uint64_t i = 0; i < length_bytes; ++i) start[i] = static_cast<char>(text.size() >> 8 * i);

  ReplacedFile file;
  TOOLS_TRY(file.open(path));
  TOOLS_TRY(file.write(start.data(), start.size()));
  TOOLS_TRY(file.write(text.data(), text.size()));
  for (const auto& [name, tensor] : tensors) {
    Outcome outcome;
    const std::size_t run =
        static_cast<std::size_t>(tensor.shape[tensor.rank - 1]) * element_bytes(tensor.dtype);
    for_each_row(tensor, [&](std::int64_t, std::int64_t offset) {
      if (outcome.ok()) outcome = file.write(at(tensor, offset), run);
    });
    TOOLS_TRY(outcome);
  }
  return file.commit();
}

}  // namespace tools
