// The structs of flashwave.h as ours, and back.
#pragma once

#include "base/status.hpp"
#include "flashwave/flashwave.h"
#include "problem/call.hpp"
#include "problem/problem.hpp"

namespace fw::api {

Status convert(const flashwave_attention& from, Call& to);
Status convert(const flashwave_combine& from, CombineCall& to);
Status convert(const flashwave_problem& from, Problem& to);
flashwave_problem convert(const Problem& from);

}  // namespace fw::api
