# SPDX-License-Identifier: BSD-3-Clause
"""Orders of particles in Python. test_order.c compares orders with a sort."""
import os
import sys

import numpy as np

import functions
import needs
from functions import raises

os.environ["KITH_BACKEND"] = "cpu"  # test_kith_gpu.py has a GPU's
import kith

random = np.random.default_rng(14)
X = random.random((3000, 3))
BOX = kith.Box([1.0, 1.2, 0.9])


def test_order():
    """Rows of cells as NumPy sorts them; the curve brings neighbours together; both are exact."""
    for dtype in (np.float32, np.float64):
        x = X.astype(dtype)
        cell = np.floor((x.astype(float) - x.min(0).astype(float)) * (1 / 0.1))
        expected = np.lexsort((np.arange(3000), *cell.T))
        assert np.array_equal(kith.order(x, cell=0.1), expected)
        order = kith.order(x)
        assert order.dtype == np.int32 and np.array_equal(np.sort(order), np.arange(3000))
        moved = np.abs(np.diff(x[order], axis=0)).max(1)
        assert np.median(moved) < 0.1 < np.median(np.abs(np.diff(x, axis=0)).max(1))
        assert np.array_equal(kith.order(x[order]), np.arange(3000)), "an order changes itself"
    flat = kith.order(X[:, :2].copy())
    assert np.median(np.abs(np.diff(X[flat, :2], axis=0)).max(1)) < 0.05
    assert kith.order(np.zeros((0, 3))).shape == (0,)
    assert np.array_equal(kith.order(np.zeros((5, 3))), np.arange(5))
    frame = kith.Frame(positions=X + 3, box=BOX)
    assert np.array_equal(kith.order(frame, cell=0.3), kith.order(X + 3, BOX, cell=0.3))
    i, j = kith.pairs(X, 0.05, BOX)
    order = kith.order(X, BOX)
    place = np.argsort(order)
    a, b = kith.pairs(X[order], 0.05, BOX)
    assert set(map(frozenset, zip(place[i], place[j]))) == set(map(frozenset, zip(a, b)))


def test_out():
    room = np.full(3010, 7, np.int32)
    found = kith.order(X, out=room)
    assert found.base is room and np.array_equal(found, kith.order(X)) and (room[3000:] == 7).all()
    raises(kith.CapacityError, lambda: kith.order(X, out=room[:2999]), "3000 are needed")
    raises(TypeError, lambda: kith.order(X, out=room.astype(np.int64)), "int32")
    for cell in 0, -1, np.inf, np.nan:
        raises(ValueError, lambda cell=cell: kith.order(X, cell=cell),
               f"cell is {cell}; expected a finite width above 0, or None")
    raises(ValueError, lambda: kith.order(X * np.nan), "not finite")


def test_torch():
    torch = needs.module("torch")
    found = kith.order(torch.from_numpy(X))
    assert isinstance(found, torch.Tensor) and np.array_equal(found.numpy(), kith.order(X))


if __name__ == "__main__":
    sys.exit(functions.main(globals()))
