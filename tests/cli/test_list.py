# SPDX-License-Identifier: BSD-3-Clause
"""The list written is the list that brute force finds, in every format."""
import math
import struct
import sys

import cli
import needs

CUTOFF = 0.31


def read_list(path, precision="d"):
    """Read a list with all extras; return {(i, j, S): (distance, vector)} and the (i, j) in order.
    """
    rows = []
    if path.endswith(".npy"):
        header, data = cli.read_npy(path)
        assert [field[0] for field in header["descr"]] == ["i", "j", "distance", "vector", "shift"]
        rows = [(r[0], r[1], r[2], r[3:6], r[6:9])
                for r in struct.iter_unpack(f"<ii{precision}3{precision}3i", data)]
        assert len(rows) == header["shape"][0]
    elif path.endswith(".h5"):
        with needs.module("h5py").File(path) as file:
            fields = [file[name][()].tolist() for name in ("i", "j", "distance", "vector", "shift")]
        rows = [(i, j, d, tuple(v), tuple(s)) for i, j, d, v, s in zip(*fields)]
    else:
        with open(path, encoding="ascii") as file:
            lines = [line.split() for line in file if not line.startswith("#")]
        rows = [(int(w[0]), int(w[1]), float(w[2]), tuple(map(float, w[3:6])),
                 tuple(map(int, w[6:9]))) for w in lines]
    found = {(i, j, tuple(s)): (d, tuple(v)) for i, j, d, v, s in rows}
    assert len(found) == len(rows), "a pair is listed twice"
    return found, [(row[0], row[1]) for row in rows]


def check(found, expected):
    assert found.keys() == expected.keys(), found.keys() ^ expected.keys()
    for pair, (r2, vector) in expected.items():
        distance, written = found[pair]
        assert distance == math.sqrt(r2) and written == vector, (pair, found[pair], vector)


def points(n, seed):
    cli.ok("make", "uniform", n, "--seed", seed, "-o", f"{n}-{seed}.npy", "-q")
    return f"{n}-{seed}.npy", cli.read_points(f"{n}-{seed}.npy")


def write(path, *arguments):
    cli.ok("pairs", *arguments, "--cutoff", CUTOFF, "--distances", "--vectors", "--shifts", "-o",
           path, "-q")
    return read_list(path)


def test_npy_open_and_periodic():
    name, xyz = points(120, 1)
    for side in (None, 1.0):
        space = ["--box", side] if side else []
        for full in (False, True):
            found, _ = write("out.npy", name, *space, *(["--full"] if full else []))
            expected = cli.brute_force(xyz, CUTOFF, side, full)
            assert len(expected) > 300
            check(found, expected)


def test_text():
    name, xyz = points(80, 2)
    check(write("out.txt", name, "--box", "1")[0], cli.brute_force(xyz, CUTOFF, 1.0))


def test_hdf5():
    name, xyz = points(80, 3)
    needs.built(cli.run("pairs", name, "--cutoff", "0.1", "-o", "out.h5"))
    check(write("out.h5", name, "--box", "1")[0], cli.brute_force(xyz, CUTOFF, 1.0))


def test_standard_output():
    name, xyz = points(80, 4)
    arguments = ["pairs", name, "--box", "1", "--cutoff", CUTOFF, "--distances", "--vectors",
                 "--shifts", "--sorted"]
    with open("piped.txt", "w", encoding="ascii") as file:
        cli.ok(*arguments, "-o", "-", stdout=file)
    check(read_list("piped.txt")[0], cli.brute_force(xyz, CUTOFF, 1.0))
    cli.ok(*arguments, "-o", "named.txt")
    with open("piped.txt", encoding="ascii") as piped, open("named.txt", encoding="ascii") as named:
        def body(file):
            return [line for line in file if not line.startswith("# command")]
        assert body(piped) == body(named)


def test_large_cutoff_finds_images():
    name, xyz = points(12, 5)
    cli.ok("pairs", name, "--box", "1", "--cutoff", "0.9", "--distances", "--vectors", "--shifts",
           "-o", "out.npy", "-q")
    check(read_list("out.npy")[0], cli.brute_force(xyz, 0.9, 1.0))


def test_sorted():
    name, _ = points(200, 6)
    _, order = write("out.npy", name, "--sorted", "--full")
    assert order == sorted(order)


def test_against():
    name, a = points(60, 7)
    other, b = points(50, 8)
    found, _ = write("out.npy", name, "--against", other, "--box", "1")
    check(found, cli.brute_force(a, CUTOFF, 1.0, b=b))
    assert cli.report("pairs", name, "--against", other, "--box", "1", "--cutoff",
                      CUTOFF)["pairs"] == len(found)


def test_columns_of_both():
    """--columns hold for --against too where it is text, else for INPUT alone."""
    name, a = points(60, 7)
    other, b = points(50, 8)
    for path, xyz in ("a.csv", a), ("b.csv", b):
        with open(path, "w", encoding="ascii") as file:
            file.write("n,x,y,z\n")
            file.writelines(f"7,{x!r},{y!r},{z!r}\n" for x, y, z in xyz)
    want = cli.ok("pairs", name, "--against", other, "--cutoff", CUTOFF, "--box", 1, "--count")
    for verb, words in ("pairs", ["--cutoff", CUTOFF, "--count"]), ("nearest", ["-k", 2]):
        for against in other, "b.csv":
            found = cli.ok(verb, "a.csv", "--against", against, "--columns", "1,2,3", "--box", 1,
                           *words)
            assert verb == "nearest" or found == want
    cli.fails(6, "pairs", name, "--against", "b.csv", "--columns", "1,2,3", "--cutoff", 1,
              says=[name, "columns"])


def dump(path, side, unit):
    """Write a LAMMPS dump of two atoms in a cube."""
    with open(path, "w", encoding="ascii") as file:
        file.write(f"ITEM: UNITS\n{unit}\nITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n2\n"
                   "ITEM: BOX BOUNDS pp pp pp\n" + f"0 {side}\n" * 3
                   + "ITEM: ATOMS id type x y z\n1 1 0 0 0\n2 1 1 1 1\n")


def test_against_of_another_box():
    """Another unit of length is refused; another box is not used, which a note says."""
    for path, side, unit in (("a.dump", 4, "real"), ("b.dump", 4, "metal"), ("c.dump", 5, "real"),
                             ("nm.dump", 4, "nano")):
        dump(path, side, unit)
    cli.write_npy("plain.npy", [(0, 0, 0)])
    for words in ("pairs", "--cutoff", 1), ("nearest", "-k", 1):
        verb, *words = words
        cli.fails(6, verb, "a.dump", "--against", "nm.dump", *words,
                  says=["nm.dump has lengths in nm", "a.dump in A"])
        for against in "b.dump", "plain.npy":
            cli.ok(verb, "a.dump", "--against", against, *words)
        note = cli.fails(0, verb, "a.dump", "--against", "c.dump", *words,
                         says=["c.dump: note: the box of a.dump is used", "--box"])
        assert "box         4 x 4 x 4" in note.stdout, note.stdout
        cli.fails(0, verb, "plain.npy", "--against", "c.dump", *words,
                  says=["space is open", "plain.npy has no box"])
        cli.ok(verb, "a.dump", "--against", "c.dump", *words, "--box", 4)
        assert cli.report(verb, "a.dump", "--against", "c.dump", *words)["box"]["rows"][0][0] == 4


def test_against_of_another_unit_in_h5md():
    h5py = needs.module("h5py")
    for path, unit in ("a.h5", "nm"), ("b.h5", "Angstrom"):
        with h5py.File(path, "w") as file:
            file.create_group("h5md").attrs["version"] = [1, 1]
            group = file.create_group("particles/all")
            group.create_group("box").attrs["boundary"] = [b"none"] * 3
            value = group.create_dataset("position/value", data=[[[0.0, 0, 0], [1, 1, 1]]])
            group.create_dataset("position/step", data=[0])
            value.attrs["unit"] = unit
    cli.fails(6, "pairs", "a.h5", "--against", "b.h5", "--cutoff", 1, says=["in nm", "in A"])
    cli.ok("pairs", "a.h5", "--against", "a.h5", "--cutoff", 1)


def test_origin_and_points_outside():
    _, xyz = points(60, 9)
    moved = [tuple(x - 0.5 for x in p) for p in xyz]
    cli.write_npy("moved.npy", moved)
    found, _ = write("out.npy", "moved.npy", "--box", "1", "--origin", "-0.5,-0.5,-0.5")
    check(found, cli.brute_force(moved, CUTOFF, 1.0))
    shifts = {s for _, _, s in write("out.npy", "moved.npy", "--box", "1")[0]}
    assert any(abs(v) == 1 for s in shifts for v in s)


def test_partly_periodic():
    name, xyz = points(100, 10)
    found, _ = write("out.npy", name, "--box", "1", "--periodic", "x")
    expected = {key: value for key, value in cli.brute_force(xyz, CUTOFF, 1.0).items()
                if key[2][1] == key[2][2] == 0}
    check(found, expected)


def test_float():
    numpy = needs.module("numpy")
    cli.ok("make", "uniform", "300", "--precision", "float", "-o", "a.npy", "-q")
    xyz = numpy.load("a.npy")
    assert xyz.dtype == numpy.float32
    cli.ok("pairs", "a.npy", "--cutoff", CUTOFF, "--distances", "--vectors", "--shifts", "-o",
           "out.npy", "-q")
    out = numpy.load("out.npy")
    d = xyz[None, :, :] - xyz[:, None, :]
    r2 = (d[..., 0] * d[..., 0] + d[..., 1] * d[..., 1]) + d[..., 2] * d[..., 2]
    inside = numpy.triu(r2 <= numpy.float32(CUTOFF) * numpy.float32(CUTOFF), 1)
    assert set(zip(out["i"].tolist(), out["j"].tolist())) == set(zip(*map(list, inside.nonzero())))
    assert (out["distance"] == numpy.sqrt(r2)[out["i"], out["j"]]).all()
    assert (out["vector"] == d[out["i"], out["j"]]).all()


def test_nothing_and_one():
    for xyz in ([], [(0.5, 0.5, 0.5)]):
        cli.write_npy("a.npy", xyz)
        assert cli.ok("pairs", "a.npy", "--cutoff", "0.1", "--count") == "0\n"
        cli.ok("pairs", "a.npy", "--cutoff", "0.1", "--box", "1")
        assert write("out.npy", "a.npy") == ({}, [])
        assert write("out.txt", "a.npy") == ({}, [])
    assert len(write("out.npy", "a.npy", "--box", "0.3")[0]) == 3


def test_threads_and_runs_agree():
    name, _ = points(3000, 11)
    files = []
    for threads in (1, 2, 2):
        cli.ok("pairs", name, "--cutoff", "0.1", "--threads", threads, "-o", "out.npy", "-q")
        with open("out.npy", "rb") as file:
            files.append(file.read())
    assert files[0] == files[1] == files[2]


def test_frame_of_many_is_told():
    """Which frame was read, where nobody chose one: in text, the others are not counted."""
    def frame(k):
        return f'2\nLattice="9 0 0 0 9 0 0 0 9"\nA 1 1 1\nA {1.1 + 0.1 * k} 1 1\n'
    for frames, says in ((1, ""), (3, "frame 0 is read, and more follow; --frame K reads another")):
        with open("t.xyz", "w", encoding="ascii") as file:
            file.writelines(map(frame, range(frames)))
        for verb, *more in (("pairs", "--cutoff", "1"), ("nearest", "-k", "1"),
                            ("fof", "--length", "1")):
            done = cli.run(verb, "t.xyz", *more)
            assert done.returncode == 0, done.stderr
            notes = [line for line in done.stderr.splitlines() if "note" in line]
            assert notes == ([f"kith: t.xyz: note: {says}"] if says else []), (verb, notes)
    for more in (("--frame", "1"), ("-q",)):
        assert "note" not in cli.run("pairs", "t.xyz", "--cutoff", "1", *more).stderr, more
    cli.ok("flock", "--boids", "20", "--box", "9", "--steps", "4", "--record-every", "2", "-q",
           "-o", "a.gsd")
    said = cli.run("pairs", "a.gsd", "--cutoff", "1").stderr
    assert "a.gsd: note: frame 0 of 3 is read; --frame K reads another" in said, said
    for name, frames in (("a.gsd", 3), ("t.xyz", None)):     # JSON says it itself
        assert cli.report("pairs", name, "--cutoff", "1")["input"]["frames"] == frames


sys.exit(cli.main(globals()))
