// Rows in memory become operands of matrix products.
#pragma once

#include "amd/kernels/element.hpp"

namespace fw::FLASHWAVE_TARGET {

template <class E>
using RowPointer = const FLASHWAVE_GLOBAL typename E::Stored*;

template <class E>
FLASHWAVE_DEVICE RowPointer<E> row_at(const void* data, i64 offset) {
  return (RowPointer<E>)data + offset;
}

// How rows are read: 16 bytes at a time where a row fills its bucket, so with a look at its end where it does
// not, and an element at a time where its address allows no more. The same for all lanes.
enum class Reading { whole, wide, single };
FLASHWAVE_DEVICE Reading reading_of(bool aligned, int dim, int bucket) {
  return !aligned ? Reading::single : dim == bucket ? Reading::whole : Reading::wide;
}

// The same numbers, unknown to the compiler: else it would work out the place of every element of a row, and
// whether there is one, ahead of a loop over rows, and keep the results in more registers than there are.
FLASHWAVE_DEVICE void renew(int& d, int& dim) {
  dim = uniform(dim);
  asm volatile("" : "+v"(d), "+s"(dim));
}

// Elements d .. d + count of a row as dwords, an element at a time. Those from `dim` on are 0, and not read.
template <class E, int Dwords>
FLASHWAVE_DEVICE vec<u32, Dwords> read_single(RowPointer<E> row, int d, int dim) {
  vec<u32, Dwords> x;
  constexpr int packed = 4 / sizeof(typename E::Stored);
  FLASHWAVE_EACH(i, Dwords) {
    u32 dword = 0;
    FLASHWAVE_EACH(e, packed) {
      const int at = d + i * packed + e;
      const bool there = at < dim;
      u32 bits;
      if constexpr (packed == 1)
        bits = as<u32>(row[there ? at : 0]);
      else
        bits = row[there ? at : 0];
      dword |= (there ? bits : 0u) << (e * 16);
    }
    x[i] = dword;
  }
  __builtin_amdgcn_sched_barrier(0);  // such rows are slow anyway: they need not fill the registers
  return x;
}

// N units of a row, from element d on, `step` elements apart. Elements from `dim` on are 0.
template <class E, int N>
FLASHWAVE_DEVICE void read_units(Unit16 (&x)[N], RowPointer<E> row, int d, int step, int dim,
                                 Reading reading) {
  using Wide = const FLASHWAVE_GLOBAL Unit16*;
  renew(d, dim);
  switch (reading) {
    case Reading::whole: FLASHWAVE_EACH(i, N) x[i] = *(Wide)(row + d + i * step); break;
    case Reading::wide:
      FLASHWAVE_EACH(i, N) {
        const int at = d + i * step;
        const Unit16 read = *(Wide)(row + (at < dim ? at : 0));
        x[i] = at < dim ? read : Unit16(0);
      }
      break;
    case Reading::single: FLASHWAVE_EACH(i, N) x[i] = read_single<E, 4>(row, d + i * step, dim); break;
  }
}

// Neighbouring elements, at d, of N rows. Past `dim` they may be anything.
template <class E, int Dwords, int N>
FLASHWAVE_DEVICE void read_columns(vec<u32, Dwords> (&x)[N], const RowPointer<E> (&rows)[N], int d, int dim,
                                   Reading reading) {
  using Wide = const FLASHWAVE_GLOBAL vec<u32, Dwords>*;
  renew(d, dim);
  if (reading == Reading::single) {
    FLASHWAVE_EACH(i, N) x[i] = read_single<E, Dwords>(rows[i], d, dim);
  } else {
    const int at = d < dim ? d : 0;
    FLASHWAVE_EACH(i, N) x[i] = *(Wide)(rows[i] + at);
  }
}

// Column c of a block of rows, as a unit: element e of it is that of row e.
template <class E, int Dwords>
FLASHWAVE_DEVICE Unit16 column_of(const vec<u32, Dwords> (&rows)[E::unit], int c) {
  Unit16 column;
  if constexpr (E::unit == 4) {
    FLASHWAVE_EACH(e, 4) column[e] = rows[e][c];
  } else {
    FLASHWAVE_EACH(e, 4)
    column[e] = c % 2 ? high_halves(rows[2 * e][c / 2], rows[2 * e + 1][c / 2])
                      : low_halves(rows[2 * e][c / 2], rows[2 * e + 1][c / 2]);
  }
  return column;
}

}  // namespace fw::FLASHWAVE_TARGET
