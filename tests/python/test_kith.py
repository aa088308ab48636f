# SPDX-License-Identifier: BSD-3-Clause
"""The Python package against an oracle in NumPy, and what Python adds: types, errors, ownership,
threads, Ctrl-C and fork. test_kith.py [STRUCT_LAYOUT]"""
import concurrent.futures
import copy
import doctest
import gc
import itertools
import multiprocessing
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
from types import SimpleNamespace
from unittest import mock

import numpy as np

import functions
import kith
import needs
from functions import raises
from kith import _abi

random = np.random.default_rng(7)


def oracle(x, cutoff, box, full=False):
    """Return the sorted rows (i, j, S) of a list by the definition, from all n^2 pairs."""
    real = x.dtype.type
    rows, origin = box.cell.astype(x.dtype), box.origin.astype(x.dtype)
    reach = [0, 0, 0]
    if box.pbc.any():
        heights = 1 / np.linalg.norm(np.linalg.inv(box.cell), axis=0)
        reach = [int(np.ceil(cutoff / h)) if p else 0 for h, p in zip(heights, box.pbc)]
    inside = np.linalg.solve(box.cell.T, (x - origin).T.astype(float))
    assert ((inside > 0) & (inside < 1)).all()  # so that nothing is wrapped
    found = []
    for image in itertools.product(*(range(-r, r + 1) for r in reach)):
        d = x[None, :, :] - x[:, None, :]
        for axis in (2, 1, 0):
            d = d + real(image[axis]) * rows[axis]
        r2 = (d[..., 0] * d[..., 0] + d[..., 1] * d[..., 1]) + d[..., 2] * d[..., 2]
        near = r2 <= real(cutoff) * real(cutoff)
        for i, j in zip(*np.nonzero(near)):
            forward = i < j or (i == j and tuple(reversed(image)) > (0, 0, 0))
            if (i, image) != (j, (0, 0, 0)) and (full or forward):
                found.append((i, j, *image))
    return sorted(found)


def rows_of(i, j, s):
    """Return the rows (i, j, S) of a list, sorted."""
    return sorted(map(tuple, np.column_stack([i, j, s]).tolist()))


def test_pairs_oracle():
    cells = ([1.0, 1.5, 0.7], [[1.0, 0, 0], [0.3, 1.5, 0], [-0.2, 0.4, 0.7]])
    for dtype, full, pbc, cell in itertools.product((np.float32, np.float64), (False, True),
                                                    (True, [True, False, True], False), cells):
        box = kith.Box(cell, pbc=pbc, origin=[5, 0, -2])
        x = (random.random((60, 3)) * 0.98 + 0.01) @ box.cell + box.origin
        x = x.astype(dtype)
        i, j, s = kith.pairs(x, 0.4, box, "ijS", full=full)
        expected = oracle(x, 0.4, box, full)
        assert len(expected) > 100 and rows_of(i, j, s) == expected
        assert kith.count_pairs(x, 0.4, box, full=full) == len(expected)


def test_pairs_values():
    x = random.random((500, 3))
    box = kith.Box(1.0)
    i, j, d, v, s = kith.pairs(x, 0.15, box, "ijdDS", full=True, sort=True)
    assert np.array_equal(v, (x[j] - x[i]) + s) and (d <= 0.15).all()
    assert np.allclose(d, np.linalg.norm(v, axis=1), rtol=1e-15)
    assert (np.diff(i) >= 0).all()
    o, k = kith.pairs(x, 0.15, box, "oj", full=True, layout="csr", sort=True)
    assert np.array_equal(k, j) and np.array_equal(np.diff(o), np.bincount(i, minlength=500))
    n, each = kith.count_pairs(x, 0.15, box, full=True, neighbours=True)
    assert n == len(i) and np.array_equal(each, np.diff(o))
    wide = kith.pairs(x, 0.15, box, "i", index=np.int64)
    assert wide.dtype == np.int64 and isinstance(wide, np.ndarray)


def test_against():
    x, y = random.random((40, 3)), random.random((50, 3))
    i, j = kith.pairs(x, 0.3, against=y)
    near = ((y[None] - x[:, None]) ** 2).sum(2) <= 0.3 ** 2
    assert sorted(zip(i, j)) == sorted(zip(*np.nonzero(near)))


def test_plane():
    x = random.random((300, 2))
    flat = np.column_stack([x, np.zeros(300)])
    i, j, v, s = kith.pairs(x, 0.1, kith.Box([1, 1]), "ijDS", sort=True)
    k, m = kith.pairs(flat, 0.1, kith.Box([1, 1, 1], pbc=[1, 1, 0]), sort=True)
    assert np.array_equal(i, k) and np.array_equal(j, m) and v.shape == s.shape == (len(i), 2)
    speed = random.random((300, 2))
    one = kith.fof(x, 0.1, min_members=2, velocities=speed, velocity_length=0.1)
    two = kith.fof(flat, 0.1, min_members=2, velocity_length=0.1,
                   velocities=np.column_stack([speed, np.zeros(300)]))
    assert len(one) > 10 and np.array_equal(one.labels, two.labels)
    mean = one.halos(velocities=speed)["velocity"][0]
    assert np.allclose(mean[:2], speed[one.labels == 1].mean(axis=0)) and mean[2] == 0


def test_layouts():
    """Arrays in any order of memory give the list of a plain one."""
    x = random.random((200, 3))
    expected = kith.pairs(x, 0.2, sort=True)
    wide = np.zeros((200, 7))
    wide[:, 2:5] = x
    swapped = x.astype(x.dtype.newbyteorder())
    for given in (np.asfortranarray(x), wide[:, 2:5], x[::-1][::-1], swapped, x.tolist(),
                  np.repeat(x, 2, axis=0)[::2]):
        found = kith.pairs(given, 0.2, sort=True)
        assert all(map(np.array_equal, found, expected))
    assert len(kith.pairs(np.zeros((0, 3)), 1)[0]) == 0


def test_ownership():
    """Results live as long as the last array over them, and are freed then."""
    x = random.random((3000, 3))
    i = kith.pairs(x, 0.1, want="ij")[0]
    copy = i.copy()
    tail = i[10:]
    del i
    gc.collect()
    kith.pairs(random.random((3000, 3)), 0.1)
    assert np.array_equal(tail, copy[10:])

    def resident():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * 4096
    for _ in range(20):
        kith.pairs(x, 0.2)
    before = resident()
    for _ in range(100):
        kith.pairs(x, 0.2)
    assert resident() - before < 30e6, resident() - before  # a list takes 1 MB


def test_errors():
    x = random.random((10, 3))
    raises(ValueError, lambda: kith.pairs(x, -1), "cutoff")
    raises(ValueError, lambda: kith.pairs(x, 1, 1.0, "ijq"), "want")
    raises(ValueError, lambda: kith.pairs(x, 1, want="o"), "want")
    raises(ValueError, lambda: kith.pairs(x, 1, layout="coo"), "layout")
    raises(ValueError, lambda: kith.pairs(x, 1, index=np.int16), "index")
    raises(ValueError, lambda: kith.pairs(x.reshape(5, 6), 1), "x has the shape (5, 6)")
    raises(TypeError, lambda: kith.pairs(x.astype(complex), 1), "x has the type complex128")
    raises(ValueError, lambda: kith.pairs(np.full((3, 3), np.nan), 1), "particle 0")
    raises(ValueError, lambda: kith.pairs(x, 1, kith.Box([1, 1])), "x has the shape")
    raises(kith.LimitError, lambda: kith.pairs(x, 600, kith.Box(1.0)), "cutoff")
    raises(ValueError, lambda: kith.Box([1, 2, 3, 4]), "cell")
    raises(ValueError, lambda: kith.Box(1, pbc=[1, 0]), "pbc")
    assert kith.Box([[1, 0, 0], [0, 2, 0], [0, 0, 0]], pbc=[1, 1, 0]).volume == np.inf
    raises(ValueError, lambda: kith.Context("cpu:abacus"), "abacus")
    raises(ValueError, lambda: kith.fof(x, 0.1, ids=np.arange(9)), "ids has the shape (9,)")
    raises(TypeError, lambda: kith.fof(x, 0.1, ids=x[:, 0]), "ids has the type")
    raises(ValueError, lambda: kith.fof(x, 0.1, roles=np.full(10, 300)), "roles")
    raises(ValueError, lambda: kith.rdf.Histogram(1.0).add(x, species=np.full(10, 2 ** 32)),
           "species has values beyond those of int32")
    raises(ValueError, lambda: kith.fof(x, 1, roles=np.full(10, 3)), "expected 0, 1 or 2")
    error = raises(ValueError, lambda: kith.fof(x, 1, min_members=0), "min_members is 0")
    assert "options" not in str(error)
    raises(kith.LimitError, lambda: kith.fof(x, 600, 1.0), "length is 600")
    raises(kith.LimitError, lambda: kith.rdf.Histogram(600).add(x, 1.0), "r_max is 600")
    raises(ValueError, kith.rdf.Histogram, "r_max")
    raises(ValueError, kith.rdf.Histogram(1.0).g, "no frames")
    raises(TypeError, lambda: kith.Flock(x, x, colour=1), "colour")
    closed = kith.Context()
    closed.close()
    raises(ValueError, lambda: kith.pairs(x, 1, ctx=closed), "closed")


def test_numbers():
    """Numbers and arrays that C would cut, or read as something else, are refused by name."""
    x = random.random((50, 3))
    for call, name in (
            (lambda: kith.Context(threads=2 ** 32 + 1), "threads"),
            (lambda: kith.fof(x, 0.1, min_members=2 ** 64 + 3), "min_members"),
            (lambda: kith.fof(x, 0.1, min_links=2 ** 64 + 1), "min_links"),
            (lambda: kith.rdf.Histogram(1, bins=2 ** 64 + 4), "bins"),
            (lambda: kith.rdf.Histogram(1, n_species=2 ** 32 + 1), "n_species"),
            (lambda: kith.rdf.Histogram(1).add(x, 1.0).g(2 ** 32, 0), "a is"),
            (lambda: kith.overlap(x, bins=2 ** 64 + 4), "bins"),
            (lambda: kith.debye(x, 1, 2 ** 64 + 2), "n_q"),
            (lambda: kith.Flock(x, x, seed=-1), "seed"),
            (lambda: kith.Flock(x, x).step(2 ** 64 + 1), "steps"),
            (lambda: kith.Flock(x, x, separation=(1, 2, 3)), "separation"),
            (lambda: kith.Box(float("nan")), "cell"),
            (lambda: kith.pairs(np.array([[2 ** 53 + 1, 0, 0]]), 1), "x"),
            (lambda: kith.rdf.Histogram(1, n_species=2).add(x, 1.0), "species"),
            (lambda: kith.rdf.Histogram(1).add(x, 1.0).add(x[:, :2], 1.0), "dimensions")):
        raises(ValueError, call, name)
    masked = np.ma.masked_greater(x, 0.5)
    for call, name in (
            (lambda: kith.pairs(x, "0.1"), "cutoff"), (lambda: kith.pairs(x, [0.1]), "cutoff"),
            (lambda: kith.pairs(x, None), "cutoff"), (lambda: kith.fof(x, "a"), "length"),
            (lambda: kith.fof(x, 0.1, min_members=2.5), "min_members"),
            (lambda: kith.rdf.Histogram(1, bins=3.7), "bins"),
            (lambda: kith.Context(threads="2"), "threads"), (lambda: kith.Context(3), "backend"),
            (lambda: kith.pairs(x, 0.1, ctx="cpu"), "ctx"), (lambda: kith.Box("10"), "cell"),
            (lambda: kith.Box([1, [2], 3]), "cell"), (lambda: kith.Box([kith.Box()]), "cell"),
            (lambda: kith.Flock(x, x, noise="much"), "noise"),
            (lambda: kith.pairs(masked, 0.1), "x is a masked array"),
            (lambda: kith.fof(x, 0.1).halos(masses=masked[:, 0]), "masses is a masked array"),
            (lambda: kith.pairs(x.astype(np.float32), 0.1, against=x), "against")):
        raises(TypeError, call, name)
    raises(ValueError, lambda: kith.fof(x.astype(np.float32), 0.1).halos(masses=x[:, 0] * 1e40),
           "masses")


def test_odd_memory():
    """Arrays whose elements are not aligned are copied."""
    x = random.random((100, 3))
    raw = bytearray(1) + x.tobytes()
    odd = np.frombuffer(raw, np.float64, offset=1).reshape(100, 3)
    assert not odd.flags.aligned and kith._arrays.coordinates(odd)[1].flags.aligned
    assert all(map(np.array_equal, kith.pairs(odd, 0.3, sort=True), kith.pairs(x, 0.3, sort=True)))


def test_repulsion_of_flocks():
    """Overlapping particles part as a spring relaxes; velocities do not change."""
    x, v = np.array([[0.0, 0.0], [0.6, 0.8]]), np.zeros((2, 2))
    flock = kith.Flock(x, v, separation=(0, 0), alignment=(0, 0), cohesion=(0, 0),
                       repulsion=(3, 2), time_step=0.1).step(5)
    between = flock.positions[1] - flock.positions[0]
    law = 3 - 2 * (1 - 2 * 2 * 0.1) ** 5
    assert np.allclose(between, law * np.array([0.6, 0.8]), atol=1e-5), between
    assert (flock.velocities == 0).all()
    raises(ValueError, lambda: kith.Flock(x, v, repulsion=(1, -1.0)), "repulsion.weight")
    raises(ValueError, lambda: kith.Flock(x, v, repulsion=(np.nan, 1.0)), "repulsion")


def test_species_of_flocks():
    """Species that ignore each other fly as if alone; hostile species are refused."""
    rng = np.random.default_rng(4)
    x, v = rng.uniform(0, 10, (90, 3)), rng.uniform(-1, 1, (90, 3))
    species = np.arange(90) % 7 % 3
    flock = kith.Flock(x, v, 12.0, factors=np.eye(3), species=species, max_speed=0).step(3)
    for one in range(3):
        alone = kith.Flock(x[species == one], v[species == one], 12.0, max_speed=0).step(3)
        assert np.allclose(flock.positions[species == one], alone.positions, atol=1e-5)
    flock.change(noise=0.2).step()  # keeps the species
    plain = kith.Flock(x, v, 12.0).step(3)
    assert (kith.Flock(x, v, 12.0, factors=np.ones((2, 2))).step(3).positions ==
            plain.positions).all()
    split = np.ones((2, 2, 3))
    split[0, 1] = 0, -1, 2
    assert (kith.Flock(x, v, 12.0, factors=split).step(3).positions != plain.positions).any()
    raises(ValueError, lambda: kith.Flock(x, v, species=species), "needs factors")
    raises(ValueError, lambda: kith.Flock(x, v, factors=np.eye(2), species=species), "species")
    raises(ValueError, lambda: kith.Flock(x, v, factors=[[np.nan]]), "factors")
    raises(ValueError, lambda: kith.Flock(x, v, factors=np.ones((2, 3))), "shape")
    raises(ValueError, lambda: kith.Flock(x, v, factors=np.eye(3), species=species - 1), "0 to 255")
    raises(ValueError, lambda: kith.Flock(x, v, factors=np.eye(3), species=species / 2), "integers")


def test_leaders_of_flocks():
    """Leaders turn by Couzin's rule, the others fly on; a goal needs a direction."""
    x, v = np.stack([50.0 * np.arange(10), np.zeros(10)], 1), np.tile([0.0, 1.0], (10, 1))
    led = kith.Flock(x, v, leaders=0.35, leader_weight=0.5, leader_direction=(2, 0)).step()
    turned = np.array([0.5, 1.0]) / np.hypot(0.5, 1.0)
    assert np.allclose(led.velocities, [turned] * 4 + [[0.0, 1.0]] * 6, atol=1e-12)
    raises(ValueError, lambda: kith.Flock(x, v, leaders=0.5, leader_weight=1.0), "leader_direction")
    raises(ValueError, lambda: kith.Flock(x, v, leaders=1.5), "leaders")
    raises(ValueError, lambda: kith.Flock(x, v, leaders=0.2), "leader_weight", "leader_direction")
    raises(ValueError, lambda: kith.Flock(x, v, leaders=0.2, leader_weight=0.5),
           "leaders needs leader_direction")
    raises(ValueError, lambda: kith.Flock(x, v).change(leaders=0.2), "leader_weight")
    raises(ValueError, lambda: kith.Flock(x, v, leader_direction=(1,)), "two or three")


def test_turns_of_flocks():
    """Noise turns boids by uniform or normal angles; no velocity turns farther than the limit."""
    n = 4000
    x = np.stack([10.0 * np.arange(n), np.zeros(n)], 1)  # too far apart to see each other
    v = np.tile([0.0, 1.0], (n, 1))

    def angles(**how):
        after = kith.Flock(x, v, noise=0.1, **how).step().velocities
        return np.arctan2(after[:, 0], after[:, 1]) / (0.1 * np.pi)
    uniform, normal = angles(), angles(gaussian=True)
    assert 0.99 < abs(uniform).max() <= 1 + 1e-9 and abs(uniform.var() - 1 / 3) < 0.03
    assert abs(normal).max() > 3 and abs(normal.var() - 1) < 5 * np.sqrt(2 / n)
    slow = angles(gaussian=True, time_step=0.5, turn_rate=0.2 * np.pi)  # one unit of the angle
    assert abs(slow).max() < 1 + 1e-9 and (abs(slow) > 1 - 1e-9).mean() > 0.25
    raises(ValueError, lambda: kith.Flock(x, v, turn_rate=-1.0), "turn_rate")
    raises(ValueError, lambda: kith.Flock(x, v, gaussian=True), "gaussian", "give noise")
    raises(ValueError, lambda: kith.Flock(x, v, model="vectorial", gaussian=True),
           "gaussian", "model 'vectorial'")


def test_messages_of_flocks():
    """Messages name the arguments as Python has them; reflecting axes are given by bools."""
    x, v = np.full((2, 3), 0.5), np.full((2, 3), [1.0, 0.5, 0.0])
    box = kith.Box([1, 1, 1], pbc=(False, True, True))
    for how, words in (({"separation": (-1, 0)}, "separation[0] is -1"),
                       ({"cohesion": (1, np.nan)}, "cohesion[1] is"),
                       ({"model": "vectorial", "gaussian": True}, "model 'vectorial' is no angle"),
                       ({"alignment": (900, 1)}, "the largest radius is 900"),
                       ({"max_speed": -1}, "max_speed is -1"),
                       ({"reflecting": (True, False)}, "a bool for each of the 3 axes"),
                       ({"reflecting": (False, True, False)}, "reflecting: axis b")):
        text = str(raises(ValueError, lambda: kith.Flock(x, v, box, **how), words)
                   if how != {"alignment": (900, 1)} else
                   raises(kith.LimitError, lambda: kith.Flock(x, v, box, **how), words))
        assert "KITH_" not in text and "options" not in text, text
    raises(ValueError, lambda: kith.Flock(x, np.full((2, 3), np.nan)), "v: ")
    text = str(raises(ValueError, lambda: kith.Flock(x, v, box), "a radius of 5 is no less"))
    assert "options" not in text, text
    alone = {"separation": (0, 0), "alignment": (0, 0), "cohesion": (0, 0), "max_speed": 0}
    for reflecting in ((True, False, False), [1, 0, 0]):
        flock = kith.Flock(x, v, box, reflecting=reflecting, time_step=0.75, **alone).step()
        assert np.allclose(flock.positions, [0.75, 0.875, 0.5]), flock.positions
        assert np.allclose(flock.velocities, [-1, 0.5, 0]), flock.velocities


def test_lifetimes():
    """No use of what is closed, copied, or in use by another thread reaches freed memory."""
    x = random.random((500, 3))
    with kith.Context() as ctx:
        flock = kith.Flock(x, x, 1.0, ctx=ctx, separation=(0.1, 1), alignment=(0.1, 1),
                           cohesion=(0.1, 1))
    raises(ValueError, flock.step, "closed")
    histogram = kith.rdf.Histogram(0.1).add(x, 1.0)
    groups = kith.fof(x, 0.1)
    for one in (kith.Context(), flock, histogram, groups):
        raises(TypeError, lambda one=one: copy.copy(one), "cannot be copied")
        raises(TypeError, lambda one=one: pickle.dumps(one), "cannot be copied")
    raises(ValueError, lambda: groups.labels.__setitem__(0, 5), "read-only")
    raises(ValueError, lambda: kith.Box(1.0).cell.__setitem__(0, 5), "read-only")

    ctx = kith.Context(threads=1)
    long = threading.Thread(target=lambda: kith.count_pairs(random.random((300000, 3)), 0.1, 1.0,
                                                            ctx=ctx))
    long.start()
    while not ctx._lock.locked() and long.is_alive():
        time.sleep(0.001)
    if long.is_alive():
        raises(kith.Busy, ctx.close)
        raises(kith.Busy, lambda: kith.pairs(x, 0.1, ctx=ctx))
    long.join()
    ctx.close()

    def threads():
        return len(os.listdir("/proc/self/task"))
    before = threads()
    for _ in range(5):
        kith.pairs(x, 0.2, 1.0, ctx=kith.Context(threads=3))
        kith.Flock(x, x, 1.0, separation=(0.1, 1), alignment=(0.1, 1), cohesion=(0.1, 1)).step()
    assert threads() <= before + 1, "contexts that are dropped keep their threads"


def test_streams():
    """Streams have CUDA's numbers, a context follows the stream of the array, CPU cores have
    none."""
    with kith.Context("cpu", stream=12345) as ctx:
        assert ctx.stream is None
        raises(NotImplementedError, lambda: ctx.set_stream(0), "set_stream needs a GPU")
        assert kith.count_pairs(random.random((50, 3)), 0.1, ctx=ctx) >= 0
    raises(ValueError, lambda: ctx.set_stream(0), "closed")
    raises(ValueError, lambda: ctx.set_stream(-1), "stream")
    for wrong in ("0", None, 1.5):
        raises(TypeError, lambda wrong=wrong: ctx.set_stream(wrong), "stream")
    raises(ValueError, lambda: kith.Context("cpu", stream=2 ** 64), "stream")
    address = kith._context._address_of_stream
    assert [address(one) for one in (0, 1, 2, np.uint64(2 ** 63), SimpleNamespace(ptr=1), (
        SimpleNamespace(cuda_stream=7)), SimpleNamespace(__cuda_stream__=lambda: (0, 9)))] == [
            0, 0, 2, 2 ** 63, 0, 7, 9]

    def array(stream):
        face = {"shape": (4, 3), "typestr": "<f8", "version": 3, "data": (256, False),
                "strides": None, **stream}
        return kith._kinds.take(SimpleNamespace(__cuda_array_interface__=face), "x")
    assert [array(one).stream for one in ({}, {"stream": None}, {"stream": 1}, {"stream": 2})] == [
        0, 0, 0, 2]
    raises(ValueError, lambda: array({"stream": 0}), "x has the stream 0")

    seen = []

    class OnGpu:
        """A context of a GPU that notes its streams."""

        def __init__(self, backend, stream):
            self.stream = stream
            seen.append((backend, stream))

        def set_stream(self, stream):
            self.stream = stream
            seen.append(stream)
    with mock.patch.multiple(kith._context, Context=OnGpu, _local=kith._context._Local()):
        for stream in (1, 1, 7, 7, 1):
            kith._context.context(None, array({"stream": stream}))
    assert seen == [("cuda:0", 0), 7, 0]


def test_histogram_of_threads():
    """Frames of several threads are all counted."""
    frames = [random.random((500, 3)) for _ in range(400)]
    one, many = (kith.rdf.Histogram(0.1, 100000) for _ in range(2))
    for frame in frames:
        one.add(frame, 1.0)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda frame: many.add(frame, 1.0), frames))
    assert many.frames == 400 and np.array_equal(many.counts(), one.counts())


def test_handlers():
    """What a handler of a signal raises during a call arrives; one that does not, does no harm."""
    seen = []

    def alarm(number, frame):
        seen.append(number)
        if len(seen) > 2:
            raise TimeoutError("enough")
    before = signal.signal(signal.SIGALRM, alarm)
    signal.setitimer(signal.ITIMER_REAL, 0.4, 0.2)
    try:
        raises(TimeoutError, long_call, "enough")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        assert len(seen) <= 5, f"the call went on for {len(seen)} alarms"
        assert signal.signal(signal.SIGALRM, before) is alarm


def components(n, i, j):
    """Label the groups of a graph: by the smallest member."""
    label = np.arange(n)
    while True:
        least = label.copy()
        np.minimum.at(least, i, label[j])
        np.minimum.at(least, j, label[i])
        if np.array_equal(least, label):
            return label
        label = least[least]


def test_fof():
    x = random.random((2000, 3))
    box = kith.Box(1.0)
    groups = kith.fof(x, 0.04, box, min_members=3)
    i, j = kith.pairs(x, 0.04, box)
    label = components(len(x), i, j)
    roots, members = np.unique(label, return_counts=True)
    kept = roots[members >= 3]
    order = kept[np.lexsort((kept, -members[members >= 3]))]
    expected = np.zeros(len(x), int)
    for number, root in enumerate(order, 1):
        expected[label == root] = number
    assert np.array_equal(groups.labels, expected) and len(groups) == len(order) > 10
    assert np.array_equal(groups.members, np.bincount(expected)[1:])

    masses = random.random(len(x)) + 1
    halos = groups.halos(masses=masses, velocities=x)
    assert np.array_equal(halos["members"], groups.members)
    assert np.allclose(halos["mass"], np.bincount(expected, masses)[1:], rtol=1e-14)
    inside = [k for k in range(1, len(groups) + 1) if np.ptp(x[expected == k], axis=0).max() < 0.5]
    for k in inside[:20]:
        here = expected == k
        centre = np.average(x[here], axis=0, weights=masses[here])
        assert np.allclose(halos["centre_of_mass"][k - 1], centre, rtol=1e-12)
        assert np.allclose(halos["velocity"][k - 1], centre, rtol=1e-12)


def test_rdf():
    x, box = random.random((400, 3)), kith.Box(1.0)
    species = random.integers(0, 2, 400)
    histogram = kith.rdf.Histogram(0.4, 20, n_species=2)
    for _ in range(2):
        histogram.add(x, box, species=species)
    i, j, d = kith.pairs(x, 0.4, box, "ijd")
    for a, b in ((0, 0), (0, 1), (1, 1)):
        chosen = np.sort(np.column_stack([species[i], species[j]])) == [a, b]
        expected = np.histogram(d[chosen.all(axis=1)], histogram.edges)[0]
        assert np.array_equal(histogram.counts(a, b), 2 * expected)
    assert histogram.frames == 2 and len(histogram.r) == 20
    assert np.allclose(histogram.g(0, 1), histogram.counts(0, 1) / histogram.ideal(0, 1))
    around = np.cumsum(histogram.counts(0, 1)) / (2 * (species == 0).sum())
    assert np.allclose(histogram.n(0, 1), around)
    raises(ValueError, lambda: histogram.g(0, 2), "partial")


def test_overlap_and_debye():
    x = random.standard_normal((50, 30))
    counts, edges = kith.overlap(x, bins=10)
    unit = x / np.linalg.norm(x, axis=1)[:, None]
    q = (unit @ unit.T)[np.triu_indices(50, 1)]
    assert np.array_equal(counts, np.histogram(q, edges)[0])
    x = random.random((30, 3))
    d = np.linalg.norm(x[:, None] - x[None], axis=2)[np.triu_indices(30, 1)]
    q = 0.5 + 0.25 * np.arange(8)
    expected = (np.sin(q[:, None] * d) / (q[:, None] * d)).sum(axis=1)
    assert np.allclose(kith.debye(x, 0.25, 8, q_min=0.5)[0], expected, rtol=1e-12)


def test_flock():
    x, v = random.random((500, 3)) * 10, random.random((500, 3)) - 0.5
    with kith.Flock(x, v, 10.0, model="boids") as one:
        one.step(10)
        with kith.Context(threads=1) as ctx:
            other = kith.Flock(x, v, 10.0, ctx=ctx)
            other.step(4).step(6)
            assert np.array_equal(one.positions, other.positions)
            assert np.array_equal(one.velocities, other.velocities) and one.steps == 10
            measures = one.measure()
            speed = np.linalg.norm(one.velocities, axis=1)
            heading = (one.velocities / speed[:, None]).mean(axis=0)
            assert np.isclose(measures["polarisation"], np.linalg.norm(heading))
            one.change(cohesion=(0, 0)).step()
            other.step()
            assert not np.array_equal(one.positions, other.positions)
            raises(ValueError, lambda: one.change(time_step=-1), "time_step")
            other.close()
    raises(ValueError, one.step, "closed")


def test_threads():
    """Each thread has a context of its own; the interpreter's lock is free during a call."""
    x = random.random((20000, 3))
    expected = kith.pairs(x, 0.05, 1.0, sort=True)[1]
    wrong = []

    def work():
        for _ in range(3):
            if not np.array_equal(kith.pairs(x, 0.05, 1.0, sort=True)[1], expected):
                wrong.append(threading.current_thread())
    functions.in_threads(work)
    assert not wrong


LONG = np.random.default_rng(1).standard_normal((40000, 1000), dtype=np.float32)


def long_call():
    """Long work: 8 * 10^8 overlaps of vectors of 1,000 numbers."""
    kith.overlap(LONG)


def test_interrupt():
    """Ctrl-C ends a long call with KeyboardInterrupt, soon, and the context goes on."""
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    raises(KeyboardInterrupt, long_call)
    took = time.monotonic() - start
    assert took < 20, took  # on a busy machine
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert len(kith.pairs(LONG[:100, :3], 1)) == 2


def in_child(x):
    """Return the number of pairs, found in a child process."""
    return kith.count_pairs(x, 0.1, 1.0)


def test_fork():
    x = random.random((2000, 3))
    expected = in_child(x)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(in_child, [x] * 4) == [expected] * 4


def test_gpu_library():
    """The library of the package kith_cu13 is loaded where it is installed; one that cannot be
    loaded is told."""
    own = kith._lib.library()._name
    environment = {name: value for name, value in os.environ.items() if name != "KITH_LIBRARY"}
    with tempfile.TemporaryDirectory() as folder:
        package = pathlib.Path(folder, "kith_cu13")
        (package / "lib").mkdir(parents=True)
        (package / "__init__.py").touch()
        place = package / "lib" / "libkith.so.0"
        environment["PYTHONPATH"] = os.pathsep.join(
            [folder, str(pathlib.Path(kith.__file__).parents[1])])

        def loaded():
            code = "import kith; print(kith.Context('cpu'), kith._lib.library()._name)"
            return subprocess.run([sys.executable, "-B", "-c", code], env=environment, text=True,
                                  capture_output=True, check=False)
        place.symlink_to(os.path.realpath(own))
        done = loaded()
        assert done.stdout.split()[-1:] == [str(place)], done
        place.unlink()
        place.write_text("no library", encoding="ascii")
        assert "the GPU library of pykith-cu13 is not used" in loaded().stderr


def test_doctests():
    names = ["_box", "_pairs", "_fof", "rdf", "_overlap", "_debye", "_flock"]
    try:
        kith.make("lattice", 8)
    except ImportError as error:
        needs.tell(f"the examples of kith.rdf: {error}")
        names.remove("rdf")
    for name in names:
        failed, tried = doctest.testmod(sys.modules["kith." + name],
                                        extraglobs={"kith": kith, "np": np})
        assert failed == 0 and tried > 0, name


def test_layout():
    """The structs of _abi.py have the C compiler's sizes and offsets."""
    if len(sys.argv) < 2:
        return
    listed = subprocess.run(sys.argv[1:2], check=True, capture_output=True, text=True).stdout
    seen = {}
    for line in listed.splitlines():
        if not line:
            continue
        name, *values = line.split()
        struct, _, field = name.partition(".")
        if struct == "kith_domain_view":  # Python has no domains
            continue
        mirror = _abi.STRUCTS[struct]
        here = [_abi.C.sizeof(mirror)]
        if field:
            here = [getattr(mirror, field).offset, getattr(mirror, field).size]
        assert here == [int(value) for value in values], f"{name}: {here} in Python, {values} in C"
        seen.setdefault(struct, []).extend([field] if field else [])
    for struct, mirror in _abi.STRUCTS.items():
        assert seen[struct] == [field[0] for field in mirror._fields_], struct


if __name__ == "__main__":
    sys.exit(functions.main(globals()))
