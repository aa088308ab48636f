# SPDX-License-Identifier: BSD-3-Clause
"""The layouts of kith fof's catalogues: every attribute that their readers take for granted, and
the readers themselves where .ci/readers has fetched them."""
import json
import math
import os
import subprocess
import sys

import cli
from fof_snapshot import A, H, columns, snapshot

READERS = os.path.join(os.path.dirname(__file__), "..", "..", "build", "readers", "bin", "python")


def near(found, expected, tolerance=1e-5):
    """Whether all numbers agree, relative to the largest expected."""
    _, numpy, _ = cli.snapshot_modules()
    found, expected = numpy.array(found), numpy.array(expected)
    return found.shape == expected.shape and \
        abs(found - expected).max() <= tolerance * abs(expected).max()


ROCKSTAR = """ID DescID Mvir Vmax Vrms Rvir Rs Np X Y Z VX VY VZ JX JY JZ Spin rs_klypin Mvir_all
M200b M200c M500c M2500c Xoff Voff spin_bullock b_to_a c_to_a A[x] A[y] A[z] b_to_a(500c)
c_to_a(500c) A[x](500c) A[y](500c) A[z](500c) T/|U| M_pe_Behroozi M_pe_Diemer Halfmass_Radius
""".split()


def read_rockstar(path):
    """Header lines and rows by name."""
    with open(path, encoding="ascii") as file:
        lines = file.read().splitlines()
    names = lines[0][1:].split()
    return lines[:16], [dict(zip(names, map(float, line.split(" ")))) for line in lines[16:]]


def test_rockstar():
    _, numpy, _ = cli.snapshot_modules()
    for code in ("gadget", "swift"):  # two systems of units, one catalogue
        snap = snapshot(code)
        cli.ok("fof", "snap.hdf5", "-o", "a.list", "--labels", "a.npy", "-q")
        cli.ok("fof", "snap.hdf5", "-o", "a.csv", "-q")
        head, halos = read_rockstar("a.list")
        kith = columns()
        assert head[0][1:].split() == ROCKSTAR + ["Mfof", "Rrms"]
        assert all(line[0] == "#" for line in head) and len(halos) == len(kith["group"]) > 3
        assert head[1:4] == ["#a = 0.5", "#Om = 0.3; Ol = 0.7; h = 0.7", "#FOF linking length: 0.2"]
        assert head[6] == "#Box size: 50 Mpc/h", head[6]
        mass = float(head[5].removeprefix("#Particle mass: ").removesuffix(" Msun/h"))
        critical = 27.7536627e10 * 0.3 * 50**3 / 5000
        assert abs(mass / critical - 1) < 1e-3
        mpc = 1e-3 if code == "gadget" else H  # to Mpc/h
        msun = 1e10 * (1 if code == "gadget" else H)  # to Msun/h
        labels = numpy.load("a.npy")
        vel = numpy.concatenate([snap[0]["vel"], snap[1]["vel"]]).astype("f8")
        vel *= A**0.5 if code == "gadget" else 1
        for k, halo in enumerate(halos):
            assert halo["Np"] == kith["members"][k] and halo["DescID"] == -1
            for ours, name, factor in (("x", "X", mpc), ("vy", "VY", 1), ("mass", "Mfof", msun),
                                       ("mvir", "Mvir", msun), ("r200m", None, 0),
                                       ("rvir", "Rvir", 1000 * mpc), ("b_to_a", "b_to_a", 1),
                                       ("jz", "JZ", msun * mpc * A)):
                if name:
                    exact = kith[ours][k] * factor
                    assert abs(halo[name] - exact) <= 1e-8 * abs(exact), (code, name)
            spread = vel[labels == k + 1]  # equal masses; three-dimensional
            spread = math.sqrt(((spread - spread.mean(axis=0))**2).sum(axis=1).mean())
            assert abs(halo["Vrms"] / spread - 1) < 1e-5, (halo["Vrms"], spread)
            axis = math.sqrt(sum(halo[f"A[{c}]"]**2 for c in "xyz"))
            assert abs(axis / (kith["a"][k] * 1000 * mpc) - 1) < 1e-8
            absent = {name for name, value in halo.items() if math.isnan(value)}
            assert absent == {"Vmax", "Rs", "Spin", "rs_klypin", "Mvir_all", "M2500c", "Xoff",
                              "Voff", "spin_bullock", "b_to_a(500c)", "c_to_a(500c)", "A[x](500c)",
                              "A[y](500c)", "A[z](500c)", "T/|U|", "M_pe_Behroozi", "M_pe_Diemer",
                              "Halfmass_Radius"}
        table = numpy.loadtxt("a.list", skiprows=16)  # as scripts read it: by position
        assert table.shape == (len(halos), len(ROCKSTAR) + 2)
        assert (table[:, 8] == [halo["X"] for halo in halos]).all()


def test_rockstar_without_units():
    cli.ok("make", "clustered", "2k", "--seed", "1", "-o", "a.npy", "-q")
    for box, words in (("1", "1"), ("1,2,3", "1 2 3"), ("2,2,2,0.5,0,0", "2 0 0 0.5 2 0 0 0 2")):
        cli.ok("fof", "a.npy", "--box", box, "-o", "a.list", "-q")
        head, halos = read_rockstar("a.list")
        assert head[6] == f"#Box size: {words}" and head[5] == "#Particle mass: nan"
        assert head[1] == "#a = nan" and "h = nan" in head[2]
        assert math.isnan(halos[0]["Mfof"]) and math.isnan(halos[0]["VX"]) and halos[0]["Np"] > 19
    cli.ok("fof", "a.npy", "--length", "0.02", "-o", "a.list", "-q")
    head, _ = read_rockstar("a.list")
    assert head[3] == "#FOF linking length: nan" and head[6] == "#Box size: 0"


def test_boxes():
    """Layouts of cubes: another box is written with three lengths, or refused."""
    h5py, numpy, _ = cli.snapshot_modules()
    cli.ok("make", "clustered", "2k", "--seed", "1", "-o", "a.npy", "-q")
    points = cli.read_points("a.npy")
    cli.write_npy("b.npy", [(x - 0.5, 2 * y - 1, 3 * z - 1.5) for x, y, z in points])
    outputs = (["-o", "a.hdf5"], ["-o", "a.h5", "--format", "swift"],
               ["--sort-snapshot", "s.hdf5"])
    for name, *rest in outputs:
        output = [name, *rest]
        path = rest[0]
        cli.ok("fof", "a.npy", "--box", "1", "-q", *output)
        with h5py.File(path) as file:
            head = file["Header"].attrs
            assert numpy.all(head["BoxSize"] == 1) and not head["BoxOrigin"].any()
        cli.ok("fof", "b.npy", "--box", "1,2,3", "-q", *output)
        with h5py.File(path) as file:
            head = file["Header"].attrs
            assert head["BoxSize"].tolist() == [1, 2, 3]
            assert head["BoxOrigin"].tolist() == [-0.5, -1, -1.5]
        cli.ok("fof", "a.npy", "--length", "0.02", "-q", *output)
        with h5py.File(path) as file:
            assert numpy.all(file["Header"].attrs["BoxSize"] == 0)
        for box, word in ((["--box", "1,1,1,0.2,0,0"], "skewed"),
                          (["--box", "1", "--periodic", "xy"], "partly periodic")):
            cli.fails(6, "fof", "a.npy", *box, *output, says=[path, word, ".csv"])
            cli.ok("fof", "a.npy", *box, "-o", "a.csv", "-q")


def test_attached_members():
    """GroupLen counts attached members, groups are ordered by it, and the minimum applies to it."""
    h5py, numpy, snapshots = cli.snapshot_modules()
    counts = [(30, 0), (25, 40), (15, 10), (19, 0), (10, 9)]  # dark matter, gas
    rng = numpy.random.default_rng(1)
    snap = snapshots.make({0: sum(gas for _, gas in counts), 1: sum(dark for dark, _ in counts)},
                          table=())
    for kind, column in ((1, 0), (0, 1)):
        snap[kind]["pos"] = numpy.concatenate(
            [rng.normal(10 + 20 * k, 0.1, (count[column], 3)) for k, count in enumerate(counts)]
        ).astype("f4")
    snapshots.hdf5("snap.hdf5", snap, {"time": A, "redshift": 1, "box": 100.0, "omega": 0.3,
                                       "lambda": 0.7, "h": H}, "gadget4")
    arguments = ("fof", "snap.hdf5", "--length", "1")
    cli.ok(*arguments, "-o", "a.hdf5", "--sort-snapshot", "s.hdf5", "--labels", "a.npy", "-q")
    cli.ok(*arguments, "-o", "a.csv", "-q")
    labels = numpy.load("a.npy")
    with h5py.File("a.hdf5") as file, h5py.File("s.hdf5") as moved:
        group = file["Group"]
        assert group["GroupLen"][()].tolist() == [65, 30, 25] == columns()["members"]
        lengths, begin = group["GroupLenType"][()], group["GroupOffsetType"][()]
        assert lengths[:, 0].tolist() == [40, 0, 10] and lengths[:, 1].tolist() == [25, 30, 15]
        ids = file["IDs/ID"][()]
        for kind in (0, 1):
            own = labels[:59] if kind == 0 else labels[59:]
            for k in range(3):
                part = slice(begin[k, kind], begin[k, kind] + lengths[k, kind])
                found = moved[f"PartType{kind}/ParticleIDs"][part]
                assert (found == snap[kind]["id"][own == k + 1]).all()
                assert set(found) <= set(ids[[0, 65, 95][k]:])
    found = cli.report(*arguments)
    assert [halo["linked"] for halo in found["largest"]] == [25, 30, 15]
    assert cli.report(*arguments, "--min-members", "19")["groups"] == 5
    assert cli.report(*arguments, "--min-members", "66")["groups"] == 0


def has(attributes, expected, one=False):
    """Whether attributes have these values, as scalars or, one: as arrays of one element."""
    for name, value in expected.items():
        shape = (1,) if one else ()
        assert attributes[name].shape == shape, (name, attributes[name])
        assert abs(attributes[name] - value) <= 1e-5 * abs(value), (name, attributes[name], value)


def test_attributes_of_gadget4():
    h5py, numpy, _ = cli.snapshot_modules()
    snapshot("gadget4")
    cli.ok("fof", "snap.hdf5", "-o", "a.hdf5", "-q")
    cli.ok("fof", "snap.hdf5", "-o", "a.csv", "-q")
    halos = columns()
    n = len(halos["group"])
    with h5py.File("a.hdf5") as file:
        head, group = file["Header"].attrs, file["Group"]
        has(head, {"Ngroups_ThisFile": n, "Ngroups_Total": n, "Nsubhalos_ThisFile": 0,
                   "Nsubhalos_Total": 0, "Nids_Total": sum(halos["members"]), "NumFiles": 1,
                   "Time": A, "Redshift": 1, "BoxSize": 50, "Omega0": 0.3, "OmegaLambda": 0.7,
                   "HubbleParam": H})
        assert head["Ngroups_Total"].dtype == "i8"  # unsigned counts crash yt
        has(file["Parameters"].attrs, {"UnitLength_in_cm": 3.08568e24, "UnitMass_in_g": 1.989e43,
                                       "UnitVelocity_in_cm_per_s": 1e5, "Omega0": 0.3})
        assert "Subhalo" in file and len(file["Subhalo"]) == 0 and "IDs" in file
        assert near(group["GroupVel"][:, 0] * A**0.5, halos["vx"])
        assert near(group["GroupVelDisp"][()] * A**0.5, halos["dispersion"])
        assert group["GroupFirstSub"][()].tolist() == [-1] * n
        assert (numpy.diff(group["GroupLen"][()]) <= 0).all()
        for name, a, h in (("GroupVel", 0.5, 0), ("GroupVelDisp", 0.5, 0), ("GroupPos", 1, -1),
                           ("GroupMass", 0, -1), ("Group_R_Crit200", 1, -1)):
            has(group[name].attrs, {"a_scaling": a, "h_scaling": h})


def test_attributes_of_swift():
    h5py, _, _ = cli.snapshot_modules()
    snapshot("swift")
    cli.ok("fof", "snap.hdf5", "-o", "a.hdf5", "--format", "swift", "-q")
    cli.ok("fof", "snap.hdf5", "-o", "a.csv", "-q")
    halos = columns()
    n = len(halos["group"])
    with h5py.File("a.hdf5") as file:
        head, group = file["Header"].attrs, file["Groups"]
        assert head["OutputType"] == b"FOF" and near(head["BoxSize"], [50 / H] * 3)
        has(head, {"NumGroups_Total": n, "NumGroups_ThisFile": n, "NumFilesPerSnapshot": 1,
                   "ThisFile": 0, "Dimension": 3, "Redshift": 1, "Scale-factor": A}, one=True)
        for name in ("NumPart_ThisFile", "NumPart_Total", "NumPart_Total_HighWord", "MassTable"):
            assert head[name].tolist() == [0] * 7
        time = 3.08567758e19
        has(file["Units"].attrs, {"Unit length in cgs (U_L)": 3.08567758e24,
                                  "Unit mass in cgs (U_M)": 1.98841e43,
                                  "Unit time in cgs (U_t)": time,
                                  "Unit current in cgs (U_I)": 1,
                                  "Unit temperature in cgs (U_T)": 1}, one=True)
        has(file["Cosmology"].attrs, {"Cosmological run": 1, "Scale-factor": A, "Redshift": 1,
                                      "h": H, "H0 [internal units]": 70e5 / 3.08567758e24 * time,
                                      "Omega_m": 0.3, "Omega_lambda": 0.7, "Omega_b": 0.05,
                                      "Omega_cdm": 0.25, "Omega_r": 0, "Omega_k": 0, "w_0": -1,
                                      "w_a": 0}, one=True)
        for name, mass, length in (("Masses", 1, 0), ("Centres", 0, 1), ("Radii", 0, 1),
                                   ("GroupIDs", 0, 0), ("Sizes", 0, 0)):
            has(group[name].attrs, {"U_M exponent": mass, "U_L exponent": length, "U_t exponent": 0,
                                    "U_I exponent": 0, "U_T exponent": 0, "h-scale exponent": 0,
                                    "a-scale exponent": length}, one=True)
        assert group["Masses"][()].tolist() == halos["mass"]
        assert group["Sizes"][()].tolist() == halos["members"]


def read_with(tool, path):
    """What a tool reads; skips where the tool is not there."""
    if not os.path.exists(READERS):
        raise cli.Skip(f"no {tool} (.ci/readers fetches it from PyPI)")
    reader = os.path.join(os.path.dirname(os.path.abspath(__file__)), "read_catalogues.py")
    done = subprocess.run([READERS, "-B", "-E", reader, tool, path], capture_output=True, text=True,
                          timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def test_yt():
    snapshot("swift")
    cli.ok("fof", "snap.hdf5", "-o", "fof_subhalo_tab_000.0.hdf5", "-q")
    cli.ok("fof", "snap.hdf5", "-o", "a.csv", "-q")
    halos = columns()
    found = read_with("yt", "fof_subhalo_tab_000.0.hdf5")
    assert near(found["box"], 50, 1e-3)  # yt has its own parsec
    assert near(found["mass"], [m * H * 1e10 for m in halos["mass"]], 1e-3)
    assert near([x for x, _, _ in found["position"]], [x * H for x in halos["x"]], 1e-3)
    assert near(found["velocity"], halos["vx"])


def test_pynbody():
    snapshot("swift")
    cli.ok("fof", "snap.hdf5", "-o", "fof_subhalo_tab_000.hdf5", "--sort-snapshot",
           "snapshot_000.hdf5", "-q")
    cli.ok("fof", "snap.hdf5", "-o", "a.csv", "-q")
    halos = columns()
    found = read_with("pynbody", "snapshot_000.hdf5")
    assert found["members"] == halos["members"]
    assert near(found["mass"], [m * H * 1e10 for m in halos["mass"]], 1e-3)
    assert near([x for x, _, _ in found["position"]], [x * H for x in halos["x"]], 1e-3)
    assert near(found["velocity"], halos["vx"])
    for k, (members, mass, momentum) in enumerate(found["particles"]):  # of the sorted snapshot
        assert members == halos["members"][k] and abs(mass / found["mass"][k] - 1) < 1e-5
        assert abs(momentum / mass - halos["vx"][k]) < 0.01


def test_swiftsimio():
    for code in ("swift", "gadget4"):
        snapshot(code)
        cli.ok("fof", "snap.hdf5", "-o", "a.hdf5", "--format", "swift", "-q")
        cli.ok("fof", "snap.hdf5", "-o", "a.csv", "-q")
        halos = columns()
        found = read_with("swiftsimio", os.path.abspath("a.hdf5"))
        h = 1 if code == "swift" else 1 / H
        assert near(found["box"], 50 / H, 1e-3) and abs(found["hubble"] - 70) < 0.01
        assert found["redshift"] == 1 and found["members"] == halos["members"]
        assert near(found["mass"], [m * h * 1e10 for m in halos["mass"]], 1e-3)
        assert near([x for x, _, _ in found["position"]], [x * h for x in halos["x_mass"]], 1e-3)


sys.exit(cli.main(globals()))
