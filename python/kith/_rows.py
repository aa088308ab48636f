# SPDX-License-Identifier: BSD-3-Clause
"""Results with a row of neighbours for each particle: of nearest() and pairs(layout="matrix")."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _abi
from ._arrays import INT32, INT64, Owned, address, narrow
from ._kinds import DeviceArray, Kind, Memory
from ._out import Expected, checked, outputs

EXTRAS = {"d": _abi.DISTANCES, "D": _abi.VECTORS, "S": _abi.SHIFTS}
FIELD = {"j": "j", "n": "counts", "d": "distances", "D": "vectors", "S": "shifts"}


def extras(want: Any, of: str = "") -> int:
    """Return what the library finds beside the neighbours, for the letters of `want`. Messages
    name the function that they are `of`."""
    letters = set(want) if isinstance(want, str) else set()
    if not letters or not letters <= FIELD.keys():
        raise ValueError(f"want is {want!r}; {of}it may have the letters {''.join(FIELD)}")
    return sum([EXTRAS[letter] for letter in letters & EXTRAS.keys()])


class Rows(NamedTuple):
    """The arrays of a result."""

    want: str
    width: int  # entries of a row
    dim: int
    wide: bool  # whether j has 64 bits
    inputs: list[Memory]  # coordinates, of both sets

    def _form(self, letter: str) -> tuple[tuple[int, ...], Any]:
        """Return shape and type of an array that the library writes; vectors have three
        components."""
        rows = len(self.inputs[0])
        if letter == "n":
            return (rows,), INT32
        if letter in "DS":
            return (rows, self.width, 3), self.inputs[0].dtype if letter == "D" else INT32
        return (rows, self.width), self.inputs[0].dtype if letter == "d" else INT32

    def result(self, kind: Kind, found: Owned) -> Any:
        """Return what `want` names of a result of the library's, in the memory of the
        coordinates."""
        arrays = []
        for letter in self.want:
            at, form = getattr(found.struct, FIELD[letter]), self._form(letter)
            one = (found.on_device(at, *form, self.inputs[0].number)
                   if isinstance(self.inputs[0], DeviceArray) else found.view(at, *form))
            arrays.append(narrow(kind.give(one), letter, self.dim, self.wide))
        return arrays[0] if len(arrays) == 1 else tuple(arrays)

    def room(self, out: Any, struct: Any, needs_j: bool = True) -> Room:
        """Check the caller's arrays, and let a struct of the library's name what it writes to.

        An array that has the library's shape and type is written by the library; the others are
        copied from a temporary array."""
        want, targets, rows = self.want, outputs(out, self.want), len(self.inputs[0])
        forms = {letter: self._form(letter) for letter in want + "j"}
        expected = []
        for letter in want:
            shape, dtype = forms[letter]
            widths = (self.width, self.dim) if letter in "DS" else shape[1:]
            expected.append(Expected(letter, INT64 if letter == "j" and self.wide else dtype, "n",
                                     widths, rows, "particles"))
        arrays = checked(targets, expected, self.inputs)
        written: dict[str, Any] = {}
        for array, letter in zip(arrays, want):
            shape, dtype = forms[letter]
            if array.shape[1:] == shape[1:] and array.dtype == dtype:
                written.setdefault(letter, array)
        if struct.memory and (len(written) < len(want) or needs_j and "j" not in written):
            raise ValueError(f"out with want {want!r}, {self.dim} dimensions and index of "
                             f"{64 if self.wide else 32} bits: on a GPU expected j, of 32 bits, in "
                             "three dimensions")
        for letter, form in forms.items():
            if letter not in written and (needs_j or letter in want):
                written[letter] = np.empty(*form)
        for letter, array in written.items():
            setattr(struct, FIELD[letter], address(array))
        return Room(self, targets, arrays, written)


class Room(NamedTuple):
    """Arrays of the caller's that a result is written to."""

    rows: Rows
    targets: list[Any]  # as the caller gives them
    arrays: list[Any]  # the targets, as arrays of NumPy or of a GPU
    written: dict[str, Any]  # by letter: what the library writes to

    def complete(self) -> Any:
        """Copy what the library has written elsewhere. Return the first rows of the targets."""
        n = len(self.rows.inputs[0])
        for array, letter in zip(self.arrays, self.rows.want):
            if array is not self.written[letter]:
                source = self.written[letter][:n]
                array[:n] = source[..., :self.rows.dim] if letter in "DS" else source
        result = [target[:n] for target in self.targets]
        return result[0] if len(result) == 1 else tuple(result)
