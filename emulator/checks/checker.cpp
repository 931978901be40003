#include "checks/checker.hpp"

#include <algorithm>
#include <bit>

#include "decode/definition.hpp"
#include "decode/program.hpp"

namespace cdna {
namespace {

std::string name_of(const RegisterSpan& s, int n) {
  const int number = s.first + n;
  if (!s.scalar) return "v" + std::to_string(number) + " (of the register file)";
  return "s" + std::to_string(number);
}

bool counts_vector_memory(const Definition& d, const Instruction& i) {
  switch (d.kind) {
    case Class::load:
    case Class::store:
    case Class::atomic:
    case Class::load_to_lds: return true;
    default: return i.has(kLds);
  }
}

bool counts_local(const Definition& d) {
  switch (d.kind) {
    case Class::lds_read:
    case Class::lds_write:
    case Class::lds_atomic:
    case Class::lds_permute:
    case Class::scalar_memory: return true;
    default: return d.name.rfind("flat_", 0) == 0;
  }
}

}  // namespace

Checker::Checker(const Program& program, int waves, size_t lds_bytes, Watch watch)
    : program_(program),
      watch_(watch),
      races_(watch.races ? lds_bytes : 0),
      waves_(static_cast<size_t>(waves)),
      lds_owner_((lds_bytes + 3) / 4) {
  restart();
}

void Checker::restart() {
  for (WaveState& s : waves_) {
    s.flights[0].clear();
    s.flights[1].clear();
    s.vector_owner.assign(kRegisters, 0);
    s.vector_counter.assign(kRegisters, 0);
    s.scalar_owner.assign(kScalars, 0);
    s.in_flight = 0;
    s.touches.clear();
    s.first_touch = 0;
    s.hazards.restart(program_.arch);
  }
  std::fill(lds_owner_.begin(), lds_owner_.end(), 0);
  races_.barrier();
}

void Checker::unfinished(Wave& w, const std::string& what, uint32_t owner) {
  w.pc = std::max(w.pc, 1u);
  fault(w, what + ", which '" + program_.listing[owner - 1].text + "' at " +
               hex(program_.listing[owner - 1].address) +
               " has not finished loading: an s_waitcnt is missing");
}

void Checker::before(Wave& w, uint32_t index) {
  WaveState& s = waves_[static_cast<size_t>(w.index)];
  const Instruction& i = program_.code[index];
  if (!i.definition) return;
  if (s.in_flight) check_registers(w, s, index);
  if (watch_.hazards) s.hazards.before(w, program_, index);
  const Class kind = i.definition->kind;
  if (kind == Class::wait) {
    complete(w, s, Counter::vector_memory, (i.immediate & 15u) | (i.immediate >> 14 & 3u) << 4);
    complete(w, s, Counter::local, i.immediate >> 8 & 15u);
  } else if (counts_vector_memory(*i.definition, i) || counts_local(*i.definition)) {
    begin(s, index);
  }
}

void Checker::check_registers(Wave& w, WaveState& s, uint32_t index) {
  const Effects& e = program_.effects[index];
  const Instruction& i = program_.code[index];
  const auto owner = [&s](const RegisterSpan& r, int n) {
    return r.scalar ? s.scalar_owner[r.first + n] : s.vector_owner[r.first + n];
  };
  const bool ordered_load = counts_vector_memory(*i.definition, i) || counts_local(*i.definition);
  for (int n = 0; n < e.reads; ++n)
    for (int k = 0; k < e.read[n].count; ++k)
      if (const uint32_t by = owner(e.read[n], k))
        if (!(ordered_load && n == 0 && i.definition->accumulates && i.definition->destinations))
          unfinished(w, "reads " + name_of(e.read[n], k), by);
  for (int n = 0; n < e.writes; ++n)
    for (int k = 0; k < e.written[n].count; ++k) {
      const uint32_t by = owner(e.written[n], k);
      if (!by) continue;
      // Loads of one counter come back in order: the later one wins.
      const Instruction& loader = program_.code[by - 1];
      const bool same_queue = ordered_load &&
                              counts_local(*loader.definition) == counts_local(*i.definition) &&
                              loader.definition->kind != Class::scalar_memory;
      if (!same_queue) unfinished(w, "overwrites " + name_of(e.written[n], k), by);
    }
}

void Checker::begin(WaveState& s, uint32_t index) {
  const Instruction& i = program_.code[index];
  const Definition& d = *i.definition;
  const uint32_t touches = s.first_touch + static_cast<uint32_t>(s.touches.size());
  Flight f{index, {}, {}, d.kind == Class::scalar_memory, touches};
  const bool stores_only = d.kind == Class::store || d.kind == Class::lds_write;
  const Effects& e = program_.effects[index];
  for (int n = 0; n < e.writes && !stores_only; ++n) {
    if (e.written[n].scalar && d.kind != Class::scalar_memory) continue;
    f.registers.push_back(e.written[n]);
    for (int k = 0; k < e.written[n].count; ++k)
      (e.written[n].scalar ? s.scalar_owner : s.vector_owner)[e.written[n].first + k] = index + 1;
  }
  const bool both = d.name.rfind("flat_", 0) == 0;
  const Counter counter = counts_vector_memory(d, i) ? Counter::vector_memory : Counter::local;
  if (both) s.flights[static_cast<int>(Counter::local)].push_back({index, {}, {}, true, touches});
  s.flights[static_cast<int>(counter)].push_back(std::move(f));
  s.in_flight += both ? 2 : 1;
}

void Checker::complete(const Wave& w, WaveState& s, Counter counter, size_t left) {
  std::deque<Flight>& queue = s.flights[static_cast<int>(counter)];
  if (queue.size() <= left) return;
  if (left && std::any_of(queue.begin(), queue.end(), [](const Flight& f) { return f.unordered; })) return;
  while (queue.size() > left) {
    const Flight& f = queue.front();
    for (const RegisterSpan& r : f.registers)
      for (int k = 0; k < r.count; ++k) {
        uint32_t& owner = (r.scalar ? s.scalar_owner : s.vector_owner)[r.first + k];
        if (owner == f.instruction + 1) owner = 0;
      }
    for (uint32_t word : f.words) {
      if (lds_owner_[word] == f.instruction + 1) lds_owner_[word] = 0;
      if (watch_.races) races_.arrived(w, f.instruction, word);
    }
    queue.pop_front();
    --s.in_flight;
  }
  if (counter == Counter::local) forget_touches(s);
}

// Those of instructions that have finished.
void Checker::forget_touches(WaveState& s) {
  const std::deque<Flight>& queue = s.flights[static_cast<int>(Counter::local)];
  const uint32_t end = s.first_touch + static_cast<uint32_t>(s.touches.size());
  const uint32_t kept = queue.empty() ? end : queue.front().touches;
  s.touches.erase(s.touches.begin(), s.touches.begin() + (kept - s.first_touch));
  s.first_touch = kept;
}

// What is still in flight happens on the other side, too.
void Checker::barrier() {
  if (!watch_.races) return;
  races_.barrier();
  for (size_t n = 0; n < waves_.size(); ++n)
    for (const Races::Touch& t : waves_[n].touches) races_.go_on(static_cast<int>(n), t);
}

void Checker::note_race(Wave& w, const uint32_t* at, uint64_t lanes, int bytes, bool read) {
  const uint32_t index = w.pc - 1;
  const Class kind = program_.code[index].definition->kind;
  const bool atomic = kind == Class::lds_atomic || kind == Class::atomic;
  WaveState& s = waves_[static_cast<size_t>(w.index)];
  Races::Touch& t = s.touches.emplace_back();
  t.instruction = index;
  t.access = atomic ? Races::Access::atomic : read ? Races::Access::read : Races::Access::write;
  t.bytes = bytes;
  t.lanes = lanes;
  std::copy_n(at, kLanes, t.at);
  races_.touch(w, t);
}

void Checker::touch_lds(Wave& w, const uint32_t* at, uint64_t lanes, int bytes, bool read) {
  for (uint64_t rest = lanes; rest; rest &= rest - 1) {
    const int l = std::countr_zero(rest);
    const size_t first = at[l] / 4, last = (at[l] + static_cast<uint32_t>(bytes) - 1) / 4;
    for (size_t word = first; word <= last && word < lds_owner_.size(); ++word)
      if (lds_owner_[word])
        unfinished(w,
                   std::string("lane ") + std::to_string(l) + (read ? " reads" : " writes") + " LDS at " +
                       hex(at[l]),
                   lds_owner_[word]);
  }
  if (watch_.races) note_race(w, at, lanes, bytes, read);
}

void Checker::load_to_lds(Wave& w, const Instruction&, uint32_t base, int pitch, int bytes, uint64_t lanes) {
  WaveState& s = waves_[static_cast<size_t>(w.index)];
  std::deque<Flight>& queue = s.flights[static_cast<int>(Counter::vector_memory)];
  if (queue.empty()) return;
  Flight& f = queue.back();
  for (int l = 0; l < kLanes; ++l)
    for (int k = 0; lanes >> l & 1 && k < (bytes + 3) / 4; ++k) {
      const size_t word = (base + static_cast<uint32_t>(l * pitch)) / 4 + static_cast<size_t>(k);
      if (word >= lds_owner_.size()) continue;
      lds_owner_[word] = f.instruction + 1;
      f.words.push_back(static_cast<uint32_t>(word));
    }
  if (!watch_.races) return;
  Races::Touch t{w.pc - 1, Races::Access::write, bytes, lanes, {}};
  for (int l = 0; l < kLanes; ++l) t.at[l] = base + static_cast<uint32_t>(l * pitch);
  races_.touch(w, t);
}

}  // namespace cdna
