# SPDX-License-Identifier: BSD-3-Clause
"""Random calls against the definition over all n^2 pairs; forks and loaders of data, threads, and
references that are not let go."""
import concurrent.futures
import gc
import multiprocessing
import sys
import threading
import tracemalloc
import weakref

import functions
import needs

try:
    import numpy as np
    from hypothesis import HealthCheck, given, settings
    from hypothesis import strategies as st
except ImportError as error:
    needs.leave(error)

import kith

SETTINGS = settings(max_examples=300, deadline=None, derandomize=True, database=None,
                    suppress_health_check=list(HealthCheck))
random = np.random.default_rng(31)
X = random.random((3000, 3))
CPU = kith.Context("cpu")


def images(box, cutoff):
    """Yield the images whose particles may be within the cutoff, in the library's order."""
    reach = np.zeros(3, int)
    if box.pbc.any():
        heights = 1 / np.linalg.norm(np.linalg.inv(box.cell), axis=0)
        reach[:box.dim] = [int(np.ceil(cutoff / h)) if p else 0 for h, p in zip(heights, box.pbc)]
    for c in range(-reach[2], reach[2] + 1):
        for b in range(-reach[1], reach[1] + 1):
            for a in range(-reach[0], reach[0] + 1):
                yield a, b, c


def oracle(x, y, cutoff, box):
    """Return the full list's rows (i, j, S) with their r2, by the definition."""
    real, rows = x.dtype.type, box.cell.astype(x.dtype)
    found = {}
    for image in images(box, cutoff):
        d = y[None, :, :] - x[:, None, :]
        for axis in reversed(range(box.dim)):
            d = d + real(image[axis]) * rows[axis]
        r2 = d[..., 0] * d[..., 0] + d[..., 1] * d[..., 1]
        if box.dim == 3:
            r2 = r2 + d[..., 2] * d[..., 2]
        for i, j in zip(*np.nonzero(r2 <= real(cutoff) * real(cutoff))):
            if y is not x or i != j or image != (0, 0, 0):
                found[(int(i), int(j), *image[:box.dim])] = r2[i, j]
    return found


@st.composite
def calls(draw):
    """Coordinates inside a box, and the arguments of a call."""
    dim = draw(st.sampled_from([2, 3]))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    sides = np.array([draw(st.sampled_from([0.5, 1.0, 1.75])) for _ in range(dim)])
    pbc = [draw(st.booleans()) for _ in range(dim)]
    rng = np.random.default_rng(draw(st.integers(0, 2 ** 32 - 1)))

    def points(n):
        if draw(st.booleans()):
            return (rng.integers(0, 8, (n, dim)) / 8 * sides).astype(dtype)  # many at one distance
        return (rng.random((n, dim)).astype(dtype) * sides.astype(dtype)
                * dtype(0.999))
    x = points(draw(st.sampled_from([0, 1, 2, 7, 30, 255, 256, 257, 300])))
    y = points(draw(st.sampled_from([0, 1, 20, 257]))) if draw(st.booleans()) else None
    cutoff = draw(st.sampled_from([0.0625, 0.125, 0.2, 0.25]))
    if len(x) < 31 and (y is None or len(y) < 31):
        cutoff = draw(st.sampled_from([0.125, 0.3, 0.75, 1.25]))
    return x, y, cutoff, kith.Box(sides, pbc), draw(st.booleans()), draw(st.booleans())


@SETTINGS
@given(calls())
def test_lists(call):
    """Lists are those of the definition: half, full, in rows, into the caller's arrays."""
    x, y, cutoff, box, full, wide = call
    expected = oracle(x, x if y is None else y, cutoff, box)
    expected = {row: np.sqrt(r2) for row, r2 in expected.items()}
    how = {"full": full, "against": y, "index": np.int64 if wide else np.int32}
    i, j, d, s = kith.pairs(x, cutoff, box, "ijdS", **how)
    found = dict(zip(zip(i.tolist(), j.tolist(), *s.T.tolist()), d))
    assert len(found) == len(i) == kith.count_pairs(x, cutoff, box, full=full, against=y)
    if full or y is not None:
        assert found == expected
    else:
        assert 2 * len(found) == len(expected) and found.items() <= expected.items()
        assert all(a <= b for a, b, *_ in found)
    room = [np.empty((len(i) + 3, *one.shape[1:]), one.dtype) for one in (i, j, d, s)]
    again = kith.pairs(x, cutoff, box, "ijdS", out=room, **how)
    assert all(map(np.array_equal, again, (i, j, d, s)))
    offsets, k = kith.pairs(x, cutoff, box, layout="csr", sort=True, **how)
    first = kith.pairs(x, cutoff, box, sort=True, **how)
    assert np.array_equal(np.repeat(np.arange(len(x)), np.diff(offsets)), first[0])
    assert np.array_equal(k, first[1])


def first_rows(found, n, k, dim):
    """Return the first k neighbours of each particle of a list with r2, and their numbers."""
    j, d = np.full((n, k), -1), np.full((n, k), np.inf)
    s, each = np.zeros((n, k, dim), int), np.zeros(n, int)
    for row, r2 in sorted(found.items(), key=lambda one: (one[1], one[0][1], one[0][:1:-1])):
        at = row[0], each[row[0]]
        if at[1] < k:
            j[at], d[at], s[at] = row[1], np.sqrt(r2), row[2:]
            each[row[0]] += 1
    return j, each, d, s


@SETTINGS
@given(calls())
def test_nearest(call):
    """Nearest neighbours are the first of the definition's pairs, with and without a cutoff."""
    x, y, cutoff, box, few, wide = call
    k, others = 2 if few else 9, x if y is None else y
    how = {"against": y, "index": np.int64 if wide else np.int32, "ctx": CPU}
    found = kith.nearest(x, k, box, "jndS", cutoff=cutoff, **how)
    expected = first_rows(oracle(x, others, cutoff, box), len(x), k, box.dim)
    assert all(map(np.array_equal, found, expected))
    found = kith.nearest(x, k, box, "jndS", **how)
    far = found[2][np.isfinite(found[2])].max(initial=0.1) * 1.001
    expected = first_rows(oracle(x, others, far, box), len(x), k, box.dim)
    assert all(map(np.array_equal, found, expected))
    most = k if box.pbc.any() and len(others) else len(others) - (y is None)
    assert (found[1] == max(min(k, most), 0)).all()


@SETTINGS
@given(calls())
def test_groups(call):
    """Groups are the components of the graph of friends."""
    x, _, length, box, _, _ = call
    label = np.arange(len(x))
    for i, j, *_ in oracle(x, x, length, box):
        low, high = sorted((label[i], label[j]))
        label[label == high] = low
    groups = kith.fof(x, length, box, min_members=1)
    assert len(np.unique(label)) == len(groups)
    assert len(set(zip(label.tolist(), groups.labels.tolist()))) == len(groups)
    assert groups.members.sum() == len(x) and (np.diff(groups.members) <= 0).all()


class Data:
    """A set of data whose items are lists of pairs, as a DataLoader takes it."""

    def __len__(self):
        return 12

    def __getitem__(self, k):
        return kith.count_pairs(X[:500 + 100 * k], 0.1, 1.0)


def item(k):
    """Return an item, in a process of its own."""
    return Data()[k]


def test_processes():
    """Children made by fork and by spawn go on, beside threads of the parent that are in a call."""
    expected = [item(k) for k in range(12)]
    stop = threading.Event()

    def busy():
        while not stop.is_set():
            kith.count_pairs(X, 0.2, 1.0)
    one = threading.Thread(target=busy)
    one.start()
    try:
        for method in ("fork", "spawn"):
            with multiprocessing.get_context(method).Pool(2) as pool:
                assert pool.map(item, range(12)) == expected, method
    finally:
        stop.set()
        one.join()


def test_loader():
    torch = needs.module("torch")
    loader = torch.utils.data.DataLoader(Data(), batch_size=None, num_workers=2)
    assert list(loader) == [item(k) for k in range(12)]


def test_threads():
    """Threads with contexts of their own, and calls on one context, which one at a time serves."""
    expected = {n: kith.count_pairs(X[:n], 0.1, 1.0) for n in (8, 200, 3000)}

    def own(k):
        n = (8, 200, 3000)[k % 3]
        i, j = kith.pairs(X[:n], 0.1, 1.0)
        copies = i.copy(), j.copy()
        kith.pairs(X[100:100 + n], 0.1, 1.0)
        return len(i) == expected[n] and all(map(np.array_equal, copies, (i, j)))
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        assert all(pool.map(own, range(200)))
    ctx, served = kith.Context(threads=1), []

    def shared(k):
        try:
            served.append(own_list(ctx, k))
        except kith.Busy:
            pass
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        list(pool.map(shared, range(400)))
    assert served and all(served)


def own_list(ctx, k):
    """Return whether a small list on a context is right."""
    x = X[k:k + 40]
    i, j = kith.pairs(x, 0.3, 1.0, sort=True, ctx=ctx)
    copies = i.copy(), j.copy()
    d = np.linalg.norm((x[j] - x[i] + 0.5) % 1 - 0.5, axis=1)
    return bool((d <= 0.3 + 1e-12).all() and np.array_equal(i, copies[0])
                and np.array_equal(j, copies[1]))


def test_references():
    """What a call has made is let go with its results, without a collection of cycles."""
    gc.collect()
    gc.disable()
    try:
        x = X[:50].copy()

        def everything():
            kith.pairs(x, 0.3, kith.Box(1.0), "ijdDS")
            kith.pairs(X, 0.1, 1.0, full=True, layout="csr")
            room = np.empty(99999, np.int32), np.empty(99999, np.int32)
            kith.pairs(X, 0.05, 1.0, out=room)
            kith.fof(X, 0.05, 1.0, min_members=2).halos()
            kith.rdf.Histogram(0.2).add(x, 1.0).g()
            kith.Flock(x * 30, x, 30.0).step()
            kith.make("uniform", 100)
            try:
                kith.pairs(x, -1)
            except ValueError:
                pass
        for _ in range(5):
            everything()
        gc.collect()
        before = len(gc.get_objects())
        for _ in range(30):
            everything()
        cycles = gc.collect()
        assert cycles < 60, cycles  # objects that only a collection of cycles has let go
        tracemalloc.start()
        everything()
        gc.collect()
        first = tracemalloc.get_traced_memory()[0]
        for _ in range(30):
            everything()
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - first
        tracemalloc.stop()
        assert grown < 30000, grown  # bytes; a list of the smallest call has 1000
        assert len(gc.get_objects()) - before < 60
        groups = kith.fof(X, 0.05, 1.0)
        ctx = kith.Context()
        kith.pairs(x, 0.3, ctx=ctx)
        gone = weakref.ref(groups), weakref.ref(ctx)
        del groups, ctx
        assert [one() for one in gone] == [None, None], "in a cycle of references"
    finally:
        gc.enable()


if __name__ == "__main__":
    sys.exit(functions.main(globals()))
