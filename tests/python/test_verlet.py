# SPDX-License-Identifier: BSD-3-Clause
"""Kept lists in Python. tests/verlet compares them with fresh searches in all boxes."""
import gc
import os
import sys

import numpy as np

import functions
import needs
from functions import raises

os.environ["KITH_BACKEND"] = "cpu"  # test_kith_gpu.py has a GPU's
import kith

random = np.random.default_rng(15)
N = 800


def same(found, expected):
    assert len(found) == len(expected)
    for a, b in zip(found, expected):
        assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def test_walk():
    """After each step the list of `pairs`, for all forms; few searches."""
    for dtype in (np.float32, np.float64):
        for want, layout in (("ijdDS", "ij"), ("ojS", "csr"), (None, "ij"), ("Dji", "ij")):
            x = (10 * random.random((N, 3))).astype(dtype)
            box = kith.Box([10.0, 11.0, 9.0])
            near = kith.Verlet(1.0, 0.3, want, layout=layout, full=layout == "csr")
            for step in range(40):
                found = near.update(x, box)
                same(found, kith.pairs(x, 1.0, box, want, layout=layout, full=layout == "csr",
                                       sort=True))
                x += (0.01 * random.standard_normal(x.shape)).astype(dtype)
                if step == 20:
                    x = np.concatenate([x[5:], x[:2]])
            assert near.updates == 40 and 2 <= near.rebuilds < 20
            near.close()


def test_batch():
    """Each system is searched again when it needs that; the list is that of `pairs`."""
    x = [5 * random.random((n, 3)) for n in (40, 0, 90, 7)]
    boxes = [5.0, 5.0, kith.Box([5.0, 6.0, 5.0]), 5.0]
    offsets = np.cumsum([0] + [len(one) for one in x])
    near = kith.Verlet(1.0, 0.3, "ijdS")
    raises(ValueError, lambda: near.reasons, "not of a batch")
    expected = kith.pairs(x, 1.0, boxes, "ijdS", sort=True)
    same(near.update(x, boxes), expected)
    assert near.reasons == ["first"] * 4 and near.rebuilds == 4
    same(near.update(np.concatenate(x), boxes, offsets), expected)
    assert near.reasons == ["kept"] * 4 and near.reason == "kept" and not near.rebuilt
    x[2][3] += 0.2
    same(near.update(x, boxes), kith.pairs(x, 1.0, boxes, "ijdS", sort=True))
    assert near.reasons == ["kept", "kept", "moved", "kept"] and near.rebuilds == 5
    same(near.update(x[:3], 5.0), kith.pairs(x[:3], 1.0, 5.0, "ijdS", sort=True))
    assert near.reasons[:2] == ["kept", "kept"] and near.reasons[2] in ("box", "moved")
    raises(ValueError, lambda: near.update(x[0], 5.0), "the list is of batches")
    raises(ValueError, lambda: near.update(x[0], 5.0, [0, 3]), "batch[1] is 3")


def test_flat():
    x = 10 * random.random((N, 2))
    near = kith.Verlet(0.5, 0.1, "ijDS", index=np.int64)
    for _ in range(10):
        same(near.update(x, 10.0), kith.pairs(x, 0.5, 10.0, "ijDS", sort=True, index=np.int64))
        x += 0.01 * random.standard_normal(x.shape)


def test_with_skin():
    x = 10 * random.random((N, 3))
    near = kith.Verlet(1.0, 0.3, "ijd", with_skin=True)
    for _ in range(10):
        i, j, d = near.update(x, 10.0)
        within = d <= 1
        assert len(d) > within.sum() > 0
        same((i[within], j[within]), kith.pairs(x, 1.0, 10.0, sort=True))
        x += 0.005 * random.standard_normal(x.shape)


def test_state():
    x = 10 * random.random((N, 3))
    near = kith.Verlet(1.0, 0.5)
    assert (near.updates, near.reason, near.rebuilt) == (0, "", False)
    near.update(x, 10.0)
    assert (near.updates, near.reason, near.rebuilt) == (1, "first", True)
    x[3, 1] += 0.2
    near.update(x, 10.0)
    assert near.reason == "kept" and abs(near.displacement - 0.2) < 1e-9
    assert 0.2499 < near.allowed < 0.25
    x[3, 1] += 0.2
    near.update(x, 10.0)
    assert near.reason == "moved" and near.rebuilds == 2
    near.rebuild()
    near.update(x, 10.0)
    assert near.reason == "asked"
    near.update(x[1:], 10.0)
    assert near.reason == "particles"
    near.update(x[1:], None)
    assert near.reason == "box"
    near.update(x[1:].astype(np.float32))
    assert near.reason == "particles" and near.updates == 7


def test_memory():
    """Lists of earlier updates stay as they were, and the memory of those that are gone is used
    again."""
    x = 20 * random.random((5000, 3))
    near = kith.Verlet(1.5, 0.3)
    kept, copies, addresses = [], [], set()
    for _ in range(6):
        found = near.update(x, 20.0)
        kept.append(found)
        copies.append([array.copy() for array in found])
        x += 0.003 * random.standard_normal(x.shape)
    for found, copy in zip(kept, copies):
        same(found, copy)
    del kept, found
    gc.collect()
    for _ in range(6):
        addresses.add(near.update(x, 20.0)[0].__array_interface__["data"][0])
    assert len(addresses) <= 2, "each update takes new memory"
    near.close()


def test_refused():
    x = random.random((10, 3))
    raises(ValueError, lambda: kith.Verlet(0, 0.1), "cutoff is 0")
    raises(ValueError, lambda: kith.Verlet(1.0, -0.1), "skin is -0.1")
    raises(ValueError, lambda: kith.Verlet(1.0, 0.1, layout="matrix"), "layout")
    raises(ValueError, lambda: kith.Verlet(1.0, 0.1, "ijx"), "want")
    raises(ValueError, lambda: kith.Verlet(1.0, 0.1).update(x * np.nan), "not finite")
    near = kith.Verlet(1.0, 0.1)
    raises(TypeError, lambda: __import__("copy").copy(near), "cannot be copied")
    near.update(x)
    near.close()
    near.close()
    raises(ValueError, lambda: near.update(x), "closed")
    with kith.Context("cpu") as ctx:
        near = kith.Verlet(2.0, 0.1, ctx=ctx)
        assert len(near.update(x)[0]) == 45
    raises(ValueError, lambda: near.update(x), "closed")


def test_messages():
    """Messages name what is of Python."""
    x = np.random.default_rng(5).random((20, 3))
    one, many = kith.Verlet(0.1, 0.02), kith.Verlet(0.1, 0.02)
    one.update(x)
    many.update(x, batch=[0, 10, 20])
    raises(ValueError, lambda: one.update(x, batch=[0, 10, 20]), "update it without batch")
    raises(ValueError, lambda: many.update(x), "update it with batch, or a list of arrays")
    raises(ValueError, lambda: many.update(x, batch=[0, 30, 20]), "batch[2] is 20")
    many.update(x, batch=[0, 10, 20])
    many.close()
    raises(ValueError, lambda: many.reasons, "the list or its context is closed")


def test_torch():
    torch = needs.module("torch")
    x = torch.from_numpy(random.random((100, 3)))
    i, j = kith.Verlet(0.3, 0.1).update(x)
    assert isinstance(i, torch.Tensor)
    same((i.numpy(), j.numpy()), kith.pairs(x.numpy(), 0.3, sort=True))


if __name__ == "__main__":
    sys.exit(functions.main(globals()))
