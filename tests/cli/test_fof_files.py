# SPDX-License-Identifier: BSD-3-Clause
"""What kith fof writes: catalogues, labels and pictures, whole or not at all, as other tools read
them."""
import os
import struct
import subprocess
import sys
import zlib

import cli
import needs
from fof_snapshot import columns, snapshot


def test_csv_against_numpy():
    _, numpy, _ = cli.snapshot_modules()
    snap = snapshot("gadget4")
    cli.ok("fof", "snap.hdf5", "-o", "a.csv", "--labels", "a.npy", "-q")
    labels, halos = numpy.load("a.npy"), columns("a.csv")
    assert labels.dtype == "i4" and labels.max() == len(halos["group"]) > 3
    field = {name: numpy.concatenate([snap[0][name], snap[1][name]]).astype("f8")
             for name in ("pos", "vel", "mass", "pot")}
    for k, group in enumerate(halos["group"]):
        inside = labels == group
        assert inside.sum() == halos["members"][k]
        mass, vel = field["mass"][inside], field["vel"][inside] * 0.5**0.5  # Gadget's: over sqrt(a)
        pos, centre = field["pos"][inside], field["pos"][int(halos["particle"][k])]
        assert halos["particle"][k] == numpy.where(inside, field["pot"], 9).argmin()
        assert [halos[c][k] for c in "xyz"] == centre.tolist()
        d = pos - centre
        d -= 50 * numpy.round(d / 50)
        mean = (mass[:, None] * d).sum(axis=0) / mass.sum()
        apart = numpy.array([halos[c + "_mass"][k] for c in "xyz"]) - centre - mean
        assert abs(apart - 50 * numpy.round(apart / 50)).max() < 1e-9
        u = vel - (mass[:, None] * vel).sum(axis=0) / mass.sum()
        sigma = numpy.sqrt((mass[:, None] * u * u).sum() / mass.sum() / 3)
        assert abs(halos["dispersion"][k] / sigma - 1) < 1e-6
        assert abs(halos["mass"][k] / mass.sum() - 1) < 1e-9
        assert halos["members_0"][k] == inside[:1000].sum()
        assert 1 >= halos["b_to_a"][k] >= halos["c_to_a"][k] > 0
        spin = (mass[:, None] * numpy.cross(d - mean, u)).sum(axis=0)
        assert numpy.allclose([halos["j" + c][k] for c in "xyz"], spin, rtol=1e-5, atol=1)


def test_gadget4():
    h5py, numpy, _ = cli.snapshot_modules()
    snap = snapshot("swift")  # lengths without h: Gadget's have it
    cli.ok("fof", "snap.hdf5", "-o", "a.csv", "--labels", "a.npy", "-q")
    cli.ok("fof", "snap.hdf5", "-o", "fof_subhalo_tab_000.0.hdf5", "-q")
    halos, labels = columns("a.csv"), numpy.load("a.npy")
    with h5py.File("fof_subhalo_tab_000.0.hdf5") as file:
        head, group = file["Header"].attrs, file["Group"]
        n = len(halos["group"])
        for name in ("Ngroups_ThisFile", "Ngroups_Total"):
            assert head[name] == n and head[name].dtype == "i8"
        assert head["Nsubhalos_Total"] == 0 and head["NumFiles"] == 1 and "Subhalo" in file
        assert abs(head["BoxSize"] - 50) < 1e-9 and head["Redshift"] == 1 and head["Omega0"] == 0.3
        assert file["Parameters"].attrs["UnitLength_in_cm"] == 3.08567758e24
        assert group["GroupLen"][()].tolist() == halos["members"]
        assert numpy.allclose(group["GroupMass"], numpy.array(halos["mass"]) * 0.7, rtol=1e-12)
        assert numpy.allclose(group["GroupPos"][:, 1], numpy.array(halos["y"]) * 0.7, rtol=1e-12)
        velocity = group["GroupVel"][:, 2] * 0.5**0.5  # as in Gadget's snapshots: over sqrt(a)
        assert numpy.allclose(velocity, halos["vz"], rtol=1e-12)
        assert group["GroupVel"].attrs["a_scaling"] == 0.5
        assert numpy.allclose(group["Group_R_Crit200"], numpy.array(halos["r200c"]) * 0.7)
        lengths, offsets = group["GroupLenType"][()], group["GroupOffsetType"][()]
        assert lengths.shape == (n, 6) and (lengths.sum(axis=1) == group["GroupLen"]).all()
        assert (offsets[1:] == lengths.cumsum(axis=0)[:-1]).all() and not offsets[0].any()
        ids = file["IDs/ID"][()]
        assert len(ids) == head["Nids_Total"] == lengths.sum()
        first = numpy.concatenate([snap[0]["id"], snap[1]["id"]])[labels == 1]
        assert (ids[:len(first)] == first).all()


def test_sorted_snapshot():
    h5py, numpy, _ = cli.snapshot_modules()
    for code in ("swift", "gadget4"):
        snap = snapshot(code)
        cli.ok("fof", "snap.hdf5", "-o", "a.csv", "--labels", "a.npy", "-q")
        cli.ok("fof", "snap.hdf5", "-o", "a.hdf5", "--sort-snapshot", "sorted.hdf5", "-q")
        cli.ok("fof", "sorted.hdf5", "-o", "b.csv", "--labels", "b.npy", "-q")
        halos, again = columns("a.csv"), columns("b.csv")
        labels, n = numpy.load("a.npy"), len(halos["group"])
        little_h = 0.7 if code == "swift" else 1
        assert n > 10 and again["members"] == halos["members"]
        for name in ("mass", "x", "radius_rms", "r200c"):
            scaled = numpy.array(halos[name]) * little_h
            assert numpy.allclose(again[name], scaled, rtol=1e-5), name
        for name in ("vx", "dispersion"):  # over sqrt(a) and back
            assert numpy.allclose(again[name], halos[name], rtol=1e-4, atol=0.01), name
        with h5py.File("a.hdf5") as tab, h5py.File("sorted.hdf5") as file:
            length, begin = tab["Group/GroupLenType"][()], tab["Group/GroupOffsetType"][()]
            counts = [1000, 4000, 0, 0, 0, 0]
            assert file["Header"].attrs["NumPart_Total"].tolist() == counts
            for kind, labels in ((0, labels[:1000]), (1, labels[1000:])):
                order = numpy.argsort(numpy.where(labels == 0, n + 1, labels), kind="stable")
                part = file[f"PartType{kind}"]
                ids = part["ParticleIDs"][()]
                assert (ids == snap[kind]["id"][order]).all()
                pos = snap[kind]["pos"][order] * numpy.float64(little_h)
                assert numpy.allclose(part["Coordinates"], pos, rtol=1e-6)
                for group in range(n):
                    first, many = begin[group, kind], length[group, kind]
                    expected = snap[kind]["id"][labels == group + 1]
                    assert (ids[first:first + many] == expected).all()
    cli.fails(6, "fof", "snap.hdf5", "--sort-snapshot", "a.npy", says=["a.npy", ".hdf5"])


def test_swift():
    h5py, numpy, _ = cli.snapshot_modules()
    snap = snapshot("swift")
    cli.ok("fof", "snap.hdf5", "-o", "a.csv", "--labels", "labels.hdf5", "-q")
    cli.ok("fof", "snap.hdf5", "-o", "a.hdf5", "--format", "swift", "--labels", "a.npy", "-q")
    halos = columns("a.csv")
    with h5py.File("a.hdf5") as file:
        group = file["Groups"]
        assert file["Header"].attrs["OutputType"] == b"FOF"
        assert file["Header"].attrs["NumGroups_Total"] == len(halos["group"])
        assert group["GroupIDs"][()].tolist() == halos["group"]
        assert group["Sizes"][()].tolist() == halos["members"]
        assert group["Masses"][()].tolist() == halos["mass"]
        assert group["Centres"][:, 0].tolist() == halos["x_mass"]
        assert group["Radii"][()].tolist() == halos["radius_max"]
        assert group["Centres"].attrs["a-scale exponent"] == 1
        assert group["Masses"].attrs["U_M exponent"] == 1
    with h5py.File("labels.hdf5") as file:
        labels, plain = file["FOFGroupIDs"][()], numpy.load("a.npy")
        assert ((labels == plain) | ((plain == 0) & (labels == 2147483647))).all()
        assert (file["ParticleIDs"][:1000] == snap[0]["id"]).all()


def test_grp():
    cli.ok("make", "clustered", "2k", "--seed", "1", "-o", "a.std", "-q")
    cli.ok("fof", "a.std", "--box", "1", "--labels", "a.grp", "-q")
    with open("a.grp", encoding="ascii") as file:
        lines = file.read().split("\n")
    assert lines[0] == "2000" and len(lines) == 2002 and lines[-1] == ""
    assert max(map(int, lines[1:-1])) == cli.report("fof", "a.std", "--box", "1")["groups"]


def read_png(path):
    """Width, height and the rows of a PNG of 8-bit RGB, unfiltered only in part."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            width, height = struct.unpack(">II", data[at + 8:at + 16])
        if kind == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += 12 + size
    assert kind == b"IEND"
    return width, height, zlib.decompress(packed)


def test_pictures():
    cli.ok("make", "clustered", "3k", "--seed", "1", "-o", "a.npy", "-q")
    if cli.run("fof", "a.npy", "--box", "1", "--plot", "a.png").returncode == 10:
        cli.fails(10, "fof", "a.npy", "--box", "1", "--plot", "a.png", says=["libcairo2-dev"])
        raise cli.Skip("kith was built without cairo (apt-get install libcairo2-dev)")
    width, height, rows = read_png("a.png")
    assert (width, height) == (1600, 1000) and len(rows) >= 3 * 1600 * 1000
    assert len(set(rows[::997])) > 30  # colours, not an empty page
    cli.write_npy("none.npy", [])
    cli.write_npy("one.npy", [(1, 2, 3)])
    cli.write_npy("long.npy", [(7 * x, 3 * y, 2 * z) for x, y, z in cli.read_points("a.npy")])
    for arguments in (["none.npy", "--length", "1"],
                      ["one.npy", "--length", "1", "--min-members", "1"],
                      ["long.npy", "--box", "7,3,2", "-b", "0.8"],
                      ["long.npy", "--box", "7,3,2,1,0.5,0.25", "--length", "0.3"]):
        cli.ok("fof", *arguments, "--plot", "b.png", "-q")
        assert read_png("b.png")[:2] == (1600, 1000)
    cli.fails(6, "fof", "a.npy", "--box", "1", "--plot", "a.jpg", says=["a.jpg", ".png"])


def picture(*arguments):
    """The rows of the picture of a run."""
    cli.ok("fof", *arguments, "--min-members", "5", "--plot", "a.png", "-q")
    width, height, rows = read_png("a.png")
    assert (width, height) == (1600, 1000)
    return rows


def test_pictures_of_snapshots():
    """Masses, spheres, the redshift and each way to link are in the picture, and its title."""
    snapshot("gadget4")
    cli.ok("make", "clustered", "2k", "--seed", "1", "-o", "a.npy", "-q")
    if cli.run("fof", "a.npy", "--box", "1", "--plot", "a.png").returncode == 10:
        raise cli.Skip("kith was built without cairo (apt-get install libcairo2-dev)")
    base = picture("snap.hdf5")
    assert picture("snap.hdf5") == base
    others = [picture("snap.hdf5", *words) for words in (
        ("--min-links", "2"), ("--phase-space", "300"), ("--species", "1"),
        ("--length", "0.5"))]
    others.append(picture("snap.hdf5", "--length", "0.5", "--phase-space", "300"))
    cli.ok("make", "clustered", "2k", "--seed", "1", "-o", "a.std", "-q")  # masses, of no unit
    others.append(picture("a.std", "--box", "1"))  # R200m, for want of a cosmology
    others.append(picture("a.std", "--length", "0.02"))  # no sphere
    others.append(picture("a.npy", "--box", "1"))
    others.append(picture("a.npy", "--box", "1", "--periodic", "x"))
    others.append(picture("a.npy", "--box", "1,1,1,0.1,0,0", "--length", "0.02"))
    others.append(picture("a.npy", "--box", "1,1,1,0,0.1,0", "--length", "0.02"))
    others.append(picture("a.npy", "--box", "1,1,1,0,0,0.1", "--length", "0.02"))
    assert len({base, *others}) == 1 + len(others)


def test_full_disk():
    cli.ok("make", "clustered", "20k", "--seed", "1", "-o", "a.npy", "-q")
    limited = ["sh", "-c", 'ulimit -f 8; exec "$0" "$@"', cli.KITH, "fof", "a.npy", "--box", "1"]
    outputs = [["-o", "x.csv"], ["-o", "x.list"], ["--labels", "x.npy"], ["--labels", "x.grp"],
               ["-o", "x.hdf5"], ["-o", "x.h5", "--format", "swift"], ["--labels", "x.h5"],
               ["--plot", "x.png"]]
    for option, name, *more in outputs:
        done = subprocess.run(limited + [option, name, *more], capture_output=True, text=True,
                              timeout=60, check=False)
        if needs.lacking(done):
            continue
        assert done.returncode == 9 and name in done.stderr, (name, done)
        assert os.listdir() == ["a.npy"], os.listdir()


sys.exit(cli.main(globals()))
