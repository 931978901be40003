// The end of a row of a forward task: to out and lse, or to a split's share of them.
#pragma once

#include "cpu/kernels.hpp"
#include "cpu/kernels/element.hpp"
#include "meaning/keys.hpp"

namespace fw::FLASHWAVE_TARGET {

using cpu::ForwardTask;

template <class E>
FLASHWAVE_RULE void write_row(const float* row, float lse, const Args& a, const Sequence& s,
                              const ForwardTask& task, int query, int head, int row_of_task) {
  if (task.partial_out) {
    __builtin_memcpy(task.partial_out + (i64)row_of_task * a.dim_v, row, a.dim_v * sizeof(float));
    task.partial_lse[row_of_task] = lse;
  } else {
    narrow_row<E>((typename E::Stored*)a.out.data + query_offset(a.out, s, query, head), row, a.dim_v);
    if (a.lse.data) ((float*)a.lse.data)[query_offset(a.lse, s, query, head)] = lse;
  }
}

}  // namespace fw::FLASHWAVE_TARGET
