#include "support/suites.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "support/file.hpp"

namespace tools {

namespace fs = std::filesystem;

namespace {

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

bool starts_with_word(const std::string& text, const std::string& word) {
  return text.rfind(word, 0) == 0 && text.size() > word.size() &&
         (text[word.size()] == ' ' || text[word.size()] == ':');
}

// Suites of problems to check are tests, those to time are benchmarks.
std::vector<fs::path> places(const std::string& extension, const std::string& directory) {
  if (!directory.empty()) return {directory};
  const bool cases = extension == "cases";
  std::vector<fs::path> all = {fs::path(FLASHWAVE_SOURCE_DIR) / (cases ? "tests/cases" : "bench")};
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (!error)
    all.push_back(self.parent_path().parent_path() / "share/flashwave" / (cases ? "cases" : "bench"));
  return all;
}

}  // namespace

bool read_case_line(const std::string& text, CaseLine& out) {
  const std::string line = trimmed(text.substr(0, text.find('#')));
  if (line.empty()) return false;
  out = CaseLine{};
  out.line = line;
  const auto colon = line.find(':');
  const auto head = trimmed(line.substr(0, colon));
  if (colon == std::string::npos) return true;
  if (head == "may-decline") {
    out.kind = CaseLine::Kind::may_decline;
  } else if (starts_with_word(head, "refuse")) {
    out.kind = CaseLine::Kind::refuse;
    out.rule = trimmed(head.substr(head.find(' ')));
  } else {
    return true;  // a colon of the problem's own
  }
  out.line = trimmed(line.substr(colon + 1));
  return true;
}

Outcome read_suite_file(const std::string& path, std::vector<CaseLine>& lines) {
  std::vector<std::string> texts;
  TOOLS_TRY(read_lines(path, texts));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    CaseLine line;
    if (!read_case_line(texts[i], line)) continue;
    line.where = fmt::format("{}:{}", fs::path(path).filename().string(), i + 1);
    lines.push_back(std::move(line));
  }
  return {};
}

Outcome read_suite(const std::string& name, const std::string& extension, const std::string& directory,
                   std::vector<CaseLine>& lines) {
  std::vector<std::string> names;
  for (const fs::path& place : places(extension, directory)) {
    std::error_code error;
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(place, error))
      if (entry.path().extension() == "." + extension) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    bool found = false;
    for (const fs::path& file : files) {
      names.push_back(file.stem().string());
      if (name != "all" && file.stem() != name) continue;
      TOOLS_TRY(read_suite_file(file.string(), lines));
      found = true;
    }
    if (found) return {};
  }
  if (names.empty())
    return invalid(fmt::format("there are no suites (*.{}) to choose '{}' from", extension, name));
  return invalid(fmt::format("there is no suite '{}'; there are all, {}", name, fmt::join(names, ", ")));
}

}  // namespace tools
