// How many processors this process may keep busy.
#pragma once

#include <string>

namespace fw::cpu {

// The lesser of the affinity mask and the cgroup quota.
int usable_cores();

// Processors that the quotas of a cgroup and of those above it grant, rounded up; 0 = no limit. `root` is the
// mount point of the cgroup file systems, `membership` the text of /proc/self/cgroup.
int cgroup_cores(const std::string& root, const std::string& membership);

}  // namespace fw::cpu
