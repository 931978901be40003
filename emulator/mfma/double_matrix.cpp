// Matrix instructions on fp64.
#include "instructions/vector.hpp"
#include "mfma/matrix.hpp"
#include "mfma/operands.hpp"

namespace cdna {
namespace {

double pair_at(const Wave& w, const Operand& o, int item, int lane) {
  if (!o.is_vector()) return as_double(read_scalar64(w, o));
  const int row = o.index + 2 * item;
  return as_double(static_cast<uint64_t>(w.v[row + 1][lane]) << 32 | w.v[row][lane]);
}

// BLGP negates A, B and C.
template <class L>
void run(Wave& w, const Instruction& i) {
  const FloatScope scope(FloatMode::single(w.mode), 0x30);
  static_assert(L::kPerLane == 1);
  double in[2][L::B][L::K][L::M];
  for (int source = 0; source < 2; ++source)
    for (int lane = 0; lane < kLanes; ++lane) {
      const double x = pair_at(w, i.operand[1 + source], 0, lane);
      in[source][L::input_block(lane)][L::input_k(lane, 0)][L::input_row(lane)] =
          i.modifiers.blgp >> source & 1 ? -x : x;
    }
  double out[L::kOutputs][kLanes];
  for (int n = 0; n < L::kOutputs; ++n)
    for (int lane = 0; lane < kLanes; ++lane) {
      const int part = lane / L::M, block = L::output_block(n, part), row = L::output_row(n, part);
      double sum = pair_at(w, i.operand[3], n, lane);
      if (i.modifiers.blgp >> 2 & 1) sum = -sum;
      for (int k = 0; k < L::K; ++k) sum = std::fma(in[0][block][k][row], in[1][block][k][lane % L::M], sum);
      out[n][lane] = sum;
    }
  for (int n = 0; n < L::kOutputs; ++n)
    for (int lane = 0; lane < kLanes; ++lane) {
      const uint64_t bits = as_bits(out[n][lane]);
      w.v[i.operand[0].index + 2 * n][lane] = static_cast<uint32_t>(bits);
      w.v[i.operand[0].index + 2 * n + 1][lane] = static_cast<uint32_t>(bits >> 32);
    }
}

template <class L>
void add(Definitions& all, const char* shape, int passes, uint8_t archs) {
  Definition d = matrix_definition(shape, run<L>, passes, archs, "v_mfma_f64_");
  d.sources.fill(Type::fp64);
  all.push_back(d);
}

}  // namespace

void add_double_matrix(Definitions& all) {
  constexpr uint8_t kOld = only(Arch::gfx90a), kCdna3 = only(Arch::gfx942), kCdna4 = only(Arch::gfx950);
  using Large = MatrixLayout<16, 4, 1, 1>;
  using Small = MatrixLayout<4, 4, 4, 1>;
  add<Large>(all, "16x16x4f64", 8, kOld);
  add<Small>(all, "4x4x4f64", 4, kOld);
  add<Large>(all, "16x16x4_f64", 8, kCdna3);
  add<Small>(all, "4x4x4_4b_f64", 4, kCdna3);
  add<Large>(all, "16x16x4_f64", 16, kCdna4);
  add<Small>(all, "4x4x4_4b_f64", 8, kCdna4);
}

}  // namespace cdna
