#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Time other searches with a radius for each particle beside kith: same points, same process, by
turns.

    peers_radii.py --kith libkith.so --points FILE.npy [--threads 1,2] [-o results.json]

The first tenth of the points get radii that span a factor of 1000, their logarithms uniform, with
some 50 neighbours on average. Each particle's number of neighbours must be kith's first. Then both
run by turns, and the medians and their ratio are added to the results file of kith_bench. Trees and
grids are built anew each time, as kith builds its own. PySPH, which has to be compiled, is compared
where it is installed already.
"""

import importlib.metadata
import sys
from typing import Callable, NamedTuple

import numpy as np

from kith_ctypes import Kith
from turns import compare_peers, run, seconds, take_turns

SMALLER, FACTOR = 10, 1000


def scipy_gather(threads):
    from scipy.spatial import cKDTree

    def find(xyz, radii):
        tree = cKDTree(xyz, balanced_tree=False, compact_nodes=False, boxsize=1)
        return tree.query_ball_point(xyz, radii, workers=threads)
    return find, lambda lists: np.array([len(row) for row in lists]) - 1  # without itself


def pysph_either(threads):
    from cyarray.api import UIntArray
    from pysph.base.nnps import OctreeNNPS
    from pysph.base.utils import get_particle_array
    del threads  # OMP_NUM_THREADS

    def find(xyz, radii):
        x, y, z = xyz.T
        array = get_particle_array(name="points", x=x, y=y, z=z, h=radii)
        search = OctreeNNPS(dim=3, particles=[array], radius_scale=1.0, cache=True)
        search.set_context(0, 0)
        found, counts = UIntArray(), np.empty(len(xyz), dtype=np.int64)
        for i in range(len(xyz)):
            search.get_nearest_particles(0, 0, i, found)
            counts[i] = found.length
        return counts
    return find, lambda counts: counts - 1


class Peer(NamedTuple):
    name: str       # of the package
    make: Callable  # gives a function from points and radii to an answer, and one to counts
    rule: str       # of kith
    largest: float  # radius, of 10^5 points
    periodic: bool  # else in open space


PEERS = [
    Peer("scipy", scipy_gather, "gather", 0.136, periodic=True),
    Peer("pysph", pysph_either, "either", 0.108, periodic=False),
]


def compare(kith, peer, xyz, args, threads):
    """Verify, then time by turns. Return a result, or None when the numbers differ."""
    largest = min(0.45, peer.largest * (1e5 / len(xyz)) ** (1 / 3))
    radii = largest * FACTOR ** -np.random.default_rng(1).random(len(xyz))
    find, count = peer.make(threads)

    def own():
        return kith.find_within(xyz, radii, peer.rule, peer.periodic)
    ours = np.bincount(own()[0], minlength=len(xyz))
    first, theirs = seconds(lambda: find(xyz, radii))
    if not np.array_equal(ours, count(theirs)):
        print(f"peers_radii.py: neighbours differ: {peer.name}", file=sys.stderr)
        return None
    del theirs
    times = take_turns(own, lambda: find(xyz, radii), first)
    pairs = int(ours.sum())
    return {
        "program": peer.name, "version": importlib.metadata.version(peer.name),
        "case": f"radii {peer.rule}", "set": args.set, "n": len(xyz), "periodic": peer.periodic,
        "precision": "double", "cutoff": largest, "list": "ij", "full": True, "sorted": False,
        "pairs": pairs, "threads": threads,
        "million_half_pairs_per_second": 0.5e-6 * pairs / times["seconds"],
        "kith_backend": kith.backend, **times,
    }


def compare_all(args, threads):
    """All peers with one number of threads."""
    xyz = np.ascontiguousarray(np.load(args.points), dtype=np.float64)
    xyz = xyz[:max(len(xyz) // SMALLER, 1)]
    kith = Kith(args.kith, threads)
    found = compare_peers(PEERS, lambda peer: [lambda: compare(kith, peer, xyz, args, threads)],
                          lambda result: result["case"])
    kith.close()
    return found


if __name__ == "__main__":
    sys.exit(run(__doc__, compare_all))
