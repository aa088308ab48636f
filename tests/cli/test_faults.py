# SPDX-License-Identifier: BSD-3-Clause
"""Memory that cannot be had, disks that are full, kill -9, calls of the system that fail or do a
part: each verb, each kind of output, at some moments. Files are as they were or whole, errors are
told. tests/common/fault.c makes it happen. The long form (`make deep`) tries every moment, which
takes half an hour; `make coverage` tries every allocation of the program's own."""
import os
import resource
import signal
import sys

import cli
from fault_runs import RUNS, leave_old, old, read, same, start, whole_runs

EACH = 4 if "KITH_TEST_BRIEF" in os.environ else 1  # of the runs


def check(words, fault, whole, done):
    """Outputs are old or whole, errors told; no part or lock of a file is left but by kill -9."""
    where = (words, fault, done.returncode, done.stderr)
    for name, right in whole.items():
        if name.endswith(".state"):  # saved on the way, too: the next run goes on from it
            assert start(words).returncode == 0, where
        now = read(name)
        if name.endswith(".jsonl"):  # grows line by line
            assert right.startswith(now) or now == old(name), where
        elif done.returncode == 0:
            assert same(name, now, right), (name, *where)
        elif name.endswith(".mp4") and done.returncode == 8:
            pass  # a film ends where the run does
        else:
            assert now == old(name) or same(name, now, right), (name, *where)
    if done.returncode not in (0, -signal.SIGKILL):
        assert done.stderr.startswith("kith: ") and len(done.stderr.splitlines()) <= 2, where
    parts = [name for name in os.listdir() if name.endswith((".part", ".lock"))]
    # ffmpeg's is named: it may have taken hours
    assert all(done.returncode == -signal.SIGKILL or name in done.stderr for name in parts), where
    for name in parts:
        os.remove(name)


def moments_of(number, run):
    """One of the moments from 0 to number, another in each run; or all."""
    return range(number) if cli.DEEP or number == 0 else [run * 7 % number]


def test_each_moment():
    if "LSAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ:
        raise cli.Skip("a sanitizer has allocations of its own")
    expected = {"alloc": (8, 0), "own": (8, 0), "disk": (9,), "kill": (-signal.SIGKILL,),
                "read": (3, 4, 9), "open": (0, 3, 4, 9), "close": (9, 0), "short": (0,)}
    failed = 0
    for run, (words, whole, moments) in enumerate(whole_runs(RUNS[::EACH])):
        for kind, number in moments.items():
            if kind == ("disk", "kill")[run % 2] and not cli.DEEP:
                continue
            for moment in moments_of(number, run):
                fault = f"{kind} {moment} 1"
                leave_old(whole)
                done = start(words, fault)
                assert done.returncode in expected[kind], (words, fault, done)
                assert done.returncode != 8 or "memory" in done.stderr, (words, fault, done)
                failed += done.returncode != 0
                check(words, fault, whole, done)
    assert failed > 30 / EACH, failed


def test_allocations():
    """One in eleven of the program's own allocations fails; each where coverage is counted."""
    if "LSAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ:
        raise cli.Skip("a sanitizer has allocations of its own")
    step = 1 if "KITH_TEST_EACH_ALLOCATION" in os.environ else 11
    refused = 0
    for run, (words, whole, _) in enumerate(whole_runs(RUNS)):
        if "--record" in words:
            continue
        start(words, "own 1000000000 1")
        for moment in range(run % step, int(read("count").split()[0]), step):
            leave_old(whole)
            done = start(words, f"own {moment} 1")
            assert done.returncode in (8, 0), (words, moment, done)
            assert done.returncode == 0 or "memory" in done.stderr, (words, moment, done)
            refused += done.returncode != 0
            check(words, f"own {moment}", whole, done)
    assert refused > 30 / step, refused


def test_files_too_large():
    """As a full disk, for gnuplot and ffmpeg as well."""
    sanitized = "LSAN_OPTIONS" in os.environ
    runs = [run for run in RUNS if sanitized or cli.DEEP or {"--plot", "--record"} & set(run[0])]
    for words, whole, _ in whole_runs(runs[::EACH]):
        # half: reports hold times, so that another run's may be a byte shorter
        sizes = {len(data) // 2 for name, data in whole.items() if not name.startswith("f")}
        for size in sorted(sizes)[-len(sizes) if cli.DEEP else -1:]:
            leave_old(whole)
            done = start(words, preexec_fn=lambda size=size: resource.setrlimit(
                resource.RLIMIT_FSIZE, (size, size)))
            assert done.returncode == 9, (words, size, done)
            check(words, size, whole, done)


sys.exit(cli.main(globals()))
