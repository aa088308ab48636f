# SPDX-License-Identifier: BSD-3-Clause
"""Contexts of the library, and its statuses as exceptions."""
import _signal as signal  # the module signal makes enums of numbers, which takes 15 microseconds
import ctypes as C
import threading
import weakref

from . import _abi
from ._lib import library
from ._numbers import whole

# Signals whose handlers in Python may raise an exception during a call.
_SIGNALS = [getattr(signal, name) for name in (
    "SIGINT", "SIGTERM", "SIGALRM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGVTALRM", "SIGPROF")]


class Unshared:
    """What owns memory of the library, and so can be neither copied nor pickled."""

    def __reduce_ex__(self, protocol):
        raise TypeError(f"a {type(self).__name__} cannot be copied or pickled")


class Error(Exception):
    """A call of the library failed; the text is the library's sentence."""


class CapacityError(Error):
    """Arrays of the caller's are too small. `needed` is the size that they need."""

    def __init__(self, message, needed=None):
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
CAPACITY, BUSY = -3, -10


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

    Raises
    ------
    ValueError
        The backend is unknown, or `threads` is negative.
    NoBackend
        The backend cannot run here.
    """

    _at = None

    def __init__(self, backend=None, threads=0):
        if backend is not None and (not isinstance(backend, str) or "\0" in backend):
            raise TypeError(f"backend is {backend!r}; expected a name such as 'cpu'")
        self._lock = threading.Lock()  # held during a call
        self._flocks = weakref.WeakSet()  # to be closed before the context
        self._left = []  # handles of flocks whose Python objects are gone; closed with the context
        self._stop = stop = [False]
        # Not a method: the context would be in a cycle of references. Lives as long as the context.
        self._watch = _abi.WATCH(lambda _user, _done, _total: stop[0])
        options = _abi.Options()
        library().kith_options_init(C.byref(options))
        if options.size != C.sizeof(options):
            raise ImportError("the library is of another version than the package")
        options.backend = backend.encode() if backend is not None else None
        options.threads = whole(threads, "threads", 0, 2 ** 31 - 1)
        options.watch = C.cast(self._watch, C.c_void_p)
        at = C.c_void_p()
        status = library().kith_open(C.byref(options), C.byref(at))
        if status:
            raise _EXCEPTIONS.get(status, Error)(library().kith_message(None).decode())
        self._at = at

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
        """Free the scratch memory and end the threads, and close flocks of the context. Results
        stay valid.

        Raises
        ------
        Busy
            Another thread is in a call of the context.
        """
        if self._at is None:
            return
        self._acquire()
        try:
            for flock in list(self._flocks):
                flock.free()
            while self._left:
                library().kith_flock_close(self._left.pop())
            library().kith_close(self._at)
            self._at = None
        finally:
            self._lock.release()

    def close_flock(self, flock):
        """Free a flock of the context, unless another thread is in a call."""
        self._acquire()
        try:
            flock.free()
        finally:
            self._lock.release()

    def leave(self, flock):
        """Close a flock, given by its handle, with the context."""
        if flock is not None:
            self._left.append(flock)

    def _acquire(self):
        if not self._lock.acquire(blocking=False):
            raise Busy("the context is in another call")

    def call(self, name, *arguments, needed=None):
        """Call a function of the library on this context, and raise what its status says."""
        if self._at is None:
            raise ValueError("the context is closed")
        self.invoke(getattr(library(), name), self._at, *arguments, needed=needed)

    def invoke(self, function, *arguments, needed=None):
        """Call a function that returns a status, as call() does.

        Handlers of signals run in the main thread, inside the callback, where ctypes drops what
        they raise. So they are replaced during the call by handlers that keep the exception, and
        stop the call; it is raised afterwards.
        """
        self._acquire()
        raised, replaced, message = [], [], ""
        self._stop[0] = False
        try:
            if threading.get_ident() == threading.main_thread().ident:
                for number in _SIGNALS:
                    handler = signal.getsignal(number)
                    if callable(handler):
                        replaced.append((number, handler))
                        signal.signal(number, self._keeping(handler, raised))
            status = function(*arguments)
            if status:
                message = library().kith_message(None if status == BUSY else self._at).decode()
        finally:
            for number, handler in replaced:
                signal.signal(number, handler)
            self._lock.release()
        if raised:
            raise raised[0]
        if status == CAPACITY:
            raise CapacityError(message, needed() if needed else None)
        if status:
            raise _EXCEPTIONS.get(status, Error)(message)

    def _keeping(self, handler, raised):
        """Return a handler that calls another one, keeps what it raises, and stops the call."""
        def run(number, frame):
            try:
                handler(number, frame)
            except BaseException as error:
                raised.append(error)
                self._stop[0] = True
        return run


_local = threading.local()


def context(ctx=None):
    """Return `ctx`, or the context of this thread."""
    if ctx is not None:
        if not isinstance(ctx, Context):
            raise TypeError(f"ctx is {ctx!r}; expected a kith.Context")
        return ctx
    if getattr(_local, "context", None) is None:
        _local.context = Context()
    return _local.context
