#include "cpu/memory.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <new>

#include "base/text.hpp"

namespace fw::cpu {
namespace {

constexpr std::size_t huge_page = std::size_t{1} << 21;
constexpr std::size_t most_kept = std::size_t{1} << 26;  // larger blocks go back to the system

struct Block {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};

// Blocks that nobody uses. No lock, so a fork() at any moment leaves it usable.
std::atomic<Block*> kept[8];

Block allocate(std::size_t bytes) {
  const std::size_t alignment = bytes >= huge_page ? huge_page : 256;
  if (bytes > SIZE_MAX - alignment) return {};
  const std::size_t whole = (bytes + alignment - 1) / alignment * alignment;
  void* const data = std::aligned_alloc(alignment, whole);
  if (data == nullptr) return {};
#if defined(MADV_HUGEPAGE)
  if (alignment == huge_page) madvise(data, whole, MADV_HUGEPAGE);
#endif
  return {static_cast<std::byte*>(data), whole};
}

// A kept block that fits and is not much too large.
Block reuse(std::size_t bytes) {
  for (auto& place : kept) {
    Block* const block = place.exchange(nullptr, std::memory_order_acquire);
    if (block == nullptr) continue;
    if (block->bytes >= bytes && block->bytes / 8 <= bytes) {
      const Block found = *block;
      delete block;
      return found;
    }
    Block* expected = nullptr;
    if (!place.compare_exchange_strong(expected, block, std::memory_order_release)) {
      std::free(block->data);  // another thread filled the place meanwhile
      delete block;
    }
  }
  return {};
}

void give_back(Block block) {
  Block* node = block.bytes <= most_kept ? new (std::nothrow) Block(block) : nullptr;
  if (node != nullptr) {
    for (auto& place : kept) {
      Block* expected = nullptr;
      if (place.compare_exchange_strong(expected, node, std::memory_order_release)) return;
    }
    // Perhaps all are of sizes that nobody asks for any more: one of them makes room.
    static std::atomic<unsigned> turn{0};
    node = kept[turn.fetch_add(1, std::memory_order_relaxed) % std::size(kept)].exchange(node);
    if (node == nullptr) return;
    block = *node;
    delete node;
  }
  std::free(block.data);
}

Status no_memory(std::size_t bytes, std::string_view purpose) {
  return exhausted(say("there is no memory for ", bytes, " bytes of ", purpose));
}

}  // namespace

Memory::~Memory() {
  if (data_ == nullptr) return;
  if (allocator_.release != nullptr)
    allocator_.release(allocator_.context, data_);
  else
    give_back({data_, bytes_});
}

Status Memory::take(std::size_t bytes, std::string_view purpose) {
  if (bytes == 0) return {};
  Block block = reuse(bytes);
  if (block.data == nullptr) block = allocate(bytes);
  if (block.data == nullptr) return no_memory(bytes, purpose);
  data_ = block.data;
  bytes_ = block.bytes;
  return {};
}

Status Memory::take_from(const Allocator& allocator, std::size_t bytes, std::string_view purpose) {
  if (allocator.allocate == nullptr) return take(bytes, purpose);
  if (bytes == 0) return {};
  data_ = static_cast<std::byte*>(allocator.allocate(allocator.context, bytes, 256));
  if (data_ == nullptr) return no_memory(bytes, purpose);
  allocator_ = allocator;
  return {};
}

}  // namespace fw::cpu
