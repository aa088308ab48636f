# SPDX-License-Identifier: BSD-3-Clause
"""The pair search of the shared library (environment: KITH_LIBRARY) for Python tests."""
import ctypes as C
import os
import subprocess

import numpy as np

DISTANCES, VECTORS, SHIFTS = 1, 2, 4


class Options(C.Structure):
    _fields_ = [("size", C.c_size_t), ("backend", C.c_char_p), ("threads", C.c_int),
                ("watch", C.c_void_p), ("user", C.c_void_p), ("stream", C.c_void_p)]


class Points(C.Structure):
    _fields_ = [("n", C.c_int64), ("x", C.c_void_p), ("y", C.c_void_p), ("z", C.c_void_p),
                ("stride", C.c_int64), ("precision", C.c_int), ("memory", C.c_int)]


class Box(C.Structure):
    _fields_ = [("origin", C.c_double * 3), ("row", (C.c_double * 3) * 3),
                ("periodic", C.c_int * 3), ("dim", C.c_int)]


class PairsOptions(C.Structure):
    _fields_ = [("size", C.c_size_t), ("against", C.POINTER(Points)), ("full", C.c_int),
                ("sorted", C.c_int), ("unordered", C.c_int), ("layout", C.c_int),
                ("extras", C.c_uint), ("block_pairs", C.c_int64)]


class Pairs(C.Structure):
    _fields_ = [("n", C.c_int64), ("rows", C.c_int64), ("i", C.c_void_p), ("j", C.c_void_p),
                ("offsets", C.c_void_p), ("distances", C.c_void_p), ("vectors", C.c_void_p),
                ("shifts", C.c_void_p), ("capacity", C.c_int64), ("memory", C.c_int),
                ("owner", C.c_void_p)]


STRUCTS = {"kith_options": Options, "kith_points": Points, "kith_box": Box,
           "kith_pairs_options": PairsOptions, "kith_pairs": Pairs}

_lib = C.CDLL(os.environ["KITH_LIBRARY"])
_lib.kith_message.restype = C.c_char_p
_lib.kith_open.argtypes = [C.POINTER(Options), C.POINTER(C.c_void_p)]
_lib.kith_close.argtypes = _lib.kith_message.argtypes = [C.c_void_p]
_lib.kith_pairs_free.argtypes = [C.POINTER(Pairs)]
_lib.kith_pairs_free.restype = _lib.kith_close.restype = None
_lib.kith_pairs_find.argtypes = [C.c_void_p, C.POINTER(Points), C.POINTER(Box), C.c_double,
                                 C.POINTER(PairsOptions), C.POINTER(Pairs)]


def check_layout(program):
    """Compare the structs above with the C compiler's, as printed by struct_layout."""
    lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split("\n")
    seen = {}
    for line in filter(None, lines):
        name, value = line.split()
        struct, _, field = name.partition(".")
        mirror = STRUCTS[struct]
        here = getattr(mirror, field).offset if field else C.sizeof(mirror)
        assert here == int(value), f"{name}: {here} in Python, {value} in C"
        if field:
            seen.setdefault(struct, []).append(field)
    for struct, mirror in STRUCTS.items():
        assert seen[struct] == [field[0] for field in mirror._fields_], struct


def _points(xyz):
    assert xyz.dtype in (np.float32, np.float64) and xyz.flags.c_contiguous
    at, size = xyz.ctypes.data, xyz.itemsize
    return Points(len(xyz), at, at + size, at + 2 * size, 3, size, 0)


def _array(address, shape, dtype):
    count = int(np.prod(shape))
    if count == 0:
        return np.empty(shape, dtype)
    raw = (C.c_char * (count * np.dtype(dtype).itemsize)).from_address(address)
    return np.frombuffer(raw, dtype).reshape(shape).copy()


class Context:
    """An open context; use with `with`."""

    def __init__(self, backend=None, threads=0):
        self._at = C.c_void_p()
        options = Options(C.sizeof(Options), backend.encode() if backend else None, threads)
        status = _lib.kith_open(C.byref(options), C.byref(self._at))
        if status:
            raise RuntimeError(_lib.kith_message(None).decode())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        _lib.kith_close(self._at)

    def pairs(self, xyz, cutoff, *, rows=None, origin=(0, 0, 0), periodic=(0, 0, 0), dim=3,
              against=None, full=False, sort=True, csr=False):
        """Return i, j, S, d, r of the list."""
        box = Box((C.c_double * 3)(*origin), periodic=(C.c_int * 3)(*map(int, periodic)), dim=dim)
        for k in range(3):
            for m in range(3):
                box.row[k][m] = 0 if rows is None else rows[k][m]
        options = PairsOptions(C.sizeof(PairsOptions), None, full, sort, 0, csr,
                               DISTANCES | VECTORS | SHIFTS, 0)
        points = _points(xyz)
        if against is not None:
            other = _points(against)
            options.against = C.pointer(other)
        out = Pairs()
        status = _lib.kith_pairs_find(self._at, C.byref(points), C.byref(box), cutoff,
                                      C.byref(options), C.byref(out))
        if status:
            raise RuntimeError(_lib.kith_message(self._at).decode())
        try:
            n = out.n
            if csr:
                ends = _array(out.offsets, (len(xyz) + 1,), np.int64)
                i = np.repeat(np.arange(len(xyz), dtype=np.int32), np.diff(ends))
            else:
                i = _array(out.i, (n,), np.int32)
            return (i, _array(out.j, (n,), np.int32), _array(out.shifts, (n, 3), np.int32),
                    _array(out.vectors, (n, 3), xyz.dtype), _array(out.distances, (n,), xyz.dtype))
        finally:
            _lib.kith_pairs_free(C.byref(out))
