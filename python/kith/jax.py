# SPDX-License-Identifier: BSD-3-Clause
"""Graphs and matrices of neighbours for JAX: under jit, on XLA's stream, with gradients."""
from __future__ import annotations

import ctypes as C
import threading
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

try:
    from jax import ffi
except ImportError:
    raise ImportError(f"kith.jax needs JAX from 0.5 on, which Python has from 3.10 on; this is "
                      f"{jax.__version__}") from None

from . import _abi, _xla
from ._box import as_box
from ._context import CapacityError, Context, LimitError
from ._lib import library
from ._numbers import real, whole

__all__ = ["Graph", "Matrix", "neighbours", "radius_graph"]


class Graph(NamedTuple):
    """Edges between neighbours, in arrays of `capacity` edges, of which the first n are edges.

    The others have the particle number len(x), which jax.ops.segment_sum leaves out, the distance
    inf, and vectors and shifts of 0. Where n is more than the capacity, or negative, distances and
    vectors are NaN.
    """

    edge_index: Any  #: [2][capacity] of int32: sources, targets; the targets ascend
    distances: Any  #: [capacity], with gradients
    vectors: Any  #: [capacity][dim], with gradients: from the target to the source's image
    shifts: Any  #: [capacity][dim] of int32: the image S of the source
    n: Any  #: number of edges; negative, on a GPU alone: a status of kith.h


class _Contexts:
    """Contexts that no call uses now, by device and stream. A thread of XLA keeps nothing of
    Python between two calls, so that contexts of threads would be opened in each call."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free: dict[Any, list[Context]] = {}

    def take(self, call: _xla.Call, on_gpu: bool) -> tuple[Any, Context]:
        """Return a key and a context on XLA's stream, or on CPU cores."""
        key = (call.device, call.stream) if on_gpu else None
        with self._lock:
            free = self._free.setdefault(key, [])
            if free:
                return key, free.pop()
        if key is None:
            return key, Context("cpu")
        return key, Context(f"cuda:{key[0]}", stream=key[1])

    def give_back(self, key: Any, made: Context) -> None:
        """Let later calls use a context."""
        with self._lock:
            self._free[key].append(made)


_contexts = _Contexts()


class Matrix(NamedTuple):
    """Neighbours of each particle, in rows of one width that end in j = len(x), which
    jax.ops.segment_sum leaves out, the distance inf, and vectors and shifts of 0.

    Rows are sorted by j, then by S. Where widest is more than the width, or negative, distances and
    vectors are NaN.
    """

    j: Any  #: [n][width] of int32
    n: Any  #: [n] of int32: number of neighbours, of all of them where they do not fit
    distances: Any  #: [n][width], with gradients
    vectors: Any  #: [n][width][dim], with gradients: from the particle to the neighbour's image
    shifts: Any  #: [n][width][dim] of int32: the image S of the neighbour
    widest: Any  #: the most neighbours of a particle; negative, on a GPU alone: a status


def _run(call: _xla.Call, on_gpu: bool, options: _abi.PairsOptions, found: _abi.Pairs,
         count: _xla.Buffer) -> None:
    """Make a list of the call's particles, and write what the library would queue to `count`."""
    x = call.arguments[0]
    numbers = call.attribute("space")
    n, dim = x.shape
    size = x.dtype.itemsize
    points = _abi.Points(n, x.address, x.address + size,
                         x.address + 2 * size if dim == 3 else None, dim, size, int(on_gpu))
    space = _abi.Box(dim=dim)
    space.origin[:], space.periodic[:] = numbers[1:4].tolist(), numbers[13:16].astype(int).tolist()
    for k in range(3):
        space.row[k][:] = numbers[4 + 3 * k:7 + 3 * k].tolist()
    arguments = (C.byref(points), C.byref(space), float(numbers[0]), C.byref(options),
                 C.byref(found))
    try:
        key, ctx = _contexts.take(call, on_gpu)
        try:
            if on_gpu:
                ctx.call("kith_pairs_enqueue", *arguments, count.address)
            else:
                try:
                    ctx.call("kith_pairs_fill", *arguments)
                except CapacityError:
                    pass  # found says what is needed
                queued = [found.n, found.widest, found.overflowed][:count.shape[0] // 2]
                C.memmove(count.address, (C.c_int64 * len(queued))(*queued), 8 * len(queued))
        finally:
            _contexts.give_back(key, ctx)
    except (ValueError, LimitError) as error:
        raise _xla.Failure(f"kith: {error}", _xla.INVALID) from None
    except MemoryError as error:
        raise _xla.Failure(f"kith: {error}", _xla.EXHAUSTED) from None
    except KeyboardInterrupt:
        raise _xla.Failure("kith: KeyboardInterrupt", _xla.CANCELLED) from None


def _options() -> _abi.PairsOptions:
    """Return the options of a full, sorted list with shifts."""
    options = _abi.PairsOptions()
    library().kith_pairs_options_init_sized(C.byref(options), C.sizeof(options))
    options.full = options.sorted = 1
    options.extras = _abi.SHIFTS
    return options


def _search(call: _xla.Call, on_gpu: bool) -> None:
    """Write the edges, the shifts and the number of edges."""
    edges, shifts, count = call.results
    capacity = edges.shape[1]
    _run(call, on_gpu, _options(),
         _abi.Pairs(capacity=capacity, memory=int(on_gpu), j=edges.address,
                    i=edges.address + 4 * capacity, shifts=shifts.address), count)


def _search_rows(call: _xla.Call, on_gpu: bool) -> None:
    """Write the rows, the shifts, the numbers of neighbours, and the counters."""
    j, shifts, n, count = call.results
    options = _options()
    options.layout, options.width, options.fill = _abi.MATRIX, j.shape[1], j.shape[0]
    _run(call, on_gpu, options,
         _abi.Pairs(size=C.sizeof(_abi.Pairs), capacity=j.shape[0] * j.shape[1],
                    memory=int(on_gpu), j=j.address, shifts=shifts.address, counts=n.address),
         count)


_GRAPH, _ROWS = "kith_radius_graph", "kith_neighbours"
_handlers = []
for _name, _function in ((_GRAPH, _search), (_ROWS, _search_rows)):
    for _platform, _on_gpu in (("cpu", False), ("CUDA", True)):
        _handlers.append(_xla.handler(partial(_function, on_gpu=_on_gpu)))
        ffi.register_ffi_target(_name, ffi.pycapsule(_handlers[-1]), platform=_platform)


def _number(halves: Any) -> Any:
    """Return a number of the library as int32. JAX has int64 only where it is enabled: numbers come
    as two halves. Beyond int32: the largest."""
    low, high = halves
    many = (high > 0) | ((high == 0) & (low < 0))
    return jnp.where(many, jnp.iinfo(jnp.int32).max, low)


def _lengths(vectors: Any, is_pair: Any, bad: Any) -> tuple[Any, Any]:
    """Return vectors and distances: 0 and inf where there is no pair, NaN where the list is bad."""
    # The vectors of what is no pair are constant, and so is the length 0, whose gradient is NaN.
    dtype = vectors.dtype
    vectors = jnp.where(is_pair[..., None], vectors, 0)
    square = (vectors * vectors).sum(axis=-1)
    apart = is_pair & (square > 0)
    distances = jnp.sqrt(jnp.where(apart, square, 1))
    distances = jnp.where(apart, distances, jnp.where(is_pair, 0, jnp.inf).astype(dtype))
    nan = jnp.asarray(jnp.nan, dtype)
    return jnp.where(bad, nan, vectors), jnp.where(bad, nan, distances)


@partial(jax.jit, static_argnums=(1, 2))
def _graph(x: Any, capacity: int, space: tuple[float, ...]) -> Graph:
    n, dim = x.shape
    call = ffi.ffi_call(_GRAPH, (
        jax.ShapeDtypeStruct((2, capacity), jnp.int32),
        jax.ShapeDtypeStruct((capacity, 3), jnp.int32),
        jax.ShapeDtypeStruct((2,), jnp.int32)), vmap_method="sequential")
    edges, shifts, halves = call(jax.lax.stop_gradient(x), space=np.array(space))
    found = _number(halves)  # negative: a kith_status
    bad = (found < 0) | (found > capacity)
    real_edge = (jnp.arange(capacity) < found) & ~bad
    edges = jnp.where(real_edge, edges, n)
    shifts = jnp.where(real_edge[:, None], shifts[:, :dim], 0)
    source, target = jnp.where(real_edge, edges, 0)
    held = x if n else jnp.zeros((1, dim), x.dtype)  # gathering from no rows is an error
    vectors, distances = _lengths(_moved(held[source] - held[target], shifts, space), real_edge,
                                  bad)
    return Graph(edges, distances, vectors, shifts, found)


def _moved(vectors: Any, shifts: Any, space: tuple[float, ...]) -> Any:
    """Return vectors to the images of the neighbours."""
    dim = vectors.shape[-1]
    rows = np.array(space[4:13], np.float64).reshape(3, 3)[:dim, :dim].astype(vectors.dtype)
    for axis in reversed(range(dim)):  # in the order in which the library rounds
        vectors = vectors + shifts[..., axis:axis + 1].astype(vectors.dtype) * rows[axis]
    return vectors


@partial(jax.jit, static_argnums=(1, 2))
def _matrix(x: Any, width: int, space: tuple[float, ...]) -> Matrix:
    rows, dim = x.shape
    call = ffi.ffi_call(_ROWS, (
        jax.ShapeDtypeStruct((rows, width), jnp.int32),
        jax.ShapeDtypeStruct((rows, width, 3), jnp.int32),
        jax.ShapeDtypeStruct((rows,), jnp.int32),
        jax.ShapeDtypeStruct((2 * _abi.RESULTS,), jnp.int32)), vmap_method="sequential")
    j, shifts, n, halves = call(jax.lax.stop_gradient(x), space=np.array(space))
    found, widest = _number(halves[:2]), _number(halves[2:4])
    bad = (found < 0) | (widest > width)  # negative: a kith_status
    widest = jnp.where(found < 0, found, widest)
    is_pair = (jnp.arange(width) < n[:, None]) & (found >= 0)
    j, shifts = jnp.where(is_pair, j, rows), jnp.where(is_pair[..., None], shifts[..., :dim], 0)
    held = x if rows else jnp.zeros((1, dim), x.dtype)  # gathering from no rows is an error
    there = held[jnp.where(is_pair, j, 0)]
    vectors, distances = _lengths(_moved(there - x[:, None], shifts, space), is_pair, bad)
    return Matrix(j, n, distances, vectors, shifts, widest)


def _arguments(x: Any, r: Any, box: Any) -> tuple[Any, tuple[float, ...]]:
    """Return the coordinates, and radius and box as constants of the compiled function."""
    x = jnp.asarray(x)
    if x.ndim != 2 or x.shape[1] not in (2, 3):
        raise ValueError(f"x has the shape {x.shape}; expected [n][3] or [n][2]")
    if x.dtype not in (jnp.float32, jnp.float64):
        raise TypeError(f"x has the type {x.dtype}; expected float32 or float64")
    if isinstance(box, jax.core.Tracer) or isinstance(r, jax.core.Tracer):
        raise TypeError("r and box are traced by JAX; they are constants of the compiled function")
    dim = x.shape[1]
    made = as_box(box if not isinstance(box, jax.Array) else np.asarray(box), dim).struct()
    return x, (real(r, "r"), *made.origin, *(one for row in made.row for one in row),
               *map(float, made.periodic))


def radius_graph(x: Any, r: float, box: Any = None, *, capacity: int) -> Graph:
    """Connect each particle with all others within a radius, periodic images included.

    Can be called inside jax.jit, jax.grad and jax.vmap. The search is a foreign function of XLA: on
    a GPU it is queued on XLA's stream, and nothing waits for it or is copied.

    Parameters
    ----------
    x : array [n][3] or [n][2]
        Coordinates, float32 or float64; may be traced.
    r : float
        The radius; distance <= r is an edge.
    box : Box, float or array, optional
        As in `kith.pairs`; r and box are constants of the compiled function. Default: open space.
    capacity : int
        Edges that the arrays have room for; each pair of particles has two. Where n is larger,
        distances and vectors are NaN: give n or more. Memory and time of what follows grow with it.

    Returns
    -------
    Graph
        edge_index, distances, vectors, shifts and n. Edge e goes from edge_index[0, e] to
        edge_index[1, e]; vectors[e] is x[source] + S.cell - x[target]. Gradients of any order are
        taken through distances and vectors; which pairs are edges is constant to them.

    Raises
    ------
    jax.errors.JaxRuntimeError
        On CPU cores: a coordinate is not finite, or another error of the library, with its
        sentence. A GPU reports what it finds in coordinates by a negative n, as nothing waits.

    Examples
    --------
    >>> import jax.numpy as jnp  # doctest: +SKIP
    >>> x = jnp.array([[0., 0, 0], [1, 0, 0]])  # doctest: +SKIP
    >>> graph = kith.jax.radius_graph(x, 1.5, capacity=4)  # doctest: +SKIP
    >>> graph.n.item(), graph.distances.tolist()  # doctest: +SKIP
    (2, [1.0, 1.0, inf, inf])
    """
    x, space = _arguments(x, r, box)
    graph: Graph = _graph(x, whole(capacity, "capacity", 1, 2 ** 31 - 1), space)
    return graph


def neighbours(x: Any, r: float, box: Any = None, *, width: int) -> Matrix:
    """Find the neighbours of each particle within a radius, periodic images included.

    Can be called wherever `radius_graph` can, and is queued as it is.

    Parameters
    ----------
    x : array [n][3] or [n][2]
        Coordinates, float32 or float64; may be traced.
    r : float
        The radius; distance <= r is a neighbour.
    box : Box, float or array, optional
        As in `kith.pairs`; r and box are constants of the compiled function. Default: open space.
    width : int
        Neighbours of a particle that the arrays have room for. Where `widest` is larger, distances
        and vectors are NaN: give that or more.

    Returns
    -------
    Matrix
        j, n, distances, vectors, shifts and widest. vectors[i, k] is x[j[i, k]] + S.cell - x[i].
        Gradients of any order are taken through distances and vectors; which particles are
        neighbours is constant to them.

    Raises
    ------
    jax.errors.JaxRuntimeError
        On CPU cores, as `radius_graph`. A GPU reports what it finds by a negative widest.

    Examples
    --------
    >>> import jax.numpy as jnp  # doctest: +SKIP
    >>> x = jnp.array([[0., 0, 0], [1, 0, 0], [5, 0, 0]])  # doctest: +SKIP
    >>> found = kith.jax.neighbours(x, 1.5, width=2)  # doctest: +SKIP
    >>> found.j.tolist(), found.n.tolist()  # doctest: +SKIP
    ([[1, 3], [0, 3], [3, 3]], [1, 1, 0])
    """
    x, space = _arguments(x, r, box)
    matrix: Matrix = _matrix(x, whole(width, "width", 1, 2 ** 31 - 1), space)
    return matrix
