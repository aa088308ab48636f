# SPDX-License-Identifier: BSD-3-Clause
"""kith rdf --weights: columns of every kind of file and files of numbers against brute force, and
what cannot be weights."""
import math
import random
import sys

import cli
from rdf_frames import NAMES, close, columns, make_frames, write_xyz

R_MAX, BINS = 2.0, 8
COUNT = ("--r-max", str(R_MAX), "--bins", str(BINS), "--partials", "-q")


def make_weights(frames, seed=3):
    """Weights of both signs, others in each frame."""
    rng = random.Random(seed)
    return [[rng.choice((-0.75, 1.0, 2.5)) for _ in points] for _, points, _ in frames]


def brute_force(frames, weights, first, second):
    """g_w and ww of two species, by definition: sums over ordered pairs."""
    sums, counts, strewn = [0.0] * BINS, [0] * BINS, [0.0] * BINS
    for (names, points, side), w in zip(frames, weights):
        pairs = [(p, q) for p, a in enumerate(names) for q, b in enumerate(names)
                 if p != q and a == first and b == second]
        for p, q in pairs:
            d = [x - y for x, y in zip(points[p], points[q])]
            k = int(math.sqrt(sum((x - side * round(x / side))**2 for x in d)) / R_MAX * BINS)
            if k < BINS:
                sums[k] += w[p] * w[q]
                counts[k] += 1
        for k in range(BINS):
            shell = 4 / 3 * math.pi * (R_MAX / BINS)**3 * ((k + 1)**3 - k**3)
            strewn[k] += sum(w[p] * w[q] for p, q in pairs) * shell / side**3
    divide = lambda y, x: [a / b if b else None for a, b in zip(y, x)]
    return divide(sums, strewn), divide(sums, counts)


def check(output, frames, weights):
    found = columns(output)
    for a, first in enumerate(NAMES):
        for second in NAMES[a:]:
            for name, expected in zip(("g_w", "ww"), brute_force(frames, weights, first, second)):
                for x, y in zip(found[f"{name}_{first}-{second}"], expected):
                    assert (x is None and y is None) or close([x], [y], 1e-9), (name, x, y)


def write_weighted_xyz(path, frames, weights):
    with open(path, "w", encoding="ascii") as file:
        for (names, points, side), w in zip(frames, weights):
            file.write(f'{len(names)}\nLattice="{side} 0 0 0 {side} 0 0 0 {side}" '
                       "Properties=species:S:1:charges:R:1:pos:R:3\n")
            for name, q, (x, y, z) in zip(names, w, points):
                file.write(f"{name} {q} {x!r} {y!r} {z!r}\n")


def write_dump(path, frames, weights):
    with open(path, "w", encoding="ascii") as file:
        for step, ((names, points, side), w) in enumerate(zip(frames, weights)):
            box = f"0 {side}\n" * 3
            file.write(f"ITEM: TIMESTEP\n{step}\nITEM: NUMBER OF ATOMS\n{len(names)}\n"
                       f"ITEM: BOX BOUNDS pp pp pp\n{box}ITEM: ATOMS element x y z q\n")
            for name, q, (x, y, z) in zip(names, w, points):
                file.write(f"{name} {x!r} {y!r} {z!r} {q}\n")


def test_columns():
    frames = make_frames()
    weights = make_weights(frames)
    write_weighted_xyz("a.xyz", frames, weights)
    write_dump("a.lammpstrj", frames, weights)
    for path, name in (("a.xyz", "charges"), ("a.lammpstrj", "q")):
        cli.ok("rdf", path, "--weights", name, *COUNT, "-o", "a.json")
        check("a.json", frames, weights)
    # Threads add them up to the same bits; a selection takes its own.
    cli.ok("rdf", "a.xyz", "--weights", "charges", *COUNT, "--threads", "1", "-o", "b.json")
    cli.ok("rdf", "a.xyz", "--weights", "charges", *COUNT, "--select", "H", "-o", "c.json")
    a, b, c = columns("a.json"), columns("b.json"), columns("c.json")
    assert a == b and c["g_w"] == a["g_w_H-H"] and c["ww"] == a["ww_H-H"]


def test_files():
    frames = make_frames()
    w = make_weights(frames)[0]
    write_xyz("a.xyz", frames)
    cli.write_npy("w.npy", [(x, x, x) for x in w])
    cli.fails(6, "rdf", "a.xyz", "--weights", "w.npy", *COUNT, says=("w.npy", "(45, 3)", "45"))
    with open("w.txt", "w", encoding="ascii") as file:
        file.write("".join(f"{x}\n" for x in w))
    cli.ok("rdf", "a.xyz", "--weights", "w.txt", *COUNT, "-o", "a.json")
    check("a.json", frames, [w] * len(frames))
    text = cli.ok("rdf", "a.xyz", "--weights", "w.txt", "--r-max", "2", "-o", "-")
    assert "w: w.txt" in text and "g_w(r) +- ww(r) +-" in text


def test_equal_weights_change_nothing():
    frames = make_frames()
    write_xyz("a.xyz", frames)
    with open("w.txt", "w", encoding="ascii") as file:
        file.write("3\n" * 45)
    cli.ok("rdf", "a.xyz", "--weights", "w.txt", *COUNT, "-o", "a.json")
    found = columns("a.json")
    assert close(found["g_w"], found["g"]) and set(found["ww"]) <= {9.0, None}


def test_bad_weights():
    frames = make_frames()
    weights = make_weights(frames)
    weights[1][7] = float("nan")
    write_weighted_xyz("nan.xyz", frames, weights)
    cli.fails(4, "rdf", "nan.xyz", "--weights", "charges", says=("nan.xyz", "frame 1", "7", "nan"))
    write_xyz("a.xyz", frames)
    cli.fails(4, "rdf", "a.xyz", "--weights", "mass", says=("a.xyz", "'mass'"))
    cli.fails(6, "rdf", "a.xyz", "--weights", "species", says=("a.xyz", "species"))
    cli.fails(3, "rdf", "a.xyz", "--weights", "none.npy", says=("none.npy",))
    cli.fails(2, "rdf", "a.xyz", "--weights", "", says=("--weights",))
    for text, code, says in (("1\n2\n", 6, "45"), ("inf\n" * 45, 4, "finite"),
                             ("0\n" * 45, 6, "all")):
        with open("w.txt", "w", encoding="ascii") as file:
            file.write(text)
        cli.fails(code, "rdf", "a.xyz", "--weights", "w.txt", says=("w.txt", says))


sys.exit(cli.main(globals()))
