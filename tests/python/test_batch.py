# SPDX-License-Identifier: BSD-3-Clause
"""Batches in Python: the results of calls for each system alone, from offsets and from lists, of
NumPy and of PyTorch."""
import sys

import numpy as np

import functions
import kith

random = np.random.default_rng(3)
BOXES = [kith.Box(2.0), kith.Box([3.0, 2.5, 2.0], pbc=[True, False, True]), kith.Box(),
         kith.Box(1.5), kith.Box([[2.0, 0, 0], [0.4, 2.0, 0], [0.1, 0.3, 2.0]])]
SIZES = [30, 0, 1, 7, 100]
SYSTEMS = [random.uniform(0, 1.5, (n, 3)) for n in SIZES]
X, OFFSETS = np.concatenate(SYSTEMS), np.concatenate([[0], np.cumsum(SIZES)])


def alone(boxes, **how):
    """Return the joined results of a call of pairs for each system."""
    found = [kith.pairs(x, 1.1, box, "ijdDS", sort=True, **how) for x, box in zip(SYSTEMS, boxes)]
    for first, one in zip(OFFSETS, found):
        one[0][...] += first
        one[1][...] += first
    return [np.concatenate(arrays) for arrays in zip(*found)]


def same(got, want):
    """Fail unless arrays are equal, type for type."""
    for a, b in zip(got, want):
        assert a.dtype == b.dtype and np.array_equal(a, b), (a, b)


def test_pairs():
    for full in (False, True):
        want = alone(BOXES, full=full)
        how = {"sort": True, "full": full}
        same(kith.pairs(X, 1.1, BOXES, "ijdDS", batch=OFFSETS, **how), want)
        same(kith.pairs(X, 1.1, BOXES, "ijdDS", batch=list(OFFSETS), **how), want)
        same(kith.pairs(SYSTEMS, 1.1, BOXES, "ijdDS", **how), want)
        same(kith.pairs(SYSTEMS, 1.1, BOXES[0], "ijdDS", **how), alone([BOXES[0]] * 5, full=full))
        assert kith.count_pairs(X, 1.1, BOXES, full=full, batch=OFFSETS) == len(want[0])
    cells = np.stack([np.eye(3) * size for size in (2.0, 3, 4, 5, 6)])
    same(kith.pairs(SYSTEMS, 1.1, cells, "ijdDS", sort=True), alone([kith.Box(c) for c in cells]))
    room = tuple(np.empty(10 ** 5, np.int32) for _ in "ij")
    i, j = kith.pairs(X, 1.1, BOXES, batch=OFFSETS, sort=True, out=room)
    same((i, j), alone(BOXES)[:2])


def test_boxes_of_any_kind():
    """Entries of a list may be whatever one box may be."""
    cells = [np.diag([2.0, 2.5, 3.0]), [[2.0, 0, 0], [0.4, 2.0, 0], [0.1, 0.3, 2.0]], None, 1.5,
             (3.0, 2.5, 2.0)]
    same(kith.pairs(SYSTEMS, 1.1, cells, "ijdDS", sort=True), alone(cells))
    flat = [np.diag([1.0 + k, 2.0]) for k in range(3)]
    for x in [one[:, :2] for one in SYSTEMS[:3]], [one[:, :2] for one in SYSTEMS[:2]]:
        got = kith.nearest(x, 2, flat[:len(x)], cutoff=1.0)
        same(got, kith.nearest(x, 2, [kith.Box(cell) for cell in flat[:len(x)]], cutoff=1.0))
    assert len(kith.pairs(np.empty((0, 3)), 1.0, [], batch=[0])[0]) == 0
    same(kith.pairs(SYSTEMS, 1.1, [2.0, 2.5, 3.0], "ijdDS", sort=True),
         alone([[2.0, 2.5, 3.0]] * 5))
    same(kith.pairs([X], 1.1, [2.0, 2.5, 3.0], sort=True), kith.pairs(X, 1.1, [2.0, 2.5, 3.0],
                                                                       sort=True))


def test_ambiguous_boxes():
    """What could be one box, or one for each system, is refused by all calls."""
    x = SYSTEMS[2:]
    joined, offsets = np.concatenate(x), np.cumsum([0] + [len(one) for one in x])
    for box in ([10.0, 20.0, 30.0], (10, 20, 30), np.array([10.0, 20, 30]),
                np.array([[10, 10, 12.0], [20, 22, 20], [30, 31, 33]]),
                [np.array([10.0, 10, 12])] * 3, [[10.0, 0, 0], [0, 10, 0], [0, 0, 10]]):
        for how in ({"x": x}, {"x": joined, "batch": offsets}):
            for call in (lambda **how: kith.pairs(cutoff=2.0, **how),
                         lambda **how: kith.pairs(cutoff=2.0, layout="matrix", **how),
                         lambda **how: kith.count_pairs(cutoff=2.0, **how),
                         lambda **how: kith.nearest(k=2, **how),
                         lambda **how: kith.fof(length=0.2, **how),
                         kith.Verlet(1.0, 0.1).update, kith.rdf.Histogram(1.0, bins=5).add):
                try:
                    call(box=box, **how)
                except ValueError as error:
                    assert "list of kith.Box" in str(error) and "kith.Box(box)" in str(error), error
                else:
                    raise AssertionError(f"{box} is taken as one box, or as several")
    refused(ValueError, "3 systems", x, 1.0, against=x, box=[10.0, 20, 30])
    refused(ValueError, "5 systems", SYSTEMS, 1.0, [1.0, 2, 3, 4, 5])
    same(kith.pairs(x, 1.1, kith.Box([10.0, 20, 30]), sort=True),
         kith.pairs(x, 1.1, [kith.Box([10.0, 20, 30])] * 3, sort=True))


def test_against():
    others = [random.uniform(0, 1.5, (n, 3)) for n in (5, 3, 0, 9, 20)]
    joined, first = np.concatenate(others), np.concatenate([[0], np.cumsum([5, 3, 0, 9, 20])])
    want = [kith.pairs(x, 1.1, box, "ijd", sort=True, against=y)
            for x, y, box in zip(SYSTEMS, others, BOXES)]
    for a, b, one in zip(OFFSETS, first, want):
        one[0][...] += a
        one[1][...] += b
    want = [np.concatenate(arrays) for arrays in zip(*want)]
    same(kith.pairs(X, 1.1, BOXES, "ijd", sort=True, against=joined, batch=(OFFSETS, first)), want)
    same(kith.pairs(SYSTEMS, 1.1, BOXES, "ijd", sort=True, against=others), want)


def test_matrix():
    j, n, d, shift = kith.pairs(X, 1.1, BOXES, "jndS", layout="matrix", sort=True, batch=OFFSETS)
    for x, box, first in zip(SYSTEMS, BOXES, OFFSETS):
        want = kith.pairs(x, 1.1, box, "jndS", layout="matrix", sort=True, width=j.shape[1])
        rows = slice(first, first + len(x))
        want[0][...] += np.where(want[0] < 0, 0, first).astype(np.int32)
        same((j[rows], n[rows], d[rows], shift[rows]), want)
    same(kith.pairs(SYSTEMS, 1.1, BOXES, "jn", layout="matrix", sort=True), (j, n))
    room = np.empty((len(X), j.shape[1] + 2), np.int32), np.empty(len(X), np.int32)
    kith.pairs(X, 1.1, BOXES, batch=OFFSETS, layout="matrix", sort=True, fill=-9, out=room)
    same(room, (np.pad(np.where(j < 0, -9, j), ((0, 0), (0, 2)), constant_values=-9), n))
    try:
        kith.pairs(X, 1.1, BOXES, batch=OFFSETS, layout="matrix", width=j.shape[1] - 1)
    except kith.CapacityError as error:
        assert error.needed == n.max(), error
    else:
        raise AssertionError("rows are too narrow")


def test_nearest_and_groups():
    j, d = kith.nearest(X, 4, BOXES, batch=OFFSETS, cutoff=1.0)
    groups = kith.fof(X, 0.3, BOXES, min_members=2, batch=OFFSETS)
    assert len(groups.offsets) == 6 and groups.offsets[-1] == len(groups)
    for s, (x, box) in enumerate(zip(SYSTEMS, BOXES)):
        rows = slice(OFFSETS[s], OFFSETS[s + 1])
        near, far = kith.nearest(x, 4, box, cutoff=1.0)
        same((j[rows], d[rows]), (np.where(near < 0, near, near + np.int32(OFFSETS[s])), far))
        one = kith.fof(x, 0.3, box, min_members=2)
        raised = np.where(one.labels > 0, one.labels + np.int32(groups.offsets[s]), one.labels)
        same((groups.labels[rows],), (raised,))
        same((groups.members[groups.offsets[s]:groups.offsets[s + 1]],), (one.members,))


def test_histogram():
    frames = [random.uniform(0, 2, (50, 3)) for _ in range(7)]
    together, one_by_one = kith.rdf.Histogram(1.0, bins=20), kith.rdf.Histogram(1.0, bins=20)
    together.add(frames, kith.Box(2.0))
    for x in frames:
        one_by_one.add(x, kith.Box(2.0))
    assert together.frames == 7
    same((together.counts(), together.ideal()), (one_by_one.counts(), one_by_one.ideal()))


def test_torch():
    try:
        import torch
    except ImportError:
        return
    x = [torch.from_numpy(one) for one in SYSTEMS]
    got = kith.pairs(x, 1.1, BOXES, "ijdDS", sort=True)
    assert all(isinstance(one, torch.Tensor) for one in got)
    same([one.numpy() for one in got], alone(BOXES))
    got = kith.pairs(torch.cat(x), 1.1, BOXES, "ijdDS", sort=True, batch=torch.from_numpy(OFFSETS))
    same([one.numpy() for one in got], alone(BOXES))


def refused(error, text, *args, **how):
    """Fail unless a call of pairs is refused with a message that has the text."""
    try:
        kith.pairs(*args, **how)
    except error as e:
        assert text in str(e), e
    else:
        raise AssertionError(text)


def test_refused():
    refused(ValueError, "batch[5]", X, 1.0, batch=OFFSETS[:-1].tolist() + [1000])
    refused(ValueError, "2 boxes", X, 1.0, BOXES[:2], batch=OFFSETS)
    refused(TypeError, "integers", X, 1.0, batch=OFFSETS * 0.5)
    refused(ValueError, "a pair", X, 1.0, batch=OFFSETS, against=X)
    refused(ValueError, "batch[0] has the shape", X, 1.0, batch=(0, OFFSETS), against=X)
    refused(ValueError, "batch[1][5] is 1000", X, 1.0, against=X,
            batch=(OFFSETS, OFFSETS[:-1].tolist() + [1000]))
    refused(ValueError, "several boxes", X, 1.0, BOXES)
    refused(ValueError, "several boxes", X, 1.0, [np.eye(3)] * 2)
    refused(ValueError, "box[1]: cell has the shape (4,)", [X, X], 1.0, [None, np.ones(4)])
    refused(ValueError, "box[1]: box has 2 dimensions", [X, X], 1.0, [np.eye(3), np.eye(2)])
    refused(TypeError, "box[1]: cell is 'a'", [X, X], 1.0, [None, "a"])
    refused(ValueError, "leave batch out", [X, X], 1.0, batch=OFFSETS)
    refused(ValueError, "x[1] has the shape (138, 2)", [X, X[:, :2]], 1.0)
    refused(ValueError, "x is no array", [X.tolist(), X[:3].tolist()], 1.0)
    bad = X.copy()
    bad[OFFSETS[3] + 2, 1] = np.nan
    refused(ValueError, "system 3 of the batch: x: a coordinate", bad, 1.0, BOXES, batch=OFFSETS)


if __name__ == "__main__":
    sys.exit(functions.main(globals()))
