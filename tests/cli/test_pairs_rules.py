# SPDX-License-Identifier: BSD-3-Clause
"""kith pairs with cutoffs by species, --r-min, molecules and bonds that are left out."""
import json
import random
import sys

import cli
from rdf_frames import write_xyz

SIDE = 4.0
TABLE = {("Si", "O"): 1.1, ("O", "O"): 0.9}


def atoms(n, seed):
    rng = random.Random(seed)
    return ([rng.choice(("Si", "O", "Na+")) for _ in range(n)],
            [tuple(rng.random() * SIDE for _ in range(3)) for _ in range(n)])


def radius(a, b):
    return TABLE.get((a, b), TABLE.get((b, a), 0))


def test_species():
    names, points = atoms(90, 1)
    write_xyz("a.xyz", [atoms(5, 3) + (SIDE,), (names, points, SIDE)])
    cutoff = ("--frame", 1, "--cutoff", "Si-O=1.1,O-O=0.9")
    for full in (False, True):
        want = {key for key, (r2, _) in cli.brute_force(points, 1.1, SIDE, full).items()
                if 0 < r2 <= radius(names[key[0]], names[key[1]]) ** 2}
        found = cli.listed("a.xyz", *cutoff, *(["--full"] if full else []))
        assert found == want and len(want) > 20
        report = cli.report("pairs", "a.xyz", *cutoff, *(["--full"] if full else []))
        assert report["pairs"] == len(want)
        assert report["cutoff"] == {"Si-O": 1.1, "O-O": 0.9}
        assert report["input"]["frame"] == 1 and report["input"]["frames"] in (2, None)
    with open("out.txt", encoding="ascii") as file:
        assert "# cutoff: Si-O=1.1,O-O=0.9\n" in file.readlines()
    summary = cli.ok("pairs", "a.xyz", *cutoff)
    assert "Si-O=1.1" in summary and ", frame 1" in summary
    named, others = atoms(40, 2)
    write_xyz("b.xyz", [(named, others, SIDE)])
    write_xyz("a.xyz", [(names, points, SIDE)])
    want = {key for key, (r2, _) in cli.brute_force(points, 1.1, SIDE, b=others).items()
            if 0 < r2 <= radius(names[key[0]], named[key[1]]) ** 2}
    assert cli.listed("a.xyz", "--cutoff", "O-Si=1.1,O-O=0.9", "--against", "b.xyz") == want
    for cutoff in ("O-Si=1.1,O-O=0.9", "O-Si=1.1, O-O=0.9", " O-Si = 1.1 ,\tO-O= 0.9 "):
        assert cli.listed("a.xyz", "--cutoff", cutoff, "--against", "b.xyz") == want, cutoff
        report = cli.report("pairs", "a.xyz", "--cutoff", cutoff)
        assert report["cutoff"] == {"O-Si": 1.1, "O-O": 0.9}, cutoff  # as the user named them
    some = cli.listed("a.xyz", "--cutoff", "Na+-Na+=1.0")
    assert some and all(names[i] == names[j] == "Na+" for i, j, _ in some)
    oxygen = [p for p, name in enumerate(names) if name == "O"]  # --species reads these alone
    fewer = cli.listed("a.xyz", "--cutoff", "O-O=0.9", "--species", "O")
    assert {(oxygen[i], oxygen[j]) for i, j, _ in fewer} == {
        (i, j) for i, j, _ in cli.listed("a.xyz", "--cutoff", "O-O=0.9")}


def test_species_in_hdf5():
    """A list in HDF5 has the cutoffs by species as text, and no number that stands for all."""
    h5py, _, _ = cli.snapshot_modules()
    names, points = atoms(40, 5)
    write_xyz("h.xyz", [(names, points, SIDE)])
    for cutoff, key in (("Si-O=1.1,O-O=0.9", "cutoffs"), ("0.5", "cutoff")):
        cli.ok("pairs", "h.xyz", "--cutoff", cutoff, "-o", "h.h5", "-q")
        with h5py.File("h.h5") as file:
            assert {"cutoff", "cutoffs"} & set(file.attrs) == {key}, list(file.attrs)
            value = file.attrs[key]
        value = value.decode() if isinstance(value, bytes) else value
        assert value in (cutoff, 0.5), value


def test_least():
    _, points = atoms(120, 4)
    cli.write_npy("a.npy", points)
    want = {key for key, (r2, _) in cli.brute_force(points, 1.0, SIDE).items() if r2 >= 0.49}
    assert cli.listed("a.npy", "--cutoff", 1, "--box", SIDE, "--r-min", 0.7) == want
    assert cli.report("pairs", "a.npy", "--cutoff", 1, "--r-min", 0.7)["list"]["r_min"] == 0.7


def test_molecules():
    names, points = atoms(60, 5)
    with open("a.dump", "w", encoding="ascii") as file:
        file.write("ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n60\nITEM: BOX BOUNDS pp pp pp\n"
                   + f"0 {SIDE}\n" * 3 + "ITEM: ATOMS id mol type x y z\n")
        for p, point in enumerate(points):
            file.write(f"{p + 1} {p // 3 + 1} 1 " + " ".join(map(repr, point)) + "\n")
    want = {key for key in cli.brute_force(points, 1.0, SIDE) if key[0] // 3 != key[1] // 3}
    assert cli.listed("a.dump", "--cutoff", 1, "--exclude-molecules") == want
    cli.fails(6, "pairs", "a.dump", "--cutoff", 1, "--exclude-bonds", says=["no bonds"])
    assert names


def test_errors():
    names, points = atoms(20, 6)
    write_xyz("a.xyz", [(names, points, SIDE)])
    cli.write_npy("a.npy", points)
    for text in ("Si-O=0", "Si-O=-1", "Si-O=x", "Si-O=1.", "=", "Si-O=1 O-O=1", "Si-O=nan",
                 "Si-O=1,"):
        status = 0 if text == "Si-O=1." else 6
        done = cli.run("pairs", "a.xyz", "--cutoff", text)
        assert done.returncode == status, (text, done.stderr)
    cli.fails(6, "pairs", "a.xyz", "--cutoff", "Si-Fe=1", says=["Si-Fe", "Na+"])
    cli.fails(6, "pairs", "a.xyz", "--cutoff", "Si=1", says=["'Si'"])
    cli.fails(6, "pairs", "a.xyz", "--cutoff", "Si-O=1", "--species", "O", says=["there are: O"])
    cli.fails(6, "pairs", "a.xyz", "--cutoff", "Si-O=1,O-Si=2", says=["two radii"])
    cli.fails(6, "pairs", "a.xyz", "--cutoff", "Si-O=1, Na-O=2", says=["'Na-O'"])
    for wrong in ("Si-O=", "Si-O=1,", "Si-O=1, ", "Si-O=1 2", "Si-O=1;O-O=1", "Si-O=1,,O-O=1", "="):
        cli.fails(6, "pairs", "a.xyz", "--cutoff", wrong, says=["--cutoff", "Si-O=1.8"])
    cli.fails(6, "pairs", "a.npy", "--cutoff", "Si-O=1", says=["no species"])
    cli.fails(2, "pairs", "a.xyz", says=["--cutoff"])
    cli.fails(2, "pairs", "a.xyz", "--cutoff", 1, "--exclude-bonds", "--against", "a.npy",
              says=["--against"])
    assert json.loads(cli.ok("pairs", "a.xyz", "--cutoff", 1, "--json"))["cutoff"] == 1.0


sys.exit(cli.main(globals()))
