# SPDX-License-Identifier: BSD-3-Clause
"""Neighbour lists."""
import ctypes as C

import numpy as np

from . import _abi
from ._arrays import Owned, coordinates
from ._context import context
from ._lib import library
from ._numbers import real
from ._box import as_box, dimensions

_EXTRAS = {"d": _abi.DISTANCES, "D": _abi.VECTORS, "S": _abi.SHIFTS}


def _options(x, against, full, dim):
    """Return the points of x and against, the options that both calls share, and what must live."""
    points, kept = coordinates(x, "x", dim)
    options = _abi.PairsOptions()
    library().kith_pairs_options_init(C.byref(options))
    options.full = bool(full)
    if against is not None:
        others, kept_others = coordinates(against, "against", dim, kept.dtype)
        options.against = C.pointer(others)
        kept = (kept, kept_others, others)
    return points, options, kept


def pairs(x, cutoff, box=None, want=None, *, full=False, layout="ij", sort=False, against=None,
          index=np.int32, ctx=None):
    """Find all pairs of particles within a radius, periodic images included.

    Parameters
    ----------
    x : array [n][3] or [n][2]
        Coordinates, float32 or float64; pairs are decided in this precision.
    cutoff : float
        The radius, in the unit of the coordinates; r <= cutoff is a pair.
    box : Box, float or array, optional
        The box, or what Box takes as its cell, periodic on all axes. Default: open space.
    want : str, optional
        What to return, a letter each, as in ASE: "i" and "j" the particles, "d" distances, "D"
        vectors r_j + S.cell - r_i, "S" the image S of j; with layout "csr" "o", offsets, in place
        of "i". Default: "ij"; with layout "csr" "oj".
    full : bool, optional
        Hold (i, j, S) and (j, i, -S); default: each pair once, i < j.
    layout : {"ij", "csr"}, optional
        "csr": neighbours of i are j[offsets[i]:offsets[i + 1]].
    sort : bool, optional
        Sort by i, then j, then S from its last component to its first.
    against : array [m][3], optional
        Pairs of i in x with j in this set, of the type of x; always a full list.
    index : {numpy.int32, numpy.int64}, optional
        The type of i and j; int32 is not copied.
    ctx : Context, optional
        Default: this thread's own.

    Returns
    -------
    array or tuple of arrays
        What `want` names, in its order: i, j [p]; d [p]; D [p][dim]; S [p][dim]; offsets [n + 1].

    Raises
    ------
    ValueError
        An argument makes no sense, or a coordinate is not finite.
    MemoryError
        The list does not fit into memory.

    Examples
    --------
    >>> x = np.array([[0.5, 0, 0], [9.5, 0, 0], [5, 0, 0]])
    >>> i, j, d, S = kith.pairs(x, 1.5, kith.Box(10.0), "ijdS")
    >>> i, j, d
    (array([0], dtype=int32), array([1], dtype=int32), array([1.]))
    >>> S
    array([[-1,  0,  0]], dtype=int32)
    """
    dim = dimensions(x, box)
    space = as_box(box, dim).struct()
    points, options, kept = _options(x, against, full, dim)
    if layout not in ("ij", "csr"):
        raise ValueError(f"layout is {layout!r}; it may be 'ij' or 'csr'")
    letters = "ijdDS" if layout == "ij" else "ojdDS"
    want = letters[:2] if want is None else want
    if not isinstance(want, str) or not want or any(letter not in letters for letter in want):
        raise ValueError(f"want is {want!r}; with layout {layout!r} it may have the letters "
                         f"{letters}")
    if np.dtype(index) not in (np.int32, np.int64):
        raise ValueError(f"index is {index!r}; it may be numpy.int32 or numpy.int64")
    options.sorted = bool(sort)
    options.layout = _abi.CSR if layout == "csr" else _abi.IJ
    for letter, extra in _EXTRAS.items():
        options.extras |= extra if letter in want else 0

    found = _abi.Pairs()
    owned = Owned(found, library().kith_pairs_free)
    context(ctx).call("kith_pairs_find", C.byref(points), C.byref(space), real(cutoff, "cutoff"),
                      C.byref(options), C.byref(found))
    dtype = np.float32 if points.precision == 4 else np.float64
    views = {
        "i": lambda: owned.view(found.i, (found.n,), np.int32).astype(index, copy=False),
        "j": lambda: owned.view(found.j, (found.n,), np.int32).astype(index, copy=False),
        "o": lambda: owned.view(found.offsets, (found.rows + 1,), np.int64),
        "d": lambda: owned.view(found.distances, (found.n,), dtype),
        "D": lambda: owned.view(found.vectors, (found.n, 3), dtype)[:, :dim],
        "S": lambda: owned.view(found.shifts, (found.n, 3), np.int32)[:, :dim],
    }
    del kept
    result = tuple(views[letter]() for letter in want)
    return result[0] if len(result) == 1 else result


def count_pairs(x, cutoff, box=None, *, full=False, against=None, neighbours=False, ctx=None):
    """Count pairs, storing none. Parameters as in `pairs`.

    Returns
    -------
    int, or (int, array [n] of int64)
        The pairs in the list; with `neighbours` also the entries of each i in the full list.
    """
    dim = dimensions(x, box)
    space = as_box(box, dim).struct()
    points, options, kept = _options(x, against, full, dim)
    n = C.c_int64()
    each = np.empty(points.n, np.int64) if neighbours else None
    context(ctx).call("kith_pairs_count", C.byref(points), C.byref(space), real(cutoff, "cutoff"),
                      C.byref(options), C.byref(n), each.ctypes.data if neighbours else None)
    del kept
    return (n.value, each) if neighbours else n.value
