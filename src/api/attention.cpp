// Calls: describe the tensors, check, ask the backend, plan, run.
#include <cstdint>

#include "api/convert.hpp"
#include "api/failure.hpp"
#include "api/plans.hpp"
#include "api/registry.hpp"
#include "api/structs.hpp"
#include "base/text.hpp"
#include "problem/rules.hpp"

namespace fw::api {
namespace {

// Yardsticks may write fp32 beside 16-bit inputs, so that what they know is not rounded away. For the
// question what the call is, their outputs have the dtype of q.
Status describe_for(const Device& device, const Call& call, Problem& problem) {
  if (!device.wide_outputs) return describe(call, problem);
  Call narrow = call;
  for (View* view : {&narrow.out, &narrow.dq, &narrow.dk, &narrow.dv})
    if (view->dtype == DType::fp32) view->dtype = call.q.dtype;
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
  Problem problem;
  FW_TRY(describe_for(out.target->device, out.call, problem));
  FW_TRY(check(problem));
  return find_plan(*out.target, problem, out.plan);
}

Status check_workspace(const Call& call, std::size_t needed) {
  if (!call.workspace) return {};
  if (reinterpret_cast<std::uintptr_t>(call.workspace) % 256)
    return invalid("workspace is not 256-byte aligned");
  if (call.workspace_bytes < needed)
    return invalid(say("workspace has ", call.workspace_bytes, " bytes, this call needs ", needed));
  return {};
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
