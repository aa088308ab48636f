# SPDX-License-Identifier: BSD-3-Clause
"""kith fof: groups, linking lengths, species, cosmology; and every kind of bad input."""
import csv
import math
import os
import sys

import cli
import needs

SNAPSHOT = os.path.join(os.environ["KITH_TEST_DATA"], "fof", "dark.std")
BOX = ("--box", "1", "--origin", "-0.5,-0.5,-0.5")
CRITICAL = 27.7536627  # 3 H^2 / (8 pi G) in 1e10 Msun/h / (Mpc/h)^3


def friends(xyz, length, side=None):
    """Groups of doubles by brute force: a set of frozensets of indices."""
    root = list(range(len(xyz)))

    def find(i):
        while root[i] != i:
            i = root[i]
        return i

    for i, j, _ in cli.brute_force(xyz, length, side):
        root[find(i)] = find(j)
    groups = {}
    for i in range(len(xyz)):
        groups.setdefault(find(i), set()).add(i)
    return {frozenset(group) for group in groups.values()}


def read_grp(path):
    with open(path, encoding="ascii") as file:
        n, *labels = map(int, file)
    assert n == len(labels)
    return labels


def read_csv(path):
    with open(path, encoding="ascii") as file:
        return list(csv.DictReader(file))


def snapshot(code="gadget4", scale=1.0, universe=None, **change):
    """A file of 800 dark, 300 gas and 100 star particles that fill the universe; its arrays."""
    _, numpy, snapshots = cli.snapshot_modules()
    universe = {"time": 0.5, "redshift": 1.0, "box": 20.0, "omega": 0.3, "lambda": 0.7, "h": 0.7,
                **(universe or {})}
    snap = snapshots.make({0: 300, 1: 800, 4: 100}, table=())
    rng = numpy.random.default_rng(5)
    places = rng.uniform(0, 20, (6, 3))
    total = 0.3 * CRITICAL * 20**3 * scale
    for kind, share in ((0, 0.12), (1, 5 / 6), (4, 1 / 6 - 0.12)):
        n = len(snap[kind]["pos"])
        pos = places[rng.integers(0, 6, n)] + rng.normal(0, 0.4, (n, 3))
        snap[kind]["pos"] = (pos % 20).astype("f4")
        snap[kind]["mass"] = numpy.full(n, total * share / n, "f4")
    for name, value in change.items():
        snap[1][name] = value
    snapshots.hdf5("snap.hdf5", snap, universe, code)
    return snap


def test_groups_against_brute_force():
    cli.ok("make", "uniform", "120", "--seed", "3", "-o", "a.npy", "-q")
    xyz = cli.read_points("a.npy")
    for side in (None, 1.0):
        space = ["--box", side] if side else []
        cli.ok("fof", "a.npy", "--length", "0.15", "--min-members", "3", "--labels", "a.grp", "-q",
               *space)
        labels = read_grp("a.grp")
        groups = {}
        for i, label in enumerate(labels):
            groups.setdefault(label, set()).add(i)
        groups.pop(0, None)
        expected = {group for group in friends(xyz, 0.15, side) if len(group) >= 3}
        assert {frozenset(group) for group in groups.values()} == expected
        order = [(-len(groups[k]), min(groups[k])) for k in sorted(groups)]
        assert order == sorted(order) and sorted(groups) == list(range(1, len(groups) + 1))


def test_known_answers():
    needs.data(SNAPSHOT)
    for length, all_groups, of_8, of_20, largest in (("0.003125", 17913, 185, 68, 2859),
                                                     ("0.00625", 11142, 237, 80, 4889),
                                                     ("0.0125", 6380, 211, 85, 7382)):
        for least, expected in ((1, all_groups), (8, of_8), (20, of_20)):
            found = cli.report("fof", SNAPSHOT, *BOX, "--length", length, "--min-members", least)
            assert found["groups"] == expected, (length, least, found["groups"])
            assert found["largest"][0]["members"] == largest
    for length, expected in (("0.003125", 17926), ("0.00625", 11173), ("0.0125", 6447)):
        found = cli.report("fof", SNAPSHOT, "--length", length, "--min-members", "1")
        assert found["groups"] == expected
    found = cli.report("fof", SNAPSHOT, *BOX)
    assert found["groups"] == 80 and abs(found["linking"]["mean_spacing"] * 32 - 1) < 1e-15


def test_linking_length():
    cli.ok("make", "uniform", "1000", "--box", "2", "-o", "a.npy", "-q")
    found = cli.report("fof", "a.npy", "--box", "2", "-b", "0.3")["linking"]
    assert found["spacing"] == "linked" and abs(found["length"] - 0.3 * 0.2) < 1e-15
    assert cli.report("fof", "a.npy", "--box", "2")["linking"]["b"] == 0.2
    found = cli.report("fof", "a.npy", "--length", "0.25")["linking"]
    assert found["length"] == 0.25 and found["b"] is None and found["spacing"] == "absolute"
    cli.fails(6, "fof", "a.npy", says=["a.npy", "--box", "--length"])
    cli.fails(4, "fof", "a.npy", "--box", "2", "--spacing", "mass", says=["a.npy", "masses"])
    cli.fails(6, "fof", "a.npy", "--box", "2", "--spacing", "dark", says=["dark matter"])


def test_spacings():
    snapshot()
    omega = 0.3 - 0.05  # gadget4 says Omega of baryons
    mass = (0.3 * CRITICAL * 20**3) * 5 / 6 / 800
    found = cli.report("fof", "snap.hdf5", "--min-members", "5")
    assert found["linking"]["spacing"] == "mass"
    assert abs(found["linking"]["mean_spacing"] / (mass / omega / CRITICAL)**(1 / 3) - 1) < 1e-3
    assert abs(found["cosmology"]["filled"] - 1) < 1e-3
    for how, n in (("linked", 800), ("dark", 800)):
        found = cli.report("fof", "snap.hdf5", "--spacing", how)["linking"]
        assert abs(found["mean_spacing"] / (8000 / n)**(1 / 3) - 1) < 1e-12
    found = cli.report("fof", "snap.hdf5", "--spacing", "linked", "--link", "0,1,4")["linking"]
    assert found["linked"] == 1200 and found["attach"] == []
    assert abs(found["mean_spacing"] / (8000 / 1200)**(1 / 3) - 1) < 1e-12


def test_roles():
    _, numpy, _ = cli.snapshot_modules()
    snap = snapshot("swift")
    length = 0.6
    found = cli.report("fof", "snap.hdf5", "--length", length, "--labels", "l.npy")["linking"]
    assert found["link"] == [1] and found["attach"] == [0, 4] and found["linked"] == 800
    labels = numpy.load("l.npy")
    dark, side = snap[1]["pos"], numpy.float32(20)
    start = 0
    for kind in (0, 1, 4):
        pos = snap[kind]["pos"]
        own = labels[start:start + len(pos)]
        start += len(pos)
        if kind == 1:
            continue
        d = dark[None] - pos[:, None]
        d -= side * numpy.round(d / side)
        r = numpy.sqrt((d.astype("f8")**2).sum(axis=2))
        nearest = r.argmin(axis=1)
        expected = numpy.where(r.min(axis=1) <= length, labels[300:1100][nearest], 0)
        assert (own == expected).all() and (own > 0).any(), kind
    found = cli.report("fof", "snap.hdf5", "--length", length, "--link", "gas", "--attach", "stars")
    assert found["linking"]["link"] == [0] and found["linking"]["attach"] == [4]
    cli.fails(6, "fof", "snap.hdf5", "--link", "quark", says=["--link", "quark"])
    cli.fails(6, "fof", "snap.hdf5", "--link", "bh", says=["no particle links"])
    cli.fails(6, "fof", "snap.hdf5", "--link", "1", "--attach", "dark", says=["both"])
    cli.fails(6, "fof", "try.npy", "--length", "1", "--link", "1", says=["no types"])


def test_spheres():
    snapshot()
    cli.ok("fof", "snap.hdf5", "-o", "a.csv", "-q")
    names = read_csv("a.csv")[0]
    assert {"m200c [1e10 Msun/h]", "r200m [Mpc/h]", "mvir [1e10 Msun/h]"} <= set(names)
    share = 0.3 * 8 / (0.3 * 8 + 0.7)  # Omega of matter at redshift 1
    x = share - 1
    contrast = {"200m": 200, "200c": 200 / share, "500c": 500 / share,
                "vir": (18 * math.pi**2 + 82 * x - 39 * x * x) / share}
    some = 0
    for row in read_csv("a.csv"):
        for name, times in contrast.items():
            mass, r = float(row[f"m{name} [1e10 Msun/h]"]), float(row[f"r{name} [Mpc/h]"])
            if r > 0:
                some += 1
                density = mass / (4 / 3 * math.pi * r**3)
                assert abs(density / (times * 0.3 * CRITICAL) - 1) < 1e-3, (name, density)
    assert some > 8
    # A box says its mean density; --cosmology says the rest.
    cli.ok("make", "clustered", "5k", "--seed", "1", "-o", "a.std", "-q")
    cli.ok("fof", "a.std", "--box", "1", "-o", "b.csv", "-q")
    assert "m200m" in read_csv("b.csv")[0] and "m200c" not in read_csv("b.csv")[0]
    cli.ok("fof", "a.std", "--box", "1", "-o", "b.csv", "-q", "--cosmology", "0.3,0.7,0")
    row = read_csv("b.csv")[0]
    assert 0 < float(row["r500c"]) < float(row["r200c"]) < float(row["rvir"]) < float(row["r200m"])
    # The fit of the virial overdensity is below 0.
    cli.ok("fof", "a.std", "--box", "1", "-o", "b.csv", "-q", "--cosmology", "5,0.1,0")
    assert "m200c" in read_csv("b.csv")[0] and "mvir" not in read_csv("b.csv")[0]
    # Their time is told apart.
    assert cli.report("fof", "a.std", "--box", "1")["seconds"]["spheres"] > 0
    assert "\n              spherical overdensities " in cli.ok("fof", "a.std", "--box", "1")
    open_space = ("fof", "a.std", "--length", "0.01")
    assert cli.report(*open_space)["seconds"]["spheres"] == 0
    assert "overdensities" not in cli.ok(*open_space)


def test_phase_space_and_bridges():
    _, numpy, snapshots = cli.snapshot_modules()
    rng = numpy.random.default_rng(1)
    pos = rng.normal(5, 0.1, (400, 3)).astype("f4")
    vel = numpy.where(numpy.arange(400)[:, None] < 200, 500, -500) + rng.normal(0, 10, (400, 3))
    snap = {1: {"pos": pos, "vel": vel.astype("f4"), "id": numpy.arange(400, dtype="u4"),
                "mass": numpy.ones(400, "f4")}}
    flat = {"time": 0.0, "redshift": 0.0, "box": 10.0, "omega": 0.0, "lambda": 0.0, "h": 1.0}
    snapshots.hdf5("a.hdf5", snap, flat)
    arguments = ["fof", "a.hdf5", "--length", "0.2"]
    assert cli.report(*arguments)["groups"] == 1
    found = cli.report(*arguments, "--phase-space", "200")
    assert found["groups"] == 2 and found["linking"]["velocity_length"] == 200
    # Two streams at +-500 along each axis, of dispersion 10.
    found = cli.report(*arguments, "--phase-space", "0.4s")
    assert found["groups"] == 2 and abs(found["linking"]["velocity_length"] - 200) < 1
    assert "dispersion" in cli.ok(*arguments, "--phase-space", "0.4s")
    points = [(0.01 * k, 0, 0) for k in range(30)] + [(0.3 + 0.1 * k, 0, 0) for k in range(7)]
    points += [(0.9 + 0.01 * k, 0, 0) for k in range(30)]
    cli.write_npy("bridge.npy", points)
    arguments = ["fof", "bridge.npy", "--length", "0.101"]
    assert cli.report(*arguments)["groups"] == 1
    assert cli.report(*arguments, "--min-links", "4")["groups"] == 2
    cli.fails(4, *arguments, "--phase-space", "1", says=["bridge.npy", "velocities"])


def check_made_bridge(name):
    cli.ok("make", "bridge", "20k", "--seed", "1", "-o", name, "-q")
    for groups, remedy in (1, []), (2, ["--phase-space", "1.25s"]), (2, ["--min-links", "8"]):
        found = cli.report("fof", name, "--box", "1", "--min-members", "100", *remedy)
        assert found["groups"] == groups, (name, remedy)


def test_made_bridge():
    check_made_bridge("bridge.std")


def test_made_bridge_hdf5():
    cli.snapshot_modules()
    check_made_bridge("bridge.hdf5")


def test_bad_values():
    cli.write_npy("a.npy", [(0.1, 0.2, 0.3), (0.15, 0.2, 0.3)])
    fof = ["fof", "a.npy", "--box", "1"]
    for option, values in (("-b", ("0", "-1", "nan", "inf")), ("--length", ("0", "-1", "nan")),
                           ("--min-members", ("0", "-5")), ("--min-links", ("-1",)),
                           ("--phase-space", ("0", "-1s", "nan")),
                           ("--cosmology", ("0,0.7,0", "0.3,-1,0", "0.3,0.7,-1", "nan,0,0",
                                             "0.3,10,1"))):
        for value in values:
            cli.fails(6, *fof, f"{option}={value}" if len(option) > 2 else f"{option}{value}",
                      says=[option])
    for wrong in (["-b", "x"], ["--spacing", "odd"], ["--min-members", "1.5"], ["--format", "fits"],
                  ["--format", "csv"], ["--cosmology", "0.3"], ["-b", "0.2", "--length", "1"],
                  ["-o", "-"], ["--labels", "a.grp", "--species", "1"], ["--phase-space", "s"]):
        cli.fails(2, *fof, *wrong)
    cli.fails(6, *fof, "--length", "1e300", says=["a.npy"])
    cli.fails(6, *fof, "-o", "a.unknown", says=["a.unknown", ".csv"])
    cli.fails(6, *fof, "--labels", "a.unknown", says=["a.unknown", ".grp"])
    cli.fails(9, *fof, "-o", "nowhere/a.csv", says=["nowhere/a.csv"])
    assert os.listdir() == ["a.npy"]


def test_bad_particles():
    _, numpy, _ = cli.snapshot_modules()
    masses = numpy.ones(800, "f4")
    masses[7] = numpy.nan
    for value in (numpy.nan, -1, 0):
        masses[7] = value
        snapshot(mass=masses)
        # Types come in order: 300 particles of gas are before.
        cli.fails(6, "fof", "snap.hdf5", "-o", "a.csv", says=["snap.hdf5", "masses", "307"])
    velocities = numpy.zeros((800, 3), "f4")
    velocities[9, 1] = numpy.inf
    snapshot(vel=velocities)
    cli.fails(5, "fof", "snap.hdf5", "-o", "a.csv", says=["snap.hdf5", "velocities", "309"])
    assert not os.path.exists("a.csv")
    snapshot(universe={"omega": 1e9})
    cli.fails(4, "fof", "snap.hdf5", says=["snap.hdf5", "Omega of matter"])
    # Masses in other units than the header says fill the box too little or too much.
    snapshot(scale=1e-10)
    assert "mass in the box" in cli.ok("fof", "snap.hdf5", "--spacing", "linked")
    assert cli.report("fof", "snap.hdf5")["cosmology"]["filled"] < 1e-9


def test_nothing():
    cli.write_npy("a.npy", [])
    found = cli.report("fof", "a.npy", "--length", "1", "-o", "a.csv", "--labels", "a.grp")
    assert found["groups"] == 0 and found["largest"] == [] and read_csv("a.csv") == []
    assert read_grp("a.grp") == []
    cli.ok("fof", "a.npy", "--length", "1")
    for words in ((), ("--box", "1"), ("--box", "1", "--spacing", "dark")):
        cli.fails(6, "fof", "a.npy", *words, says=["a.npy: has no particles"])


def test_text():
    cli.ok("make", "clustered", "3k", "--seed", "1", "-o", "a.npy", "-q")
    text = cli.ok("fof", "a.npy", "--box", "1", "-o", "a.csv", "--labels", "a.npy.grp")
    for word in ("particles", "box", "length", "halos", "largest", "members", "time", "catalogue",
                 "labels"):
        assert f"\n  {word} " in text, word
    assert "(V/N)^(1/3)" in text and "0.2 x" in text and "\033" not in text
    assert max(len(line) for line in text.splitlines()) <= 80
    assert cli.ok("fof", "a.npy", "--box", "1", "-q") == ""
    with open("/dev/full", "w", encoding="ascii") as full:
        cli.fails(9, "fof", "a.npy", "--box", "1", stdout=full, says=["standard output"])
    if os.path.exists("/proc/self"):
        snapshot("swift")
        text = cli.ok("fof", "snap.hdf5")
        for word in ("link: dark matter (800)", "attach: gas (300), stars (100)", "redshift 1 ",
                     " Mpc = 0.2 x", "1e10 Msun"):
            assert word in text, (word, text)


def test_same_bits():
    cli.ok("make", "clustered", "20k", "--seed", "2", "-o", "a.std", "-q")
    files = []
    for threads in (1, 2, 3):
        cli.ok("fof", "a.std", "--box", "1", "--threads", threads, "-o", "a.csv", "-q")
        with open("a.csv", "rb") as file:
            files.append(file.read())
    assert files[0] == files[1] == files[2] and len(files[0]) > 1000


sys.exit(cli.main(globals()))
