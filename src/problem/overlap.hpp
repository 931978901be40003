// Whether strided views share memory, decided exactly: views that interleave without touching do not.
#pragma once

#include "base/view.hpp"

namespace fw {

// Two indices of the view name the same element.
bool overlaps_itself(const View& view);

// Some byte belongs to both.
bool overlap(const View& a, const View& b);

}  // namespace fw
