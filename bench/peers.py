#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Time other programs beside kith: same points, same process, by turns.

    peers.py --kith libkith.so --points FILE.npy [--threads 1,2] [-o results.json]

Each peer that can be imported makes the list that it is made for, in its fastest way. Its list is
compared with kith's first, pair for pair by a hash of the set; then both run by turns, and the
medians and their ratio are added to the results file of kith_bench. A peer that keeps its memory
from call to call meets a kith that does so too, one that does not a kith that does not.
"""

import functools
import importlib.metadata
import sys
from typing import Callable, NamedTuple

import numpy as np

from kith_ctypes import Kith
from turns import compare_peers, run, seconds, take_turns

CUBE = np.eye(3)
STANDARD_N, STANDARD_CUTOFF = 1e6, 0.03


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


def compare(kith, peer, find, xyz, cutoff, args, periodic, threads):
    """Verify, then time by turns. Return a result, or None when the lists differ."""
    full, shifts = peer.full, periodic and peer.shifts

    def own():
        return kith.find(xyz, cutoff, periodic, full, shifts)

    ours = set_hash(*own(), full)
    first, found = seconds(lambda: find(xyz))
    theirs = set_hash(*found, full)
    del found
    if ours != theirs:
        print(f"peers.py: lists differ: {peer.name} {theirs[0]} pairs, kith {ours[0]}",
              file=sys.stderr)
        return None
    times = take_turns(own, lambda: find(xyz), first, None if peer.keeps else kith.free_list)
    return {
        "program": peer.name, "version": importlib.metadata.version(peer.name),
        "case": ("full" if full else "half") + (" periodic" if periodic else ""),
        "set": args.set, "n": len(xyz), "cutoff": cutoff, "periodic": periodic,
        "precision": "double", "list": "ij", "full": full, "sorted": False, "shifts": shifts,
        "threads": threads, "pairs": ours[0],
        "million_half_pairs_per_second": 1e-6 * ours[0] / (2 if full else 1) / times["seconds"],
        "keeps_memory": peer.keeps, "kith_backend": kith.backend, **times,
    }


def compare_all(args, threads):
    """All peers with one number of threads."""
    xyz = np.ascontiguousarray(np.load(args.points), dtype=np.float64)
    cutoff = STANDARD_CUTOFF * (STANDARD_N / len(xyz)) ** (1 / 3)
    kith = Kith(args.kith, threads)

    def asks(peer):
        for periodic in (False, True) if threads <= peer.most else ():
            find = peer.make(threads, cutoff, periodic)
            yield functools.partial(compare, kith, peer, find, xyz, cutoff, args, periodic, threads)
    found = compare_peers(PEERS, asks, lambda result: result["case"])
    kith.close()
    return found


if __name__ == "__main__":
    sys.exit(run(__doc__, compare_all))
