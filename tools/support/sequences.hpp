// Which rows, keys and slots each sequence of a call has, and who sees whom: read from the call's own
// tensors.
#pragma once

#include <flashwave/flashwave.h>

#include <cstdint>
#include <vector>

namespace tools {

struct Range {
  std::int64_t begin = 0, end = 0;
  bool empty() const { return begin >= end; }
  bool holds(std::int64_t i) const { return begin <= i && i < end; }
};

struct Sequence {
  std::int64_t rows = 0;     // allotted in q
  std::int64_t queries = 0;  // of those, rows that count
  std::int64_t slots = 0;    // allotted in k, or the cache's capacity
  std::int64_t keys = 0;     // slots that count, new keys and padding included
  std::int64_t leftpad = 0;  // the first slot that counts
  std::int64_t diagonal = 0;
  std::int64_t first_row = 0;   // varlen: of q
  std::int64_t first_slot = 0;  // varlen: of k
  std::int64_t cache_row = 0;   // dense: which batch row of k
};

class Sequences {
 public:
  explicit Sequences(const flashwave_attention& call);

  std::size_t size() const { return all_.size(); }
  const Sequence& operator[](std::size_t b) const { return all_[b]; }

  // Slots row i sees.
  Range visible(std::size_t b, std::int64_t i) const;
  // Slots some row sees: rows are neighbours, so their ranges leave no hole.
  Range visible(std::size_t b) const;

  // Offsets, in elements, of a row of a tensor that is laid out like q (B,Sq,H,D), or like k (B,Sk,H,D).
  std::int64_t query_offset(const flashwave_tensor& t, std::size_t b, std::int64_t i,
                            std::int64_t head) const;
  std::int64_t key_offset(const flashwave_tensor& t, std::size_t b, std::int64_t slot,
                          std::int64_t head) const;
  // Of an element of a tensor like lse: (B,Hq,Sq) or (Hq,Tq).
  std::int64_t lse_offset(const flashwave_tensor& t, std::size_t b, std::int64_t i, std::int64_t head) const;
  // Whether a page is there for the slot; always true without pages.
  bool backed(std::size_t b, std::int64_t slot) const;

 private:
  std::int64_t page_of(std::size_t b, std::int64_t slot) const;

  const flashwave_attention& call_;
  std::vector<Sequence> all_;
};

}  // namespace tools
