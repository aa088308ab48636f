# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of the caller's. ctypes would cut integers to their low bits, and name no argument."""
from __future__ import annotations

import operator
from typing import Any

import numpy as np


def whole(value: Any, name: str, low: int = -2 ** 63, high: int = 2 ** 63 - 1) -> int:
    """Return a whole number from low to high."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}; expected a whole number") from None
    if not low <= number <= high:
        raise ValueError(f"{name} is {number}; expected {low} to {high}")
    return number


def real(value: Any, name: str) -> float:
    """Return a real number as a float."""
    if isinstance(value, float):
        return value
    try:
        if isinstance(value, (str, bytes)) or np.ndim(value) != 0:
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} is {value!r}; expected a real number") from None
