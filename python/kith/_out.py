# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of the caller's that results are written to."""
from __future__ import annotations

from typing import Any, NamedTuple, Optional

import numpy as np

from ._context import CapacityError
from ._kinds import DeviceArray, Memory, take


class Expected(NamedTuple):
    """What an array that results are written to must be."""

    letter: str  # letter of `want`
    dtype: Any  # type of an element
    first: str  # length of the first axis, as messages name it: "n + 1"
    widths: tuple[int, ...]  # lengths of the other axes
    least: int = 0  # smallest length of the first axis
    what: str = ""  # what the first axis counts, as messages name it: "offsets"


def outputs(out: Any, want: str) -> list[Any]:
    """Return the caller's arrays, one for each letter of `want`."""
    targets = [out] if len(want) == 1 and not isinstance(out, (tuple, list)) else list(out)
    if len(targets) != len(want) and hasattr(out, "shape"):
        raise TypeError(f"out is one array; want {want!r} names {len(want)}: give a tuple")
    if len(targets) != len(want):
        raise ValueError(f"out has {len(targets)} arrays; want {want!r} names {len(want)}")
    return targets


def checked(targets: list[Any], expected: list[Expected], inputs: list[Memory],
            names: Optional[list[str]] = None) -> list[Any]:
    """Return the caller's arrays as arrays of NumPy or of a GPU, checked. They must be in the
    memory of the coordinates, which are inputs[0], and share none with an input. `names` are what
    messages call them: out[0], ... by default."""
    names = names or [f"out[{k}]" for k in range(len(targets))]
    arrays = [_checked(target, name, one, inputs)
              for target, name, one in zip(targets, names, expected)]
    for k, array in enumerate(arrays):
        if any(_share(array, other) for other in arrays[:k]):
            raise ValueError(f"{names[k]} shares memory with an array before it")
    return arrays


def _checked(target: Any, name: str, expected: Expected, inputs: list[Memory]) -> Any:
    """Return one of the caller's arrays, checked."""
    array: Any = take(target, name)
    host, x_host = isinstance(array, np.ndarray), isinstance(inputs[0], np.ndarray)
    if host is not x_host:
        raise TypeError(f"{name} is in {'host memory' if host else 'the memory of a GPU'}, x is "
                        "not: put both into one memory")
    if isinstance(target, (list, tuple)):
        raise TypeError(f"{name} is a {type(target).__name__}; expected an array")
    if array.dtype != expected.dtype:
        raise TypeError(f"{name} has the type {array.dtype}; {expected.letter!r} needs "
                        f"{expected.dtype}")
    shape = tuple(array.shape)
    if len(shape) != 1 + len(expected.widths) or shape[1:] != expected.widths:
        axes = "".join(f"[{width}]" for width in expected.widths)
        raise ValueError(f"{name} has the shape {shape}; expected [{expected.first}]{axes}")
    if shape[0] < expected.least:
        raise CapacityError(f"{name} has room for {shape[0]} {expected.what}; {expected.least} are "
                            "needed", expected.least)
    if host:
        if not array.flags.writeable:
            raise ValueError(f"{name} is read-only")
        if not (array.flags.c_contiguous and array.flags.aligned):
            raise ValueError(f"{name} is not contiguous in memory (C order)")
    elif not array.writeable or not array.packed:
        raise ValueError(f"{name} is read-only, or not contiguous in memory (C order)")
    if any(_share(array, one) for one in inputs):
        raise ValueError(f"{name} shares memory with the coordinates or another argument")
    return array


def _share(one: Any, other: Any) -> bool:
    """Return whether two arrays, each within one range of addresses, share memory."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.may_share_memory(one, other)
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return False
    ends = [array.address + array.dtype.itemsize + sum(
        step * max(size - 1, 0) for step, size in zip(array.strides, array.shape))
            for array in (one, other)]
    return bool(one.address < ends[1] and other.address < ends[0])
