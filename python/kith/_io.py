# SPDX-License-Identifier: BSD-3-Clause
"""Particles from files: every format that the command kith reads, by libkith-io."""
from __future__ import annotations

import ctypes as C
import importlib.util
import os
import pathlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Optional, Union

import numpy as np

from . import _io_abi as _abi
from ._abi import WATCH
from ._abi import Box as _AbiBox
from ._arrays import over
from ._box import Box
from ._context import Error, LimitError, Signals, address_of
from ._lib import find_library

Array = np.ndarray[Any, Any]
Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
_lock = threading.RLock()  # the HDF5 library serves one thread at a time


class FormatError(Error, ValueError):
    """A file is malformed, cut short, or of no known format."""


class MissingError(Error, LookupError):
    """A field that was asked for is not in the file."""


_EXCEPTIONS: dict[int, type[BaseException]] = {
    -1: OSError, -2: FormatError, -3: FormatError, -4: ValueError, -5: LimitError,
    -6: MemoryError, -7: KeyboardInterrupt, -8: NotImplementedError, -9: MissingError}
_SOURCES = ("", "usual", "file")  # io_units_source
_loaded: Optional[C.CDLL] = None


def library() -> C.CDLL:
    """Return libkith-io, loaded on first use."""
    global _loaded
    if _loaded is None:
        chemfiles = importlib.util.find_spec("chemfiles")
        if chemfiles and chemfiles.origin and "KITH_CHEMFILES" not in os.environ:
            place = pathlib.Path(chemfiles.origin).with_name("libchemfiles.so")
            if place.exists():  # of this interpreter's environment, which need not be activated
                os.environ["KITH_CHEMFILES"] = str(place)
        _loaded = find_library("libkith-io", "KITH_IO_LIBRARY", "io", _abi.FUNCTIONS)
    return _loaded


@dataclass
class Frame:
    """Particles of one frame of a file, or of a set that was made.

    Arrays are None where the file lacks the field. Numbers are those of the file, in the units that
    `units` names: lengths of snapshots are comoving where `cosmology` is known.
    """

    positions: Array  #: [n][dim], float32 or float64 as in the file
    box: Optional[Box] = None  #: None: the file has none
    velocities: Optional[Array] = None  #: [n][dim]; of cosmological snapshots peculiar
    masses: Optional[Array] = None  #: [n]
    ids: Optional[Array] = None  #: [n], int64; cast to uint64 for ids from 2^63 on
    #: [n], uint8: 0 gas, 1 dark matter, 2 disk, 3 bulge, 4 stars, 5 black holes
    types: Optional[Array] = None
    potentials: Optional[Array] = None  #: [n]
    densities: Optional[Array] = None  #: [n]
    forces: Optional[Array] = None  #: [n][dim]
    molecules: Optional[Array] = None  #: [n], int32; -1: in none
    weights: Optional[Array] = None  #: [n]
    bonds: Optional[Array] = None  #: [bonds][2], int32
    species: Optional[Array] = None  #: [n], int32: indices into names
    names: list[str] = field(default_factory=list)  #: names of species
    index: int = 0  #: of the frame in the file
    time: Optional[float] = None  #: as in the file
    step: Optional[int] = None  #: of the simulation
    unit: str = ""  #: of length: "A", "nm", "sigma", "kpc/h"; "": not known
    #: Names by "length", "mass", "velocity"; by "source" "file", or "usual": not in the file
    units: dict[str, str] = field(default_factory=dict)
    cosmology: Optional[dict[str, float]] = None  #: a, redshift, h, omega_m, ... of a snapshot
    format: str = ""  #: in words
    path: str = ""

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def elements(self) -> Array:
        """The name of each particle's species, array [n] of str."""
        return np.array(self.names or [""])[np.zeros(len(self), int) if self.species is None
                                            else self.species]

    def __repr__(self) -> str:
        fields = [name for name in ("velocities", "masses", "ids", "types", "forces", "bonds")
                  if getattr(self, name) is not None]
        named = [name for name in self.names if name]
        return (f"<kith.Frame {self.index} of {self.path or 'a set'}: {len(self)} particles"
                + (f" of {', '.join(named[:6])}" if named else "")
                + (f", {self.unit}" if self.unit else "") + f", {self.box or 'no box'}"
                + (f", with {', '.join(fields)}" if fields else "") + ">")


def _text(value: Any, name: str) -> Optional[bytes]:
    """Return an option that is a text or a list of texts as C takes it."""
    if value is None:
        return None
    if isinstance(value, (list, tuple)):
        value = ",".join(map(str, value))
    if not isinstance(value, str) or "\0" in value:
        raise TypeError(f"{name} is {value!r}; expected a text")
    return value.encode()


def _frames_text(frames: Any) -> Optional[bytes]:
    """Return a choice of frames as the library's text: an int, a slice or a text."""
    if isinstance(frames, slice):
        start, stop, step = ("" if part is None else str(int(part)) for part in
                             (frames.start, frames.stop, frames.step))
        return f"{start}:{stop}{':' + step if step else ''}".encode()
    if isinstance(frames, (int, np.integer)) and not isinstance(frames, bool):
        return str(int(frames)).encode()
    return _text(frames, "frames")


def _options(frames: Any, species: Any, dataset: Any, columns: Any, topology: Any, label: str,
             weights: Any, dtype: Any) -> _abi.TrajectoryOptions:
    made = _abi.TrajectoryOptions()
    made.frames = _frames_text(frames)
    made.read.species = _text(species, "species")
    made.read.dataset = _text(dataset, "dataset")
    made.read.columns = _text(columns, "columns")
    made.topology = None if topology is None else os.fsencode(topology)
    made.weights = _text(weights, "weights")
    if label not in _abi.LABELS:
        raise ValueError(f"label is {label!r}; it may be one of {', '.join(_abi.LABELS)}")
    made.label = _abi.LABELS[label]
    if dtype is not None:
        if np.dtype(dtype) not in (np.float32, np.float64):
            raise ValueError(f"dtype is {dtype!r}; it may be numpy.float32 or numpy.float64")
        made.read.precision = np.dtype(dtype).itemsize
    made.read.fields = (_abi.MASSES | _abi.VELOCITIES | _abi.IDS | _abi.TYPES | _abi.POTENTIALS
                        | _abi.DENSITIES | _abi.FORCES | _abi.MOLECULES | _abi.BONDS
                        | (_abi.WEIGHTS if weights is not None else 0))
    made.read.needed = _abi.WEIGHTS if weights is not None else 0
    return made


class _Trajectory:
    """A file that is open to be read."""

    _at: Optional[C.c_void_p] = None

    def __init__(self, path: Path, options: _abi.TrajectoryOptions) -> None:
        self.path, self._options = os.fsencode(path), options
        if b"\0" in self.path:
            raise ValueError(f"path is {path!r}; it holds a null byte")
        self._stop = stop = [False]
        self._watch = WATCH(lambda _user, _done, _total: stop[0])
        options.read.watch = address_of(self._watch)
        at = C.c_void_p()
        self._call("io_trajectory_open", self.path, C.byref(options), C.byref(at))
        self._at = at

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        if self._at is not None:
            with _lock:
                library().io_trajectory_close(self._at)
            self._at = None

    def _call(self, name: str, *arguments: Any) -> None:
        error = _abi.IoError()
        function = getattr(library(), name)
        with _lock, Signals(self._stop):
            status = function(*arguments, C.byref(error))
        if status:
            text = error.text.decode(errors="replace")
            kind = _EXCEPTIONS.get(status, Error)
            if kind is OSError and not os.path.exists(self.path):
                kind = FileNotFoundError
            raise kind(text)

    def next(self) -> Optional[Frame]:
        """Return the next frame; None after the last."""
        found = C.POINTER(_abi.Frame)()
        self._call("io_trajectory_next", self._at, C.byref(found))
        return self._frame(found.contents) if found else None

    def _frame(self, f: _abi.Frame) -> Frame:
        p, n = f.particles, f.particles.n
        dtype = np.dtype(np.float32 if p.precision == 4 else np.float64)

        def copy(at: Optional[int], kind: Any, count: int = n, width: int = 0) -> Optional[Array]:
            if not at:
                return np.empty((count, width) if width else count, kind) if not n else None
            flat = over(at, count * max(width, 1), np.dtype(kind))
            if width == 3:
                return flat.reshape(count, 3)[:, :p.dim].copy()
            return (flat.reshape(count, width) if width else flat).copy()

        names = []
        if f.names:
            raw = C.string_at(f.names, f.n_names * _abi.NAME_LENGTH)
            names = [raw[k:k + _abi.NAME_LENGTH].split(b"\0")[0].decode(errors="replace")
                     for k in range(0, len(raw), _abi.NAME_LENGTH)]
        unit, units = _unit_names(f)
        positions = copy(p.pos, dtype, n, 3)
        assert positions is not None
        none = n == 0
        return Frame(
            positions=positions, box=_box(p.box) if p.has_box else None,
            velocities=None if none else copy(p.velocity, dtype, n, 3),
            masses=None if none else copy(p.mass, dtype),
            ids=None if none else copy(p.id, np.int64),
            types=None if none else copy(p.type, np.uint8),
            potentials=None if none else copy(p.potential, dtype),
            densities=None if none else copy(p.density, dtype),
            forces=None if none else copy(f.force, dtype, n, 3),
            molecules=None if none else copy(f.molecule, np.int32),
            weights=None if none else copy(f.weight, np.float64),
            bonds=copy(f.bond, np.int32, f.n_bonds, 2) if f.bond and f.n_bonds else None,
            species=copy(f.species, np.int32) if any(names) else None,
            names=names if any(names) else [], index=f.index,
            time=p.time if p.has_time else None, step=f.step if f.has_step else None,
            unit=unit, units=units, cosmology=_cosmology(p.cosmology),
            format=library().io_trajectory_description(self._at).decode(errors="replace"),
            path=os.fsdecode(self.path))


def _unit_names(f: _abi.Frame) -> tuple[str, dict[str, str]]:
    """Return the unit of length, and the names of all units that are known."""
    names = _abi.UnitName()
    library().io_unit_names(C.byref(f.particles.units), C.byref(names))
    units = {part: getattr(names, part).decode() for part in ("length", "mass", "velocity")}
    unit = f.unit.decode(errors="replace")
    units["length"] = units["length"] or unit
    units["source"] = _SOURCES[f.particles.units.source] or ("file" if unit else "")
    return unit or units["length"], {part: name for part, name in units.items() if name}


def _cosmology(found: _abi.Cosmology) -> Optional[dict[str, float]]:
    if not found.known:
        return None
    return {name: getattr(found, name) for name in
            ("a", "redshift", "h", "omega_m", "omega_lambda", "omega_b")}


def _box(box: _AbiBox) -> Box:
    dim = box.dim
    cell = np.array([list(row[:dim]) for row in box.row[:dim]])
    return Box(cell, [bool(one) for one in box.periodic[:dim]], list(box.origin[:dim]))


def frames(path: Path, frames: Any = None, *, species: Any = None, dataset: Optional[str] = None,
           columns: Any = None, topology: Optional[Path] = None, label: str = "any",
           weights: Optional[str] = None, dtype: Any = None) -> Iterator[Frame]:
    """Read the frames of a trajectory, one after the other; the next is read in the meantime.

    Parameters
    ----------
    path : path
        A trajectory, or any file that `read` reads. The format is found by content. Or a Universe
        or AtomGroup of MDAnalysis, whose trajectory is gone through.
    frames : int, slice or str, optional
        Which to read: 5, slice(10, None, 2), "10::2"; negative numbers count from the end.
        Default: all.
    species : str or list of str, optional
        What to read: of snapshots types, "dark,gas" or "1"; of others names.
    dataset : str, optional
        Of an HDF5 file; default: by convention.
    columns : str or list, optional
        Columns of a text with the coordinates, by index or name.
    topology : path, optional
        A PDB or GRO file that names the atoms of a file without names (XTC, DCD, ...).
    label : {"any", "element", "type", "name"}, optional
        Which word about an atom is its species.
    weights : str, optional
        The number that is the weight of a particle: a column of a LAMMPS dump or of extended XYZ, a
        dataset of H5MD, "mass" of a snapshot, "mass" or "charge" by chemfiles, of GSD "diameter"
        too. Radii are read so from dumps, extended XYZ, H5MD and GSD: with weights="radius" they
        are `weights`. Of a text or an HDF5 file read them by numpy.loadtxt or h5py.
    dtype : {numpy.float32, numpy.float64}, optional
        The type of positions; default: as in the file.

    Yields
    ------
    Frame

    Raises
    ------
    FormatError
        The file is malformed, cut short, or of no known format.
    OSError
        The file cannot be read.
    NotImplementedError
        The format needs a library that is not there: HDF5, chemfiles.
    MissingError
        A frame has no weights of the name.

    Examples
    --------
    >>> for frame in kith.frames("water.xyz"):  # doctest: +SKIP
    ...     histogram.add(frame.positions, frame.box)
    """
    from ._sources import is_universe, mdanalysis_frames
    if is_universe(path):
        return mdanalysis_frames(path, frames)
    options = _options(frames, species, dataset, columns, topology, label, weights, dtype)
    trajectory = _Trajectory(path, options)
    return _each(trajectory)


def _each(trajectory: _Trajectory) -> Iterator[Frame]:
    try:
        while True:
            frame = trajectory.next()
            if frame is None:
                return
            yield frame
    finally:
        trajectory.close()


def read(path: Path, frame: int = 0, *, species: Any = None, dataset: Optional[str] = None,
         columns: Any = None, topology: Optional[Path] = None, label: str = "any",
         weights: Optional[str] = None, dtype: Any = None) -> Frame:
    """Read the particles of a file, or of one frame of a trajectory.

    NumPy's .npy, HDF5, tipsy, text or CSV, XYZ, LAMMPS dumps, GSD, snapshots of Gadget, Gadget-4,
    AREPO and SWIFT in one file or many; with chemfiles (pip install chemfiles) XTC, TRR, DCD, GRO,
    PDB and others. Parameters as in `frames`; `frame` counts from 0, from the end if negative.

    Returns
    -------
    Frame
        positions, velocities, masses, ids, species, box, with the names of the units.

    Examples
    --------
    >>> snapshot = kith.read("snap_005.hdf5")  # doctest: +SKIP
    >>> snapshot.positions.shape, snapshot.unit  # doctest: +SKIP
    ((32768, 3), 'kpc/h')
    """
    options = _options(frame, species, dataset, columns, topology, label, weights, dtype)
    trajectory = _Trajectory(path, options)
    try:
        found = trajectory.next()
    finally:
        trajectory.close()
    if found is None:
        raise IndexError(f"{os.fsdecode(path)}: there is no frame {frame}")
    return found
