// A Case is a Problem and a recipe for its data; a problem line (docs/problems.md) denotes one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "problem/problem.hpp"

namespace fw {

// The enum values are part of the C ABI: only append.
enum class Values : int { normal = 0, sharp = 1, outliers = 2, tinydout = 3 };
enum class Layout : int { bshd = 0, bhsd = 1, packed = 2, strided = 3 };
enum class Lens : int { full = 0, random = 1, zeros = 2, listed = 3 };

struct Case {
  Problem problem;
  std::uint64_t seed = 1;
  Values values = Values::normal;
  Layout layout = Layout::bshd;
  Lens lens = Lens::full;
  std::vector<std::int32_t> listed_q, listed_k;  // lens=Q,../K,..
  std::vector<std::int32_t> listed_leftpad;      // leftpad=N,..
  std::vector<std::int32_t> listed_diagonals;    // diagonal=N,N,..

  bool operator==(const Case&) const = default;
};

Status parse(std::string_view line, Case& out);
std::string print(const Case& c);  // canonical: parse(print(c)) == c

// The lengths the recipe denotes, a value a sequence. `keys` counts what is there before an append.
struct Extents {
  std::vector<std::int32_t> queries, keys, leftpad;
  std::vector<std::int32_t> diagonals;  // where row 0 stands, whoever says it
};
Extents extents(const Case& c);

// Which lengths a recipe may choose; the others are always whole.
bool queries_vary(const Problem& p);
bool keys_vary(const Problem& p);

}  // namespace fw
