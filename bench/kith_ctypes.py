# SPDX-License-Identifier: BSD-3-Clause
"""kith as the comparison with other programs asks it: the Python package, over a given library."""

import os
import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "python"))
import kith


class Kith:
    """A context, and arrays for a list that are reused from call to call."""

    def __init__(self, library, threads):
        os.environ["KITH_LIBRARY"] = os.path.abspath(library)  # read at the first call
        self.ctx = kith.Context("cpu", threads)
        self.backend = self.ctx.backend
        self._room = {}  # arrays by what they hold
        self._box = {True: kith.Box(1.0), False: kith.Box()}

    def find(self, xyz, cutoff, periodic, full, shifts):
        """Find pairs of a C-contiguous [n][3] in the unit cube.
        Return i and j, which the next call overwrites."""
        want = "ijS" if shifts else "ij"
        room = self._room.get(want)
        how = {"full": full, "ctx": self.ctx}
        if room is None:
            found = kith.pairs(xyz, cutoff, self._box[periodic], want, **how)
            self._room[want] = found
            return found[:2]
        try:
            return kith.pairs(xyz, cutoff, self._box[periodic], want, out=room, **how)[:2]
        except kith.CapacityError:
            del self._room[want]
            return self.find(xyz, cutoff, periodic, full, shifts)

    def find_within(self, xyz, radii, rule, periodic):
        """Find the full list with a radius for each particle. Return i and j."""
        return kith.pairs(xyz, None, self._box[periodic], "ij", full=True, radii=radii, rule=rule,
                          ctx=self.ctx)

    def find_groups(self, xyz, length, periodic, least):
        """Find groups of that many and more. Return their members, falling."""
        groups = kith.fof(xyz, length, self._box[periodic], min_members=least, ctx=self.ctx)
        return np.array(groups.members)

    def find_nearest(self, xyz, k, periodic):
        """Find the k nearest neighbours. Return their distances, which the next call overwrites."""
        want = ("jd", k)
        found = kith.nearest(xyz, k, self._box[periodic], "jd", ctx=self.ctx,
                             **({"out": self._room[want]} if want in self._room else {}))
        self._room[want] = found
        return found[1]

    def count(self, xyz, bins, r_max):
        """Count half pairs in the periodic unit cube by distance, in bins of equal width."""
        histogram = kith.rdf.Histogram(r_max, bins, ctx=self.ctx)
        return histogram.add(xyz, self._box[True]).counts()

    def free_list(self):
        """Free the arrays of the lists."""
        self._room.clear()

    def close(self):
        """Free all."""
        self.free_list()
        self.ctx.close()
