// Two views meet iff an equation has a solution: address + sum(index * stride) of one equals that of the
// other, each index within its dimension. The search below takes the terms from the longest step down. What
// the smaller terms can still make up leaves only a few indices of each, one for views that nest (the usual
// case), so it ends at once; a cap on its steps turns the rare hard equation into "they overlap".
#include "problem/overlap.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace fw {
namespace {

using Wide = __int128;

Wide ceil_div(Wide a, Wide b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }

// sum(step * index) + constant = 0, 0 <= index <= last, step > 0.
class Equation {
 public:
  explicit Equation(Wide constant) : target_(-constant) {}

  // A term step * index with first <= index <= last.
  void add(Wide step, Wide first, Wide last) {
    if (step == 0) return;
    if (step < 0) {
      step = -step;
      std::swap(first, last);
      first = -first;
      last = -last;
    }
    target_ -= step * first;
    for (int i = 0; i < count_; ++i) {
      if (terms_[i].step != step) continue;
      terms_[i].last += last - first;  // the sum of two such indices
      return;
    }
    terms_[count_++] = {step, last - first};
  }

  bool solvable() {
    std::sort(terms_, terms_ + count_, [](const Term& a, const Term& b) { return a.step > b.step; });
    reach_[count_] = 0;
    divisor_[count_] = 0;
    for (int i = count_ - 1; i >= 0; --i) {
      reach_[i] = reach_[i + 1] + terms_[i].step * terms_[i].last;
      divisor_[i] = gcd(terms_[i].step, divisor_[i + 1]);
    }
    steps_left_ = 20000;
    return search(0, target_);
  }

 private:
  struct Term {
    Wide step, last;
  };

  static Wide gcd(Wide a, Wide b) {
    while (b != 0) a = std::exchange(b, a % b);
    return a;
  }

  // The terms from i on can make up the rest.
  bool search(int i, Wide rest) {
    if (rest < 0 || rest > reach_[i]) return false;
    if (rest == 0) return true;
    if (rest % divisor_[i] != 0) return false;
    const auto [step, last] = terms_[i];
    const Wide highest = std::min(last, rest / step);
    for (Wide index = std::max<Wide>(0, ceil_div(rest - reach_[i + 1], step)); index <= highest; ++index) {
      if (--steps_left_ < 0) return true;
      if (search(i + 1, rest - index * step)) return true;
    }
    return false;
  }

  Wide target_;
  int count_ = 0;
  Term terms_[2 * View::max_rank + 1];
  Wide reach_[2 * View::max_rank + 2];
  Wide divisor_[2 * View::max_rank + 2];
  int steps_left_ = 0;
};

Wide address(const View& view) { return static_cast<Wide>(reinterpret_cast<std::uintptr_t>(view.data)); }

struct Extent {  // bytes first .. last-1
  Wide first, last;
};

Extent extent_of(const View& view) {
  const Wide bytes = static_cast<Wide>(size_of(view.dtype));
  Extent out{address(view), address(view) + bytes};
  for (int i = 0; i < view.rank; ++i) {
    const Wide far = static_cast<Wide>(view.shape[i] - 1) * view.stride[i] * bytes;
    (far < 0 ? out.first : out.last) += far;
  }
  return out;
}

// Each stride steps over all that the shorter ones reach, so all elements are apart and no search is needed.
bool nests(const View& view) {
  const auto length = [&](int i) {
    return view.stride[i] < 0 ? -static_cast<Wide>(view.stride[i]) : view.stride[i];
  };
  for (int i = 0; i < view.rank; ++i) {
    Wide reach = 0;
    for (int j = 0; j < view.rank; ++j)
      if (length(j) < length(i) || (length(j) == length(i) && j < i))
        reach += length(j) * (view.shape[j] - 1);
    if (view.shape[i] > 1 && length(i) <= reach) return false;
  }
  return true;
}

}  // namespace

bool overlaps_itself(const View& view) {
  if (view.empty() || nests(view)) return false;
  // Two indices differ first in dimension `first`, upwards there; no such difference may come to nothing.
  for (int first = 0; first < view.rank; ++first) {
    if (view.shape[first] <= 1) continue;
    if (view.stride[first] == 0) return true;
    Equation equation(0);
    equation.add(view.stride[first], 1, view.shape[first] - 1);
    for (int i = first + 1; i < view.rank; ++i)
      equation.add(view.stride[i], 1 - view.shape[i], view.shape[i] - 1);
    if (equation.solvable()) return true;
  }
  return false;
}

bool overlap(const View& a, const View& b) {
  if (a.empty() || b.empty() || a.rank == 0 || b.rank == 0) return false;
  const Extent in_a = extent_of(a), in_b = extent_of(b);
  if (in_a.last <= in_b.first || in_b.last <= in_a.first) return false;
  const Wide bytes_a = static_cast<Wide>(size_of(a.dtype)), bytes_b = static_cast<Wide>(size_of(b.dtype));
  Equation equation(address(a) - address(b));
  for (int i = 0; i < a.rank; ++i) equation.add(a.stride[i] * bytes_a, 0, a.shape[i] - 1);
  for (int i = 0; i < b.rank; ++i) equation.add(-b.stride[i] * bytes_b, 0, b.shape[i] - 1);
  equation.add(1, 1 - bytes_b, bytes_a - 1);  // any byte of an element meets any byte of the other
  return equation.solvable();
}

}  // namespace fw
