// Rotary embedding, in fp32 as on every backend, and the keys and values appended to a cache.
#pragma once

#include "reference/attention.hpp"

namespace fw::reference {

// The query's row, rotated if the call says so, rounded once to q's dtype.
template <class Real>
void load_query(Real* to, const Head& head, int64_t query);

// Writes k_new (rotated, rounded once) and v_new of one sequence into its cache.
void append(const Attention& attention, const Sequence& sequence);

}  // namespace fw::reference
