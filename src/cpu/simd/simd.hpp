// The vectors of the instruction set this translation unit is built for (src/cpu/isa/CMakeLists.txt chooses).
#pragma once

// clang-format off: the vectors come before what is built from them.
#if defined(FLASHWAVE_SIMD_AVX512)
#include "cpu/simd/avx512.hpp"
#elif defined(FLASHWAVE_SIMD_AVX2)
#include "cpu/simd/avx2.hpp"
#else
#include "cpu/simd/portable.hpp"
#endif
#include "cpu/simd/math.hpp"
#include "cpu/simd/halves.hpp"
#include "cpu/simd/fp16.hpp"
#include "cpu/simd/transpose.hpp"
// clang-format on
