# SPDX-License-Identifier: BSD-3-Clause
"""The structs of libkith-io (io/io.h, io/trajectories/trajectory.h) for ctypes, and its functions.
A test compares every size and offset with the C compiler's (tests/python/io_layout.c)."""
from __future__ import annotations

import ctypes as C
from typing import Any

from . import _abi

NAME_LENGTH, MOST_TYPES, GUESSED, MOST_THINGS = 64, 32, 200, 16
MASSES, VELOCITIES, IDS, TYPES, POTENTIALS, DENSITIES = (1 << bit for bit in range(6))
FORCES, MOLECULES, BONDS, WEIGHTS = (1 << bit for bit in range(16, 20))
LABELS = {"any": 0, "element": 1, "type": 2, "name": 3}


class IoError(C.Structure):
    _fields_ = [("status", C.c_int), ("text", C.c_char * 1024)]


class Cosmology(C.Structure):
    _fields_ = [("known", C.c_bool), ("a", C.c_double), ("redshift", C.c_double),
                ("h", C.c_double), ("omega_m", C.c_double), ("omega_lambda", C.c_double),
                ("omega_b", C.c_double)]


class Units(C.Structure):
    _fields_ = [("source", C.c_int), ("length", C.c_double), ("mass", C.c_double),
                ("velocity", C.c_double), ("length_h", C.c_double), ("mass_h", C.c_double)]


class UnitName(C.Structure):
    _fields_ = [("length", C.c_char * NAME_LENGTH), ("mass", C.c_char * NAME_LENGTH),
                ("velocity", C.c_char * NAME_LENGTH)]


class Particles(C.Structure):
    _fields_ = [("n", C.c_int64), ("dim", C.c_int), ("precision", C.c_int), ("pos", C.c_void_p),
                ("mass", C.c_void_p), ("velocity", C.c_void_p), ("id", C.c_void_p),
                ("type", C.c_void_p), ("potential", C.c_void_p), ("density", C.c_void_p),
                ("partial", C.c_uint), ("in_file", C.c_int64 * MOST_TYPES),
                ("has_box", C.c_bool), ("box", _abi.Box), ("bytes", C.c_int64),
                ("has_time", C.c_bool), ("time", C.c_double),
                ("mass_of_type", C.c_double * MOST_TYPES), ("cosmology", Cosmology),
                ("units", Units), ("frames", C.c_int64), ("all", C.c_int64),
                ("first", C.c_int64), ("radius", C.c_void_p),
                ("unit", C.c_char * NAME_LENGTH)]


class ReadOptions(C.Structure):
    _fields_ = [("dataset", C.c_char_p), ("columns", C.c_char_p), ("species", C.c_char_p),
                ("fields", C.c_uint), ("needed", C.c_uint), ("precision", C.c_int),
                ("frame", C.c_int64), ("watch", C.c_void_p), ("user", C.c_void_p),
                ("part", C.c_int64), ("parts", C.c_int64), ("radii", C.c_char_p),
                ("columns_if_text", C.c_bool), ("threads", C.c_int)]


class TrajectoryOptions(C.Structure):
    _fields_ = [("read", ReadOptions), ("frames", C.c_char_p), ("label", C.c_int),
                ("weights", C.c_char_p), ("topology", C.c_char_p), ("boxes_only", C.c_bool)]


class Things(C.Structure):
    _fields_ = [("n", C.c_int64), ("item", _abi.FlockThing * MOST_THINGS)]


class Frame(C.Structure):
    _fields_ = [("particles", Particles), ("index", C.c_int64), ("has_step", C.c_bool),
                ("step", C.c_int64), ("unit", C.c_char * NAME_LENGTH),
                ("guessed", C.c_char * GUESSED), ("system", C.c_char * 16),
                ("species", C.c_void_p), ("n_names", C.c_int), ("names", C.c_void_p),
                ("force", C.c_void_p), ("molecule", C.c_void_p), ("weight", C.c_void_p),
                ("n_bonds", C.c_int64), ("bond", C.c_void_p), ("room", C.c_int64),
                ("fields", C.c_uint), ("things", Things)]


STRUCTS = {"io_error": IoError, "io_cosmology": Cosmology, "io_units": Units,
           "io_unit_name": UnitName, "io_particles": Particles, "io_read_options": ReadOptions,
           "io_trajectory_options": TrajectoryOptions, "io_frame": Frame}

_P: Any = C.POINTER
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "io_unit_names": (None, [_P(Units), _P(UnitName)]),
    "io_trajectory_open": (C.c_int, [C.c_char_p, _P(TrajectoryOptions), _P(C.c_void_p),
                                     _P(IoError)]),
    "io_trajectory_next": (C.c_int, [C.c_void_p, _P(_P(Frame)), _P(IoError)]),
    "io_trajectory_frames": (C.c_int64, [C.c_void_p]),
    "io_trajectory_description": (C.c_char_p, [C.c_void_p]),
    "io_trajectory_close": (None, [C.c_void_p]),
    "sets_uniform": (None, [C.c_void_p, C.c_int64, C.c_uint64]),
    "sets_lattice": (C.c_int64, [C.c_void_p, C.c_int64, C.c_int]),
    "sets_plummer": (None, [C.c_void_p, C.c_int64, C.c_uint64]),
    "sets_clustered": (None, [C.c_void_p, C.c_int64, C.c_uint64]),
    "sets_soneira_peebles": (None, [C.c_void_p, C.c_int64, C.c_uint64]),
    "sets_bridge": (None, [C.c_void_p, C.c_void_p, C.c_int64, C.c_uint64]),
}
