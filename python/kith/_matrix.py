# SPDX-License-Identifier: BSD-3-Clause
"""Neighbour lists of a fixed shape: pairs(layout="matrix")."""
from __future__ import annotations

import ctypes as C
from typing import Any, NamedTuple, Optional

import numpy as np

from . import _abi
from ._arrays import (INT32, INT64, Owned, address, coordinates, is_wide, narrow, no_gradient,
                      second_set)
from ._box import as_box, dimensions
from ._context import SMALL, CapacityError, Context, context
from ._kinds import DeviceArray, Memory, kind_of
from ._lib import library
from ._numbers import real, whole
from ._out import Expected, checked, outputs
from ._sources import resolve

_EXTRAS = {"d": _abi.DISTANCES, "D": _abi.VECTORS, "S": _abi.SHIFTS}
_FIELD = {"j": "j", "n": "counts", "d": "distances", "D": "vectors", "S": "shifts"}


class _Search(NamedTuple):
    """A search whose arguments are checked."""

    want: str
    options: _abi.PairsOptions
    arguments: tuple[Any, ...]  # of the library, without the list
    dim: int
    wide: bool
    inputs: list[Memory]  # coordinates, of both sets
    on: Context
    brief: bool

    def shape(self, letter: str) -> tuple[int, ...]:
        """Return the shape of an array that the library writes; vectors have three components."""
        rows, width = len(self.inputs[0]), self.options.width
        if letter == "n":
            return (rows,)
        return (rows, width, 3) if letter in "DS" else (rows, width)

    def type_of(self, letter: str) -> Any:
        """Return the type of an array that the library writes."""
        return self.inputs[0].dtype if letter in "dD" else INT32


def matrix(x: Any, cutoff: Any, box: Any, want: Optional[str], sort: Any, against: Any, index: Any,
           width: Any, fill: Any, out: Any, count: Any, ctx: Optional[Context]) -> Any:
    """Find the neighbours of each particle, in arrays of a fixed shape: see pairs()."""
    want = "jn" if want is None else want
    if not isinstance(want, str) or not want or any(letter not in _FIELD for letter in want):
        raise ValueError(f"want is {want!r}; with layout 'matrix' it may have the letters "
                         f"{''.join(_FIELD)}")
    options = _abi.PairsOptions()
    library().kith_pairs_options_init_sized(C.byref(options), C.sizeof(options))
    options.layout, options.sorted = _abi.MATRIX, bool(sort)
    options.fill = whole(fill, "fill", -2 ** 31, 2 ** 31 - 1)
    options.width = 0 if width is None else whole(width, "width", 0, 2 ** 31 - 1)
    for letter, extra in _EXTRAS.items():
        options.extras |= extra if letter in want else 0
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
    cutoff = real(cutoff, "cutoff")
    on = context(ctx, kept)
    brief = max(map(len, inputs)) <= SMALL and cutoff <= space.reach
    search = _Search(want, options, (C.byref(points), C.byref(space.struct()), cutoff,
                                     C.byref(options)), dim, wide, inputs, on, brief)
    at_gpu = isinstance(kept, DeviceArray)
    if count is not None and (out is None or not at_gpu):
        raise ValueError("count needs out, and x in the memory of a GPU")
    if out is not None:
        return _into(search, out, width, count)
    found = Owned(_abi.Pairs(memory=int(at_gpu), size=C.sizeof(_abi.Pairs)),
                  library().kith_pairs_free, on if at_gpu else None)
    on.call("kith_pairs_find", *search.arguments, C.byref(found.struct), brief=brief)
    if width is not None and found.struct.width > options.width:
        raise CapacityError(f"a particle has {found.struct.widest} neighbours, its row room for "
                            f"{options.width}", int(found.struct.widest))
    options.width = found.struct.width
    result = tuple(narrow(kind.give(_array(search, found, letter)), letter, dim, wide)
                   for letter in want)
    return result[0] if len(result) == 1 else result


def _array(search: _Search, found: Owned, letter: str) -> Any:
    """Return an array of a list, in the memory of the coordinates."""
    at, shape = getattr(found.struct, _FIELD[letter]), search.shape(letter)
    dtype, kept = search.type_of(letter), search.inputs[0]
    if isinstance(kept, DeviceArray):
        return found.on_device(at, shape, dtype, kept.number)
    return found.view(at, shape, dtype)


def _width_of(search: _Search, targets: list[Any], width: Any) -> int:
    """Return the width of the rows of the caller's arrays."""
    for target, letter in zip(targets, search.want):
        shape: tuple[Any, ...] = getattr(target, "shape", ())
        if letter != "n" and len(shape) > 1 and width is None:
            return int(shape[1])
    return int(search.options.width)


def _into(search: _Search, out: Any, width: Any, count: Any) -> Any:
    """Write a list into the caller's arrays. Return their first rows.

    An array that has the library's shape and type is written by the library; the others are copied
    from a temporary array."""
    want, dim, options, inputs = search.want, search.dim, search.options, search.inputs
    targets, rows = outputs(out, want), len(inputs[0])
    options.width = _width_of(search, targets, width)
    widths: dict[str, tuple[int, ...]] = {"n": (), "D": (options.width, dim),
                                          "S": (options.width, dim)}
    expected = [Expected(letter, INT64 if letter == "j" and search.wide else search.type_of(letter),
                         "n", widths.get(letter, (options.width,)), rows, "particles")
                for letter in want]
    arrays = checked(targets, expected, inputs)
    written: dict[str, Any] = {}
    for array, one in zip(arrays, expected):
        if array.shape[1:] == search.shape(one.letter)[1:] and array.dtype == search.type_of(
                one.letter):
            written.setdefault(one.letter, array)
    at_gpu = isinstance(inputs[0], DeviceArray)
    for letter in set(want) | ({"j"} if options.width else set()):
        if letter not in written and at_gpu:
            raise ValueError(f"out with want {want!r}, {dim} dimensions and index of "
                             f"{64 if search.wide else 32} bits: on a GPU expected j, of 32 bits, "
                             "in three dimensions")
        if letter not in written:
            written[letter] = np.empty(search.shape(letter), search.type_of(letter))
    filled = _abi.Pairs(memory=int(at_gpu), size=C.sizeof(_abi.Pairs),
                        capacity=rows * options.width)
    for letter, array in written.items():
        setattr(filled, _FIELD[letter], address(array))
    if count is not None:
        (number,) = checked([count], [Expected("count", INT64, "3", (), _abi.RESULTS, "numbers")],
                            [*inputs, *arrays], ["count"])
        search.on.call("kith_pairs_enqueue", *search.arguments, C.byref(filled), number.address)
        return targets[0] if len(targets) == 1 else tuple(targets)
    try:
        search.on.call("kith_pairs_fill", *search.arguments, C.byref(filled), brief=search.brief,
                       needed=lambda: int(filled.widest))
    finally:
        for array, letter in zip(arrays, want):
            if array is not written[letter]:
                source = written[letter][:rows]
                array[:rows] = source[..., :dim] if letter in "DS" else source
    result = tuple([target[:rows] for target in targets])
    return result[0] if len(result) == 1 else result
