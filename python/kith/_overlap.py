# SPDX-License-Identifier: BSD-3-Clause
"""Overlaps of replicas."""
from __future__ import annotations

import ctypes as C
from typing import Any, Optional

import numpy as np

from . import _abi
from ._arrays import Owned, given
from ._context import Context, context
from ._kinds import kind_of
from ._lib import library
from ._numbers import real, whole

_MEASURES = {"cosine": 0, "product": 1, "distance": 2}


def overlap(x: Any, *, measure: str = "cosine", subtract_mean: bool = False, bins: int = 200,
            range: Optional[tuple[float, float]] = None,
            ctx: Optional[Context] = None) -> tuple[Any, Any]:
    """Count the pairs of different replicas by their overlap.

    Parameters
    ----------
    x : array [n][dim]
        The replicas, float32 or float64; +1 and -1 alone are spins, packed to bits.
    measure : {"cosine", "product", "distance"}, optional
    subtract_mean : bool, optional
        Take the mean over replicas from each first.
    bins : int, optional
    range : (float, float), optional
        The first and the last edge; default: what the measure can reach.

    Returns
    -------
    (counts [bins] of int64, edges [bins + 1])
        As numpy.histogram returns them.

    Examples
    --------
    >>> counts, edges = kith.overlap(np.array([[1., 1], [1, -1], [1, 1]]), bins=2)
    >>> counts
    array([0, 3])
    """
    if measure not in _MEASURES:
        raise ValueError(f"measure is {measure!r}; it may be one of {', '.join(_MEASURES)}")
    values = given(x, "x")
    if values.ndim != 2:
        raise ValueError(f"x has the shape {values.shape}; expected [n][dim]")
    if values.dtype.kind not in "fiu":
        raise TypeError(f"x has the type {values.dtype}; expected real numbers")
    dtype = values.dtype if values.dtype in (np.float32, np.float64) else np.dtype(np.float64)
    values = np.require(values, dtype.newbyteorder("="), ["C", "A"])
    replicas = _abi.Replicas(len(values), values.shape[1], values.ctypes.data, values.shape[1],
                             dtype.itemsize)
    options = _abi.OverlapOptions()
    library().kith_overlap_options_init_sized(C.byref(options), C.sizeof(options))
    options.measure, options.subtract_mean = _MEASURES[measure], bool(subtract_mean)
    options.bins = whole(bins, "bins", 1, 2 ** 20)
    if range is not None:
        low, high = range
        options.low, options.high = real(low, "range[0]"), real(high, "range[1]")
    found = _abi.Overlaps()
    owned = Owned(found, library().kith_overlaps_free)
    context(ctx).call("kith_overlap_count", C.byref(replicas), C.byref(options), C.byref(found))
    give = kind_of(x).give
    return (give(owned.view(found.counts, (found.bins,), np.int64)),
            give(owned.view(found.edges, (found.bins + 1,), np.float64)))
