// Runs workgroups one after another on one host thread.
#pragma once
#include <array>
#include <memory>
#include <vector>

#include "checks/checker.hpp"
#include "dispatch/launch.hpp"

namespace cdna {

class GroupRunner {
 public:
  // `scratch`: private memory for the waves of one workgroup; `packet`: what dispatched them.
  GroupRunner(const Launch& launch, std::shared_ptr<const Regions> regions, uint8_t* scratch,
              const uint32_t* packet);

  void run(const std::array<uint32_t, 3>& id, uint64_t order);
  KernelCounts& counts() { return counts_; }

  static int waves_of(const Grid& grid);
  static uint64_t scratch_bytes(const Program& program);  // a lane

 private:
  void start(const std::array<uint32_t, 3>& id);
  void start_scalars(Wave& w, const std::array<uint32_t, 3>& id) const;
  void start_lanes(Wave& w) const;
  void take_turns(uint64_t order);
  void turn(Wave& w, int burst);
  template <bool checked>
  int execute(Wave& w, int burst);
  bool release_barrier();

  const Launch& launch_;
  const Program& program_;
  uint8_t* scratch_;
  const uint32_t* packet_;
  Group group_;
  std::unique_ptr<Wave[], void (*)(void*)> waves_;
  int wave_count_;
  std::vector<uint64_t> steps_;
  std::vector<uint64_t> barriers_;
  std::unique_ptr<Checker> checker_;
  std::unique_ptr<MemoryCounters> memory_;
  KernelCounts counts_;
  uint32_t host_mode_ = ~0u;
};

}  // namespace cdna
