// Scalar loads: a wave reads words that all its lanes share.
#include "checks/checker.hpp"
#include "instructions/memory.hpp"
#include "instructions/tables.hpp"

namespace cdna {
namespace {

constexpr int kMostWords = 16;

void check_scalar(Wave& w, uint64_t address, int bytes) {
  if (w.region && w.region->contains(address, bytes)) return;
  const Region* r = w.group->regions->find(address, bytes);
  if (!r)
    fault(w, "reads " + std::to_string(bytes) + " bytes at " + hex(address) + ", " +
                 w.group->regions->nearest(address));
}

struct Words {
  uint32_t x[kMostWords];
};

void finish(Wave& w, const Operand& o, int words, const Words& data) {
  if (!w.late) {
    std::memcpy(w.s + o.index, data.x, 4 * words);
    return;
  }
  for (int n = 0; n < words; ++n) w.s[o.index + n] = kPoison;
  w.push(Counter::local,
         {[o, words, data](Wave& later) { std::memcpy(later.s + o.index, data.x, 4 * words); }, true});
}

// sbase, then an offset: a constant, an SGPR, or an SGPR and offset:constant.
void s_load(Wave& w, const Instruction& i) {
  const int words = i.definition->parameter;
  const Operand& offset = i.operand[2];
  int64_t bytes = i.modifiers.offset;
  if (i.operands > 2)
    bytes += offset.is_constant() ? static_cast<int64_t>(offset.value) : read_scalar(w, offset);
  const uint64_t address = (read_scalar64(w, i.operand[1]) + static_cast<uint64_t>(bytes)) & ~3ull;
  check_scalar(w, address, 4 * words);
  Words data;
  std::memcpy(data.x, reinterpret_cast<const void*>(address), 4 * words);
  finish(w, i.operand[0], words, data);
}

// From a buffer: words beyond its records read zero.
void s_buffer_load(Wave& w, const Instruction& i) {
  const int words = i.definition->parameter;
  const uint32_t* srd = w.s + i.operand[1].index;
  const uint64_t base = (srd[0] | static_cast<uint64_t>(srd[1] & 0xffff) << 32);
  const uint32_t stride = srd[1] >> 16 & 0x3fff;
  const uint64_t size = stride ? static_cast<uint64_t>(stride) * srd[2] : srd[2];
  uint64_t at = static_cast<uint32_t>(i.modifiers.offset);
  if (i.operands > 2) at += read_scalar(w, i.operand[2]);
  at &= ~3ull;
  Words data{};
  for (int n = 0; n < words; ++n) {
    if (at + 4 * n + 4 > size) continue;
    check_scalar(w, base + at + 4 * n, 4);
    std::memcpy(&data.x[n], reinterpret_cast<const void*>(base + at + 4 * n), 4);
  }
  finish(w, i.operand[0], words, data);
}

void s_memtime(Wave& w, const Instruction& i) {
  Words data{};
  data.x[0] = w.pc;  // time is not modelled; it only has to be something
  finish(w, i.operand[0], 2, data);
}

Definition make(const std::string& name, Handler run, int words) {
  Definition d{name, run, Class::scalar_memory};
  d.parameter = static_cast<uint16_t>(words);
  d.sources.fill(Type::bits);
  return d;
}

}  // namespace

Definitions scalar_memory() {
  Definitions all = {make("s_memtime", s_memtime, 2), make("s_memrealtime", s_memtime, 2)};
  for (int words = 1; words <= kMostWords; words *= 2) {
    const std::string suffix = words == 1 ? "_dword" : "_dwordx" + std::to_string(words);
    all.push_back(make("s_load" + suffix, s_load, words));
    all.push_back(make("s_buffer_load" + suffix, s_buffer_load, words));
  }
  return all;
}

}  // namespace cdna
