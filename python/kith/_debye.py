# SPDX-License-Identifier: BSD-3-Clause
"""Debye's sums over the pairs of a finite cluster."""
from __future__ import annotations

import ctypes as C
from typing import Any, Optional

import numpy as np

from . import _abi
from ._arrays import address, column, coordinates
from ._context import Context, context
from ._kinds import kind_of
from ._lib import library
from ._numbers import real, whole


def debye(x: Any, q_width: float, n_q: int, *, q_min: float = 0.0, species: Any = None,
          n_species: int = 1, ctx: Optional[Context] = None) -> Any:
    """Sum sin(q r) / (q r) over all pairs of a finite cluster, exactly.

    Parameters
    ----------
    x : array [n][3]
        Coordinates, float32 or float64.
    q_width, n_q : float, int
        q number k is q_min + k q_width, k < n_q.
    species : array [n] of integers, optional
        0 to n_species - 1.

    Returns
    -------
    array [partials][n_q]
        The unordered pairs of species a <= b, in the order (0, 0), (0, 1), ... The intensity of
        one species that scatters by f is f^2 (n + 2 S).

    Examples
    --------
    >>> kith.debye(np.array([[0., 0, 0], [0, 0, 1]]), np.pi, 2).round(12)
    array([[1., 0.]])
    """
    points, kept = coordinates(x, "x")
    options = _abi.DebyeOptions()
    library().kith_debye_options_init_sized(C.byref(options), C.sizeof(options))
    options.q_min, options.q_width = real(q_min, "q_min"), real(q_width, "q_width")
    options.n_q = n_q = whole(n_q, "n_q", 1, 2 ** 20)
    n_species = whole(n_species, "n_species", 1, 1024)
    if species is None and n_species > 1:
        raise ValueError(f"n_species is {n_species}, but species is not given")
    species = column(species, len(kept), np.int32, "species")
    options.species, options.n_species = address(species), n_species
    sums = np.empty((n_species * (n_species + 1) // 2, n_q))
    context(ctx).call("kith_debye_sum", C.byref(points), C.byref(options), sums.ctypes.data)
    return kind_of(x).give(sums)
