# SPDX-License-Identifier: BSD-3-Clause
"""Flocks: boids and Vicsek's models."""
from __future__ import annotations

import ctypes as C
from typing import Any, Optional

import numpy as np

from . import _abi
from ._arrays import coordinates, of_one_memory
from ._context import Context, Opened, context
from ._kinds import NUMPY, DeviceArray, kind_of, take
from ._lib import library
from ._numbers import real, whole
from ._box import as_box, dimensions

_MODELS = {"boids": 0, "vicsek": 1, "vectorial": 2}
_RULES = ("separation", "alignment", "cohesion", "repulsion")
_REALS = ("min_speed", "max_speed", "time_step", "blind_angle", "noise", "turn_rate", "leaders",
          "leader_weight")
_WHOLE = {"nearest": (0, 64), "seed": (0, 2 ** 64 - 1), "first_step": (0, 2 ** 62)}


def _direction(value: Any) -> list[float]:
    if np.shape(value) not in ((2,), (3,)):
        raise ValueError(f"leader_direction is {value!r}; expected two or three numbers")
    numbers = [real(part, "leader_direction") for part in value]
    return numbers + [0.0] * (3 - len(numbers))


def _set_factors(options: _abi.FlockOptions, value: Any) -> None:
    table = np.asarray(value, np.float64)
    if table.ndim == 2:
        table = np.repeat(table[:, :, None], 3, 2)
    if table.ndim != 3 or table.shape[0] != table.shape[1] or table.shape[2] != 3:
        raise ValueError(f"factors has the shape {np.shape(value)}; expected (s, s) or "
                         "(s, s, 3)")
    if not 1 <= len(table) <= 256:
        raise ValueError(f"factors is for {len(table)} species; expected 1 to 256")
    options.held_factors = np.ascontiguousarray(table)
    options.factors = options.held_factors.ctypes.data_as(C.POINTER(_abi.FlockFactors))
    options.n_species = len(table)


def _set_species(options: _abi.FlockOptions, value: Any, n: int) -> None:
    given = np.asarray(value)
    if given.shape != (n,) or given.dtype.kind not in "iu":
        raise ValueError(f"species has the shape {given.shape} and the type {given.dtype}; "
                         f"expected {n} integers")
    if given.size and not 0 <= given.min() <= given.max() <= 255:
        raise ValueError("species is a number from 0 to 255")
    options.held_species = np.ascontiguousarray(given, np.uint8)
    options.species = options.held_species.ctypes.data_as(C.POINTER(C.c_uint8))


def _check_needs(how: dict[str, Any]) -> None:
    """Refuse options that would do nothing for want of another."""
    if how.get("leaders", 0) != 0:
        if "leader_weight" not in how:
            raise ValueError("leaders needs leader_weight, above 0 (the command line has 0.5), and "
                             "leader_direction, a vector")
        if how["leader_weight"] != 0 and "leader_direction" not in how:
            raise ValueError("leaders needs leader_direction, a vector, such as (1, 0, 0)")
    if how.get("gaussian") and "noise" not in how and how.get("model") != "vectorial":
        raise ValueError("gaussian: there is no noise that could be normal; give noise, too")


def flock_options(how: dict[str, Any], shape: tuple[int, ...]) -> _abi.FlockOptions:
    """Return the options of a flock of positions of this shape. It holds its arrays."""
    _check_needs(how)
    options = _abi.FlockOptions()
    library().kith_flock_options_init_sized(C.byref(options), C.sizeof(options))
    for name, value in how.items():
        if name == "model":
            if value not in _MODELS:
                raise ValueError(f"model is {value!r}; it may be one of {', '.join(_MODELS)}")
            options.model = _MODELS[value]
        elif name in _RULES:
            if np.shape(value) != (2,):
                raise ValueError(f"{name} is {value!r}; expected (radius, weight)")
            setattr(options, name, _abi.FlockRule(*(real(part, name) for part in value)))
        elif name == "leader_direction":
            options.leader_direction[:] = _direction(value)
        elif name == "factors":
            _set_factors(options, value)
        elif name == "species":
            if "factors" not in how:
                raise ValueError("species needs factors")
            _set_species(options, value, shape[0])
        elif name in ("relative", "gaussian"):
            setattr(options, name, bool(value))
        elif name == "reflecting":
            axes = shape[1]
            if np.shape(value) not in ((), (axes,)):
                raise ValueError(f"reflecting is {value!r}; expected a bool for each of the "
                                 f"{axes} axes")
            flags = np.broadcast_to(np.array(value, bool), (axes,)).tolist()
            options.reflecting[:axes] = flags
        elif name in _REALS:
            setattr(options, name, real(value, name))
        elif name in _WHOLE:
            setattr(options, name, whole(value, name, *_WHOLE[name]))
        else:
            raise TypeError(f"Flock has no option {name!r}")
    return options


def measures_of(found: _abi.FlockMeasures) -> dict[str, float]:
    """Return the order parameters as a dict."""
    return {field[0]: getattr(found, field[0]) for field in found._fields_}


def measure_rows(flock: Any, steps: int, every: int) -> np.ndarray[Any, Any]:
    """Step a flock, and return what `Flock.record` returns."""
    steps, every = whole(steps, "steps", 0), whole(every, "every", 1)
    rows = [(flock.steps, *flock.measure().values())]
    for done in range(0, steps, every):
        flock.step(min(every, steps - done))
        rows.append((flock.steps, *flock.measure().values()))
    names = [field[0] for field in _abi.FlockMeasures._fields_]
    return np.array(rows, [("step", "i8"), *((name, "f8") for name in names)])


class Flock(Opened):
    """Particles on their way. `close()`, or the end of a `with` block, frees them, and their
    context if that is their own.

    Parameters
    ----------
    x, v : array [n][3] or [n][2]
        Positions and velocities, float32 or float64. Arrays of PyTorch, CuPy or JAX on a GPU are
        stepped there, and copied to the host once, to be checked.
    box : Box, float or array, optional
        As in `pairs`.
    ctx : Context, optional
        Default: one of its own, closed with it; of arrays on a GPU on their stream.
    **how
        model ("boids", "vicsek", "vectorial"); separation, alignment, cohesion, repulsion:
        (radius, weight); relative, min_speed, max_speed, time_step, nearest, blind_angle [radian],
        noise, gaussian, turn_rate [radian / time], seed, first_step, reflecting (a bool for each
        axis); meaning as in kith.h, defaults "boids"; (3, 0.1), (5, 0.1), (5, 0.01), (0, 1): no
        repulsion; max_speed 1, time_step 0.2; all else 0, False or none. gaussian needs noise.
        factors, array [s][s][3] or [s][s]: how particles
        of each species heed those of each other in separation, alignment and cohesion (one number:
        in all three); species, [n]: that of each particle, below s; default: they go round.
        leaders: the share that steers towards leader_direction, a vector, with leader_weight; it
        needs both. Points, obstacles and predators are those of the command line and of C alone.

    Attributes
    ----------
    box : Box

    Examples
    --------
    >>> flock = kith.Flock(np.zeros((1, 3)), np.ones((1, 3)), max_speed=0, time_step=0.5)
    >>> flock.step(4).positions
    array([[2., 2., 2.]])
    """

    CLOSING = "kith_flock_close"

    def __init__(self, x: Any, v: Any, box: Any = None, *, ctx: Optional[Context] = None,
                 **how: Any) -> None:
        dim = dimensions(x, box)
        space = as_box(box, dim).struct()
        points, kept = coordinates(x, "x", dim, device=True)
        velocities, kept_v = of_one_memory(v, dim, kept, "v")
        if len(kept_v) != len(kept):
            raise ValueError(f"v has {len(kept_v)} rows, x has {len(kept)}")
        self.box = as_box(box, dim)
        self._shape, self._dtype, self._kind = kept.shape, kept.dtype, kind_of(x)
        self._number: Optional[int] = None  # of the GPU that the caller's arrays are on
        if isinstance(kept, DeviceArray):
            self._number = kept.number
            if self._kind is NUMPY:
                raise TypeError(f"x is a {type(x).__name__} on a GPU; a flock takes arrays of "
                                "PyTorch, CuPy or JAX there")
        self._how = dict(how)
        options, at = self._options(), C.c_void_p()
        self._own = ctx is None
        if not self._own:
            self._ctx = context(ctx, kept)
        elif isinstance(kept, DeviceArray):
            self._ctx = Context(f"cuda:{kept.number}", stream=kept.stream)
        else:
            self._ctx = Context()
        self._ctx.call("kith_flock_open", C.byref(points), C.byref(velocities), C.byref(space),
                       C.byref(options), C.byref(at))
        self._take(self._ctx, at)

    def _options(self) -> _abi.FlockOptions:
        return flock_options(self._how, self._shape)

    def __len__(self) -> int:
        return int(self._shape[0])

    def _call(self, name: str, *arguments: Any) -> None:
        if self._at is None:
            raise ValueError("the flock or its context is closed")
        self._ctx.invoke(getattr(library(), name), self._at, *arguments)

    def change(self, **how: Any) -> Flock:
        """Change options from the next step on; those not named keep their values."""
        before = self._how
        self._how = {**before, **how}
        try:
            self._call("kith_flock_change", C.byref(self._options()))
        except Exception:
            self._how = before
            raise
        return self

    def step(self, steps: int = 1) -> Flock:
        """Go some steps further. Returns the flock."""
        self._call("kith_flock_step", whole(steps, "steps", 0))
        return self

    @property
    def steps(self) -> int:
        """Steps done, first_step included."""
        return int(library().kith_flock_steps(self._at))

    def _read(self, which: int) -> Any:
        shape = self._shape[0], 3
        if self._number is None or self._ctx is None or self._ctx.device != self._number:
            return self._kind.give(self.on_host(which))
        made = self._kind.empty(shape, self._dtype, self._number)
        if made is None:
            return self._kind.give(self.on_host(which))
        memory: Any = take(made, "x")
        if self._own and self._ctx.stream != memory.stream:
            self._ctx.set_stream(memory.stream)
        addresses: list[Optional[int]] = [None, None]
        addresses[which] = memory.address
        self._call("kith_flock_read_device", *addresses)
        return made[:, :self._shape[1]]

    def on_host(self, which: int) -> np.ndarray[Any, Any]:
        """Return a copy of the positions (0) or the velocities (1) as an array of NumPy."""
        made = np.empty((self._shape[0], 3), self._dtype)
        addresses: list[Optional[int]] = [None, None]
        addresses[which] = made.ctypes.data
        self._call("kith_flock_read", *addresses)
        return made[:, :self._shape[1]]

    @property
    def positions(self) -> Any:
        """A copy of the positions, wrapped into the box, array [n][dim], of the kind of x.

        Where x is an array of PyTorch or CuPy on a GPU, the copy is made there on their current
        stream (that of `ctx`, if it was given), and nothing waits for it. Arrays of JAX, which
        cannot be written, go through the host.
        """
        return self._read(0)

    @property
    def velocities(self) -> Any:
        """A copy of the velocities, array [n][dim]."""
        return self._read(1)

    def record(self, steps: int, every: int = 1) -> np.ndarray[Any, Any]:
        """Go some steps further, and measure now and after each `every` of them.

        Returns
        -------
        structured array
            step, polarisation, milling, mean_speed, neighbours; kith.plot.order_parameters draws
            them.
        """
        return measure_rows(self, steps, every)

    def measure(self) -> dict[str, float]:
        """Return polarisation, milling, mean_speed and neighbours as a dict."""
        found = _abi.FlockMeasures()
        self._call("kith_flock_measure", C.byref(found))
        return measures_of(found)
