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

#if defined(FLASHWAVE_TILES)
using P = TileProduct<FLASHWAVE_TILES>;
static_assert(lanes == tile_side);
#elif defined(__AVX512BF16__)
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

// An entry that multiplies. Tiles are configured while it runs, and released behind it.
#if defined(FLASHWAVE_TILES)
template <auto run, class... Arguments>
auto with_tiles(Arguments... arguments) {
  const TilesInUse<FLASHWAVE_TILES> tiles;
  return run(arguments...);
}
#define FLASHWAVE_ENTRY(...) with_tiles<__VA_ARGS__>
constexpr auto limit_of_step = tile_limit<FLASHWAVE_TILES>;
#else
#define FLASHWAVE_ENTRY(...) __VA_ARGS__
constexpr auto limit_of_step = step_limit<P>;
#endif

}  // namespace

// The table is found by its name: kernels_Fp32 and so on, in the namespace of its instruction set.
extern const cpu::Kernels FLASHWAVE_TABLE;
const cpu::Kernels FLASHWAVE_TABLE = {
    .instance = FLASHWAVE_INSTANCE,
    .lanes = lanes,
    .forward_rows = forward_rows,
    .forward_keys = forward_keys,
    .forward_scratch = forward_scratch<E, P>,
    .forward = FLASHWAVE_ENTRY(forward<E, P>),
    .backward_scratch = backward_scratch<P>,
    .delta = FLASHWAVE_ENTRY(delta<E, P>),
    .backward = FLASHWAVE_ENTRY(backward<E, P>),
    .reduce_dq = reduce_dq<E>,
    .bias_scratch = bias_scratch<P>,
    .dbias = FLASHWAVE_ENTRY(dbias<E, P>),
    .combine = combine<E>,
    .materialised = {.rows = M::W,
                     .keys = tile_keys,
                     .scratch = M::scratch,
                     .multiply = FLASHWAVE_ENTRY(M::multiply),
                     .softmax = M::softmax,
                     .weigh = FLASHWAVE_ENTRY(M::weigh),
                     .differentiate = M::differentiate,
                     .gather = FLASHWAVE_ENTRY(M::gather)},
    .limit = FLASHWAVE_ENTRY(limit_of_step),
};

}  // namespace fw::FLASHWAVE_TARGET
