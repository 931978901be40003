// A problem line to a Case and back.
#include <algorithm>
#include <bitset>

#include "problem/case.hpp"
#include "problem/refuse.hpp"
#include "problem/rules.hpp"
#include "problem/words.hpp"

namespace fw {
namespace {

constexpr std::string_view blanks = " \t\r\n";

// Takes the next word off the line; empty at its end.
std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(blanks));
  line.remove_prefix(word.size());
  return word;
}

constexpr std::string_view pass_names[] = {"fwd", "bwd", "fwd+bwd"};  // by Pass

Status read_pass(Pass& pass, std::string_view word) {
  const auto* found = std::find(std::begin(pass_names), std::end(pass_names), word);
  if (found == std::end(pass_names))
    return refuse("line-pass", "a problem line begins with fwd, bwd or fwd+bwd, not ", in_quotes(word));
  pass = static_cast<Pass>(found - std::begin(pass_names));
  return {};
}

// A token's parts: sq100 is sq and 100, lens=full is lens and full, bias:fp32 is bias and :fp32.
struct Token {
  std::string_view name, value;
  char mark = 0;  // '=', ':', a digit or sign, or 0 for a bare word
};

Token split(std::string_view word) {
  if (const auto dtype = dtype_named(word); dtype && is_float(*dtype)) return {"dtype", word, 0};
  const std::size_t end = word.find_first_of("=:+-0123456789");
  if (end == word.npos) return {word, {}, 0};
  return {word.substr(0, end), word.substr(word[end] == '=' ? end + 1 : end), word[end]};
}

bool fits(Word::Form form, const Token& token) {
  switch (form) {
    case Word::Form::flag: return token.mark == 0;
    case Word::Form::value: return token.mark == '=';
    case Word::Form::optional:
      return token.mark == 0 || token.mark == ':' || (token.mark == '=' && !token.value.empty());
    case Word::Form::count: return token.mark != 0 && token.mark != '=' && token.mark != ':';
  }
  return false;
}

std::string_view form_text(Word::Form form) {
  switch (form) {
    case Word::Form::flag: return " stands alone";
    case Word::Form::value: return " is followed by = and a value";
    case Word::Form::optional: return " stands alone or is followed by = and a value";
    case Word::Form::count: return " is followed by a number and nothing between";
  }
  return "";
}

using Seen = std::bitset<64>;

Status read_word(Draft& draft, Seen& seen, std::string_view word) {
  const Token token = split(word);
  if (token.name == "tree" || token.name == "keys")
    return refuse_for_now("line-reserved", token.name, " is a word for later: not yet");
  const auto all = words();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Word& w) { return w.name == token.name; });
  if (found == all.end() || word == "dtype")
    return refuse("line-word", in_quotes(word), " is no word of a problem line; docs/problems.md lists them");
  if (!fits(found->form, token))
    return refuse("line-value", token.name, form_text(found->form), ", unlike ", in_quotes(word));
  const auto index = static_cast<std::size_t>(found - all.begin());
  if (seen[index])
    return refuse("line-twice", in_quotes(word), " is the second ", token.name, "; a line has one at most");
  seen[index] = true;
  return found->read(draft, token.value);
}

Status check_required(const Seen& seen) {
  const auto all = words();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].required && !seen[i])
      return refuse("line-missing", "the line lacks ", all[i].name, "; sq, d and a dtype are required");
  return {};
}

// What depends on several words.
Status settle(Draft& d) {
  Problem& p = d.c.problem;
  p.heads_k = d.heads_k.value_or(p.heads_q);
  p.seq_k = d.seq_k.value_or(p.seq_q);
  p.dim_v = d.dim_v.value_or(p.dim_qk);
  if (d.causal && d.window && p.right != 0)
    return refuse("causal-window", "causal with window=", *d.window,
                  ": causal means a window whose right side is 0");
  if (d.causal) p.right = 0;
  if (d.varlen && d.cache)
    return refuse("cache-varlen",
                  "cache with varlen: ragged queries read a cache only by pages (varlen paged=N)");
  p.lengths = d.varlen ? Lengths::varlen : d.cache ? Lengths::cache : Lengths::dense;
  const auto own = [&](DType dtype) { return dtype == DType::none ? p.dtype : dtype; };
  if (d.bias) p.bias.dtype = own(d.bias_dtype);
  if (d.sink) p.sink = own(d.sink_dtype);
  if (p.rotary.dim != 0) p.rotary.dtype = own(d.rotary_dtype);
  if (d.seqused_given) {
    const std::string which = !d.seqused.empty() ? d.seqused : d.varlen ? "qk" : "k";
    p.seqused_q = which.find('q') != which.npos;
    p.seqused_k = which.find('k') != which.npos;
  }
  return {};
}

Status check_list(const std::vector<std::int32_t>& list, std::string_view letter, bool varies,
                  std::int64_t longest, std::int64_t batch) {
  if (static_cast<std::int64_t>(list.size()) != batch)
    return refuse("lens-count", "lens has ", list.size(), " lengths of ", letter, " for a batch of ", batch);
  for (const std::int32_t length : list) {
    if (length < 0 || length > longest)
      return refuse("lens-range", "lens has a length of ", letter, " of ", length, "; it is 0 to ", longest);
    if (!varies && length != longest)
      return refuse("lens-fixed", "lens has a length of ", letter, " of ", length,
                    ", but without varlen, seqused or cache each is ", longest);
  }
  return {};
}

// The recipe must fit the problem, which is valid by now.
Status check_recipe(const Case& c) {
  const Problem& p = c.problem;
  constexpr std::int64_t batch_limit = std::int64_t{1} << 20;  // a recipe lists the lengths of each sequence
  if (p.batch > batch_limit)
    return refuse_for_now("line-batch", "b is ", p.batch, "; a line has up to ", batch_limit, " sequences");
  if (c.lens == Lens::listed) {
    FW_TRY(check_list(c.listed_q, "q", queries_vary(p), p.seq_q, p.batch));
    FW_TRY(check_list(c.listed_k, "k", keys_vary(p), p.seq_k - p.append, p.batch));
  } else if (c.lens != Lens::full && !queries_vary(p) && !keys_vary(p)) {
    return refuse("lens-fixed", "lens asks for ragged lengths, which only varlen, seqused and cache have");
  }
  if (!c.listed_leftpad.empty()) {
    if (static_cast<std::int64_t>(c.listed_leftpad.size()) != p.batch)
      return refuse("leftpad-count", "leftpad has ", c.listed_leftpad.size(), " numbers for a batch of ",
                    p.batch);
    for (const std::int32_t padding : c.listed_leftpad)
      if (padding < 0 || padding > p.seq_k)
        return refuse("leftpad-range", "leftpad has ", padding, "; it is 0 to ", p.seq_k,
                      ", the cache's capacity");
  }
  if (p.diagonal_per_batch && static_cast<std::int64_t>(c.listed_diagonals.size()) != p.batch)
    return refuse("diagonal-count", "diagonal has ", c.listed_diagonals.size(), " numbers for a batch of ",
                  p.batch);
  return {};
}

}  // namespace

Status parse(std::string_view line, Case& out) {
  Draft draft;
  FW_TRY(read_pass(draft.c.problem.pass, next_word(line)));
  Seen seen;
  for (std::string_view word = next_word(line); !word.empty(); word = next_word(line))
    FW_TRY(read_word(draft, seen, word));
  FW_TRY(check_required(seen));
  FW_TRY(settle(draft));
  FW_TRY(check(draft.c.problem));
  FW_TRY(check_recipe(draft.c));
  out = std::move(draft.c);
  return {};
}

std::string print(const Case& c) {
  const auto pass = static_cast<std::size_t>(c.problem.pass);
  std::string out(pass < std::size(pass_names) ? pass_names[pass] : "?");
  for (const Word& word : words())
    if (const std::string text = word.write(c); !text.empty()) out += say(" ", text);
  return out;
}

}  // namespace fw
