# SPDX-License-Identifier: BSD-3-Clause
"""Units of lengths in kith rdf and kith debye: what the file says, or its format, else none."""
import gzip
import os
import shutil
import sys

import cli
from rdf_frames import columns, write_xyz

DUMP = ("ITEM: TIMESTEP\n{0}\nITEM: NUMBER OF ATOMS\n3\n"
        "ITEM: BOX BOUNDS pp pp pp\n0 10\n0 10\n0 10\n"
        "ITEM: ATOMS id element x y z\n1 O 1 1 1\n2 H 2 1 1\n3 H 1 2 1\n")
GRO = ("water\n    3\n    1SOL     OW    1   0.100   0.200   0.300\n"
       "    1SOL    HW1    2   0.200   0.200   0.300\n"
       "    1SOL    HW2    3   0.100   0.300   0.300\n"
       "   1.00000   1.00000   1.00000\n")
SYSTEMS = {"": "", "lj": "sigma", "real": "A", "metal": "A", "nano": "nm", "si": "m", "odd": ""}


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def pack(path):
    with open(path, "rb") as source, gzip.open(path + ".gz", "wb") as file:
        shutil.copyfileobj(source, file)
    return path + ".gz"


def unit(path, *arguments):
    return cli.report("rdf", path, *arguments)["unit"]


def need_chemfiles():
    write("try.gro", GRO)
    if cli.run("info", "try.gro").returncode == 10:
        raise cli.Skip("no chemfiles: .ci/peers installs it")


def test_dumps():
    for system, expected in SYSTEMS.items():
        head = f"ITEM: UNITS\n{system}\n" if system else ""
        write(f"a{system}.lammpstrj", head + DUMP.format(0) + DUMP.format(1))
        for how in ((), ("--frames", "1"), ("--frames", "-1")):
            assert unit(f"a{system}.lammpstrj", *how) == expected, (system, how)
    assert "r [sigma]" in cli.ok("rdf", "alj.lammpstrj", "-o", "-")
    assert "# r g(r)" in cli.ok("rdf", "a.lammpstrj", "-o", "-")
    # Only what is known can be contradicted; a name that is no length is the user's.
    cli.fails(6, "rdf", "areal.lammpstrj", "--unit", "nm", says=["--unit", "in A"])
    cli.fails(6, "rdf", "alj.lammpstrj", "--unit", "A", says=["--unit", "in sigma"])
    assert unit("areal.lammpstrj", "--unit", "d") == "d"
    assert unit("a.lammpstrj", "--unit", "nm") == "nm"
    write("b.lammpstrj", "ITEM: UNITS\nreal\n" + DUMP.format(0) + "ITEM: UNITS\nnano\n" +
          DUMP.format(1))
    cli.fails(4, "rdf", "b.lammpstrj", says=["frame 1", "in nm", "in A"])


def test_packed():
    need_chemfiles()
    for system, expected in SYSTEMS.items():
        head = f"ITEM: UNITS\n{system}\n" if system else ""
        write(f"a{system}.lammpstrj", head + DUMP.format(0) + DUMP.format(1))
        for how in ((), ("--frames", "1")):
            found = unit(pack(f"a{system}.lammpstrj"), *how)
            assert found == expected, (system, how, found)
    write_xyz("a.xyz", [(["O", "H"], [[1, 1, 1], [2, 2, 2]], 4.0)])
    assert unit("a.xyz") == "" == unit(pack("a.xyz"), "--box", "4")
    write("a.gro", GRO)
    assert unit("a.gro") == "A" == unit(pack("a.gro"))
    cli.fails(6, "rdf", "a.gro", "--unit", "nm", says=["in A", "--unit"])
    data = os.path.join(os.environ["KITH_TEST_DATA"], "md", "chemfiles")
    for name, expected in (("water.dcd", "A"), ("water.nc", "A"), ("water.trr", "A"),
                           ("polymer.lammpstrj.gz", ""), ("water.9.xyz.bz2", "")):
        path = os.path.join(data, name)
        if os.path.exists(path):
            box = ("--box", "15") if "xyz" in name else ()
            assert unit(path, "--frames", "0", "--r-max", "3", *box) == expected, name


def write_h5md(path, unit_of, group="particles/system", scale=1.0):
    h5py, numpy, _ = cli.snapshot_modules()
    points = numpy.array([[[1, 1, 1], [2, 1, 1], [1, 2, 1]]] * 2) * scale
    with h5py.File(path, "w") as file:
        file.create_group("h5md").attrs["version"] = [1, 1]
        position = file.create_dataset(f"{group}/position/value", data=points)
        file[f"{group}/position/step"] = [0, 1]
        edges = file.create_dataset(f"{group}/box/edges/value",
                                    data=numpy.array([[10.0 * scale] * 3] * 2))
        file[f"{group}/box"].attrs["dimension"] = 3
        file[f"{group}/box"].attrs["boundary"] = ["periodic"] * 3
        for name, value in unit_of.items():
            {"position": position, "group": file[f"{group}/position"],
             "edges": edges}[name].attrs["unit"] = value


def test_h5md():
    h5py, numpy, _ = cli.snapshot_modules()
    for unit_of, expected in (({}, ""), ({"position": "nm", "edges": "nm"}, "nm"),
                              ({"position": numpy.bytes_("Angstrom")}, "A"),
                              ({"group": "nm"}, "nm"), ({"edges": "angstrom"}, "A"),
                              ({"position": "\u00c5"}, "A"), ({"position": "sigma"}, "sigma")):
        write_h5md("a.h5", unit_of)
        assert unit("a.h5") == expected, (unit_of, unit("a.h5"))
    write_h5md("a.h5", {"position": "nm", "edges": "Angstrom"})
    cli.fails(4, "rdf", "a.h5", says=["in nm", "box/edges", "in A"])
    with h5py.File("s.hdf5", "w") as file:  # a snapshot that says its unit
        head = file.create_group("Header")
        head.attrs["NumPart_ThisFile"] = head.attrs["NumPart_Total"] = [0, 3, 0, 0, 0, 0]
        head.attrs["MassTable"] = [0, 1.0, 0, 0, 0, 0]
        head.attrs["BoxSize"], head.attrs["Time"], head.attrs["Redshift"] = 10.0, 1.0, 0.0
        head.attrs["NumFilesPerSnapshot"] = 1
        parameters = file.create_group("Parameters")
        parameters.attrs["UnitLength_in_cm"] = 3.085678e21
        parameters.attrs["UnitMass_in_g"] = 1.989e43
        parameters.attrs["UnitVelocity_in_cm_per_s"] = 1e5
        for name, value in (("HubbleParam", 0.7), ("Omega0", 0.3), ("OmegaLambda", 0.7)):
            parameters.attrs[name] = value
        file["PartType1/Coordinates"] = numpy.array([[1.0, 1, 1], [2, 1, 1], [1, 2, 1]])
    assert unit("s.hdf5") == "kpc/h"


def test_debye():
    """q is in 1/A whatever the lengths are in."""
    few = ("--radiation", "neutron", "--q-max", "3", "--q-width", "1", "--r-max")
    write("A.lammpstrj", "ITEM: UNITS\nreal\n" + DUMP.format(0))
    text = DUMP.format(0).replace("0 10", "0 1").replace("x y z", "xs ys zs")
    text = "".join(line if line.count(" ") != 4 or line[0] == "I" else
                   " ".join(line.split()[:2] + [str(float(x) / 10) for x in line.split()[2:]]) +
                   "\n"
                   for line in text.splitlines(True))
    write("nm.lammpstrj", "ITEM: UNITS\nnano\n" + text)
    cli.ok("debye", "A.lammpstrj", "-o", "a.json", "-q", *few, "4")
    cli.ok("debye", "nm.lammpstrj", "-o", "b.json", "-q", *few, "0.4")
    one, other = columns("a.json"), columns("b.json")
    assert all(abs(a - b) < 1e-6 for a, b in zip(one["S"], other["S"])), (one["S"], other["S"])
    assert "nm, as the file says" in cli.ok("debye", "nm.lammpstrj", *few, "0.4")
    cli.fails(6, "debye", "nm.lammpstrj", "--unit", "A", says=["in nm", "--unit"])
    write("lj.lammpstrj", "ITEM: UNITS\nlj\n" + DUMP.format(0))
    cli.fails(6, "debye", "lj.lammpstrj", says=["in sigma", "1/A", "--unit"])
    write("none.lammpstrj", DUMP.format(0))
    assert "taken as A; the file does not say" in cli.ok("debye", "none.lammpstrj", *few, "4")
    assert "taken as nm\n" in cli.ok("debye", "none.lammpstrj", "--unit", "nm", *few, "4")


sys.exit(cli.main(globals()))
