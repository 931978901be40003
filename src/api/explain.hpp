// The text of flashwave_explain: what will run, and why nothing else.
#pragma once

#include <string>

#include "api/registry.hpp"
#include "base/status.hpp"

namespace fw::api {

Status explain(const Target& target, const Problem& problem, std::string& text);

}  // namespace fw::api
