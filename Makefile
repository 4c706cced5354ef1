# One command for each thing one does with this tree; `make help` lists them. Every target first
# installs the Debian packages it lacks, so a fresh Debian 12 needs nothing but make.

PACKAGES := g++ cmake make ninja-build libeigen3-dev libopenblas-pthread-dev libboost-dev \
  libfmt-dev libxxhash-dev libicu-dev libsentencepiece-dev libfasttext-dev libarchive-dev \
  libsimdjson-dev libyaml-cpp-dev zlib1g-dev nlohmann-json3-dev libcli11-dev pkg-config \
  cppzmq-dev libzmq3-dev libsqlite3-dev libspdlog-dev libsystemd-dev systemd python3 python3-zmq \
  catch2 libbenchmark-dev
CLANG_PACKAGES := clang clang-format clang-tidy libclang-rt-14-dev llvm

JOBS ?= $(shell nproc)
# Tests of the daemon wait much of their time.
TEST_JOBS ?= $(shell expr $(JOBS) + 1)
FUZZ_SECONDS ?= 60
ROUNDS ?= 1000
MINUTES ?= 60

SOURCES = $(shell find . -path ./build -prune -o \( -name '*.cc' -o -name '*.h' \) -print | sort)
SHIPPED := core text plugins engine decide state wire daemon cli examples
# Tests and benchmarks are held to the format and the compilers' warnings.
LINTED ?= $(SHIPPED)
LINT := build/UnifiedSource
UNITS = $(filter $(LINTED:%=./%/%),$(filter %.cc,$(SOURCES)))

# $(call install,PACKAGES): calls apt-get only when something is missing, sudo only when needed.
define install
@missing=; for package in $(1); do \
  dpkg-query -W -f='$${db:Status-Status}' $$package 2>/dev/null | grep -q '^installed' || \
    missing="$$missing $$package"; \
done; \
if [ -n "$$missing" ]; then \
  echo "installing$$missing"; \
  as_root=; [ "$$(id -u)" = 0 ] || as_root=sudo; \
  if [ -n "$$as_root" ] && ! command -v sudo >/dev/null; then \
    echo "there is no sudo: as root, run apt-get install$$missing" >&2; exit 1; \
  fi; \
  $$as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q && \
  $$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
    $$missing </dev/null; \
fi
endef

# $(call build,PRESET)
define build
cmake --preset $(1)
cmake --build --preset $(1) -j $(JOBS)
endef

.PHONY: help
help:  ## list the targets (the default)
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: packages
packages:  ## install the Debian packages that building needs
	$(call install,$(PACKAGES))

.PHONY: clang-packages
clang-packages: packages
	$(call install,$(CLANG_PACKAGES))

.PHONY: build
build: packages  ## build everything, optimised
	$(call build,release)

.PHONY: run
run: packages  ## start a daemon, stream pairs into it and show their scores; PAIRS=20000 ends it
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target phsicd phsic two_languages
	@examples/live_demo.py $(if $(PAIRS),--pairs $(PAIRS))

.PHONY: test
test: build  ## run the tests
	ctest --preset release -j $(TEST_JOBS)

.PHONY: torture
torture: build  ## end a daemon under load and let its disk fail, ROUNDS=1000 times; SEED=N; damage every byte
	PHSIC_DAMAGE_STEP=1 build/release/tests/state_tests
	@for how in "" --faults; do \
	  PHSICD=build/release/bin/phsicd PHSIC=build/release/bin/phsic PHSIC_SOURCE=. \
	    FAULTY_DISK=$(CURDIR)/build/release/tests/faulty_disk.so PYTHONDONTWRITEBYTECODE=1 \
	    tests/daemon/torture.py $$how $(ROUNDS) $(SEED) || exit; \
	done

.PHONY: soak
soak: packages  ## attack a daemon for MINUTES=60 while honest clients score and learn; SEED=N
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target phsicd phsic
	@PHSICD=build/release/bin/phsicd PHSIC=build/release/bin/phsic PHSIC_SOURCE=. FAULTY_DISK= \
	  PYTHONDONTWRITEBYTECODE=1 tests/daemon/soak.py $(MINUTES) $(SEED)

.PHONY: bench
bench: packages  ## run the benchmarks; JSON=FILE writes the results there too
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target phsic_bench
	build/release/bench/phsic_bench $(if $(JSON),--json "$(JSON)")

.PHONY: accuracy
accuracy: packages  ## how well scores do on the labelled data in DATA=FOLDER
	@[ -n "$(DATA)" ] || { echo "usage: make accuracy DATA=FOLDER" >&2; exit 2; }
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target phsic
	bench/accuracy build/release/bin/phsic "$(DATA)"

.PHONY: cuts
cuts: packages  ## what each cut keeps and loses of made-up pairs, or of the labelled ones in DATA=FILE
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target phsic two_languages
	bench/cuts build/release/bin/phsic \
	  $(if $(DATA),"$(DATA)",--made-up build/release/two_languages)

.PHONY: sanitize
sanitize: sanitize-address sanitize-thread  ## run the tests under address, undefined and thread sanitizers

.PHONY: sanitize-address
sanitize-address: clang-packages
	$(call build,asan)
	ctest --preset asan -j $(TEST_JOBS)

.PHONY: sanitize-thread
sanitize-thread: clang-packages
	$(call build,tsan)
	ctest --preset tsan -j $(TEST_JOBS)

.PHONY: fuzz
fuzz: clang-packages  ## fuzz every parser, FUZZ_SECONDS=60 each
	$(call build,asan)
	tests/fuzz/run build/asan $(FUZZ_SECONDS) $(JOBS)

.PHONY: lint
lint: lint-format lint-includes lint-syntax lint-tidy  ## check formatting and style

.PHONY: lint-format
lint-format: clang-packages
	@echo clang-format --dry-run -Werror
	@clang-format --dry-run -Werror $(SOURCES)

# Rooms may know each other in one direction only; tests/includes has the table.
.PHONY: lint-includes
lint-includes: packages
	tests/includes

# Each file for itself, as no build does: nothing may be included by accident.
.PHONY: lint-syntax
lint-syntax: clang-packages
	cmake --preset syntax
	@! grep -nE '^#include ".*\.cc"' $(SOURCES)
	tests/syntax build/syntax $(JOBS) $(SHIPPED) bench

# clang-tidy reads the units of the preset `lint`; nothing is built for it.
.PHONY: lint-tidy
lint-tidy: clang-packages
	cmake --preset lint
	@echo clang-tidy, $(words $(UNITS)) files
	@grep -o '"file": ".*unity_.*"' $(LINT)/compile_commands.json | cut -d '"' -f 4 | \
	  xargs grep -lF $(UNITS:./%=-e $(CURDIR)/%) | xargs ls -S | \
	  xargs -P $(JOBS) -n 1 clang-tidy --quiet -p $(LINT)

.PHONY: format
format: clang-packages  ## reformat all sources
	clang-format -i $(SOURCES)

.PHONY: clean
clean:  ## remove everything built
	rm -rf build
