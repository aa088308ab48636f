# SPDX-License-Identifier: BSD-3-Clause
"""Files read by kith.read and kith.frames, and sets made by kith.make, compared with the command
and with what was written. test_io.py [STRUCT_LAYOUT IO_LAYOUT]"""
import ctypes
import functools
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading

import numpy as np

import functions
import kith
import needs
from functions import raises
from kith import _io, _io_abi

random = np.random.default_rng(3)
folder = tempfile.TemporaryDirectory(prefix="kith-")


def place(name):
    """Return a path in the folder of this test."""
    return os.path.join(folder.name, name)


def write(name, text):
    """Write a text. Return its path."""
    with open(place(name), "w", encoding="utf-8") as file:
        file.write(text)
    return place(name)


def command(*words):
    """Run the command. Return its output."""
    if "KITH_COMMAND" not in os.environ:
        raise needs.Skip("no command kith in this build (apt-get install libjansson-dev)")
    done = subprocess.run([os.environ["KITH_COMMAND"], *words], check=False, text=True,
                          capture_output=True)
    needs.built(done)
    done.check_returncode()
    return done.stdout


def test_weights():
    """Weights are read by name, or are missing; None means that none were asked for."""
    dump = write("weights.dump", "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n2\n"
                 "ITEM: BOX BOUNDS pp pp pp\n0 4\n0 4\n0 4\n"
                 "ITEM: ATOMS id type x y z radius\n1 1 0 0 0 0.5\n2 1 1 1 1 0.25\n")
    assert kith.read(dump, weights="radius").weights.tolist() == [0.5, 0.25]
    assert kith.read(dump).weights is None
    table = write("weights.txt", "x,y,z,h\n0,0,0,1\n1,1,1,2\n")
    xyz = write("weights.xyz", '1\nProperties=species:S:1:pos:R:3 Lattice="4 0 0 0 4 0 0 0 4"\n'
                "H 1 1 1\n")
    for path, name, why in ((dump, "nonsense", "has no 'nonsense' in frame 0"),
                            (xyz, "h", "has no 'h' in frame 0"),
                            (table, "h", "has no weights 'h': of text the masses of snapshots"),
                            (table, "h", "give others as a file or an array of their own")):
        for read in kith.read, lambda *a, **b: list(kith.frames(*a, **b)):
            raises(kith.MissingError, functools.partial(read, path, weights=name), why)


def test_layout():
    """The structs of _io_abi.py have the C compiler's sizes and offsets."""
    if len(sys.argv) < 3:
        raise needs.Skip("no program io_layout (it is given as the second argument)")
    listed = subprocess.run(sys.argv[2:3], check=True, capture_output=True, text=True).stdout
    seen = set()
    for line in listed.splitlines():
        name, value = line.split()
        struct, _, field = name.partition(".")
        mirror = _io_abi.STRUCTS[struct]
        here = getattr(mirror, field).offset if field else ctypes.sizeof(mirror)
        assert here == int(value), f"{name}: {here} in Python, {value} in C"
        seen.add(name)
    for struct, mirror in _io_abi.STRUCTS.items():
        assert {f"{struct}.{field[0]}" for field in mirror._fields_} <= seen


def test_make():
    """Sets have the command's bytes."""
    cases = [(family, {"dtype": dtype}) for family in _make_families()
             for dtype in (np.float32, np.float64)]
    cases += [("lattice", {"basis": "fcc"}), ("clustered", {"model": "soneira-peebles"})]
    for family, how in cases:
        words = [f"--{name}={value}" for name, value in how.items() if name != "dtype"]
        if how.get("dtype") is np.float32:
            words.append("--precision=float")
        command("make", family, "700", "--seed", "5", "--box", "3.3", *words, "-q", "-o",
                place("set.npy"))
        made = kith.make(family, 700, 5, box=3.3, **how)
        expected = np.load(place("set.npy"))
        assert np.array_equal(made.positions, expected), (family, how)
        assert made.positions.dtype == expected.dtype and made.positions.max() < 3.3
        assert (made.box is None) == (family == "plummer" or "model" in how)
        assert (made.velocities is not None) == (family == "bridge")
    raises(ValueError, lambda: kith.make("cube", 5), "family")
    raises(ValueError, lambda: kith.make("uniform", -1), "n is -1")
    raises(ValueError, lambda: kith.make("uniform", 5, basis="fcc"), "basis goes with lattice")
    raises(ValueError, lambda: kith.make("uniform", 5, box=0), "box")
    raises(ValueError, lambda: kith.make("uniform", 5, dtype=int), "dtype")


def _make_families():
    from kith._make import FAMILIES
    return FAMILIES


def test_formats():
    """Each format that the command writes is read with what it holds."""
    made = kith.make("bridge", 500, 3, box=7.0)
    command("--version")  # skips the test where there is none
    for ending, box, velocities in (("npy", 0, 0), ("h5", 1, 1), ("std", 0, 1), ("txt", 0, 0),
                                    ("xyz", 1, 1)):
        path = place(f"set.{ending}")
        try:
            command("make", "bridge", "500", "--seed", "3", "--box", "7", "-q", "-o", path)
            found = kith.read(path)
        except (NotImplementedError, needs.Skip) as reason:
            needs.tell(str(reason))
            continue
        said = json.loads(command("info", path, "--json"))
        assert len(found) == said["particles"] == 500
        assert np.allclose(found.positions, made.positions, rtol=1e-6 if ending == "std" else 1e-15)
        assert found.box == (kith.Box(7.0) if box else None)
        assert (found.velocities is not None) == bool(velocities)
        if velocities:
            assert np.allclose(found.velocities, made.velocities, rtol=1e-5, atol=1e-6)
        assert found.positions.flags.owndata and found.positions.flags.writeable
        assert found.path == path and found.format in said["format"] + found.format


XYZ = """3
Lattice="9 0 0 1 8 0 0 0 7" Properties=species:S:1:pos:R:3:forces:R:3 Time={} pbc="T T F"
O 0 0 0 1 2 3
H {} 0 0 4 5 6
H 0 {} 0 7 8 9
"""


def test_frames():
    """Frames of a trajectory, each with its box, species and forces."""
    path = write("t.xyz", "".join(XYZ.format(k, k, 2 * k) for k in range(10)))
    each = list(kith.frames(path))
    assert [frame.index for frame in each] == list(range(10))
    for k, frame in enumerate(each):
        assert np.array_equal(frame.positions, [[0, 0, 0], [k, 0, 0], [0, 2 * k, 0]])
        assert np.array_equal(frame.forces, np.arange(1, 10).reshape(3, 3))
        assert frame.elements.tolist() == ["O", "H", "H"] and frame.names == ["O", "H"]
        assert np.array_equal(frame.box.cell, [[9, 0, 0], [1, 8, 0], [0, 0, 7]])
        assert frame.box.pbc.tolist() == [True, True, False] and frame.masses is None
    for chosen, expected in ((slice(2, None, 3), [2, 5, 8]), (-1, [9]), ("1:3", [1, 2]),
                             (np.int64(4), [4])):
        assert [frame.index for frame in kith.frames(path, chosen)] == expected
    assert kith.read(path, 7).index == 7 and kith.read(path, -2).index == 8
    only = kith.read(path, species="H")
    assert len(only) == 2 and set(only.elements) == {"H"}
    assert kith.read(path, dtype=np.float32).positions.dtype == np.float32
    some = kith.frames(path)
    next(some)
    some.close()
    raises(ValueError, lambda: kith.read(path, 10), "10 frames")
    raises(ValueError, lambda: kith.read(path, species="Xe"), "Xe")
    i, j, d = kith.pairs(each[1].positions, 2.5, each[1].box, "ijd", sort=True)
    assert (i.tolist(), j.tolist()) == ([0, 0, 1], [1, 2, 2]) and np.allclose(d, [1, 2, 5 ** 0.5])
    histogram = kith.rdf.Histogram(3.0, 10)
    for frame in kith.frames(path):
        histogram.add(frame.positions, frame.box)
    assert histogram.frames == 10


def test_units():
    """Units are named as the command names them; a LAMMPS dump has its own."""
    path = write("d.lammpstrj", "ITEM: UNITS\nmetal\nITEM: TIMESTEP\n70\nITEM: NUMBER OF ATOMS\n2\n"
                 "ITEM: BOX BOUNDS pp pp pp\n-1 4\n0 5\n0 6\nITEM: ATOMS id type x y z mol\n"
                 "7 1 0 1 2 3\n9 2 3 4 5 4\n")
    found = kith.read(path)
    assert (found.unit, found.units, found.step) == ("A", {"length": "A", "source": "file"}, 70)
    assert found.ids.tolist() == [7, 9] and found.molecules.tolist() == [3, 4]
    assert np.array_equal(found.box.origin, [-1, 0, 0]) and found.elements.tolist() == ["1", "2"]


def test_snapshot():
    h5py = needs.module("h5py")
    path = place("snap.hdf5")
    with h5py.File(path, "w") as file:
        head = file.create_group("Header").attrs
        head.update({"BoxSize": 100.0, "Time": 0.5, "Redshift": 1.0, "HubbleParam": 0.7,
                     "Omega0": 0.3, "OmegaLambda": 0.7, "NumPart_ThisFile": [0, 8, 0, 0, 0, 0],
                     "NumPart_Total": [0, 8, 0, 0, 0, 0], "MassTable": [0, 2.5, 0, 0, 0, 0],
                     "NumPart_Total_HighWord": [0] * 6, "NumFilesPerSnapshot": 1})
        dark = file.create_group("PartType1")
        x = random.random((8, 3)).astype(np.float32) * 100
        dark["Coordinates"], dark["Velocities"] = x, x
        dark["ParticleIDs"] = np.arange(8, dtype=np.uint64) + 5
    try:
        found = kith.read(path)
    except NotImplementedError as reason:
        raise needs.Skip(str(reason)) from reason
    assert np.array_equal(found.positions, x) and found.ids.tolist() == list(range(5, 13))
    assert np.allclose(found.masses, 2.5) and found.box == kith.Box(100.0)
    assert found.cosmology["a"] == 0.5 and found.cosmology["h"] == 0.7
    assert np.allclose(found.velocities, x * np.sqrt(0.5), rtol=1e-6)
    assert set(found.elements) == {"dark"} and set(found.types) == {1}
    (line,) = [line for line in command("info", path).splitlines() if "units" in line.split()[:1]]
    parts = ("length", "mass", "velocity")
    assert all(f"{part} {found.units[part]}" in line for part in parts), (line, found.units)
    assert found.units["source"] == "usual" and "usual" in line and found.unit == "kpc/h"


def test_refused():
    raises(FileNotFoundError, lambda: kith.read(place("none.xyz")), "none.xyz")
    raises(kith.FormatError, lambda: kith.read(write("cut.xyz", XYZ.format(0, 1, 2)[:-20])),
           "cut.xyz")
    raises(TypeError, lambda: kith.read(place("a"), dataset=3), "dataset")
    raises(ValueError, lambda: kith.read(place("a"), label="x"), "label")
    raises(ValueError, lambda: kith.read(place("a"), dtype=int), "dtype")
    raises(ValueError, lambda: kith.read("a\0b"), "null byte")
    empty = write("empty.xyz", "0\n\n")
    try:
        assert len(kith.read(empty)) == 0
    except ValueError as reason:
        assert "empty.xyz" in str(reason)


def test_interrupt():
    """Ctrl-C ends the reading of a long file."""
    rows = "".join(f"{k} {k} {k}\n" for k in range(200000))
    path = write("long.txt", rows * 12)
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    raises(KeyboardInterrupt, lambda: [kith.read(path) for _ in range(40)])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert len(kith.read(write("short.txt", "1 2 3\n4 5 6\n"))) == 2


def test_threads():
    """Files are read by several threads."""
    path = write("u.xyz", "".join(XYZ.format(k, k, k) for k in range(50)))
    wrong = []

    def work():
        if [len(frame) for frame in kith.frames(path)] != [3] * 50:
            wrong.append(path)
    functions.in_threads(work, 6)
    assert not wrong and _io._lock


if __name__ == "__main__":
    sys.exit(functions.main(globals()))
