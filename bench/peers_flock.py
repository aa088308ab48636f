#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Time other programs for Vicsek's model in 2-D beside kith: same start, same process, by turns.

    peers_flock.py --kith libkith.so --points FILE.npy [--threads 1,2] [-o results.json]

x and y of the points become the places of a flock of density 4, radius 1, speed 0.03. Each peer is
verified on few particles first. pyvicsek adds a random vector to the mean *heading*, which is no
model of kith: without noise both are the same, so there velocities must agree after ten steps.
atooms-active has kith's models: the mean polarisation of a steady state must agree within five
standard errors, for noise in angle (Vicsek 1995) and for the vectorial one (Gregoire & Chate 2004).
Then both make steps by turns, and the medians of a step and their ratio are added to the results
file of kith_bench. The peers have one thread.
"""

import functools
import importlib.metadata
import math
import os
import sys
from typing import Callable, NamedTuple

import numpy as np

from kith_ctypes import Kith, kith
from turns import compare_peers, run, seconds, take_turns

DENSITY, SPEED, NOISE = 4, 0.03, 0.3
FEW, STEADY, BLOCKS = 400, 400, 10  # particles and steps of the verification


def start(points, seed=1):
    """A flock from some points: places in a square of the density, angles of headings, the side."""
    side = math.sqrt(len(points) / DENSITY)
    angle = np.random.default_rng(seed).uniform(-np.pi, np.pi, len(points))
    return side * points[:, :2], angle, side


def kith_flock(ctx, places, angle, side, **how):
    v = SPEED * np.stack([np.cos(angle), np.sin(angle)], 1)
    box = kith.Box([side, side])
    return kith.Flock(places, v, box, ctx=ctx, alignment=(1, 1), max_speed=SPEED, time_step=1,
                      **how)


class PyVicsek:
    """A flock of pyvicsek."""

    def __init__(self, places, angle, side, noise, model):
        import vicsek
        del model
        few = vicsek.initialize_random_particles(len(places), side, SPEED, n_dimensions=2, seed=0)
        self._flock = vicsek.Vicsek(particles=few, length=side, interaction_range=1.0, speed=SPEED,
                                    noise_factor=noise)
        self._flock.positions[...] = places
        self._flock.velocities[...] = SPEED * np.stack([np.cos(angle), np.sin(angle)], 1)
        self._flock._cell_list.invalidate()

    def step(self, steps):
        for _ in range(steps):
            self._flock.step()

    def headings(self):
        return self._flock.velocities / SPEED


class Atooms:
    """A flock of atooms-active."""

    def __init__(self, places, angle, side, noise, model):
        tools = os.path.dirname(sys.executable)  # it compiles Fortran by programs that are there
        if tools not in os.environ["PATH"].split(os.pathsep):
            os.environ["PATH"] = tools + os.pathsep + os.environ["PATH"]
        try:
            from atooms.active.neighbors import VicsekNeighbors
            from atooms.active.vicsek import Vicsek
        except RuntimeError as error:
            raise ImportError("it could not compile its Fortran") from error
        from atooms.system import System
        from atooms.system.cell import Cell
        system = System(N=len(places))
        system.cell = Cell(np.ones(2) * side)
        for k, particle in enumerate(system.particle):
            particle.position = places[k] - side / 2  # its box is around 0
            particle.velocity = np.zeros(2)
            particle.orientation = angle[k]
            particle.radius = None
        self._system = system
        self._flock = Vicsek(system, noise, SPEED, noise=model)
        self._flock.neighbors = VicsekNeighbors(system, method="kdtree")

    def step(self, steps):
        self._flock.run(steps)

    def headings(self):
        angle = self._system.view("orientation", order="F")
        return np.stack([np.cos(angle), np.sin(angle)], 1)


def agrees_step_by_step(peer, ctx, points):
    """Whether the velocities of a flock without noise are kith's."""
    flock = start(points)
    ours, theirs = kith_flock(ctx, *flock, model="vicsek"), peer(*flock, 0, None)
    ours.step(10)
    theirs.step(10)
    return np.allclose(ours.velocities / SPEED, theirs.headings(), rtol=0, atol=1e-5)


def steady(step, headings):
    """Mean polarisation of the second half of a run, and its standard error by blocks."""
    step(STEADY // 2)
    series = []
    for _ in range(STEADY // 2):
        step(1)
        series.append(np.hypot(*headings().mean(axis=0)))
    means = np.mean(np.array_split(series, BLOCKS), axis=1)
    return means.mean(), means.std(ddof=1) / math.sqrt(BLOCKS)


def agrees_on_average(peer, ctx, points):
    """Whether the mean polarisation is kith's, for both kinds of noise."""
    np.random.seed(1)  # what the peer draws from
    for model, name in (("vicsek", "scalar"), ("vectorial", "vectorial")):
        flock = start(points)
        own = kith_flock(ctx, *flock, model=model, noise=NOISE)
        theirs = peer(*flock, NOISE, name)
        mean, error = steady(own.step, lambda own=own: own.velocities / SPEED)
        other, other_error = steady(theirs.step, theirs.headings)
        print(f"{model}: polarisation {mean:.4f} +- {error:.4f}, peer {other:.4f} +- "
              f"{other_error:.4f}", file=sys.stderr)
        if abs(mean - other) > 5 * math.hypot(error, other_error):
            return False
    return True


class Peer(NamedTuple):
    name: str         # of the package
    make: Callable    # gives a flock
    agrees: Callable  # verifies it
    most: int         # particles that there is time for


PEERS = [
    Peer("pyvicsek", PyVicsek, agrees_step_by_step, most=100000),
    Peer("atooms-active", Atooms, agrees_on_average, most=20000),
]


def compare(own, peer, points, threads):
    """Verify, then time by turns. Return a result, or None when the flocks differ."""
    peer.make(*start(points[:FEW]), NOISE, "scalar")  # is it installed?
    if not peer.agrees(peer.make, own.ctx, points[:FEW]):
        print(f"peers_flock.py: flocks differ: {peer.name}", file=sys.stderr)
        return None
    flock = start(points[:peer.most])
    ours = kith_flock(own.ctx, *flock, model="vicsek", noise=NOISE)
    theirs = peer.make(*flock, NOISE, "scalar")
    first = seconds(lambda: theirs.step(1))[0]
    times = take_turns(lambda: ours.step(1), lambda: theirs.step(1), first)
    measured = ours.measure()
    return {
        "program": peer.name, "version": importlib.metadata.version(peer.name),
        "case": "flock vicsek", "set": "vicsek", "n": len(flock[0]), "periodic": True,
        "precision": "double", "threads": threads, "side": flock[2], "steps": ours.steps,
        "neighbours": measured["neighbours"], "polarisation": measured["polarisation"],
        "million_particles_per_second": 1e-6 * len(flock[0]) / times["seconds"],
        "kith_backend": own.backend, **times,
    }


def compare_all(args, threads):
    """All peers with one number of threads."""
    own = Kith(args.kith, threads)
    points = np.load(args.points)

    def asks(peer):
        return [functools.partial(compare, own, peer, points, threads)]

    return compare_peers(PEERS, asks, lambda result: f"Vicsek, {result['n']}")


if __name__ == "__main__":
    sys.exit(run(__doc__, compare_all))
