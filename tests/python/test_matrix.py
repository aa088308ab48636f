# SPDX-License-Identifier: BSD-3-Clause
"""Lists of a fixed shape in Python: against lists by rows, widths, fill values, the caller's
arrays, arrays of PyTorch, and JAX under jit. test_pairs_matrix.c has the oracle."""
import itertools
import os
import sys

import numpy as np

import functions
import needs
from functions import raises

os.environ["KITH_BACKEND"] = os.environ["JAX_PLATFORMS"] = "cpu"  # test_kith_gpu.py has a GPU's
import kith

random = np.random.default_rng(13)
X = random.random((300, 3))
BOX = kith.Box([1.0, 1.2, 0.9])
ALL = "jndDS"


def expected(x, cutoff, box, width, fill=-1, **how):
    """Return all that a list has, made of a sorted list by rows."""
    offsets, j, d, v, s = kith.pairs(x, cutoff, box, "ojdDS", full=True, sort=True, layout="csr",
                                     **how)
    n = np.diff(offsets).astype(np.int32)
    width = int(n.max(initial=0)) if width is None else width
    rows, dim = len(x), x.shape[1]
    made = (np.full((rows, width), fill, np.int32), n, np.full((rows, width), np.inf, x.dtype),
            np.zeros((rows, width, dim), x.dtype), np.zeros((rows, width, dim), np.int32))
    for i, (begin, count) in enumerate(zip(offsets, n)):
        kept = min(count, width)
        for to, one in zip((made[0], *made[2:]), (j, d, v, s)):
            to[i, :kept] = one[begin:begin + kept]
    return made


def same(one, other):
    """Return whether two results are equal, types included."""
    return len(one) == len(other) and all(
        np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(one, other))


def matrix(x, cutoff, box=None, want=ALL, **how):
    return kith.pairs(x, cutoff, box, want, layout="matrix", sort=True, **how)


def test_values():
    """Every array in every form, two dimensions and three, both types, one set and two."""
    for dim, dtype, width in itertools.product((2, 3), (np.float32, np.float64), (None, 60)):
        x, box = X[:, :dim].astype(dtype), kith.Box(BOX.cell[:dim, :dim])
        for how in ({}, {"against": x[:40] * dtype(0.9)}):
            found = matrix(x, 0.2, box, width=width, fill=300, **how)
            assert same(found, expected(x, 0.2, box, width, 300, **how))
            assert found[1].max() > 5 and found[0].shape[1] == (width or found[1].max())
        assert same(matrix(x[:0], 0.2, box, width=4), expected(x[:0], 0.2, box, 4))
    assert same(matrix(X, 1e-9), expected(X, 1e-9, None, None))
    assert same(matrix(X, 1e-9, width=3), expected(X, 1e-9, None, 3))
    assert same(matrix(X[:2], 2.5, 1.0), expected(X[:2], 2.5, 1.0, None))  # images
    j, n = kith.pairs(X, 0.2, BOX, layout="matrix")
    assert np.array_equal(np.sort(j[:, ::-1]), np.sort(matrix(X, 0.2, BOX, "j")))
    wide = kith.pairs(X, 0.2, BOX, "j", layout="matrix", index=np.int64)
    assert wide.dtype == np.int64 and np.array_equal(wide, j)
    assert np.array_equal(kith.pairs(X, 0.2, BOX, "n", layout="matrix"), n)
    frame = kith.Frame(positions=X, box=BOX)
    assert same(matrix(frame, 0.2), expected(X, 0.2, BOX, None))


def test_overflow():
    """A row that is too short is an error with the width needed; the caller's arrays have what
    fits, and all counts."""
    full = expected(X, 0.2, BOX, None)
    most = int(full[1].max())
    error = raises(kith.CapacityError, lambda: matrix(X, 0.2, BOX, width=most - 1),
                   f"{most} neighbours")
    assert error.needed == most
    raises(kith.CapacityError, lambda: matrix(X, 0.2, BOX, width=0))
    for dim, index, width in itertools.product((2, 3), (np.int32, np.int64), (7, most + 2)):
        x, box = X[:, :dim].copy(), kith.Box(BOX.cell[:dim, :dim])
        wanted = expected(x, 0.1, box, width)
        room = (np.full((310, width), 99, index), np.full(310, 99, np.int32),
                np.full((310, width), 9.0), np.full((310, width, dim), 9.0),
                np.full((310, width, dim), 99, np.int32))
        fits = wanted[1].max() <= width
        if fits:
            found = matrix(x, 0.1, box, out=room, index=index)
            assert all(a.base is b for a, b in zip(found, room))
        else:
            error = raises(kith.CapacityError,
                           lambda: matrix(x, 0.1, box, out=room, index=index))
            assert error.needed == wanted[1].max()
        assert all(np.array_equal(a[:300], b) and (a[300:] != 0).all()
                   for a, b in zip(room, wanted))
    assert not fits or most > 7


def test_out():
    """The caller's arrays, some of them, and what is refused."""
    room = np.empty((300, 50), np.int32)
    n = np.empty(300, np.int32)
    wanted = expected(X, 0.15, BOX, 50)
    assert matrix(X, 0.15, BOX, "j", out=room).base is room
    assert np.array_equal(room, wanted[0])
    assert np.array_equal(matrix(X, 0.15, BOX, "n", out=n, width=50), wanted[1])
    assert np.array_equal(matrix(X, 0.15, BOX, "n", out=n), wanted[1])
    raises(TypeError, lambda: matrix(X, 0.15, BOX, "jn", out=room), "out is one array")
    short = room[:, :3].copy()
    raises(kith.CapacityError, lambda: matrix(X, 0.15, BOX, "j", out=short), "neighbours: width ")
    d = np.empty((300, 50))
    assert np.array_equal(matrix(X, 0.15, BOX, "d", out=d), wanted[2])
    twice = [np.empty((300, 50), np.int32) for _ in range(2)]
    matrix(X, 0.15, BOX, "jj", out=twice)
    assert np.array_equal(twice[0], wanted[0]) and np.array_equal(twice[1], wanted[0])
    raises(ValueError, lambda: matrix(X, 0.15, BOX, "jd", out=(room, d[:, :49])), "the shape")
    raises(ValueError, lambda: matrix(X, 0.15, BOX, "j", out=room, width=49), "the shape")
    raises(kith.CapacityError, lambda: matrix(X, 0.15, BOX, "j", out=room[:299]), "300 are needed")
    raises(TypeError, lambda: matrix(X, 0.15, BOX, "j", out=d), "int32")
    raises(ValueError, lambda: matrix(X, 0.15, BOX, "j", out=room, count=n), "count needs")


def test_refused():
    raises(ValueError, lambda: matrix(X, 0.1, want="ij"), "jndDS")
    raises(ValueError, lambda: matrix(X, 0.1, want=""), "want")
    raises(ValueError, lambda: matrix(X, 0.1, width=-1), "width")
    raises(ValueError, lambda: matrix(X, 0.1, fill=2 ** 31), "fill")
    raises(TypeError, lambda: matrix(X, 0.1, width=1.5), "width")
    raises(ValueError, lambda: kith.pairs(X, 0.1, width=3), "layout 'matrix' alone")
    raises(ValueError, lambda: kith.pairs(X, 0.1, fill=3), "layout 'matrix' alone")
    raises(ValueError, lambda: kith.pairs(X, 0.1, layout="rows"), "'matrix'")
    raises(ValueError, lambda: matrix(X, -1), "cutoff")


def test_torch():
    torch = needs.module("torch")
    t, wanted = torch.from_numpy(X), expected(X, 0.2, BOX, 40)
    found = matrix(t, 0.2, BOX, width=40, index=np.int64)
    assert all(isinstance(one, torch.Tensor) for one in found) and found[0].dtype == torch.int64
    assert all(np.array_equal(one.numpy(), other) for one, other in zip(found, wanted))
    t.requires_grad_()
    raises(TypeError, lambda: matrix(t, 0.2, BOX), "gradients")
    assert np.array_equal(matrix(t, 0.2, BOX, "jS", width=40)[0].numpy(), wanted[0])


def test_jax():
    """Under jit and grad: shapes are fixed, and what does not fit is counted, never silent."""
    jax = needs.module("jax")
    jax.config.update("jax_enable_x64", True)
    try:
        import kith.jax as kj
    except ImportError as error:
        raise needs.Skip(str(error))
    for dim, dtype in itertools.product((2, 3), (np.float32, np.float64)):
        x, box = X[:, :dim].astype(dtype), kith.Box(BOX.cell[:dim, :dim])
        wanted = expected(x, 0.15, box, 50, len(x))
        found = jax.jit(lambda x: kj.neighbours(x, 0.15, box, width=50))(x)
        assert found.j.dtype == found.n.dtype == np.int32
        assert np.array_equal(found.j, wanted[0]) and np.array_equal(found.n, wanted[1])
        assert np.array_equal(found.shifts, wanted[4]) and int(found.widest) == wanted[1].max()
        some = wanted[0] < len(x)
        assert np.allclose(found.vectors, wanted[3], atol=1e-6)
        assert np.allclose(np.where(some, found.distances, 0), np.where(some, wanted[2], 0),
                           rtol=1e-5) and np.isinf(np.asarray(found.distances)[~some]).all()

        def energy(x, width=50):
            return ((0.2 - kj.neighbours(x, 0.15, box, width=width).distances).clip(0) ** 2).sum()

        slope = jax.jit(jax.grad(energy))(x)
        push = np.where(some, 0.2 - wanted[2], 0)[..., None] * wanted[3] / np.where(
            some, wanted[2], 1)[..., None]
        assert np.allclose(slope, 4 * push.sum(1), rtol=1e-4, atol=1e-4)
        short = jax.jit(lambda x: kj.neighbours(x, 0.15, box, width=3))(x)
        assert int(short.widest) == wanted[1].max() > 3 and np.array_equal(short.n, wanted[1])
        assert np.isnan(short.distances).all() and np.isnan(short.vectors).all()
        assert np.array_equal(short.j, wanted[0][:, :3])
    none = kj.neighbours(jax.numpy.zeros((0, 3)), 0.1, width=2)
    assert none.j.shape == (0, 2) and int(none.widest) == 0
    bad = raises(Exception, lambda: kj.neighbours(np.full((3, 3), np.nan), 0.1,
                                                  width=2).j.block_until_ready())
    assert "not finite" in str(bad)
    raises(ValueError, lambda: kj.neighbours(X, 0.1, width=0), "width")


if __name__ == "__main__":
    sys.exit(functions.main(globals()))
