#include "problem/words.hpp"

#include <algorithm>
#include <vector>

#include "problem/refuse.hpp"

namespace fw {
namespace {

// --- reading values

template <class... Parts>
Status bad_value(std::string_view word, std::string_view value, const Parts&... takes) {
  return refuse("line-value", word, " takes ", say(takes...), ", not ", in_quotes(value));
}

template <class Number>
Status read_whole(Number& out, std::string_view word, std::string_view value) {
  const auto number = number_in<Number>(value);
  if (!number) return bad_value(word, value, "a whole number of ", 8 * sizeof(Number), " bits");
  out = *number;
  return {};
}

Status read_real(float& out, std::string_view word, std::string_view value) {
  const auto number = number_in<float>(value);
  if (!number) return bad_value(word, value, "a number that fp32 holds");
  out = *number;
  return {};
}

// N,N,... ; nothing at all is an empty list.
Status read_list(std::vector<std::int32_t>& out, std::string_view word, std::string_view value) {
  out.clear();
  while (!value.empty()) {
    const std::size_t comma = value.find(',');
    std::int32_t number = 0;
    FW_TRY(read_whole(number, word, value.substr(0, comma)));
    out.push_back(number);
    if (comma == value.npos) break;
    value.remove_prefix(comma + 1);
    if (value.empty()) return bad_value(word, value, "a number after each comma");
  }
  return {};
}

struct Name {
  std::string_view text;
  int value;
};

template <class Enum, std::size_t n>
Status read_name(Enum& out, std::string_view word, std::string_view value, const Name (&names)[n]) {
  std::string all;
  for (const Name& name : names) {
    if (name.text == value) {
      out = static_cast<Enum>(name.value);
      return {};
    }
    all += say(all.empty() ? "" : ", ", name.text);
  }
  return bad_value(word, value, "one of ", all);
}

template <class Enum, std::size_t n>
std::string_view name_for(Enum value, const Name (&names)[n]) {
  for (const Name& name : names)
    if (name.value == static_cast<int>(value)) return name.text;
  return "";
}

// --- writing values

std::string list_text(const std::vector<std::int32_t>& numbers) {
  std::string out;
  for (const std::int32_t number : numbers) out += say(out.empty() ? "" : ",", number);
  return out;
}

std::string when(bool written, std::string word) { return written ? std::move(word) : std::string(); }

// --- element types behind a colon: the tensors' own, unless the line says fp32 (or, for a bias, bool)

// Splits "1hqk:bool" into "1hqk" and the type. An own type stays none until the line's dtype is known.
Status read_suffix(std::string_view& value, DType& dtype, std::string_view word, bool bool_allowed) {
  const std::size_t colon = value.find(':');
  if (colon == value.npos) return {};
  const std::string_view suffix = value.substr(colon + 1);
  value = value.substr(0, colon);
  if (suffix == "fp32") {
    dtype = DType::fp32;
  } else if (suffix == "bool" && bool_allowed) {
    dtype = DType::uint8;
  } else {
    return bad_value(word, suffix, bool_allowed ? ":fp32 or :bool" : ":fp32");
  }
  return {};
}

std::string_view suffix_text(DType dtype, const Case& c) {
  if (dtype == DType::uint8) return ":bool";
  return dtype == c.problem.dtype ? "" : ":fp32";
}

// --- words that need more than a line

constexpr Name layout_names[] = {{"bshd", 0}, {"bhsd", 1}, {"packed", 2}, {"strided", 3}};
constexpr Name values_names[] = {{"normal", 0}, {"sharp", 1}, {"outliers", 2}, {"tinydout", 3}};
constexpr Name lens_names[] = {{"full", 0}, {"random", 1}, {"zeros", 2}};
constexpr Name alibi_names[] = {{"h", 1}, {"bh", 2}};

struct Wanted {
  std::string_view name;
  bool Problem::* member;
};
constexpr Wanted wanted[] = {{"lse", &Problem::want_lse},
                             {"mask", &Problem::want_mask},
                             {"dlse", &Problem::want_dlse},
                             {"dbias", &Problem::want_dbias},
                             {"dsink", &Problem::want_dsink}};

Status read_dtype(Draft& d, std::string_view value) {
  d.c.problem.dtype = *dtype_named(value);
  return {};
}

Status read_window(Draft& d, std::string_view value) {
  std::vector<std::int32_t> sides;
  FW_TRY(read_list(sides, "window", value));
  if (sides.size() != 2) return bad_value("window", value, "two numbers, left,right");
  d.c.problem.left = std::max(sides[0], open_side);
  d.c.problem.right = std::max(sides[1], open_side);
  d.window = value;
  return {};
}
std::string write_mask(const Case& c) {
  const Problem& p = c.problem;
  if (p.left < 0 && p.right == 0) return "causal";
  return when(p.left >= 0 || p.right >= 0, say("window=", p.left, ",", p.right));
}

Status read_diagonal(Draft& d, std::string_view value) {
  std::vector<std::int32_t> numbers;
  FW_TRY(read_list(numbers, "diagonal", value));
  if (numbers.empty()) return bad_value("diagonal", value, "a number, or one for each sequence");
  d.c.problem.diagonal_given = numbers.size() == 1;
  d.c.problem.diagonal_per_batch = numbers.size() > 1;
  if (numbers.size() == 1) d.c.problem.diagonal = numbers[0];
  if (numbers.size() > 1) d.c.listed_diagonals = std::move(numbers);
  return {};
}
std::string write_diagonal(const Case& c) {
  if (c.problem.diagonal_per_batch) return say("diagonal=", list_text(c.listed_diagonals));
  return when(c.problem.diagonal_given, say("diagonal=", c.problem.diagonal));
}

Status read_bias(Draft& d, std::string_view value) {
  FW_TRY(read_suffix(value, d.bias_dtype, "bias", true));
  const std::string_view pattern = value.empty() ? "bhqk" : value;
  constexpr std::string_view letters = "bhqk";
  bool fits = pattern.size() == letters.size() && pattern[3] == 'k';
  for (std::size_t i = 0; fits && i < 3; ++i) fits = pattern[i] == '1' || pattern[i] == letters[i];
  if (!fits) return bad_value("bias", value, "bhqk, with 1 in place of b, h or q where it broadcasts");
  d.bias = true;
  d.c.problem.bias.batch = pattern[0] == 'b';
  d.c.problem.bias.head = pattern[1] == 'h';
  d.c.problem.bias.query = pattern[2] == 'q';
  return {};
}
std::string write_bias(const Case& c) {
  const BiasShape& bias = c.problem.bias;
  return when(bias.given(), say("bias=", bias.batch ? "b" : "1", bias.head ? "h" : "1",
                                bias.query ? "q" : "1", "k", suffix_text(bias.dtype, c)));
}

Status read_sink(Draft& d, std::string_view value) {
  const std::string_view whole = value;
  FW_TRY(read_suffix(value, d.sink_dtype, "sink", false));
  if (!value.empty()) return bad_value("sink", whole, "nothing or :fp32");
  d.sink = true;
  return {};
}

Status read_lens(Draft& d, std::string_view value) {
  const std::size_t slash = value.find('/');
  if (slash == value.npos) return read_name(d.c.lens, "lens", value, lens_names);
  d.c.lens = Lens::listed;
  FW_TRY(read_list(d.c.listed_q, "lens", value.substr(0, slash)));
  return read_list(d.c.listed_k, "lens", value.substr(slash + 1));
}
std::string write_lens(const Case& c) {
  if (c.lens == Lens::listed) return say("lens=", list_text(c.listed_q), "/", list_text(c.listed_k));
  return when(c.lens != Lens::full, say("lens=", name_for(c.lens, lens_names)));
}

Status read_seqused(Draft& d, std::string_view value) {
  if (!value.empty() && value != "q" && value != "k" && value != "qk")
    return bad_value("seqused", value, "one of q, k, qk");
  d.seqused = value;
  d.seqused_given = true;
  return {};
}
std::string write_seqused(const Case& c) {
  const Problem& p = c.problem;
  if (!p.seqused_q && !p.seqused_k) return "";
  const bool plain = p.seqused_k && p.seqused_q == (p.lengths == Lengths::varlen);
  return plain ? "seqused" : say("seqused=", p.seqused_q ? "q" : "", p.seqused_k ? "k" : "");
}

Status read_paged(Draft& d, std::string_view value) {
  FW_TRY(read_whole(d.c.problem.page_size, "paged", value));
  if (d.c.problem.page_size == 0) return refuse("page-size", "paged is 0; a page holds 1 slot or more");
  return {};
}

Status read_rotary(Draft& d, std::string_view value) {
  FW_TRY(read_suffix(value, d.rotary_dtype, "rotary", false));
  d.c.problem.rotary.interleaved = value.ends_with('i');
  if (value.ends_with('i')) value.remove_suffix(1);
  FW_TRY(read_whole(d.c.problem.rotary.dim, "rotary", value));
  if (d.c.problem.rotary.dim == 0)
    return refuse("rotary-dim", "rotary turns 0 elements; it is an even number from 2 to d");
  return {};
}
std::string write_rotary(const Case& c) {
  const Rotary& rotary = c.problem.rotary;
  return when(rotary.dim != 0,
              say("rotary=", rotary.dim, rotary.interleaved ? "i" : "", suffix_text(rotary.dtype, c)));
}

Status read_leftpad(Draft& d, std::string_view value) {
  d.c.problem.leftpad = true;
  return read_list(d.c.listed_leftpad, "leftpad", value);
}
std::string write_leftpad(const Case& c) {
  if (!c.problem.leftpad) return "";
  return c.listed_leftpad.empty() ? "leftpad" : say("leftpad=", list_text(c.listed_leftpad));
}

Status read_want(Draft& d, std::string_view value) {
  while (true) {
    const std::size_t comma = value.find(',');
    const std::string_view name = value.substr(0, comma);
    const auto* found =
        std::find_if(std::begin(wanted), std::end(wanted), [&](const Wanted& w) { return w.name == name; });
    if (found == std::end(wanted)) return bad_value("want", name, "lse, mask, dlse, dbias, dsink");
    if (d.c.problem.*found->member) return refuse("line-twice", "want names ", name, " twice");
    d.c.problem.*found->member = true;
    if (comma == value.npos) return {};
    value.remove_prefix(comma + 1);
  }
}
std::string write_want(const Case& c) {
  std::string out;
  for (const Wanted& w : wanted)
    if (c.problem.*w.member) out += say(out.empty() ? "want=" : ",", w.name);
  return out;
}

// --- the table

using Form = Word::Form;
using Text = std::string_view;

const Word table[] = {
    {"b", Form::count, false, [](Draft& d, Text v) { return read_whole(d.c.problem.batch, "b", v); },
     [](const Case& c) { return say("b", c.problem.batch); }},
    {"hq", Form::count, false, [](Draft& d, Text v) { return read_whole(d.c.problem.heads_q, "hq", v); },
     [](const Case& c) { return say("hq", c.problem.heads_q); }},
    {"hkv", Form::count, false, [](Draft& d, Text v) { return read_whole(d.heads_k.emplace(), "hkv", v); },
     [](const Case& c) {
       return when(c.problem.heads_k != c.problem.heads_q, say("hkv", c.problem.heads_k));
     }},
    {"sq", Form::count, true, [](Draft& d, Text v) { return read_whole(d.c.problem.seq_q, "sq", v); },
     [](const Case& c) { return say("sq", c.problem.seq_q); }},
    {"sk", Form::count, false, [](Draft& d, Text v) { return read_whole(d.seq_k.emplace(), "sk", v); },
     [](const Case& c) { return when(c.problem.seq_k != c.problem.seq_q, say("sk", c.problem.seq_k)); }},
    {"d", Form::count, true, [](Draft& d, Text v) { return read_whole(d.c.problem.dim_qk, "d", v); },
     [](const Case& c) { return say("d", c.problem.dim_qk); }},
    {"dv", Form::count, false, [](Draft& d, Text v) { return read_whole(d.dim_v.emplace(), "dv", v); },
     [](const Case& c) { return when(c.problem.dim_v != c.problem.dim_qk, say("dv", c.problem.dim_v)); }},
    {"dtype", Form::flag, true, read_dtype,
     [](const Case& c) { return std::string(name_of(c.problem.dtype)); }},

    {"causal", Form::flag, false, [](Draft& d, Text) { return d.causal = true, Status(); }, write_mask},
    {"window", Form::value, false, read_window,
     [](const Case&) { return std::string(); }},  // write_mask above
    {"diagonal", Form::value, false, read_diagonal, write_diagonal},
    {"scale", Form::value, false,
     [](Draft& d, Text v) { return read_real(d.c.problem.scale.emplace(), "scale", v); },
     [](const Case& c) { return c.problem.scale ? say("scale=", *c.problem.scale) : std::string(); }},
    {"softcap", Form::value, false,
     [](Draft& d, Text v) { return read_real(d.c.problem.softcap, "softcap", v); },
     [](const Case& c) { return when(c.problem.softcap != 0, say("softcap=", c.problem.softcap)); }},
    {"alibi", Form::optional, false,
     [](Draft& d, Text v) { return read_name(d.c.problem.alibi, "alibi", v.empty() ? "h" : v, alibi_names); },
     [](const Case& c) {
       if (c.problem.alibi == Alibi::none) return std::string();
       return std::string(c.problem.alibi == Alibi::per_head ? "alibi" : "alibi=bh");
     }},
    {"bias", Form::optional, false, read_bias, write_bias},
    {"sink", Form::optional, false, read_sink,
     [](const Case& c) {
       return when(c.problem.sink != DType::none, say("sink", suffix_text(c.problem.sink, c)));
     }},
    {"dropout", Form::value, false,
     [](Draft& d, Text v) { return read_real(d.c.problem.dropout, "dropout", v); },
     [](const Case& c) { return when(c.problem.dropout != 0, say("dropout=", c.problem.dropout)); }},

    {"varlen", Form::flag, false, [](Draft& d, Text) { return d.varlen = true, Status(); },
     [](const Case& c) { return when(c.problem.lengths == Lengths::varlen, "varlen"); }},
    {"cache", Form::flag, false, [](Draft& d, Text) { return d.cache = true, Status(); },
     [](const Case& c) { return when(c.problem.lengths == Lengths::cache, "cache"); }},
    {"lens", Form::value, false, read_lens, write_lens},
    {"seqused", Form::optional, false, read_seqused, write_seqused},
    {"paged", Form::value, false, read_paged,
     [](const Case& c) { return when(c.problem.page_size != 0, say("paged=", c.problem.page_size)); }},
    {"append", Form::value, false,
     [](Draft& d, Text v) { return read_whole(d.c.problem.append, "append", v); },
     [](const Case& c) { return when(c.problem.append != 0, say("append=", c.problem.append)); }},
    {"rotary", Form::value, false, read_rotary, write_rotary},
    {"batchidx", Form::flag, false, [](Draft& d, Text) { return d.c.problem.batch_index = true, Status(); },
     [](const Case& c) { return when(c.problem.batch_index, "batchidx"); }},
    {"leftpad", Form::optional, false, read_leftpad, write_leftpad},
    {"splits", Form::value, false,
     [](Draft& d, Text v) { return read_whole(d.c.problem.splits, "splits", v); },
     [](const Case& c) { return when(c.problem.splits != 0, say("splits=", c.problem.splits)); }},

    {"layout", Form::value, false,
     [](Draft& d, Text v) { return read_name(d.c.layout, "layout", v, layout_names); },
     [](const Case& c) {
       return when(c.layout != Layout::bshd, say("layout=", name_for(c.layout, layout_names)));
     }},
    {"want", Form::value, false, read_want, write_want},
    {"deterministic", Form::flag, false,
     [](Draft& d, Text) { return d.c.problem.deterministic = true, Status(); },
     [](const Case& c) { return when(c.problem.deterministic, "deterministic"); }},
    {"seed", Form::value, false, [](Draft& d, Text v) { return read_whole(d.c.seed, "seed", v); },
     [](const Case& c) { return when(c.seed != Case{}.seed, say("seed=", c.seed)); }},
    {"values", Form::value, false,
     [](Draft& d, Text v) { return read_name(d.c.values, "values", v, values_names); },
     [](const Case& c) {
       return when(c.values != Values::normal, say("values=", name_for(c.values, values_names)));
     }},
};

}  // namespace

std::span<const Word> words() { return table; }

}  // namespace fw
