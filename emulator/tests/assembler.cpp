#include "assembler.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

namespace cdna::test {
namespace {

std::string temporary(const char* suffix) {
  static int count = 0;
  return testing::TempDir() + "cdna-" + std::to_string(getpid()) + "-" + std::to_string(count++) + suffix;
}

// "..., encoding: [0x01,0x02]" -> bytes
Code encoding(const std::string& line) {
  Code out;
  size_t at = line.find("encoding: [");
  if (at == line.npos) return out;
  for (at = line.find("0x", at); at != line.npos; at = line.find("0x", at + 2))
    out.push_back(static_cast<uint8_t>(std::stoul(line.substr(at, 4), nullptr, 16)));
  return out;
}

}  // namespace

std::vector<Code> assemble_lines(Arch arch, const std::vector<std::string>& lines) {
  const std::string input = temporary(".s");
  {
    std::ofstream file(input);
    for (size_t n = 0; n < lines.size(); ++n) file << "line" << n << ":\n" << lines[n] << "\n";
  }
  const std::string command = std::string("llvm-mc-22 -triple=amdgcn-amd-amdhsa -mcpu=") +
                              generation(arch).name + " -show-encoding " + input + " 2>/dev/null";
  std::vector<Code> out(lines.size());
  FILE* pipe = popen(command.c_str(), "r");
  EXPECT_NE(pipe, nullptr);
  char room[1024];
  size_t line = lines.size();
  while (pipe && std::fgets(room, sizeof room, pipe)) {
    const std::string text = room;
    if (text.rfind("line", 0) == 0) {
      line = std::stoul(text.substr(4));
    } else if (line < lines.size()) {
      const Code code = encoding(text);
      out[line].insert(out[line].end(), code.begin(), code.end());
    }
  }
  if (pipe) pclose(pipe);
  std::remove(input.c_str());
  return out;
}

Code assemble(Arch arch, const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    if (line.find_first_not_of(" \t") != line.npos) lines.push_back(std::move(line));
    at = end + 1;
  }
  Code out;
  const std::vector<Code> parts = assemble_lines(arch, lines);
  for (size_t n = 0; n < parts.size(); ++n) {
    EXPECT_FALSE(parts[n].empty()) << generation(arch).name << " refuses: " << lines[n];
    out.insert(out.end(), parts[n].begin(), parts[n].end());
  }
  return out;
}

}  // namespace cdna::test
