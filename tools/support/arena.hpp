// Owns the memory of tensors and lays them out in it.
#pragma once

#include <cstdint>
#include <vector>

#include "support/memory.hpp"
#include "support/tensor.hpp"

namespace tools {

enum class Form {
  rows,         // as the shape is written
  heads_first,  // (..,S,H,D) stored as (..,H,S,D)
  gaps,         // unused elements after each run of each dimension and before the first
  backward,     // gaps, and the rows of (..,S,H,D) stand in reverse: a negative stride
};

class Arena {
 public:
  explicit Arena(Memory memory) : memory_(memory) {}

  flashwave_tensor add(int dtype, const Shape& shape, Form form = Form::rows);
  // Tensors (..,S,H,D) that agree but for heads and dims, side by side in each row: a packed qkv.
  std::vector<flashwave_tensor> add_packed(int dtype, const std::vector<Shape>& shapes);
  void* add_bytes(std::size_t bytes);

  // A number that changes, in all likelihood, when any byte does.
  std::uint64_t checksum() const;
  // Whether every byte is still poison.
  bool untouched() const;

 private:
  unsigned char* block(std::int64_t count, int dtype);

  Memory memory_;
  std::vector<Block> blocks_;
};

}  // namespace tools
