#include "support/fuzz.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <new>

namespace tools {

namespace {

using Words = std::vector<std::string>;

std::string joined(const Words& words) { return fmt::format("{}", fmt::join(words, " ")); }

// A stream of small decisions.
class Dice {
 public:
  Dice(std::uint64_t seed, std::uint64_t number) : numbers_(mix(seed) + number, "fuzz") {}

  std::int64_t below(std::int64_t count) { return numbers_.below(next_++, count); }
  bool one_in(std::int64_t count) { return below(count) == 0; }
  template <class T>
  T of(std::initializer_list<T> choices) {
    return choices.begin()[below(static_cast<std::int64_t>(choices.size()))];
  }
  // Small, with the corners of tiles among them.
  std::int64_t length(std::int64_t most) {
    const std::int64_t corner = of({0, 1, 2, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 257});
    return std::min(most, one_in(2) ? corner : below(most + 1));
  }

 private:
  Numbers numbers_;
  std::uint64_t next_ = 0;
};

struct Sizes {
  std::int64_t batch, heads_q, heads_k, seq_q, seq_k, dim, dim_v;
};

Sizes draw_sizes(Dice& dice, Words& words) {
  Sizes s;
  s.batch = dice.one_in(30) ? 0 : 1 + dice.below(3);
  s.heads_k = dice.one_in(40) ? 0 : 1 + dice.below(3);
  s.heads_q = s.heads_k * (1 + (dice.one_in(2) ? dice.below(6) : 0));
  s.seq_q = dice.one_in(4) ? 1 : dice.length(150);
  s.seq_k = dice.one_in(3) ? s.seq_q : dice.length(300);
  s.dim = dice.one_in(3) ? 1 + dice.below(dice.one_in(6) ? 576 : 160) : dice.of({8, 16, 32, 64, 96, 128});
  s.dim_v = dice.one_in(4) ? 1 + dice.below(dice.one_in(6) ? 512 : 160) : std::min<std::int64_t>(s.dim, 512);
  words.push_back(fmt::format("b{}", s.batch));
  words.push_back(fmt::format("hq{}", s.heads_q));
  words.push_back(fmt::format("hkv{}", s.heads_k));
  words.push_back(fmt::format("sq{}", s.seq_q));
  words.push_back(fmt::format("sk{}", s.seq_k));
  words.push_back(fmt::format("d{}", s.dim));
  words.push_back(fmt::format("dv{}", s.dim_v));
  return s;
}

void draw_mask(Dice& dice, const Sizes& s, Words& words) {
  if (dice.one_in(3)) {
    words.push_back("causal");
  } else if (dice.one_in(3)) {
    const auto side = [&] { return dice.one_in(5) ? -1 : dice.length(s.seq_k + 3); };
    const std::int64_t left = side();
    words.push_back(fmt::format("window={},{}", left, side()));
  }
  if (dice.one_in(6)) words.push_back(fmt::format("diagonal={}", dice.below(2 * s.seq_k + 9) - s.seq_k - 4));
}

void draw_scores(Dice& dice, bool backward, Words& words, Words& wants) {
  if (dice.one_in(8)) words.push_back(dice.of({"scale=0.5", "scale=-0.1", "scale=0.01", "scale=1"}));
  if (dice.one_in(6)) words.push_back(dice.of({"softcap=5", "softcap=30", "softcap=0.5"}));
  if (dice.one_in(6)) words.push_back(dice.of({"alibi", "alibi=bh"}));
  if (dice.one_in(5)) {
    const std::string pattern = dice.of({"bhqk", "1hqk", "b1qk", "bh1k", "11qk", "1h1k", "b11k", "111k"});
    const std::string dtype = dice.of({"", "", ":fp32", ":bool"});
    words.push_back("bias=" + pattern + dtype);
    if (backward && dtype != ":bool" && dice.one_in(2)) wants.push_back("dbias");
  }
  if (dice.one_in(5)) {
    words.push_back(dice.of({"sink", "sink:fp32"}));
    if (backward && dice.one_in(2)) wants.push_back("dsink");
  }
  if (dice.one_in(6)) words.push_back(dice.of({"dropout=0.1", "dropout=0.5", "dropout=0.97"}));
}

// What only forward has: caches and what goes with them.
void draw_cache(Dice& dice, const Sizes& s, Words& words) {
  if (dice.one_in(2)) words.push_back("lens=random");
  const bool paged = dice.one_in(2);
  if (paged) words.push_back(fmt::format("paged={}", dice.of({1, 3, 7, 16, 64, 256})));
  if (!paged && dice.one_in(3)) words.push_back("batchidx");
  if (dice.one_in(3)) words.push_back("leftpad");
  if (s.seq_k > 0 && dice.one_in(3))
    words.push_back(fmt::format("append={}", 1 + dice.below(std::min<std::int64_t>(s.seq_k, 5))));
  if (s.dim > 1 && dice.one_in(3))
    words.push_back(fmt::format("rotary={}{}{}", 2 * (1 + dice.below(s.dim / 2)), dice.one_in(2) ? "i" : "",
                                dice.one_in(2) ? ":fp32" : ""));
}

void draw_lengths(Dice& dice, bool backward, const Sizes& s, Words& words) {
  switch (dice.below(4)) {
    case 0:
      words.push_back("varlen");
      words.push_back(dice.of({"lens=random", "lens=zeros", "lens=full"}));
      if (dice.one_in(3)) words.push_back("seqused");
      if (!backward && dice.one_in(4)) words.push_back(fmt::format("paged={}", dice.of({1, 5, 16, 64})));
      break;
    case 1:
      if (backward) break;
      words.push_back("cache");
      draw_cache(dice, s, words);
      break;
    case 2:
      if (dice.one_in(2)) {
        words.push_back("seqused");
        words.push_back("lens=random");
      }
      break;
    default: break;
  }
  if (!backward && dice.one_in(4)) words.push_back(fmt::format("splits={}", 1 + dice.below(6)));
}

std::string number_of(const std::string& word, std::size_t& begin) {
  begin = word.find_first_of("0123456789");
  if (begin == std::string::npos) return "";
  return word.substr(begin, word.find_first_not_of("0123456789", begin) - begin);
}

// Simpler words in place of one, the boldest first.
Words simpler(const std::string& word) {
  Words all;
  std::size_t begin = 0;
  const std::string digits = number_of(word, begin);
  if (word == "bf16" || word == "fp16") all.push_back("fp32");
  if (word == "fwd+bwd") all.insert(all.end(), {"fwd", "bwd"});
  if (digits.empty() || digits.size() > 9 || word.find_first_of("=.") != std::string::npos ||
      word[0] == 'f' || word.rfind("bf", 0) == 0)
    return all;
  const long value = std::atol(digits.c_str());
  for (const long smaller : {1L, value / 2, value - 1})
    if (smaller < value && smaller >= 0) all.push_back(word.substr(0, begin) + std::to_string(smaller));
  return all;
}

// What a line came to: passed, refused, declined, or the reason why it failed.
struct Attempt {
  enum class State { passed, refused, declined, failed } state = State::passed;
  std::string why;
};

// What a failure is about, its tensor for the most part: shrinking must not end at another failure.
std::string subject(const std::string& why) { return why.substr(0, why.find_first_of("[ ")); }

Attempt attempt(const std::string& line, const CheckOptions& options) {
  Case c;
  if (const Outcome outcome = parse_case(line, c); !outcome.ok())
    return {Attempt::State::refused, outcome.message()};
  if (const Outcome outcome = Outcome::of(flashwave_supports(options.device.c_str(), &c.problem));
      !outcome.ok())
    return {Attempt::State::declined, outcome.message()};
  Verdict verdict;
  if (const Outcome outcome = check_case(c, options, verdict); !outcome.ok())
    return {Attempt::State::failed, outcome.message()};
  if (verdict.passed()) return {};
  return {Attempt::State::failed, verdict.faults.front()};
}

}  // namespace

std::vector<std::string> draw_problem(std::uint64_t seed, std::uint64_t number) {
  Dice dice(seed, number);
  Words words, wants;
  const std::string pass = dice.of({"fwd", "fwd", "fwd+bwd", "bwd"});
  const bool backward = pass != "fwd";
  words.push_back(pass);
  const Sizes sizes = draw_sizes(dice, words);
  words.push_back(dice.of({"fp32", "fp16", "bf16"}));
  draw_mask(dice, sizes, words);
  draw_scores(dice, backward, words, wants);
  draw_lengths(dice, backward, sizes, words);
  if (pass != "bwd" && dice.one_in(2)) wants.push_back("lse");
  if (backward && dice.one_in(5)) wants.push_back("dlse");
  const bool dropout = std::any_of(words.begin(), words.end(),
                                   [](const std::string& w) { return w.rfind("dropout", 0) == 0; });
  if (pass != "bwd" && dropout) wants.push_back("mask");
  if (dice.one_in(2)) words.push_back("layout=" + dice.of<std::string>({"bhsd", "packed", "strided"}));
  // Among a handful of weights one outlier decides by luck who of kernel and yardstick rounds better.
  const bool many = sizes.batch * sizes.heads_q * sizes.seq_q * sizes.seq_k >= 4096;
  if (dice.one_in(3))
    words.push_back("values=" + dice.of<std::string>({"sharp", many ? "outliers" : "normal", "tinydout"}));
  if (dice.one_in(4)) words.push_back("deterministic");
  if (!wants.empty()) words.push_back(fmt::format("want={}", fmt::join(wants, ",")));
  words.push_back(fmt::format("seed={}", 1 + dice.below(1000)));
  return words;
}

std::string shrink(std::vector<std::string> words,
                   const std::function<bool(const std::string& line)>& fails) {
  const auto better = [&](const Words& candidate) {
    if (!fails(joined(candidate))) return false;
    words = candidate;
    return true;
  };
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (std::size_t i = words.size(); i-- > 1;) {
      Words candidate = words;
      candidate.erase(candidate.begin() + static_cast<std::ptrdiff_t>(i));
      smaller = better(candidate) || smaller;
    }
    for (std::size_t i = 0; i < words.size(); ++i)
      for (const std::string& word : simpler(words[i])) {
        Words candidate = words;
        candidate[i] = word;
        if (!better(candidate)) continue;
        smaller = true;
        break;
      }
  }
  return joined(words);
}

Outcome read_fuzz_amount(const std::string& text, FuzzOptions& options) {
  const bool time = !text.empty() && text.back() == 's';
  const std::string digits = text.substr(0, text.size() - time);
  if (digits.empty() || digits.size() > 9 || digits.find_first_not_of("0123456789") != std::string::npos)
    return invalid(fmt::format("--fuzz takes a count (200) or a time (30s), not '{}'", text));
  options.seconds = time ? std::atof(digits.c_str()) : 0;
  options.count = time ? 0 : std::atol(digits.c_str());
  return {};
}

FuzzReport fuzz(const FuzzOptions& options,
                const std::function<void(std::int64_t done, const std::string& line)>& progress) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(options.seconds);
  FuzzReport found;
  std::int64_t judged = 0;
  for (std::uint64_t number = 0;; ++number) {
    if (options.count > 0 ? judged >= options.count : Clock::now() >= end) break;
    const Words words = draw_problem(options.seed, number);
    const std::string line = joined(words);
    progress(judged, line);
    const Attempt outcome = attempt(line, options.check);
    if (outcome.state == Attempt::State::refused) ++found.refused;
    if (outcome.state == Attempt::State::declined) ++found.declined;
    if (outcome.state == Attempt::State::refused || outcome.state == Attempt::State::declined) continue;
    ++judged;
    if (outcome.state == Attempt::State::passed) {
      ++found.passed;
      continue;
    }
    const std::string smallest = shrink(words, [&](const std::string& candidate) {
      const Attempt smaller = attempt(candidate, options.check);
      return smaller.state == Attempt::State::failed && subject(smaller.why) == subject(outcome.why);
    });
    found.failures.push_back({smallest, line, attempt(smallest, options.check).why});
    if (static_cast<int>(found.failures.size()) >= options.most_failures) break;
  }
  return found;
}

}  // namespace tools
