// Rows that a workgroup copies, turns or clears: an element a thread at a time, of any type.
#pragma once

#include "amd/kernels/element.hpp"
#include "amd/kernels/work.hpp"
#include "meaning/rotary.hpp"

namespace fw::FLASHWAVE_TARGET {

inline constexpr int group_threads = 256;

FLASHWAVE_DEVICE int thread_id() { return __builtin_amdgcn_workitem_id_x(); }
template <class Launch>
FLASHWAVE_DEVICE i64 piece_number(const Launch& l) {
  return l.first_work + __builtin_amdgcn_workgroup_id_x();
}

FLASHWAVE_DEVICE void copy_element(void* to, i64 to_at, const void* from, i64 from_at, Element element) {
  if (element == Element::fp32)
    ((FLASHWAVE_GLOBAL u32*)to)[to_at] = ((const FLASHWAVE_GLOBAL u32*)from)[from_at];
  else
    ((FLASHWAVE_GLOBAL u16*)to)[to_at] = ((const FLASHWAVE_GLOBAL u16*)from)[from_at];
}

// `heads` rows of `dim` elements, whose first `turned` elements turn by the tables' row `position`.
struct Rows {
  const Tensor &to, &from;
  i64 to_offset, from_offset;
  int heads, dim;
};
FLASHWAVE_DEVICE void turn_rows(const Rows& rows, Element element, const amd::RotaryTables& tables,
                                int turned, i64 position) {
  const int pairs = turned / 2, rest = rows.dim - turned;
  for (int i = thread_id(); i < rows.heads * pairs; i += group_threads) {
    const int t = i % pairs;
    const i64 head = i / pairs;
    const Pair pair = rotary_pair(t, turned, tables.interleaved);
    const i64 from = rows.from_offset + head * rows.from.head, to = rows.to_offset + head * rows.to.head;
    Lane first(value_at(rows.from.data, element, from + pair.first));
    Lane second(value_at(rows.from.data, element, from + pair.second));
    turn(first, second, Lane(value_at(tables.cos, tables.element, position * tables.cos_row + t)),
         Lane(value_at(tables.sin, tables.element, position * tables.sin_row + t)));
    set_value(rows.to.data, element, to + pair.first, first.x);
    set_value(rows.to.data, element, to + pair.second, second.x);
  }
  for (int i = thread_id(); i < rows.heads * rest; i += group_threads) {
    const int d = turned + i % rest;
    const i64 head = i / rest;
    copy_element(rows.to.data, rows.to_offset + head * rows.to.head + d, rows.from.data,
                 rows.from_offset + head * rows.from.head + d, element);
  }
}

}  // namespace fw::FLASHWAVE_TARGET
