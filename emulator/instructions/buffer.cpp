#include "instructions/buffer.hpp"

namespace cdna {
namespace {

struct Resource {
  uint64_t base;
  uint32_t stride, records, index_stride, element_bytes;
  bool swizzle, add_thread;

  explicit Resource(const uint32_t* s) {
    base = s[0] | static_cast<uint64_t>(s[1] & 0xffff) << 32;
    stride = s[1] >> 16 & 0x3fff;
    swizzle = s[1] >> 31;
    records = s[2];
    add_thread = s[3] >> 23 & 1;
    if (add_thread) stride |= (s[3] >> 15 & 15) << 14;
    index_stride = 8u << (s[3] >> 21 & 3);
    element_bytes = 4;
  }
};

uint64_t swizzled(const Resource& r, uint64_t index, uint64_t offset) {
  const uint64_t index_high = index / r.index_stride, index_low = index % r.index_stride;
  const uint64_t offset_high = offset / r.element_bytes, offset_low = offset % r.element_bytes;
  return (index_high * r.stride + offset_high * r.element_bytes) * r.index_stride +
         index_low * r.element_bytes + offset_low;
}

}  // namespace

BufferAccess buffer_access(const Wave& w, const Instruction& i, const Operand* vaddr, int bytes) {
  const Resource r(w.s + vaddr[1].index);
  const uint64_t base = r.base + read_scalar(w, vaddr[2]);
  const bool by_index = i.has(kIndexVector), by_offset = i.has(kOffsetVector);
  const uint32_t* indices = by_index ? w.v[vaddr[0].index] : nullptr;
  const uint32_t* offsets = by_offset ? w.v[vaddr[0].index + by_index] : nullptr;
  const bool unchecked = r.add_thread && !by_index, structured = by_index && r.stride;
  const uint64_t exec = w.exec();
  BufferAccess b;
  b.words = (bytes + 3) / 4;
  b.contiguous = !r.swizzle;
  const int piece = std::min(bytes, 4);
  for (int l = 0; l < kLanes; ++l) {
    const uint64_t index = (indices ? indices[l] : 0) + (r.add_thread ? static_cast<uint64_t>(l) : 0);
    const uint64_t offset =
        static_cast<uint64_t>(static_cast<uint32_t>(i.modifiers.offset)) + (offsets ? offsets[l] : 0);
    const uint64_t active = exec & 1ull << l;
    for (int k = 0; k < b.words; ++k) {
      const uint64_t at = offset + 4 * k;
      const bool inside = unchecked || (structured ? index < r.records : at + piece <= r.records);
      b.word[k].lane[l] = base + (r.swizzle ? swizzled(r, index, at) : index * r.stride + at);
      if (inside) b.lanes[k] |= active;
    }
  }
  // Words of a lane that are partly in range go one by one.
  for (int k = 1; k < b.words; ++k) b.contiguous &= b.lanes[k] == b.lanes[0];
  return b;
}

void check_buffer(Wave& w, const BufferAccess& b, int bytes) {
  if (b.contiguous) return check_memory(w, b.word[0], b.lanes[0], bytes);
  for (int k = 0; k < b.words; ++k) check_memory(w, b.word[k], b.lanes[k], std::min(bytes, 4));
}

void read_buffer(const BufferAccess& b, int bytes, Data& data) {
  for (int k = 0; k < b.words; ++k)
    for (uint32_t& x : data.word[k]) x = 0;
  if (b.contiguous) return read_memory(b.word[0], b.lanes[0], bytes, data);
  for (int k = 0; k < b.words; ++k) {
    Data part;
    read_memory(b.word[k], b.lanes[k], std::min(bytes, 4), part);
    for (int l = 0; l < kLanes; ++l)
      if (b.lanes[k] >> l & 1) data.word[k][l] = part.word[0][l];
  }
}

void write_buffer(const BufferAccess& b, int bytes, const Data& data) {
  if (b.contiguous) return write_memory(b.word[0], b.lanes[0], bytes, data);
  for (int k = 0; k < b.words; ++k) {
    Data part;
    std::memcpy(part.word[0], data.word[k], sizeof part.word[0]);
    write_memory(b.word[k], b.lanes[k], std::min(bytes, 4), part);
  }
}

}  // namespace cdna
