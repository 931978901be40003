#include "cpu/fill.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "cpu/pool.hpp"

namespace fw::cpu {
namespace {

constexpr double bytes_per_second = 5e9;
constexpr std::int64_t task_bytes = std::int64_t{1} << 20;

// Calls visit(first element of a row, elements) for every row of the last dimension.
template <class Visit>
void each_row(const View& view, Visit visit) {
  if (!view.given() || view.empty()) return;
  const std::int64_t width = view.shape[view.rank - 1], rows = view.elements() / width;
  const auto size = static_cast<std::int64_t>(size_of(view.dtype));
  const std::int64_t rows_a_task = std::max<std::int64_t>(1, task_bytes / (width * size));
  const auto tasks = static_cast<int>((rows + rows_a_task - 1) / rows_a_task);
  const double seconds = static_cast<double>(rows * width * size) / bytes_per_second;
  parallel_for(team_for(tasks, seconds), tasks, [&](int task, int) {
    const std::int64_t end = std::min(rows, (task + 1) * rows_a_task);
    for (std::int64_t row = task * rows_a_task; row < end; ++row) {
      std::int64_t rest = row, offset = 0;
      for (int d = view.rank - 2; d >= 0; --d) {
        offset += rest % view.shape[d] * view.stride[d];
        rest /= view.shape[d];
      }
      visit(static_cast<std::byte*>(view.data) + offset * size, width);
    }
  });
}

}  // namespace

void fill_zero(const View& view) {
  const std::size_t size = size_of(view.dtype);
  each_row(view, [size](std::byte* row, std::int64_t width) {
    std::memset(row, 0, static_cast<std::size_t>(width) * size);
  });
}

void fill_value(const View& view, float value) {
  each_row(view, [value](std::byte* row, std::int64_t width) {
    std::fill_n(reinterpret_cast<float*>(row), width, value);
  });
}

}  // namespace fw::cpu
