// The lines that the table-driven tests run, for the test that every instruction has one.
#pragma once
#include <string>
#include <vector>

#include "base/arch.hpp"

namespace cdna::test {

// All of them, and those of vector instructions.
std::vector<std::string> all_lines(Arch arch);

std::vector<std::string> scalar_lines();
std::vector<std::string> matrix_lines();
std::vector<std::string> memory_lines(Arch arch);
std::vector<std::string> atomic_lines(Arch arch);

}  // namespace cdna::test
