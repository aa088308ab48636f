# SPDX-License-Identifier: BSD-3-Clause
"""Snapshots as the simulation codes write them, small, to test the readers with.

A snapshot is a dictionary {type: {"pos", "vel", "id", "mass", "pot"}} of arrays; a type whose mass
is a number and no array has it in the header. A universe is a dictionary of header values.
"""
import struct

import numpy as np

UNIVERSE = {"time": 0.25, "redshift": 3.0, "box": 10.0, "omega": 0.3, "lambda": 0.7, "h": 0.7}
FLAT = {"time": 1.5, "redshift": 0.0, "box": 0.0, "omega": 0.0, "lambda": 0.0, "h": 1.0}


def make(counts, real="f4", ids="u4", table=(1,), seed=1):
    """Random particles; the types in `table` have their mass in the header."""
    rng = np.random.default_rng(seed)
    first_id = 0
    snap = {}
    for kind, n in counts.items():
        snap[kind] = {
            "pos": rng.uniform(0, 10, (n, 3)).astype(real),
            "vel": rng.normal(0, 100, (n, 3)).astype("f4"),
            "id": (first_id + np.arange(n)).astype(ids) + np.array(1 << 20, ids),
            "mass": 0.25 + kind if kind in table else rng.uniform(1, 2, n).astype("f4"),
            "pot": rng.normal(0, 1, n).astype("f4")}
        if kind == 0:
            snap[kind]["rho"] = rng.uniform(0, 1, n).astype("f4")
        first_id += n
    return snap


def split(snap, files):
    """The snapshot's files, each a snapshot; as many particles of each type as it comes to."""
    parts = [{} for _ in range(files)]
    for kind, fields in snap.items():
        cut = {name: np.array_split(a, files) if isinstance(a, np.ndarray) else [a] * files
               for name, a in fields.items()}
        for k, part in enumerate(parts):
            part[kind] = {name: arrays[k] for name, arrays in cut.items()}
    return parts


def counts_of(snap, types=6):
    return [len(snap[k]["pos"]) if k in snap else 0 for k in range(types)]


def table_of(snap, types=6):
    return [snap[k]["mass"] if k in snap and not isinstance(snap[k]["mass"], np.ndarray) else 0.0
            for k in range(types)]


def gadget_header(order, counts, total, table, universe, files, high=(0,) * 6):
    head = struct.pack(order + "6I6d2d2i6I2i4d2i6I", *counts, *table, universe["time"],
                       universe["redshift"], 0, 0, *[t & 0xffffffff for t in total], 0, files,
                       universe["box"], universe["omega"], universe["lambda"], universe["h"], 0, 0,
                       *high)
    return head.ljust(256, b"\0")


def record(order, data, label=None):
    size = struct.pack(order + "I", len(data) & 0xffffffff)
    eight = struct.pack(order + "I", 8)
    tag = eight + label + struct.pack(order + "I", len(data) + 8) + eight if label else b""
    return tag + size + data + size


def gadget(snap, universe, order="<", form=1, files=1, total=None, leave_out=()):
    """Bytes of a Gadget binary file of format 1 or 2."""
    counts = counts_of(snap)
    label = {k: (k.ljust(4).encode() if form == 2 else None)
             for k in ("HEAD", "POS", "VEL", "ID", "MASS", "U", "RHO", "POT")}

    def column(name, kinds=range(6)):
        arrays = [snap[k][name] for k in kinds if k in snap and name in snap[k] and
                  isinstance(snap[k][name], np.ndarray)]
        return b"".join(a.astype(a.dtype.newbyteorder(order)).tobytes() for a in arrays)

    header = gadget_header(order, counts, total or counts, table_of(snap), universe, files)
    out = record(order, header, label["HEAD"])
    for name, field in (("POS", "pos"), ("VEL", "vel"), ("ID", "id"), ("MASS", "mass"),
                        ("RHO", "rho"), ("POT", "pot")):
        data = column(field)
        if data and name not in leave_out:
            out += record(order, data, label[name])
        if name == "MASS" and form == 2:
            out += record(order, b"abcd" * counts[0], label["U"])
    return out


def hdf5(path, snap, universe, code="gadget", files=1, number=0, total=None, **storage):
    """A file of Gadget-2/3 ("gadget"), AREPO ("arepo"), "gadget4" or "swift".

    @param storage  how datasets are kept: chunks, compression, ..."""
    import h5py
    types = {"gadget4": max(snap) + 1, "swift": 7}.get(code, 6)
    counts = counts_of(snap, types)
    total = total or counts
    with h5py.File(path, "w") as f:
        head = f.create_group("Header").attrs
        head["NumPart_ThisFile"] = np.array(counts, "i8" if code == "swift" else "u4")
        if code == "gadget4":
            head["NumPart_Total"] = np.array(total, "u8")
        else:
            head["NumPart_Total"] = np.array([t & 0xffffffff for t in total], "u4")
            head["NumPart_Total_HighWord"] = np.array([t >> 32 for t in total], "u4")
        head["MassTable"] = np.array(table_of(snap, types), "f8")
        head["NumFilesPerSnapshot"] = np.array([files] if code == "swift" else files, "i4")
        head["Redshift"] = universe["redshift"]
        head["Time"] = universe["time"]
        head["BoxSize"] = universe["box"]
        {"gadget": gadget_groups, "arepo": arepo_groups, "gadget4": gadget4_groups,
         "swift": swift_groups}[code](f, universe)
        if code == "swift":
            head["Code"] = np.bytes_("SWIFT")
            head["ThisFile"] = np.array([number], "i4")
        names = {"pos": "Coordinates", "vel": "Velocities", "id": "ParticleIDs", "mass": "Masses",
                 "pot": "Potentials" if code == "swift" else "Potential",
                 "rho": "Densities" if code == "swift" else "Density"}
        for kind, fields in snap.items():
            group = f.create_group(f"PartType{kind}")
            for name, array in fields.items():
                if isinstance(array, np.ndarray) and (len(array) or code == "swift"):
                    rows = storage if len(array) else {}
                    data = group.create_dataset(names[name], data=array, **rows)
                    mark(data.attrs, name, code)


SCALING = {"pos": (1, -1), "vel": (0.5, 0), "mass": (0, -1)}  # exponents of a and h


def mark(attributes, name, code):
    a, h = SCALING.get(name, (0, 0))
    if code in ("arepo", "gadget4"):
        attributes["a_scaling"] = float(a)
        attributes["h_scaling"] = float(h)
    elif code == "swift":
        attributes["a-scale exponent"] = np.array([1 if name == "pos" else 0], "f4")
        attributes["h-scale exponent"] = np.array([0], "f4")


def gadget_groups(f, universe):
    f["Header"].attrs.update({"Omega0": universe["omega"], "OmegaLambda": universe["lambda"],
                              "HubbleParam": universe["h"]})


def arepo_groups(f, universe):
    gadget_groups(f, universe)
    f["Header"].attrs.update({"UnitLength_in_cm": 3.08568e+21, "UnitMass_in_g": 1.989e+43,
                              "UnitVelocity_in_cm_per_s": 1e5})
    f.create_group("Config")


def gadget4_groups(f, universe):
    f.create_group("Parameters").attrs.update({
        "Omega0": universe["omega"], "OmegaLambda": universe["lambda"], "OmegaBaryon": 0.05,
        "HubbleParam": universe["h"], "Hubble": 100.0, "UnitLength_in_cm": 3.08568e+24,
        "UnitMass_in_g": 1.989e+43, "UnitVelocity_in_cm_per_s": 1e5,
        "ComovingIntegrationOn": np.int32(universe["omega"] > 0)})


def swift_groups(f, universe):
    def one(x):
        return np.array([x], "f8")
    f["Header"].attrs["Time"] = one(0.0125)  # SWIFT's is a time, and no scale factor
    f["Header"].attrs["Redshift"] = one(universe["redshift"])
    f["Header"].attrs["Scale-factor"] = one(universe["time"])
    box = universe["box"]
    f["Header"].attrs["BoxSize"] = box if isinstance(box, list) else [box] * 3
    f.create_group("Cosmology").attrs.update({
        "Cosmological run": np.array([universe["omega"] > 0], "i4"), "h": one(universe["h"]),
        "Scale-factor": one(universe["time"]), "Redshift": one(universe["redshift"]),
        "Omega_m": one(universe["omega"]), "Omega_lambda": one(universe["lambda"]),
        "Omega_b": one(0.05)})
    f.create_group("Units").attrs.update({
        "Unit length in cgs (U_L)": one(3.08567758e24), "Unit mass in cgs (U_M)": one(1.98841e43),
        "Unit time in cgs (U_t)": one(3.08567758e19)})
