# SPDX-License-Identifier: BSD-3-Clause
"""Nearest neighbours."""
from __future__ import annotations

import ctypes as C
from typing import Any, Optional

import numpy as np

from . import _abi
from ._arrays import Owned, coordinates, is_wide, no_gradient, of_one_memory
from ._batch import filled, systems
from ._box import as_box, dimensions
from ._context import SMALL, Context, context
from ._kinds import DeviceArray, kind_of
from ._lib import library
from ._numbers import real, whole
from ._rows import Rows, extras
from ._rules import by_radii
from ._sources import resolve


def nearest_options(want: Any, cutoff: Any) -> _abi.NearestOptions:
    """Return the options of a search in one set."""
    options = _abi.NearestOptions()
    library().kith_nearest_options_init_sized(C.byref(options), C.sizeof(options))
    options.extras = extras(want)
    if cutoff is not None:
        options.cutoff = real(cutoff, "cutoff")
        if options.cutoff == 0:
            raise ValueError("cutoff is 0; expected more than 0, or None for any distance")
    return options


def nearest(x: Any, k: int, box: Any = None, want: str = "jd", *, cutoff: Optional[float] = None,
            against: Any = None, batch: Any = None, index: Any = np.int32, out: Any = None,
            ctx: Optional[Context] = None, radii: Any = None, rule: Optional[str] = None) -> Any:
    """Find the k nearest neighbours of each particle, periodic images included.

    Pairs of a particle are sorted by squared distance, in the precision of the coordinates. Pairs
    with equal distances are sorted by j, then by S from its last component to its first. The first
    k of them are found. A particle is not a neighbour of itself, but its images are.

    Parameters
    ----------
    x : array [n][3] or [n][2]
        Coordinates, as `pairs` takes them, or an object that holds them and a box.
    k : int
        Neighbours of each particle, 1 or more.
    box : Box, float or array, optional
        The box, or what Box takes as its cell, periodic on all axes. Default: the box of x,
        else open space.
    want : str, optional
        What to return, a letter each: "j" the neighbours, "n" their number, "d" distances, "D"
        vectors r_j + S.cell - r_i, "S" the image S of j.
    cutoff : float, optional
        The largest distance of a neighbour. Default: any; in a periodic box up to 500 boxes away.
    against : array [m][3], optional
        Find the neighbours of x among the particles of this set, of the type of x.
    batch : array [systems + 1] of integers, optional
        Many systems in one call, as in `pairs`.
    index : {numpy.int32, numpy.int64}, optional
        The type of j; int32 is not copied.
    out : tuple of arrays, optional
        Arrays to write to, in the order of `want`, of the types that would be returned and of n or
        more rows. Their first n rows are returned.
    ctx : Context, optional
        Default: this thread's own.
    radii : array [n], optional
        A radius h of each particle, of the type of x and in its memory; with `against` a pair of
        arrays. Neighbours are the first k of the pairs that `rule` permits.
    rule : {"gather", "scatter", "either", "both", "sum"}, optional
        Needed with radii: a pair has r <= h_i; r <= h_j; one of these, which is what the command
        does without --radii-rule; both; or r <= h_i + h_j.

    Returns
    -------
    array or tuple of arrays
        What `want` names, in its order: j [n][k]; n [n]; d [n][k]; D [n][k][dim]; S [n][k][dim].
        They are arrays of the library whose array x is, and on its device. A row with fewer than k
        neighbours ends in j = -1, d = inf, D = 0 and S = 0.

    Raises
    ------
    ValueError
        An argument makes no sense, or a coordinate is not finite.
    CapacityError
        `out` has fewer than n rows; its attribute `needed` is n.
    LimitError
        A neighbour would be more than 500 boxes away.
    MemoryError
        The arrays do not fit into memory.

    Examples
    --------
    >>> x = np.array([[0.5, 0, 0], [9.5, 0, 0], [5, 0, 0]])
    >>> j, d, S = kith.nearest(x, 2, kith.Box(10.0), "jdS")
    >>> j
    array([[1, 2],
           [0, 2],
           [0, 1]], dtype=int32)
    >>> d[0], S[0]
    (array([1. , 4.5]), array([[-1,  0,  0],
           [ 0,  0,  0]], dtype=int32))

    Without a box, and only up to a distance:

    >>> kith.nearest(x, 2, cutoff=4.5)
    (array([[ 2, -1],
           [ 2, -1],
           [ 0,  1]], dtype=int32), array([[4.5, inf],
           [4.5, inf],
           [4.5, 4.5]]))

    Within the radius of each particle:

    >>> kith.nearest(x, 2, want="jn", radii=np.array([5.0, 4.0, 4.0]), rule="gather")
    (array([[ 2, -1],
           [-1, -1],
           [-1, -1]], dtype=int32), array([1, 0, 0], dtype=int32))
    """
    options, k = nearest_options(want, cutoff), whole(k, "k", 1, 2 ** 31 - 1)
    x, box, against, many = systems(x, box, against, batch)
    x, box = resolve(x, box)
    dim = dimensions(x, box)
    space = as_box(box, dim)
    kind, wide = kind_of(x), is_wide(index)
    no_gradient(x, want, "take x.detach()")
    points, kept = coordinates(x, "x", dim, device=True)
    inputs = [kept]
    if against is not None:
        others, kept_others = of_one_memory(against, dim, kept)
        options.against = C.pointer(others)
        inputs.append(kept_others)
    if many is not None:
        struct, lives = filled(many, dim)
        options.batch = C.pointer(struct)
    if radii is not None or rule is not None:
        second = None if against is None else kept_others
        arrays = by_radii(options, radii, rule, x, kept, second)
    on = context(ctx, kept)
    most = max(map(len, inputs))
    brief = (most <= SMALL and most * k <= 16 * SMALL  # k bounds how many images are looked at
             and many is None)
    at_box = None if many and many.boxes is not None else C.byref(space.struct())
    arguments = C.byref(points), at_box, k, C.byref(options)
    rows = Rows(want, k, dim, wide, inputs)
    at_gpu = isinstance(kept, DeviceArray)
    if out is not None:
        made = _abi.Nearest(memory=int(at_gpu))
        room = rows.room(out, made)
        on.call("kith_nearest_fill", *arguments, C.byref(made), brief=brief)
        return room.complete()
    found = Owned(_abi.Nearest(memory=int(at_gpu)), library().kith_nearest_free,
                  on if at_gpu else None)
    on.call("kith_nearest_find", *arguments, C.byref(found.struct), brief=brief)
    return rows.result(kind, found)
