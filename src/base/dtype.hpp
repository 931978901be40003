// Element types of tensors.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace fw {

// The values are part of the C ABI (flashwave_dtype): only append.
enum class DType : int {
  none = 0,
  fp32 = 1,
  fp16 = 2,
  bf16 = 3,
  fp8e4m3fn = 4,
  fp8e4m3fnuz = 5,
  fp8e5m2 = 6,
  fp8e5m2fnuz = 7,
  int32 = 8,
  uint8 = 9,
  int64 = 10,  // only named in refusals: lengths and tables are int32
  fp64 = 11,   // only inside src/reference, whose tests look at unrounded results
};

std::size_t size_of(DType dtype);       // bytes an element; 0 for none
std::string_view name_of(DType dtype);  // "fp32", "bf16", ...
std::optional<DType> dtype_named(std::string_view name);
bool is_float(DType dtype);  // fp32, fp16, bf16 and the fp8 types

}  // namespace fw
