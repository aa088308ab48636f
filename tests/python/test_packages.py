# SPDX-License-Identifier: BSD-3-Clause
"""Objects of ASE, PyTorch, MDAnalysis, pynbody and yt: their numbers, and gradients."""
import concurrent.futures
import contextlib
import importlib
import os
import subprocess
import sys
import tempfile
import warnings

import numpy as np

import functions
import kith
import needs
from functions import raises

random = np.random.default_rng(17)
X = random.random((200, 3))


def rows(*arrays):
    """Return the rows of columns, sorted; reals rounded."""
    if not len(arrays[0]):
        return np.empty((0, 1))
    columns = [np.asarray(one, float).reshape(len(arrays[0]), -1).round(9) for one in arrays]
    table = np.column_stack(columns) + 0.0
    return table[np.lexsort(table.T[::-1])]


def test_ase():
    needs.module("ase")
    from ase import Atoms
    from ase.build import bulk, molecule
    from ase.neighborlist import neighbor_list
    cases = [(bulk("Cu") * (3, 3, 3), 4.0), (bulk("NaCl", "rocksalt", 5.64), 6.0),
             (molecule("CH3CH2OH"), 1.7), (bulk("Si"), 12.0),
             (Atoms("H50", X[:50] * 9, cell=[[9, 0, 0], [2, 8, 0], [0, 1, 7]], pbc=[1, 0, 1]), 3.0),
             (bulk("NaCl", "rocksalt", 5.64) * (2, 2, 2), {("Na", "Cl"): 3.0, ("Cl", "Cl"): 4.5}),
             (molecule("C60"), {("C", "H"): 1.2}),
             (molecule("H2O"), {("O", "H"): 1.2, ("O", "U"): 3}),
             (molecule("C60"), [0.8] * 60), (Atoms(), 2.0)]
    for atoms, cutoff in cases:
        for itself in (False, True):
            expected = neighbor_list("ijdDS", atoms, cutoff, self_interaction=itself)
            found = kith.ase.neighbor_list("ijdDS", atoms, cutoff, self_interaction=itself)
            assert np.allclose(rows(*found), rows(*expected), atol=1e-8), (atoms, cutoff)
            assert (np.diff(found[0]) >= 0).all() and found[0].dtype == np.int64
        d = kith.ase.neighbor_list("d", atoms, cutoff)
        assert isinstance(d, np.ndarray)
    atoms = cases[0][0]
    assert kith.Box.from_ase(atoms) == kith.Box(np.array(atoms.cell), atoms.pbc)
    assert kith.count_pairs(atoms, 3.0) == kith.count_pairs(atoms.positions, 3.0,
                                                            kith.Box.from_ase(atoms))
    assert kith.count_pairs(atoms, 3.0, kith.Box()) < kith.count_pairs(atoms, 3.0)
    raises(ValueError, lambda: kith.ase.neighbor_list("ijx", atoms, 3.0), "quantities")
    raises(ValueError, lambda: kith.ase.neighbor_list("i", atoms, [1.0]), "cutoff has the shape")


def test_torch_graph():
    torch = needs.module("torch")
    x = torch.from_numpy(X)
    box = kith.Box([[1, 0, 0], [0.3, 1, 0], [0, -0.2, 1.1]], origin=[1, 2, 3])
    graph = kith.torch.radius_graph(x, 0.2, box)
    i, j, d, v, s = kith.pairs(X, 0.2, box, "ijdDS", full=True, sort=True)
    assert np.array_equal(graph.edge_index.numpy(), [j, i])
    assert np.array_equal(graph.shifts.numpy(), s)
    assert np.allclose(graph.distances, d, rtol=1e-13) and np.allclose(graph.vectors, v, atol=1e-14)
    loops = kith.torch.radius_graph(x, 0.2, box, loop=True)
    assert len(loops.distances) == len(d) + 200 and (loops.distances == 0).sum() == 200
    for dim in (2, 3):
        assert kith.torch.radius_graph(x[:, :dim], 0.2).vectors.shape[1] == dim
    single = kith.torch.radius_graph(x.float(), 0.2, 1.0)
    assert single.vectors.dtype == torch.float32
    raises(TypeError, lambda: kith.torch.radius_graph(X, 0.2), "expected a tensor")
    raises(ValueError, lambda: kith.torch.radius_graph(x, 0.2, batch=torch.ones(3)), "batch")


def test_torch_batch():
    """Graphs of a batch are those of its parts, each with its cell."""
    torch = needs.module("torch")
    x = torch.from_numpy(X)
    sizes = [50, 0, 120, 30]
    batch = torch.repeat_interleave(torch.arange(4), torch.tensor(sizes))
    cells = torch.eye(3, dtype=torch.float64) * torch.tensor([1.0, 1, 1.5, 2])[:, None, None]
    whole = kith.torch.radius_graph(x, 0.3, cells, batch=batch)
    begin, edges, distances = 0, [], []
    for size, cell in zip(sizes, cells):
        part = kith.torch.radius_graph(x[begin:begin + size], 0.3, cell)
        edges.append(part.edge_index + begin)
        distances.append(part.distances)
        begin += size
    assert torch.equal(whole.edge_index, torch.cat(edges, 1))
    assert torch.allclose(whole.distances, torch.cat(distances), rtol=1e-12)
    raises(ValueError, lambda: kith.torch.radius_graph(x, 0.3, batch=batch.flip(0)), "ascend")
    raises(ValueError, lambda: kith.torch.radius_graph(x, 0.3, cells[:2], batch=batch), "2 cells")


def test_torch_gradients():
    """First and second derivatives by coordinates and cell, compared with differences."""
    torch = needs.module("torch")
    x = torch.from_numpy(X[:12]).clone().requires_grad_()
    cell = torch.tensor([[1, 0, 0], [0.2, 1, 0], [0, 0.1, 1]], dtype=torch.float64,
                        requires_grad=True)

    def values(x, cell):
        graph = kith.torch.radius_graph(x, 0.5, cell)
        return graph.distances, graph.vectors
    assert torch.autograd.gradcheck(values, (x, cell))
    assert torch.autograd.gradgradcheck(lambda x, cell: values(x, cell)[0].sin().sum(), (x, cell))
    (values(x, cell)[0] ** 2).sum().backward()
    assert x.grad.abs().max() > 0 and abs(x.grad.sum()) < 1e-10
    flat = torch.zeros((2, 3), dtype=torch.float64, requires_grad=True)  # distance 0
    kith.torch.radius_graph(flat, 1.0).distances.sum().backward()
    assert torch.equal(flat.grad, torch.zeros_like(flat))


def test_torch_compile():
    torch = needs.module("torch")
    if not hasattr(torch.library, "custom_op"):
        raise needs.Skip("torch before 2.4 (pip install torch)")

    def energy(x):
        return (kith.torch.radius_graph(x, 0.2, 1.0).distances - 0.1).square().sum()
    torch._dynamo.config.capture_dynamic_output_shape_ops = True
    compiled = torch.compile(energy, backend="aot_eager", fullgraph=True)
    for n in (150, 200):
        x, y = (torch.from_numpy(X[:n]).clone().requires_grad_() for _ in range(2))
        assert torch.allclose(compiled(x), energy(y))
        compiled(x).backward()
        energy(y).backward()
        assert torch.allclose(x.grad, y.grad)
    opcheck = torch.library.opcheck
    x = torch.from_numpy(X)
    opcheck(torch.ops.kith.radius_graph, (x, 0.2, torch.eye(3)[None].double(), [True] * 3, [],
                                          torch.zeros(0, dtype=torch.int64)),
            test_utils=("test_schema", "test_faketensor"))


@contextlib.contextmanager
def x64(jax, wide):
    """Let JAX have float64, or not, for some lines."""
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", wide)
    yield
    jax.config.update("jax_enable_x64", before)


def test_jax_graph():
    """Graphs inside jit, with padding; gradients; errors; vmap; threads of XLA."""
    jax = needs.module("jax")
    if not hasattr(jax, "ffi"):
        raise needs.Skip("JAX before 0.5 (pip install jax)")
    numpy, errors = jax.numpy, jax.errors
    jax.config.update("jax_platforms", "cpu")
    box = kith.Box([[1, 0, 0], [0.3, 1, 0], [0, -0.2, 1.1]], origin=[1, 2, 3])
    for wide in (False, True):
        with x64(jax, wide):
            for dim, where in ((3, box), (2, 1.0), (3, None)):
                x = X[:, :dim].astype(np.float64 if wide else np.float32)
                i, j, d, v, S = kith.pairs(x, 0.15, where, "ijdDS", full=True, sort=True)
                graph = jax.jit(lambda x, where=where: kith.jax.radius_graph(
                    x, 0.15, where, capacity=6000))(x)
                n = len(i)
                assert graph.n == n < 6000 and graph.distances.dtype == x.dtype
                assert np.array_equal(graph.edge_index[:, :n], [j, i])
                assert np.array_equal(graph.shifts[:n], S) and not graph.shifts[n:].any()
                assert (graph.edge_index[:, n:] == len(x)).all()
                tolerance = 1e-13 if wide else 1e-6
                assert np.allclose(graph.vectors[:n], v, atol=tolerance)
                assert np.allclose(graph.distances[:n], d, atol=tolerance)
                assert np.isinf(graph.distances[n:]).all() and not graph.vectors[n:].any()
                few = kith.jax.radius_graph(x, 0.15, where, capacity=n - 1)
                assert few.n == n and np.isnan(few.distances).all() and np.isnan(few.vectors).all()
    x = numpy.asarray(X)
    for bad, kind, words in ((lambda: x.at[5, 1].set(np.nan), errors.JaxRuntimeError, "particle 5"),
                             (lambda: x * 1e30, errors.JaxRuntimeError, "kith: "),
                             (lambda: x.astype(int), TypeError, "x has the type int"),
                             (lambda: x[:, 0], ValueError, "x has the shape")):
        raises(kind, lambda bad=bad: jax.block_until_ready(
            kith.jax.radius_graph(bad(), 0.2, 1.0, capacity=10)), words)
    raises(TypeError, lambda: jax.jit(lambda r: kith.jax.radius_graph(x, r, capacity=10))(1.0),
           "traced")
    raises(TypeError, lambda: jax.jit(lambda x: kith.count_pairs(x, 0.1))(x), "use kith.jax")
    raises(ValueError, lambda: kith.jax.radius_graph(x, 0.1, capacity=0), "capacity")
    each = jax.vmap(lambda x: kith.jax.radius_graph(x, 0.2, 1.0, capacity=999).n)(
        x.reshape(4, 50, 3))
    assert each.tolist() == [2 * kith.count_pairs(part.astype(np.float32), 0.2, 1.0)
                             for part in X.reshape(4, 50, 3)]
    none = kith.jax.radius_graph(numpy.zeros((0, 3)), 0.2, 1.0, capacity=3)
    assert none.n == 0 and np.isinf(none.distances).all()
    search = jax.jit(lambda x: kith.jax.radius_graph(x, 0.1, 1.0, capacity=2000).n)
    expected = 2 * kith.count_pairs(X.astype(np.float32), 0.1, 1.0)
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        assert set(pool.map(lambda _: int(search(x)), range(60))) == {expected}


def test_xla_layout():
    """The mirrors of XLA's structs have the offsets of the header that comes with JAX."""
    jax = needs.module("jax")
    if not hasattr(jax, "ffi"):
        raise needs.Skip("JAX before 0.5 (pip install jax)")
    xla = importlib.import_module("kith._xla")
    fields = {
        "XLA_FFI_CallFrame": (xla._Frame, {"api": "api", "context": "ctx", "stage": "stage",
                                           "arguments": "args", "results": "rets",
                                           "attributes": "attrs"}),
        "XLA_FFI_Api": (xla._Api, {"version": "api_version", "error_create": "XLA_FFI_Error_Create",
                                   "stream_get": "XLA_FFI_Stream_Get",
                                   "device_get": "XLA_FFI_DeviceOrdinal_Get"}),
        "XLA_FFI_Buffer": (xla._Buffer, {"type": "dtype", "data": "data", "rank": "rank",
                                         "dims": "dims"}),
        "XLA_FFI_Args": (xla._Buffers, {"n": "size", "each": "args"}),
        "XLA_FFI_Rets": (xla._Buffers, {"n": "size", "each": "rets"}),
        "XLA_FFI_Attrs": (xla._Attributes, {"n": "size", "types": "types", "names": "names",
                                            "each": "attrs"}),
        "XLA_FFI_ByteSpan": (xla._Span, {"at": "ptr", "length": "len"}),
        "XLA_FFI_Array": (xla._Array, {"type": "dtype", "n": "size", "data": "data"}),
        "XLA_FFI_Error_Create_Args": (xla._ErrorArguments, {"message": "message", "code": "errc"}),
        "XLA_FFI_Stream_Get_Args": (xla._StreamArguments, {"context": "ctx", "stream": "stream"}),
        "XLA_FFI_DeviceOrdinal_Get_Args": (xla._DeviceArguments, {"context": "ctx",
                                                                  "number": "device_ordinal"}),
        "XLA_FFI_Metadata": (xla._Metadata, {"version": "api_version", "traits": "traits"}),
        "XLA_FFI_Metadata_Extension": (xla._MetadataExtension, {"metadata": "metadata"}),
        "XLA_FFI_Api_Version": (xla._Version, {"major": "major_version", "minor": "minor_version"})}
    pairs = [(struct, own, theirs) for struct, (_, names) in fields.items()
             for own, theirs in names.items()]
    lines = "".join(f'printf("%zu\\n", offsetof(struct {struct}, {theirs}));\n'
                    if struct not in ("XLA_FFI_ByteSpan", "XLA_FFI_Array") else
                    f'printf("%zu\\n", offsetof({struct}, {theirs}));\n'
                    for struct, _, theirs in pairs)
    numbers = ("XLA_FFI_ExecutionStage_EXECUTE", "XLA_FFI_AttrType_ARRAY", "XLA_FFI_DataType_S32",
               "XLA_FFI_DataType_F32", "XLA_FFI_DataType_F64", "XLA_FFI_Error_Code_INTERNAL",
               "XLA_FFI_Error_Code_INVALID_ARGUMENT", "XLA_FFI_Extension_Metadata")
    lines += "".join(f'printf("%d\\n", (int){name});\n' for name in numbers)
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "layout.cc")
        with open(source, "w", encoding="utf-8") as file:
            file.write("#include <cstdio>\n#include <cstddef>\n#include <xla/ffi/api/c_api.h>\n"
                       f"int main() {{\n{lines}}}\n")
        subprocess.run([needs.program("c++"), "-std=c++17", "-I", jax.ffi.include_dir(), source,
                        "-o", os.path.join(folder, "layout")], check=True)
        found = subprocess.run([os.path.join(folder, "layout")], stdout=subprocess.PIPE, check=True,
                               text=True).stdout.split()
    expected = [getattr(fields[struct][0], own).offset for struct, own, _ in pairs]
    assert [int(one) for one in found] == expected + [3, 1, 4, 11, 12, 13, 3, 1]


def test_jax_gradients():
    """First and second derivatives, compared with differences."""
    jax = needs.module("jax")
    if not hasattr(jax, "ffi"):
        raise needs.Skip("JAX before 0.5 (pip install jax)")

    def energy(x):
        graph = kith.jax.radius_graph(x, 0.5, 1.0, capacity=400)
        near = jax.numpy.where(graph.edge_index[0] < len(x), jax.numpy.sin(3 * graph.distances), 0)
        return near.sum() + (graph.vectors ** 3).sum()
    with x64(jax, True):
        x = jax.numpy.asarray(X[:12])
        needs.module("jax.test_util").check_grads(energy, (x,), 2, modes=("rev",), rtol=1e-4)
        assert abs(jax.jit(jax.grad(energy))(x).sum(axis=0)).max() < 1e-10
        flat = jax.grad(lambda x: kith.jax.radius_graph(x, 1.0, capacity=2).distances.sum())(
            jax.numpy.zeros((2, 3)))
        assert not flat.any()


def test_mdanalysis():
    mda = needs.module("MDAnalysis")
    warnings.simplefilter("ignore")
    universe = mda.Universe.empty(200, trajectory=True)
    frames = random.random((5, 200, 3)).astype(np.float32) * 20
    dimensions = np.tile(np.array([20, 21, 22, 80, 85, 95], np.float32), (5, 1))
    universe.load_new(frames, dimensions=dimensions)
    universe.add_TopologyAttr("names", ["OW", "HW"] * 100)
    box = kith.Box(mda.lib.mdamath.triclinic_vectors(dimensions[0]))
    found = kith.pairs(universe.atoms, 3.0, want="ijd", sort=True)
    expected = kith.pairs(frames[0], 3.0, box, "ijd", sort=True)
    assert all(map(np.array_equal, found, expected))
    theirs, d = mda.lib.distances.self_capped_distance(frames[0], 3.0, box=dimensions[0])
    assert len(theirs) == len(found[0]) and np.allclose(np.sort(d), np.sort(found[2]), rtol=1e-4)
    some = universe.select_atoms("name OW")
    assert kith.count_pairs(some, 3.0) == kith.count_pairs(frames[0][::2], 3.0, box)
    each = list(kith.frames(universe, slice(1, None, 2)))
    assert [frame.index for frame in each] == [1, 3]
    assert np.array_equal(each[1].positions, frames[3]) and each[0].box == box
    assert each[0].elements[:2].tolist() == ["OW", "HW"] and each[0].unit == "A"
    assert [frame.index for frame in kith.frames(some, "3:")] == [3, 4]
    assert [frame.index for frame in kith.frames(some, -1)] == [4]
    histogram = kith.rdf.Histogram(5.0, 20)
    for frame in kith.frames(some):
        histogram.add(frame)
    assert histogram.frames == 5


def test_pynbody():
    pynbody, h5py = needs.module("pynbody"), needs.module("h5py")
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory(prefix="kith-") as folder:
        path = os.path.join(folder, "snap.hdf5")
        with h5py.File(path, "w") as file:
            file.create_group("Header").attrs.update({
                "BoxSize": 100.0, "Time": 0.5, "Redshift": 1.0, "HubbleParam": 0.7,
                "Omega0": 0.3, "OmegaLambda": 0.7, "NumPart_ThisFile": [0, 200, 0, 0, 0, 0],
                "NumPart_Total": [0, 200, 0, 0, 0, 0], "MassTable": [0, 2.5, 0, 0, 0, 0],
                "NumPart_Total_HighWord": [0] * 6, "NumFilesPerSnapshot": 1})
            dark = file.create_group("PartType1")
            dark["Coordinates"], dark["Velocities"] = X * 100, X
            dark["ParticleIDs"] = np.arange(200, dtype=np.uint64)
        snapshot = pynbody.load(path)
        assert kith.count_pairs(snapshot, 10.0) == kith.count_pairs(X * 100, 10.0, 100.0)
        snapshot.physical_units()
        scale = float(np.asarray(snapshot["pos"]).max() / (X * 100).max())
        assert scale > 1.1 or scale < 0.9  # the units are others
        assert kith.count_pairs(snapshot, 10.0 * scale) == kith.count_pairs(X * 100, 10.0, 100.0)
        assert kith.count_pairs(snapshot["pos"], 10 * scale) == kith.count_pairs(X * 100, 10.0)


def test_yt():
    yt = needs.module("yt")
    yt.set_log_level("error")
    data = {f"particle_position_{axis}": (X[:, k] * 4 - 1, "Mpc") for k, axis in enumerate("xyz")}
    data["particle_mass"] = (np.ones(200), "Msun")
    ds = yt.load_particles(data, length_unit="Mpc", mass_unit="Msun",
                           bbox=np.array([[-1.0, 3.0]] * 3), periodicity=(True,) * 3)
    box = kith.Box(4.0, origin=[-1, -1, -1])
    assert kith.count_pairs(ds.all_data(), 0.5) == kith.count_pairs(X * 4 - 1, 0.5, box)
    groups = kith.fof(ds.all_data(), 0.3, min_members=2)
    assert len(groups) == len(kith.fof(X * 4 - 1, 0.3, box, min_members=2))


def test_frame():
    """What kith.read and kith.make return is taken with its box."""
    made = kith.make("clustered", 2000, 1)
    assert kith.count_pairs(made, 0.02) == kith.count_pairs(made.positions, 0.02, 1.0)
    assert np.array_equal(kith.fof(made, 0.02).labels, kith.fof(made.positions, 0.02, 1.0).labels)


def test_optional():
    """A module whose package is missing says which."""
    kith._OPTIONAL["nothing"] = "nothing-at-all"
    raises(ImportError, lambda: kith.nothing, "pip install nothing-at-all")
    del kith._OPTIONAL["nothing"]
    raises(AttributeError, lambda: kith.nothing, "nothing")


if __name__ == "__main__":
    sys.exit(functions.main(globals()))
