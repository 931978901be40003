#include "instructions/memory.hpp"

#include "checks/checker.hpp"
#include "counters/memory_counters.hpp"

namespace cdna {
namespace {

template <int words>
void read_words(const Addresses& a, uint64_t lanes, Data& data) {
  for (int l = 0; l < kLanes; ++l) {
    if (!(lanes >> l & 1)) continue;
    uint32_t x[words];
    std::memcpy(x, reinterpret_cast<const void*>(a.lane[l]), sizeof x);
    for (int k = 0; k < words; ++k) data.word[k][l] = x[k];
  }
}

template <int words>
void write_words(const Addresses& a, uint64_t lanes, const Data& data) {
  for (int l = 0; l < kLanes; ++l) {
    if (!(lanes >> l & 1)) continue;
    uint32_t x[words];
    for (int k = 0; k < words; ++k) x[k] = data.word[k][l];
    std::memcpy(reinterpret_cast<void*>(a.lane[l]), x, sizeof x);
  }
}

[[noreturn]] void bad_address(Wave& w, const Addresses& a, int lane, int bytes) {
  w.set_pair(kTrapTemp, a.lane[lane]);
  fault(w, "lane " + std::to_string(lane) + " accesses " + std::to_string(bytes) + " bytes at " +
               hex(a.lane[lane]) + ", " + w.group->regions->nearest(a.lane[lane]));
}

}  // namespace

void check_memory(Wave& w, const Addresses& a, uint64_t lanes, int bytes) {
  if (!lanes) return;
  if (w.region) {
    // Usually every lane hits the region of the access before.
    const uint64_t begin = w.region->begin,
                   room = w.region->end - w.region->begin - static_cast<uint64_t>(bytes);
    uint64_t outside = 0;
    if (lanes == kAllLanes) {
      for (int l = 0; l < kLanes; ++l) outside |= static_cast<uint64_t>(a.lane[l] - begin > room);
    } else {
      for (int l = 0; l < kLanes; ++l)
        outside |= static_cast<uint64_t>(a.lane[l] - begin > room) & (lanes >> l);
    }
    if (!(outside & 1) && w.region->end - w.region->begin >= static_cast<uint64_t>(bytes)) return;
  }
  for (int l = 0; l < kLanes; ++l) {
    if (!(lanes >> l & 1)) continue;
    if (w.region && w.region->contains(a.lane[l], bytes)) continue;
    const Region* r = w.group->regions->find(a.lane[l], bytes);
    if (!r) bad_address(w, a, l, bytes);
    w.region = r;
  }
}

void note_global(const Wave& w, const Instruction& i, const Addresses& a, uint64_t lanes, int bytes) {
  if (w.group->counters) w.group->counters->global(w, i, a.lane, lanes, bytes);
}

void deliver(Wave& w, const Operand& o, Shape shape, const Data& data, uint64_t lanes) {
  if (shape.bytes >= 4) {
    for (int k = 0; k < shape.words(); ++k) write_row(w, o.index + k, data.word[k], lanes);
    return;
  }
  const int unused = 32 - 8 * shape.bytes;
  Row32 out;
  for (int l = 0; l < kLanes; ++l) {
    const uint32_t top = data.word[0][l] << unused;
    uint32_t x = shape.is_signed ? static_cast<uint32_t>(static_cast<int32_t>(top) >> unused) : top >> unused;
    // With ECC, as these cards have it, the other half becomes zero.
    if (shape.half == Shape::low) x &= 0xffff;
    if (shape.half == Shape::high) x <<= 16;
    out.x[l] = x;
  }
  write_row(w, o.index, out.x, lanes);
}

void collect(const Wave& w, const Operand& o, Shape shape, Data& data) {
  for (int k = 0; k < shape.words(); ++k) std::memcpy(data.word[k], w.v[o.index + k], sizeof data.word[k]);
  if (shape.half == Shape::high)
    for (uint32_t& x : data.word[0]) x >>= 16;
}

void finish_load(Wave& w, const Instruction& i, const Operand& o, const Data& data, uint64_t lanes,
                 Counter counter) {
  const Shape shape = Shape::of(i.definition->parameter);
  if (!w.late) return deliver(w, o, shape, data, lanes);
  w.poison(o, lanes);
  w.push(counter, {[o, shape, data, lanes](Wave& later) { deliver(later, o, shape, data, lanes); }});
}

void finish_store(Wave& w, Counter counter) {
  if (w.late) w.push(counter, {});
}

void read_memory(const Addresses& a, uint64_t lanes, int bytes, Data& data) {
  switch (bytes) {
    case 4: return read_words<1>(a, lanes, data);
    case 8: return read_words<2>(a, lanes, data);
    case 12: return read_words<3>(a, lanes, data);
    case 16: return read_words<4>(a, lanes, data);
    default:
      for (int l = 0; l < kLanes; ++l)
        if (lanes >> l & 1) {
          data.word[0][l] = 0;
          std::memcpy(&data.word[0][l], reinterpret_cast<const void*>(a.lane[l]), bytes);
        }
  }
}

void write_memory(const Addresses& a, uint64_t lanes, int bytes, const Data& data) {
  switch (bytes) {
    case 4: return write_words<1>(a, lanes, data);
    case 8: return write_words<2>(a, lanes, data);
    case 12: return write_words<3>(a, lanes, data);
    case 16: return write_words<4>(a, lanes, data);
    default:
      for (int l = 0; l < kLanes; ++l)
        if (lanes >> l & 1) std::memcpy(reinterpret_cast<void*>(a.lane[l]), &data.word[0][l], bytes);
  }
}

uint8_t* lds_at(Wave& w, uint64_t at, int bytes, int lane) {
  std::vector<uint8_t>& lds = w.group->lds;
  if (at > lds.size() || static_cast<uint64_t>(bytes) > lds.size() - at)
    fault(w, "lane " + std::to_string(lane) + " accesses " + std::to_string(bytes) + " bytes of LDS at " +
                 hex(at) + ", the workgroup has " + std::to_string(lds.size()));
  return lds.data() + at;
}

void note_lds(Wave& w, const Instruction& i, const uint32_t* at, uint64_t lanes, int bytes, bool read) {
  if (w.group->counters) w.group->counters->local(w, i, at, lanes, bytes, read);
  if (w.group->checker) w.group->checker->touch_lds(w, at, lanes, bytes, read);
}

void finish_load_to_lds(Wave& w, const Instruction& i, uint32_t base, int loaded, const Data& data,
                        uint64_t lanes) {
  const int bytes = std::max(loaded, 4);  // narrow ones are extended to a word
  const int pitch = bytes > 4 ? 16 : 4;
  for (int l = 0; l < kLanes; ++l)
    if (lanes >> l & 1) lds_at(w, base + static_cast<uint32_t>(l * pitch), bytes, l);
  if (w.group->checker) w.group->checker->load_to_lds(w, i, base, pitch, bytes, lanes);
  if (w.group->counters) {
    uint32_t at[kLanes];
    for (int l = 0; l < kLanes; ++l) at[l] = base + static_cast<uint32_t>(l * pitch);
    w.group->counters->local(w, i, at, lanes, bytes, false);
  }
  const auto write = [base, pitch, bytes, lanes](Wave& wave, const Data& d) {
    for (int l = 0; l < kLanes; ++l)
      for (int k = 0; lanes >> l & 1 && k < (bytes + 3) / 4; ++k)
        std::memcpy(lds_at(wave, base + static_cast<uint32_t>(l * pitch + 4 * k), 4, l), &d.word[k][l], 4);
  };
  if (!w.late) return write(w, data);
  w.push(Counter::vector_memory, {[write, data](Wave& later) { write(later, data); }});
}

namespace {

uint8_t* private_at(Wave& w, uint32_t at, int lane) {
  if (at >= w.scratch_bytes)
    fault(w, "lane " + std::to_string(lane) + " accesses private memory at " + hex(at) + ", it has " +
                 std::to_string(w.scratch_bytes) + " bytes");
  return reinterpret_cast<uint8_t*>(w.scratch + (static_cast<uint64_t>(at / 4) * kLanes + lane) * 4 + at % 4);
}

}  // namespace

void read_private(Wave& w, const uint32_t* at, uint64_t lanes, int bytes, Data& data) {
  for (int l = 0; l < kLanes; ++l) {
    if (!(lanes >> l & 1)) continue;
    uint8_t x[16] = {};
    for (int n = 0; n < bytes; ++n) x[n] = *private_at(w, at[l] + n, l);
    for (int k = 0; k < (bytes + 3) / 4; ++k) std::memcpy(&data.word[k][l], x + 4 * k, 4);
  }
}

void write_private(Wave& w, const uint32_t* at, uint64_t lanes, int bytes, const Data& data) {
  for (int l = 0; l < kLanes; ++l)
    for (int n = 0; lanes >> l & 1 && n < bytes; ++n)
      *private_at(w, at[l] + n, l) = static_cast<uint8_t>(data.word[n / 4][l] >> (8 * (n % 4)));
}

}  // namespace cdna
