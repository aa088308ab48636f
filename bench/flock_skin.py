#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ask whether a flock would gain from lists that are kept over steps with a skin.

    flock_skin.py --kith libkith.so --backend cuda|cpu [--points N] [-o results.json]

Boids with 31 neighbours within the radius 5 take some steps, and their positions are kept. Then the
steps are timed, and updates of a list by kith.Verlet at those positions: the list within the radius
and a skin, from which a step would still have to choose and to sum. Each answer of a kept list is
compared with a fresh search. A list on a GPU needs PyTorch. Adds "skins" to a results file of
kith_bench.
"""

import argparse
import os
import pathlib
import statistics
import sys

import numpy as np

from turns import add_results, seconds, spread

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "python"))
RADIUS, NEIGHBOURS, BEFORE, STEPS = 5.0, 31, 40, 24
SKINS = (0.25, 0.5, 1.0, 1.5, 2.5)


class Device:
    """A backend of kith, its arrays, and a way to wait for it."""

    def __init__(self, kith, backend):
        if backend == "cpu":
            self.how = {"ctx": kith.Context("cpu", 1)}
            self.put, self.copy, self.wait = np.asarray, np.copy, lambda: None
        else:
            import torch
            self.how = {}
            self.put = lambda x: torch.from_numpy(x).cuda()
            self.copy, self.wait = torch.clone, torch.cuda.synchronize

    def seconds(self, call):
        """Return how long a call takes until the device is ready, and its result."""
        self.wait()

        def whole():
            result = call()
            self.wait()
            return result
        return seconds(whole)


def agrees(kith, device, kept, x, side):
    """Whether the rows of a kept list and of a fresh search end at equal places."""
    fresh = kith.pairs(x, RADIUS, side, "oj", full=True, layout="csr", sort=True, **device.how)
    return all(bool((a == b).all()) for a, b in zip(kept, fresh))


def update_all(kith, device, path, side, skin):
    """Update a list at each of the positions. Return the times of searches and of other updates,
    and the entries kept for each boid."""
    kept, searched, entries = [], [], 0
    with kith.Verlet(RADIUS, skin, "oj", full=True, layout="csr", **device.how) as exact:
        if not all(agrees(kith, device, exact.update(x, side), x, side) for x in path[:4]):
            sys.exit("flock_skin.py: a kept list differs from a fresh one")
    with kith.Verlet(RADIUS, skin, "oj", full=True, layout="csr", with_skin=True,
                     **device.how) as near:
        for x in path:
            spent, found = device.seconds(lambda x=x: near.update(x, side))
            (searched if near.rebuilt else kept).append(spent)
            entries = len(found[1]) / len(x)
            del found
    return kept, searched, entries


def measure(kith, backend, n):
    """Return the results of one backend."""
    device = Device(kith, backend)
    rng = np.random.default_rng(1)
    side = (n * 4 / 3 * np.pi * RADIUS**3 / NEIGHBOURS) ** (1 / 3)
    x = device.put((rng.random((n, 3)) * side).astype(np.float32))
    v = device.put((rng.random((n, 3)) * 2 - 1).astype(np.float32))
    flock = kith.Flock(x, v, side, **device.how).step(BEFORE)
    path = [device.copy(flock.step().positions) for _ in range(STEPS)]
    step = [device.seconds(lambda: flock.step(STEPS))[0] / STEPS for _ in range(5)]
    results = []
    for skin in SKINS:
        kept, searched, entries = update_all(kith, device, path, side, skin)
        mean = (sum(kept) + sum(searched)) / STEPS
        results.append({
            "program": "kith", "backend": backend, "n": n, "skin": skin / RADIUS,
            "searches": len(searched), "updates": STEPS, "entries_per_boid": entries,
            "search_seconds": statistics.median(searched),
            "kept_seconds": statistics.median(kept) if kept else None,
            "update_seconds": mean, "ratio": mean / statistics.median(step), **spread(step),
        })
        print(f"{backend} skin {skin / RADIUS:.2f} of the radius: {len(searched)} of {STEPS} "
              f"updates search, {1e3 * mean:.2f} ms an update, {results[-1]['ratio']:.1f} steps",
              file=sys.stderr)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--kith", required=True, help="the shared library")
    parser.add_argument("--backend", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--points", type=int, default=100000, help="boids")
    parser.add_argument("-o", "--output", help="results file of kith_bench to add to")
    args = parser.parse_args()
    os.environ["KITH_LIBRARY"] = os.path.abspath(args.kith)
    import kith
    results = measure(kith, args.backend, args.points)
    if args.output:
        add_results(args.output, results, "skins", ("backend", "skin"))


if __name__ == "__main__":
    main()
