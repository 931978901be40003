// Every atomic operation by every path, with and without the old value.
#include <functional>

#include "base/floats.hpp"
#include "memory_place.hpp"
#include "rows.hpp"

namespace cdna::test {
namespace {

using u64 = uint64_t;
using Change = std::function<u64(u64 old, u64 x, u64 y)>;  // of words cut to the operation's size

struct Operation {
  const char *vector_name, *lds_name;  // lds_name: before and behind _rtn; null: there is none
  const char* lds_type;
  int bits;
  bool compares;  // two operands
  Change change;
};

int64_t as_signed(u64 x, int bits) { return static_cast<int64_t>(x << (64 - bits)) >> (64 - bits); }

u64 with_floats(int bits, u64 a, u64 b, double (*of)(double, double)) {
  if (bits == 64) return as_bits(of(as_double(a), as_double(b)));
  return as_bits(
      static_cast<float>(of(as_float(static_cast<uint32_t>(a)), as_float(static_cast<uint32_t>(b)))));
}
double plus(double a, double b) { return a + b; }
double smaller(double a, double b) { return std::isnan(a) ? b : std::isnan(b) ? a : std::min(a, b); }
double larger(double a, double b) { return std::isnan(a) ? b : std::isnan(b) ? a : std::max(a, b); }

template <class Widen, class Narrow>
u64 add_pairs(u64 a, u64 b, Widen widen, Narrow narrow) {
  const auto at = [&](int n) {
    const auto half = [n](u64 x) { return static_cast<uint16_t>(x >> (16 * n)); };
    return u64{narrow(widen(half(a)) + widen(half(b)))} << (16 * n);
  };
  return at(0) | at(1);
}

void add_integers(std::vector<Operation>& all, int bits) {
  const bool wide = bits == 64;
  const auto op = [&](const char* name, const char* name64, const char* lds, const char* type,
                      const char* type64, Change change) {
    all.push_back({wide ? name64 : name, lds, wide ? type64 : type, bits, false, std::move(change)});
  };
  op("swap", "swap_x2", "wrxchg", "b32", "b64", [](u64, u64 x, u64) { return x; });
  op("add", "add_x2", "add", "u32", "u64", [](u64 o, u64 x, u64) { return o + x; });
  op("sub", "sub_x2", "sub", "u32", "u64", [](u64 o, u64 x, u64) { return o - x; });
  op(nullptr, nullptr, "rsub", "u32", "u64", [](u64 o, u64 x, u64) { return x - o; });
  op("smin", "smin_x2", "min", "i32", "i64",
     [=](u64 o, u64 x, u64) { return as_signed(o, bits) < as_signed(x, bits) ? o : x; });
  op("smax", "smax_x2", "max", "i32", "i64",
     [=](u64 o, u64 x, u64) { return as_signed(o, bits) > as_signed(x, bits) ? o : x; });
  op("umin", "umin_x2", "min", "u32", "u64", [](u64 o, u64 x, u64) { return std::min(o, x); });
  op("umax", "umax_x2", "max", "u32", "u64", [](u64 o, u64 x, u64) { return std::max(o, x); });
  op("and", "and_x2", "and", "b32", "b64", [](u64 o, u64 x, u64) { return o & x; });
  op("or", "or_x2", "or", "b32", "b64", [](u64 o, u64 x, u64) { return o | x; });
  op("xor", "xor_x2", "xor", "b32", "b64", [](u64 o, u64 x, u64) { return o ^ x; });
  op("inc", "inc_x2", "inc", "u32", "u64", [](u64 o, u64 x, u64) { return o >= x ? 0 : o + 1; });
  op("dec", "dec_x2", "dec", "u32", "u64", [](u64 o, u64 x, u64) { return o == 0 || o > x ? x : o - 1; });
  all.push_back({wide ? "cmpswap_x2" : "cmpswap", nullptr, nullptr, bits, true,
                 [](u64 o, u64 x, u64 y) { return o == y ? x : o; }});
  all.push_back({nullptr, "cmpst", wide ? "b64" : "b32", bits, true,
                 [](u64 o, u64 x, u64 y) { return o == x ? y : o; }});
  all.push_back(
      {nullptr, "mskor", wide ? "b64" : "b32", bits, true, [](u64 o, u64 x, u64 y) { return (o & ~x) | y; }});
  all.push_back({nullptr, "cmpst", wide ? "f64" : "f32", bits, true, [=](u64 o, u64 x, u64 y) {
                   const bool same =
                       wide ? as_double(o) == as_double(x)
                            : as_float(static_cast<uint32_t>(o)) == as_float(static_cast<uint32_t>(x));
                   return same ? y : o;
                 }});
}

const std::vector<Operation>& operations() {
  static const std::vector<Operation> all = [] {
    std::vector<Operation> ops;
    add_integers(ops, 32);
    add_integers(ops, 64);
    const auto real = [](int bits, double (*of)(double, double)) -> Change {
      return [=](u64 o, u64 x, u64) { return with_floats(bits, o, x, of); };
    };
    ops.push_back({"add_f32", "add", "f32", 32, false, real(32, plus)});
    ops.push_back({"add_f64", "add", "f64", 64, false, real(64, plus)});
    ops.push_back({"min_f64", "min", "f64", 64, false, real(64, smaller)});
    ops.push_back({"max_f64", "max", "f64", 64, false, real(64, larger)});
    ops.push_back({nullptr, "min", "f32", 32, false, real(32, smaller)});
    ops.push_back({nullptr, "max", "f32", 32, false, real(32, larger)});
    ops.push_back({"pk_add_f16", "pk_add", "f16", 32, false,
                   [](u64 o, u64 x, u64) { return add_pairs(o, x, from_half, to_half); }});
    ops.push_back({"pk_add_bf16", "pk_add", "bf16", 32, false,
                   [](u64 o, u64 x, u64) { return add_pairs(o, x, from_brain, to_brain); }});
    return ops;
  }();
  return all;
}

struct Form {
  std::string text;
  Path path;
  const Operation* operation;
  int result;  // the first register of the old value; 0: none
};

std::string registers(int first, int n) {
  return n == 1 ? "v" + std::to_string(first)
                : "v[" + std::to_string(first) + ":" + std::to_string(first + n - 1) + "]";
}

void add_vector_forms(std::vector<Form>& all, const Operation& o, const std::string& returning) {
  const int words = o.bits / 32, data = words * (o.compares ? 2 : 1);
  const std::string name = std::string("_atomic_") + o.vector_name + " ", x = registers(20, data),
                    old = registers(30, words);
  all.push_back({"global" + name + "v1, " + x + ", s[4:5] offset:8", Path::global, &o, 0});
  all.push_back(
      {"global" + name + old + ", v1, " + x + ", s[4:5] offset:8" + returning, Path::global, &o, 30});
  all.push_back({"flat" + name + "v[2:3], " + x, Path::flat, &o, 0});
  all.push_back({"flat" + name + old + ", v[2:3], " + x + returning, Path::flat, &o, 30});
  all.push_back({"buffer" + name + x + ", v1, s[8:11], 0 offen offset:8", Path::buffer, &o, 0});
  all.push_back({"buffer" + name + x + ", v1, s[8:11], 0 offen offset:8" + returning, Path::buffer, &o, 20});
}

void add_lds_forms(std::vector<Form>& all, const Operation& o) {
  const int words = o.bits / 32;
  const std::string name = std::string("ds_") + o.lds_name, type = std::string("_") + o.lds_type + " ";
  std::string operands = "v5, " + registers(20, words);
  if (o.compares) operands += ", " + registers(20 + words, words);
  operands += " offset:8";
  if (std::string(o.lds_name) != "wrxchg") all.push_back({name + type + operands, Path::lds, &o, 0});
  all.push_back({name + "_rtn" + type + registers(30, words) + ", " + operands, Path::lds, &o, 30});
}

std::vector<Form> forms(Arch arch) {
  std::vector<Form> all;
  for (const Operation& o : operations()) {
    if (o.vector_name) add_vector_forms(all, o, arch == Arch::gfx90a ? " glc" : " sc0");
    if (o.lds_name) add_lds_forms(all, o);
  }
  return all;
}

// Numbers around the edges of every type, none of them subnormal or NaN as a float of any size.
u64 edge(uint32_t n) {
  constexpr uint32_t kWords[] = {0x3f803f80, 0xbf80c000, 0x00000000, 0x40004000, 0x7effffff, 0xc2fe4400,
                                 0x3f803f80, 0x41203c00, 0x80000000, 0x44804480, 0x42284228, 0xfeff3b00};
  return u64{kWords[(n * 5 + 2) % 12]} << 32 | kWords[n % 12];
}

std::string mistake(Arch arch, const Form& form, const Code& code) {
  const Operation& o = *form.operation;
  const int words = o.bits / 32;
  const auto cut = [&](u64 x) { return o.bits == 64 ? x : x & 0xffffffff; };
  const u64 exec = 0xf234567812345671ull;
  Place p(arch);
  Wave& w = p.bench.wave();
  w.set_pair(kExec, exec);
  u64 old[kLanes], x[kLanes], y[kLanes];
  const auto put = [&](int row, uint32_t l, u64 value) {
    for (int k = 0; k < words; ++k) w.v[row + k][l] = static_cast<uint32_t>(value >> (32 * k));
  };
  for (uint32_t l = 0; l < kLanes; ++l) {
    old[l] = cut(edge(l)), x[l] = cut(edge(l / 2 + 1)), y[l] = cut(l % 3 ? edge(l) : edge(l + 5));
    p.write(form.path, l, 8, o.bits / 8, old[l]);
    put(20, l, x[l]);
    put(20 + words, l, y[l]);
    put(30, l, 0);
  }
  set_float_mode(FloatMode::single(FloatMode::kIeee));
  p.bench.run(code);
  for (uint32_t l = 0; l < kLanes; ++l) {
    const bool on = exec >> l & 1;
    const u64 want = on ? cut(o.change(old[l], x[l], y[l])) : old[l],
              got = p.read(form.path, l, 8, o.bits / 8);
    if (got != want)
      return form.text + " lane " + std::to_string(l) + " leaves " + hex(got) + ", not " + hex(want);
    if (!form.result || !on) continue;
    u64 returned = 0;
    for (int k = 0; k < words; ++k) returned |= u64{w.v[form.result + k][l]} << (32 * k);
    if (returned != old[l]) return form.text + " lane " + std::to_string(l) + " returns " + hex(returned);
  }
  return "";
}

class AtomicForms : public testing::TestWithParam<Arch> {};

TEST_P(AtomicForms, ChangeMemoryAndReturnWhatWasThere) {
  const std::vector<Form> all = forms(GetParam());
  const std::vector<Code> code = assemble_lines(GetParam(), atomic_lines(GetParam()));
  int known = 0;
  for (size_t n = 0; n < all.size(); ++n) {
    if (code[n].empty()) continue;  // not on this generation
    ++known;
    EXPECT_EQ(mistake(GetParam(), all[n], code[n]), "");
  }
  EXPECT_GT(known, 200);
}

INSTANTIATE_TEST_SUITE_P(Each, AtomicForms, testing::ValuesIn(kArchs),
                         [](const auto& p) { return generation(p.param).name; });

}  // namespace

std::vector<std::string> atomic_lines(Arch arch) {
  std::vector<std::string> lines;
  for (const Form& f : forms(arch)) lines.push_back(f.text);
  return lines;
}

}  // namespace cdna::test
