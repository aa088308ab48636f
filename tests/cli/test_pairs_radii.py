# SPDX-License-Identifier: BSD-3-Clause
"""kith pairs --radii: a radius for each particle, judged by the definition."""
import functools
import math
import random
import struct
import sys

import cli
import rdf_frames

SIDE = 4.0
RULES = cli.RADIUS_RULES


def particles(n, seed, dim=3):
    """Points, and radii whose sums are below SIDE."""
    rng = random.Random(seed)
    points = [tuple(rng.random() * SIDE if k < dim else 0.0 for k in range(3)) for _ in range(n)]
    return points, [rng.choice((0.0, 0.4, 1.8, 1.8)) * rng.random() for _ in range(n)]


def write_text(path, points, radii, dim=3, first=False):
    """Columns: coordinates and radii, with names; or radii first, without names."""
    with open(path, "w", encoding="ascii") as file:
        file.write("" if first else " ".join("xyz"[:dim]) + " h\n")
        for point, h in zip(points, radii):
            row = (h, *point[:dim]) if first else (*point[:dim], h)
            file.write(" ".join(map(repr, row)) + "\n")


def write_column(path, numbers):
    """One number for each particle, as .npy."""
    cli.write_npy_array(path, (len(numbers),), numbers)


@functools.lru_cache
def distances(points, side, full, others):
    """The pairs (i, j, S) of all distances that radii allow here, with the squares of these."""
    return {pair: r2 for pair, (r2, _) in cli.brute_force(points, 3.7, side, full, others).items()}


def judged(rule, points, radii, side, full=False, others=None, radii_of_others=None, cutoff=9.0):
    """The (i, j, S) by the definition."""
    second = radii if radii_of_others is None else radii_of_others
    found = distances(tuple(points), side, full, others and tuple(others))
    return {(i, j, s) for (i, j, s), r2 in found.items()
            if r2 <= RULES[rule](radii[i], second[j]) ** 2 and r2 <= cutoff * cutoff}


def test_rules():
    for dim in (2, 3):
        points, radii = particles(110, dim, dim)
        write_text("a.txt", points, radii, dim)
        for side in (SIDE, None):
            box = ("--box", ",".join([str(side)] * dim)) if side else ()
            for rule in RULES:
                for full in (False, True):
                    words = ("--radii", "h", "--radii-rule", rule, *box,
                             *(["--full"] if full else []))
                    if rule in ("gather", "scatter") and not full:
                        cli.fails(2, "pairs", "a.txt", *words, says=["--radii-rule", "--full"])
                        continue
                    want = judged(rule, points, radii, side, full)
                    assert len(want) > 20 and cli.listed("a.txt", *words) == want, (dim, side, rule)
                    assert int(cli.ok("pairs", "a.txt", "--count", *words)) == len(want)
        assert cli.listed("a.txt", "--radii", "H") == judged("either", points, radii, None)
        write_text("b.txt", points, radii, dim, first=True)
        assert cli.listed("b.txt", "--radii", 0, "--radii-rule", "sum") == judged(
            "sum", points, radii, None)
    assert cli.listed("a.txt", "--radii", 3, "--radii-rule", "sum") == judged(
        "sum", points, radii, None)


def test_limits():
    """--cutoff bounds the distance, --radii-scale multiplies; other rules apply too."""
    points, radii = particles(100, 5)
    write_text("a.txt", points, radii)
    words = ("a.txt", "--box", SIDE, "--radii", "h", "--radii-rule", "sum")
    want = judged("sum", points, radii, SIDE, cutoff=0.8)
    assert len(want) < len(judged("sum", points, radii, SIDE))
    assert cli.listed(*words, "--cutoff", 0.8) == want
    half = [0.3 * h for h in radii]
    assert cli.listed(*words, "--radii-scale", 0.3) == judged("sum", points, half, SIDE)
    near = {pair for pair, (r2, _) in cli.brute_force(points, 0.5, SIDE).items() if r2 < 0.25}
    assert cli.listed(*words, "--r-min", 0.5) == judged("sum", points, radii, SIDE) - near
    names = ["AB"[p % 2] for p in range(len(points))]
    write_column("h.npy", radii)
    rdf_frames.write_xyz("a.xyz", [(names, points, SIDE)])
    found = cli.listed("a.xyz", "--radii", "h.npy", "--cutoff", "A-A=0.7")
    assert found and found == {
        (i, j, s) for i, j, s in judged("either", points, radii, SIDE, cutoff=0.7)
        if names[i] == names[j] == "A"}


def test_against():
    points, radii = particles(60, 7)
    others, theirs = particles(80, 8)
    write_text("a.txt", points, radii)
    write_text("b.txt", others, theirs)
    write_column("a.npy", radii)
    write_column("b.npy", theirs)
    for rule in RULES:
        words = ("--against", "b.txt", "--box", SIDE, "--radii-rule", rule)
        want = judged(rule, points, radii, SIDE, False, others, theirs)
        assert len(want) > 20 and cli.listed("a.txt", "--radii", "h", *words) == want, rule
        names = [(), ("--radii-against", "b.npy"), ("--radii-against", 3)]
        if rule == "gather":
            cli.fails(2, "pairs", "a.txt", "--radii", "h", *words, *names[1], says=["INPUT alone"])
            assert cli.listed("a.txt", "--radii", "a.npy", *words) == want
        elif rule == "scatter":
            cli.fails(2, "pairs", "a.txt", "--radii", "h", *words, *names[1], says=["--against"])
            assert cli.listed("a.txt", *words, *names[1]) == want
            cli.write_npy("bare.npy", points)  # needs no radii itself
            assert cli.listed("bare.npy", "--radii", "h", *words) == want
        else:
            assert cli.listed("a.txt", "--radii", "a.npy", *words, *names[1]) == want
            assert cli.listed("a.txt", "--radii", "h", *words, *names[2]) == want
            cli.fails(2, "pairs", "a.txt", "--radii", "a.npy", *words, says=["--radii-against"])
            cli.fails(2, "pairs", "a.txt", *words, *names[1], says=["add --radii"])


def test_summary():
    points, radii = particles(50, 9)
    write_text("a.txt", points, radii)
    report = cli.report("pairs", "a.txt", "--radii", "h")
    assert report["cutoff"] is None and report["radii"] == {
        "input": "h", "against": None, "rule": "either", "scale": 1.0, "least": min(radii),
        "most": max(radii)}
    report = cli.report("pairs", "a.txt", "--radii", "h", "--cutoff", 0.5, "--radii-scale", 2)
    assert report["cutoff"] == 0.5 and report["radii"]["most"] == 2 * max(radii)
    assert cli.report("pairs", "a.txt", "--cutoff", 0.5)["radii"] is None
    words = f"h, rule sum, {min(radii):.6g} to {max(radii):.6g}"
    assert words in cli.ok("pairs", "a.txt", "--radii", "h", "--radii-rule", "sum")
    cli.listed("a.txt", "--radii", "h", "--radii-rule", "sum")
    with open("out.txt", encoding="ascii") as file:
        head = file.readlines()[:6]
    assert f"# radii: {words}\n" in head and "# cutoff: inf\n" in head, head
    with open("empty.txt", "w", encoding="ascii") as file:
        file.write("# x y z h\n")
    report = cli.report("pairs", "empty.txt", "--radii", "h")
    assert report["pairs"] == 0 and report["radii"]["least"] is None
    assert "no particles" in cli.ok("pairs", "empty.txt", "--radii", "h")


def test_formats():
    """Radii by name in trajectories: frames and chosen species."""
    points, radii = particles(60, 10)
    names = ["Si" if p % 3 else "O" for p in range(60)]
    with open("a.xyz", "w", encoding="ascii") as file:
        for order in (radii[::-1], radii):
            file.write(f'60\nLattice="{SIDE} 0 0 0 {SIDE} 0 0 0 {SIDE}" '
                       "Properties=species:S:1:pos:R:3:radius:R:1\n")
            for name, point, h in zip(names, points, order):
                file.write(" ".join((name, *map(repr, (*point, h)))) + "\n")
    with open("a.dump", "w", encoding="ascii") as file:
        file.write("ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n60\nITEM: BOX BOUNDS pp pp pp\n"
                   + f"0 {SIDE}\n" * 3 + "ITEM: ATOMS id type x y z c_r\n")
        for p, (point, h) in enumerate(zip(points, radii)):
            file.write(f"{p + 1} 1 " + " ".join(map(repr, (*point, h))) + "\n")
    want = judged("sum", points, radii, SIDE)
    rule = ("--radii-rule", "sum")
    assert cli.listed("a.xyz", "--radii", "radius", "--frame", 1, *rule) == want
    assert cli.listed("a.dump", "--radii", "c_r", *rule) == want
    chosen = [p for p in range(60) if names[p] == "Si"]
    write_column("h.npy", [radii[p] for p in chosen])
    few = judged("sum", [points[p] for p in chosen], [radii[p] for p in chosen], SIDE)
    some = ("--species", "Si", *rule)
    assert cli.listed("a.xyz", "--radii", "radius", "--frame", 1, *some) == few
    assert cli.listed("a.xyz", "--radii", "h.npy", *some) == few
    cli.fails(4, "pairs", "a.xyz", "--radii", "size", says=["a.xyz", "'size'"])
    rdf_frames.write_gsd("a.gsd", [
        (0, "configuration/box", 9, 6, 1, struct.pack("<6f", SIDE, SIDE, SIDE, 0, 0, 0)),
        (0, "particles/N", 3, 1, 1, struct.pack("<I", 60)),
        (0, "particles/position", 10, 60, 3,
         struct.pack("<180d", *[v - SIDE / 2 for point in points for v in point])),
        (0, "particles/diameter", 10, 60, 1, struct.pack("<60d", *[2 * h for h in radii]))])
    assert {s[:2] for s in cli.listed("a.gsd", "--radii", "diameter", "--radii-scale", 0.5, *rule)
            } == {s[:2] for s in want}


def test_hdf5():
    """Snapshots: datasets of the types that are read, in the unit of the coordinates."""
    h5py, numpy, snapshots = cli.snapshot_modules()
    universe = {"omega": 0.3, "lambda": 0.7, "h": 0.7, "redshift": 1.0, "time": 0.5, "box": SIDE}
    made = {0: None, 1: None}
    radii = {}
    for kind in made:
        points, radii[kind] = particles(50, 11 + kind)
        made[kind] = {"pos": numpy.array(points), "id": numpy.arange(50, dtype="u4") + 50 * kind,
                      "mass": numpy.ones(50)}
    every = [tuple(p) for kind in made for p in made[kind]["pos"].tolist()]
    for code in ("gadget", "arepo", "swift"):
        snapshots.hdf5("s.hdf5", made, universe, code)
        with h5py.File("s.hdf5", "a") as file:
            for kind, h in radii.items():
                file[f"PartType{kind}"]["SmoothingLength"] = numpy.array(h)
        gas = judged("either", every[:50], radii[0], SIDE)
        assert cli.listed("s.hdf5", "--radii", "SmoothingLength", "--species", "gas") == gas, code
        one = "PartType0/SmoothingLength"
        assert cli.listed("s.hdf5", "--radii", one, "--species", "gas") == gas
        assert cli.listed("s.hdf5", "--radii", "/" + one, "--species", "0") == gas
        assert cli.listed("s.hdf5", "--radii", "SmoothingLength") == judged(
            "either", every, radii[0] + radii[1], SIDE)
        assert cli.listed("s.hdf5", "--radii", "SmoothingLength", "--species", "gas", "--against",
                      "s.hdf5", "--radii-rule", "scatter") == cli.listed(
            "s.hdf5", "--radii", one, "--species", "gas", "--full", "--radii-rule",
            "scatter") | {(p, p, (0, 0, 0)) for p in range(50)}
        cli.fails(4, "pairs", "s.hdf5", "--radii", one, says=["PartType1", one])
        cli.fails(4, "pairs", "s.hdf5", "--radii", "Hsml", says=["PartType0", "'Hsml'"])
        with h5py.File("s.hdf5", "a") as file:
            del file["PartType1"]["SmoothingLength"]
            file["PartType0"]["Short"] = numpy.ones(49)
            # Physical lengths without h become comoving ones in the unit of the coordinates.
            data = file["PartType0"].create_dataset("Physical", data=numpy.array(radii[0]))
            swift = code == "swift"
            data.attrs["a-scale exponent" if swift else "a_scaling"] = 0.0
            data.attrs["h-scale exponent" if swift else "h_scaling"] = 0.0
        cli.fails(4, "pairs", "s.hdf5", "--radii", "SmoothingLength",
                  says=["PartType1", "species"])
        cli.fails(4, "pairs", "s.hdf5", "--radii", "Short", "--species", "gas",
                  says=["49 rows", "50"])
        cli.fails(4, "pairs", "s.hdf5", "--radii", "Coordinates", "--species", "gas",
                  says=["3 columns"])
        told = cli.report("pairs", "s.hdf5", "--radii", "Physical", "--species", "gas")["radii"]
        most = max(radii[0]) * 2 * (1 if swift else 0.7)
        assert math.isclose(told["most"], most, rel_tol=1e-6), (code, told, most)
    with h5py.File("plain.h5", "w") as file:
        file["in/x"], file["in/h"], file["k"] = every[:50], radii[0], radii[0]
    want = judged("sum", every[:50], radii[0], None)
    for name in ("h", "k", "in/h", "/in/h"):
        assert cli.listed("plain.h5", "--dataset", "in/x", "--radii", name, "--radii-rule",
                      "sum") == want, name
    cli.fails(4, "pairs", "plain.h5", "--dataset", "in/x", "--radii", "m", says=["dataset m"])
    with h5py.File("md.h5", "w") as file:
        file["particles/all/position/value"] = numpy.array([every[50:], every[:50]])
        file["particles/all/position/step"] = numpy.arange(2)
        file["particles/all/radius"] = numpy.array(radii[0])
    assert cli.listed("md.h5", "--frame", 1, "--radii", "radius", "--radii-rule", "sum") == want
    cli.fails(4, "pairs", "md.h5", "--radii", "size", says=["'size'"])
    cli.ok("pairs", "plain.h5", "--dataset", "in/x", "--radii", "h", "-o", "o.h5", "-q")
    with h5py.File("o.h5") as file:
        assert bytes(file.attrs["radii"]).startswith(b"h, rule either")


def test_gadget():
    """Blocks of the gas in Gadget's format 2, and snapshots in several files."""
    h5py, numpy, snapshots = cli.snapshot_modules()
    universe = {"omega": 0.3, "lambda": 0.7, "h": 0.7, "redshift": 1.0, "time": 0.5, "box": SIDE}
    points, radii = particles(51, 15)
    points = [tuple(float(v) for v in p) for p in numpy.array(points, "f4")]
    radii = [float(h) for h in numpy.array(radii, "f4")]
    snap = {kind: {"pos": numpy.array(points, "f4"), "vel": numpy.zeros((51, 3), "f4"),
                   "id": numpy.arange(51, dtype="u4") + 51 * kind, "mass": numpy.ones(51, "f4")}
            for kind in (0, 1)}
    words = ("--precision", "double", "--radii-rule", "sum", "--species")
    want = judged("sum", points, radii, SIDE)
    for order in "<>":
        with open("s.gadget", "wb") as file:
            file.write(snapshots.gadget(snap, universe, order, 2))
            lengths = numpy.array(radii, order + "f4").tobytes()
            file.write(snapshots.record(order, lengths, b"HSML"))
        assert cli.listed("s.gadget", "--radii", "HSML", *words, "gas") == want
        cli.fails(4, "pairs", "s.gadget", "--radii", "HSML", says=["PartType1", "gas alone"])
        cli.fails(4, "pairs", "s.gadget", "--radii", "AGE", *words, "gas", says=["'AGE'"])
        cli.fails(4, "pairs", "s.gadget", "--radii", "U", *words, "dark",
                  says=["'U'", "--species"])
    with open("s.gadget", "ab") as file:
        file.write(snapshots.record(">", lengths[:20], b"BAD "))
    cli.fails(4, "pairs", "s.gadget", "--radii", "BAD", *words, "gas", says=["BAD", "20 bytes"])
    parts = snapshots.split(snap, 3)
    for k, part in enumerate(parts):
        snapshots.hdf5(f"s.{k}.hdf5", part, universe, files=3, number=k,
                       total=snapshots.counts_of(snap))
        with h5py.File(f"s.{k}.hdf5", "a") as file:
            file["PartType0/SmoothingLength"] = numpy.array_split(numpy.array(radii, "f4"), 3)[k]
    assert cli.listed("s.0.hdf5", "--radii", "SmoothingLength", *words, "gas") == want
    with h5py.File("s.1.hdf5", "a") as file:
        del file["PartType0/SmoothingLength"]
    cli.fails(4, "pairs", "s.0.hdf5", "--radii", "SmoothingLength", *words, "gas",
              says=["s.1.hdf5", "SmoothingLength"])


def test_names_in_messages():
    """Messages about radii name the option, the column, and where fields are listed."""
    with open("p.dump", "w", encoding="ascii") as file:
        file.write("ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n1\nITEM: BOX BOUNDS pp pp pp\n0 4\n"
                   "0 4\n0 4\nITEM: ATOMS id type x y z radius\n1 1 0 0 0 0.5\n")
    for verb in (["pairs"], ["nearest", "-k", 1]):
        cli.fails(7, *verb, "p.dump", "--radii", "radius", "--radii-scale", 1e30,
                  says=["the largest distance that --radii permit"])
        cli.fails(6, *verb, "p.dump", "--radii", "x", says=["column 3", "read as 'x'", "radii"])
        cli.fails(4, *verb, "p.dump", "--radii", "rad", says=["'rad'", "kith info"])


def test_errors():
    points, radii = particles(20, 12)
    write_text("a.txt", points, radii)
    cli.write_npy("a.npy", points)
    for bad, word in ((-1.0, "is -1"), (math.nan, "is nan"), (math.inf, "is inf")):
        write_text("b.txt", points, radii[:7] + [bad] + radii[8:])
        cli.fails(4, "pairs", "b.txt", "--radii", "h", says=["b.txt", " 7 ", word])
        write_column("h.npy", radii[:7] + [bad] + radii[8:])
        cli.fails(4, "pairs", "a.npy", "--radii", "h.npy", says=["h.npy", " 7 ", word])
    write_column("h.npy", radii[:7])
    cli.fails(6, "pairs", "a.npy", "--radii", "h.npy", says=["h.npy", "(7,)", "20"])
    cli.fails(6, "pairs", "a.npy", "--radii", "h", says=["NumPy", "file of their own"])
    cli.fails(3, "pairs", "a.npy", "--radii", "missing.npy", says=["missing.npy"])
    cli.fails(6, "pairs", "a.txt", "--radii", "k", says=["'k'", "x y z h"])
    cli.fails(6, "pairs", "a.txt", "--radii", 4, says=["'4'"])
    cli.fails(2, "pairs", "a.txt", "--radii", "", says=["--radii"])
    cli.fails(2, "pairs", "a.txt", "--cutoff", 1, "--radii-rule", "sum", says=["need --radii"])
    cli.fails(2, "pairs", "a.txt", "--cutoff", 1, "--radii-scale", 2, says=["need --radii"])
    cli.fails(2, "pairs", "a.txt", "--radii", "h", "--radii-against", "h", says=["--against FILE"])
    cli.fails(2, "pairs", "a.txt", "--radii", "h", "--radii-rule", "max", says=["sum"])
    cli.fails(6, "pairs", "a.txt", "--radii", "h", "--radii-scale", 0, says=["above 0"])
    cli.fails(6, "pairs", "a.txt", "--radii", "h", "--radii-scale", 1e300, "--precision", "float",
              says=["--radii", "range of float"])
    write_text("b.txt", points, [0.0] * 20)
    cli.fails(6, "pairs", "b.txt", "--radii", "h", says=["b.txt", "are 0"])
    assert cli.ok("pairs", "b.txt", "--radii", "h", "--cutoff", 1, "--count") == "0\n"
    cli.fails(2, "pairs", "a.npy", "--radii", "h.npy", "-o", "h.npy", says=["h.npy"])


sys.exit(cli.main(globals()))
