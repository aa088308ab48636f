# SPDX-License-Identifier: BSD-3-Clause
"""kith debye: clusters with known intensities, both ways of summing, DebyeCalculator's files,
boxes, every bad input."""
import csv
import json
import math
import os
import random
import sys

import cli
import needs
from rdf_frames import close, columns

DATA = os.path.join(os.environ["KITH_TEST_DATA"], "md", "debyecalc")


def write(path, atoms, box=None):
    with open(path, "w", encoding="ascii") as file:
        lattice = f'Lattice="{box} 0 0 0 {box} 0 0 0 {box}" ' if box else ""
        file.write(f"{len(atoms)}\n{lattice}{'Properties=species:S:1:pos:R:3' if box else ''}\n")
        for name, *place in atoms:
            file.write(f"{name} {place[0]!r} {place[1]!r} {place[2]!r}\n")


def oxygen(q):
    """Waasmaier & Kirfel's form factor."""
    s = (q / (4 * math.pi))**2
    a = (2.960427, 2.508818, 0.637853, 0.722838, 1.142756)
    b = (14.182259, 5.936858, 0.112726, 34.958481, 0.390240)
    return 0.027014 + sum(x * math.exp(-y * s) for x, y in zip(a, b))


def test_known_clusters():
    length = 5.8037  # of oxygen [fm]
    cube = [("O", float(x), float(y), float(z)) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    for atoms, expected in (([("O", 0, 0, 0), ("O", 0, 0, 1)], 3.68294197), (cube, 49.5171284)):
        write("a.xyz", atoms)
        for how, tolerance in ((["--exact"], 1e-8), ([], 1e-4)):
            arguments = ("debye", "a.xyz", "--q-min", "0", "--q-max", "2", "--q-width", "1", "-q",
                         "-o", "a.json", *how)
            cli.ok(*arguments, "--radiation", "neutron")
            found = columns("a.json")
            assert found["q"] == [0, 1]
            values = [i / length**2 for i in found["I"]]
            assert close(values, [len(atoms)**2, expected], tolerance), values
            cli.ok(*arguments)
            found = columns("a.json")
            assert close(found["I"], [v * oxygen(q)**2 for q, v in enumerate(values)], tolerance)
            assert close(found["S"], [v / len(atoms) for v in values], tolerance)
            assert close(found["F"], [0, values[1] / len(atoms) - 1], tolerance)


def test_two_ways():
    rng = random.Random(4)
    atoms = [(rng.choice(("Cu", "O2-", "Zr")), *(rng.uniform(0, 9) for _ in range(3)))
             for _ in range(150)]
    write("a.xyz", atoms)
    few = ("--q-max", "12", "--q-width", "0.1")
    for more in (["--b-iso", "0.4"], ["--precision", "float", "--threads", "1"]):
        cli.ok("debye", "a.xyz", "-o", "a.json", "--gr", "b.json", "-q", *few, *more)
        cli.ok("debye", "a.xyz", "-o", "c.json", "--gr", "d.json", "--exact", "-q", *few, *more)
        one, other = columns("a.json"), columns("c.json")
        assert max(abs(x - y) for x, y in zip(one["I"], other["I"])) < 1e-4 * max(one["I"])
        assert max(abs(x - y) for x, y in zip(one["S"], other["S"])) < 1e-3
        assert len(one["q"]) == 110 and one["q"][1] == 1.1
    one, other = columns("b.json"), columns("d.json")
    assert max(abs(x - y) for x, y in zip(one["G"], other["G"])) < 2e-2
    assert len(one["r"]) == 2000 and one["G"][0] == 0
    # Nanometres are ten times as long; windows and damping are those asked for.
    write("n.xyz", [(name, *(x / 10 for x in place)) for name, *place in atoms])
    cli.ok("debye", "n.xyz", "--unit", "nm", "--exact", "-o", "n.json", "-q", *few)
    assert close(columns("n.json")["I"], columns("c.json")["I"], 1e-5)
    cli.ok("debye", "a.xyz", "--exact", "--gr", "w.json", "--gr-window", "lorch", "--q-damp", "0.1",
           "--gr-max", "5", "--gr-width", "0.5", "-o", "i.json", "-q", *few)
    i, g = columns("i.json"), columns("w.json")
    for r, value in zip(g["r"], g["G"]):
        known = sum(f * math.sin(q * r) * math.sin(math.pi * q / 12) / (math.pi * q / 12)
                    for q, f in zip(i["q"], i["F"]))
        assert abs(value - 0.1 * 2 / math.pi * known * math.exp(-r * r / 200)) < 1e-9


def test_boxes():
    # A gas in a box scatters as its atoms do.
    rng = random.Random(9)
    atoms = [(rng.choice(("O", "H")), *(rng.uniform(0, 12) for _ in range(3))) for _ in range(2500)]
    write("a.xyz", atoms, 12)
    report = cli.report("debye", "a.xyz", "--radiation", "neutron", "--q-min", "4", "-o", "a.json")
    found = columns("a.json")
    assert not report["open"] and report["elements"].keys() == {"O", "H"}
    oxygens = report["elements"]["O"]
    self = oxygens * 5.8037**2 + (2500 - oxygens) * 3.7409**2
    mean = sum(found["I"]) / len(found["I"])
    assert abs(mean / self - 1) < 0.05, (mean, self)
    cli.fails(6, "debye", "a.xyz", "--exact", says=["--exact", "box"])
    cli.fails(6, "debye", "a.xyz", "--r-max", "7", says=["half the box"])
    cli.fails(6, "debye", "a.xyz", "--periodic", "xy", says=["nor open"])
    assert cli.report("debye", "a.xyz", "--periodic", "none", "--q-max", "5")["open"]


def test_range():
    """No pair beyond r_max counts, whatever the bins; and r_max is that of all frames."""
    write("near.xyz", [("O", 1, 1, 1), ("O", 4.95, 1, 1)], 10)
    write("far.xyz", [("O", 1, 1, 1), ("O", 5.05, 1, 1)], 10)
    arguments = ("--r-max", "4", "--radiation", "neutron", "--q-min", "0.5", "--q-max", "3",
                 "--q-width", "0.5", "-q", "--window", "none", "-o", "a.json")

    def curve(path, *width):
        cli.ok("debye", path, *arguments, *width)
        return columns("a.json")["S"]

    def box(q, pair):
        """S of a uniform density of pairs cut out up to 4, and the pair."""
        cut = 4 * math.pi * (math.sin(4 * q) - 4 * q * math.cos(4 * q)) / q**3 / 1000
        return 1 + (math.sin(q * pair) / (q * pair) if pair else 0) - cut

    for width in ((), ("--r-width", "0.1"), ("--r-width", "0.3"), ("--r-width", "3")):
        for k, s in enumerate(curve("far.xyz", *width)):
            assert abs(s - box(0.5 + 0.5 * k, 0)) < 1e-5, (width, k, s)
    for k, s in enumerate(curve("near.xyz", "--r-width", "0.0003")):
        assert abs(s - box(0.5 + 0.5 * k, 3.95)) < 1e-3, (k, s)
    rng = random.Random(3)
    gas = [("O", *(rng.uniform(0, 1) for _ in range(3))) for _ in range(200)]
    for space in (True, False):
        both = []
        for tail, sides in (("a", (9.0, 11.5)), ("b", (11.5, 9.0))):
            text = ""
            for side in sides:
                write("one.xyz", [(name, *(side * x for x in place)) for name, *place in gas],
                      side if space else None)
                with open("one.xyz", encoding="ascii") as file:
                    text += file.read()
            with open(f"{tail}.xyz", "w", encoding="ascii") as file:
                file.write(text)
            for width in ((), ("--r-width", "0.01")):
                cli.ok("debye", f"{tail}.xyz", "--q-max", "9", "-o", "a.json", "-q", *width)
                both.append(columns("a.json")["S"])
        assert close(both[0], both[2], 1e-11) and close(both[1], both[3], 1e-11), space


def test_far_and_near_atoms():
    """Finite coordinates are never called "not finite"; distances that overflow are refused."""
    two = 2 * oxygen(1)**2
    for a, b, expected in ((1e308, 0, 2), (0, 1e-9, 2), (0, 1e-210, 2), (0, 1e100, 1)):
        write("a.xyz", [("O", a, a, 0), ("O", a, a, b)])
        for how in ([], ["--exact"]):
            cli.ok("debye", "a.xyz", "-q", "-o", "a.json", "--q-min", "1", "--q-max", "2",
                   "--q-width", "1", *how)
            assert close(columns("a.json")["I"], [expected * two], 1e-4), (a, b, how)
    for b in (1e160, 1.7e308):
        write("a.xyz", [("O", -b, 0, 0), ("O", b, 0, 0)])
        for how in ([], ["--exact"]):
            cli.fails(7, "debye", "a.xyz", "-o", "b.txt", *how, says=["a.xyz", "too far apart"])
    write("a.xyz", [("O", 0, 0, 0), ("O", 0, 0, math.inf)])
    for how in ([], ["--exact"]):
        cli.fails(5, "debye", "a.xyz", *how, says=["a.xyz", "particle 1 ", "not finite"])


def test_bad_input():
    write("a.xyz", [("O", 0, 0, 0), ("OW", 0, 0, 1)])
    cli.fails(6, "debye", "a.xyz", says=["a.xyz", "form factor", "'OW'", "--elements OW=Fe"])
    cli.ok("debye", "a.xyz", "--elements", "OW=O", "-q")
    cli.ok("debye", "a.xyz", "--elements", " O = O1- ,\tOW=O", "-q")
    cli.fails(6, "debye", "a.xyz", "--elements", "OW=O,Ow=O", says=["no particle is 'Ow'", "OW"])
    for wrong in ("", "O", "OW=O,H", "OW=O,,O=O", "OW="):
        cli.fails(2, "debye", "a.xyz", "--elements", wrong, says=["--elements", "1=O,2=H"])
    cli.write_npy("a.npy", [(0, 0, 0), (0, 0, 1)])
    cli.fails(6, "debye", "a.npy", says=["a.npy", "have no names", "--elements =O"])
    cli.ok("debye", "a.npy", "--elements", "=O", "-q")
    cli.fails(6, "debye", "a.xyz", "--elements", "OW=O", "--elements", "OW=X", says=["'X'"])
    cli.fails(6, "debye", "a.xyz", "--elements", "OW=O2-", "--radiation", "neutron",
              says=["neutron scattering length", "'O2-'"])
    write("a.xyz", [("O", 0, 0, 0), ("O", 0, 0, math.nan)])
    cli.fails(5, "debye", "a.xyz", says=["a.xyz", "particle 1 ", "not finite"])
    cli.write_npy_array("flat.npy", (2, 2), [0] * 4)
    cli.fails(6, "debye", "flat.npy", says=["2-D", "three dimensions"])
    write("a.xyz", [("O", 0, 0, 0)])
    assert cli.report("debye", "a.xyz", "--exact")["highest"]["S"] == 1
    cli.fails(2, "debye", says=["INPUT"])
    cli.fails(2, "debye", "a.xyz", "--radiation", "light", says=["xray or neutron"])
    cli.fails(2, "debye", "a.xyz", "--q-max", "0.5", says=["--q-max"])
    cli.fails(2, "debye", "a.xyz", "--q-width", "1e-9", says=["2^20"])
    cli.fails(2, "debye", "a.xyz", "--exact", "--r-width", "1", says=["--r-width"])
    cli.fails(2, "debye", "a.xyz", "--exact", "--r-max", "1", says=["--r-max"])
    cli.fails(6, "debye", "a.xyz", "--r-max", "1", says=["--r-max", "cluster"])
    cli.fails(6, "debye", "a.xyz", "--window", "none", says=["--window", "cluster"])
    cli.fails(2, "debye", "a.xyz", "--window", "hann", says=["lorch or none"])
    cli.fails(6, "debye", "a.xyz", "--b-iso", "-1", says=["--b-iso"])
    cli.fails(9, "debye", "a.xyz", "-o", "nowhere/a.txt", says=["nowhere/a.txt"])
    cli.fails(3, "debye", "nowhere.xyz", says=["nowhere.xyz"])


def test_debye_calculator():
    """Its files hold half of S - 1, F and G: sums over i < j, not over both."""
    needs.data(DATA)
    if "KITH_TEST_BRIEF" in os.environ:
        raise cli.Skip("this build repeats a part of the tests")
    metal = "AntiFluorite_Co2O_radius10.0"
    rutile = "icsd_001504_cc_r6_lc_2.85_6_tetragonal"
    for path, width, names in (
            (f"structure_{metal}.xyz", "0.05", [f"{x}_{metal}.dat" for x in
                                                ("iq", "sq", "fq", "gr")]),
            (f"{rutile}.xyz", "0.1", [f"{rutile}_{x}.dat" for x in ("Iq", "Sq", "Fq", "Gr")])):
        for how, tolerance in ((["--exact"], 1e-4), ([], 1e-3))[:2 if width == "0.1" else 1]:
            cli.ok("debye", os.path.join(DATA, path), "--b-iso", "0.3", "--q-damp", "0.04",
                   "--q-width", width, "-o", "a.json", "--gr", "b.json", "-q", *how)
            found = {**columns("b.json"), **columns("a.json")}
            mine = (found["I"], [(s - 1) / 2 for s in found["S"]], [f / 2 for f in found["F"]],
                    [g / 2 for g in found["G"]])
            for name, values in zip(names, mine):
                with open(os.path.join(DATA, name), encoding="ascii") as file:
                    known = [float(row[1]) for row in list(csv.reader(file))[1:]]
                apart = max(abs(a - b) for a, b in zip(values, known))
                assert len(values) == len(known)
                assert apart < tolerance * max(map(abs, known)), (name, how, apart)


def test_summary():
    write("a.xyz", [("O", 0, 0, 0), ("O", 0, 0, 1.21)])
    text = cli.ok("debye", "a.xyz", "--gr", "g.txt", "-o", "i.txt")
    assert "a cluster in open space" in text and "X-rays" in text and "G(r)" in text
    with open("i.txt", encoding="utf-8") as file:
        assert "Waasmaier & Kirfel" in file.read()
    with open("g.txt", encoding="utf-8") as file:
        rows = [list(map(float, line.split())) for line in file if line[0] != "#"]
    assert abs(max(rows[50:], key=lambda row: row[1])[0] - 1.21) < 0.03
    json.loads(cli.ok("debye", "a.xyz", "--json"))


sys.exit(cli.main(globals()))
