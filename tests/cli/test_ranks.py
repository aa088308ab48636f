# SPDX-License-Identifier: BSD-3-Clause
"""Commands of several ranks: threads with a backend each, and processes of MPI. Outputs have the
bytes of one process, errors are those of one process, and a rank that is killed ends all."""
import json
import os
import random
import struct
import sys
import time

import cli
import needs
import rdf_frames
from launchers import LAUNCHERS, everywhere, launched, ways

TIMES = ("seconds", "peak_bytes", "threads", "ranks", "parts", "backend", "memory", "input",
         "against", "pairs_per_second", "neighbours_per_second")


def contents(path):
    """The bytes of a file."""
    with open(path, "rb") as file:
        return file.read()


def same(*arguments, outputs=(), parts=None):
    """Run kith in one process, then on several ranks: outputs, and summaries as JSON but for times,
    must be equal. With parts, whether processes of MPI have read a share each must be so."""
    def facts(text):
        return {key: value for key, value in json.loads(text).items() if key not in TIMES}
    expected = facts(cli.ok(*arguments, "--json"))
    files = [contents(path) for path in outputs]
    for name, done, folder in everywhere(*arguments, "--json", outputs=outputs):
        assert done.returncode == 0, (name, arguments, done.stderr)
        assert facts(done.stdout) == expected, (name, arguments, done.stdout)
        ranks = json.loads(done.stdout)["ranks"] if parts and "cpu" not in name else 1
        said = json.loads(done.stdout)
        read = said["parts"] if said["verb"] == "rdf" else said["input"]["parts"]
        assert parts is None or read == ranks, (name, done)
        for path, data in zip(outputs, files):
            assert contents(os.path.join(folder, path)) == data, (name, arguments, path)


def test_fof():
    cli.ok("make", "clustered", "3000", "--seed", "1", "-o", "p.npy")
    same("fof", "p.npy", "--box", "1", "-o", "a.csv", "--labels", "a.npy",
         outputs=("a.csv", "a.npy"))
    same("fof", "p.npy", "--length", "0.01", "--min-links", "3", "--min-members", "2", "-o",
         "a.csv", "--labels", "a.grp", outputs=("a.csv", "a.grp"))
    cli.write_npy("few.npy", [(0, 0, 0), (0.01, 0, 0)])
    same("fof", "few.npy", "--box", "1", "--min-members", "1", "--labels", "a.npy",
         outputs=("a.npy",))


def types_of(file, counts, mass):
    """Write the header of a snapshot. Return number, count and new group of each type that it
    has; mass 0: each particle has a mass of its own."""
    header = file.create_group("Header").attrs
    header["NumPart_ThisFile"] = header["NumPart_Total"] = counts
    header["NumFilesPerSnapshot"], header["BoxSize"], header["Time"] = 1, 1.0, 1.0
    header["MassTable"] = [mass if n else 0.0 for n in counts]
    return [(kind, n, file.create_group(f"PartType{kind}"))
            for kind, n in enumerate(counts) if n]


def test_fof_types():
    h5py, numpy, snapshots = cli.snapshot_modules()
    rng = numpy.random.default_rng(4)
    with h5py.File("s.hdf5", "w") as file:
        for kind, n, group in types_of(file, [300, 700, 0, 0, 0, 0], mass=0.0):
            group["Coordinates"] = rng.random((n, 3))
            group["Velocities"] = rng.normal(size=(n, 3))
            group["Masses"] = 1 + rng.random(n)
            group["ParticleIDs"] = rng.permutation(n) + 1000 * kind
    common = ("fof", "s.hdf5", "--length", "0.08", "--min-members", "2", "-o", "a.csv", "--labels",
              "a.npy")
    same(*common, outputs=("a.csv", "a.npy"))
    same(*common, "--phase-space", "1.5s", outputs=("a.csv", "a.npy"))
    same(*common, "--attach", "gas", outputs=("a.csv", "a.npy"))
    cosmology = (*common, "--cosmology", "0.3,0.7,0")
    same(*cosmology, outputs=("a.csv", "a.npy"))  # spheres
    for name, done, _ in everywhere(*cosmology, "--json"):  # nobody measures their time
        assert json.loads(done.stdout)["seconds"]["spheres"] is None, name
    for name, done, _ in everywhere(*cosmology):
        assert "spherical overdensities" not in done.stdout, name
    same(*common[:-4], "-o", "a.list", "--precision", "float", outputs=("a.list",))


def test_rdf_and_pairs():
    cli.ok("make", "clustered", "3000", "--seed", "2", "-o", "p.npy")
    same("rdf", "p.npy", "--box", "1", "--r-max", "0.1", "--bins", "50", "-o", "a.txt",
         outputs=("a.txt",))
    same("rdf", "p.npy", "--box", "1", "--r-max", "0.7", "--minimum-image", "-o", "a.txt",
         outputs=("a.txt",))
    same("pairs", "p.npy", "--box", "1", "--cutoff", "0.05")
    same("pairs", "p.npy", "--cutoff", "0.05", "--full")


def write_bonded(path, rng):
    """Write 200 particles with 900 random bonds."""
    bonds = [rng.randrange(200) for _ in range(2 * 900)]
    rdf_frames.write_gsd(path, [
        (0, "configuration/box", 9, 6, 1, struct.pack("<6f", 9, 9, 9, 0, 0, 0)),
        (0, "particles/N", 3, 1, 1, struct.pack("<I", 200)),
        (0, "particles/position", 9, 200, 3,
         struct.pack("<600f", *[rng.uniform(-4.5, 4.5) for _ in range(600)])),
        (0, "bonds/N", 3, 1, 1, struct.pack("<I", 900)),
        (0, "bonds/group", 3, 900, 2, struct.pack("<1800I", *bonds))])


def shared(*arguments, outputs=(), parts=True):
    """As same(), where processes of MPI have read a share each, or rank 0 has read all."""
    same(*arguments, outputs=outputs, parts=parts)


def lone_snapshot(snapshots, name, snap, write, files):
    """Write a snapshot in some files; the path of the first."""
    total = snapshots.counts_of(snap, 7)
    for k, part in enumerate(snapshots.split(snap, files)):
        write(f"{name}.{k}.x", part, files=files, number=k, total=total)
    return f"{name}.0.x"


def test_shares():
    """Each rank reads its share: of arrays, of one file, of files of which some hold no particle of
    a rank; outputs that need all particles on rank 0, and texts, which it reads whole."""
    for ending in ("npy", "hdf5", "std"):
        cli.ok("make", "clustered", "3001", "--seed", "6", "-o", f"p.{ending}")
        shared("fof", f"p.{ending}", "--box", "1", "--origin", "-0.5,-0.5,-0.5",
               "--no-spheres", "-o", "a.csv", outputs=("a.csv",))
        shared("pairs", f"p.{ending}", "--box", "1", "--cutoff", "0.03")
        shared("nearest", f"p.{ending}", "-k", "3", "--against", "p.npy", "-o", "a.npy",
               outputs=("a.npy",))
        shared("rdf", f"p.{ending}", "--box", "1", "--r-max", "0.1", "-o", "a.txt",
               outputs=("a.txt",))
    shared("rdf", "p.npy", "--box", "1", "--r-max", "0.7", "--minimum-image", "--precision",
           "float", "-o", "a.txt", outputs=("a.txt",))
    shared("rdf", "p.npy", "--box", "1", "--sq", "a.txt", outputs=("a.txt",), parts=False)
    shared("pairs", "p.npy", "--cutoff", "0.02", "--sorted", "-o", "a.npy", outputs=("a.npy",))
    for ending in ("npy", "grp", "hdf5"):
        labels = f"a.{ending}"
        shared("fof", "p.npy", "--box", "1", "--labels", labels, outputs=(labels,))
    cli.ok("make", "clustered", "300", "--seed", "6", "-o", "p.xyz")
    shared("fof", "p.xyz", "--length", "0.05", "-o", "a.csv", outputs=("a.csv",), parts=False)
    shared("pairs", "p.npy", "--against", "p.xyz", "--cutoff", "0.05", parts=False)
    _, _, snapshots = cli.snapshot_modules()
    universe = {**snapshots.FLAT, "box": 10.0}

    def write_gadget(path, part, files, number, total):
        with open(path, "wb") as file:
            file.write(snapshots.gadget(part, universe, "<>"[number % 2], 1 + number % 2, files,
                                        total[:6]))

    def write_hdf5(path, part, **which):
        snapshots.hdf5(path, part, universe, "gadget", **which)
    snap = snapshots.make({0: 150, 1: 401, 4: 7}, table=())
    snap[1]["vel"][300:] *= 3  # what differs is with one rank
    for files, write in ((1, write_gadget), (5, write_gadget), (1, write_hdf5), (4, write_hdf5)):
        path = lone_snapshot(snapshots, f"s{files}{write.__name__}", snap, write, files)
        common = ("fof", path, "--length", "1.1", "--min-members", "2", "--no-spheres", "-o",
                  "a.csv")
        shared(*common, outputs=("a.csv",))
        shared(*common, "--phase-space", "2s", "--min-links", "1", outputs=("a.csv",))
        shared(*common, "--attach", "gas", "--species", "gas,dark", outputs=("a.csv",))
        shared("fof", path, "-b", "0.5", "--no-spheres", "-o", "a.list", outputs=("a.list",))
        rdf = ("rdf", path, "--r-max", "2", "--bins", "20", "-o", "a.txt")
        shared(*rdf, "--partials", outputs=("a.txt",))
        shared(*rdf, "--select", "star", "--with", "dark", outputs=("a.txt",))
        several = ("a.hdf5", "l.hdf5", "s.hdf5")  # ids by group; by input; all by type and group
        shared(*common[:-2], "-o", "a.hdf5", "--labels", "l.hdf5", "--sort-snapshot", "s.hdf5",
               "--attach", "gas", outputs=several)
        shared("fof", path, "-o", "a.csv", outputs=("a.csv",))  # spheres


def test_blocks():
    """Outputs of more particles than a writer holds at a time."""
    cli.ok("make", "clustered", "70000", "--seed", "7", "-o", "p.hdf5")
    for labels in ("a.npy", "a.grp", "a.h5"):
        same("fof", "p.hdf5", "--box", "1", "--labels", labels, "--sort-snapshot", "s.hdf5",
             outputs=(labels, "s.hdf5"), parts=True)
    for space in (("--box", "1"), ("--length", "0.002")):
        picture = ("fof", "p.hdf5", *space, "--plot", "a.png")
        if needs.lacking(cli.run(*picture)):
            needs.tell("pictures: kith is built without cairo")
        else:
            same(*picture, outputs=("a.png",), parts=True)


def test_shares_fail():
    """A part that is missing, a chunk that is damaged, a mass or position that is no number, in the
    share of the last rank: one sentence, one status, no output."""
    h5py, numpy, snapshots = cli.snapshot_modules()
    rng = numpy.random.default_rng(5)
    with h5py.File("d.hdf5", "w") as file:
        file.create_dataset("Coordinates", data=rng.random((900, 3)), chunks=(100, 3),
                            fletcher32=True)
        place = file["Coordinates"].id.get_chunk_info(8)
    with open("d.hdf5", "r+b") as file:
        file.seek(place.byte_offset + 100)
        file.write(b"damage")
    snap = snapshots.make({1: 90}, table=())
    snap[1]["mass"][80] = numpy.nan
    snapshots.hdf5("m.hdf5", snap, snapshots.FLAT, "gadget")
    snap[1]["mass"][80], snap[1]["pos"][85, 1] = 1, numpy.inf
    snapshots.hdf5("n.hdf5", snap, snapshots.FLAT, "gadget")

    def write_hdf5(path, part, **which):
        snapshots.hdf5(path, part, snapshots.FLAT, "gadget", **which)
    path = lone_snapshot(snapshots, "set", snap, write_hdf5, 3)
    os.remove("set.2.x")
    with open("short.npy", "wb") as file:
        cli.write_npy("whole.npy", [(0, 0, k) for k in range(50)])
        file.write(contents("whole.npy")[:-5])
    for name, word in (("d.hdf5", "Coordinates"), ("m.hdf5", "particle 80 "),
                       ("n.hdf5", "particle 85 "), (path, "set.2.x"), ("short.npy", "expected")):
        verbs = [("fof", name, "--length", "0.1", "--labels", "a.npy", "-o", "a.csv")]
        if name != "m.hdf5":  # kith rdf reads no masses
            verbs.append(("rdf", name, "--box", "2", "--r-max", "0.5", "-o", "a.csv"))
        for arguments in verbs:
            expected = cli.run(*arguments)
            for way, done, folder in everywhere(*arguments):
                said = [line for line in done.stderr.splitlines() if line.startswith("kith")]
                assert done.returncode == expected.returncode != 0, (way, done.stderr)
                assert len(said) == 1 and word in said[0], (way, done.stderr)
                assert not {"a.csv", "a.npy"} & set(os.listdir(folder)), way


def test_sums():
    """Sums of weights and of pair forces, over several frames; pairs without bonds."""
    rng = random.Random(3)
    with open("f.xyz", "w", encoding="ascii") as file:
        for _ in range(2):
            file.write('200\nLattice="9 0 0 0 9 0 0 0 9" '
                       "Properties=species:S:1:pos:R:3:forces:R:3\n")
            for p in range(200):
                numbers = [rng.uniform(0, 9) for _ in range(3)] + [rng.gauss(0, 1 + p)
                                                                   for _ in range(3)]
                file.write(" ".join(["ab"[p % 2], *map(repr, numbers)]) + "\n")
    with open("w.txt", "w", encoding="ascii") as file:
        file.write("".join(f"{rng.gauss(0, 1 + p)!r}\n" for p in range(200)))
    common = ("rdf", "f.xyz", "--r-max", "4", "--bins", "40", "--partials", "-o", "a.txt")
    same(*common, "--weights", "w.txt", outputs=("a.txt",))
    same(*common, "--estimator", "force", "--temperature", "1.5", "--trust-temperature",
         outputs=("a.txt",))
    write_bonded("b.gsd", rng)
    for reach in (("--r-max", "1.5"), ("--r-max", "4"), ("--r-max", "6", "--minimum-image")):
        same("rdf", "b.gsd", *reach, "--bins", "30", "--exclude-bonds", "-o", "a.txt",
             outputs=("a.txt",))


def test_frames():
    """Small frames, which are dealt to the ranks: more and fewer than there are ranks, with several
    species, in blocks, with sums over waves; a frame that fails."""
    rng = random.Random(4)
    for name, frames, bad in (("f.xyz", 23, -1), ("few.xyz", 2, -1), ("bad.xyz", 23, 14)):
        with open(name, "w", encoding="ascii") as file:
            for k in range(frames):
                side = 9 + k / 10
                file.write(f'80\nLattice="{side} 0 0 0 {side} 0 0 0 {side}" '
                           "Properties=species:S:1:pos:R:3\n")
                for p in range(80):
                    xyz = [rng.uniform(0, 9) for _ in range(3)]
                    xyz[0] = float("inf") if k == bad and p == 7 else xyz[0]
                    file.write(" ".join(["abb"[p % 3], *map(repr, xyz)]) + "\n")
    for name in ("f.xyz", "few.xyz"):
        common = ("rdf", name, "--bins", "40", "-o", "a.txt")
        same(*common, "--r-max", "4", outputs=("a.txt",))
        same(*common, "--r-max", "4", "--partials", "--blocks", "4", outputs=("a.txt",))
        same(*common, "--minimum-image", "--select", "a", outputs=("a.txt",))
    same("rdf", "f.xyz", "--frames", "2::3", "--r-max", "4", "--sq", "s.txt", "-o", "a.txt",
         outputs=("s.txt", "a.txt"))
    expected = cli.run("rdf", "bad.xyz", "--r-max", "4", "-o", "b.txt")
    for way, done, folder in everywhere("rdf", "bad.xyz", "--r-max", "4", "-o", "b.txt"):
        said = [line for line in done.stderr.splitlines() if line.startswith("kith")]
        assert done.returncode == expected.returncode != 0, (way, done.stderr)
        assert len(said) == 1 and said[0] in expected.stderr, (way, said, expected.stderr)
        assert not os.path.exists(f"{folder}/b.txt"), way


def test_rules():
    """Cutoffs by species, least distances, molecules and bonds that are left out."""
    rng = random.Random(8)
    for name, n in (("a.dump", 300), ("b.dump", 90)):
        with open(name, "w", encoding="ascii") as file:
            file.write(f"ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n{n}\nITEM: BOX BOUNDS pp pp pp\n"
                       + "0 9\n" * 3 + "ITEM: ATOMS id mol element x y z\n")
            for p in range(n):
                file.write(f"{p + 1} {p // 3 + 1} {rng.choice(['Si', 'O'])} " +
                           " ".join(repr(rng.uniform(0, 9)) for _ in range(3)) + "\n")
    table = ("--cutoff", "Si-O=1.9,O-O=1.1")
    same("pairs", "a.dump", *table)
    same("pairs", "a.dump", *table, "--against", "b.dump")
    same("pairs", "a.dump", *table, "--exclude-molecules", "--r-min", "0.4", "--sorted", "-o",
         "a.npy", outputs=("a.npy",))
    same("pairs", "a.dump", *table, "--against", "b.dump", "--sorted", "-o", "a.npy",
         outputs=("a.npy",))
    write_bonded("b.gsd", rng)
    same("pairs", "b.gsd", "--cutoff", "1.5", "--exclude-bonds")
    same("pairs", "b.gsd", "--cutoff", "1.5", "--exclude-bonds", "--full", "--sorted", "-o",
         "a.npy", outputs=("a.npy",))


def test_radii():
    """Radii of one set, and of two, from fields and from a file, in both precisions."""
    rng = random.Random(9)
    for name, n in (("a.txt", 400), ("b.txt", 150)):
        with open(name, "w", encoding="ascii") as file:
            file.write("x y z h\n")
            for _ in range(n):
                numbers = [rng.uniform(0, 9) for _ in range(3)] + [rng.choice((0.1, 0.5, 1.6))]
                file.write(" ".join(map(repr, numbers)) + "\n")
    with open("h.txt", "w", encoding="ascii") as file:
        file.write("".join(f"{rng.uniform(0, 1)!r}\n" for _ in range(400)))
    box = ("--box", "9", "--radii-rule")
    same("pairs", "a.txt", "--radii", "h", *box, "sum")
    same("pairs", "a.txt", "--radii", "h.txt", *box, "gather", "--full", "--sorted", "-o", "a.npy",
         outputs=("a.npy",))
    same("pairs", "a.txt", "--radii", "h", *box, "both", "--precision", "float", "--sorted", "-o",
         "a.npy", outputs=("a.npy",))
    for rule in ("gather", "scatter", "either"):
        same("pairs", "a.txt", "--radii", "h", "--against", "b.txt", *box, rule, "--sorted", "-o",
             "a.npy", outputs=("a.npy",))


def write_fields():
    """Write a snapshot with types and radii, and H5MD with species and radii for each frame."""
    h5py, numpy, _ = cli.snapshot_modules()
    rng = numpy.random.default_rng(11)
    with h5py.File("s.hdf5", "w") as file:
        for _, n, group in types_of(file, [90, 400, 0, 0, 11, 0], mass=1.0):
            group["Coordinates"] = rng.random((n, 3))
            group["Length"] = rng.choice((0.0, 0.02, 0.09), n)
    for name, n in (("m.h5", 500), ("few.h5", 70)):
        with h5py.File(name, "w") as file:
            for group in ("a", "b") if n == 500 else ("a",):  # two groups: the ranks cut the second
                at = file.create_group(f"particles/{group}")
                at["position/value"], at["position/step"] = rng.random((2, n, 3)), [0, 5]
                at["species/value"] = rng.choice((7, 3, 12), (2, n))
                at["species/step"] = [0, 5]
                at["h/value"], at["h/step"] = rng.random((2, n)) / 10, [0, 5]
                at["box/edges"] = [1.0, 1.0, 1.0]
                at["box"].attrs["boundary"] = numpy.array([b"periodic"] * 3)
    return rng


def test_shares_of_rules():
    """Each rank reads the species and radii of its share: numbers of species follow from the names
    of all ranks, of which the last one sees some first."""
    rng = write_fields()
    out = ("--sorted", "-o", "a.npy")
    shared("pairs", "s.hdf5", "--cutoff", "gas-dark=0.08,star-star=0.3,dark-star=0.1", *out,
           outputs=("a.npy",))
    shared("pairs", "m.h5", "--cutoff", "7-3=0.08,12-12=0.1", "--frame", "1")
    shared("pairs", "m.h5", "--cutoff", "7-3=0.08,12-12=0.1", "--against", "few.h5", *out,
           outputs=("a.npy",))
    shared("pairs", "s.hdf5", "--radii", "Length", "--radii-scale", "1.5", *out,
           outputs=("a.npy",))
    shared("pairs", "m.h5", "--radii", "h", "--frame", "1", "--cutoff", "7-3=0.09", "--precision",
           "float", *out, outputs=("a.npy",))
    shared("pairs", "m.h5", "--radii", "h", "--radii-rule", "gather", "--against", "few.h5", "-o",
           "a.h5", "--sorted", outputs=("a.h5",))
    cli.write_npy("p.npy", [tuple(rng.random(3)) for _ in range(300)])
    radii = [float(h) for h in rng.random(300) / 10]
    cli.write_npy_array("h.npy", (300,), radii)
    with open("h.txt", "w", encoding="ascii") as file:
        file.write("".join(f"{h!r}\n" for h in radii))
    for name in ("h.npy", "h.txt"):
        shared("pairs", "p.npy", "--radii", name, "--radii-rule", "sum", "--box", "1", "-o",
               "a.txt", "--sorted", outputs=("a.txt",))


def test_shares_of_weights():
    """Weights of g(r): masses, and numbers of a file, of which each rank reads its share."""
    _, numpy, snapshots = cli.snapshot_modules()
    rng = numpy.random.default_rng(12)
    snap = snapshots.make({0: 90, 1: 400, 4: 11}, table=())
    for kind in (0, 1, 4):
        snap[kind]["mass"][:] = rng.random(len(snap[kind]["mass"])) + 0.1
    snapshots.hdf5("s.hdf5", snap, {**snapshots.FLAT, "box": 10.0}, "gadget")
    rdf = ("rdf", "s.hdf5", "--r-max", "2", "--bins", "20", "--weights")
    shared(*rdf, "mass", "-o", "a.txt", outputs=("a.txt",))
    shared(*rdf, "mass", "--partials", "-o", "a.txt", outputs=("a.txt",))
    shared(*rdf, "mass", "--select", "star,gas", "--precision", "float", "-o", "a.txt",
           outputs=("a.txt",))
    weights = [float(w) for w in rng.normal(size=501)]
    cli.write_npy_array("w.npy", (501,), weights)
    cli.write_npy_array("zero.npy", (501,), [0.0] * 501)
    cli.write_npy_array("bad.npy", (501,), weights[:-1] + [float("inf")])
    with open("w.txt", "w", encoding="ascii") as file:
        file.write("".join(f"{w!r}\n" for w in weights))
    shared(*rdf, "w.npy", "--partials", "-o", "a.txt", outputs=("a.txt",))
    shared(*rdf, "w.txt", "--select", "dark", "--with", "gas", "-o", "a.txt", outputs=("a.txt",))
    for name in ("zero.npy", "bad.npy", "none.npy", "charge"):
        expected = cli.run(*rdf, name, "-o", "b.txt")
        for way, done, folder in everywhere(*rdf, name, "-o", "b.txt"):
            said = [line for line in done.stderr.splitlines() if line.startswith("kith")]
            assert done.returncode == expected.returncode != 0, (way, name, done.stderr)
            assert said == expected.stderr.splitlines()[:1], (way, said, expected.stderr)
            assert not os.path.exists(f"{folder}/b.txt"), way


def test_rules_fail():
    """A radius, a number of species or a name that is wrong, with the last rank; a file without
    species: the sentence and the status of one process, and no output."""
    write_fields()
    h5py, _, _ = cli.snapshot_modules()
    cli.write_npy("p.npy", [(0.1 * k, 0, 0) for k in range(9)])
    cli.write_npy_array("h.npy", (9,), [0.1] * 8 + [-2])
    cli.write_npy_array("nan.npy", (9,), [0.1] * 7 + [float("nan")] + [1])
    cli.write_npy_array("short.npy", (8,), [0.1] * 8)
    with h5py.File("s.hdf5", "r+") as file:
        file["PartType4/Length"][10] = 1e300
    for arguments in (("s.hdf5", "--cutoff", "gas-dark=0.1,star-iron=0.2"),
                      ("s.hdf5", "--radii", "Length", "--radii-scale", "1e10"),
                      ("s.hdf5", "--radii", "None"), ("p.npy", "--cutoff", "a-b=1"),
                      ("p.npy", "--radii", "h.npy"), ("p.npy", "--radii", "nan.npy"),
                      ("p.npy", "--radii", "short.npy"), ("p.npy", "--radii", "Length"),
                      ("s.hdf5", "--cutoff", "0.1", "--exclude-molecules")):
        expected = cli.run("pairs", *arguments, "--sorted", "-o", "a.npy")
        for name, done, folder in everywhere("pairs", *arguments, "--sorted", "-o", "a.npy"):
            said = [line for line in done.stderr.splitlines() if line.startswith("kith")]
            assert done.returncode == expected.returncode != 0, (name, arguments, done.stderr)
            assert said == expected.stderr.splitlines()[:1], (name, said, expected.stderr)
            assert not os.path.exists(f"{folder}/a.npy"), name


def test_lists():
    cli.ok("make", "clustered", "2000", "--seed", "3", "-o", "p.npy")
    extras = ("--distances", "--vectors", "--shifts", "--sorted")
    same("pairs", "p.npy", "--box", "1", "--cutoff", "0.02", "--sorted", "-o", "a.npy",
         outputs=("a.npy",))
    same("pairs", "p.npy", "--box", "1", "--cutoff", "0.04", *extras, "-o", "a.npy", "--precision",
         "float", outputs=("a.npy",))
    same("pairs", "p.npy", "--cutoff", "0.05", "--full", *extras, "-o", "a.txt", outputs=("a.txt",))
    cli.ok("make", "uniform", "300", "--seed", "4", "-o", "few.npy")  # images; several blocks
    same("pairs", "few.npy", "--box", "1", "--cutoff", "1.7", "--sorted", "-o", "a.npy",
         outputs=("a.npy",))


def test_two_sets():
    cli.ok("make", "clustered", "2000", "--seed", "3", "-o", "p.npy")
    cli.ok("make", "uniform", "500", "--seed", "5", "-o", "q.npy")
    extras = ("--distances", "--vectors", "--shifts")
    two = ("p.npy", "--box", "1", "--against", "q.npy")
    same("pairs", *two, "--cutoff", "0.05")
    same("pairs", *two, "--cutoff", "0.05", "--sorted", *extras, "-o", "a.npy", outputs=("a.npy",))
    same("pairs", "q.npy", "--against", "p.npy", "--cutoff", "0.04", "--sorted", "-o", "a.txt",
         outputs=("a.txt",))
    same("nearest", *two, "-k", "3", *extras, "-o", "a.npy", outputs=("a.npy",))


def test_nearest():
    cli.ok("make", "clustered", "2000", "--seed", "3", "-o", "p.npy")
    extras = ("--distances", "--vectors", "--shifts")
    same("nearest", "p.npy", "-k", "5", "--box", "1")
    same("nearest", "p.npy", "-k", "5", "--box", "1", "-o", "a.npy", outputs=("a.npy",))
    same("nearest", "p.npy", "-k", "9", "--cutoff", "0.02", *extras, "-o", "a.npy", "--precision",
         "float", outputs=("a.npy",))
    same("nearest", "p.npy", "-k", "2", "--box", "1", *extras, "-o", "a.txt", outputs=("a.txt",))
    cli.write_npy("few.npy", [(0, 0, 0), (0.1, 0, 0)])  # images; fewer particles than ranks
    same("nearest", "few.npy", "-k", "4", "--box", "1", *extras, "-o", "a.npy", outputs=("a.npy",))


def flown(*arguments, outputs):
    """Fly a flock in one process, then on several ranks: outputs, lines of measures, and the
    summary but for times, must be equal."""
    def facts(text):
        lines = [json.loads(line) for line in text.splitlines()]
        last = {key: value for key, value in lines[-1].items()
                if key not in (*TIMES, "step_seconds")}
        return [*lines[:-1], last]

    for path in outputs:
        if os.path.exists(path):
            os.remove(path)
    expected = facts(cli.ok("flock", *arguments, "--json"))
    files = [contents(path) for path in outputs]
    for name, done, folder in everywhere("flock", *arguments, "--json", outputs=outputs):
        assert done.returncode == 0, (name, arguments, done.stderr)
        assert facts(done.stdout) == expected, (name, arguments, done.stdout)
        for path, data in zip(outputs, files):
            assert contents(os.path.join(folder, path)) == data, (name, arguments, path)


def test_flock():
    """Presets, Vicsek's model, neighbours by number, walls, predators, changes on the way, a run
    that goes on; recordings and restart files."""
    outputs = ("a.gsd", "a.jsonl", "a.rst")
    written = ("-o", "a.gsd", "--measures", "a.jsonl", "--restart", "a.rst", "--seed", "5")
    for preset in ("murmuration", "mill", "bands", "shoal"):
        flown("--preset", preset, "--boids", "400", "--steps", "12", *written, outputs=outputs)
    flown("--boids", "300", "--box", "12", "--steps", "30", "--noise", "0.2", "--at",
          "11:noise=0.7", "--at", "21:no-things", "--predator", "1,2,3,2,5,1", *written,
          "--flock-length", "2", outputs=outputs)
    flown("--boids", "301", "--box", "9", "--dim", "2", "--model", "vicsek", "--alignment", "1",
          "--noise", "0.1", "--steps", "20", "--reflect", "x", "--precision", "float", "-o",
          "a.xyz", "--seed", "2", outputs=("a.xyz",))
    cli.ok("make", "clustered", "500", "--seed", "3", "-o", "p.npy")
    flown("p.npy", "--steps", "9", "--nearest", "7", "--separation", "0.02,0.1", "--alignment",
          "0.1,0.1", "--cohesion", "0.1,0.01", "--max-speed", "0.01", "-o", "a.xyz",
          outputs=("a.xyz",))
    flown("--boids", "400", "--box", "12", "--steps", "12", "--flock-species", "3", "--heed-others",
          "0.5", "--heed", "0,1,2,1,-1", "--at", "7:heed=1,2,0", *written, outputs=outputs)
    flown("--boids", "2", "--box", "40", "--steps", "3", *written, outputs=outputs)  # empty ranks
    task = ("flock", "--boids", "200", "--box", "10", "--seed", "5", "-o", "a.gsd", "--restart",
            "a.rst", "--record-every", "1")
    for path in ("a.gsd", "a.rst"):
        if os.path.exists(path):
            os.remove(path)
    cli.ok(*task, "--steps", "8")
    whole = contents("a.gsd"), contents("a.rst")
    for name, run in ways():  # one process goes on with a run of several ranks, and the reverse
        os.remove("a.gsd")
        os.remove("a.rst")
        first, second = (run, cli.run) if "mpi" in name else (cli.run, run)
        for steps, fly in (("3", first), ("8", second)):
            done = fly(*task, "--steps", steps)
            assert done.returncode == 0, (name, done.stderr)
        assert (contents("a.gsd"), contents("a.rst")) == whole, name


def test_flock_refused():
    """What ranks do not take, with one sentence and no output."""
    task = ("flock", "--boids", "50", "--box", "10", "--steps", "3")
    for name, done, _ in everywhere(*task, "--view"):
        said = [line for line in done.stderr.splitlines() if line.startswith("kith")]
        assert done.returncode == 2, (name, done)
        assert len(said) == 1 and "--view works in one process" in said[0], (name, done)
    cli.write_npy("p.npy", [(0, 0, 0), (0.1, 0, 0), (0.2, 0, 0), (0.3, float("nan"), 0)])
    for arguments in (("flock", "p.npy", "--steps", "2", "-o", "a.xyz"),
                      (*task, "--alignment", "10,1", "-o", "a.xyz")):
        expected = cli.run(*arguments)
        for name, done, folder in everywhere(*arguments):
            said = [line for line in done.stderr.splitlines() if line.startswith("kith")]
            assert done.returncode == expected.returncode != 0, (name, arguments, done.stderr)
            assert len(said) == 1, (name, done.stderr)
            assert said[0].split(":")[-1] == expected.stderr.splitlines()[0].split(":")[-1], said
            assert not os.path.exists(f"{folder}/a.xyz"), name


def test_errors():
    cli.write_npy("p.npy", [(0, 0, 0), (0.1, 0, 0), (0.2, 0, 0), (0.3, float("nan"), 0)])
    cli.ok("make", "uniform", "100", "--seed", "1", "-o", "good.npy")
    cases = (("fof", "p.npy", "--length", "1", "--labels", "a.npy"),
             ("pairs", "p.npy", "--cutoff", "1"),
             ("nearest", "p.npy", "-k", "2", "-o", "a.npy"),
             ("fof", "none.npy", "--length", "1"),
             ("fof", "good.npy", "--nothing"),
             ("fof", "good.npy"))
    for arguments in cases:
        expected = cli.run(*arguments)
        for name, done, folder in everywhere(*arguments):
            assert done.returncode == expected.returncode, (name, arguments, done.stderr)
            said = [line for line in done.stderr.splitlines() if line.startswith("kith")]
            assert len(said) == 1, (name, done.stderr)
            assert said[0] == expected.stderr.splitlines()[0], said  # names no rank
            assert not os.path.exists(f"{folder}/a.npy"), name
    with open("h.txt", "w", encoding="ascii") as file:
        file.write("0.1\n" * 100)
    for name, done, _ in everywhere("nearest", "good.npy", "-k", "2", "--radii", "h.txt"):
        assert done.returncode == 10 and "in one process, or leave out --radii" in done.stderr, name
    for name, done, folder in everywhere("pairs", "good.npy", "-c", "0.1", "-o", "a.npy"):
        assert done.returncode == 10 and "--sorted" in done.stderr, (name, done.stderr)
        assert not os.path.exists(f"{folder}/a.npy"), name


def test_first_bad_frame():
    """Of several bad frames the first one is told of, though frames wait to be dealt to ranks, and
    the file ends in a later one."""
    rng = random.Random(2)
    frames = [[[rng.random() for _ in range(3)] for _ in range(20)] for _ in range(5)]
    frames[1][7][1] = frames[3][2][0] = float("nan")
    for whole, at in ((5, 1), (2, 1), (4, 3)):
        with open("a.xyz", "w", encoding="ascii") as file:
            for k, frame in enumerate(frames[:whole + 1]):
                some = frame if k < whole else frame[:3]  # the last one is cut
                frame[7][1] = 0.5 if k < at else frame[7][1]
                file.write(f"20\n\n" + "".join(f"O {x!r} {y!r} {z!r}\n" for x, y, z in some))
        task = ("rdf", "a.xyz", "--box", "1", "--r-max", "0.4", "-o", "a.txt", "-q")
        expected = cli.run(*task)
        assert expected.returncode == 5, expected
        for name, done, _ in everywhere(*task):
            said = [line for line in done.stderr.splitlines() if line.startswith("kith")]
            assert done.returncode == 5 and len(said) == 1, (name, whole, done)
            assert said == expected.stderr.splitlines()[:1], (name, said, expected.stderr)


def test_backends():
    cli.ok("make", "uniform", "100", "--seed", "1", "-o", "p.npy")
    cli.fails(6, "fof", "p.npy", "--box", "1", "--backend", "cpu,none", says=("rank 1", "none"))
    for names in ("cpu,", ",cpu", "cpu,,cpu"):
        cli.fails(6, "fof", "p.npy", "--box", "1", "--backend", names, says=("a name is empty",))
    cli.fails(6, "debye", "p.npy", "--backend", "cpu,cpu", says=("--backend", "rdf"))
    text = cli.ok("fof", "p.npy", "--box", "1", "--backend", "cpu,cpu,cpu", "--threads", "7")
    assert "3 ranks of cpu" in text and "2 threads" in text, text
    names = "cpu:baseline" + ",cpu" * 20  # the whole list is told
    task = ("fof", "p.npy", "--box", "1", "--backend", names)
    assert f"21 ranks of {names}, 1 thread" in cli.ok(*task, "--threads", "1")
    assert cli.report(*task)["backend"] == names


def test_launchers():
    cli.ok("make", "uniform", "100", "--seed", "1", "-o", "p.npy")
    task = ("fof", "p.npy", "--box", "1", "--labels", "a.npy")
    slurm = {"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "0"}
    cli.fails(2, *task, env={**os.environ, **slurm}, says=("4 processes", "--mpi=pmix", "KITH_MPI"))
    cli.ok(*task, env={**os.environ, **slurm, "KITH_MPI": "none"})
    cli.ok(*task, env={**os.environ, **slurm, "SLURM_STEP_NUM_TASKS": "1"})
    one = {"OMPI_COMM_WORLD_SIZE": "1", "OMPI_COMM_WORLD_RANK": "0"}  # by mpirun, in a job of srun
    cli.ok(*task, env={**os.environ, **slurm, **one})
    flux = {"FLUX_JOB_SIZE": "3", "FLUX_TASK_RANK": "0"}
    cli.fails(2, *task, env={**os.environ, **flux}, says=("3 processes that flux", "KITH_MPI"))
    cli.ok(*task, env={**os.environ, "FLUX_JOB_SIZE": "1", "FLUX_TASK_RANK": "0"})
    os.remove("a.npy")
    started = {"MV2_COMM_WORLD_SIZE": "2", "MV2_COMM_WORLD_RANK": "0", "KITH_MPI": "./none.so"}
    cli.fails(10, *task, env={**os.environ, **started}, says=("2 processes", "none.so", "install"))
    started = {"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "0", "KITH_MPI": "./none.so"}
    cli.fails(10, *task, env={**os.environ, **started}, says=("none.so", "install"))
    assert not os.path.exists("a.npy")
    for launcher in LAUNCHERS:
        done = launched(launcher, 2, "info", "p.npy")
        assert done.returncode == 2 and done.stderr.count("kith info works in one") == 1, done
        assert launched(launcher, 3, "--version").stdout.count("kith ") == 1
        alone = launched(launcher, 3, "--version", env={**os.environ, "KITH_MPI": "none"})
        assert alone.stdout.count("kith ") == 3, alone
        single = {**os.environ, "KITH_MPI": launcher[1], "KITH_TEST_SINGLE": "1"}
        done = launched(launcher, 2, *task, env=single)
        assert done.returncode == 10 and not os.path.exists("a.npy"), done
        assert done.stderr.count("MPI does not support processes of several threads") == 1, done
    if len(LAUNCHERS) == 2:
        done = launched(LAUNCHERS[0], 2, *task, env={**os.environ, "KITH_MPI": LAUNCHERS[1][0]})
        assert done.returncode == 10 and "MPI has 1" in done.stderr, done
        assert done.stderr.count("MPI has 1") == 1 and not os.path.exists("a.npy"), done


def test_noise():
    """What MPI writes to the standard output, as UCX its log, does not stand before the summary."""
    cli.ok("make", "uniform", "100", "--seed", "1", "-o", "p.npy")
    task = ("fof", "p.npy", "--box", "1", "--json")
    for launcher in LAUNCHERS:
        told = {**os.environ, "KITH_MPI": launcher[1], "KITH_TEST_NOISE": "1"}
        done = launched(launcher, 3, *task, env=told)
        assert done.returncode == 0 and json.loads(done.stdout)["ranks"] == 3, done
        assert done.stderr.count("noise") > 3, done
        done = launched(launcher, 3, *task, env={**os.environ, "UCX_LOG_LEVEL": "info"})
        assert done.returncode == 0 and json.loads(done.stdout)["ranks"] == 3, done


def test_killed():
    """Ranks killed in calls of their transports: the 30 first calls open the contexts and the team,
    the others divide, link, unite and number."""
    if not LAUNCHERS:
        raise needs.Skip("no MPI (apt-get install openmpi-bin libopenmpi-dev mpich libmpich-dev)")
    cli.ok("make", "clustered", "3000", "--seed", "1", "-o", "p.npy")
    task = ("fof", "p.npy", "--box", "1", "-o", "a.csv", "--labels", "a.npy", "-q")
    moments = [(victim, moment) for victim in range(3) for moment in range(0, 400, 7)]
    moments = moments if cli.DEEP else ((1, 3), (2, 40))
    for launcher in LAUNCHERS:
        told = {**os.environ, "KITH_MPI": launcher[1]}
        done = launched(launcher, 3, *task, env=told)
        assert done.returncode == 0, done
        whole = contents("a.csv"), contents("a.npy")
        over = set()  # victims that have no more calls, or died in their last one
        for victim, moment in moments:
            if victim in over:
                continue
            for path in ("a.csv", "a.npy"):
                if os.path.exists(path):
                    os.remove(path)
            kill = {**told, "KITH_TEST_KILL": f"{victim}:{moment}"}
            for _ in range(2):  # once more, if this machine was busy
                start = time.monotonic()
                done = launched(launcher, 3, *task, env=kill)
                seconds = time.monotonic() - start
                if seconds < 10 * cli.SLOW:
                    break
            assert seconds < 10 * cli.SLOW, (launcher, victim, moment, seconds)
            assert done.returncode != 0 or moment > 40, (launcher, victim, moment)
            if os.path.exists("a.csv") or os.path.exists("a.npy"):
                # Rank 0 had the answer: what it wrote is whole, and the rank has no later call.
                assert moment > 40 and contents("a.csv") == whole[0], (victim, moment)
                assert not os.path.exists("a.npy") or contents("a.npy") == whole[1], victim
                over.add(victim)


def test_transport_fails():
    """A call of one rank's transport that fails ends all ranks, which would wait for it; in rank 0
    with one message, while the command's own transport is used."""
    if not LAUNCHERS:
        raise needs.Skip("no MPI (apt-get install openmpi-bin libopenmpi-dev mpich libmpich-dev)")
    cli.ok("make", "clustered", "3000", "--seed", "1", "-o", "p.npy")
    pairs = ("pairs", "p.npy", "--box", "1", "--cutoff", "0.02", "--sorted", "-o", "a.npy", "-q")
    fof = ("fof", "p.npy", "--box", "1", "--labels", "a.npy", "-q")
    told = 0
    for launcher in LAUNCHERS:
        for task, victim, moment in ((pairs, 0, 1), (pairs, 1, 0), (pairs, 2, 4), (fof, 0, 0),
                                     (fof, 1, 2), (fof, 0, 3)):
            fail = {**os.environ, "KITH_MPI": launcher[1], "KITH_TEST_FAIL": f"{victim}:{moment}"}
            done = launched(launcher, 3, *task, env=fail)
            assert done.returncode != 0 and not os.path.exists("a.npy"), (victim, moment, done)
            said = done.stderr.count("kith: ")
            assert said <= 1 and done.stderr.count("a rank was lost") == said, done
            assert said == 1 or victim > 0, (launcher, task, victim, moment, done)
            told += said
    assert told >= len(LAUNCHERS), told


def test_no_memory():
    """Allocations that fail, in all moments of a short run of ranks that are threads."""
    if "LSAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ:
        raise cli.Skip("a sanitizer has allocations of its own")
    cli.ok("make", "uniform", "50", "--seed", "1", "-o", "p.npy")
    task = ("pairs", "p.npy", "--box", "1", "--cutoff", "0.2", "--backend", "cpu,cpu", "--json")
    fault = dict(os.environ, KITH_FAULT_COUNT="count", LD_PRELOAD=os.environ["KITH_FAULT_MODULE"])
    cli.ok(*task, env={**fault, "KITH_FAULT": "own 1000000000 1"})
    with open("count", encoding="ascii") as file:
        moments = int(file.read().split()[0])
    assert moments > 30, moments
    for moment in range(moments):
        done = cli.run(*task, env={**fault, "KITH_FAULT": f"own {moment} 1"})
        assert done.returncode in (0, 8, 10), (moment, done)
        assert done.returncode == 0 or done.stderr.startswith("kith: "), (moment, done)


sys.exit(cli.main(globals()))
