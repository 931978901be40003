// Files read at given places, and files that replace another only when they are whole.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "support/outcome.hpp"

namespace tools {

class File {
 public:
  File() = default;
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  Outcome open(const std::string& path);  // regular files only
  std::uint64_t size() const { return size_; }
  Outcome read(std::span<unsigned char> to, std::uint64_t from) const;  // all of it, or a failure

 private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

// Written beside its name, and given it by commit(); without commit nothing stays.
class ReplacedFile {
 public:
  ReplacedFile() = default;
  ~ReplacedFile();
  ReplacedFile(const ReplacedFile&) = delete;
  ReplacedFile& operator=(const ReplacedFile&) = delete;

  Outcome open(const std::string& path);
  Outcome write(const void* bytes, std::size_t count);
  Outcome commit();

 private:
  Outcome flush();
  Outcome failed(const char* doing) const;

  std::string path_, temporary_;
  int descriptor_ = -1;
  std::vector<unsigned char> buffer_;
};

// The lines of a text file.
Outcome read_lines(const std::string& path, std::vector<std::string>& lines);

}  // namespace tools
