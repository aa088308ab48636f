# SPDX-License-Identifier: BSD-3-Clause
"""Friends of friends: groups of particles, and what halos are like."""
from __future__ import annotations

import ctypes as C
from importlib import import_module
from typing import Any, Optional

import numpy as np

from . import _abi
from ._arrays import Owned, address, column, column_like, coordinates
from ._batch import filled, systems
from ._context import SMALL, Context, Unshared, address_of, context
from ._kinds import NUMPY, DeviceArray, Kind, Memory, kind_of, take
from ._lib import library
from ._numbers import real, whole
from ._sources import resolve
from ._box import Box, as_box, dimensions

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

    Arrays are of the library that the coordinates are of, and on their device.

    Attributes
    ----------
    labels : array [n] of int32
        The group of each particle, 1 to len(self); 0: in none.
    members : array [len(self)] of int64
        Particles in each group that link, falling; members[0] is of group 1. Those that joined
        it by their role have its label, and count in halos() alone.
    offsets : array [systems + 1] of int64, or None
        Of a batch: groups offsets[s] + 1 to offsets[s + 1] are those of system s.
    """

    def __init__(self, owned: Owned, x: Memory, box: Box, kind: Kind) -> None:
        found = owned.struct
        self._owned, self._x, self._box = owned, x, box
        labels, members = (
            owned.on_device(at, shape, dtype, x.number) if isinstance(x, DeviceArray)
            else owned.view(at, shape, dtype)
            for at, shape, dtype in ((found.labels, (found.points,), np.int32),
                                     (found.members, (found.n,), np.int64)))
        if kind is NUMPY and isinstance(labels, np.ndarray) and isinstance(members, np.ndarray):
            labels.flags.writeable = members.flags.writeable = False
        self.labels, self.members = kind.give(labels), kind.give(members)
        self.offsets = (owned.view(found.offsets, (found.systems + 1,), np.int64)
                        if found.offsets else None)

    def __len__(self) -> int:
        return int(self._owned.struct.n)

    def __repr__(self) -> str:
        return f"<kith.Groups: {len(self)} groups of {len(self.labels)} particles>"

    @property
    def coordinates(self) -> Any:
        """The coordinates, as the library reads them."""
        return self._x

    @property
    def box(self) -> Box:
        """The box of the coordinates."""
        return self._box

    def plot(self, what: str = "map", **how: Any) -> Any:
        """Draw a map of the halos, or their mass function by numbers of members, by matplotlib.

        Parameters
        ----------
        what : {"map", "mass_function"}, optional
        **how
            Passed to kith.plot.halo_map or kith.plot.mass_function.
        """
        plot = import_module("kith").plot
        if what == "map":
            return plot.halo_map(self, self._x, **how)
        if what == "mass_function":
            return plot.mass_function(self, **how)
        raise ValueError(f"what is {what!r}; it may be 'map' or 'mass_function'")

    def halos(self, *, masses: Any = None, velocities: Any = None, types: Any = None,
              potentials: Any = None, densities: Any = None, sphere_density: Any = (),
              ctx: Optional[Context] = None) -> np.ndarray[Any, Any]:
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
        if self.offsets is not None:
            raise ValueError("halos of a batch are not offered: find the groups of each system")
        points, kept = coordinates(self._x, "x", self._box.dim, device=True)
        given = _abi.HaloInput()
        library().kith_halo_input_init_sized(C.byref(given), C.sizeof(given))
        columns = halo_input(kept, self._box.dim, masses, velocities, types, potentials, densities)
        for name, values in columns.items():
            setattr(given, name, address(values))
        for k, density in enumerate(sphere_densities(sphere_density)):
            given.sphere_density[k] = density
        found, space = _abi.Halos(), self._box.struct()
        owned = Owned(found, library().kith_halos_free)
        context(ctx, kept).call("kith_halos_measure", C.byref(points), C.byref(space),
                                C.byref(self._owned.struct), C.byref(given), C.byref(found))
        return _halo_array(owned)


def _in_space(velocities: Any, n: int, dtype: Any, dim: int, like: Memory) -> Optional[Memory]:
    """Return velocities [n][dim] as the library reads them, [n][3]; None stays None."""
    if isinstance(like, DeviceArray):
        return column_like(velocities, n, dtype, "velocities", like, 3)
    made = column(velocities, n, dtype, "velocities", dim)
    if made is None or dim == 3:
        return made
    return np.hstack([made, np.zeros((n, 1), dtype)])


def halo_input(x: Memory, dim: int, masses: Any, velocities: Any, types: Any, potentials: Any,
               densities: Any) -> dict[str, Optional[Memory]]:
    """Return the arrays that halos are measured with, checked, by their names in kith_halo_input.
    x are the coordinates."""
    n = len(x)
    return {"velocities": _in_space(velocities, n, x.dtype, dim, x),
            "masses": column_like(masses, n, x.dtype, "masses", x),
            "potentials": column_like(potentials, n, x.dtype, "potentials", x),
            "densities": column_like(densities, n, x.dtype, "densities", x),
            "types": column_like(types, n, np.uint8, "types", x)}


def sphere_densities(given: Any) -> list[float]:
    """Return the densities of spheres, checked."""
    densities = np.atleast_1d(given).tolist()
    if len(densities) > _abi.SPHERES:
        raise ValueError(f"sphere_density has {len(densities)} densities; at most {_abi.SPHERES}")
    return [real(density, "sphere_density") for density in densities]


def _put(values: Any, n: int, dtype: Any, name: str, x: DeviceArray,
         kind: Kind) -> Optional[Memory]:
    """Return an array [n] of a type in the memory of x, copied unless it is that; None stays
    None."""
    if values is None:
        return None
    array = take(values, name)
    if (isinstance(array, DeviceArray) and array.shape == (n,) and array.dtype == dtype
            and array.packed):
        return array
    made = take(kind.put(column(values, n, dtype, name), x.number), name)
    if not isinstance(made, DeviceArray):
        raise TypeError(f"{name} cannot be copied to the GPU: give it there as {np.dtype(dtype)}")
    return made


def fof_options(x: Memory, dim: int, min_members: Any, ids: Any, roles: Any, min_links: Any,
                velocities: Any, velocity_length: Any, kind: Kind = NUMPY
                ) -> tuple[_abi.FofOptions, dict[str, Optional[Memory]]]:
    """Return the options of a search for groups without its arrays, and these, checked, by their
    names in kith_fof_options: all in one memory. x are the coordinates, kind is that of x as the
    caller gave it."""
    n = len(x)
    options = _abi.FofOptions()
    library().kith_fof_options_init_sized(C.byref(options), C.sizeof(options))
    options.min_members = whole(min_members, "min_members")
    options.min_links = whole(min_links, "min_links")
    columns: dict[str, Optional[Memory]] = {"velocities": _in_space(velocities, n, x.dtype, dim, x)}
    there = isinstance(x, DeviceArray) and any(
        isinstance(take(values, "an array"), DeviceArray)
        for values in (ids, roles, velocities) if values is not None)
    for name, values, dtype in (("ids", ids, np.int64), ("roles", roles, np.uint8)):
        columns[name] = (_put(values, n, dtype, name, x, kind) if there and
                         isinstance(x, DeviceArray) else column(values, n, dtype, name))
    options.memory = int(there)
    options.velocity_length = real(velocity_length, "velocity_length")
    return options, columns


def _halo_array(owned: Owned) -> np.ndarray[Any, Any]:
    """Return the halos of a result as a structured array that keeps it alive."""
    found = owned.struct
    raw = owned.view(address_of(found.halo), (found.n * HALO.itemsize,), np.uint8)
    return raw.view(HALO)


def fof(x: Any, length: float, box: Any = None, *, min_members: int = 20, ids: Any = None,
        roles: Any = None, min_links: int = 0, velocities: Any = None,
        velocity_length: float = 0.0, batch: Any = None, ctx: Optional[Context] = None) -> Groups:
    """Find groups by friends-of-friends.

    Parameters
    ----------
    x : array [n][3] or [n][2]
        Coordinates, float32 or float64, or what holds them, as in `pairs`.
    length : float
        The linking length.
    box : Box, float or array, optional
        As in `pairs`.
    min_members : int, optional
        Smaller groups get label 0.
    ids : array [n] of integers, optional
        Groups of one size are numbered by the smallest id, then by the smallest index (on a GPU
        give distinct ids); default: the index. With x on a GPU, ids and roles are in either
        memory.
    roles : array [n] of integers, optional
        0: links; 1: joins the group of the nearest that links; 2: is in no group.
    min_links : int, optional
        A particle links only when it has at least this many friends, each image of one counted.
    velocities : array [n][dim], optional
        Friends are then those with r^2 / length^2 + v^2 / velocity_length^2 <= 1. In the memory
        of x.
    batch : array [systems + 1] of integers, optional
        Many systems in one call, as in `pairs`, in host memory: groups of system 0 come first.

    Returns
    -------
    Groups

    Examples
    --------
    >>> groups = kith.fof(np.array([[0., 0, 0], [1, 0, 0], [9, 0, 0]]), 1.0, min_members=2)
    >>> groups.labels
    array([1, 1, 0], dtype=int32)
    """
    x, box, _, many = systems(x, box, None, batch)
    x, box = resolve(x, box)
    dim = dimensions(x, box)
    space = as_box(box, dim)
    points, kept = coordinates(x, "x", dim, device=True)
    n = len(kept)
    options, columns = fof_options(kept, dim, min_members, ids, roles, min_links, velocities,
                                   velocity_length, kind_of(x))
    for name, values in columns.items():
        setattr(options, name, address(values))
    length = real(length, "length")
    on = context(ctx, kept)
    on_device = isinstance(kept, DeviceArray)
    if many is not None:
        if on_device:
            raise TypeError("x is on a GPU; groups of a batch need host memory")
        struct, lives = filled(many, dim)
        options.batch = C.pointer(struct)
    found = _abi.Groups(memory=int(on_device), size=C.sizeof(_abi.Groups))
    owned = Owned(found, library().kith_groups_free, on if on_device else None)
    at_box = None if many and many.boxes is not None else C.byref(space.struct())
    on.call("kith_fof_find", C.byref(points), at_box, length, C.byref(options), C.byref(found),
            brief=n <= SMALL and length <= space.reach and many is None)
    return Groups(owned, kept, space, kind_of(x))
