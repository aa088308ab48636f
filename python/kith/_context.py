# SPDX-License-Identifier: BSD-3-Clause
"""Contexts of the library, and its statuses as exceptions."""
import _signal as signal  # the module signal makes enums of numbers, which takes 15 microseconds
import ctypes as C
import threading

from . import _abi
from ._lib import library


class Error(Exception):
    """A call of the library failed; the text is the library's sentence."""


class CapacityError(Error):
    """Arrays of the caller's are too small. `needed` is the size that they need."""

    def __init__(self, message, needed):
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


_EXCEPTIONS = {-1: ValueError, -2: ValueError, -4: LimitError, -5: MemoryError,
               -6: KeyboardInterrupt, -7: NotImplementedError, -8: NoBackend, -9: DeviceLost,
               -10: Busy}
CAPACITY = -3


class Context:
    """A backend, its threads and its scratch memory, which later calls use again.

    A context serves one call at a time. Calls without `ctx` use one context for each thread.

    Parameters
    ----------
    backend : str, optional
        "auto", "cpu", "cpu:baseline", "cpu:avx2", "cpu:avx512", "cuda", "cuda:1"; default: the
        environment's KITH_BACKEND, else "auto".
    threads : int, optional
        CPU threads; 0: OMP_NUM_THREADS, else the cores that the process may use.

    Raises
    ------
    ValueError
        The backend is unknown, or `threads` is negative.
    NoBackend
        The backend cannot run here.
    """

    def __init__(self, backend=None, threads=0):
        self._at = C.c_void_p()
        self._interrupted = False
        self._watch = _abi.WATCH(self._ask)  # lives as long as the context
        options = _abi.Options()
        library().kith_options_init(C.byref(options))
        if options.size != C.sizeof(options):
            raise ImportError("the library is of another version than the package")
        options.backend = backend.encode() if backend is not None else None
        options.threads = threads
        options.watch = C.cast(self._watch, C.c_void_p)
        status = library().kith_open(C.byref(options), C.byref(self._at))
        if status:
            raise _EXCEPTIONS.get(status, Error)(library().kith_message(None).decode())

    def __del__(self):
        self.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        return f"<kith.Context {self.backend!r}, {self.threads} threads>"

    @property
    def backend(self):
        """The backend that was chosen, such as "cpu:avx512"; "" once it is closed."""
        return library().kith_backend(self._at).decode()

    @property
    def threads(self):
        """Number of CPU threads; 0 once it is closed."""
        return library().kith_threads(self._at)

    @property
    def scratch_bytes(self):
        """Bytes of scratch memory that the context holds now."""
        return library().kith_scratch_bytes(self._at)

    def close(self):
        """Free the scratch memory and end the threads. Results stay valid."""
        if getattr(self, "_at", None):
            library().kith_close(self._at)
            self._at = C.c_void_p()

    def _ask(self, _user, _done, _total):
        return 1 if self._interrupted else 0

    def call(self, name, *arguments, needed=None):
        """Call a function of the library on this context, and raise what its status says.

        Ctrl-C in the main thread ends the call. Python would raise KeyboardInterrupt inside the
        callback, where ctypes drops it; so a handler that sets a flag takes the place of Python's
        own during the call.
        """
        if not self._at:
            raise ValueError("the context is closed")
        return self.invoke(getattr(library(), name), self._at, *arguments, needed=needed)

    def invoke(self, function, *arguments, needed=None):
        """Call a function that returns a status, as call() does."""
        handler = None
        if (threading.get_ident() == threading.main_thread().ident
                and signal.getsignal(signal.SIGINT) is signal.default_int_handler):
            self._interrupted = False
            handler = signal.signal(signal.SIGINT, self._interrupt)
        try:
            status = function(*arguments)
        finally:
            if handler is not None:
                signal.signal(signal.SIGINT, handler)
        if self._interrupted:
            self._interrupted = False
            raise KeyboardInterrupt
        if status == CAPACITY:
            raise CapacityError(self._message(), needed() if needed else None)
        if status:
            raise _EXCEPTIONS.get(status, Error)(self._message(status))

    def _interrupt(self, _number, _frame):
        self._interrupted = True

    def _message(self, status=0):
        at = None if status == -10 else self._at
        return library().kith_message(at).decode()


_local = threading.local()


def context(ctx=None):
    """Return `ctx`, or the context of this thread."""
    if ctx is not None:
        return ctx
    if getattr(_local, "context", None) is None:
        _local.context = Context()
    return _local.context
