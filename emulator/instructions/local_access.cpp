// LDS: loads and stores, also of two places at once, and transposing loads.
#include "instructions/memory.hpp"
#include "instructions/tables.hpp"

namespace cdna {
namespace {

struct Places {
  alignas(64) uint32_t lane[kLanes];
};

Places places(const Wave& w, const Operand& o, uint32_t offset) {
  Places p;
  Row32 room;
  const uint32_t* base = read_row(w, o, room);
  for (int l = 0; l < kLanes; ++l) p.lane[l] = base[l] + offset;
  return p;
}

template <int bytes>
void gather(Wave& w, const Places& p, uint64_t lanes, Data& data, int first_word) {
  const std::vector<uint8_t>& lds = w.group->lds;
  const uint64_t room = lds.size() < bytes ? 0 : lds.size() - bytes;
  for (int l = 0; l < kLanes; ++l) {
    if (!(lanes >> l & 1)) continue;
    if (p.lane[l] > room || lds.size() < bytes) lds_at(w, p.lane[l], bytes, l);
    uint32_t x[(bytes + 3) / 4] = {};
    std::memcpy(x, lds.data() + p.lane[l], bytes);
    for (int k = 0; k < (bytes + 3) / 4; ++k) data.word[first_word + k][l] = x[k];
  }
}

void gather_bytes(Wave& w, const Places& p, uint64_t lanes, Data& data, int first_word, int bytes) {
  switch (bytes) {
    case 1: return gather<1>(w, p, lanes, data, first_word);
    case 2: return gather<2>(w, p, lanes, data, first_word);
    case 4: return gather<4>(w, p, lanes, data, first_word);
    case 8: return gather<8>(w, p, lanes, data, first_word);
    case 12: return gather<12>(w, p, lanes, data, first_word);
    default: return gather<16>(w, p, lanes, data, first_word);
  }
}

void scatter(Wave& w, const Places& p, uint64_t lanes, const Data& data, int first_word, int bytes) {
  for (int l = 0; l < kLanes; ++l) {
    if (!(lanes >> l & 1)) continue;
    uint32_t x[4];
    for (int k = 0; k < (bytes + 3) / 4; ++k) x[k] = data.word[first_word + k][l];
    std::memcpy(lds_at(w, p.lane[l], bytes, l), x, static_cast<size_t>(bytes));
  }
}

void read(Wave& w, const Instruction& i) {
  const Shape shape = Shape::of(i.definition->parameter);
  const Places p = places(w, i.operand[1], static_cast<uint32_t>(i.modifiers.offset));
  const uint64_t lanes = w.exec();
  note_lds(w, i, p.lane, lanes, shape.bytes, true);
  const Operand& o = i.operand[0];
  w.poison(o, lanes);
  w.later(Counter::local, [p, shape, lanes, o](Wave& then) {
    Data data;
    gather_bytes(then, p, lanes, data, 0, shape.bytes);
    deliver(then, o, shape, data, lanes);
  });
}

void write(Wave& w, const Instruction& i) {
  const Shape shape = Shape::of(i.definition->parameter);
  const Places p = places(w, i.operand[0], static_cast<uint32_t>(i.modifiers.offset));
  const uint64_t lanes = w.exec();
  note_lds(w, i, p.lane, lanes, shape.bytes, false);
  Data data;
  collect(w, i.operand[1], shape, data);
  w.later(Counter::local,
          [p, shape, lanes, data](Wave& then) { scatter(then, p, lanes, data, 0, shape.bytes); });
}

// The parameter of the instructions for two places: bytes of one, and how many elements an offset counts.
constexpr uint16_t two(int bytes, int stride) { return static_cast<uint16_t>(bytes | stride << 8); }

void read_two(Wave& w, const Instruction& i) {
  const int bytes = i.definition->parameter & 0xff, unit = bytes * (i.definition->parameter >> 8);
  const Places a = places(w, i.operand[1], static_cast<uint32_t>(i.modifiers.offset0 * unit));
  const Places b = places(w, i.operand[1], static_cast<uint32_t>(i.modifiers.offset1 * unit));
  const uint64_t lanes = w.exec();
  note_lds(w, i, a.lane, lanes, bytes, true);
  note_lds(w, i, b.lane, lanes, bytes, true);
  const Operand& o = i.operand[0];
  w.poison(o, lanes);
  w.later(Counter::local, [a, b, bytes, lanes, o](Wave& then) {
    Data data;
    gather_bytes(then, a, lanes, data, 0, bytes);
    gather_bytes(then, b, lanes, data, bytes / 4, bytes);
    deliver(then, o, {static_cast<uint8_t>(2 * bytes)}, data, lanes);
  });
}

void write_two(Wave& w, const Instruction& i) {
  const int bytes = i.definition->parameter & 0xff, unit = bytes * (i.definition->parameter >> 8);
  const Places a = places(w, i.operand[0], static_cast<uint32_t>(i.modifiers.offset0 * unit));
  const Places b = places(w, i.operand[0], static_cast<uint32_t>(i.modifiers.offset1 * unit));
  const uint64_t lanes = w.exec();
  note_lds(w, i, a.lane, lanes, bytes, false);
  note_lds(w, i, b.lane, lanes, bytes, false);
  Data data;
  for (int part = 0; part < 2; ++part)
    for (int k = 0; k < bytes / 4; ++k)
      std::memcpy(data.word[part * bytes / 4 + k], w.v[i.operand[1 + part].index + k], sizeof data.word[0]);
  w.later(Counter::local, [a, b, bytes, lanes, data](Wave& then) {
    scatter(then, a, lanes, data, 0, bytes);
    scatter(then, b, lanes, data, bytes / 4, bytes);
  });
}

// A transposing read of elements of `bits`: sixteen lanes read a row each and get columns. With e elements a
// lane, element k of lane n is element n % e of what lane (16 / e ... ) read: lane (16 / per) * k + n / per.
template <int bits, int bytes>
void read_transposed(Wave& w, const Instruction& i) {
  constexpr int kElements = bytes * 8 / bits, kRows = 16 / kElements > 0 ? 16 / kElements : 1;
  const Places p = places(w, i.operand[1], static_cast<uint32_t>(i.modifiers.offset));
  const uint64_t lanes = w.exec();
  note_lds(w, i, p.lane, lanes, bytes, true);
  const Operand& o = i.operand[0];
  w.poison(o, lanes);
  w.later(Counter::local, [p, lanes, o](Wave& then) {
    Data raw{}, out{};
    gather<bytes>(then, p, lanes, raw, 0);
    const auto element = [&raw](int lane, int n) {
      const int bit = n * bits, word = bit / 32, shift = bit % 32;
      const uint64_t pair =
          raw.word[word][lane] |
          (word + 1 < bytes / 4 ? static_cast<uint64_t>(raw.word[word + 1][lane]) << 32 : 0);
      return static_cast<uint32_t>(pair >> shift) & ((1u << bits) - 1);
    };
    for (int l = 0; l < kLanes; ++l) {
      const int base = l & ~15, n = l & 15;
      for (int k = 0; k < kElements; ++k) {
        const uint64_t x = element(base + kRows * (k % 16) + n / kElements, n % kElements);
        const int bit = k * bits;
        out.word[bit / 32][l] |= static_cast<uint32_t>(x << (bit % 32));
        if (bit % 32 + bits > 32) out.word[bit / 32 + 1][l] |= static_cast<uint32_t>(x >> (32 - bit % 32));
      }
    }
    deliver(then, o, {bytes}, out, lanes);
  });
}

void add_tid_read(Wave& w, const Instruction& i) {
  Places p;
  for (int l = 0; l < kLanes; ++l)
    p.lane[l] = (w.s[kM0] & 0xffff) + static_cast<uint32_t>(i.modifiers.offset + 4 * l);
  const uint64_t lanes = w.exec();
  note_lds(w, i, p.lane, lanes, 4, true);
  const Operand& o = i.operand[0];
  w.poison(o, lanes);
  w.later(Counter::local, [p, lanes, o](Wave& then) {
    Data data;
    gather<4>(then, p, lanes, data, 0);
    deliver(then, o, {4}, data, lanes);
  });
}

Definition make(const std::string& name, Handler run, Class kind, uint16_t parameter) {
  Definition d{name, run, kind, static_cast<uint8_t>(kind == Class::lds_read)};
  d.parameter = parameter;
  return d;
}

}  // namespace

Definitions local_access() {
  constexpr Class kRead = Class::lds_read, kWrite = Class::lds_write;
  Definitions all = {make(
                         "ds_nop", [](Wave&, const Instruction&) {}, Class::other, 0),
                     make("ds_read_addtid_b32", add_tid_read, kRead, Shape{}.code())};
  for (int bytes : {4, 8, 12, 16}) {
    const std::string bits = "_b" + std::to_string(8 * bytes);
    const Shape shape{static_cast<uint8_t>(bytes)};
    all.push_back(make("ds_read" + bits, read, kRead, shape.code()));
    all.push_back(make("ds_write" + bits, write, kWrite, shape.code()));
    if (bytes > 8) continue;
    all.push_back(make("ds_read2" + bits, read_two, kRead, two(bytes, 1)));
    all.push_back(make("ds_read2st64" + bits, read_two, kRead, two(bytes, 64)));
    all.push_back(make("ds_write2" + bits, write_two, kWrite, two(bytes, 1)));
    all.push_back(make("ds_write2st64" + bits, write_two, kWrite, two(bytes, 64)));
  }
  for (int bytes : {1, 2}) {
    const std::string bits = std::to_string(8 * bytes);
    const auto size = static_cast<uint8_t>(bytes);
    all.push_back(make("ds_write_b" + bits, write, kWrite, Shape{size}.code()));
    all.push_back(
        make("ds_write_b" + bits + "_d16_hi", write, kWrite, Shape{size, false, Shape::high}.code()));
    for (bool is_signed : {false, true}) {
      const std::string name = std::string("ds_read_") + (is_signed ? "i" : "u") + bits;
      all.push_back(make(name, read, kRead, Shape{size, is_signed}.code()));
      if (bytes == 2 && is_signed) continue;
      all.push_back(make(name + "_d16", read, kRead, Shape{size, is_signed, Shape::low}.code()));
      all.push_back(make(name + "_d16_hi", read, kRead, Shape{size, is_signed, Shape::high}.code()));
    }
  }
  for (Definition& d : all)
    if (d.name.find("_d16") != std::string::npos && d.kind == kRead) d.accumulates = true;
  const auto transposed = [&all](const char* name, Handler run) {
    Definition d = make(name, run, kRead, 0);
    d.only = 1 << static_cast<int>(Arch::gfx950);
    all.push_back(d);
  };
  transposed("ds_read_b64_tr_b16", read_transposed<16, 8>);
  transposed("ds_read_b64_tr_b8", read_transposed<8, 8>);
  transposed("ds_read_b64_tr_b4", read_transposed<4, 8>);
  transposed("ds_read_b96_tr_b6", read_transposed<6, 12>);
  return all;
}

}  // namespace cdna
