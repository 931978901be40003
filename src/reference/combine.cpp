#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/attention.hpp"
#include "reference/reference.hpp"

namespace fw::reference {
namespace {

constexpr double none = -std::numeric_limits<double>::infinity();

View part(const View& all, int64_t n) {  // all[n]
  View one = all;
  const std::size_t bytes = size_of(all.dtype);
  one.data = static_cast<char*>(all.data) + n * all.stride[0] * static_cast<std::ptrdiff_t>(bytes);
  one.rank = all.rank - 1;
  std::copy_n(all.shape.begin() + 1, one.rank, one.shape.begin());
  std::copy_n(all.stride.begin() + 1, one.rank, one.stride.begin());
  return one;
}

// ln(sum of exp(x)); -inf for none.
double log_sum_exp(const std::vector<double>& x) {
  double top = none, sum = 0;
  for (const double term : x) top = std::max(top, term);
  if (top == none) top = 0;
  for (const double term : x) sum += std::exp(term - top);
  return top + std::log(sum);
}

}  // namespace

Status combine(const CombineCall& call) {
  if (call.out.empty()) return {};
  const int64_t parts = call.outs.shape[0], heads = call.out.shape[call.out.rank - 2],
                width = call.out.shape[call.out.rank - 1];
  const int64_t rows = call.out.elements() / (heads * width);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t h = 0; h < heads; ++h) {
      std::vector<double> lses;
      for (int64_t n = 0; n < parts; ++n) {
        const View lse = part(call.lses, n);
        lses.push_back(load(lse, lse_index(lse, row, h)));
      }
      std::vector<double> terms = lses;
      if (call.sink.given()) terms.push_back(load(call.sink, h * call.sink.stride[0]));
      const double total = log_sum_exp(terms);

      std::vector<double> sum(width), term(width);
      for (int64_t n = 0; n < parts; ++n) {
        if (lses[n] == none) continue;  // it weighs nothing, whatever its out holds
        const View out = part(call.outs, n);
        load_row(term.data(), out, row_index(out, row, h), width);
        for (int64_t d = 0; d < width; ++d) sum[d] += std::exp(lses[n] - total) * term[d];
      }
      for (int64_t d = 0; d < width; ++d) store(call.out, row_index(call.out, row, h) + d, sum[d]);
      if (call.lse.given()) store(call.lse, lse_index(call.lse, row, h), total);
    }
  return {};
}

}  // namespace fw::reference
