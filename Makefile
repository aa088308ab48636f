# SPDX-License-Identifier: BSD-3-Clause
#
#   make demo     install what is missing, build; all verbs on small inputs, with pictures and a page
#   make test     install what is missing, build, and pass every test
#   make          build the library and the command
#   make bench    time kith beside its peers, into bench/results, after verifying it
#   make ladder   climb from all pairs to the mainline, each rung checked and timed
#   make asan     tests with the address and undefined-behaviour sanitizers
#   make tsan     tests of pairs with the thread sanitizer
#   make fuzz     every reader's kept inputs, and six seconds of new ones
#   make valgrind test programs and the command under valgrind, which must be there; an hour
#   make test-gpu tests on this machine's GPU
#   make deb      a Debian package in build/deb
#   make hip      compile the GPU code for AMD too; needs hipcc
#   make tidy     clang-tidy            make format   clang-format, in place
#   make clean    remove build/
#
# Each sits on the CMake preset of the same name, which work without this file too.
MAKEFLAGS += --no-print-directory
JOBS ?= $(shell nproc)
KITH := build/release/cli/kith
DEMO := build/demo

.PHONY: build test demo bench ladder asan tsan fuzz valgrind test-gpu deb hip tidy format clean
.SILENT:

build: release-build

%-configure:
	.ci/packages build
	cmake --preset $*

%-build: %-configure
	cmake --build --preset $* -j $(JOBS)

%-test: %-build
	ctest --preset $* -j $(JOBS)

test:
	.ci/packages build test
	$(MAKE) release-test

demo: release-configure
	cmake --build --preset release -j $(JOBS) --target kith_cli lennard_jones
	mkdir -p $(DEMO)
	sh examples/demo.sh $(KITH) $(DEMO)

asan: asan-test

tsan fuzz:
	.ci/packages build test check
	$(MAKE) $@-test

valgrind: release-build
	python3 tests/valgrind.py build/release

test-gpu: cuda-test

deb: release-build
	.ci/packages test
	cpack --config build/release/CPackConfig.cmake -B build/deb

hip: release-configure
	cmake --build --preset release -j $(JOBS) --target kith_hip

bench: release-build
	cd bench/results && $(CURDIR)/$(KITH) bench

ladder: release-build
	cmake --build --preset release --target run_ladder

tidy:
	.ci/packages build test check
	$(MAKE) release-clang-configure
	tests/lint/tidy build/release-clang

format:
	.ci/packages check
	tests/lint/sources c | xargs clang-format -i

clean:
	rm -rf build
