# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of the caller's as arguments of the library, and the library's arrays as results."""
import ctypes as C

import numpy as np

from . import _abi


def coordinates(x, name="x", dim=3, like=None):
    """Return an array [n][dim] as kith_points, and the array that it borrows from.

    Arrays of float32 and float64 whose rows are any whole number of elements apart are not copied;
    others become float64, or the type of `like`.
    """
    array = np.asarray(x)
    if array.ndim != 2 or array.shape[1] != dim:
        raise ValueError(f"{name} has the shape {array.shape}; expected [n][{dim}]")
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name} has the type {array.dtype}; expected real numbers")
    dtype = like if like is not None else array.dtype
    if dtype not in (np.float32, np.float64):
        dtype = np.dtype(np.float64)
    array = np.asarray(array, dtype)
    size = array.itemsize
    rows, columns = array.strides
    packed = columns % size == 0 and (rows % size == 0 and rows >= size or len(array) < 2)
    if not packed or not array.flags.aligned or array.dtype.byteorder not in "=|":
        array = np.ascontiguousarray(array, dtype.newbyteorder("="))
        rows, columns = array.strides
    at = array.ctypes.data
    points = _abi.Points(len(array), at, at + columns, at + 2 * columns if dim == 3 else None,
                         max(rows // size, 1), size, 0)
    return points, array


def column(values, n, dtype, name, width=None):
    """Return a contiguous array [n] or [n][width] of a type; None stays None.

    Integers must be whole numbers within the type's range: nothing is cut silently.
    """
    if values is None:
        return None
    array = np.asarray(values)
    shape = (n,) if width is None else (n, width)
    if array.shape != shape:
        raise ValueError(f"{name} has the shape {array.shape}; expected {shape}")
    if np.dtype(dtype).kind in "iu" and array.dtype.kind not in "iub":
        raise TypeError(f"{name} has the type {array.dtype}; expected integers")
    if np.dtype(dtype).kind == "f" and array.dtype.kind not in "fiu":
        raise TypeError(f"{name} has the type {array.dtype}; expected real numbers")
    made = np.ascontiguousarray(array, dtype)
    if np.dtype(dtype).kind in "iu" and not np.array_equal(made, array):
        raise ValueError(f"{name} has values beyond those of {np.dtype(dtype)}")
    return made


def address(array):
    """Return the address of an array's first element, or None."""
    return None if array is None else C.c_void_p(array.ctypes.data)


class Owned:
    """A result struct of the library, freed with the last array that views it."""

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
