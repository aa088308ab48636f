# SPDX-License-Identifier: BSD-3-Clause
"""Pair distributions g(r) and coordination numbers."""
from __future__ import annotations

import ctypes as C
import threading
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple, Optional

import numpy as np

from . import _abi
from ._arrays import Owned, address, column, coordinates, given, of_one_memory
from ._batch import filled, systems
from ._context import Context, Unshared, context
from ._kinds import Memory
from ._lib import library
from ._numbers import real, whole
from ._sources import resolve
from ._box import Box, as_box, dimensions


Array = np.ndarray[Any, Any]


class _Frame(NamedTuple):
    """Arguments of a frame, checked."""

    x: Memory
    points: _abi.Points
    dim: int
    at_box: Any
    options: _abi.RdfOptions  # without the arrays of `columns`
    against: Optional[Memory]
    columns: dict[str, Optional[Array]]  # by their names in kith_rdf_options
    lives: list[Any]  # what the options point to


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
        Default: this thread's own; for coordinates on a GPU one on that GPU and their stream.

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
            weights: Any = None, weights_against: Any = None, batch: Any = None) -> Histogram:
        """Count the pairs of one frame and add them; of a batch, of many frames.

        Parameters
        ----------
        x : array [n][3] or [n][2]
            Coordinates, float32 or float64, or what holds them, as in `pairs`. Coordinates in the
            memory of a GPU are counted there, without a copy.
        box : Box, float or array, optional
            As in `pairs`; g(r) needs periodic axes.
        species : array [n] of integers, optional
            0 to n_species - 1. This array, molecules and weights may be in host memory or on a GPU,
            from where they are copied to the host first.
        against : array [m][3], optional
            Count pairs of i in x with j in this set, which is in the memory that x is in.
        molecules : array [n] of integers, optional
            Pairs of one molecule are left out; a negative number is no molecule.
        weights : array [n] of float, optional
            Sums of w_i w_j are wanted, too.
        batch : array [frames + 1] of integers, optional
            Many frames in one call, as the systems of `pairs`.

        Returns
        -------
        Histogram
            This one.
        """
        frame = self._frame(x, box, species=species, against=against,
                            species_against=species_against, molecules=molecules,
                            molecules_against=molecules_against, weights=weights,
                            weights_against=weights_against, batch=batch)
        options = frame.options
        for name, values in frame.columns.items():
            setattr(options, name, address(values))
        with self._lock:
            context(self._ctx, frame.x).call("kith_rdf_count", C.byref(frame.points), frame.at_box,
                                             C.byref(options), C.byref(self._found))
            self._dim = frame.dim
        return self

    def _frame(self, x: Any, box: Any = None, *, species: Any = None, against: Any = None,
               species_against: Any = None, molecules: Any = None, molecules_against: Any = None,
               weights: Any = None, weights_against: Any = None, batch: Any = None) -> _Frame:
        """Return the arguments of `add`, checked."""
        x, box, against, many = systems(x, box, against, batch)
        x, box = resolve(x, box)
        dim = dimensions(x, box)
        space = as_box(box, dim).struct()
        points, kept = coordinates(x, "x", dim, device=True)
        n = len(kept)
        options = _abi.RdfOptions()
        library().kith_rdf_options_init_sized(C.byref(options), C.sizeof(options))
        options.r_min, options.r_max, options.bins = self._range
        options.edges = address(self._edges)
        options.n_species = self._n_species
        options.minimum_image = self._minimum_image
        lives: list[Any] = [space]
        if many is not None:
            struct, batch_lives = filled(many, dim)
            options.batch = C.pointer(struct)
            lives += [struct, batch_lives]
        at_box = None if many and many.boxes is not None else C.byref(space)
        if species is None and self._n_species > 1:
            raise ValueError(f"n_species is {self._n_species}, but species is not given")
        m, kept_others = 0, None
        if against is not None:
            others, kept_others = of_one_memory(against, dim, kept)
            options.against = C.pointer(others)
            m = len(kept_others)
            lives.append(others)
        elif any(values is not None
                 for values in (species_against, molecules_against, weights_against)):
            raise ValueError("species_against, molecules_against and weights_against need against")
        columns = {"species": column(species, n, np.int32, "species"),
                   "species_against": column(species_against, m, np.int32, "species_against"),
                   "molecules": column(molecules, n, np.int32, "molecules"),
                   "molecules_against": column(molecules_against, m, np.int32,
                                               "molecules_against"),
                   "weights": column(weights, n, np.float64, "weights"),
                   "weights_against": column(weights_against, m, np.float64, "weights_against")}
        if self._dim not in (None, dim):
            raise ValueError(f"x has {dim} dimensions, earlier frames have {self._dim}")
        return _Frame(kept, points, dim, at_box, options, kept_others, columns, lives)

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

    @property
    def n_species(self) -> int:
        """Number of species."""
        return self._n_species

    def plot(self, a: Optional[int] = None, b: Optional[int] = None, **how: Any) -> Any:
        """Draw g(r) by matplotlib: kith.plot.pair_distribution. Returns the axes."""
        return import_module("kith").plot.pair_distribution(self, a, b, **how)

    def _curve(self, function: Any, a: int, b: int) -> Array:
        values = np.empty(len(self))
        with self._lock:
            self._partial(a, b)
            function(C.byref(self._found), a, b, values.ctypes.data)
        return values


class StructureFactor:
    """S(q) of the waves that fit a box, by direct sum.

    Attributes
    ----------
    q : array [shells]
        Mean wave number of each shell [1 / length].
    s : array [shells]
        Mean S(q) of its waves and of all frames.
    waves : array [shells] of int
        Waves in each shell, those of -q not counted.
    frames : int

    Examples
    --------
    >>> found = kith.rdf.structure_factor(kith.make("lattice", 1000), 70.0)
    >>> found.q[found.s > 1].round(3), found.s[found.s > 1].round(3)
    (array([62.832]), array([200.]))
    """

    def __init__(self, q: Array, s: Array, waves: Array, frames: int) -> None:
        self.q, self.s, self.waves, self.frames = q, s, waves, frames

    def plot(self, **how: Any) -> Any:
        """Draw S(q) by matplotlib: kith.plot.structure_factor. Returns the axes."""
        return import_module("kith").plot.structure_factor(self, **how)


def _waves_within(box: Box, q_max: float, most: int) -> tuple[Array, Array]:
    """Return the numbers [waves][3] of half of the waves up to q_max, and their q."""
    inverse = 2 * np.pi * np.linalg.inv(box.cell)
    reach = [int(q_max * float(np.linalg.norm(row)) / (2 * np.pi)) if periodic else 0
             for row, periodic in zip(box.cell, box.pbc)]
    if np.prod([2.0 * r + 1 for r in reach]) > 16.0 * most:
        raise ValueError(f"q_max is {q_max}: more than {most} waves; give a smaller one, or `most`")
    grid = np.meshgrid(*(np.arange(-r, r + 1) for r in reach), indexing="ij")
    hkl = np.stack([one.ravel() for one in grid], axis=1)
    hkl = hkl[len(hkl) // 2 + 1:]  # the waves after 0: the others are their opposites
    q = np.linalg.norm(hkl @ inverse.T, axis=1)
    hkl, q = hkl[q <= q_max], q[q <= q_max]
    if len(hkl) > most:
        raise ValueError(f"q_max is {q_max}: {len(hkl)} waves; give a smaller one, or `most`")
    return np.pad(hkl, ((0, 0), (0, 3 - box.dim))).astype(np.int32), q


def structure_factor(x: Any, q_max: float, box: Any = None, *, width: Optional[float] = None,
                     most: int = 200000, ctx: Optional[Context] = None) -> StructureFactor:
    """Sum the structure factor S(q) = |sum exp(i q.r)|^2 / n over the waves that fit a box.

    Parameters
    ----------
    x : array [n][3] or [n][2], or iterator of Frame
        Coordinates, or what holds them, as in `pairs`; frames as `kith.frames` yields them, all
        with the box of the first.
    q_max : float
        The largest wave number [1 / length].
    box : Box, float or array, optional
        Periodic along some axis; default: that of x.
    width : float, optional
        Width of a shell of waves; default: waves of equal q are a shell.
    most : int, optional
        Refuse more waves than these.
    """
    q_max = real(q_max, "q_max")
    if not 0 < q_max < float("inf"):
        raise ValueError(f"q_max is {q_max}; expected a positive number")
    each = x if hasattr(x, "__next__") else iter([x])
    total, hkl, q, space, frames = None, None, None, None, 0
    for one in each:
        one, its_box = resolve(one, box)
        its = as_box(its_box, dimensions(one, its_box))
        if hkl is None or q is None:
            if not its.pbc.any():
                raise ValueError("box is open; S(q) needs a periodic axis")
            space = its
            hkl, q = _waves_within(its, q_max, most)
        elif its != space:
            raise ValueError("the box changes from frame to frame")
        sums = _wave_sums(one, its, hkl, ctx)
        total = sums if total is None else total + sums
        frames += 1
    if total is None or q is None or not len(q):
        raise ValueError("x has no frames" if total is None else
                         f"q_max is {q_max}: no wave of the box is as long")
    scale = width if width is not None else 1e-9 * q_max
    shell = (np.round(q / scale) if width is None else np.floor(q / scale)).astype(np.int64)
    which, shell, waves = np.unique(shell, return_inverse=True, return_counts=True)
    return StructureFactor(np.bincount(shell, q) / waves,
                           np.bincount(shell, total) / waves / frames, waves, frames)


def _wave_sums(x: Any, box: Box, hkl: Array, ctx: Optional[Context]) -> Array:
    """Return S(q) of each wave."""
    points, kept = coordinates(x, "x", box.dim, device=True)
    if not len(kept):
        raise ValueError("x has no particles")
    waves = _abi.Waves()
    library().kith_waves_init_sized(C.byref(waves), C.sizeof(waves))
    waves.n, waves.hkl = len(hkl), hkl.ctypes.data
    sums = np.empty((len(hkl), 2))
    context(ctx, kept).call("kith_waves_sum", C.byref(points), C.byref(box.struct()),
                            C.byref(waves), sums.ctypes.data)
    squares: Array = (sums ** 2).sum(axis=1) / len(kept)
    return squares
