# SPDX-License-Identifier: BSD-3-Clause
"""Nearest neighbours in Python: against SciPy's tree, and what Python adds: arrays of every kind,
the caller's arrays, errors, Ctrl-C, threads. test_properties.py has random calls against the
definition."""
import itertools
import os
import pickle
import signal
import sys
import threading
import time

import numpy as np

import functions
import needs
from functions import raises

os.environ["KITH_BACKEND"] = "cpu"  # test_kith_gpu.py has a GPU's
import kith

random = np.random.default_rng(12)
X = random.random((300, 3))
BOX = kith.Box([1.0, 1.2, 0.9])
ALL = "jndDS"


def same(one, other):
    """Return whether two results are equal, types included."""
    return len(one) == len(other) and all(
        np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(one, other))


def test_scipy():
    """Neighbours are those of SciPy's tree: open and periodic, one set and two."""
    tree = needs.module("scipy.spatial").cKDTree
    for dim, size in itertools.product((2, 3), (None, 1.0)):
        x, y = random.random((3000, dim)), random.random((2000, dim))
        box = None if size is None else kith.Box([size] * dim)
        d, j = tree(x, boxsize=size).query(x, 9)
        found = kith.nearest(x, 8, box)
        assert np.array_equal(j[:, 1:], found[0]) and np.allclose(d[:, 1:], found[1], rtol=1e-12)
        d, j = tree(y, boxsize=size).query(x, 3, distance_upper_bound=0.03)
        ours, n, e = kith.nearest(x, 3, box, "jnd", cutoff=0.03, against=y)
        assert np.array_equal(np.where(j == len(y), -1, j), ours) and (ours == -1).any()
        assert np.array_equal(n, (ours >= 0).sum(1)) and np.allclose(d, e, rtol=1e-12)


def test_values():
    """Shapes and types; vectors and distances belong to j and S; rows end in what says none."""
    for dim, dtype in itertools.product((2, 3), (np.float32, np.float64)):
        x, box = X[:, :dim].astype(dtype), kith.Box(BOX.cell[:dim, :dim])
        j, n, d, v, s = kith.nearest(x, 20, box, ALL, cutoff=0.2)
        assert j.shape == d.shape == (300, 20) and v.shape == s.shape == (300, 20, dim)
        assert j.dtype == n.dtype == s.dtype == np.int32 and d.dtype == v.dtype == dtype
        some = np.arange(20) < n[:, None]
        assert np.array_equal(some, j >= 0) and n.min() < 20 and n.max() > 10
        assert (d[~some] == np.inf).all() and (v[~some] == 0).all() and (s[~some] == 0).all()
        there = x[j] + s @ box.cell
        assert np.allclose((there - x[:, None])[some], v[some], atol=1e-6)
        assert np.allclose(np.linalg.norm(v, axis=2)[some], d[some], rtol=1e-6)
        assert (d[:, 1:] >= d[:, :-1]).all() and d[some].max() <= dtype(0.2)
        wide = kith.nearest(x, 20, box, cutoff=0.2, index=np.int64)
        assert wide[0].dtype == np.int64 and np.array_equal(wide[0], j)
        assert kith.nearest(x, 20, box, "n", cutoff=0.2).dtype == np.int32
    one = kith.nearest(X[:1], 8, 1.0, "jS")
    assert (one[0] == 0).all() and one[1][0].tolist() == [
        [0, 0, -1], [0, -1, 0], [-1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, -1, -1],
        [-1, 0, -1]]
    for given in (np.zeros((0, 3)), np.zeros((0, 2))):
        assert kith.nearest(given, 3)[0].shape == (0, 3)
    assert (kith.nearest(X, 2, against=np.zeros((0, 3)))[0] == -1).all()


def test_radii():
    """Rows are those of the sorted list with these radii: each rule, one set and two."""
    h, y = random.uniform(0, 0.12, 300), random.random((200, 3))
    h_of_y = random.uniform(0, 0.12, 200)
    for rule, against in itertools.product(("gather", "scatter", "either", "both", "sum"),
                                           (None, y)):
        radii = h if against is None else (h, h_of_y)
        j, n, d = kith.nearest(X, 4, BOX, "jnd", radii=radii, rule=rule, against=against)
        i_of, j_of, d_of = kith.pairs(X, None, BOX, "ijd", radii=radii, rule=rule, full=True,
                                      sort=True, against=against)
        assert 0 < (j < 0).sum() < j.size, rule
        for i in range(300):
            row = i_of == i
            order = np.argsort(d_of[row], kind="stable")[:4]
            assert n[i] == len(order) and np.array_equal(j[i, :n[i]], j_of[row][order])
            assert np.array_equal(d[i, :n[i]], d_of[row][order])
    for word, given in (
            ("'scatter'", {"radii": h}), ("not given", {"rule": "sum"}),
            ("rule is 'most'", {"radii": h, "rule": "most"}),
            ("radii", {"radii": h[:5], "rule": "sum"}),
            ("pair of arrays", {"radii": h, "rule": "sum", "against": y}),
            ("radii[3]", {"radii": np.where(h == h[3], -h, h), "rule": "sum"})):
        raises(ValueError, lambda how=given: kith.nearest(X, 4, BOX, **how), word)


def test_arrays():
    """Arrays in any order of memory, of any type, and objects with a box."""
    expected = kith.nearest(X, 5, BOX, ALL)
    wide = np.zeros((300, 7))
    wide[:, 1:7:2] = X
    swapped = X.astype(X.dtype.newbyteorder())
    fixed = X.copy()
    fixed.flags.writeable = False
    for given in (np.asfortranarray(X), wide[:, 1:7:2], X[::-1][::-1], swapped, X.tolist(),
                  np.repeat(X, 2, axis=0)[::2], fixed):
        assert same(kith.nearest(given, 5, BOX, ALL), expected)
    assert same(kith.nearest(kith.Frame(positions=X, box=BOX), 5, want=ALL), expected)
    grid = np.argwhere(np.ones((3, 3, 3)))
    assert same(kith.nearest(grid, 6), kith.nearest(grid.astype(float), 6))
    j = kith.nearest(X, 5, BOX)[0]
    tail, copy = j[100:, 1:], j[100:, 1:].copy()
    del j
    for _ in range(5):
        kith.nearest(random.random((300, 3)), 5, BOX)
    assert np.array_equal(tail, copy), "the arrays went before the last view"
    assert np.array_equal(pickle.loads(pickle.dumps(tail)), copy)

    def resident():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * 4096
    many = random.random((20000, 3))
    kith.nearest(many, 8, want=ALL)
    before = resident()
    for _ in range(15):
        kith.nearest(many, 8, want=ALL)
    assert resident() - before < 30e6, resident() - before  # a result takes 7.8 MB


def test_ase():
    ase = needs.module("ase")
    atoms = ase.Atoms("H300", positions=X, cell=BOX.cell, pbc=True)
    assert same(kith.nearest(atoms, 5, want=ALL), kith.nearest(X, 5, BOX, ALL))


def test_torch():
    torch = needs.module("torch")
    t, expected = torch.from_numpy(X), kith.nearest(X, 5, BOX, ALL)
    found = kith.nearest(t, 5, BOX, ALL, index=np.int64)
    assert all(isinstance(one, torch.Tensor) for one in found) and found[0].dtype == torch.int64
    assert all(np.array_equal(one.numpy(), other) for one, other in zip(found, expected))
    assert kith.nearest(t.float(), 5, BOX, "d").dtype == torch.float32
    room = torch.empty((400, 5), dtype=torch.int32)
    j = kith.nearest(t, 5, BOX, "j", out=room)
    assert j.data_ptr() == room.data_ptr() and np.array_equal(j.numpy(), expected[0])
    raises(TypeError, lambda: kith.nearest(t.clone().requires_grad_(), 5), "gradients")
    assert len(kith.nearest(t.clone().requires_grad_(), 5, want="j")) == 300


def test_jax():
    jax = needs.module("jax")
    given = jax.numpy.asarray(X.astype(np.float32))
    found, expected = (kith.nearest(x, 5, BOX, ALL) for x in (given, X.astype(np.float32)))
    assert all(isinstance(one, jax.Array) for one in found)
    assert all(np.array_equal(np.asarray(a), b) for a, b in zip(found, expected))
    raises(TypeError, lambda: jax.jit(lambda x: kith.nearest(x, 5))(given), "traced")


def test_out():
    """Every combination of outputs has the values, in the caller's memory."""
    for dtype, index, dim, want in itertools.product(
            (np.float32, np.float64), (np.int32, np.int64), (2, 3),
            ("jd", "SDdnj", "d", "n", "jj", "DSD")):
        x, box = X[:, :dim].astype(dtype), kith.Box(BOX.cell[:dim, :dim])
        how = {"cutoff": 0.2, "index": index, "against": x[:250]}
        expected = kith.nearest(x, 6, box, want, **how)
        expected = expected if isinstance(expected, tuple) else (expected,)
        room = [np.full((len(one) + 7, *one.shape[1:]), 77, one.dtype) for one in expected]
        found = kith.nearest(x, 6, box, want, out=room, **how)
        found = found if isinstance(found, tuple) else (found,)
        assert same(found, expected)
        for one, array in zip(found, room):
            assert one.base is array and (array[300:] == 77).all()
    one = np.empty((300, 4))
    assert kith.nearest(X, 4, BOX, "d", out=one).base is one


def test_out_refused():
    j, d = np.empty((300, 4), np.int32), np.empty((300, 4))

    def give(*out, want="jd", **how):
        return lambda: kith.nearest(X, 4, BOX, want, out=out, **how)
    fixed = d.copy()
    fixed.flags.writeable = False
    fake = kith.DeviceArray(4096, (300, 4), np.int32, 0, None)
    error = raises(kith.CapacityError, give(j[:299], d), "out[0] has room for 299 particles")
    assert error.needed == 300
    raises(ValueError, give(j, fixed), "out[1] is read-only")
    raises(ValueError, give(j), "out has 1 arrays")
    raises(TypeError, give(j, d, index=np.int64), "out[0] has the type int32")
    raises(TypeError, give(j, d.astype(np.float32)), "out[1] has the type float32")
    raises(ValueError, give(j, d[:, :3]), "out[1] has the shape (300, 3); expected [n][4]")
    raises(ValueError, give(j, np.empty((300, 4, 2)), want="jD"), "expected [n][4][3]")
    raises(ValueError, give(j, np.empty((300, 1), np.int32), want="jn"), "expected [n]")
    raises(ValueError, give(np.empty((600, 4), np.int32)[::2], d), "out[0] is not contiguous")
    raises(ValueError, give(j, j, want="jj"), "shares memory")
    raises(ValueError, lambda: kith.nearest(X, 3, BOX, "d", out=X), "coordinates")
    raises(ValueError, lambda: kith.nearest(X, 3, BOX, "d", against=d[:, :3] * 0,
                                            out=X.reshape(-1)[:900].reshape(300, 3)), "coordinates")
    raises(TypeError, give([[0] * 4] * 300, d), "out[0]")
    raises(TypeError, give(fake, d), "out[0] is in the memory of a GPU")
    assert same(give(j, d)(), kith.nearest(X, 4, BOX))


def test_refused():
    """What makes no sense is refused by the argument's name."""
    for call, name in (
            (lambda: kith.nearest(X, 0), "k is 0"), (lambda: kith.nearest(X, 2 ** 31), "k is"),
            (lambda: kith.nearest(X, 2 ** 64 + 3), "k is"),
            (lambda: kith.nearest(X, 3, want=""), "want"),
            (lambda: kith.nearest(X, 3, want="ij"), "want"),
            (lambda: kith.nearest(X, 3, want=5), "want"),
            (lambda: kith.nearest(X, 3, cutoff=0), "cutoff is 0"),
            (lambda: kith.nearest(X, 3, cutoff=-1), "cutoff"),
            (lambda: kith.nearest(X, 3, cutoff=float("nan")), "cutoff"),
            (lambda: kith.nearest(X, 3, index=np.int16), "index"),
            (lambda: kith.nearest(X, 3, kith.Box([1, 1])), "x has the shape"),
            (lambda: kith.nearest(X, 3, against=X[:, :2]), "against has the shape"),
            (lambda: kith.nearest(X.reshape(150, 6), 3), "x has the shape (150, 6)"),
            (lambda: kith.nearest(np.full((3, 3), np.inf), 1), "particle 0")):
        raises(ValueError, call, name)
    for call, name in (
            (lambda: kith.nearest(X, 2.5), "k is 2.5"), (lambda: kith.nearest(X, "3"), "k is '3'"),
            (lambda: kith.nearest(X, 3, cutoff="1"), "cutoff"),
            (lambda: kith.nearest(X.astype(complex), 3), "x has the type"),
            (lambda: kith.nearest(X.astype(np.float32), 3, against=X), "against"),
            (lambda: kith.nearest(np.ma.masked_greater(X, 0.5), 3), "x is a masked array"),
            (lambda: kith.nearest(X, 3, ctx="cpu"), "ctx")):
        raises(TypeError, call, name)
    raises(kith.LimitError, lambda: kith.nearest(X[:1], 1001, kith.Box(1.0, [1, 0, 0])), "boxes")
    raises(MemoryError, lambda: kith.nearest(np.zeros((10 ** 6, 3)), 2 ** 31 - 1), "out of memory")
    fake = kith.DeviceArray(4096, (5, 3), np.float64, 0, None)
    rows = kith.DeviceArray(8192, (5, 2), np.int64, 0, None)
    with kith.Context("cpu") as ctx:
        raises(NotImplementedError, lambda: kith.nearest(fake, 3, ctx=ctx), "device memory")
        raises(ValueError, lambda: kith.nearest(fake, 2, want="j", index=np.int64, out=rows,
                                                ctx=ctx), "on a GPU expected j, of 32 bits")
    raises(TypeError, lambda: kith.nearest(X, 3, against=fake), "against is in the memory")
    raises(ValueError, lambda: kith.nearest(X, 3, ctx=ctx), "closed")


def sphere(n):
    v = np.random.default_rng(3).normal(size=(n, 3))
    return v / np.sqrt((v ** 2).sum(1))[:, None]


def long_call(ctx=None):
    """Minutes of work: all particles are in the middle of a sphere of candidates, whose distances
    differ by rounding alone, so that no part of the tree is skipped."""
    kith.nearest(np.zeros((10 ** 6, 3)), 8, against=sphere(10 ** 6), ctx=ctx)


def test_interrupt():
    """Ctrl-C ends a long call with KeyboardInterrupt, soon, and the context goes on."""
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    raises(KeyboardInterrupt, long_call)
    took = time.monotonic() - start
    assert took < 20, took  # on a busy machine; a whole call takes minutes
    assert kith.nearest(X, 3, BOX)[0].shape == (300, 3)


def test_threads():
    """Threads have contexts of their own; one context serves one call at a time."""
    expected = kith.nearest(X, 5, BOX, ALL)
    ctx, wrong = kith.Context(threads=1), []

    def work():
        for _ in range(20):
            if not same(kith.nearest(X, 5, BOX, ALL), expected):
                wrong.append(threading.current_thread())
    functions.in_threads(work)
    assert not wrong
    ends = []
    long = threading.Thread(target=lambda: ends.append(kith.nearest(
        np.zeros((20000, 3)), 8, against=sphere(20000), ctx=ctx)))
    long.start()
    while not ctx._lock.locked() and long.is_alive():
        time.sleep(0.001)
    if long.is_alive():
        raises(kith.Busy, lambda: kith.nearest(X, 5, ctx=ctx))
    long.join()
    assert ends and same(kith.nearest(X, 5, BOX, ALL, ctx=ctx), expected)


def test_overhead():
    """A call for 8 particles takes few steps in Python."""
    x, room = X[:8], (np.empty((8, 3), np.int32), np.empty((8, 3)))
    for call, most in ((lambda: kith.nearest(x, 3), 95),
                       (lambda: kith.nearest(x, 3, out=room), 140)):
        steps = functions.steps_of(call)
        assert steps <= most, (steps, most)


if __name__ == "__main__":
    sys.exit(functions.main(globals()))
