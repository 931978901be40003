#include "object/code_object.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/bytes.hpp"
#include "object/elf.hpp"
#include "object/message_pack.hpp"

namespace cdna {
namespace {

constexpr uint64_t kLargestImage = 1ull << 30;
constexpr uint64_t kPage = 4096;

int64_t noted(const Message& m, const char* key) { return static_cast<int64_t>(m.number(key, ~0ull)); }

KernelNotes read_notes(const Message& m) {
  KernelNotes n;
  n.vgprs = noted(m, ".vgpr_count");
  n.agprs = noted(m, ".agpr_count");
  n.sgprs = noted(m, ".sgpr_count");
  n.vgpr_spills = noted(m, ".vgpr_spill_count");
  n.sgpr_spills = noted(m, ".sgpr_spill_count");
  n.private_bytes = noted(m, ".private_segment_fixed_size");
  n.lds_bytes = noted(m, ".group_segment_fixed_size");
  n.kernarg_bytes = noted(m, ".kernarg_segment_size");
  n.max_workgroup = noted(m, ".max_flat_workgroup_size");
  n.dynamic_stack = m.number(".uses_dynamic_stack", 0);
  if (const Message* arguments = m.find(".args"))
    for (const Message& a : arguments->list)
      n.arguments.push_back({a.word(".name"), a.word(".value_kind"),
                             static_cast<uint32_t>(a.number(".offset", 0)),
                             static_cast<uint32_t>(a.number(".size", 0))});
  return n;
}

}  // namespace

uint32_t Kernel::explicit_kernarg_bytes() const {
  uint32_t end = 0;
  for (const Argument& a : notes.arguments)
    if (!a.hidden()) end = std::max(end, a.offset + a.size);
  return notes.arguments.empty() ? kernarg_bytes() : end;
}

uint32_t Kernel::kernarg_bytes() const {
  return std::max<uint32_t>(descriptor.kernarg_bytes, notes.kernarg_bytes > 0 ? notes.kernarg_bytes : 0);
}

const Kernel* CodeObject::find(const std::string& name) const {
  for (const Kernel& k : kernels_)
    if (k.name == name) return &k;
  return nullptr;
}

const Symbol* CodeObject::find_symbol(const std::string& name) const {
  for (const Symbol& s : symbols_)
    if (s.name == name) return &s;
  return nullptr;
}

// Reads the file piece by piece into a CodeObject.
class Loader {
 public:
  explicit Loader(std::span<const uint8_t> file) : file_{file} {}

  std::shared_ptr<CodeObject> load() {
    check_header();
    map_segments();
    read_sections();
    relocate();
    read_metadata();
    find_kernels();
    return object_;
  }

 private:
  void check_header() {
    header_ = file_.read<elf::Header>(0, "ELF header");
    if (std::memcmp(header_.ident, "\177ELF\2\1", 6) != 0) throw Error("not a 64-bit little-endian ELF file");
    if (header_.machine != elf::kMachineAmdgpu || header_.ident[7] != elf::kOsHsa)
      throw Error("not an HSA code object for AMD GPUs (ELF machine " + hex(header_.machine) + ")");
    const int abi = header_.ident[8];
    if (abi < 2 || abi > 4)
      throw Error("code object version " + std::to_string(abi + 2) + " is not supported, 4 to 6 are");
    const Generation* g = find_generation(header_.flags & 0xff);
    if (!g)
      throw Error("the code object is for a GPU that is not gfx90a, gfx942 or gfx950 (machine " +
                  hex(header_.flags & 0xff) + ")");
    object_->arch_ = g->arch;
    object_->version_ = abi + 2;
  }

  void map_segments() {
    if (header_.phentsize != sizeof(elf::Segment))
      throw Error("the code object's program headers are malformed");
    uint64_t top = 0;
    for (int n = 0; n < header_.phnum; ++n) {
      const auto s = file_.read<elf::Segment>(header_.phoff + n * sizeof(elf::Segment), "program headers");
      if (s.type == elf::kNote) notes_.push_back(file_.part(s.offset, s.filesz, "note segment"));
      if (s.type != elf::kLoad) continue;
      file_.part(s.offset, s.filesz, "loadable segment");
      if (s.filesz > s.memsz || s.vaddr > kLargestImage || s.memsz > kLargestImage)
        throw Error("a loadable segment of the code object has a senseless size or address");
      top = std::max(top, s.vaddr + s.memsz);
      segments_.push_back(s);
    }
    if (segments_.empty()) throw Error("the code object has no loadable segment");
    object_->image_bytes_ = (top + kPage - 1) / kPage * kPage;
    auto* memory = static_cast<uint8_t*>(std::aligned_alloc(kPage, object_->image_bytes_));
    if (!memory) throw Error("no memory for a code object of " + std::to_string(top) + " bytes");
    object_->image_ = {memory, std::free};
    std::memset(memory, 0, object_->image_bytes_);
    for (const elf::Segment& s : segments_) {
      std::memcpy(memory + s.vaddr, file_.data.data() + s.offset, s.filesz);
      if (s.flags & elf::kExecutableSegment) object_->executable_.push_back({s.vaddr, s.vaddr + s.memsz});
    }
  }

  void read_sections() {
    if (header_.shnum && header_.shentsize != sizeof(elf::Section))
      throw Error("the code object's section headers are malformed");
    for (int n = 0; n < header_.shnum; ++n)
      sections_.push_back(
          file_.read<elf::Section>(header_.shoff + n * sizeof(elf::Section), "section headers"));
    for (const elf::Section& s : sections_)
      if (s.type == elf::kDynamicSymbols) read_symbols(s);
    for (const elf::Section& s : sections_)
      if (s.type == elf::kSymbols) read_symbols(s);
  }

  void read_symbols(const elf::Section& section) {
    if (section.link >= sections_.size()) throw Error("the code object's symbol table has no names");
    const elf::Section& names = sections_[section.link];
    const Bytes text = file_.part(names.offset, names.size, "symbol names");
    const Bytes table = file_.part(section.offset, section.size, "symbol table");
    for (uint64_t n = 0; n < table.data.size() / sizeof(elf::Symbol); ++n) {
      const auto s = table.read<elf::Symbol>(n * sizeof(elf::Symbol), "symbol table");
      Symbol symbol{text.text(s.name, "symbol names"), s.value, s.size, (s.info & 15) == 2};
      if (section.type == elf::kDynamicSymbols) dynamic_.push_back(symbol);
      if (symbol.name.empty() || s.shndx == 0 || object_->find_symbol(symbol.name)) continue;
      const uint64_t image = object_->image_bytes_;
      if (s.shndx != elf::kAbsolute && (s.value > image || s.size > image - s.value))
        throw Error("the symbol " + symbol.name + " of the code object lies outside its image");
      if (s.shndx == elf::kAbsolute) symbol.function = false;
      object_->symbols_.push_back(std::move(symbol));
    }
  }

  void relocate() {
    const auto base = reinterpret_cast<uint64_t>(object_->image());
    for (const elf::Section& s : sections_) {
      if (s.type != elf::kRela) continue;
      const Bytes table = file_.part(s.offset, s.size, "relocations");
      for (uint64_t n = 0; n < table.data.size() / sizeof(elf::Relocation); ++n) {
        const auto r = table.read<elf::Relocation>(n * sizeof(elf::Relocation), "relocations");
        const uint32_t type = static_cast<uint32_t>(r.info), index = static_cast<uint32_t>(r.info >> 32);
        uint64_t value = base + static_cast<uint64_t>(r.addend);
        if (type == elf::kAbs64 && index < dynamic_.size())
          value += dynamic_[index].address;
        else if (type != elf::kRelative64)
          throw Error("unknown relocation type " + std::to_string(type));
        if (r.offset > object_->image_bytes_ - sizeof value)
          throw Error("a relocation of the code object lies outside its image");
        std::memcpy(object_->image() + r.offset, &value, sizeof value);
      }
    }
  }

  void read_metadata() {
    for (const Bytes& note : notes_) {
      uint64_t at = 0;
      while (at + sizeof(elf::Note) <= note.data.size()) {
        const auto n = note.read<elf::Note>(at, "note");
        at += sizeof n;
        const uint64_t name_bytes = (static_cast<uint64_t>(n.namesz) + 3) & ~3ull;
        const Bytes body = note.part(at + name_bytes, n.descsz, "note");
        if (n.type == elf::kMetadataNote) metadata_ = parse_message(body);
        at += name_bytes + ((static_cast<uint64_t>(n.descsz) + 3) & ~3ull);
      }
    }
  }

  void find_kernels() {
    for (const Symbol& s : object_->symbols_) {
      if (s.name.size() < 4 || s.name.compare(s.name.size() - 3, 3, ".kd") != 0) continue;
      Kernel k;
      k.name = s.name.substr(0, s.name.size() - 3);
      k.descriptor_address = s.address;
      const Bytes image{{object_->image(), object_->image_bytes_}};
      k.descriptor = image.read<KernelDescriptor>(s.address, "kernel descriptor");
      k.entry = s.address + static_cast<uint64_t>(k.descriptor.entry_offset);
      k.code_bytes = code_bytes(k);
      describe(k);
      object_->kernels_.push_back(std::move(k));
    }
    if (object_->kernels_.empty()) throw Error("the code object has no kernel");
  }

  // Hand-written objects give their symbols no size: then the code goes on to the end of its section.
  uint64_t code_bytes(const Kernel& k) const {
    if (const Symbol* code = object_->find_symbol(k.name); code && code->size && code->address == k.entry)
      if (inside(k.entry, code->size)) return code->size;
    for (const elf::Section& s : sections_)
      if ((s.flags & elf::kExecutable) && k.entry >= s.addr && k.entry - s.addr < s.size &&
          inside(k.entry, s.addr + s.size - k.entry))
        return s.addr + s.size - k.entry;
    throw Error("the entry of kernel " + k.name + " lies outside the code");
  }
  bool inside(uint64_t address, uint64_t size) const {
    for (const Range& r : object_->executable_)
      if (address >= r.begin && address < r.end && size <= r.end - address) return true;
    return false;
  }

  void describe(Kernel& k) const {
    const Message* kernels = metadata_.find("amdhsa.kernels");
    if (!kernels) return;
    for (const Message& m : kernels->list)
      if (m.word(".name") == k.name || m.word(".symbol") == k.name + ".kd") k.notes = read_notes(m);
  }

  Bytes file_;
  elf::Header header_{};
  std::vector<elf::Segment> segments_;
  std::vector<elf::Section> sections_;
  std::vector<Symbol> dynamic_;
  std::vector<Bytes> notes_;
  Message metadata_;
  std::shared_ptr<CodeObject> object_ = std::make_shared<CodeObject>();
};

std::shared_ptr<CodeObject> CodeObject::of_code(Arch arch, std::span<const uint8_t> code,
                                                KernelDescriptor descriptor) {
  auto object = std::make_shared<CodeObject>();
  object->arch_ = arch;
  object->image_bytes_ = (code.size() + kPage - 1) / kPage * kPage + kPage;
  auto* memory = static_cast<uint8_t*>(std::aligned_alloc(kPage, object->image_bytes_));
  if (!memory) throw Error("no memory for code");
  object->image_ = {memory, std::free};
  std::memset(memory, 0, object->image_bytes_);
  std::memcpy(memory, code.data(), code.size());
  object->executable_.push_back({0, code.size()});
  Kernel k;
  k.name = "code";
  k.descriptor = descriptor;
  k.code_bytes = code.size();
  object->kernels_.push_back(std::move(k));
  return object;
}

std::shared_ptr<CodeObject> CodeObject::load(std::span<const uint8_t> file) { return Loader(file).load(); }

}  // namespace cdna
