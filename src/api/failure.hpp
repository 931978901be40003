// The edge of the C ABI: no exception passes it, and each thread remembers its last failure.
#pragma once

#include <exception>
#include <new>

#include "base/log.hpp"
#include "base/status.hpp"

namespace fw::api {

// Remember a failure for flashwave_message and flashwave_rule. Fixed buffers: remembering never allocates.
int remember(Code code, const char* message, const char* rule) noexcept;
const char* last_message() noexcept;
const char* last_rule() noexcept;

// Runs `body`, which returns a Status, and turns whatever comes of it into a code.
template <class Body>
int guard(Body&& body) noexcept {
  try {
    const Status status = body();
    if (status.ok()) return static_cast<int>(Code::ok);
    log(LogLevel::error, status.message());
    return remember(status.code(), status.message().c_str(), status.rule().c_str());
  } catch (const std::bad_alloc&) {
    return remember(Code::exhausted, "out of memory", "");
  } catch (const std::exception& error) {
    return remember(Code::internal, error.what(), "");
  } catch (...) {
    return remember(Code::internal, "an exception of unknown type", "");
  }
}

}  // namespace fw::api
