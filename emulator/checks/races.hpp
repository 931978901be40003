// Bytes of LDS that two waves touch without a barrier between them, at least one of them writing.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "machine/wave.hpp"

namespace cdna {

class Races {
 public:
  enum class Access : uint8_t { read, write, atomic };

  // Where one instruction touches LDS.
  struct Touch {
    uint32_t instruction;
    Access access;
    int bytes;  // a lane
    uint64_t lanes;
    uint32_t at[kLanes];
  };

  explicit Races(size_t lds_bytes);
  // All waves have passed one, or another workgroup begins.
  void barrier();
  // Faults when another wave has touched the same bytes since the last barrier.
  void touch(const Wave& w, const Touch& t);
  // The wave is not yet done with this.
  void go_on(int wave, const Touch& t);
  // A word of a load to LDS has arrived, since when it counts as written.
  void arrived(const Wave& w, uint32_t instruction, uint32_t word);

 private:
  // Who touched a word, or a byte, since the last barrier: a bit for each wave that reads, writes, changes
  // atomically, in 16 bits each; and whether the word's bytes have users of their own.
  using Users = uint64_t;

  bool touch_words(int wave, const Touch& t);
  template <int words>
  Users mark_words(int wave, const Touch& t);
  template <class F>
  void each(const Touch& t, F f);
  [[noreturn]] void report(const Wave& w, const Touch& t, int lane, uint32_t word, Users others) const;

  std::vector<Users> words_;
  std::vector<uint32_t> reader_, writer_;  // beside words_: the last instruction
  std::vector<std::array<Users, 4>>
      bytes_;  // beside words_; empty until something smaller than a word is touched
};

}  // namespace cdna
