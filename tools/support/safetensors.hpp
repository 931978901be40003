// The safetensors format: eight bytes of header length, a JSON header, then the tensors' bytes without a
// hole. Nothing a file says is trusted; each refusal is one sentence, and nothing throws but bad_alloc.
#pragma once

#include <flashwave/flashwave.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "support/arena.hpp"
#include "support/outcome.hpp"

namespace tools {

inline constexpr std::uint64_t safetensors_header_limit = 16u << 20;

struct StoredTensor {
  std::string name;
  std::string dtype;  // as the file spells it: "F32", "BF16", ...
  Shape shape;
  std::uint64_t begin = 0, end = 0;  // in the data, which starts behind the header
};

struct SafetensorsHeader {
  std::vector<StoredTensor> tensors;  // in the order of their bytes
  std::map<std::string, std::string> metadata;
  std::uint64_t data_begin = 0;  // in the file
};

// Reads a header of a file of `file_bytes` from its first bytes, which hold all of it.
Outcome parse_safetensors(std::span<const unsigned char> start, std::uint64_t file_bytes,
                          SafetensorsHeader& out);

class Safetensors {
 public:
  Outcome read(const std::string& path);

  const SafetensorsHeader& header() const { return header_; }
  bool has(const std::string& name) const { return find(name) != nullptr; }
  // A contiguous, aligned tensor of a type the library knows. BOOL is uint8.
  Outcome tensor(const std::string& name, flashwave_tensor& out);

 private:
  const StoredTensor* find(const std::string& name) const;

  std::string path_;
  SafetensorsHeader header_;
  std::vector<unsigned char> data_;
  Arena copies_{Memory::plain};  // of tensors that the file does not align
};

struct NamedTensor {
  std::string name;
  flashwave_tensor tensor;  // any strides
};

// Writes a file beside `path`, brings it to disk, and renames it: there is never half a file of that name.
Outcome write_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                          const std::map<std::string, std::string>& metadata = {});

}  // namespace tools
