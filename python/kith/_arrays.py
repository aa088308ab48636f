# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of the caller's as arguments of the library, and the library's arrays as results."""
from __future__ import annotations

import ctypes as C
import math
from typing import Any, Optional

import numpy as np

from . import _abi
from ._context import Unshared
from ._kinds import DeviceArray, Memory, kind_of, take

INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)
_F4, _F8 = np.dtype(np.float32), np.dtype(np.float64)
_SIZE = {id(_F4): 4, id(_F8): 8}  # by the one object of each type in native byte order


def given(values: Any, name: str) -> np.ndarray[Any, Any]:
    """Return what the caller gave as an array in host memory."""
    array = take(values, name)
    if isinstance(array, DeviceArray):
        raise TypeError(f"{name} is in the memory of a GPU; expected host memory")
    return array


def fetched(values: Any, name: str) -> np.ndarray[Any, Any]:
    """Return what the caller gave as an array in host memory, copied from a GPU if need be."""
    array = take(values, name)
    return kind_of(values).fetch(values, name) if isinstance(array, DeviceArray) else array


def writable(array: Any) -> int:
    """Return the address of an array that is writeable, in C order and not empty, in a third of
    the time that array.ctypes takes."""
    return C.addressof(C.c_char.from_buffer(array))


def coordinates(x: Any, name: str = "x", dim: int = 3, like: Any = None,
                device: bool = False) -> tuple[_abi.Points, Memory]:
    """Return an array [n][dim] as kith_points, and the array that it borrows from.

    Arrays of float32 and float64 whose rows are any whole number of elements apart are not copied;
    others become float64, or the type of `like`. With `device`, memory of a GPU is allowed.
    """
    size = _SIZE.get(id(x.dtype)) if type(x) is np.ndarray else None  # the usual case is fast
    if size and x.ndim == 2 and x.shape[1] == dim and (like is None or x.dtype is like):
        flags = x.flags
        if flags.c_contiguous and flags.aligned:
            at = writable(x) if flags.writeable and x.size else x.ctypes.data
            return _abi.Points(len(x), at, at + size, at + 2 * size if dim == 3 else None, dim,
                               size, 0), x
    array = take(x, name) if device else given(x, name)
    if array.ndim != 2 or array.shape[1] != dim:
        raise ValueError(f"{name} has the shape {tuple(array.shape)}; expected [n][{dim}]")
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name} has the type {array.dtype}; expected real numbers")
    if like == np.float32 and array.dtype == np.float64:
        raise TypeError(f"{name} has the type float64, x has float32: give both one type")
    if isinstance(array, DeviceArray):
        return _on_device(array, name, dim, like), array
    return _on_host(array, name, dim, like)


def _on_host(array: np.ndarray[Any, Any], name: str, dim: int,
             like: Any) -> tuple[_abi.Points, np.ndarray[Any, Any]]:
    """Return coordinates in host memory as kith_points, copied if need be."""
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8 and array.size and (
            array.max() > 2 ** 53 or array.min() < -2 ** 53):
        raise ValueError(f"{name} has integers beyond 2^53, which float64 does not hold")
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
    at = array.__array_interface__["data"][0]
    return _abi.Points(len(array), at, at + columns, at + 2 * columns if dim == 3 else None,
                       max(rows // size, 1), size, 0), array


def _on_device(array: DeviceArray, name: str, dim: int, like: Any) -> _abi.Points:
    """Return coordinates in the memory of a GPU as kith_points; they are not copied."""
    if array.dtype not in (_F4, _F8) or like not in (None, array.dtype):
        raise TypeError(f"{name} has the type {array.dtype}; on a GPU expected "
                        f"{like or 'float32 or float64'}")
    size = array.dtype.itemsize
    rows, columns = array.strides
    if columns % size or (len(array) > 1 and (rows % size or rows < size)):
        raise ValueError(f"{name} has the strides {array.strides}; on a GPU expected rows in "
                         "ascending order, a whole number of elements apart")
    at = array.address
    return _abi.Points(len(array), at, at + columns, at + 2 * columns if dim == 3 else None,
                       max(rows // size, 1), size, 1)


def of_one_memory(values: Any, dim: int, like: Memory,
                  name: str = "against") -> tuple[_abi.Points, Memory]:
    """Return the coordinates of a second set, or velocities, of the type of `like` and in its
    memory, as coordinates() returns them."""
    on_device = isinstance(like, DeviceArray)
    made, kept = coordinates(values, name, dim, like.dtype, device=on_device)
    if on_device and not isinstance(kept, DeviceArray):
        raise TypeError(f"{name} is in host memory, x on a GPU: put both into one memory")
    return made, kept


def column(values: Any, n: int, dtype: Any, name: str,
           width: Optional[int] = None) -> Optional[np.ndarray[Any, Any]]:
    """Return a contiguous array [n] or [n][width] of a type in host memory; None stays None.

    Numbers must be within the type's range: nothing is cut silently. Reals are rounded to it.
    """
    if values is None:
        return None
    array = fetched(values, name)
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


def column_like(values: Any, n: int, dtype: Any, name: str, like: Memory,
                width: Optional[int] = None) -> Optional[Memory]:
    """Return a contiguous array [n] or [n][width] of a type in the memory of `like`."""
    if values is None or not isinstance(like, DeviceArray):
        return column(values, n, dtype, name, width)
    array = take(values, name)
    shape = (n,) if width is None else (n, width)
    if not isinstance(array, DeviceArray):
        raise TypeError(f"{name} is in host memory, x on a GPU: put both into one memory")
    if array.shape != shape or array.dtype != dtype or not array.packed:
        raise ValueError(f"{name} has the shape {array.shape} and the type {array.dtype}; on a GPU "
                         f"expected {shape} of {np.dtype(dtype)} in C order")
    return array


def address(array: Optional[Memory]) -> Optional[C.c_void_p]:
    """Return the address of an array's first element, or None."""
    if array is None:
        return None
    return C.c_void_p(array.address if isinstance(array, DeviceArray)
                      else array.__array_interface__["data"][0])


def is_wide(index: Any) -> bool:
    """Return whether indices of 64 bits are wanted."""
    try:
        made = np.dtype(index)
    except TypeError:
        made = None
    if made not in (INT32, INT64):
        raise ValueError(f"index is {index!r}; it may be numpy.int32 or numpy.int64")
    return bool(made == INT64)


def no_gradient(x: Any, want: str, instead: str) -> None:
    """Refuse distances and vectors of a tensor that asks for gradients, which would be lost."""
    if ("d" in want or "D" in want) and getattr(x, "requires_grad", False):
        raise TypeError(f"x requires gradients, which distances and vectors would lose: {instead}")


def narrow(array: Any, letter: str, dim: int, wide: bool) -> Any:
    """Return an array of a result in two dimensions, or with wide indices."""
    if letter in "DS" and dim == 2:
        return array[..., :2]
    if letter in "ij" and wide:
        if hasattr(array, "long"):
            return array.long()
        return array.astype(np.int64)
    return array


_buffers: list[Any] = [C.c_char * (1 << bits) for bits in range(48)]


def over(at: int, n: int, dtype: np.dtype[Any], owner: Any = None) -> np.ndarray[Any, Any]:
    """Return an array [n] over memory at an address, which keeps `owner` alive.

    ctypes makes a type for each length of a buffer: there are only those of powers of two.
    """
    buffer = _buffers[(n * dtype.itemsize).bit_length()].from_address(at)
    buffer.owner = owner
    return np.frombuffer(buffer, dtype, n)


class Owned(Unshared):
    """A result struct of the library, freed with the last array that views it."""

    _free: Any = None

    def __init__(self, struct: Any, free: Any, keep: Any = None) -> None:
        self.struct = struct
        self._keep = keep  # what must outlive the struct: the context of memory of a GPU
        self._free = free

    def __del__(self, byref: Any = C.byref) -> None:  # at the process's end C may be None
        if self._free is not None:
            self._free(byref(self.struct))

    def view(self, at: Optional[int], shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
        """Return an array over host memory of the struct; it keeps the struct alive."""
        if 0 in shape or not at:
            return np.empty(shape, dtype)
        return over(at, math.prod(shape), np.dtype(dtype), self).reshape(shape)

    def on_device(self, at: Optional[int], shape: tuple[int, ...], dtype: Any,
                  number: int) -> DeviceArray:
        """Return an array over memory of a GPU of the struct; it keeps the struct alive."""
        return DeviceArray(at or 0, shape, dtype, number, self)
