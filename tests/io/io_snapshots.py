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

try:
    import h5py
    import numpy as np
except ImportError:
    sys.exit(77)

import snapshots
from snapshots import FLAT, UNIVERSE, gadget, gadget_header, make, record, split

TOOL = sys.argv[1]
SYSTEM, FORMAT, TRUNCATED, INVALID, LIMIT, MISSING = 1, 2, 3, 4, 5, 9
MASSES, VELOCITIES, IDS, TYPES, POTENTIALS, DENSITIES = (1 << k for k in range(6))
failures = 0


def check(holds, what):
    global failures
    if not holds:
        failures += 1
        print("not true:", what)


def read(path, species="", needed=0, precision=0):
    """The header as a dictionary, with the arrays in it; None and the sentence on failure."""
    run = subprocess.run([TOOL, "fields", path, species, str(needed), str(precision)],
                         capture_output=True)
    if run.returncode != 0:
        return None, run.returncode, run.stderr.decode()
    head, _, body = run.stdout.partition(b"\n")
    out = json.loads(head)
    at, real = 0, f"f{out['precision']}"
    for name in out["arrays"][1:]:
        kind = {"id": "i8", "type": "u1"}.get(name, real)
        width = 3 if name in ("pos", "vel") else 1
        count = width * out["n"]
        array = np.frombuffer(body, kind, count, at)
        at += array.nbytes
        out[name] = array.reshape(-1, 3) if width == 3 else array
    check(at == len(body), f"{path}: {len(body) - at} bytes too many")
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
    check(got["units"][3:] == [0, 0], "exponents of h without h")
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
    paths[2].rename(place / "away")
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
    (place / "other.0").write_bytes(b"")
    refuse(place, INVALID, "several snapshots")
    write_gadget(folder / "lonely", parts[0], 4, 0, snapshots.counts_of(snap))
    refuse(folder / "lonely", INVALID, "no number", "snap.0")


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
        for length in (9, 200, 263, 300, 400, len(whole) // 2, len(whole) - 100):
            path.write_bytes(whole[:length])
            _, status, sentence = read(path, needed=MASSES | IDS)
            check(status in (TRUNCATED, MISSING), f"cut to {length}: {status} {sentence}")
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
    check("mass" not in read(path)[0], "masses of all types")
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


def main():
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        for name, test in sorted(globals().items()):
            if name.startswith("test_"):
                place = pathlib.Path(folder) / name
                place.mkdir()
                test(place)
    sys.exit(failures != 0)


main()
