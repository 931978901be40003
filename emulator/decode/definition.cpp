#include "decode/definition.hpp"

#include <unordered_map>

#include "instructions/tables.hpp"

namespace cdna {

const char* class_name(Class c) {
  static constexpr const char* kNames[kClasses] = {"scalar",
                                                   "scalar_memory",
                                                   "vector",
                                                   "transcendental",
                                                   "packed",
                                                   "conversion",
                                                   "accumulator_move",
                                                   "matrix",
                                                   "lds_read",
                                                   "lds_write",
                                                   "lds_atomic",
                                                   "lds_permute",
                                                   "load",
                                                   "store",
                                                   "atomic",
                                                   "load_to_lds",
                                                   "barrier",
                                                   "wait",
                                                   "nop",
                                                   "branch",
                                                   "other"};
  return kNames[static_cast<int>(c)];
}

std::string base_mnemonic(std::string_view mnemonic) {
  for (const char* suffix : {"_e32", "_e64_dpp", "_e64", "_dpp", "_sdwa"})
    if (mnemonic.ends_with(suffix)) {
      mnemonic.remove_suffix(std::string_view(suffix).size());
      break;
    }
  return std::string(mnemonic);
}

const Definition* find_definition(std::string_view base, Arch arch) {
  using Table = std::unordered_map<std::string, Definition>;
  static const std::array<Table, 3> tables = [] {
    std::array<Table, 3> all;
    for (const auto part : kInstructionTables)
      for (const Definition& d : part())
        for (size_t n = 0; n < all.size(); ++n)
          if (!d.only || d.only >> n & 1) all[n].emplace(d.name, d);
    return all;
  }();
  const Table& table = tables[static_cast<size_t>(arch)];
  const auto at = table.find(std::string(base));
  return at == table.end() ? nullptr : &at->second;
}

}  // namespace cdna
