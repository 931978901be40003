// Memory for tensors. Faults of a kernel should show: memory can be filled with NaN, and end at a page that
// faults.
#pragma once

#include <cstddef>
#include <utility>

namespace tools {

enum class Memory {
  plain,     // zero pages
  poisoned,  // every byte 0xff: NaN in each floating type, -1 in int32
  guarded,   // poisoned, and the last byte stands before a page that faults
};

inline constexpr unsigned char poison = 0xff;

class Block {
 public:
  Block() = default;
  // Throws std::bad_alloc when the machine cannot hold it.
  Block(std::size_t bytes, Memory kind);
  ~Block();
  Block(Block&& other) noexcept { swap(other); }
  Block& operator=(Block&& other) noexcept {
    swap(other);
    return *this;
  }

  unsigned char* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  void swap(Block& other) {
    std::swap(mapping_, other.mapping_);
    std::swap(mapped_, other.mapped_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  void* mapping_ = nullptr;
  std::size_t mapped_ = 0;
  unsigned char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tools
