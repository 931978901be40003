#include "cpu/cores.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

namespace fw::cpu {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

int affinity_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());  // more processors than the set holds
}

// Processors that `quota` microseconds in each `period` amount to; 0 = no limit.
int quota_cores(const std::string& quota, const std::string& period) {
  const double granted = std::atof(quota.c_str()), length = std::atof(period.c_str());
  if (!(granted > 0) || !(length > 0)) return 0;  // "max", "-1" or no such file
  const double cores = granted / length;
  return cores >= 1e6 ? 0 : static_cast<int>(cores + 0.999999);
}

int least_limit(int a, int b) { return a == 0 ? b : b == 0 ? a : std::min(a, b); }

// The limit at `path` and at every group above it; `read` gives the limit of one folder.
template <class Read>
int limit_up_to_root(const std::string& mount, std::string path, Read read) {
  int limit = read(mount);
  while (path.size() > 1) {
    limit = least_limit(limit, read(mount + path));
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
  return limit;
}

int read_v2(const std::string& folder) {
  std::istringstream text(text_of(folder + "/cpu.max"));
  std::string quota, period;
  text >> quota >> period;
  return quota_cores(quota, period);
}

int read_v1(const std::string& folder) {
  return quota_cores(text_of(folder + "/cpu.cfs_quota_us"), text_of(folder + "/cpu.cfs_period_us"));
}

bool names_cpu(const std::string& controllers) {
  std::istringstream list(controllers);
  for (std::string name; std::getline(list, name, ',');)
    if (name == "cpu") return true;
  return false;
}

}  // namespace

int cgroup_cores(const std::string& root, const std::string& membership) {
  int limit = 0;
  std::istringstream lines(membership);
  for (std::string line; std::getline(lines, line);) {  // hierarchy:controllers:path
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1),
                      path = line.substr(second + 1);
    if (controllers.empty()) limit = least_limit(limit, limit_up_to_root(root, path, read_v2));
    if (names_cpu(controllers)) {
      limit = least_limit(limit, limit_up_to_root(root + "/cpu", path, read_v1));
      limit = least_limit(limit, limit_up_to_root(root + "/" + controllers, path, read_v1));
    }
  }
  return limit;
}

int usable_cores() {
  return least_limit(affinity_cores(), cgroup_cores("/sys/fs/cgroup", text_of("/proc/self/cgroup")));
}

}  // namespace fw::cpu
