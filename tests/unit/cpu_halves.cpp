#include "cpu_halves.hpp"

#include "cpu/kernels/element.hpp"

namespace fw::FLASHWAVE_TARGET {

#define FLASHWAVE_NAME(x) FLASHWAVE_QUOTED(x)
#define FLASHWAVE_QUOTED(x) #x

extern const RowConversions row_conversions;
const RowConversions row_conversions = {
    FLASHWAVE_NAME(FLASHWAVE_TARGET),
    lanes,
    [](float* to, const Half* from, int n) { widen_row<Fp16>(to, from, n); },
    [](Half* to, const float* from, int n) { narrow_row<Fp16>(to, from, n); },
    [](float* to, const Half* from, int n) { widen_row<Bf16>(to, from, n); },
    [](Half* to, const float* from, int n) { narrow_row<Bf16>(to, from, n); }};

}  // namespace fw::FLASHWAVE_TARGET
