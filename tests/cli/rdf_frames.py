# SPDX-License-Identifier: BSD-3-Clause
"""Frames for the tests of kith rdf, and its columns read back."""
import gzip
import json
import os
import random

SIDES = (4.0, 4.5, 5.0)
NAMES = ("O", "H", "Na")


def make_frames(n=45, sides=SIDES, seed=1):
    """Frames of (names, positions, side): a mixture in cubes that change."""
    rng = random.Random(seed)
    names = [NAMES[(0, 1, 1, 2, 1)[p % 5]] for p in range(n)]
    return [(names, [[rng.random() * side for _ in range(3)] for _ in range(n)], side)
            for side in sides]


def write_xyz(path, frames):
    """As extended XYZ; a side of 0 is no box."""
    with open(path, "w", encoding="ascii") as file:
        for names, points, side in frames:
            box = f'Lattice="{side} 0 0 0 {side} 0 0 0 {side}" ' if side else ""
            file.write(f"{len(names)}\n{box}Properties=species:S:1:pos:R:3\n")
            for name, point in zip(names, points):
                file.write(f"{name} {point[0]!r} {point[1]!r} {point[2]!r}\n")


def columns(path):
    """The columns of a JSON file."""
    with open(path, encoding="utf-8") as file:
        return json.load(file)["columns"]


def close(a, b, tolerance=1e-12):
    return len(a) == len(b) and all(abs(x - y) <= tolerance * max(1, abs(y)) for x, y in zip(a, b))


def unpack_lennard_jones(path):
    """The frames that LAMMPS made."""
    packed = os.path.join(os.environ["KITH_TEST_DATA"], "md", "lammps_lj", "dump.lj.lammpstrj.gz")
    with gzip.open(packed) as source, open(path, "wb") as file:
        file.write(source.read())
