# SPDX-License-Identifier: BSD-3-Clause
"""Reproducible sets of particles, those of `kith make`."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._box import Box
from ._io import Frame, library
from ._numbers import real, whole

_BASES = {"sc": 1, "bcc": 2, "fcc": 4}
_MODELS = {"halos": "sets_clustered", "soneira-peebles": "sets_soneira_peebles"}
FAMILIES = ("uniform", "lattice", "plummer", "clustered", "bridge")


def make(family: str, n: int, seed: int = 0, *, box: float = 1.0, dtype: Any = np.float64,
         basis: str = "sc", model: str = "halos") -> Frame:
    """Make a reproducible set: equal arguments give equal bits on every machine.

    Parameters
    ----------
    family : {"uniform", "lattice", "plummer", "clustered", "bridge"}
        Uniform points; a lattice; a Plummer sphere; halos over a background; two spheres with a
        bridge, which has velocities.
    n : int
        Number of particles; a lattice has the whole cells that fit.
    seed : int, optional
    box : float, optional
        The side of the box [0, box).
    dtype : {numpy.float32, numpy.float64}, optional
    basis : {"sc", "bcc", "fcc"}, optional
        Of a lattice.
    model : {"halos", "soneira-peebles"}, optional
        Of a clustered set.

    Returns
    -------
    Frame
        Positions, velocities of a bridge, and the box, which is periodic; a Plummer sphere and a
        Soneira-Peebles hierarchy have none.

    Examples
    --------
    >>> kith.make("lattice", 8, box=2.0).positions[:2]
    array([[0., 0., 0.],
           [1., 0., 0.]])
    """
    if family not in FAMILIES:
        raise ValueError(f"family is {family!r}; it may be one of {', '.join(FAMILIES)}")
    if basis not in _BASES or model not in _MODELS:
        raise ValueError(f"basis is {basis!r}, model is {model!r}; they may be "
                         f"{', '.join(_BASES)}; {', '.join(_MODELS)}")
    for name, value, default, owner in (("basis", basis, "sc", "lattice"),
                                        ("model", model, "halos", "clustered")):
        if value != default and family != owner:
            raise ValueError(f"{name} goes with {owner}, not {family}")
    n, seed = whole(n, "n", 0, 2 ** 31 - 65), whole(seed, "seed", 0, 2 ** 64 - 1)
    side, kind = real(box, "box"), np.dtype(dtype)
    if not 0 < side < float("inf"):
        raise ValueError(f"box is {side}; expected a positive length")
    if kind not in (np.float32, np.float64):
        raise ValueError(f"dtype is {dtype!r}; it may be numpy.float32 or numpy.float64")
    x, velocities = np.empty((n, 3)), None
    if family == "lattice":
        n = library().sets_lattice(x.ctypes.data, n, _BASES[basis])
        x = x[:n]
    elif family == "bridge":
        velocities = np.empty((n, 3))
        library().sets_bridge(x.ctypes.data, velocities.ctypes.data, n, seed)
        velocities = velocities.astype(kind, copy=False)
    else:
        name = _MODELS[model] if family == "clustered" else f"sets_{family}"
        getattr(library(), name)(x.ctypes.data, n, seed)
    x = np.minimum(x * side, np.nextafter(kind.type(side), kind.type(0)).astype(float))
    periodic = family != "plummer" and model != "soneira-peebles"
    return Frame(x.astype(kind, copy=False), Box(side) if periodic else None, velocities)
