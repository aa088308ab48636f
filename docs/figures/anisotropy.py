#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draw anisotropy.png: where the n-th neighbour is in a flock, in flock.md. Wants NumPy, gnuplot and
the Python package kith; takes two minutes on a core."""

import pathlib
import subprocess
import tempfile

import kith
import numpy as np

BOIDS, SIDE, MOST, SEEDS, LOOKS = 2000, 12.6, 20, 6, 10
SHARED = {"max_speed": 0.3, "min_speed": 0.2, "time_step": 0.5, "alignment": (2.5, 0.3),
          "cohesion": (2.5, 0.02), "separation": (1.0, 0.05), "noise": 0.05}
RULES = {"all within the radius": {}, "the 7 nearest": {"nearest": 7},
         "the 7 nearest, blind behind": {"nearest": 7, "blind_angle": 2 * np.pi / 3}}
SCRIPT = """
set terminal pngcairo size 620,380 font ',11'
set output 'anisotropy.png'
set grid lc rgb '#e0e0e0'
set xlabel 'n'
set ylabel 'anisotropy of the n-th neighbour'
set yrange [0:1]
set key top right
plot 1. / 3 lc rgb '#888888' t 'isotropic', {curves}
"""


def start(seed, rules):
    """Return a flock that has flown for 400 steps, mostly along x at first."""
    rng = np.random.default_rng(seed)
    x = rng.random((BOIDS, 3)) * SIDE
    v = [1, 0, 0] + 0.3 * rng.normal(size=(BOIDS, 3))
    v *= SHARED["max_speed"] / np.linalg.norm(v, axis=1, keepdims=True)
    return kith.Flock(x, v, SIDE, seed=seed, **SHARED, **rules).step(400)


def anisotropy(flock):
    """Return, for each n, (w . V)^2: V the flock's direction, w that in which n-th neighbours are
    rarest, the eigenvector of the smallest eigenvalue of their mean u u^T (Ballerini et al. 2008)."""
    apart = kith.nearest(flock.positions, MOST, SIDE, "D")
    towards = apart / np.linalg.norm(apart, axis=2, keepdims=True)
    heading = flock.velocities.mean(0)
    heading /= np.linalg.norm(heading)
    mean = np.einsum("ina,inb->nab", towards, towards) / BOIDS
    rarest = np.linalg.eigh(mean)[1][:, :, 0]
    return (rarest @ heading) ** 2


def measure(rules):
    """Return mean and standard error over seeds for each n."""
    runs = []
    for seed in range(SEEDS):
        flock = start(seed, rules)
        runs.append(np.mean([anisotropy(flock.step(20)) for _ in range(LOOKS)], 0))
    return np.mean(runs, 0), np.std(runs, 0, ddof=1) / SEEDS**0.5


def main():
    here = pathlib.Path(__file__).resolve().parent
    with tempfile.TemporaryDirectory() as folder:
        curves = []
        for k, (name, rules) in enumerate(RULES.items()):
            table = np.column_stack([np.arange(1, MOST + 1), *measure(rules)])
            np.savetxt(f"{folder}/{k}.dat", table)
            print(name, *(f"{g:.2f}({e:.2f})" for _, g, e in table))
            curves.append(f"'{k}.dat' w yerrorlines pt 7 ps 0.5 t '{name}'")
        subprocess.run(["gnuplot"], cwd=folder, input=SCRIPT.format(curves=", ".join(curves)),
                       text=True, check=True)
        (here / "anisotropy.png").write_bytes(pathlib.Path(folder, "anisotropy.png").read_bytes())


if __name__ == "__main__":
    main()
