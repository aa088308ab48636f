# SPDX-License-Identifier: BSD-3-Clause
"""kith fof on snapshots that lack something or say too little: what is missing is an error or is
said, and nothing else takes its place."""
import csv
import struct
import sys

import cli

CRITICAL = 27.7536627  # 3 H^2 / (8 pi G) in 1e10 Msun/h / (Mpc/h)^3
UNIVERSE = {"time": 0.5, "redshift": 1.0, "box": 20.0, "omega": 0.3, "lambda": 0.7, "h": 0.7}


def make(shares, total=0.3 * CRITICAL * 20**3, side=20.0):
    """Clumped particles. @param shares  {type: (number, share of the total mass)}"""
    _, numpy, snapshots = cli.snapshot_modules()
    snap = snapshots.make({kind: n for kind, (n, _) in shares.items()}, table=())
    rng = numpy.random.default_rng(5)
    places = rng.uniform(0, side, (6, 3))
    for kind, (n, share) in shares.items():
        pos = places[rng.integers(0, 6, n)] + rng.normal(0, 0.02 * side, (n, 3))
        snap[kind]["pos"] = (pos % side).astype("f4")
        snap[kind]["mass"] = numpy.full(n, total * share / n, "f4")
    return snap


def remove(*names):
    h5py, _, _ = cli.snapshot_modules()
    with h5py.File("snap.hdf5", "a") as file:
        for name in names:
            del file[name]


def rows(path):
    with open(path, encoding="ascii") as file:
        return list(csv.DictReader(file))


def test_black_holes_of_swift():
    h5py, _, snapshots = cli.snapshot_modules()
    snap = make({0: (300, 0.12), 1: (800, 0.83), 4: (100, 0.04), 5: (20, 0.01)})
    snapshots.hdf5("snap.hdf5", snap, UNIVERSE, "swift")
    with h5py.File("snap.hdf5", "a") as file:
        holes = file["PartType5"]
        holes.move("Masses", "DynamicalMasses")
        holes["SubgridMasses"] = holes["DynamicalMasses"][()] / 7
    cli.ok("fof", "snap.hdf5", "-o", "a.csv", "-q")
    holes = [row for row in rows("a.csv") if row["members_5"] != "0"]
    assert holes
    for row in holes:
        each = float(row["mass_5 [1e10 Msun]"]) / int(row["members_5"])
        assert abs(each / snap[5]["mass"][0] - 1) < 1e-6, row
    remove("PartType5/DynamicalMasses")
    words = ["snap.hdf5", "no masses of its 20 particles of PartType5 (black holes)", "Masses",
             "DynamicalMasses"]
    cli.fails(4, "fof", "snap.hdf5", "--length", "0.5", "-o", "b.csv", says=words)
    cli.ok("fof", "snap.hdf5", "--species", "0,1,4", "-o", "b.csv", "-q")
    assert "mass [1e10 Msun]" in rows("b.csv")[0]


def test_fields_of_some_types():
    _, _, snapshots = cli.snapshot_modules()
    shares = {0: (300, 0.16), 1: (800, 0.84)}
    for name, word in (("Velocities", "velocities"), ("ParticleIDs", "ids"), ("Masses", "masses")):
        for kind in shares:
            snapshots.hdf5("snap.hdf5", make(shares), UNIVERSE, "gadget4")
            remove(f"PartType{kind}/{name}")
            cli.fails(4, "fof", "snap.hdf5", says=["snap.hdf5", word, f"PartType{kind}", name])
    with open("snap.1", "wb") as file:  # densities are of gas alone; lengths in kpc/h
        file.write(snapshots.gadget(make(shares, side=2e4), {**UNIVERSE, "box": 2e4}, form=2))
    text = cli.ok("fof", "snap.1")
    assert "kpc/h, 1e10 Msun/h, km/s: not in the file, but usual" in text
    assert "densities: only some types have them" in text
    assert "the member of lowest potential" in text


def test_no_masses():
    """Without masses nothing is in units of mass."""
    h5py, _, snapshots = cli.snapshot_modules()
    snapshots.hdf5("snap.hdf5", make({0: (300, 0.16), 1: (800, 0.84)}), UNIVERSE, "gadget4")
    remove("PartType0/Masses", "PartType1/Masses")
    text = cli.ok("fof", "snap.hdf5", "-o", "a.csv")
    assert "masses: the file has none; each particle counts 1" in text
    assert not [name for name in rows("a.csv")[0] if "Msun" in name or name.startswith("mass")]
    cli.ok("fof", "snap.hdf5", "-o", "a.hdf5", "-q")
    cli.ok("fof", "snap.hdf5", "-o", "b.hdf5", "--format", "swift", "-q")
    with h5py.File("a.hdf5") as one, h5py.File("b.hdf5") as other:
        assert not [name for name in one["Group"] if "Mass" in name or "_M_" in name]
        assert "Masses" not in other["Groups"] and "Sizes" in other["Groups"]


def spacing(*arguments):
    """What --json says of the linking length."""
    return cli.report("fof", *arguments)["linking"]


def near(found, mass, omega, critical=CRITICAL):
    """Whether the mean spacing is that of particles of this mass and Omega."""
    return abs(found["mean_spacing"] / (mass / omega / critical)**(1 / 3) - 1) < 1e-3


def test_spacing_of_hydro_runs():
    """One box as Gadget's binary file, which does not say Omega_b, and as HDF5: one spacing."""
    _, _, snapshots = cli.snapshot_modules()
    snap = make({0: (300, 0.12), 1: (800, 5 / 6), 4: (100, 1 / 6 - 0.12)}, side=2e4)
    kpc = CRITICAL * 1e-9  # in 1e10 Msun/h / (kpc/h)^3
    with open("snap.1", "wb") as file:
        file.write(snapshots.gadget(snap, {**UNIVERSE, "box": 2e4}, form=2))
    snapshots.hdf5("snap.hdf5", snap, {**UNIVERSE, "box": 2e4}, "gadget")
    for path in ("snap.1", "snap.hdf5"):
        found = spacing(path)
        assert near(found, snap[1]["mass"][0], 0.25, kpc), (path, found)
        assert found["spacing"] == "mass" and "mass that links / volume" in found["why"]
        assert found["warning"] is None and near(spacing(path, "--species", "1"),
                                                 snap[1]["mass"][0], 0.25, kpc)
        for species, kind, omega in (("gas", 0, 0.036), ("stars", 4, 0.014)):
            found = spacing(path, "--link", species, "--min-members", "5")
            assert near(found, snap[kind]["mass"][0], omega, kpc), (path, species, found)
        text = cli.ok("fof", path, "--link", "gas")
        assert "  spacing     (m/rho)^(1/3), Omega 0.036" in text, text
        assert ": mass that links / volume\n" in text, text
        assert max(len(line) for line in text.splitlines() if "(m/rho)" in line) <= 80
    for species in ("gas", "stars"):  # of which the header's Omegas say nothing
        cli.fails(6, "fof", "snap.1", "--species", species, "--link", species,
                  says=["mean density", "--spacing linked"])


def test_spacing_of_zooms():
    """Fine particles in a part of the box: their density in the universe counts, not in the box."""
    _, _, snapshots = cli.snapshot_modules()
    total = 0.3 * CRITICAL * 20**3
    shares = {0: (300, 0.002), 1: (800, 0.01), 2: (200, 0.988)}
    for code, omega_b in (("gadget", None), ("gadget4", 0.05)):
        snap = make(shares)
        snapshots.hdf5("snap.hdf5", snap, UNIVERSE, code)
        critical = CRITICAL * (1e-9 if code == "gadget" else 1)
        if code == "gadget":
            snap = make(shares, side=2e4)
            snapshots.hdf5("snap.hdf5", snap, {**UNIVERSE, "box": 2e4}, code)
        each = total * 0.01 / 800
        found = spacing("snap.hdf5")
        assert near(found, each, 0.25, critical) and "0.833" in found["why"], found
        found = spacing("snap.hdf5", "--link", "dark,gas")
        assert near(found, total * 0.012 / 1100, 0.3, critical), found
        found = spacing("snap.hdf5", "--species", "dark")  # the share of gas is not known
        assert near(found, each, 0.25 if omega_b else 0.3, critical), found
        assert ("Omega_b" in (found["warning"] or "")) == (not omega_b), found
        found = spacing("snap.hdf5", "--spacing", "dark")
        assert abs(found["mean_spacing"] / (20 * 800**(-1 / 3)) - 1) < 1e-3 or code == "gadget"
        assert found["why"] == "as --spacing says"


def test_spacing_that_cannot_be():
    """Masses beyond what the universe has: another unit. Such a length links everything."""
    _, _, snapshots = cli.snapshot_modules()
    snapshots.hdf5("snap.hdf5", make({1: (800, 1)}, total=1e14), UNIVERSE, "gadget4")
    cli.fails(6, "fof", "snap.hdf5", says=["snap.hdf5", "Omega_m 0.3", "unit"])
    cli.ok("fof", "snap.hdf5", "--spacing", "linked")
    cli.ok("make", "uniform", "1k", "-o", "a.npy", "-q")
    text = cli.ok("fof", "a.npy", "--box", "1")
    assert "(V/N)^(1/3), N all that link: no masses are known" in text


def test_box_beyond_double():
    """Each length is a number, but the volume is not: the box is given, and wrong."""
    cli.ok("make", "uniform", "50", "-o", "a.xyz", "-q")
    for side, volume in (("1e-290", "0"), ("1e-110", "0"), ("1e103", "inf")):
        for words in (("fof",), ("fof", "--length", "0.1"), ("rdf",)):
            told = cli.fails(6, *words, "a.xyz", "--box", side, says=(
                "a.xyz: the box of --box", side.replace("1e1", "1e+1"),
                f"has a volume of {volume}")).stderr
            assert "has none" not in told, told


def test_spacing_without_what_it_needs():
    """What --spacing mass and dark need, and the spacing where masses or an axis are missing."""
    h5py, numpy, snapshots = cli.snapshot_modules()
    cli.ok("make", "clustered", "2k", "--seed", "1", "-o", "a.std", "-q")
    says = "a.std: --spacing mass needs masses, units and a cosmology in the file; it has no "
    cli.fails(6, "fof", "a.std", "--box", "1", "--spacing", "mass",
              says=[says + "cosmology with units", "choose --spacing linked or dark"])
    with open("a.std", "rb") as file:
        head, records = file.read(32), numpy.frombuffer(file.read(), ">f4").reshape(-1, 9).copy()
    records[:, 0] = 0
    with open("a.std", "wb") as file:
        file.write(head + records.tobytes())
    cli.fails(6, "fof", "a.std", "--box", "1", "--spacing", "mass", says=[says + "masses"])
    assert spacing("a.std", "--box", "1")["why"] == "no masses are known"
    records[:, 0] = 1 + numpy.arange(len(records)) % 3  # as in a zoom
    with open("a.std", "wb") as file:
        file.write(head + records.tobytes())
    assert "as in a zoom" in spacing("a.std", "--box", "1")["warning"]
    numpy.save("flat.npy", numpy.random.default_rng(1).uniform(0, 1, (400, 2)))
    found = spacing("flat.npy", "--box", "1,1")
    assert found["why"] == "in two dimensions" and abs(found["mean_spacing"] - 1 / 20) < 1e-12
    snap = make({0: (300, 0.16), 1: (800, 0.84)})
    snapshots.hdf5("snap.hdf5", snap, {**snapshots.FLAT, "box": 20.0}, "gadget4")
    with h5py.File("snap.hdf5", "a") as file:  # gas of unlike masses does not link
        file["PartType0/Masses"][...] = numpy.arange(1, 301)
    found = spacing("snap.hdf5")
    assert found["why"] == "no cosmology with units is known" and found["warning"] is None, found
    cli.fails(6, "fof", "snap.hdf5", "--species", "0", "--spacing", "dark",
              says=["snap.hdf5: --spacing dark, but it has no dark matter (type 1)"])
    cli.fails(6, "fof", "snap.hdf5", "--attach", "quark", says=["--attach: got quark, expected"])
    with h5py.File("snap.hdf5", "a") as file:
        for kind in (0, 1):
            file[f"PartType{kind}/Velocities"][...] = 7
    cli.fails(4, "fof", "snap.hdf5", "--phase-space", "1",
              says=["--phase-space needs velocities; all in the file are equal"])
    with h5py.File("snap.hdf5", "a") as file:  # all that link have one velocity
        file["PartType0/Velocities"][...] = numpy.arange(900).reshape(300, 3)
    cli.fails(6, "fof", "snap.hdf5", "--phase-space", "2s",
              says=["snap.hdf5: --phase-space 2s: the velocity dispersion", "is 0", "in the unit"])
    cli.fails(6, "fof", "snap.hdf5", "--phase-space", "1e-30",
              says=["--phase-space is 1e-30", "square is in the range of float"])


def test_velocities_of_those_that_link():
    """--phase-space in units of the dispersion: that of the particles that link, alone."""
    _, numpy, snapshots = cli.snapshot_modules()
    snap = make({0: (300, 0.16), 1: (800, 0.84)})
    snap[0]["vel"] = (snap[0]["vel"] * 100).astype("f4")
    snapshots.hdf5("snap.hdf5", snap, {**UNIVERSE, "time": 1.0, "redshift": 0.0}, "gadget4")
    sigma = numpy.sqrt(snap[1]["vel"].astype("f8").var(axis=0).mean())
    found = spacing("snap.hdf5", "--phase-space", "2s")
    assert abs(found["velocity_length"] / (2 * sigma) - 1) < 1e-6, (found, sigma)


def test_box_in_another_unit():
    """Coordinates that fill the box more than twice over."""
    cli.ok("make", "uniform", "2k", "--box", "50000", "--seed", "1", "-o", "a.npy", "-q")
    words = ["a.npy", "along x go from", "box of --box goes from 0 to 50", "box lengths",
             "Mpc to kpc", "--allow-unwrapped"]
    cli.fails(6, "fof", "a.npy", "--box", "50", "-o", "a.csv", says=words, timeout=10)
    cli.fails(6, "fof", "a.npy", "--box", "50", "--length", "1", says=words, timeout=10)
    cli.fails(6, "fof", "a.npy", "--box", "5000", says=["near 10, the ratio of nm to"])
    cli.fails(6, "fof", "a.npy", "--box", "0.05", says=["near 1e6, the ratio of Mpc to pc"])
    for side in ("24000", "20000", "500", "1e-90"):
        done = cli.fails(6, "fof", "a.npy", "--box", side, says=["expected at most 2"])
        assert "near" not in done.stderr, done.stderr
    cli.fails(6, "fof", "a.npy", "--box", "50000,50000,60", says=["along z", "0 to 60"])
    skewed = "50,0,0,10,50,0,0,0,50000"
    cli.fails(6, "fof", "a.npy", "--box", skewed, says=["along row 1", "0 to 1"])
    cli.ok("fof", "a.npy", "--box", "50000", "-q")
    assert "another unit?" in cli.ok("fof", "a.npy", "--box", "1e6")
    assert spacing("a.npy", "--box", "50000")["warning"] is None
    # No wrong unit: open axes, and particles that left the box by less than its length.
    cli.ok("fof", "a.npy", "--box", "50000,50000,60", "--periodic", "xy", "--length", "9", "-q")
    cli.ok("make", "uniform", "2k", "--box", "1", "--seed", "1", "-o", "b.npy", "-q")
    points = cli.read_points("b.npy")
    cli.write_npy("c.npy", [(x + k % 2 - 0.5, y, z) for k, (x, y, z) in enumerate(points)])
    cli.write_npy("d.npy", [(x + k % 4, y, z - k % 7) for k, (x, y, z) in enumerate(points)])
    whole = cli.report("fof", "b.npy", "--box", "1", "--min-members", "2")["groups"]
    assert cli.report("fof", "c.npy", "--box", "1", "--min-members", "2")["groups"] == whole
    cli.fails(6, "fof", "d.npy", "--box", "1", says=["along x", "box lengths"])
    found = cli.report("fof", "d.npy", "--box", "1", "--min-members", "2", "--allow-unwrapped")
    assert found["groups"] == whole


def centred(numpy, name):
    """A tipsy file of 2,000 clumped particles in [-0.5, 0.5)^3; its positions."""
    cli.ok("make", "clustered", "2k", "--seed", "1", "-o", "a.npy", "-q")
    pos = (numpy.load("a.npy") - 0.5).astype(">f4")
    record = numpy.zeros((len(pos), 9), ">f4")
    record[:, 0] = 1 / len(pos)
    record[:, 1:4] = pos
    with open(name, "wb") as file:
        file.write(struct.pack(">d6i", 1.0, len(pos), 3, 0, len(pos), 0, 0) + record.tobytes())
    return pos.astype("f4")


def test_shape_of_coordinates():
    """A shape that no particles have is repeated, of whatever size its numbers are."""
    h5py, _, _ = cli.snapshot_modules()
    for shape, says in (((250, 1729382256910270467), "(250, 1729382256910270467); expected (N, 3)"),
                        ((250, 4), "(250, 4); expected (N, 3)"),
                        ((250, 0), "(250, 0); expected (N, 3)")):
        with h5py.File("a.hdf5", "w") as file:
            file.create_group("Header").attrs["NumPart_ThisFile"] = [0, 250, 0, 0, 0, 0]
            chunks = (1, 4) if shape[1] > 4 else None
            file.create_dataset("PartType1/Coordinates", shape, "f4", chunks=chunks)
        cli.fails(4, "fof", "a.hdf5", "--box", "1",
                  says=[f"dataset PartType1/Coordinates has shape {says}"])


def test_datasets():
    """Datasets that --dataset names, and arrays that do not fit together."""
    h5py, numpy, _ = cli.snapshot_modules()
    points = numpy.random.default_rng(1).uniform(0, 1, (60, 3))
    with h5py.File("a.h5", "w") as file:
        file["whole"] = points
        file["list"] = points[:, 0]
        file["narrow"] = points[:, :1]
        file["number"] = 1.0
        file["four"] = points.reshape(1, 1, 60, 3)
        file["frames"] = points.reshape(3, 20, 3)
        file["wide"] = points.reshape(3, 5, 12)
        file["words"] = numpy.array(["a", "b"], "S1")
        file.create_dataset("chunked", data=points.reshape(3, 20, 3), chunks=(1, 7, 3))
        file.create_dataset("hollow", (5, 3), "f8", chunks=(10**8, 3), maxshape=(None, 3))
        file.create_dataset("many", (2**31, 3), "f4", chunks=(1000, 3))
        file.create_dataset("short", (10**9, 3), "f4", chunks=(1000, 3))
        file.create_dataset("raw", (60, 3), "f8", external=[("raw.bin", 0, 60 * 24)])
        file["raw"][...] = points
    run = ("fof", "a.h5", "--length", "0.2", "--min-members", "1")
    right = cli.report(*run, "--dataset", "whole")["groups"]
    assert cli.report(*run, "--dataset", "raw")["groups"] == right
    first = cli.report(*run, "--dataset", "frames")["groups"]
    assert cli.report(*run, "--dataset", "chunked")["groups"] == first != right
    for name, says in (("list", "has 1 dimensions; expected shape (n, 3), (n, 2) or (frames, n"),
                       ("narrow", "has rows of 1; expected 3 or 2 coordinates"),
                       ("number", "has 0 dimensions"), ("four", "has 4 dimensions"),
                       ("wide", "has shape (3, 5, 12); expected (frames, N, 3)"),
                       ("words", "holds no numbers; expected floats or integers"),
                       ("hollow", "announces chunks of 2.4e+09 bytes, more than a file of"),
                       ("none", "has no readable dataset none; `kith info` lists those")):
        done = cli.fails(4, *run, "--dataset", name, says=[f"dataset {name}", says])
        assert len(done.stderr.splitlines()) <= 2, done
    for name, says in (("many", "holds 2147483648 particles; at most 2147483647 can be read"),
                       ("short", "announces 1000000000 particles, more than")):
        done = cli.run(*run, "--dataset", name)
        assert done.returncode not in (0, -11) and says in done.stderr, done
    with h5py.File("b.h5", "w") as file:
        file["particles/a/position/value"] = points.reshape(3, 20, 3)
        file["particles/b/position/value"] = points[:40, :2].reshape(2, 20, 2)
    cli.fails(4, "fof", "b.h5", "--length", "0.2",
              says=["has 3 coordinates in particles/a/position/value but 2 in particles/b"])
    with h5py.File("b.h5", "a") as file:
        del file["particles/b"]
        file["particles/b/position/value"] = points[:40].reshape(2, 20, 3)
    assert "in the first of 2 frames" in cli.ok("info", "b.h5")
    assert cli.report("rdf", "b.h5", "--box", "1", "--r-max", "0.3")["frames"]["n"] == 2


def test_frame_of_outputs():
    """Catalogue, sorted snapshot and a second run on it: one frame, that of the input."""
    h5py, numpy, _ = cli.snapshot_modules()
    pos = centred(numpy, "a.std")
    outputs = ("-o", "a.csv", "--labels", "labels.npy", "--sort-snapshot", "sorted.hdf5")

    def frames(*arguments):
        found = cli.report("fof", "a.std", "--box", "1", *arguments, *outputs)
        labels = numpy.load("labels.npy")
        order = numpy.argsort(numpy.where(labels == 0, len(pos), labels), kind="stable")
        with h5py.File("sorted.hdf5") as file:
            moved = file["PartType1/Coordinates"][()]
        halos = [[float(row[c]) for c in "xyz"] for row in rows("a.csv")]
        low, high = found["box"]["origin"], [x + 1 for x in found["box"]["origin"]]
        for x in (moved, numpy.array(halos)):
            assert (x >= low).all() and (x <= high).all()
        labels = labels[order]
        for k, halo in enumerate(halos):  # each halo is among its own particles
            d = moved[labels == k + 1] - halo
            assert (abs(d).min(axis=0) < 0.05).all(), (arguments, k, d)
        return found["box"]["origin"], moved, pos[order], halos

    origin, moved, given, halos = frames()
    assert origin == [-0.5] * 3 and (moved == given).all() and numpy.array(halos).min() < 0
    again = cli.report("fof", "sorted.hdf5", "-o", "b.csv")
    assert again["box"]["origin"] == [-0.5] * 3
    assert [[float(row[c]) for c in "xyz"] for row in rows("b.csv")] == halos
    assert frames("--origin", "-0.5,-0.5,-0.5")[3] == halos
    origin, moved, given, other = frames("--origin", "0,0,0")
    assert origin == [0] * 3 and abs((moved - given) % 1).max() < 1 and moved.min() >= 0
    assert numpy.allclose(numpy.array(halos) % 1, numpy.array(other) % 1, atol=1e-6)
    whole = cli.report("fof", "a.npy", "--box", "1")
    assert whole["box"]["origin"] == [0] * 3
    left = cli.report("fof", "a.npy", "--box", "0,1,0,1,0,0,0,0,1")  # a left-handed box
    assert left["box"]["origin"] == [0] * 3 and left["groups"] == whole["groups"], left["box"]


sys.exit(cli.main(globals()))
