#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Time other searches for nearest neighbours beside kith: same points, same process, by turns.

    peers_nearest.py --kith libkith.so --points FILE.npy [--threads 1,2] [-o results.json]

The distances of the 8 nearest neighbours of each particle must agree with kith's first, to a few
units in the last place: peers round in another order. Then both run by turns, and the medians and
their ratio are added to the results file of kith_bench. A tree is built anew each time, as kith
builds its own.
"""

import importlib.metadata
import sys
from typing import Callable, NamedTuple

import numpy as np

from kith_ctypes import Kith
from turns import compare_peers, run, seconds, take_turns

K = 8


def scipy_nearest(threads):
    from scipy.spatial import cKDTree

    def find(xyz):
        tree = cKDTree(xyz, balanced_tree=False, compact_nodes=False, boxsize=1)
        return tree.query(xyz, K + 1, workers=threads)[0][:, 1:]  # without the particle itself
    return find


def pykdtree_nearest(threads):
    from pykdtree.kdtree import KDTree
    del threads  # OMP_NUM_THREADS
    return lambda xyz: KDTree(xyz).query(xyz, K + 1)[0][:, 1:]


def freud_nearest(threads):
    import freud
    freud.parallel.set_num_threads(threads)

    def find(xyz):
        query = freud.locality.AABBQuery(freud.box.Box.cube(1), xyz - 0.5)
        found = query.query(xyz - 0.5, {"num_neighbors": K, "exclude_ii": True})
        return found.toNeighborList(sort_by_distance=True).distances.reshape(len(xyz), K)
    return find


class Peer(NamedTuple):
    name: str       # of the package
    make: Callable  # gives a function from points to distances
    periodic: bool  # else in open space
    single: bool    # computes in float: distances agree to fewer digits


PEERS = [
    Peer("scipy", scipy_nearest, periodic=True, single=False),
    Peer("pykdtree", pykdtree_nearest, periodic=False, single=False),
    Peer("freud-analysis", freud_nearest, periodic=True, single=True),
]


def compare(kith, peer, find, xyz, args, threads):
    """Verify, then time by turns. Return a result, or None when the distances differ."""
    ours = kith.find_nearest(xyz, K, peer.periodic).copy()
    first, theirs = seconds(lambda: find(xyz))
    if not np.allclose(ours, theirs, rtol=0, atol=1e-6 if peer.single else 1e-12):
        print(f"peers_nearest.py: distances differ: {peer.name}", file=sys.stderr)
        return None
    del theirs
    times = take_turns(lambda: kith.find_nearest(xyz, K, peer.periodic), lambda: find(xyz), first)
    return {
        "program": peer.name, "version": importlib.metadata.version(peer.name),
        "case": f"nearest {K}", "set": args.set, "n": len(xyz), "periodic": peer.periodic,
        "precision": "double", "k": K, "threads": threads,
        "million_particles_per_second": 1e-6 * len(xyz) / times["seconds"],
        "kith_backend": kith.backend, **times,
    }


def compare_all(args, threads):
    """All peers with one number of threads."""
    xyz = np.ascontiguousarray(np.load(args.points), dtype=np.float64)
    kith = Kith(args.kith, threads)

    def asks(peer):
        find = peer.make(threads)
        yield lambda: compare(kith, peer, find, xyz, args, threads)
    found = compare_peers(PEERS, asks, lambda result: result["case"])
    kith.close()
    return found


if __name__ == "__main__":
    sys.exit(run(__doc__, compare_all))
