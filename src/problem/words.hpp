// The words of a problem line: each is read and written in one place. docs/problems.md describes them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "problem/case.hpp"

namespace fw {

// A line while its words arrive, in whatever order: what depends on another word waits here.
struct Draft {
  Case c;
  bool causal = false;
  std::optional<std::string> window;  // as written, for the sentence
  bool varlen = false, cache = false;
  bool bias = false, sink = false;
  DType bias_dtype = DType::none, sink_dtype = DType::none, rotary_dtype = DType::none;  // none = q's own
  std::optional<std::int64_t> heads_k, seq_k, dim_v;
  std::string seqused;  // q, k or both letters; empty stands for the default
  bool seqused_given = false;
};

struct Word {
  std::string_view name;
  enum class Form {
    flag,     // causal
    count,    // sq100
    value,    // scale=2
    optional  // bias, bias=1hqk, bias:fp32
  } form;
  bool required;
  Status (*read)(Draft&, std::string_view value);
  std::string (*write)(const Case&);  // the whole word; empty when the case does without it
};

std::span<const Word> words();  // in the order of print

}  // namespace fw
