// Matrix instructions on 8-bit integers, accumulating in 32 bits.
#include <algorithm>

#include "instructions/vector.hpp"
#include "mfma/matrix.hpp"
#include "mfma/operands.hpp"

namespace cdna {
namespace {

template <class L>
void run(Wave& w, const Instruction& i) {
  alignas(64) static thread_local int32_t in[2][L::B][L::K][L::M];
  for (int source = 0; source < 2; ++source) {
    MatrixRows rows;
    gather_rows(rows, w, i, source, L::kPerLane / 4);
    for (int lane = 0; lane < kLanes; ++lane)
      for (int n = 0; n < L::kPerLane; ++n)
        in[source][L::input_block(lane)][L::input_k(lane, n)][L::input_row(lane)] =
            static_cast<int8_t>(rows.row[n / 4][lane] >> (8 * (n % 4)));
  }
  const bool clamp = i.has(kClamp);
  Accumulators<L> bits;
  read_accumulators(bits, w, i.operand[3]);
  for (int n = 0; n < L::kOutputs; ++n)
    for (int lane = 0; lane < kLanes; ++lane) {
      const int part = lane / L::M, block = L::output_block(n, part), row = L::output_row(n, part);
      int64_t sum = static_cast<int32_t>(as_bits(bits.x[n][lane]));
      for (int k = 0; k < L::K; ++k) sum += in[0][block][k][row] * in[1][block][k][lane % L::M];
      if (clamp) sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
      bits.x[n][lane] = as_float(static_cast<uint32_t>(sum));
    }
  write_accumulators(w, i.operand[0], bits);
}

template <class L>
void add(Definitions& all, const char* shape, int passes, uint8_t archs) {
  Definition d = matrix_definition(shape, run<L>, passes, archs, "v_mfma_i32_");
  d.sources.fill(Type::bits);
  all.push_back(d);
}

}  // namespace

void add_integer_matrix(Definitions& all) {
  constexpr uint8_t kOld = only(Arch::gfx90a), kNew = only(Arch::gfx942) | only(Arch::gfx950);
  add<MatrixLayout<32, 4, 2>>(all, "32x32x4i8", 16, kOld);
  add<MatrixLayout<16, 4, 4>>(all, "16x16x4i8", 8, kOld);
  add<MatrixLayout<4, 4, 16>>(all, "4x4x4i8", 2, kOld);
  add<MatrixLayout<32, 8, 1>>(all, "32x32x8i8", 16, kOld);
  add<MatrixLayout<16, 16, 1>>(all, "16x16x16i8", 8, kOld);
  add<MatrixLayout<32, 4, 2>>(all, "32x32x4_2b_i8", 16, kNew);
  add<MatrixLayout<16, 4, 4>>(all, "16x16x4_4b_i8", 8, kNew);
  add<MatrixLayout<4, 4, 16>>(all, "4x4x4_16b_i8", 2, kNew);
  add<MatrixLayout<32, 16, 1>>(all, "32x32x16_i8", 8, kNew);
  add<MatrixLayout<16, 32, 1>>(all, "16x16x32_i8", 4, kNew);
  add<MatrixLayout<32, 32, 1>>(all, "32x32x32_i8", 8, only(Arch::gfx950));
  add<MatrixLayout<16, 64, 1>>(all, "16x16x64_i8", 4, only(Arch::gfx950));
}

}  // namespace cdna
