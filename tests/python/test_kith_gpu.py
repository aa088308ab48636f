# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in the memory of a GPU: results are the CPU's, stay on the device, and are ordered with
the caller's stream. Needs a library built with CUDA, and CuPy, PyTorch or JAX but for streams."""
import ctypes as C
import gc
import os
import pathlib
import subprocess
import sys

import needs

try:
    import numpy as np
except ImportError as error:
    needs.leave(error)

import functions
import kith
from functions import raises

os.environ.setdefault("CUDA_DEVICE_MAX_CONNECTIONS", "32")  # else streams may wait for one another
random = np.random.default_rng(5)
X = random.random((20000, 3))
BOX = kith.Box([1.0, 1.2, 0.9])


def host(array):
    """Return an array of any library as NumPy's."""
    if hasattr(array, "get"):
        return array.get()
    return array.cpu().numpy() if hasattr(array, "cpu") else np.asarray(array)


def check(kind, make):
    """Lists, groups and halos of arrays on the GPU have the CPU's values, and are on the GPU."""
    for dtype in (np.float32, np.float64):
        x = X.astype(dtype)
        on_gpu = make(x)
        for full, layout, want in ((False, "ij", "ijdDS"), (True, "ij", "ijS"),
                                   (True, "csr", "ojdD")):
            how = {"full": full, "layout": layout, "sort": True}
            expected = kith.pairs(x, 0.03, BOX, want, **how)
            found = kith.pairs(on_gpu, 0.03, BOX, want, **how)
            assert all(isinstance(one, kind) for one in found)
            assert all(np.array_equal(host(a), b) for a, b in zip(found, expected)), want
        i = kith.pairs(on_gpu, 0.03, BOX, "i", sort=True, index=np.int64)
        assert host(i).dtype == np.int64 and np.array_equal(
            host(i), kith.pairs(x, 0.03, BOX, "i", sort=True))
        n, each = kith.count_pairs(on_gpu, 0.03, BOX, neighbours=True)
        assert (n, each.sum()) == (len(i), 2 * len(i)) and isinstance(each, kind)
        flat = kith.pairs(make(x[:, :2].copy()), 0.01, 1.5, "ijD", sort=True)
        assert all(np.array_equal(host(a), b) for a, b in zip(
            flat, kith.pairs(x[:, :2].copy(), 0.01, 1.5, "ijD", sort=True)))
        groups = kith.fof(on_gpu, 0.01, BOX, min_members=2)
        expected = kith.fof(x, 0.01, BOX, min_members=2)
        assert isinstance(groups.labels, kind)
        assert np.array_equal(host(groups.labels), expected.labels)
        assert np.array_equal(host(groups.members), expected.members)
        masses = random.random(len(x)).astype(dtype) + 1
        assert np.array_equal(groups.halos(masses=make(masses)), expected.halos(masses=masses))
        raises(TypeError, lambda: groups.halos(masses=masses), "masses is in host memory")
        raises(TypeError, lambda: kith.pairs(on_gpu, 0.03, against=x), "against is in host memory")
        found, wanted = (kith.nearest(y, 8, BOX, want="jdDS") for y in (on_gpu, x))
        assert all(isinstance(array, kind) for array in found)
        assert all(np.array_equal(host(a), b) for a, b in zip(found, wanted))
        for width, more in ((None, {}), (60, {"index": np.int64, "fill": len(x)})):
            found, wanted = (kith.pairs(y, 0.03, BOX, "jndDS", layout="matrix", width=width,
                                        sort=True, **more) for y in (on_gpu, x))
            assert all(isinstance(array, kind) for array in found)
            assert all(np.array_equal(host(a), b) for a, b in zip(found, wanted))
        raises(kith.CapacityError, lambda: kith.pairs(on_gpu, 0.03, BOX, layout="matrix", width=3),
               "room for 3")
        for cell in (None, 0.03):
            found = kith.order(on_gpu, BOX, cell=cell)
            assert isinstance(found, kind)
            assert np.array_equal(host(found), kith.order(x, BOX, cell=cell))
        check_sums(x, on_gpu, make)
        i, j = kith.pairs(on_gpu, 0.03, against=make(x[:100].copy()), sort=True)
        assert np.array_equal(host(j), kith.pairs(x, 0.03, against=x[:100], sort=True)[1])
    raises(TypeError, lambda: kith.pairs(make(X.astype(int)), 0.1), "x has the type")
    raises(TypeError, lambda: kith.debye(make(X), 1.0, 3), "x is in the memory of a GPU")
    raises(TypeError, lambda: kith.overlap(make(X)), "x is in the memory of a GPU")
    raises(TypeError, lambda: kith.Flock(X, make(X), BOX), "v is in the memory of a GPU")
    raises(TypeError, lambda: kith.Flock(make(X), X, BOX), "v is in host memory")


def check_sums(x, on_gpu, make):
    """Histograms and structure factors of coordinates on the GPU, which are not copied to the host,
    have the CPU's values."""
    species = random.integers(0, 2, len(x))
    weights = random.random(len(x))
    for how in ({}, {"species": species, "weights": weights}, {"molecules": species}):
        of = {"n_species": 2} if "species" in how else {}
        one, other = (kith.rdf.Histogram(0.05, 40, **of) for _ in range(2))
        for there in (lambda values: values, make):  # columns in host memory, and on the GPU
            one.add(x, BOX, **how)
            other.add(on_gpu, BOX, **{name: there(values) for name, values in how.items()})
        assert one.frames == other.frames == 2
        for a, b in ((0, 0), (0, 1), (1, 1)) if of else ((0, 0),):
            assert np.array_equal(one.counts(a, b), other.counts(a, b))
            assert not of or np.array_equal(one.sums(a, b), other.sums(a, b))
    nearest = [kith.rdf.Histogram(0.7, 40, minimum_image=True).add(one, BOX)
               for one in (x[:500], on_gpu[:500])]
    assert np.array_equal(nearest[0].counts(), nearest[1].counts())
    cross = [kith.rdf.Histogram(0.05).add(one, BOX, against=two) for one, two in (
        (x, x[:100]), (on_gpu, make(x[:100].copy())))]
    assert np.array_equal(cross[0].counts(), cross[1].counts())
    found = [kith.rdf.structure_factor(one, 20.0, BOX) for one in (x, on_gpu)]
    assert np.allclose(found[0].s, found[1].s, rtol=1e-9, atol=1e-9)
    histogram = kith.rdf.Histogram(0.05, n_species=2)
    raises(ValueError, lambda: histogram.add(on_gpu, BOX, species=make(species[1:].copy())),
           "species has the shape")
    ids = random.permutation(len(x))
    groups = [kith.fof(on_gpu, 0.01, BOX, ids=one, min_members=2).labels
              for one in (ids, make(ids))]
    assert np.array_equal(*map(host, groups))
    roles = random.integers(0, 3, len(x)).astype(np.uint8)
    v = random.random(x.shape).astype(x.dtype)
    how = {"roles": roles, "min_links": 1, "min_members": 2}
    for phase in ({}, {"velocities": v, "velocity_length": 0.8}):
        there = {name: make(one) if name == "velocities" else one for name, one in phase.items()}
        expected = kith.fof(x, 0.01, BOX, **how, **phase).labels
        for kept in (roles, make(roles), make(roles.astype(np.int32))):
            found = kith.fof(on_gpu, 0.01, BOX, **{**how, "roles": kept}, ids=ids, **there)
            assert np.array_equal(host(found.labels) > 0, expected > 0)
            found = kith.fof(on_gpu, 0.01, BOX, **{**how, "roles": kept}, **there)
            assert np.array_equal(host(found.labels), expected)
    raises(TypeError, lambda: kith.rdf.Histogram(0.05).add(on_gpu, BOX, against=x),
           "against is in host memory")


def check_out(make, empty):
    """Lists are written to arrays of the caller's on the GPU."""
    x = make(X)
    expected = kith.pairs(X, 0.03, BOX, "ijd", sort=True)
    n = len(expected[0])
    room = empty(n, "int32"), empty(n, "int32"), empty(n, "float64")
    found = kith.pairs(x, 0.03, BOX, "ijd", sort=True, out=room)
    assert all(np.array_equal(host(a), b) for a, b in zip(found, expected))
    assert all(np.array_equal(host(a), b) for a, b in zip(room, expected))
    small = empty(10, "int32"), empty(10, "int32")
    error = raises(kith.CapacityError, lambda: kith.pairs(x, 0.03, BOX, out=small))
    assert error.needed == n
    raises(ValueError, lambda: kith.pairs(x, 0.03, BOX, "jd", out=room[1:]), "on a GPU expected i")
    raises(TypeError, lambda: kith.pairs(X, 0.03, BOX, out=small), "out[0] is in the memory")


def check_count(make, empty, ctx=None):
    """Lists are queued, and their number is written on the GPU. Return a call that queues one."""
    x, count = make(X), empty(1, "int64")
    i, j, S = kith.pairs(X, 0.03, BOX, "ijS", sort=True)
    room = empty(len(i) + 5, "int32"), empty(len(i) + 5, "int32"), empty((len(i) + 5, 3), "int32")
    how = {"sort": True, "ctx": ctx}
    found = kith.pairs(x, 0.03, BOX, "ijS", out=room, count=count, **how)
    assert all(a is b for a, b in zip(found, room)) and host(count).tolist() == [len(i)]
    assert all(np.array_equal(host(a)[:len(i)], b) for a, b in zip(found, (i, j, S)))
    few = empty(10, "int32"), empty(10, "int32")
    kith.pairs(x, 0.03, BOX, out=few, count=count, **how)
    assert host(count).tolist() == [len(i)]
    bad = X.copy()
    bad[7, 1] = np.nan
    kith.pairs(make(bad), 0.03, BOX, out=few, count=count, **how)
    assert host(count).tolist() == [-2]
    for wrong, kind, words in ((empty(1, "int32"), TypeError, "count has the type"),
                               (np.zeros(1, np.int64), TypeError, "count is in host memory"),
                               (few[0], TypeError, "count has the type")):
        raises(kind, lambda wrong=wrong: kith.pairs(x, 0.03, BOX, out=few, count=wrong), words)
    raises(ValueError, lambda: kith.pairs(x, 0.03, BOX, count=count), "count needs out")
    raises(ValueError, lambda: kith.pairs(x, 0.03, BOX, "jd", out=few, count=count), "expected i")
    return lambda: kith.pairs(x, 0.03, BOX, "ijS", out=room, count=count, **how)


def check_rows(make, empty):
    """Lists of a fixed shape are written to arrays of the caller's on the GPU, and queued."""
    x, count, n = make(X), empty(3, "int64"), len(X)
    how = {"layout": "matrix", "sort": True}
    for width in (40, 4):
        try:
            kith.pairs(X, 0.03, BOX, "j", width=width, **how)
        except kith.CapacityError:
            assert width == 4
        wanted = (np.empty((n, width), np.int32), np.empty(n, np.int32), np.empty((n, width)))
        room = (empty((n + 3, width), "int32"), empty(n, "int32"), empty((n, width), "float64"))
        for search, into in ((X, wanted), (x, room)):
            try:
                kith.pairs(search, 0.03, BOX, "jnd", out=into, **how)
                assert width == 40
            except kith.CapacityError as error:
                assert width == 4 and error.needed == wanted[1].max() > 4
        assert all(np.array_equal(host(a)[:n], b) for a, b in zip(room, wanted))
        room[2][:] = 0
        found = kith.pairs(x, 0.03, BOX, "jnd", out=room, count=count, **how)
        assert all(a is b for a, b in zip(found, room))
        assert host(count).tolist() == [wanted[1].sum(), wanted[1].max(),
                                        (wanted[1] > width).sum()]
        assert np.array_equal(host(room[2]), wanted[2])
    raises(ValueError, lambda: kith.pairs(x, 0.03, BOX, "d", out=room[2], **how), "expected j")
    raises(kith.CapacityError, lambda: kith.pairs(x, 0.03, BOX, "j", out=room[0],
                                                  count=empty(1, "int64"), **how), "3 are needed")
    order = empty(n, "int32")
    kith.order(x, BOX, out=order)
    assert np.array_equal(host(order), kith.order(X, BOX))


def check_flock(kind, make):
    """Flocks of arrays on the GPU have the bits of the CPU's, and read on the GPU."""
    how = {"separation": (0.02, 0.1), "alignment": (0.03, 0.2), "cohesion": (0.03, 0.05),
           "max_speed": 0.5, "time_step": 0.01}
    v = random.random(X.shape) - 0.5
    for dtype in (np.float32, np.float64):
        for dim in (3, 2):
            x, w = X[:3000, :dim].astype(dtype), v[:3000, :dim].astype(dtype)
            box = kith.Box([1.0, 1.2, 0.9][:dim])
            one = kith.Flock(x, w, box, ctx=kith.Context("cpu"), **how)
            other = kith.Flock(make(x), make(w), box, **how)
            for steps in (0, 1, 20, 3):
                one.step(steps)
                other.step(steps)
                assert isinstance(other.positions, kind) and other.positions.shape == x.shape
                assert np.array_equal(host(other.positions), one.positions), (dtype, dim, steps)
                assert np.array_equal(host(other.velocities), one.velocities)
            assert other.steps == 24 and np.allclose([*one.measure().values()],
                                                     [*other.measure().values()], rtol=1e-12)
            assert kith.view(other).message() == kith.view(one).message()
    wide = np.zeros((3000, 5))
    wide[:, 1:4] = X[:3000]
    strided = kith.Flock(make(wide)[:, 1:4], make(v[:3000].copy()), BOX, **how)
    assert np.array_equal(host(strided.positions), kith.Flock(
        X[:3000], v[:3000], BOX, ctx=kith.Context("cpu"), **how).positions)


def gpu():
    """Skip a test where no GPU can be used."""
    try:
        kith.Context("cuda").close()
    except (kith.NoBackend, ValueError) as error:
        raise needs.Skip(f"no GPU ({error})") from error


def jax_on_gpu():
    """Return JAX, set to doubles, where it and kith have a GPU."""
    gpu()
    jax = needs.module("jax")
    if jax.default_backend() != "gpu":
        raise needs.Skip("JAX sees no GPU (pip install jax[cuda12])")
    jax.config.update("jax_enable_x64", True)
    return jax


def torch_on_gpu():
    """Return PyTorch, where it and kith have a GPU."""
    gpu()
    torch = needs.module("torch")
    if not torch.cuda.is_available():
        raise needs.Skip("torch sees no GPU (pip install torch, built for CUDA)")
    return torch


class Driver:
    """What a test of streams needs of CUDA's driver, which is there where a GPU is."""

    LEGACY, PER_THREAD = 0, 2  # the default streams of the process and of the thread

    def __init__(self):
        self.library = C.CDLL("libcuda.so.1")
        device, ctx = C.c_int(), C.c_void_p()
        self.call("cuInit", C.c_uint(0))
        self.call("cuDeviceGet", C.byref(device), C.c_int(0))
        self.call("cuDevicePrimaryCtxRetain", C.byref(ctx), device)
        self.call("cuCtxSetCurrent", ctx)

    def call(self, name, *arguments):
        error = getattr(self.library, name)(*arguments)
        assert error == 0, f"{name}: {error}"

    def stream(self, non_blocking):
        """Return the address of a new stream."""
        stream = C.c_void_p()
        self.call("cuStreamCreate", C.byref(stream), C.c_uint(non_blocking))
        return stream.value

    def copied(self, array):
        """Return the address of a copy of an array on the GPU."""
        address = C.c_uint64()
        self.call("cuMemAlloc_v2", C.byref(address), C.c_size_t(array.nbytes))
        self.call("cuMemcpyHtoD_v2", address, C.c_void_p(array.ctypes.data),
                  C.c_size_t(array.nbytes))
        return address.value

    def waits(self, call, stream):
        """Whether a call waits for the work on a stream, a function that sleeps for 0.15 s."""
        self.call("cuCtxSynchronize")
        self.call("cuLaunchHostFunc", C.c_void_p(stream), C.cast(C.CDLL(None).usleep, C.c_void_p),
                  C.c_void_p(150000))
        call()
        left = self.library.cuStreamQuery(C.c_void_p(stream))
        assert left in (0, 600), left  # 600: CUDA_ERROR_NOT_READY
        self.call("cuCtxSynchronize")
        return left == 0


def test_streams():
    """Numbers name streams, in contexts and in `__cuda_array_interface__`."""
    gpu()
    driver = Driver()
    stream, blocking = driver.stream(True), driver.stream(False)
    everywhere = driver.LEGACY, driver.PER_THREAD, stream, blocking

    def waited_for(call):
        """The streams that a call waits for; the first call makes scratch memory."""
        call()
        return [one for one in everywhere if driver.waits(call, one)]

    def check(call):
        """Return the streams that a call waits for, whichever is set."""
        return {number: waited_for(lambda number=number: call(number))
                for number in (stream, blocking, 1, 2)}
    expected = {stream: [stream], blocking: [driver.LEGACY, blocking],
                1: [driver.LEGACY, driver.PER_THREAD, blocking],
                2: [driver.LEGACY, driver.PER_THREAD]}
    few = X[:100].copy()
    with kith.Context("cuda") as own, kith.Context("cuda") as changed:
        assert waited_for(lambda: kith.count_pairs(few, 0.1, ctx=own)) == [driver.LEGACY]

        def set_and_count(number):
            changed.set_stream(number)
            kith.count_pairs(few, 0.1, ctx=changed)
        assert check(set_and_count) == expected
        changed.set_stream(stream)
        assert waited_for(lambda: set_and_count(0)) == expected[1]
    for number in (0, *expected):
        with kith.Context("cuda", stream=number) as ctx:
            assert waited_for(lambda ctx=ctx: kith.count_pairs(few, 0.1, ctx=ctx)) == expected[
                number or 1]
    data = driver.copied(few), False

    class Face:
        """Coordinates on the GPU that are ready on a stream."""

        def __init__(self, **stream):
            self.__cuda_array_interface__ = {"shape": few.shape, "typestr": few.dtype.str,
                                             "version": 3, "data": data, **stream}
    n = kith.count_pairs(few, 0.1)
    assert kith.count_pairs(Face(stream=stream), 0.1) == n > 0
    assert check(lambda number: kith.count_pairs(Face(stream=number), 0.1)) == expected
    for none in ({}, {"stream": None}):
        assert waited_for(lambda none=none: kith.count_pairs(Face(**none), 0.1)) == expected[1]


def test_torch():
    torch = torch_on_gpu()

    def make(array):
        return torch.from_numpy(array).cuda()
    def empty(shape, dtype):
        return torch.empty(shape, dtype=getattr(torch, dtype), device="cuda")
    check(torch.Tensor, make)
    check_out(make, empty)
    check_count(make, empty)
    check_flock(torch.Tensor, make)
    assert kith.pairs(make(X), 0.03, BOX, "d").device == make(X).device
    expected = kith.count_pairs(X * 0.5, 0.03)
    for _ in range(20):  # the coordinates are written on a stream just before the call
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            x = make(X)
            delay = torch.rand(4000, 4000, device="cuda")
            for _ in range(5):
                delay = delay @ delay
            x.mul_(0.5)
            assert len(kith.pairs(x, 0.03)[0]) == expected
            made = kith._context._local.on_device
            assert made[x.device.index].stream == stream.cuda_stream and len(made) == 1
    with kith.Context("cuda", stream=torch.cuda.Stream()) as ctx:
        for k in range(20):
            stream = torch.cuda.Stream()
            ctx.set_stream(stream if k % 2 else stream.cuda_stream)
            with torch.cuda.stream(stream):
                x = make(X)
                for _ in range(5):
                    delay = delay @ delay
                x.mul_(0.5)
                assert len(kith.pairs(x, 0.03, ctx=ctx)[0]) == expected
    for k in range(torch.cuda.device_count()):
        with torch.cuda.device(k):
            assert kith.pairs(make(X), 0.03, BOX, "d").device.index == k
        assert kith.pairs(torch.from_numpy(X).to(f"cuda:{k}"), 0.03, BOX, "d").device.index == k
    gc.collect()
    torch.cuda.synchronize()
    free = torch.cuda.mem_get_info()[0]
    for _ in range(50):
        kith.pairs(make(X), 0.1, BOX)
    gc.collect()
    torch.cuda.empty_cache()
    assert free - torch.cuda.mem_get_info()[0] < 200e6, "lists are not freed"


def test_cupy():
    gpu()
    cupy = needs.module("cupy")
    check(cupy.ndarray, cupy.asarray)
    check_out(cupy.asarray, cupy.empty)
    check_count(cupy.asarray, cupy.empty)
    check_flock(cupy.ndarray, cupy.asarray)
    expected = kith.count_pairs(X * 0.5, 0.03)
    for _ in range(20):  # each stream is destroyed before the next
        with cupy.cuda.Stream(non_blocking=True):
            x = cupy.asarray(X)
            x *= 0.5
            assert len(kith.pairs(x, 0.03)[0]) == expected
    delay, blocking = cupy.ones((4000, 4000), cupy.float32), cupy.cuda.Stream()
    with kith.Context("cuda", stream=0) as default, kith.Context("cuda") as changed:
        changed.set_stream(cupy.cuda.Stream.null)
        for ctx in (None, default, changed) * 5:
            with blocking:  # the default stream waits for it; a context's own would not
                x = cupy.asarray(X)
                for _ in range(5):
                    delay = delay @ delay * cupy.float32(1 / 4000)
                x *= 0.5
            assert len(kith.pairs(x, 0.03, ctx=ctx)[0]) == expected
    wide = cupy.zeros((len(X), 7))
    wide[:, 2:5] = cupy.asarray(X)
    assert kith.count_pairs(wide[:, 2:5], 0.03, BOX) == kith.count_pairs(X, 0.03, BOX)
    raises(ValueError, lambda: kith.pairs(cupy.asarray(X)[::-1], 0.03, BOX), "strides")


def test_jax():
    jax = jax_on_gpu()
    check(jax.Array, jax.numpy.asarray)
    check_flock(jax.Array, jax.numpy.asarray)


def test_jax_graph():
    """A graph inside jit is searched on XLA's stream: in the order of what makes the coordinates
    and what uses the edges."""
    jax = jax_on_gpu()
    numpy = jax.numpy

    @jax.jit
    def degrees(x, delay):
        for _ in range(5):
            delay = delay @ delay / 4000
        x = x * (0.5 + 0 * delay[0, 0])
        graph = kith.jax.radius_graph(x, 0.03, BOX, capacity=500000)
        return graph, jax.ops.segment_sum(numpy.ones(500000), graph.edge_index[1], len(x))
    i, j, d, v, S = kith.pairs(X * 0.5, 0.03, BOX, "ijdDS", full=True, sort=True)
    delay = numpy.ones((4000, 4000), numpy.float32)
    for _ in range(5):
        graph, each = degrees(numpy.asarray(X), delay)
        assert int(graph.n) == len(i) < 500000
        n = len(i)
        assert np.array_equal(graph.edge_index[:, :n], [j, i])
        assert np.array_equal(graph.shifts[:n], S) and not graph.shifts[n:].any()
        assert np.allclose(graph.distances[:n], d, rtol=1e-13)
        assert np.isinf(graph.distances[n:]).all() and (graph.edge_index[:, n:] == len(X)).all()
        assert np.array_equal(each, np.bincount(i, minlength=len(X)))
    few = kith.jax.radius_graph(numpy.asarray(X), 0.03, BOX, capacity=100)
    assert int(few.n) > 100 and np.isnan(few.distances).all()
    bad = kith.jax.radius_graph(numpy.asarray(X).at[3, 0].set(np.nan), 0.03, BOX, capacity=100)
    assert int(bad.n) == -2 and np.isnan(bad.distances).all()
    some = numpy.asarray(X[:50])

    def energy(x):
        d = kith.jax.radius_graph(x, 0.3, 1.0, capacity=2000).distances
        return ((3 * (0.3 - numpy.where(numpy.isfinite(d), d, 0.3))) ** 4).sum()  # 0 at the cutoff
    needs.module("jax.test_util").check_grads(energy, (some,), 2, modes=("rev",), rtol=1e-4)


def test_jax_rows():
    """Rows of neighbours inside jit are searched on XLA's stream."""
    jax = jax_on_gpu()
    x = jax.numpy.asarray(X)
    j, n, d, S = kith.pairs(X, 0.03, BOX, "jndS", layout="matrix", width=40, fill=len(X),
                            sort=True)
    for _ in range(3):
        found = jax.jit(lambda x: kith.jax.neighbours(x, 0.03, BOX, width=40))(x)
        assert np.array_equal(found.j, j) and np.array_equal(found.n, n)
        assert np.array_equal(found.shifts, S) and int(found.widest) == n.max()
        assert np.allclose(found.distances, d, rtol=1e-13)
    few = kith.jax.neighbours(x, 0.03, BOX, width=3)
    assert int(few.widest) == n.max() and np.isnan(few.distances).all()
    assert np.array_equal(few.j, j[:, :3]) and np.array_equal(few.n, n)
    bad = kith.jax.neighbours(x.at[3, 0].set(np.nan), 0.03, BOX, width=40)
    assert int(bad.widest) == -2 and np.isnan(bad.distances).all()


LOST = """
import os, kith, numpy as np
x = np.random.default_rng(1).random((1000, 3))
with kith.Context("cuda") as ctx:
    expected = kith.count_pairs(x, 0.1, ctx=ctx)
    child = os.fork()
    if child == 0:
        try:
            kith.count_pairs(x, 0.1, ctx=ctx)
            os._exit(1)
        except kith.DeviceLost as error:
            os._exit(0 if "fork" in str(error) else 2)
    assert os.waitpid(child, 0)[1] == 0
    assert kith.count_pairs(x, 0.1, ctx=ctx) == expected
"""


def test_lost():
    """In a child of fork(), the context of the parent has lost its GPU; the parent goes on. In a
    process of its own: threads of other packages may hold locks when this one forks."""
    gpu()
    subprocess.run([sys.executable, "-c", LOST], check=True, timeout=60)


def on_torch():
    """Return PyTorch, if it sees a GPU."""
    torch = torch_on_gpu()
    return torch


def test_torch_graph():
    """radius_graph on the GPU: the CPU's graph, gradients, and inside torch.compile."""
    torch = on_torch()
    cell = torch.eye(3, dtype=torch.float64, device="cuda") * 0.9
    x = torch.from_numpy(X).cuda()
    graph = kith.torch.radius_graph(x, 0.03, cell)
    expected = kith.torch.radius_graph(x.cpu(), 0.03, cell.cpu())
    assert all(one.is_cuda for one in graph)
    assert torch.equal(graph.edge_index.cpu(), expected.edge_index)
    assert torch.equal(graph.shifts.cpu(), expected.shifts)
    assert torch.allclose(graph.distances.cpu(), expected.distances, rtol=1e-13)
    few = x[:12].clone().requires_grad_()
    cell.requires_grad_()
    assert torch.autograd.gradcheck(
        lambda x, cell: kith.torch.radius_graph(x, 0.5, cell)[1:3], (few, cell))
    assert torch.autograd.gradgradcheck(
        lambda x, cell: kith.torch.radius_graph(x, 0.5, cell).distances.sin().sum(), (few, cell))

    def energy(x):
        return (kith.torch.radius_graph(x, 0.03, 0.9).distances - 0.1).square().sum()
    torch._dynamo.config.capture_dynamic_output_shape_ops = True
    for backend in ("aot_eager", "inductor"):
        compiled = torch.compile(energy, backend=backend, fullgraph=True)
        for n in (15000, 20000):
            one, other = (x[:n].clone().requires_grad_() for _ in range(2))
            assert torch.allclose(compiled(one), energy(other)), backend
            compiled(one).backward()
            energy(other).backward()
            assert torch.allclose(one.grad, other.grad), backend


def test_waits():
    """A list waits for the GPU, for its length. A list into arrays of the caller's with `count`,
    and the state of a flock, do not."""
    torch, driver = on_torch(), Driver()

    def empty(shape, dtype):
        return torch.empty(shape, dtype=getattr(torch, dtype), device="cuda")

    def make(array):
        return torch.from_numpy(array).cuda()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        x = make(X)
        queue = check_count(make, empty)
        check_rows(make, empty)
        flock = kith.Flock(x, x - 0.5, BOX, separation=(0.03, 0.1), alignment=(0.03, 0.1),
                           cohesion=(0.03, 0.1), time_step=0.01).step(2)
        assert host(flock.positions).shape == X.shape
        address = stream.cuda_stream
        assert driver.waits(lambda: kith.pairs(x, 0.03, BOX), address)
        assert driver.waits(lambda: kith.count_pairs(x, 0.03, BOX), address)
        assert not driver.waits(queue, address)
        assert not driver.waits(lambda: flock.positions, address)
        assert not driver.waits(lambda: flock.velocities, address)


class Calls:
    """The names of the driver's functions that are called meanwhile, in their order, by CUPTI."""

    class Copy(C.Structure):
        """The beginning of the arguments of a copy to the host."""
        _fields_ = [("to", C.c_void_p), ("of", C.c_uint64), ("bytes", C.c_size_t)]

    class Data(C.Structure):
        """The beginning of CUpti_CallbackData."""
        _fields_ = [("site", C.c_int), ("function", C.c_char_p), ("arguments", C.c_void_p)]

    DRIVER = 1  # CUPTI_CB_DOMAIN_DRIVER_API

    def __init__(self):
        places = [line.split()[-1] for line in open("/proc/self/maps", encoding="utf-8")
                  if "libcupti" in line] + ["libcupti.so.13", "libcupti.so.12",
                                            "/usr/local/cuda/lib64/libcupti.so",
                                            "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"]
        for place in places:
            try:
                self.cupti = C.CDLL(place)
                break
            except OSError:
                continue
        else:
            raise needs.Skip("no CUPTI (of the CUDA toolkit, or pip install nvidia-cuda-cupti)")
        self.names, self.copied, self.subscriber = [], 0, C.c_void_p()
        self.callback = C.CFUNCTYPE(None, C.c_void_p, C.c_int, C.c_uint32, C.POINTER(self.Data))(
            self.called)

    def called(self, _user, _domain, _id, data):
        if data.contents.site == 0:  # entered
            self.names.append(data.contents.function.decode())
            if "DtoH" in self.names[-1]:
                self.copied += self.Copy.from_address(data.contents.arguments).bytes

    def __enter__(self):
        self.names.clear()
        self.copied = 0
        error = self.cupti.cuptiSubscribe(C.byref(self.subscriber), self.callback, None)
        if error:
            raise needs.Skip(f"CUPTI cannot be used (its error {error})")
        assert self.cupti.cuptiEnableDomain(C.c_uint32(1), self.subscriber, C.c_int(self.DRIVER)
                                            ) == 0
        return self

    def __exit__(self, *_):
        assert self.cupti.cuptiUnsubscribe(self.subscriber) == 0

    def waits(self):
        """How often the host waited. To query one event again and again is one wait."""
        waits = [name for before, name in zip(["", *self.names], self.names)
                 if "Synchronize" in name or "EventQuery" in name and "EventQuery" not in before
                 or name.startswith(("cuMemcpyDtoH_", "cuMemcpyHtoD_", "cuMemFree_"))]
        return len(waits)


def test_calls_that_wait():
    """A list waits for the GPU once, for its length; that, and whether all coordinates are finite,
    is copied to the host. With `out` and `count`, a list neither waits nor copies."""
    torch, calls = on_torch(), Calls()
    x = torch.from_numpy(X).cuda()
    n = kith.count_pairs(X, 0.03, BOX)
    out = [torch.empty(n, dtype=torch.int32, device="cuda") for _ in range(2)]
    rows = torch.empty((len(X), 60), dtype=torch.int32, device="cuda")
    count, counts = (torch.empty(k, dtype=torch.int64, device="cuda") for k in (1, 3))
    for what, waits, call in (
            ("list", 1, lambda: kith.pairs(x, 0.03, BOX)),
            ("list, all letters", 1, lambda: kith.pairs(x, 0.03, BOX, "ijdDS")),
            ("list, csr", 1, lambda: kith.pairs(x, 0.03, BOX, "oj", layout="csr", full=True)),
            ("out", 1, lambda: kith.pairs(x, 0.03, BOX, out=out)),
            ("count_pairs", 1, lambda: kith.count_pairs(x, 0.03, BOX)),
            ("out and count", 0, lambda: kith.pairs(x, 0.03, BOX, out=out, count=count)),
            ("rows", 0, lambda: kith.pairs(x, 0.03, BOX, "j", layout="matrix", out=rows,
                                           count=counts)),
    ):
        for _ in range(3):
            call()
        torch.cuda.synchronize()
        with calls:
            result = call()  # kept: memory that is freed is waited for
        assert calls.names, "CUPTI saw no calls"
        print(f"{what}: {calls.waits()} waits, {calls.copied} bytes to the host", flush=True)
        assert calls.waits() == waits and calls.copied <= 1000 * waits, (what, calls.names)
        del result


def test_cuda_graph():
    """A list is captured in a CUDA graph; each replay searches the coordinates of that time."""
    torch = on_torch()
    x = torch.from_numpy(X).cuda()
    expected = [kith.pairs(X * scale, 0.03, BOX, sort=True) for scale in (1, 0.8, 0.9)]
    most = max(len(i) for i, _ in expected)
    i, j = (torch.zeros(most, dtype=torch.int32, device="cuda") for _ in range(2))
    count = torch.zeros(1, dtype=torch.int64, device="cuda")
    stream = torch.cuda.Stream()

    def search():
        kith.pairs(x, 0.03, BOX, out=(i, j), count=count, sort=True)
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        search()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        search()
    for scale, found in zip((1, 0.8, 0.9), expected):
        x.copy_(torch.from_numpy(X * scale))
        i.zero_()
        graph.replay()
        n = int(count)
        assert n == len(found[0])
        assert np.array_equal(host(i)[:n], found[0]) and np.array_equal(host(j)[:n], found[1])


def test_cuda_graph_rows():
    """The example that captures a list of a fixed shape in a graph runs."""
    on_torch()
    script = pathlib.Path(__file__).resolve().parents[2] / "examples" / "gpu" / "matrix_graph.py"
    done = subprocess.run([sys.executable, "-B", script], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    assert done.returncode == 0 and "step 4" in done.stdout, done.stdout


def test_device_array():
    """An object of no known library gives DeviceArrays, which it can take in turn."""
    torch = torch_on_gpu()
    tensor = torch.from_numpy(X).cuda()
    torch.cuda.synchronize()

    class Face:
        """An object with __cuda_array_interface__ alone."""
        __cuda_array_interface__ = tensor.__cuda_array_interface__

    raises(TypeError, lambda: kith.Flock(Face(), Face(), BOX), "x is a Face on a GPU")
    d = kith.pairs(Face(), 0.03, BOX, "d", sort=True)
    assert isinstance(d, kith.DeviceArray) and d.shape == (kith.count_pairs(X, 0.03, BOX),)
    taken = torch.as_tensor(d, device="cuda"), torch.from_dlpack(d)
    for one in taken:
        assert one.data_ptr() == d.address
        assert np.array_equal(one.cpu(), kith.pairs(X, 0.03, BOX, "d", sort=True))


if __name__ == "__main__":
    sys.exit(functions.main(globals()))
