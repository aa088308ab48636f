# SPDX-License-Identifier: BSD-3-Clause
"""kith info: what is in a file."""
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
    assert {"name": "dark", "particles": 50} in found["species"]
    assert "dark" in cli.ok("info", "a.std")


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


def test_name_that_is_not_utf8():
    name = b"caf\xe9.npy"
    cli.write_npy(name, [(0, 0, 0)])
    done = cli.run("info", name.decode(errors="surrogateescape"), "--json")
    assert done.returncode == 0 and '"caf?.npy"' in done.stdout, done


sys.exit(cli.main(globals()))
