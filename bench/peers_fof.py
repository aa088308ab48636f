#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Time other friends-of-friends beside kith: same points, same process, by turns.

    peers_fof.py --kith libkith.so --points FILE.npy --set NAME [--threads 1,2] [-o results.json]

Points in random order, in float, linked at 0.2 of their mean spacing. The members of all groups of
two and more must agree with kith's first, found in double as the peers do; pyfof tests r < length,
which no group hangs on. Then both run by turns, kith keeping groups of 20 and more, and the medians
and their ratio are added to the results file of kith_bench. A tree is built anew each time, as kith
builds its cells.

hfof is not on PyPI: of a clone of github.com/pec27/hfof, with CFLAGS="-O3 -march=native" and
`pip install`, into the Python that `kith bench --python` names.
"""

import contextlib
import importlib.metadata
import sys
from typing import Callable, NamedTuple

import numpy as np

from kith_ctypes import Kith
from turns import compare_peers, run, seconds, take_turns

SPACINGS, LEAST, LEAST_COMPARED = 0.2, 20, 2


def kdcount_groups(length):
    import kdcount

    def find(xyz):
        return kdcount.KDTree(xyz, boxsize=1.0).root.fof(length)
    return find, lambda heads: np.unique(heads, return_counts=True)[1]


def scipy_groups(length):
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    def find(xyz):
        pairs = cKDTree(xyz, balanced_tree=False, compact_nodes=False,
                        boxsize=1).query_pairs(length, output_type="ndarray")
        links = np.ones(len(pairs), bool), (pairs[:, 0], pairs[:, 1])
        return connected_components(coo_matrix(links, (len(xyz), len(xyz))), directed=False)[1]
    return find, np.bincount


def hfof_groups(length):
    from hfof.cluster import fof

    def find(xyz):
        with contextlib.redirect_stdout(sys.stderr):  # it says there what it loads
            return fof(xyz, length, boxsize=1.0)
    return find, lambda labels: np.unique(labels, return_counts=True)[1]


def pyfof_groups(length):
    import pyfof
    return (lambda xyz: pyfof.friends_of_friends(xyz, length),
            lambda groups: np.array([len(group) for group in groups]))


class Peer(NamedTuple):
    name: str       # of the package
    make: Callable  # gives a function from points to groups, and one from groups to their members
    periodic: bool  # else in open space
    most: int       # points of the sets in clusters that there is memory for


PEERS = [
    Peer("hfof", hfof_groups, periodic=True, most=10**9),
    Peer("kdcount", kdcount_groups, periodic=True, most=10**9),
    Peer("scipy", scipy_groups, periodic=True, most=10**5),
    Peer("pyfof", pyfof_groups, periodic=False, most=10**9),
]


def compare(kith, peer, xyz, args):
    """Verify, then time by turns. Return a result, or None when the groups differ."""
    length = SPACINGS / len(xyz) ** (1 / 3)
    find, count = peer.make(length)
    double = xyz.astype(np.float64)
    ours = kith.find_groups(double, length, peer.periodic, LEAST_COMPARED).copy()
    first, found = seconds(lambda: find(double))
    theirs = np.sort(count(found))[::-1]
    if not np.array_equal(ours, theirs[theirs >= LEAST_COMPARED]):
        print(f"peers_fof.py: groups differ: {peer.name} "
              f"{np.count_nonzero(theirs >= LEAST_COMPARED)}, kith {len(ours)}", file=sys.stderr)
        return None
    del found
    times = take_turns(lambda: kith.find_groups(xyz, length, peer.periodic, LEAST),
                       lambda: find(double), first)
    ours = ours[ours >= LEAST]
    return {
        "program": peer.name, "version": importlib.metadata.version(peer.name), "case": "fof",
        "set": args.set, "n": len(xyz), "length": length, "spacings": SPACINGS,
        "periodic": peer.periodic, "precision": "float", "min_members": LEAST, "threads": 1,
        "groups": len(ours), "largest": int(ours[0]) if len(ours) else 0,
        "million_particles_per_second": 1e-6 * len(xyz) / times["seconds"],
        "kith_backend": kith.backend, **times,
    }


def compare_all(args, threads):
    """All peers; none of them uses more than one thread."""
    if threads > 1:
        return [], False
    points = np.load(args.points)
    points = points[np.random.default_rng(7).permutation(len(points))].astype(np.float32)
    points = np.minimum(points, np.nextafter(np.float32(1), np.float32(0)))
    kith = Kith(args.kith, threads)

    def asks(peer):
        if args.set != "uniform" and len(points) > peer.most:
            print(f"peers_fof.py: {args.set}: {peer.name} left out, more than {peer.most} points",
                  file=sys.stderr)
        else:
            yield lambda: compare(kith, peer, points, args)
    found = compare_peers(PEERS, asks, lambda result: result["set"])
    kith.close()
    return found


if __name__ == "__main__":
    sys.exit(run(__doc__, compare_all))
