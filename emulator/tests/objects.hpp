// Code objects that the build compiled from tests/kernels.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/arch.hpp"
#include "object/code_object.hpp"

namespace cdna::test {

// The file's bytes.
const std::vector<uint8_t>& object_file(Arch arch, int version = 5);

std::string object_path(Arch arch, int version = 5);

}  // namespace cdna::test
