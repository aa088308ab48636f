# SPDX-License-Identifier: BSD-3-Clause
"""kith overlap: P(q) of small replicas by brute force, every format, spins, every bad input."""
import json
import math
import os
import random
import signal
import struct
import subprocess
import sys

import cli

TYPES = {"f4": "f", "f8": "d", "i1": "b", "i2": "h", "i4": "i", "u1": "B"}


def write_matrix(path, rows, kind="f8", order="<", fortran=False):
    """Write rows as .npy."""
    numbers = [x for row in (zip(*rows) if fortran else rows) for x in row]
    with open(path, "wb") as file:
        file.write(cli.npy_head((len(rows), len(rows[0])), order + kind, fortran))
        file.write(struct.pack(f"{order.strip('|')}{len(numbers)}{TYPES[kind]}", *numbers))


def read_matrix(path):
    header, data = cli.read_npy(path)
    rows, columns = header["shape"]
    kind = header["descr"][1:]
    values = struct.unpack(f"<{rows * columns}{TYPES[kind]}", data)
    return kind, [values[r * columns:(r + 1) * columns] for r in range(rows)]


def make_rows(n=30, dim=7, seed=1):
    source = random.Random(seed)
    return [[source.gauss(0.2, 1) for _ in range(dim)] for _ in range(n)]


def overlap(x, y, measure):
    product = sum(a * b for a, b in zip(x, y))
    if measure == "product":
        return product
    if measure == "distance":
        return math.dist(x, y)
    return product / math.hypot(*x) / math.hypot(*y)


def brute_force(rows, edges, measure="cosine"):
    """Counts; a value within rounding of an edge would be a fault of the test's numbers."""
    counts = [0] * (len(edges) - 1)
    for i, x in enumerate(rows):
        for y in rows[:i]:
            q = overlap(x, y, measure)
            assert min(abs(q - e) for e in edges) > 1e-9
            for k in range(len(counts)):
                counts[k] += edges[k] <= q < edges[k + 1]
    return counts


def columns(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)["columns"]


def count(*arguments):
    """The counts of a run."""
    cli.ok("overlap", *arguments, "-o", "out.json", "-q")
    return columns("out.json")["count"]


def test_against_brute_force():
    rows = make_rows()
    write_matrix("a.npy", rows)
    for measure, low, high in (("cosine", -1, 1), ("product", -9, 20), ("distance", 0.2, 8)):
        edges = [low + k * (high - low) / 25 for k in range(26)]
        found = count("a.npy", "--measure", measure, "--range", f"{low},{high}", "--bins", 25)
        assert found == brute_force(rows, edges, measure), measure
    means = [sum(column) / len(rows) for column in zip(*rows)]
    rest = [[x - m for x, m in zip(row, means)] for row in rows]
    edges = [-1 + k / 100 for k in range(201)]
    assert count("a.npy", "--subtract-mean") == brute_force(rest, edges)


def test_formats_and_outputs():
    rows = [[float(round(x * 4)) for x in row] for row in make_rows(seed=3)]
    write_matrix("f8.npy", rows)
    right = count("f8.npy", "--bins", 20)
    assert sum(right) == 30 * 29 // 2
    for kind in TYPES:
        if kind != "u1":
            whole = rows if kind[0] == "f" else [[int(x) for x in row] for row in rows]
            for order in "<>":
                write_matrix("b.npy", whole, kind, order)
                assert count("b.npy", "--bins", 20) == right, (kind, order)
    write_matrix("c.npy", rows, "f4", fortran=True)
    assert count("c.npy", "--bins", 20) == right
    with open("t.txt", "w", encoding="utf-8") as file:
        file.write("# replicas\n" + "".join(" ".join(map(str, row)) + "\n" for row in rows))
    assert count("t.txt", "--bins", 20) == right
    assert count("t.txt", "--bins", 20, "--precision", "float") == right
    assert count("f8.npy", "--bins", 20, "--threads", 1) == right
    report = cli.report("overlap", "f8.npy", "--bins", 20, "--matrix", "m.npy", "-o", "p.npy")
    assert report["pairs"] == 435 and report["outside"] == 0 and report["replicas"]["dim"] == 7
    kind, matrix = read_matrix("m.npy")
    assert kind == "f8" and all(matrix[k][k] == 1 for k in range(30))
    assert all(abs(matrix[i][j] - overlap(rows[i], rows[j], "cosine")) < 1e-12
               for i in range(30) for j in range(30))
    header, _ = cli.read_npy("p.npy")
    assert [name for name, _ in header["descr"]] == ["q_low", "q_high", "q", "P", "count"]
    text = cli.ok("overlap", "f8.npy", "--bins", 20, "-o", "-").splitlines()
    lines = [line.split() for line in text if not line.startswith("#")]
    assert [int(line[2]) for line in lines] == right
    assert abs(sum(float(line[1]) for line in lines) * 0.1 - 1) < 1e-6
    said = cli.ok("overlap", "f8.npy", "--plot", "p.svg")
    assert "30 of 7 double" in said and os.path.getsize("p.svg") > 1000, said


def test_hdf5():
    h5py, numpy, _ = cli.snapshot_modules()
    rows = numpy.array(make_rows())
    with h5py.File("a.h5", "w") as file:
        file["x"] = rows
        file["steps"] = numpy.arange(30)
    write_matrix("a.npy", rows.tolist())
    assert count("a.h5") == count("a.npy") == count("a.h5", "--dataset", "x")
    with h5py.File("a.h5", "a") as file:
        file["group/y"] = rows
        file["z"] = rows.astype("f4")
    cli.fails(6, "overlap", "a.h5", says=["2 datasets of two dimensions", "choose a dataset"])
    assert count("a.h5", "--dataset", "group/y") == count("a.npy")
    cli.fails(4, "overlap", "a.h5", "--dataset", "steps", says=["1 dimensions; expected 2"])
    cli.fails(4, "overlap", "a.h5", "--dataset", "none", says=["no readable dataset none"])


def test_spins():
    source = random.Random(5)
    spins = [[source.choice((-1, 1)) for _ in range(77)] for _ in range(40)]
    write_matrix("s.npy", spins, "i1")
    write_matrix("zero.npy", [[max(s, 0) for s in row] for row in spins], "u1")
    packed = [[sum((row[k] > 0) << (7 - k % 8) for k in range(8 * b, min(77, 8 * b + 8)))
               for b in range(10)] for row in spins]
    write_matrix("p.npy", packed, "u1", "|")
    right = count("s.npy", "--bins", 77)
    assert sum(right) == 40 * 39 // 2
    assert count("zero.npy", "--spins", "--bins", 77) == right
    assert count("p.npy", "--packed", 77, "--bins", 77) == right
    assert cli.report("overlap", "p.npy", "--packed", 77)["replicas"]["type"] == "spins"
    cli.fails(6, "overlap", "p.npy", "--packed", 81, says=["10 bytes; expected 11"])
    cli.fails(4, "overlap", "s.npy", "--packed", 77 * 8, says=["spins packed to bytes"])
    write_matrix("s.npy", [[1, 2], [1, 1]], "i1")
    cli.fails(6, "overlap", "s.npy", "--spins", says=["number 1 of vector 0", "is 2"])


def test_bad_input():
    rows = make_rows(5, 4)
    write_matrix("one.npy", rows[:1])
    cli.fails(6, "overlap", "one.npy", says=["one.npy", "2 replicas or more"])
    write_matrix("zero.npy", rows + [[0, 0, 0, 0]])
    cli.fails(6, "overlap", "zero.npy", says=["replica 5", "zero"])
    cli.ok("overlap", "zero.npy", "--measure", "distance")
    write_matrix("nan.npy", rows + [[1, 2, math.nan, 4]])
    cli.fails(5, "overlap", "nan.npy", says=["number 2 of replica 5 is not finite"])
    write_matrix("same.npy", [rows[0]] * 3)
    cli.fails(6, "overlap", "same.npy", "--subtract-mean", says=["equals the mean"])
    with open("ragged.txt", "w", encoding="utf-8") as file:
        file.write("1 2 3\n4 5 6\n7 8\n")
    cli.fails(4, "overlap", "ragged.txt", says=["line 3", "has 2 columns; expected 3"])
    with open("words.txt", "w", encoding="utf-8") as file:
        file.write("1 2 3\n4 five 6\n")
    cli.fails(4, "overlap", "words.txt", says=["line 2", "five"])
    with open("short.npy", "wb") as file, open("zero.npy", "rb") as whole:
        file.write(whole.read()[:-1])
    cli.fails(4, "overlap", "short.npy", says=["expected"])
    cli.fails(3, "overlap", "none.npy", says=["none.npy"])
    write_matrix("a.npy", rows)
    cli.fails(6, "overlap", "a.npy", "--dataset", "x", says=["dataset means nothing"])
    for arguments, status in ((["--measure", "angle"], 2), (["--bins", "0"], 6),
                              (["--bins", "x"], 2), (["--range", "1"], 2), (["--range", "1,0"], 6),
                              (["--spins", "--packed", "4"], 2), (["--format", "npy"], 2),
                              (["--packed", "4", "--subtract-mean"], 2), (["--plot", "a.gif"], 6),
                              (["--matrix", "-"], 2), (["-o", "-", "--json"], 2),
                              (["-o", "a.txt", "--format", "lammps"], 2)):
        cli.fails(status, "overlap", "a.npy", *arguments)
    cli.fails(2, "overlap", says=["no REPLICAS"])
    cli.fails(9, "overlap", "a.npy", "-o", "none/a.txt", says=["none/a.txt"])


def test_interrupt():
    # So many pairs that they take a minute; the signal is taken while they are counted.
    cli.ok("make", "uniform", "200k", "-o", "a.npy", "-q")
    with subprocess.Popen([cli.KITH, "overlap", "a.npy", "-o", "x.txt", "--threads", "1"],
                          stderr=subprocess.PIPE, text=True) as process:
        try:
            process.communicate(timeout=0.5)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
        _, message = process.communicate(timeout=30)
    assert process.returncode == 130, process.returncode
    assert message == "kith: interrupted; x.txt was not written\n", message
    assert os.listdir() == ["a.npy"], os.listdir()


if __name__ == "__main__":
    sys.exit(cli.main(globals()))
