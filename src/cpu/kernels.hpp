// What an instruction set gives the CPU backend: a table of entry points for each element type.
// Tasks are independent; each runs on one thread with scratch of its own, and its result depends on nothing
// but its task, so any thread may run any task.
#pragma once

#include "meaning/args.hpp"

namespace fw::cpu {

// Queries of the heads that share a kv head are packed: packed row r is query r / group of head
// kv_head * group + r % group (src/meaning/heads.hpp).
struct ForwardTask {
  int batch, kv_head;
  int row_begin, row_count;  // packed rows
  int key_begin, key_end;    // keys of the sequence, counted from its first visible one
  float* partial_out;        // null = write out and lse; else (row_count, dim_v) ...
  float* partial_lse;        // ... and (row_count): a split's share, without the sink
};

// All queries of a kv head against a range of its keys: dk and dv of the range are final, dq a share.
struct BackwardTask {
  int batch, kv_head;
  int key_begin, key_end;
  const float* delta;  // (packed rows): rowsum(out * dout) - dlse
  float* dq;           // fp32 (packed rows, dim_qk): this range's share, written whole
};

struct RowTask {  // packed rows of a kv head
  int batch, kv_head;
  int row_begin, row_count;
};

// dbias of one slice (a bias batch, a bias head): every member of a broadcast dimension is summed here, in
// order.
struct BiasTask {
  int bias_batch, bias_head;  // 0 where that dimension broadcasts
  int row_begin, row_count;   // queries; all of them where the dimension broadcasts
  int key_begin, key_end;
  const float* delta;  // (B, Hk, packed rows)
  i64 delta_batch, delta_head;
};

// A panel of one q head, for attention that keeps the whole score matrix: queries panel * rows .. of that
// head.
struct PanelTask {
  int batch, head;
  int panel;
};

// The steps of materialised attention, the device `naive`: products and passes over all keys of a panel,
// whose scores are (keys, rows).
struct MaterialisedKernels {
  int rows;  // of a panel
  int keys;  // most that `gather` takes at once
  u64 (*scratch)(const Args&);
  // scores = keys queries^T
  void (*multiply)(const Args&, const PanelTask&, const Tensor& keys, const Tensor& queries, int dim,
                   float* scores, void* scratch);
  // scores become weights; writes lse
  void (*softmax)(const Args&, const PanelTask&, float* scores);
  // out = scale weights^T keys
  void (*weigh)(const Args&, const PanelTask&, const float* weights, const Tensor& keys, int dim, float scale,
                const Tensor& out, void* scratch);
  // scores become weights, and the gradients of weights those of scores; a delta every `stride` floats
  void (*differentiate)(const Args&, const PanelTask&, float* scores, float* gradients, const float* delta,
                        int stride);
  // sums (keys, dim in whole vectors) += weights queries, of some keys
  void (*gather)(const Args&, const PanelTask&, const float* weights, int key_begin, int key_count,
                 const Tensor& queries, int dim, float* sums, void* scratch);
};

struct Kernels {
  const char* instance;  // "avx512bf16/bf16"
  int lanes;             // fp32 values of a vector

  int (*forward_rows)(const Args&);     // packed rows of a full task
  int (*forward_keys)(const Args&);     // keys of a tile
  u64 (*forward_scratch)(const Args&);  // bytes, 64-byte aligned
  void (*forward)(const Args&, const ForwardTask&, void* scratch);

  u64 (*backward_scratch)(const Args&, int keys);  // for a range of so many keys
  // delta of the task's rows, from its first row on
  void (*delta)(const Args&, const RowTask&, float* delta);
  void (*backward)(const Args&, const BackwardTask&, void* scratch);
  // dq = sum over shares, in order, rounded once. shares: (count, packed rows, dim_qk), `stride` apart.
  void (*reduce_dq)(const Args&, const RowTask&, const float* shares, int count, i64 stride);
  u64 (*bias_scratch)(const Args&);
  void (*dbias)(const Args&, const BiasTask&, void* scratch);

  // out of (rows, dim_v) fp32 partials, `partials` of them `stride_out` and `stride_lse` floats apart, for
  // one task's rows.
  void (*combine)(const Args&, const RowTask&, const float* outs, const float* lses, int partials,
                  i64 stride_out, i64 stride_lse);

  MaterialisedKernels materialised;

  double (*limit)(double seconds);  // flop/s of the inner step, measured on this thread for about so long
};

// Speed limits of the instruction set, measured on the calling thread for about `seconds`.
struct Limits {
  double (*fma)(double seconds);  // fp32 flop/s
  double (*dot)(double seconds);  // 16-bit dot product flop/s; null = it has none
};

struct Isa {
  const char* name;  // FLASHWAVE_CPU_ISA
  const Kernels* fp32;
  const Kernels* fp16;
  const Kernels* bf16;
  Limits limits;
};

extern const Isa isa_portable;
extern const Isa isa_avx2;
extern const Isa isa_avx512;
extern const Isa isa_avx512bf16;
extern const Isa isa_avx512fp16;
extern const Isa isa_amx;
extern const Isa isa_amx_emulated;  // amx in software, for the tests

}  // namespace fw::cpu
