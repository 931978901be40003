// Operands of matrix instructions: inputs unpacked into matrices, accumulators read and written.
#pragma once
#include "mfma/elements.hpp"
#include "mfma/layout.hpp"

namespace cdna {

template <class L>
struct alignas(64) InputMatrix {
  float x[L::B][L::K][L::M];  // [block][k][row of A, column of B]
};

template <class L>
struct alignas(64) Accumulators {
  float x[L::kOutputs][kLanes];
};

// CBSZ and ABID: one block of lanes feeds others.
inline int broadcast_lane(int lane, int cbsz, int abid) {
  const int size = 64 >> cbsz;
  return lane % size + size * abid;
}

// BLGP: how B's lanes are permuted.
inline int permuted_lane(int lane, int blgp) {
  switch (blgp) {
    case 1: return lane % 32;
    case 2: return lane % 32 + 32;
    case 3: return (lane + 16) % 64;
    case 4: return lane % 16;
    case 5: return lane % 16 + 16;
    case 6: return lane % 16 + 32;
    case 7: return lane % 16 + 48;
    default: return lane;
  }
}

// The registers of A (source 0) or B (source 1), their lanes permuted as the modifiers say.
inline void gather_rows(MatrixRows& out, const Wave& w, const Instruction& i, int source, int registers) {
  const Modifiers& m = i.modifiers;
  const bool permuted = source == 0 ? m.cbsz != 0 : m.blgp != 0;
  for (int r = 0; r < registers; ++r) {
    out.row[r] = w.v[i.operand[1 + source].index + r];
    if (!permuted) continue;
    for (int l = 0; l < kLanes; ++l)
      out.room[r][l] = out.row[r][source == 0 ? broadcast_lane(l, m.cbsz, m.abid) : permuted_lane(l, m.blgp)];
    out.row[r] = out.room[r];
  }
}

// Lanes of one row group lie side by side, so the inner loop runs along rows.
template <class L, class Widen>
void unpack(InputMatrix<L>& out, const MatrixRows& in, int per_register, Widen widen) {
  for (int n = 0; n < L::kPerLane; ++n) {
    const uint32_t* row = in.row[n / per_register];
    for (int part = 0; part < kLanes / L::M; ++part) {
      float* to = out.x[part % L::B][part / L::B * L::kPerLane + n];
      for (int l = 0; l < L::M; ++l) to[l] = widen(row[part * L::M + l], n % per_register);
    }
  }
}

template <class L>
void read_accumulators(Accumulators<L>& out, const Wave& w, const Operand& c) {
  if (c.is_vector()) {
    for (int r = 0; r < L::kOutputs; ++r) std::memcpy(out.x[r], w.v[c.index + r], sizeof out.x[r]);
    return;
  }
  const float x = as_float(read_scalar(w, c));
  for (auto& row : out.x)
    for (float& lane : row) lane = x;
}

template <class L>
void write_accumulators(Wave& w, const Operand& d, const Accumulators<L>& in) {
  for (int r = 0; r < L::kOutputs; ++r) std::memcpy(w.v[d.index + r], in.x[r], sizeof in.x[r]);
}

}  // namespace cdna
