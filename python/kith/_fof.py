# SPDX-License-Identifier: BSD-3-Clause
"""Friends of friends: groups of particles, and what halos are like."""
import ctypes as C

import numpy as np

from . import _abi
from ._arrays import Owned, address, column, coordinates
from ._context import Unshared, context
from ._lib import library
from ._numbers import real, whole
from ._box import as_box, dimensions

# The fields of kith_halo as a structured type; `axis` has a unit vector in each row.
HALO = np.dtype([
    ("members", "i8"), ("members_of_type", "i8", _abi.TYPES), ("mass", "f8"),
    ("mass_of_type", "f8", _abi.TYPES), ("centre_of_mass", "f8", 3), ("centre", "f8", 3),
    ("particle", "i8"), ("velocity", "f8", 3), ("dispersion", "f8"), ("radius_rms", "f8"),
    ("radius_max", "f8"), ("angular_momentum", "f8", 3), ("inertia", "f8", 6),
    ("axis_length", "f8", 3), ("axis", "f8", (3, 3)), ("sphere_radius", "f8", _abi.SPHERES),
    ("sphere_mass", "f8", _abi.SPHERES)])


class Groups(Unshared):
    """Groups of particles. Group 1 is the largest. The coordinates are kept, but not copied:
    measure halos before they change.

    Attributes
    ----------
    labels : array [n] of int32
        The group of each particle, 1 to len(self); 0: in none.
    members : array [len(self)] of int64
        Particles in each group, falling; members[0] is of group 1.
    """

    def __init__(self, owned, x, box):
        found = owned.struct
        self._owned, self._x, self._box = owned, x, box
        self.labels = owned.view(found.labels, (found.points,), np.int32)
        self.members = owned.view(found.members, (found.n,), np.int64)
        self.labels.flags.writeable = self.members.flags.writeable = False

    def __len__(self):
        return self._owned.struct.n

    def __repr__(self):
        return f"<kith.Groups: {len(self)} groups of {len(self.labels)} particles>"

    def halos(self, *, masses=None, velocities=None, types=None, potentials=None, densities=None,
              sphere_density=(), ctx=None):
        """Measure the groups.

        Parameters
        ----------
        masses, potentials, densities : array [n], optional
            Of each particle, rounded to the type of x; without masses each is 1. The centre is at
            the lowest potential, else at the highest density.
        velocities : array [n][dim], optional
            What needs them is 0 without.
        types : array [n] of integers 0 to 7, optional
        sphere_density : up to 4 densities, optional
            Mean densities [mass / length^3] of the spheres around each centre.

        Returns
        -------
        structured array [len(self)]
            Row k is of group k + 1; the fields are those of HALO, described in kith.h.
        """
        points, kept = coordinates(self._x, "x", self._box.dim)
        dtype, n = kept.dtype, len(kept)
        given = _abi.HaloInput()
        library().kith_halo_input_init(C.byref(given))
        speed = _in_space(velocities, n, dtype, self._box.dim)
        reals = ((masses, "masses"), (potentials, "potentials"), (densities, "densities"))
        lives = [speed, *(column(values, n, dtype, name) for values, name in reals),
                 column(types, n, np.uint8, "types")]
        (given.velocities, given.masses, given.potentials, given.densities,
         given.types) = map(address, lives)
        sphere_density = np.atleast_1d(sphere_density).tolist()
        if len(sphere_density) > _abi.SPHERES:
            raise ValueError(f"sphere_density has {len(sphere_density)} densities; at most "
                             f"{_abi.SPHERES}")
        for k, density in enumerate(sphere_density):
            given.sphere_density[k] = real(density, "sphere_density")
        found, space = _abi.Halos(), self._box.struct()
        owned = Owned(found, library().kith_halos_free)
        context(ctx).call("kith_halos_measure", C.byref(points), C.byref(space),
                          C.byref(self._owned.struct), C.byref(given), C.byref(found))
        return _halo_array(owned)


def _in_space(velocities, n, dtype, dim):
    """Return velocities [n][dim] as the library reads them, [n][3]; None stays None."""
    made = column(velocities, n, dtype, "velocities", dim)
    if made is None or dim == 3:
        return made
    return np.hstack([made, np.zeros((n, 1), dtype)])


def _halo_array(owned):
    """Return the halos of a result as a structured array that keeps it alive."""
    found = owned.struct
    raw = owned.view(C.cast(found.halo, C.c_void_p).value, (found.n * HALO.itemsize,), np.uint8)
    return raw.view(HALO)


def fof(x, length, box=None, *, min_members=20, ids=None, roles=None, min_links=0,
        velocities=None, velocity_length=0.0, ctx=None):
    """Find groups by friends-of-friends.

    Parameters
    ----------
    x : array [n][3] or [n][2]
        Coordinates, float32 or float64.
    length : float
        The linking length.
    box : Box, float or array, optional
        As in `pairs`.
    min_members : int, optional
        Smaller groups get label 0.
    ids : array [n] of integers, optional
        Groups of one size are numbered by the smallest id; default: the index.
    roles : array [n] of integers, optional
        0: links; 1: joins the group of the nearest that links; 2: is in no group.
    min_links : int, optional
        A particle links only when at least this many others are within the length.
    velocities : array [n][dim], optional
        Friends are then those with r^2 / length^2 + v^2 / velocity_length^2 <= 1.

    Returns
    -------
    Groups

    Examples
    --------
    >>> groups = kith.fof(np.array([[0., 0, 0], [1, 0, 0], [9, 0, 0]]), 1.0, min_members=2)
    >>> groups.labels
    array([1, 1, 0], dtype=int32)
    """
    dim = dimensions(x, box)
    space = as_box(box, dim)
    points, kept = coordinates(x, "x", dim)
    n = len(kept)
    options = _abi.FofOptions()
    library().kith_fof_options_init(C.byref(options))
    options.min_members = whole(min_members, "min_members")
    options.min_links = whole(min_links, "min_links")
    ids = column(ids, n, np.int64, "ids")
    roles = column(roles, n, np.uint8, "roles")
    speed = _in_space(velocities, n, kept.dtype, dim)
    options.ids, options.roles, options.velocities = map(address, (ids, roles, speed))
    options.velocity_length = real(velocity_length, "velocity_length")
    found, struct = _abi.Groups(), space.struct()
    owned = Owned(found, library().kith_groups_free)
    context(ctx).call("kith_fof_find", C.byref(points), C.byref(struct), real(length, "length"),
                      C.byref(options), C.byref(found))
    return Groups(owned, kept, space)
