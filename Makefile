# The words of the build, over CMakePresets.json. Build trees are build/<preset>.
JOBS ?= $(shell nproc)
SUITE ?= quick
CTEST = ctest --output-on-failure -j$(JOBS)

define build_preset
	@cmake --preset $(1) > build/$(1).log 2>&1 || { cat build/$(1).log; exit 1; }
	@cmake --build --preset $(1) -j$(JOBS)
endef

.PHONY: build demo test bench lint asan tsan aarch64 clean
build:
	@scripts/setup build
	@mkdir -p build
	$(call build_preset,release)

test: build
	@$(CTEST) --preset release

bench: build
	@build/release/flashwave bench --suite $(SUITE)

# The sanitizers run the unit tests.
asan tsan:
	@scripts/setup build
	@mkdir -p build
	$(call build_preset,$@)
	@$(CTEST) --preset $@ -L unit

# The portable kernels on another architecture, under an emulator.
aarch64:
	@scripts/setup build cross
	@mkdir -p build
	$(call build_preset,$@)
	@$(CTEST) --preset $@ -L unit

lint:
	@scripts/setup lint
	@scripts/floors.py
	@scripts/size.py
	@git ls-files '*.h' '*.hpp' '*.c' '*.cpp' | xargs clang-format-22 --dry-run -Werror
	@echo "lint: every file is formatted"

clean:
	rm -rf build
