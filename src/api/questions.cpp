// Questions about devices and problems.
#include <iterator>
#include <string>

#include "api/convert.hpp"
#include "api/explain.hpp"
#include "api/failure.hpp"
#include "api/plans.hpp"
#include "api/registry.hpp"
#include "api/structs.hpp"
#include "api/text.hpp"
#include "base/text.hpp"
#include "problem/rules.hpp"

#define TEXT_OF(number) #number
#define VERSION_TEXT(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

namespace fw::api {
namespace {

struct Question {
  const Target* target = nullptr;
  Problem problem;
};

Status read_question(const char* device, const flashwave_problem* caller, Question& out) {
  flashwave_problem given;
  FW_TRY(read(caller, "flashwave_problem", given));
  FW_TRY(convert(given, out.problem));
  FW_TRY(check(out.problem));
  return find(device, out.target);
}

flashwave_plan convert(const Plan& plan) {
  flashwave_plan made{};
  made.tile_q = plan.tile_q;
  made.tile_k = plan.tile_k;
  made.splits = plan.splits;
  made.chunks = plan.chunks;
  made.workspace_bytes = plan.workspace;
  made.thread_bytes = plan.thread_bytes;
  made.partial_bytes = plan.partial_bytes;
  plan.instance.copy(made.instance, std::size(made.instance) - 1);
  return made;
}

Status describe(const Target& target, flashwave_device* device) {
  flashwave_device made{};
  made.name = target.device.name.c_str();
  made.backend = target.device.backend.c_str();
  made.description = target.device.description.c_str();
  made.isa = target.device.isa.c_str();
  made.missing = target.device.missing.c_str();
  made.threads = threads_now(target);
  made.listed = target.device.listed;
  made.host_memory = target.device.host_memory;
  made.driver = target.device.driver.c_str();
  return write(device, "flashwave_device", made);
}

Status measure_peak(const char* device, std::int32_t dtype, flashwave_peak* peak) {
  if (dtype < FLASHWAVE_FP32 || dtype > FLASHWAVE_BF16)
    return invalid(say("dtype is ", dtype, ", peaks are of fp32 (1), fp16 (2) or bf16 (3)"));
  const Target* target = nullptr;
  FW_TRY(find(device, target));
  Peak measured;
  FW_TRY(target->backend->peak(target->device.name, static_cast<DType>(dtype), measured));
  flashwave_peak made{};
  made.fma_flops = measured.fma_flops;
  made.dot_flops = measured.dot_flops;
  made.read_bytes = measured.read_bytes;
  return write(peak, "flashwave_peak", made);
}

}  // namespace
}  // namespace fw::api

using namespace fw::api;

const char* flashwave_version(void) {
  return VERSION_TEXT(FLASHWAVE_VERSION_MAJOR, FLASHWAVE_VERSION_MINOR, FLASHWAVE_VERSION_PATCH);
}
const char* flashwave_message(void) { return last_message(); }
const char* flashwave_rule(void) { return last_rule(); }

int flashwave_supports(const char* device, const flashwave_problem* problem) {
  return guard([&]() -> fw::Status {
    Question question;
    FW_TRY(read_question(device, problem, question));
    for (const fw::Problem& pass : passes(question.problem)) FW_TRY(accepts(*question.target, pass));
    return {};
  });
}

int flashwave_make_plan(const char* device, const flashwave_problem* problem, flashwave_plan* plan) {
  return guard([&]() -> fw::Status {
    Question question;
    FW_TRY(read_question(device, problem, question));
    if (question.problem.pass == fw::Pass::both)
      return fw::invalid("pass is fwd+bwd, which is two calls: plan each of them");
    fw::Plan made;
    FW_TRY(find_plan(*question.target, question.problem, made));
    return write(plan, "flashwave_plan", convert(made));
  });
}

int flashwave_explain(const char* device, const flashwave_problem* problem, char** text) {
  return guard([&]() -> fw::Status {
    Question question;
    FW_TRY(read_question(device, problem, question));
    std::string said;
    FW_TRY(explain(*question.target, question.problem, said));
    return give_text(said, text);
  });
}

size_t flashwave_device_count(void) {
  size_t count = 0;
  guard([&] {
    count = targets().size();
    return fw::Status();
  });
  return count;
}

int flashwave_device_at(size_t index, flashwave_device* device) {
  return guard([&]() -> fw::Status {
    if (index >= targets().size())
      return fw::invalid(fw::say("device index is ", index, ", there are ", targets().size()));
    return describe(*targets()[index], device);
  });
}

int flashwave_find_device(const char* name, flashwave_device* device) {
  return guard([&]() -> fw::Status {
    const Target* target = nullptr;
    FW_TRY(find_any(name, target));
    return describe(*target, device);
  });
}

int flashwave_prepare(const char* device) {
  return guard([&]() -> fw::Status {
    const Target* target = nullptr;
    FW_TRY(find(device, target));
    return target->backend->prepare(target->device.name);
  });
}

int flashwave_measure_peak(const char* device, int32_t dtype, flashwave_peak* peak) {
  return guard([&] { return measure_peak(device, dtype, peak); });
}

int flashwave_set_threads(int32_t threads) {
  return guard([&]() -> fw::Status {
    if (threads < 0) return fw::invalid(fw::say("threads is ", threads, ", it is 0 (the default) or more"));
    limit_threads(threads);
    return {};
  });
}
