# SPDX-License-Identifier: BSD-3-Clause
"""Neighbour lists."""
from __future__ import annotations

import ctypes as C
from typing import Any, NamedTuple, Optional

import numpy as np

from . import _abi
from ._arrays import (INT32 as _INT32, INT64 as _INT64, Owned, coordinates, is_wide, narrow,
                      no_gradient, of_one_memory, over, writable)
from ._batch import Systems, filled, systems
from ._box import Box, as_box, dimensions
from ._context import SMALL, CapacityError, Context, context
from ._kinds import NUMPY, DeviceArray, Kind, Memory, kind_of
from ._lib import library
from ._matrix import matrix
from ._numbers import real
from ._out import Expected, checked, outputs
from ._rows import EXTRAS
from ._rules import Rules, ruled, rules_of
from ._sources import resolve

_FIELD = {"i": "i", "j": "j", "o": "offsets", "d": "distances", "D": "vectors", "S": "shifts"}
_FEW = 4096  # pairs: a list up to this size is copied out of memory that the context keeps


class _Plan(NamedTuple):
    """What a list holds: checked once for each combination of arguments."""

    want: str
    options: _abi.PairsOptions  # shared by calls; one that needs others changes a copy


_plans: dict[Any, _Plan] = {}


def _plan(want: Optional[str], full: Any, layout: Any, sort: Any, has_layout: bool = True) -> _Plan:
    """Return the plan of a list, made if it is the first of its kind. Messages name the layout if
    the call has one."""
    if layout not in ("ij", "csr"):
        raise ValueError(f"layout is {layout!r}; it may be 'ij', 'csr' or 'matrix'")
    letters = "ijdDS" if layout == "ij" else "ojdDS"
    asked, want = want, letters[:2] if want is None else want
    if not isinstance(want, str) or not want or any(letter not in letters for letter in want):
        where = f"with layout {layout!r} " if has_layout else ""
        raise ValueError(f"want is {want!r}; {where}it may have the letters {letters}")
    key = asked, bool(full), layout, bool(sort)
    made = _plans.get(key)
    if made is None:
        options = _abi.PairsOptions()
        library().kith_pairs_options_init_sized(C.byref(options), C.sizeof(options))
        options.full, options.sorted = bool(full), bool(sort)
        options.layout = _abi.CSR if layout == "csr" else _abi.IJ
        for letter, extra in EXTRAS.items():
            options.extras |= extra if letter in want else 0
        made = _Plan(want, options)
        if len(_plans) < 1000:
            _plans[key] = made
    return made


def list_options(want: Optional[str], full: Any, sort: Any) -> tuple[str, _abi.PairsOptions]:
    """Return the letters of a list of pairs (i, j), and its options, which are shared by calls: not
    to be changed."""
    plan = _plan(want, full, "ij", sort, has_layout=False)
    return plan.want, plan.options


def _against(options: _abi.PairsOptions, against: Any, dim: int,
             like: Memory) -> tuple[_abi.PairsOptions, Memory, _abi.Points]:
    """Return a copy of the options with a second set, and what must live as long as they do."""
    others, kept = of_one_memory(against, dim, like)
    made = _abi.PairsOptions.from_buffer_copy(options)
    made.against = C.pointer(others)
    return made, kept, others


def _batched(options: _abi.PairsOptions, many: Systems,
             dim: int) -> tuple[_abi.PairsOptions, Any]:
    """Return a copy of the options with a batch, and what must live as long as they do."""
    struct, lives = filled(many, dim)
    made = _abi.PairsOptions.from_buffer_copy(options)
    made.batch = C.pointer(struct)
    return made, (struct, lives)


class _List(Owned):
    """A list of pairs whose arrays the library allocates."""

    def __init__(self, on: Context, memory: int) -> None:
        super().__init__(_abi.Pairs(memory=memory), library().kith_pairs_free,
                         on if memory else None)
        self.at = C.byref(self.struct)
        self._seen: dict[str, tuple[Any, Any, Any]] = {}  # by letter: place, type, array

    def whole(self, letter: str, real_type: Any) -> np.ndarray[Any, Any]:
        """Return an array of the list in host memory, as long as the list."""
        found, width = self.struct, 3 if letter in "DS" else 0
        n = found.rows + 1 if letter == "o" else found.n
        dtype = _INT64 if letter == "o" else real_type if letter in "dD" else _INT32
        return self.view(getattr(found, _FIELD[letter]), (n, width) if width else (n,), dtype)

    def copy(self, letter: str, real_type: Any) -> np.ndarray[Any, Any]:
        """Return a copy of an array of a short list, through a view that later lists use again."""
        found = self.struct
        at = getattr(found, _FIELD[letter])
        if not at or letter == "o":
            return self.whole(letter, real_type).copy()
        seen = self._seen.get(letter)
        if seen is None or seen[0] != (at, found.capacity) or seen[1] is not real_type:
            room, width = found.capacity, 3 if letter in "DS" else 0
            dtype = real_type if letter in "dD" else _INT32
            flat = over(at, room * max(width, 1), dtype)
            seen = ((at, room), real_type, flat.reshape(room, width) if width else flat)
            self._seen[letter] = seen
        copied: np.ndarray[Any, Any] = seen[2][:found.n].copy()
        return copied

    @property
    def short(self) -> bool:
        """Whether the list is worth a copy, so that its memory can be used again."""
        return bool(self.struct.n <= _FEW and self.struct.capacity <= 8 * _FEW)

    def keep(self, on: Context) -> None:
        """Let the next small list of the context use this memory again. No array may view it."""
        if self.short and len(on.spares) < 4:
            on.spares.append(self)

    def on_gpu(self, letter: str, real_type: Any, number: int) -> DeviceArray:
        """Return an array of the list in the memory of a GPU."""
        found, width = self.struct, 3 if letter in "DS" else 0
        n = found.rows + 1 if letter == "o" else found.n
        dtype = _INT64 if letter == "o" else real_type if letter in "dD" else _INT32
        return self.on_device(getattr(found, _FIELD[letter]), (n, width) if width else (n,), dtype,
                              number)


def pairs(x: Any, cutoff: Any = None, box: Any = None, want: Optional[str] = None, *,
          full: bool = False, layout: str = "ij", sort: bool = False, against: Any = None,
          batch: Any = None, index: Any = np.int32, width: Optional[int] = None, fill: int = -1,
          out: Any = None, count: Any = None, ctx: Optional[Context] = None, species: Any = None,
          radii: Any = None, rule: Optional[str] = None, r_min: float = 0.0,
          molecules: Any = None, bonds: Any = None, active: Any = None) -> Any:
    """Find all pairs of particles within a radius, periodic images included.

    Parameters
    ----------
    x : array [n][3] or [n][2]
        Coordinates, float32 or float64; pairs are decided in this precision. NumPy, PyTorch, CuPy,
        JAX, or anything with `__array_interface__`, `__cuda_array_interface__` or `__dlpack__`. Or
        a Frame, ase.Atoms, an AtomGroup of MDAnalysis, data of pynbody or yt, with their box.
    cutoff : float, dict or array [species][species]
        The radius, in the unit of the coordinates; r <= cutoff is a pair. Radii by pairs of
        species, {("Si", "O"): 1.8, ("O", "O"): 2.0}, in either order: pairs of others are not
        listed. Or radii of all species by name, {"Si": 1.1, "O": 0.7}, whose sums are the radii
        of pairs. A name that no particle has is refused; with an object of ASE symbols may be
        absent, and atomic numbers stand for them. Or a table by numbers of species. The radius, or
        at least one of a table, is above 0. With `radii` it may be left out; else no pair is
        further apart than it.
    box : Box, float or array, optional
        The box, or what Box takes as its cell, periodic on all axes. Default: the box of x,
        else open space.
    want : str, optional
        What to return, a letter each, as in ASE: "i" and "j" the particles, "d" distances, "D"
        vectors r_j + S.cell - r_i, "S" the image S of j; with layout "csr" "o", offsets, in place
        of "i"; with layout "matrix" "n", numbers of neighbours, in place of "i". Default: "ij",
        with layout "csr" "oj", with layout "matrix" "jn".
    full : bool, optional
        Hold (i, j, S) and (j, i, -S); default: each pair once, i <= j (i = j: with an image of
        itself).
    layout : {"ij", "csr", "matrix"}, optional
        "csr": neighbours of i are j[offsets[i]:offsets[i + 1]]. "matrix", always a full list:
        neighbours of i are j[i, :n[i]], in arrays of a fixed shape.
    sort : bool, optional
        Sort by i, then j, then S from its last component to its first.
    against : array [m][3], optional
        Pairs of i in x with j in this set, of the type of x; always a full list.
    batch : array [systems + 1] of integers, optional
        Many systems in one call: the first particle of each, and their number. Pairs are within a
        system; the result is that of a call for each system, with indices in the whole x. With
        `against` a pair of arrays. Instead x (and against) may be a list of arrays, one for each
        system. `box` may then be a box for each: a list of boxes, cells [dim][dim] or None, or an
        array [systems][dim][dim]. Lengths, or the rows of one cell, that are as many as the systems
        are refused, as they could be either: kith.Box(lengths) is one box for all, and
        [kith.Box(length) for length in lengths] is one for each.
    index : {numpy.int32, numpy.int64}, optional
        The type of i and j; int32 is not copied.
    width : int, optional
        With layout "matrix", entries of a row. Default: the most neighbours of a particle, or the
        width of `out`.
    fill : int, optional
        With layout "matrix", j of the entries behind the neighbours of a row; len(x) is usual in
        JAX. There d is inf, and D and S are 0.
    out : tuple of arrays, optional
        Arrays to write to, in the order of `want`, of the types that would be returned: i, j and d
        [capacity], D and S [capacity][dim], offsets [n + 1]; with layout "matrix" those below. What
        is returned is their beginning.
    count : array [1] of int64, optional
        With `out`, on a GPU: receives the number of pairs, and nothing waits for the GPU. What is
        returned is `out`, whole. Where the number is larger than the capacity, or is negative (a
        status of kith.h: -2 where a coordinate is not finite), the arrays are undefined. A call so
        can be captured in a CUDA graph, after one call with equal arguments on its stream. With
        layout "matrix" [3]: the number of pairs, the most neighbours of a particle, and how many
        particles have more than `width`; the arrays then hold what fits.
    ctx : Context, optional
        Default: this thread's own; for x on a GPU one on that GPU and x's stream.
    species : array [n], optional
        The species of each particle, for a cutoff by species: names or numbers as in the dict, or
        numbers of rows of the table. Default: names of elements, where x holds them. With
        `against` a pair of arrays, as radii and molecules.
    radii : array [n], optional
        A radius h of each particle, of the type of x and in its memory.
    rule : {"gather", "scatter", "either", "both", "sum"}, optional
        Needed with radii: a pair has r <= h_i; r <= h_j; one of these, which is what the command
        does without --radii-rule; both; or r <= h_i + h_j. "gather"
        and "scatter" are for full lists. Radii may span any range: the cost is that of the pairs.
    r_min : float, optional
        Pairs nearer than this are left out.
    molecules : array [n] of integers, optional
        Pairs of one molecule are left out; a negative number is no molecule.
    bonds : array [bonds][2] of integers, optional
        Pairs that are left out; with `against` the second of each is a particle of that.
    active : array [n] of bool, optional
        Of full lists: the rows of other particles are empty.

    Returns
    -------
    array or tuple of arrays
        What `want` names, in its order: i, j [p]; d [p]; D [p][dim]; S [p][dim]; offsets [n + 1].
        With layout "matrix": j [n][width]; n [n]; d [n][width]; D and S [n][width][dim].
        They are arrays of the library whose array x is, and on its device.

    Raises
    ------
    ValueError
        An argument makes no sense, or a coordinate is not finite.
    CapacityError
        `out` is too small; its attribute `needed` is the capacity that the list needs. With layout
        "matrix": a particle has more than `width` neighbours; `needed` is the most. `out` then
        holds the first ones, and n the number of all.
    MemoryError
        The list does not fit into memory.

    Examples
    --------
    >>> x = np.array([[0.5, 0, 0], [9.5, 0, 0], [5, 0, 0]])
    >>> i, j, d, S = kith.pairs(x, 1.5, kith.Box(10.0), "ijdS")
    >>> i, j, d
    (array([0], dtype=int32), array([1], dtype=int32), array([1.]))
    >>> S
    array([[-1,  0,  0]], dtype=int32)

    Molecular dynamics reuses its arrays:

    >>> room = np.empty(100, np.int32), np.empty(100, np.int32)
    >>> i, j = kith.pairs(x, 1.5, 10.0, out=room)
    >>> i.base is room[0], len(i)
    (True, 1)

    Two systems in one call:

    >>> kith.pairs([x, x[:2]], 1.5, [kith.Box(10.0), kith.Box(20.0)])
    (array([0], dtype=int32), array([1], dtype=int32))

    Cutoffs by pair of species, and a radius for each particle:

    >>> kith.pairs(x, {("O", "H"): 1.5}, 10.0, species=["O", "H", "H"])
    (array([0], dtype=int32), array([1], dtype=int32))
    >>> kith.pairs(x, box=10.0, radii=np.array([0.5, 4.5, 1.0]), rule="gather", full=True,
    ...            sort=True)
    (array([1, 1], dtype=int32), array([0, 2], dtype=int32))

    Arrays of a fixed shape, whose rows end in `fill`:

    >>> j, n = kith.pairs(x, 1.5, 10.0, layout="matrix", width=2, fill=3)
    >>> j, n
    (array([[1, 3],
           [0, 3],
           [3, 3]], dtype=int32), array([1, 1, 0], dtype=int32))
    """
    if layout == "matrix":
        x, box, against, many = systems(x, box, against, batch)
        return matrix(x, Rules(cutoff, species, radii, rule, r_min, molecules, bonds, active), box,
                      want, sort, against, many, index, width, fill, out, count, ctx)
    if width is not None or fill != -1:
        raise ValueError("width and fill are of layout 'matrix' alone")
    try:
        plan = _plans[want, full, layout, sort]
    except (KeyError, TypeError):
        plan = _plan(want, full, layout, sort)
    many, source = None, x
    if batch is not None or type(x) in (list, tuple):
        x, box, against, many = systems(x, box, against, batch)
    if type(x) is not np.ndarray:
        x, box = resolve(x, box)
    dim = dimensions(x, box)
    space = box if type(box) is Box else as_box(box, dim)
    kind = NUMPY if type(x) is np.ndarray else kind_of(x)
    if kind is not NUMPY:
        no_gradient(x, plan.want, "use kith.torch.radius_graph, or x.detach()")
    points, kept = coordinates(x, "x", dim, device=True)
    options, others = plan.options, None
    if against is not None:
        options, *others = _against(options, against, dim, kept)
    if many is not None:
        options, lives = _batched(options, many, dim)
    wide = index is not np.int32 and is_wide(index)
    rules = rules_of(cutoff, species, radii, rule, r_min, molecules, bonds, active)
    if rules is not None:
        options, cutoff, held = ruled(options, rules, source, x, kept,
                                      None if others is None else others[0])
    else:
        cutoff = real(cutoff, "cutoff")
    on = context(ctx, kept)
    brief = len(kept) <= SMALL and (others is None or len(others[0]) <= SMALL) and (
        cutoff <= space.reach) and many is None and rules is None
    at_box = None if many and many.boxes is not None else C.byref(space.struct())
    if count is not None:
        if out is None or not isinstance(kept, DeviceArray):
            raise ValueError("count needs out, and x in the memory of a GPU")
        return _enqueue(out, count, plan.want, kept, others, dim, wide, on,
                        (C.byref(points), at_box, cutoff, C.byref(options)))
    if out is not None:
        return _into(out, plan.want, kept, points.x or 0, others, dim, wide, brief,
                     on, (C.byref(points), at_box, cutoff, C.byref(options)))
    on_device = isinstance(kept, DeviceArray)
    if isinstance(kept, DeviceArray) and kind.in_order and on.stream == kept.stream:
        options = _abi.PairsOptions.from_buffer_copy(options)
        options.queued = 1
    try:
        found = _List(on, 1) if on_device else on.spares.pop()
    except IndexError:
        found = _List(on, 0)
    on.call("kith_pairs_find", C.byref(points), at_box, cutoff, C.byref(options), found.at,
            brief=brief)
    result = _result(found, plan.want, kind, kept, dim, wide, on)
    return result[0] if len(result) == 1 else result


def _result(found: _List, want: str, kind: Kind, kept: Memory, dim: int, wide: bool,
            on: Context) -> tuple[Any, ...]:
    """Return what `want` names of a list. A short list is copied, and its memory used again."""
    dtype = kept.dtype
    if isinstance(kept, DeviceArray):
        made = [kind.give(found.on_gpu(letter, dtype, kept.number)) for letter in want]
        return tuple(narrow(one, letter, dim, wide) for one, letter in zip(made, want))
    if found.short:
        arrays = [found.copy(letter, dtype) for letter in want]
        found.keep(on)
    else:
        arrays = [found.whole(letter, dtype) for letter in want]
    if wide:
        arrays = [array.astype(_INT64) if letter in "ij" else array
                  for array, letter in zip(arrays, want)]
    if dim == 2:
        arrays = [array[:, :2] if letter in "DS" else array
                  for array, letter in zip(arrays, want)]
    return tuple(arrays) if kind is NUMPY else tuple(kind.give(array) for array in arrays)


def _into(out: Any, want: str, kept: Memory, at: int, others: Any, dim: int, wide: bool,
          brief: bool, on: Context, arguments: tuple[Any, ...]) -> Any:
    """Write a list into the caller's arrays. Return their beginning."""
    targets = outputs(out, want)
    addresses = None if others else _plain(targets, want, kept, at, dim, wide)
    room: list[Any] = targets
    if addresses is None:
        room = _checked(targets, want, kept, others, dim, wide)
        addresses = [one.address if isinstance(one, DeviceArray)
                     else one.__array_interface__["data"][0] for one in room]
    rows = len(kept) + 1
    capacity = _capacity(room, want)
    on_device = isinstance(kept, DeviceArray)
    if _is_direct(want, dim, wide):
        found = _struct(addresses, want, capacity, on_device)
        on.call("kith_pairs_fill", *arguments, C.byref(found), needed=lambda: int(found.n),
                brief=brief)
        n = found.n
    elif on_device:
        raise _not_direct(want, dim, wide)
    else:
        made = on.spares.pop() if on.spares else _List(on, 0)
        on.call("kith_pairs_find", *arguments, made.at, brief=brief)
        n = made.struct.n
        if n > capacity:
            raise CapacityError(f"the list has {n} pairs, the arrays have room for {capacity}",
                                int(n))
        for one, letter in zip(room, want):
            whole = made.whole(letter, kept.dtype)
            one[:len(whole)] = whole[:, :dim] if letter in "DS" else whole
        made.keep(on)
    result = tuple([target[:rows if letter == "o" else n]
                    for target, letter in zip(targets, want)])
    return result[0] if len(result) == 1 else result


def _capacity(room: list[Any], want: str) -> int:
    """Return how many pairs the caller's arrays can hold."""
    return min([len(one) for one, letter in zip(room, want) if letter != "o"], default=2 ** 62)


def _is_direct(want: str, dim: int, wide: bool) -> bool:
    """Return whether the library can write all that is wanted into the caller's arrays."""
    return (dim == 3 and not wide and len(set(want)) == len(want) and "j" in want
            and ("i" in want or "o" in want))


def _not_direct(want: str, dim: int, wide: bool) -> ValueError:
    """Return the error of a list that the library cannot write into arrays on a GPU."""
    return ValueError(f"out with want {want!r}, {dim} dimensions and index of {64 if wide else 32} "
                      "bits: on a GPU expected i or offsets, and j, of 32 bits in three dimensions")


def _struct(addresses: list[int], want: str, capacity: int, on_device: bool) -> _abi.Pairs:
    """Return the struct of a list that is written into the caller's arrays."""
    found = _abi.Pairs(capacity=capacity, memory=int(on_device))
    for address, letter in zip(addresses, want):
        setattr(found, _FIELD[letter], address)
    return found


def _enqueue(out: Any, count: Any, want: str, kept: DeviceArray, others: Any, dim: int, wide: bool,
             on: Context, arguments: tuple[Any, ...]) -> Any:
    """Queue the search of a list, written into the caller's arrays on a GPU. Return them."""
    targets = outputs(out, want)
    if not _is_direct(want, dim, wide):
        raise _not_direct(want, dim, wide)
    room = _checked(targets, want, kept, others, dim, wide)
    inputs = [kept, *room] + ([others[0]] if others else [])
    (number,) = checked([count], [Expected("count", _INT64, "1", (), 1, "numbers")], inputs,
                        ["count"])
    found = _struct([one.address for one in room], want, _capacity(room, want), True)
    on.call("kith_pairs_enqueue", *arguments, C.byref(found), number.address)
    return targets[0] if len(targets) == 1 else tuple(targets)


def _type_of(letter: str, kept: Memory, wide: bool) -> Any:
    """Return the type of an array of a list."""
    if letter in "dD":
        return kept.dtype
    return _INT64 if letter == "o" or wide and letter in "ij" else _INT32


def _plain(targets: list[Any], want: str, kept: Memory, at: int, dim: int,
           wide: bool) -> Optional[list[int]]:
    """Return the addresses of the caller's arrays, if all of them are arrays of NumPy that results
    can be written to. None: _checked() says what is wrong, if anything is. `at` is the address of
    the coordinates."""
    if type(kept) is not np.ndarray or not kept.flags.c_contiguous:
        return None
    used, addresses = [(at, at + kept.nbytes)], []
    for target, letter in zip(targets, want):
        if (type(target) is not np.ndarray or target.dtype is not _type_of(letter, kept, wide)
                or not target.flags.carray or not target.size):
            return None
        shape = target.shape
        if letter in "DS":
            if len(shape) != 2 or shape[1] != dim:
                return None
        elif len(shape) != 1 or letter == "o" and shape[0] <= len(kept):
            return None
        begin = writable(target)
        end = begin + target.nbytes
        for low, high in used:
            if begin < high and low < end:
                return None
        used.append((begin, end))
        addresses.append(begin)
    return addresses


def _checked(targets: list[Any], want: str, kept: Memory, others: Any, dim: int,
             wide: bool) -> list[Any]:
    """Return the caller's arrays as arrays of NumPy or of a GPU, checked."""
    expected = [
        Expected(letter, _type_of(letter, kept, wide), "n + 1" if letter == "o" else "capacity",
                 (dim,) if letter in "DS" else (), len(kept) + 1 if letter == "o" else 0, "offsets")
        for letter in want]
    return checked(targets, expected, [kept] + ([others[0]] if others else []))


def count_pairs(x: Any, cutoff: Any = None, box: Any = None, *, full: bool = False,
                against: Any = None, batch: Any = None, neighbours: bool = False,
                ctx: Optional[Context] = None, species: Any = None, radii: Any = None,
                rule: Optional[str] = None, r_min: float = 0.0, molecules: Any = None,
                bonds: Any = None, active: Any = None) -> Any:
    """Count pairs, storing none. Parameters as in `pairs`.

    Returns
    -------
    int, or (int, array [n] of int64)
        The pairs in the list; with `neighbours` also the entries of each i in the full list, which
        come through the host where x is on a GPU.

    Examples
    --------
    >>> kith.count_pairs(np.array([[0., 0, 0], [0, 0, 1], [0, 0, 2]]), 1.0)
    2
    """
    source = x
    x, box, against, many = systems(x, box, against, batch)
    x, box = resolve(x, box)
    dim = dimensions(x, box)
    space = as_box(box, dim)
    points, kept = coordinates(x, "x", dim, device=True)
    options, others = _plan("ij", full, "ij", False).options, None
    if against is not None:
        options, *others = _against(options, against, dim, kept)
    if many is not None:
        options, lives = _batched(options, many, dim)
    n = C.c_int64()
    rules = rules_of(cutoff, species, radii, rule, r_min, molecules, bonds, active)
    if rules is not None:
        options, cutoff, held = ruled(options, rules, source, x, kept,
                                      None if others is None else others[0])
    else:
        cutoff = real(cutoff, "cutoff")
    brief = len(kept) <= SMALL and (others is None or len(others[0]) <= SMALL) and (
        cutoff <= space.reach) and many is None and rules is None
    at_box = None if many and many.boxes is not None else C.byref(space.struct())
    each = np.empty(len(kept), np.int64) if neighbours else None
    context(ctx, kept).call("kith_pairs_count", C.byref(points), at_box, cutoff,
                            C.byref(options), C.byref(n),
                            None if each is None else each.ctypes.data, brief=brief)
    if each is None:
        return n.value
    return n.value, kind_of(x).put(each, getattr(kept, "number", None))
