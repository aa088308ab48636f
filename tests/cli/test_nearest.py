# SPDX-License-Identifier: BSD-3-Clause
"""kith nearest: the rows written are those of brute force, in every format; summary; bad input."""
import math
import os
import signal
import struct
import subprocess
import sys

import cli
import needs

EXTRAS = ("--distances", "--vectors", "--shifts")
SIDE = 1.0


def points(n, seed, *arguments):
    name = f"{n}-{seed}.npy"
    cli.ok("make", "uniform", n, "--seed", seed, "-o", name, "-q", *arguments)
    return name, cli.read_points(name)


def brute_rows(a, k, reach, side=None, b=None, axes=(0, 1, 2), radius=lambda i, j: math.inf):
    """The first k pairs of each i, [(j, S, distance, vector)], of those at distances <= reach, and
    <= radius(i, j)."""
    rows = [[] for _ in a]
    for (i, j, s), (r2, d) in cli.brute_force(a, reach, side, True, b).items():
        if r2 <= radius(i, j) ** 2 and all(s[axis] == 0 or axis in axes for axis in range(3)):
            rows[i].append((r2, j, s[::-1], d))
    return [[(j, s[::-1], math.sqrt(r2), d) for r2, j, s, d in sorted(row)[:k]] for row in rows]


def trim(k, records):
    """Check what follows the neighbours of each row, and leave it out."""
    rows = []
    for count, j, distance, vector, shift in records:
        entries = list(zip(j, map(tuple, shift), distance, map(tuple, vector)))
        assert len(entries) == k and 0 <= count <= k, (count, len(entries))
        for entry in entries[count:]:
            assert entry == (-1, (0, 0, 0), math.inf, (0, 0, 0)), entry
        rows.append(entries[:count])
    return rows


def triples(numbers):
    return list(zip(numbers[0::3], numbers[1::3], numbers[2::3]))


def read_npy_rows(path, k, real="d"):
    header, data = cli.read_npy(path)
    size = {"d": 8, "f": 4}[real]
    assert header["descr"] == [
        ("count", "<i4"), ("j", "<i4", (k,)), ("distance", f"<f{size}", (k,)),
        ("vector", f"<f{size}", (k, 3)), ("shift", "<i4", (k, 3))], header
    record = f"<i{k}i{k}{real}{3 * k}{real}{3 * k}i"
    records = [(r[0], r[1:1 + k], r[1 + k:1 + 2 * k], triples(r[1 + 2 * k:1 + 5 * k]),
                triples(r[1 + 5 * k:])) for r in struct.iter_unpack(record, data)]
    assert header["shape"] == (len(records),), header
    return trim(k, records)


def read_hdf5_rows(path, k):
    with needs.module("h5py").File(path) as file:
        assert file.attrs["k"] == k and file["vector"].shape[1:] == (k, 3)
        return trim(k, zip(*(file[name][()].tolist()
                             for name in ("count", "j", "distance", "vector", "shift"))))


def read_text_rows(path, n):
    rows = [[] for _ in range(n)]
    with open(path, encoding="ascii") as file:
        lines = [line.replace(",", " ").split() for line in file if line[0] not in "#i"]
    assert lines == sorted(lines, key=lambda words: int(words[0])), "not in the order of i"
    for w in lines:
        rows[int(w[0])].append((int(w[1]), tuple(map(int, w[6:9])), float(w[2]),
                                tuple(map(float, w[3:6]))))
    return rows


def write(path, *arguments):
    cli.ok("nearest", *arguments, *EXTRAS, "-o", path, "-q")
    return path


def test_npy():
    name, xyz = points(60, 1)
    for k in (1, 2, 7):
        assert read_npy_rows(write("o.npy", name, "-k", k), k) == brute_rows(xyz, k, 2)
        assert read_npy_rows(write("o.npy", name, "-k", k, "--box", SIDE), k) == brute_rows(
            xyz, k, 0.99, SIDE)


def test_text():
    name, xyz = points(60, 2)
    expected = brute_rows(xyz, 5, 0.99, SIDE)
    for path in ("o.txt", "o.csv"):
        assert read_text_rows(write(path, name, "-k", 5, "--box", SIDE), 60) == expected
    with open("piped.txt", "w", encoding="ascii") as file:
        cli.ok("nearest", name, "-k", 5, "--box", SIDE, *EXTRAS, "-o", "-", stdout=file)
    assert read_text_rows("piped.txt", 60) == expected
    with open("piped.txt", encoding="ascii") as file:
        head = [next(file) for _ in range(6)]
    assert head[2:] == ["# cutoff: inf\n", "# particles: 60\n", "# k: 5\n",
                        "# i j distance dx dy dz Sa Sb Sc\n"], head


def test_hdf5():
    name, xyz = points(60, 3)
    needs.built(cli.run("nearest", name, "-k", "1", "-o", "o.h5"))
    for k in (1, 6):
        assert read_hdf5_rows(write("o.h5", name, "-k", k, "--box", SIDE), k) == brute_rows(
            xyz, k, 0.99, SIDE)


def test_fewer_than_k():
    """By a cutoff, some rows lack some; with few particles, all do."""
    name, xyz = points(50, 4)
    expected = brute_rows(xyz, 4, 0.2, SIDE)
    assert {0, 4} < set(map(len, expected))
    arguments = (name, "-k", 4, "--cutoff", 0.2, "--box", SIDE)
    assert read_npy_rows(write("o.npy", *arguments), 4) == expected
    assert read_text_rows(write("o.txt", *arguments), 50) == expected
    few, xyz = points(3, 5)
    assert read_npy_rows(write("o.npy", few, "-k", 9), 9) == brute_rows(xyz, 9, 2)
    for none in ([], [(0.5, 0.5, 0.5)]):
        cli.write_npy("a.npy", none)
        assert read_npy_rows(write("o.npy", "a.npy", "-k", 2), 2) == [[] for _ in none]
        assert read_text_rows(write("o.txt", "a.npy", "-k", 2), len(none)) == [[] for _ in none]
        report = cli.report("nearest", "a.npy", "-k", 2)
        assert report["kth_distance"] is None and report["rows_with_fewer"] == len(none)
        cli.ok("nearest", "a.npy", "-k", 2)
    assert [row[0][0] for row in read_npy_rows(write("o.npy", "a.npy", "-k", 1, "--box", 1), 1)
            ] == [0]  # its own image


def test_ties():
    """Neighbours at equal distances come in the order of j, then of S."""
    cli.ok("make", "lattice", "27", "-o", "a.npy", "-q")
    cli.write_npy("b.npy", [tuple(round(3 * x) for x in p) for p in cli.read_points("a.npy")])
    xyz = cli.read_points("b.npy")
    assert read_npy_rows(write("o.npy", "b.npy", "-k", 30, "--box", 3), 30) == brute_rows(
        xyz, 30, 3, 3.0)


def test_against():
    name, a = points(40, 6)
    other, b = points(30, 7)
    assert read_npy_rows(write("o.npy", name, "-k", 3, "--against", other, "--box", SIDE), 3
                         ) == brute_rows(a, 3, 0.99, SIDE, b)
    report = cli.report("nearest", name, "-k", 3, "--against", other)
    assert report["against"]["particles"] == 30 and report["neighbours"] == 120


def test_radii():
    """A radius for each particle, with the words of `kith pairs`; of one set and of two."""
    name, xyz = points(70, 21)
    other, theirs = points(50, 22)
    radii = [0.2 * (p * 37 % 70) / 70 for p in range(70)]
    others = [0.2 * (p * 17 % 50) / 50 for p in range(50)]
    cli.write_npy_array("a.npy", (70,), radii)
    cli.write_npy_array("b.npy", (50,), others)
    for rule, radius in cli.RADIUS_RULES.items():
        words = ("-k", 4, "--box", SIDE, "--radii-rule", rule)
        own = () if rule == "scatter" else ("--radii", "a.npy")
        of_others = () if rule == "gather" else ("--radii-against", "b.npy")
        expected = brute_rows(xyz, 4, 0.99, SIDE, radius=lambda i, j: radius(radii[i], radii[j]))
        assert 0 < sum(map(len, expected)) < 4 * 70
        assert read_npy_rows(write("o.npy", name, *words, "--radii", "a.npy"), 4) == expected, rule
        expected = brute_rows(xyz, 4, 0.99, SIDE, b=theirs,
                              radius=lambda i, j: radius(radii[i], others[j]))
        assert read_npy_rows(write("o.npy", name, "--against", other, *words, *own, *of_others), 4
                             ) == expected, rule
    summary = cli.report("nearest", name, "-k", 4, "--radii", "a.npy", "--radii-scale", 0.5)
    assert summary["radii"] == {"input": "a.npy", "against": None, "rule": "either", "scale": 0.5,
                                "least": 0, "most": 0.1 * 69 / 70}, summary
    cli.fails(2, "nearest", name, "-k", 4, "--radii-rule", "sum", says=["need --radii"])
    cli.write_npy_array("zero.npy", (70,), [0.0] * 70)
    cli.fails(6, "nearest", name, "-k", 4, "--radii", "zero.npy", says=["all radii are 0"])


def test_partly_periodic():
    name, xyz = points(60, 8)
    assert read_npy_rows(write("o.npy", name, "-k", 4, "--box", SIDE, "--periodic", "x"), 4
                         ) == brute_rows(xyz, 4, 0.99, SIDE, axes=(0,))


def test_origin():
    _, xyz = points(40, 9)
    moved = [tuple(x - 0.5 for x in p) for p in xyz]
    cli.write_npy("moved.npy", moved)
    assert read_npy_rows(write("o.npy", "moved.npy", "-k", 3, "--box", SIDE, "--origin",
                               "-0.5,-0.5,-0.5"), 3) == brute_rows(moved, 3, 0.99, SIDE)


def test_large_records():
    """Rows larger than the buffer of a file, and than a chunk of HDF5."""
    name, _ = points(5, 10)
    k = 40000
    arguments = (name, "-k", k, "--box", SIDE)
    rows = read_npy_rows(write("o.npy", *arguments), k)
    assert [len(row) for row in rows] == [k] * 5
    assert all(row == sorted(row, key=lambda e: (e[2], e[0])) for row in rows)
    assert read_text_rows(write("o.txt", *arguments), 5) == rows
    needs.built(cli.run("nearest", name, "-k", "1", "-o", "o.h5"))
    assert read_hdf5_rows(write("o.h5", *arguments), k) == rows


def test_float():
    numpy = needs.module("numpy")
    points(200, 11)
    cli.write_npy("f.npy", cli.read_points("200-11.npy"), "f")
    xyz = numpy.load("f.npy")
    d = xyz[None, :, :] - xyz[:, None, :]
    r2 = (d[..., 0] * d[..., 0] + d[..., 1] * d[..., 1]) + d[..., 2] * d[..., 2]
    numpy.fill_diagonal(r2, numpy.inf)
    order = numpy.argsort(r2, axis=1, kind="stable")[:, :8]
    cli.ok("nearest", "f.npy", "-k", 8, "--distances", "-o", "o.npy", "-q")
    found = numpy.load("o.npy")
    assert found.dtype.names == ("count", "j", "distance")
    assert (found["j"] == order).all() and (found["count"] == 8).all()
    assert (found["distance"] == numpy.sqrt(numpy.take_along_axis(r2, order, 1))).all()
    rows = read_npy_rows(write("d.npy", "f.npy", "-k", 8, "--precision", "double"), 8)
    assert rows == brute_rows([tuple(map(float, p)) for p in xyz], 8, 2)


def test_threads_and_runs_agree():
    name, _ = points(3000, 12)
    files = []
    for threads in (1, 2, 2):
        with open(write("o.npy", name, "-k", 9, "--threads", threads), "rb") as file:
            files.append(file.read())
    assert files[0] == files[1] == files[2]


def test_json():
    name, xyz = points(50, 13)
    expected = brute_rows(xyz, 4, 0.2, SIDE)
    last = [row[3][2] for row in expected if len(row) == 4]
    for output in ([], ["-o", "o.npy", "--shifts"]):
        found = cli.report("nearest", name, "-k", 4, "--cutoff", 0.2, "--box", SIDE, *output)
        assert found["verb"] == "nearest" and found["k"] == 4 and found["cutoff"] == 0.2
        assert found["neighbours"] == sum(map(len, expected))
        assert found["rows_with_fewer"] == 50 - len(last) > 0
        assert found["kth_distance"]["largest"] == max(last)
        assert abs(found["kth_distance"]["mean"] - sum(last) / len(last)) < 1e-12
        assert found["list"] == {"distances": False, "vectors": False, "shifts": bool(output)}
        assert found["output"] == (
            {"path": "o.npy", "bytes": os.path.getsize("o.npy")} if output else None)
    header, _ = cli.read_npy("o.npy")
    assert [field[0] for field in header["descr"]] == ["count", "j", "shift"]
    assert cli.report("nearest", name, "-k", 4)["cutoff"] is None


def test_summary():
    name, _ = points(300, 14)
    text = cli.ok("nearest", name, "-k", 4, "--cutoff", 0.1, "--box", 1, "-o", "o.txt")
    for word in ("particles", "box", "cutoff", "k", "neighbours", "distance", "search", "memory",
                 "output"):
        assert f"\n  {word} " in text, word
    assert max(map(len, text.splitlines())) <= 80
    cli.fails(2, "nearest", name, "-k", 4, "-q", says=["--quiet", "-o FILE"])
    assert cli.ok("nearest", name, "-k", 4, "-q", "-o", "o.npy") == ""
    assert cli.ok("nearest", name, "-k", 4, "-q", "--json")


def test_wrong_arguments():
    name, _ = points(30, 16)
    for words, says in (
            ([name], "no -k"), (["-k", 2], "INPUT"), ([name, name, "-k", 2], name),
            ([name, "-k", "x"], "whole number"), ([name, "-k", 1.5], "whole number"),
            ([name, "-k", 2, "--shifts"], "-o FILE"), ([name, "-k", 2, "--full"], "full"),
            ([name, "-k", 2, "-o", "-", "--json"], "standard output"),
            ([name, "-k", 2, "-o", name], "--output")):
        cli.fails(2, "nearest", *words, says=[says])
    for words, says in (
            ([name, "-k", 0], "--k"), ([name, "-k", -1], "--k"), ([name, "-k", "3G"], "--k"),
            ([name, "-k", 2, "--cutoff", 0], "--cutoff"), ([name, "-k", 2, "-c", -1], "--cutoff"),
            ([name, "-k", 2, "-o", "o.xyz"], "o.xyz"),
            ([name, "-k", "200M", "--vectors", "-o", "o.npy"], "2^31 bytes")):
        cli.fails(6, "nearest", *words, says=[says])
    cli.fails(3, "nearest", "none.npy", "-k", 2, says=["none.npy"])
    cli.fails(9, "nearest", name, "-k", 2, "-o", "none/o.npy", says=["none/o.npy"])
    cli.write_npy("nan.npy", [(0, 0, 0), (0, math.nan, 0)])
    cli.fails(5, "nearest", "nan.npy", "-k", 1, says=["nan.npy", "1"])
    cli.fails(5, "nearest", name, "-k", 1, "--against", "nan.npy", says=["1"])
    cli.write_npy("one.npy", [(0, 0, 0)])
    cli.ok("nearest", "one.npy", "-k", 1000, "--box", 1, "--periodic", "x")
    cli.fails(7, "nearest", "one.npy", "-k", 1001, "--box", 1, "--periodic", "x",
              says=["one.npy", "k is 1001", "boxes away"])
    assert not [left for left in os.listdir() if left.startswith("o.")], os.listdir()


def test_signals_leave_nothing():
    """During the search, and during a long write."""
    cli.ok("make", "uniform", "200k", "-o", "a.npy", "-q")
    for number, output in ((signal.SIGINT, "o.txt"), (signal.SIGTERM, "o.npy"),
                           (signal.SIGHUP, "o.txt")):
        with subprocess.Popen([cli.KITH, "nearest", "a.npy", "-k", "60", *EXTRAS, "-o", output],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True) as process:
            while not any(name.endswith(".part") for name in os.listdir()):
                assert process.poll() is None
            process.send_signal(number)
            _, message = process.communicate(timeout=60)
        assert process.returncode == 130, process.returncode
        assert message == f"kith: interrupted; {output} was not written\n", message
        assert os.listdir() == ["a.npy"], os.listdir()


sys.exit(cli.main(globals()))
