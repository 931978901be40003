// What goes wrong: Error for bad input, Fault for a running kernel that did what a GPU would not survive.
#pragma once
#include <stdexcept>
#include <string>

namespace cdna {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Fault : Error {
  using Error::Error;
};

std::string hex(unsigned long long value);

}  // namespace cdna
