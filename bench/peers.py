#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Time other programs beside kith: same points, same process, by turns.

    peers.py --kith libkith.so --points FILE.npy [--cutoff 0.03] [--threads 1,2] [-o results.json]

Each peer that can be imported makes the list that it is made for, in its fastest way. Its list is
compared with kith's first, pair for pair by a hash of the set; then both run by turns, and the
medians and their ratio are added to the results file of kith_bench. A peer that keeps its memory
from call to call meets a kith that does so too, one that does not a kith that does not.
"""

import argparse
import contextlib
import importlib.metadata
import json
import os
import statistics
import subprocess
import sys
import time
from typing import Callable, NamedTuple

import numpy as np

from kith_ctypes import Kith

CUBE = np.eye(3)


def vesin_half(threads, cutoff, periodic):
    import vesin
    finder = vesin.NeighborList(cutoff=cutoff, full_list=False, n_threads=threads)
    wanted = "PS" if periodic else "P"

    def find(xyz):
        return finder.compute(xyz, CUBE, periodic, wanted, copy=False)[0].T
    return find


def matscipy_full(threads, cutoff, periodic):
    from matscipy_neighbours import neighbour_list
    wanted = "ijS" if periodic else "ij"

    def find(xyz):
        return neighbour_list(wanted, positions=xyz, cell=CUBE, pbc=[periodic] * 3,
                              cutoff=cutoff)[:2]
    return find


def scipy_half(threads, cutoff, periodic):
    from scipy.spatial import cKDTree

    def find(xyz):
        tree = cKDTree(xyz, balanced_tree=False, compact_nodes=False,
                       boxsize=1 if periodic else None)
        return tree.query_pairs(cutoff, output_type="ndarray").T
    return find


class Peer(NamedTuple):
    name: str       # of the package
    make: Callable  # gives a function from points to (i, j)
    full: bool      # each pair both ways
    shifts: bool    # gives the images when periodic
    keeps: bool     # keeps the memory of the list between calls
    most: int       # threads it can use


PEERS = [
    Peer("vesin", vesin_half, full=False, shifts=True, keeps=True, most=1024),
    Peer("matscipy-neighbours", matscipy_full, full=True, shifts=True, keeps=False, most=1024),
    Peer("scipy", scipy_half, full=False, shifts=False, keeps=False, most=1),
]


@contextlib.contextmanager
def all_cores():
    """Undo OMP_PROC_BIND for the calling thread: threads that are not OpenMP's inherit its mask."""
    bound = os.sched_getaffinity(0)
    os.sched_setaffinity(0, range(os.cpu_count()))
    try:
        yield
    finally:
        os.sched_setaffinity(0, bound)


def set_hash(i, j, full):
    """Add up mixed pairs (SplitMix64), so that their order does not matter."""
    total = 0
    for start in range(0, len(i), 1 << 22):
        a = i[start:start + (1 << 22)].astype(np.uint64)
        b = j[start:start + (1 << 22)].astype(np.uint64)
        if not full:
            a, b = np.minimum(a, b), np.maximum(a, b)
        z = (a << np.uint64(32) | b) + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        total += int((z ^ (z >> np.uint64(31))).sum(dtype=np.uint64))
    return len(i), total % 2**64


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def compare(kith, peer, find, xyz, args, periodic, threads):
    """Verify, then time by turns. Return a result, or None when the lists differ."""
    full, shifts = peer.full, periodic and peer.shifts

    def own():
        return kith.find(xyz, args.cutoff, periodic, full, shifts)

    ours = set_hash(*own(), full)
    with all_cores():
        start = time.perf_counter()
        found = find(xyz)
        first = time.perf_counter() - start
    theirs = set_hash(*found, full)
    del found
    if ours != theirs:
        print(f"peers.py: lists differ: {peer.name} {theirs[0]} pairs, kith {ours[0]}",
              file=sys.stderr)
        return None
    own_times, times = [], []
    for _ in range(5 if first < 20 else 3):
        if not peer.keeps:
            kith.free_list()
        own_times.append(seconds(own))
        with all_cores():
            times.append(seconds(lambda: find(xyz)))
    median, own_median = statistics.median(times), statistics.median(own_times)
    return {
        "program": peer.name, "version": importlib.metadata.version(peer.name),
        "case": ("full" if full else "half") + (" periodic" if periodic else ""),
        "set": args.set, "n": len(xyz), "cutoff": args.cutoff, "periodic": periodic,
        "precision": "double", "list": "ij", "full": full, "sorted": False, "shifts": shifts,
        "threads": threads, "pairs": ours[0], "repeats": len(times), "seconds": median,
        "seconds_min": min(times), "seconds_max": max(times),
        "million_half_pairs_per_second": 1e-6 * ours[0] / (2 if full else 1) / median,
        "keeps_memory": peer.keeps, "kith_backend": kith.backend, "kith_seconds": own_median,
        "kith_seconds_min": min(own_times), "kith_seconds_max": max(own_times),
        "ratio": median / own_median,
    }


def run_child(args, threads):
    """All peers with one number of threads; OpenMP was told by the environment."""
    xyz = np.ascontiguousarray(np.load(args.points), dtype=np.float64)
    kith = Kith(args.kith, threads)
    results, wrong = [], False
    for peer in PEERS:
        for periodic in (False, True) if threads <= peer.most else ():
            try:
                find = peer.make(threads, args.cutoff, periodic)
            except ImportError:
                print(f"peers.py: {peer.name} is not installed, left out", file=sys.stderr)
                break
            result = compare(kith, peer, find, xyz, args, periodic, threads)
            wrong = wrong or result is None
            if result:
                results.append(result)
                print(f"{peer.name:20} {threads} threads {result['case']:14} "
                      f"{result['seconds']:9.4f} s, kith {result['kith_seconds']:.4f} s: "
                      f"{result['ratio']:.1f} x", file=sys.stderr)
    kith.close()
    json.dump(results, sys.stdout)
    return 1 if wrong else 0


def add_results(path, results):
    """Replace what the file had from these programs, in one step."""
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    data["results"] = [r for r in data["results"] if r["program"] == "kith"] + results
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(data, file, indent=2)
        file.write("\n")
    os.replace(path + ".new", path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--kith", required=True, help="the shared library")
    parser.add_argument("--points", required=True, help=".npy of [n][3] in the unit cube")
    parser.add_argument("--set", default="uniform", help="name of the points in the results")
    parser.add_argument("--cutoff", type=float, default=0.03)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("-o", "--output", help="results file of kith_bench to add to")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        return run_child(args, args.child)

    results, status = [], 0
    for threads in args.threads.split(","):
        environment = dict(os.environ, OMP_NUM_THREADS=threads, OMP_PROC_BIND="true")
        child = subprocess.run([sys.executable, *sys.argv, "--child", threads], env=environment,
                               stdout=subprocess.PIPE, text=True, check=False)
        status = max(status, abs(child.returncode))
        results += json.loads(child.stdout or "[]")
    if args.output:
        add_results(args.output, results)
    return status


if __name__ == "__main__":
    sys.exit(main())
