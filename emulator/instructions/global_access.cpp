// Loads and stores by address: global, flat (which may mean LDS or private memory) and scratch.
#include "instructions/flat_address.hpp"
#include "instructions/memory.hpp"
#include "instructions/tables.hpp"

namespace cdna {
namespace {

void global_load(Wave& w, const Instruction& i) {
  const int bytes = Shape::of(i.definition->parameter).bytes;
  const Addresses a = global_addresses(w, i, i.operand[1], &i.operand[2]);
  const uint64_t lanes = w.exec();
  check_memory(w, a, lanes, bytes);
  note_global(w, i, a, lanes, bytes);
  Data data;
  read_memory(a, lanes, bytes, data);
  finish_load(w, i, i.operand[0], data, lanes, Counter::vector_memory);
}

void global_store(Wave& w, const Instruction& i) {
  const Shape shape = Shape::of(i.definition->parameter);
  const Addresses a = global_addresses(w, i, i.operand[0], &i.operand[2]);
  const uint64_t lanes = w.exec();
  check_memory(w, a, lanes, shape.bytes);
  note_global(w, i, a, lanes, shape.bytes);
  Data data;
  collect(w, i.operand[1], shape, data);
  write_memory(a, lanes, shape.bytes, data);
  finish_store(w, Counter::vector_memory);
}

void global_load_lds(Wave& w, const Instruction& i) {
  const int bytes = Shape::of(i.definition->parameter).bytes;
  const Addresses a = global_addresses(w, i, i.operand[0], &i.operand[1]);
  const uint64_t lanes = w.exec();
  check_memory(w, a, lanes, bytes);
  note_global(w, i, a, lanes, bytes);
  Data data{};
  read_memory(a, lanes, bytes, data);
  const uint32_t base = (w.s[kM0] & 0x3fffc) + static_cast<uint32_t>(i.modifiers.offset);
  finish_load_to_lds(w, i, base, bytes, extended(data, Shape::of(i.definition->parameter)), lanes);
}

// --- flat -------------------------------------------------------------------------------------------------

void flat_load(Wave& w, const Instruction& i) {
  const int bytes = Shape::of(i.definition->parameter).bytes;
  const FlatAccess f = split_flat(w, global_addresses(w, i, i.operand[1], nullptr));
  check_memory(w, f.address, f.global, bytes);
  note_global(w, i, f.address, f.global, bytes);
  Data data{};
  read_memory(f.address, f.global, bytes, data);
  if (f.local) {
    note_lds(w, i, f.offset, f.local, bytes, true);
    for (int l = 0; l < kLanes; ++l)
      for (int k = 0; f.local >> l & 1 && k < (bytes + 3) / 4; ++k)
        std::memcpy(&data.word[k][l], lds_at(w, f.offset[l] + 4u * k, std::min(bytes, 4), l),
                    std::min(bytes, 4));
  }
  read_private(w, f.offset, f.scratch, bytes, data);
  if (w.late) w.push(Counter::local, {});  // flat instructions count in both
  finish_load(w, i, i.operand[0], data, w.exec(), Counter::vector_memory);
}

void flat_store(Wave& w, const Instruction& i) {
  const Shape shape = Shape::of(i.definition->parameter);
  const FlatAccess f = split_flat(w, global_addresses(w, i, i.operand[0], nullptr));
  check_memory(w, f.address, f.global, shape.bytes);
  note_global(w, i, f.address, f.global, shape.bytes);
  Data data;
  collect(w, i.operand[1], shape, data);
  write_memory(f.address, f.global, shape.bytes, data);
  if (f.local) {
    note_lds(w, i, f.offset, f.local, shape.bytes, false);
    for (int l = 0; l < kLanes; ++l)
      for (int k = 0; f.local >> l & 1 && k < shape.words(); ++k)
        std::memcpy(lds_at(w, f.offset[l] + 4u * k, std::min<int>(shape.bytes, 4), l), &data.word[k][l],
                    std::min<size_t>(shape.bytes, 4));
  }
  write_private(w, f.offset, f.scratch, shape.bytes, data);
  finish_store(w, Counter::vector_memory);
  finish_store(w, Counter::local);
}

// --- scratch ----------------------------------------------------------------------------------------------

void scratch_load(Wave& w, const Instruction& i) {
  const int bytes = Shape::of(i.definition->parameter).bytes;
  uint32_t at[kLanes];
  scratch_addresses(w, i, i.operand[1], i.operand[2], at);
  Data data{};
  read_private(w, at, w.exec(), bytes, data);
  finish_load(w, i, i.operand[0], data, w.exec(), Counter::vector_memory);
}

void scratch_store(Wave& w, const Instruction& i) {
  const Shape shape = Shape::of(i.definition->parameter);
  uint32_t at[kLanes];
  scratch_addresses(w, i, i.operand[0], i.operand[2], at);
  Data data;
  collect(w, i.operand[1], shape, data);
  write_private(w, at, w.exec(), shape.bytes, data);
  finish_store(w, Counter::vector_memory);
}

Definition make(const std::string& name, Handler run, Class kind, Shape shape) {
  Definition d{name, run, kind, static_cast<uint8_t>(kind == Class::load)};
  d.parameter = shape.code();
  d.accumulates = kind == Class::load && shape.half != Shape::whole;
  return d;
}

}  // namespace

Definitions global_access() {
  Definitions all;
  const auto add = [&all](const std::string& prefix, Handler load, Handler store) {
    for (const auto& [suffix, shape] : load_shapes())
      all.push_back(make(prefix + "_load_" + suffix, load, Class::load, shape));
    for (const auto& [suffix, shape] : store_shapes())
      all.push_back(make(prefix + "_store_" + suffix, store, Class::store, shape));
  };
  add("global", global_load, global_store);
  add("flat", flat_load, flat_store);
  add("scratch", scratch_load, scratch_store);
  for (const auto& [suffix, shape] : lds_load_shapes())
    all.push_back(make("global_load_lds_" + suffix, global_load_lds, Class::load_to_lds, shape));
  return all;
}

}  // namespace cdna
