#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Time g(r) of a trajectory of many small frames beside kith rdf: same GSD file, by turns.

    peers_frames.py --kith COMMAND --points FILE.npy [--threads 1,2] [-o results.json]

Points in the unit cube become frames of 1,000 particles in a periodic cube, some 75 half pairs each
within r_max, in a GSD file. kith rdf is timed as a whole process, which starts, reads the file,
counts and writes its table. A peer is timed from opening the file to the counts of all frames; its
imports are not counted. Each first counts the frames that there is time for, and every bin must
agree with kith's but for rounding at the edges: peers round distances and edges in other ways. Then
both run by turns. In the end the command alone counts all frames.
"""

import functools
import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
import warnings
from typing import Callable, NamedTuple

import numpy as np

from turns import compare_peers, run, seconds, spread, take_turns

PARTICLES, SIDE, R_MAX, BINS = 1000, 10.0, 3.3, 200
ROUNDED = 1e-4  # of a bin's pairs may lie in the bin beside it


def write_frames(points, path):
    """Write a GSD file of the points, PARTICLES a frame. Return the number of frames."""
    import gsd.hoomd
    frames = len(points) // PARTICLES
    with gsd.hoomd.open(path, "w") as file:
        for k in range(frames):
            frame = gsd.hoomd.Frame()
            frame.configuration.step = k
            frame.configuration.box = [SIDE, SIDE, SIDE, 0, 0, 0]
            frame.particles.N = PARTICLES
            frame.particles.position = np.asarray(
                SIDE * (points[k * PARTICLES:(k + 1) * PARTICLES] - 0.5), np.float32)
            file.append(frame)
    return frames


def kith_count(command, path, frames):
    """Run kith rdf on the first frames. Return its JSON file."""
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "g.json")
        subprocess.run([command, "rdf", path, "--frames", f"0:{frames}", "--r-max", str(R_MAX),
                        "--bins", str(BINS), "--quiet", "--output", output], check=True)
        with open(output, encoding="utf-8") as file:
            return json.load(file)


def freud_counts(path, frames, threads):
    import freud
    import gsd.hoomd
    freud.parallel.set_num_threads(threads)

    def count():
        rdf = freud.density.RDF(BINS, R_MAX)
        with gsd.hoomd.open(path) as file:
            for k in range(frames):
                rdf.compute(file[k], reset=False)
        return rdf.bin_counts / 2  # each pair from both ends
    return count


def mdanalysis_counts(path, frames, threads):
    import MDAnalysis
    from MDAnalysis.analysis.rdf import InterRDF
    parallel = {"backend": "multiprocessing", "n_workers": threads} if threads > 1 else {}

    def count():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of masses and elements that the file has not
            atoms = MDAnalysis.Universe(path).atoms
            rdf = InterRDF(atoms, atoms, nbins=BINS, range=(0, R_MAX))
            rdf.run(stop=frames, **parallel)
        found = rdf.results.count.copy()
        found[0] -= frames * PARTICLES  # each particle with itself
        return found / 2
    return count


class Peer(NamedTuple):
    name: str       # of the package
    make: Callable  # gives a function that counts half pairs by bin
    most: int       # frames that there is time for: it gets the first


PEERS = [
    Peer("freud-analysis", freud_counts, most=300),
    Peer("MDAnalysis", mdanalysis_counts, most=300),
]


def describe(found, threads, times):
    """What the results file says of a histogram that kith_count gave."""
    pairs = int(sum(found["columns"]["count"]))
    return {
        "case": "frames", "set": "frames", "n": PARTICLES, "frames": found["frames"]["n"],
        "r_max": R_MAX, "bins": BINS, "minimum_image": False, "periodic": True,
        "precision": "float", "threads": threads, "counted": pairs,
        "million_half_pairs_per_second": 1e-6 * pairs / times["seconds"], **times,
    }


def compare(command, peer, path, frames, threads):
    """Verify, then time by turns. Return a result, or None when the counts differ."""
    frames = min(frames, peer.most)
    count = peer.make(path, frames, threads)
    own = functools.partial(kith_count, command, path, frames)
    found = own()
    ours = np.array(found["columns"]["count"])
    first, theirs = seconds(count)
    if not np.all(np.abs(theirs - ours) <= 10 + ROUNDED * ours):
        print(f"peers_frames.py: counts differ: {peer.name} {theirs.sum():.0f}, "
              f"kith {ours.sum():.0f}", file=sys.stderr)
        return None
    return {"program": peer.name, "version": importlib.metadata.version(peer.name),
            "kith_backend": found["backend"],
            **describe(found, threads, take_turns(own, count, first))}


def time_alone(command, path, frames, threads):
    """Time the command on all frames. Return a result of kith."""
    own = functools.partial(kith_count, command, path, frames)
    first, found = seconds(own)
    times = spread([seconds(own)[0] for _ in range(5)])
    return {"program": "kith", "version": found["kith"], "backend": found["backend"],
            "seconds_first": first, **describe(found, threads, times)}


def compare_all(args, threads):
    """All peers, then the command alone, with one number of threads."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "frames.gsd")
        try:
            frames = write_frames(np.load(args.points, mmap_mode="r"), path)
        except ImportError:
            print("gsd is not installed, frames are left out", file=sys.stderr)
            return [], False

        def asks(peer):
            yield functools.partial(compare, args.kith, peer, path, frames, threads)
        results, wrong = compare_peers(PEERS, asks, lambda r: f"{r['frames']} frames")
        return [time_alone(args.kith, path, frames, threads), *results], wrong


if __name__ == "__main__":
    sys.exit(run(__doc__, compare_all))
