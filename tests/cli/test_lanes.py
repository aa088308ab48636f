# SPDX-License-Identifier: BSD-3-Clause
"""Small frames counted side by side, or several by one call as on a GPU: files, messages and exit
statuses do not depend on the number of threads, in kith rdf and kith debye, whatever the options
and wherever a frame is bad."""
import contextlib
import json
import math
import os
import random
import signal
import struct
import subprocess
import sys
import time

import cli
import needs
from rdf_frames import columns, make_frames, write_gsd, write_packed, write_xyz

THREADS = ("1", "3") if "KITH_TEST_BRIEF" in os.environ else ("1", "2", "3", "8")
TOGETHER = "together"
FRAMES = 40
COUNT = ("--r-max", "1.9", "--bins", "30")


def environment(threads):
    """The number of threads is not part of the command line, which outputs name. None: that which
    kith chooses for the machine; TOGETHER: one lane counts several frames by one call."""
    told = {key: value for key, value in os.environ.items() if key != "OMP_NUM_THREADS"}
    if threads == TOGETHER:
        return {**told, "KITH_TEST_TOGETHER": "1"}
    return {**told, "OMP_NUM_THREADS": threads} if threads else told


def contents(path):
    """The bytes of a file; of JSON all but the times and the threads."""
    with open(path, "rb") as file:
        data = file.read()
    if path.endswith(".json"):
        data = json.loads(data)
        for key in ("threads", "seconds", "peak_bytes"):
            data.pop(key)
    return data


def same(*arguments, outputs=("a.txt",), numbers=(*THREADS, TOGETHER)):
    """Run kith with each number of threads; the outputs must have the same bytes."""
    first = None
    for threads in numbers:
        cli.ok(*arguments, "-q", env=environment(threads))
        found = [contents(path) for path in outputs]
        first = first or found
        assert found == first, (threads, arguments)
        for path in outputs:
            os.remove(path)


def write_all(path, seed=1):
    """Frames with weights, forces, charges and molecules, in cubes that change."""
    rng = random.Random(seed)
    names = [("O", "H", "H", "Na")[p % 4] for p in range(48)]
    with open(path, "w", encoding="ascii") as file:
        for step in range(FRAMES):
            side = 4 + rng.random()
            file.write(f"ITEM: TIMESTEP\n{step}\nITEM: NUMBER OF ATOMS\n{len(names)}\n"
                       "ITEM: BOX BOUNDS pp pp pp\n" + f"0 {side}\n" * 3 +
                       "ITEM: ATOMS id mol element x y z q fx fy fz\n")
            for p, name in enumerate(names):
                place = " ".join(repr(rng.random() * side) for _ in range(3))
                push = " ".join(repr(rng.gauss(0, 1)) for _ in range(3))
                file.write(f"{p + 1} {p // 4 + 1} {name} {place} {rng.random()!r} {push}\n")


def test_rdf_options():
    write_all("a.lammpstrj")
    rdf = ("rdf", "a.lammpstrj", "-o", "a.txt")
    for options in ((), ("--partials",), ("--select", "O"), ("--select", "O", "--with", "H,Na"),
                    ("--minimum-image", "--bins", "25"), ("--log", "--r-min", "0.2"),
                    ("--weights", "q", "--partials"), ("--exclude-molecules",),
                    ("--estimator", "force", "--temperature", "1", "--trust-temperature",
                     "--partials"), ("--blocks", "1"), ("--blocks", "3"), ("--blocks", "30"),
                    ("--frames", "3:35:3"), ("--frames", "7"), ("--frames", "7:9"),
                    ("--precision", "float", "--weights", "q")):
        more = () if "--minimum-image" in options or "--log" in options else COUNT
        same(*rdf, *more, *options)
    for name in ("a.json", "a.npy", "a.xvg", "a.dat"):
        form = ("--format", "lammps") if name == "a.dat" else ()
        same("rdf", "a.lammpstrj", *COUNT, "--partials", "-o", name, *form, outputs=(name,))
    for options in ((), ("--partials",), ("--q-vectors", "0"), ("--q-vectors", "7"),
                    ("--window", "lorch", "--q-max", "20")):
        same(*rdf, *COUNT, "--sq", "s.txt", *options, outputs=("a.txt", "s.txt"))


def test_together():
    """One call counts the frames of a grain that wait; the sums have the bits of single calls."""
    rng = random.Random(5)
    frames = [(["O", "H"] * 20, [[9 * rng.random() for _ in range(3)] for _ in range(40)],
               4 + rng.random()) for _ in range(700)]
    write_xyz("a.xyz", frames)
    rdf = ("rdf", "a.xyz", *COUNT, "-o")
    for options in (("--blocks", "1"), ("--blocks", "2"), (), ("--select", "O"),
                    ("--partials", "--blocks", "1"),
                    ("--select", "O", "--with", "H", "--blocks", "2"),
                    ("--frames", "5:600:2", "--blocks", "1"), ("--precision", "float", "--blocks",
                                                               "1")):
        same(*rdf, "a.npy", *options, outputs=("a.npy",), numbers=("1", TOGETHER))
    same(*rdf, "a.json", "--blocks", "1", outputs=("a.json",), numbers=("1", TOGETHER))
    for at in (50, 301, 650):
        broken = frames[:]
        broken[at] = bad(broken[at], "nan")
        write_xyz("a.xyz", broken)
        fails_alike(*rdf, "a.txt", "--blocks", "1", says=["not finite"], numbers=("1", TOGETHER))


def test_bonds():
    rng = random.Random(3)
    n = 30
    chunks = []
    for frame in range(FRAMES):  # each has bonds of its own
        places = [4 * rng.random() - 2 for _ in range(3 * n)]
        bonds = rng.sample([(a, b) for a in range(n) for b in range(a)], 2 + frame)
        chunks += [
            (frame, "configuration/box", 9, 6, 1, struct.pack("<6f", 4, 4, 4, 0, 0, 0)),
            (frame, "particles/N", 3, 1, 1, struct.pack("<I", n)),
            (frame, "particles/types", 1, 2, 2, b"H\0O\0"),
            (frame, "particles/typeid", 3, n, 1, struct.pack(f"<{n}I", *[p % 3 // 2
                                                                       for p in range(n)])),
            (frame, "particles/position", 9, n, 3, struct.pack(f"<{3 * n}f", *places)),
            (frame, "bonds/N", 3, 1, 1, struct.pack("<I", len(bonds))),
            (frame, "bonds/group", 3, len(bonds), 2,
             struct.pack(f"<{2 * len(bonds)}I", *sum(bonds, ())))]
    write_gsd("t.gsd", chunks)
    rdf = ("rdf", "t.gsd", *COUNT, "--partials", "-o")
    same(*rdf, "a.txt", "--exclude-bonds")
    cli.ok(*rdf, "a.json", "-q")
    cli.ok(*rdf, "b.json", "-q", "--exclude-bonds")
    counts = [sum(columns(path)["count"]) for path in ("a.json", "b.json")]
    assert counts[0] > counts[1] > 0, counts


def test_formats():
    """Formats that are read by a thread, and HDF5, which the calling thread reads."""
    cli.ok("flock", "--boids", "300", "--box", "10", "--steps", "60", "--record-every", "2",
           "--seed", "3", "-q", "-o", "f.gsd")
    same("rdf", "f.gsd", "--bins", "20", "-o", "a.txt")
    frames = make_frames(sides=[4 + 0.01 * k for k in range(FRAMES)])
    write_xyz("a.xyz", frames)
    same("rdf", "a.xyz", *COUNT, "--partials", "-o", "a.txt")
    h5py, numpy, _ = cli.snapshot_modules()
    with h5py.File("a.h5", "w") as file:
        file["pos"] = numpy.array([points for _, points, _ in frames])
    same("rdf", "a.h5", "--dataset", "pos", "--box", "5", *COUNT, "-o", "a.txt")


def test_packed():
    """Formats that chemfiles decodes."""
    frames = make_frames(sides=[8 + 0.05 * k for k in range(FRAMES)])
    for name in ("a.xtc", "a.trr", "a.dcd", "a.nc"):
        write_packed(name, frames)
        for options in ((), ("--frames", "3:35:3"), ("--blocks", "3")):
            same("rdf", name, "--r-max", "3.5", "--bins", "30", *options, "-o", "a.txt",
                 numbers=(*THREADS, None))


def test_packed_water():
    """Formats that chemfiles decodes, as simulations write them."""
    for name in ("water.trr", "water.dcd", "water.nc"):
        path = os.path.join(os.environ["KITH_TEST_DATA"], "md", "chemfiles", name)
        needs.data(path)
        done = cli.run("rdf", path, "--frames", "0:1", "--r-max", "3")
        needs.built(done)
        same("rdf", path, "--frames", "0:20", "--r-max", "3", "-o", "a.txt")


def test_debye():
    write_all("a.lammpstrj")
    few = ("--q-min", "1", "--q-max", "9", "--q-width", "0.5", "-o", "a.txt")
    for options in ((), ("--r-max", "1.5"), ("--r-width", "0.01"), ("--periodic", "none"),
                    ("--periodic", "none", "--exact"), ("--radiation", "neutron", "--window",
                                                        "none")):
        same("debye", "a.lammpstrj", "--unit", "A", *few, *options)
    same("debye", "a.lammpstrj", "--unit", "A", *few, "--gr", "g.txt", outputs=("a.txt", "g.txt"))


def fails_alike(*arguments, says=(), numbers=(*THREADS, TOGETHER)):
    """Run kith with each number of threads; each must fail with one exit status and message, and
    leave no file."""
    before = sorted(os.listdir())
    first = None
    for threads in numbers * (5 if cli.DEEP else 1):
        done = cli.run(*arguments, env=environment(threads))
        first = first or (done.returncode, done.stdout, done.stderr)
        assert (done.returncode, done.stdout, done.stderr) == first, (threads, done, first)
        assert sorted(os.listdir()) == before
    for word in says:
        assert word in first[2], (word, first)
    assert first[0] != 0 and first[2].count("kith: ") == 1, first


def bad(frame, kind):
    names, points, side = frame
    return {"nan": (names, [[math.nan, 0, 0]] + points[1:], side),
            "fewer": (names[:-1], points[:-1], side),
            "species": (["Xe"] + names[1:], points, side),
            "no box": (names, points, 0),
            "small box": (names, points, 2.0)}[kind]


def test_bad_frames():
    good = make_frames(sides=[4.0] * 30)
    kinds = ("nan", "fewer", "species", "no box", "small box")
    for at in (1, 13, 29):
        for kind in kinds:
            frames = good[:]
            frames[at] = bad(frames[at], kind)
            write_xyz("a.xyz", frames)
            for verb, more in (("rdf", (*COUNT, "--partials")), ("debye", ("--r-max", "1.5"))):
                fails_alike(verb, "a.xyz", *more, "-o", "a.txt")
    # The first of two bad frames is reported, whichever is found first.
    for one in kinds:
        for other in kinds:
            frames = good[:]
            frames[11], frames[12] = bad(frames[11], one), bad(frames[12], other)
            write_xyz("a.xyz", frames[:14])
            fails_alike("rdf", "a.xyz", *COUNT, "--partials", "-o", "a.txt")
    frames = good[:]
    frames[20] = bad(frames[20], "nan")
    write_xyz("a.xyz", frames)
    with open("a.xyz", "a", encoding="ascii") as file:
        file.write("45\nthis frame is cut")
    fails_alike("rdf", "a.xyz", *COUNT, says=["not finite"])
    write_xyz("a.xyz", good)
    with open("a.xyz", "a", encoding="ascii") as file:
        file.write("45\nthis frame is cut")
    fails_alike("rdf", "a.xyz", *COUNT)


def write_frames(path, points, frames):
    """One set of points again and again."""
    data = b"".join(struct.pack("<3d", *point) for point in points)
    with open(path, "wb") as file:
        file.write(cli.npy_head((frames, len(points), 3)))
        for _ in range(frames):
            file.write(data)


def test_interrupted():
    """Ctrl-C keeps whole frames, from the first on, and says how many."""
    write_frames("long.npy", [(0.001 * k, 0, 0) for k in range(300)], 30000)
    for threads, lanes in (("2", 2), ("8", 8), (TOGETHER, 1)):
        command = [cli.KITH, "rdf", "long.npy", "--box", "1", "--r-max", "0.4", "-o", "a.json"]
        with subprocess.Popen(command, env=environment(threads), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as process:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(1)
            tasks = len(os.listdir(f"/proc/{process.pid}/task"))
            process.send_signal(signal.SIGINT)
            _, message = process.communicate(timeout=30)
        assert tasks >= 2 + lanes, tasks  # lanes, beside those who read and add
        assert process.returncode == 130 and "interrupted after " in message, message
        assert message.count("kith: ") == 1, message
        with open("a.json", encoding="utf-8") as file:
            found = json.load(file)
        frames = found["frames"]["n"]
        assert found["partial"] and 0 < frames < 30000 and found["frames"]["last"] == frames - 1
        assert f"after {frames} of 30000" in message, message
        assert sum(found["columns"]["count"]) == frames * 300 * 299 // 2
    done = subprocess.Popen([cli.KITH, "debye", "long.npy", "--box", "1", "--elements", "=O",
                             "--r-max", "0.4", "--unit", "A", "-o", "d.txt"],
                            env=environment("2"), stderr=subprocess.PIPE, text=True)
    with done:
        with contextlib.suppress(subprocess.TimeoutExpired):
            done.wait(1)
        done.send_signal(signal.SIGINT)
        _, message = done.communicate(timeout=30)
    assert (done.returncode, message) == (130, "kith: interrupted; d.txt was not written\n")
    assert not os.path.exists("d.txt")


def test_times_are_told_apart():
    """Waiting, counting, summing and writing do not overlap: together they take no longer than all,
    on one thread and on lanes; a JSON file cannot know how long it takes to be written."""
    write_all("a.lammpstrj")
    for threads in ("1", "3"):
        for verb, more in (("rdf", (*COUNT, "--sq", "s.txt")), ("debye", ("--unit", "A"))):
            command = (verb, "a.lammpstrj", *more, "--threads", threads, "-o", "a.json")
            start = time.monotonic()
            seconds = cli.report(*command)["seconds"]
            elapsed = time.monotonic() - start
            assert all(value >= 0 for value in seconds.values()), seconds
            assert sum(seconds.values()) < elapsed and seconds["write"] > 0, (seconds, elapsed)
            with open("a.json", encoding="utf-8") as file:
                assert json.load(file)["seconds"]["write"] is None
            text = cli.ok(*command)
            for word in ("waited ", " for frames", "wrote ", " at most"):
                assert word in text, (word, text)
            assert max(len(x) for x in text.splitlines() if x.startswith("  time")) <= 80, text


def test_memory_is_bounded():
    """A few frames of each lane are in memory, however many there are."""
    if "LSAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ:
        return  # the address sanitizer keeps what is freed, the thread sanitizer is slow
    rng, peaks = random.Random(1), []
    for frames in (100, 3000):
        write_frames("long.npy", [(rng.random(), rng.random(), rng.random())
                                  for _ in range(2000)], frames)
        found = cli.report("rdf", "long.npy", "--box", "1", "--r-max", "0.01", "--threads", "4")
        peaks.append(found["peak_bytes"])
    assert peaks[1] < 1.2 * peaks[0] + 2e6, peaks


sys.exit(cli.main(globals()))
