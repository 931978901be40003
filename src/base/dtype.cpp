#include "base/dtype.hpp"

namespace fw {
namespace {

struct Row {
  DType dtype;
  std::size_t bytes;
  std::string_view name;
  bool floating;
};

constexpr Row rows[] = {
    {DType::none, 0, "none", false},          {DType::fp32, 4, "fp32", true},
    {DType::fp16, 2, "fp16", true},           {DType::bf16, 2, "bf16", true},
    {DType::fp8e4m3fn, 1, "fp8e4m3fn", true}, {DType::fp8e4m3fnuz, 1, "fp8e4m3fnuz", true},
    {DType::fp8e5m2, 1, "fp8e5m2", true},     {DType::fp8e5m2fnuz, 1, "fp8e5m2fnuz", true},
    {DType::int32, 4, "int32", false},        {DType::uint8, 1, "uint8", false},
    {DType::int64, 8, "int64", false},        {DType::fp64, 8, "fp64", false},
};

const Row& row_of(DType dtype) {
  for (const Row& row : rows)
    if (row.dtype == dtype) return row;
  return rows[0];
}

}  // namespace

std::size_t size_of(DType dtype) { return row_of(dtype).bytes; }
std::string_view name_of(DType dtype) { return row_of(dtype).name; }
bool is_float(DType dtype) { return row_of(dtype).floating; }

std::optional<DType> dtype_named(std::string_view name) {
  for (const Row& row : rows)
    if (row.dtype != DType::none && row.name == name) return row.dtype;
  return std::nullopt;
}

}  // namespace fw
