#include "problem/shapes.hpp"

#include "problem/refuse.hpp"

namespace fw {
namespace {

// How a dimension is written in sentences, and the size that it constrains.
struct DimRow {
  Dim dim;
  std::string_view name;
  Dim size;
  int more = 0;            // the dimension is the size and so many more
  bool broadcast = false;  // or it is 1
};

constexpr DimRow dim_rows[] = {
    {Dim::batch, "B", Dim::batch},
    {Dim::batch_plus_1, "B+1", Dim::batch, 1},
    {Dim::batch_or_1, "1|B", Dim::batch, 0, true},
    {Dim::cache_rows, "cache rows", Dim::cache_rows},
    {Dim::seq_q, "Sq", Dim::seq_q},
    {Dim::seq_q_or_1, "1|Sq", Dim::seq_q, 0, true},
    {Dim::seq_k, "Sk", Dim::seq_k},
    {Dim::rows_q, "Tq", Dim::rows_q},
    {Dim::rows_k, "Tk", Dim::rows_k},
    {Dim::heads_q, "Hq", Dim::heads_q},
    {Dim::heads_q_or_1, "1|Hq", Dim::heads_q, 0, true},
    {Dim::heads_k, "Hk", Dim::heads_k},
    {Dim::dim_qk, "D", Dim::dim_qk},
    {Dim::dim_v, "Dv", Dim::dim_v},
    {Dim::pages, "pages", Dim::pages},
    {Dim::page_size, "page size", Dim::page_size},
    {Dim::columns, "columns", Dim::columns},
    {Dim::append, "New", Dim::append},
    {Dim::positions, "positions", Dim::positions},
    {Dim::rotary_half, "R/2", Dim::rotary_half},
    {Dim::partials, "N", Dim::partials},
};

const DimRow& row_of(Dim dim) {
  for (const DimRow& row : dim_rows)
    if (row.dim == dim) return row;
  return dim_rows[0];
}

std::string shape_text(const Dims& dims) {
  std::string out = "(";
  for (int i = 0; i < dims.rank; ++i) out += say(i ? ", " : "", row_of(dims.at[i]).name);
  return out + ")";
}

// Offsets in bytes stay far within 64 bits, whatever index a kernel multiplies.
bool strides_fit(const View& view) {
  constexpr std::int64_t limit = std::int64_t{1} << 60;
  std::int64_t sum = 0;
  for (int i = 0; i < view.rank; ++i) {
    std::int64_t far = 0;
    const std::int64_t bytes = static_cast<std::int64_t>(size_of(view.dtype));
    if (view.shape[i] <= 1) continue;
    if (__builtin_mul_overflow(view.stride[i], bytes, &far)) return false;
    if (__builtin_mul_overflow(far, view.shape[i] - 1, &far)) return false;
    if (far > limit || far < -limit) return false;
    sum += far < 0 ? -far : far;
  }
  return sum <= limit;
}

}  // namespace

Status check_view(std::string_view name, const View& view) {
  if (view.rank < 0 || view.rank > View::max_rank)
    return refuse("tensor-rank", name, " has rank ", view.rank, "; a tensor has 1 to ", View::max_rank,
                  " dimensions");
  for (int i = 0; i < view.rank; ++i)
    if (view.shape[i] < 0)
      return refuse("tensor-shape", name, " has size ", view.shape[i], " in dimension ", i,
                    "; sizes are 0 or more");
  const std::size_t bytes = size_of(view.dtype);
  if (bytes == 0) return refuse("tensor-dtype", name, " has no known dtype");
  if (view.empty()) return {};
  if (view.data == nullptr) return refuse("tensor-null", name, " has elements but no data");
  if (reinterpret_cast<std::uintptr_t>(view.data) % bytes != 0)
    return refuse("tensor-aligned", name, " does not lie at a multiple of its element's size, ", bytes,
                  " bytes");
  if (!strides_fit(view)) return refuse("stride-range", name, " has strides that reach more than 2^60 bytes");
  const int last = view.rank - 1;
  if (view.shape[last] > 1 && view.stride[last] != 1)
    return refuse("stride-last", name, " has stride ", view.stride[last], " in its last dimension; it is 1");
  return {};
}

Sizes::Sizes() : known_{} {}

void Sizes::set(Dim dim, std::int64_t size, std::string_view source) {
  known_[static_cast<std::size_t>(dim)] = {size, source};
}
bool Sizes::known(Dim dim) const { return known_[static_cast<std::size_t>(dim)].size >= 0; }
std::int64_t Sizes::of(Dim dim) const { return known(dim) ? known_[static_cast<std::size_t>(dim)].size : 0; }

Status Sizes::take(std::string_view name, const View& view, const Dims& dims) {
  if (view.rank != dims.rank)
    return refuse("tensor-rank", name, " has ", view.rank, " dimensions; it is ", shape_text(dims));
  for (int i = 0; i < dims.rank; ++i) {
    const DimRow& row = row_of(dims.at[i]);
    const std::int64_t size = view.shape[i];
    if (!known(row.size)) {
      if (size < row.more) return refuse("tensor-shape", name, " is empty; it is ", shape_text(dims));
      set(row.size, size - row.more, name);
      continue;
    }
    if (row.broadcast && size == 1) continue;
    const std::int64_t expected = of(row.size) + row.more;
    if (size != expected)
      return refuse("tensor-shape", name, " is ", shape_text(dims), ", and its ", row.name, " is ", size,
                    "; by ", known_[static_cast<std::size_t>(row.size)].source, " it is ", expected);
  }
  return {};
}

}  // namespace fw
