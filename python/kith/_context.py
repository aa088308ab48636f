# SPDX-License-Identifier: BSD-3-Clause
"""Contexts of the library, and its statuses as exceptions."""
from __future__ import annotations

import _signal as signal  # the module signal makes enums of numbers, which takes 15 microseconds
import ctypes as C
import re
import threading
import weakref
from typing import Any, Callable, Optional, TypeVar

from . import _abi
from ._lib import library
from ._numbers import whole

# Signals whose handlers in Python may raise an exception during a call.
_SIGNALS = [getattr(signal, name) for name in (
    "SIGINT", "SIGTERM", "SIGALRM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGVTALRM", "SIGPROF")]


def address_of(pointer: Any) -> Optional[int]:
    """Return the address that a pointer or function of ctypes holds. ctypes.cast would leave it in
    a cycle of references."""
    return C.c_void_p.from_buffer(pointer).value


def _address_of_stream(stream: Any) -> int:
    """Return the address of a CUDA stream, as `Context.set_stream` takes it. 0 is the default one,
    which DLPack calls 1."""
    for name in ("cuda_stream", "ptr"):  # of PyTorch, of CuPy
        stream = getattr(stream, name, stream)
    if hasattr(stream, "__cuda_stream__"):
        _version, stream = stream.__cuda_stream__()
    address = whole(stream, "stream", 0, 2 ** 64 - 1)
    return 0 if address == 1 else address


class Unshared:
    """What owns memory of the library, and so can be neither copied nor pickled."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"a {type(self).__name__} cannot be copied or pickled")


class Error(Exception):
    """A call of the library failed; the text is the library's sentence."""


class CapacityError(Error):
    """Arrays of the caller's are too small. `needed` is the size that they need."""

    def __init__(self, message: str, needed: Optional[int] = None) -> None:
        super().__init__(message)
        self.needed = needed


class LimitError(Error, ValueError):
    """Beyond a limit of the library, such as 2^31 - 65 particles."""


class NoBackend(Error, RuntimeError):
    """The backend exists but cannot run here: not built, or no device."""


class DeviceLost(Error, RuntimeError):
    """The device failed, now or in an earlier call of the context."""


class Busy(Error, RuntimeError):
    """The context is in another call."""


class TeamLost(Error, RuntimeError):
    """A rank has left its team, or could not be reached. The team can only be closed."""


_EXCEPTIONS: dict[int, type[BaseException]] = {
    -1: ValueError, -2: ValueError, -4: LimitError, -5: MemoryError, -6: KeyboardInterrupt,
    -7: NotImplementedError, -8: NoBackend, -9: DeviceLost, -10: Busy, -11: TeamLost}
CAPACITY, BUSY = -3, -10
# Names of the library's in messages, and what the caller wrote.
_NAMES = [(re.compile(pattern), name) for pattern, name in (
    (r"\boptions\.batch\.against_offsets\b", "batch[1]"),
    (r"\boptions\.batch\.offsets\b", "batch"),
    (r"\boptions\.batch\.boxes\b", "box"),
    (r"\bbatch\.offsets\b", "batch"),  # of kith_verlet_update_batch
    (r"\bbatch\.boxes\b", "box"),
    (r"the list is of batches: update it by kith_verlet_update_batch",
     "the list is of batches: update it with batch, or a list of arrays"),
    (r"the list is of one system: update it by kith_verlet_update\b",
     "the list is of one system: update it without batch"),
    (r"\boptions\.(?=[a-z])", ""),
    (r"\boptions: ", ""),
    (r"\bthe largest radius of the rules\b", "the largest radius"),
    (r"\b(separation|alignment|cohesion)\.radius\b", r"\1[0]"),
    (r"\b(separation|alignment|cohesion)\.weight\b", r"\1[1]"),
    (r"\bpoints: ", "x: "),
    (r"\bvelocities: ", "v: "),
    (r"\bKITH_VICSEK_VECTORIAL\b", "model 'vectorial'"),
    (r"\bKITH_(IJ|CSR|MATRIX)\b", lambda found: f"layout '{found[1].lower()}'"),
    (r"\bkith_pairs_enqueue\b", "a call with count"),
    (r"KITH_LINK, KITH_ATTACH or KITH_IGNORE", "0, 1 or 2"),
    (r"configure with a CUDA compiler and KITH_CUDA=ON", "pip install pykith[cu13]"))]
SMALL = 256  # particles: a search among so many is over before the library would call back


def _text(message: bytes) -> str:
    """Return a message of the library with the names of arguments in Python."""
    text = message.decode()
    for pattern, name in _NAMES:
        text = pattern.sub(name, text)
    return text


class Signals:
    """Keep what handlers of signals raise during a call of a library, stop the call, and raise it
    afterwards.

    Handlers run in the main thread, inside the callback of the call, where ctypes drops what they
    raise. So they are replaced meanwhile by handlers that keep the exception.
    """

    def __init__(self, stop: Any) -> None:
        self._stop = stop  # its one element is what the callback returns
        self._raised: list[BaseException] = []
        self._replaced: list[tuple[int, Any]] = []

    def __enter__(self) -> None:
        self._stop[0] = False
        if threading.get_ident() == threading.main_thread().ident:
            for number in _SIGNALS:
                handler = signal.getsignal(number)
                if callable(handler):
                    self._replaced.append((number, handler))
                    signal.signal(number, self._keeping(handler))

    def __exit__(self, *_: Any) -> None:
        for number, handler in self._replaced:
            signal.signal(number, handler)
        if self._raised:
            raise self._raised[0]

    def _keeping(self, handler: Any) -> Callable[[int, Any], None]:
        """Return a handler that calls another one, keeps what it raises, and stops the call."""
        def run(number: int, frame: Any) -> None:
            try:
                handler(number, frame)
            except BaseException as error:
                self._raised.append(error)
                self._stop[0] = True
        return run


class Context(Unshared):
    """A backend, its threads and its scratch memory, which later calls use again.

    A context serves one call at a time. Calls without `ctx` use one context for each thread.

    Parameters
    ----------
    backend : str, optional
        "auto", "cpu", "cpu:baseline", "cpu:avx2", "cpu:avx512", "cuda", "cuda:1"; default: the
        environment's KITH_BACKEND, else "auto".
    threads : int, optional
        CPU threads; 0: OMP_NUM_THREADS, else the cores that the process may use.
    stream : int or object, optional
        Backend "cuda": the CUDA stream that work is queued on, as in `set_stream`; default: one of
        its own, ordered with the default stream. CPU cores ignore it.

    Raises
    ------
    ValueError
        The backend is unknown, or a number is negative.
    NoBackend
        The backend cannot run here.
    """

    _at: Optional[C.c_void_p] = None
    _brief: Optional[C.c_void_p] = None

    def __init__(self, backend: Optional[str] = None, threads: int = 0, *,
                 stream: Any = None) -> None:
        if backend is not None and (not isinstance(backend, str) or "\0" in backend):
            raise TypeError(f"backend is {backend!r}; expected a name such as 'cpu'")
        self._lock = threading.Lock()  # held during a call
        self._opened: Any = weakref.WeakSet()  # of Opened: closed before the context
        self._left: list[Any] = []  # handles whose objects are gone, and their closing calls
        self.spares: list[Any] = []  # lists of pairs whose memory the next small list uses again
        self._stop = stop = [False]
        # Not a method: the context would be in a cycle of references. Lives as long as the context.
        self._watch = _abi.WATCH(lambda _user, _done, _total: stop[0])
        options = _abi.Options()
        library().kith_options_init_sized(C.byref(options), C.sizeof(options))
        options.backend = backend.encode() if backend is not None else None
        options.threads = whole(threads, "threads", 0, 2 ** 31 - 1)
        self.stream = None if stream is None else _address_of_stream(stream)
        options.stream = self.stream or None  # in the options, NULL is a stream of its own
        options.watch = address_of(self._watch)
        self._at = self._open(options)
        self.device: Optional[int] = None  # number of the GPU; None: CPU cores
        name = self.backend
        if name.startswith("cpu"):
            options.threads, options.watch = 1, None
            self._brief = self._open(options)
            self.stream = None
        else:
            self.device = int(name.partition(":")[2] or 0)
            if self.stream == 0:
                self.set_stream(0)

    @staticmethod
    def _open(options: _abi.Options) -> C.c_void_p:
        at = C.c_void_p()
        status = library().kith_open(C.byref(options), C.byref(at))
        if status:
            raise _EXCEPTIONS.get(status, Error)(_text(library().kith_message(None)))
        return at

    def __del__(self) -> None:
        if library is not None:  # None: the process ends, and takes the memory along
            self.close()

    def __enter__(self) -> Context:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<kith.Context {self.backend!r}, {self.threads} threads>"

    @property
    def backend(self) -> str:
        """The backend that was chosen, such as "cpu:avx512"; "" once it is closed."""
        return str(library().kith_backend(self._at).decode())

    @property
    def threads(self) -> int:
        """Number of CPU threads; 0 once it is closed."""
        return int(library().kith_threads(self._at))

    @property
    def handle(self) -> Optional[C.c_void_p]:
        """The library's context."""
        return self._at

    @property
    def stop(self) -> list[bool]:
        """What the context's callback returns: its element is set to stop a call."""
        return self._stop

    @property
    def scratch_bytes(self) -> int:
        """Bytes of scratch memory that the context holds now."""
        return sum(library().kith_scratch_bytes(at) for at in (self._at, self._brief) if at)

    def set_stream(self, stream: Any) -> None:
        """Queue the work of later calls on another CUDA stream, which first waits for the work of
        earlier calls.

        Coordinates on a GPU must be ready on the context's stream. Calls without `ctx` use the
        current stream of PyTorch or CuPy.

        Parameters
        ----------
        stream : int or object
            The address of a stream of the context's GPU, as torch.cuda.Stream.cuda_stream and
            cupy.cuda.Stream.ptr have it, or such a stream itself, or an object with
            `__cuda_stream__`. 0 is the default stream, as in CUDA, PyTorch and CuPy; so is 1, as in
            DLPack and `__cuda_array_interface__`; 2 is the default stream of the thread.

        Raises
        ------
        NotImplementedError
            The context is on CPU cores, or a capture in a graph forbids the change.
        """
        address = _address_of_stream(stream)
        self.call("kith_set_stream", address or None)
        self.stream = address

    def close(self) -> None:
        """Free the scratch memory and end the threads, and close flocks and kept lists of the
        context. Results stay valid.

        Raises
        ------
        Busy
            Another thread is in a call of the context.
        """
        if self._at is None:
            return
        self._acquire()
        try:
            for one in list(self._opened):
                one.free()
            while self._left:
                name, handle = self._left.pop()
                getattr(library(), name)(handle)
            self.spares.clear()
            for at in (self._at, self._brief):
                library().kith_close(at)
            self._at = self._brief = None
        finally:
            self._lock.release()

    def close_opened(self, one: Any) -> None:
        """Free a flock or a kept list of the context, unless another thread is in a call."""
        self._acquire()
        try:
            one.free()
        finally:
            self._lock.release()

    def leave(self, name: str, handle: Any) -> None:
        """Call a function that closes a handle, of a flock or a kept list, with the context."""
        if handle is not None:
            self._left.append((name, handle))

    def _acquire(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise Busy("the context is in another call")

    def call(self, name: str, *arguments: Any, needed: Optional[Callable[[], int]] = None,
             brief: bool = False) -> None:
        """Call a function of the library on this context, and raise what its status says.

        A brief call takes milliseconds at most. It runs on a handle without a callback, so that
        handlers of signals wait for its end.
        """
        if self._at is None:
            raise ValueError("the context is closed")
        function = getattr(library(), name)
        if not brief or self._brief is None:
            self.invoke(function, self._at, *arguments, needed=needed)
            return
        message = ""
        if not self._lock.acquire(False):
            raise Busy("the context is in another call")
        try:
            status = function(self._brief, *arguments)
            if status:
                message = _text(library().kith_message(self._brief))
        finally:
            self._lock.release()
        if status:
            self._raise(status, message, needed)

    def invoke(self, function: Any, *arguments: Any,
               needed: Optional[Callable[[], int]] = None) -> None:
        """Call a function that returns a status, as call() does."""
        self._acquire()
        message = ""
        try:
            with Signals(self._stop):
                status = function(*arguments)
                if status:
                    message = _text(library().kith_message(None if status == BUSY else self._at))
        finally:
            self._lock.release()
        if status:
            self._raise(status, message, needed)

    @staticmethod
    def _raise(status: int, message: str, needed: Optional[Callable[[], int]]) -> None:
        if status == CAPACITY:
            raise CapacityError(message, needed() if needed else None)
        raise _EXCEPTIONS.get(status, Error)(message)


def failure(status: int, message: str) -> BaseException:
    """Return the exception of a status."""
    return _EXCEPTIONS.get(status, Error)(message)


def text_of(ctx: Optional[Context]) -> str:
    """Return the message of the last failure in a context; None: of the last call without one."""
    return _text(library().kith_message(None if ctx is None else ctx.handle))


_O = TypeVar("_O", bound="Opened")


class Opened(Unshared):
    """What the library keeps between calls: a flock, a kept list. It belongs to a context, which
    frees it when it is closed itself."""

    CLOSING = ""  # name of the call that frees it
    _at: Any = None  # the library's handle; None: not opened yet, or freed
    _ctx: Any = None
    _own = False  # the context was made for this object, and is closed with it
    _closed = False

    def __del__(self) -> None:
        if library is None:  # the process ends, and takes the memory along
            return
        try:
            self.close()
        except Busy:  # of another thread: the context frees it later
            self._ctx.leave(self.CLOSING, self._at)

    def __enter__(self: _O) -> _O:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _take(self, ctx: Context, at: Any) -> None:
        """Keep a handle that a context has opened."""
        self._ctx, self._at = ctx, at
        ctx._opened.add(self)

    def close(self) -> None:
        """Free what is kept, and the context if that is its own. Results stay valid."""
        self._closed = True
        if self._ctx is not None:
            self._ctx.close_opened(self)
            if self._own:
                self._ctx.close()

    def free(self) -> None:
        """Free what is kept. Called by the context, which is in no other call then."""
        if self._at is not None:
            getattr(library(), self.CLOSING)(self._at)
            self._at = None
            self._closed = True


class _Local(threading.local):
    """The contexts of a thread."""

    context: Optional[Context] = None

    def __init__(self) -> None:
        self.on_device: dict[int, Context] = {}  # by number of the GPU


_local = _Local()


def context(ctx: Optional[Context] = None, array: Any = None) -> Context:
    """Return `ctx`, or a context of this thread for an array: one on its GPU and its stream."""
    number = getattr(array, "number", None)
    if ctx is not None:
        if not isinstance(ctx, Context):
            raise TypeError(f"ctx is {ctx!r}; expected a kith.Context")
        if number is not None and ctx.device not in (None, number):
            raise ValueError(f"ctx is on cuda:{ctx.device}, x on cuda:{number}")
        return ctx
    if number is not None:
        made = _local.on_device.get(number)
        if made is None:
            made = _local.on_device[number] = Context(f"cuda:{number}", stream=array.stream)
        elif made.stream != array.stream:
            made.set_stream(array.stream)
        return made
    made = _local.context
    if made is None or made._at is None:
        made = _local.context = Context()
    return made
