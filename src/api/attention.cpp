// Calls: describe the tensors, check, ask the backend, plan, run.
#include "api/convert.hpp"
#include "api/failure.hpp"
#include "api/plans.hpp"
#include "api/registry.hpp"
#include "api/structs.hpp"
#include "base/text.hpp"

namespace fw::api {
namespace {

// The outputs of a yardstick may be fp32 beside 16-bit inputs, so that what it knows is not rounded away.
// What the call asks does not depend on that: it is described as if they had the dtype that other devices
// insist on.
Status describe_for(const Device& device, const Call& call, Problem& problem) {
  if (!device.wide_outputs) return describe(call, problem);
  Call narrow = call;
  const auto as = [](DType dtype, View& view) {
    if (view.dtype == DType::fp32) view.dtype = dtype;
  };
  for (View* view : {&narrow.out, &narrow.dq, &narrow.dk, &narrow.dv}) as(call.q.dtype, *view);
  as(call.bias.dtype, narrow.dbias);
  as(call.sink.dtype, narrow.dsink);
  return describe(narrow, problem);
}

struct Ready {
  Call call;
  const Target* target = nullptr;
  Plan plan;
};

Status prepare(const flashwave_attention* caller, Ready& out) {
  flashwave_attention given;
  FW_TRY(read(caller, "flashwave_attention", given));
  FW_TRY(convert(given, out.call));
  FW_TRY(find(given.device, out.target));
  out.call.host_memory = out.target->device.host_memory;
  Problem problem;
  FW_TRY(describe_for(out.target->device, out.call, problem));
  return find_plan(*out.target, problem, out.plan);
}

Status check_workspace(const Call& call, std::size_t needed) {
  if (!call.workspace || call.workspace_bytes >= needed) return {};
  return invalid(say("workspace has ", call.workspace_bytes, " bytes, this call needs ", needed));
}

Status run(const flashwave_attention* caller) {
  Ready ready;
  FW_TRY(prepare(caller, ready));
  FW_TRY(check_workspace(ready.call, ready.plan.workspace));
  return ready.target->backend->run(ready.plan, ready.call);
}

Status combine(const flashwave_combine* caller) {
  flashwave_combine given;
  FW_TRY(read(caller, "flashwave_combine", given));
  CombineCall call;
  FW_TRY(convert(given, call));
  const Target* target = nullptr;
  FW_TRY(find(given.device, target));
  FW_TRY(check_combine(call));
  return target->backend->combine(call, target->device.name);
}

}  // namespace
}  // namespace fw::api

using namespace fw::api;

int flashwave_run(const flashwave_attention* call) {
  return guard([&] { return run(call); });
}

int flashwave_workspace_size(const flashwave_attention* call, size_t* bytes) {
  return guard([&]() -> fw::Status {
    if (!bytes) return fw::invalid("bytes is null");
    Ready ready;
    FW_TRY(prepare(call, ready));
    *bytes = ready.plan.workspace;
    return {};
  });
}

int flashwave_run_combine(const flashwave_combine* call) {
  return guard([&] { return combine(call); });
}
