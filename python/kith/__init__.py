# SPDX-License-Identifier: BSD-3-Clause
"""kith: which particles are near each other?

Neighbour lists, nearest neighbours, friends-of-friends groups, pair distributions, overlaps and
flocks, by a C library that finds all pairs of particles within a radius. All images of periodic
boxes count. Results do not depend on the number of threads or on the processor.
"""
from __future__ import annotations

import importlib
from typing import Any

from . import rdf
from ._context import (Busy, CapacityError, Context, DeviceLost, Error, LimitError, NoBackend,
                       TeamLost)
from ._lib import library as _library
from ._box import Box
from ._debye import debye
from ._flock import Flock
from ._fof import Groups, fof
from ._io import FormatError, Frame, MissingError, frames, read
from ._kinds import DeviceArray
from ._make import make
from ._nearest import nearest
from ._order import order
from ._overlap import overlap
from ._pairs import count_pairs, pairs
from ._team import Team, TeamFlock, TeamGroups, TeamHistogram
from ._verlet import Verlet
from ._view import View, view

__all__ = ["Box", "Busy", "CapacityError", "Context", "DeviceArray", "DeviceLost", "Error",
           "Flock", "FormatError", "Frame", "Groups", "LimitError", "MissingError", "NoBackend",
           "Team", "TeamFlock", "TeamGroups", "TeamHistogram", "TeamLost", "Verlet", "View",
           "count_pairs", "debye", "fof", "frames", "make", "nearest", "order", "overlap", "pairs",
           "rdf", "read", "view"]


# Modules, and what they need.
_OPTIONAL = {"ase": "ase", "jax": "jax", "torch": "torch", "plot": "matplotlib"}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _library().kith_version().decode()
    if name in _OPTIONAL:
        try:
            return importlib.import_module(f"kith.{name}")
        except ModuleNotFoundError as error:
            raise ImportError(f"kith.{name} needs {_OPTIONAL[name]} (pip install "
                              f"{_OPTIONAL[name]}): {error}") from error
    raise AttributeError(f"module 'kith' has no attribute {name!r}")
