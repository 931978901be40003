#include "counters/counters.hpp"

#include <algorithm>
#include <map>

#include "base/error.hpp"

namespace cdna {
namespace {

// gfx950's quarter-rate unit takes half the clocks.
uint64_t transcendental_clocks(Arch arch) { return arch == Arch::gfx950 ? 8 : 16; }

// The narrow formats of gfx950 run at twice the rate of fp8.
uint64_t matrix_clocks(const Instruction& i) {
  const bool narrow = i.definition->name.find("f8f6f4") != std::string::npos && i.modifiers.cbsz >= 2 &&
                      i.modifiers.blgp >= 2;
  return narrow ? i.definition->clocks / 2 : i.definition->clocks;
}

bool is_move(const Instruction& i) {
  return i.definition->kind == Class::accumulator_move || i.definition->name.rfind("v_mov_b", 0) == 0 ||
         i.definition->name == "v_pk_mov_b32";
}

void add_instruction(Totals& t, const KernelCounts& c, uint32_t index) {
  const uint64_t times = c.executed[index];
  if (!times) return;
  const Instruction& i = c.program->code[index];
  if (!i.definition) return;
  const bool to_lds = i.has(kLds);
  const Class kind = to_lds ? Class::load_to_lds : i.definition->kind;
  t.instructions += times;
  t.by_class[static_cast<int>(kind)] += times;
  switch (kind) {
    case Class::matrix: t.matrix_clocks += times * matrix_clocks(i); break;
    case Class::transcendental:
      t.transcendental_clocks += times * transcendental_clocks(c.program->arch);
      break;
    case Class::vector:
    case Class::packed:
    case Class::conversion:
    case Class::accumulator_move:
      t.vector_clocks += times * i.definition->clocks;
      t.valu += times;
      t.moves += is_move(i) ? times : 0;
      break;
    case Class::nop:
      t.nop_states += times * (i.definition->name == "s_nop" ? 1 + (i.immediate & 15) : 1);
      break;
    default: break;
  }
  if (!c.memory.empty()) t.memory += c.memory[index];
}

using Field = std::pair<std::string, uint64_t>;

std::vector<Field> fields(const Totals& t) {
  std::vector<Field> all = {{"instructions", t.instructions},
                            {"valu_instructions", t.valu},
                            {"moves", t.moves},
                            {"matrix_clocks", t.matrix_clocks},
                            {"vector_clocks", t.vector_clocks},
                            {"transcendental_clocks", t.transcendental_clocks},
                            {"lds_clocks", t.memory.lds_clocks},
                            {"lds_minimum_clocks", t.memory.lds_minimum},
                            {"lds_bytes", t.memory.lds_bytes},
                            {"global_bytes", t.memory.global_bytes},
                            {"global_transactions_64", t.memory.transactions_64},
                            {"global_transactions_128", t.memory.transactions_128},
                            {"nop_states", t.nop_states},
                            {"barriers", t.by_class[static_cast<size_t>(Class::barrier)]}};
  for (int n = 0; n < kClasses; ++n)
    all.emplace_back(std::string(class_name(static_cast<Class>(n))) + "_instructions",
                     t.by_class[static_cast<size_t>(n)]);
  return all;
}

std::string json_fields(const Totals& t) {
  std::string text;
  for (const auto& [name, value] : fields(t))
    text += (text.empty() ? "\"" : ",\"") + name + "\":" + std::to_string(value);
  return text;
}

std::string lines(const Totals& t, const std::string& indent) {
  std::string text;
  for (const auto& [name, value] : fields(t))
    if (value) text += indent + name + " " + std::to_string(value) + "\n";
  return text;
}

}  // namespace

void KernelCounts::add(const KernelCounts& o) {
  if (executed.empty()) {
    *this = o;
    return;
  }
  for (size_t n = 0; n < executed.size(); ++n) executed[n] += o.executed[n], jumped[n] += o.jumped[n];
  if (memory.empty())
    memory = o.memory;
  else
    for (size_t n = 0; n < o.memory.size(); ++n) memory[n] += o.memory[n];
  waves += o.waves;
  groups += o.groups;
  launches += o.launches;
}

Totals totals(const KernelCounts& c) {
  Totals t;
  for (uint32_t n = 0; n < c.executed.size(); ++n) add_instruction(t, c, n);
  return t;
}

std::vector<LoopCounts> loops(const KernelCounts& c) {
  std::map<uint32_t, LoopCounts> by_label;
  for (uint32_t n = 0; n < c.executed.size(); ++n) {
    const Instruction& i = c.program->code[n];
    if (!i.definition || i.definition->kind != Class::branch || i.target > n || !c.jumped[n]) continue;
    LoopCounts& l = by_label[i.target];
    l.first = i.target;
    l.last = std::max(l.last, n);
    l.address = c.program->listing[i.target].address;
    l.iterations += c.jumped[n];
  }
  std::vector<LoopCounts> all;
  for (auto& [label, l] : by_label) {
    for (uint32_t n = l.first; n <= l.last; ++n) add_instruction(l.totals, c, n);
    for (const auto& [other_label, other] : by_label)
      if (other_label != label && other.first <= l.first && other.last >= l.last) ++l.depth;
    l.iterations = std::max(l.iterations, c.executed[l.first]);
    all.push_back(l);
  }
  return all;
}

std::string report(const KernelCounts& c) {
  std::string text = "kernel " + c.program->kernel.name + " on " + generation(c.program->arch).name + ": " +
                     std::to_string(c.launches) + " launches, " + std::to_string(c.groups) + " workgroups, " +
                     std::to_string(c.waves) + " waves\n" + lines(totals(c), "  ");
  for (const LoopCounts& l : loops(c))
    text += "  loop at " + hex(l.address) + " depth " + std::to_string(l.depth) + ", " +
            std::to_string(l.iterations) + " iterations of waves\n" + lines(l.totals, "    ");
  return text;
}

std::string report_json(const KernelCounts& c) {
  std::string text = "{\"kernel\":\"" + c.program->kernel.name + "\",\"arch\":\"" +
                     generation(c.program->arch).name + "\",\"launches\":" + std::to_string(c.launches) +
                     ",\"groups\":" + std::to_string(c.groups) + ",\"waves\":" + std::to_string(c.waves) +
                     "," + json_fields(totals(c)) + ",\"loops\":[";
  const std::vector<LoopCounts> all = loops(c);
  for (size_t n = 0; n < all.size(); ++n)
    text += (n ? "," : "") + ("{\"address\":" + std::to_string(all[n].address)) +
            ",\"depth\":" + std::to_string(all[n].depth) +
            ",\"iterations\":" + std::to_string(all[n].iterations) + "," + json_fields(all[n].totals) + "}";
  return text + "]}";
}

}  // namespace cdna
