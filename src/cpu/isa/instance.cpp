// One instruction set, one element type: compiled again for each with its own FLASHWAVE_TARGET,
// FLASHWAVE_ELEMENT and compiler flags (src/cpu/isa/CMakeLists.txt). Nothing here may be shared with code
// built for another machine.
#include "cpu/kernels/backward.hpp"
#include "cpu/kernels/bias_gradient.hpp"
#include "cpu/kernels/combine.hpp"
#include "cpu/kernels/forward.hpp"
#include "cpu/kernels/limits.hpp"
#include "cpu/kernels/materialised.hpp"
#include "cpu/kernels/rows.hpp"

namespace fw::FLASHWAVE_TARGET {
namespace {

using E = FLASHWAVE_ELEMENT;

#if defined(__AVX512BF16__)
template <class Element>
struct ProductOf {
  using type = FloatProduct;
};
template <>
struct ProductOf<Bf16> {
  using type = PairProduct;
};
using P = ProductOf<E>::type;
#else
using P = FloatProduct;
#endif

using M = Materialised<E, P, panel_vectors>;

}  // namespace

// The table is found by its name: kernels_Fp32 and so on, in the namespace of its instruction set.
extern const cpu::Kernels FLASHWAVE_TABLE;
const cpu::Kernels FLASHWAVE_TABLE = {
    .instance = FLASHWAVE_INSTANCE,
    .lanes = lanes,
    .forward_rows = forward_rows,
    .forward_keys = forward_keys,
    .forward_scratch = forward_scratch<E, P>,
    .forward = forward<E, P>,
    .backward_scratch = backward_scratch<P>,
    .delta = delta<E, P>,
    .backward = backward<E, P>,
    .reduce_dq = reduce_dq<E>,
    .bias_scratch = bias_scratch<P>,
    .dbias = dbias<E, P>,
    .combine = combine<E>,
    .materialised = {.rows = M::W,
                     .keys = tile_keys,
                     .scratch = M::scratch,
                     .multiply = M::multiply,
                     .softmax = M::softmax,
                     .weigh = M::weigh,
                     .differentiate = M::differentiate,
                     .gather = M::gather},
    .limit = step_limit<P>,
};

}  // namespace fw::FLASHWAVE_TARGET
