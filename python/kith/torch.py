# SPDX-License-Identifier: BSD-3-Clause
"""Graphs of neighbours for PyTorch, with gradients of distances and vectors."""
from __future__ import annotations

from typing import Any, NamedTuple, Optional

import numpy as np
import torch

from ._box import Box, as_box
from ._pairs import pairs

__all__ = ["Graph", "radius_graph"]


class Graph(NamedTuple):
    """Edges between neighbours. All tensors are on the device of the coordinates."""

    edge_index: Any  #: [2][edges] of int64: sources, targets; the targets ascend
    distances: Any  #: [edges], with gradients
    vectors: Any  #: [edges][dim], with gradients: from the target to the source's image
    shifts: Any  #: [edges][dim] of int32: the image S of the source


def _search(x: torch.Tensor, r: float, cell: torch.Tensor, pbc: list[bool],
            origin: list[float], batch: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return edge_index and shifts. cell [k][dim][dim]: one, or one of each graph; batch [n]
    ascending, or empty: one graph."""
    n = len(x)
    if len(batch):
        graphs = int(batch[-1]) + 1
        ends = torch.searchsorted(batch, torch.arange(graphs, device=batch.device),
                                  right=True).tolist()
    else:
        graphs, ends = 1, [n]
    cells = cell.detach().cpu().to(torch.float64).numpy()
    if len(cells) not in (0, 1, graphs):
        raise ValueError(f"box has {len(cells)} cells; expected 1, or one of each of {graphs} "
                         "graphs")
    dim, begin = x.shape[1], 0
    edges, shifts = [], []
    for k, end in enumerate(ends):
        box: Any = Box(dim=dim)
        if len(cells):
            box = Box(cells[k if len(cells) > 1 else 0], pbc, origin or None)
        i, j, s = pairs(x[begin:end].detach(), r, box, "ijS", full=True, sort=True,
                        index=np.int64)
        edges.append(torch.stack([j, i]) + begin)
        shifts.append(s)
        begin = end
    if len(edges) == 1:
        return edges[0], shifts[0].contiguous()
    return torch.cat(edges, dim=1), torch.cat(shifts)


def _no_search(x: torch.Tensor, r: float, cell: torch.Tensor, pbc: list[bool],
               origin: list[float], batch: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return tensors of the shapes that the search returns, for torch.compile."""
    edges = torch.library.get_ctx().new_dynamic_size()
    return (x.new_empty((2, edges), dtype=torch.int64),
            x.new_empty((edges, x.shape[1]), dtype=torch.int32))


if hasattr(torch.library, "custom_op"):  # from 2.4 on: torch.compile traces through it
    _found: Any = torch.library.custom_op("kith::radius_graph", _search, mutates_args=())
    _found.register_fake(_no_search)
else:
    _found = _search


@torch.compiler.disable  # type: ignore[untyped-decorator]  # a Box is no constant to a graph
def _parts(box: Any, dim: int) -> tuple[list[list[float]], list[bool], list[float]]:
    """Return the rows, the periodic axes and the origin of what stands for a box."""
    made = as_box(box if isinstance(box, Box) else np.asarray(box), dim)
    return made.cell.tolist(), made.pbc.tolist(), made.origin.tolist()


def radius_graph(x: Any, r: float, box: Any = None, *, batch: Any = None,
                 loop: bool = False) -> Graph:
    """Connect each particle with all others within a radius, periodic images included.

    Parameters
    ----------
    x : tensor [n][3] or [n][2]
        Coordinates, float32 or float64.
    r : float
        The radius; distance <= r is an edge.
    box : Box, float or tensor, optional
        As in `kith.pairs`. A tensor [dim][dim] has the row vectors of a periodic cell, [graphs]
        [dim][dim] one for each graph; distances and vectors have gradients by it. Default: open
        space.
    batch : tensor [n] of int64, optional
        The graph of each particle, ascending from 0: there are no edges between graphs.
    loop : bool, optional
        Connect each particle with itself, too.

    Returns
    -------
    Graph
        edge_index, distances, vectors and shifts. Edge e goes from edge_index[0, e] to
        edge_index[1, e], as in PyTorch Geometric; vectors[e] is x[source] + S.cell - x[target].
        Gradients of any order are taken through distances and vectors; which pairs are edges is
        constant to them. torch.compile traces through it where the box is None, a number or a
        tensor; a Box breaks the graph.

    Examples
    --------
    >>> import torch  # doctest: +SKIP
    >>> x = torch.tensor([[0., 0, 0], [1, 0, 0]], requires_grad=True)  # doctest: +SKIP
    >>> graph = kith.torch.radius_graph(x, 1.5)  # doctest: +SKIP
    >>> graph.distances.sum().backward()  # doctest: +SKIP
    >>> x.grad  # doctest: +SKIP
    tensor([[-2.,  0.,  0.],
            [ 2.,  0.,  0.]])
    """
    if not isinstance(x, torch.Tensor) or x.ndim != 2 or x.shape[1] not in (2, 3):
        raise TypeError(f"x is {type(x).__name__} {list(getattr(x, 'shape', []))}; expected a "
                        "tensor [n][3] or [n][2]")
    dim = x.shape[1]
    pbc, origin = [True] * dim, []
    if box is None:
        cell = x.new_zeros((0, dim, dim))
    elif isinstance(box, torch.Tensor) and box.ndim >= 2:
        cell = (box if box.ndim == 3 else box[None]).to(x)
    elif isinstance(box, (int, float)):
        cell = (torch.eye(dim, dtype=x.dtype, device=x.device) * box)[None]
    else:
        rows, pbc, origin = _parts(box, dim)
        cell = torch.tensor(rows, dtype=torch.float64).to(x)[None]
    if cell.shape[1:] != (dim, dim):
        raise ValueError(f"box has the shape {list(cell.shape)}; expected [{dim}][{dim}]")
    if batch is None:
        which = torch.zeros(0, dtype=torch.int64, device=x.device)
    else:
        if batch.shape != (len(x),):
            raise ValueError(f"batch has the shape {list(batch.shape)}; expected [{len(x)}]")
        if not torch.compiler.is_compiling() and bool((batch[1:] < batch[:-1]).any()):
            raise ValueError("batch does not ascend: sort the particles by their graph")
        which = batch.to(torch.int64)
    edges, shifts = _found(x, float(r), cell, pbc, origin, which)
    if loop:
        every = torch.arange(len(x), device=x.device)
        edges = torch.cat([edges, torch.stack([every, every])], dim=1)
        shifts = torch.cat([shifts, shifts.new_zeros((len(x), dim))])
        order = torch.argsort(edges[1], stable=True)
        edges, shifts = edges[:, order], shifts[order]
    source, target = edges[0], edges[1]
    vectors = x[source] - x[target]
    if len(cell):
        rows = cell[which[target]] if len(cell) > 1 else cell.expand(1, dim, dim)
        for axis in reversed(range(dim)):  # in the order in which the library rounds
            vectors = vectors + shifts[:, axis:axis + 1].to(x.dtype) * rows[:, axis]
    return Graph(edges, torch.linalg.vector_norm(vectors, dim=1), vectors, shifts)
