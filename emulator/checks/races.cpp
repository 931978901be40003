#include "checks/races.hpp"

#include <bit>

#include "decode/program.hpp"
#include "machine/group.hpp"

namespace cdna {
namespace {

constexpr uint64_t kEachByte = 0x0001000100010001ull;

// Bytes [first, last) of a word, as the parts of a cell that belong to them.
uint64_t parts(uint32_t first, uint32_t last) {
  const uint64_t below = last >= 4 ? ~0ull : (1ull << (16 * last)) - 1;
  return below & ~0ull << (16 * first);
}

int first_wave(uint64_t waves) { return std::countr_zero(waves) % 16; }

}  // namespace

Races::Races(size_t lds_bytes) : cells_((lds_bytes + 3) / 4) {}

void Races::restart() {
  now_ = 1;
  cells_.assign(cells_.size(), {});
}

Races::Cell& Races::cell(size_t word) {
  Cell& c = cells_[word];
  if (c.epoch != now_) {
    c.readers = c.writers = c.atomics = 0;
    c.epoch = now_;
  }
  return c;
}

// Calls f(lane, cell, bytes of it).
template <class F>
void Races::each_word(const Touch& t, F f) {
  for (uint64_t rest = t.lanes; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    uint32_t begin = t.at[lane];
    const uint32_t end = begin + static_cast<uint32_t>(t.bytes);
    while (begin < end && begin / 4 < cells_.size()) {
      const uint32_t word = begin / 4, last = std::min(end - 4 * word, 4u);
      f(lane, cell(word), parts(begin % 4, last));
      begin = 4 * word + 4;
    }
  }
}

void Races::mark(Cell& c, int wave, const Touch& t, uint64_t bytes) {
  const uint64_t own = kEachByte << wave & bytes;
  if (t.access == Access::read) {
    c.readers |= own;
    c.read_instruction = t.instruction;
  } else {
    (t.access == Access::write ? c.writers : c.atomics) |= own;
    c.write_instruction = t.instruction;
  }
}

void Races::touch(const Wave& w, const Touch& t) {
  each_word(t, [&](int lane, Cell& c, uint64_t bytes) {
    const uint64_t others = bytes & ~(kEachByte << w.index);
    const uint64_t wrote = (t.access == Access::atomic ? c.writers : c.writers | c.atomics) & others;
    const uint64_t read = t.access == Access::read ? 0 : c.readers & others;
    if (wrote | read) report(w, t, lane, c, wrote, read);
    mark(c, w.index, t, bytes);
  });
}

void Races::go_on(int wave, const Touch& t) {
  each_word(t, [&](int, Cell& c, uint64_t bytes) { mark(c, wave, t, bytes); });
}

void Races::arrived(const Wave& w, uint32_t instruction, uint32_t word) {
  Cell& c = cell(word);
  c.writers |= kEachByte << w.index;
  c.write_instruction = instruction;
}

void Races::report(const Wave& w, const Touch& t, int lane, const Cell& c, uint64_t wrote, uint64_t read) {
  const Listing& other = w.program->listing[wrote ? c.write_instruction : c.read_instruction];
  fault(w, "lane " + std::to_string(lane) + (t.access == Access::read ? " reads" : " writes") + " LDS at " +
               hex(t.at[lane]) + ", which wave " + std::to_string(first_wave(wrote ? wrote : read)) +
               (wrote ? " wrote" : " read") + " since the last barrier, by '" + other.text + "' at " +
               hex(other.address) + ": a barrier, or the s_waitcnt before it, is missing");
}

}  // namespace cdna
