#include "decode/disassembler.hpp"

#include <dlfcn.h>

#include "base/error.hpp"

namespace cdna {
namespace {

constexpr const char* kLibraries[] = {CDNA_LLVM_LIBRARIES};  // newest first
constexpr const char* kTriple = "amdgcn-amd-amdhsa";

struct Library {
  void* (*create)(const char* triple, const char* cpu, void* info, int tag, void* operand,
                  void* symbol) = nullptr;
  void (*dispose)(void*) = nullptr;
  size_t (*decode)(void*, const uint8_t*, uint64_t bytes, uint64_t address, char* text,
                   size_t room) = nullptr;
  std::string failure;
};

template <class F>
bool find(F& function, void* handle, const char* name) {
  function = reinterpret_cast<F>(dlsym(handle, name));
  return function != nullptr;
}

bool open_library(Library& library, const char* name) {
  void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!handle) return false;
  void (*target_info)() = nullptr;
  void (*target_code)() = nullptr;
  void (*disassembler)() = nullptr;
  if (!find(target_info, handle, "LLVMInitializeAMDGPUTargetInfo") ||
      !find(target_code, handle, "LLVMInitializeAMDGPUTargetMC") ||
      !find(disassembler, handle, "LLVMInitializeAMDGPUDisassembler") ||
      !find(library.create, handle, "LLVMCreateDisasmCPU") ||
      !find(library.dispose, handle, "LLVMDisasmDispose") ||
      !find(library.decode, handle, "LLVMDisasmInstruction")) {
    dlclose(handle);
    return false;
  }
  target_info();
  target_code();
  disassembler();
  return true;
}

const Library& library() {
  static const Library opened = [] {
    Library l;
    for (const char* name : kLibraries)
      if (open_library(l, name)) return l;
    l.create = nullptr;
    l.failure = "no libLLVM (22 to 19) with the AMDGPU target can be opened; install clang-22";
    return l;
  }();
  return opened;
}

}  // namespace

Disassembler::Disassembler(Arch arch) {
  const Library& l = library();
  if (!l.create) throw Error(l.failure);
  context_ = l.create(kTriple, generation(arch).name, nullptr, 0, nullptr, nullptr);
  if (!context_) throw Error(std::string("the installed libLLVM does not know ") + generation(arch).name);
}

Disassembler::~Disassembler() { library().dispose(context_); }

size_t Disassembler::decode(std::string& text, const uint8_t* code, size_t bytes, uint64_t address) const {
  char room[512];
  const size_t used = library().decode(context_, code, bytes, address, room, sizeof room);
  text.clear();
  if (!used) return 0;
  for (const char* c = room; *c; ++c)
    if (!text.empty() || (*c != ' ' && *c != '\t')) text += *c == '\t' ? ' ' : *c;
  return used;
}

}  // namespace cdna
