# SPDX-License-Identifier: BSD-3-Clause
"""Species in kith rdf and kith debye: their order, and elements by --by element."""
import gzip
import json
import random
import sys

import cli
from rdf_frames import close, columns, write_xyz


def test_names_of_types():
    """Types of snapshots have the names that --species and --link take, in every list."""
    h5py, numpy, _ = cli.snapshot_modules()
    rng = numpy.random.default_rng(4)
    counts = [40, 60, 0, 0, 30, 20]
    with h5py.File("s.hdf5", "w") as file:
        head = file.create_group("Header")
        head.attrs["NumPart_ThisFile"] = head.attrs["NumPart_Total"] = counts
        head.attrs["MassTable"] = [1.0] * 6
        head.attrs["BoxSize"], head.attrs["Time"], head.attrs["Redshift"] = 10.0, 1.0, 0.0
        head.attrs["NumFilesPerSnapshot"] = 1
        for kind, n in enumerate(counts):
            if n:
                file[f"PartType{kind}/Coordinates"] = rng.random((n, 3)) * 10

    def pairs(first, second):
        return cli.report("rdf", "s.hdf5", "--select", first, "--with", second, "--r-max", "3",
                          "--bins", "4", "-o", "a.json")["pairs"]

    expected = pairs("star", "dark,bh")
    assert expected > 100
    for first, second in (("stars", "dm, bh"), ("4", "5,1"), ("PartType4", "halo,PartType5")):
        assert pairs(first, second) == expected, (first, second)
        assert pairs(second, first) == expected, (first, second)
    listed = cli.listed("s.hdf5", "--cutoff", "star-dark=1.5")
    assert len(listed) > 20
    for cutoff in ("stars-dm=1.5", "1-4=1.5", "PartType1-STAR=1.5"):
        assert cli.listed("s.hdf5", "--cutoff", cutoff) == listed, cutoff
    order = cli.report("rdf", "s.hdf5", "--select", "stars,dm", "--partials", "--r-max", "3")
    assert list(order["species"]) == ["star", "dark"], order["species"]
    for words in (("rdf", "s.hdf5", "--select", "starz"), ("rdf", "s.hdf5", "--select", "2"),
                  ("pairs", "s.hdf5", "--cutoff", "stars-quark=1")):
        cli.fails(6, *words, says=["there are: gas, dark, star, bh"])


def test_order():
    """Columns are ordered by number or name, or as the user lists them, not by appearance."""
    def order(path, *arguments):
        columns_of = {}
        for name in ("a.json", "a.txt", "a.npy", "a.rdf", "a.xvg"):
            cli.ok("rdf", path, "--partials", "--r-max", "1.9", "-o", name, "-q", "--sq", "s.txt",
                   "--bins", "20", *arguments)
            with open(name, "rb") as file:
                data = file.read()
            if name in ("a.txt", "a.npy"):
                lines = [line for line in data.split(b"\n") if line[:1] != b"#"]
                data = b"\n".join(lines)
            columns_of[name] = data
        report = cli.report("rdf", path, "--partials", "--r-max", "1.9", *arguments)
        with open("s.txt", encoding="ascii") as file:
            columns_of["s"] = [line for line in file if line[0] != "#"]
        names = [curve["name"] for curve in report["curves"][1:]]
        return list(report["species"]), names, columns_of

    rng = random.Random(8)
    points = [[rng.random() * 4 for _ in range(3)] for _ in range(30)]
    for first in (0, 17):  # other types come first
        turned = [(p + first) % 30 for p in range(30)]
        with open(f"{first}.dump", "w", encoding="ascii") as file:
            file.write("ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n30\nITEM: BOX BOUNDS pp pp pp\n"
                       + "0 4\n" * 3 + "ITEM: ATOMS id type x y z\n")
            for p in turned:
                kind = (10, 9, 2)[p % 3]
                file.write(f"{p} {kind} " + " ".join(map(repr, points[p])) + "\n")
        write_xyz(f"{first}.xyz", [([("O", "Na", "H")[p % 3] for p in turned],
                                    [points[p] for p in turned], 4.0)])
    for ending, kinds in (("dump", ["2", "9", "10"]), ("xyz", ["H", "Na", "O"])):
        one, other = order(f"0.{ending}"), order(f"17.{ending}")
        assert one[0] == other[0] == kinds, (one[0], other[0])
        assert one[1] == [f"{a}-{b}" for k, a in enumerate(kinds) for b in kinds[k:]], one[1]
        for name in ("a.npy",):
            assert one[2][name] == other[2][name], name
        for name in ("a.txt", "a.rdf", "a.xvg", "s"):
            a, b = ([[float(x) for x in line.split() if x != "nan"] for line in
                     (text if name == "s" else text.decode().splitlines())
                     if line and line[0] not in "#@"] for text in (one[2][name], other[2][name]))
            assert all(close(x, y, 1e-7) for x, y in zip(a, b)) and len(a) == len(b), name
    assert order("0.xyz", "--select", "O,H")[0] == ["O", "H"]
    assert order("0.xyz", "--select", "O, H")[0] == ["O", "H"]
    assert order("17.xyz", "--select", "Na,O", "--with", "H, O")[0] == ["Na", "O", "H"]


def test_names_that_are_not_utf8():
    """JSON keeps each species: a byte that is not UTF-8 becomes \\xff."""
    rng = random.Random(3)
    names = [b"\xff\xfe", b"O", b"\xe4", "\u00e4".encode()]
    with open("a.xyz", "wb") as file:
        file.write(b"60\nLattice=\"10 0 0 0 10 0 0 0 10\"\n")
        for k in range(60):
            at = " ".join(str(10 * rng.random()) for _ in range(3))
            file.write(names[k % 4] + b" " + at.encode() + b"\n")
    told = cli.report("rdf", "a.xyz", "--partials", "-o", "a.json")
    shown = {"\\xff\\xfe", "O", "\\xe4", "\u00e4"}
    assert told["species"] == dict.fromkeys(shown, 15), told["species"]
    pairs = {curve["name"] for curve in told["curves"][1:]}
    assert len(pairs) == 10 and all(set(pair.split("-")) <= shown for pair in pairs), pairs
    with open("a.json", encoding="utf-8") as file:
        written = set(json.load(file)["columns"])
    assert {f"g_{pair}" for pair in pairs} <= written, written


# Residue, atom, element: water of four sites, an amino acid, ions of two force fields, a ligand.
ATOMS = [("SOL", "OW", "O"), ("SOL", "HW1", "H"), ("SOL", "HW2", "H"), ("SOL", "MW", "virtual"),
         ("TP4", "OH2", "O"), ("TP4", "H1", "H"), ("TP4", "H2", "H"), ("TP4", "M", "virtual"),
         ("LYS", "N", "N"), ("LYS", "CA", "C"), ("LYS", "CD", "C"), ("LYS", "CE", "C"),
         ("LYS", "NZ", "N"), ("LYS", "HB1", "H"), ("LYS", "1HE", "H"), ("LYS", "OXT", "O"),
         ("MET", "SD", "S"), ("MET", "HG2", "H"), ("CA", "CA", "Ca"), ("NA", "NA", "Na"),
         ("CL", "CL", "Cl"), ("SOD", "SOD", "Na"), ("CLA", "CLA", "Cl"), ("K+", "K+", "K"),
         ("LIG", "CL1", "Cl"), ("LIG", "C1", "C"), ("LIG", "Br2", "Br"), ("LIG", "EP1", "virtual"),
         ("HEM", "FE", "Fe"), ("HEM", "NA", "N"), ("HEM", "CHA", "C"), ("ZN", "ZN", "Zn")]


def need_chemfiles():
    write_gro("try.gro", ATOMS[:1])
    if cli.run("info", "try.gro").returncode == 10:
        raise cli.Skip("no chemfiles: .ci/peers installs it")


def places(n):
    rng = random.Random(6)
    return [[rng.randrange(2000) / 1000 for _ in range(3)] for _ in range(n)]


def write_gro(path, atoms):
    with open(path, "w", encoding="ascii") as file:
        file.write(f"any\n{len(atoms):5d}\n")
        residue, last = 0, None
        for p, ((of, name, *_), place) in enumerate(zip(atoms, places(len(atoms)))):
            residue += of != last
            last = of
            file.write(f"{residue:5d}{of:<5s}{name:>5s}{p + 1:5d}" +
                       "".join(f"{x:8.3f}" for x in place) + "\n")
        file.write("   2.00000   2.00000   2.00000\n")


def write_pdb(path, atoms):
    """Atoms of (residue, name in columns 13-16, text of columns 77-78)."""
    with open(path, "w", encoding="ascii") as file:
        file.write("CRYST1   20.000   20.000   20.000  90.00  90.00  90.00 P 1           1\n")
        residue, last = 0, None
        for p, ((of, name, symbol), place) in enumerate(zip(atoms, places(len(atoms)))):
            residue += of != last
            last = of
            file.write(f"ATOM  {p + 1:5d} {name:4s} {of:>3s} A{residue:4d}    " +
                       "".join(f"{10 * x:8.3f}" for x in place) + "  1.00  0.00" +
                       (f"          {symbol:>2s}" if symbol else "") + "\n")
        file.write("END\n")


def species(*arguments):
    """Species of a report, and what is said on stderr."""
    done = cli.run("rdf", *arguments, "--partials", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["species"], done.stderr


def numbers(elements):
    return {name: elements.count(name) for name in sorted(set(elements))}


def test_elements_of_gro():
    need_chemfiles()
    write_gro("a.gro", ATOMS)
    found, said = species("a.gro", "--by", "element")
    assert found == numbers([atom[2] for atom in ATOMS]), found
    assert "warning" in said and "OW=O" in said and "CA=C," in said and "CA=Ca" in said, said
    assert species("a.gro", "--by", "name")[1] == ""
    assert "OW" in species("a.gro", "--by", "name")[0]
    # Each atom has its own element, and its mass.
    for k, (_, name, element) in enumerate(ATOMS):
        write_gro("b.gro", ATOMS[:k + 1])
        assert element in species("b.gro", "--by", "element")[0], (name, element)
    write_gro("c.gro", [("SOL", "OW"), ("SOL", "HW1"), ("CA", "CA"), ("ALA", "CA"), ("ALA", "C")])
    done = cli.run("rdf", "c.gro", "--weights", "mass", "--minimum-image", "--bins", "1", "-o",
                   "a.json", "-q")
    masses = [15.999, 1.008, 40.078, 12.011, 12.011]
    pairs = [a * b for k, a in enumerate(masses) for b in masses[:k]]
    found = columns("a.json")
    assert done.returncode == 0 and "CA=Ca" in done.stderr
    assert found["count"] == [10] and abs(found["ww"][0] - sum(pairs) / 10) < 0.01, found["ww"]
    # Masses that are not known are no zeros.
    write_xyz("e.xyz", [(["O", "QQ"], [[1, 1, 1], [2, 1, 1]], 4.0)])
    with open("e.xyz", "rb") as source, gzip.open("e.xyz.gz", "wb") as file:
        file.write(source.read())
    cli.fails(4, "rdf", "e.xyz.gz", "--box", "4", "--weights", "mass", says=["mass", "'QQ'"])
    # Names from which no element follows are listed.
    write_gro("d.gro", [("SOL", "OW"), ("W", "W"), ("BB", "BB"), ("X", "Q1")])
    cli.fails(6, "rdf", "d.gro", "--by", "element", says=["d.gro", "BB", "Q1", "--by name"])


def test_elements_of_pdb():
    need_chemfiles()
    atoms = [("HOH", " OW ", "O"), ("HOH", " HW1", "H"), ("ALA", " CA ", "C"),
             (" CA", "CA  ", "CA"), ("LIG", "HG  ", "HG"), ("LIG", "HG21", "H"),
             ("LIG", "1HB ", "H"), ("LIG", "CD  ", "CD"), ("LIG", " CD ", "C"), ("HOH", " MW ", "")]
    elements = numbers(["O", "H", "C", "Ca", "Hg", "H", "H", "Cd", "C", "virtual"])
    write_pdb("a.pdb", [(of, name, "") for of, name, _ in atoms])
    found, said = species("a.pdb", "--by", "element")
    assert found == elements and "warning" in said and "HG=Hg" in said, (found, said)
    write_pdb("b.pdb", atoms[:-1])
    found, said = species("b.pdb", "--by", "element")
    del elements["virtual"]
    assert found == elements and said == "", (found, said)
    write_pdb("c.pdb", [("ALA", "CA  ", ""), ("HOH", "OW  ", "")])  # not where they should be
    assert species("c.pdb", "--by", "element")[0] == {"C": 1, "O": 1}


def test_elements_of_others():
    frames = [(["O", "Fe3+", "D"], [[1, 1, 1], [2, 1, 1], [1, 2, 1]], 4.0)]
    write_xyz("a.xyz", frames)
    assert set(species("a.xyz", "--by", "element")[0]) == {"D", "Fe3+", "O"}
    write_xyz("b.xyz", [(["OW", "HW", "O"], *frames[0][1:])])
    cli.fails(6, "rdf", "b.xyz", "--by", "element", says=["b.xyz", "HW", "OW", "no elements"])
    cli.ok("rdf", "b.xyz", "--by", "name", "-q")


def test_scattering():
    """Virtual sites do not scatter."""
    need_chemfiles()
    water = [("SOL", "OW"), ("SOL", "HW1"), ("SOL", "HW2"), ("SOL", "MW")]
    write_gro("a.gro", water)
    write_xyz("a.xyz", [(["O", "H", "H"], [[10 * x for x in place] for place in places(3)], 20.0)])
    few = ("--q-max", "5", "--q-width", "1", "-q", "-o")
    for name, by in (("a.gro", ["--by", "element"]), ("a.xyz", [])):
        done = cli.run("debye", name, *by, *few, name + ".json")
        assert done.returncode == 0, done.stderr
    assert close(columns("a.gro.json")["I"], columns("a.xyz.json")["I"], 1e-5)
    cli.fails(6, "debye", "a.gro", says=["'HW1'", "--by element"])


sys.exit(cli.main(globals()))
