# SPDX-License-Identifier: BSD-3-Clause
"""Sets are the same bits everywhere, and are what they say."""
import hashlib
import math
import sys

import cli
import needs

# SHA-256 of the coordinates: the same with every compiler, flag and machine, for ever.
PINNED = {
    ("uniform", "1000", "--seed", "1"):
        "90a0c7ea11461541de80b179503433618020a8e9b631aea8e80ebd5891bb0447",
    ("uniform", "1000", "--seed", "2", "--precision", "float", "--box", "100"):
        "463833a8c3a495841fb4dded7316b012b0538f167f22580e2a00ccaf32948ff5",
    ("lattice", "1000", "--basis", "sc"):
        "7a98367807cf916105d2626c58e5a8ca895abf5d75d3dc7a2bfc742b9c511c3a",
    ("lattice", "1000", "--basis", "bcc"):
        "f2a54b4db4f879d97c29e736b07aeed0e7f646fe84345c80d8b364be1802afea",
    ("lattice", "1000", "--basis", "fcc", "--box", "3"):
        "c770a5b503e03665dc23b44c2531fd2c2b426ef9019682d8f90574a8dd6d2e84",
    ("plummer", "1000", "--seed", "1"):
        "47e66d5be7852d95c4d3520dbafac146cf54b406a12df56d6bcae2bdf0c864c0",
    ("clustered", "10k", "--seed", "1"):
        "34945900c0f70d60a6f940d0a99e68ba4ee6e9bafea11bd941ec76b11a53dd9b",
    ("bridge", "10k", "--seed", "1"):
        "c8c3bf2156c0efbac6fe69656fbffac8da8fe3cc3b62b04db96322db0dd0b848",
    ("clustered", "1000", "--seed", "1", "--model", "soneira-peebles"):
        "fb9b6597e4eca48c925d02a1c91f89e622b3d074d10880486d8e440dc3a15193",
}


def test_pinned():
    for arguments, expected in PINNED.items():
        cli.ok("make", *arguments, "-o", "a.npy", "-q")
        found = hashlib.sha256(cli.read_npy("a.npy")[1]).hexdigest()
        assert found == expected, f"{arguments}: {found}"


def test_uniform_is_splitmix64():
    mask = 2**64 - 1

    def mix(z):
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & mask
        return z ^ (z >> 31)

    counter = mix(7 + 0x9E3779B97F4A7C15)
    expected = []
    for _ in range(30):
        counter = counter + 0x9E3779B97F4A7C15 & mask
        expected.append((mix(counter) >> 11) * 2.0**-53)
    cli.ok("make", "uniform", "10", "--seed", "7", "-o", "a.npy", "-q")
    assert [x for point in cli.read_points("a.npy") for x in point] == expected


def test_numbers_of_points():
    for text, n in (("0", 0), ("1", 1), ("1_000", 1000), ("1e3", 1000), ("2.5k", 2500)):
        for family in ("uniform", "plummer", "clustered", "bridge"):
            assert cli.report("make", family, text, "-o", "a.npy")["particles"] == n
            points = cli.read_points("a.npy")
            assert len(points) == n
            assert all(0 <= x < 1 for point in points for x in point)


def test_lattice_shells():
    for basis, sites, nearest, neighbours in (("sc", 1, 1, 6), ("bcc", 2, math.sqrt(0.75), 8),
                                              ("fcc", 4, math.sqrt(0.5), 12)):
        n = sites * 5**3
        made = cli.report("make", "lattice", str(n + 1), "--basis", basis, "--box", "5", "-o",
                          "a.xyz")
        assert made["particles"] == n
        found = cli.report("pairs", "a.xyz", "--cutoff", str(nearest * 1.001))
        assert found["pairs"] == n * neighbours // 2
        assert found["neighbours"]["least"] == found["neighbours"]["most"] == neighbours


def test_plummer_profile():
    n = 20000
    cli.ok("make", "plummer", n, "--seed", "3", "--box", "41", "-o", "a.npy", "-q")
    radii = [math.dist(p, (20.5, 20.5, 20.5)) for p in cli.read_points("a.npy")]
    assert max(radii) <= 20.001
    for r in (0.3, 1, 3):
        expected = (r * r / (1 + r * r) * 401 / 400) ** 1.5
        inside = sum(x < r for x in radii) / n
        assert abs(inside - expected) < 5 * math.sqrt(expected * (1 - expected) / n), (r, inside)


def test_clustered_is_clustered():
    cli.ok("make", "clustered", "20k", "--seed", "3", "-o", "halos.npy", "-q")
    cli.ok("make", "clustered", "20k", "--model", "soneira-peebles", "-o", "tree.npy", "-q")
    cli.ok("make", "uniform", "20k", "--seed", "3", "-o", "even.npy", "-q")

    def pairs(name):
        return int(cli.ok("pairs", name, "--cutoff", "0.01", "--count"))

    assert pairs("halos.npy") > 20 * pairs("even.npy")
    assert pairs("tree.npy") > 20 * pairs("even.npy")
    background = cli.read_points("halos.npy")[12000:]
    assert len(background) == 8000
    assert abs(sum(x < 0.5 for x, _, _ in background) - 4000) < 5 * math.sqrt(2000)


def test_formats():
    cli.ok("make", "uniform", "200", "--seed", "5", "--precision", "float", "-o", "a.npy", "-q")
    expected = cli.run("pairs", "a.npy", "--cutoff", "0.2", "--count").stdout
    for name in ("a.std", "a.txt", "a.xyz", "a.h5"):
        done = cli.run("make", "uniform", "200", "--seed", "5", "--precision", "float", "-o", name)
        if name == "a.h5" and needs.lacking(done):
            continue
        assert done.returncode == 0, done
        assert cli.ok("pairs", name, "--cutoff", "0.2", "--periodic", "none", "--precision",
                      "float", "--count") == expected, name


def test_format_named():
    cli.ok("make", "uniform", "20", "-o", "noending", "--format", "tipsy", "-q")
    assert cli.report("info", "noending")["format"] == "tipsy"


sys.exit(cli.main(globals()))
