#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Time other histograms of distances beside kith: same points, same process, by turns.

    peers_rdf.py --kith libkith.so --points FILE.npy --set NAME [--threads 1,2] [-o results.json]

Points in the periodic unit cube, in float and double, about 75 half pairs each, in bins of equal
width. First both count once. Peers put pairs that are at an edge but for rounding into the bin
beside it, or leave out the last edge: sums may differ by one pair in a thousand, bins by more where
they hold little. Then both run by turns, and the medians and their ratio are added to the results
file of kith_bench.
"""

import functools
import importlib.metadata
import sys
from typing import Callable, NamedTuple

import numpy as np

from kith_ctypes import Kith
from turns import compare_peers, run, seconds, take_turns

STANDARD_N, STANDARD_R_MAX = 1e6, 0.033


def corrfunc_counts(xyz, bins, r_max, threads):
    from Corrfunc.theory import DD
    x, y, z = (np.ascontiguousarray(xyz[:, k]) for k in range(3))
    edges = np.linspace(0, r_max, bins + 1)
    edges[0] = 1e-9 * r_max  # 0 is refused

    def count():
        return DD(1, threads, edges, x, y, z, periodic=True, boxsize=1.0, verbose=False)
    return count, lambda found: found["npairs"] / 2  # each pair from both ends


def freud_counts(xyz, bins, r_max, threads):
    import freud
    freud.parallel.set_num_threads(threads)
    box, centred = freud.box.Box.cube(1), np.asarray(xyz - 0.5, np.float32)
    rdf = freud.density.RDF(bins, r_max)
    return (lambda: rdf.compute((box, centred), reset=True),
            lambda found: found.bin_counts / 2)


class Peer(NamedTuple):
    name: str       # of the package
    make: Callable  # gives a function that counts, and one from what it gives to half pairs
    double: bool    # has double too
    bins: tuple     # numbers of them
    most: int       # points that there is time for: it gets the first


PEERS = [
    Peer("Corrfunc", corrfunc_counts, double=True, bins=(200,), most=10**9),
    Peer("freud-analysis", freud_counts, double=False, bins=(200,), most=10**5),
]


def agree(ours, theirs):
    """Whether counts are the same but for rounding at the edges: within a thousandth of all pairs
    together, and in each bin within the noise of its own count."""
    total = ours.sum()
    return (abs(theirs.sum() - total) <= 1e-3 * total
            and np.all(np.abs(theirs - ours) <= 10 + 5 * np.sqrt(ours)))


def compare(kith, peer, xyz, bins, args, threads):
    """Verify, then time by turns. Return a result, or None when the counts differ."""
    r_max = STANDARD_R_MAX * (STANDARD_N / len(xyz)) ** (1 / 3)
    count, halves = peer.make(xyz, bins, r_max, threads)
    ours = kith.count(xyz, bins, r_max)
    first, found = seconds(count)
    if not agree(ours, halves(found)):
        print(f"peers_rdf.py: counts differ: {peer.name} {halves(found).sum():.0f}, "
              f"kith {ours.sum()}", file=sys.stderr)
        return None
    times = take_turns(lambda: kith.count(xyz, bins, r_max), count, first)
    return {
        "program": peer.name, "version": importlib.metadata.version(peer.name), "case": "short",
        "set": args.set, "n": len(xyz), "r_max": r_max, "bins": bins, "minimum_image": False,
        "periodic": True, "precision": "float" if xyz.dtype == np.float32 else "double",
        "threads": threads, "counted": int(ours.sum()),
        "million_half_pairs_per_second": 1e-6 * int(ours.sum()) / times["seconds"],
        "kith_backend": kith.backend, **times,
    }


def compare_all(args, threads):
    """All peers, with few bins and many."""
    double = np.load(args.points)
    single = np.minimum(double.astype(np.float32), np.nextafter(np.float32(1), np.float32(0)))
    kith = Kith(args.kith, threads)

    def asks(peer):
        for xyz in (single, double) if peer.double else (single,):
            for bins in peer.bins:
                yield functools.partial(compare, kith, peer, xyz[:peer.most], bins, args, threads)
    found = compare_peers(PEERS, asks, lambda r: f"{r['precision']}, {r['bins']} bins")
    kith.close()
    return found


if __name__ == "__main__":
    sys.exit(run(__doc__, compare_all))
