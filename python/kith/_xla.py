# SPDX-License-Identifier: BSD-3-Clause
"""XLA's foreign functions: a Python function as a handler, by mirrors of the structs of
xla/ffi/api/c_api.h. No compiler and no headers of XLA are needed.

XLA calls a handler with a call frame: the arguments and results as buffers, the attributes, and a
table of functions that return the stream and the number of the device.
"""
from __future__ import annotations

import ctypes as C
from typing import Any, Callable, NamedTuple, Optional

import numpy as np

_EXECUTE, _METADATA = 3, 1  # XLA_FFI_ExecutionStage, XLA_FFI_Extension_Type
INVALID, EXHAUSTED, CANCELLED, INTERNAL = 3, 8, 1, 13  # XLA_FFI_Error_Code
_TYPES: dict[int, np.dtype[Any]] = {  # by XLA_FFI_DataType
    4: np.dtype(np.int32), 11: np.dtype(np.float32), 12: np.dtype(np.float64)}


class _Extension(C.Structure):
    _fields_ = [("size", C.c_size_t), ("type", C.c_int), ("next", C.c_void_p)]


class _Version(C.Structure):
    _fields_ = [("size", C.c_size_t), ("extension", C.c_void_p), ("major", C.c_int),
                ("minor", C.c_int)]


class _Metadata(C.Structure):  # later versions of XLA have more fields
    _fields_ = [("size", C.c_size_t), ("version", _Version), ("traits", C.c_uint32)]


class _MetadataExtension(C.Structure):
    _fields_ = [("base", _Extension), ("metadata", C.POINTER(_Metadata))]


class _Buffer(C.Structure):
    _fields_ = [("size", C.c_size_t), ("extension", C.c_void_p), ("type", C.c_int),
                ("data", C.c_void_p), ("rank", C.c_int64), ("dims", C.POINTER(C.c_int64))]


class _Buffers(C.Structure):
    _fields_ = [("size", C.c_size_t), ("extension", C.c_void_p), ("n", C.c_int64),
                ("types", C.c_void_p), ("each", C.POINTER(C.POINTER(_Buffer)))]


class _Span(C.Structure):
    _fields_ = [("at", C.c_void_p), ("length", C.c_size_t)]


class _Array(C.Structure):
    _fields_ = [("type", C.c_int), ("n", C.c_size_t), ("data", C.c_void_p)]


class _Attributes(C.Structure):
    _fields_ = [("size", C.c_size_t), ("extension", C.c_void_p), ("n", C.c_int64),
                ("types", C.POINTER(C.c_int)), ("names", C.POINTER(C.POINTER(_Span))),
                ("each", C.POINTER(C.c_void_p))]


class _ErrorArguments(C.Structure):
    _fields_ = [("size", C.c_size_t), ("extension", C.c_void_p), ("message", C.c_char_p),
                ("code", C.c_int)]


class _StreamArguments(C.Structure):
    _fields_ = [("size", C.c_size_t), ("extension", C.c_void_p), ("context", C.c_void_p),
                ("stream", C.c_void_p)]


class _DeviceArguments(C.Structure):
    _fields_ = [("size", C.c_size_t), ("extension", C.c_void_p), ("context", C.c_void_p),
                ("number", C.c_int32)]


_CALL = C.CFUNCTYPE(C.c_void_p, C.c_void_p)


class _Api(C.Structure):
    _fields_ = [("size", C.c_size_t), ("extension", C.c_void_p), ("version", _Version),
                ("internal", C.c_void_p), ("error_create", _CALL), ("error_get", C.c_void_p),
                ("error_destroy", C.c_void_p), ("register", C.c_void_p), ("stream_get", _CALL),
                ("others", C.c_void_p * 12), ("device_get", _CALL)]


class _Frame(C.Structure):
    _fields_ = [("size", C.c_size_t), ("extension", C.POINTER(_Extension)),
                ("api", C.POINTER(_Api)), ("context", C.c_void_p), ("stage", C.c_int),
                ("arguments", _Buffers), ("results", _Buffers), ("attributes", _Attributes)]


class Buffer(NamedTuple):
    """Memory of an argument or a result."""

    address: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


class Failure(Exception):
    """What a handler raises to end XLA's computation, with a code of XLA."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class Call:
    """One call of a handler by XLA."""

    def __init__(self, frame: _Frame) -> None:
        self._frame, self._api = frame, frame.api.contents

    @staticmethod
    def _buffers(of: _Buffers) -> list[Buffer]:
        made = []
        for k in range(of.n):
            one = of.each[k].contents
            made.append(Buffer(one.data or 0, tuple(one.dims[: one.rank]), _TYPES[one.type]))
        return made

    @property
    def arguments(self) -> list[Buffer]:
        """The buffers of the arguments."""
        return self._buffers(self._frame.arguments)

    @property
    def results(self) -> list[Buffer]:
        """The buffers of the results."""
        return self._buffers(self._frame.results)

    def attribute(self, name: str) -> np.ndarray[Any, Any]:
        """Return a copy of an attribute that is an array."""
        of = self._frame.attributes
        for k in range(of.n):
            span = of.names[k].contents
            if C.string_at(span.at, span.length).decode() == name and of.types[k] == 1:
                array = _Array.from_address(of.each[k])
                dtype: np.dtype[Any] = _TYPES[array.type]
                return np.frombuffer(C.string_at(array.data, array.n * dtype.itemsize), dtype)
        raise Failure(f"the attribute {name} is missing", INTERNAL)

    def _asked(self, function: Any, arguments: Any) -> Any:
        arguments.size, arguments.context = C.sizeof(arguments), self._frame.context
        if function(C.addressof(arguments)):
            raise Failure("XLA does not tell its stream and device", INTERNAL)
        return arguments

    @property
    def stream(self) -> int:
        """The address of the stream of a GPU on which the results are wanted."""
        return self._asked(self._api.stream_get, _StreamArguments()).stream or 0

    @property
    def device(self) -> int:
        """The number of the GPU."""
        return int(self._asked(self._api.device_get, _DeviceArguments()).number)

    def error(self, message: str, code: int) -> Optional[int]:
        """Return an error of XLA, which XLA frees."""
        arguments = _ErrorArguments(C.sizeof(_ErrorArguments), None, message.encode(), code)
        made: Optional[int] = self._api.error_create(C.addressof(arguments))
        return made


def handler(function: Callable[[Call], None]) -> Any:
    """Return a ctypes function that XLA can call. It must live as long as XLA may call it."""
    def run(at: int) -> Optional[int]:
        frame = _Frame.from_address(at)
        if frame.extension and frame.extension.contents.type == _METADATA:
            # XLA asks for which version the handler was made. Fields have kept their places in all
            # versions 0.x, so that it is XLA's own.
            metadata = C.cast(frame.extension, C.POINTER(_MetadataExtension)).contents.metadata
            version = frame.api.contents.version
            if version.major == 0:
                metadata.contents.version.major = version.major
                metadata.contents.version.minor = version.minor
            metadata.contents.traits = 0
            return None
        if frame.stage != _EXECUTE:
            return None
        call = Call(frame)
        try:
            function(call)
        except Failure as error:
            return call.error(str(error), error.code)
        except BaseException as error:  # nothing may be raised through XLA
            return call.error(f"{type(error).__name__}: {error}", INTERNAL)
        return None
    return C.CFUNCTYPE(C.c_void_p, C.c_void_p)(run)
