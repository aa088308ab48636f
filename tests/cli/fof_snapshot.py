# SPDX-License-Identifier: BSD-3-Clause
"""A snapshot with groups for the tests of kith fof, and its catalogue in CSV."""
import csv

import cli

A, H = 0.5, 0.7  # scale factor and Hubble parameter


def snapshot(code, table=()):
    """A clustered box of 50 Mpc/h with gas and dark matter, each group with its own velocity;
    its arrays by type."""
    _, numpy, snapshots = cli.snapshot_modules()
    side = 50 / (H if code == "swift" else 1) * (1000 if code == "gadget" else 1)
    critical = {"gadget": 27.7536627e-9, "swift": 27.7536627 * H * H}.get(code, 27.7536627)
    universe = {"time": A, "redshift": 1 / A - 1, "box": side, "omega": 0.3, "lambda": 0.7, "h": H}
    snap = snapshots.make({0: 1000, 1: 4000}, table=table)
    cli.ok("make", "clustered", "5k", "--seed", "3", "-o", "points.npy", "-q")
    points = numpy.random.default_rng(1).permutation(numpy.load("points.npy"))
    for kind, part in ((0, points[:1000]), (1, points[1000:])):
        snap[kind]["pos"] = (part * side).astype("f4")
        snap[kind]["mass"] = numpy.full(len(part), 0.3 * critical * side**3 / 5000, "f4")
    snapshots.hdf5("snap.hdf5", snap, universe, code)
    return snap


def columns(path="a.csv"):
    """A CSV as lists of numbers by name, units cut off."""
    with open(path, encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    return {name.split(" ")[0]: [float(row[name]) for row in rows] for name in rows[0]}
