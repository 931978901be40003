#include "support/case_data.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "support/numbers.hpp"
#include "support/sequences.hpp"

namespace tools {

namespace {

constexpr std::int64_t spare_rows = 3;   // strided varlen: rows past cu_seqlens
constexpr std::int64_t spare_pages = 3;  // pages no table names
constexpr std::int64_t spare_cache_rows = 2;
constexpr std::uint64_t dropout_offset = 0xfffffffdu;  // the counter soon carries into its second word

enum class Shaping { plain, sharp, outliers, tiny };

Shaping shaping(std::string_view name, int values) {
  if (values == FLASHWAVE_SHARP && name == "q") return Shaping::sharp;
  if (values == FLASHWAVE_OUTLIERS && (name == "q" || name[0] == 'k' || name[0] == 'v'))
    return Shaping::outliers;
  if (values == FLASHWAVE_TINYDOUT && name == "dout") return Shaping::tiny;
  return Shaping::plain;
}

float shaped(std::uint64_t bits, Shaping how) {
  const float x = Numbers::bell(bits);
  switch (how) {
    case Shaping::sharp: return x * 8;
    case Shaping::outliers: return bits >> 56 == 0 ? x * 32 : x;
    case Shaping::tiny: return x * 0x1p-14f;
    default: return x;
  }
}

template <int dtype>
void fill_run(unsigned char* to, const Numbers& numbers, std::uint64_t first, std::int64_t count,
              Shaping how) {
  for (std::int64_t i = 0; i < count; ++i)
    store(to, dtype, i, shaped(numbers.bits(first + static_cast<std::uint64_t>(i)), how));
}

// Fills rows of one tensor; the row's number in its logical order picks its numbers.
class Filler {
 public:
  Filler(const Case& c, std::string_view name, const flashwave_tensor& t)
      : numbers_(c.seed, name), how_(shaping(name, c.values)), tensor_(t) {}

  void row(std::int64_t number, std::int64_t offset) const {
    const std::int64_t count = tensor_.shape[tensor_.rank - 1];
    const auto first = static_cast<std::uint64_t>(number * count);
    unsigned char* to = at(tensor_, offset);
    switch (tensor_.dtype) {
      case FLASHWAVE_FP16: fill_run<FLASHWAVE_FP16>(to, numbers_, first, count, how_); break;
      case FLASHWAVE_BF16: fill_run<FLASHWAVE_BF16>(to, numbers_, first, count, how_); break;
      default: fill_run<FLASHWAVE_FP32>(to, numbers_, first, count, how_);
    }
  }

 private:
  Numbers numbers_;
  Shaping how_;
  const flashwave_tensor& tensor_;
};

std::vector<std::int32_t> running_sum(const std::vector<std::int32_t>& counts) {
  std::vector<std::int32_t> sums(1, 0);
  for (const std::int32_t count : counts) sums.push_back(sums.back() + count);
  return sums;
}

// The first `count` numbers of a random permutation of 0 .. total-1.
std::vector<std::int32_t> drawn(const Numbers& numbers, std::int64_t total, std::int64_t count) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(total));
  std::iota(all.begin(), all.end(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t j = i + numbers.below(static_cast<std::uint64_t>(i), total - i);
    std::swap(all[static_cast<std::size_t>(i)], all[static_cast<std::size_t>(j)]);
  }
  all.resize(static_cast<std::size_t>(count));
  return all;
}

}  // namespace

CaseData::CaseData(const Case& c, Memory memory) : case_(c), arena_(memory) {
  const flashwave_problem& p = c.problem;
  call_.has_scale = p.has_scale;
  call_.scale = p.scale;
  call_.softcap = p.softcap;
  call_.has_window = p.window_left >= 0 || p.window_right >= 0;
  call_.window_left = p.window_left;
  call_.window_right = p.window_right;
  call_.has_diagonal = p.has_diagonal;
  call_.diagonal = p.diagonal;
  call_.dropout = p.dropout;
  call_.seed = c.seed;
  call_.offset = dropout_offset;
  call_.num_splits = p.splits;
  call_.deterministic = p.deterministic;
  make_lengths();
  make_tensors();
  if (p.page_size > 0) make_pages();
  make_scores();
  if (p.rotary_dim > 0) make_rotary();
  fill_tensors();
  if (given(call_.bias)) fill_bias();
}

flashwave_tensor CaseData::ints(const Shape& shape, const std::vector<std::int32_t>& values) {
  flashwave_tensor t = arena_.add(FLASHWAVE_INT32, shape);
  std::copy(values.begin(), values.end(), static_cast<std::int32_t*>(t.data));
  return t;
}

flashwave_tensor CaseData::floats(std::string_view name, int dtype, const Shape& shape) {
  flashwave_tensor t = arena_.add(dtype, shape);
  const Filler filler(case_, name, t);
  for_each_row(t, [&](std::int64_t row, std::int64_t offset) { filler.row(row, offset); });
  return t;
}

Form CaseData::form() const {
  switch (case_.layout) {
    case FLASHWAVE_BHSD: return Form::heads_first;
    case FLASHWAVE_STRIDED: return Form::gaps;
    default: return Form::rows;
  }
}

Style CaseData::style() const { return {form(), case_.layout == FLASHWAVE_PACKED, FLASHWAVE_NONE}; }

Wants CaseData::wants(int pass) const {
  const flashwave_problem& p = case_.problem;
  if (pass == FLASHWAVE_BACKWARD) return {false, false, p.want_dbias != 0, p.want_dsink != 0};
  return {p.want_lse || case_.backward(), p.want_mask != 0, false, false};
}

void CaseData::make_lengths() {
  const flashwave_problem& p = case_.problem;
  const Shape batch = {p.batch};
  const bool varlen = p.lengths == FLASHWAVE_VARLEN;
  // With seqused, a sequence is allotted a few rows more than it uses.
  const auto allotted = [&](std::string_view name, const std::vector<std::int32_t>& used, bool more,
                            std::int64_t longest) {
    const Numbers numbers(case_.seed, name);
    std::vector<std::int32_t> rows = used;
    for (std::size_t b = 0; more && b < rows.size(); ++b)
      rows[b] = static_cast<std::int32_t>(std::min<std::int64_t>(longest, rows[b] + numbers.below(b, 8)));
    return ints({p.batch + 1}, running_sum(rows));
  };
  if (varlen) {
    call_.cu_seqlens_q = allotted("cu_seqlens_q", case_.queries, p.seqused_q, p.seq_q);
    call_.max_seq_q = p.seq_q;
    call_.max_seq_k = p.seq_k;
    if (p.page_size == 0) call_.cu_seqlens_k = allotted("cu_seqlens_k", case_.keys, p.seqused_k, p.seq_k);
  }
  if (p.seqused_q) call_.seqused_q = ints(batch, case_.queries);
  if (p.seqused_k) call_.seqused_k = ints(batch, case_.keys);
  if (p.lengths == FLASHWAVE_CACHE || (varlen && p.page_size > 0))
    call_.cache_seqlens = ints(batch, case_.keys);
  if (p.diagonal_per_batch) call_.diagonals = ints(batch, case_.diagonals);
  if (p.leftpad) call_.leftpad = ints(batch, case_.leftpad);
  if (p.batch_index)
    call_.cache_batch_idx =
        ints(batch, drawn(Numbers(case_.seed, "cache_batch_idx"), p.batch + spare_cache_rows, p.batch));
}

void CaseData::make_pages() {
  const flashwave_problem& p = case_.problem;
  const std::int64_t columns = (p.seq_k + p.page_size - 1) / p.page_size;
  call_.max_seq_k = p.seq_k;
  const auto order = drawn(Numbers(case_.seed, "block_table"), call_.k.shape[0], call_.k.shape[0]);
  std::vector<std::int32_t> table(static_cast<std::size_t>(p.batch * columns), -1);
  std::size_t next = 0;
  for (std::int64_t b = 0; b < p.batch; ++b) {
    const auto i = static_cast<std::size_t>(b);
    // A column is in use when a slot that counts, or a new one, lies in its page.
    const std::int64_t end = case_.keys[i] + p.append;
    const std::int64_t begin = p.append > 0 ? std::min(case_.leftpad[i], case_.keys[i]) : case_.leftpad[i];
    for (std::int64_t column = begin / p.page_size; column * p.page_size < end; ++column)
      table[static_cast<std::size_t>(b * columns + column)] = order[next++];
  }
  call_.block_table = ints({p.batch, columns}, table);
}

void CaseData::make_tensors() {
  const flashwave_problem& p = case_.problem;
  const std::int64_t spare = case_.layout == FLASHWAVE_STRIDED ? spare_rows : 0;
  Shape q = {p.batch, p.seq_q, p.heads_q, p.dim_qk}, k = {p.batch, p.seq_k, p.heads_k, p.dim_qk};
  if (p.lengths == FLASHWAVE_VARLEN) q = {read_ints(call_.cu_seqlens_q).back() + spare, p.heads_q, p.dim_qk};
  if (p.page_size > 0) {
    k[0] = spare_pages;
    k[1] = p.page_size;
    for (const std::int32_t keys : case_.keys) k[0] += (keys + p.append + p.page_size - 1) / p.page_size;
  } else if (p.lengths == FLASHWAVE_VARLEN) {
    k = {read_ints(call_.cu_seqlens_k).back() + spare, p.heads_k, p.dim_qk};
  } else if (p.batch_index) {
    k[0] = p.batch + spare_cache_rows;
  }
  Shape v = k, out = q;
  v.back() = out.back() = p.dim_v;
  const bool packed = case_.layout == FLASHWAVE_PACKED;
  const bool self = packed && std::equal(q.begin(), q.end() - 2, k.begin(), k.end() - 2);
  if (packed) {
    auto tensors = arena_.add_packed(p.dtype, self ? std::vector<Shape>{q, k, v} : std::vector<Shape>{k, v});
    call_.v = tensors.back();
    call_.k = tensors[tensors.size() - 2];
    if (self) call_.q = tensors.front();
  } else {
    call_.k = arena_.add(p.dtype, k, case_.layout == FLASHWAVE_STRIDED ? Form::backward : form());
    call_.v = arena_.add(p.dtype, v, form());
  }
  if (!self) call_.q = arena_.add(p.dtype, q, form());
  if (p.append > 0) {
    call_.k_new = arena_.add(p.dtype, {p.batch, p.append, p.heads_k, p.dim_qk}, form());
    call_.v_new = arena_.add(p.dtype, {p.batch, p.append, p.heads_k, p.dim_v}, form());
  }
  if (!case_.backward()) return;
  call_.dout = arena_.add(p.dtype, out, form());
  if (case_.layout == FLASHWAVE_STRIDED) call_.dout.stride[call_.dout.rank - 2] = 0;  // an expanded gradient
  if (p.want_dlse) {
    const bool varlen = p.lengths == FLASHWAVE_VARLEN;
    call_.dlse = arena_.add(FLASHWAVE_FP32, varlen ? Shape{p.heads_q, q[0]} : Shape{q[0], p.heads_q, q[1]});
  }
}

void CaseData::make_scores() {
  const flashwave_problem& p = case_.problem;
  if (p.alibi != FLASHWAVE_ALIBI_NONE) {
    const bool per_batch = p.alibi == FLASHWAVE_ALIBI_PER_BATCH_HEAD;
    call_.alibi = arena_.add(FLASHWAVE_FP32, per_batch ? Shape{p.batch, p.heads_q} : Shape{p.heads_q});
    const Numbers numbers(case_.seed, "alibi");
    auto* slopes = static_cast<float*>(call_.alibi.data);
    for (std::int64_t i = 0; i < elements(call_.alibi); ++i)
      slopes[i] = static_cast<float>(1 + numbers.below(static_cast<std::uint64_t>(i), 128)) * 0x1p-8f;
  }
  if (p.sink != FLASHWAVE_NONE) {
    call_.sink = floats("sink", p.sink, {p.heads_q});
    for (std::int64_t head = 3; head < p.heads_q; head += 5)
      store(call_.sink.data, p.sink, head, -std::numeric_limits<float>::infinity());
  }
  if (p.bias != FLASHWAVE_NONE) {
    const Shape shape = {p.bias_batch ? p.batch : 1, p.bias_head ? p.heads_q : 1, p.bias_query ? p.seq_q : 1,
                         p.seq_k};
    call_.bias = arena_.add(p.bias, shape, case_.layout == FLASHWAVE_STRIDED ? Form::gaps : Form::rows);
  }
}

// Points of the unit circle from whole numbers: one rounded division each, no sine of the platform's.
void CaseData::make_rotary() {
  const flashwave_problem& p = case_.problem;
  std::int64_t rows = 1;
  const std::int64_t steps = std::max(p.append, p.window_left >= 0 || p.window_right >= 0 ? p.seq_q : 1);
  for (const std::int32_t keys : case_.keys) rows = std::max(rows, keys + steps);
  call_.rotary_cos = arena_.add(p.rotary_dtype, {rows, p.rotary_dim / 2});
  call_.rotary_sin = arena_.add(p.rotary_dtype, {rows, p.rotary_dim / 2});
  call_.rotary_interleaved = p.rotary_interleaved;
  const Numbers numbers(case_.seed, "rotary");
  for (std::int64_t i = 0; i < elements(call_.rotary_cos); ++i) {
    const auto t = static_cast<float>(numbers.below(static_cast<std::uint64_t>(i), 129) - 64);
    store(call_.rotary_cos.data, p.rotary_dtype, i, (4096 - t * t) / (4096 + t * t));
    store(call_.rotary_sin.data, p.rotary_dtype, i, 128 * t / (4096 + t * t));
  }
}

void CaseData::fill_tensors() {
  const flashwave_problem& p = case_.problem;
  const Sequences sequences(call_);
  const auto fill_queries = [&](std::string_view name, const flashwave_tensor& t) {
    const Filler filler(case_, name, t);
    for (std::size_t b = 0; b < sequences.size(); ++b)
      for (std::int64_t i = 0; i < sequences[b].queries; ++i)
        for (std::int64_t head = 0; head < p.heads_q; ++head)
          filler.row((static_cast<std::int64_t>(b) * p.seq_q + i) * p.heads_q + head,
                     sequences.query_offset(t, b, i, head));
  };
  const auto fill_keys = [&](std::string_view name, const flashwave_tensor& t) {
    const Filler filler(case_, name, t);
    for (std::size_t b = 0; b < sequences.size(); ++b) {
      const Range seen = sequences.visible(b);
      const std::int64_t end = std::min<std::int64_t>(seen.end, case_.keys[b]);  // new keys are not there yet
      for (std::int64_t slot = seen.begin; slot < end; ++slot)
        for (std::int64_t head = 0; head < p.heads_k; ++head)
          filler.row((static_cast<std::int64_t>(b) * p.seq_k + slot) * p.heads_k + head,
                     sequences.key_offset(t, b, slot, head));
    }
  };
  const auto fill_all = [&](std::string_view name, const flashwave_tensor& t) {
    const Filler filler(case_, name, t);
    for_each_row(t, [&](std::int64_t row, std::int64_t offset) { filler.row(row, offset); });
  };
  fill_queries("q", call_.q);
  fill_keys("k", call_.k);
  fill_keys("v", call_.v);
  if (given(call_.k_new)) fill_all("k_new", call_.k_new);
  if (given(call_.v_new)) fill_all("v_new", call_.v_new);
  if (given(call_.dout)) fill_queries("dout", call_.dout);
  if (given(call_.dlse)) fill_dlse(sequences);
}

void CaseData::fill_dlse(const Sequences& sequences) {
  const flashwave_problem& p = case_.problem;
  const Numbers numbers(case_.seed, "dlse");
  for (std::size_t b = 0; b < sequences.size(); ++b)
    for (std::int64_t head = 0; head < p.heads_q; ++head)
      for (std::int64_t i = 0; i < sequences[b].queries; ++i) {
        const std::int64_t index = (static_cast<std::int64_t>(b) * p.heads_q + head) * p.seq_q + i;
        store(call_.dlse.data, FLASHWAVE_FP32, sequences.lse_offset(call_.dlse, b, i, head),
              numbers.normal(static_cast<std::uint64_t>(index)));
      }
}

// Columns count slots. Where every sequence has a bias of its own, those that are no key of it stay poison.
void CaseData::fill_bias() {
  const flashwave_problem& p = case_.problem;
  const flashwave_tensor& t = call_.bias;
  const Sequences sequences(call_);
  const Numbers numbers(case_.seed, "bias");
  for_each_row(t, [&](std::int64_t row, std::int64_t offset) {
    Range columns = {0, p.seq_k};
    const std::int64_t b = row / (t.shape[1] * t.shape[2]);
    if (p.bias_batch) {
      const Sequence& s = sequences[static_cast<std::size_t>(b)];
      columns = {s.leftpad, s.keys};
      if (p.bias_query && row % t.shape[2] >= s.queries) return;
    }
    for (std::int64_t j = columns.begin; j < columns.end; ++j) {
      const std::uint64_t bits = numbers.bits(static_cast<std::uint64_t>(row * p.seq_k + j));
      if (p.bias == FLASHWAVE_UINT8) {
        *at(t, offset + j) = bits >> 61 != 0;
      } else {
        const bool hidden = bits >> 59 == 0;
        store(at(t, offset), p.bias, j,
              hidden ? -std::numeric_limits<float>::infinity() : Numbers::bell(bits));
      }
    }
  });
}

}  // namespace tools
