# SPDX-License-Identifier: BSD-3-Clause
"""A view of particles in a cell of a notebook, drawn by the scripts of the live view (web/)."""
from __future__ import annotations

import base64
import pathlib
import struct
import uuid
from importlib import import_module
from typing import Any, Optional

import numpy as np

from ._arrays import given
from ._box import Box, as_box, dimensions
from ._flock import Flock
from ._fof import Groups
from ._numbers import whole
from ._sources import resolve

Array = np.ndarray[Any, Any]
PLAIN, HEADING, GROUP = 0, 2, 3  # web_colour of web/web.h
_SCRIPTS = ("shaders.js", "bodies.js", "scene.js", "input.js", "cell.js")


def _scripts() -> str:
    """Return the scripts that draw: of the wheel, else of the checkout."""
    here = pathlib.Path(__file__).resolve().parent
    folder = here / "web" if (here / "web").exists() else here.parents[1] / "web"
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in _SCRIPTS)


def _directions(v: Array) -> Array:
    """Return the octahedral map of directions, a byte for each of two numbers; 0: none."""
    size = np.abs(v).sum(axis=1)
    unit = v / np.where(size > 0, size, 1)[:, None]
    folded = (1 - np.abs(unit[:, 1::-1])) * np.where(unit[:, :2] < 0, -1, 1)
    flat = np.where(unit[:, 2:] < 0, folded, unit[:, :2])
    low, high = np.floor(flat * 127.5 + 128).clip(0, 255).astype(np.uint16).T
    packed = low | high << 8
    made: Array = np.where(size > 0, np.where(packed > 0, packed, 65535), 0).astype("<u2")
    return made


def _space(x: Array, box: Box) -> tuple[Array, Array]:
    """Return origin and rows [3][3] of a box that holds the points; open axes enclose them."""
    rows, origin = np.eye(3), np.zeros(3)
    rows[:box.dim, :box.dim], origin[:box.dim] = box.cell, box.origin
    for k in range(box.dim):
        if not rows[k].any() or not box.pbc[k]:
            inside = x[np.isfinite(x).all(axis=1), k]
            low, high = (inside.min(), inside.max()) if len(inside) else (0.0, 1.0)
            wider = 0.02 * (high - low) or 0.5
            origin[k], rows[k] = low - wider, np.eye(3)[k] * (high - low + 2 * wider)
    return origin, rows


class View:
    """A view of particles, as view() returns it. A notebook shows it where it ends a cell."""

    def __init__(self, source: Any, box: Any, velocities: Any, labels: Any, most: int,
                 height: int) -> None:
        self._source, self._height = source, height
        self._box, self._velocities, self._labels = box, velocities, labels
        self._most, self._name = most, f"kith-{uuid.uuid4().hex}"
        self._choice: Optional[Array] = None
        self._handle: Any = None

    def _now(self) -> tuple[Array, Box, Any, Any, int]:
        """Return positions, box, velocities, labels and the step."""
        source = self._source
        if isinstance(source, Flock):
            return (source.on_host(0), source.box, source.on_host(1), self._labels,
                    source.steps)
        x, box = resolve(source, self._box)
        return x, as_box(box, dimensions(x, box)), self._velocities, self._labels, 0

    def message(self) -> bytes:
        """Return the points as they are now, in the layout of web_points (web/web.h)."""
        positions, box, velocities, labels, step = self._now()
        x = np.asarray(given(positions, "x"), dtype=np.float64)
        if x.ndim != 2 or x.shape[1] != box.dim:
            raise ValueError(f"x has the shape {x.shape}; expected [n][{box.dim}]")
        n = len(x)
        if self._choice is None or len(self._choice) != min(n, self._most):
            order = np.random.default_rng(0).permutation(n)
            self._choice = np.sort(order[:self._most])
        chosen = x[self._choice]
        origin, rows = _space(x, box)
        space = np.zeros((len(chosen), 3))
        space[:, :box.dim] = chosen
        fractions = (space - origin) @ np.linalg.inv(rows)
        fractions[:, :box.dim][:, box.pbc] %= 1
        points = np.zeros((len(chosen), 4), "<u2")
        points[:, :box.dim] = np.floor(np.nan_to_num(fractions[:, :box.dim]) * 65536).clip(0, 65535)
        colour = PLAIN
        if labels is not None:
            colour, marks = GROUP, np.asarray(given(labels, "labels"))[self._choice]
            points[:, 3] = np.where(marks > 0, 1 + (marks - 1) % 65535, 0)
        elif velocities is not None:
            colour, v = HEADING, np.zeros((len(chosen), 3))
            v[:, :box.dim] = np.asarray(given(velocities, "velocities"))[self._choice]
            points[:, 3] = _directions(v)
        bits = sum(int(periodic) << k for k, periodic in enumerate(box.pbc))
        head = struct.pack("<3d2I2f2I12f4I", step, step, n, 8, colour, 0, 1, box.dim, bits, *origin,
                           *rows.ravel(), 0, 1, 6 if colour == HEADING else 0, 0)
        return head + points.tobytes()

    def _show(self) -> str:
        """Return JavaScript that gives the points to the canvas, if the page has it."""
        text = base64.b64encode(self.message()).decode("ascii")
        return f'(window.kithCells || {{}})["{self._name}"]?.show("{text}");'

    def _repr_html_(self) -> str:
        return (f'<canvas id="{self._name}" style="width: 100%; height: {self._height}px; '
                'touch-action: none"></canvas>\n<script>\n(() => {\n' + _scripts() +
                f'\nconst cell = new Cell(document.getElementById("{self._name}"));\n'
                f'(window.kithCells = window.kithCells || {{}})["{self._name}"] = cell;\n'
                f'{self._show()}\n}})();\n</script>')

    def update(self) -> View:
        """Draw the points as they are now, where the view is shown. Needs IPython."""
        display = import_module("IPython.display")
        drawn = display.HTML(f"<script>{self._show()}</script>")
        if self._handle is None:
            self._handle = display.display(drawn, display_id=f"{self._name}-points")
        else:
            self._handle.update(drawn)
        return self

    def run(self, steps: int, every: int = 1) -> View:
        """Step the flock, and draw it after each `every` steps. Show the view first."""
        if not isinstance(self._source, Flock):
            raise TypeError(f"the view is of a {type(self._source).__name__}; a Flock can run")
        steps, every = whole(steps, "steps", 0), whole(every, "every", 1)
        for done in range(0, steps, every):
            self._source.step(min(every, steps - done))
            self.update()
        return self


def view(x: Any, box: Any = None, *, velocities: Any = None, labels: Any = None,
         most: int = 50000, height: int = 420) -> View:
    """View particles in a cell of a notebook, drawn by WebGL; drag to turn, wheel to zoom.

    Parameters
    ----------
    x : Flock, Groups, or array [n][3] or [n][2]
        What to view; arrays, or what holds them, as in `pairs`.
    box : Box, float or array, optional
        As in `pairs`; open axes enclose the points.
    velocities : array [n][dim], optional
        Colours are their directions; a flock has its own.
    labels : array [n] of integers, optional
        Colours are these numbers, 0 is dim; Groups have their own.
    most : int, optional
        Show at most so many points, chosen at random.
    height : int, optional
        Of the cell [pixel].

    Returns
    -------
    View
        update() draws it anew; of a flock run(steps, every) steps and draws.

    Examples
    --------
    >>> seen = kith.view(np.array([[0.25, 0.5, 0.75]]), 1.0)
    >>> np.frombuffer(seen.message(), np.uint16, offset=112)[:3] / 65536
    array([0.25, 0.5 , 0.75])
    """
    if isinstance(x, Groups):
        x, box, labels = x.coordinates, x.box, x.labels if labels is None else labels
    return View(x, box, velocities, labels, whole(most, "most", 1, 2 ** 31),
                whole(height, "height", 50, 10000))
