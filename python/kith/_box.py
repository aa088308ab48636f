# SPDX-License-Identifier: BSD-3-Clause
"""The space that particles are in."""
from __future__ import annotations

import math
from typing import Any, Optional

import numpy as np

from . import _abi
from ._kinds import as_array

Array = np.ndarray[Any, Any]


class Box:
    """A box with an origin and row vectors a, b, c; each axis is periodic or open.

    Parameters
    ----------
    cell : float, sequence or array, optional
        A length (a cube), lengths [dim], or row vectors [dim][dim], as in ASE. None: open space.
    pbc : bool or sequence of bool, optional
        Which axes are periodic; default: all when there is a cell.
    origin : sequence of float, optional
        The corner where fractional coordinates are 0; default 0.
    dim : int, optional
        3 or 2; default: what the cell says, else 3.

    Examples
    --------
    >>> kith.Box(10.0)
    Box([10.0, 10.0, 10.0])
    >>> kith.Box([10, 10, 20], pbc=[True, True, False])
    Box([10.0, 10.0, 20.0], pbc=[True, True, False])
    """

    def __init__(self, cell: Any = None, pbc: Any = None, origin: Any = None,
                 dim: Optional[int] = None) -> None:
        if dim not in (None, 2, 3):
            raise ValueError(f"dim is {dim}; it may be 2 or 3")
        try:
            if isinstance(cell, (str, bytes)) or np.asarray(cell).dtype.kind not in "fiuO":
                raise TypeError
            given = None if cell is None else np.array(cell, dtype=np.float64)
        except (TypeError, ValueError):
            raise TypeError(f"cell is {cell!r}; expected real numbers") from None
        if given is not None and not np.isfinite(given).all():
            raise ValueError(f"cell is {cell!r}; expected finite numbers")
        if given is None:
            dim = dim or 3
            rows = np.zeros((dim, dim))
        elif given.ndim < 2 and (given < 0).any():
            raise ValueError(f"cell is {cell!r}; expected lengths of 0 or more")
        elif given.ndim == 0:
            dim = dim or 3
            rows = np.eye(dim) * given
        elif given.shape in ((2,), (3,)) and dim in (None, len(given)):
            dim = len(given)
            rows = np.diag(given)
        elif given.shape in ((2, 2), (3, 3)) and dim in (None, len(given)):
            dim = len(given)
            rows = given
        else:
            raise ValueError(f"cell has the shape {given.shape}; expected a length, lengths [dim] "
                             "or row vectors [dim][dim], dim 3 or 2")
        if pbc is None:
            pbc = cell is not None
        flags = np.array(pbc)
        if (flags.dtype.kind not in "bui" or flags.shape not in ((), (dim,))
                or not np.isin(flags, (0, 1)).all()):
            raise ValueError(f"pbc is {pbc!r}; expected a bool, or {dim} of them")
        self._cell = rows
        self._pbc = np.broadcast_to(flags.astype(bool), (dim,)).copy()
        self._origin = np.zeros(dim) if origin is None else np.array(origin, dtype=np.float64)
        if self._origin.shape != (dim,):
            raise ValueError(f"origin has the shape {self._origin.shape}; expected [{dim}]")
        for array in (self._cell, self._pbc, self._origin):
            array.flags.writeable = False
        self._dim = len(rows)
        self._struct = self._filled()
        self._reach: Optional[float] = None

    @classmethod
    def from_ase(cls, atoms: Any) -> Box:
        """Return the box of an ase.Atoms object: its cell and pbc."""
        return cls(np.array(atoms.cell), atoms.pbc)

    @property
    def dim(self) -> int:
        """Number of dimensions, 3 or 2."""
        return self._dim

    @property
    def cell(self) -> Array:
        """Row vectors a, b, c, array [dim][dim]; read-only."""
        return self._cell

    @property
    def pbc(self) -> Array:
        """Which axes are periodic, array [dim] of bool; read-only."""
        return self._pbc

    @property
    def origin(self) -> Array:
        """The corner where fractional coordinates are 0, array [dim]; read-only."""
        return self._origin

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Box) and all(map(np.array_equal, self._parts(), other._parts()))

    def __hash__(self) -> int:
        return hash(tuple(part.tobytes() for part in self._parts()))

    def _parts(self) -> tuple[Array, Array, Array]:
        return self._cell, self._pbc, self._origin

    def __repr__(self) -> str:
        if not self.cell.any() and not self.pbc.any():
            return f"Box(dim={self.dim})"
        diagonal = np.array_equal(self.cell, np.diag(np.diag(self.cell)))
        text = repr((np.diag(self.cell) if diagonal else self.cell).tolist())
        if not self.pbc.all():
            text += f", pbc={self.pbc.tolist()}"
        if self.origin.any():
            text += f", origin={self.origin.tolist()}"
        return f"Box({text})"

    @property
    def volume(self) -> float:
        """The volume, in 2-D the area; infinite where the row vector of an axis is zero."""
        if not self.cell.any(axis=1).all():
            return float("inf")
        return float(abs(np.linalg.det(self.cell)))

    @property
    def reach(self) -> float:
        """The smallest height along a periodic axis: a sphere of this radius meets the images next
        to the box alone. Infinite where no axis is periodic."""
        if self._reach is None:
            heights = []
            for axis in np.flatnonzero(self._pbc).tolist():
                others = np.delete(self._cell, axis, 0).tolist()
                face = math.hypot(*others[0]) if self._dim == 2 else math.hypot(*_cross(*others))
                heights.append(abs(float(np.linalg.det(self._cell))) / face if face else 0.0)
            self._reach = min(heights, default=float("inf"))
        return self._reach

    def struct(self) -> _abi.Box:
        """Return the box as kith_box; not to be changed."""
        return self._struct

    def _filled(self) -> _abi.Box:
        box = _abi.Box(dim=self._dim)
        box.origin[:self._dim] = self._origin.tolist()
        box.periodic[:self._dim] = self._pbc.tolist()
        for row, values in zip(box.row, self._cell.tolist()):
            row[:self._dim] = values
        return box

    def __reduce__(self) -> Any:
        return Box, (self._cell if self._cell.any() else None, self._pbc, self._origin, self._dim)


def _cross(a: list[float], b: list[float]) -> tuple[float, float, float]:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


_OPEN = {dim: Box(dim=dim) for dim in (2, 3)}
_cubes: dict[tuple[float, int], Box] = {}  # boxes that were given as a length


def _dimensions_of(entry: Any) -> int:
    """Return the number of dimensions of an entry of a list: 0 of a length, 2 of row vectors."""
    try:
        return int(np.ndim(entry))
    except ValueError:  # lists of unequal lengths
        return 2


def are_several(box: Any) -> bool:
    """Return whether what stands for a box can only be a box for each of several systems."""
    if type(box) not in (list, tuple):
        return len(getattr(box, "shape", ())) == 3
    if not box or any(one is None or isinstance(one, Box) for one in box):
        return True
    kinds = set(map(_dimensions_of, box))
    return len(kinds) > 1 or max(kinds) > 1


def boxes_of(box: Any, systems: int) -> Optional[list[Any]]:
    """Return the boxes of several systems; None: there is one for all. What could be either is
    refused."""
    if box is None or isinstance(box, (Box, float, int)):
        return None
    if are_several(box):
        return list(box)
    shape = getattr(box, "shape", None) or (len(box) if isinstance(box, (list, tuple)) else 0,)
    if systems > 1 and shape[0] == systems:
        raise ValueError(
            f"box has {systems} entries and there are {systems} systems: is it one box for all, or "
            "a box for each? Write kith.Box(box) for one; for each a list of kith.Box, "
            "[kith.Box(cell) for cell in box], or an array [systems][dim][dim]")
    return None


def as_box(box: Any, dim: int) -> Box:
    """Return what may stand for a box as a Box: one, a length, lengths, row vectors or None."""
    if box is None:
        return _OPEN[dim]
    if type(box) is float or type(box) is int:
        made = _cubes.get((box, dim))
        if made is None:
            made = Box(box, dim=dim)
            if len(_cubes) < 100:
                _cubes[box, dim] = made
        return made
    if isinstance(box, Box):
        made = box
    elif are_several(box):
        raise ValueError("box has several boxes, x is one system: give batch, or a list of arrays")
    else:
        made = Box(box, dim=dim if np.ndim(box) == 0 else None)
    if made.dim != dim:
        raise ValueError(f"box has {made.dim} dimensions, x has {dim}")
    return made


def dimensions(x: Any, box: Any) -> int:
    """Return the number of dimensions: of the box, else of the coordinates."""
    if isinstance(box, Box):
        return box.dim
    shape = getattr(x, "shape", None)
    if shape is None:
        face = getattr(x, "__cuda_array_interface__", None)
        shape = face["shape"] if face else as_array(x, "x").shape
    return int(shape[1]) if len(shape) == 2 and shape[1] in (2, 3) else 3
