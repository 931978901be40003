// gfx950's matrix instructions on fp8, bf8, fp6, bf6 and fp4, with or without a scale for 32 numbers along K.
#include <algorithm>

#include "instructions/vector.hpp"
#include "mfma/matrix.hpp"
#include "mfma/operands.hpp"

namespace cdna {
namespace {

constexpr int kBlock = 32;  // numbers that share a scale: one lane's

struct Input {
  const Format& format;
  int bits;
};

Input input_of(int code) {
  switch (code) {
    case 0: return {kE4m3, 8};
    case 1: return {kE5m2, 8};
    case 2: return {kE2m3, 6};
    case 3: return {kE3m2, 6};
    default: return {kE2m1, 4};
  }
}

uint32_t field(const Wave& w, int row, int lane, int n, int bits) {
  const int bit = n * bits, word = bit / 32, shift = bit % 32;
  uint64_t pair = w.v[row + word][lane];
  if (shift + bits > 32) pair |= static_cast<uint64_t>(w.v[row + word + 1][lane]) << 32;
  return static_cast<uint32_t>(pair >> shift) & ((1u << bits) - 1);
}

template <class L>
void unpack_small(InputMatrix<L>& m, const Wave& w, const Operand& o, const Input& in) {
  const std::array<float, 256>& number = small_numbers(in.format);
  for (int lane = 0; lane < kLanes; ++lane)
    for (int n = 0; n < kBlock; ++n)
      m.x[0][L::input_k(lane, n)][L::input_row(lane)] = number[field(w, o.index, lane, n, in.bits)];
}

// E8M0 exponents, one a lane: row (column) and block of K are the lane's. Constants give the exponent of a
// float.
struct Scales {
  double x[kLanes];
};

double power(uint32_t e) { return e == 255 ? NAN : std::ldexp(1.0, static_cast<int>(e) - 127); }

Scales read_scales(const Wave& w, const Operand& o, int byte) {
  Scales s;
  if (!o.is_vector()) {
    const double all = power(read_scalar(w, o) >> 23 & 0xff);
    for (double& x : s.x) x = all;
    return s;
  }
  for (int l = 0; l < kLanes; ++l) s.x[l] = power(w.v[o.index][l] >> (8 * byte) & 0xff);
  return s;
}

// The products of 32 numbers are added in fp32 without their scales, then scaled and added with one rounding.
template <class L, bool scaled>
void run(Wave& w, const Instruction& i) {
  static_assert(L::kPerLane == kBlock);
  const FloatScope scope(FloatMode::single(w.mode), 0x30);
  InputMatrix<L> a, b;
  unpack_small<L>(a, w, i.operand[1], input_of(i.modifiers.cbsz));
  unpack_small<L>(b, w, i.operand[2], input_of(i.modifiers.blgp));
  Scales sa, sb;
  if (scaled) {
    const Modifiers& m = i.modifiers;
    sa = read_scales(w, i.operand[4], (m.op_sel & 1) | (m.op_sel_hi & 1) << 1);
    sb = read_scales(w, i.operand[5], (m.op_sel >> 1 & 1) | (m.op_sel_hi >> 1 & 1) << 1);
  }
  Accumulators<L> d;
  read_accumulators(d, w, i.operand[3]);
  for (int n = 0; n < L::kOutputs; ++n)
    for (int part = 0; part < L::kParts; ++part) {
      const int row = L::output_row(n, part);
      float* out = d.x[n] + part * L::M;
      for (int block = 0; block < L::K / kBlock; ++block) {
        alignas(64) float sum[L::M] = {};
        for (int k = block * kBlock; k < (block + 1) * kBlock; ++k)
          for (int l = 0; l < L::M; ++l) sum[l] = __builtin_fmaf(a.x[0][k][row], b.x[0][k][l], sum[l]);
        for (int l = 0; l < L::M; ++l) {
          const double scale = scaled ? sa.x[row + L::M * block] * sb.x[l + L::M * block] : 1.0;
          out[l] = static_cast<float>(static_cast<double>(sum[l]) * scale + static_cast<double>(out[l]));
        }
      }
    }
  write_accumulators(w, i.operand[0], d);
}

template <class L>
void add(Definitions& all, const std::string& shape, int passes) {
  const uint8_t archs = only(Arch::gfx950);
  all.push_back(matrix_definition(shape, run<L, false>, passes, archs));
  all.push_back(matrix_definition(shape, run<L, true>, passes, archs, "v_mfma_scale_f32_"));
}

}  // namespace

void add_scaled_matrix(Definitions& all) {
  add<MatrixLayout<32, 64, 1>>(all, "32x32x64_f8f6f4", 16);
  add<MatrixLayout<16, 128, 1>>(all, "16x16x128_f8f6f4", 8);
}

}  // namespace cdna
