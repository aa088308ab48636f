#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write the smallest valid files of every reader: the seeds that the fuzzers start from.

    python3 make_corpus.py FOLDER      # corpus/<reader>/<name>
"""
import io
import pathlib
import struct
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "io"))
import snapshots

POINTS = np.array([[0.25, 0.5, 0.75], [1, 2, 3], [-1e-3, 4, 5e10]])


def npy_files():
    for name, array in {
        "f4": POINTS.astype("<f4"), "f8": POINTS.astype("<f8"), "big_f4": POINTS.astype(">f4"),
        "big_f8": POINTS.astype(">f8"), "two": POINTS[:, :2], "fortran": np.asfortranarray(POINTS),
        "i8": POINTS.astype("<i8"), "u2": abs(POINTS[:2]).astype("<u2"), "empty": POINTS[:0],
        "transposed": np.zeros((3, 5)), "flat": np.zeros(4),
        "pairs": np.zeros(2, [("i", "<i4"), ("j", "<i4"), ("shift", "<i4", (3,))]),
    }.items():
        for version in ((1, 0), (2, 0)) if name == "f8" else ((1, 0),):
            out = io.BytesIO()
            np.lib.format.write_array(out, array, version)
            yield f"{name}_v{version[0]}", out.getvalue()


def tipsy_files():
    gas, dark, star = (np.arange(1, k + 1, dtype="f4") for k in (12, 9, 11))
    for order, word in (("standard", ">"), ("native", "<")):
        body = b"".join(a.astype(word + "f4").tobytes() for a in (gas, dark, dark, star))
        head = struct.pack(word + "diiiii", 0.5, 4, 3, 1, 2, 1)
        yield f"{order}_32", head + bytes(4) + body
        yield f"{order}_28", head + body
        yield f"{order}_short", head + bytes(4) + body[:-5]
        high = struct.pack(word + "dIIIIII", 0.5, 1, 3, 1, 0, 0, 0x01000001)
        yield f"{order}_high", high + body[:48]
    yield "empty", struct.pack(">diiiiii", 0, 0, 3, 0, 0, 0, 0)


def text_files():
    yield "blanks", b"# x y z\n1 2 3\n4 5 6 # end\n"
    yield "commas", b"id,x,y,z\n1,0.1,0.2,0.3\r\n2,1e5,-2.5E-3,+3\n"
    yield "semicolons", b'"x";"y"\n1;2\n\n3;4'
    yield "tabs", b"\xef\xbb\xbf1\t2\t3\nnan\tinf\t-0\n"
    yield "long", b"0.12345678901234567890 1e-320 123456789012345678901234567890\n"
    yield "overflow", b"1 2 1e999\n"
    yield "ragged", b"1 2 3\n4 5\n"
    yield "words", b"to be or not\nto be\n"


def xyz_files():
    yield "plain", b"3\nwater\nO 0 0 0.1\nH 0.7 0 0.6\nH -0.7 0 0.6\n"
    yield "extended", (b'2\nLattice="5 0 0 0 5 0 1 0 5" Origin="-1 0 0" pbc="T F T" time=2.5 '
                       b"Properties=id:I:1:species:S:1:pos:R:3:forces:R:3\n"
                       b"1 O 0 0 0 1 1 1\n2 H 1 1 1 2 2 2\n")
    yield "frames", b"1\n\nH 0 0 0\n2\n\nH 0 0 0\nO 1 1 1\n\n"
    yield "short", b"3\nwater\nO 0 0 0\nH 1 1 1\n"
    yield "extra", b"1\nwater\nO 0 0 0\nH 1 1 1\n"
    yield "huge", b"2000000000\nwater\nO 0 0 0\n"
    yield "empty", b"0\n\n"


def gadget_files():
    flags = b"\x30"  # the last byte chooses: all fields, masses and velocities needed
    snap = snapshots.make({0: 2, 1: 3, 4: 1})
    double = snapshots.make({1: 2}, "f8", "u8")
    for order, word in (("little", "<"), ("big", ">")):
        for form in (1, 2):
            whole = snapshots.gadget(snap, snapshots.UNIVERSE, word, form)
            yield f"{order}_{form}", whole
            yield f"{order}_{form}_short", whole[:-9] + flags
            yield f"{order}_{form}_double", snapshots.gadget(double, snapshots.FLAT, word, form)
    total = [4, 6, 0, 0, 2, 0]
    yield "two_files", snapshots.gadget(snap, snapshots.UNIVERSE, files=2, total=total) + flags
    yield "empty", snapshots.gadget({}, snapshots.FLAT)
    yield "no_masses", snapshots.gadget(snap, snapshots.UNIVERSE, form=2, leave_out=("MASS",))


def hdf5_snapshots():
    packed = {"chunks": True, "compression": "gzip", "shuffle": True, "fletcher32": True}
    for code, files, storage in (("gadget", 2, {}), ("arepo", 1, {}), ("gadget4", 1, {}),
                                 ("swift", 1, {}), ("swift", 2, packed)):
        snap = snapshots.make({1: 3} if storage else {0: 2, 1: 3, 4: 1}, ids="u8")
        total = [files * n for n in snapshots.counts_of(snap, 7)]
        with tempfile.NamedTemporaryFile() as file:
            snapshots.hdf5(file.name, snap, snapshots.UNIVERSE, code, files, total=total, **storage)
            yield f"{code}_{files}", pathlib.Path(file.name).read_bytes() + b"\x30"


def lammps_files():
    head = (b"ITEM: TIMESTEP\n%d\nITEM: NUMBER OF ATOMS\n2\n")
    box = b"ITEM: BOX BOUNDS pp pp ff\n0 1\n0 2\n-1 3\n"
    frame = head + box + b"ITEM: ATOMS id type x y z\n1 1 0 0 0\n2 2 0.5 0.5 0.5\n"
    yield "frames", frame % 0 + frame % 10 + frame % 20
    yield "all", (b"ITEM: UNITS\nlj\nITEM: TIME\n0.5\n" + head % 1 + box +
                  b"ITEM: ATOMS id mol element xu yu zu vx vy vz fx fy fz\n"
                  b"1 1 O 0 0 0 1 2 3 4 5 6\n2 0 H 1 1 1 1 2 3 4 5 6\n")
    yield "scaled", (head % 1 + b"ITEM: BOX BOUNDS xy xz yz pp pp pp\n0 1 0.1\n0 2 -0.2\n0 3 0.3\n"
                     b"ITEM: ATOMS type xs ys zs\n1 0.1 0.2 0.3\n1 0.5 0.5 0.5\n")
    yield "general", (head % 1 + b"ITEM: BOX BOUNDS abc origin pp pp pp\n1 0 0 0\n0 1 0 0\n"
                      b"0 0 1 0\nITEM: ATOMS xsu ysu zsu\n1 2 3\n4 5 6\n")
    yield "short", frame % 0 + (frame % 1)[:-20]
    yield "huge", (head.replace(b"\n2\n", b"\n2000000000\n") % 0 + box +
                   b"ITEM: ATOMS x y z\n1 2 3\n")


def gsd_file(version, chunks):
    """Chunks are (frame, name, type, rows, columns, data)."""
    names = list(dict.fromkeys(chunk[1] for chunk in chunks))
    listed = (b"".join(n.encode() + b"\0" for n in names) if version == 2 else
              b"".join(n.encode().ljust(64, b"\0") for n in names)).ljust(64 * len(names), b"\0")
    start = 256 + len(listed)
    at = start + 32 * (len(chunks) + 1)
    index = data = b""
    for frame, name, kind, n, m, numbers in chunks:
        index += struct.pack("<QQqIHBB", frame, n, at + len(data), m, names.index(name), kind, 0)
        data += numbers
    head = struct.pack("<QQQQQII64s64s80s", 0x65DF65DF65DF65DF, start, len(chunks) + 1, 256,
                       len(names), 0x10004, version << 16, b"kith", b"hoomd", b"")
    return head + listed + index + bytes(32) + data


def gsd_files():
    points = POINTS.astype("<f4").tobytes()
    box = np.array([4, 2, 8, 0.5, 0, 0], "<f4").tobytes()
    first = [(0, "configuration/step", 4, 1, 1, struct.pack("<Q", 7)),
             (0, "configuration/box", 9, 6, 1, box),
             (0, "particles/N", 3, 1, 1, struct.pack("<I", 3)),
             (0, "particles/position", 9, 3, 3, points),
             (0, "particles/types", 5, 2, 2, b"A\0Cl"),
             (0, "particles/typeid", 3, 3, 1, struct.pack("<III", 0, 1, 0)),
             (0, "particles/velocity", 9, 3, 3, points),
             (0, "bonds/N", 3, 1, 1, struct.pack("<I", 1)),
             (0, "bonds/group", 3, 1, 2, struct.pack("<II", 0, 2))]
    later = [(1, "configuration/step", 4, 1, 1, struct.pack("<Q", 8)),
             (1, "particles/position", 9, 3, 3, points),
             (2, "particles/N", 3, 1, 1, struct.pack("<I", 1)),
             (2, "particles/position", 10, 1, 3, bytes(24)),
             (2, "configuration/dimensions", 1, 1, 1, b"\2")]
    yield "one", gsd_file(1, first)
    yield "frames_v1", gsd_file(1, first + later)
    yield "frames_v2", gsd_file(2, first + later)
    yield "empty", gsd_file(2, [])


def hdf5_files():
    yield from hdf5_snapshots()
    import h5py
    for name in ("gadget", "flat", "h5md", "packed", "swift"):
        out = io.BytesIO()
        with h5py.File(out, "w") as f:
            if name in ("gadget", "swift"):
                size = 5.0 if name == "gadget" else [5.0, 6.0, 7.0]
                f.create_group("Header").attrs["BoxSize"] = size
                f["PartType0/Coordinates"] = POINTS.astype("f4")
                f["PartType1/Coordinates"] = POINTS
            elif name == "flat":
                f["Coordinates"] = POINTS[:, :2]
            elif name == "h5md":
                f["particles/all/position/value"] = np.stack([POINTS, POINTS + 1])
            else:
                f.create_dataset("positions", data=POINTS, chunks=(2, 3), compression="gzip",
                                 shuffle=True, fletcher32=True)
        yield name, out.getvalue()


def main():
    folder = pathlib.Path(sys.argv[1])
    for reader in (npy_files, tipsy_files, text_files, xyz_files, gadget_files, lammps_files,
                   gsd_files, hdf5_files):
        place = folder / reader.__name__.removesuffix("_files")
        place.mkdir(parents=True, exist_ok=True)
        for name, data in reader():
            (place / name).write_bytes(data)


main()
