#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measure kith as a whole process from file to file, beside what the disk and the decoder allow.

    end_to_end.py --kith COMMAND [--before COMMAND] [--only WORD] [--particles 10_000_000]
                  [--turns 5] [--folder FOLDER] [-o FILE.json]

Groups of a snapshot in HDF5 (contiguous, in chunks, compressed), of a table of text; g(r) of
trajectories; lists of pairs into files. With --before, another build of kith is timed by turns with
the first, and its answer must be equal byte for byte. Beside each question, in each turn:

    hot       reading the input from the page cache, or writing the output into it [s]
    cold      the same from the disk, after the page cache has let go of the file, or to the disk
    decoder   decompressing all chunks of the input by zlib in as many threads as there are cores

Needs NumPy and h5py; XTC, TRR and DCD also need the chemfiles package and library. The JSON, made
by `kith_bench cores -o FILE.json` before, gets the list "end_to_end".
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import zlib

from turns import add_results

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"skipped: no {missing.name} (pip install {missing.name})")
    sys.exit(77)

ATOMS, SIDE, R_MAX, BLOCK = 10_000, 10.0, 0.4, 4 << 20


def snapshot(path, points, **how):
    """A snapshot in the layout of Gadget-4, with dark matter alone."""
    with h5py.File(path, "w") as file:
        head = file.create_group("Header").attrs
        counts = np.array([0, len(points)], "u8")
        head.update({"NumPart_ThisFile": counts, "NumPart_Total": counts, "BoxSize": 1.0,
                     "NumFilesPerSnapshot": 1, "MassTable": np.array([0.0, 1.0]), "Time": 0.0})
        file.create_dataset("PartType1/Coordinates", data=points, **how)


def frames(n):
    """Positions of n frames of ATOMS in a cube."""
    random = np.random.default_rng(5)
    for _ in range(n):
        yield (random.random((ATOMS, 3)) * SIDE).astype("f4")


def xyz(path, n):
    rows = " ".join(f"{SIDE if k % 4 == 0 else 0}" for k in range(9))
    with open(path, "w", encoding="ascii") as file:
        for pos in frames(n):
            file.write(f'{ATOMS}\nLattice="{rows}" Properties=species:S:1:pos:R:3\n')
            file.write("".join("Ar %.6f %.6f %.6f\n" % tuple(row) for row in pos))


def lammps(path, n):
    with open(path, "w", encoding="ascii") as file:
        for step, pos in enumerate(frames(n)):
            bounds = 3 * f"0 {SIDE}\n"
            file.write(f"ITEM: TIMESTEP\n{step}\nITEM: NUMBER OF ATOMS\n{ATOMS}\n"
                       f"ITEM: BOX BOUNDS pp pp pp\n{bounds}ITEM: ATOMS id type x y z\n")
            file.write("".join("%d 1 %.6f %.6f %.6f\n" % (k + 1, *row)
                               for k, row in enumerate(pos)))


def h5md(path, n, **how):
    with h5py.File(path, "w") as file:
        group = file.create_group("particles/all")
        group.create_dataset("position/value", data=np.stack(list(frames(n))), **how)
        group["position/step"] = np.arange(n)
        box = group.create_group("box")
        box.attrs["boundary"] = np.array(["periodic"] * 3, "S8")
        box["edges"] = np.array([SIDE] * 3)


def by_chemfiles(path, n):
    import chemfiles
    with chemfiles.Trajectory(str(path), "w") as file:
        for pos in frames(n):
            frame = chemfiles.Frame()
            frame.cell = chemfiles.UnitCell([SIDE] * 3)
            frame.resize(ATOMS)
            frame.positions[:] = pos
            file.write(frame)


def cases(args):
    """Name, function that makes the input, its name, arguments of kith, name of the output."""
    random = np.random.default_rng(1)
    n, atoms = args.particles, args.particles // 5
    fof = ["fof", "--linking", "0.2"]
    rdf = ["rdf", "--r-max", str(R_MAX), "--bins", "100"]

    def points(count, kind="f4"):
        return random.random((count, 3)).astype(kind)

    def text(path):
        np.savetxt(path, points(atoms, "f8"), "%.17g")

    chunks = {"chunks": (65536, 3)}
    packed = {**chunks, "compression": "gzip", "compression_opts": 4, "shuffle": True}
    few = n // (2 * ATOMS)
    one = {"chunks": (1, ATOMS, 3)}
    box = ["--box", "1"]
    cutoff = ["pairs", *box, "--cutoff", str(0.8 * (n // 10) ** (-1 / 3)), "--sorted"]
    lines = ["--distances", "--vectors"]
    read = [("fof, HDF5 contiguous", lambda p: snapshot(p, points(n)), "a.hdf5", fof, "a.csv"),
            ("fof, HDF5 chunks", lambda p: snapshot(p, points(n), **chunks), "b.hdf5", fof,
             "b.csv"),
            ("fof, HDF5 gzip and shuffle", lambda p: snapshot(p, points(n), **packed), "c.hdf5",
             fof, "c.csv"),
            ("fof, HDF5 gzip and shuffle, double", lambda p: snapshot(p, points(n, "f8"), **packed),
             "d.hdf5", [*fof, "--precision", "float"], "d.csv"),
            ("fof, text", text, "e.txt", [*fof, *box], "e.csv"),
            ("rdf, XYZ", lambda p: xyz(p, few), "f.xyz", rdf, "f.csv"),
            ("rdf, LAMMPS", lambda p: lammps(p, few), "g.lammpstrj", rdf, "g.csv"),
            ("rdf, H5MD", lambda p: h5md(p, few, **one), "h.h5", rdf, "h.csv"),
            ("rdf, H5MD gzip", lambda p: h5md(p, few, compression="gzip", **one), "i.h5", rdf,
             "i.csv")]
    for ending in ("xtc", "trr", "dcd"):
        read.append((f"rdf, {ending.upper()}", lambda p: by_chemfiles(p, few), f"j.{ending}", rdf,
                     f"{ending}.csv"))

    def some(path):
        np.save(path, points(n // 10, "f8"))

    write = [(f"pairs into {ending}{', distances and vectors' if more else ''}", some, "k.npy",
              [*cutoff, *more], f"k{len(more)}.{ending}")
             for ending in ("npy", "h5", "txt") for more in ([], lines)]
    return read, write


def run(command, arguments, output):
    """Wall and processor seconds, and what kith says about them."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    made = subprocess.run([command, *arguments, "--json", "--backend", "cpu", "-o", output],
                          check=True, capture_output=True)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    told = json.loads(made.stdout)
    parts = {key: round(value, 4) for key, value in told["seconds"].items()}
    return {"wall": wall, "processor": after.ru_utime - before.ru_utime + after.ru_stime
            - before.ru_stime, "parts": parts}


def answer(path):
    """A hash of the file, without the lines and attributes that hold the command."""
    if path.suffix == ".h5":
        with h5py.File(path) as file:
            data = b"".join(file[name][:].tobytes() for name in sorted(file))
    else:
        data = b"\n".join(line for line in path.read_bytes().split(b"\n")
                          if not line.startswith(b"#"))
    return hashlib.sha256(data).hexdigest()


def drop(path):
    """Let the page cache forget a file."""
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


def read_seconds(path):
    room = bytearray(BLOCK)
    start = time.perf_counter()
    with open(path, "rb", buffering=0) as file:
        while file.readinto(room):
            pass
    return time.perf_counter() - start


def write_seconds(path, size, flush):
    """Write as many bytes as the output has."""
    block = os.urandom(BLOCK)
    start = time.perf_counter()
    with open(path, "wb", buffering=0) as file:
        for at in range(0, size, BLOCK):
            file.write(block[:size - at])
        if flush:
            os.fsync(file.fileno())
    taken = time.perf_counter() - start
    os.unlink(path)
    return taken


def decoder_seconds(path):
    """Decompress all chunks of the largest dataset. None: it has none that are compressed."""
    if not h5py.is_hdf5(path):
        return None
    found = []
    with h5py.File(path) as file:
        file.visititems(lambda _, item: found.append(item) if isinstance(item, h5py.Dataset)
                        and item.compression == "gzip" else None)
        if not found:
            return None
        data = found[0].id
        packed = [data.read_direct_chunk(data.get_chunk_info(k).chunk_offset)[1]
                  for k in range(data.get_num_chunks())]
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        start = time.perf_counter()
        for _ in pool.map(lambda chunk: len(zlib.decompress(chunk)), packed):
            pass
        return time.perf_counter() - start


def floors(source, output, writes):
    if writes:
        size, scratch = output.stat().st_size, output.with_suffix(".floor")
        return {"hot": write_seconds(scratch, size, False),
                "cold": write_seconds(scratch, size, True)}
    drop(source)
    return {"cold": read_seconds(source), "hot": read_seconds(source),
            "decoder": decoder_seconds(source)}


def measure(args, case, folder, writes):
    name, make, source, arguments, target = case
    source, output = folder / source, folder / target
    if not source.exists():
        make(source)
    verb, *rest = arguments
    builds = [("after", args.kith)] + ([("before", args.before)] if args.before else [])
    turns = {key: [] for key, _ in builds}
    least = []
    for turn in range(args.turns + 1):  # the first is a warm-up
        hashes = set()
        for key, command in builds[::1 if turn % 2 else -1]:
            found = run(command, [verb, str(source), *rest], str(output))
            hashes.add(answer(output))
            if turn:
                turns[key].append(found)
        if len(hashes) > 1:
            raise ValueError(f"{name}: the answers differ")
        if turn:
            least.append(floors(source, output, writes))
    result = {"program": "kith", "case": name, "kith": [verb, *rest], "turns": args.turns,
              "particles": args.particles,
              "bytes": (output if writes else source).stat().st_size}
    for key, found in turns.items():
        result[key] = {part: statistics.median(one[part] for one in found)
                       for part in ("wall", "processor")}
        result[key]["parts"] = {part: statistics.median(one["parts"][part] for one in found)
                                for part in found[0]["parts"]}
    result["floors"] = {key: statistics.median(one[key] for one in least)
                        for key in least[0] if least[0][key] is not None}
    if args.before:
        result["ratio"] = statistics.median(
            b["wall"] / a["wall"] for a, b in zip(turns["after"], turns["before"]))
        result["processor_ratio"] = statistics.median(
            b["processor"] / a["processor"] for a, b in zip(turns["after"], turns["before"]))
    output.unlink()
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--kith", required=True, help="the command kith")
    parser.add_argument("--before", help="another build of it")
    parser.add_argument("--only", default="", help="cases whose name contains this word")
    parser.add_argument("--particles", type=int, default=10**7)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--folder", help="where inputs are made, and kept; default: temporary")
    parser.add_argument("-o", "--output", help="add end_to_end to this file of kith_bench")
    args = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(args.folder or temporary)
        for cases_of, writes in zip(cases(args), (False, True)):
            for case in cases_of:
                if args.only not in case[0]:
                    continue
                try:
                    results.append(measure(args, case, folder, writes))
                except ImportError as error:
                    print(f"{case[0]}: left out: {error}", file=sys.stderr)
                    continue
                print(json.dumps(results[-1]), flush=True)
    if args.output:
        add_results(args.output, results, "end_to_end", ("case",))


if __name__ == "__main__":
    main()
