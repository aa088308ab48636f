#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Build kith with combinations of compiler, options and dependencies that hold every pair of
settings. Run tests of each, or install it and build a consumer:

    combinations.py SOURCE WORK CMAKE VERSION

    --list    print the combinations alone
"""
import itertools
import os
import shutil
import subprocess
import sys

SETTINGS = {
    "CMAKE_C_COMPILER": ["gcc", "clang"],
    "CMAKE_BUILD_TYPE": ["Release", "Debug", "RelWithDebInfo", "MinSizeRel", ""],
    "BUILD_SHARED_LIBS": ["ON", "OFF"],
    "KITH_COMMAND": ["ON", "OFF"],
    "KITH_TESTS": ["ON", "OFF"],
    "KITH_X86_ISAS": ["avx2;avx512", "avx2", ""],
    "KITH_HDF5": ["ON", "OFF", "AUTO"],
    "KITH_CAIRO": ["ON", "OFF"],
    "KITH_PNG": ["ON", "OFF"],
    "KITH_CIVETWEB": ["ON", "OFF"],
}
TESTS = "^(test_(pairs_arguments|fof_known|rdf_known|io_formats)|cli/(fof|make|list)|example/)"


def pairs_of(choice):
    """Return the set of pairs of settings that a combination has."""
    return set(itertools.combinations(sorted(choice.items()), 2))


def combinations():
    """Return combinations that hold all pairs, found greedily."""
    names = list(SETTINGS)
    left = set()
    for first, second in itertools.combinations(names, 2):
        for one, two in itertools.product(SETTINGS[first], SETTINGS[second]):
            left |= pairs_of({first: one, second: two})
    chosen = []
    while left:
        (first, one), (second, two) = min(left)
        choice = {first: one, second: two}
        for name in names:
            if name not in choice:
                choice[name] = max(SETTINGS[name], key=lambda value, name=name: len(
                    left & pairs_of({**choice, name: value})))
        left -= pairs_of(choice)
        chosen.append({name: choice[name] for name in names})
    return chosen


def uncovered(chosen):
    """Return the pairs of settings that no combination has."""
    return [(first, one, second, two) for first, second in itertools.combinations(SETTINGS, 2)
            for one in SETTINGS[first] for two in SETTINGS[second]
            if not any(choice[first] == one and choice[second] == two for choice in chosen)]


def attempt(source, work, cmake, version, choice):
    """Build one combination and use it. Return whether that went well."""
    build, prefix = os.path.join(work, "build"), os.path.join(work, "prefix")
    shutil.rmtree(work, ignore_errors=True)
    jobs = str(os.cpu_count())
    consumer = ["sh", f"{source}/tests/package/cmake.sh", prefix, f"{work}/consumer", cmake,
                choice["CMAKE_C_COMPILER"], version]
    steps = [[cmake, "-S", source, "-B", build, "-DKITH_CUDA=OFF", "-DKITH_WERROR=ON",
              *(f"-D{name}={value}" for name, value in choice.items())],
             [cmake, "--build", build, "-j", jobs]]
    if choice["KITH_TESTS"] == "ON":
        steps.append(["ctest", "--test-dir", build, "-j", jobs, "-R", TESTS, "--no-tests=error",
                      "--output-on-failure"])
    else:
        steps += [[cmake, "--install", build, "--prefix", prefix], consumer]
    environment = {**os.environ, "KITH_TEST_BRIEF": "9"}
    for step in steps:
        done = subprocess.run(step, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env=environment, check=False)
        if done.returncode != 0:
            print("\n".join(done.stdout.splitlines()[-40:]))
            print("failed:", " ".join(step))
            return False
    return True


def main():
    """Attempt all combinations. Return the exit status."""
    chosen = combinations()
    failed = 0
    for first, one, second, two in uncovered(chosen):
        print(f"no combination has {first}={one} and {second}={two}")
        failed += 1
    if failed:
        return 1
    for number, choice in enumerate(chosen, 1):
        print(f"{number}/{len(chosen)}:", *(f"{name}={value}" for name, value in choice.items()),
              flush=True)
        if "--list" not in sys.argv:
            failed += not attempt(*sys.argv[1:5], choice)
    if "--list" in sys.argv:
        return 0
    print(f"{len(chosen) - failed} combinations passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
