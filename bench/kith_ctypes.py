# SPDX-License-Identifier: BSD-3-Clause
"""As much of kith.h in ctypes as the comparison with other programs needs."""

import ctypes as c
import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "python"))
from kith._abi import (SHIFTS, Box, FofOptions, Groups, Histogram, Options, Pairs, PairsOptions,
                       Points, RdfOptions)


def array(address, kind, n):
    """View n numbers of a C type."""
    return np.ctypeslib.as_array(c.cast(address, c.POINTER(kind)), (n,))


class Kith:
    """A context, its lists and one set of groups, reused from call to call."""

    def __init__(self, library, threads):
        lib = self.lib = c.CDLL(library)
        lib.kith_message.restype = lib.kith_backend.restype = lib.kith_version.restype = c.c_char_p
        lib.kith_points_packed.restype = Points
        lib.kith_points_packed.argtypes = [c.c_void_p, c.c_int64, c.c_int]
        lib.kith_box_open.restype = lib.kith_box_periodic.restype = Box
        lib.kith_box_periodic.argtypes = [c.c_double] * 3
        lib.kith_pairs_find.argtypes = [c.c_void_p, c.POINTER(Points), c.POINTER(Box), c.c_double,
                                        c.POINTER(PairsOptions), c.POINTER(Pairs)]
        lib.kith_fof_find.argtypes = [c.c_void_p, c.POINTER(Points), c.POINTER(Box), c.c_double,
                                      c.POINTER(FofOptions), c.POINTER(Groups)]
        lib.kith_rdf_count.argtypes = [c.c_void_p, c.POINTER(Points), c.POINTER(Box),
                                       c.POINTER(RdfOptions), c.POINTER(Histogram)]
        lib.kith_message.argtypes = lib.kith_backend.argtypes = [c.c_void_p]
        lib.kith_close.argtypes = [c.c_void_p]
        options, self.list, self.fof = Options(), PairsOptions(), FofOptions()
        self.rdf = RdfOptions()
        lib.kith_options_init(c.byref(options))
        lib.kith_pairs_options_init(c.byref(self.list))
        lib.kith_fof_options_init(c.byref(self.fof))
        lib.kith_rdf_options_init(c.byref(self.rdf))
        for made in (options, self.list, self.fof, self.rdf):
            if made.size != c.sizeof(made):
                raise RuntimeError(f"{type(made).__name__} is not as in {library}")
        options.backend, options.threads = b"cpu", threads
        self.ctx, self.pairs, self.groups = c.c_void_p(), Pairs(), Groups()
        if lib.kith_open(c.byref(options), c.byref(self.ctx)) != 0:
            raise RuntimeError(lib.kith_message(None).decode())
        self.backend = lib.kith_backend(self.ctx).decode()

    def _ask(self, call, xyz, radius, periodic, options, out):
        points = self.lib.kith_points_packed(xyz.ctypes.data, len(xyz), xyz.itemsize)
        box = self.lib.kith_box_periodic(1, 1, 1) if periodic else self.lib.kith_box_open()
        given = () if radius is None else (radius,)
        if call(self.ctx, c.byref(points), c.byref(box), *given, c.byref(options),
                c.byref(out)) != 0:
            raise RuntimeError(self.lib.kith_message(self.ctx).decode())

    def find(self, xyz, cutoff, periodic, full, shifts):
        """Find pairs of a C-contiguous [n][3] in the unit cube.
        Return i and j, views that the next call overwrites."""
        self.list.full = full
        self.list.extras = SHIFTS if shifts else 0
        self._ask(self.lib.kith_pairs_find, xyz, cutoff, periodic, self.list, self.pairs)
        return [array(a, c.c_int32, self.pairs.n) for a in (self.pairs.i, self.pairs.j)]

    def find_groups(self, xyz, length, periodic, least):
        """Find groups of that many and more likewise. Return their members, falling."""
        self.fof.min_members = least
        self._ask(self.lib.kith_fof_find, xyz, length, periodic, self.fof, self.groups)
        n = self.groups.n
        return array(self.groups.members, c.c_int64, n) if n else np.empty(0, np.int64)

    def count(self, xyz, bins, r_max):
        """Count half pairs in the periodic unit cube by distance, in bins of equal width."""
        self.rdf.bins, self.rdf.r_max, histogram = bins, r_max, Histogram()
        self._ask(self.lib.kith_rdf_count, xyz, None, True, self.rdf, histogram)
        counts = array(histogram.counts, c.c_int64, bins).copy()
        self.lib.kith_histogram_free(c.byref(histogram))
        return counts

    def free_list(self):
        self.lib.kith_pairs_free(c.byref(self.pairs))

    def close(self):
        self.free_list()
        self.lib.kith_groups_free(c.byref(self.groups))
        self.lib.kith_close(self.ctx)
