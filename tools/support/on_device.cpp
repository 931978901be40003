#include "support/on_device.hpp"

#include <algorithm>
#include <cstdint>

#include "support/members.hpp"
#include "support/tensor.hpp"

namespace tools {

namespace {

struct Span {
  unsigned char *first, *end;
};

// From the byte that lies lowest to behind the one that lies highest.
Span span_of(const flashwave_tensor& t) {
  std::int64_t low = 0, high = 0;
  for (int i = 0; i < t.rank; ++i) {
    const std::int64_t far = (t.shape[i] - 1) * t.stride[i];
    (far < 0 ? low : high) += far;
  }
  return {at(t, low), at(t, high + 1)};
}

}  // namespace

Outcome uses_host_memory(const std::string& device, bool& out) {
  flashwave_device found = FLASHWAVE_INIT(flashwave_device);
  TOOLS_TRY(Outcome::of(flashwave_find_device(device.c_str(), &found)));
  out = found.host_memory != 0;
  return {};
}

OnDevice::~OnDevice() {
  for (void* block : blocks_) flashwave_release(device_.c_str(), block);
}

Outcome OnDevice::allocate(std::size_t bytes, unsigned char*& out) {
  void* block = nullptr;
  TOOLS_TRY(Outcome::of(flashwave_allocate(device_.c_str(), bytes, &block)));
  blocks_.push_back(block);
  out = static_cast<unsigned char*>(block);
  return {};
}

Outcome OnDevice::upload(flashwave_attention& call) {
  for (const Member& member : members()) {
    const flashwave_tensor& t = call.*member.tensor;
    if (elements(t) == 0) continue;
    const Span span = span_of(t);
    regions_.push_back({span.first, span.end, nullptr, is_written(member, call)});
  }
  // Tensors that lie among one another, as those of a packed qkv, stay together.
  std::sort(regions_.begin(), regions_.end(),
            [](const Region& a, const Region& b) { return a.first < b.first; });
  std::vector<Region> merged;
  for (const Region& region : regions_) {
    if (merged.empty() || region.first >= merged.back().end) {
      merged.push_back(region);
      continue;
    }
    merged.back().end = std::max(merged.back().end, region.end);
    merged.back().written = merged.back().written || region.written;
  }
  regions_ = std::move(merged);
  for (Region& region : regions_) {
    constexpr std::uintptr_t alignment = 256;
    const auto offset = static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(region.first) % alignment);
    const auto bytes = static_cast<std::size_t>(region.end - region.first);
    TOOLS_TRY(allocate(offset + bytes, region.copy));
    region.copy += offset;
    TOOLS_TRY(Outcome::of(flashwave_copy(device_.c_str(), region.copy, region.first, bytes)));
  }
  for (const Member& member : members()) {
    flashwave_tensor& t = call.*member.tensor;
    if (elements(t) == 0) continue;
    auto* const data = static_cast<unsigned char*>(t.data);
    const auto holds = [&](const Region& region) {
      return region.first <= span_of(t).first && span_of(t).end <= region.end;
    };
    const Region& home = *std::find_if(regions_.begin(), regions_.end(), holds);
    t.data = home.copy + (data - home.first);
  }
  return {};
}

Outcome OnDevice::add_bytes(std::size_t bytes, unsigned char byte, void*& out) {
  unsigned char* block = nullptr;
  TOOLS_TRY(allocate(bytes, block));
  const std::vector<unsigned char> content(bytes, byte);
  TOOLS_TRY(Outcome::of(flashwave_copy(device_.c_str(), block, content.data(), bytes)));
  out = block;
  return {};
}

Outcome OnDevice::download() const {
  for (const Region& region : regions_)
    if (region.written)
      TOOLS_TRY(Outcome::of(flashwave_copy(device_.c_str(), region.first, region.copy,
                                           static_cast<std::size_t>(region.end - region.first))));
  return {};
}

}  // namespace tools
