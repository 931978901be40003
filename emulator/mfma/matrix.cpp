#include "mfma/matrix.hpp"

namespace cdna {

Definitions matrix() {
  Definitions all;
  add_float_matrix(all);
  add_integer_matrix(all);
  add_double_matrix(all);
  add_scaled_matrix(all);
  add_sparse_matrix(all);
  return all;
}

}  // namespace cdna
