#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Build kith with combinations of compiler, options and dependencies that hold every pair of
settings. Run tests of each, or install it and build a consumer:

    combinations.py SOURCE WORK CMAKE VERSION [NUMBER...]

    NUMBER    attempt the combinations of these numbers alone
    --list    print the combinations alone
"""
import itertools
import os
import shutil
import subprocess
import sys

LIBRARY = ["ON", "OFF", "AUTO"]
SETTINGS = {
    "CMAKE_BUILD_TYPE": ["Release", "Debug", "RelWithDebInfo", "MinSizeRel", ""],
    "KITH_X86_ISAS": ["avx2;avx512", "avx2", ""],
    "KITH_COMMAND": LIBRARY,
    "KITH_HDF5": LIBRARY,
    "KITH_JANSSON": LIBRARY,
    "KITH_CAIRO": LIBRARY,
    "KITH_PNG": LIBRARY,
    "KITH_CIVETWEB": LIBRARY,
    "KITH_FORTRAN": LIBRARY,
    "KITH_OPENMPI": LIBRARY,
    "KITH_MPICH": LIBRARY,
    "CMAKE_C_COMPILER": ["gcc", "clang"],
    "BUILD_SHARED_LIBS": ["ON", "OFF"],
    "KITH_TESTS": ["ON", "OFF"],
    "KITH_IO": ["ON", "OFF"],
}
REFUSED = {frozenset({("KITH_COMMAND", "ON"), ("KITH_JANSSON", "OFF")})}
TESTS = ("^(test_(pairs_arguments|nearest_random|fof_known|rdf_known|io_formats|team_fof|"
         "team_(openmpi|mpich)/2)|cli/(errors|fof|make|list|nearest)|example/|cpp/|fortran/|"
         "python/(kith|nearest|io)$)")


def pairs_of(choice):
    """Return the set of pairs of settings that a combination has."""
    return set(map(frozenset, itertools.combinations(choice.items(), 2)))


def all_pairs():
    """Return all pairs of settings that can be configured."""
    every = set()
    for (first, ones), (second, twos) in itertools.combinations(SETTINGS.items(), 2):
        every |= {frozenset({(first, one), (second, two)}) for one in ones for two in twos}
    return every - REFUSED


def completed(pair, left):
    """Return a combination that has a pair, and many of those that are left."""
    choice = dict(sorted(pair))
    for name, values in SETTINGS.items():
        if name not in choice:
            allowed = [value for value in values if not REFUSED & pairs_of({**choice, name: value})]
            choice[name] = max(allowed, key=lambda value, name=name: len(
                left & pairs_of({**choice, name: value})))
    return {name: choice[name] for name in SETTINGS}


def combinations():
    """Return combinations that hold all pairs, found greedily."""
    left, chosen = all_pairs(), []
    while left:
        best = max((completed(pair, left) for pair in sorted(left, key=sorted)),
                   key=lambda choice: len(left & pairs_of(choice)))
        left -= pairs_of(best)
        chosen.append(best)
    return chosen


def uncovered(chosen):
    """Return the pairs of settings that no combination has."""
    return all_pairs().difference(*map(pairs_of, chosen))


def attempt(source, work, cmake, version, choice):
    """Build one combination and use it. Return whether that went well."""
    build, prefix = os.path.join(work, "build"), os.path.join(work, "prefix")
    shutil.rmtree(work, ignore_errors=True)
    jobs = str(os.cpu_count())
    users = [["cmake.sh", prefix, f"{work}/consumer", cmake, choice["CMAKE_C_COMPILER"], version],
             ["pkg_config.sh", prefix, f"{work}/pkg_config", choice["CMAKE_C_COMPILER"], version],
             ["fortran.sh", prefix, f"{work}/fortran", cmake, "gfortran", version]]
    steps = [[cmake, "-S", source, "-B", build, "-DKITH_CUDA=OFF", "-DKITH_WERROR=ON",
              *(f"-D{name}={value}" for name, value in choice.items())],
             [cmake, "--build", build, "-j", jobs]]
    if choice["KITH_TESTS"] == "ON":
        steps.append(["ctest", "--test-dir", build, "-j", jobs, "-R", TESTS, "--no-tests=error",
                      "--output-on-failure"])
    else:
        steps.append([cmake, "--install", build, "--prefix", prefix])
        steps += [["sh", f"{source}/tests/package/{user[0]}", *user[1:]] for user in users]
    environment = {**os.environ, "KITH_TEST_BRIEF": "9"}
    for step in steps:
        done = subprocess.run(step, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env=environment, check=False)
        if done.returncode not in (0, 77):  # 77: skipped, as there is no Fortran compiler, say
            print("\n".join(done.stdout.splitlines()[-40:]))
            print("failed:", " ".join(step))
            return False
    return True


def main():
    """Attempt all combinations. Return the exit status."""
    chosen = combinations()
    missing = uncovered(chosen)
    for pair in missing:
        print("no combination has", *(f"{name}={value}" for name, value in sorted(pair)))
    if missing:
        return 1
    listed = "--list" in sys.argv
    numbers = [] if listed else list(map(int, sys.argv[5:]))
    passed = failed = 0
    for number, choice in enumerate(chosen, 1):
        if numbers and number not in numbers:
            continue
        print(f"{number}/{len(chosen)}:", *(f"{name}={value}" for name, value in choice.items()),
              flush=True)
        if not listed:
            well = attempt(*sys.argv[1:5], choice)
            passed, failed = passed + well, failed + (not well)
    if not listed:
        print(f"{passed} combinations passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
