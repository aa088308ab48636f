# SPDX-License-Identifier: BSD-3-Clause
"""Other programs for flocks in 2-D, each set up from one start, and kith beside them.

All take unit headings from the places at the start of a step to new headings, the mean over all
within the radius, the particle itself too, with noise, and then move by the new headings. Models:

    vicsek     a random angle, uniform within noise * pi, is added to the mean's
    vectorial  noise * (number in the mean) * (random unit vector) is added to the sum of headings
    heading    noise * (random unit vector) is added to the unit vector along the sum

SiSyPHE moves first and turns then: a start that is one move behind gives it the headings of the
others. kith has no `heading`; CallersNoise adds that noise between its steps.
"""

import contextlib
import io
import math
import os
import shutil
import sys
from typing import Callable, NamedTuple

import numpy as np

from kith_ctypes import kith

DENSITY, RADIUS, SPEED = 2, 1.0, 0.5


def start(points, seed=1):
    """A flock from some points: places in a square of the density, angles of headings, the side."""
    side = math.sqrt(len(points) / DENSITY)
    angle = np.random.default_rng(seed).uniform(-np.pi, np.pi, len(points))
    return side * points[:, :2], angle, side


def unit(angle):
    return np.stack([np.cos(angle), np.sin(angle)], 1)


class Own:
    """A flock of kith."""

    def __init__(self, ctx, places, angle, side, noise=0, model="vicsek"):
        self.flock = kith.Flock(places, SPEED * unit(angle), kith.Box([side, side]), ctx=ctx,
                                model=model, alignment=(RADIUS, 1), max_speed=SPEED, time_step=1,
                                noise=noise)

    def step(self, steps):
        self.flock.step(steps)

    def headings(self):
        return self.flock.velocities / SPEED


class CallersNoise:
    """kith without noise, a step at a time; the noise of `heading` is added to its headings."""

    def __init__(self, ctx, places, angle, side, noise, seed=1):
        self._ctx, self._side, self._noise = ctx, side, noise
        self._places, self._headings = places, unit(angle)
        self._random = np.random.default_rng(seed)

    def step(self, steps):
        for _ in range(steps):
            with kith.Flock(self._places, SPEED * self._headings, kith.Box([self._side] * 2),
                            ctx=self._ctx, model="vicsek", alignment=(RADIUS, 1), max_speed=SPEED,
                            time_step=1) as flock:
                wish = flock.step().velocities / SPEED
            wish += self._noise * unit(self._random.uniform(-np.pi, np.pi, len(wish)))
            self._headings = wish / np.linalg.norm(wish, axis=1)[:, None]
            self._places = (self._places + SPEED * self._headings) % self._side

    def headings(self):
        return self._headings


class PyVicsek:
    """A flock of pyvicsek. It has one model."""

    def __init__(self, places, angle, side, noise, model, threads=1):
        import vicsek
        assert model == "heading"
        vicsek.use_kernel(threads=threads)
        few = vicsek.initialize_random_particles(len(places), side, SPEED, n_dimensions=2, seed=0)
        self._flock = vicsek.Vicsek(particles=few, length=side, interaction_range=RADIUS,
                                    speed=SPEED, noise_factor=noise, seed=1)
        self._flock.positions[...] = places
        self._flock.velocities[...] = SPEED * unit(angle)
        self._flock._cell_list.invalidate()

    def step(self, steps):
        for _ in range(steps):
            self._flock.step()

    def headings(self):
        return self._flock.velocities / SPEED


class Atooms:
    """A flock of atooms-active. It has one thread."""

    NOISES = {"vicsek": "scalar", "vectorial": "vectorial"}

    def __init__(self, places, angle, side, noise, model, threads=1):
        del threads
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
        np.random.seed(1)  # what it draws from
        system = System(N=len(places))
        system.cell = Cell(np.ones(2) * side)
        for k, particle in enumerate(system.particle):
            particle.position = places[k] - side / 2  # its box is around 0
            particle.velocity = np.zeros(2)
            particle.orientation = angle[k]
            particle.radius = None
        self._system = system
        self._flock = Vicsek(system, noise, SPEED, noise=self.NOISES[model], radius=RADIUS)
        self._flock.neighbors = VicsekNeighbors(system, method="kdtree")

    def step(self, steps):
        self._flock.run(steps)

    def headings(self):
        return unit(self._system.view("orientation", order="F"))


def import_torch(threads):
    """PyTorch with so many threads, which sleep when they wait: else they would spin on the core
    that kith is to have next."""
    if not shutil.which(os.environ.get("CXX", "g++")):
        raise ImportError("it compiles C++ while it runs, and there is no g++")
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    import torch
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    return torch


class Sisyphe:
    """A flock of SiSyPHE, on CPU cores. It skips distant cells, whose number it chooses by trying
    some."""

    NOISES = {"vicsek": ("uniform", "normalised"),
              "vectorial": ("vectorial_noise", "motsch_tadmor"),
              "heading": ("vectorial_noise", "normalised")}
    CELLS = 8, 40, 8  # on a side: from, to, by

    def __init__(self, places, angle, side, noise, model, threads=1):
        torch = import_torch(threads)
        from sisyphe.models import SynchronousVicsek
        sampling, target = self.NOISES[model]
        kappa = 1 / noise if noise else 1e30  # its square is formed
        before = (places - SPEED * unit(angle)) % side  # it moves first
        self._flock = SynchronousVicsek(
            pos=torch.tensor(before), vel=torch.tensor(unit(angle)), v=SPEED, dt=1, kappa=kappa,
            interaction_radius=RADIUS, box_size=side, sampling_method=sampling,
            variant={"name": target, "parameters": {}},
            block_sparse_reduction=True)
        with contextlib.redirect_stdout(io.StringIO()):  # it writes of its progress
            self._flock.best_blocksparse_parameters(*self.CELLS, nb_calls=2)

    def step(self, steps):
        for _ in range(steps):
            next(self._flock)

    def headings(self):
        return self._flock.vel.numpy()


class Peer(NamedTuple):
    name: str         # of the package
    make: Callable    # gives a flock
    models: tuple     # which it has; the first is timed
    threads: int      # it can use so many


PEERS = [
    Peer("pyvicsek", PyVicsek, ("heading",), threads=1024),
    Peer("atooms-active", Atooms, ("vicsek", "vectorial"), threads=1),
    Peer("sisyphe", Sisyphe, ("vicsek", "vectorial", "heading"), threads=1024),
]


def agrees_step_by_step(peer, ctx, points, threads):
    """Whether the headings of a flock without noise are kith's after ten steps, but for one of a
    thousand, as kith rounds to 2^-23 of the radius and another may be within it."""
    flock = start(points)
    ours, theirs = Own(ctx, *flock), peer.make(*flock, 0, peer.models[0], threads)
    ours.step(10)
    theirs.step(10)
    near = np.isclose(ours.headings(), theirs.headings(), rtol=0, atol=1e-4).all(axis=1)
    return np.mean(near) >= 0.999
