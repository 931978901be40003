#include "mfma/elements.hpp"

namespace cdna {
namespace {

std::array<float, 256> table(const Format& f) {
  std::array<float, 256> out{};
  const unsigned count = 1u << (1 + f.exponent_bits + f.fraction_bits);
  for (unsigned n = 0; n < count; ++n) out[n] = widen(n, f);
  return out;
}

}  // namespace

const std::array<float, 256>& small_numbers(const Format& f) {
  static const std::array<std::array<float, 256>, 7> tables = {
      table(kE4m3), table(kE5m2),     table(kE2m3),    table(kE3m2),
      table(kE2m1), table(kE4m3Fnuz), table(kE5m2Fnuz)};
  const bool fnuz = f.top == Format::fnuz;
  if (f.exponent_bits == 4) return tables[fnuz ? 5 : 0];
  if (f.exponent_bits == 5) return tables[fnuz ? 6 : 1];
  if (f.fraction_bits == 3) return tables[2];
  return tables[f.exponent_bits == 3 ? 3 : 4];
}

}  // namespace cdna
