// A wave on a bench: registers and LDS set by hand, instructions run one by one.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "assembler.hpp"
#include "decode/program.hpp"
#include "machine/group.hpp"

namespace cdna::test {

class Bench {
 public:
  explicit Bench(Arch arch) : arch_(arch), wave_(new Wave) {
    group.lds.resize(65536);
    group.regions = std::make_shared<const Regions>();
    wave().arch = arch;
    wave().group = &group;
    for (auto& row : wave().v)
      for (uint32_t& x : row) x = 0;
    for (uint32_t& s : wave().s) s = 0;
    wave().set_pair(kExec, kAllLanes);
  }

  // Executes machine code in a straight line.
  void run(const Code& code) {
    KernelDescriptor d{};
    d.rsrc3 = 63;  // AGPRs begin at 256
    auto object = CodeObject::of_code(arch_, code, d);
    program_ = decode(object, object->kernels()[0]);
    wave().program = program_.get();
    wave().pc = 0;
    while (wave().pc + 1 < program_->code.size()) {
      const Instruction& i = program_->code[wave().pc++];
      i.run(wave(), i);
    }
  }

  Wave& wave() { return *wave_; }
  Arch arch() const { return arch_; }
  Group group;

 private:
  Arch arch_;
  std::unique_ptr<Wave> wave_;
  std::shared_ptr<const Program> program_;
};

}  // namespace cdna::test
