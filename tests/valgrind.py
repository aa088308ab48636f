#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run the test programs and the command under valgrind: valgrind.py BUILD [PATTERN]

Every C program that the build's tests run, with the backend cpu:avx2 where it takes one, and each
verb of the command on small inputs. An error is any that valgrind names, or memory that is
definitely lost. The pool of threads runs under helgrind, too, which names accesses that nothing
orders. Says what each came to; ends with 1 when one failed.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

COMMON = f"{os.path.dirname(os.path.abspath(__file__))}/common"
MEMCHECK = ["valgrind", "-q", "--error-exitcode=99", "--leak-check=full",
            "--errors-for-leak-kinds=definite", "--show-leak-kinds=definite",
            f"--suppressions={COMMON}/valgrind.txt"]
HELGRIND = ["valgrind", "-q", "--error-exitcode=99", "--tool=helgrind",
            f"--suppressions={COMMON}/helgrind.txt"]
LIMIT = 1800  # seconds for one program
ENVIRONMENT = {"OMP_NUM_THREADS": "2", "KITH_TEST_BRIEF": "40",
               "KITH_BACKEND": "cpu:avx2"}
COMMANDS = """
make uniform 2000 --seed 3 --box 20 -o a.npy
make uniform 2000 --seed 3 --box 20 -o a.xyz
make clustered 3000 --seed 3 -o a.h5
make clustered 3000 --seed 3 -o a.tipsy
make clustered 3000 --seed 3 -o a.txt
info a.h5
info a.tipsy --json
pairs a.npy --cutoff 1.5 --box 20
pairs a.xyz --cutoff 1.5 -o pairs.npy
pairs a.txt --cutoff 0.01 -o pairs.txt
fof a.h5 --box 1 -o groups.hdf5
fof a.tipsy --box 1 -o groups.csv
rdf a.xyz --r-max 5 --bins 50 --sq sq.txt -o g.txt
rdf a.npy --r-max 5 --box 20 --json
flock --boids 500 --steps 5 --record-every 5 -o flock.xyz
flock --boids 500 --steps 5 --record-every 5 -o flock.gsd
rdf flock.gsd --r-max 2
overlap a.npy --json
debye a.xyz --elements X=Ar --q-max 5 -o debye.txt
view flock.gsd --record film/
bench --only none
pairs absent.npy --cutoff 1
pairs a.npy --cutoff none
""".strip().splitlines()


def programs(build):
    """(name, command under valgrind) of each C test, once."""
    listed = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True,
                            stdout=subprocess.PIPE).stdout
    for test in json.loads(listed)["tests"]:
        command = test.get("command", [""])  # none where it is not built
        backend = test["name"].partition("/")[2]
        if command[0].startswith(f"{build}/tests/") and backend in ("", "cpu:avx2"):
            yield os.path.basename(command[0]), MEMCHECK + command
    yield "test_pool_helgrind", [*HELGRIND, f"{build}/tests/threads/test_pool_helgrind"]


def check(name, command, folder):
    """Run one program under valgrind; say how it went, and whether well."""
    start = time.time()
    try:
        done = subprocess.run(command, cwd=folder, env={**os.environ, **ENVIRONMENT},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=LIMIT, check=False)
        status, said = done.returncode, done.stdout
    except subprocess.TimeoutExpired as expired:
        status, said = "time out", (expired.stdout or b"").decode(errors="replace")
    # A program may say no, and what it says is for other tests: valgrind has no numbers of 80 bits,
    # by which files are read to the last bit. But not in valgrind's words.
    well = status in range(99) and not re.search(r"^==\d+== ", said, re.MULTILINE)
    print(f"{'ok    ' if well else 'FAILED'} {time.time() - start:6.1f} s  {name}: {status}",
          flush=True)
    if not well:
        print(said[-8000:], flush=True)
    return well


def main():
    """Run what the pattern names, all by default."""
    build = os.path.abspath(sys.argv[1])
    pattern = sys.argv[2] if len(sys.argv) > 2 else ""
    jobs = list(programs(build))
    jobs += [(f"kith {line}", [*MEMCHECK, f"{build}/cli/kith", *line.split()])
             for line in COMMANDS]
    with tempfile.TemporaryDirectory(prefix="kith-valgrind-") as folder:
        results = [check(name, command, folder) for name, command in jobs
                   if re.search(pattern, name)]
    print(f"{sum(results)} of {len(results)} well")
    return 0 if results and all(results) else 1


sys.exit(main())
