// How many processors this process may keep busy.
#pragma once

#include <string>

#include "base/status.hpp"

namespace fw::cpu {

// The least of the affinity mask, the cgroup quotas above this process (rounded up) and FLASHWAVE_THREADS.
Status usable_cores(int& count);

// Processors that the CPU controller of a cgroup grants; 0 = no limit. `root` is the mount point of the
// cgroup file systems, `membership` the text of /proc/self/cgroup.
int cgroup_cores(const std::string& root, const std::string& membership);

}  // namespace fw::cpu
