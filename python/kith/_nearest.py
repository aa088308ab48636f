# SPDX-License-Identifier: BSD-3-Clause
"""Nearest neighbours."""
from __future__ import annotations

import ctypes as C
from typing import Any, Optional

import numpy as np

from . import _abi
from ._arrays import (INT32, INT64, Owned, address, coordinates, is_wide, narrow, no_gradient,
                      second_set)
from ._batch import filled, systems
from ._box import as_box, dimensions
from ._context import SMALL, Context, context
from ._kinds import DeviceArray, Memory, kind_of
from ._lib import library
from ._numbers import real, whole
from ._out import Expected, checked, outputs
from ._sources import resolve

_EXTRAS = {"d": _abi.DISTANCES, "D": _abi.VECTORS, "S": _abi.SHIFTS}
_FIELD = {"j": "j", "n": "counts", "d": "distances", "D": "vectors", "S": "shifts"}


def _options(want: Any, cutoff: Any) -> _abi.NearestOptions:
    """Return the options of a search in one set."""
    if not isinstance(want, str) or not want or any(letter not in _FIELD for letter in want):
        raise ValueError(f"want is {want!r}; it may have the letters {''.join(_FIELD)}")
    options = _abi.NearestOptions()
    library().kith_nearest_options_init_sized(C.byref(options), C.sizeof(options))
    for letter, extra in _EXTRAS.items():
        options.extras |= extra if letter in want else 0
    if cutoff is not None:
        options.cutoff = real(cutoff, "cutoff")
        if options.cutoff == 0:
            raise ValueError("cutoff is 0; expected more than 0, or None for any distance")
    return options


def _shape(letter: str, rows: int, k: int) -> tuple[int, ...]:
    """Return the shape of an array that the library writes; vectors have three components there."""
    return (rows,) if letter == "n" else (rows, k, 3) if letter in "DS" else (rows, k)


def nearest(x: Any, k: int, box: Any = None, want: str = "jd", *, cutoff: Optional[float] = None,
            against: Any = None, batch: Any = None, index: Any = np.int32, out: Any = None,
            ctx: Optional[Context] = None) -> Any:
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
    """
    options, k = _options(want, cutoff), whole(k, "k", 1, 2 ** 31 - 1)
    x, box, against, many = systems(x, box, against, batch)
    x, box = resolve(x, box)
    dim = dimensions(x, box)
    space = as_box(box, dim)
    kind, wide = kind_of(x), is_wide(index)
    no_gradient(x, want, "take x.detach()")
    points, kept = coordinates(x, "x", dim, device=True)
    inputs = [kept]
    if against is not None:
        others, kept_others = second_set(against, dim, kept)
        options.against = C.pointer(others)
        inputs.append(kept_others)
    if many is not None:
        struct, lives = filled(many, dim)
        options.batch = C.pointer(struct)
    on = context(ctx, kept)
    most = max(map(len, inputs))
    brief = (most <= SMALL and most * k <= 16 * SMALL  # k bounds how many images are looked at
             and many is None)
    at_box = None if many and many.boxes is not None else C.byref(space.struct())
    arguments = C.byref(points), at_box, k, C.byref(options)
    if out is not None:
        return _into(out, want, k, dim, wide, inputs, on, brief, arguments)
    at_gpu = isinstance(kept, DeviceArray)
    found = Owned(_abi.Nearest(memory=int(at_gpu)), library().kith_nearest_free,
                  on if at_gpu else None)
    on.call("kith_nearest_find", *arguments, C.byref(found.struct), brief=brief)
    result = tuple(narrow(kind.give(_array(found, letter, k, kept)), letter, dim, wide)
                   for letter in want)
    return result[0] if len(result) == 1 else result


def _type_of(letter: str, kept: Memory) -> Any:
    """Return the type of an array that the library writes."""
    return kept.dtype if letter in "dD" else INT32


def _array(found: Owned, letter: str, k: int, kept: Memory) -> Any:
    """Return an array of a result, in the memory of the coordinates."""
    at, shape = getattr(found.struct, _FIELD[letter]), _shape(letter, len(kept), k)
    dtype = _type_of(letter, kept)
    if isinstance(kept, DeviceArray):
        return found.on_device(at, shape, dtype, kept.number)
    return found.view(at, shape, dtype)


def _into(out: Any, want: str, k: int, dim: int, wide: bool, inputs: list[Memory], on: Context,
          brief: bool, arguments: tuple[Any, ...]) -> Any:
    """Write neighbours into the caller's arrays. Return their first rows.

    An array that has the library's shape and type is written by the library; the others are copied
    from a temporary array."""
    targets, rows = outputs(out, want), len(inputs[0])
    expected = [Expected(letter, INT64 if letter == "j" and wide else _type_of(letter, inputs[0]),
                         "n", {"n": (), "D": (k, dim), "S": (k, dim)}.get(letter, (k,)), rows,
                         "particles")
                for letter in want]
    arrays = checked(targets, expected, inputs)
    written: dict[str, Any] = {}
    for array, one in zip(arrays, expected):
        if array.shape[1:] == _shape(one.letter, rows, k)[1:] and (one.letter != "j" or not wide):
            written.setdefault(one.letter, array)
    at_gpu = isinstance(inputs[0], DeviceArray)
    for letter in set(want) | {"j"}:
        if letter not in written and at_gpu:
            raise ValueError(f"out with want {want!r}, {dim} dimensions and index of "
                             f"{64 if wide else 32} bits: on a GPU expected j, of 32 bits, in "
                             "three dimensions")
        if letter not in written:
            written[letter] = np.empty(_shape(letter, rows, k), _type_of(letter, inputs[0]))
    filled = _abi.Nearest(memory=int(at_gpu))
    for letter, array in written.items():
        setattr(filled, _FIELD[letter], address(array))
    on.call("kith_nearest_fill", *arguments, C.byref(filled), brief=brief)
    for array, letter in zip(arrays, want):
        if array is not written[letter]:
            source = written[letter][:rows]
            array[:rows] = source[..., :dim] if letter in "DS" else source
    result = tuple([target[:rows] for target in targets])
    return result[0] if len(result) == 1 else result
