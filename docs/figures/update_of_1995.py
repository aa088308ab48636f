#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Print the table of flock.md of Vicsek's model with two orders of update: kith's, which moves by the
new velocities, and that of the paper of 1995, which moves by the old ones. Wants NumPy and the Python
package kith; takes a minute on a core."""

import math

import kith
import numpy as np

BOIDS, BLOCKS = 400, 10
CASES = ((4, 0.03, (0.3, 0.5, 0.6, 0.7)), (2, 0.5, (0.2, 0.4, 0.5, 0.6)))  # density, speed, noises
FIRST, STEPS = 2000, 10000  # to reach the steady state, and of the averages


def polarisation(density, speed, noise, old):
    """The mean of the steady state, and its standard error by blocks. Each step is the first of a
    flock of its own, so that positions can be set; first_step gives it its random angles."""
    side = math.sqrt(BOIDS / density)
    random = np.random.default_rng(1)
    x, angle = random.random((BOIDS, 2)) * side, random.uniform(-np.pi, np.pi, BOIDS)
    v = speed * np.stack([np.cos(angle), np.sin(angle)], 1)
    box, series = kith.Box([side, side]), []
    with kith.Context(threads=1) as ctx:
        for step in range(FIRST + STEPS):
            with kith.Flock(x, v, box, ctx=ctx, model="vicsek", alignment=(1, 1), max_speed=speed,
                            time_step=1, noise=noise, seed=1, first_step=step) as flock:
                new = flock.step().velocities
            x = (x + (v if old else new)) % side
            v = new
            series.append(np.hypot(*v.mean(axis=0)) / speed)
    means = np.mean(np.array_split(series[FIRST:], BLOCKS), axis=1)
    return means.mean(), means.std(ddof=1) / math.sqrt(BLOCKS)


def main():
    print("| density | speed | noise | new velocities: kith | old velocities: 1995 |")
    print("|---|---|---|---|---|")
    for density, speed, noises in CASES:
        for noise in noises:
            found = [polarisation(density, speed, noise, old) for old in (False, True)]
            words = [f"{mean:.4f}({1e4 * error:.0f})" for mean, error in found]
            print("|", " | ".join([f"{density}", f"{speed}", f"{noise}", *words]), "|", flush=True)


if __name__ == "__main__":
    main()
