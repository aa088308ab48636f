# SPDX-License-Identifier: BSD-3-Clause
"""The shared library (environment: KITH_LIBRARY) for Python tests."""
import ctypes as C
import os

import numpy as np

from kith._abi import (DISTANCES, SHIFTS, VECTORS, Box, FofOptions, Groups, Options, Pairs,
                       PairsOptions, Points)

_lib = C.CDLL(os.environ["KITH_LIBRARY"])
_lib.kith_message.restype = C.c_char_p
_lib.kith_open.argtypes = [C.POINTER(Options), C.POINTER(C.c_void_p)]
_lib.kith_close.argtypes = _lib.kith_message.argtypes = [C.c_void_p]
_lib.kith_pairs_free.argtypes = [C.POINTER(Pairs)]
_lib.kith_pairs_free.restype = _lib.kith_close.restype = None
_lib.kith_pairs_find.argtypes = [C.c_void_p, C.POINTER(Points), C.POINTER(Box), C.c_double,
                                 C.POINTER(PairsOptions), C.POINTER(Pairs)]
_lib.kith_fof_find.argtypes = [C.c_void_p, C.POINTER(Points), C.POINTER(Box), C.c_double,
                               C.POINTER(FofOptions), C.POINTER(Groups)]
_lib.kith_groups_free.argtypes = [C.POINTER(Groups)]
_lib.kith_groups_free.restype = None


def _points(xyz):
    assert xyz.dtype in (np.float32, np.float64) and xyz.flags.c_contiguous
    at, size = xyz.ctypes.data, xyz.itemsize
    return Points(len(xyz), at, at + size, at + 2 * size, 3, size, 0)


def _box(rows, origin, periodic, dim):
    box = Box((C.c_double * 3)(*origin), periodic=(C.c_int * 3)(*map(int, periodic)), dim=dim)
    for k in range(3):
        for m in range(3):
            box.row[k][m] = 0 if rows is None else rows[k][m]
    return box


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
        box = _box(rows, origin, periodic, dim)
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

    def groups(self, xyz, length, *, rows=None, origin=(0, 0, 0), periodic=(0, 0, 0), dim=3,
               min_members=1, ids=None):
        """Return the label of each particle and the members of each group."""
        options = FofOptions(C.sizeof(FofOptions), min_members)
        if ids is not None:
            assert ids.dtype == np.int64 and ids.flags.c_contiguous
            options.ids = ids.ctypes.data
        points, box, out = _points(xyz), _box(rows, origin, periodic, dim), Groups()
        status = _lib.kith_fof_find(self._at, C.byref(points), C.byref(box), length,
                                    C.byref(options), C.byref(out))
        if status:
            raise RuntimeError(_lib.kith_message(self._at).decode())
        try:
            return (_array(out.labels, (len(xyz),), np.int32),
                    _array(out.members, (out.n,), np.int64))
        finally:
            _lib.kith_groups_free(C.byref(out))
