#include "cpu/host_vector.hpp"
#include "cpu/pool.hpp"
#include "cpu/run.hpp"
#include "meaning/dropout.hpp"

namespace fw::cpu {
namespace {

using namespace host;

// Keys are taken 8 a lane.
void write_row(unsigned char* mask, const Args& a, int batch, int head, int query) {
  const u64 row = dropout_row(a, batch, head, query);
  for (int first = 0; first < a.seq_k; first += 8 * lanes) {
    u32 low[lanes], high[lanes];
    for (int lane = 0; lane < lanes; ++lane) {
      const u64 counter = row + static_cast<u64>(first / 8 + lane);
      low[lane] = static_cast<u32>(counter);
      high[lane] = static_cast<u32>(counter >> 32);
    }
    const Philox<Word> numbers = philox(load(low), load(high), a.seed);
    for (int place = 0; place < 8; ++place) {
      const Lanes gone = dropped(a, dropout_number(numbers, place));
      for (int lane = 0; lane < lanes; ++lane)
        if (const int slot = first + 8 * lane + place; slot < a.seq_k) mask[slot] = gone.r[lane] == 0;
    }
  }
}

}  // namespace

void write_dropout_mask(const Args& args) {
  constexpr double numbers_per_second = 3e8;
  const double numbers =
      static_cast<double>(args.batch) * args.heads_q * args.seq_q * static_cast<double>(args.seq_k);
  const int tasks = args.batch * args.heads_q;
  parallel_for(team_for(tasks, numbers / numbers_per_second), tasks, [&](int task, int) {
    const int batch = task / args.heads_q, head = task % args.heads_q;
    for (int query = 0; query < args.seq_q; ++query)
      write_row(args.dropout_mask + batch * args.mask_batch + head * args.mask_head + query * args.mask_row,
                args, batch, head, query);
  });
}

}  // namespace fw::cpu
