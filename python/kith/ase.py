# SPDX-License-Identifier: BSD-3-Clause
"""Neighbour lists of ase.Atoms, as ase.neighborlist returns them."""
from __future__ import annotations

from typing import Any, Optional

import numpy as np

from ._box import Box
from ._context import Context
from ._pairs import pairs

__all__ = ["neighbor_list"]


def neighbor_list(quantities: str, a: Any, cutoff: Any, self_interaction: bool = False, *,
                  ctx: Optional[Context] = None) -> Any:
    """Find the neighbours of each atom: the function of this name of ase.neighborlist.

    Parameters
    ----------
    quantities : str
        What to return, in this order: "i" and "j" the atoms, "d" distances, "D" vectors, "S" the
        image of j, so that D = positions[j] - positions[i] + S.dot(cell).
    a : ase.Atoms
    cutoff : float, dict or sequence
        The radius; radii by pairs of elements, {("H", "O"): 1.6, ("C", "C"): 1.85}; or a radius of
        each atom, where two are neighbours whose spheres overlap.
    self_interaction : bool, optional
        Return each atom as a neighbour of itself.

    Returns
    -------
    array or tuple of arrays
        Sorted by i; i and j are of int64. Neighbours are nearer than the radius, as in ASE; those
        at the radius itself depend on the last bit of their distance.

    Examples
    --------
    >>> from ase.build import bulk  # doctest: +SKIP
    >>> i, d = kith.ase.neighbor_list("id", bulk("Cu"), 3.0)  # doctest: +SKIP
    >>> len(i), d.max().round(3)  # doctest: +SKIP
    (12, 2.553)
    """
    if not quantities or any(letter not in "ijdDS" for letter in quantities):
        raise ValueError(f"quantities is {quantities!r}; it may have the letters ijdDS")
    positions = np.asarray(a.positions)
    largest = _largest(cutoff, a)
    if not len(positions) or not largest > 0:
        found = _empty()
    else:
        found = dict(zip("ijdDS", pairs(positions, box=Box.from_ase(a), want="ijdDS", full=True,
                                        sort=True, index=np.int64, ctx=ctx,
                                        **_rules(cutoff, largest, a))))
        if self_interaction:
            found = _with_itself(found, len(positions))
        found = _nearer(found, cutoff, a)
    result = tuple(found[letter] for letter in quantities)
    return result[0] if len(result) == 1 else result


def _empty() -> dict[str, Any]:
    return {"i": np.empty(0, np.int64), "j": np.empty(0, np.int64), "d": np.empty(0),
            "D": np.empty((0, 3)), "S": np.empty((0, 3), np.int32)}


def _by_numbers(cutoff: dict[Any, float]) -> dict[tuple[int, int], float]:
    """Return radii by pairs of atomic numbers, in both orders."""
    from ase.data import atomic_numbers
    made = {}
    for pair, radius in cutoff.items():
        a, b = (int(atomic_numbers[one]) if isinstance(one, str) else int(one) for one in pair)
        made[a, b] = made[b, a] = float(radius)
    return made


def _table(cutoff: dict[Any, float], atoms: Any) -> np.ndarray[Any, Any]:
    """Return radii [number][number] by atomic numbers; 0: no pairs. Elements may be absent."""
    pairs = _by_numbers(cutoff)
    most = max(np.max(atoms.numbers, initial=0), *(number for pair in pairs for number in pair))
    table = np.zeros((most + 1, most + 1))
    for pair, radius in pairs.items():
        table[pair] = radius
    return table


def _largest(cutoff: Any, atoms: Any) -> float:
    """Return the radius that all neighbours are within."""
    if isinstance(cutoff, dict):
        return max(_by_numbers(cutoff).values(), default=0.0)
    if np.ndim(cutoff) == 0:
        return float(cutoff)
    radii = np.asarray(cutoff, dtype=float)
    if radii.shape != (len(atoms),):
        raise ValueError(f"cutoff has the shape {radii.shape}; expected a radius of each of "
                         f"{len(atoms)} atoms")
    return 2 * float(radii.max(initial=0.0))


def _rules(cutoff: Any, largest: float, atoms: Any) -> dict[str, Any]:
    """Return the arguments of pairs() that list all pairs at the radius for them, or nearer."""
    if isinstance(cutoff, dict):
        return {"cutoff": _table(cutoff, atoms), "species": np.asarray(atoms.numbers)}
    if np.ndim(cutoff) == 0:
        return {"cutoff": largest}
    return {"cutoff": None, "radii": np.asarray(cutoff, dtype=float), "rule": "sum"}


def _nearer(found: dict[str, Any], cutoff: Any, atoms: Any) -> dict[str, Any]:
    """Keep the pairs that are nearer than the radius for them."""
    i, j, d = found["i"], found["j"], found["d"]
    if isinstance(cutoff, dict):
        numbers = np.asarray(atoms.numbers)
        near = d < _table(cutoff, atoms)[numbers[i], numbers[j]]
    elif np.ndim(cutoff) == 0:
        near = d < float(cutoff)
    else:
        radii = np.asarray(cutoff, dtype=float)
        near = d < radii[i] + radii[j]
    return found if near.all() else {letter: one[near] for letter, one in found.items()}


def _with_itself(found: dict[str, Any], n: int) -> dict[str, Any]:
    """Add each atom as a neighbour of itself."""
    every = np.arange(n)
    more = {"i": every, "j": every, "d": np.zeros(n), "D": np.zeros((n, 3)),
            "S": np.zeros((n, 3), found["S"].dtype)}
    order = np.argsort(np.concatenate([found["i"], every]), kind="stable")
    return {letter: np.concatenate([one, more[letter]])[order] for letter, one in found.items()}
