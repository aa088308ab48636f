# SPDX-License-Identifier: BSD-3-Clause
"""A real cosmological snapshot (tipsy, 32,768 dark particles), against NumPy."""
import os
import struct
import sys

import cli
import needs

SNAPSHOT = os.path.join(os.environ["KITH_TEST_DATA"], "fof", "dark.std")
BOX = ("--box", "1", "--origin", "-0.5,-0.5,-0.5")


def load():
    """Positions of the dark particles as float [n][3], read without kith."""
    numpy = needs.module("numpy")
    needs.data(SNAPSHOT)
    with open(SNAPSHOT, "rb") as file:
        n, dim, gas, dark, star = struct.unpack(">8x5i4x", file.read(32))
        assert (dim, gas, dark, star) == (3, 0, n, 0)
        records = numpy.frombuffer(file.read(), ">f4").reshape(n, 9)
    return numpy, records[:, 1:4].astype(numpy.float32)


def brute_force(numpy, xyz, cutoff, periodic):
    """Half list {(i, j)}: every particle against those near it in x, image by image."""
    found = set()
    cutoff = numpy.float32(cutoff)
    for image in range(27) if periodic else [13]:
        s = numpy.array([image // 9 - 1, image // 3 % 3 - 1, image % 3 - 1], numpy.float32)
        # A little wider than the cutoff: only what can reach across the faces of this image.
        wide = numpy.float32(1.01) * cutoff
        near_i = numpy.nonzero(((s == 0) | (xyz * s > 0.5 - wide)).all(axis=1))[0]
        near_j = numpy.nonzero(((s == 0) | (xyz * -s > 0.5 - wide)).all(axis=1))[0]
        moved = xyz[near_j, 0] + s[0]
        near_j = near_j[numpy.argsort(moved, kind="stable")]
        moved.sort()
        low = numpy.searchsorted(moved, xyz[near_i, 0] - wide)
        high = numpy.searchsorted(moved, xyz[near_i, 0] + wide)
        for i, begin, end in zip(near_i, low, high):
            j = near_j[begin:end]
            j = j[j > i]
            d = (xyz[j] - xyz[i]) + s
            r2 = (d[:, 0] * d[:, 0] + d[:, 1] * d[:, 1]) + d[:, 2] * d[:, 2]
            found.update((int(i), int(k)) for k in j[r2 <= cutoff * cutoff])
    return found


def test_pairs():
    numpy, xyz = load()
    for periodic in (False, True):
        expected = brute_force(numpy, xyz, 0.003, periodic)
        assert len(expected) > 100000
        space = BOX if periodic else ()
        cli.ok("pairs", SNAPSHOT, "--cutoff", "0.003", *space, "-o", "out.npy", "-q")
        out = numpy.load("out.npy")
        assert len(out) == len(expected)
        assert set(zip(out["i"].tolist(), out["j"].tolist())) == expected


def test_info():
    numpy, xyz = load()
    found = cli.report("info", SNAPSHOT)
    assert found["format"] == "tipsy" and found["particles"] == len(xyz)
    assert found["bounds"]["low"] == xyz.min(axis=0).astype(numpy.float64).tolist()
    assert found["bounds"]["high"] == xyz.max(axis=0).astype(numpy.float64).tolist()


sys.exit(cli.main(globals()))
