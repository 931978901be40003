// Sentences and strict numbers: text joined from parts, and numbers read whole or not at all.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>

namespace fw {

inline void append_text(std::string& out, std::string_view part) { out += part; }

// The shortest text that reads back as the same number.
template <class Number>
  requires(std::integral<Number> || std::floating_point<Number>)
void append_text(std::string& out, Number number) {
  char digits[64];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  out.append(digits, end);
}

// say("sq is ", 3, ", at most ", 2)
template <class... Parts>
std::string say(const Parts&... parts) {
  std::string out;
  (append_text(out, parts), ...);
  return out;
}

// What somebody gave, as a sentence repeats it: its beginning, and ? for what is no printable ASCII.
inline std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string out = "\"";
  for (const char c : text.substr(0, longest)) out += c >= ' ' && c <= '~' ? c : '?';
  return out + (text.size() > longest ? "...\"" : "\"");
}

// The number that is all of the text: no sign of its own for unsigned types, no space, nothing behind it, no
// overflow.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  return number;
}

}  // namespace fw
