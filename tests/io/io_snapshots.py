#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Snapshots of all codes, formats and byte orders, in one file and in many: we read the numbers
that were written, in their order, and refuse what is damaged with a sentence that helps.

    python3 io_snapshots.py IO_TOOL
"""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

import needs

try:
    import h5py
    import numpy as np
except ImportError as error:
    needs.leave(error)

import snapshots
from snapshots import FLAT, UNIVERSE, gadget, gadget_header, make, record, split

TOOL = subprocess.Popen([sys.argv[1], "fields"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
SYSTEM, FORMAT, TRUNCATED, INVALID, LIMIT, MISSING = 1, 2, 3, 4, 5, 9
MASSES, VELOCITIES, IDS, TYPES, POTENTIALS, DENSITIES = (1 << k for k in range(6))
failures = 0


def check(holds, what):
    global failures
    if not holds:
        failures += 1
        print("not true:", what)


def read(path, species="", needed=0, precision=0):
    """The header as a dictionary, with the arrays in it; None, status and sentence on failure."""
    TOOL.stdin.write(f"{path}\t{species}\t{needed}\t{precision}\n".encode())
    TOOL.stdin.flush()
    line = TOOL.stdout.readline()
    if not line.startswith(b"{"):
        return None, int(line or -1), TOOL.stdout.readline().decode()
    out = json.loads(line)
    for name in out["arrays"][1:]:
        kind = np.dtype({"id": "i8", "type": "u1"}.get(name, f"f{out['precision']}"))
        shape = (out["n"], 3) if name in ("pos", "vel") else (out["n"],)
        data = TOOL.stdout.read(kind.itemsize * int(np.prod(shape)))
        out[name] = np.frombuffer(data, kind).reshape(shape)
    return out, 0, ""


def expected(snap, name, precision, factor=1.0):
    """All values of a field in order of type; None when a type lacks it."""
    parts = []
    for kind in sorted(snap):
        n = len(snap[kind]["pos"])
        if name == "type":
            parts.append(np.full(n, kind))
        elif name in snap[kind]:
            parts.append(np.broadcast_to(np.asarray(snap[kind][name]), (n,))
                         if np.ndim(snap[kind][name]) == 0 else snap[kind][name])
        elif n:
            return None
    whole = np.concatenate(parts)
    if name == "id":
        return whole.astype("u8").astype("i8")
    if name == "type":
        return whole
    whole = whole.astype(f"f{precision}")
    return (whole.astype("f8") * factor).astype(f"f{precision}") if factor != 1 else whole


def compare(path, snap, what, factor=1.0, fields=("pos", "vel", "id", "mass", "type"), **options):
    """Read, and compare every field with what was written."""
    got, status, sentence = read(path, **options)
    if status:
        check(False, f"{what}: {sentence}")
        return {}
    for name in fields:
        exact = expected(snap, name, got["precision"], factor if name == "vel" else 1.0)
        if exact is None:
            check(name not in got, f"{what}: {name} out of nothing")
        else:
            check(name in got and np.array_equal(got[name], exact), f"{what}: {name}")
    return got


def refuse(path, status, *words, **options):
    """Reading fails with this status and a sentence that has these words."""
    _, got, sentence = read(path, **options)
    check(got == status and all(w in sentence for w in words),
          f"status {got}, not {status}, or no {words} in: {sentence}")


def test_gadget(folder):
    for form in (1, 2):
        for order in "<>":
            for real, ids in (("f4", "u4"), ("f8", "u8")):
                snap = make({0: 50, 1: 70, 4: 30}, real, ids)
                snap[1]["id"][0] = np.iinfo(ids).max
                path = folder / "one"
                path.write_bytes(gadget(snap, UNIVERSE, order, form))
                what = f"Gadget {form}, {order}, {real}"
                fields = ["pos", "vel", "id", "mass", "type"] + ["pot"] * (form == 2)
                got = compare(path, snap, what, 0.5, fields)
                check(got["precision"] == int(real[1]) and got["box"] == [10] * 3, what)
                check(got["cosmology"] == [0.25, 3, 0.7, 0.3, 0.7, 0], what)
                check(got["units"] == [3.085678e21, 1.989e43, 1e5, -1, -1], what)
                check(got["mass_of_type"][:3] == [0, 1.25, 0] and got["source"] == 1, what)
                check("rho" not in got and ("pot" in got) == (form == 2), what)
                one = {4: snap[4]}
                for name in ("4", "stars", "parttype4", "STAR,PartType4"):
                    compare(path, one, what, 0.5, fields, species=name)
                two = {0: snap[0], 1: snap[1]}
                compare(path, two, what, 0.5, fields, species="dm,gas", precision=8)
                if form == 2:
                    compare(path, {0: snap[0]}, what, 0.5, ["rho"], species="gas")
    path.write_bytes(gadget(snap, FLAT))
    got = compare(path, snap, "not cosmological")
    check(not got["has_box"] and not got["known"] and got["time"] == 1.5, "not cosmological")
    check(got["units"] == [0] * 5 and got["source"] == 0, "units out of nothing")
    path.write_bytes(gadget({}, FLAT))
    check(compare(path, {}, "empty", fields=())["n"] == 0, "empty")


def write_set(folder, name, ending, parts, snap, write):
    """Write the files of a snapshot; their paths."""
    total = snapshots.counts_of(snap, 7)
    paths = []
    for k, part in enumerate(parts):
        paths.append(folder / f"{name}.{k}{ending}")
        write(paths[-1], part, files=len(parts), number=k, total=total)
    return paths


def write_gadget(path, part, files, number, total):
    """Every other file in the other byte order."""
    path.write_bytes(gadget(part, UNIVERSE, "<>"[number % 2], 1 + number % 2, files, total[:6]))


def test_sets(folder):
    snap = make({0: 5, 1: 71, 4: 2})
    parts = split(snap, 4)
    place = folder / "snapdir"
    place.mkdir()
    paths = write_set(place, "snap_005", "", parts, snap, write_gadget)
    size = sum(p.stat().st_size for p in paths)
    for path in (*paths, place / "snap_005", place, f"{place}/"):
        got = compare(path, snap, f"a set by {path}", 0.5)
        check(got.get("bytes") == size, "bytes of a set")
    compare(paths[0], {4: snap[4]}, "stars of a set", 0.5, species="star")
    paths[2].rename(place / ".away")
    for path in (paths[0], paths[3], place):
        refuse(path, SYSTEM, "4 files", "snap_005.2: ", "No such file")
    write_gadget(paths[2], parts[1], 4, 2, snapshots.counts_of(snap))
    refuse(paths[0], FORMAT, "counts 2 particles of PartType4", "hold 3")
    for change, word in (({"time": 0.5, "redshift": 1.0}, "time 0.5"), ({"box": 11}, "box"),
                         ({"h": 0.71}, "Hubble"), ({"omega": 0.31}, "matter")):
        paths[2].write_bytes(gadget(parts[2], UNIVERSE | change, files=4,
                                    total=snapshots.counts_of(snap)))
        refuse(paths[1], FORMAT, word, "snap_005.2", "one snapshot")
    write_gadget(paths[2], parts[2], 5, 2, snapshots.counts_of(snap))
    refuse(paths[0], FORMAT, "one of 5 files", "one of 4")
    write_gadget(place / "other.0", snap, 1, 0, snapshots.counts_of(snap))
    refuse(place, INVALID, "2 snapshots", "other.0, snap_005.0")
    write_gadget(folder / "lonely", parts[0], 4, 0, snapshots.counts_of(snap))
    refuse(folder / "lonely", INVALID, "no number", "snap.0")


def test_folders(folder):
    """A folder holds one snapshot: several are listed, in whatever layout they are."""
    one, other = make({1: 30}, ids="u8"), make({1: 20}, ids="u8", seed=2)

    def place(name, *snaps):
        where = folder / name
        where.mkdir()
        (where / "README").write_text("text is no snapshot")
        for file, snap, files in snaps:
            write = write_gadget if file.startswith("gadget") else write_hdf5("gadget4")
            ending = "" if file.startswith("gadget") else ".hdf5"
            if files > 1:
                write_set(where, file, ending, split(snap, files), snap, write)
            else:
                write(where / (file + ending), snap, files=1, number=0,
                      total=snapshots.counts_of(snap))
        return where

    compare(place("a", ("snap_000", one, 1)), one, "one file in a folder", 0.5)
    compare(place("b", ("snap_000", one, 3)), one, "one set in a folder", 0.5)
    refuse(place("c", ("snap_000", one, 1), ("snap_001", other, 1)), INVALID, "2 snapshots",
           "snap_000.hdf5, snap_001.hdf5")
    mixed = place("d", ("snap_000", one, 3), ("snap_001", other, 1), ("gadget.7", other, 1))
    refuse(mixed, INVALID, "3 snapshots", "gadget.7, snap_000.0.hdf5, snap_001.hdf5")
    refuse(place("e", ("gadget.0", one, 1), ("gadget.1", other, 1)), INVALID, "2 snapshots",
           "gadget.0, gadget.1")
    (mixed / "snap_001.hdf5").write_bytes(b"\x89HDF\r\n\x1a\n, but damaged")
    (mixed / "gadget.7").unlink()
    refuse(mixed, INVALID, "2 snapshots", "snap_000.0.hdf5, snap_001.hdf5")
    refuse(place("f"), SYSTEM, "without a snapshot")
    both = place("g", ("snap", one, 1), ("snap.0", other, 1))
    (both / "snap.0.hdf5").rename(both / "snap.0")
    refuse(both / "snap", INVALID, "two snapshots", "snap.0 and ", "snap.hdf5")
    many = place("h", *((f"a_long_name_of_a_snapshot_{k:03}", one, 1) for k in range(40)))
    refuse(many, INVALID, "40 snapshots", "snapshot_009.hdf5", ", ...")


def sparse(path, counts, size, files=1, total=None, high=(0,) * 6):
    """A file of format 1 with blocks of nothing: positions as floats."""
    header = gadget_header("<", counts, total or counts, [1.0] * 6, UNIVERSE, files, high)
    head = record("<", header)
    marker = struct.pack("<I", size & 0xffffffff)
    with open(path, "wb") as f:
        f.write(head + marker)
        f.seek(size, os.SEEK_CUR)
        f.write(marker)
    return len(head) + 4


def test_large(folder):
    """Blocks over 4 GiB, and more than 2^32 particles: with holes, these take no room."""
    n = 400_000_000
    size = 12 * (n + 2)
    begin = sparse(folder / "large", [n, 2, 0, 0, 0, 0], size)
    last = np.arange(6, dtype="f4").reshape(2, 3)
    with open(folder / "large", "r+b") as f:
        f.seek(begin + 12 * n)
        f.write(last.tobytes())
    got, _, sentence = read(folder / "large", "dark")
    check(got and np.array_equal(got["pos"], last), f"a block over 4 GiB: {sentence}")
    count = 2_200_000_000
    for high, upper in (((0, 1, 0, 0, 0, 0), 0), ((0,) * 6, 1)):  # Gadget's way, LGADGET's way
        for k in range(2):
            sparse(folder / f"huge.{k}", [0, count, 0, 0, 0, 0], 12 * count, 2,
                   [0, 2 * count, upper, 0, 0, 0], high)
        refuse(folder / "huge.0", LIMIT, "4400000000")
    sparse(folder / "huge.1", [0, count, 0, 0, 0, 0], 12 * count, 2, [0, 2 * count, 0, 0, 0, 0])
    refuse(folder / "huge.0", FORMAT, "huge.1", "one snapshot")


def test_bad_gadget(folder):
    path = folder / "bad"
    snap = make({0: 5, 1: 7})
    for form in (1, 2):
        whole = gadget(snap, UNIVERSE, form=form)
        for length in range(9, len(whole), 3):  # shorter, it is not even Gadget's
            path.write_bytes(whole[:length])
            got, status, sentence = read(path)
            check(status in (0, TRUNCATED, MISSING), f"cut to {length}: {status} {sentence}")
            check(status or np.array_equal(got["pos"], expected(snap, "pos", 4)),
                  f"cut to {length}: other positions")
    nan = float("nan")
    for change, status, words in (
            ({"box": -1.0}, FORMAT, ["BoxSize is -1"]), ({"box": nan}, FORMAT, ["BoxSize is nan"]),
            ({"h": 70.0}, FORMAT, ["Hubble parameter", "70", "0.7"]),
            ({"h": nan}, FORMAT, ["Hubble"]), ({"omega": -0.3}, FORMAT, ["Omega of matter"]),
            ({"lambda": nan}, FORMAT, ["cosmological constant"]),
            ({"time": 0.5}, FORMAT, ["redshift 3", "0.5", "0.25"]),
            ({"time": nan}, FORMAT, ["nan"])):
        path.write_bytes(gadget(snap, UNIVERSE | change))
        refuse(path, status, *words)
    path.write_bytes(gadget(snap, UNIVERSE, form=2, leave_out=("MASS",)))
    refuse(path, MISSING, "masses", "PartType0", "block MASS", needed=MASSES)
    refuse(path, INVALID, "plasma", species="gas,plasma")
    compare(path, {1: snap[1]}, "masses of one type", 0.5, species="1", needed=MASSES)
    refuse(path, MISSING, "no masses", "PartType0 (gas)", "of other particles", "block MASS")
    path.write_bytes(gadget(snap, UNIVERSE, form=2, leave_out=("POS",)))
    refuse(path, TRUNCATED, "12 particles", "POS")
    path.write_bytes(gadget(snap, UNIVERSE, total=[5, 8, 0, 0, 0, 0]))
    refuse(path, FORMAT, "counts 8", "PartType1", "hold 7")
    whole = bytearray(gadget(snap, UNIVERSE))
    whole[264] += 1  # the first marker of POS
    path.write_bytes(whole)
    refuse(path, FORMAT, "block POS", "145 bytes", "144 or 288")
    whole[264] -= 1
    whole[264 + 4 + 144] += 1  # its second
    path.write_bytes(whole)
    refuse(path, FORMAT, "block POS", "does not end")
    path.write_bytes(record("<", gadget_header("<", [1] * 6, [1] * 6, [-1.0] * 6, UNIVERSE, 1)))
    refuse(path, TRUNCATED, "6 particles")
    path.write_bytes(gadget(make({0: 5}), UNIVERSE, files=2_000_000_000))
    refuse(path, FORMAT, "2000000000 files")


PACKED = {"chunks": True, "compression": "gzip", "shuffle": True, "fletcher32": True}
CODES = {  # the factor of velocities at a = 1/4, the source, the units
    "gadget": (0.5, 1, [3.085678e21, 1.989e43, 1e5, -1, -1]),
    "arepo": (0.5, 2, [3.08568e21, 1.989e43, 1e5, -1, -1]),
    "gadget4": (0.5, 2, [3.08568e24, 1.989e43, 1e5, -1, -1]),
    "swift": (1.0, 2, [3.08567758e24, 1.98841e43, 1e5, 0, 0])}
ALL = ("pos", "vel", "id", "mass", "type", "pot")


def test_hdf5(folder):
    path = folder / "one.hdf5"
    for code, (factor, source, units) in CODES.items():
        for storage in ({}, PACKED):
            real, table = ("f8", ()) if code == "swift" else ("f4", (1,))
            snap = make({0: 50, 1: 2000, 4: 30}, real, "u8", table)
            if code == "swift":
                snap |= make({5: 0, 6: 20}, real, "u8", ())
            snap[1]["id"][:2] = 2**64 - 1, 2**63
            snapshots.hdf5(path, snap, UNIVERSE, code, **storage)
            got = compare(path, snap, code, factor, ALL)
            baryons = 0.05 if code in ("gadget4", "swift") else 0
            check(got["cosmology"] == [0.25, 3, 0.7, 0.3, 0.7, baryons], f"{code}: cosmology")
            check(got["units"] == units and got["source"] == source, f"{code}: units")
            check(got["box"] == [10] * 3 and got["id"][0] == snap[0]["id"][0], f"{code}: box")
            check(got["mass_of_type"][1] == (1.25 if 1 in table else 0), f"{code}: MassTable")
            compare(path, {4: snap[4]}, code, factor, ALL, species="stars", precision=8)
            compare(path, {0: snap[0]}, code, factor, ("rho",), species="0", needed=DENSITIES)
        snapshots.hdf5(path, snap, FLAT, code)
        got = compare(path, snap, f"{code}, not cosmological")
        check(not got["known"] and not got["has_box"], f"{code}: not cosmological")
        units = [0] * 5 if source == 1 else units[:3] + [0, 0]
        check(got["units"] == units, f"{code}: units without h")
    snapshots.hdf5(path, snap, UNIVERSE | {"box": [10.0, 20.0, 30.0]}, "swift")
    check(compare(path, snap, "a box of three lengths")["box"] == [10, 20, 30], "three lengths")
    compare(path, {6: snap[6]}, "neutrinos", species="neutrino")
    snapshots.hdf5(path, make({0: 9, 1: 8}), UNIVERSE, "gadget4")  # of two types
    check(read(path)[0]["n"] == 17, "two types")


def test_hdf5_variants(folder):
    path = folder / "one.hdf5"
    snap = make({1: 40, 4: 10}, table=())
    for width, kind in ((6, h5py.h5t.STD_U64LE), (5, h5py.h5t.STD_I64BE)):  # packed ids
        kind = kind.copy()
        kind.set_precision(8 * width)
        kind.set_size(width)
        snapshots.hdf5(path, snap, UNIVERSE)
        with h5py.File(path, "a") as f:
            for t in (1, 4):
                ids = f[f"PartType{t}/ParticleIDs"][:]
                del f[f"PartType{t}/ParticleIDs"]
                space = h5py.h5s.create_simple((len(ids),))
                data = h5py.h5d.create(f[f"PartType{t}"].id, b"ParticleIDs", kind, space)
                data.write(h5py.h5s.ALL, h5py.h5s.ALL, ids.astype("u8"))
        compare(path, snap, f"ids of {width} bytes", 0.5)
    snapshots.hdf5(path, snap, UNIVERSE)
    with h5py.File(path, "a") as f:  # EAGLE's names, and positions that are physical
        f["Header"].attrs["ExpansionFactor"] = 0.25
        f["Header"].attrs["Time"] = 0.0065
        for t in (1, 4):
            group = f[f"PartType{t}"]
            group.move("Velocities", "Velocity")
            group.move("Masses", "Mass")
            group["Velocity"].attrs["aexp-scale-exponent"] = 2.0
            group["Coordinates"].attrs["aexp-scale-exponent"] = 0.0
            group["Coordinates"].attrs["h-scale-exponent"] = 0.0
    physical = {t: fields | {"pos": 4 * fields["pos"]} for t, fields in snap.items()}
    got = compare(path, physical, "physical positions", 0.0625)
    check(got["units"][3:] == [0, -1] and got["time"] == 0.0065, "exponents of h")
    snapshots.hdf5(path, {1: snap[1]}, UNIVERSE, "arepo")
    with h5py.File(path, "a") as f:  # AREPO's tracers have no positions
        f["Header"].attrs["NumPart_ThisFile"] = f["Header"].attrs["NumPart_Total"] = \
            np.array([0, 40, 0, 7, 0, 0], "u4")
        f["PartType3/TracerID"] = np.arange(7)
    compare(path, {1: snap[1]}, "tracers", 0.5)


def write_hdf5(code):
    def write(path, part, **which):
        snapshots.hdf5(path, part, UNIVERSE, code, **which)
    return write


def test_hdf5_sets(folder):
    for code, (factor, _, _) in CODES.items():
        place = folder / code
        place.mkdir()
        snap = make({0: 2, 1: 71, 4: 5}, ids="u8", table=() if code == "swift" else (1,))
        paths = write_set(place, "snap_005", ".hdf5", split(snap, 3), snap, write_hdf5(code))
        for path in (paths[1], place / "snap_005.hdf5", place / "snap_005", place):
            got = compare(path, snap, f"{code} by {path}", factor, ALL)
            check(got["bytes"] == sum(p.stat().st_size for p in paths), "bytes of a set")
        paths[1].rename(place / ".away")
        refuse(place, SYSTEM, "3 files", "snap_005.1.hdf5: ", "No such file")
        (place / ".away").rename(paths[1])
        with h5py.File(paths[2], "a") as f:
            f["Header"].attrs["NumPart_Total"] = np.array(f["Header"].attrs["NumPart_Total"]) + 1
        refuse(place, FORMAT, "snap_005.2.hdf5", "counts 3 particles", "one snapshot")
    with h5py.File(paths[2], "a") as f:
        f["Units"].attrs["Unit length in cgs (U_L)"] = 1.0
    refuse(place, FORMAT, "unit of length", "one snapshot")


def test_virtual(folder):
    """SWIFT's file of links to the others."""
    snap = make({1: 60}, "f8", "u8", ())
    write_set(folder, "part", ".hdf5", split(snap, 3), snap, write_hdf5("swift"))
    snapshots.hdf5(folder / "whole.hdf5", snap, UNIVERSE, "swift", 3)
    with h5py.File(folder / "whole.hdf5", "a") as f:
        f["Header"].attrs["Virtual"] = np.array([1], "i4")
        for name, data in list(f["PartType1"].items()):
            shape, kind, marks = data.shape, data.dtype, dict(data.attrs)
            layout = h5py.VirtualLayout(shape, kind)
            for k in range(3):
                layout[20 * k:20 * k + 20] = h5py.VirtualSource(
                    f"part.{k}.hdf5", f"PartType1/{name}", (20,) + shape[1:], kind)
            del f["PartType1"][name]
            f["PartType1"].create_virtual_dataset(name, layout).attrs.update(marks)
    compare(folder / "whole.hdf5", snap, "a virtual file")


def test_bad_hdf5(folder):
    path = folder / "bad.hdf5"
    snap = make({0: 50, 1: 7}, ids="u8")

    def spoil(change, code="arepo", **storage):
        snapshots.hdf5(path, snap, UNIVERSE, code, **storage)
        with h5py.File(path, "a") as f:
            change(f)

    def replace(name, array):
        def change(f):
            del f[name]
            if array is not None:
                f[name] = array
        return change

    def header(name, value, group="Header"):
        return lambda f: f[group].attrs.__setitem__(name, value)

    spoil(replace("PartType0/Masses", None))
    refuse(path, MISSING, "masses", "50 particles of PartType0", "MassTable", needed=MASSES)
    compare(path, {1: snap[1]}, "masses of one type", 0.5, species="1", needed=MASSES)
    spoil(replace("PartType1/Velocities", None))
    refuse(path, MISSING, "velocities", "PartType1", "Velocities", needed=MASSES | VELOCITIES)
    refuse(path, MISSING, "no velocities", "PartType1 (dark matter)", "of other particles",
           "Velocities or Velocity")
    spoil(replace("PartType0/Masses", np.ones(49)))
    refuse(path, TRUNCATED, "PartType0/Masses has 49 rows", "50")
    spoil(replace("PartType0/Velocities", np.ones((50, 2))))
    refuse(path, FORMAT, "PartType0/Velocities has 2 columns", "3")
    spoil(replace("PartType0/ParticleIDs", np.ones(50)))
    refuse(path, FORMAT, "PartType0/ParticleIDs", "whole numbers")
    spoil(replace("PartType0/Masses", np.array([b"x"] * 50)))
    refuse(path, FORMAT, "PartType0/Masses", "no numbers")
    spoil(replace("PartType1", None))
    refuse(path, FORMAT, "NumPart_ThisFile", "7 particles of PartType1", "no group of that name")
    spoil(header("NumPart_ThisFile", np.array([50, 8, 0, 0, 0, 0])))
    refuse(path, TRUNCATED, "NumPart_ThisFile", "8 particles", "has 7")
    spoil(header("NumPart_Total", np.array([50, 8, 0, 0, 0, 0])))
    refuse(path, FORMAT, "counts 8 particles of PartType1 in all", "hold 7")
    spoil(header("MassTable", np.array([0, -1.0, 0, 0, 0, 0])))
    refuse(path, FORMAT, "mass of PartType1", "-1")
    spoil(header("NumFilesPerSnapshot", 0))
    refuse(path, FORMAT, "one of 0 files")
    spoil(header("HubbleParam", 67.7))
    refuse(path, FORMAT, "Hubble parameter", "67.7", "0.7")
    spoil(header("Redshift", 1.0))
    refuse(path, FORMAT, "redshift 1 in Header", "0.25", "0.5")
    spoil(lambda f: f["Header"].attrs.__delitem__("UnitVelocity_in_cm_per_s"))
    refuse(path, FORMAT, "unit of length mass", "not of velocity")
    spoil(header("UnitLength_In_CGS", 3.0857e24), "gadget")  # as GIZMO names it
    refuse(path, FORMAT, "unit of length", "not of mass velocity")
    spoil(lambda f: f["Header"].attrs.update({
        "UnitLength_In_CGS": 3.0857e24, "UnitMass_In_CGS": 1.989e33, "UnitVelocity_In_CGS": 1e5}),
        "gadget")
    check(read(path)[0]["units"][:3] == [3.0857e24, 1.989e33, 1e5], "units of GIZMO")
    spoil(header("UnitMass_in_g", 0.0))
    refuse(path, FORMAT, "units of", "0 g")
    spoil(header("Scale-factor", float("nan"), "Cosmology"), "swift")
    refuse(path, FORMAT, "scale factor", "nan")
    spoil(header("h_scaling", 0.0, "PartType1/Coordinates"))
    refuse(path, FORMAT, "mixed units", "PartType1 has lengths with h^0")
    compare(path, {1: snap[1]}, "one unit", 0.5, species="1")
    spoil(header("a_scaling", float("nan"), "PartType1/Velocities"))
    refuse(path, FORMAT, "a_scaling", "PartType1/Velocities")
    for name, value in (("BoxSize", "10"), ("BoxSize", [10.0] * 4), ("Time", [0.25, 0.5]),
                        ("HubbleParam", np.bytes_("0.7")), ("NumFilesPerSnapshot", [1, 1])):
        spoil(header(name, value))
        refuse(path, FORMAT, f"attribute '{name}' of Header cannot be read as")
    spoil(header("BoxSize", [10.0, 10.0]))
    refuse(path, FORMAT, "attribute 'BoxSize' of Header has 2 lengths; expected 1 or 3")
    spoil(header("BoxSize", h5py.Empty("f8")))
    check(read(path)[1] == 0, "an attribute without a number says nothing")
    for name in ("Coordinates", "Masses"):
        spoil(lambda f: None, **PACKED)
        with h5py.File(path) as f:
            place = f[f"PartType0/{name}"].id.get_chunk_info(0)
        data = bytearray(path.read_bytes())
        data[place.byte_offset + place.size // 2] ^= 0x55
        path.write_bytes(data)
        refuse(path, TRUNCATED, f"PartType0/{name}", "damaged")
        compare(path, {1: snap[1]}, "the other type", 0.5, species="1")


def test_tipsy(folder):
    """Records of three kinds, which io_tool reads whole and in parts."""
    rng = np.random.default_rng(9)
    counts, floats = (5, 9, 4), (12, 9, 11)
    records = [rng.random((n, width)).astype(">f4") for n, width in zip(counts, floats)]
    head = struct.pack(">d6i", 0.5, sum(counts), 3, *counts, 0)
    (folder / "s.std").write_bytes(head + b"".join(r.tobytes() for r in records))
    got, _, _ = read(folder / "s.std")
    check(np.array_equal(got["pos"], np.concatenate([r[:, 1:4] for r in records])), "tipsy")


def main():
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        for name, test in sorted(globals().items()):
            if name.startswith("test_"):
                place = pathlib.Path(folder) / name
                place.mkdir()
                test(place)
    TOOL.stdin.close()
    check(TOOL.wait() == 0, "the tool ends well")
    sys.exit(failures != 0)


main()
