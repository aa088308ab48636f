#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""NumPy, h5py and gsd as judges: what they write we read to the same bits, and the other way round.

    python3 io_judge.py IO_TOOL
"""
import pathlib
import subprocess
import sys
import tempfile
import zlib

import needs

try:
    import h5py
    import numpy as np
except ImportError as error:
    needs.leave(error)

try:
    import gsd.hoomd as hoomd
except ImportError as error:
    needs.tell(needs.missing(error.name))
    hoomd = None

TOOL = sys.argv[1]
NPY, HDF5, TEXT = 1, 2, 4
failures = 0


def check(holds, what):
    global failures
    if not holds:
        failures += 1
        print("not true:", what)


def read(path, *dataset):
    """Coordinates [n][dim], box lengths."""
    run = subprocess.run([TOOL, "read", path, *dataset], capture_output=True)
    if run.returncode != 0:
        check(False, run.stderr.decode())
        return np.zeros((0, 3)), np.zeros(3)
    head, _, body = run.stdout.partition(b"\n")
    n, dim, precision = map(int, head.split()[:3])
    array = np.frombuffer(body, f"f{precision}").reshape(n, 3)
    check(dim == 3 or not array[:, 2].any(), f"{path}: z in two dimensions")
    return array[:, :dim], np.array(head.split()[3:], float)


def frames(path):
    """Of each frame: coordinates, step, rows of the box, periodic axes, names of species."""
    run = subprocess.run([TOOL, "frames", path], capture_output=True)
    check(run.returncode == 0, run.stderr.decode())
    rest = run.stdout
    while rest:
        head, _, rest = rest.partition(b"\n")
        words = head.decode().split(" ")
        n, precision, step = map(int, words[:3])
        pos = np.frombuffer(rest, f"f{precision}", 3 * n).reshape(n, 3)
        rest = rest[3 * n * precision:]
        names = [words[15 + k] for k in np.frombuffer(rest, "i4", n)]
        rest = rest[4 * n:]
        yield pos, step, np.array(words[3:12], float).reshape(3, 3), words[12:15], names


def same(got, exact, what):
    kind = "f4" if exact.dtype.kind == "f" and exact.dtype.itemsize <= 4 else "f8"
    check(got.dtype == kind and np.array_equal(got, exact.astype(kind)), what)


def judge_npy(folder, points):
    for kind in "<f4 >f4 <f8 >f8 <i2 >i4 <u8 |i1".split():
        for order in "CF":
            for dim in (2, 3):
                array = np.array(100 * points[:, :dim]).astype(kind, order=order)
                path = folder / "a.npy"
                np.save(path, array)
                same(read(path)[0], array, f"npy {kind} {order} {dim}")


def judge_hdf5(folder, points):
    path = folder / "a.hdf5"
    ways = ({}, {"chunks": (100, 3)}, {"chunks": (77, 2), "compression": "gzip", "shuffle": True,
                                       "fletcher32": True}, {"maxshape": (None, 3)})
    for kind in ("<f4", ">f8", "<f2", "i8"):
        for way in ways:
            array = (100 * points).astype(kind)
            with h5py.File(path, "w") as f:
                f.create_dataset("some/where", data=array, **way)
            same(read(path, "some/where")[0], array, f"hdf5 {kind} {way}")
    for size, box in ((5.0, [5, 5, 5]), ([5.0, 6.0, 7.0], [5, 6, 7])):
        with h5py.File(path, "w") as f:
            f.create_group("Header").attrs["BoxSize"] = size
            f["PartType4/Coordinates"] = points[:10]
            f["PartType0/Coordinates"] = points[10:].astype("f4")
        got, lengths = read(path)
        both = np.concatenate([points[10:].astype("f4").astype("f8"), points[:10]])
        check(np.array_equal(got, both), "types in order")
        check(np.array_equal(lengths, box), f"box {lengths}")
    with h5py.File(path, "w") as f:
        f["particles/water/position/value"] = np.stack([points, points + 1])
    same(read(path)[0], points, "H5MD")


def expect_h5py(path, what):
    """A dataset is read as h5py reads it, or refused where h5py refuses it."""
    run = subprocess.run([TOOL, "read", path, "where"], capture_output=True)
    try:
        with h5py.File(path) as f:
            exact = f["where"][:]
        same(read(path, "where")[0], exact, what)
    except OSError:
        check(run.returncode == 1 and b"cut short" in run.stderr, f"{what}: {run.stderr}")


def judge_packed(folder):
    """Chunks that are decompressed by several threads, and those that are left to the library."""
    path = folder / "packed.hdf5"
    array = np.round(np.random.default_rng(3).normal(size=(9001, 3)), 2)
    shapes = ((400, 3), (9001, 3), (1, 3), (977, 2), (2000, 1))
    ways = ({"compression": "gzip", "shuffle": True}, {"compression": "gzip"}, {"shuffle": True},
            {"compression": "gzip", "fletcher32": True})
    tried = [("<f4", shape, way) for shape in shapes for way in ways[:2]]
    tried += [(kind, shapes[0], ways[0]) for kind in ("<f8", ">f4", "<i4", "<f2")]
    tried += [("<f8", shapes[0], way) for way in ways[1:]]
    for kind, shape, way in tried:
        rows = array[:99] if shape == (1, 3) else array
        with h5py.File(path, "w") as f:
            f.create_dataset("where", data=(100 * rows).astype(kind), chunks=shape, **way)
        expect_h5py(path, f"packed {kind} {shape} {way}")
    for spoil in ("hole", "mask", "short", "short, hole", "short, mask", "long", "bits", "end"):
        with h5py.File(path, "w") as f:
            data = f.create_dataset("where", shape=array.shape, dtype="f8", chunks=(1000, 3),
                                    fillvalue=7, compression="gzip", shuffle=True)
            data[:5000] = array[:5000]
            data[6000 if "hole" in spoil else 5000:] = array[6000 if "hole" in spoil else 5000:]
            data.flush()
            chunk = data.id.read_direct_chunk((8000, 0))[1]
            if "mask" in spoil:  # neither filter was used
                raw = array[8000:9000].tobytes()
                data.id.write_direct_chunk((8000, 0), raw[:80] if "short" in spoil else raw,
                                           filter_mask=3)
            elif "short" in spoil or spoil == "long":
                size = 48000 if spoil == "long" else 11992
                data.id.write_direct_chunk((8000, 0), zlib.compress(bytes(size)))
            elif spoil == "bits":
                data.id.write_direct_chunk((8000, 0), chunk[:-9] + bytes(9))
        if spoil == "end":
            with open(path, "r+b") as f:
                f.truncate(path.stat().st_size - 100)
        if "short" in spoil:  # HDF5 1.10.8 reads beyond the end of its memory
            run = subprocess.run([TOOL, "read", path, "where"], capture_output=True)
            check(run.returncode == 1 and b"cannot be read" in run.stderr, f"a chunk: {spoil}")
        else:
            expect_h5py(path, f"a file with: {spoil}")
    moved = np.round(np.stack([array + k for k in range(3)]), 2).astype("f4")
    for depth in (1, 2):
        with h5py.File(path, "w") as f:
            f.create_dataset("particles/all/position/value", data=moved, compression="gzip",
                             chunks=(depth, 1000, 3))
            f["particles/all/position/step"] = [0, 1, 2]
            f.create_group("particles/all/box").attrs["boundary"] = np.array(["none"] * 3, "S8")
        got = list(frames(path))
        check(len(got) == 3, "frames of packed H5MD")
        for k, frame in enumerate(got):
            same(frame[0], moved[k], f"packed H5MD frame {k}")


def judge_h5md(folder, points):
    path = folder / "a.h5md"
    moved = np.stack([points + k for k in range(4)]).astype("f4")
    lengths = np.array([[5, 6, 7 + k] for k in range(4)], float)
    tilted = np.stack([np.diag(row) + np.tril(np.ones((3, 3)), -1) for row in lengths])
    kinds = np.arange(len(points)) % 3
    boxes = (("box/edges/value", lengths), ("box/edges/value", tilted), ("box/edges", lengths[0]),
             ("box/edges", tilted[0]), (None, None))
    for word in (np.bytes_, h5py.string_dtype()):
        for place, edges in boxes:
            with h5py.File(path, "w") as f:
                group = f.create_group("particles/all")
                group["position/value"] = moved
                group["position/step"] = [0, 10, 20, 40]
                group["species"] = kinds
                group.create_group("box").attrs["boundary"] = np.array(
                    ["periodic", "none", "periodic"], dtype=word)
                if place:
                    group[place] = edges
            got = list(frames(path))
            check(len(got) == 4, "frames of H5MD")
            for k, (pos, step, rows, periodic, names) in enumerate(got):
                same(pos, moved[k], f"H5MD frame {k}")
                check(step == (0, 10, 20, 40)[k], "step")
                check(names == [str(kind) for kind in kinds], "species")
                if place:
                    edge = edges[k] if place.endswith("value") else edges
                    check(np.array_equal(rows, edge if edge.ndim == 2 else np.diag(edge)), place)
                    check(periodic == ["1", "0", "1"], f"boundary {word}")
                else:
                    check(not rows.any(), "no box")


def judge_gsd(folder, points):
    path = folder / "a.gsd"
    with (getattr(hoomd, "open"))(path, "w") as f:
        for k in range(4):
            frame = (hoomd.Frame if hasattr(hoomd, "Frame") else hoomd.Snapshot)()
            n = len(points) - (k == 2)
            frame.particles.N = n
            frame.particles.position = points[:n] + (0 if k == 3 else k)
            frame.particles.types = ["A", "Cl"]
            frame.particles.typeid = np.arange(n) % 2
            frame.configuration.step = 10 * k
            frame.configuration.box = [8, 4, 2 + k, 0.5, 0.25, -0.5]
            f.append(frame)
    for k, (pos, step, rows, periodic, names) in enumerate(frames(path)):
        n = len(points) - (k == 2)
        same(pos, (points[:n] + (0 if k == 3 else k)).astype("f4"), f"GSD frame {k}")
        z = 2 + k
        check(np.array_equal(rows, [[8, 0, 0], [2, 4, 0], [0.25 * z, -0.5 * z, z]]), "box")
        check(step == 10 * k and names == [("A", "Cl")[p % 2] for p in range(n)], "GSD species")


def judge_particles(folder, points):
    for kind in ("f4", "f8"):
        np.save(folder / "in.npy", points.astype(kind))
        subprocess.run([TOOL, "convert", folder / "in.npy", str(NPY), folder / "out.npy"],
                       check=True)
        check(np.array_equal(np.load(folder / "out.npy"), points.astype(kind)), "npy written")
        subprocess.run([TOOL, "convert", folder / "in.npy", str(HDF5), folder / "out.hdf5"],
                       check=True)
        with h5py.File(folder / "out.hdf5") as f:
            check(np.array_equal(f["PartType1/Coordinates"], points.astype(kind)), "hdf5 written")
            check(f["Header"].attrs["NumPart_ThisFile"][1] == len(points), "hdf5 header")
        subprocess.run([TOOL, "convert", folder / "in.npy", str(TEXT), folder / "out.txt"],
                       check=True)
        check(np.array_equal(np.loadtxt(folder / "out.txt").astype(kind), points.astype(kind)),
              "text written")


def judge_pairs(folder):
    for n in (0, 1, 250_001):
        for kind in ("f4", "f8"):
            p = np.arange(n)
            exact = {"i": p, "j": 2 * p, "distance": (p / 3).astype(kind),
                     "vector": np.stack([p / 4, p / 5, p / 6], 1).astype(kind),
                     "shift": np.broadcast_to([1, 0, -1], (n, 3))}
            for name in ("list.npy", "list.hdf5"):
                subprocess.run([TOOL, "pairs", folder / name, str(n), kind[1]], check=True)
            array = np.load(folder / "list.npy")
            check(len(array) == n, "length of a list")
            with h5py.File(folder / "list.hdf5") as f:
                check(f.attrs["cutoff"] == 0.5 and f.attrs["n_particles"] == 10, "attributes")
                check(f.attrs["command"] == b"io_tool", "command")
                for name, values in exact.items():
                    check(np.array_equal(array[name], values), f"npy {name} of {n}")
                    check(np.array_equal(f[name], values), f"hdf5 {name} of {n}")
                    check(f[name].dtype == array[name].dtype, f"type of {name}")


def main():
    points = np.random.default_rng(1).normal(size=(1234, 3))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        judge_npy(folder, points)
        judge_hdf5(folder, points)
        judge_packed(folder)
        judge_h5md(folder, points[:50])
        if hoomd:
            judge_gsd(folder, points)
        judge_particles(folder, points)
        judge_pairs(folder)
    sys.exit(failures != 0)


main()
