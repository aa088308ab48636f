# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of other libraries: their memory is borrowed without a copy where it can be, and results
are given back as the caller's kind of array. No library is imported before the caller has."""
from __future__ import annotations

import sys
from typing import Any, Optional, Union

import numpy as np

from . import _dlpack


class DeviceArray:
    """An array in the memory of a GPU.

    It has `__cuda_array_interface__` and `__dlpack__`, so that cupy.asarray, torch.as_tensor,
    jax.dlpack.from_dlpack and numba.cuda.as_cuda_array take it without a copy.
    """

    def __init__(self, address: int, shape: tuple[int, ...], dtype: Any, number: int, owner: Any,
                 strides: Optional[tuple[int, ...]] = None, stream: int = 0,
                 writeable: bool = True) -> None:
        self.address, self.shape, self.dtype = address, tuple(shape), np.dtype(dtype)
        self.number, self.stream, self.writeable = number, stream, writeable
        self.strides = strides or _dlpack.packed(self.shape, self.dtype.itemsize)
        self._owner = owner  # what keeps the memory alive

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def packed(self) -> bool:
        """Whether the array is in C order without gaps."""
        return self.strides == _dlpack.packed(self.shape, self.dtype.itemsize)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"shape": self.shape, "typestr": self.dtype.str, "version": 3, "stream": None,
                "strides": None if self.packed else self.strides,
                "data": (self.address if 0 not in self.shape else 0, not self.writeable)}

    def __dlpack_device__(self) -> tuple[int, int]:
        return _dlpack.CUDA, self.number

    def __dlpack__(self, *, stream: Any = None, **_how: Any) -> Any:
        if not self.packed:
            raise BufferError("only an array in C order can be exported")
        return _dlpack.write(self.address, self.shape, self.dtype, self.__dlpack_device__(),
                             self)

    def __repr__(self) -> str:
        return f"<kith.DeviceArray {self.shape} of {self.dtype} on cuda:{self.number}>"


Memory = Union["np.ndarray[Any, Any]", DeviceArray]


def as_array(x: Any, name: str) -> np.ndarray[Any, Any]:
    """Return what NumPy makes an array of, such as a list."""
    try:
        return np.asarray(x)
    except ValueError as error:  # rows of different lengths
        raise ValueError(f"{name} is no array: {error}") from None


class Kind:
    """NumPy, and all that it understands: lists, __array__, __array_interface__, DLPack."""

    in_order = False  # results on a GPU are used in the order of the stream of their coordinates

    def take(self, x: Any, name: str) -> Memory:
        """Return the memory of an array; a mask would be ignored, so it is refused."""
        if np.ma.isMaskedArray(x):
            raise TypeError(f"{name} is a masked array; take what is to be used of it")
        if isinstance(x, np.ndarray):
            return np.asarray(x)
        if hasattr(x, "__cuda_array_interface__"):
            return _of_cuda(x, name)
        if not hasattr(x, "__array_interface__") and hasattr(x, "__dlpack_device__"):
            device, number = x.__dlpack_device__()
            if device in (_dlpack.CUDA, _dlpack.CUDA_MANAGED):
                return _of_dlpack(x, name, number)
            return _host_dlpack(x, name)
        return as_array(x, name)

    def give(self, array: Any) -> Any:
        """Return a result as an array of this kind."""
        return array

    def fetch(self, x: Any, name: str) -> np.ndarray[Any, Any]:
        """Return a copy in host memory of the caller's array in the memory of a GPU."""
        copy = getattr(x, "copy_to_host", None)  # of Numba
        if copy is None:
            raise TypeError(f"{name} is in the memory of a GPU; expected host memory")
        return np.asarray(copy())

    def put(self, array: Any, _number: Optional[int]) -> Any:
        """Return a result in host memory as an array of this kind, on a GPU if a number is given
        and this kind can copy it there."""
        return self.give(array)

    def empty(self, _shape: tuple[int, ...], _dtype: Any, _number: int) -> Any:
        """Return a new array in the memory of a GPU, ordered with the caller's stream. None: this
        kind has no arrays that can be written."""
        return None


class _Torch(Kind):
    in_order = True

    def __init__(self, torch: Any) -> None:
        self._torch = torch

    def take(self, x: Any, name: str) -> Memory:
        if not isinstance(x, self._torch.Tensor):
            return super().take(x, name)
        x = x.detach()
        if x.layout != self._torch.strided:
            raise TypeError(f"{name} is a tensor of layout {x.layout}; expected a dense one")
        if x.device.type == "cuda":
            stream = self._torch.cuda.current_stream(x.device).cuda_stream
            return _of_cuda(x, name, x.device.index, stream)
        if x.device.type != "cpu":
            raise TypeError(f"{name} is on the device {x.device}; expected cpu or cuda")
        try:
            array: np.ndarray[Any, Any] = x.resolve_neg().numpy()
        except TypeError:
            raise TypeError(f"{name} has the type {x.dtype}, which NumPy does not have") from None
        return array

    def give(self, array: Any) -> Any:
        if isinstance(array, DeviceArray):
            return self._torch.as_tensor(array, device=f"cuda:{array.number}")
        return self._torch.from_numpy(array)

    def fetch(self, x: Any, name: str) -> np.ndarray[Any, Any]:
        array: np.ndarray[Any, Any] = x.detach().cpu().numpy()
        return array

    def put(self, array: Any, number: Optional[int]) -> Any:
        made = self.give(array)
        return made if number is None else made.to(f"cuda:{number}")

    def empty(self, shape: tuple[int, ...], dtype: Any, number: int) -> Any:
        return self._torch.empty(shape, dtype=getattr(self._torch, np.dtype(dtype).name),
                                 device=f"cuda:{number}")


class _Cupy(Kind):
    in_order = True

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy

    def take(self, x: Any, name: str) -> Memory:
        if not isinstance(x, self._cupy.ndarray):
            return super().take(x, name)
        with x.device:
            stream = self._cupy.cuda.get_current_stream().ptr
        return _of_cuda(x, name, x.device.id, stream)

    def give(self, array: Any) -> Any:
        if isinstance(array, DeviceArray):
            with self._cupy.cuda.Device(array.number):
                return self._cupy.asarray(array)
        return self._cupy.asarray(array)

    def fetch(self, x: Any, name: str) -> np.ndarray[Any, Any]:
        return np.asarray(self._cupy.asnumpy(x))

    def put(self, array: Any, number: Optional[int]) -> Any:
        with self._cupy.cuda.Device(number):
            return self._cupy.asarray(array)

    def empty(self, shape: tuple[int, ...], dtype: Any, number: int) -> Any:
        with self._cupy.cuda.Device(number):
            return self._cupy.empty(shape, dtype)


class _Jax(Kind):
    def __init__(self, jax: Any) -> None:
        self._jax = jax

    def take(self, x: Any, name: str) -> Memory:
        if isinstance(x, self._jax.core.Tracer):
            raise TypeError(f"{name} is traced by JAX; use kith.jax.radius_graph, or call kith "
                            "outside of jit, grad and vmap")
        device, number = getattr(x, "__dlpack_device__", lambda: (_dlpack.CPU, 0))()
        if device == _dlpack.CUDA:
            return _of_dlpack(x, name, number)
        return np.asarray(x)

    def fetch(self, x: Any, name: str) -> np.ndarray[Any, Any]:
        return np.asarray(x)

    def give(self, array: Any) -> Any:
        if isinstance(array, DeviceArray):
            return self._jax.dlpack.from_dlpack(array)
        wide = array.dtype.itemsize == 8 and not self._jax.config.jax_enable_x64
        if wide and array.dtype.kind == "f":
            return self._jax.numpy.asarray(array, dtype=np.float32)
        return self._jax.numpy.asarray(array)


NUMPY = Kind()
_made: dict[str, Kind] = {}
_SPECIAL = {"torch": _Torch, "cupy": _Cupy, "jax": _Jax, "jaxlib": _Jax}


def kind_of(x: Any) -> Kind:
    """Return the kind of the caller's array."""
    root = type(x).__module__.partition(".")[0]
    if root not in _SPECIAL and "torch" in sys.modules and (torch := sys.modules["torch"]):
        # not None, which blocks an import; subclasses of tensors, such as nn.Parameter's of a user
        root = "torch" if isinstance(x, torch.Tensor) else root
    if root not in _SPECIAL:
        return NUMPY
    if root not in _made:
        _made[root] = _SPECIAL[root](sys.modules["jax" if root == "jaxlib" else root])
    return _made[root]


def take(x: Any, name: str) -> Memory:
    """Return the memory of any array of the caller's."""
    return np.asarray(x) if type(x) is np.ndarray else kind_of(x).take(x, name)


def _of_cuda(x: Any, name: str, number: Optional[int] = None,
             stream: Optional[int] = None) -> DeviceArray:
    """Return the memory of an object with __cuda_array_interface__."""
    face = x.__cuda_array_interface__
    if face.get("mask") is not None:
        raise TypeError(f"{name} is a masked array; take what is to be used of it")
    if number is None:
        number = x.__dlpack_device__()[1] if hasattr(x, "__dlpack_device__") else 0
    if stream is None:
        stream = face.get("stream")
        if stream == 0:
            raise ValueError(f"{name} has the stream 0 in __cuda_array_interface__, which forbids "
                             "it; expected 1 for the default stream, 2 for that of the thread")
        stream = stream or 0
    address, readonly = face["data"]
    dtype = np.dtype(face["typestr"])
    return DeviceArray(address or 0, face["shape"], dtype, number, x, face.get("strides"),
                       0 if stream == 1 else stream, not readonly)


def _of_dlpack(x: Any, name: str, number: int) -> DeviceArray:
    """Return the memory of a GPU that DLPack describes, ready for the default stream."""
    tensor = _dlpack.read(x, name, stream=1)
    return DeviceArray(tensor.address, tensor.shape, tensor.dtype, number, (x, tensor.capsule),
                       tensor.strides, 0, False)


class _Host:
    """Host memory of a DLPack capsule, for np.asarray, which keeps this object alive."""

    def __init__(self, tensor: _dlpack.Tensor) -> None:
        self._tensor = tensor
        self.__array_interface__ = {"data": (tensor.address, True), "shape": tensor.shape,
                                    "typestr": tensor.dtype.str, "strides": tensor.strides,
                                    "version": 3}


def _host_dlpack(x: Any, name: str) -> np.ndarray[Any, Any]:
    device = x.__dlpack_device__()[0]
    if device not in (_dlpack.CPU, _dlpack.CUDA_HOST):
        raise TypeError(f"{name} is on a device of DLPack's type {device}; expected a CPU or CUDA")
    tensor = _dlpack.read(x, name)
    if 0 in tensor.shape:
        return np.empty(tensor.shape, tensor.dtype)
    return np.asarray(_Host(tensor))
