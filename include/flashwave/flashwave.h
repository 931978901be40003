/* flashwave: exact FlashAttention, forward, backward and decode. The C interface.
 *
 * Every function returns a code; flashwave_message() then holds one sentence about the last failure of this
 * thread. Nothing here prints, exits or throws. What the words mean is written in docs/semantics.md.
 *
 * Every struct begins with struct_size: set it to sizeof of the struct (FLASHWAVE_INIT does). Fields are only
 * ever appended: a library reads the fields a smaller struct lacks as zero, and accepts a larger struct if
 * the part it does not know is zero.
 */
#ifndef FLASHWAVE_H
#define FLASHWAVE_H

#include <stddef.h>
#include <stdint.h>

#if defined(FLASHWAVE_BUILDING)
#define FLASHWAVE_API __attribute__((visibility("default")))
#else
#define FLASHWAVE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define FLASHWAVE_VERSION_MAJOR 0
#define FLASHWAVE_VERSION_MINOR 1
#define FLASHWAVE_VERSION_PATCH 0

typedef enum flashwave_code {
  FLASHWAVE_OK = 0,
  FLASHWAVE_INVALID = 1,     /* the request contradicts the contract */
  FLASHWAVE_UNSUPPORTED = 2, /* legal, but this device or build does not do it */
  FLASHWAVE_UNAVAILABLE = 3, /* driver, device or kernels are missing */
  FLASHWAVE_EXHAUSTED = 4,   /* memory */
  FLASHWAVE_INTERNAL = 5
} flashwave_code;

typedef enum flashwave_dtype {
  FLASHWAVE_NONE = 0,
  FLASHWAVE_FP32 = 1,
  FLASHWAVE_FP16 = 2,
  FLASHWAVE_BF16 = 3,
  FLASHWAVE_FP8E4M3FN = 4,
  FLASHWAVE_FP8E4M3FNUZ = 5,
  FLASHWAVE_FP8E5M2 = 6,
  FLASHWAVE_FP8E5M2FNUZ = 7,
  FLASHWAVE_INT32 = 8,
  FLASHWAVE_UINT8 = 9,
  FLASHWAVE_INT64 = 10 /* never accepted; named in refusals */
} flashwave_dtype;

typedef enum flashwave_pass {
  FLASHWAVE_FORWARD = 0,
  FLASHWAVE_BACKWARD = 1,
  FLASHWAVE_BOTH = 2 /* in problems only: a call is one or the other */
} flashwave_pass;

typedef enum flashwave_lengths {
  FLASHWAVE_DENSE = 0,
  FLASHWAVE_VARLEN = 1,
  FLASHWAVE_CACHE = 2
} flashwave_lengths;
typedef enum flashwave_alibi {
  FLASHWAVE_ALIBI_NONE = 0,
  FLASHWAVE_ALIBI_PER_HEAD = 1,
  FLASHWAVE_ALIBI_PER_BATCH_HEAD = 2
} flashwave_alibi;

#define FLASHWAVE_OPEN (-1) /* a window side without a bound */
#define FLASHWAVE_MAX_RANK 5

/* A strided tensor of the caller. rank 0 = absent. Strides count elements and may be 0 or negative in inputs,
 * except in the last dimension, whose stride is 1. */
typedef struct flashwave_tensor {
  void* data;
  int32_t dtype; /* flashwave_dtype */
  int32_t rank;
  int64_t shape[FLASHWAVE_MAX_RANK];
  int64_t stride[FLASHWAVE_MAX_RANK];
} flashwave_tensor;

/* One attention call. B batch, Sq/Sk queries and keys, Hq/Hk heads (Hq a multiple of Hk), D of q and k, Dv of
 * v and out. With cu_seqlens_q a (B,Sq,...) tensor is (Tq,...), with cu_seqlens_k a (B,Sk,...) tensor is
 * (Tk,...). */
typedef struct flashwave_attention {
  uint32_t struct_size;
  int32_t pass;       /* flashwave_pass */
  const char* device; /* "cpu", "reference", ...; null = "cpu" */

  flashwave_tensor q;   /* (B,Sq,Hq,D) fp32, fp16 or bf16 */
  flashwave_tensor k;   /* (B,Sk,Hk,D), or with block_table (pages,page_size,Hk,D) */
  flashwave_tensor v;   /* (B,Sk,Hk,Dv), or (pages,page_size,Hk,Dv) */
  flashwave_tensor out; /* (B,Sq,Hq,Dv): written forward, read backward */
  flashwave_tensor lse; /* (B,Hq,Sq) or (Hq,Tq) fp32, natural log, sink included: written forward if given,
                           read backward */

  flashwave_tensor dout, dlse;   /* backward in: like out; like lse (optional) */
  flashwave_tensor dq, dk, dv;   /* backward out: like q, k, v */
  flashwave_tensor dbias, dsink; /* backward out, optional: like bias, like sink */

  flashwave_tensor alibi;        /* (Hq) or (B,Hq) fp32: score -= slope * |p - j| */
  flashwave_tensor bias;         /* (1|B,1|Hq,1|Sq,Sk), q's dtype, fp32, or uint8 (1 = visible) */
  flashwave_tensor sink;         /* (Hq) fp32 or q's dtype: a logit that takes mass and gives no value */
  flashwave_tensor dropout_mask; /* out, optional: (B,Hq,max Sq,max Sk) uint8, 1 = kept */

  flashwave_tensor cu_seqlens_q, cu_seqlens_k; /* (B+1) int32, from 0, not decreasing */
  flashwave_tensor seqused_q, seqused_k;       /* (B) int32: rows of each sequence that count */
  int64_t max_seq_q, max_seq_k; /* varlen: longest sequence; 0 = read from cu_seqlens (not on GPUs) */

  flashwave_tensor cache_seqlens;   /* (B) int32: filled slots before the append; never changed here */
  flashwave_tensor block_table;     /* (B,columns) int32: page of slot t is block_table[b, t / page_size] */
  flashwave_tensor cache_batch_idx; /* (B) int32: cache row of each sequence, dense caches only */
  flashwave_tensor leftpad;         /* (B) int32: first visible slot */
  flashwave_tensor k_new, v_new;    /* (B,New,Hk,D), (B,New,Hk,Dv): written to the cache first */
  flashwave_tensor rotary_cos, rotary_sin; /* (rows, R/2) */
  flashwave_tensor rotary_seqlens;         /* (B) int32: first position, instead of cache_seqlens */
  int32_t rotary_interleaved;

  int32_t has_scale; /* 0: scale is D^-0.5 */
  float scale;
  float softcap; /* 0 = off: c * tanh(score / c) */

  /* Row i stands at p = i + diagonal and sees keys p-window_left .. p+window_right, each side open when
   * negative. The diagonal is Sk - Sq of the sequence (bottom-right) unless given here or a sequence in
   * `diagonals`. */
  int32_t has_window;                /* 0: both sides are open, whatever window_left and window_right say */
  int32_t window_left, window_right; /* causal: window_right = 0 */
  int32_t has_diagonal, diagonal;
  flashwave_tensor diagonals; /* (B) int32 */

  float dropout; /* 0 <= p < 1 */
  uint64_t seed, offset;
  /* A shard of a larger attention states where it stands, so that it draws the whole's dropout mask. */
  int64_t origin_batch, origin_head, origin_q, origin_k;
  int64_t global_heads, global_seq_q, global_seq_k; /* 0 = this call's own */

  int32_t num_splits;    /* 0 = chosen from the problem alone */
  int32_t deterministic; /* 1: equal bits, and splits independent of the batch */

  void* workspace; /* 256-byte aligned, contents irrelevant; null = the library allocates */
  size_t workspace_bytes;
  void* stream;                                                     /* GPUs */
  void* (*allocate)(void* context, size_t bytes, size_t alignment); /* both null = the library's own */
  void (*release)(void* context, void* block);
  void* allocator_context;
} flashwave_attention;

/* What is asked, without tensors. See docs/problems.md for the text form. */
typedef struct flashwave_problem {
  uint32_t struct_size;
  int32_t pass, dtype;
  int64_t batch, heads_q, heads_k, seq_q, seq_k, dim_qk, dim_v;
  int32_t window_left, window_right; /* -1 = open */
  int32_t has_diagonal, diagonal_per_batch, diagonal;
  int32_t has_scale;
  float scale, softcap;
  int32_t alibi;                             /* flashwave_alibi */
  int32_t bias;                              /* dtype, 0 = none */
  int32_t bias_batch, bias_head, bias_query; /* 0 = the dimension is 1 and broadcasts */
  int32_t sink;                              /* dtype, 0 = none */
  float dropout;
  int32_t lengths; /* flashwave_lengths */
  int32_t seqused_q, seqused_k;
  int64_t page_size, pages, append;
  int32_t rotary_dim, rotary_interleaved, rotary_dtype;
  int32_t batch_index, leftpad, splits;
  int32_t want_lse, want_mask, want_dlse, want_dbias, want_dsink, deterministic;
} flashwave_problem;

typedef enum flashwave_values {
  FLASHWAVE_NORMAL = 0,
  FLASHWAVE_SHARP = 1,
  FLASHWAVE_OUTLIERS = 2,
  FLASHWAVE_TINYDOUT = 3
} flashwave_values;
typedef enum flashwave_layout {
  FLASHWAVE_BSHD = 0,
  FLASHWAVE_BHSD = 1,
  FLASHWAVE_PACKED = 2,
  FLASHWAVE_STRIDED = 3
} flashwave_layout;

/* How the data of a case is made. The arrays have `batch` entries and live as long as the case. */
typedef struct flashwave_recipe {
  uint32_t struct_size;
  uint64_t seed;
  int32_t values, layout;
  const int32_t* queries;   /* rows of each sequence */
  const int32_t* keys;      /* keys of each sequence before an append */
  const int32_t* leftpad;   /* zeros without leftpad */
  const int32_t* diagonals; /* where row 0 of each sequence stands */
} flashwave_recipe;

typedef struct flashwave_counts {
  uint32_t struct_size;
  double pairs; /* visible (query, key) pairs over batch and q heads */
  double flops; /* forward 2(D+Dv), backward 2(3D+2Dv) a pair */
  double bytes; /* inputs read once, outputs written once */
} flashwave_counts;

typedef struct flashwave_device {
  uint32_t struct_size;
  const char* name; /* static for the life of the library */
  const char* backend;
  const char* description;
  const char* isa;     /* instruction set or architecture in use */
  const char* missing; /* why it cannot be used, or "" */
  int32_t threads;
  int32_t listed;      /* 0: a yardstick, reached by name only */
  int32_t host_memory; /* 1: tensors are ordinary memory; 0: memory of the device */
  const char* driver;  /* file of the GPU runtime in use, or "" */
} flashwave_device;

typedef struct flashwave_plan {
  uint32_t struct_size;
  int32_t tile_q, tile_k, splits, chunks;
  uint64_t workspace_bytes; /* a call needs this beside its tensors */
  uint64_t thread_bytes;    /* scratch of each worker */
  uint64_t partial_bytes;   /* part of the workspace that holds split partials */
  char instance[96];        /* kernel that runs */
} flashwave_plan;

typedef struct flashwave_peak {
  uint32_t struct_size;
  double fma_flops;  /* fp32 multiply-adds, flop/s */
  double dot_flops;  /* 16-bit dot products, flop/s */
  double read_bytes; /* memory read, bytes/s */
} flashwave_peak;

/* Merges partial results over the same queries and disjoint keys; a partial with lse -inf weighs nothing. */
typedef struct flashwave_combine {
  uint32_t struct_size;
  const char* device;
  flashwave_tensor outs; /* (N,B,Sq,Hq,Dv) or (N,Tq,Hq,Dv) */
  flashwave_tensor lses; /* (N,B,Hq,Sq) or (N,Hq,Tq) fp32, without sink */
  flashwave_tensor sink; /* (Hq), optional: added once */
  flashwave_tensor out;  /* (B,Sq,Hq,Dv) or (Tq,Hq,Dv) */
  flashwave_tensor lse;  /* optional */
  void* stream;          /* GPUs */
} flashwave_combine;

/* A GPU kernel of this build, as its code object describes it. */
typedef struct flashwave_kernel {
  uint32_t struct_size;
  const char *arch, *name;
  const void* object; /* the code object, an ELF file */
  uint64_t object_bytes, code_bytes;
  int32_t threads; /* of a workgroup */
  int32_t vgprs;   /* vector registers of a lane, AGPRs included */
  int32_t agprs, sgprs, vgpr_spills, sgpr_spills, private_bytes, lds_bytes, kernarg_bytes;
  int32_t occupancy; /* waves a SIMD that registers and LDS allow */
} flashwave_kernel;

typedef struct flashwave_case flashwave_case;

/* flashwave_plan plan = FLASHWAVE_INIT(flashwave_plan); everything else is zero. */
#ifdef __cplusplus
#define FLASHWAVE_INIT(type)         \
  ([] {                              \
    type made{};                     \
    made.struct_size = sizeof(type); \
    return made;                     \
  }())
#else
#define FLASHWAVE_INIT(type) {.struct_size = sizeof(type)}
#endif

FLASHWAVE_API const char* flashwave_version(void);
/* The last failure of this thread: a sentence, and the id of the validity rule that refused ("" if none). */
FLASHWAVE_API const char* flashwave_message(void);
FLASHWAVE_API const char* flashwave_rule(void);

/* Attention. Nothing is written when the result is not FLASHWAVE_OK and not FLASHWAVE_INTERNAL. */
FLASHWAVE_API int flashwave_run(const flashwave_attention* call);
FLASHWAVE_API int flashwave_workspace_size(const flashwave_attention* call, size_t* bytes);
FLASHWAVE_API int flashwave_run_combine(const flashwave_combine* call);

/* Questions. `device` null = "cpu". */
FLASHWAVE_API int flashwave_supports(const char* device, const flashwave_problem* problem);
FLASHWAVE_API int flashwave_make_plan(const char* device, const flashwave_problem* problem,
                                      flashwave_plan* plan);
FLASHWAVE_API int flashwave_explain(const char* device, const flashwave_problem* problem, char** text);
FLASHWAVE_API size_t flashwave_device_count(void);
FLASHWAVE_API int flashwave_device_at(size_t index, flashwave_device* device);
/* The device of that name, usable or not, without looking for others. */
FLASHWAVE_API int flashwave_find_device(const char* name, flashwave_device* device);
/* Does what the first call would do beside computing; a GPU loads its kernels. */
FLASHWAVE_API int flashwave_prepare(const char* device);
FLASHWAVE_API int flashwave_measure_peak(const char* device, int32_t dtype, flashwave_peak* peak);
FLASHWAVE_API int flashwave_set_threads(int32_t threads); /* 0 = the default again */

/* Memory for tensors, 256-byte aligned, for callers without the SDK of a device. One side of a copy, or both,
 * is memory of the device; it waits for all work the device was given before. */
FLASHWAVE_API int flashwave_allocate(const char* device, size_t bytes, void** block);
FLASHWAVE_API int flashwave_release(const char* device, void* block);
FLASHWAVE_API int flashwave_copy(const char* device, void* to, const void* from, size_t bytes);

/* GPU kernels of this build. */
FLASHWAVE_API size_t flashwave_kernel_count(void);
FLASHWAVE_API int flashwave_kernel_at(size_t index, flashwave_kernel* kernel);

/* Problem lines. */
FLASHWAVE_API int flashwave_case_parse(const char* line, flashwave_case** out);
FLASHWAVE_API void flashwave_case_free(flashwave_case* c);
FLASHWAVE_API int flashwave_case_problem(const flashwave_case* c, flashwave_problem* problem);
FLASHWAVE_API int flashwave_case_recipe(const flashwave_case* c, flashwave_recipe* recipe);
FLASHWAVE_API int flashwave_case_counts(const flashwave_case* c, int32_t pass, flashwave_counts* counts);
FLASHWAVE_API int flashwave_case_print(const flashwave_case* c, char** text); /* canonical form */
FLASHWAVE_API size_t flashwave_rule_count(void);
FLASHWAVE_API const char* flashwave_rule_at(size_t index);

FLASHWAVE_API void flashwave_free(void* text); /* what explain and print returned */

#ifdef __cplusplus
}
#endif

#endif
