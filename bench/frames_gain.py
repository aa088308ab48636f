#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measure what kith rdf gains from all threads on a trajectory of many small frames, beside what an
arithmetic loop gains from them on the same machine at the same time.

    frames_gain.py --kith COMMAND --bench KITH_BENCH [--frames 10000] [--turns 7] [--threads N]
                   [--least 0.9] [-o FILE.json]

The trajectory is a GSD file of frames of 1,000 particles at random in a periodic cube, some 75 half
pairs each within r_max. kith rdf is timed as a whole process, which starts, reads the file, counts
and writes its table: with one thread, with the threads that it chooses by itself or with N, and
then `kith_bench cores` runs, turn by turn. Tables must be equal byte for byte. Only the standard
library of Python is needed.

With --least, exit status 1 says that the median of kith's gains is below that share of the median
of the loop's gains. Other programs on such frames: peers_frames.py, where gsd and freud or
MDAnalysis are installed.
"""

import argparse
import json
import os
import random
import statistics
import struct
import subprocess
import sys
import tempfile
import time

PARTICLES, SIDE, R_MAX, BINS = 1000, 1.0, 0.33, 200
FLOAT, UINT32, UINT64 = 9, 3, 4  # types of GSD


def random_floats(rng, n):
    """Bytes of n floats in [1, 2): random fractions, and the exponent of 1."""
    fraction = int.from_bytes(b"\xff\xff\x7f\x00" * n, "little")
    one = int.from_bytes(b"\x00\x00\x80\x3f" * n, "little")
    return (rng.getrandbits(32 * n) & fraction | one).to_bytes(4 * n, "little")


def write_frames(path, frames):
    """Write a GSD 2.0 file: a header, an index, the list of names, then the chunks."""
    names = ("configuration/step", "configuration/box", "particles/N", "particles/position")
    listed = b"".join(name.encode() + b"\0" for name in names)
    blocks = -(-len(listed) // 64)
    entries = 2 * frames + 2
    index_at = 256 + 64 * blocks
    rng = random.Random(1)
    index = []
    with open(path, "wb") as file:
        def add(frame, name, kind, n, m, data):
            index.append(struct.pack("<QQqIHBB", frame, n, file.tell(), m, name, kind, 0))
            file.write(data)

        file.seek(index_at + 32 * (entries + 1))
        for frame in range(frames):
            add(frame, 0, UINT64, 1, 1, struct.pack("<Q", frame))
            if frame == 0:
                add(frame, 1, FLOAT, 6, 1, struct.pack("<6f", SIDE, SIDE, SIDE, 0, 0, 0))
                add(frame, 2, UINT32, 1, 1, struct.pack("<I", PARTICLES))
            add(frame, 3, FLOAT, PARTICLES, 3, random_floats(rng, 3 * PARTICLES))
        file.seek(0)
        file.write(struct.pack("<QQQQQII64s64s80s", 0x65DF65DF65DF65DF, index_at, entries + 1, 256,
                               blocks, 0x10004, 2 << 16, b"kith bench", b"hoomd", b""))
        file.write(listed.ljust(64 * blocks, b"\0"))
        file.write(b"".join(index) + bytes(32))


def run(command, path, threads, folder):
    """Run kith rdf on all frames. Return its seconds, its table, and its number of threads."""
    output = os.path.join(folder, "g.json")
    chosen = ["--threads", str(threads)] if threads else []
    start = time.perf_counter()
    subprocess.run([command, "rdf", path, "--r-max", str(R_MAX), "--bins", str(BINS), "--quiet",
                    "--backend", "cpu", "--output", output, *chosen], check=True)
    taken = time.perf_counter() - start
    with open(output, encoding="utf-8") as file:
        found = json.load(file)
    return taken, found["columns"], found["threads"]


def arithmetic(bench, threads, folder):
    """What an arithmetic loop gains from the threads."""
    output = os.path.join(folder, "cores.json")
    subprocess.run([bench, "cores", "--threads", str(threads), "--output", output], check=True,
                   stdout=subprocess.DEVNULL)
    with open(output, encoding="utf-8") as file:
        return json.load(file)["cores"][0]["gain"]


def measure(args, path, folder):
    """Measure by turns. Return one dictionary of results."""
    one, many, gains, loops = [], [], [], []
    first, table, _ = run(args.kith, path, 1, folder)
    if sum(table["count"]) < 10 * PARTICLES * args.frames:
        raise ValueError("too few pairs were counted")
    for _ in range(args.turns):
        for threads, times in ((1, one), (args.threads, many)):
            taken, found, used = run(args.kith, path, threads, folder)
            times.append(taken)
            if found != table:
                raise ValueError(f"the table differs with {used} threads")
        gains.append(one[-1] / many[-1])
        loops.append(arithmetic(args.bench, used, folder))
    gain, loop = statistics.median(gains), statistics.median(loops)
    return {"frames": args.frames, "particles": PARTICLES, "pairs": sum(table["count"]),
            "threads": used, "turns": args.turns, "first_seconds": first,
            "one_thread_seconds": one, "seconds": many, "gains": gains, "arithmetic_gains": loops,
            "gain": gain, "arithmetic_gain": loop, "share": gain / loop}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--kith", required=True, help="the command kith")
    parser.add_argument("--bench", required=True, help="the program kith_bench")
    parser.add_argument("--frames", type=int, default=10000)
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--threads", type=int, default=0, help="default: as many as kith chooses")
    parser.add_argument("--least", type=float, default=0, help="share of the loop's gain to reach")
    parser.add_argument("-o", "--output", help="write the results as JSON")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "frames.gsd")
        write_frames(path, args.frames)
        result = measure(args, path, folder)
    if args.output:
        with open(args.output, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)
            file.write("\n")
    print(f"{args.frames} frames of {PARTICLES} particles: one thread "
          f"{statistics.median(result['one_thread_seconds']):.3f} s, {result['threads']} threads "
          f"{statistics.median(result['seconds']):.3f} s, by turns {result['gain']:.2f} times "
          f"faster ({min(result['gains']):.2f} to {max(result['gains']):.2f}); an arithmetic loop "
          f"{result['arithmetic_gain']:.2f} times ({min(result['arithmetic_gains']):.2f} to "
          f"{max(result['arithmetic_gains']):.2f}); share {result['share']:.2f}")
    return 1 if result["share"] < args.least else 0


if __name__ == "__main__":
    sys.exit(main())
