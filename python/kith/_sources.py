# SPDX-License-Identifier: BSD-3-Clause
"""Objects that hold particles and a box: of ASE, MDAnalysis, pynbody and yt, and kith.Frame."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Optional

import numpy as np

from ._box import Box
from ._io import Frame


def resolve(x: Any, box: Any) -> tuple[Any, Any]:
    """Return coordinates and box of an object that holds both; others are returned as they are.

    A box that the caller gives goes before that of the object.
    """
    if isinstance(x, Frame):
        return x.positions, x.box if box is None else box
    reader = _READERS.get(type(x).__module__.partition(".")[0])
    found = reader(x) if reader else None
    if found is None:
        return x, box
    return found[0], found[1] if box is None else box


def names_of(x: Any) -> Any:
    """Return the names of the species of an object that holds particles; None: it has none."""
    if isinstance(x, Frame):
        return x.elements if x.species is not None else None
    where = type(x).__module__.partition(".")[0]
    if where == "ase" and hasattr(x, "get_chemical_symbols"):
        return np.array(x.get_chemical_symbols())
    if where == "MDAnalysis":
        atoms = getattr(x, "atoms", x)
        names = getattr(atoms, "elements", None)
        return getattr(atoms, "names", None) if names is None else names
    return None


def _ase(x: Any) -> Optional[tuple[Any, Optional[Box]]]:
    if not hasattr(x, "positions") or not hasattr(x, "cell"):
        return None
    return x.positions, Box.from_ase(x)


def _mdanalysis(x: Any) -> Optional[tuple[Any, Optional[Box]]]:
    atoms = getattr(x, "atoms", x)
    if not hasattr(atoms, "positions"):
        return None
    return atoms.positions, mdanalysis_box(getattr(x, "dimensions", None))


def mdanalysis_box(dimensions: Any) -> Optional[Box]:
    """Return a box from lengths and angles [degree] as MDAnalysis gives them; None: no box."""
    if dimensions is None or not np.any(dimensions[:3]):
        return None
    from MDAnalysis.lib.mdamath import triclinic_vectors
    cell = np.asarray(triclinic_vectors(dimensions), dtype=np.float64)
    if not cell.any():
        raise ValueError(f"the box {list(map(float, dimensions))} of MDAnalysis is no box")
    return Box(cell, np.asarray(dimensions[:3]) > 0)


def _pynbody(x: Any) -> Optional[tuple[Any, Optional[Box]]]:
    if not hasattr(x, "properties"):  # an array with a unit: what it is
        return None
    size = x.properties.get("boxsize")
    positions = x["pos"]
    if size is not None and hasattr(size, "in_units"):  # the box has a unit of its own
        size = size.in_units(positions.units, **x.conversion_context())
    return np.asarray(positions), Box(float(size)) if size else None


def _yt(x: Any) -> Optional[tuple[Any, Optional[Box]]]:
    ds = getattr(x, "ds", None)
    if ds is None or not hasattr(x, "keys"):  # an array with a unit: what it is
        return None
    positions = np.asarray(x["all", "particle_position"].to("code_length"))
    width = np.asarray(ds.domain_width.to("code_length"), dtype=np.float64)
    origin = np.asarray(ds.domain_left_edge.to("code_length"), dtype=np.float64)
    return positions, Box(width, list(ds.periodicity), origin)


_READERS = {"ase": _ase, "MDAnalysis": _mdanalysis, "pynbody": _pynbody, "yt": _yt}


def is_universe(x: Any) -> bool:
    """Return whether an object has a trajectory of MDAnalysis."""
    return type(x).__module__.partition(".")[0] == "MDAnalysis" and hasattr(x, "universe")


def mdanalysis_frames(x: Any, frames: Any) -> Iterator[Frame]:
    """Yield the frames of the trajectory of a Universe or an AtomGroup of MDAnalysis."""
    atoms = x.atoms
    if isinstance(frames, str):
        parts = [int(part) if part else None for part in frames.split(":")]
        frames = slice(*parts) if len(parts) > 1 else parts[0]
    if isinstance(frames, (int, np.integer)):
        frames = slice(int(frames), int(frames) + 1 or None)
    names = getattr(atoms, "elements", None)
    if names is None:
        names = getattr(atoms, "names", None)
    unique, species = (np.unique(names, return_inverse=True) if names is not None
                       else (np.array([]), None))
    for step in atoms.universe.trajectory[frames or slice(None)]:
        yield Frame(
            positions=atoms.positions.copy(), box=mdanalysis_box(step.dimensions),
            velocities=atoms.velocities.copy() if step.has_velocities else None,
            forces=atoms.forces.copy() if step.has_forces else None,
            masses=getattr(atoms, "masses", None), species=species,
            names=[str(name) for name in unique], index=int(step.frame), time=float(step.time),
            unit="A", units={"length": "A"}, format="MDAnalysis",
            path=str(getattr(atoms.universe.trajectory, "filename", "") or ""))
