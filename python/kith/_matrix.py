# SPDX-License-Identifier: BSD-3-Clause
"""Neighbour lists of a fixed shape: pairs(layout="matrix")."""
from __future__ import annotations

import ctypes as C
from typing import Any, Optional

from . import _abi
from ._arrays import INT64, Owned, coordinates, is_wide, no_gradient, of_one_memory
from ._batch import Systems, filled
from ._box import as_box, dimensions
from ._context import SMALL, CapacityError, Context, context
from ._kinds import DeviceArray, kind_of
from ._lib import library
from ._numbers import real, whole
from ._out import Expected, checked, outputs
from ._rows import Rows, extras
from ._rules import Rules, ruled
from ._sources import resolve


def matrix(x: Any, rules: Rules, box: Any, want: Optional[str], sort: Any, against: Any,
           many: Optional[Systems], index: Any, width: Any, fill: Any, out: Any, count: Any,
           ctx: Optional[Context]) -> Any:
    """Find the neighbours of each particle, in arrays of a fixed shape: see pairs(). `many`: the
    systems of a batch."""
    want = "jn" if want is None else want
    options = _abi.PairsOptions()
    library().kith_pairs_options_init_sized(C.byref(options), C.sizeof(options))
    options.layout, options.sorted = _abi.MATRIX, bool(sort)
    options.fill = whole(fill, "fill", -2 ** 31, 2 ** 31 - 1)
    options.width = 0 if width is None else whole(width, "width", 0, 2 ** 31 - 1)
    options.extras = extras(want, "with layout 'matrix' ")
    source = x
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
        given, lives = filled(many, dim)
        options.batch = C.pointer(given)
    if rules.given:
        options, cutoff, held = ruled(options, rules, source, x, kept,
                                      inputs[1] if against is not None else None)
    else:
        cutoff = real(rules.cutoff, "cutoff")
    on = context(ctx, kept)
    brief = (max(map(len, inputs)) <= SMALL and cutoff <= space.reach and many is None
             and not rules.given)
    at_box = None if many and many.boxes is not None else C.byref(space.struct())
    arguments = C.byref(points), at_box, cutoff, C.byref(options)
    rows = Rows(want, options.width, dim, wide, inputs)
    at_gpu = isinstance(kept, DeviceArray)
    if count is not None and (out is None or not at_gpu):
        raise ValueError("count needs out, and x in the memory of a GPU")
    if out is not None:
        if width is None:
            options.width = _width_of(rows, out)
        return _into(rows._replace(width=options.width), out, count, on, brief, arguments)
    found = Owned(_abi.Pairs(memory=int(at_gpu), size=C.sizeof(_abi.Pairs)),
                  library().kith_pairs_free, on if at_gpu else None)
    on.call("kith_pairs_find", *arguments, C.byref(found.struct), brief=brief)
    if width is not None and found.struct.width > options.width:
        raise CapacityError(f"a particle has {found.struct.widest} neighbours, its row room for "
                            f"{options.width}", int(found.struct.widest))
    return rows._replace(width=int(found.struct.width)).result(kind, found)


def _width_of(rows: Rows, out: Any) -> int:
    """Return the width of the rows of the caller's arrays; 0: no array has rows."""
    for target, letter in zip(outputs(out, rows.want), rows.want):
        shape: tuple[Any, ...] = getattr(target, "shape", ())
        if letter != "n" and len(shape) > 1:
            return int(shape[1])
    return 0


def _into(rows: Rows, out: Any, count: Any, on: Context, brief: bool,
          arguments: tuple[Any, ...]) -> Any:
    """Write a list into the caller's arrays. Return their first rows."""
    at_gpu = isinstance(rows.inputs[0], DeviceArray)
    made = _abi.Pairs(memory=int(at_gpu), size=C.sizeof(_abi.Pairs),
                      capacity=len(rows.inputs[0]) * rows.width)
    room = rows.room(out, made, needs_j=rows.width > 0)
    if count is not None:
        (number,) = checked([count], [Expected("count", INT64, "3", (), _abi.RESULTS, "numbers")],
                            [*rows.inputs, *room.arrays], ["count"])
        on.call("kith_pairs_enqueue", *arguments, C.byref(made), number.address)
        return room.targets[0] if len(room.targets) == 1 else tuple(room.targets)
    try:
        on.call("kith_pairs_fill", *arguments, C.byref(made), brief=brief,
                needed=lambda: int(made.widest))
    except CapacityError:
        if rows.width or set(rows.want) != {"n"}:  # numbers alone always fit
            raise
    finally:
        result = room.complete()
    return result
