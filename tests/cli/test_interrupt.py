# SPDX-License-Identifier: BSD-3-Clause
"""Progress on a terminal; Ctrl-C during a long write leaves nothing behind; every verb ends soon
after Ctrl-C, whatever it is doing then. With arguments: the last of these alone, see --help."""
import argparse
import contextlib
import os
import pty
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import cli
import needs

# A background job of a shell ignores SIGINT, and so would kith, which would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# About 3 * 10^7 pairs, 1.3 GB with all extras, more as text: counted at once, written in seconds.
LONG = ("--cutoff", "0.25", "--box", "1", "--threads", "1")
EXTRAS = ("--distances", "--vectors", "--shifts")


@contextlib.contextmanager
def started(*arguments, n="30k", **options):
    """Run kith on a long job; whatever happens, it does not outlive the block."""
    cli.ok("make", "uniform", n, "-o", "a.npy", "-q")
    command = [cli.KITH, "pairs", "a.npy", *LONG, *arguments]
    with subprocess.Popen(command, **options) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for(condition):
    for _ in range(2000):
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("nothing happened for 40 s")


def parts():
    return [name for name in os.listdir() if name.endswith(".part")]


def test_signals_leave_nothing():
    for number, output in ((signal.SIGINT, "x.txt"), (signal.SIGTERM, "x.npy"),
                           (signal.SIGHUP, "x.txt")):
        with started("-o", output, *EXTRAS, stderr=subprocess.PIPE, text=True) as process:
            wait_for(lambda: parts() and os.path.getsize(parts()[0]) > 0)
            process.send_signal(number)
            _, message = process.communicate(timeout=30)
        assert process.returncode == 130, process.returncode
        assert message == f"kith: interrupted; {output} was not written\n", message
        assert os.listdir() == ["a.npy"], os.listdir()


def test_an_earlier_file_stays():
    with open("x.txt", "wb") as file:
        file.write(b"earlier")
    with started("-o", "x.txt", *EXTRAS, stderr=subprocess.DEVNULL) as process:
        wait_for(parts)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30)
    assert process.returncode == 130
    with open("x.txt", "rb") as file:
        assert file.read() == b"earlier"
    assert sorted(os.listdir()) == ["a.npy", "x.txt"]


def test_counting_can_be_interrupted():
    with started("--json", n="1M", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                 text=True) as process:
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, message = process.communicate(timeout=30)
    assert (process.returncode, out, message) == (130, "", "kith: interrupted\n")


def catches(process):
    """Whether a process has a handler of SIGINT."""
    with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
        caught = next(line for line in file if line.startswith("SigCgt:"))
    return int(caught.split()[1], 16) >> (signal.SIGINT - 1) & 1


def test_making_can_be_interrupted():
    """Before the first byte is written, too."""
    if not os.path.exists("/proc/self/status"):
        raise cli.Skip("no /proc here")
    command = [cli.KITH, "make", "clustered", "20M", "-o", "x.npy"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        wait_for(lambda: catches(process))
        process.send_signal(signal.SIGINT)
        _, message = process.communicate(timeout=30)
    assert (process.returncode, message) == (130, "kith: interrupted\n"), message
    assert not os.listdir(), os.listdir()


def test_bar_on_a_terminal():
    reader, writer = pty.openpty()
    terminal = {"stderr": writer, "env": dict(os.environ, TERM="xterm")}
    words = (b"\rwriting", b" %", b"pairs/s", b" left")
    with started("-o", "x.txt", *EXTRAS, **terminal) as process:
        os.close(writer)
        shown = b""
        # The terminal hands a bar over in parts, and the first bars, while the pairs are being
        # counted, have no rate yet.
        while not all(word in shown for word in words) and len(shown) < 100000:
            shown += os.read(reader, 4096)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30)
    os.close(reader)
    assert all(word in shown for word in words), shown
    assert process.returncode == 130 and not parts()


def test_gnuplot_ends_with_the_command():
    """A gnuplot that draws for long is killed; its script and data stay."""
    os.mkdir("bin")
    with open("bin/gnuplot", "w", encoding="ascii") as file:
        file.write(f"#!/bin/sh\necho $$ > pid\nexec {shutil.which('sleep')} 100\n")
    os.chmod("bin/gnuplot", 0o755)
    cli.ok("make", "uniform", "100", "-o", "a.npy", "-q")
    command = [cli.KITH, "rdf", "a.npy", "--box", "1", "--r-max", "0.4", "--plot", "g.svg", "-q"]
    with subprocess.Popen(command, env=dict(os.environ, PATH=os.path.abspath("bin")),
                          stderr=subprocess.PIPE, text=True) as process:
        wait_for(lambda: os.path.exists("pid") and os.path.getsize("pid") > 0)
        with open("pid", encoding="ascii") as file:
            drawing = int(file.read())
        process.send_signal(signal.SIGINT)
        _, message = process.communicate(timeout=30)
    assert process.returncode == 130, process.returncode
    assert message == "kith: interrupted; g.svg was not written\n", message
    try:
        os.kill(drawing, 0)
        raise AssertionError("gnuplot goes on")
    except ProcessLookupError:
        pass
    assert sorted(os.listdir()) == ["a.npy", "bin", "g.dat", "g.gp", "pid"], os.listdir()


LIMIT = 0.3  # seconds from the signal to the exit, on an idle machine
BUSY = 1.25  # times slower than idle: a slow answer may be the machine's, and is tried again
NO_BACKEND = ("make", "info")  # verbs without --backend

MANY = ["many.npy", "--box", "1"]  # --points of them
SMALL = ["small.npy", "--box", "1"]
PLOT = ["--plot", "o.png"] if needs.found("gnuplot") else []  # says that it is left out
RING = "--boids 20k --box 60 --steps 100000".split()

# Commands of each verb, and the files that keep what they held, unless it ends well. Not among them
# are a file that is complete before a plot is drawn, and averages of rdf, which are written as
# partial. Most commands last longer than the latest moment.
COMMANDS = {
    "pairs": {
        "many": (["pairs", *MANY, "--cutoff", "0.04", "-o", "o.npy"], ["o.npy"]),
        "small": (["pairs", *SMALL, "--cutoff", "0.1", "-o", "o.txt"], ["o.txt"]),
        "images": (["pairs", "few.npy", "--cutoff", "40", "--box", "1", "-o", "o.txt"], ["o.txt"]),
        "more images": (["pairs", *SMALL, "--cutoff", "8"], []),
        "most images": (["pairs", "few.npy", "--cutoff", "400", "--box", "1"], []),
    },
    "nearest": {
        "many": (["nearest", *MANY, "-k", "30", "-o", "o.npy"], ["o.npy"]),
        "small": (["nearest", *SMALL, "-k", "8", "-o", "o.txt"], ["o.txt"]),
        "images": (["nearest", "few.npy", "-k", "20k", "--box", "1", "-o", "o.txt"], ["o.txt"]),
    },
    "fof": {
        "many": (["fof", *MANY, "-o", "o.csv", "--labels", "l.npy"], ["o.csv", "l.npy"]),
        "small": (["fof", *SMALL, "-o", "o.csv", "--plot", "o.png"], ["o.png"]),
        "halos and spheres": (["fof", "clustered.std", "--box", "1", "--cosmology", "0.3,0.7,0",
                               "-o", "o.hdf5", "--format", "gadget4", "--plot", "o.png"],
                              ["o.png"]),
        "one group": (["fof", *MANY, "--linking", "1.5", "-o", "o.csv"], ["o.csv"]),
        "min links": (["fof", *MANY, "--linking", "0.9", "--min-links", "4", "-o", "o.csv"],
                      ["o.csv"]),
        "phase space": (["fof", "flock.gsd", "--length", "5", "--phase-space", "0.5s", "-o",
                         "o.csv"], ["o.csv"]),
    },
    "rdf": {
        "many": (["rdf", *MANY, "--r-max", "0.1", "-o", "o.txt"], ["o.txt"]),
        "small": (["rdf", *SMALL, "--r-max", "0.4", "-o", "o.txt", *PLOT], []),
        "all pairs": (["rdf", *MANY, "--r-max", "0.8", "--minimum-image", "-o", "o.txt"],
                      ["o.txt"]),
        "S(q)": (["rdf", *MANY, "--r-max", "0.01", "--sq", "sq.txt", "-o", "o.txt"],
                 ["o.txt", "sq.txt"]),
        "force": (["rdf", "forces.xyz", "--r-max", "40", "--estimator", "force", "--temperature",
                   "1", "--trust-temperature", "-o", "o.txt"], []),
        "many frames": (["rdf", "frames.xyz", "--box", "9", "--r-max", "4", "-o", "o.txt"], []),
    },
    "debye": {
        "exact": (["debye", "argon.xyz", "--exact", "--q-max", "50", "-o", "o.txt"], ["o.txt"]),
        "histogram": (["debye", "argon.xyz", "--q-max", "50", "-o", "o.txt", "--gr", "gr.txt"],
                      ["o.txt", "gr.txt"]),
        "small": (["debye", "small.xyz", "-o", "o.txt"], ["o.txt"]),
    },
    "overlap": {
        "matrix": (["overlap", "vectors.npy", "--matrix", "m.npy"], ["m.npy"]),
        "many": (["overlap", "many.npy", "-o", "o.txt"], ["o.txt"]),
        "small": (["overlap", "small.npy", "-o", "o.txt"], ["o.txt"]),
    },
    "flock": {
        "many": (["flock", "--boids", "1M", "--box", "215", "--steps", "100000"], []),
        "recorded": (["flock", *RING, "--restart", "o.state", "--measures", "o.jsonl",
                      "--record-every", "5", "-o", "o.gsd"], []),
        "small": (["flock", "--boids", "100", "--box", "20", "--steps", "10000000"], []),
    },
    "film": {
        "many": (["flock", *RING, "--record-every", "1", "--record", "film/"], []),
        "large": (["flock", *RING, "--record-every", "1", "--film-size", "8192x8192", "--record",
                   "film/"], []),
        "view": (["view", *MANY, "--record", "film/"], []),
    },
    "view": {
        "many": (["view", *MANY], []),
        "groups": (["view", *MANY, "--link", "0.003"], []),
        "frames": (["view", "frames.xyz", "--box", "9"], []),
    },
    "info": {
        "many": (["info", "many.npy"], []),
        "frames": (["info", "frames.xyz"], []),
        "text": (["info", "many.txt"], []),
    },
    "make": {
        "clustered": (["make", "clustered", "20M", "-o", "o.h5"], ["o.h5"]),
        "uniform": (["make", "uniform", "20M", "-o", "o.xyz"], ["o.xyz"]),
        "lattice": (["make", "lattice", "20M", "-o", "o.std"], ["o.std"]),
        "plummer": (["make", "plummer", "5M", "-o", "o.npy"], ["o.npy"]),
    },
}


class Stretch:
    """How much slower than idle the machine is now: time that passes / processor time."""

    def __init__(self):
        self.passed, self.used = time.monotonic(), time.thread_time()

    def factor(self):
        for _ in range(20000):
            pass
        used = time.thread_time() - self.used
        return max(1, (time.monotonic() - self.passed) / used) if used > 0 else 1


def interrupt_at(command, moment):
    """Send SIGINT at this moment; return the exit status, the message, how long it took to end,
    and how much slower than idle the machine was meanwhile."""
    with subprocess.Popen([cli.KITH, *command], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True) as process:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(moment)
        stretch, factor, sent = Stretch(), 1, time.monotonic()
        process.send_signal(signal.SIGINT)
        while process.poll() is None and time.monotonic() - sent < 60:
            factor = stretch.factor()
        late = time.monotonic() - sent
        process.kill()
        return process.returncode, process.stderr.read(), late, factor


def check_files(name, outputs, status):
    assert not parts(), f"{name}: {parts()} left"
    for output in outputs:
        with open(output, "rb") as file:
            held = file.read(7)
        assert status == 0 or held == b"earlier", f"{name}: {output} was replaced"


def try_moment(name, command, outputs, moment):
    """Return the seconds from the signal to the exit, and these divided by how much slower than
    idle the machine was; None when the command was over before the signal. Only a slow answer on a
    busy machine is tried again."""
    for trial in range(7):
        time.sleep(0.2 * trial ** 2)  # a busy machine may be less so soon
        for output in outputs:
            with open(output, "wb") as file:
                file.write(b"earlier")
        status, message, late, factor = interrupt_at(command, moment)
        where = f"{name}: SIGINT at {moment:.3f} s: exit {status}, {message!r}"
        if status == needs.LACKING or "this kith was built without" in message:
            raise cli.Skip(message.strip())
        # Before it catches signals, the process ends by the signal itself.
        assert status in (0, 130) or (status == -signal.SIGINT and moment < 0.5 * factor), where
        view = command[0] == "view" and status == 0  # Ctrl-C is how the live view ends
        assert status != 130 or "kith: interrupted" in message, where
        check_files(name, outputs, status)
        shutil.rmtree("film", ignore_errors=True)
        for left in ("o.state", "o.jsonl", "o.gsd"):
            if os.path.exists(left):
                os.remove(left)
        if status == 0 and not view:
            return None
        if late < LIMIT * factor:
            break
        print(f"{where}, ended {late:.3f} s later, expected {LIMIT} s at most; the machine was "
              f"{factor:.2f} times slower than idle", flush=True)
        if factor < BUSY:
            break
    return late, late / factor


def write_atoms(path, n, frames=1, forces=False):
    """Argon atoms at random places in a cube of 90 (1000 atoms a frame: 9) A."""
    random_ = random.Random(n)
    side = 90 if n > 1000 else 9
    columns = 'Properties=species:S:1:pos:R:3:forces:R:3' if forces else ""
    head = f'{n}\nLattice="{side} 0 0 0 {side} 0 0 0 {side}" {columns}\n' if forces else f"{n}\n\n"
    lines = [f"Ar {' '.join(f'{side * random_.random():.6f}' for _ in range(6 if forces else 3))}\n"
             for _ in range(n)]
    with open(path, "w", encoding="ascii") as file:
        for _ in range(frames):
            file.write(head)
            file.writelines(lines)


def make_inputs(points):
    cli.ok("make", "uniform", str(points), "-o", "many.npy", "-q", timeout=600)
    cli.ok("make", "uniform", "1k", "-o", "small.npy", "-q")
    cli.ok("make", "uniform", "50", "-o", "few.npy", "-q")
    cli.ok("make", "uniform", "1M", "-o", "many.txt", "-q", timeout=600)
    cli.ok("make", "clustered", str(points), "-o", "clustered.std", "-q", timeout=600)
    cli.ok("flock", "--boids", "200k", "--box", "130", "--steps", "1", "-o", "flock.gsd", "-q")
    cli.write_npy("vectors.npy", [[random.Random(k).random() for _ in range(3)]
                                  for k in range(20000)])
    write_atoms("argon.xyz", 20000)
    write_atoms("forces.xyz", 20000, 2, forces=True)
    write_atoms("small.xyz", 100)
    write_atoms("frames.xyz", 1000, 2000)


def sweep(moments, latest, points, backend=None, only=None):
    """Interrupt each verb at random moments, at most `latest` s after its start; print the slowest
    answer of each. Return how many were too slow or wrong."""
    make_inputs(points)
    chance = random.Random(7)
    slow = 0
    for verb, commands in COMMANDS.items():
        if only and verb not in only:
            continue
        ends = dict.fromkeys(commands, latest)  # a moment is not later than a command's end
        answers = {name: [] for name in commands}
        names = list(commands)
        for k in range(max(moments, len(commands))):
            if not names:
                break
            name = names[k % len(names)]
            words, outputs = commands[name]
            if backend and words[0] not in NO_BACKEND:
                words = [*words, "--backend", backend]
            moment = chance.uniform(0, ends[name])
            try:
                answer = try_moment(f"{verb} ({name})", words, outputs, moment)
            except cli.Skip as reason:
                print(f"{verb} ({name}): left out: {reason}", flush=True)
                names.remove(name)
                continue
            except AssertionError as wrong:
                print(f"wrong: {wrong}", flush=True)
                slow += 1
                continue
            if answer is None:
                ends[name] = moment
            else:
                answers[name].append(answer)
        ended = [late for found in answers.values() for late, _ in found]
        idle = [share for found in answers.values() for _, share in found]
        slow += sum(share >= LIMIT for share in idle)
        worst = ", ".join(f"{name} {max(found)[0]:.3f}" for name, found in answers.items() if found)
        if ended:
            print(f"{verb}: {len(ended)} interrupted, median {statistics.median(ended):.3f} s, at "
                  f"most {max(ended):.3f} s ({max(idle):.3f} as if idle): {worst}", flush=True)
    return slow


def test_every_verb_ends_soon():
    slow = sweep(50, 3, 1000000) if cli.DEEP else sweep(2, 0.4, 1000000)
    assert slow == 0, f"{slow} slow or wrong answers"


def test_a_flock_that_opens():
    words, _ = COMMANDS["flock"]["many"]
    for k in range(24):  # the flock opens between some 0.07 and 0.1 s
        try_moment("flock that opens", words, [], 0.01 * k)


def test_flock_keeps_what_was_written():
    command = [cli.KITH, "flock", "--boids", "2k", "--box", "30", "--steps", "1000000",
               "--record-every", "5", "--measure-every", "5", "-o", "flock.xyz", "--measures",
               "flock.jsonl"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        wait_for(lambda: os.path.exists("flock.jsonl")
                 and open("flock.jsonl", encoding="ascii").read().count("\n") > 3)
        process.send_signal(signal.SIGINT)
        out, message = process.communicate(timeout=60)
    assert process.returncode == 130, message
    assert "steps      0 to " in out and "recorded   flock.xyz" in out, out
    frames = cli.report("info", "flock.xyz")["frames"]
    with open("flock.jsonl", encoding="ascii") as file:
        lines = file.read().splitlines()
    last = cli.json.loads(lines[-1])["step"]
    assert f"flock.xyz has {frames} frames, up to step {5 * (frames - 1)}" in message, message
    assert f"flock.jsonl has {len(lines)} measures, up to step {last}" in message, message


def test_a_second_signal_ends_at_once():
    command = [cli.KITH, "flock", "--boids", "100k", "--box", "100", "--steps", "100000",
               "--record-every", "1", "-o", "flock.xyz"]
    for delay in (0, 0.001, 0.01):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            wait_for(lambda: os.path.exists("flock.xyz") and os.path.getsize("flock.xyz") > 0)
            process.send_signal(signal.SIGINT)
            time.sleep(delay)
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=60)
        assert process.returncode == 130, process.returncode
        with open("flock.xyz", encoding="ascii") as file:
            lines = file.read().split("\n")
        # The first frame may not have been complete.
        assert lines[-1] == "" and (len(lines) - 1) % 100002 == 0, len(lines)
        os.remove("flock.xyz")


def main():
    parser = argparse.ArgumentParser(description="SIGINT at random moments of each verb alone.")
    parser.add_argument("--backend", help="of the verbs that compute: cuda, cpu:baseline")
    parser.add_argument("--moments", type=int, default=50, help="for each verb")
    parser.add_argument("--latest", type=float, default=3, help="moment [s]")
    parser.add_argument("--points", type=int, default=1000000, help="particles of large inputs")
    parser.add_argument("--only", help="verbs, by commas")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kith-") as folder:
        os.chdir(folder)
        slow = sweep(given.moments, given.latest, given.points, given.backend,
                     given.only.split(",") if given.only else None)
        os.chdir("/")
    return f"{slow} slow or wrong answers" if slow else 0


sys.exit(main() if len(sys.argv) > 1 else cli.main(globals()))
