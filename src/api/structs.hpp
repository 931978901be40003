// How structs cross the C ABI. The caller's struct may be older or newer than ours: fields it lacks read as
// zero; fields that we lack must be zero.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/status.hpp"
#include "base/text.hpp"

namespace fw::api {

inline Status check_size(const void* caller, std::size_t known, std::string_view name) {
  if (!caller) return invalid(say(name, " is null"));
  std::uint32_t size = 0;
  std::memcpy(&size, caller, sizeof size);
  if (size < sizeof size)
    return invalid(say(name, ".struct_size is ", size, ", set it to sizeof(", name, ")"));
  const auto* bytes = static_cast<const unsigned char*>(caller);
  for (std::size_t i = known; i < size; ++i)
    if (bytes[i])
      return unsupported(say(name, " was built for a newer flashwave: it has ", size,
                             " bytes, this library knows ", known, ", and what follows them is not zero"));
  return {};
}

// A copy with every field of ours.
template <class Struct>
Status read(const Struct* caller, std::string_view name, Struct& out) {
  FW_TRY(check_size(caller, sizeof(Struct), name));
  const std::size_t size = std::min<std::size_t>(caller->struct_size, sizeof(Struct));
  out = Struct{};
  std::memcpy(&out, caller, size);
  return {};
}

// As much of `value` as the caller's struct has room for.
template <class Struct>
Status write(Struct* caller, std::string_view name, const Struct& value) {
  FW_TRY(check_size(caller, sizeof(Struct), name));
  const std::uint32_t size = caller->struct_size;
  std::memcpy(caller, &value, std::min<std::size_t>(size, sizeof(Struct)));
  caller->struct_size = size;
  return {};
}

}  // namespace fw::api
