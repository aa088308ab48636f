# SPDX-License-Identifier: BSD-3-Clause
"""Runs of each verb that write each kind of output, for tests of what becomes of these."""
import contextlib
import json
import os

import cli
import needs
from flock_runs import read

PAIRS = ("pairs", "a.npy", "--cutoff", "0.2", "--box", "1", "--distances", "--shifts", "-o")
NEAREST = ("nearest", "a.npy", "-k", "3", "--box", "1", "--distances", "--shifts", "-o")
RDF = ("rdf", "a.xyz", "--r-max", "0.3", "--bins", "20", "--blocks", "2", "-o")
OVERLAP = ("overlap", "a.npy", "--bins", "10", "-o")
DEBYE = ("debye", "b.xyz", "--q-max", "3", "--q-width", "0.5")
FOF = ("fof", "a.npy", "--box", "1", "--min-members", "2")
SORTED = ("fof", "s.hdf5", "--min-members", "2", "--link", "0,1")
FLOCK = ("flock", "--boids", "50", "--box", "9", "--steps", "4", "--seed", "2")
# Words of the command, and the files that it writes.
RUNS = [
    *(((*PAIRS, name), [name]) for name in ("o.npy", "o.txt", "o.h5")),
    *(((*NEAREST, name), [name]) for name in ("o.npy", "o.txt", "o.h5")),
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
        if "o.mp4" in names and not needs.found("ffmpeg"):
            continue
        if "o.gp" in names and not needs.found("gnuplot"):
            continue
        leave_old(names)
        # libraries of others crash where libc has no memory
        kind = "own" if "--record" in words or {"png", "h5", "hdf5"} & {
            name.split(".")[-1] for name in (*names, words[1])} else "alloc"
        done = start(words, None if "LSAN_OPTIONS" in os.environ else f"{kind} 1000000000 1")
        if needs.lacking(done):
            continue
        assert done.returncode == 0, (words, done.stderr)
        moments = {}
        with contextlib.suppress(FileNotFoundError):
            allocations, changes, reads, opens, closes = map(int, read("count").split())
            moments = {kind: allocations, "disk": changes, "kill": changes, "read": reads,
                       "open": opens, "close": closes, "short": 1}
        yield words, {name: read(name) for name in names}, moments
        assert set(os.listdir()) <= known | set(names), (words, os.listdir())
        for name in names:
            os.remove(name)


def same(name, data, right):
    """Whether an output is whole; reports tell how long it took."""
    if name.endswith(".json"):
        return list(json.loads(data)) == list(json.loads(right))
    return data == right
