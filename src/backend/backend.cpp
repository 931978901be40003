#include "backend/backend.hpp"

#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/text.hpp"

namespace fw {

Status Backend::prepare(std::string_view) const { return {}; }

Status Backend::allocate(std::string_view, std::size_t bytes, void*& out) const {
  constexpr std::size_t alignment = 256;
  out = nullptr;
  if (bytes <= std::numeric_limits<std::size_t>::max() - alignment)
    out = std::aligned_alloc(alignment, (bytes / alignment + 1) * alignment);
  return out != nullptr ? Status() : exhausted(say("there are no ", bytes, " bytes of memory"));
}

Status Backend::release(std::string_view, void* block) const {
  std::free(block);
  return {};
}

Status Backend::copy(std::string_view, void* to, const void* from, std::size_t bytes) const {
  if (bytes > 0) std::memcpy(to, from, bytes);
  return {};
}

}  // namespace fw
