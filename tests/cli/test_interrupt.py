# SPDX-License-Identifier: BSD-3-Clause
"""Progress on a terminal; Ctrl-C during a long write leaves nothing behind; every verb ends soon
after Ctrl-C, whatever it is doing then."""
import contextlib
import os
import pty
import random
import shutil
import signal
import statistics
import subprocess
import sys
import time

import cli

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
BACKEND = os.environ.get("KITH_TEST_BACKEND")  # of the verbs that compute: "cuda", "cpu:baseline"
NO_BACKEND = ("make", "info")  # verbs without --backend

# Commands that take long, and the files that each writes.
COMMANDS = {
    "pairs": (["pairs", "many.npy", "--cutoff", "0.04", "--box", "1", "-o", "pairs.npy"],
              ["pairs.npy"]),
    "images": (["pairs", "few.npy", "--cutoff", "40", "--box", "1", "-o", "pairs.txt"],
               ["pairs.txt"]),
    "most images": (["pairs", "few.npy", "--cutoff", "400", "--box", "1"], []),
    "nearest": (["nearest", "many.npy", "-k", "30", "--box", "1", "-o", "nearest.npy"],
                ["nearest.npy"]),
    "nearest images": (["nearest", "few.npy", "-k", "20k", "--box", "1", "-o", "nearest.txt"],
                       ["nearest.txt"]),
    "fof": (["fof", "many.npy", "--box", "1", "-o", "halos.csv", "--labels", "labels.npy"],
            ["halos.csv", "labels.npy"]),
    "rdf": (["rdf", "many.npy", "--box", "1", "--r-max", "0.1", "-o", "gr.txt"], ["gr.txt"]),
    "rdf of all pairs": (["rdf", "many.npy", "--box", "1", "--r-max", "0.8", "--minimum-image",
                          "-o", "gr.txt"], ["gr.txt"]),
    "debye": (["debye", "argon.xyz", "--exact", "--q-max", "50", "-o", "q.txt"], ["q.txt"]),
    "overlap": (["overlap", "vectors.npy", "--matrix", "matrix.npy"], ["matrix.npy"]),
    "flock": (["flock", "--boids", "20k", "--box", "60", "--steps", "100000"], []),
    "film": (["flock", "--boids", "20k", "--box", "60", "--steps", "100000", "--record", "film/"],
             []),
    "make": (["make", "clustered", "5M", "-o", "made.h5"], ["made.h5"]),
    "info": (["info", "many.npy"], []),
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
    chosen = ["--backend", BACKEND] if BACKEND and command[0] not in NO_BACKEND else []
    with subprocess.Popen([cli.KITH, *command, *chosen], stdout=subprocess.DEVNULL,
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
    """Return the seconds from the signal to the exit, divided by how much slower than idle the
    machine was; None when the command was over before the signal. Only a slow answer on a busy
    machine is tried again."""
    for trial in range(7):
        time.sleep(0.2 * trial ** 2)  # a busy machine may be less so soon
        for output in outputs:
            with open(output, "wb") as file:
                file.write(b"earlier")
        status, message, late, factor = interrupt_at(command, moment)
        where = f"{name}: SIGINT at {moment:.3f} s: exit {status}, {message!r}"
        # Before it catches signals, the process ends by the signal itself.
        assert status in (0, 130) or (status == -signal.SIGINT and moment < 0.5), where
        assert status != 130 or "kith: interrupted" in message, where
        check_files(name, outputs, status)
        shutil.rmtree("film", ignore_errors=True)
        if status == 0:
            return None
        if late < LIMIT * factor:
            break
        print(f"{where}, ended {late:.3f} s later, expected {LIMIT} s at most; the machine was "
              f"{factor:.2f} times slower than idle")
        if factor < BUSY:
            break
    return late / factor


def test_every_verb_ends_soon():
    cli.ok("make", "uniform", "1M", "-o", "many.npy", "-q")
    cli.ok("make", "uniform", "50", "-o", "few.npy", "-q")
    values = [[random.Random(k).random() for _ in range(3)] for k in range(20000)]
    cli.write_npy("vectors.npy", values)
    with open("argon.xyz", "w", encoding="ascii") as file:
        file.write(f"{len(values)}\n\n")
        file.writelines(f"Ar {90 * x} {90 * y} {90 * z}\n" for x, y, z in values)
    moments = random.Random(7)
    only = os.environ.get("KITH_TEST_ONLY")
    slow = 0
    for name, (command, outputs) in COMMANDS.items():
        answers = []
        for _ in range(50 if cli.DEEP else 2):
            moment = moments.uniform(0, 3 if cli.DEEP else 0.4)
            if not only or only == name:
                answers.append(try_moment(name, command, outputs, moment))
        ended = [late for late in answers if late is not None]
        slow += sum(late >= LIMIT for late in ended)
        if ended:
            print(f"{name}: {len(ended)} of {len(answers)} interrupted, median "
                  f"{statistics.median(ended):.3f} s, at most {max(ended):.3f} s", flush=True)
    assert slow == 0, f"{slow} slow answers"


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


sys.exit(cli.main(globals()))
