# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of NumPy, PyTorch, JAX and of the protocols for exchange as input and as results; the
caller's arrays as outputs; the number of steps of Python that a small call takes."""
import ctypes
import gc
import itertools
import subprocess
import sys

import numpy as np

import functions
import kith
import needs
from functions import raises
from kith import _dlpack, _kinds

random = np.random.default_rng(11)
X = random.random((300, 3))
BOX = kith.Box([1.0, 1.2, 0.9])


def test_out():
    """Every combination of outputs has the list's values, in the caller's memory."""
    for dtype, full, index, dim in itertools.product((np.float32, np.float64), (False, True),
                                                     (np.int32, np.int64), (2, 3)):
        x, box = X[:, :dim].astype(dtype), kith.Box(BOX.cell[:dim, :dim])
        how = {"full": full, "index": index}
        for layout, wants in (("ij", ("ij", "ijSdD", "d", "jD", "iji")),
                              ("csr", ("oj", "odDSj", "o"))):
            for want in wants:
                expected = kith.pairs(x, 0.2, box, want, layout=layout, **how)
                expected = expected if isinstance(expected, tuple) else (expected,)
                room = [np.empty((len(one) + 7, *one.shape[1:]), one.dtype) for one in expected]
                found = kith.pairs(x, 0.2, box, want, layout=layout, out=room, **how)
                found = found if isinstance(found, tuple) else (found,)
                for one, other, array in zip(expected, found, room):
                    assert np.array_equal(one, other) and other.base is array
    one = np.empty(10000)
    assert kith.pairs(X, 0.2, BOX, "d", out=one).base is one


def test_out_capacity():
    n = kith.count_pairs(X, 0.2, BOX)
    for index in (np.int32, np.int64):
        room = np.empty(n - 1, index), np.empty(n + 5, index)
        error = raises(kith.CapacityError, lambda: kith.pairs(X, 0.2, BOX, out=room, index=index),
                       str(n))
        assert error.needed == n
        room = [np.empty(error.needed, index) for _ in "ij"]
        assert len(kith.pairs(X, 0.2, BOX, out=room, index=index)[0]) == n
    error = raises(kith.CapacityError, lambda: kith.pairs(
        X, 0.2, BOX, layout="csr", out=(np.empty(300, np.int64), room[0])), "offsets")
    assert error.needed == 301


def test_out_refused():
    i, j = np.empty(9000, np.int32), np.empty(9000, np.int32)

    def give(*out, want="ij", **how):
        return lambda: kith.pairs(X, 0.2, BOX, want, out=out, **how)
    fixed = j.copy()
    fixed.flags.writeable = False
    raises(ValueError, give(i, fixed), "out[1] is read-only")
    raises(ValueError, give(i), "out has 1 arrays")
    raises(TypeError, give(i, j.astype(np.int64)), "out[1] has the type int64")
    raises(TypeError, give(i, j, index=np.int64), "out[0] has the type int32")
    raises(TypeError, give(i, j, np.empty(9000, np.float32), want="ijd"), "out[2]")
    raises(ValueError, give(i, j, np.empty((9000, 2)), want="ijD"), "out[2] has the shape")
    raises(ValueError, give(i, j[::2]), "out[1] is not contiguous")
    raises(ValueError, give(i, i), "shares memory")
    raises(ValueError, lambda: kith.pairs(X, 0.2, BOX, "d", out=X.reshape(-1)), "coordinates")
    raises(TypeError, give(i, [0] * 9000), "out[1]")
    again = give(i, j)()
    assert len(again[0]) == kith.count_pairs(X, 0.2, BOX)


def test_count_refused():
    """`count` is for arrays on a GPU, with `out`."""
    x, i, j = random.random((50, 3)), np.zeros(99, np.int32), np.zeros(99, np.int32)
    for how in ({}, {"out": (i, j)}):
        raises(ValueError, lambda how=how: kith.pairs(x, 0.1, count=np.zeros(1, int), **how),
               "count needs out")


def test_short_lists():
    """Short lists are copies: a later list does not change them, whatever it holds."""
    kept, copies = [], []
    for k in range(60):
        x = random.random((2 + k, 3)).astype((np.float64, np.float32)[k % 2])
        want = ("ij", "ijdDS", "d", "jS")[k % 4]
        kept.append(kith.pairs(x, 0.3, 1.0, want, sort=True))
        copies.append([np.array(one) for one in kept[-1]])
        i = kith.pairs(x, 0.3, 1.0, "i", sort=True)
        d = np.empty(5000, x.dtype)
        assert np.array_equal(kith.pairs(x, 0.3, 1.0, "d", sort=True, out=d),
                              kith.pairs(x, 0.3, 1.0, "d", sort=True)) and len(i) < 4000
    for one, other in zip(kept, copies):
        assert all(map(np.array_equal, one, other))


def test_flags():
    """Results may be made read-only and writeable again, as SciPy does."""
    for i in (kith.pairs(X, 0.3, BOX, "i"), kith.pairs(X[:5], 0.3, BOX, "i")):
        i.flags.writeable = False
        i.flags.writeable = True
        again = i[::2]
        again.flags.writeable = False
        again.flags.writeable = True
        i[:] = 7


def test_strides():
    """Rows that are a whole number of elements apart are read where they are."""
    wide = np.zeros((300, 8))
    wide[:, 1:7:2] = X
    split = np.asfortranarray(X)
    for given, copied in ((wide[:, 1:7:2], False), (split, False), (X[::-1], True),
                          (np.repeat(X, 2, axis=0)[::2], False)):
        kept = kith._arrays.coordinates(given)[1]
        assert np.may_share_memory(kept, given) is not copied
        i, j, d = kith.pairs(given, 0.2, BOX, "ijd", sort=True)
        same = kith.pairs(np.ascontiguousarray(given), 0.2, BOX, "ijd", sort=True)
        assert all(map(np.array_equal, (i, j, d), same))


class Interface:
    """An object that has a protocol alone."""

    def __init__(self, array, **names):
        self._array = array
        self.__dict__.update(names)


class Dlpack:
    """An object that has DLPack alone."""

    def __init__(self, array):
        self._array = array

    def __dlpack_device__(self):
        return _dlpack.CPU, 0

    def __dlpack__(self, **how):
        array = self._array
        return _dlpack.write(array.ctypes.data, array.shape, array.dtype, (1, 0), array)


def test_protocols():
    expected = kith.pairs(X, 0.2, BOX, sort=True)
    face = Interface(X, __array_interface__=X.__array_interface__)
    for given in (face, Dlpack(X), memoryview(X)):
        assert all(map(np.array_equal, kith.pairs(given, 0.2, BOX, sort=True), expected))
    read = _kinds.take(Dlpack(X), "x")
    assert np.may_share_memory(read, X) and np.array_equal(read, X)
    elsewhere = type("Elsewhere", (Dlpack,), {"__dlpack_device__": lambda self: (4, 0)})
    raises(TypeError, lambda: kith.pairs(elsewhere(X), 0.2), "x is on a device")


def test_capsules():
    """Capsules are made whatever other packages set as types of Python's functions in ctypes."""
    x = np.arange(6.0)
    array = kith.DeviceArray(x.ctypes.data, (6,), x.dtype, 0, x)
    new = ctypes.pythonapi.PyCapsule_New
    before = new.argtypes
    try:  # as jax.ffi.pycapsule
        destructor = ctypes.CFUNCTYPE(None, ctypes.py_object)
        new.argtypes = ctypes.c_void_p, ctypes.c_char_p, destructor
        capsule = array.__dlpack__()
    finally:
        new.argtypes = before
    assert "dltensor" in repr(capsule)


def test_at_exit():
    """Objects that live to the end of the process print nothing."""
    code = """
import json, kith, numpy as np, builtins, sys
x = np.random.default_rng(1).random((9000, 3))
json.kept = [kith.pairs(x, 0.1), kith.Context(), kith.fof(x, 0.1), kith.Flock(x, x, max_speed=0.0)]
# Modules that are alive at the end are emptied, those that were imported first after the others.
builtins.kept = [json, *(sys.modules[f"kith.{name}"] for name in ("_arrays", "_context", "_flock"))]
"""
    done = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, check=True)
    assert done.stderr == b"", done.stderr.decode()


def test_dlpack():
    """Capsules keep memory alive until they are let go, consumed or not."""
    if not hasattr(np, "from_dlpack"):
        raise needs.Skip("NumPy before 1.22 has no from_dlpack (pip install numpy)")
    before = len(_dlpack._lent)
    capsule = Dlpack(X).__dlpack__()
    assert len(_dlpack._lent) == before + 1
    del capsule
    gc.collect()
    assert len(_dlpack._lent) == before
    for dtype in ("f4", "f8", "i4", "i8", "u1"):
        array = (random.random((5, 3)) * 100).astype(dtype)
        taken = np.from_dlpack(Dlpack(array))
        assert np.array_equal(taken, array) and taken.dtype == array.dtype
        assert np.may_share_memory(taken, array)
        tensor = _dlpack.read(array, "x")
        assert (tensor.shape, tensor.strides, tensor.dtype) == ((5, 3), array.strides, array.dtype)
        assert tensor.address == array.ctypes.data
        del taken, tensor
    gc.collect()
    assert len(_dlpack._lent) == before


def test_torch_blocked():
    """A program that blocks the import of PyTorch by None can call kith."""
    was = sys.modules.get("torch")
    sys.modules["torch"] = None
    try:
        with kith.Flock(np.zeros((1, 3)), np.ones((1, 3))) as flock:
            assert isinstance(flock.step().positions, np.ndarray)
    finally:
        del sys.modules["torch"]
        if was:
            sys.modules["torch"] = was


def test_torch():
    """A tensor gives tensors over the library's memory."""
    torch = needs.module("torch")
    t = torch.from_numpy(X)
    expected = kith.pairs(X, 0.2, BOX, "ijdDS", sort=True)
    found = kith.pairs(t, 0.2, BOX, "ijdDS", sort=True, index=np.int64)
    assert all(isinstance(one, torch.Tensor) for one in found) and found[0].dtype == torch.int64
    assert all(np.array_equal(one.numpy(), other) for one, other in zip(found, expected))
    assert kith.pairs(t.float(), 0.2, BOX, "d").dtype == torch.float32
    n, each = kith.count_pairs(t, 0.2, BOX, neighbours=True)
    assert isinstance(each, torch.Tensor) and n == len(expected[0])
    room = torch.empty(20000, dtype=torch.int32), torch.empty(20000, dtype=torch.int32)
    i, _ = kith.pairs(t, 0.2, BOX, out=room)
    assert i.data_ptr() == room[0].data_ptr() and len(i) == n
    groups = kith.fof(t, 0.08, BOX, min_members=2)
    assert isinstance(groups.labels, torch.Tensor)
    assert np.array_equal(groups.labels.numpy(), kith.fof(X, 0.08, BOX, min_members=2).labels)
    assert np.array_equal(kith.rdf.Histogram(0.3).add(t, BOX).counts(),
                          kith.rdf.Histogram(0.3).add(X, BOX).counts())
    assert isinstance(kith.debye(t, 1.0, 3), torch.Tensor)
    raises(TypeError, lambda: kith.pairs(t.clone().requires_grad_(), 0.2, BOX, "ijd"), "gradients")
    assert len(kith.pairs(t.clone().requires_grad_(), 0.2, BOX)[0]) == n
    raises(TypeError, lambda: kith.pairs(t.to("meta"), 0.2, BOX), "x is on the device meta")
    raises(TypeError, lambda: kith.pairs(t.bfloat16(), 0.2, BOX), "x has the type")
    raises(TypeError, lambda: kith.pairs(t.to_sparse(), 0.2, BOX), "layout")


def test_jax():
    jax = needs.module("jax")
    given = jax.numpy.asarray(X.astype(np.float32))
    found = kith.pairs(given, 0.2, BOX, "ijd", sort=True)
    expected = kith.pairs(X.astype(np.float32), 0.2, BOX, "ijd", sort=True)
    assert all(isinstance(one, jax.Array) for one in found)
    assert all(np.array_equal(np.asarray(a), b) for a, b in zip(found, expected))
    raises(TypeError, lambda: jax.jit(lambda x: kith.pairs(x, 0.2, BOX))(given), "traced")


def test_device_refused():
    """Memory of a GPU is described without a GPU, and refused by name where it cannot be used."""
    fake = kith.DeviceArray(4096, (5, 3), np.float64, 0, None)
    assert fake.__cuda_array_interface__["data"] == (4096, False) and len(fake) == 5
    face = _kinds.take(Interface(None, __cuda_array_interface__={
        "shape": (5, 3), "typestr": "<f4", "data": (64, True), "version": 3, "stream": 77}), "x")
    assert (face.stream, face.writeable, face.packed, face.number) == (77, False, True, 0)
    tensor = _dlpack.read(fake, "x")
    assert (tensor.address, tensor.device, tensor.shape) == (4096, (_dlpack.CUDA, 0), (5, 3))
    raises(TypeError, lambda: kith.debye(fake, 1.0, 3), "x is in the memory of a GPU")
    raises(TypeError, lambda: kith.pairs(X, 0.1, against=fake), "against is in the memory")
    raises(TypeError, lambda: kith.pairs(
        kith.DeviceArray(4096, (5, 3), np.int32, 0, None), 0.1), "x has the type int32")
    raises(ValueError, lambda: kith.pairs(
        kith.DeviceArray(4096, (5, 3), np.float64, 0, None, (-24, 8)), 0.1), "strides")
    raises(TypeError, lambda: kith.pairs(fake, 0.1, against=X), "against is in host memory")
    histogram = kith.rdf.Histogram(0.3, 10, n_species=2)
    species = np.zeros(5, np.int32)
    raises(TypeError, lambda: histogram.add(fake, BOX, species=species, against=X),
           "against is in host memory")
    raises(TypeError, lambda: histogram.add(X, BOX, species=species, against=fake),
           "against is in the memory")
    raises(TypeError, lambda: histogram.add(X, BOX, species=kith.DeviceArray(
        4096, (300,), np.int32, 0, None)), "species is in the memory of a GPU")

    class Column:
        """An array on a GPU that can be copied to the host as Numba's can."""
        __cuda_array_interface__ = {"shape": (300,), "typestr": "<i8", "data": (4096, False),
                                    "version": 3}

        def copy_to_host(self):
            return np.arange(300)
    assert np.array_equal(kith.fof(X[:300], 0.1, ids=Column(), min_members=1).labels,
                          kith.fof(X[:300], 0.1, min_members=1).labels)
    raises(TypeError, lambda: kith.Flock(fake, fake), "x is a DeviceArray on a GPU")
    raises(TypeError, lambda: kith.Flock(X[:5], fake), "v is in the memory of a GPU")
    raises(TypeError, lambda: kith.overlap(fake), "x is in the memory of a GPU")
    raises(TypeError, lambda: kith.pairs(X, 0.1, out=(fake, fake)), "out[0] is in the memory")
    with kith.Context("cpu") as ctx:
        raises(NotImplementedError, lambda: kith.pairs(fake, 0.1, ctx=ctx), "device memory")
        raises(NotImplementedError, lambda: kith.rdf.Histogram(0.3, ctx=ctx).add(fake, 1.0),
               "x: in device memory")
        raises(NotImplementedError, lambda: kith.rdf.structure_factor(fake, 30.0, 1.0, ctx=ctx),
               "x: in device memory")


def test_overhead():
    """A call for 8 particles takes few steps in Python."""
    x, room = X[:8], (np.empty(100, np.int32), np.empty(100, np.int32))
    for call, most in ((lambda: kith.pairs(x, 0.2, BOX), 50),
                       (lambda: kith.pairs(x, 0.2, BOX, "ijdS"), 60),
                       (lambda: kith.pairs(x, 0.2, BOX, out=room), 70),
                       (lambda: kith.count_pairs(x, 0.2, BOX), 47),
                       (lambda: kith.fof(x, 0.2, BOX), 93)):
        steps = functions.steps_of(call)
        assert steps <= most, (steps, most)


if __name__ == "__main__":
    sys.exit(functions.main(globals()))
