// The ids of all validity rules, and how a rule refuses. An id that is not listed here does not compile.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "base/text.hpp"

namespace fw {

inline constexpr std::array all_rule_ids = std::to_array<std::string_view>({
    // of a Problem: rules.cpp
    "pass-known",
    "dtype-known",
    "dtype-fp8",
    "lengths-known",
    "alibi-known",
    "size-negative",
    "size-limit",
    "rows-limit",
    "dim-range",
    "dim-qk-limit",
    "dim-v-limit",
    "heads-divide",
    "diagonal-twice",
    "scale-finite",
    "softcap-range",
    "bias-dtype",
    "sink-dtype",
    "dropout-range",
    "mask-dropout",
    "mask-backward",
    "lse-backward",
    "dlse-forward",
    "dbias-forward",
    "dbias-bias",
    "dbias-bool",
    "dsink-forward",
    "dsink-sink",
    "page-size",
    "append-cache",
    "append-capacity",
    "append-backward",
    "rotary-cache",
    "rotary-dim",
    "rotary-dtype",
    "rotary-backward",
    "batchidx-cache",
    "batchidx-paged",
    "batchidx-backward",
    "leftpad-cache",
    "leftpad-backward",
    "splits-range",
    "splits-backward",
    // of the tensors and scalars of a Call: describe.cpp, shapes.cpp, tensors.cpp
    "call-pass",
    "tensor-missing",
    "tensor-unused",
    "tensor-rank",
    "tensor-shape",
    "tensor-dtype",
    "dtype-mixed",
    "dtype-int64",
    "tensor-null",
    "tensor-aligned",
    "stride-last",
    "stride-range",
    "output-overlap",
    "varlen-cache",
    "max-seq",
    "dropout-origin",
    "workspace-aligned",
    "allocator-pair",
    // of values in host memory: values.cpp
    "cu-seqlens",
    "cu-seqlens-rows",
    "seqused-range",
    "cache-seqlens",
    "cache-full",
    "block-table",
    "batchidx-range",
    "batchidx-distinct",
    "leftpad-range",
    "rotary-rows",
    // of a problem line: words.cpp, text.cpp
    "line-pass",
    "line-word",
    "line-twice",
    "line-value",
    "line-missing",
    "line-reserved",
    "causal-window",
    "cache-varlen",
    "line-batch",
    "lens-count",
    "lens-range",
    "lens-fixed",
    "leftpad-count",
    "diagonal-count",
});

struct RuleId {
  std::string_view text;
  consteval RuleId(const char* id) : text(id) {
    bool listed = false;
    for (const std::string_view known : all_rule_ids) listed = listed || known == text;
    if (!listed) throw "this rule id is not in all_rule_ids";
  }
};

// The request contradicts the contract.
template <class... Parts>
Status refuse(RuleId rule, const Parts&... sentence) {
  return {Code::invalid, say(sentence...), std::string(rule.text)};
}

// The request is legal, but not done here.
template <class... Parts>
Status refuse_for_now(RuleId rule, const Parts&... sentence) {
  return {Code::unsupported, say(sentence...), std::string(rule.text)};
}

}  // namespace fw
