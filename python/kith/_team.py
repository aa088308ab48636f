# SPDX-License-Identifier: BSD-3-Clause
"""Teams: one question answered by several ranks, processes of MPI or backends of this process."""
from __future__ import annotations

import ctypes as C
import os
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Optional

import numpy as np

from . import _abi
from ._arrays import INT32, INT64, Owned, address, column, coordinates, narrow, of_one_memory
from ._box import Box, as_box, dimensions
from ._context import Busy, Context, Signals, Unshared, address_of, failure, text_of
from ._flock import flock_options, measure_rows, measures_of
from ._fof import HALO, fof_options, halo_input, sphere_densities
from ._kinds import Memory
from ._lib import library
from ._mpi import Transport, is_communicator
from ._nearest import nearest_options
from ._numbers import real, whole
from ._pairs import list_options
from ._rows import FIELD as _ROW_FIELD
from ._rules import Rules, ruled
from ._sources import resolve
from .rdf import Histogram

Array = np.ndarray[Any, Any]
_PAIR_FIELD = {"d": "distances", "D": "vectors", "S": "shifts"}


class _Given(NamedTuple):
    """Coordinates and the box of a call, checked."""

    x: Array
    box: Box

    @property
    def dtype(self) -> Any:
        """The type of coordinates, distances and vectors."""
        return self.x.dtype


class _Asked(NamedTuple):
    """The arguments of a list, checked."""

    given: _Given
    others: Optional[Array]  # the second set
    options: _abi.PairsOptions  # with the arrays of all particles that this process gives
    cutoff: float
    held: Any  # arrays that the options refer to

    def arguments(self, k: int, parts: int) -> tuple[Any, ...]:
        """Return the arguments of the k-th rank of this process."""
        x, own = self.given.x, _abi.PairsOptions.from_buffer_copy(self.options)
        real_size = x.dtype.itemsize
        first = _begin(x, k, parts)
        for name, size in (("species", 4), ("radii", real_size), ("molecules", 4), ("active", 1),
                           ("bond_offsets", 8)):
            _move(own, name, first * size)
        if self.others is not None:
            own.against = C.pointer(_points(self.others, k, parts))
            second = _begin(self.others, k, parts)
            for name, size in (("species", 4), ("radii", real_size), ("molecules", 4)):
                _move(own, f"{name}_against", second * size)
        return C.byref(_points(x, k, parts)), C.byref(self.given.box.struct()), self.cutoff, (
            C.byref(own))


def _given(x: Any, box: Any) -> _Given:
    """Return the coordinates and the box of a call, checked."""
    x, box = resolve(x, box)
    dim = dimensions(x, box)
    space = as_box(box, dim)
    _, kept = coordinates(x, "x", dim)
    assert isinstance(kept, np.ndarray)  # not of a GPU, which was refused
    return _Given(kept, space)


def _begin(array: Array, k: int, parts: int) -> int:
    """Return where the k-th of consecutive, about equal parts of an array begins."""
    return len(array) * k // parts


def _part(array: Optional[Memory], k: int, parts: int) -> Any:
    """Return the k-th of consecutive, about equal parts of an array in host memory; None stays
    None."""
    if not isinstance(array, np.ndarray) or parts == 1:
        return array
    return array[_begin(array, k, parts):_begin(array, k + 1, parts)]


def _move(options: _abi.PairsOptions, name: str, size: int) -> None:
    """Move the pointer of an array by some bytes, where there is an array."""
    begin = getattr(options, name)
    if begin:
        setattr(options, name, begin + size)


def _points(x: Memory, k: int, parts: int) -> Any:
    """Return the k-th part of coordinates as kith_points."""
    return coordinates(_part(x, k, parts), "x", x.shape[1], x.dtype)[0]


def _joined(arrays: list[Array]) -> Array:
    """Return arrays in the order of the ranks as one; a single one is not copied."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _flock_part(options: _abi.FlockOptions, k: int, parts: int) -> _abi.FlockOptions:
    """Return the options of the k-th of some parts of a flock, which hold their arrays."""
    own = _abi.FlockOptions.from_buffer_copy(options)
    own.held = options  # keeps its arrays
    if options.species:
        own.species = _part(options.held_species, k, parts).ctypes.data_as(C.POINTER(C.c_uint8))
    return own


class _Backends:
    """The ranks of this process: a thread and a context each."""

    def __init__(self, names: list[str], threads: int) -> None:
        from concurrent.futures import ThreadPoolExecutor  # here, as few programs need it

        self.first, self.ranks, self.process = 0, len(names), os.getpid()
        with Context("cpu", threads) as all_threads:
            each = max(all_threads.threads // len(names), 1)
        self.contexts = [Context(name, each) for name in names]
        self._pool = ThreadPoolExecutor(len(names), "kith-rank")
        transports = (_abi.Transport * len(names))()
        status = library().kith_transport_threads(len(names), transports)
        if status:
            raise failure(status, text_of(None))
        self._transports = [C.pointer(one) for one in transports]

    def transport(self, k: int) -> Any:
        """Return the struct of a rank's transport."""
        return self._transports[k]

    def agree(self, error: Any) -> None:
        """Raise an error of the arguments, which all ranks share."""
        if error is not None:
            raise error

    def run(self, work: Callable[[int], int]) -> list[int]:
        """Call a function in the thread of each rank, at one time. Return the statuses."""
        if os.getpid() != self.process:
            raise RuntimeError("a team has no threads in a child of fork(): make another one")
        started = []
        try:
            for k in range(self.ranks):
                started.append(self._pool.submit(work, k))
        except BaseException:  # no thread: ranks that have begun wait for those that have not
            for one in self._transports[len(started):]:
                library().kith_transport_close(one)
            raise
        return [one.result() for one in started]

    def free(self) -> None:
        """End the threads."""
        self._pool.shutdown(wait=False)


class _Process:
    """The one rank of this process, among processes of MPI."""

    def __init__(self, communicator: Any, backend: Optional[str], threads: int) -> None:
        self._transport, self.process = Transport(communicator), os.getpid()
        self.first, self.ranks = self._transport.rank, self._transport.ranks
        error: Any = None
        self.contexts: list[Context] = []
        try:
            self.contexts = [Context(backend, threads)]
        except BaseException as raised:
            error = raised
        self._transport.agree(error)

    def transport(self, _k: int) -> Any:
        """Return the struct of the rank's transport."""
        return C.pointer(self._transport.struct)

    def agree(self, error: Any) -> None:
        """Raise on all ranks the error of the lowest rank that has one. Collective."""
        self._transport.agree(error)

    def run(self, work: Callable[[int], int]) -> list[int]:
        """Call a function in this thread, as MPI may serve no other one."""
        del self._transport.errors[:]
        statuses = [work(0)]
        if statuses[0] and self._transport.errors:
            raise failure(statuses[0], text_of(self.contexts[0])) from self._transport.errors[0]
        return statuses

    def free(self) -> None:
        """Free the communicator."""
        self._transport.free()


class _Stops:
    """The flags by which the calls of several contexts are stopped, as one."""

    def __init__(self, contexts: list[Context]) -> None:
        self._flags = [one.stop for one in contexts]

    def __setitem__(self, at: int, value: bool) -> None:
        for one in self._flags:
            one[at] = value


class TeamGroups(Unshared):
    """Groups of the particles of all ranks. Group 1 is the largest.

    Put together in the order of the ranks, arrays are those of `kith.fof` for all particles.
    len() is the number of groups of all ranks. The coordinates are kept, but not copied: measure
    halos before they change.

    Attributes
    ----------
    labels : array [n] of int64
        The group of each of this rank's particles, 1 to len(self); 0: in none.
    first : int
        Number of groups before those of `members`.
    members : array [held] of int64
        This rank's part of the sizes: members[0] is that of group first + 1.
    """

    def __init__(self, team: Team, given: _Given, found: list[Owned]) -> None:
        self._team, self._given, self._found = team, given, found
        self.first = int(found[0].struct.first)
        self.labels = _joined([one.view(one.struct.labels, (one.struct.points,), INT64)
                               for one in found])
        self.members = _joined([one.view(one.struct.members, (one.struct.held,), INT64)
                                for one in found])
        self.labels.flags.writeable = self.members.flags.writeable = False

    def __len__(self) -> int:
        return int(self._found[0].struct.n)

    def __repr__(self) -> str:
        return f"<kith.TeamGroups: {len(self)} groups, {len(self.labels)} particles of this rank>"

    def halos(self, *, masses: Any = None, velocities: Any = None, types: Any = None,
              potentials: Any = None, densities: Any = None, sphere_density: Any = ()) -> Array:
        """Measure the groups. Collective.

        Parameters
        ----------
        masses, velocities, types, potentials, densities : array, optional
            Of each of this rank's particles, as in `Groups.halos`. All ranks give them, or none.
        sphere_density : up to 4 densities, optional
            As in `Groups.halos`; equal on all ranks.

        Returns
        -------
        structured array [rows]
            This rank's part of the halos, as `Groups.halos` returns them; `particle` is a global
            index. Put together in the order of the ranks, they are those of all particles: each
            rank has len(self) // ranks rows, the first len(self) % ranks ranks one more.

        Raises
        ------
        ValueError
            An argument makes no sense, on any of the ranks.
        TeamLost
            A rank has left the team, or could not be reached.
        """
        team, given = self._team, self._given
        with team.prepared() as call:
            columns = halo_input(given.x, given.box.dim, masses, velocities, types, potentials,
                                 densities)
            spheres = sphere_densities(sphere_density)
            space = given.box.struct()
        found = call.results(_abi.TeamHalos, library().kith_team_halos_free,
                             stride=C.sizeof(_abi.Halo))

        def arguments(k: int, parts: int) -> tuple[Any, ...]:
            made = _abi.HaloInput()
            library().kith_halo_input_init_sized(C.byref(made), C.sizeof(made))
            for name, values in columns.items():
                setattr(made, name, address(_part(values, k, parts)))
            for s, density in enumerate(spheres):
                made.sphere_density[s] = density
            return (C.byref(_points(given.x, k, parts)), C.byref(space),
                    C.byref(self._found[k].struct), C.byref(made), C.byref(found[k].struct))

        call.do("kith_team_halos_measure", arguments)
        return _joined([one.view(address_of(one.struct.halo), (one.struct.held * HALO.itemsize,),
                                 np.uint8).view(HALO) for one in found])


class TeamHistogram(Histogram):
    """A `kith.rdf.Histogram` whose frames are counted by all ranks of a team: `Team.rdf`.

    `add` is collective: each rank gives its particles of the frame, and has the counts of all.
    """

    def __init__(self, team: Team, *arguments: Any, **how: Any) -> None:
        super().__init__(*arguments, **how)
        self._team = team
        self._others = [Owned(_abi.Histogram(), library().kith_histogram_free)
                        for _ in range(team.here - 1)]  # of the other ranks of this process

    def add(self, x: Any, box: Any = None, **how: Any) -> Histogram:
        """Count the pairs of one frame over all ranks, and add them. Collective.

        Parameters
        ----------
        x : array [n][3] or [n][2]
            Coordinates of this rank's particles, in host memory, or what holds them.
        box : Box, float or array, optional
            As in `pairs`; equal on all ranks.
        **how
            species, against, species_against, molecules, molecules_against, weights and
            weights_against as in `kith.rdf.Histogram.add`, of this rank's particles. Molecules
            have one numbering for all ranks.

        Returns
        -------
        Histogram
            This one.

        Raises
        ------
        ValueError
            An argument makes no sense, on any of the ranks.
        NotImplementedError
            Batches are not offered by teams.
        TeamLost
            A rank has left the team, or could not be reached.
        """
        with self._team.prepared() as call:
            frame = self._frame(x, box, **how)
            if not isinstance(frame.x, np.ndarray):
                raise TypeError("x is in the memory of a GPU; teams take host memory")

        def arguments(k: int, parts: int) -> tuple[Any, ...]:
            options = _abi.RdfOptions.from_buffer_copy(frame.options)
            if frame.against is not None:
                options.against = C.pointer(_points(frame.against, k, parts))
            for name, values in frame.columns.items():
                setattr(options, name, address(_part(values, k, parts)))
            found = self._others[k - 1].struct if k else self._found
            return (C.byref(_points(frame.x, k, parts)), frame.at_box, C.byref(options),
                    C.byref(found))

        with self._lock:
            call.do("kith_team_rdf_count", arguments)
            self._dim = frame.dim
        return self


class TeamFlock(Unshared):
    """A `kith.Flock` of the particles of all ranks: `Team.flock`. It stays divided among the ranks
    from step to step, and has the bits of one process. `close()`, the end of a `with` block, or
    that of the team, frees it. All calls but `steps` and `len` are collective.
    """

    def __init__(self, team: Team, x: Any, v: Any, box: Any, how: dict[str, Any]) -> None:
        self._team, self._how = team, dict(how)
        self._at = [C.c_void_p() for _ in range(team.here)]
        with team.prepared() as call:
            given = _given(x, box)
            _, kept = coordinates(v, "v", given.x.shape[1], given.dtype)
            if len(kept) != len(given.x):
                raise ValueError(f"v has {len(kept)} rows, x has {len(given.x)}")
            options = flock_options(self._how, given.x.shape)
            space = given.box.struct()
        self._shape, self._dtype = given.x.shape, given.dtype
        call.do("kith_team_flock_open", lambda k, parts: (
            C.byref(_points(given.x, k, parts)), C.byref(_points(kept, k, parts)), C.byref(space),
            C.byref(_flock_part(options, k, parts)), C.byref(self._at[k])))
        team.keep(self)

    def __del__(self) -> None:
        if library is not None:  # None: the process ends, and takes the memory along
            self.free()

    def __enter__(self) -> TeamFlock:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __len__(self) -> int:
        return int(self._shape[0])

    def close(self) -> None:
        """Free the flock. Not collective.

        Raises
        ------
        Busy
            Another thread is in a call of the team.
        """
        self._team.alone(self.free)

    # For this package.

    def free(self) -> None:
        """Free the flock, while no call of the team is made."""
        at, self._at = self._at, []
        for one in at:
            library().kith_team_flock_close(one)

    def _do(self, name: str, arguments: Callable[[int, int], tuple[Any, ...]]) -> None:
        """Call a function of the library on the flock of each rank."""
        self._team.call(name, arguments, self._at)

    def _prepared(self) -> _Call:
        """Begin a collective call."""
        call = self._team.prepared()
        if not self._at:
            raise ValueError("the flock is closed")
        return call

    def change(self, **how: Any) -> TeamFlock:
        """Change options from the next step on; those not named keep their values. Collective."""
        changed = {**self._how, **how}
        with self._prepared():
            options = flock_options(changed, self._shape)
        self._do("kith_team_flock_change", lambda k, parts: (
            C.byref(_flock_part(options, k, parts)),))
        self._how = changed
        return self

    def step(self, steps: int = 1) -> TeamFlock:
        """Go some steps further. Returns the flock. Collective."""
        with self._prepared():
            number = whole(steps, "steps", 0)
        self._do("kith_team_flock_step", lambda _k, _parts: (number,))
        return self

    @property
    def steps(self) -> int:
        """Steps done, first_step included."""
        return int(library().kith_team_flock_steps(self._at[0] if self._at else None))

    def read(self) -> tuple[Array, Array]:
        """Return copies of positions and velocities, arrays [n][dim], of this rank's particles in
        the order in which it gave them. Collective."""
        made: Array = np.empty((2, self._shape[0], 3), self._dtype)
        with self._prepared():
            pass
        self._do("kith_team_flock_read", lambda k, parts: (
            address(_part(made[0], k, parts)), address(_part(made[1], k, parts))))
        return made[0, :, :self._shape[1]], made[1, :, :self._shape[1]]

    @property
    def positions(self) -> Array:
        """A copy of the positions, wrapped into the box. Collective."""
        return self.read()[0]

    @property
    def velocities(self) -> Array:
        """A copy of the velocities. Collective."""
        return self.read()[1]

    def measure(self) -> dict[str, float]:
        """Return polarisation, milling, mean_speed and neighbours of all particles as a dict.
        Collective."""
        found = [_abi.FlockMeasures() for _ in range(self._team.here)]
        with self._prepared():
            pass
        self._do("kith_team_flock_measure_sized", lambda k, _parts: (
            C.byref(found[k]), C.sizeof(found[k])))
        return measures_of(found[0])

    def record(self, steps: int, every: int = 1) -> Array:
        """Go some steps further, and measure now and after each `every` of them, as
        `kith.Flock.record`. Collective."""
        return measure_rows(self, steps, every)


class _Call:
    """A collective call: the arguments are prepared within `with`, then all ranks make it."""

    def __init__(self, team: Team) -> None:
        self._team = team

    def __enter__(self) -> _Call:
        return self

    def __exit__(self, _kind: Any, error: Any, _trace: Any) -> None:
        self._team.agree(error)

    def results(self, kind: Any, free: Any, **fields: Any) -> list[Owned]:
        """Return an empty result of the library's for each rank of this process."""
        return [Owned(kind(size=C.sizeof(kind), **fields), free) for _ in range(self._team.here)]

    def do(self, name: str, arguments: Callable[[int, int], tuple[Any, ...]]) -> None:
        """Call a function of the library on all ranks, with `arguments(k, parts)` on the k-th of
        this process, which has the k-th of so many parts of its particles."""
        self._team.call(name, arguments)


class Team(Unshared):
    """Several ranks that answer one question together, each with a context and particles of its
    own.

    The answer of a team is that of one process which was given rank 0's particles, then rank 1's,
    and so on, to the last bit; indices are those of all particles. Ranks are one of

    * processes of MPI: `Team(MPI.COMM_WORLD)`, by mpi4py, of any MPI. Each process gives its
      particles, and gets its part of the answer. All make each call, in one order, with equal
      boxes, lengths and options, and with coordinates of one type; numbers of particles may differ,
      and be 0. An error of any rank is raised on all.
    * backends of this process: `Team(["cuda:0", "cuda:1"])`. A call gives all particles, and gets
      the whole answer; each backend is dealt a part of the work.

    Coordinates are in host memory. docs/team.md says how the work is divided, and what it costs.

    Parameters
    ----------
    ranks : communicator of mpi4py, or sequence of str
        The processes, whose communicator is duplicated; or a backend for each rank, as in Context.
    threads : int, optional
        CPU threads of this process, divided among its ranks; 0: as in Context.
    backend : str, optional
        Of processes: this process's backend, as in Context, such as "cuda:1".

    Raises
    ------
    ValueError
        A backend is unknown, or an argument makes no sense; on any of the processes.
    NoBackend
        A backend cannot run here.
    TeamLost
        A rank has left the team, or could not be reached.

    Examples
    --------
    >>> x = np.random.default_rng(1).random((1000, 3))
    >>> with kith.Team(["cpu", "cpu"]) as team:
    ...     groups = team.fof(x, 0.05, kith.Box(1.0), min_members=5)
    >>> bool((groups.labels == kith.fof(x, 0.05, kith.Box(1.0), min_members=5).labels).all())
    True

    Processes of MPI, each with its part of the particles (mpirun -n 4 python program.py):

    >>> from mpi4py import MPI  # doctest: +SKIP
    >>> team = kith.Team(MPI.COMM_WORLD)  # doctest: +SKIP
    >>> groups = team.fof(mine, 0.05, 1.0)  # doctest: +SKIP
    """

    _group: Any = None

    def __init__(self, ranks: Any, threads: int = 0, *, backend: Optional[str] = None) -> None:
        self._lock = threading.Lock()  # held during a call
        self._at: list[C.c_void_p] = []  # kith_team of each rank of this process
        self._flocks: Any = weakref.WeakSet()  # those that are open
        if is_communicator(ranks):
            self._group = _Process(ranks, backend, threads)
        else:
            self._group = _Backends(_names(ranks, backend), threads)
        self._contexts: list[Context] = self._group.contexts
        self.here = len(self._contexts)  # ranks of this process
        self._at = [C.c_void_p() for _ in self._contexts]
        try:
            self._run(lambda k: library().kith_team_open(
                self._contexts[k].handle, self._group.transport(k), None, C.byref(self._at[k])))
        except BaseException:
            self.close()
            raise

    def __del__(self) -> None:
        if library is not None and self._group is not None:  # None: the process ends
            self.close()

    def __enter__(self) -> Team:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        if not self._at:
            return "<kith.Team, closed>"
        return f"<kith.Team: rank {self.rank} of {self.ranks}>"

    @property
    def rank(self) -> int:
        """Number of this process's rank; 0 where all ranks are of this process."""
        return int(self._group.first)

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return int(self._group.ranks)

    @property
    def backends(self) -> list[str]:
        """The backend of each rank of this process."""
        return [one.backend for one in self._contexts]

    def close(self) -> None:
        """Leave the team and close its contexts. Results stay valid. Processes do it together.

        Raises
        ------
        Busy
            Another thread is in a call of the team.
        """
        if not self._lock.acquire(blocking=False):
            raise Busy("the team is in another call")
        try:
            if self._group is None:
                return
            for flock in list(self._flocks):
                flock.free()
            if self._group.process == os.getpid():  # else a child of fork(), which has no ranks
                for at in self._at:
                    library().kith_team_close(at)
                self._group.free()
            for one in self._contexts:
                one.close()
        finally:
            self._at = []
            self._lock.release()

    # For this package: collective calls.

    def prepared(self) -> _Call:
        """Begin a collective call."""
        if not self._at:
            raise ValueError("the team is closed")
        return _Call(self)

    def agree(self, error: Any) -> None:
        """Raise an error of any rank on all of them."""
        self._group.agree(error)

    def keep(self, flock: TeamFlock) -> None:
        """Free a flock when the team is closed."""
        self._flocks.add(flock)

    def alone(self, work: Callable[[], None]) -> None:
        """Do what no call of the team may be made beside."""
        if not self._lock.acquire(blocking=False):
            raise Busy("the team is in another call")
        try:
            work()
        finally:
            self._lock.release()

    def call(self, name: str, arguments: Callable[[int, int], tuple[Any, ...]],
             at: Optional[list[C.c_void_p]] = None) -> None:
        """Call a function on all ranks: see _Call.do. `at` has a handle for each rank of this
        process; None: those of the team."""
        function, parts = getattr(library(), name), self.here
        made = [arguments(k, parts) for k in range(parts)]
        handles = self._at if at is None else at
        self._run(lambda k: function(handles[k], *made[k]))

    def _run(self, work: Callable[[int], int]) -> None:
        """Run a function of each rank, which returns a status, and raise what it says."""
        if not self._lock.acquire(blocking=False):
            raise Busy("the team is in another call")
        try:
            with Signals(_Stops(self._contexts)):
                statuses = self._group.run(work)
            for one, status in zip(self._contexts, statuses):
                if status:
                    raise failure(status, text_of(one))
        finally:
            self._lock.release()

    # The questions.

    def fof(self, x: Any, length: float, box: Any = None, *, min_members: int = 20, ids: Any = None,
            roles: Any = None, min_links: int = 0, velocities: Any = None,
            velocity_length: float = 0.0) -> TeamGroups:
        """Find groups by friends-of-friends over all ranks. Collective.

        Parameters
        ----------
        x : array [n][3] or [n][2]
            Coordinates of this rank's particles [length], float32 or float64, in host memory, or
            what holds them, as in `pairs`.
        length : float
            The linking length [length].
        box : Box, float or array, optional
            As in `pairs`.
        min_members, ids, roles, min_links, velocities, velocity_length : optional
            As in `kith.fof`; arrays are of this rank's particles.

        Returns
        -------
        TeamGroups

        Raises
        ------
        ValueError
            An argument makes no sense, or a coordinate is not finite, on any of the ranks.
        TeamLost
            A rank has left the team, or could not be reached.
        """
        with self.prepared() as call:
            given = _given(x, box)
            options, columns = fof_options(given.x, given.box.dim, min_members, ids, roles,
                                           min_links, velocities, velocity_length)
            length = real(length, "length")
            space = given.box.struct()
        found = call.results(_abi.TeamGroups, library().kith_team_groups_free)

        def arguments(k: int, parts: int) -> tuple[Any, ...]:
            own = _abi.FofOptions.from_buffer_copy(options)
            for name, values in columns.items():
                setattr(own, name, address(_part(values, k, parts)))
            return (C.byref(_points(given.x, k, parts)), C.byref(space), length, C.byref(own),
                    C.byref(found[k].struct))

        call.do("kith_team_fof_find", arguments)
        return TeamGroups(self, given, found)

    def pairs(self, x: Any, cutoff: Any = None, box: Any = None, want: Optional[str] = None, *,
              full: bool = False, sort: bool = False, against: Any = None, species: Any = None,
              radii: Any = None, rule: Optional[str] = None, r_min: float = 0.0,
              molecules: Any = None, bonds: Any = None, active: Any = None) -> Any:
        """Find all pairs of particles within a radius over all ranks. Collective.

        Parameters
        ----------
        x : array [n][3] or [n][2]
            Coordinates of this rank's particles, as in `fof`.
        cutoff : float, dict or array [species][species]
            As in `kith.pairs`. Where ranks are processes a dict of names is refused, as a process
            may lack some of the species: number them, and give a table.
        box, want, full, against : optional
            As in `kith.pairs`; `against` is this rank's part of the other set. Letters of `want`:
            "ijdDS".
        sort : bool, optional
            Sort this rank's pairs by i, then j, then S from its last component to its first.
        species, radii, rule, r_min, molecules, bonds, active : optional
            As in `kith.pairs`, of this rank's particles; given on all ranks or on none. Molecules
            have one numbering for all ranks. Bonds are refused where ranks are processes.

        Returns
        -------
        array or tuple of arrays
            What `want` names, in its order: i, j [p] of int64, indices of all particles; d [p];
            D [p][dim]; S [p][dim] of int32. Processes each have the pairs of the i's that they were
            dealt, all pairs of an i together: all lists are that of one process. Ranks of this
            process have one list; with `sort` it is that of `kith.pairs`.

        Raises
        ------
        ValueError
            An argument makes no sense, or a coordinate is not finite, on any of the ranks.
        MemoryError
            The list does not fit into memory.
        TeamLost
            A rank has left the team, or could not be reached.
        """
        with self.prepared() as call:
            want, options = list_options(want, full, sort)
            asked = self._list(x, box, options, against,
                               Rules(cutoff, species, radii, rule, r_min, molecules, bonds, active))
            given = asked.given
        found = call.results(_abi.TeamPairs, library().kith_team_pairs_free)
        call.do("kith_team_pairs_find", lambda k, parts: (
            *asked.arguments(k, parts), C.byref(found[k].struct)))
        lists = [[_pair_array(one, letter, given.dtype) for one in found]
                 for letter in (want + "i" if sort and self.here > 1 else want)]
        arrays = [_joined(parts) for parts in lists]
        if sort and self.here > 1:  # all pairs of one i are of one rank
            order = np.argsort(arrays.pop(), kind="stable")
            arrays = [array[order] for array in arrays]
        arrays = [narrow(array, letter, given.box.dim, False)
                  for letter, array in zip(want, arrays)]
        return arrays[0] if len(arrays) == 1 else tuple(arrays)

    def count_pairs(self, x: Any, cutoff: Any = None, box: Any = None, *, full: bool = False,
                    against: Any = None, neighbours: bool = False, species: Any = None,
                    radii: Any = None, rule: Optional[str] = None, r_min: float = 0.0,
                    molecules: Any = None, bonds: Any = None, active: Any = None) -> Any:
        """Count the pairs of all ranks, storing none. Collective. Parameters as in `pairs`.

        Returns
        -------
        int, or (int, array [n] of int64)
            The pairs of all ranks; with `neighbours` also, for each of this rank's particles, its
            entries in the full list.

        Raises
        ------
        ValueError
            An argument makes no sense, or a coordinate is not finite, on any of the ranks.
        TeamLost
            A rank has left the team, or could not be reached.
        """
        with self.prepared() as call:
            asked = self._list(x, box, list_options("ij", full, False)[1], against,
                               Rules(cutoff, species, radii, rule, r_min, molecules, bonds, active))
            each = np.empty(len(asked.given.x), np.int64) if neighbours else None
        numbers = [C.c_int64() for _ in range(self.here)]
        call.do("kith_team_pairs_count", lambda k, parts: (
            *asked.arguments(k, parts), C.byref(numbers[k]), address(_part(each, k, parts))))
        return numbers[0].value if each is None else (numbers[0].value, each)

    def nearest(self, x: Any, k: int, box: Any = None, want: str = "jd", *,
                cutoff: Optional[float] = None, against: Any = None) -> Any:
        """Find the k nearest neighbours of each particle over all ranks. Collective.

        Parameters
        ----------
        x : array [n][3] or [n][2]
            Coordinates of this rank's particles, as in `fof`.
        k, box, want, cutoff, against : optional
            As in `kith.nearest`; `against` is this rank's part of the other set.

        Returns
        -------
        array or tuple of arrays
            What `want` names, as `kith.nearest` returns it, a row for each of this rank's
            particles; j has indices of all particles, of int64.

        Raises
        ------
        ValueError
            An argument makes no sense, or a coordinate is not finite, on any of the ranks.
        LimitError
            A neighbour would be more than 500 boxes away.
        MemoryError
            The arrays do not fit into memory.
        TeamLost
            A rank has left the team, or could not be reached.
        """
        with self.prepared() as call:
            options, k = nearest_options(want, cutoff), whole(k, "k", 1, 2 ** 31 - 1)
            given = _given(x, box)
            others = _second(against, given)
            space = given.box.struct()
        found = call.results(_abi.TeamNearest, library().kith_team_nearest_free)

        def arguments(rank: int, parts: int) -> tuple[Any, ...]:
            own = _abi.NearestOptions.from_buffer_copy(options)
            if others is not None:
                own.against = C.pointer(_points(others, rank, parts))
            return (C.byref(_points(given.x, rank, parts)), C.byref(space), k, C.byref(own),
                    C.byref(found[rank].struct))

        call.do("kith_team_nearest_find", arguments)
        shapes = {"n": ((), INT32), "j": ((k,), INT64), "d": ((k,), given.dtype),
                  "D": ((k, 3), given.dtype), "S": ((k, 3), INT32)}
        arrays = []
        for letter in want:
            shape, dtype = shapes[letter]
            one = _joined([part.view(getattr(part.struct, _ROW_FIELD[letter]),
                                     (part.struct.rows, *shape), dtype) for part in found])
            arrays.append(narrow(one, letter, given.box.dim, False))
        return arrays[0] if len(arrays) == 1 else tuple(arrays)

    def rdf(self, r_max: Optional[float] = None, bins: int = 200, r_min: float = 0.0, *,
            edges: Any = None, n_species: int = 1, minimum_image: bool = False) -> TeamHistogram:
        """Return an empty histogram of pairs by distance, whose frames all ranks count. Not
        collective, but its `add` is.

        Parameters
        ----------
        r_max, bins, r_min, edges, n_species, minimum_image : optional
            As in `kith.rdf.Histogram`; equal on all ranks.

        Returns
        -------
        TeamHistogram

        Examples
        --------
        >>> team = kith.Team(["cpu", "cpu"])
        >>> histogram = team.rdf(0.4, bins=4)
        >>> x = np.random.default_rng(1).random((2000, 3))
        >>> histogram.add(x, kith.Box(1.0)).g().round(1)
        array([1., 1., 1., 1.])
        """
        return TeamHistogram(self, r_max, bins, r_min, edges=edges, n_species=n_species,
                             minimum_image=minimum_image)

    def flock(self, x: Any, v: Any, box: Any = None, **how: Any) -> TeamFlock:
        """Return a flock of the particles of all ranks, on CPUs. Collective.

        Parameters
        ----------
        x, v : array [n][3] or [n][2]
            Positions and velocities of this rank's particles, float32 or float64, in host memory.
        box : Box, float or array, optional
            As in `pairs`.
        **how
            As in `kith.Flock`; equal on all ranks.

        Returns
        -------
        TeamFlock

        Raises
        ------
        ValueError
            An argument makes no sense, or a coordinate is not finite, on any of the ranks.
        NotImplementedError
            A backend is a GPU, or a rule is not offered by teams.
        TeamLost
            A rank has left the team, or could not be reached.

        Examples
        --------
        >>> x, v = np.random.default_rng(1).random((2, 1000, 3))
        >>> with kith.Team(["cpu", "cpu"]) as team:
        ...     positions = team.flock(x, v, kith.Box(20.0)).step(10).positions
        >>> bool((positions == kith.Flock(x, v, kith.Box(20.0)).step(10).positions).all())
        True
        """
        return TeamFlock(self, x, v, box, how)

    def _list(self, x: Any, box: Any, options: _abi.PairsOptions, against: Any,
              rules: Rules) -> _Asked:
        """Return the checked arguments of a list."""
        given = _given(x, box)
        others = _second(against, given)
        if others is not None:
            options = _abi.PairsOptions.from_buffer_copy(options)  # the given ones are shared
            options.against = C.pointer(_points(others, 0, 1))
        if isinstance(self._group, _Process) and self.ranks > 1:
            if isinstance(rules.cutoff, dict):
                raise ValueError("cutoff is a dict, but ranks are processes, which may lack some "
                                 "of the species: number them, and give a table of cutoffs")
            if rules.bonds is not None:
                raise ValueError("bonds is given, but ranks are processes, which do not know the "
                                 "indices of one another's particles")
        made, cutoff, held = ruled(options, rules, x, given.x, given.x, others)
        return _Asked(given, others, made, cutoff, held)


def _names(ranks: Any, backend: Any) -> list[str]:
    """Return the backends of the ranks of this process, checked."""
    if backend is not None:
        raise ValueError("backend is for processes of MPI; ranks has the backends of this process")
    names = ranks.split(",") if isinstance(ranks, str) else ranks
    if not isinstance(names, (list, tuple)) or not all(isinstance(one, str) for one in names):
        raise TypeError(f"ranks is {ranks!r}; expected a communicator of mpi4py, or backends such "
                        "as ['cuda:0', 'cuda:1']")
    if not 1 <= len(names) <= 4096:
        raise ValueError(f"ranks has {len(names)} backends; expected 1 to 4096")
    return list(names)


def _second(against: Any, given: _Given) -> Optional[Array]:
    """Return the coordinates of a second set, checked; None stays None."""
    if against is None:
        return None
    _, kept = of_one_memory(against, given.box.dim, given.x)
    assert isinstance(kept, np.ndarray)
    return kept


def _pair_array(found: Owned, letter: str, dtype: Any) -> Array:
    """Return an array of a rank's list, with indices of all particles."""
    pairs = found.struct
    if letter in "ij":
        local = found.view(getattr(pairs, letter), (pairs.n,), INT32)
        other = letter == "j" and pairs.ids_against
        ids = found.view(pairs.ids_against if other else pairs.ids,
                         (pairs.points if letter == "j" else pairs.rows,), INT64)
        made: Array = ids[local]
        return made
    return found.view(getattr(pairs, _PAIR_FIELD[letter]),
                      (pairs.n,) if letter == "d" else (pairs.n, 3),
                      INT32 if letter == "S" else dtype)
