# SPDX-License-Identifier: BSD-3-Clause
"""Many systems in one call: offsets or lists of arrays, and a box each."""
from __future__ import annotations

import ctypes as C
from importlib import import_module
from typing import Any, NamedTuple, Optional

import numpy as np

from . import _abi
from ._arrays import INT64
from ._box import as_box, boxes_of
from ._kinds import DeviceArray, take
from ._lib import library


class Systems(NamedTuple):
    """The systems of a batch as the caller gives them."""

    offsets: Any
    against: Any  # offsets of the second set; None without
    boxes: Optional[list[Any]]  # a box each; None: one for all


def _is_list(x: Any) -> bool:
    """Return whether x is a list of arrays [n][dim], one for each system."""
    return type(x) in (list, tuple) and len(x) > 0 and all(
        len(getattr(one, "shape", ())) == 2 for one in x)


def _join(x: Any, name: str) -> tuple[Any, Any]:
    """Return arrays of one library as one array, and the offsets of each in it."""
    for k, one in enumerate(x):
        if one.shape[1] != x[0].shape[1]:
            raise ValueError(f"{name}[{k}] has the shape {tuple(one.shape)}, {name}[0] "
                             f"{tuple(x[0].shape)}: systems have one number of dimensions")
    offsets = np.zeros(len(x) + 1, np.int64)
    np.cumsum([one.shape[0] for one in x], out=offsets[1:])
    home = type(x[0]).__module__.partition(".")[0]
    if home == "torch":
        return import_module("torch").cat(list(x)), offsets
    if home == "cupy":
        return import_module("cupy").concatenate(list(x)), offsets
    if home.startswith("jax"):
        return import_module("jax.numpy").concatenate(list(x)), offsets
    return np.concatenate(list(x)), offsets


def systems(x: Any, box: Any, against: Any, batch: Any) -> tuple[Any, Any, Any, Optional[Systems]]:
    """Return coordinates, box and second set of a call, and its systems; None: it has no batch."""
    if batch is None and not _is_list(x):
        return x, box, against, None
    if batch is not None and _is_list(x):
        raise ValueError("x is a list of arrays, one for each system: leave batch out")
    if batch is None:
        x, offsets = _join(x, "x")
        others = None
        if against is not None:
            if not _is_list(against):
                raise TypeError("x is a list of arrays; expected one for against, too")
            against, others = _join(against, "against")
    elif against is not None:
        if type(batch) not in (list, tuple) or len(batch) != 2:
            raise ValueError("batch: with against expected a pair: offsets of x, and of against")
        offsets, others = batch
    else:
        offsets, others = batch, None
    name = "batch" if against is None else "batch[0]"
    boxes = None if box is None else boxes_of(box, len(_offsets(offsets, name)) - 1)
    return x, None if boxes is not None else box, against, Systems(offsets, others, boxes)


def _offsets(values: Any, name: str) -> Any:
    """Return offsets as an array of 64-bit integers; memory of a GPU is not copied."""
    array = take(values, name)
    if array.ndim != 1 or len(array) < 1:
        raise ValueError(f"{name} has the shape {tuple(array.shape)}; expected [systems + 1]")
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} has the type {array.dtype}; expected integers")
    if isinstance(array, DeviceArray):
        if array.dtype != INT64 or not array.packed:
            raise TypeError(f"{name} has the type {array.dtype}; on a GPU expected int64, in C "
                            "order")
        return array
    return np.require(array, np.int64, ["C", "A"])


def _at(array: Any) -> Any:
    return array.address if isinstance(array, DeviceArray) else array.ctypes.data


def filled(given: Systems, dim: int) -> tuple[_abi.Batch, Any]:
    """Return the struct of a batch, and what must live as long as it does."""
    made = _abi.Batch()
    library().kith_batch_init_sized(C.byref(made), C.sizeof(made))
    offsets = _offsets(given.offsets, "batch" if given.against is None else "batch[0]")
    others = None if given.against is None else _offsets(given.against, "batch[1]")
    on_device = isinstance(offsets, DeviceArray)
    if others is not None and (isinstance(others, DeviceArray) != on_device
                               or len(others) != len(offsets)):
        raise ValueError("batch: offsets of both sets are of one length, and in one memory")
    made.systems, made.memory = len(offsets) - 1, int(on_device)
    made.offsets = _at(offsets)
    made.against_offsets = None if others is None else _at(others)
    boxes = None
    if given.boxes is not None:
        if on_device:
            raise TypeError("batch is on a GPU, the boxes in host memory: put offsets there, too")
        if len(given.boxes) != made.systems:
            raise ValueError(f"box has {len(given.boxes)} boxes, batch {made.systems} systems")
        boxes = (_abi.Box * max(len(given.boxes), 1))()
        for k, one in enumerate(given.boxes):
            try:
                boxes[k] = as_box(one, dim).struct()
            except (TypeError, ValueError) as error:
                raise type(error)(f"box[{k}]: {error}") from None
        made.boxes = C.addressof(boxes)
        made.dim = dim
    return made, (offsets, others, boxes)


