# SPDX-License-Identifier: BSD-3-Clause
"""Two runs never write one file: the second is refused, and told which process writes. A lock ends
with its process, however that ends."""
import contextlib
import glob
import os
import signal
import subprocess
import sys
import time

import cli

LONG = ["flock", "--boids", "30", "--box", "9", "--steps", "1G", "-q", "--measure-every", "1"]
SHORT = ["flock", "--boids", "30", "--box", "9", "--steps", "3", "-q"]
# What else runs with an option need, to write at once.
MORE = {"--output": ["--record-every", "1"], "--restart": ["--restart-every", "1"],
        "--record": ["--record-every", "1", "--film-size", "16x16"]}
# Options with a path, and what appears once it is written.
FILES = [("--output", "t.xyz", "t.xyz"), ("--output", "t.gsd", "t.gsd"),
         ("--measures", "t.jsonl", "t.jsonl"), ("--restart", "t.state", "t.state"),
         ("--record", "f/", "f/000000.png"), ("--record", "g/x%d.png", "g/x0.png"),
         ("--record", "h%d.png", "h0.png")]


@contextlib.contextmanager
def running(option, path, appears):
    """A run that goes on until it is killed."""
    command = [cli.KITH, *LONG, *MORE.get(option, []), option, path]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        try:
            for _ in range(300):
                if os.path.exists(appears) and os.path.getsize(appears) > 0:
                    break
                assert process.poll() is None, process.stderr.read()
                time.sleep(0.05)
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def test_second_is_refused():
    for option, path, appears in FILES:
        with running(option, path, appears) as process:
            done = cli.fails(9, *SHORT, *MORE.get(option, []), option, path,
                             says=("process", "writing", path, "wait for it, or give another"))
            holder = f"process {process.pid} is writing"
            assert holder in done.stderr or "another process" in done.stderr, done.stderr
            process.kill()
            process.wait()
        if option == "--restart":  # a state of that run is ahead of these steps
            os.remove(path)
        cli.ok(*SHORT, *MORE.get(option, []), option, path)  # the lock ended with its process
        assert not glob.glob("*.lock"), glob.glob("*.lock")


def test_others_do_not_replace():
    """A command that replaces a file does not replace one that a run writes, under any name."""
    for option, path, appears in FILES[:4]:
        with running(option, path, appears) as process:
            kept = os.stat(path).st_ino
            replacing = [["make", "uniform", "9", "--format", "npy", "-o", path]]
            if path == "t.xyz":
                os.symlink(path, "link.xyz")
                cli.ok("make", "uniform", "9", "-o", "in.npy")
                replacing += [["make", "uniform", "9", "-o", "link.xyz"],
                              ["fof", "in.npy", "--length", "0.1", "-o", path],
                              ["rdf", "in.npy", "--box", "1", "--r-max", "0.2", "-o", path]]
            for words in replacing:
                done = cli.run(*words)
                where = f"kith {words}: exit {done.returncode}, stderr: {done.stderr!r}"
                assert done.returncode == 9 and "is writing it" in done.stderr, where
            if option != "--restart":  # the run replaces that file itself
                assert os.stat(path).st_ino == kept, path
            assert process.poll() is None, process.stderr.read()
    left = set(glob.glob("*.part")) - {"t.state.part"}  # of the run, which was killed
    assert not left, left


def test_other_names():
    """The lock is on the file, not on one of its names."""
    with running("--output", "t.xyz", "t.xyz"):
        os.link("t.xyz", "hard.xyz")
        os.symlink("t.xyz", "soft.xyz")
        for name in ("hard.xyz", "soft.xyz", "./t.xyz"):
            cli.fails(9, *SHORT, "-o", name, says=("writing",))
        cli.ok(*SHORT, "-o", "u.xyz")


def test_whole_lines():
    """What the first run wrote is whole after the second was refused."""
    with running("--measures", "t.jsonl", "t.jsonl") as process:
        for _ in range(5):
            cli.fails(9, *SHORT, "--measures", "t.jsonl")
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 130
    with open("t.jsonl", encoding="ascii") as file:
        lines = file.read().splitlines()
    assert len(lines) > 1 and all(line[0] == "{" and line[-1] == "}" for line in lines), lines[-2:]


def test_devices_are_shared():
    for _ in range(2):
        with running("--output", "/dev/null", "/dev"):
            cli.ok(*SHORT, "-o", "/dev/null")


sys.exit(cli.main(globals()))
