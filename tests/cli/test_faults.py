# SPDX-License-Identifier: BSD-3-Clause
"""Memory that cannot be had, disks that are full, kill -9: each verb, each kind of output, at some
moments. Files are as they were or whole, errors are told. tests/common/fault.c makes it happen.
KITH_TEST_FAULTS=1 in the environment tries every moment, which takes half an hour."""
import contextlib
import json
import os
import resource
import signal
import sys

import cli
from flock_runs import read

OLD = b"as it was"
ALL = "KITH_TEST_FAULTS" in os.environ
EACH = 4 if "KITH_TEST_BRIEF" in os.environ else 1  # of the runs
PAIRS = ("pairs", "a.npy", "--cutoff", "0.2", "--box", "1", "--distances", "--shifts", "-o")
RDF = ("rdf", "a.xyz", "--r-max", "0.3", "--bins", "20", "--blocks", "2", "-o")
OVERLAP = ("overlap", "a.npy", "--bins", "10", "-o")
DEBYE = ("debye", "b.xyz", "--q-max", "3", "--q-width", "0.5")
FOF = ("fof", "a.npy", "--box", "1", "--min-members", "2")
SORTED = ("fof", "s.hdf5", "--min-members", "2", "--link", "0,1")
FLOCK = ("flock", "--boids", "50", "--box", "9", "--steps", "4", "--seed", "2")
# Words of the command, and the files that it writes.
RUNS = [
    *(((*PAIRS, name), [name]) for name in ("o.npy", "o.txt", "o.h5")),
    *((("make", "lattice", "64", "-o", name), [name])
      for name in ("o.npy", "o.h5", "o.std", "o.xyz")),
    ((*FOF, "-o", "o.csv", "--labels", "o.npy"), ["o.csv", "o.npy"]),
    ((*FOF, "-o", "o.list", "--labels", "o.grp", "--plot", "o.png"), ["o.list", "o.grp", "o.png"]),
    ((*SORTED, "-o", "o.hdf5", "--labels", "l.hdf5", "--sort-snapshot", "t.hdf5"),
     ["o.hdf5", "l.hdf5", "t.hdf5"]),
    ((*FOF, "-o", "o.hdf5", "--format", "swift"), ["o.hdf5"]),
    ((*RDF, "o.txt", "--sq", "q.txt", "--plot", "o.svg"),
     ["o.txt", "q.txt", "o.svg", "o.gp", "o.dat"]),
    *(((*RDF, name, "--format", name[2:]), [name])
      for name in ("o.json", "o.npy", "o.xvg")),
    ((*OVERLAP, "o.txt", "--matrix", "m.npy"), ["o.txt", "m.npy"]),
    ((*OVERLAP, "o.npy"), ["o.npy"]),
    ((*DEBYE, "-o", "o.txt", "--gr", "g.txt"), ["o.txt", "g.txt"]),
    ((*FLOCK, "--restart", "o.state"), ["o.state"]),
    ((*FLOCK, "--measures", "o.jsonl"), ["o.jsonl"]),
    ((*FLOCK, "--plot", "o.svg"), ["o.svg", "o.dat", "o.gp"]),
    ((*FLOCK, "--record", "o.mp4", "--film-size", "64x48"), ["o.mp4"]),
    ((*FLOCK, "--record", "f%d.png", "--film-size", "64x48", "--record-every", "2"),
     ["f0.png", "f1.png", "f2.png"]),
]


def inputs():
    """Make what the runs read. Return the names."""
    cli.ok("make", "clustered", "300", "-o", "a.npy", "-q")
    cli.ok("make", "clustered", "300", "-o", "a.xyz", "-q")
    cli.run("make", "clustered", "300", "-o", "s.hdf5", "-q")  # a build may lack HDF5
    cli.ok(*FLOCK[:-4], "--steps", "2", "--seed", "2", "--restart", "state", "-q")
    with open("b.xyz", "w", encoding="ascii") as file:
        file.write("3\n\nO 0 0 0\nH 0 0 1\nH 0 1 0\n")
    return set(os.listdir()) | {"count"}


def start(words, fault=None, **options):
    """Run kith, with a fault."""
    threads = () if words[0] == "make" else ("--threads", "2")
    if fault:
        options["env"] = dict(os.environ, KITH_FAULT=fault, KITH_FAULT_COUNT="count",
                              LD_PRELOAD=os.environ["KITH_FAULT_MODULE"])
    return cli.run(*words, "-q", *threads, **options)


def old(name):
    """What an output holds before a run: a restart file is read first."""
    return read("state") if name.endswith(".state") else b"as it was"


def leave_old(outputs):
    for name in outputs:
        with open(name, "wb") as file:
            file.write(old(name))


def whole_runs(runs):
    """Those that this machine can do: words, {output: what it holds}, the number of moments."""
    known = inputs()
    for words, names in runs:
        leave_old(names)
        # libraries of others crash where libc has no memory
        kind = "own" if "--record" in words or {"png", "h5", "hdf5"} & {
            name.split(".")[-1] for name in (*names, words[1])} else "alloc"
        done = start(words, None if "LSAN_OPTIONS" in os.environ else f"{kind} 1000000000 1")
        if done.returncode == 10 or "install gnuplot" in done.stderr:
            continue
        assert done.returncode == 0, (words, done.stderr)
        moments = {}
        with contextlib.suppress(FileNotFoundError):
            allocations, changes = map(int, read("count").split())
            moments = {kind: allocations, "disk": changes, "kill": changes}
        yield words, {name: read(name) for name in names}, moments
        assert set(os.listdir()) <= known | set(names), (words, os.listdir())
        for name in names:
            os.remove(name)


def same(name, data, right):
    """Whether an output is whole; reports tell how long it took."""
    if name.endswith(".json"):
        return list(json.loads(data)) == list(json.loads(right))
    return data == right


def check(words, fault, whole, done):
    """Outputs are old or whole, errors told, and no part of a file is left but by kill -9."""
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
    parts = [name for name in os.listdir() if name.endswith(".part")]
    # ffmpeg's is named: it may have taken hours
    assert all(done.returncode == -signal.SIGKILL or name in done.stderr for name in parts), where
    for name in parts:
        os.remove(name)


def moments_of(number, run):
    """One of the moments from 0 to number, another in each run; or all."""
    return range(number) if ALL else [run * 7 % number]


def test_each_moment():
    if "LSAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ:
        raise cli.Skip("a sanitizer has allocations of its own")
    expected = {"alloc": (8, 0), "own": (8, 0), "disk": (9,), "kill": (-signal.SIGKILL,)}
    failed = 0
    for run, (words, whole, moments) in enumerate(whole_runs(RUNS[::EACH])):
        for kind, number in moments.items():
            if kind == ("disk", "kill")[run % 2] and not ALL:
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


def test_files_too_large():
    """As a full disk, for gnuplot and ffmpeg as well."""
    sanitized = "LSAN_OPTIONS" in os.environ
    runs = [run for run in RUNS if sanitized or ALL or {"--plot", "--record"} & set(run[0])]
    for words, whole, _ in whole_runs(runs[::EACH]):
        # half: reports hold times, so that another run's may be a byte shorter
        sizes = {len(data) // 2 for name, data in whole.items() if not name.startswith("f")}
        for size in sorted(sizes)[-len(sizes) if ALL else -1:]:
            leave_old(whole)
            done = start(words, preexec_fn=lambda size=size: resource.setrlimit(
                resource.RLIMIT_FSIZE, (size, size)))
            assert done.returncode == 9, (words, size, done)
            check(words, size, whole, done)


sys.exit(cli.main(globals()))
