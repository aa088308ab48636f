# SPDX-License-Identifier: BSD-3-Clause
"""Which pairs within the cutoff a list holds: cutoffs by pair of species, radii, exclusions; and
which neighbours a particle has by radii."""
from __future__ import annotations

import ctypes as C
from typing import Any, NamedTuple, Optional, Union

import numpy as np

from . import _abi
from ._arrays import address, column_like, fetched
from ._kinds import DeviceArray, Kind, Memory, kind_of, take
from ._numbers import real
from ._sources import names_of

_NAMED = "'gather', 'scatter', 'either', 'both' or 'sum'"
_RULES = {"gather": 1, "scatter": 2, "either": 3, "both": 4, "sum": 5}  # kith_radius_rule


class Rules(NamedTuple):
    """The arguments of a call, as they were given."""

    cutoff: Any
    species: Any
    radii: Any
    rule: Any
    r_min: Any
    molecules: Any
    bonds: Any
    active: Any

    @property
    def by_species(self) -> bool:
        """Whether cutoffs are of pairs of species: a dict, or a table."""
        return isinstance(self.cutoff, dict) or (
            isinstance(self.cutoff, (np.ndarray, list)) and np.ndim(self.cutoff) == 2)

    @property
    def given(self) -> bool:
        """Whether a list differs from that of one cutoff."""
        return (self.cutoff is None or self.by_species or self.species is not None
                or self.radii is not None or self.rule is not None or self.molecules is not None
                or self.bonds is not None or self.active is not None or bool(self.r_min))


def rules_of(cutoff: Any, species: Any, radii: Any, rule: Any, r_min: Any, molecules: Any,
             bonds: Any, active: Any) -> Optional[Rules]:
    """Return the rules that arguments give; None, without delay, where they give none."""
    if (type(cutoff) is float and species is None and radii is None and rule is None and not r_min
            and molecules is None and bonds is None and active is None):
        return None
    rules = Rules(cutoff, species, radii, rule, r_min, molecules, bonds, active)
    return rules if rules.given else None


class _Sets(NamedTuple):
    """The sets of particles that rules are about."""

    source: Any  # what the caller gave as x: names of its species are taken from it
    kept: Memory  # the coordinates
    n: int
    m: Optional[int]  # particles of the second set; None: there is one set
    kind: Kind

    def two(self, values: Any, name: str) -> tuple[Any, Any]:
        """Return an argument for both sets."""
        if values is None or self.m is None:
            return values, None
        if not isinstance(values, (tuple, list)) or len(values) != 2:
            raise ValueError(f"{name} with against: expected a pair of arrays, of x and of against")
        return values[0], values[1]

    def put(self, array: np.ndarray[Any, Any]) -> Memory:
        """Return an array in host memory in the memory of the coordinates."""
        if not isinstance(self.kept, DeviceArray):
            return array
        moved = self.kind.put(array, self.kept.number)
        made = take(moved, "an array")
        if not isinstance(made, DeviceArray):
            raise TypeError("arrays of this library cannot be copied to the GPU")
        return made


def ruled(options: _abi.PairsOptions, rules: Rules, source: Any, x: Any, kept: Memory,
          others: Any) -> tuple[_abi.PairsOptions, float, Any]:
    """Return a copy of the options with the rules, the cutoff of the call, and what must live as
    long as they do. `source` is x as the caller gave it, `others` the second set."""
    made = _abi.PairsOptions.from_buffer_copy(options)
    sets = _Sets(source, kept, len(kept), None if others is None else len(others), kind_of(x))
    full = bool(made.full or made.against or made.layout == _abi.MATRIX)
    if not full and (rules.rule in ("gather", "scatter") or rules.active is not None):
        raise ValueError(("active" if rules.active is not None else f"rule {rules.rule!r}")
                         + " needs full=True: (i, j) may be listed where (j, i) is not")
    lives: list[Any] = []
    cutoff = _cutoffs(made, rules, sets, lives)
    _radii(made, rules.radii, rules.rule, sets, lives)
    made.r_min = real(rules.r_min, "r_min") if rules.r_min else 0.0
    for set_of, name, values in zip((sets.n, sets.m), ("molecules", "molecules_against"),
                                    sets.two(rules.molecules, "molecules")):
        array = column_like(values, set_of or 0, np.int32, name, kept)
        setattr(made, name, address(array))
        lives.append(array)
    _bonds(made, rules.bonds, sets, lives)
    _active(made, rules.active, sets, lives)
    if cutoff is None:
        if rules.radii is None:
            raise TypeError("cutoff is not given; only with radii it may be left out")
        cutoff = 0.0
    return made, cutoff, lives


def by_radii(options: _abi.NearestOptions, radii: Any, rule: Any, x: Any, kept: Memory,
             others: Any) -> list[Any]:
    """Set the radii of a search for nearest neighbours. Return what must live as long as the
    options do. `others` is the second set."""
    lives: list[Any] = []
    sets = _Sets(x, kept, len(kept), None if others is None else len(others), kind_of(x))
    _radii(options, radii, rule, sets, lives)
    return lives


def _item(value: Any) -> Any:
    """Return a name or a number of a species as Python's own."""
    return value.item() if isinstance(value, np.generic) else value


def _table(cutoff: dict[Any, Any]) -> tuple[dict[Any, int], np.ndarray[Any, Any]]:
    """Return the species that a dict of cutoffs names, by number, and the table; its last row and
    column, of zeros, are those of all other species."""
    pairs = {key: real(value, f"cutoff[{key!r}]") for key, value in cutoff.items()}
    for key, radius in pairs.items():
        if not 0 <= radius < np.inf:
            raise ValueError(f"cutoff[{key!r}] is {radius}, expected a finite number, 0 or more")
    whole = all(isinstance(key, tuple) and len(key) == 2 for key in pairs)
    if not pairs or not whole and any(isinstance(key, tuple) for key in pairs):
        raise ValueError("cutoff: expected {(a, b): radius} by pairs of species, or {a: radius}, "
                         "whose sums are the radii of pairs")
    names = sorted({_item(name) for key in pairs for name in (key if whole else (key,))}, key=str)
    index = {name: k for k, name in enumerate(names)}
    table = np.zeros((len(names) + 1, len(names) + 1))
    if whole:
        for (a, b), radius in pairs.items():
            k, other = (index[_item(a)], index[_item(b)]), pairs.get((b, a), radius)
            if other != radius:
                raise ValueError(f"cutoff of {(a, b)!r} is {radius!r}, but of {(b, a)!r} {other!r}")
            table[k] = table[k[::-1]] = radius
    else:
        radii = np.array([pairs[name] for name in names])
        table[:-1, :-1] = radii[:, None] + radii
    return index, table


def _spelt(cutoff: dict[Any, Any], source: Any) -> tuple[dict[Any, Any], set[Any]]:
    """Return a dict of cutoffs whose atomic numbers are symbols where the species are those of an
    object of ASE, and the names that are right although no particle has them: its symbols."""
    if type(source).__module__.partition(".")[0] != "ase":
        return cutoff, set()
    from ase.data import chemical_symbols as symbols

    def name(one: Any) -> Any:
        number = isinstance(one, (int, np.integer)) and 0 <= one < len(symbols)
        return symbols[one] if number else one
    return {tuple(map(name, key)) if isinstance(key, tuple) else name(key): radius
            for key, radius in cutoff.items()}, set(symbols)


def _check_names(cutoff: dict[Any, Any], found: set[Any], right: set[Any]) -> None:
    """Refuse a dict of cutoffs that names a species which no particle has, or one of radii that
    lacks a species."""
    names = {_item(name) for key in cutoff for name in (key if isinstance(key, tuple) else (key,))}
    there = ", ".join(sorted(map(repr, found)))
    wrong = sorted(map(repr, names - found - right)) if found else []
    if wrong:
        raise ValueError(f"cutoff names {wrong[0]}, which is no species; there are {there}")
    lacking = sorted(map(repr, found - names))
    if lacking and not any(isinstance(key, tuple) for key in cutoff):
        raise ValueError(f"cutoff has no radius for the species {lacking[0]}")


def _numbered(values: Any, n: int, name: str, index: dict[Any, int], sets: _Sets,
              found: set[Any]) -> Memory:
    """Return the species of a set as numbers of the table, and add them to `found`."""
    if values is None:
        raise ValueError(f"{name} is not given, but cutoff is by species")
    array = np.asarray(values) if isinstance(values, (list, tuple)) else fetched(values, name)
    if array.shape != (n,):
        raise ValueError(f"{name} has the shape {array.shape}; expected {(n,)}")
    unique, inverse = np.unique(array, return_inverse=True)
    found.update(map(_item, unique))
    numbers = np.array([index.get(_item(one), len(index)) for one in unique], np.int32)
    return sets.put(np.ascontiguousarray(numbers[inverse.reshape(-1)] if n else
                                         np.empty(0, np.int32)))


def _cutoffs(made: _abi.PairsOptions, rules: Rules, sets: _Sets,
             lives: list[Any]) -> Optional[float]:
    """Set the table of cutoffs. Return the cutoff beside it; None: there is none."""
    if not rules.by_species:
        if rules.species is not None:
            raise ValueError("species is given, but cutoff is not by pairs of species")
        return None if rules.cutoff is None else real(rules.cutoff, "cutoff")
    first, second = sets.two(rules.species, "species")
    arrays: list[Optional[Memory]]
    if isinstance(rules.cutoff, dict):
        own = rules.species is None and sets.m is None
        cutoff, right = _spelt(rules.cutoff, sets.source if own else None)
        index, table = _table(cutoff)
        first = names_of(sets.source) if own else first
        found: set[Any] = set()
        arrays = [_numbered(first, sets.n, "species", index, sets, found)]
        if sets.m is not None:
            arrays.append(_numbered(second, sets.m, "species of against", index, sets, found))
        _check_names(cutoff, found, right)
    else:
        table = np.array(rules.cutoff, np.float64, order="C")
        if table.shape[0] != table.shape[1] or not len(table):
            raise ValueError(f"cutoff has the shape {table.shape}; expected [species][species]")
        arrays = [column_like(first, sets.n, np.int32, "species", sets.kept)]
        if sets.m is not None:
            arrays.append(column_like(second, sets.m, np.int32, "species of against", sets.kept))
        if any(array is None for array in arrays):
            raise ValueError("species is not given, but cutoff is by species")
    lives += [table, *arrays]
    made.n_species, made.cutoffs = len(table), C.c_void_p(table.ctypes.data)
    made.species = address(arrays[0])
    made.species_against = address(arrays[1]) if sets.m is not None else None
    return 0.0


def _radii(made: Union[_abi.PairsOptions, _abi.NearestOptions], radii: Any, rule: Any, sets: _Sets,
           lives: list[Any]) -> None:
    """Set the radii and their rule."""
    if radii is None and rule is None:
        return
    if radii is None:
        raise ValueError(f"rule is {rule!r}, but radii are not given")
    if rule is None:
        raise ValueError("radii need a rule, which says how two radii decide: " + _NAMED)
    if rule not in _RULES:
        raise ValueError(f"rule is {rule!r}; it may be " + _NAMED)
    first, second = sets.two(radii, "radii")
    if first is None or sets.m is not None and second is None:
        raise ValueError("radii with against: expected a pair of arrays, of x and of against; "
                         "where rule does not use the radii of a set, zeros will do")
    dtype = sets.kept.dtype.newbyteorder("=") if isinstance(sets.kept, np.ndarray) else (
        sets.kept.dtype)
    arrays = [column_like(first, sets.n, dtype, "radii", sets.kept)]
    if sets.m is not None:
        arrays.append(column_like(second, sets.m, dtype, "radii of against", sets.kept))
    made.radius_rule = _RULES[rule]
    made.radii = address(arrays[0])
    made.radii_against = address(arrays[1]) if sets.m is not None else None
    lives += arrays


def _active(made: _abi.PairsOptions, active: Any, sets: _Sets, lives: list[Any]) -> None:
    """Set which particles have rows."""
    if active is None:
        return
    array = take(active, "active")
    if array.shape != (sets.n,) or array.dtype not in (np.bool_, np.uint8):
        raise ValueError(f"active has the shape {array.shape} and the type {array.dtype}; expected "
                         f"{(sets.n,)} of bool")
    if isinstance(array, DeviceArray):
        if not isinstance(sets.kept, DeviceArray) or not array.packed:
            raise TypeError("active is on a GPU: expected an array in C order, and x there too")
    else:
        array = sets.put(np.ascontiguousarray(array, bool))
    made.active = address(array)
    lives.append(array)


def _bonds(made: _abi.PairsOptions, bonds: Any, sets: _Sets, lives: list[Any]) -> None:
    """Set the bonds, given as pairs of particles, by the first particle of each."""
    if bonds is None:
        return
    array = np.asarray(bonds) if isinstance(bonds, (list, tuple)) else fetched(bonds, "bonds")
    array = array.reshape(-1, 2) if not array.size else array
    if array.ndim != 2 or array.shape[1] != 2 or array.size and array.dtype.kind not in "iu":
        raise ValueError(f"bonds has the shape {array.shape} and the type {array.dtype}; expected "
                         "integers [bonds][2]")
    if array.size and (array.min() < 0 or array[:, 0].max() >= sets.n
                       or array[:, 1].max() >= (sets.n if sets.m is None else sets.m)):
        others = "" if sets.m is None else f", and 0 to {sets.m - 1} of against"
        raise ValueError(f"bonds: they name particles {array.min()} to {array.max()}; expected 0 "
                         f"to {sets.n - 1}{others}")
    order = np.argsort(array[:, 0], kind="stable")
    partners = np.ascontiguousarray(array[order, 1], np.int32)
    offsets = np.zeros(sets.n + 1, np.int64)
    np.cumsum(np.bincount(array[:, 0].astype(np.int64), minlength=sets.n), out=offsets[1:])
    if not partners.size:
        partners = np.zeros(1, np.int32)  # not NULL
    held = [sets.put(offsets), sets.put(partners)]
    made.bond_offsets, made.bonds = address(held[0]), address(held[1])
    lives += held
