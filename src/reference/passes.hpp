// The two passes over one call, and how their work is cut into independent tasks.
#pragma once

#include "reference/attention.hpp"
#include "reference/reference.hpp"

namespace fw::reference {

template <class Real>
Status forward(const Attention& attention, const Parallel& parallel);
template <class Real>
Status backward(const Attention& attention, const Parallel& parallel);

// Each task once; exhausted if one of them found no memory.
Status run_tasks(const Parallel& parallel, std::size_t tasks, const std::function<void(std::size_t)>& task);

struct QueryTask {
  Head head;
  Span queries;
};
std::vector<QueryTask> query_tasks(const Attention& attention);

}  // namespace fw::reference
