# SPDX-License-Identifier: BSD-3-Clause
"""kith flock: what it records, and how it goes on after kill -9 at any moment."""
import json
import os
import resource
import signal
import struct
import subprocess
import sys
import time

import cli
from flock_runs import RUN, START, frames, gsd_chunks, read


def test_kill_at_any_moment():
    for kind, steps in (("xyz", 60), ("gsd", 200)):
        files = ("-o", f"a.{kind}", "--measures", "a.jsonl", "--restart", "a.state",
                 "--plot", "a.svg")
        often = (*RUN, "--steps", steps, "--restart-every", "3", "--record-every", "2", "-q")
        plots = "install gnuplot" not in cli.run(*often, *(name.replace("a.", "r.")
                                                           for name in files)).stderr
        if not plots:
            files = files[:-2]
        for attempt in range(200):
            with subprocess.Popen([cli.KITH, *map(str, often), *files]) as process:
                try:
                    process.wait(timeout=0.02 + 0.03 * attempt)
                    assert process.returncode == 0, process.returncode
                    break
                except subprocess.TimeoutExpired:
                    process.kill()
            with open("a.state.part", "ab") as file:
                file.write(b"what another kill left")
        assert attempt > 0, "it was never killed"
        for end in (kind, "jsonl", "state") + (("svg",) if plots else ()):
            assert read(f"a.{end}") == read(f"r.{end}"), end
        assert cli.ok(*often, *files) == ""  # it is there already
        assert read(f"a.{kind}") == read(f"r.{kind}")
        assert not [name for name in os.listdir() if name.endswith(".part")], os.listdir()
        for name in os.listdir():
            os.remove(name)


def single(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def test_gsd_holds_the_frames():
    """Enough frames that the index moves, twice; also in a sheared box and in the plane."""
    for space, steps in (((), 100), (("--box", "20,18,16,3,2,1", "--origin", "1,2,3"), 4),
                         (("--dim", "2"), 4)):
        run = (*START, *space, "--steps", steps, "--record-every", "1", "-q")
        cli.ok(*run, "-o", "a.xyz")
        cli.ok(*run, "-o", "a.gsd")
        found, flat = gsd_chunks("a.gsd"), "--dim" in space
        box, middle = (20, 20, 20, 0, 0, 0), (10, 10, 10)
        if "--origin" in space:  # a = (20, 0, 0), b = (3, 18, 0), c = (2, 1, 16)
            box = (20, 18, 16, 3 / 18, 2 / 16, 1 / 16)
            middle = (1 + 25 / 2, 2 + 19 / 2, 3 + 16 / 2)
        if flat:
            box, middle = (20, 20, 0, 0, 0, 0), (10, 10, 0)
        assert max(abs(a - b) for a, b in zip(found[0, "configuration/box"], box)) < 1e-6
        assert found[0, "configuration/dimensions"] == (2 if flat else 3,)
        assert found[0, "particles/N"] == (300,)
        recorded = frames("a.xyz")
        assert len(recorded) == steps + 1
        for frame, (step, rows) in enumerate(recorded):
            assert found[frame, "configuration/step"] == (step,)
            place, speed = (found[frame, f"particles/{what}"] for what in ("position", "velocity"))
            for k, row in enumerate(rows):
                for axis in range(3):
                    assert abs(place[3 * k + axis] + middle[axis] - row[axis]) < 1e-5, (frame, k)
                    assert speed[3 * k + axis] == single(row[3 + axis]), (frame, k)
        told = cli.ok("info", "a.gsd")
        assert f"{steps + 1} frames" in told and "GSD 2.0" in told, told
    cli.ok("flock", "a.gsd", "--frame", "4", "--steps", "1", "-q")
    cli.fails(6, *START, "--box", "20,0,0,0,0,20,0,20,0", "--steps", "1", "-o", "b.gsd", "-q",
              says=("b.gsd", "rows"))


def test_restart_of_another_flock():
    cli.ok(*START, "--steps", "2", "--restart", "a.state", "-q")
    kept = read("a.state")
    for words, says in ((("--boids", "400"), "--boids is 400"), (("--box", "21"), "--box"),
                        (("--dim", "2"), "--dim is 2"), (("--origin", "1,1,1"), "--origin"),
                        (("--periodic", "xy"), "--periodic"),
                        (("--precision", "double"), "--precision")):
        cli.fails(6, *START, *words, "--steps", "4", "--restart", "a.state", "-q",
                  says=("a.state", says, "remove it"))
    cli.fails(6, "flock", "--boids", "300", "--steps", "4", "--restart", "a.state", says=("box",))
    assert read("a.state") == kept
    cli.ok(*START, "--steps", "4", "--restart", "a.state", "--nearest", "7", "-q")


def test_interrupt_saves():
    long = (*START, "--steps", "100000000", "--measure-every", "0")
    for restart in (("--restart", "a.state"), ()):
        with subprocess.Popen([cli.KITH, *long, *restart, "-q"], stderr=subprocess.PIPE,
                              text=True) as process:
            time.sleep(0.4)
            process.send_signal(signal.SIGINT)
            _, message = process.communicate(timeout=30)
        assert process.returncode == 130, process.returncode
        assert message.startswith("kith: interrupted"), message
        assert ("a.state was written" in message) == bool(restart), message
    assert os.listdir() == ["a.state"]
    done = json.loads(cli.ok(*START, "--steps", "1", "--restart", "a.state",
                             "--json").splitlines()[-1])
    assert done["first_step"] > 1, done


def test_broken_restarts():
    run = (*START, "--steps", "4", "-o", "a.xyz", "--restart", "a.state", "-q")
    cli.ok(*run)
    whole = read("a.state")
    for broken in (b"", whole[:100], whole[:-1], whole + b"x", whole[:500] + b"?" + whole[501:]):
        with open("a.state", "wb") as file:
            file.write(broken)
        cli.fails(4, *run, says=("a.state", "not a whole restart file", "remove it"))
    with open("a.state", "wb") as file:
        file.write(whole)
    os.truncate("a.xyz", 100)
    cli.fails(4, *run, says=("a.xyz", "100 bytes"))
    run = (*START, "--steps", "4", "-o", "a.gsd", "--restart", "b.state", "-q")
    cli.ok(*run)
    whole = read("a.gsd")
    cli.fails(4, *(word.replace("a.gsd", "a.xyz") for word in run), says=("a.xyz",))
    os.truncate("a.gsd", 100)
    cli.fails(4, *run, says=("a.gsd", "100 bytes"))
    with open("a.gsd", "wb") as file:  # a run that ended later, cut off where this one was
        file.write(whole + b"what comes after")
    cli.ok(*run)
    assert read("a.gsd") == whole


def test_no_room():
    cli.fails(9, *RUN, "-o", "/dev/full", "-q", says=("/dev/full", "No space"))
    cli.fails(9, *RUN, "-o", "none/a.xyz", "-q", says=("none/a.xyz",))

    def little():
        resource.setrlimit(resource.RLIMIT_FSIZE, (50000, 50000))

    cli.fails(9, *RUN, "-o", "a.xyz", "-q", says=("a.xyz", "large"), preexec_fn=little)
    cli.ok(*RUN, "-o", "b.xyz", "-q")
    assert read("a.xyz") == read("b.xyz")[:50000]  # what was written stays


def test_plot():
    cli.fails(6, *START, "--steps", "1", "--plot", "a.txt", says=(".png",))
    done = cli.run(*START, "--steps", "20", "--plot", "it's.svg", "-q")
    if "install gnuplot" in done.stderr:
        raise cli.Skip("no gnuplot")
    assert done.returncode == 0, done.stderr
    assert b"polarisation" in read("it's.svg")
    assert sorted(os.listdir()) == ["it's.dat", "it's.gp", "it's.svg"]


sys.exit(cli.main(globals()))
