# SPDX-License-Identifier: BSD-3-Clause
"""kith rdf --estimator force: by its formulae, on frames of LAMMPS, every bad input."""
import json
import math
import os
import random
import sys

import cli
import needs
from rdf_frames import close, columns, unpack_lennard_jones

BINS, R_MAX, KT = 12, 2.0, 0.8


def make_frames():
    """Frames of (names, positions, forces, side) in cubes that change."""
    rng = random.Random(5)
    names = ["O" if p % 3 == 0 else "H" for p in range(36)]
    return [(names, [[rng.random() * side for _ in range(3)] for _ in names],
             [[rng.gauss(0, 1) for _ in range(3)] for _ in names], side)
            for side in (4.0, 4.6, 4.3, 4.0)]


def write(path, frames, forces=True):
    with open(path, "w", encoding="ascii") as file:
        for names, points, pushes, side in frames:
            file.write(f'{len(names)}\nLattice="{side} 0 0 0 {side} 0 0 0 {side}" '
                       f'Properties=species:S:1:pos:R:3{":forces:R:3" if forces else ""}\n')
            for name, point, push in zip(names, points, pushes):
                file.write(" ".join([name, *map(repr, point), *map(repr, push if forces else [])]) +
                           "\n")


def sums(frame, first, second):
    """Density of pairs, that times g from zero and times its end, and times g by counts."""
    names, points, forces, side = frame
    edges = [R_MAX * k / BINS for k in range(BINS + 1)]
    shells = [4 / 3 * math.pi * (b**3 - a**3) for a, b in zip(edges, edges[1:])]
    zero, end, counts, pairs = [0.0] * BINS, 0.0, 0, 0
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            if i == j or a not in first or b not in second:
                continue
            pairs += 1
            d = [points[j][k] - points[i][k] for k in range(3)]
            d = [x - side * round(x / side) for x in d]
            r = math.sqrt(sum(x * x for x in d))
            if r > R_MAX:
                continue
            counts += 1
            push = sum((forces[j][k] - forces[i][k]) * d[k] for k in range(3))
            push /= 8 * math.pi * KT * r**3
            end += push
            for k in range(BINS):  # the mean over the bin of what is 1 beyond r
                if r < edges[k]:
                    zero[k] += push
                elif r < edges[k + 1]:
                    zero[k] += push * (edges[k + 1]**3 - r**3) / (edges[k + 1]**3 - edges[k]**3)
    excess = (sum(v * z for v, z in zip(shells, zero)) - counts) / sum(shells)
    return pairs / side**3, zero, end, excess


def expected(frames, first, second):
    rows = [sums(frame, first, second) for frame in frames]
    density = sum(row[0] for row in rows)
    end, excess = (sum(row[k] for row in rows) / density for k in (2, 3))
    zero = [sum(row[1][k] for row in rows) / density for k in range(BINS)]
    beside = [row[3] - excess * row[0] for row in rows]
    weight = [sum((row[1][k] - zero[k] * row[0]) * x for row, x in zip(rows, beside)) /
              sum(x * x for x in beside) for k in range(BINS)]
    force = [z - w * excess for z, w in zip(zero, weight)]
    error = [math.sqrt(len(rows) / (len(rows) - 2) *
                       sum((row[1][k] - weight[k] * row[3] - force[k] * row[0])**2
                           for row in rows)) / density for k in range(BINS)]
    return {"g_zero": zero, "g_infinity": [z + 1 - end for z in zero], "weight": weight,
            "g_force": force, "g_force_error": error}


def test_by_formula():
    frames = make_frames()
    write("a.xyz", frames)
    arguments = ("rdf", "a.xyz", "--estimator", "force", "--r-max", str(R_MAX), "--bins", str(BINS),
                 "--trust-temperature")  # random forces have none
    cli.ok(*arguments, "--temperature", str(KT), "--partials", "-o", "a.json", "-q")
    found = columns("a.json")
    cases = [("", "OH", "OH"), ("_O-O", "O", "O"), ("_H-O", "H", "O"), ("_H-H", "H", "H")]
    for tail, first, second in cases:
        for name, values in expected(frames, first, second).items():
            assert close(found[name + tail], values, 1e-6), (name, tail, found[name + tail], values)
    cli.ok(*arguments, "--temperature", str(KT), "--select", "O", "--with", "H", "-o", "b.txt")
    with open("b.txt", encoding="utf-8") as file:
        rows = [line.split() for line in file if line[0] != "#"]
    assert close([float(row[5]) for row in rows], expected(frames, "O", "H")["g_force"], 1e-6)
    # Kelvin, and a part of the particles alone.
    cli.ok(*arguments, "--temperature", "300,kcal", "--select", "O", "-o", "c.json", "-q")
    cli.ok(*arguments, "--temperature", repr(300 * 1.987204259e-3), "--select", "O", "-o", "d.json",
           "-q")
    assert columns("c.json")["g_force"] == columns("d.json")["g_force"]
    # One frame has no error bars, and weights from 0 to 1.
    one = cli.report(*arguments, "--temperature", "1", "--frames", "0", "-o", "e.json")
    weight = columns("e.json")["weight"]
    assert weight == sorted(weight) and 0 <= weight[0] < weight[-1] <= 1
    assert one["curves"][0]["force"]["error"] is None
    assert "by forces" in cli.ok(*arguments, "--temperature", "1", "--plot", "a.svg")[0:2000]
    with open("a.gp", encoding="utf-8") as file:
        assert "pointtype 6" in file.read()


def write_dump(path, system, mass, speeds):
    """Frames of the liquid beside velocities: of particles of one mass, in a system of units."""
    rng = random.Random(2)
    with open("lj.dump", encoding="ascii") as source, open(path, "w", encoding="ascii") as file:
        if system:
            file.write(f"ITEM: UNITS\n{system}\n")
        atoms = False
        for line in source:
            if line.startswith("ITEM: ATOMS"):
                file.write(line.rstrip() + " mass vx vy vz\n")
                atoms = True
            elif line.startswith("ITEM") or not atoms:
                atoms = False
                file.write(line)
            else:
                speed = " ".join(f"{rng.gauss(0, speeds):.6g}" for _ in range(3))
                file.write(f"{line.rstrip()} {mass} {speed}\n")


def test_temperature():
    """A temperature that the frames deny is refused, unless one says that it is meant."""
    if not os.path.exists(os.path.join(os.environ["KITH_TEST_DATA"], "md", "lammps_lj")):
        raise cli.Skip("the frames are not here")
    unpack_lennard_jones("lj.dump")
    force = ("--estimator", "force", "--r-max", "3", "--bins", "300", "-o", "a.json")
    for wrong in ("300", "0.75", "0.69", "7.22e-5"):
        done = cli.fails(6, "rdf", "lj.dump", *force, "--temperature", wrong,
                         says=[f"--temperature {wrong}", "kT = 0.72", "--trust-temperature"])
        assert not os.path.exists("a.json") and "less" not in done.stdout
    cli.fails(6, "rdf", "lj.dump", *force, "--temperature", "300,kcal", says=["300,kcal"])
    cli.fails(6, "rdf", "lj.dump", *force, "--temperature", "300", "--frames", "0",
              says=["kT = 0.7"])
    told = cli.ok("rdf", "lj.dump", *force, "--temperature", "300", "--trust-temperature")
    assert "not the temperature given" in told and "times less" not in told, told
    found = cli.report("rdf", "lj.dump", *force, "--temperature", "300", "--trust-temperature")
    found = found["curves"][0]["force"]
    assert found["variance_ratio"] is None and abs(found["kT"] - 0.722) < 0.015, found
    # Two frames make a weight that leaves no error, and no ratio of errors.
    found = cli.report("rdf", "lj.dump", *force, "--temperature", "0.722", "--frames", "0:2")
    assert found["curves"][0]["force"]["error"] is None
    assert found["curves"][0]["force"]["variance_ratio"] is None
    assert "times less" in cli.ok("rdf", "lj.dump", *force, "--temperature", "0.722")
    # Velocities: those of 0.722 agree, those of 1 do not; of unknown units they are no witness.
    few = (*force, "--temperature", "0.722", "--frames", "::5")
    for system, mass, speed, agrees in (("lj", 1, 0.722**0.5, True), ("lj", 4, 0.1805**0.5, True),
                                        ("lj", 1, 1, False), ("", 1, 1, True),
                                        ("real", 1, (0.722 / 2390.057)**0.5, True),
                                        ("metal", 1, 1, False)):
        write_dump("v.dump", system, mass, speed)
        if agrees:
            text = cli.ok("rdf", "v.dump", *few)
            assert ("by velocities" in text) == bool(system), text
        else:
            cli.fails(6, "rdf", "v.dump", *few, says=["--temperature 0.722", "velocities tell kT"])


def test_bad_input():
    frames = make_frames()
    write("a.xyz", frames)
    rdf = ("rdf", "a.xyz", "--estimator", "force")
    cli.fails(2, *rdf, says=["--temperature"])
    for bad in ("0", "-1", "x", "300,K", "1,", ",eV"):
        cli.fails(6, *rdf, "--temperature", bad, says=["--temperature", bad])
    cli.fails(2, "rdf", "a.xyz", "--trust-temperature", says=["--trust-temperature"])
    cli.fails(2, *rdf, "--temperature", "1", "--minimum-image", says=["--minimum-image"])
    cli.fails(2, "rdf", "a.xyz", "--estimator", "best", says=["histogram or force"])
    write("b.xyz", frames, forces=False)
    cli.fails(4, "rdf", "b.xyz", "--estimator", "force", "--temperature", "1",
              says=["b.xyz", "no forces in frame 0"])
    names, points, pushes, side = frames[1]
    write("c.xyz", [frames[0], (names, points, [[0.0] * 3 for _ in pushes], side)])
    cli.fails(6, "rdf", "c.xyz", "--estimator", "force", "--temperature", "1",
              says=["c.xyz", "frame 1", "all forces are 0"])
    write("d.xyz", [(names, points, [[math.nan] * 3] + pushes[1:], side)])
    cli.fails(5, "rdf", "d.xyz", "--estimator", "force", "--temperature", "1", says=["d.xyz"])


def test_lennard_jones_of_lammps():
    needs.data(os.path.join(os.environ["KITH_TEST_DATA"], "md", "lammps_lj"))
    unpack_lennard_jones("lj.dump")
    # g(3) is 1.1: what holds does not depend on where r ends.
    force = cli.report("rdf", "lj.dump", "--estimator", "force", "--temperature", "0.722",
                       "--r-max", "3", "--bins", "300", "-o", "a.json")["curves"][0]["force"]
    found = columns("a.json")
    apart = [(a - b)**2 / (c * c + d * d) for a, b, c, d in
             zip(found["g"], found["g_force"], found["g_error"], found["g_force_error"])
             if c and d]
    assert len(apart) > 180 and sum(apart) / len(apart) < 1.5, sum(apart) / len(apart)
    assert abs(force["kT"] - 0.722) < 4 * force["kT_error"] < 0.02, force
    assert force["variance_ratio"] > 5, force
    with open("a.json", encoding="utf-8") as file:
        assert json.load(file)["curves"][0]["force"] == force


sys.exit(cli.main(globals()))
