// Matrix instructions on fp32, xf32, fp16, bf16, fp8 and bf8, accumulating in fp32.
#include "instructions/vector.hpp"
#include "mfma/matrix.hpp"
#include "mfma/product.hpp"

namespace cdna {
namespace {

template <class E>
constexpr Rounding rounding(Arch arch, bool short_groups) {
  constexpr Precision kInput{E::kFraction, E::kSmallest};
  if (E::kFraction == 23) return {Rounding::chain, 1, kInput, kInput, false};
  if (E::kBits == 32) return {Rounding::fused, 4, kInput, kInput, false};
  if (arch == Arch::gfx90a) return {Rounding::pairwise, short_groups ? 2 : 4, kInput, kInput, false};
  return {Rounding::fused, 8, kInput, kInput, false};
}

void flush_subnormal_halves(float* x, int count) {
  for (int n = 0; n < count; ++n)
    if (std::abs(x[n]) < 0x1p-14f) x[n] = std::copysign(0.0f, x[n]);
}

// gfx90a flushes subnormal numbers of 16-bit inputs, accumulators and results; others keep them. fp32 inputs
// follow MODE, but accumulators do not.
template <class L, class E>
void prepare(const Wave& w, InputMatrix<L>& m) {
  float* x = &m.x[0][0][0];
  constexpr int kCount = L::B * L::K * L::M;
  if (std::is_same_v<E, element::F16> && w.arch == Arch::gfx90a) flush_subnormal_halves(x, kCount);
  if (E::kBits == 32 && !(w.mode >> 4 & 1))
    for (int n = 0; n < kCount; ++n)
      if (std::abs(x[n]) < 0x1p-126f) x[n] = std::copysign(0.0f, x[n]);
}

constexpr uint32_t kKeepSubnormals = 0x30, kFlushSubnormals = 0;

template <class L, class E, bool short_groups>
void run(Wave& w, const Instruction& i) {
  const bool flushes = w.arch == Arch::gfx90a && E::kBits == 16;
  const FloatScope scope(FloatMode::single(w.mode), flushes ? kFlushSubnormals : kKeepSubnormals);
  constexpr int kPerRegister = 32 / E::kBits;
  InputMatrix<L> a, b;
  MatrixRows rows;
  gather_rows(rows, w, i, 0, L::kPerLane / kPerRegister);
  unpack<L>(a, rows, kPerRegister, E::widen);
  gather_rows(rows, w, i, 1, L::kPerLane / kPerRegister);
  unpack<L>(b, rows, kPerRegister, E::widen);
  prepare<L, E>(w, a);
  prepare<L, E>(w, b);
  Accumulators<L> d;
  read_accumulators(d, w, i.operand[3]);
  multiply(w, d, a, b, rounding<E>(w.arch, short_groups));
  write_accumulators(w, i.operand[0], d);
}

const Format& eight_bits(const Wave& w, bool wide_exponent) {
  if (w.arch == Arch::gfx942) return wide_exponent ? kE5m2Fnuz : kE4m3Fnuz;
  return wide_exponent ? kE5m2 : kE4m3;
}

template <class L, bool wide_a, bool wide_b>
void run_eight_bits(Wave& w, const Instruction& i) {
  const FloatScope scope(FloatMode::single(w.mode), kKeepSubnormals);
  const auto unpack_one = [&](InputMatrix<L>& m, int source, const Format& f) {
    const std::array<float, 256>& number = small_numbers(f);
    MatrixRows rows;
    gather_rows(rows, w, i, source, L::kPerLane / 4);
    unpack<L>(m, rows, 4, [&number](uint32_t word, int n) { return number[word >> (8 * n) & 0xff]; });
  };
  InputMatrix<L> a, b;
  const Format &fa = eight_bits(w, wide_a), &fb = eight_bits(w, wide_b);
  unpack_one(a, 0, fa);
  unpack_one(b, 1, fb);
  Accumulators<L> d;
  read_accumulators(d, w, i.operand[3]);
  multiply(w, d, a, b,
           {Rounding::fused, 16, {fa.fraction_bits, 1 - fa.bias}, {fb.fraction_bits, 1 - fb.bias}, true});
  write_accumulators(w, i.operand[0], d);
}

constexpr uint8_t kOld = only(Arch::gfx90a), kNew = only(Arch::gfx942) | only(Arch::gfx950);

// One shape under its old name (gfx90a) and its new one.
struct Both {
  const char *old_name, *new_name;
  int old_passes, new_passes;
};

template <class L, class E, bool short_groups = false>
void add(Definitions& all, const Both& names) {
  if (names.old_name)
    all.push_back(matrix_definition(names.old_name, run<L, E, short_groups>, names.old_passes, kOld));
  if (names.new_name)
    all.push_back(matrix_definition(names.new_name, run<L, E, short_groups>, names.new_passes, kNew));
}

void add_singles(Definitions& all) {
  using namespace element;
  add<MatrixLayout<32, 1, 2>, F32>(all, {"32x32x1f32", "32x32x1_2b_f32", 16, 16});
  add<MatrixLayout<16, 1, 4>, F32>(all, {"16x16x1f32", "16x16x1_4b_f32", 8, 8});
  add<MatrixLayout<4, 1, 16>, F32>(all, {"4x4x1f32", "4x4x1_16b_f32", 2, 2});
  add<MatrixLayout<32, 2, 1>, F32>(all, {"32x32x2f32", "32x32x2_f32", 16, 16});
  add<MatrixLayout<16, 4, 1>, F32>(all, {"16x16x4f32", "16x16x4_f32", 8, 8});
  Definition wide =
      matrix_definition("32x32x4_xf32", run<MatrixLayout<32, 4, 1>, Xf32, false>, 8, only(Arch::gfx942));
  all.push_back(wide);
  all.push_back(
      matrix_definition("16x16x8_xf32", run<MatrixLayout<16, 8, 1>, Xf32, false>, 4, only(Arch::gfx942)));
}

// fp16 and, under _1k names on gfx90a, bf16.
template <class E>
void add_sixteen_bits(Definitions& all, const std::string& type, const std::string& k) {
  const auto both = [&]<class L>(const std::string& shape, const std::string& blocks, int old_passes,
                                 int new_passes) {
    add<L, E>(all,
              {(shape + type + k).c_str(), (shape + blocks + "_" + type).c_str(), old_passes, new_passes});
  };
  both.template operator()<MatrixLayout<32, 4, 2>>("32x32x4", "_2b", 16, 16);
  both.template operator()<MatrixLayout<16, 4, 4>>("16x16x4", "_4b", 8, 8);
  both.template operator()<MatrixLayout<4, 4, 16>>("4x4x4", "_16b", 2, 2);
  both.template operator()<MatrixLayout<32, 8, 1>>("32x32x8", "", 16, 8);
  both.template operator()<MatrixLayout<16, 16, 1>>("16x16x16", "", 8, 4);
  const uint8_t gfx950 = only(Arch::gfx950);
  all.push_back(matrix_definition("32x32x16_" + type, run<MatrixLayout<32, 16, 1>, E, false>, 8, gfx950));
  all.push_back(matrix_definition("16x16x32_" + type, run<MatrixLayout<16, 32, 1>, E, false>, 4, gfx950));
}

// gfx90a's first bf16 instructions take one register of each input.
void add_first_brains(Definitions& all) {
  using element::Bf16;
  add<MatrixLayout<32, 2, 2>, Bf16, true>(all, {"32x32x2bf16", nullptr, 16, 0});
  add<MatrixLayout<16, 2, 4>, Bf16, true>(all, {"16x16x2bf16", nullptr, 8, 0});
  add<MatrixLayout<4, 2, 16>, Bf16, true>(all, {"4x4x2bf16", nullptr, 2, 0});
  add<MatrixLayout<32, 4, 1>, Bf16, true>(all, {"32x32x4bf16", nullptr, 16, 0});
  add<MatrixLayout<16, 8, 1>, Bf16, true>(all, {"16x16x8bf16", nullptr, 8, 0});
}

template <bool wide_a, bool wide_b>
void add_eight_bits(Definitions& all, const std::string& types) {
  all.push_back(matrix_definition("32x32x16" + types, run_eight_bits<MatrixLayout<32, 16, 1>, wide_a, wide_b>,
                                  8, kNew));
  all.push_back(matrix_definition("16x16x32" + types, run_eight_bits<MatrixLayout<16, 32, 1>, wide_a, wide_b>,
                                  4, kNew));
}

}  // namespace

Definition matrix_definition(const std::string& shape, Handler run, int passes, uint8_t archs,
                             const char* prefix) {
  Definition d{prefix + shape, run, Class::matrix};
  d.sources.fill(Type::single);
  d.passes = static_cast<uint8_t>(passes);
  d.clocks = static_cast<uint16_t>(4 * passes);
  d.only = archs;
  return d;
}

void add_float_matrix(Definitions& all) {
  add_singles(all);
  add_sixteen_bits<element::F16>(all, "f16", "");
  add_sixteen_bits<element::Bf16>(all, "bf16", "_1k");
  add_first_brains(all);
  add_eight_bits<false, false>(all, "_fp8_fp8");
  add_eight_bits<false, true>(all, "_fp8_bf8");
  add_eight_bits<true, false>(all, "_bf8_fp8");
  add_eight_bits<true, true>(all, "_bf8_bf8");
}

}  // namespace cdna
