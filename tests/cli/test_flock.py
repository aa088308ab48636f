# SPDX-License-Identifier: BSD-3-Clause
"""kith flock: runs, restarts after kill -9 at any moment, and every kind of bad input."""
import json
import os
import resource
import signal
import subprocess
import sys
import time

import cli

START = ("flock", "--boids", "300", "--box", "20", "--seed", "4", "--threads", "1")
RUN = (*START, "--steps", "40", "--predator", "1,1,1,2,0.5,6", "--sphere", "10,10,10,3,0.2,1",
       "--point", "5,5,5,0.05,0", "--wall", "0,0,1,0,0,1,0.1,2", "--model", "vectorial",
       "--noise", "0.2", "--record-every", "4", "--measure-every", "5")


def read(path):
    with open(path, "rb") as file:
        return file.read()


def frames(path):
    """Frames of extended XYZ: a list of (step, rows of six numbers)."""
    found = []
    with open(path, encoding="ascii") as file:
        for line in file:
            comment = next(file)
            step = int(comment.split("step=")[1].split()[0])
            found.append((step, [tuple(map(float, next(file).split()[1:]))
                                 for _ in range(int(line))]))
    return found


def test_measures_and_frames():
    out = cli.ok(*RUN, "-o", "a.xyz", "--measures", "m.jsonl", "--json")
    *samples, summary = [json.loads(line) for line in out.splitlines()]
    assert [s["step"] for s in samples] == list(range(0, 41, 5))
    assert (summary["verb"], summary["particles"], summary["last_step"]) == ("flock", 300, 40)
    with open("m.jsonl", encoding="ascii") as file:
        assert [json.loads(line) for line in file] == samples
    recorded = frames("a.xyz")
    assert [step for step, _ in recorded] == list(range(0, 41, 4))
    for step, rows in (recorded[0], recorded[-1]):
        sums = [sum(row[k] for row in rows) for k in (3, 4, 5)]
        speeds = [sum(row[k] ** 2 for k in (3, 4, 5)) ** 0.5 for row in rows]
        assert max(abs(s - 1) for s in speeds) < 1e-6
        order = sum(s * s for s in sums) ** 0.5 / 300
        sample = next(s for s in samples if s["step"] == step)
        assert abs(order - sample["polarisation"]) < 1e-6, (order, sample)
    near = sum(1 for i, p in enumerate(recorded[0][1]) for q in recorded[0][1][:i]
               if sum(min(abs(p[k] - q[k]), 20 - abs(p[k] - q[k])) ** 2 for k in range(3)) <= 25)
    assert abs(samples[0]["neighbours"] - 2 * near / 300) < 0.02, (near, samples[0])
    text = cli.ok(*START, "--steps", "3")
    assert "step 3: polarisation" in text and "300" in text
    assert cli.ok(*START, "--steps", "3", "-q") == ""


def test_parameters_are_options():
    with open("p.txt", "w", encoding="ascii") as file:
        file.write("# boids\nboids = 300\nseed 4\nmodel=vectorial\n\nnoise = 0.2 # eta\n"
                   "predator 1,1,1,2,0.5,6\nsphere = 10,10,10,3,0.2,1\n"
                   "point = 5,5,5,0.05,0\nwall 0,0,1,0,0,1,0.1,2\n"
                   "record-every = 4\nsteps = 40\n")
    cli.ok(*RUN, "-o", "a.xyz", "-q")
    cli.ok("flock", "--parameters", "p.txt", "--box", "20", "-o", "b.xyz", "-q")
    assert read("a.xyz") == read("b.xyz")
    cli.ok("flock", "--parameters", "p.txt", "--noise", "0.3", "--box", "20", "-o", "b.xyz", "-q")
    assert read("a.xyz") != read("b.xyz")
    for line in ("nose = 1", "parameters = p.txt"):
        with open("p.txt", "w", encoding="ascii") as file:
            file.write(line + "\n")
        cli.fails(4, *START, "--steps", "1", "--parameters", "p.txt", says=("p.txt",))
    with open("p.txt", "w", encoding="ascii") as file:
        file.write("noise =\n")
    cli.fails(2, *START, "--steps", "1", "--parameters", "p.txt", says=("noise",))
    cli.fails(3, *START, "--steps", "1", "--parameters", "none.txt", says=("none.txt",))


def test_goes_on_from_a_frame():
    same = ("--precision", "double", "--record-every", "5", "-q")
    cli.ok(*START, "--steps", "10", "-o", "a.xyz", *same)
    cli.ok("flock", "a.xyz", "--frame", "1", "--steps", "5", "-o", "b.xyz", *same)
    assert frames("a.xyz")[2][1] == frames("b.xyz")[1][1]


def test_the_same_for_backends():
    seen = set()
    for k, backend in enumerate(("cpu:baseline", "cpu:avx2", "cpu:avx512")):
        done = cli.run(*RUN, "--backend", backend, "-o", f"{k}.xyz", "-q")
        if done.returncode == 0:
            seen.add(read(f"{k}.xyz"))
    assert len(seen) == 1


def test_kill_at_any_moment():
    files = ("-o", "a.xyz", "--measures", "a.jsonl", "--restart", "a.state")
    often = (*RUN, "--steps", "150", "--restart-every", "3", "-q")
    cli.ok(*often, *(name.replace("a.", "r.") for name in files))
    for attempt in range(200):
        with subprocess.Popen([cli.KITH, *often, *files]) as process:
            try:
                process.wait(timeout=0.02 + 0.02 * attempt)
                assert process.returncode == 0, process.returncode
                break
            except subprocess.TimeoutExpired:
                process.kill()
    assert attempt > 0, "it was never killed"
    for kind in ("xyz", "jsonl", "state"):
        assert read(f"a.{kind}") == read(f"r.{kind}"), kind
    assert cli.ok(*often, *files) == ""  # it is there already
    assert read("a.xyz") == read("r.xyz")


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


def test_no_room():
    cli.fails(9, *RUN, "-o", "/dev/full", "-q", says=("/dev/full", "No space"))
    cli.fails(9, *RUN, "-o", "none/a.xyz", "-q", says=("none/a.xyz",))

    def little():
        resource.setrlimit(resource.RLIMIT_FSIZE, (50000, 50000))

    cli.fails(9, *RUN, "-o", "a.xyz", "-q", says=("a.xyz", "large"), preexec_fn=little)
    cli.ok(*RUN, "-o", "b.xyz", "-q")
    assert read("a.xyz") == read("b.xyz")[:50000]  # what was written stays


def test_nonsense():
    for name, value in (("separation", "-1"), ("alignment", "nan,1"), ("cohesion", "5,inf"),
                        ("time-step", "0"), ("time-step", "-1"), ("noise", "1.5"),
                        ("max-speed", "-1"), ("blind-angle", "400"), ("steps", "-1"),
                        ("boids", "0"), ("nearest", "-1"), ("flock-length", "0")):
        cli.fails(6, *START, "--steps", "1", f"--{name}={value}", says=(name, "expected"))
    cli.fails(6, *START, "--steps", "1", "--alignment", "20", says=("20", "box"))
    cli.fails(6, *START, "--steps", "1", "--time-step", "11", says=("--time-step", "half the box"))
    cli.fails(6, *START, "--steps", "1", "--nearest", "65", says=("nearest", "64"))
    cli.fails(6, *START, "--steps", "1", "--min-speed", "2", says=("min_speed",))
    cli.fails(6, *START, "--steps", "1", "--model", "vicsek", "--max-speed", "0",
              says=("max_speed",))
    for name, value in (("point", "1,1,1,inf,0"), ("sphere", "1,1,1,0,0,0"),
                        ("predator", "1,1,1,-1,1,1"), ("wall", "1,1,1,0,0,0,0,0")):
        cli.fails(6, *START, "--steps", "1", f"--{name}={value}", says=("things[0]",))
    cli.fails(7, *START, "--steps", "1", *(17 * ("--point", "1,1,1,1,1")), says=("16",))
    for words in (("--steps", "x"), ("--sphere", "1,1,1"), ("--seed", "-1"),
                  ("--model", "birds"), ("--reflect", "w"), ("--dim", "4"),
                  ("--separation", "a"), ("a.xyz",), ("-o", "-")):
        cli.fails(2, *START, "--steps", "1", *words)
    cli.fails(2, *START)
    cli.fails(2, "flock", "--steps", "1", says=("--boids",))
    cli.fails(3, "flock", "none.xyz", "--steps", "1", says=("none.xyz",))
    assert not os.listdir(), os.listdir()


def test_spaces():
    for words in (("--dim", "2"), ("--reflect", "xyz"), ("--periodic", "none"),
                  ("--dim", "2", "--reflect", "xy"), ("--origin", "5,5,5")):
        cli.ok(*START, "--steps", "20", "--nearest", "7", "--blind-angle", "60", "--relative",
               *words, "-o", "a.xyz", "-q")
        low = 5 if "--origin" in words else 0
        for _, rows in frames("a.xyz"):
            if "none" not in words:
                assert all(low <= x <= low + 20 for row in rows for x in row[:2]), words
            assert "2" not in words or all(row[2] == row[5] == 0 for row in rows)


def test_plot():
    cli.fails(2, *START, "--steps", "1", "--plot", "a.txt", says=(".png",))
    done = cli.run(*START, "--steps", "20", "--plot", "it's.svg", "-q")
    if "install gnuplot" in done.stderr:
        raise cli.Skip("no gnuplot")
    assert done.returncode == 0, done.stderr
    assert b"polarisation" in read("it's.svg") and os.listdir() == ["it's.svg"]


sys.exit(cli.main(globals()))
