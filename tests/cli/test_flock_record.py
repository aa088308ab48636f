# SPDX-License-Identifier: BSD-3-Clause
"""kith flock: what it records, and how it goes on after kill -9 at any moment."""
import json
import os
import re
import resource
import signal
import struct
import subprocess
import sys
import time

import cli
import needs
from flock_runs import RUN, START, frames, gsd_chunks, read


def test_kill_at_any_moment():
    for kind, steps in (("xyz", 60), ("gsd", 200)):
        files = ("-o", f"a.{kind}", "--measures", "a.jsonl", "--restart", "a.state",
                 "--plot", "a.svg")
        often = (*RUN, "--steps", steps, "--restart-every", "3", "--record-every", "2", "-q")
        plots = needs.found("gnuplot")
        if not plots:
            files = files[:-2]
        cli.ok(*often, *(name.replace("a.", "r.") for name in files))
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
    for words, says in ((("--boids", "400"), "--boids is 400"),
                        (("--box", "21"), "give 21 x 21 x 21"),
                        (("--dim", "2"), "--dim is 2"), (("--origin", "1,1,1"), "--origin"),
                        (("--periodic", "xy"), "periodic xyz, but"),
                        (("--precision", "double"),
                         "its --precision is float, but --precision is double")):
        cli.fails(6, *START, *words, "--steps", "4", "--restart", "a.state", "-q",
                  says=("a.state", says, "remove a.state to start again"))
    cli.fails(6, "flock", "--boids", "300", "--steps", "4", "--restart", "a.state", says=("box",))
    assert read("a.state") == kept
    cli.ok(*START, "--steps", "4", "--restart", "a.state", "--nearest", "7", "--restart-change",
           "-q")


def test_restart_without_its_recording():
    """A recording that is not there is named, and no empty file is left in its place."""
    cli.ok(*START, "--steps", "2", "--restart", "a.state", "-o", "a.gsd", "-q")
    cli.fails(4, *START, "--steps", "4", "--restart", "a.state", "-o", "other.gsd", "-q",
              says=("other.gsd: holds 0 bytes; expected the",))
    assert not os.path.exists("other.gsd")
    os.symlink("target.gsd", "link.gsd")
    cli.ok(*START, "--steps", "2", "-o", "link.gsd", "-q")
    assert os.path.islink("link.gsd") and os.path.getsize("target.gsd") > 0
    os.rename("a.gsd", "b.gsd")
    cli.fails(4, *START, "--steps", "4", "--restart", "a.state", "-o", "a.gsd", "-q",
              says=("a.gsd: holds 0 bytes; expected the",))
    assert not os.path.exists("a.gsd")
    cli.ok(*START, "--steps", "4", "--restart", "a.state", "-o", "b.gsd", "-q")


# Each option that decides how a flock moves or what is measured, and what is said of a change.
CHANGES = [
    (("--model", "vicsek"), "--model was boids and is vicsek"),
    (("--separation", "2"), "--separation was 3,0.1 and is 2,0.1"),
    (("--alignment", "5,0.2"), "--alignment was 5,0.1 and is 5,0.2"),
    (("--cohesion", "4,0.01"), "--cohesion was 5,0.01 and is 4,0.01"),
    (("--relative",), "--relative was not given and is given"),
    (("--min-speed", "0.5"), "--min-speed was 0 and is 0.5"),
    (("--max-speed", "1.5"), "--max-speed was 1 and is 1.5"),
    (("--time-step", "0.1"), "--time-step was 0.2 and is 0.1"),
    (("--nearest", "7"), "--nearest was 0 and is 7"),
    (("--blind-angle", "90"), "--blind-angle was 0 and is 90"),
    (("--reflect", "xz"), "--reflect was none and is xz"),
    (("--seed", "5"), "--seed was 4 and is 5"),
    (("--flock-length", "2"), "--flock-length was the default and is 2"),
    (("--flock-velocity", "2"), "--flock-velocity was the default and is 2"),
    (("--flock-members", "3"), "--flock-members was 10 and is 3"),
    (("--r-max", "2"), "--r-max was the default and is 2"),
    (("--bins", "7"), "--bins was 20 and is 7"),
    (("--predator", "1,2,3,1,0.5,7"), "thing 2 was --predator 1,2,3,1,0.5,6 and is --predator "
                                      "1,2,3,1,0.5,7"),
    (("--predator", "1,1,1,1,0.5,6"), "thing 2 was --predator 1,2,3,1,0.5,6 and is --predator "
                                      "1,1,1,1,0.5,6"),
    (("--predator", "1,2,3,1,0.5,6", "--wall", "1,2,3,0,0,1,2,4"),
     "thing 3 was none and is --wall 1,2,3,0,0,1,2,4"),
    (("--noise", "0.4", "--model", "vectorial"),
     "--model was boids and is vectorial; --noise was 0 and is 0.4"),
    (("--at", "1:noise=0.2", "--at", "1:model=vicsek"),
     "--model was boids and is vicsek; --noise was 0 and is 0.2"),
]
PREDATOR = ("--predator", "1,2,3,1,0.5,6")


def test_restart_of_another_model():
    """Each difference is refused, with its option and both values, or asked for by name."""
    base = (*START, "--sphere", "4,4,4,1,1,2")
    cli.ok(*base, *PREDATOR, "--steps", "2", "--restart", "a.state", "-q")
    cli.ok(*base, *PREDATOR, "--steps", "4", "--restart", "a.state", "-q")  # the predator has moved
    kept = read("a.state")
    for words, says in CHANGES:
        words = (*(() if "--predator" in words else PREDATOR), *words)
        cli.fails(6, *base, *words, "--steps", "6", "--restart", "a.state", "-q",
                  says=("a.state: at step 4", says, "--restart-change"))
        assert read("a.state") == kept, words
        done = cli.run(*base, *words, "--steps", "4", "--restart", "a.state", "--restart-change")
        assert done.returncode == 0 and f"from step 4 on, {says}" in done.stderr, done.stderr
        with open("a.state", "wb") as file:
            file.write(kept)
    for words in (("--at", "4:noise=0.2", "--at", "4:model=vicsek"), ("--restart-every", "7")):
        cli.ok(*base, *PREDATOR, *words, "--steps", "6", "--restart", "a.state", "-q")
        with open("a.state", "wb") as file:
            file.write(kept)
    cli.fails(2, *START, "--steps", "2", "--restart-change", says=("--restart FILE",))


def test_restart_of_another_input():
    cli.ok("make", "uniform", "50", "-o", "a.xyz", "-q")
    cli.ok("make", "uniform", "50", "--seed", "9", "-o", "b.xyz", "-q")
    run = ("flock", "--box", "20", "--restart", "a.state", "-q", "--steps")
    cli.ok(*run, "1", "a.xyz")
    cli.fails(6, *run, "2", "b.xyz", says=("INPUT was a.xyz and is b.xyz",))
    cli.fails(6, *run, "2", "--boids", "50", says=("INPUT was a.xyz and is none",))
    cli.ok(*run, "2", "./a.xyz")


def test_recording_of_another_flock():
    """A restart file goes on in the files that it was saved with alone; others are not touched."""
    for few in ((), ("--boids", "2")):  # frames of more and of fewer bytes than are compared
        for kind in ("xyz", "gsd"):
            often = (*START, *few, "-q", "--record-every", "1", "--measure-every", "1")
            runs = [(*often, "--seed", seed, "-o", f"{seed}.{kind}", "--measures",
                     f"{seed}.jsonl", "--restart", f"{seed}.state") for seed in (3, 4)]
            for run, steps in zip(runs, ("12", "10")):  # the other files are long enough
                cli.ok(*run, "--steps", steps)
            wrong = {3: read(f"3.{kind}"), 4: read("3.jsonl")}
            for at, other in ((f"4.{kind}", f"3.{kind}"), ("4.jsonl", "3.jsonl")):
                words = [other if word == at else word for word in runs[1]]
                cli.fails(4, *words, "--steps", "20",
                          says=(f"{other}: is not the file that the earlier run wrote",))
            assert {3: read(f"3.{kind}"), 4: read("3.jsonl")} == wrong, kind
            cli.ok(*runs[1], "--steps", "20")
            cli.ok(*runs[0][:-1], "new.state", "--steps", "20")
            cli.ok(*runs[0][:-1], "3.state", "--steps", "15")  # what comes later is cut off
            cli.ok(*(str(word).replace("4.", "r.") for word in runs[1]), "--steps", "20")
            for end in (kind, "jsonl"):
                assert read(f"4.{end}") == read(f"r.{end}"), (few, end)
            for name in os.listdir():
                os.remove(name)


def test_time_goes_on():
    """The time of a resumed run is that of the steps that were made."""
    run = (*START, "--measures", "a.jsonl", "--measure-every", "1", "--restart", "a.state", "-q")
    cli.ok(*run, "--steps", "5")
    cli.ok(*run, "--steps", "7", "--time-step", "0.5", "--restart-change")
    cli.ok(*run, "--steps", "8", "--time-step", "0.5")
    with open("a.jsonl", encoding="ascii") as file:
        times = [json.loads(line)["time"] for line in file]
    expected = [0.2 * k for k in range(6)] + [1.5, 2.0, 2.5]
    assert all(abs(t - e) < 1e-12 for t, e in zip(times, expected)), times
    assert len(times) == 9, times


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
        step = message.split("at step ")[1].split(";")[0].split("\n")[0]
        assert (f"a.state holds step {step}" in message) == bool(restart), message
    assert os.listdir() == ["a.state"]
    done = json.loads(cli.ok(*START, "--steps", "1", "--restart", "a.state",
                             "--json").splitlines()[-1])
    assert done["first_step"] > 1, done


def test_interrupt_of_a_measurement():
    """A measurement that is cut short saves nothing: the command says which step the file holds."""
    run = ("flock", "--boids", "80k", "--box", "60", "--r-max", "29", "--measure-every", "2",
           "--restart-every", "1", "--restart", "a.state", "-q")
    with subprocess.Popen([cli.KITH, *run, "--steps", "1000000"], stderr=subprocess.PIPE,
                          text=True) as process:
        time.sleep(0.7)
        process.send_signal(signal.SIGINT)
        _, message = process.communicate(timeout=60)
    assert process.returncode == 130, process.returncode
    assert message == "kith: interrupted at step 0; a.state was not written\n", message
    assert not os.path.exists("a.state")
    cli.ok(*run, "--steps", "1", "--measure-every", "0")
    with subprocess.Popen([cli.KITH, *run, "--steps", "1000000", "--restart-change"],
                          stderr=subprocess.PIPE, text=True) as process:
        time.sleep(0.9 * cli.SLOW)  # a step takes a fraction of that, a measurement many times it
        process.send_signal(signal.SIGINT)
        _, message = process.communicate(timeout=60)
    at, held = (int(step) for step in re.findall("step ([0-9]+)", message))
    assert at == held + 1, message


def state_sum(data):
    """The sum over what follows it in a restart file: FNV-1a over words of 8 bytes, then bytes."""
    total, mask = 0xcbf29ce484222325, (1 << 64) - 1
    whole = len(data) // 8 * 8
    for word, in struct.iter_unpack("<Q", data[:whole]):
        total = (total ^ word) * 0x100000001b3 & mask
        total ^= total >> 29
    for byte in data[whole:]:
        total = (total ^ byte) * 0x100000001b3 & mask
    return struct.pack("<Q", total)


def test_numbers_of_restarts():
    """Counts that no run has, in a file whose sum is right."""
    run = (*START, "--steps", "4", "--restart", "a.state", "-q")
    cli.ok(*run)
    whole = read("a.state")
    assert whole[8:16] == state_sum(whole[16:])
    # byte order, particles, step, precision, dimensions, samples, things
    for word, values in ((2, (0, 2)), (3, (-1, 1 << 40)), (4, (-1,)), (5, (0, 3)), (6, (1, 4)),
                         (7, (-1, 1 << 40)), (8, (-1, 1 << 40))):
        for value in values:
            data = whole[16:8 * word] + struct.pack("<q", value) + whole[8 * word + 8:]
            with open("a.state", "wb") as file:
                file.write(whole[:8] + state_sum(data) + data)
            cli.fails(4, *run, says=("a.state", "not a whole restart file", "remove it"))
    os.remove("a.state")
    os.mkdir("a.state")
    cli.fails(9, *run, says=("a.state", "is a directory; expected a file to write"))


def test_broken_restarts():
    run = (*START, "--steps", "4", "-o", "a.xyz", "--restart", "a.state", "-q")
    cli.ok(*run)
    whole = read("a.state")
    for broken in (b"", whole[:100], whole[:-1], whole + b"x", whole[:500] + b"?" + whole[501:]):
        with open("a.state", "wb") as file:
            file.write(broken)
        cli.fails(4, *run, says=("a.state", "not a whole restart file", "remove it"))
    for version, says in ((b"3", "an earlier version"), (b"9", "a later version")):
        with open("a.state", "wb") as file:
            file.write(whole[:6] + version + whole[7:])
        cli.fails(4, *run, says=("a.state", says, "remove it"))
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
    needs.program("gnuplot")
    done = cli.run(*START, "--steps", "20", "--plot", "it's.svg", "-q")
    assert done.returncode == 0, done.stderr
    assert b"polarisation" in read("it's.svg")
    assert sorted(os.listdir()) == ["it's.dat", "it's.gp", "it's.svg"]


sys.exit(cli.main(globals()))
