// Buffer loads and stores, and buffer loads straight into LDS.
#include "instructions/buffer.hpp"
#include "instructions/flat_address.hpp"
#include "instructions/tables.hpp"

namespace cdna {
namespace {

void load_to_lds(Wave& w, const Instruction& i) {
  const Shape shape = Shape::of(i.definition->parameter);
  const BufferAccess b = buffer_access(w, i, &i.operand[0], shape.bytes);
  check_buffer(w, b, shape.bytes);
  note_global(w, i, b.word[0], b.any(), shape.bytes);
  Data data;
  read_buffer(b, shape.bytes, data);
  // The instruction's offset counts in both addresses.
  const uint32_t base = (w.s[kM0] & 0x3fffc) + static_cast<uint32_t>(i.modifiers.offset);
  finish_load_to_lds(w, i, base, shape.bytes, extended(data, shape), w.exec());
}

void buffer_load(Wave& w, const Instruction& i) {
  if (i.has(kLds)) return load_to_lds(w, i);
  const int bytes = Shape::of(i.definition->parameter).bytes;
  const BufferAccess b = buffer_access(w, i, &i.operand[1], bytes);
  check_buffer(w, b, bytes);
  note_global(w, i, b.word[0], b.any(), bytes);
  Data data;
  read_buffer(b, bytes, data);
  finish_load(w, i, i.operand[0], data, w.exec(), Counter::vector_memory);
}

void buffer_store(Wave& w, const Instruction& i) {
  const Shape shape = Shape::of(i.definition->parameter);
  const BufferAccess b = buffer_access(w, i, &i.operand[1], shape.bytes);
  check_buffer(w, b, shape.bytes);
  note_global(w, i, b.word[0], b.any(), shape.bytes);
  Data data;
  collect(w, i.operand[0], shape, data);
  write_buffer(b, shape.bytes, data);
  finish_store(w, Counter::vector_memory);
}

}  // namespace

Definitions buffer_access_table() {
  Definitions all;
  const auto add = [&all](const std::string& name, Handler run, Class kind, Shape shape) {
    Definition d{name, run, kind, static_cast<uint8_t>(kind == Class::load)};
    d.parameter = shape.code();
    d.accumulates = kind == Class::load && shape.half != Shape::whole;
    all.push_back(d);
  };
  for (const auto& [suffix, shape] : load_shapes())
    add("buffer_load_" + suffix, buffer_load, Class::load, shape);
  for (const auto& [suffix, shape] : store_shapes())
    add("buffer_store_" + suffix, buffer_store, Class::store, shape);
  return all;
}

}  // namespace cdna
