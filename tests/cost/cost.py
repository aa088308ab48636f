#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Count the library's instructions and compare them with costs.json: cost.py BUILD [--update]

Each case of kith_cost runs under callgrind on one thread with cpu:avx2. Counted are instructions in
libkith itself, not in libc or libm, whose share depends on the machine. Ends with 1 when a case
costs more than 2 % more than costs.json says, or costs.json has other cases; with 77 where valgrind
or the compiler of costs.json is not there. --update writes costs.json anew.
"""
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
KEPT = os.path.join(HERE, "costs.json")
LIBRARY = "libkith.so"
GROWTH = 0.02


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def count(profile):
    """Instructions in the library, of a profile that callgrind wrote without compression."""
    total, inside, inclusive = 0, False, False
    with open(profile, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("ob="):
                inside = LIBRARY in line
            elif line.startswith("calls="):
                inclusive = True  # the next line has the cost of the function that is called
            elif re.match(r"\d+ \d+$", line):
                total += 0 if inclusive or not inside else int(line.split()[1])
                inclusive = False
    return total


def measure(program, case):
    """Instructions of one case."""
    with tempfile.TemporaryDirectory() as folder:
        profile = os.path.join(folder, "profile")
        ran = subprocess.run(
            ["valgrind", "-q", "--tool=callgrind", "--compress-strings=no", "--compress-pos=no",
             f"--callgrind-out-file={profile}", program, case],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
            env={"PATH": os.environ["PATH"]})
        if ran.returncode == 77:
            skip(ran.stdout.strip().removeprefix("skipped: "))
        if ran.returncode != 0:
            sys.exit(f"{case}: exit status {ran.returncode}\n{ran.stdout}")
        return count(profile)


def compare(kept, found):
    """Print both. @return whether no case costs more than it may."""
    good = True
    print(f"{'case':24}{'kept':>14}{'now':>14}{'change':>10}")
    for case in sorted(kept.keys() | found.keys()):
        if case not in found or case not in kept:
            where = f"{'new':>14}{found[case]:14}" if case in found else "  only in costs.json"
            print(f"{case:24}{where}")
            good = False
            continue
        change = found[case] / kept[case] - 1
        verdict = "  GREW" if change > GROWTH else "  fell" if change < -GROWTH else ""
        print(f"{case:24}{kept[case]:14}{found[case]:14}{100 * change:9.2f}%{verdict}")
        good = good and change <= GROWTH
    return good


def main():
    build, update = sys.argv[1], "--update" in sys.argv[2:]
    program = os.path.join(build, "tests", "cost", "kith_cost")
    if subprocess.run(["sh", "-c", "command -v valgrind"], stdout=subprocess.DEVNULL,
                      check=False).returncode:
        skip("no valgrind (apt-get install valgrind)")
    if platform.machine() != "x86_64":
        skip(f"costs are those of x86_64, this machine is {platform.machine()}")
    compiler, backend, *cases = subprocess.run([program], stdout=subprocess.PIPE, text=True,
                                               check=True).stdout.splitlines()
    with open(KEPT, encoding="utf-8") as file:
        kept = json.load(file)
    if compiler != kept["compiler"] and not update:
        skip(f"costs.json is of {kept['compiler']}, the library was built by {compiler}")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(cases, pool.map(lambda case: measure(program, case), cases)))
    good = compare(kept["instructions"], found)
    if update:
        print(f"costs.json: written for {compiler}, {backend}")
        with open(KEPT, "w", encoding="utf-8") as file:
            json.dump({"compiler": compiler, "backend": backend, "instructions": found}, file,
                      indent=2)
            file.write("\n")
    elif not good:
        print("A case costs more than 2 % more, or the cases changed. Where that is meant, "
              "`make cost-update` writes tests/cost/costs.json, which belongs in that commit.")
        sys.exit(1)


if __name__ == "__main__":
    main()
