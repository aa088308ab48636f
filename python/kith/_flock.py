# SPDX-License-Identifier: BSD-3-Clause
"""Flocks: boids and Vicsek's models."""
import ctypes as C

import numpy as np

from . import _abi
from ._arrays import coordinates
from ._context import Context
from ._lib import library
from ._box import as_box, dimensions

_MODELS = {"boids": 0, "vicsek": 1, "vectorial": 2}
_RULES = ("separation", "alignment", "cohesion")
_NUMBERS = ("min_speed", "max_speed", "time_step", "nearest", "blind_angle", "noise", "seed",
            "first_step")


class Flock:
    """Particles on their way.

    Parameters
    ----------
    x, v : array [n][3] or [n][2]
        Positions and velocities, float32 or float64.
    box : Box, float or array, optional
        As in `pairs`.
    ctx : Context, optional
        Default: one of its own, closed with it.
    **how
        model ("boids", "vicsek", "vectorial"); separation, alignment, cohesion: (radius, weight);
        relative, min_speed, max_speed, time_step, nearest, blind_angle [radian], noise, seed,
        first_step, reflecting (a bool for each axis); defaults and meaning as in kith.h.

    Examples
    --------
    >>> flock = kith.Flock(np.zeros((1, 3)), np.ones((1, 3)), max_speed=0, time_step=0.5)
    >>> flock.step(4).positions
    array([[2., 2., 2.]])
    """

    def __init__(self, x, v, box=None, *, ctx=None, **how):
        self._at = C.c_void_p()
        dim = dimensions(x, box)
        space = as_box(box, dim).struct()
        points, kept = coordinates(x, "x", dim)
        velocities, kept_v = coordinates(v, "v", dim, kept.dtype)
        if len(kept_v) != len(kept):
            raise ValueError(f"v has {len(kept_v)} rows, x has {len(kept)}")
        self._shape, self._dtype = kept.shape, kept.dtype
        self._ctx = ctx if ctx is not None else Context()
        self._how = dict(how)
        self._ctx.call("kith_flock_open", C.byref(points), C.byref(velocities), C.byref(space),
                       C.byref(self._options()), C.byref(self._at))

    def _options(self):
        options = _abi.FlockOptions()
        library().kith_flock_options_init(C.byref(options))
        for name, value in self._how.items():
            if name == "model":
                if value not in _MODELS:
                    raise ValueError(f"model is {value!r}; it may be one of {', '.join(_MODELS)}")
                options.model = _MODELS[value]
            elif name in _RULES:
                setattr(options, name, _abi.FlockRule(*value))
            elif name == "relative":
                options.relative = bool(value)
            elif name == "reflecting":
                for axis, flag in enumerate(value):
                    options.reflecting[axis] = bool(flag)
            elif name in _NUMBERS:
                setattr(options, name, value)
            else:
                raise TypeError(f"Flock has no option {name!r}")
        return options

    def __del__(self):
        self.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __len__(self):
        return self._shape[0]

    def close(self):
        """Free the flock."""
        if getattr(self, "_at", None):
            library().kith_flock_close(self._at)
            self._at = C.c_void_p()

    def _call(self, name, *arguments):
        if not self._at:
            raise ValueError("the flock is closed")
        self._ctx.invoke(getattr(library(), name), self._at, *arguments)

    def change(self, **how):
        """Change options from the next step on; those not named keep their values."""
        before = self._how
        self._how = {**before, **how}
        try:
            self._call("kith_flock_change", C.byref(self._options()))
        except Exception:
            self._how = before
            raise
        return self

    def step(self, steps=1):
        """Go some steps further. Returns the flock."""
        self._call("kith_flock_step", steps)
        return self

    @property
    def steps(self):
        """Steps done, first_step included."""
        return library().kith_flock_steps(self._at)

    def _read(self, which):
        made = np.empty((self._shape[0], 3), self._dtype)
        addresses = [None, None]
        addresses[which] = made.ctypes.data
        self._call("kith_flock_read", *addresses)
        return made[:, :self._shape[1]]

    @property
    def positions(self):
        """A copy of the positions, wrapped into the box, array [n][dim]."""
        return self._read(0)

    @property
    def velocities(self):
        """A copy of the velocities, array [n][dim]."""
        return self._read(1)

    def measure(self):
        """Return polarisation, milling, mean_speed and neighbours as a dict."""
        found = _abi.FlockMeasures()
        self._call("kith_flock_measure", C.byref(found))
        return {name: getattr(found, name) for name, _ in found._fields_}
