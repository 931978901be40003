#include "gpu/metadata.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "gpu/message_pack.hpp"

namespace fw::gpu {
namespace {

using Bytes = std::span<const unsigned char>;

Bytes part(Bytes bytes, std::uint64_t offset, std::uint64_t size) {
  return offset > bytes.size() || size > bytes.size() - offset ? Bytes() : bytes.subspan(offset, size);
}

// False when the structure is not all there.
template <class Structure>
bool read(Bytes bytes, std::uint64_t offset, Structure& out) {
  const Bytes found = part(bytes, offset, sizeof out);
  if (found.size() != sizeof out) return false;
  std::memcpy(&out, found.data(), sizeof out);
  return true;
}

std::string_view text_at(Bytes table, std::uint64_t offset) {
  if (offset >= table.size()) return {};
  const auto* const first = reinterpret_cast<const char*>(table.data()) + offset;
  return {first, strnlen(first, table.size() - offset)};
}

// Calls visit(section) for each section header.
template <class Visit>
void each_section(Bytes object, Visit visit) {
  Elf64_Ehdr header;
  if (!read(object, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return;
  for (int i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    if (read(object, header.e_shoff + static_cast<std::uint64_t>(i) * sizeof section, section))
      visit(section);
  }
}

// The description of the first note of that type.
Bytes note(Bytes notes, std::uint32_t type) {
  constexpr auto padded = [](std::uint64_t size) { return (size + 3) / 4 * 4; };
  for (std::uint64_t at = 0;;) {
    Elf64_Nhdr header;
    if (!read(notes, at, header)) return {};
    const std::uint64_t description = at + sizeof header + padded(header.n_namesz);
    if (header.n_type == type) return part(notes, description, header.n_descsz);
    at = description + padded(header.n_descsz);
  }
}

struct Field {
  std::string_view key;
  int Metadata::* member;
};
constexpr Field fields[] = {
    {".vgpr_count", &Metadata::vgprs},
    {".agpr_count", &Metadata::agprs},
    {".sgpr_count", &Metadata::sgprs},
    {".vgpr_spill_count", &Metadata::vgpr_spills},
    {".sgpr_spill_count", &Metadata::sgpr_spills},
    {".private_segment_fixed_size", &Metadata::private_bytes},
    {".group_segment_fixed_size", &Metadata::lds_bytes},
    {".kernarg_segment_size", &Metadata::kernarg_bytes},
    {".max_flat_workgroup_size", &Metadata::threads},
};

// One entry of amdhsa.kernels, and its name.
std::string_view read_kernel(MessagePack& pack, Metadata& out) {
  std::string_view name;
  pack.each_member([&](std::string_view key) {
    const auto* field =
        std::find_if(std::begin(fields), std::end(fields), [&](const Field& f) { return f.key == key; });
    if (field != std::end(fields))
      out.*field->member = static_cast<int>(pack.number());
    else if (key == ".name")
      name = pack.text();
    else
      pack.skip();
  });
  return name;
}

bool find_kernel(Bytes description, std::string_view kernel, Metadata& out) {
  MessagePack pack(description);
  bool found = false;
  pack.each_member([&](std::string_view key) {
    if (key != "amdhsa.kernels") return pack.skip();
    pack.each_element([&] {
      Metadata made;
      if (read_kernel(pack, made) != kernel) return;
      out = made;
      found = true;
    });
  });
  return found && !pack.damaged();
}

std::uint64_t code_bytes(Bytes object, std::string_view kernel) {
  std::uint64_t size = 0;
  each_section(object, [&](const Elf64_Shdr& symbols) {
    if (symbols.sh_type != SHT_DYNSYM) return;
    Elf64_Ehdr header;
    Elf64_Shdr strings;
    if (!read(object, 0, header) || !read(object, header.e_shoff + symbols.sh_link * sizeof strings, strings))
      return;
    const Bytes names = part(object, strings.sh_offset, strings.sh_size);
    Elf64_Sym symbol;
    for (std::uint64_t at = 0; at + sizeof symbol <= symbols.sh_size; at += sizeof symbol)
      if (read(object, symbols.sh_offset + at, symbol) && text_at(names, symbol.st_name) == kernel)
        size = symbol.st_size;
  });
  return size;
}

}  // namespace

std::optional<Metadata> read_metadata(Bytes object, std::string_view kernel) {
  constexpr std::uint32_t amdgpu_metadata = 32;
  Metadata made;
  bool found = false;
  each_section(object, [&](const Elf64_Shdr& section) {
    if (section.sh_type == SHT_NOTE && !found)
      found =
          find_kernel(note(part(object, section.sh_offset, section.sh_size), amdgpu_metadata), kernel, made);
  });
  if (!found) return {};
  made.code_bytes = code_bytes(object, kernel);
  return made;
}

int occupancy(const Metadata& m, std::string_view arch, int threads) {
  constexpr int lanes = 64, simds = 4, most_waves = 8, registers = 512, granule = 8;
  const int used = std::max(granule, (m.vgprs + granule - 1) / granule * granule);
  int waves = std::min(most_waves, registers / used);
  if (m.lds_bytes > 0) {
    const int lds = (arch == "gfx950" ? 160 : 64) * 1024;
    const int waves_of_group = std::max(1, (threads + lanes - 1) / lanes);
    waves = std::min(waves, std::max(lds / m.lds_bytes * waves_of_group / simds, lds >= m.lds_bytes ? 1 : 0));
  }
  return waves;
}

}  // namespace fw::gpu
