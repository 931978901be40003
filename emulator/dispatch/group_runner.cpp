#include "dispatch/group_runner.hpp"

#include <cstdlib>
#include <limits>
#include <new>

namespace cdna {
namespace {

constexpr int kLongestRandomBurst = 32;
constexpr uint64_t kDynamicStackBytes = 16384;

void free_waves(void* p) { std::free(p); }

std::unique_ptr<Wave[], void (*)(void*)> make_waves(int count) {
  void* memory = std::aligned_alloc(64, sizeof(Wave) * static_cast<size_t>(count));
  if (!memory) throw Error("no memory for the registers of " + std::to_string(count) + " waves");
  return {static_cast<Wave*>(memory), free_waves};
}

uint64_t next_random(uint64_t& state) {
  state += 0x9e3779b97f4a7c15ull;
  uint64_t x = state;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

}  // namespace

int GroupRunner::waves_of(const Grid& g) {
  return static_cast<int>((g.threads[0] * g.threads[1] * g.threads[2] + kLanes - 1) / kLanes);
}

uint64_t GroupRunner::scratch_bytes(const Program& p) {
  const uint64_t fixed = p.kernel.descriptor.scratch_bytes;
  return (fixed + (p.kernel.notes.dynamic_stack ? kDynamicStackBytes : 0) + 15) & ~15ull;
}

GroupRunner::GroupRunner(const Launch& launch, std::shared_ptr<const Regions> regions, uint8_t* scratch,
                         const uint32_t* packet)
    : launch_(launch),
      program_(*launch.program),
      scratch_(scratch),
      packet_(packet),
      waves_(make_waves(waves_of(launch.grid))),
      wave_count_(waves_of(launch.grid)),
      steps_(static_cast<size_t>(wave_count_)),
      barriers_(static_cast<size_t>(wave_count_)) {
  const size_t lds = program_.kernel.descriptor.lds_bytes + launch.grid.dynamic_lds;
  group_.lds.resize(lds);
  group_.regions = std::move(regions);
  if (const Checks checks = launch.settings.checks; checks != Checks::none) {
    const Watch watch{checks >= Checks::races, checks >= Checks::all};
    checker_ = std::make_unique<Checker>(program_, wave_count_, lds, watch);
    group_.checker = checker_.get();
  }
  if (launch.settings.count_memory) {
    memory_ = std::make_unique<MemoryCounters>(program_.code.size());
    group_.counters = memory_.get();
  }
  counts_.program = launch.program;
  counts_.executed.resize(program_.code.size());
  counts_.jumped.resize(program_.code.size());
}

void GroupRunner::run(const std::array<uint32_t, 3>& id, uint64_t order) {
  start(id);
  take_turns(order);
  counts_.groups += 1;
  counts_.waves += static_cast<uint64_t>(wave_count_);
  if (memory_) counts_.memory = memory_->use;
}

void GroupRunner::start(const std::array<uint32_t, 3>& id) {
  group_.id = id;
  const uint32_t poison = launch_.settings.poison;
  for (size_t n = 0; n + 4 <= group_.lds.size(); n += 4) std::memcpy(group_.lds.data() + n, &poison, 4);
  if (checker_) checker_->restart();
  const uint64_t lane_bytes = scratch_bytes(program_);
  for (int n = 0; n < wave_count_; ++n) {
    Wave& w = *new (&waves_[static_cast<size_t>(n)]) Wave;
    w.late = launch_.settings.late;
    w.exact = launch_.settings.exact;
    w.arch = program_.arch;
    w.pc = program_.entry;
    const KernelDescriptor& d = program_.kernel.descriptor;
    w.mode = d.float_mode() | static_cast<uint32_t>(d.dx10_clamp()) << 8 |
             static_cast<uint32_t>(d.ieee_mode()) << 9;
    w.index = n;
    w.group = &group_;
    w.program = &program_;
    w.scratch_bytes = lane_bytes;
    w.scratch = reinterpret_cast<uint64_t>(scratch_) + static_cast<uint64_t>(n) * lane_bytes * kLanes;
    for (auto& row : w.v)
      for (uint32_t& x : row) x = poison;
    start_scalars(w, id);
    start_lanes(w);
    steps_[static_cast<size_t>(n)] = barriers_[static_cast<size_t>(n)] = 0;
  }
}

void GroupRunner::start_scalars(Wave& w, const std::array<uint32_t, 3>& id) const {
  for (uint32_t& s : w.s) s = launch_.settings.poison;
  const KernelDescriptor& d = program_.kernel.descriptor;
  const auto arguments = reinterpret_cast<uint64_t>(launch_.arguments.data());
  int at = 0;
  const auto pair = [&](uint16_t property, uint64_t value) {
    if (!(d.properties & property)) return;
    w.set_pair(at, value);
    at += 2;
  };
  if (d.properties & KernelDescriptor::private_segment_buffer) {
    w.s[0] = static_cast<uint32_t>(w.scratch);
    w.s[1] = static_cast<uint32_t>(w.scratch >> 32) | 1u << 31;  // swizzled
    w.s[2] = ~0u;
    w.s[3] = 1u << 23 | 3u << 21;  // by lane, 64 of them side by side
    at += 4;
  }
  pair(KernelDescriptor::dispatch_pointer, reinterpret_cast<uint64_t>(packet_));
  pair(KernelDescriptor::queue_pointer, 0);
  pair(KernelDescriptor::kernarg_pointer, arguments);
  pair(KernelDescriptor::dispatch_id, 0);
  pair(KernelDescriptor::flat_scratch_init, w.scratch);
  if (d.properties & KernelDescriptor::private_segment_size)
    w.s[at++] = static_cast<uint32_t>(w.scratch_bytes);
  for (uint32_t n = 0; n < d.preload_dwords() && at < 16; ++n, ++at)
    std::memcpy(&w.s[at], launch_.arguments.data() + 4 * (d.preload_offset() + n), 4);
  at = static_cast<int>(d.user_sgprs());
  for (int axis = 0; axis < 3; ++axis)
    if (d.group_id(axis)) w.s[at++] = id[static_cast<size_t>(axis)];
  if (d.group_info()) w.s[at++] = static_cast<uint32_t>(wave_count_) | (w.index == 0 ? 1u << 31 : 0);
  const bool architected = program_.arch != Arch::gfx90a;
  if (!architected && d.scratch_enabled()) w.s[at++] = 0;  // the resource above is the wave's own already
  if (architected) w.set_pair(kFlatScratch, w.scratch);
  for (int axis = 0; axis < 3; ++axis)
    w.s[kTrapTemp + 8 + axis] = launch_.grid.groups[static_cast<size_t>(axis)];
  w.s[kTrapTemp + 11] = static_cast<uint32_t>(w.index);
}

void GroupRunner::start_lanes(Wave& w) const {
  const auto& t = launch_.grid.threads;
  const uint32_t total = t[0] * t[1] * t[2], first = static_cast<uint32_t>(w.index) * kLanes;
  uint64_t exec = 0;
  for (uint32_t l = 0; l < kLanes && first + l < total; ++l) {
    const uint32_t n = first + l;
    w.v[0][l] = n % t[0] | (n / t[0] % t[1]) << 10 | (n / t[0] / t[1]) << 20;
    exec |= 1ull << l;
  }
  w.set_pair(kExec, exec);
}

void GroupRunner::take_turns(uint64_t order) {
  const Schedule& s = launch_.settings.schedule;
  const int burst = s.burst ? s.burst : std::numeric_limits<int>::max();
  uint64_t random = s.seed * 0x2545f4914f6cdd1dull + order;
  for (;;) {
    bool ran = false;
    for (int n = 0; n < wave_count_; ++n) {
      const int forward =
          s.random ? static_cast<int>(next_random(random) % static_cast<uint64_t>(wave_count_)) : n;
      Wave& w = waves_[static_cast<size_t>(s.backward ? wave_count_ - 1 - forward : forward)];
      if (w.state != State::running) continue;
      ran = true;
      turn(w, s.random ? 1 + static_cast<int>(next_random(random) % kLongestRandomBurst) : burst);
    }
    if (ran) continue;
    bool running = false;
    for (int n = 0; n < wave_count_; ++n) running |= waves_[static_cast<size_t>(n)].state == State::running;
    if (!running && !release_barrier()) return;
  }
}

void GroupRunner::turn(Wave& w, int burst) {
  const uint32_t mode = FloatMode::single(w.mode);
  if (mode != host_mode_) set_float_mode(mode);
  uint64_t& steps = steps_[static_cast<size_t>(w.index)];
  steps += static_cast<uint64_t>(checker_ ? execute<true>(w, burst) : execute<false>(w, burst));
  host_mode_ = FloatMode::single(w.mode);
  if (steps > launch_.settings.wave_limit)
    fault(w, "the wave has executed " + std::to_string(steps) + " instructions and seems to hang");
}

template <bool checked>
int GroupRunner::execute(Wave& w, int burst) {
  const Instruction* code = program_.code.data();
  uint64_t *executed = counts_.executed.data(), *jumped = counts_.jumped.data();
  int n = 0;
  while (n < burst) {
    const uint32_t pc = w.pc;
    const Instruction& i = code[pc];
    ++executed[pc];
    w.pc = pc + 1;
    if constexpr (checked) checker_->before(w, pc);
    i.run(w, i);
    ++n;
    jumped[pc] += w.pc != pc + 1;
    if (w.state != State::running) {
      if (w.state == State::at_barrier) ++barriers_[static_cast<size_t>(w.index)];
      break;
    }
  }
  return n;
}

// All waves that still run have arrived; waves that have ended are not waited for, as on hardware.
bool GroupRunner::release_barrier() {
  const Wave* waiting = nullptr;
  const Wave* ended = nullptr;
  for (int n = 0; n < wave_count_; ++n) {
    Wave& w = waves_[static_cast<size_t>(n)];
    if (w.state == State::at_barrier) waiting = &w;
    if (w.state == State::finished) ended = &w;
  }
  if (!waiting) return false;
  if (checker_ && ended)
    fault(*waiting, "barrier mismatch: the wave waits at its barrier number " +
                        std::to_string(barriers_[static_cast<size_t>(waiting->index)]) + ", but wave " +
                        std::to_string(ended->index) + " has ended after " +
                        std::to_string(barriers_[static_cast<size_t>(ended->index)]) + " barriers");
  for (int n = 0; n < wave_count_; ++n) {
    Wave& w = waves_[static_cast<size_t>(n)];
    if (w.state == State::at_barrier) w.state = State::running;
  }
  if (checker_) checker_->barrier();
  return true;
}

}  // namespace cdna
