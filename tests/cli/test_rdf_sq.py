# SPDX-License-Identifier: BSD-3-Clause
"""kith rdf --sq: direct sums against brute force, transforms against quadrature, bad input."""
import cmath
import math
import os
import random
import sys

import cli
import needs
from rdf_frames import NAMES, close, columns, make_frames, write_xyz

ALL = ("--q-vectors", "100k")


def half_space(most):
    reach = range(-most, most + 1)
    for h in range(most + 1):
        for k in reach:
            for l in reach:
                if (h, k, l) > (0, 0, 0):
                    yield h, k, l


def brute_force(frames, q_min, width, bins, first=None, second=None):
    """Mean q and mean Re(rho_a rho_b*) / sqrt(N_a N_b) in bins of q, over all vectors of each
    frame's box."""
    sums, qs, n = [0.0] * bins, [0.0] * bins, [0] * bins
    for names, points, side in frames:
        for wave in half_space(int((q_min + bins * width) * side / (2 * math.pi)) + 1):
            q = 2 * math.pi / side * math.sqrt(sum(x * x for x in wave))
            k = math.floor((q - q_min) / width)
            if not 0 <= k < bins:
                continue
            rho, count = [], []
            for wanted in (first or NAMES, second or first or NAMES):
                own = [p for name, p in zip(names, points) if name in wanted]
                count.append(len(own))
                rho.append(sum(cmath.exp(2j * math.pi / side * sum(map(float.__mul__, p, map(
                    float, wave)))) for p in own))
            sums[k] += (rho[0] * rho[1].conjugate()).real / math.sqrt(count[0] * count[1])
            qs[k] += q
            n[k] += 1
    return n, [q / m if m else None for q, m in zip(qs, n)], [
        s / m if m else None for s, m in zip(sums, n)]


def test_sums_against_brute_force():
    frames = make_frames(n=30, sides=(4.0, 4.1))
    write_xyz("a.xyz", frames)
    arguments = ("rdf", "a.xyz", "--partials", "--sq", "s.json", "--q-min", "1.6", "--q-max", "5.6",
                 "--q-width", "1", "-q")
    printed = cli.run(*arguments, *ALL)
    assert printed.returncode == 0, printed.stderr
    found = columns("s.json")
    n, q, s = brute_force(frames, 1.6, 1, 4)
    assert found["vectors"] == n and close(found["q"], q) and close(found["S_sum"], s, 1e-11)
    for pair in (("O", "O"), ("H", "O"), ("H", "Na")):
        s = brute_force(frames, 1.6, 1, 4, (pair[0],), (pair[1],))[2]
        assert close(found["S_sum_" + "-".join(pair)], s, 1e-11), pair
    # Of each species there are other numbers in the second frame.
    frames[1] = (["O"] * 20 + ["Na"] * 7 + ["H"] * 3, *frames[1][1:])
    write_xyz("a.xyz", frames)
    assert cli.run(*arguments, *ALL).returncode == 0
    found = columns("s.json")
    assert close(found["S_sum"], brute_force(frames, 1.6, 1, 4)[2], 1e-11)
    for pair in (("O", "O"), ("H", "O"), ("H", "Na")):
        s = brute_force(frames, 1.6, 1, 4, (pair[0],), (pair[1],))[2]
        assert close(found["S_sum_" + "-".join(pair)], s, 1e-11), pair
    # The same sums in any number of threads, to the last bit.
    cli.run(*arguments[:4], "t.json", *arguments[5:], *ALL, "--threads", "3")
    assert columns("t.json")["S_sum"] == found["S_sum"]
    cli.run(*arguments, "--q-vectors", "5")
    assert 0 < sum(columns("s.json")["vectors"]) <= 2 * 4 * 5 < sum(n)


def same_columns(one, other, tolerance=1e-11):
    """Whether tables are equal to rounding, errors from blocks too."""
    assert one.keys() == other.keys()
    for name in one:
        for a, b in zip(one[name], other[name]):
            assert (a is None) == (b is None), (name, a, b)
            assert a is None or abs(a - b) <= tolerance * max(1, abs(b)), (name, a, b)
        assert len(one[name]) == len(other[name]), name


def test_frames_exchanged():
    """A box that grows or shrinks: no table depends on the order of the frames."""
    frames = make_frames(n=30, sides=(4.0, 4.7))
    for tail, order in (("a", frames), ("b", frames[::-1])):
        write_xyz(f"{tail}.xyz", order)
        for name, how in (("given", ("--q-min", "1.34", "--q-max", "7.34", "--q-width", "1",
                                     "--r-max", "1.9", *ALL)),
                          ("all", ALL), ("some", ()), ("corner", ("--minimum-image",))):
            cli.ok("rdf", f"{tail}.xyz", "--partials", "--sq", f"s_{name}_{tail}.json", "-o",
                   f"g_{name}_{tail}.json", "-q", *how)
    for name in ("given", "all", "some", "corner"):
        for table in ("s", "g"):
            same_columns(columns(f"{table}_{name}_a.json"), columns(f"{table}_{name}_b.json"))
    found = columns("s_given_a.json")
    n, q, s = brute_force(frames, 1.34, 1, 6)
    assert found["vectors"] == n and close(found["q"], q) and close(found["S_sum"], s, 1e-11)
    # Every bin that both frames have part in has an error above 0.
    assert all(error > 0 for error in found["S_sum_error"]), found["S_sum_error"]
    # By default r ends at half the smaller box, q begins at the smallest of the larger.
    assert columns("g_all_a.json")["r_high"][-1] == 2
    assert close([columns("s_all_a.json")["q_low"][0]], [2 * math.pi / 4.7], 1e-8)
    assert close([columns("g_corner_a.json")["r_high"][-1]], [2 * math.sqrt(3)], 1e-12)


def test_one_frame_of_a_bin():
    """A bin that one frame alone has part in has no error, which is not an error of 0."""
    write_xyz("a.xyz", make_frames(n=30, sides=(4.0, 4.7)))
    cli.run("rdf", "a.xyz", "--sq", "s.json", "--q-min", "1.3", "--q-max", "1.9", "--q-width",
            "0.2", "-q", *ALL)
    found = columns("s.json")
    assert found["vectors"] == [3, 3, 6], found  # 2 pi / 4.7 and / 4, then sqrt 2 times the first
    assert found["S_sum_error"][0] is None and found["S_sum_error"][1] is None
    cli.run("rdf", "a.xyz", "--sq", "s.txt", "--q-min", "1.3", "--q-max", "1.9", "--q-width",
            "0.2", "-q", *ALL)
    with open("s.txt", encoding="ascii") as file:
        assert "fewer than two blocks" in file.read()
    # A bin without a vector has no number, in any format.
    for name in ("s.txt", "s.xvg"):
        cli.run("rdf", "a.xyz", "--sq", name, "--q-min", "1.4", "--q-max", "1.6", "--q-width",
                "0.1", "-q", *ALL)
        with open(name, encoding="ascii") as file:
            rows = [line.split() for line in file if line[0] not in "#@"]
        column = {"s.txt": 3, "s.xvg": 2}[name]
        assert rows[0][column] == "nan" and float(rows[1][column]) > 0, rows


def test_slanted_box():
    rows, rng = ((4.0, 0, 0), (1.0, 3.5, 0), (-0.5, 0.7, 5.0)), random.Random(7)
    volume = rows[0][0] * rows[1][1] * rows[2][2]

    def cross(a, b):
        return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]

    star = [[2 * math.pi / volume * x for x in cross(rows[(k + 1) % 3], rows[(k + 2) % 3])]
            for k in range(3)]
    points = [[rng.uniform(-2, 6) for _ in range(3)] for _ in range(25)]
    with open("a.xyz", "w", encoding="ascii") as file:
        file.write("25\nLattice=\"" + " ".join(str(x) for row in rows for x in row) +
                   '" Origin="0.3 0.2 0.1" Properties=species:S:1:pos:R:3\n')
        file.write("".join("A {!r} {!r} {!r}\n".format(*p) for p in points))
    cli.ok("rdf", "a.xyz", "--sq", "s.json", "--q-min", "2", "--q-max", "6", "--q-width", "4", "-q",
           *ALL)
    sums = []
    for h, k, l in half_space(8):
        q = [h * star[0][m] + k * star[1][m] + l * star[2][m] for m in range(3)]
        if 2 <= math.sqrt(sum(x * x for x in q)) < 6:
            rho = sum(cmath.exp(1j * sum(x * y for x, y in zip(q, p))) for p in points)
            sums.append(abs(rho)**2 / 25)
    found = columns("s.json")
    assert found["vectors"] == [len(sums)] and close(found["S_sum"], [sum(sums) / len(sums)], 1e-11)


def quadrature(g, edges, density, q, lorch):
    """1 + 4 pi rho int r^2 (g - 1) sin(qr) / (qr) dr, by Simpson's rule in each bin."""
    total = 0.0
    for k, value in enumerate(g):
        a, b, r_max = edges[k], edges[k + 1], edges[-1]
        m = (a + b) / 2
        f = [r * math.sin(q * r) / q for r in (a, (a + m) / 2, m, (m + b) / 2, b)]
        x = math.pi * m / r_max
        part = (b - a) / 12 * (f[0] + 4 * f[1] + 2 * f[2] + 4 * f[3] + f[4])
        total += (value - 1) * part * (math.sin(x) / x if lorch else 1)
    return 1 + 4 * math.pi * density * total


def test_transforms_against_quadrature():
    frames = make_frames()
    write_xyz("a.xyz", frames)
    density = 45 * 3 / sum(side**3 for _, _, side in frames)
    x = {"O": 0.2, "H": 0.6, "Na": 0.2}
    for window in ("lorch", "none"):
        cli.ok("rdf", "a.xyz", "--partials", "-o", "g.json", "--sq", "s.json", "--window", window,
               "--q-max", "9", "-q")
        g, s = columns("g.json"), columns("s.json")
        edges = g["r_low"] + g["r_high"][-1:]
        for a, b in (("O", "O"), ("H", "O"), ("Na", "Na")):
            name = f"_{a}-{b}"
            for k in (0, len(s["q"]) // 2, len(s["q"]) - 1):
                fz = quadrature(g["g" + name], edges, density, s["q"][k], window == "lorch")
                assert abs(s["A" + name][k] - fz) < 1e-6, (name, k)
                al = (a == b) + math.sqrt(x[a] * x[b]) * (fz - 1)
                assert abs(s["S" + name][k] - al) < 1e-6, (name, k)
        for k, total in enumerate(s["S"]):
            parts = sum((1 if a == b else 2) * math.sqrt(x[a] * x[b]) * s[f"S_{a}-{b}"][k]
                        for i, a in enumerate(NAMES) for b in NAMES[i:])
            assert abs(total - parts) < 1e-9
            # g(r) of all, weighted by what an ideal gas has, is nearly the same mixture.
        assert s["S_error"][0] > 0


def test_ideal_gas():
    cli.ok("make", "uniform", "2000", "--seed", "4", "-o", "a.npy", "-q")
    found = cli.report("rdf", "a.npy", "--box", "1", "--sq", "s.json", "--q-max", "600")
    s = columns("s.json")
    assert found["structure"]["window"] == "lorch" and len(s["q"]) == found["structure"]["bins"]
    for k, value in enumerate(s["S_sum"]):
        assert abs(value - 1) < 6 / math.sqrt(s["vectors"][k]), (k, value)
        assert s["q_low"][k] <= s["q"][k] < s["q_high"][k]
    assert max(s["vectors"]) <= 100 and s["vectors"][-1] > 50
    # In the plane, and without the sum.
    rng = random.Random(5)
    with open("b.csv", "w", encoding="ascii") as file:
        file.write("x,y\n" + "".join(f"{rng.random()},{rng.random()}\n" for _ in range(1000)))
    cli.ok("rdf", "b.csv", "--box", "1,1", "--sq", "s.json", "--q-max", "200", "-q")
    s = columns("s.json")
    assert all(abs(x - 1) < 6 / math.sqrt(n) for x, n in zip(s["S_sum"], s["vectors"]))
    cli.ok("rdf", "b.csv", "--box", "1,1", "--sq", "s.json", "--q-vectors", "0", "-q")
    s = columns("s.json")
    assert "S_sum" not in s and all(abs(value - 1) < 0.5 for value in s["S"])


def test_crystal_and_slope():
    cli.ok("make", "lattice", "1000", "-o", "a.npy", "-q")
    found = cli.report("rdf", "a.npy", "--box", "1", "--sq", "s.json", "--q-max", "70", *ALL)
    top = found["structure"]["highest"]
    # Bragg: all N in phase on the ten-fold vectors along the axes, and on no shorter one.
    s = columns("s.json")
    assert abs(max(x * n for x, n in zip(s["S_sum"], s["vectors"])) - 3000) < 1e-6
    assert 20 * math.pi <= top["q"] < 22 * math.pi
    assert all(abs(x) < 1e-9 for x, high in zip(s["S_sum"], s["q_high"]) if high < 62)
    write_xyz("b.xyz", make_frames(n=40))
    found = cli.report("rdf", "b.xyz", "--sq", "s.json", "--slope", "1.5,8")["structure"]["slope"]
    s = columns("s.json")
    points = [(math.log(q), math.log(y)) for q, y in zip(s["q"], s["S_sum"]) if 1.5 <= q <= 8]
    mean = [sum(p[k] for p in points) / len(points) for k in (0, 1)]
    slope = (sum((p[0] - mean[0]) * (p[1] - mean[1]) for p in points) /
             sum((p[0] - mean[0])**2 for p in points))
    assert found["points"] == len(points) and abs(found["d"] + slope) < 1e-9
    assert "S ~ q^-d" in cli.ok("rdf", "b.xyz", "--sq", "s.txt", "--slope", "1.5,8")
    cli.fails(6, "rdf", "b.xyz", "--sq", "s.txt", "--slope", "1.5,1.6", says=["--slope", "3 or"])


def test_formats():
    write_xyz("a.xyz", make_frames())
    command = ("rdf", "a.xyz", "--partials", "--unit", "A", "--q-max", "8", "-q", "--sq")
    cli.ok(*command, "s.txt")
    with open("s.txt", encoding="ascii") as file:
        lines = file.read().splitlines()
    head = [line for line in lines if line[0] == "#"]
    assert head[-1].startswith("# q [1/A] S(q) +- S_sum(q) +- A(H-H) +- S(H-H) +- S_sum(H-H) +- ")
    assert any("Faber-Ziman" in line and "Ashcroft-Langreth" in line for line in head)
    assert any("window of Lorch" in line for line in head)
    cli.ok(*command, "s.xvg")
    with open("s.xvg", encoding="ascii") as file:
        text = file.read()
    assert 'label "q (nm\\S-1\\N)"' in text
    first = float([line for line in text.splitlines() if line[0] not in "#@"][0].split()[0])
    assert abs(first / 10 - float(lines[len(head)].split()[0])) < 1e-7
    cli.ok(*command, "s.npy")
    assert cli.read_npy("s.npy")[0]["descr"][2] == ("vectors", "<i8")
    assert "S(q) " in cli.ok("rdf", "a.xyz", "--sq", "s.txt")


def test_bad_input():
    write_xyz("a.xyz", make_frames())
    rdf = ("rdf", "a.xyz", "--sq", "s.txt")
    # Below the smallest q of the box there is nothing to see: said, and done all the same.
    done = cli.run(*rdf, "--q-min", "0.1", "-q")
    assert done.returncode == 0 and "warning: --q-min is 0.1, below the smallest" in done.stderr
    os.remove("s.txt")
    cli.fails(6, *rdf, "--r-min", "1", says=["bins of r from 0"])
    cli.fails(6, *rdf, "--q-width", "1e-9", says=["bins"])
    cli.fails(6, *rdf, "--q-min", "1e9", says=["bins"])
    cli.fails(7, *rdf, "--q-max", "1e6", says=["--q-max", "waves across"])
    cli.fails(6, *rdf, "--q-vectors", "1M", says=["--q-vectors"])
    cli.fails(6, *rdf, "--slope", "2,1", says=["--slope"])
    cli.fails(6, *rdf, "--select", "O,H", "--with", "H", says=["--partials"])
    for wrong in (["--q-max", "x"], ["--window", "hann"], ["--slope", "1"], ["--sq", "-"],
                  ["--q-min", "2", "--q-max", "1"], ["--q-vectors", "x"]):
        cli.fails(2, *rdf, *wrong)
    cli.fails(2, "rdf", "a.xyz", "--q-max", "9", says=["--sq"])
    cli.fails(9, "rdf", "a.xyz", "--sq", "nowhere/s.txt", says=["nowhere/s.txt"])
    assert os.listdir() == ["a.xyz"]


def test_plot():
    write_xyz("a.xyz", make_frames())
    command = ("rdf", "a.xyz", "--partials", "--unit", "A")
    # Without gnuplot its script and data are there to be used later.
    cli.fails(10, *command, "--plot", "a.png", "-q", env=dict(os.environ, PATH="/nowhere"),
              says=["--plot a.png", "gnuplot", "apt-get install", "a.gp is written"])
    assert sorted(os.listdir()) == ["a.dat", "a.gp", "a.xyz"]
    with open("a.gp", encoding="utf-8") as file:
        script = file.read()
    assert '"./a.dat"' in script and 'title "H-Na"' in script and "(Å)" in script
    assert script.count("with filledcurves") == 6 and "axes x1y2" in script
    with open("a.dat", encoding="utf-8") as file:
        tables = file.read().split("\n\n\n")
    assert [len(line.split()) for line in tables[0].splitlines()[-1:]] == [1 + 3 * 7]
    assert [len(line.split()) for line in tables[1].splitlines()[-1:]] == [1 + 7]
    assert len(tables) == 2  # sums are for --sq
    cli.fails(6, *command, "--plot", "a.gif", says=["--plot", ".pdf"])
    cli.fails(9, *command, "--plot", "nowhere/a.pdf", "-q", says=["folder nowhere"])
    needs.program("gnuplot")
    os.mkdir("folder")
    brief = "KITH_TEST_BRIEF" in os.environ
    kinds = (("folder/a.pdf", b"%PDF"), ("a.png", b"\x89PNG"), ("a.svg", b"<?xml"))
    for name, magic in kinds[:1 if brief else 3]:
        assert f"figure      {name}" in cli.ok(*command, "--plot", name, "--sq", "s.txt")
        with open(name, "rb") as file:
            assert file.read(5).startswith(magic), name
    assert sorted(os.listdir("folder")) == ["a.dat", "a.gp", "a.pdf"]
    # The line is the transform between the q of the table, the points are its sums.
    cli.ok(*command, "--sq", "s.json", "--plot", "a.svg", "-q")
    with open("a.dat", encoding="utf-8") as file:
        line, points = [[[float(x) for x in row.split()] for row in text.splitlines()[1:]]
                        for text in file.read().split("\n\n\n")[1:]]
    found = columns("s.json")
    assert len(points) == len(found["q"]) and len(line) > 400
    assert close([row[1] for row in points], found["S_sum"], 1e-6)
    for q, s in zip(found["q"], found["S"]):
        after = next((k for k, row in enumerate(line) if row[0] >= q), 0)
        if after > 0:  # not below 2 pi / R
            (x0, y0), (x1, y1) = line[after - 1][:2], line[after][:2]
            assert abs(y0 + (y1 - y0) * (q - x0) / (x1 - x0) - s) < 0.01, q
    # Quotes in names and units are text.
    cli.ok("rdf", "a.xyz", "--frames", "0", "--plot", "o'dd.svg", "--unit", "'\"$", "-q")
    # No S(q) where bins do not begin at 0, and no error bars of one frame.
    cli.ok("rdf", "a.xyz", "--frames", "0", "--r-min", "1", "--plot", "b.svg", "-q")
    with open("b.gp", encoding="utf-8") as file:
        script = file.read()
    assert "index 1" not in script and "filledcurves" not in script


def test_lennard_jones_of_lammps():
    needs.data(os.path.join(os.environ["KITH_TEST_DATA"], "md", "lammps_lj"))
    from rdf_frames import unpack_lennard_jones  # pylint: disable=import-outside-toplevel
    unpack_lennard_jones("lj.dump")
    cli.ok("rdf", "lj.dump", "--frames", "::5", "--sq", "s.json", "--q-max", "10", "--q-vectors",
           "100", "-q")
    s = columns("s.json")
    peak = max(range(len(s["q"])), key=lambda k: s["S_sum"][k])
    # Verlet, Phys. Rev. 165, 201 (1968): the main peak near the triple point is at 6.8, 2.7 high;
    # S(0) is the small compressibility of the dense liquid.
    assert 6.5 < s["q"][peak] < 7.1 and 2.2 < s["S_sum"][peak] < 3.1
    assert 0.02 < s["S_sum"][0] < 0.07
    assert abs(s["S"][peak] - s["S_sum"][peak]) < 0.4


sys.exit(cli.main(globals()))
