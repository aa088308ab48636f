# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of the caller's as arguments of the library, and the library's arrays as results."""
import ctypes as C

import numpy as np

from . import _abi
from ._context import Unshared


def given(values, name):
    """Return what the caller gave as an array; a mask would be ignored, so it is refused."""
    if np.ma.isMaskedArray(values):
        raise TypeError(f"{name} is a masked array; take what is to be used of it")
    return np.asarray(values)


def coordinates(x, name="x", dim=3, like=None):
    """Return an array [n][dim] as kith_points, and the array that it borrows from.

    Arrays of float32 and float64 whose rows are any whole number of elements apart are not copied;
    others become float64, or the type of `like`.
    """
    array = given(x, name)
    if array.ndim != 2 or array.shape[1] != dim:
        raise ValueError(f"{name} has the shape {array.shape}; expected [n][{dim}]")
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name} has the type {array.dtype}; expected real numbers")
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8 and array.size and (
            array.max() > 2 ** 53 or array.min() < -2 ** 53):
        raise ValueError(f"{name} has integers beyond 2^53, which float64 does not hold")
    if like == np.float32 and array.dtype == np.float64:
        raise TypeError(f"{name} has the type float64, x has float32: give both one type")
    dtype = like if like is not None else array.dtype
    if dtype not in (np.float32, np.float64):
        dtype = np.dtype(np.float64)
    array = np.asarray(array, dtype)
    size = array.itemsize
    rows, columns = array.strides
    packed = columns % size == 0 and (rows % size == 0 and rows >= size or len(array) < 2)
    if not packed or not array.flags.aligned or array.dtype.byteorder not in "=|":
        array = np.require(array, dtype.newbyteorder("="), ["C", "A"])
        rows, columns = array.strides
    at = array.ctypes.data
    points = _abi.Points(len(array), at, at + columns, at + 2 * columns if dim == 3 else None,
                         max(rows // size, 1), size, 0)
    return points, array


def column(values, n, dtype, name, width=None):
    """Return a contiguous array [n] or [n][width] of a type; None stays None.

    Numbers must be within the type's range: nothing is cut silently. Reals are rounded to it.
    """
    if values is None:
        return None
    array = given(values, name)
    shape = (n,) if width is None else (n, width)
    if array.shape != shape:
        raise ValueError(f"{name} has the shape {array.shape}; expected {shape}")
    if np.dtype(dtype).kind in "iu" and array.dtype.kind not in "iub":
        raise TypeError(f"{name} has the type {array.dtype}; expected integers")
    if np.dtype(dtype).kind == "f" and array.dtype.kind not in "fiu":
        raise TypeError(f"{name} has the type {array.dtype}; expected real numbers")
    with np.errstate(over="ignore"):
        made = np.require(array, dtype, ["C", "A"])
    if np.dtype(dtype).kind in "iu":
        kept = made == array
    else:
        kept = np.isfinite(made) | ~np.isfinite(array)
    if not kept.all():
        raise ValueError(f"{name} has values beyond those of {np.dtype(dtype)}")
    return made


def address(array):
    """Return the address of an array's first element, or None."""
    return None if array is None else C.c_void_p(array.ctypes.data)


class Owned(Unshared):
    """A result struct of the library, freed with the last array that views it."""

    _free = None

    def __init__(self, struct, free):
        self.struct = struct
        self._free = free

    def __del__(self):
        if self._free is not None:
            self._free(C.byref(self.struct))

    def view(self, at, shape, dtype):
        """Return an array over memory of the struct; it keeps the struct alive."""
        if 0 in shape or not at:
            return np.empty(shape, dtype)
        return np.asarray(_View(self, at, shape, np.dtype(dtype)))


class _View:
    """Memory of a result, for np.asarray, which keeps this object as the array's base."""

    def __init__(self, owner, at, shape, dtype):
        self._owner = owner
        self.__array_interface__ = {"data": (at, False), "shape": shape,
                                    "typestr": dtype.str, "version": 3}
