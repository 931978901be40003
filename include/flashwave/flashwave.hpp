// flashwave in C++20: a thin, header-only dress for flashwave.h, which says what each tensor and number
// means.
//
//   using namespace flashwave;
//   Tensor q(q_data, DType::bf16, {batch, seq, heads, 128});       // (B,Sq,Hq,D), contiguous
//   Attention call{.q = q, .k = k, .v = v, .out = out, .window = causal};
//   call.forward().or_throw();                                      // or look at the Status
//
// Nothing throws but or_throw, and what the standard library throws when memory runs out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "flashwave/flashwave.h"

namespace flashwave {

enum class Code : int {
  ok = FLASHWAVE_OK,
  invalid = FLASHWAVE_INVALID,
  unsupported = FLASHWAVE_UNSUPPORTED,
  unavailable = FLASHWAVE_UNAVAILABLE,
  exhausted = FLASHWAVE_EXHAUSTED,
  internal = FLASHWAVE_INTERNAL,
};

class Error : public std::runtime_error {
 public:
  Error(Code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  Code code() const { return code_; }

 private:
  Code code_;
};

// What a call came to: ok, or a code, a sentence and the validity rule that refused ("" if none did).
class [[nodiscard]] Status {
 public:
  Status() = default;
  explicit Status(int code) : code_(static_cast<Code>(code)) {
    if (ok()) return;
    message_ = flashwave_message();
    rule_ = flashwave_rule();
  }

  bool ok() const { return code_ == Code::ok; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }
  const std::string& rule() const { return rule_; }
  void or_throw() const {
    if (!ok()) throw Error(code_, message_);
  }

 private:
  Code code_ = Code::ok;
  std::string message_, rule_;
};

enum class DType : std::int32_t {
  none = FLASHWAVE_NONE,
  fp32 = FLASHWAVE_FP32,
  fp16 = FLASHWAVE_FP16,
  bf16 = FLASHWAVE_BF16,
  int32 = FLASHWAVE_INT32,
  uint8 = FLASHWAVE_UINT8,
};

// A view of the caller's memory; default-made it means "absent". Strides count elements. The memory of an
// input is never written, so const data is welcome.
class Tensor {
 public:
  using Sizes = std::span<const std::int64_t>;

  Tensor() = default;
  Tensor(const void* data, DType dtype, std::initializer_list<std::int64_t> shape)
      : Tensor(data, dtype, Sizes(shape.begin(), shape.size())) {}
  Tensor(const void* data, DType dtype, Sizes shape) {  // contiguous, the last dimension fastest
    set(data, dtype, shape);
    std::int64_t stride = 1;
    for (std::size_t i = kept(shape); i-- > 0; stride *= shape[i]) view_.stride[i] = stride;
  }
  Tensor(const void* data, DType dtype, Sizes shape, Sizes stride) {
    set(data, dtype, shape);
    for (std::size_t i = 0; i < kept(shape) && i < stride.size(); ++i) view_.stride[i] = stride[i];
  }
  Tensor(const float* data, std::initializer_list<std::int64_t> shape) : Tensor(data, DType::fp32, shape) {}
  Tensor(const std::int32_t* data, std::initializer_list<std::int64_t> shape)
      : Tensor(data, DType::int32, shape) {}
  Tensor(const std::uint8_t* data, std::initializer_list<std::int64_t> shape)
      : Tensor(data, DType::uint8, shape) {}

  // The same memory with two dimensions exchanged: (B,H,S,D) data is passed as Tensor(...).transposed(1, 2).
  Tensor transposed(int a, int b) const {
    Tensor turned = *this;
    std::swap(turned.view_.shape[a], turned.view_.shape[b]);
    std::swap(turned.view_.stride[a], turned.view_.stride[b]);
    return turned;
  }

  const flashwave_tensor& view() const { return view_; }

 private:
  static std::size_t kept(Sizes shape) {
    return shape.size() < FLASHWAVE_MAX_RANK ? shape.size() : FLASHWAVE_MAX_RANK;
  }
  void set(const void* data, DType dtype, Sizes shape) {
    view_.data = const_cast<void*>(data);
    view_.dtype = static_cast<std::int32_t>(dtype);
    view_.rank =
        static_cast<std::int32_t>(shape.size());  // one too large is refused by the call, with a sentence
    for (std::size_t i = 0; i < kept(shape); ++i) view_.shape[i] = shape[i];
  }

  flashwave_tensor view_{};
};

inline constexpr int open = FLASHWAVE_OPEN;

// Keys p-left .. p+right are visible to the row at position p.
struct Window {
  int left = open, right = open;
};
inline constexpr Window causal{open, 0};

struct Dropout {
  float probability = 0;  // of dropping
  std::uint64_t seed = 0, offset = 0;
};

// Where this call stands in a larger attention whose dropout mask it shares; sizes of 0 are the call's own.
struct Origin {
  std::int64_t batch = 0, head = 0, query = 0, key = 0;
  std::int64_t heads = 0, seq_q = 0, seq_k = 0;
};

struct Workspace {  // 256-byte aligned; null = the library allocates
  void* data = nullptr;
  std::size_t bytes = 0;
};

// One attention call. B batch, Sq/Sk queries and keys, Hq/Hk heads, D of q and k, Dv of v and out; float
// tensors are fp32, fp16 or bf16, all of one dtype unless said; lse and slopes are fp32, lengths and tables
// int32. The members are in the order in which designated initializers must name them.
struct Attention {
  const char* device = "cpu";

  Tensor q{};    // (B,Sq,Hq,D), or (Tq,Hq,D) with cu_seqlens_q
  Tensor k{};    // (B,Sk,Hk,D), or (Tk,Hk,D) with cu_seqlens_k, or (pages,page_size,Hk,D) with block_table
  Tensor v{};    // as k, with Dv
  Tensor out{};  // as q, with Dv: written by forward, read by backward
  Tensor lse{};  // (B,Hq,Sq) or (Hq,Tq), natural log: written by forward if given, read by backward

  Tensor dout{}, dlse{};    // backward in: like out; like lse, optional
  Tensor dq{}, dk{}, dv{};  // backward out
  Tensor dbias{}, dsink{};  // backward out, optional

  Tensor alibi{};         // (Hq) or (B,Hq)
  Tensor bias{};          // (1|B,1|Hq,1|Sq,Sk): the inputs' dtype, fp32, or uint8 (1 = visible)
  Tensor sink{};          // (Hq): the inputs' dtype or fp32
  Tensor dropout_mask{};  // out, (B,Hq,max Sq,max Sk) uint8, 1 = kept

  Tensor cu_seqlens_q{}, cu_seqlens_k{};      // (B+1)
  Tensor seqused_q{}, seqused_k{};            // (B)
  std::int64_t max_seq_q = 0, max_seq_k = 0;  // 0 = read from cu_seqlens

  Tensor cache_seqlens{}, block_table{}, cache_batch_idx{}, leftpad{};  // (B), (B,columns), (B), (B)
  Tensor k_new{}, v_new{};            // (B,New,Hk,D), (B,New,Hk,Dv): appended to the cache first
  Tensor rotary_cos{}, rotary_sin{};  // (rows,R/2)
  Tensor rotary_seqlens{};            // (B)
  bool rotary_interleaved = false;

  std::optional<float> scale{};  // absent: D^-0.5
  float softcap = 0;             // 0 = off
  Window window{};
  std::optional<int> diagonal{};  // absent: bottom-right alignment
  Tensor diagonals{};             // (B)

  Dropout dropout{};
  Origin origin{};
  int num_splits = 0;  // 0 = chosen from the problem
  bool deterministic = false;

  Workspace workspace{};
  void* stream = nullptr;

  Status forward() const { return run(FLASHWAVE_FORWARD); }
  Status backward() const { return run(FLASHWAVE_BACKWARD); }

  // Bytes that a workspace must have.
  Status forward_workspace(std::size_t& bytes) const { return workspace_size(bytes, FLASHWAVE_FORWARD); }
  Status backward_workspace(std::size_t& bytes) const { return workspace_size(bytes, FLASHWAVE_BACKWARD); }

  // The call as the C interface takes it; it refers to `device` and to the tensors' memory.
  flashwave_attention c_call(flashwave_pass pass) const {
    flashwave_attention call = FLASHWAVE_INIT(flashwave_attention);
    call.pass = pass;
    call.device = device;
    set_tensors(call);
    call.max_seq_q = max_seq_q;
    call.max_seq_k = max_seq_k;
    call.rotary_interleaved = rotary_interleaved;
    call.has_scale = scale.has_value();
    call.scale = scale.value_or(0.0f);
    call.softcap = softcap;
    call.has_window = 1;
    call.window_left = window.left;
    call.window_right = window.right;
    call.has_diagonal = diagonal.has_value();
    call.diagonal = diagonal.value_or(0);
    call.dropout = dropout.probability;
    call.seed = dropout.seed;
    call.offset = dropout.offset;
    call.origin_batch = origin.batch;
    call.origin_head = origin.head;
    call.origin_q = origin.query;
    call.origin_k = origin.key;
    call.global_heads = origin.heads;
    call.global_seq_q = origin.seq_q;
    call.global_seq_k = origin.seq_k;
    call.num_splits = num_splits;
    call.deterministic = deterministic;
    call.workspace = workspace.data;
    call.workspace_bytes = workspace.bytes;
    call.stream = stream;
    return call;
  }

 private:
  Status run(flashwave_pass pass) const {
    const flashwave_attention call = c_call(pass);
    return Status(flashwave_run(&call));
  }
  Status workspace_size(std::size_t& bytes, flashwave_pass pass) const {
    const flashwave_attention call = c_call(pass);
    return Status(flashwave_workspace_size(&call, &bytes));
  }
  void set_tensors(flashwave_attention& call) const {
    call.q = q.view(), call.k = k.view(), call.v = v.view(), call.out = out.view(), call.lse = lse.view();
    call.dout = dout.view(), call.dlse = dlse.view();
    call.dq = dq.view(), call.dk = dk.view(), call.dv = dv.view();
    call.dbias = dbias.view(), call.dsink = dsink.view();
    call.alibi = alibi.view(), call.bias = bias.view(), call.sink = sink.view();
    call.dropout_mask = dropout_mask.view();
    call.cu_seqlens_q = cu_seqlens_q.view(), call.cu_seqlens_k = cu_seqlens_k.view();
    call.seqused_q = seqused_q.view(), call.seqused_k = seqused_k.view();
    call.cache_seqlens = cache_seqlens.view(), call.block_table = block_table.view();
    call.cache_batch_idx = cache_batch_idx.view(), call.leftpad = leftpad.view();
    call.k_new = k_new.view(), call.v_new = v_new.view();
    call.rotary_cos = rotary_cos.view(), call.rotary_sin = rotary_sin.view();
    call.rotary_seqlens = rotary_seqlens.view();
    call.diagonals = diagonals.view();
  }
};

// Merges partial results over the same queries and disjoint keys.
struct Combine {
  const char* device = "cpu";
  Tensor outs{};  // (N,B,Sq,Hq,Dv) or (N,Tq,Hq,Dv)
  Tensor lses{};  // (N,B,Hq,Sq) or (N,Hq,Tq), without the sink
  Tensor sink{};  // (Hq), optional: joins once, here
  Tensor out{};   // (B,Sq,Hq,Dv) or (Tq,Hq,Dv)
  Tensor lse{};   // optional

  Status run() const {
    flashwave_combine call = FLASHWAVE_INIT(flashwave_combine);
    call.device = device;
    call.outs = outs.view(), call.lses = lses.view(), call.sink = sink.view();
    call.out = out.view(), call.lse = lse.view();
    return Status(flashwave_run_combine(&call));
  }
};

struct Device {
  std::string name, backend, description, isa;
  std::string missing;  // why it cannot be used, or ""
  int threads = 0;
  bool listed = true;  // false: a yardstick, reached by name only
};

inline std::vector<Device> devices() {
  std::vector<Device> all;
  for (std::size_t i = 0; i < flashwave_device_count(); ++i) {
    flashwave_device d = FLASHWAVE_INIT(flashwave_device);
    if (flashwave_device_at(i, &d) != FLASHWAVE_OK) continue;
    all.push_back({d.name, d.backend, d.description, d.isa, d.missing, d.threads, d.listed != 0});
  }
  return all;
}

// A problem line: what is asked, and a recipe for its data.
class Case {
 public:
  Status parse(const char* line) {
    flashwave_case* made = nullptr;
    Status status(flashwave_case_parse(line, &made));
    if (status.ok()) case_.reset(made);
    return status;
  }
  Status problem(flashwave_problem& out) const {
    out.struct_size = sizeof out;
    return Status(flashwave_case_problem(case_.get(), &out));
  }
  Status recipe(flashwave_recipe& out) const {  // its arrays live as long as this case
    out.struct_size = sizeof out;
    return Status(flashwave_case_recipe(case_.get(), &out));
  }
  Status counts(flashwave_counts& out, flashwave_pass pass) const {
    out.struct_size = sizeof out;
    return Status(flashwave_case_counts(case_.get(), pass, &out));
  }
  Status print(std::string& line) const;

 private:
  struct Free {
    void operator()(flashwave_case* c) const { flashwave_case_free(c); }
  };
  std::unique_ptr<flashwave_case, Free> case_;
};

namespace detail {

// Takes over text that the library allocated.
inline Status take(int code, char* given, std::string& text) {
  if (code != FLASHWAVE_OK) return Status(code);
  const std::unique_ptr<char, void (*)(void*)> owned(given, flashwave_free);
  text = given;
  return Status();
}

}  // namespace detail

inline Status Case::print(std::string& line) const {
  char* text = nullptr;
  const int code = flashwave_case_print(case_.get(), &text);
  return detail::take(code, text, line);
}

// Ok, or why the device refuses.
inline Status supports(const flashwave_problem& problem, const char* device = "cpu") {
  return Status(flashwave_supports(device, &problem));
}

inline Status plan(flashwave_plan& out, const flashwave_problem& problem, const char* device = "cpu") {
  out.struct_size = sizeof out;
  return Status(flashwave_make_plan(device, &problem, &out));
}

inline Status explain(std::string& text, const flashwave_problem& problem, const char* device = "cpu") {
  char* given = nullptr;
  const int code = flashwave_explain(device, &problem, &given);
  return detail::take(code, given, text);
}

inline Status set_threads(int count) {
  return Status(flashwave_set_threads(count));
}  // 0 = the default again

}  // namespace flashwave
