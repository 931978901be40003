// The GPU kernels of this build: the rows of kernels.tsv, once for each architecture they were compiled for.
#pragma once

#include <span>

#include "base/dtype.hpp"
#include "gpu/code_object.hpp"

namespace fw::amd {

// Words of kernels.tsv.
enum class Kind { plain, fast, scored, decode, combine, append, rotate, fill, mask };

struct Kernel {
  gpu::CodeObject code;
  Kind kind;
  DType dtype;        // none = any
  int dim_qk, dim_v;  // the widest heads it takes; 0 = any
  int rows, keys;     // packed rows of a workgroup, keys of a tile
  int threads;        // of a workgroup
};

std::span<const Kernel> all_kernels();

}  // namespace fw::amd
