// Work on a stream: it is done at once, or recorded when the stream captures.
#pragma once
#include <functional>

#include "hip/runtime.hpp"

namespace cdna::hip {

// The null stream and its two aliases are not objects.
inline bool is_default(const Stream* s) { return reinterpret_cast<uintptr_t>(s) <= 2; }

// What a stream handle stands for: null and the default streams are fine, others must exist.
inline Code check_stream(Stream* s) {
  return is_default(s) || Runtime::get().known(s) ? kSuccess : kInvalidHandle;
}

inline Code submit(Stream* s, std::function<Code()> work) {
  if (const Code e = check_stream(s)) return e;
  if (is_default(s)) {
    if (Runtime::get().capturing()) return Runtime::get().refuse_in_capture();  // it would join the capture
    return work();
  }
  if (s->capture == kInvalidatedCapture) return kCaptureInvalidated;
  if (s->capture == kCapturing) {
    s->graph->nodes.push_back(std::move(work));
    return kSuccess;
  }
  return work();
}

// Waiting for a stream that captures is an error.
inline Code wait_for(Stream* s) {
  if (const Code e = check_stream(s)) return e;
  if (is_default(s)) return Runtime::get().refuse_in_capture();
  if (s->capture == kNotCapturing) return kSuccess;
  s->capture = kInvalidatedCapture;
  return kCaptureUnsupported;
}

}  // namespace cdna::hip
