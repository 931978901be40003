#include "cpu/peak.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "cpu/memory.hpp"
#include "cpu/pool.hpp"

namespace fw::cpu {
namespace {

constexpr double seconds_a_limit = 0.1;
constexpr std::size_t read_bytes = std::size_t{1} << 28;  // far beyond any cache of one socket

// The sum over all threads of what each reaches while the others work too.
double together(double (*limit)(double)) {
  if (limit == nullptr) return 0;
  const int team = threads();
  std::vector<double> reached(static_cast<std::size_t>(team));
  parallel_for(team, team,
               [&](int task, int) { reached[static_cast<std::size_t>(task)] = limit(seconds_a_limit); });
  double sum = 0;
  for (const double flops : reached) sum += flops;
  return sum;
}

std::uint64_t sum_of(const std::uint64_t* words, std::size_t count) {
  std::uint64_t sum[8] = {};
  for (std::size_t i = 0; i + 8 <= count; i += 8)
    for (std::size_t j = 0; j < 8; ++j) sum[j] += words[i + j];
  return sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}

// Each thread reads its part of a buffer, again and again; the fastest round counts.
Status measure_reads(double& bytes_per_second) {
  Memory memory;
  FW_TRY(memory.take(read_bytes, "measuring how fast memory is read"));
  auto* const words = reinterpret_cast<std::uint64_t*>(memory.data());
  const int team = threads();
  const std::size_t part = read_bytes / sizeof(std::uint64_t) / static_cast<std::size_t>(team);
  const auto part_of = [&](int task) { return words + part * static_cast<std::size_t>(task); };
  parallel_for(team, team, [&](int task, int) { std::fill_n(part_of(task), part, std::uint64_t{1}); });
  std::atomic<std::uint64_t> seen{0};
  for (int round = 0; round < 4; ++round) {
    const auto start = std::chrono::steady_clock::now();
    parallel_for(team, team, [&](int task, int) { seen += sum_of(part_of(task), part); });
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    bytes_per_second = std::max(bytes_per_second, static_cast<double>(read_bytes) / took.count());
  }
  return {};
}

}  // namespace

Status measure_peak(const Isa& isa, Peak& out) {
  out = {.fma_flops = together(isa.limits.fma), .dot_flops = together(isa.limits.dot), .read_bytes = 0};
  return measure_reads(out.read_bytes);
}

}  // namespace fw::cpu
