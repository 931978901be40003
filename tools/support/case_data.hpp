// The tensors of a case: all that its calls read, made from its line alone.
//
// An element is a function of the seed, the tensor's name and its logical place (sequence, row or slot, head,
// dimension), so layouts, pages and packing of one problem hold equal numbers. What no row may see (rows past
// seqused or cu_seqlens, slots outside [leftpad, length) or every window, unused pages) stays as the memory
// was: NaN unless the memory is plain.
//
//   normal    all ~ N(0,1); slopes in (0, 0.5]; each 32nd bias or 5th sink is -inf; each 8th bool bias hides
//   sharp     q times 8: rows look at a few keys
//   outliers  one in 256 of q, k and v times 32
//   tinydout  dout times 2^-14
#pragma once

#include "support/arena.hpp"
#include "support/case.hpp"
#include "support/outputs.hpp"
#include "support/sequences.hpp"

namespace tools {

class CaseData {
 public:
  // Throws std::bad_alloc when the machine cannot hold it.
  CaseData(const Case& c, Memory memory);
  CaseData(const CaseData&) = delete;
  CaseData& operator=(const CaseData&) = delete;

  // Inputs of both passes; outputs are absent.
  const flashwave_attention& call() const { return call_; }
  const Arena& arena() const { return arena_; }
  Wants wants(int pass) const;
  Style style() const;

 private:
  void make_lengths();
  void make_pages();
  void make_tensors();
  void make_scores();
  void make_rotary();
  void fill_tensors();
  void fill_bias();
  void fill_dlse(const Sequences& sequences);
  flashwave_tensor ints(const Shape& shape, const std::vector<std::int32_t>& values);
  flashwave_tensor floats(std::string_view name, int dtype, const Shape& shape);
  Form form() const;

  const Case& case_;
  Arena arena_;
  flashwave_attention call_ = FLASHWAVE_INIT(flashwave_attention);
};

}  // namespace tools
