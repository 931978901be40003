// hip* entry points: streams, events, graphs.
#include "hip/work.hpp"

using namespace cdna;
using namespace cdna::hip;

namespace {

Code create(Stream** out, unsigned flags) {
  Runtime& r = Runtime::get();
  if (!out) return kInvalidValue;
  if (!r.device(thread_state().device)) return kInvalidDevice;
  *out = new Stream;
  (*out)->device = thread_state().device;
  (*out)->flags = flags;
  r.add_stream(*out);
  return kSuccess;
}

struct GraphCopy {
  std::vector<std::function<Code()>> nodes;
};

}  // namespace

HIP_ENTRY hipStreamCreate(Stream** out) { return result(create(out, 0)); }
HIP_ENTRY hipStreamCreateWithFlags(Stream** out, unsigned flags) { return result(create(out, flags)); }
HIP_ENTRY hipStreamCreateWithPriority(Stream** out, unsigned flags, int) {
  return result(create(out, flags));
}

HIP_ENTRY hipStreamDestroy(Stream* s) {
  if (is_default(s) || check_stream(s)) return result(kInvalidHandle);
  if (s->capture != kNotCapturing) Runtime::get().end_capture(*s);
  Runtime::get().remove_stream(s);
  delete s;
  return kSuccess;
}

HIP_ENTRY hipStreamSynchronize(Stream* s) { return result(wait_for(s)); }
HIP_ENTRY hipStreamQuery(Stream* s) { return result(wait_for(s)); }

HIP_ENTRY hipStreamGetFlags(Stream* s, unsigned* flags) {
  if (!flags || check_stream(s)) return result(kInvalidValue);
  *flags = is_default(s) ? 0 : s->flags;
  return kSuccess;
}
HIP_ENTRY hipStreamGetDevice(Stream* s, int* device) {
  if (!device || check_stream(s)) return result(kInvalidValue);
  *device = is_default(s) ? thread_state().device : s->device;
  return kSuccess;
}
HIP_ENTRY hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least) *least = 0;
  if (greatest) *greatest = 0;
  return kSuccess;
}

// A stream that waits for an event of a capture joins it.
HIP_ENTRY hipStreamWaitEvent(Stream* s, Event* e, unsigned) {
  if (!e) return result(kInvalidHandle);
  if (const Code error = check_stream(s)) return result(error);
  if (e->captured_in && (is_default(s) || s->capture == kNotCapturing)) return result(kCaptureUnsupported);
  return kSuccess;
}

HIP_ENTRY hipStreamIsCapturing(Stream* s, int* status) {
  if (!status || check_stream(s)) return result(kInvalidValue);
  *status = is_default(s) ? kNotCapturing : s->capture;
  return kSuccess;
}

HIP_ENTRY hipStreamGetCaptureInfo(Stream* s, int* status, unsigned long long* id) {
  if (const int e = hipStreamIsCapturing(s, status)) return e;
  if (id) *id = is_default(s) ? 0 : s->capture_id;
  return kSuccess;
}

HIP_ENTRY hipStreamGetCaptureInfo_v2(Stream* s, int* status, unsigned long long* id, void** graph,
                                     const void** nodes, size_t* count) {
  if (const int e = hipStreamGetCaptureInfo(s, status, id)) return e;
  if (graph) *graph = is_default(s) ? nullptr : s->graph.get();
  if (nodes) *nodes = nullptr;
  if (count) *count = 0;
  return kSuccess;
}

HIP_ENTRY hipStreamBeginCapture(Stream* s, int) {
  if (is_default(s)) return result(kCaptureUnsupported);
  if (check_stream(s)) return result(kInvalidHandle);
  if (s->capture != kNotCapturing) return result(kIllegalState);
  Runtime::get().begin_capture(*s);
  return kSuccess;
}

HIP_ENTRY hipStreamEndCapture(Stream* s, Graph** out) {
  if (!out) return result(kInvalidValue);
  *out = nullptr;
  if (is_default(s) || check_stream(s) || s->capture == kNotCapturing) return result(kIllegalState);
  const bool valid = s->capture == kCapturing;
  Runtime::get().end_capture(*s);
  if (!valid) {
    s->graph.reset();
    return result(kCaptureInvalidated);
  }
  *out = s->graph.release();
  return kSuccess;
}

HIP_ENTRY hipThreadExchangeStreamCaptureMode(int* mode) { return result(mode ? kSuccess : kInvalidValue); }

HIP_ENTRY hipGraphInstantiate(GraphCopy** out, Graph* graph, void*, char*, size_t) {
  if (!out || !graph) return result(kInvalidValue);
  *out = new GraphCopy{graph->nodes};
  return kSuccess;
}
HIP_ENTRY hipGraphInstantiateWithFlags(GraphCopy** out, Graph* graph, unsigned long long) {
  return hipGraphInstantiate(out, graph, nullptr, nullptr, 0);
}
HIP_ENTRY hipGraphLaunch(GraphCopy* graph, Stream* s) {
  if (!graph) return result(kInvalidValue);
  for (const std::function<Code()>& node : graph->nodes)
    if (const Code e = submit(s, node)) return result(e);
  return kSuccess;
}
HIP_ENTRY hipGraphDestroy(Graph* graph) {
  delete graph;
  return kSuccess;
}
HIP_ENTRY hipGraphExecDestroy(GraphCopy* graph) {
  delete graph;
  return kSuccess;
}

HIP_ENTRY hipEventCreate(Event** out) {
  if (!out) return result(kInvalidValue);
  *out = new Event;
  return kSuccess;
}
HIP_ENTRY hipEventCreateWithFlags(Event** out, unsigned) { return hipEventCreate(out); }
HIP_ENTRY hipEventDestroy(Event* e) {
  delete e;
  return e ? kSuccess : result(kInvalidHandle);
}
HIP_ENTRY hipEventRecord(Event* e, Stream* s) {
  if (!e) return result(kInvalidHandle);
  if (const Code error = check_stream(s)) return result(error);
  e->captured_in = !is_default(s) && s->capture == kCapturing ? s : nullptr;
  e->recorded = true;
  e->time = std::chrono::steady_clock::now();
  return kSuccess;
}
HIP_ENTRY hipEventSynchronize(Event* e) {
  if (!e) return result(kInvalidHandle);
  return e->captured_in ? result(kCaptureUnsupported) : kSuccess;
}
HIP_ENTRY hipEventQuery(Event* e) { return hipEventSynchronize(e); }
HIP_ENTRY hipEventElapsedTime(float* ms, Event* start, Event* stop) {
  if (!ms || !start || !stop) return result(kInvalidValue);
  if (!start->recorded || !stop->recorded) return result(kInvalidHandle);
  *ms = std::chrono::duration<float, std::milli>(stop->time - start->time).count();
  return kSuccess;
}
