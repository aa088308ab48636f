# SPDX-License-Identifier: BSD-3-Clause
#
#   make demo     install what is missing, build; all verbs on small inputs, with pictures and a page
#   make test     install what is missing, build, and pass every test
#   make          build the library and the command
#   make deep     the long forms of all tests, then valgrind; hours
#   make bench    time kith beside its peers, into bench/results, after verifying it
#   make ladder   climb from all pairs to the mainline, each rung checked and timed
#   make asan     tests with the address and undefined-behaviour sanitizers
#   make tsan     tests of pairs, groups and threads with the thread sanitizer
#   make fuzz     every reader's kept inputs, and six seconds of new ones
#   make valgrind test programs and the command under valgrind; an hour
#   make aarch64  build for 64-bit Arm, and run tests of it in qemu
#   make cost     instructions of the library against tests/cost/costs.json; three minutes
#   make cost-update  write tests/cost/costs.json anew
#   make mutants  change the library in many places, one at a time, and see that tests fail; hours
#   make coverage lines and branches that the tests run, into build/coverage/html; half an hour
#   make test-gpu tests on this machine's GPU
#   make deb      Debian packages in build/deb, checked by lintian; ten minutes of one core
#   make packages all that is released: source archive, Debian packages, wheel and the list of their
#                 contents, in build/packages; ten minutes of two cores
#   make reproduce build all that twice, in two folders, and compare the bytes; 20 minutes
#   make abi      a report on the interface beside that of version 0.1, into build/abi/report.txt
#   make dist     a tarball of the sources of the commit HEAD, in build/dist
#   make site     the documents as a site of HTML, in build/site, every link checked
#   make hip      compile the GPU code for AMD too; needs hipcc
#   make tidy     clang-tidy            make format   clang-format, in place
#   make clean    remove build/
#
# Each sits on the CMake preset of the same name, which work without this file too.
MAKEFLAGS += --no-print-directory
JOBS ?= $(shell nproc)
KITH := build/release/cli/kith
DEMO := build/demo

.PHONY: build test deep coverage demo bench ladder asan tsan fuzz aarch64 valgrind cost cost-update
.PHONY: mutants test-gpu abi deb packages reproduce dist site hip tidy format clean
.SILENT:

build: release-build

%-configure:
	.ci/packages build
	cmake --preset $*

%-build: %-configure
	cmake --build --preset $* -j $(JOBS)

# A test that is skipped says why: the reasons are listed at the end.
%-test: %-build
	status=0; \
	ctest --preset $* -j $(JOBS) --output-junit junit.xml || status=1; \
	tests/skipped.py build/$*/junit.xml || status=1; \
	exit $$status

test:
	.ci/packages build test
	.ci/peers
	$(MAKE) release-test

# All tests run, and then valgrind does, whether or not a test failed.
deep:
	.ci/packages build test deb deep
	.ci/peers
	status=0; \
	$(MAKE) deep-test || status=1; \
	python3 tests/valgrind.py build/deep || status=1; \
	exit $$status

demo: release-configure
	cmake --build --preset release -j $(JOBS) --target kith_cli lennard_jones
	mkdir -p $(DEMO)
	sh examples/demo.sh $(KITH) $(DEMO)

asan: asan-test

tsan fuzz aarch64:
	.ci/packages build test check
	$(MAKE) $@-test

# What a test that failed did run counts, too.
coverage:
	.ci/packages build test check
	.ci/peers
	$(MAKE) coverage-build
	find build/coverage -name '*.gcda' -delete
	status=0; \
	$(MAKE) coverage-test || status=1; \
	tests/coverage.py build/coverage || status=1; \
	exit $$status

valgrind:
	.ci/packages build deep
	$(MAKE) release-build
	python3 tests/valgrind.py build/release

cost: release-build
	.ci/packages deep
	python3 tests/cost/cost.py build/release

cost-update: release-build
	.ci/packages deep
	python3 tests/cost/cost.py build/release --update

mutants:
	.ci/packages build
	python3 tests/mutants/mutants.py -j $(JOBS)

test-gpu: cuda-test

deb:
	.ci/packages build deb
	packaging/deb.sh build/deb

abi:
	.ci/packages build abi
	tests/package/abidiff.sh . build/abi

packages:
	.ci/packages build deb
	packaging/packages.sh build/packages

reproduce:
	.ci/packages build deb deep
	tests/package/reproduce.py . build/reproduce

dist:
	packaging/dist.sh build/dist

site:
	.ci/packages build site
	.ci/mkdocs
	$(MAKE) release-configure
	cmake --build --preset release -j $(JOBS) --target kith_man
	packaging/site.py build/site build/release/man

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
