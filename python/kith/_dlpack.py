# SPDX-License-Identifier: BSD-3-Clause
"""DLPack: the exchange of arrays without a copy. https://dmlc.github.io/dlpack/latest"""
from __future__ import annotations

import ctypes as C
from typing import Any, NamedTuple

import numpy as np

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13  # DLDeviceType
_CODES = {"i": 0, "u": 1, "f": 2, "b": 6}  # DLDataTypeCode by NumPy's kind


class _Tensor(C.Structure):
    _fields_ = [("data", C.c_void_p), ("device_type", C.c_int32), ("device_id", C.c_int32),
                ("ndim", C.c_int32), ("code", C.c_uint8), ("bits", C.c_uint8),
                ("lanes", C.c_uint16), ("shape", C.POINTER(C.c_int64)),
                ("strides", C.POINTER(C.c_int64)), ("byte_offset", C.c_uint64)]


class _Managed(C.Structure):
    pass


_DELETER = C.CFUNCTYPE(None, C.POINTER(_Managed))
_Managed._fields_ = [("tensor", _Tensor), ("context", C.c_void_p), ("deleter", _DELETER)]

_NAME = b"dltensor"  # of a capsule that nobody has consumed yet; the pointer must stay valid
# Functions of this module's own: the attributes of C.pythonapi are shared by all packages, each of
# which sets argtypes of its liking (JAX does).
_pointer = C.PYFUNCTYPE(C.c_void_p, C.py_object, C.c_char_p)(("PyCapsule_GetPointer", C.pythonapi))
_new = C.PYFUNCTYPE(C.py_object, C.c_void_p, C.c_char_p, C.c_void_p)(
    ("PyCapsule_New", C.pythonapi))


class Tensor(NamedTuple):
    """Memory that a DLPack capsule describes."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # in bytes
    dtype: np.dtype[Any]
    device: tuple[int, int]  # DLDeviceType, number
    capsule: Any  # keeps the memory alive: its destructor calls the producer's deleter


def read(x: Any, name: str, **how: Any) -> Tensor:
    """Return the memory of an object with __dlpack__. The capsule is not consumed.

    `how` goes to __dlpack__: the stream that will read the memory of a GPU.
    """
    capsule = x.__dlpack__(**how)
    tensor = _Managed.from_address(_pointer(capsule, _NAME)).tensor
    kinds = {code: kind for kind, code in _CODES.items()}
    if tensor.lanes != 1 or tensor.bits % 8 or tensor.code not in kinds:
        raise TypeError(f"{name} has a type that NumPy does not have (DLPack code {tensor.code}, "
                        f"{tensor.bits} bits, {tensor.lanes} lanes)")
    try:
        dtype = np.dtype(f"{kinds[tensor.code]}{tensor.bits // 8}")
    except TypeError:
        raise TypeError(f"{name} has elements of {tensor.bits} bits, a type that NumPy does not "
                        "have") from None
    shape = tuple(tensor.shape[k] for k in range(tensor.ndim))
    if tensor.strides:
        strides = tuple(tensor.strides[k] * dtype.itemsize for k in range(tensor.ndim))
    else:
        strides = packed(shape, dtype.itemsize)
    return Tensor((tensor.data or 0) + tensor.byte_offset, shape, strides, dtype,
                  (tensor.device_type, tensor.device_id), capsule)


def packed(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Return the strides of an array in C order [byte]."""
    strides, step = [], itemsize
    for length in reversed(shape):
        strides.append(step)
        step *= max(length, 1)
    return tuple(reversed(strides))


_lent: dict[int, Any] = {}  # what capsules that were handed out describe, by address


def _delete(managed: Any) -> None:
    """Let go of the memory that a capsule describes. Called by its consumer."""
    _lent.pop(C.addressof(managed.contents), None)


def _destroy(capsule: int) -> None:
    """Let go of the memory of a capsule that was never consumed."""
    valid, get = _raw
    if valid(capsule, _NAME):
        _lent.pop(get(capsule, _NAME), None)


# The destructor gets an object whose reference count is 0: ctypes must not make a py_object of it.
_raw = (C.PYFUNCTYPE(C.c_int, C.c_void_p, C.c_char_p)(("PyCapsule_IsValid", C.pythonapi)),
        C.PYFUNCTYPE(C.c_void_p, C.c_void_p, C.c_char_p)(("PyCapsule_GetPointer", C.pythonapi)))


_deleter = _DELETER(_delete)
_destructor = C.CFUNCTYPE(None, C.c_void_p)(_destroy)


def write(address: int, shape: tuple[int, ...], dtype: np.dtype[Any], device: tuple[int, int],
          owner: Any) -> Any:
    """Return a capsule that describes an array in C order, and keeps `owner` alive."""
    extent = (C.c_int64 * len(shape))(*shape)
    step = (C.c_int64 * len(shape))(*packed(shape, 1))
    managed = _Managed()
    managed.tensor = _Tensor(address, *device, len(shape), _CODES[dtype.kind], 8 * dtype.itemsize,
                             1, extent, step, 0)
    managed.deleter = _deleter
    at = C.addressof(managed)
    _lent[at] = (managed, extent, step, owner)
    return _new(at, _NAME, C.cast(_destructor, C.c_void_p))
