#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Time other programs for Vicsek's model in 2-D beside kith: same start, same process, by turns.

    peers_flock.py --kith libkith.so --points FILE.npy [--threads 1,2] [-o results.json]

x and y of the points become the places of a flock of density 2, radius 1, speed 0.5. Without noise
the headings of each peer must be kith's after ten steps; peers_agree.py compares with noise. Then
both make steps by turns with noise, the peer that of its own model, and the medians of a step and
their ratio are added to the results file of kith_bench. Flocks of 1,000, 10,000 and 100,000
particles, as far as there are points.
"""

import functools
import importlib.metadata
import sys

import numpy as np

from flock_peers import PEERS, Own, agrees_step_by_step, start
from kith_ctypes import Kith
from turns import compare_peers, per_step, run, seconds, take_turns

MOST_VERIFIED, SIZES, NOISE = 10000, (1000, 10000, 100000), 0.3
TURNS, TURN_SECONDS, MOST_STEPS = 7, 0.3, 100  # a turn is so long for the peer, with so many steps


def compare(own, peer, points, threads):
    """Verify, then time by turns. Return a result, or None when the flocks differ."""
    if not agrees_step_by_step(peer, own.ctx, points[:MOST_VERIFIED], threads):
        print(f"peers_flock.py: flocks differ: {peer.name}", file=sys.stderr)
        return None
    flock, model = start(points), peer.models[0]
    ours = Own(own.ctx, *flock, NOISE)
    theirs = peer.make(*flock, NOISE, model, threads)
    theirs.step(1)  # makes what is kept
    first = seconds(lambda: theirs.step(1))[0]
    steps = max(1, min(MOST_STEPS, int(TURN_SECONDS / first)))
    times = per_step(take_turns(lambda: ours.step(steps), lambda: theirs.step(steps), first,
                                turns=TURNS), steps)
    measured = ours.flock.measure()
    return {
        "program": peer.name, "version": importlib.metadata.version(peer.name),
        "case": "flock vicsek", "set": "vicsek", "model": model, "n": len(points),
        "periodic": True, "precision": "double", "threads": threads, "side": flock[2],
        "steps": ours.flock.steps, "steps_in_turn": steps, "neighbours": measured["neighbours"],
        "polarisation": measured["polarisation"],
        "million_particles_per_second": 1e-6 * len(points) / times["seconds"],
        "kith_backend": own.backend, **times,
    }


def compare_all(args, threads):
    """All peers with one number of threads."""
    own = Kith(args.kith, threads)
    points = np.load(args.points)

    def asks(peer):
        return [functools.partial(compare, own, peer, points[:n], threads)
                for n in SIZES if n <= len(points) and threads <= peer.threads]

    return compare_peers(PEERS, asks, lambda result: f"{result['model']}, {result['n']}")


if __name__ == "__main__":
    sys.exit(run(__doc__, compare_all))
