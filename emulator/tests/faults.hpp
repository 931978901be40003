// Runs code that may be wrong, and says what the emulator said.
#pragma once
#include <gtest/gtest.h>

#include "assembler.hpp"
#include "base/error.hpp"
#include "decode/program.hpp"
#include "dispatch/compare.hpp"

namespace cdna::test {

struct Situation {
  uint32_t threads = 64, lds = 0;
  bool late = false;
  Checks checks = Checks::all;
  const char* schedule = "16";
  uint64_t limit = 1u << 20;
  bool compare = false;
};

// Runs code that finds the address of 4096 bytes in s[0:1] as its first argument's place; "" when nothing is
// wrong.
class Faults : public testing::Test {
 protected:
  std::string fault(Arch arch, const std::string& text, const Situation& setup = {}) {
    KernelDescriptor d{};
    d.rsrc3 = 63;
    d.rsrc1 = 63 | 0xf0 << 12;
    d.rsrc2 = 2 << 1;
    d.properties = KernelDescriptor::kernarg_pointer;
    d.lds_bytes = setup.lds;
    const std::string whole =
        "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\nv_lshlrev_b32 v1, 2, v0\n" + text +
        "\ns_endpgm\n";
    const auto object = CodeObject::of_code(arch, assemble(arch, whole), d);
    Launch l;
    l.program = decode(object, object->kernels()[0]);
    l.grid.threads = {setup.threads, 1, 1};
    const auto address = reinterpret_cast<uint64_t>(data.data());
    l.arguments = kernel_arguments(l.program->kernel, l.grid, &address, sizeof address);
    l.settings.checks = setup.checks;
    l.settings.late = setup.late;
    l.settings.schedule = Schedule::parse(setup.schedule);
    l.settings.wave_limit = setup.limit;
    MemoryMap memory;
    memory.add(address, data.size() * 4, "test data");
    l.memory = &memory;
    l.settings.compare = setup.compare;
    try {
      setup.compare ? run_compared(l) : run(l);
      return "";
    } catch (const Error& e) {
      return e.what();
    }
  }
  void expect(const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << "got: " << message;
  }

  std::vector<uint32_t> data = std::vector<uint32_t>(1024, 7);
};

}  // namespace cdna::test
