// The words of `cdna-emu run`: options, and kernel arguments with their buffers.
#pragma once
#include <string>
#include <vector>

#include "dispatch/launch.hpp"

namespace cdna {

struct RunOptions {
  Grid grid;
  Settings settings;
  bool json = false;
  std::vector<std::string> arguments;
};

RunOptions parse_run(const std::vector<std::string>& words);

// Memory that arguments point to.
class Buffers {
 public:
  explicit Buffers(MemoryMap& memory) : memory_(memory) {}
  // The caller's part of a kernel's arguments, laid out as its metadata says.
  std::vector<uint8_t> pack(const Kernel& k, const std::vector<std::string>& words);
  void write_back() const;

 private:
  struct Buffer {
    std::vector<uint8_t> bytes;
    std::string file;
  };
  uint64_t add(std::vector<uint8_t> bytes, const std::string& file, const std::string& label);
  std::vector<uint8_t> value(const std::string& word);

  MemoryMap& memory_;
  std::vector<Buffer> buffers_;
};

}  // namespace cdna
