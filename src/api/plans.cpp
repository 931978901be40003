#include "api/plans.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>

#include "base/log.hpp"
#include "base/text.hpp"

namespace fw::api {
namespace {

struct Key {
  std::string device;
  Problem problem;
  bool operator==(const Key&) const = default;
};

struct KeyHash {
  std::size_t operator()(const Key& key) const {
    return ProblemHash()(key.problem) ^ std::hash<std::string>()(key.device);
  }
};

struct Cache {
  // Then all are forgotten: a program in a steady state stays below.
  static constexpr std::size_t capacity = 4096;
  std::mutex mutex;
  std::unordered_map<Key, Plan, KeyHash> plans;
};

Cache& cache() {
  static auto* plans = new Cache;  // never destroyed: calls may outlive static objects
  return *plans;
}

Problem bucketed(Problem problem) {
  problem.seq_k = bucket(problem.seq_k);
  problem.pages = bucket(problem.pages);
  return problem;
}

Status plan(const Target& target, const Problem& problem, Plan& out) {
  FW_TRY(target.backend->plan(bucketed(problem), target.device.name, out));
  out.problem = problem;
  return {};
}

}  // namespace

std::int64_t bucket(std::int64_t length) {
  if (length <= 8) return length;
  const auto octave = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(length - 1)));
  const std::int64_t step = std::max<std::int64_t>(octave / 8, 1);
  return (length + step - 1) / step * step;
}

std::vector<Problem> passes(const Problem& problem) {
  if (problem.pass != Pass::both) return {problem};
  Problem forward = problem, backward = problem;
  forward.pass = Pass::forward;
  forward.want_dlse = forward.want_dbias = forward.want_dsink = false;
  backward.pass = Pass::backward;
  backward.want_lse = backward.want_mask = false;
  return {forward, backward};
}

Status accepts(const Target& target, const Problem& problem) {
  if (auto reason = target.backend->declines(problem, target.device.name))
    return unsupported(say(target.device.name, " declines: ", *reason));
  return {};
}

Status make_plan(const Target& target, const Problem& problem, Plan& out) {
  FW_TRY(accepts(target, problem));
  return plan(target, problem, out);
}

Status find_plan(const Target& target, const Problem& problem, Plan& out) {
  FW_TRY(accepts(target, problem));
  const Key key{target.device.name, bucketed(problem)};
  {
    const std::lock_guard lock(cache().mutex);
    if (const auto found = cache().plans.find(key); found != cache().plans.end()) {
      out = found->second;
      out.problem = problem;
      return {};
    }
  }
  FW_TRY(plan(target, problem, out));
  out.candidates.clear();
  log(LogLevel::info, target.device.name, " plans ", out.instance, ", ", out.splits, " splits");
  const std::lock_guard lock(cache().mutex);
  if (cache().plans.size() >= Cache::capacity) cache().plans.clear();
  cache().plans.emplace(key, out);
  return {};
}

}  // namespace fw::api
