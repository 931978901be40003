#include "reference/elements.hpp"

#include <bit>
#include <cmath>

#include "base/convert.hpp"

namespace fw::reference {
namespace {

// The nearest 16-bit value of a double must not come by way of the nearest float: that rounds twice. The
// float towards zero, made odd when it is not exact, lies on the same side of every 16-bit midpoint as the
// double.
float odd_float(double x) {
  const auto nearest = static_cast<float>(x);
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (std::fabs(static_cast<double>(nearest)) > std::fabs(x)) --bits;
  if (static_cast<double>(std::bit_cast<float>(bits)) != x) bits |= 1u;
  return std::bit_cast<float>(bits);
}

void fill_from(const View& view, int dimension, int64_t index, double value) {
  if (dimension == view.rank) return store(view, index, value);
  for (int64_t i = 0; i < view.shape[dimension]; ++i)
    fill_from(view, dimension + 1, index + i * view.stride[dimension], value);
}

}  // namespace

double load(const View& view, int64_t index) {
  if (view.dtype == DType::fp64) return static_cast<const double*>(view.data)[index];
  return load_float(view.data, view.dtype, index);
}

template <class Real>
void load_row(Real* to, const View& view, int64_t index, int64_t count) {
  const auto copy = [&]<class Element>(const Element* from, auto widen) {
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<Real>(widen(from[index + i]));
  };
  switch (view.dtype) {
    case DType::fp16:
      return copy(static_cast<const std::uint16_t*>(view.data), [](auto x) { return float_from_fp16(x); });
    case DType::bf16:
      return copy(static_cast<const std::uint16_t*>(view.data), [](auto x) { return float_from_bf16(x); });
    case DType::fp64: return copy(static_cast<const double*>(view.data), [](auto x) { return x; });
    default: return copy(static_cast<const float*>(view.data), [](auto x) { return x; });
  }
}
template void load_row(float*, const View&, int64_t, int64_t);
template void load_row(double*, const View&, int64_t, int64_t);

void store(const View& view, int64_t index, double value) {
  switch (view.dtype) {
    case DType::fp64: static_cast<double*>(view.data)[index] = value; return;
    case DType::fp32: static_cast<float*>(view.data)[index] = static_cast<float>(value); return;
    case DType::uint8:
      static_cast<std::uint8_t*>(view.data)[index] = static_cast<std::uint8_t>(value);
      return;
    default: store_float(view.data, view.dtype, index, odd_float(value));
  }
}

void fill(const View& view, double value) {
  if (view.given() && !view.empty()) fill_from(view, 0, 0, value);
}

float rounded(float x, DType dtype) {
  switch (dtype) {
    case DType::fp16: return float_from_fp16(fp16_from_float(x));
    case DType::bf16: return float_from_bf16(bf16_from_float(x));
    default: return x;
  }
}

}  // namespace fw::reference
