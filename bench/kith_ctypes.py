# SPDX-License-Identifier: BSD-3-Clause
"""As much of kith.h in ctypes as the comparison with other programs needs."""

import ctypes as c

import numpy as np

KITH_DOUBLE, KITH_SHIFTS = 8, 4


class Options(c.Structure):
    _fields_ = [("size", c.c_size_t), ("backend", c.c_char_p), ("threads", c.c_int),
                ("watch", c.c_void_p), ("user", c.c_void_p), ("stream", c.c_void_p)]


class Points(c.Structure):
    _fields_ = [("n", c.c_int64), ("x", c.c_void_p), ("y", c.c_void_p), ("z", c.c_void_p),
                ("stride", c.c_int64), ("precision", c.c_int), ("memory", c.c_int)]


class Box(c.Structure):
    _fields_ = [("origin", c.c_double * 3), ("row", c.c_double * 3 * 3),
                ("periodic", c.c_int * 3), ("dim", c.c_int)]


class PairsOptions(c.Structure):
    _fields_ = [("size", c.c_size_t), ("against", c.POINTER(Points)), ("full", c.c_int),
                ("sorted", c.c_int), ("unordered", c.c_int), ("layout", c.c_int),
                ("extras", c.c_uint), ("block_pairs", c.c_int64)]


class Pairs(c.Structure):
    _fields_ = [("n", c.c_int64), ("rows", c.c_int64), ("i", c.POINTER(c.c_int32)),
                ("j", c.POINTER(c.c_int32)), ("offsets", c.POINTER(c.c_int64)),
                ("distances", c.c_void_p), ("vectors", c.c_void_p),
                ("shifts", c.POINTER(c.c_int32)), ("capacity", c.c_int64), ("memory", c.c_int),
                ("owner", c.c_void_p)]


class Kith:
    """A context on the CPU and one list, reused from call to call."""

    def __init__(self, library, threads):
        lib = self.lib = c.CDLL(library)
        lib.kith_message.restype = lib.kith_backend.restype = lib.kith_version.restype = c.c_char_p
        lib.kith_points_packed.restype = Points
        lib.kith_points_packed.argtypes = [c.c_void_p, c.c_int64, c.c_int]
        lib.kith_box_open.restype = lib.kith_box_periodic.restype = Box
        lib.kith_box_periodic.argtypes = [c.c_double] * 3
        lib.kith_pairs_find.argtypes = [c.c_void_p, c.POINTER(Points), c.POINTER(Box), c.c_double,
                                        c.POINTER(PairsOptions), c.POINTER(Pairs)]
        lib.kith_message.argtypes = lib.kith_backend.argtypes = [c.c_void_p]
        lib.kith_close.argtypes = [c.c_void_p]
        options = Options()
        lib.kith_options_init(c.byref(options))
        self.list = PairsOptions()
        lib.kith_pairs_options_init(c.byref(self.list))
        for made in (options, self.list):
            if made.size != c.sizeof(made):
                raise RuntimeError(f"{type(made).__name__} is not as in {library}")
        options.backend, options.threads = b"cpu", threads
        self.ctx, self.pairs = c.c_void_p(), Pairs()
        if lib.kith_open(c.byref(options), c.byref(self.ctx)) != 0:
            raise RuntimeError(lib.kith_message(None).decode())
        self.backend = lib.kith_backend(self.ctx).decode()

    def find(self, xyz, cutoff, periodic, full, shifts):
        """Find pairs of a C-contiguous float64 [n][3] in the unit cube.
        Return i and j, views that the next call overwrites."""
        points = self.lib.kith_points_packed(xyz.ctypes.data, len(xyz), KITH_DOUBLE)
        box = self.lib.kith_box_periodic(1, 1, 1) if periodic else self.lib.kith_box_open()
        self.list.full = full
        self.list.extras = KITH_SHIFTS if shifts else 0
        if self.lib.kith_pairs_find(self.ctx, c.byref(points), c.byref(box), cutoff,
                                    c.byref(self.list), c.byref(self.pairs)) != 0:
            raise RuntimeError(self.lib.kith_message(self.ctx).decode())
        return [np.ctypeslib.as_array(a, (self.pairs.n,)) for a in (self.pairs.i, self.pairs.j)]

    def free_list(self):
        self.lib.kith_pairs_free(c.byref(self.pairs))

    def close(self):
        self.free_list()
        self.lib.kith_close(self.ctx)
