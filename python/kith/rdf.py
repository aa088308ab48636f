# SPDX-License-Identifier: BSD-3-Clause
"""Pair distributions g(r) and coordination numbers."""
from __future__ import annotations

import ctypes as C
import threading
from collections.abc import Callable
from typing import Any, Optional

import numpy as np

from . import _abi
from ._arrays import Owned, address, column, coordinates, given
from ._context import Context, Unshared, context
from ._lib import library
from ._numbers import real, whole
from ._sources import resolve
from ._box import as_box, dimensions


Array = np.ndarray[Any, Any]


class Histogram(Unshared):
    """Numbers of pairs by distance and species, summed over frames.

    Parameters
    ----------
    r_max : float, optional
        The last edge; or give `edges`.
    bins : int, optional
        Number of bins of equal width.
    r_min : float, optional
        The first edge.
    edges : array [bins + 1], optional
        Edges of any widths, ascending.
    n_species : int, optional
        Number of species; partials are counted for each pair of them.
    minimum_image : bool, optional
        Count the nearest image of each pair alone; default: all images within r_max.
    ctx : Context, optional
        Default: this thread's own.

    Examples
    --------
    >>> histogram = kith.rdf.Histogram(r_max=0.4, bins=4)
    >>> x = np.random.default_rng(1).random((2000, 3))
    >>> histogram.add(x, kith.Box(1.0)).g().round(1)
    array([1., 1., 1., 1.])
    """

    def __init__(self, r_max: Optional[float] = None, bins: int = 200, r_min: float = 0.0, *,
                 edges: Any = None, n_species: int = 1, minimum_image: bool = False,
                 ctx: Optional[Context] = None) -> None:
        if (r_max is None) == (edges is None):
            raise ValueError("give r_max or edges")
        self._edges = None if edges is None else np.array(given(edges, "edges"), dtype=np.float64)
        if self._edges is not None:
            if self._edges.ndim != 1 or len(self._edges) < 2:
                raise ValueError(f"edges has the shape {self._edges.shape}; expected [bins + 1]")
            bins = len(self._edges) - 1
        self._range = (real(r_min, "r_min"), 0.0 if r_max is None else real(r_max, "r_max"),
                       whole(bins, "bins", 1, 2 ** 20))
        self._n_species = whole(n_species, "n_species", 1, 1024)
        self._minimum_image = bool(minimum_image)
        self._ctx = ctx
        self._dim: Optional[int] = None  # of the first frame
        self._lock = threading.RLock()  # several threads may add frames to one histogram
        self._found = _abi.Histogram()
        self._owned = Owned(self._found, library().kith_histogram_free)

    def add(self, x: Any, box: Any = None, *, species: Any = None, against: Any = None,
            species_against: Any = None, molecules: Any = None, molecules_against: Any = None,
            weights: Any = None, weights_against: Any = None) -> Histogram:
        """Count the pairs of one frame and add them.

        Parameters
        ----------
        x : array [n][3] or [n][2]
            Coordinates, float32 or float64, or what holds them, as in `pairs`.
        box : Box, float or array, optional
            As in `pairs`; g(r) needs periodic axes.
        species : array [n] of integers, optional
            0 to n_species - 1.
        against : array [m][3], optional
            Count pairs of i in x with j in this set.
        molecules : array [n] of integers, optional
            Pairs of one molecule are left out; a negative number is no molecule.
        weights : array [n] of float, optional
            Sums of w_i w_j are wanted, too.

        Returns
        -------
        Histogram
            This one.
        """
        x, box = resolve(x, box)
        dim = dimensions(x, box)
        space = as_box(box, dim).struct()
        points, kept = coordinates(x, "x", dim)
        n = len(kept)
        options = _abi.RdfOptions()
        library().kith_rdf_options_init(C.byref(options))
        options.r_min, options.r_max, options.bins = self._range
        options.edges = address(self._edges)
        options.n_species = self._n_species
        options.minimum_image = self._minimum_image
        if species is None and self._n_species > 1:
            raise ValueError(f"n_species is {self._n_species}, but species is not given")
        m, others = 0, None
        if against is not None:
            others, kept_others = coordinates(against, "against", dim, kept.dtype)
            options.against = C.pointer(others)
            m = len(kept_others)
        elif any(values is not None
                 for values in (species_against, molecules_against, weights_against)):
            raise ValueError("species_against, molecules_against and weights_against need against")
        lives = [column(species, n, np.int32, "species"),
                 column(species_against, m, np.int32, "species_against"),
                 column(molecules, n, np.int32, "molecules"),
                 column(molecules_against, m, np.int32, "molecules_against"),
                 column(weights, n, np.float64, "weights"),
                 column(weights_against, m, np.float64, "weights_against")]
        (options.species, options.species_against, options.molecules, options.molecules_against,
         options.weights, options.weights_against) = map(address, lives)
        with self._lock:
            if self._dim not in (None, dim):
                raise ValueError(f"x has {dim} dimensions, earlier frames have {self._dim}")
            context(self._ctx).call("kith_rdf_count", C.byref(points), C.byref(space),
                                    C.byref(options), C.byref(self._found))
            self._dim = dim
        return self

    def __len__(self) -> int:
        return self._range[2]

    def _counted(self) -> _abi.Histogram:
        if self._found.frames == 0:
            raise ValueError("the histogram has no frames yet")
        return self._found

    def _partial(self, a: int, b: int) -> int:
        number = library().kith_histogram_partial(
            C.byref(self._counted()), whole(a, "a", 0, 2 ** 31 - 1), whole(b, "b", 0, 2 ** 31 - 1))
        if number < 0:
            raise ValueError(f"there is no partial of species {a} and {b}")
        return int(number)

    def _row(self, at: Callable[[Any], Any], a: int, b: int, dtype: Any) -> Array:
        with self._lock:
            found = self._counted()
            shape = (found.partials, found.bins)
            row: Array = self._owned.view(at(found), shape, dtype)[self._partial(a, b)].copy()
        return row

    @property
    def frames(self) -> int:
        """Number of frames that were added."""
        return int(self._found.frames)

    @property
    def edges(self) -> Array:
        """Edges of the bins, array [bins + 1]."""
        found = self._counted()
        return self._owned.view(found.edges, (found.bins + 1,), np.float64).copy()

    @property
    def r(self) -> Array:
        """Middles of the bins, array [bins]."""
        edges = self.edges
        middles: Array = (edges[1:] + edges[:-1]) / 2
        return middles

    def counts(self, a: int = 0, b: int = 0) -> Array:
        """Return the pairs of species a and b in each bin, array [bins] of int64."""
        return self._row(lambda found: found.counts, a, b, np.int64)

    def sums(self, a: int = 0, b: int = 0) -> Array:
        """Return the sums of w_i w_j in each bin, array [bins]."""
        if not self._counted().sums:
            raise ValueError("no weights were given")
        return self._row(lambda found: found.sums, a, b, np.float64)

    def ideal(self, a: int = 0, b: int = 0) -> Array:
        """Return what an ideal gas would count, array [bins]; NaN in open space."""
        return self._row(lambda found: found.ideal, a, b, np.float64)

    def g(self, a: int = 0, b: int = 0) -> Array:
        """Return the pair distribution g_ab(r), array [bins]; NaN where nothing is expected."""
        return self._curve(library().kith_rdf_g, a, b)

    def n(self, a: int = 0, b: int = 0) -> Array:
        """Return the coordination number: b around one a up to the end of each bin, [bins]."""
        return self._curve(library().kith_rdf_coordination, a, b)

    def _curve(self, function: Any, a: int, b: int) -> Array:
        values = np.empty(len(self))
        with self._lock:
            self._partial(a, b)
            function(C.byref(self._found), a, b, values.ctypes.data)
        return values
