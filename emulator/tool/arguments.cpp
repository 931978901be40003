#include "tool/arguments.hpp"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "base/error.hpp"

namespace cdna {
namespace {

std::array<uint32_t, 3> sizes(const std::string& text) {
  std::array<uint32_t, 3> out{1, 1, 1};
  size_t at = 0;
  for (int n = 0; n < 3 && at <= text.size(); ++n) {
    const size_t end = std::min(text.find(',', at), text.size());
    out[static_cast<size_t>(n)] =
        static_cast<uint32_t>(std::strtoul(text.substr(at, end - at).c_str(), nullptr, 0));
    at = end + 1;
  }
  return out;
}

std::vector<std::string> split(const std::string& word) {
  std::vector<std::string> out;
  for (size_t at = 0; at <= word.size();) {
    const size_t end = std::min(word.find(':', at), word.size());
    out.push_back(word.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::vector<uint8_t> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <class T>
std::vector<uint8_t> bytes_of(T x) {
  std::vector<uint8_t> out(sizeof x);
  std::memcpy(out.data(), &x, sizeof x);
  return out;
}

}  // namespace

RunOptions parse_run(const std::vector<std::string>& words) {
  RunOptions o;
  o.grid.threads = {64, 1, 1};
  o.settings.checks = Checks::all;
  for (size_t n = 0; n < words.size(); ++n) {
    const std::string& w = words[n];
    const auto next = [&]() -> const std::string& {
      if (n + 1 >= words.size()) throw Error("option " + w + " needs a value");
      return words[++n];
    };
    if (w == "--grid")
      o.grid.groups = sizes(next());
    else if (w == "--block")
      o.grid.threads = sizes(next());
    else if (w == "--lds")
      o.grid.dynamic_lds = static_cast<uint32_t>(std::strtoul(next().c_str(), nullptr, 0));
    else if (w == "--schedule")
      o.settings.schedule = Schedule::parse(next());
    else if (w == "--late")
      o.settings.late = true;
    else if (w == "--exact")
      o.settings.exact = true;
    else if (w == "--count")
      o.settings.count_memory = true;
    else if (w == "--compare")
      o.settings.compare = true;
    else if (w == "--json")
      o.json = true;
    else if (w == "--threads")
      o.settings.threads = std::atoi(next().c_str());
    else if (w == "--checks")
      o.settings.checks = parse_checks(next());
    else if (w.rfind("--", 0) == 0)
      throw Error("option " + w + " is unknown");
    else
      o.arguments.push_back(w);
  }
  return o;
}

uint64_t Buffers::add(std::vector<uint8_t> bytes, const std::string& file, const std::string& label) {
  buffers_.push_back({std::move(bytes), file});
  const auto base = reinterpret_cast<uint64_t>(buffers_.back().bytes.data());
  memory_.add(base, buffers_.back().bytes.size(), label);
  return base;
}

std::vector<uint8_t> Buffers::value(const std::string& word) {
  const std::vector<std::string> part = split(word);
  const std::string& kind = part[0];
  if (part.size() < 2) throw Error("argument '" + word + "' has no value");
  const char* text = part[1].c_str();
  const std::string file = part.size() > 2 ? part[2] : "";
  if (kind == "i32" || kind == "u32") return bytes_of(static_cast<uint32_t>(std::strtoll(text, nullptr, 0)));
  if (kind == "i64" || kind == "u64") return bytes_of(static_cast<uint64_t>(std::strtoull(text, nullptr, 0)));
  if (kind == "f32") return bytes_of(std::strtof(text, nullptr));
  if (kind == "f64") return bytes_of(std::strtod(text, nullptr));
  if (kind == "raw") return read_file(part[1]);
  if (kind == "in") return bytes_of(add(read_file(part[1]), "", word));
  if (kind == "inout") return bytes_of(add(read_file(part[1]), file.empty() ? part[1] : file, word));
  if (kind == "zero" || kind == "out")
    return bytes_of(add(std::vector<uint8_t>(std::strtoull(text, nullptr, 0)), file, word));
  throw Error("argument '" + word + "' has an unknown kind");
}

std::vector<uint8_t> Buffers::pack(const Kernel& k, const std::vector<std::string>& words) {
  buffers_.reserve(words.size());
  if (words.size() == 1 && words[0].rfind("raw:", 0) == 0) return value(words[0]);
  std::vector<uint8_t> block(k.explicit_kernarg_bytes());
  size_t n = 0;
  for (const Argument& a : k.notes.arguments) {
    if (a.hidden()) continue;
    if (n == words.size())
      throw Error("kernel " + k.name + " wants more than " + std::to_string(n) + " arguments");
    const std::vector<uint8_t> v = value(words[n++]);
    if (v.size() != a.size || a.offset + a.size > block.size())
      throw Error("argument '" + words[n - 1] + "' has " + std::to_string(v.size()) +
                  " bytes, the kernel wants " + std::to_string(a.size));
    std::memcpy(block.data() + a.offset, v.data(), v.size());
  }
  if (n != words.size()) throw Error("kernel " + k.name + " takes " + std::to_string(n) + " arguments");
  return block;
}

void Buffers::write_back() const {
  for (const Buffer& b : buffers_) {
    if (b.file.empty()) continue;
    std::ofstream file(b.file, std::ios::binary);
    file.write(reinterpret_cast<const char*>(b.bytes.data()), static_cast<std::streamsize>(b.bytes.size()));
    if (!file) throw Error("cannot write " + b.file);
  }
}

}  // namespace cdna
