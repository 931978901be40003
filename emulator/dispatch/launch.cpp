#include "dispatch/launch.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "dispatch/group_runner.hpp"

namespace cdna {
namespace {

constexpr uint32_t kMostThreads = 1024;
constexpr int kVectorRegisters = 512, kMostWaves = 8;

void check(const Launch& l) {
  const Kernel& k = l.program->kernel;
  uint64_t threads = 1;
  for (int axis = 0; axis < 3; ++axis) {
    if (!l.grid.threads[static_cast<size_t>(axis)])
      throw Error("the workgroup of " + k.name + " has no threads");
    threads *= l.grid.threads[static_cast<size_t>(axis)];
  }
  const uint64_t most =
      k.notes.max_workgroup > 0 ? static_cast<uint64_t>(k.notes.max_workgroup) : kMostThreads;
  if (threads > most)
    throw Error("kernel " + k.name + " takes at most " + std::to_string(most) + " threads a workgroup, not " +
                std::to_string(threads));
  const uint64_t lds = uint64_t{k.descriptor.lds_bytes} + l.grid.dynamic_lds;
  const uint32_t limit = generation(l.program->arch).lds_bytes;
  if (lds > limit)
    throw Error("kernel " + k.name + " asks for " + std::to_string(lds) + " bytes of LDS, " +
                generation(l.program->arch).name + " has " + std::to_string(limit));
}

std::array<uint32_t, 3> group_id(const Grid& g, uint64_t n) {
  return {static_cast<uint32_t>(n % g.groups[0]), static_cast<uint32_t>(n / g.groups[0] % g.groups[1]),
          static_cast<uint32_t>(n / g.groups[0] / g.groups[1])};
}

// As a queue would hold it: what a kernel may ask of its own launch.
std::array<uint32_t, 16> dispatch_packet(const Launch& l) {
  const Grid& g = l.grid;
  const Kernel& k = l.program->kernel;
  const auto address = reinterpret_cast<uint64_t>(l.arguments.data());
  return {2u | 3u << 16,  // a kernel's dispatch, of three dimensions
          g.threads[0] | g.threads[1] << 16,
          g.threads[2],
          g.threads[0] * g.groups[0],
          g.threads[1] * g.groups[1],
          g.threads[2] * g.groups[2],
          k.descriptor.scratch_bytes,
          k.descriptor.lds_bytes + g.dynamic_lds,
          0,
          0,
          static_cast<uint32_t>(address),
          static_cast<uint32_t>(address >> 32)};
}

// What one launch's threads share.
class Workers {
 public:
  Workers(const Launch& launch, uint64_t groups, int threads)
      : launch_(launch),
        groups_(groups),
        threads_(threads),
        scratch_part_(GroupRunner::scratch_bytes(*launch.program) * kLanes *
                      static_cast<uint64_t>(GroupRunner::waves_of(launch.grid))),
        scratch_(scratch_part_ * static_cast<uint64_t>(threads) + 64) {
    const CodeObject& object = *launch.program->object;
    std::vector<Region> own = {
        region(launch.arguments.data(), launch.arguments.size(), "the kernel's arguments"),
        region(object.image(), object.image_bytes(), "the code object"),
        region(packet_.data(), packet_.size() * 4, "the dispatch packet")};
    if (scratch_part_) own.push_back(region(scratch_.data(), scratch_.size(), "private memory"));
    packet_ = dispatch_packet(launch);
    regions_ = std::make_shared<const Regions>(launch.memory->snapshot()->with(own));
  }

  KernelCounts run() {
    std::vector<std::thread> helpers;
    for (int n = 1; n < threads_; ++n) helpers.emplace_back([this, n] { work(n); });
    work(0);
    for (std::thread& t : helpers) t.join();
    if (failure_) std::rethrow_exception(failure_);
    counts_.launches = 1;
    return counts_;
  }

 private:
  static Region region(const void* begin, size_t bytes, const char* label) {
    const auto at = reinterpret_cast<uint64_t>(begin);
    return {at, at + bytes, label};
  }

  void work(int thread) {
    const FloatGuard guard;
    try {
      uint8_t* scratch = aligned_scratch() + scratch_part_ * static_cast<uint64_t>(thread);
      GroupRunner runner(launch_, regions_, scratch, packet_.data());
      for (uint64_t n; !stop_ && (n = next_++) < groups_;)
        runner.run(group_id(launch_.grid, launch_.settings.groups_backward ? groups_ - 1 - n : n), n);
      const std::lock_guard lock(mutex_);
      counts_.program = launch_.program;
      counts_.add(runner.counts());
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      stop_ = true;
    }
  }

  uint8_t* aligned_scratch() {
    return reinterpret_cast<uint8_t*>((reinterpret_cast<uint64_t>(scratch_.data()) + 15) & ~15ull);
  }

  const Launch& launch_;
  uint64_t groups_;
  int threads_;
  uint64_t scratch_part_;
  std::vector<uint8_t> scratch_;
  std::array<uint32_t, 16> packet_;
  std::shared_ptr<const Regions> regions_;
  std::atomic<uint64_t> next_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::exception_ptr failure_;
  KernelCounts counts_;
};

}  // namespace

KernelCounts run(const Launch& launch) {
  check(launch);
  const uint64_t groups = uint64_t{launch.grid.groups[0]} * launch.grid.groups[1] * launch.grid.groups[2];
  const int processors = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int wanted = launch.settings.threads > 0 ? launch.settings.threads : processors;
  const int threads = static_cast<int>(std::clamp<uint64_t>(groups, 1, static_cast<uint64_t>(wanted)));
  return Workers(launch, groups, threads).run();
}

int waves_per_simd(const Program& program) {
  const auto registers = static_cast<int>(program.kernel.descriptor.vgpr_count());
  return std::clamp(kVectorRegisters / registers, 1, kMostWaves);
}

}  // namespace cdna
