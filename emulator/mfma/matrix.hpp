// The parts of the table of matrix instructions.
#pragma once
#include <string>

#include "instructions/tables.hpp"

namespace cdna {

Definition matrix_definition(const std::string& shape, Handler run, int passes, uint8_t archs,
                             const char* prefix = "v_mfma_f32_");

void add_float_matrix(Definitions& all);
void add_integer_matrix(Definitions& all);
void add_double_matrix(Definitions& all);
void add_scaled_matrix(Definitions& all);
void add_sparse_matrix(Definitions& all);

}  // namespace cdna
