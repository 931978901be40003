#include "support/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <new>

namespace tools {

namespace {

// Linux hands out more than it has and kills whoever touches it, so the size is asked for first.
std::size_t physical_bytes() {
  static const std::size_t bytes =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

// Large plain blocks ask for huge pages, as NumPy's arrays do and as most distributions give unasked: a row
// of (batch, seq, head, dim) tensors often has a small page of its own, and then looking up pages is timed.
constexpr std::size_t huge_page = std::size_t{2} << 20;
bool wants_huge_pages(std::size_t bytes, Memory kind) {
  return kind == Memory::plain && bytes >= 2 * huge_page;
}

}  // namespace

Block::Block(std::size_t bytes, Memory kind) : size_(bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  if (bytes > physical_bytes()) throw std::bad_alloc();
  const std::size_t body = (bytes + page - 1) / page * page;
  const bool huge = wants_huge_pages(bytes, kind);
  mapped_ = body + (huge ? huge_page : page);  // the page behind: a guard, or what an empty block points to
  void* mapping = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  mapping_ = mapping;
  data_ = static_cast<unsigned char*>(mapping_);
  if (huge) {
    data_ += huge_page - 1 - (reinterpret_cast<std::uintptr_t>(data_) + huge_page - 1) % huge_page;
    madvise(data_, body, MADV_HUGEPAGE);  // advice: without huge pages small ones do
  }
  if (kind == Memory::guarded) {
    if (mprotect(data_ + body, page, PROT_NONE) != 0) {
      munmap(mapping_, mapped_);
      throw std::bad_alloc();
    }
    data_ += body - bytes;
  }
  if (kind != Memory::plain) std::memset(data_, poison, bytes);
}

Block::~Block() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_);
}

}  // namespace tools
