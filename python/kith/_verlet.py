# SPDX-License-Identifier: BSD-3-Clause
"""Lists of pairs that are kept over the steps of a simulation."""
from __future__ import annotations

import ctypes as C
import sys
from typing import Any, Optional

import numpy as np

from . import _abi
from ._arrays import coordinates, is_wide, no_gradient
from ._batch import filled, systems
from ._box import as_box, dimensions
from ._context import Context, Opened, context
from ._kinds import DeviceArray, kind_of
from ._lib import library
from ._numbers import real
from ._pairs import _List, _plan, _result
from ._sources import resolve

_REASONS = ("kept", "first", "asked", "particles", "box", "moved", "always")
_MOST_LISTS = 2  # whose memory later updates use again


class Verlet(Opened):
    """A list of pairs that is kept over the steps of a simulation.

    It holds the pairs within cutoff + skin, and searches again only when a pair that is not among
    them could be within the cutoff: when particles have moved too far, or the box has changed too
    much. After any history the list has the bits of `pairs` with sort=True. Particles may be
    wrapped, added, removed and renumbered between updates, and the box may change: indices are
    those of the particles given now. One cutoff is for all pairs: kept lists take no radii, species
    or excluded pairs. Where the order of pairs does not matter, `pairs` of each step can be faster.
    `close()`, or the end of a `with` block, frees what is kept;
    lists that were returned stay valid.

    Parameters
    ----------
    cutoff : float
        Radius of a pair.
    skin : float
        How much farther apart the pairs are that are kept. Long skins need few searches, and much
        time and memory between them; a tenth to a fifth of the cutoff is usual. 0: each update
        searches.
    want : str, optional
        As in `pairs`: letters of "ijdDS", or of "ojdDS" with layout "csr".
    full : bool, optional
        Each pair as (i, j) and as (j, i).
    layout : str, optional
        "ij" or "csr".
    with_skin : bool, optional
        All pairs that are kept, among them those within the cutoff, for programs that test the
        distances themselves.
    index : type, optional
        Of i and j: numpy.int32 or numpy.int64.
    ctx : Context, optional
        Default: one of its own, made by the first update; for x on a GPU one on that GPU and x's
        stream.

    Examples
    --------
    >>> x = np.array([[0.5, 0, 0], [1.6, 0, 0], [5, 0, 0]])
    >>> near = kith.Verlet(1.0, 0.3)
    >>> near.update(x, 10.0)
    (array([], dtype=int32), array([], dtype=int32))
    >>> x[1, 0] -= 0.12
    >>> near.update(x, 10.0)
    (array([0], dtype=int32), array([1], dtype=int32))
    >>> near.reason, near.updates, near.rebuilds
    ('kept', 2, 1)
    """

    CLOSING = "kith_verlet_close"

    def __init__(self, cutoff: float, skin: float, want: Optional[str] = None, *,
                 full: bool = False, layout: str = "ij", with_skin: bool = False,
                 index: Any = np.int32, ctx: Optional[Context] = None) -> None:
        if layout not in ("ij", "csr"):
            raise ValueError(f"layout is {layout!r}; it may be 'ij' or 'csr'")
        plan = _plan(want, full, layout, True)
        options = _abi.VerletOptions()
        library().kith_verlet_options_init_sized(C.byref(options), C.sizeof(options))
        options.cutoff, options.skin = real(cutoff, "cutoff"), real(skin, "skin")
        options.with_skin, options.full = bool(with_skin), bool(full)
        options.layout, options.extras = plan.options.layout, plan.options.extras
        self._options, self._want, self._wide = options, plan.want, is_wide(index)
        self._lists: list[_List] = []
        self._systems: Optional[int] = None  # of the last update, where it was of a batch
        if ctx is None:  # the arguments are checked now, on any context
            trial, at = context(), C.c_void_p()
            trial.call("kith_verlet_open", C.byref(options), C.byref(at))
            library().kith_verlet_close(at)
        else:
            self._open(context(ctx))

    def _open(self, on: Context) -> None:
        at = C.c_void_p()
        on.call("kith_verlet_open", C.byref(self._options), C.byref(at))
        self._take(on, at)

    def _prepare(self, kept: Any) -> None:
        """Open the list, or refuse coordinates that its context cannot reach."""
        if self._closed:
            raise ValueError("the list or its context is closed")
        on_gpu = isinstance(kept, DeviceArray)
        if self._at is None:
            self._own = True
            self._open(Context(f"cuda:{kept.number}", stream=kept.stream) if on_gpu else Context())
        elif on_gpu:
            context(self._ctx, kept)  # refuses another GPU
            if self._own and self._ctx.device is not None and self._ctx.stream != kept.stream:
                self._ctx.set_stream(kept.stream)

    def _unused(self) -> Optional[_List]:
        """Return a list of an earlier update whose arrays are all gone."""
        for k in range(len(self._lists)):
            if sys.getrefcount(self._lists[k]) <= 2:
                return self._lists.pop(k)
        return None

    def update(self, x: Any, box: Any = None, batch: Any = None) -> Any:
        """Return the list of the present positions.

        Parameters
        ----------
        x : array [n][3] or [n][2]
            Coordinates, as `pairs` takes them, or an object that holds them and a box.
        box : Box, float or array, optional
            As in `pairs`.
        batch : array [systems + 1] of integers, optional
            Many systems in one call, as in `pairs`: x may be a list of arrays instead, and box a
            list of boxes. Each system is searched again only when it needs that: `reasons`. All
            updates of a list are of batches, or none is. On CPU cores alone.

        Returns
        -------
        array or tuple of arrays
            What `want` names, in its order, as `pairs` returns it, sorted by i, j and S.
        """
        x, box, _, many = systems(x, box, None, batch)
        x, box = resolve(x, box)
        dim = dimensions(x, box)
        space = as_box(box, dim)
        no_gradient(x, self._want, "use kith.torch.radius_graph, or x.detach()")
        points, kept = coordinates(x, "x", dim, device=True)
        self._prepare(kept)
        on_gpu = isinstance(kept, DeviceArray)
        found = None if on_gpu else self._unused()
        if found is None:
            found = _List(self._ctx, int(on_gpu))
        if many is None:
            self._ctx.invoke(library().kith_verlet_update, self._at, C.byref(points),
                             C.byref(space.struct()), found.at)
        else:
            struct, _lives = filled(many, dim)
            self._systems = None
            self._ctx.invoke(library().kith_verlet_update_batch, self._at, C.byref(points),
                             C.byref(space.struct()) if many.boxes is None else None,
                             C.byref(struct), found.at)
            self._systems = int(struct.systems)
        result = _result(found, self._want, kind_of(x), kept, dim, self._wide, self._ctx)
        if not on_gpu and not found.short and len(self._lists) < _MOST_LISTS:
            self._lists.append(found)
        return result[0] if len(result) == 1 else result

    def rebuild(self) -> None:
        """Search at the next update, whatever it is given."""
        if self._at is not None:
            self._ctx.invoke(library().kith_verlet_rebuild, self._at)

    def _state(self) -> _abi.VerletState:
        state = _abi.VerletState()
        if self._at is not None:
            self._ctx.invoke(library().kith_verlet_read_sized, self._at, C.byref(state),
                             C.sizeof(state))
        return state

    @property
    def updates(self) -> int:
        """Number of updates."""
        return int(self._state().updates)

    @property
    def rebuilds(self) -> int:
        """Number of searches that the updates took; of a batch, those of all systems."""
        return int(self._state().rebuilds)

    @property
    def rebuilt(self) -> bool:
        """Whether the last update searched."""
        return bool(self._state().rebuilt)

    @property
    def reason(self) -> str:
        """Why the last update searched: "first", "asked" (`rebuild`), "particles" (their number or
        precision), "box", "moved", "always" (no skin, or one as short as rounding errors); "kept"
        where it did not; "" before the first update."""
        state = self._state()
        return _REASONS[state.reason] if state.updates else ""

    @property
    def reasons(self) -> list[str]:
        """Why the last update of a batch searched in each of its systems: as `reason`; "kept" where
        it did not."""
        if self._closed:
            raise ValueError("the list or its context is closed")
        if self._systems is None:
            raise ValueError("the last update was not of a batch, or failed")
        reasons = np.empty(self._systems, np.int32)
        self._ctx.invoke(library().kith_verlet_reasons, self._at, self._systems,
                         C.c_void_p(reasons.ctypes.data))
        return [_REASONS[reason] for reason in reasons]

    @property
    def displacement(self) -> float:
        """Longest displacement since the last search, as the last update found it."""
        return float(self._state().displacement)

    @property
    def allowed(self) -> float:
        """Displacement up to which the list could be kept in the last update's box."""
        return float(self._state().allowed)
