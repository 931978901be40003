#include "plan/splits.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace fw {
namespace {

constexpr std::int64_t least_split_keys = 512;
constexpr std::int64_t fixed_split_keys = 1024;

// A share of dq is as large as dq in fp32, so chunks are dearer than splits.
constexpr std::int64_t enough_chunks = 32;
constexpr std::int64_t most_chunks = 4;
constexpr std::int64_t least_chunk_keys = 256;

using host::divide_up;
using host::range_step;

}  // namespace

Splits choose_splits(const Problem& p, const Crew& crew) {
  if (!p.forward()) return {1, 0, "only forward splits keys"};
  if (p.splits > 0) return {p.splits, 0, say("splits=", p.splits, " asks for it")};
  if (p.deterministic) {
    const std::int64_t count = std::max<std::int64_t>(1, divide_up(p.seq_k, fixed_split_keys));
    return {static_cast<int>(count), count > 1 ? fixed_split_keys : 0,
            say("deterministic: ", fixed_split_keys, " keys a split for sequences of at most ", split_rows,
                " rows")};
  }
  const std::int64_t row_tasks = p.batch * p.heads_k * divide_up(p.seq_q * p.group(), crew.rows);
  if (row_tasks == 0 || row_tasks >= crew.tasks) return {1, 0, say("rows alone give ", row_tasks, " tasks")};
  const std::int64_t count =
      std::min<std::int64_t>(divide_up(crew.tasks, row_tasks), p.seq_k / least_split_keys);
  if (count <= 1) return {1, 0, say(p.seq_k, " keys are too few to split")};
  return {static_cast<int>(count), 0, say("rows alone give only ", row_tasks, " tasks")};
}

std::int64_t most_ranges(int count, std::int64_t fixed_keys, std::int64_t keys) {
  const std::int64_t shortest = fixed_keys == 0 ? range_step : fixed_keys;
  return std::min<std::int64_t>(count, std::max<std::int64_t>(1, divide_up(keys, shortest)));
}

int choose_chunks(const Problem& p) {
  const std::int64_t heads = std::max<std::int64_t>(1, p.batch * p.heads_k);
  const std::int64_t wanted =
      std::min<std::int64_t>(divide_up(enough_chunks, heads), p.seq_k / least_chunk_keys);
  return static_cast<int>(std::clamp<std::int64_t>(wanted, 1, most_chunks));
}

Cut cut_chunks(int chunks, std::int64_t keys) { return host::cut_evenly(chunks, keys); }

}  // namespace fw
