# SPDX-License-Identifier: BSD-3-Clause
"""Frames for the tests of kith rdf, and its columns read back."""
import ctypes
import gzip
import json
import os
import random
import sys

import needs

SIDES = (4.0, 4.5, 5.0)
NAMES = ("H", "Na", "O")  # as tables have them; O comes first in the files


def make_frames(n=45, sides=SIDES, seed=1):
    """Frames of (names, positions, side): a mixture in cubes that change."""
    rng = random.Random(seed)
    names = [NAMES[(2, 0, 0, 1, 0)[p % 5]] for p in range(n)]
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


def write_gsd(path, chunks):
    """GSD 2.0 of chunks (frame, name, type, rows, columns, bytes), by the writer of the corpus."""
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "fuzz"))
    before, sys.argv = sys.argv, ["make_corpus.py", "corpus"]
    try:
        import make_corpus  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise needs.Skip(needs.missing(error.name)) from error
    finally:
        sys.argv = before
    with open(path, "wb") as file:
        file.write(make_corpus.gsd_file(2, chunks))


def write_packed(path, frames):
    """In the format that the name ends in, by the library chemfiles."""
    if "KITH_CHEMFILES" not in os.environ:
        raise needs.Skip("no chemfiles in build/peers (.ci/peers)")
    lib = ctypes.CDLL(os.environ["KITH_CHEMFILES"])
    for made in (lib.chfl_trajectory_open, lib.chfl_frame, lib.chfl_cell, lib.chfl_atom):
        made.restype = ctypes.c_void_p
    three = ctypes.c_double * 3
    file = ctypes.c_void_p(lib.chfl_trajectory_open(path.encode(), ctypes.c_char(b"w")))
    for names, points, side in frames:
        cell = ctypes.c_void_p(lib.chfl_cell(three(side, side, side), None))
        frame = ctypes.c_void_p(lib.chfl_frame())
        assert lib.chfl_frame_set_cell(frame, cell) == 0
        for name, point in zip(names, points):
            atom = ctypes.c_void_p(lib.chfl_atom(name.encode()))
            assert lib.chfl_frame_add_atom(frame, atom, three(*point), None) == 0
            lib.chfl_free(atom)
        assert lib.chfl_trajectory_write(file, frame) == 0, path
        lib.chfl_free(frame)
        lib.chfl_free(cell)
    lib.chfl_trajectory_close(file)


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
