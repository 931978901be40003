#include "support/tally.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/memory.hpp"
#include "support/tensor.hpp"

namespace tools {

namespace {

constexpr std::int64_t enough = 1024;  // elements: from here on a mean says something
constexpr double mean_factor = 1.5;
constexpr double mean_matters = 0.1;  // of the floor: below, eager's mean error is no yardstick
constexpr double infinity = std::numeric_limits<double>::infinity();

// Equal infinities and NaN where NaN belongs are no error; NaN elsewhere is an infinite one.
double distance(double got, double want) {
  if (std::isnan(want)) return std::isnan(got) ? 0 : infinity;
  if (std::isnan(got)) return infinity;
  return got == want ? 0 : std::fabs(got - want);
}

}  // namespace

std::string place(const std::string& name, const flashwave_tensor& t, std::int64_t index) {
  Shape coordinates(static_cast<std::size_t>(t.rank));
  for (int i = t.rank - 1; i >= 0; --i) {
    coordinates[static_cast<std::size_t>(i)] = index % t.shape[i];
    index /= t.shape[i];
  }
  return fmt::format("{}[{}]", name, fmt::join(coordinates, ","));
}

bool unwritten(const flashwave_tensor& t, std::int64_t offset) {
  const unsigned char* bytes = at(t, offset);
  return std::all_of(bytes, bytes + element_bytes(t.dtype),
                     [](unsigned char byte) { return byte == poison; });
}

void Tally::compare(const flashwave_tensor& got, std::int64_t offset, double want, double yardstick,
                    std::int64_t index, bool zero, bool positive) {
  const double value = load(got.data, got.dtype, offset);
  if (zero) {
    if (hard_.empty() && (value != 0 || (positive && std::signbit(value))))
      hard_ = fmt::format("{} is {} and must be exactly {}0: nothing is seen there", place(name_, got, index),
                          value, positive ? "+" : "");
    return;
  }
  const double error = distance(value, want);
  if (hard_.empty() && std::isnan(value) && !std::isnan(want))
    hard_ = unwritten(got, offset)
                ? fmt::format("{} was never written", place(name_, got, index))
                : fmt::format("{} is NaN, the oracle says {}", place(name_, got, index), want);
  if (error > max_) {
    max_ = error;
    worst_ = fmt::format("{} is {:.9g}, the oracle says {:.9g}", place(name_, got, index), value, want);
  }
  const double eager = distance(yardstick, want);
  ++count_;
  sum_ += error;
  eager_sum_ += eager;
  eager_max_ = std::max(eager_max_, eager);
  if (std::isfinite(want)) largest_ = std::max(largest_, std::fabs(want));
}

void Tally::add(const flashwave_tensor& got, const flashwave_tensor& oracle, const flashwave_tensor& eager,
                const std::vector<char>& zero_rows, bool positive) {
  dtype_ = got.dtype;
  if (elements(got) == 0) return;
  const std::int64_t columns = got.shape[got.rank - 1];
  for_each_row(got, [&](std::int64_t row, std::int64_t offset) {
    const bool zero = !zero_rows.empty() && zero_rows[static_cast<std::size_t>(row)];
    for (std::int64_t j = 0; j < columns; ++j) {
      const std::int64_t index = row * columns + j;  // the oracle's and eager's own outputs have no gaps
      compare(got, offset + j, load(oracle.data, oracle.dtype, index), load(eager.data, eager.dtype, index),
              index, zero, positive);
    }
  });
}

bool Tally::few() const { return count_ < enough; }

double Tally::bound() const {
  return rule_.factor * eager_max_ + rule_.floor + (few() ? ulp(dtype_, largest_) : 0);
}

double Tally::mean_bound() const {
  const double eager_mean = count_ ? eager_sum_ / static_cast<double>(count_) : 0;
  return !few() && eager_mean > mean_matters * rule_.floor ? mean_factor * eager_mean : infinity;
}

std::string Tally::fault() const {
  if (!hard_.empty()) return hard_;
  if (!(max_ <= bound())) return fmt::format("{}: off by {:.3g}, bound {:.3g}", worst_, max_, bound());
  if (!(mean_error() <= mean_bound()))
    return fmt::format("{} has a mean error of {:.3g}, bound {:.3g}", name_, mean_error(), mean_bound());
  return {};
}

}  // namespace tools
