// An HSA code object: an ELF file whose kernels have a descriptor, metadata and machine code.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/arch.hpp"

namespace cdna {

// The 64 bytes `<kernel>.kd`.
struct KernelDescriptor {
  uint32_t lds_bytes;
  uint32_t scratch_bytes;
  uint32_t kernarg_bytes;
  uint32_t reserved0;
  int64_t entry_offset;  // relative to the descriptor
  uint8_t reserved1[20];
  uint32_t rsrc3;
  uint32_t rsrc1;
  uint32_t rsrc2;
  uint16_t properties;
  uint16_t kernarg_preload;
  uint32_t reserved2;

  // Registers that a kernel may find filled, in this order (properties, bit by bit).
  enum Property : uint16_t {
    private_segment_buffer = 1,
    dispatch_pointer = 2,
    queue_pointer = 4,
    kernarg_pointer = 8,
    dispatch_id = 16,
    flat_scratch_init = 32,
    private_segment_size = 64,
  };
  uint32_t accum_offset() const { return ((rsrc3 & 63) + 1) * 4; }
  uint32_t vgpr_count() const { return ((rsrc1 & 63) + 1) * 8; }
  uint32_t float_mode() const { return rsrc1 >> 12 & 0xff; }
  bool dx10_clamp() const { return rsrc1 >> 21 & 1; }
  bool ieee_mode() const { return rsrc1 >> 23 & 1; }
  bool scratch_enabled() const { return rsrc2 & 1; }
  uint32_t user_sgprs() const { return rsrc2 >> 1 & 31; }
  bool group_id(int axis) const { return rsrc2 >> (7 + axis) & 1; }
  bool group_info() const { return rsrc2 >> 10 & 1; }
  uint32_t preload_dwords() const { return kernarg_preload & 127; }
  uint32_t preload_offset() const { return kernarg_preload >> 7; }
};
static_assert(sizeof(KernelDescriptor) == 64);

struct Argument {
  std::string name, kind;
  uint32_t offset = 0, size = 0;
  bool hidden() const { return kind.rfind("hidden_", 0) == 0; }
};

// What the metadata note says of a kernel (absent numbers are -1).
struct KernelNotes {
  std::vector<Argument> arguments;
  int64_t vgprs = -1, agprs = -1, sgprs = -1, vgpr_spills = -1, sgpr_spills = -1;
  int64_t private_bytes = -1, lds_bytes = -1, kernarg_bytes = -1, max_workgroup = -1;
  bool dynamic_stack = false;
};

struct Kernel {
  std::string name;
  uint64_t descriptor_address = 0;  // of the descriptor, within the image
  uint64_t entry = 0;               // of the first instruction, within the image
  uint64_t code_bytes = 0;
  KernelDescriptor descriptor{};
  KernelNotes notes;

  uint32_t explicit_kernarg_bytes() const;
  uint32_t kernarg_bytes() const;
};

struct Symbol {
  std::string name;
  uint64_t address = 0, size = 0;
  bool function = false;
};

struct Range {
  uint64_t begin = 0, end = 0;
};

class CodeObject {
 public:
  // Throws Error with one sentence when the bytes are no code object that can be executed.
  static std::shared_ptr<CodeObject> load(std::span<const uint8_t> file);

  // Bare machine code as an object with one kernel, named "code", that starts at its first byte.
  static std::shared_ptr<CodeObject> of_code(Arch arch, std::span<const uint8_t> code,
                                             KernelDescriptor descriptor);

  Arch arch() const { return arch_; }
  int version() const { return version_; }
  uint8_t* image() const { return image_.get(); }
  uint64_t image_bytes() const { return image_bytes_; }
  const std::vector<Kernel>& kernels() const { return kernels_; }
  const Kernel* find(const std::string& name) const;
  const Symbol* find_symbol(const std::string& name) const;
  const std::vector<Range>& executable() const { return executable_; }
  const std::vector<Symbol>& symbols() const { return symbols_; }

 private:
  friend class Loader;
  Arch arch_ = Arch::gfx942;
  int version_ = 0;
  std::unique_ptr<uint8_t[], void (*)(void*)> image_{nullptr, nullptr};
  uint64_t image_bytes_ = 0;
  std::vector<Kernel> kernels_;
  std::vector<Symbol> symbols_;
  std::vector<Range> executable_;
};

// The file in memory that starts at `image`: its size by its own headers, or 0 when it is no ELF file.
// Also unpacks an offload bundle: `image` moves to the entry for `arch`.
uint64_t file_bytes(const uint8_t*& image, Arch arch);

}  // namespace cdna
