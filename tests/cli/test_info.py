# SPDX-License-Identifier: BSD-3-Clause
"""kith info: what is in a file."""
import json
import os
import struct
import sys

import cli


def test_npy():
    cli.write_npy("a.npy", [(0.5, -1, 2), (3, 4, 5.25)])
    found = cli.report("info", "a.npy")
    assert found["verb"] == "info" and found["path"] == "a.npy"
    assert found["particles"] == 2 and found["frames"] == 1 and found["precision"] == "double"
    assert found["box"] is None and found["time"] is None
    assert found["bounds"] == {"finite": 2, "low": [0.5, -1.0, 2.0], "high": [3.0, 4.0, 5.25],
                               "first_not_finite": None}
    text = cli.ok("info", "a.npy")
    assert "y from -1 to 4" in text and "\033" not in text


def test_empty():
    cli.write_npy("a.npy", [])
    found = cli.report("info", "a.npy")
    assert found["particles"] == 0
    assert found["bounds"]["low"] == [None] * 3
    cli.ok("info", "a.npy")


def test_tipsy_species():
    cli.ok("make", "uniform", "50", "-o", "a.std", "-q")
    found = cli.report("info", "a.std")
    assert {"name": "dark", "particles": 50, "mass": None} in found["species"]
    assert "dark" in cli.ok("info", "a.std")


def write_gadget(name, n, redshift=1.0):
    """One of two files of a Gadget snapshot: n particles of dark matter at rest."""
    def record(data):
        return struct.pack("<I", len(data)) + data + struct.pack("<I", len(data))
    header = struct.pack("<6I6d2d2i6I2i4d", 0, n, 0, 0, 0, 0, 0, 0.5, 0, 0, 0, 0, 0.5, redshift, 0,
                         0, 0, 5, 0, 0, 0, 0, 0, 2, 8.0, 0.25, 0.75, 0.5).ljust(256, b"\0")
    with open(name, "wb") as file:
        file.write(record(header) + record(struct.pack(f"<{3 * n}f", *range(3 * n))) +
                   record(bytes(12 * n)) + record(bytes(4 * n)))


def test_snapshot_in_two_files():
    write_gadget("snap.0", 3)
    write_gadget("snap.1", 2)
    found = cli.report("info", "snap.1")
    again = cli.report("info", "snap")
    assert found["bounds"] == again["bounds"] and found["species"] == again["species"]
    assert found["format"] == "Gadget" and found["files"] == 2 and found["particles"] == 5
    assert found["bytes"] == 2 * (264 + 3 * 8) + 5 * 28 == again["bytes"]
    assert found["species"] == [{"name": "PartType1", "particles": 5, "mass": 0.5}]
    assert found["cosmology"] == {"a": 0.5, "redshift": 1.0, "h": 0.5, "omega_m": 0.25,
                                  "omega_lambda": 0.75, "omega_b": 0.0}
    assert found["units"]["length_h"] == -1 and not found["units"]["in_file"]
    assert found["bounds"]["high"] == [6.0, 7.0, 8.0]
    text = cli.ok("info", "snap.0")
    for words in ("2 files", "redshift 1,", "length kpc/h comoving", "each of mass 0.5"):
        assert words in text, text
    found = cli.report("pairs", "snap", "--cutoff", "1", "--species", "dark")
    assert found["input"]["particles"] == 5 and found["input"]["bytes"] == 716, found


def test_snapshot_that_lacks_a_file():
    write_gadget("snap.0", 3)
    done = cli.run("info", "snap.0")
    assert done.returncode == 3 and "snap.1" in done.stderr, done
    write_gadget("snap.1", 2, redshift=9.0)
    done = cli.run("info", "snap.0")
    assert done.returncode == 4 and "redshift 9" in done.stderr, done


def test_xyz_box_and_frames():
    with open("a.xyz", "w", encoding="ascii") as file:
        for frame in range(3):
            file.write('2\nLattice="4 0 0 1 5 0 0 0 6" pbc="T T F"\n')
            file.write(f"Na 0 0 {frame}\nCl 1 1 1\n")
    found = cli.report("info", "a.xyz")
    assert found["frames"] == 3
    assert found["box"]["rows"] == [[4, 0, 0], [1, 5, 0], [0, 0, 6]]
    assert found["box"]["periodic"] == [True, True, False]
    assert cli.report("info", "a.xyz", "--frame", "2")["bounds"]["high"][2] == 2
    assert "periodic xy" in cli.ok("info", "a.xyz")


def test_dump_of_two_frames():
    with open("a.dump", "w", encoding="ascii") as file:
        for frame in range(2):
            file.write(f"ITEM: TIMESTEP\n{frame}\nITEM: NUMBER OF ATOMS\n3\n"
                       "ITEM: BOX BOUNDS pp pp pp\n0 4\n0 5\n0 6\n"
                       "ITEM: ATOMS type x y z fx fy fz\n"
                       f"1 0 0 0 0 0 0\n2 1 0 0 0 0 0\n1 {2 + frame} 0 0 0 0 0\n")
    found = cli.report("info", "a.dump")
    assert (found["format"], found["frames"], found["particles"]) == ("LAMMPS", 2, 3)
    assert [(kind["name"], kind["particles"]) for kind in found["species"]] == [("1", 2), ("2", 1)]
    assert found["box"]["rows"] == [[4, 0, 0], [0, 5, 0], [0, 0, 6]]
    assert [field["name"] for field in found["fields"]] == ["positions", "forces", "type"]
    for frame, pairs in (("0", 2), ("1", 2)):
        assert cli.report("pairs", "a.dump", "-c", "1", "--frame", frame)["pairs"] == pairs
    cli.fails(6, "pairs", "a.dump", "-c", "1", "--frame", "2", says=["has 2 frames"])
    for words in (("pairs", "a.dump", "-c", "1"), ("fof", "a.dump", "--length", "1")):
        note = cli.run(*words).stderr
        assert "note: frame 0 is read, and more follow; --frame K reads another" in note, note
        cli.ok(*words, "--frame", "0")  # without the note: the frame was chosen


def test_columns_of_a_dump():
    """All columns are listed: those of --weights and --radii, too."""
    columns = "id element mass mol type x y z vx vy vz c_pe[1] q"
    with open("a.dump", "w", encoding="ascii") as file:
        file.write("ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n1\nITEM: BOX BOUNDS pp pp pp\n"
                   f"0 4\n0 5\n0 6\nITEM: ATOMS {columns}\n1 C 12.01 1 2 0 0 0 1 1 1 -3.5 0\n")
    fields = {field["name"]: field for field in cli.report("info", "a.dump")["fields"]}
    assert list(fields) == ["positions", "velocities", "ids", "molecules", "element", "mass",
                            "type", "c_pe[1]", "q"], list(fields)
    assert [fields[name]["type"] for name in ("element", "mass", "type")] == [
        "text", "double", "integer"]
    assert all(fields[name]["shape"] == "(1,)" for name in ("element", "mass", "q"))
    text = cli.ok("info", "a.dump")
    assert "mass " in text and "c_pe[1] " in text


def test_options_that_do_not_fit():
    """What the file has is listed, and the option that does not fit it is an error."""
    with open("a.xyz", "w", encoding="ascii") as file:
        file.write("1\n\nC 1 2 3\n" * 2)
    for option, value, says in (("--dataset", "x", "a choice of dataset means nothing"),
                                ("--columns", "0,1,2", "a choice of columns means nothing"),
                                ("--species", "O", "no particles of species 'O'"),
                                ("--frame", 2, "has 2 frames")):
        done = cli.fails(6, "info", "a.xyz", option, value, says=[says])
        assert "format      XYZ" in done.stdout and "bounds      not read" in done.stdout
        done = cli.fails(6, "info", "a.xyz", option, value, "--json", says=[says])
        assert json.loads(done.stdout)["bounds"] is None


def test_trajectory_without_chemfiles():
    with open("a.xtc", "wb") as file:
        file.write(b"\0\0\x07\xcb" + bytes(96))
    environment = {**os.environ, "KITH_CHEMFILES": "/nowhere"}
    cli.fails(10, "info", "a.xtc", env=environment, says=["a.xtc", "pip install chemfiles"])


def test_unit_of_lengths():
    def check(path, unit):
        assert cli.report("info", path)["unit"] == unit, path
        line = f"  unit        lengths in {unit}\n"
        assert (line in cli.ok("info", path)) == bool(unit) and unit != "", path

    for system, unit in (("real", "A"), ("lj", "sigma"), (None, None)):
        with open("a.dump", "w", encoding="ascii") as file:
            file.write(f"ITEM: UNITS\n{system}\n" if system else "")
            file.write("ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n1\nITEM: BOX BOUNDS pp pp pp\n"
                       + "0 4\n" * 3 + "ITEM: ATOMS id type x y z\n1 1 1 2 3\n")
        check("a.dump", unit)
    cli.ok("make", "uniform", "5", "-o", "a.xyz", "-q")
    check("a.xyz", None)
    h5py, numpy, _ = cli.snapshot_modules()
    for k, (said, unit) in enumerate((("nm", "nm"), ("Angstrom", "A"), (None, None))):
        with h5py.File(f"{k}.h5", "w") as file:
            file["particles/all/position/value"] = numpy.ones((1, 4, 3))
            if said:
                file["particles/all/position/value"].attrs["unit"] = said
        check(f"{k}.h5", unit)


def test_name_that_is_not_utf8():
    name = b"caf\xe9.npy"
    cli.write_npy(name, [(0, 0, 0)])
    done = cli.run("info", name.decode(errors="surrogateescape"), "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["path"] == "caf\\xe9.npy", done


sys.exit(cli.main(globals()))
