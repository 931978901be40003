#include "checks/races.hpp"

#include <algorithm>
#include <bit>

#include "decode/program.hpp"
#include "machine/group.hpp"

namespace cdna {
namespace {

using Access = Races::Access;

constexpr int kRead = 0, kWritten = 16, kAtomic = 32;  // where a user's bits begin
constexpr uint64_t kSplit = 1ull << 48;

uint64_t own_mark(int wave, Access access) {
  return 1ull << wave << (access == Access::read ? kRead : access == Access::write ? kWritten : kAtomic);
}

// The users that an access must not meet.
uint64_t conflicts(int wave, Access access) {
  const uint64_t others = 0xffff & ~(1ull << wave);
  switch (access) {
    case Access::read: return others << kWritten | others << kAtomic;
    case Access::write: return others << kRead | others << kWritten | others << kAtomic;
    default: return others << kRead | others << kWritten;
  }
}

int first_wave(uint64_t users) { return std::countr_zero(users) % 16; }

}  // namespace

Races::Races(size_t lds_bytes)
    : words_((lds_bytes + 3) / 4), reader_(words_.size()), writer_(words_.size()) {}

void Races::barrier() { std::fill(words_.begin(), words_.end(), 0); }

// Marks whole words in range, and returns all that were marked before.
template <int words>
Races::Users Races::mark_words(int wave, const Touch& t) {
  const uint64_t own = own_mark(wave, t.access);
  std::vector<uint32_t>& instruction = t.access == Access::read ? reader_ : writer_;
  Users met = 0;
  for (uint64_t rest = t.lanes; rest; rest &= rest - 1) {
    const uint32_t first = t.at[std::countr_zero(rest)] / 4;
    for (uint32_t n = first; n < first + words; ++n) {
      met |= words_[n];
      words_[n] |= own;
      instruction[n] = t.instruction;
    }
  }
  return met;
}

// Whether that is all there is to do: whole words that no other wave uses in a way that matters.
bool Races::touch_words(int wave, const Touch& t) {
  uint32_t unaligned = static_cast<uint32_t>(t.bytes), end = 0;
  for (uint64_t rest = t.lanes; rest; rest &= rest - 1) {
    const uint32_t at = t.at[std::countr_zero(rest)];
    unaligned |= at;
    end = std::max(end, at);
  }
  if (unaligned % 4 || uint64_t{end} + static_cast<uint64_t>(t.bytes) > 4 * words_.size()) return false;
  const Users bad = conflicts(wave, t.access) | kSplit;
  switch (t.bytes) {
    case 4: return !(mark_words<1>(wave, t) & bad);
    case 8: return !(mark_words<2>(wave, t) & bad);
    case 12: return !(mark_words<3>(wave, t) & bad);
    default: return !(mark_words<4>(wave, t) & bad);
  }
}

// Calls f(lane, word, users) for every word in range that lanes touch, or for its bytes.
template <class F>
void Races::each(const Touch& t, F f) {
  for (uint64_t rest = t.lanes; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const uint32_t begin = t.at[lane], end = begin + static_cast<uint32_t>(t.bytes);
    for (uint32_t word = begin / 4; word < words_.size() && 4 * word < end; ++word) {
      const bool whole = 4 * word >= begin && 4 * word + 4 <= end;
      if (whole && !(words_[word] & kSplit)) {
        f(lane, word, words_[word]);
        continue;
      }
      if (bytes_.empty()) bytes_.resize(words_.size());
      if (!(words_[word] & kSplit)) bytes_[word].fill(words_[word]);
      words_[word] |= kSplit;
      for (uint32_t n = 0; n < 4; ++n)
        if (4 * word + n >= begin && 4 * word + n < end) f(lane, word, bytes_[word][n]);
    }
  }
}

void Races::touch(const Wave& w, const Touch& t) {
  if (touch_words(w.index, t)) return;
  const uint64_t own = own_mark(w.index, t.access), bad = conflicts(w.index, t.access);
  each(t, [&](int lane, uint32_t word, Users& users) {
    if (users & bad) report(w, t, lane, word, users & bad);
    users |= own;
    (t.access == Access::read ? reader_ : writer_)[word] = t.instruction;
  });
}

void Races::go_on(int wave, const Touch& t) {
  if (touch_words(wave, t)) return;
  each(t, [&](int, uint32_t word, Users& users) {
    users |= own_mark(wave, t.access);
    (t.access == Access::read ? reader_ : writer_)[word] = t.instruction;
  });
}

void Races::arrived(const Wave& w, uint32_t instruction, uint32_t word) {
  if (word >= words_.size()) return;
  words_[word] |= own_mark(w.index, Access::write);
  writer_[word] = instruction;
}

void Races::report(const Wave& w, const Touch& t, int lane, uint32_t word, Users others) const {
  const Users wrote = others >> kWritten;
  const Listing& other = w.program->listing[wrote ? writer_[word] : reader_[word]];
  fault(w, "lane " + std::to_string(lane) + (t.access == Access::read ? " reads" : " writes") + " LDS at " +
               hex(t.at[lane]) + ", which wave " + std::to_string(first_wave(wrote ? wrote : others)) +
               (wrote ? " wrote" : " read") + " since the last barrier, by '" + other.text + "' at " +
               hex(other.address) + ": a barrier, or the s_waitcnt before it, is missing");
}

}  // namespace cdna
