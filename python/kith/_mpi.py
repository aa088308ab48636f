# SPDX-License-Identifier: BSD-3-Clause
"""The transport of teams over mpi4py: the functions of kith_transport in Python.

It sends bytes and adds integers by the communicator alone, so that it fits every MPI that mpi4py
was built for. Every call that waits for other ranks is nonblocking, and is tested until it is
complete: a rank that waits lets other processes have its core (mpi/transport_mpi.c).
"""
from __future__ import annotations

import ctypes as C
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _abi
from ._arrays import INT64, over

_PARCEL = np.dtype([("peer", "i4"), ("memory", "i4"), ("data", "u8"), ("bytes", "i8")])
_PIECE = 1 << 26  # most numbers, or bytes, of one collective call of MPI
_TAG = 0x6b74
_YIELDING, _LEAST_SLEEP, _MOST_SLEEP, _SLOWER = 1e-4, 1e-6, 1e-3, 1.0625  # [s]; factor of sleeps
_BYTE = np.dtype(np.uint8)


def is_communicator(ranks: Any) -> bool:
    """Return whether an object is a communicator of mpi4py."""
    return hasattr(ranks, "Get_rank") and hasattr(ranks, "Iallreduce")


class Transport:
    """A duplicate of a communicator, and the struct of the library that uses it."""

    def __init__(self, communicator: Any) -> None:
        from mpi4py import MPI  # loaded already, as the communicator is of it

        if communicator == MPI.COMM_NULL or communicator.Is_inter():
            raise ValueError("ranks is no communicator of one group, such as MPI.COMM_WORLD")
        self._mpi = MPI
        self._comm = comm = communicator.Dup()
        self.rank, self.ranks = comm.Get_rank(), comm.Get_size()
        self.errors: list[BaseException] = []  # raised in a function, which then failed
        functions = _functions(MPI, comm, self.ranks, self.errors)
        self.struct = _abi.Transport(size=C.sizeof(_abi.Transport), rank=self.rank,
                                     ranks=self.ranks, **functions)

    def agree(self, error: Any) -> None:
        """Raise on all ranks the error of the lowest rank that has one. Collective."""
        first = np.array([self.ranks if error is None else self.rank], np.int64)
        _wait(self._mpi, self._comm.Iallreduce(self._mpi.IN_PLACE, [first, self._mpi.INT64_T],
                                               self._mpi.MIN))
        lowest = int(first[0])
        if lowest == self.ranks:
            return
        shown = self._comm.bcast((type(error), str(error)) if self.rank == lowest else None, lowest)
        if error is not None and self.rank == lowest:
            raise error
        kind, text = shown
        raise kind(f"rank {lowest}: {text}")

    def free(self) -> None:
        """Free the communicator, unless MPI has ended."""
        if self._comm is not None and not self._mpi.Is_finalized():
            self._comm.Free()
        self._comm = None


def _wait(mpi: Any, *requests: Any) -> None:
    """Wait for nonblocking calls: yield the core between two tests, then sleep for longer and
    longer."""
    start, nap = time.monotonic(), _LEAST_SLEEP
    while not mpi.Request.Testall(list(requests)):
        if time.monotonic() - start < _YIELDING:
            os.sched_yield()
        else:
            time.sleep(nap)
            nap = min(nap * _SLOWER, _MOST_SLEEP)


def _functions(mpi: Any, comm: Any, ranks: int, errors: list[BaseException]) -> dict[str, Any]:
    """Return the functions of a transport, by their names in kith_transport."""
    ops = {0: mpi.SUM, 1: mpi.MIN, 2: mpi.MAX}

    def checked(work: Callable[..., None]) -> Callable[..., int]:
        """Return a function for the library, to which no exception may pass."""
        def run(_self: Any, *arguments: Any) -> int:
            try:
                work(*arguments)
            except BaseException as error:
                errors.append(error)
                return 1
            return 0
        return run

    def counts(to: int, from_: int) -> None:
        _wait(mpi, comm.Ialltoall([over(to, ranks, INT64), mpi.INT64_T],
                                  [over(from_, ranks, INT64), mpi.INT64_T]))

    def exchange(to: int, n_to: int, from_: int, n_from: int, _stream: Any) -> None:
        requests = []
        for at, n, begin in ((from_, n_from, comm.Irecv), (to, n_to, comm.Isend)):
            for parcel in over(at, n, _PARCEL) if n else ():
                if parcel["memory"] != 0:
                    raise ValueError("a parcel is in the memory of a GPU")
                part = over(int(parcel["data"]), int(parcel["bytes"]), _BYTE)
                requests.append(begin([part, mpi.BYTE], int(parcel["peer"]), _TAG))
        _wait(mpi, *requests)

    def gather(mine: int, size: int, every: int) -> None:
        if not size:
            return
        source, target = over(mine, size, _BYTE), over(every, size * ranks, _BYTE)
        target = target.reshape(ranks, size)
        for at in range(0, size, _PIECE):
            piece = source[at:at + _PIECE]
            received = np.empty((ranks, len(piece)), _BYTE)
            _wait(mpi, comm.Iallgather([piece, mpi.BYTE], [received, mpi.BYTE]))
            target[:, at:at + _PIECE] = received

    def combine(op: int, inout: int, n: int) -> None:
        numbers = over(inout, n, INT64) if n else np.empty(0, INT64)
        for at in range(0, n, _PIECE):
            _wait(mpi, comm.Iallreduce(mpi.IN_PLACE, [numbers[at:at + _PIECE], mpi.INT64_T],
                                       ops[op]))

    def abort(_self: Any) -> None:
        comm.Abort(1)  # MPI has no other way to reach ranks that wait for a lost one

    return {"counts": _abi.COUNTS(checked(counts)), "exchange": _abi.EXCHANGE(checked(exchange)),
            "gather": _abi.GATHER(checked(gather)), "combine": _abi.COMBINE(checked(combine)),
            "abort": _abi.END(abort), "close": _abi.END(lambda _self: None)}
