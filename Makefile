# The words of the build, over CMakePresets.json. Build trees are build/<preset>.
JOBS ?= $(shell nproc)
SUITE ?= quick
# ON: an error where the emulator cannot be built.
EMULATOR ?= AUTO
# ARCHS=gfx942 or ARCHS=: which AMD architectures to build kernels for; else as before, at first all that can be built.
archs = $(if $(filter undefined,$(origin ARCHS)),,-DFLASHWAVE_ARCHS=$(ARCHS))

# $(call tree,PRESET[,TARGET[,OPTIONS]]) configures a preset and builds it. What CMake finds is of interest only when it
# fails; what it leaves out always.
define tree
	@mkdir -p build
	@cmake --preset $(1) $(3) > build/$(1).log 2>&1 || { cat build/$(1).log; exit 1; }
	@sed -n 's/^-- \(without .*\)/\1/p' build/$(1).log
	@cmake --build --preset $(1) -j $(JOBS) $(if $(2),--target $(2))
endef
check = ctest --preset $(1) -j $(JOBS) --progress

.PHONY: build demo test bench peers lint asan tsan aarch64 fuzz mutants clean
build:
	@scripts/setup build
	$(call tree,release,,$(archs))

demo:
	@scripts/setup build
	$(call tree,release,flashwave_command)
	@examples/demo build/release/flashwave

test:
	@scripts/setup build
	@scripts/setup $(if $(filter ON,$(EMULATOR)),,--try) emulator
	$(call tree,release,,-DFLASHWAVE_EMULATOR=$(EMULATOR) -DFLASHWAVE_REQUIRE_ARCHS=$(if $(filter ON,$(EMULATOR)),ON,OFF) $(archs))
	@$(call check,release)

bench:
	@scripts/setup build
	$(call tree,release,flashwave_command)
	@build/release/flashwave bench --suite $(SUITE)

# Beside other libraries, those that can be had; the figures stay in build/peers.jsonl for `scripts/readme.py peers`.
peers:
	@scripts/setup build
	@scripts/setup --try peers
	@scripts/venv bench/peers/requirements.txt
	$(call tree,release,flashwave_peers)
	@.venv/bin/python bench/peers/peers.py --save build/peers.jsonl

# A fixed part of the tests under sanitizers, and on another architecture under an emulator.
asan tsan:
	@scripts/setup build
	$(call tree,$@)
	@$(call check,$@) -L 'unit|quick|conformance|reports'
aarch64:
	@scripts/setup build cross
	$(call tree,$@)
	@$(call check,$@) -L 'unit|quick' -E AForkedChild # the emulator itself fails when a process with threads forks

# Each fuzzer for a fixed number of inputs; longer: build/fuzz/fuzz_problem_line -dict=tests/fuzz/words.dict
fuzz:
	@scripts/setup build fuzz
	$(call tree,fuzz,fuzzers)
	@$(call check,fuzz) -L fuzz

# Faults put in one by one: each must turn a test red.
mutants:
	@scripts/setup build
	@scripts/mutants.py --jobs $(JOBS)

lint:
	@scripts/setup lint
	@scripts/floors.py
	@scripts/size.py
	@git ls-files '*.h' '*.hpp' '*.c' '*.cpp' | xargs clang-format-22 --dry-run -Werror
	@echo "lint: every file is formatted"

clean:
	rm -rf build
