# SPDX-License-Identifier: BSD-3-Clause
"""An order of particles that makes searches faster."""
from __future__ import annotations

import ctypes as C
from typing import Any, Optional

from . import _abi
from ._arrays import INT32, Owned, address, coordinates
from ._box import as_box, dimensions
from ._context import SMALL, Context, context
from ._kinds import DeviceArray, kind_of
from ._lib import library
from ._numbers import real
from ._out import Expected, checked
from ._sources import resolve


def order(x: Any, box: Any = None, *, cell: Optional[float] = None, out: Any = None,
          ctx: Optional[Context] = None) -> Any:
    """Find an order in which particles that are near each other are near each other in memory.

    A simulation that moves its particles to this order now and then makes lists faster, and its own
    loops over neighbours. The order is that of the numbers of cells; particles of one cell keep
    their order. It depends on the particles and the box alone: it is the same on every backend, for
    any number of threads.

    Parameters
    ----------
    x : array [n][3] or [n][2]
        Coordinates, as `pairs` takes them, or an object that holds them and a box.
    box : Box, float or array, optional
        The box, or what Box takes as its cell, periodic on all axes. Default: the box of x,
        else open space.
    cell : float, optional
        Width of a cell: cells are numbered by rows, along x, then y, then z. Best for lists with
        this cutoff, of particles that fill their space evenly. Default: cells so small that few
        hold several particles, numbered along a Hilbert curve; for any cutoff and distribution.
    out : array [n] of int32, optional
        Array to write to; its first n elements are returned.
    ctx : Context, optional
        Default: this thread's own.

    Returns
    -------
    array [n] of int32
        The particle that comes k-th is order[k]; x[order] are the coordinates in this order. An
        array of the library whose array x is, and on its device.

    Examples
    --------
    >>> x = np.array([[9.0, 0, 0], [1, 0, 0], [8, 0, 0], [2, 0, 0]])
    >>> kith.order(x, cell=1.0)
    array([1, 3, 2, 0], dtype=int32)

    Positions, velocities and numbers of particles are moved together:

    >>> order = kith.order(x)
    >>> x, ids = x[order], np.arange(4)[order]
    >>> int(ids[np.argmin(x[:, 0])])
    1
    """
    x, box = resolve(x, box)
    dim = dimensions(x, box)
    space = as_box(box, dim)
    width = 0.0 if cell is None else real(cell, "cell")
    if cell is not None and not 0 < width < float("inf"):
        raise ValueError(f"cell is {cell}; expected a finite width above 0, or None for a curve")
    points, kept = coordinates(x, "x", dim, device=True)
    on, n = context(ctx, kept), len(kept)
    at_gpu = isinstance(kept, DeviceArray)
    arguments = C.byref(points), C.byref(space.struct()), width
    if out is not None:
        (array,) = checked([out], [Expected("order", INT32, "n", (), n, "particles")], [kept],
                           ["out"])
        filled = _abi.Order(memory=int(at_gpu), order=address(array))
        on.call("kith_order_fill", *arguments, C.byref(filled), brief=n <= SMALL)
        return out[:n]
    found = Owned(_abi.Order(memory=int(at_gpu)), library().kith_order_free,
                  on if at_gpu else None)
    on.call("kith_order_find", *arguments, C.byref(found.struct), brief=n <= SMALL)
    at = found.struct.order
    if isinstance(kept, DeviceArray):
        return kind_of(x).give(found.on_device(at, (n,), INT32, kept.number))
    return kind_of(x).give(found.view(at, (n,), INT32))
