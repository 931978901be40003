// The state behind the HIP entry points: devices, memory, streams, modules, settings and counters.
#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "dispatch/launch.hpp"
#include "hip/abi.hpp"

namespace cdna::hip {

struct Device {
  Arch arch;
  MemoryMap memory;
  std::unordered_set<int> peers;
};

struct Allocation {
  void* base = nullptr;
  size_t bytes = 0, mapped = 0;
  int device = 0;
  bool host = false;
  bool lent = false;
};

// Work recorded while a stream captures.
struct Graph {
  std::vector<std::function<Code()>> nodes;
};

struct Stream {
  int device = 0;
  unsigned flags = 0;
  CaptureStatus capture = kNotCapturing;
  std::unique_ptr<Graph> graph;
  uint64_t capture_id = 0;
};

struct Event {
  std::chrono::steady_clock::time_point time;
  bool recorded = false;
  Stream* captured_in = nullptr;
};

struct Module;
struct Function {
  Module* module = nullptr;
  std::shared_ptr<const Program> program;
};
struct Module {
  int device = 0;
  std::shared_ptr<CodeObject> object;
  std::map<std::string, std::unique_ptr<Function>> functions;
  std::mutex mutex;
};

class Runtime {
 public:
  static Runtime& get();

  // Devices, as cdna_emulator_devices or the environment names them.
  void choose_devices(const std::string& text);
  int device_count();
  Device* device(int n);  // null: none

  Code allocate(void** out, size_t bytes, bool host);
  Code release(void* p);
  // Ordinary memory of the caller that kernels may use.
  Code lend(void* p, size_t bytes);
  Code take_back(void* p);
  // The allocation that holds an address; its bytes are 0 when none does.
  Allocation find(const void* p);
  // Whether `bytes` from p lie within p's allocation, or p is ordinary host memory.
  bool fits(const void* p, size_t bytes);
  void share_with_peer(int owner, int peer);

  // Held shared by whatever touches device memory; a launch that is compared with itself has it alone.
  std::shared_mutex& use() { return use_; }

  bool capturing() const { return captures_ > 0; }
  void begin_capture(Stream& s);
  void end_capture(Stream& s);
  // During a capture nothing may wait or allocate: the captures become invalid.
  Code refuse_in_capture();

  Settings settings();
  void set(const std::string& key, const std::string& value);
  void count(const KernelCounts& counts);
  std::string counters_json();
  void reset_counters();

  void add_stream(Stream* s);
  void remove_stream(Stream* s);
  bool known(Stream* s);

 private:
  Runtime();
  void start();  // with the lock held
  void map(const Allocation& a);
  void unmap(const Allocation& a);

  std::shared_mutex use_;
  std::mutex mutex_;
  std::string device_text_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::map<uintptr_t, Allocation> allocations_;
  std::unordered_set<Stream*> streams_;
  std::atomic<int> captures_{0};
  Settings settings_;
  std::map<std::string, KernelCounts> counters_;
};

// The calling thread's device, last error and last message.
struct ThreadState {
  int device = 0;
  Code last = kSuccess;
  std::string message;
};
ThreadState& thread_state();

// Remembers an error of this thread and hands it back.
Code result(Code e);
Code result(Code e, const std::string& message);

}  // namespace cdna::hip

// Entry points have the names and the linkage of the HIP runtime.
#define HIP_ENTRY extern "C" __attribute__((visibility("default"))) int
