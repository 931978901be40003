// Matrix instructions whose A keeps two of every four elements; a register of indices says which.
#include "instructions/vector.hpp"
#include "mfma/matrix.hpp"
#include "mfma/operands.hpp"

namespace cdna {
namespace {

template <class T>
using Matrix = T[2][kLanes][32];  // the elements of each lane of A and of B

// CBSZ 0: ABID names the part of the index register that counts; otherwise it is the first.
template <class L>
uint32_t indices(const Wave& w, const Instruction& i, int lane) {
  constexpr int kBits = L::kPerLane;  // two for each of the half that is kept
  const uint32_t word = w.v[i.operand[3].index][lane];
  if constexpr (kBits == 32) return word;
  const int set = i.modifiers.cbsz ? 0 : i.modifiers.abid % (32 / kBits);
  return word >> (kBits * set);
}

// L is the layout of the dense product: a lane has kPerLane elements of B, and half as many of A.
template <class L, class T, class Element, class Step>
void multiply_sparse(Wave& w, const Instruction& i, int per_register, Element element, Step step) {
  static thread_local Matrix<T> in;
  for (int source = 0; source < 2; ++source)
    for (int n = 0; n < L::kPerLane / (source ? 1 : 2); ++n)
      for (int lane = 0; lane < kLanes; ++lane)
        in[source][lane][n] =
            element(source, w.v[i.operand[1 + source].index + n / per_register][lane], n % per_register);
  uint32_t out[L::kOutputs][kLanes];
  for (int n = 0; n < L::kOutputs; ++n)
    for (int lane = 0; lane < kLanes; ++lane) {
      const int row = L::output_row(n, lane / L::M), column = lane % L::M;
      uint32_t& sum = out[n][lane] = w.v[i.operand[0].index + n][lane];
      for (int group = 0; group < L::kGroups; ++group) {
        const int from = row + L::M * group;
        const uint32_t index = indices<L>(w, i, from);
        for (int kept = 0; kept < L::kPerLane / 2; ++kept) {
          const uint32_t place = 4 * (static_cast<uint32_t>(kept) / 2) + (index >> (2 * kept) & 3);
          sum = step(in[0][from][kept], in[1][column + L::M * group][place], sum);
        }
      }
    }
  for (int n = 0; n < L::kOutputs; ++n) std::memcpy(w.v[i.operand[0].index + n], out[n], sizeof out[n]);
}

uint32_t add_product(float a, float b, uint32_t sum) { return as_bits(std::fma(a, b, as_float(sum))); }

template <class L, class E>
void run(Wave& w, const Instruction& i) {
  const FloatScope scope(FloatMode::single(w.mode), FloatMode::kIeee & 0x30);
  multiply_sparse<L, float>(
      w, i, 2, [](int, uint32_t word, int n) { return E::widen(word, n); }, add_product);
}

template <class L, bool wide_a, bool wide_b>
void run_eight_bits(Wave& w, const Instruction& i) {
  const FloatScope scope(FloatMode::single(w.mode), FloatMode::kIeee & 0x30);
  const bool fnuz = w.arch == Arch::gfx942;
  const auto numbers = [fnuz](bool wide) -> const std::array<float, 256>& {
    return small_numbers(wide ? fnuz ? kE5m2Fnuz : kE5m2 : fnuz ? kE4m3Fnuz : kE4m3);
  };
  const std::array<float, 256>* number[2] = {&numbers(wide_a), &numbers(wide_b)};
  multiply_sparse<L, float>(
      w, i, 4, [&](int source, uint32_t word, int n) { return (*number[source])[word >> (8 * n) & 0xff]; },
      add_product);
}

template <class L>
void run_integers(Wave& w, const Instruction& i) {
  multiply_sparse<L, int32_t>(
      w, i, 4, [](int, uint32_t word, int n) { return int32_t{static_cast<int8_t>(word >> (8 * n))}; },
      [](int32_t a, int32_t b, uint32_t sum) { return sum + static_cast<uint32_t>(a * b); });
}

void add(Definitions& all, const std::string& name, Handler run, int passes, uint8_t archs, Type type) {
  Definition d = matrix_definition(name, run, passes, archs, "v_smfmac_");
  d.sources.fill(type);
  d.accumulates = true;
  all.push_back(d);
}

// The shapes of one generation: K is 16 for 32 rows, or twice that since gfx950; eight-bit inputs double it.
template <int K>
void add_shapes(Definitions& all, uint8_t archs) {
  using Large = MatrixLayout<32, K, 1>;
  using Small = MatrixLayout<16, 2 * K, 1>;
  using Large8 = MatrixLayout<32, 2 * K, 1>;
  using Small8 = MatrixLayout<16, 4 * K, 1>;
  const auto shape = [](const char* type, int rows, int depth) {
    const std::string side = std::to_string(rows);
    return std::string(type) + side + "x" + side + "x" + std::to_string(depth) + "_";
  };
  const std::string large = shape("f32_", 32, K), small = shape("f32_", 16, 2 * K);
  const std::string large8 = shape("f32_", 32, 2 * K), small8 = shape("f32_", 16, 4 * K);
  add(all, large + "f16", run<Large, element::F16>, 8, archs, Type::single);
  add(all, large + "bf16", run<Large, element::Bf16>, 8, archs, Type::single);
  add(all, small + "f16", run<Small, element::F16>, 4, archs, Type::single);
  add(all, small + "bf16", run<Small, element::Bf16>, 4, archs, Type::single);
  const auto eight = [&]<bool a, bool b>(const char* types) {
    add(all, large8 + types, run_eight_bits<Large8, a, b>, 8, archs, Type::single);
    add(all, small8 + types, run_eight_bits<Small8, a, b>, 4, archs, Type::single);
  };
  eight.template operator()<false, false>("fp8_fp8");
  eight.template operator()<false, true>("fp8_bf8");
  eight.template operator()<true, false>("bf8_fp8");
  eight.template operator()<true, true>("bf8_bf8");
  add(all, shape("i32_", 32, 2 * K) + "i8", run_integers<Large8>, 8, archs, Type::bits);
  add(all, shape("i32_", 16, 4 * K) + "i8", run_integers<Small8>, 4, archs, Type::bits);
}

}  // namespace

void add_sparse_matrix(Definitions& all) {
  add_shapes<16>(all, only(Arch::gfx942) | only(Arch::gfx950));
  add_shapes<32>(all, only(Arch::gfx950));
}

}  // namespace cdna
