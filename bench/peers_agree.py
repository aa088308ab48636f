#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compare what other programs for flocks find in the steady state with kith: averages, with errors.

    peers_agree.py --kith libkith.so [-o results.json] [--quick]

The polarisation of each model of flock_peers.py that a peer has, at noises on both sides of its
transition: 512 particles of density 2, speed 0.5, radius 1. And the diffusion of active Brownian
particles in a plane, soft spheres of diameter 1, dilute and dense, whose force is SiSyPHE's;
without force also the exact value. Errors are standard errors of ten blocks; a difference of more
than five of its errors is a failure. Adds the list `agreement` to the results file of kith_bench.
"""

import argparse
import importlib.metadata
import math
import os
import sys

import numpy as np

from flock_peers import PEERS, CallersNoise, Own, Sisyphe, import_torch, start, unit
from kith_ctypes import Kith, kith
from turns import add_results

N, BLOCKS, MOST_DEVIATION = 512, 10, 5
NOISES = {"vicsek": (0.2, 0.4, 0.5, 0.6, 0.8), "vectorial": (0.3, 0.55, 0.65, 0.8),
          "heading": (0.5, 0.9, 1.0, 1.2)}
FIRST, STEPS, OWN_STEPS = 300, 1500, 6000  # to reach the steady state, and of the averages

# Active Brownian particles of speed 1 and diameter 1: Peclet's number is 2.
FRACTIONS = 0.0, 0.3, 0.6  # of the plane that they fill; 0: without force
DISCS, TIME_STEP, ROTATION, MOBILITY = 400, 0.02, 0.5, 10.0
ANGLE = math.sqrt(2 * ROTATION * TIME_STEP)  # standard deviation of a step's turn
LAG, LAGS, FREE_FRACTION = 300, 10, 0.3      # steps of a displacement, and how many


def average(series):
    """The mean, and its standard error by blocks."""
    means = [np.mean(block) for block in np.array_split(series, min(BLOCKS, len(series)))]
    return float(np.mean(means)), float(np.std(means, ddof=1) / math.sqrt(len(means)))


def polarisation(flock, steps):
    """Of the steady state, with its error."""
    flock.step(FIRST)
    series = []
    for _ in range(steps):
        flock.step(1)
        series.append(np.hypot(*flock.headings().mean(axis=0)))
    return average(series)


class OwnDiscs:
    """Active Brownian particles of kith."""

    def __init__(self, ctx, places, angle, side, mobility, sigma=ANGLE):
        noise = {"noise": sigma / math.pi, "gaussian": True} if sigma else {}
        self._flock = kith.Flock(places, unit(angle), kith.Box([side, side]), ctx=ctx,
                                 separation=(0, 0), alignment=(0, 0), cohesion=(0, 0),
                                 repulsion=(1, mobility), min_speed=1, max_speed=1,
                                 time_step=TIME_STEP, **noise)

    def step(self, steps):
        self._flock.step(steps)

    def places(self):
        return self._flock.positions


class SisypheDiscs:
    """Active Brownian particles whose forces and boundaries are SiSyPHE's, whose turns and moves
    are here: it has no such model."""

    def __init__(self, places, angle, side, mobility, sigma=ANGLE):
        torch = import_torch(1)
        from sisyphe.particles import KineticParticles
        self._flock = KineticParticles(pos=torch.tensor(places), vel=torch.tensor(unit(angle)),
                                       interaction_radius=1.0, box_size=side)
        self._mobility, self._sigma, self._torch = mobility, sigma, torch
        self._angle = torch.tensor(angle)

    def step(self, steps):
        torch, flock = self._torch, self._flock
        for _ in range(steps):
            self._angle += self._sigma * torch.randn(len(self._angle), dtype=torch.float64)
            flock.vel = torch.stack([torch.cos(self._angle), torch.sin(self._angle)], 1)
            speed = flock.vel
            if self._mobility:
                speed = speed + self._mobility * flock.quadratic_potential_target(isaverage=False)
            flock.pos += TIME_STEP * speed
            flock.check_boundary()

    def places(self):
        return self._flock.pos.numpy().copy()


def discs(fraction):
    """Places, angles of headings, and the side of the square: a lattice, shaken."""
    side = math.sqrt(DISCS * math.pi / 4 / (fraction or FREE_FRACTION))
    row = math.isqrt(DISCS)
    random = np.random.default_rng(2)
    places = np.stack(np.divmod(np.arange(DISCS), row), 1) + 0.5
    places = places * side / row + random.uniform(-0.1, 0.1, (DISCS, 2))
    return places % side, random.uniform(-np.pi, np.pi, DISCS), side


def diffusion(flock, side, lags):
    """<(r(T) - r(0))^2> / 4 T of the steady state, T of LAG steps, with its error."""
    flock.step(LAG)
    squares = []
    before = flock.places()
    for _ in range(lags):
        moved = np.zeros_like(before)
        for _ in range(LAG // 10):
            flock.step(10)
            now = flock.places()
            moved += (now - before + side / 2) % side - side / 2
            before = now
        squares.append(np.mean(np.sum(moved**2, axis=1)))
    return average(np.array(squares) / (4 * LAG * TIME_STEP))


def exact_diffusion():
    """Of particles without force: the mean cosine of headings k steps apart is
    exp(-k ANGLE^2 / 2)."""
    k = np.arange(1, LAG)
    square = LAG + 2 * np.sum((LAG - k) * np.exp(-k * ANGLE**2 / 2))
    return square * TIME_STEP / (4 * LAG)


def result(program, case, at, n, steps, theirs, ours):
    """One comparison."""
    (value, error), (own_value, own_error) = theirs, ours
    found = {
        "program": program, "case": case, "at": at, "n": n, "steps": steps,
        "version": importlib.metadata.version(program) if program != "exact" else "",
        "value": value, "error": error, "kith_value": own_value, "kith_error": own_error,
        "deviation": abs(value - own_value) / math.hypot(error, own_error),
    }
    print(f"{program:14} {case:10} {at:4}: {value:.4f} +- {error:.4f}, kith {own_value:.4f} +- "
          f"{own_error:.4f}: {found['deviation']:.1f} of its errors", file=sys.stderr)
    return found


def flocks(ctx, peer, quick, known):
    """Polarisations of a peer and of kith, whose values are kept in `known`."""
    flock = start(np.random.default_rng(3).random((N, 2)))
    for model in peer.models:
        for noise in NOISES[model][::3] if quick else NOISES[model]:
            theirs = polarisation(peer.make(*flock, noise, model), STEPS)
            if (model, noise) not in known:
                ours = CallersNoise(ctx, *flock, noise) if model == "heading" else \
                    Own(ctx, *flock, noise, model)
                known[model, noise] = polarisation(ours, OWN_STEPS)
            yield result(peer.name, model, noise, N, STEPS, theirs, known[model, noise])


def brownian(ctx, quick):
    """Diffusion of active Brownian particles, SiSyPHE's and kith's; beside the exact one where
    there is no force."""
    for fraction in FRACTIONS[1:2] if quick else FRACTIONS:
        places, angle, side = discs(fraction)
        mobility = MOBILITY if fraction else 0
        flocks_of_both = [OwnDiscs(ctx, places, angle, side, mobility, 0),
                          SisypheDiscs(places, angle, side, mobility, 0)]
        for flock in flocks_of_both:
            flock.step(100)
        far = (flocks_of_both[0].places() - flocks_of_both[1].places() + side / 2) % side - side / 2
        if np.abs(far).max() > 1e-3:
            raise ArithmeticError(f"without noise discs are {np.abs(far).max()} apart")
        ours = diffusion(OwnDiscs(ctx, places, angle, side, mobility), side, 10 * LAGS)
        if not fraction:
            yield result("exact", "abp", fraction, DISCS, 0, (exact_diffusion(), 0.0), ours)
        theirs = diffusion(SisypheDiscs(places, angle, side, mobility), side, LAGS)
        yield result("sisyphe", "abp", fraction, DISCS, LAG * LAGS, theirs, ours)


def compare_all(args):
    """What is said of all peers that can be imported, and whether something is wrong."""
    ctx, known, found, wrong = Kith(args.kith, 1).ctx, {}, [], False
    for peer in PEERS:
        try:
            found += flocks(ctx, peer, args.quick, known)
            if peer.make is Sisyphe:
                found += brownian(ctx, args.quick)
        except ImportError as error:
            print(f"{peer.name} is left out: {error}", file=sys.stderr)
        except ArithmeticError as error:
            print(f"peers_agree.py: {peer.name}: {error}", file=sys.stderr)
            wrong = True
    for r in found:
        if not r["deviation"] <= MOST_DEVIATION:
            print(f"peers_agree.py: {r['program']}, {r['case']} at {r['at']}: {r['deviation']:.1f} "
                  f"errors away from kith, expected up to {MOST_DEVIATION}", file=sys.stderr)
            wrong = True
    return found, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--kith", required=True, help="the shared library")
    parser.add_argument("--quick", action="store_true", help="with fewer noises and densities")
    parser.add_argument("-o", "--output", help="results file of kith_bench to add to")
    args = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    found, wrong = compare_all(args)
    if args.output:
        add_results(args.output, found, "agreement", ("program", "case"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
