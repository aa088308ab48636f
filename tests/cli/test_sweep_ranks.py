# SPDX-License-Identifier: BSD-3-Clause
"""kith flock --sweep over several ranks: the files of one process, also after kills and with other
numbers of ranks; Ctrl-C; one message where a rank fails."""
import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import cli
import needs
from launchers import LAUNCHERS, command, launched, ways

FLOCK = ("flock", "--boids", 60, "--box", 5, "--dim", 2, "--model", "vicsek", "--alignment", 1,
         "--max-speed", 0.1, "--time-step", 1, "--flock-members", 2, "--seed", 5, "--equilibrate",
         30, "--sample", 200, "--measure-every", 4)
SOME = LAUNCHERS if cli.DEEP else LAUNCHERS[:1]  # to start MPI takes longer than a sweep
OUTPUTS = ("t.npy", "t.json", "r.jsonl", "t.gp", "t.dat")


def contents(path):
    with open(path, "rb") as file:
        data = file.read()
    if path != "t.json":
        return data
    return {name: value for name, value in json.loads(data).items() if name not in LEFT_OUT}


# What says how the runs were made, and by which words.
LEFT_OUT = ("command", "seconds", "lanes")


def clear():
    for path in OUTPUTS:
        if os.path.exists(path):
            os.remove(path)


def same(*arguments, outputs):
    """Sweep in one process, then on several ranks: outputs and the summary as JSON are equal."""
    def facts(text):
        return {name: value for name, value in json.loads(text).items() if name not in LEFT_OUT}
    clear()
    one = {**os.environ, "OMP_NUM_THREADS": "1"}
    expected = facts(cli.ok(*arguments, "--json", env=one))
    files = [contents(path) for path in outputs]
    for name, run in ways():
        clear()
        done = run(*arguments, "--json")
        assert done.returncode == 0, (name, done.stderr)
        assert facts(done.stdout) == expected, (name, done.stdout)
        for path, data in zip(outputs, files):
            assert contents(path) == data, (name, path)


def test_same():
    """Tables, figures, summaries and the file of finished runs; more ranks than runs; INPUT,
    numbers of boids, both precisions, species, things and walls; flocks that have all threads."""
    sweep = (*FLOCK, "--sweep", "noise=0.1:0.9:0.2", "--replicas", 2, "--restart", "r.jsonl")
    figure = ("--plot", "t.svg") if needs.program("gnuplot") else ()
    same(*sweep, "-o", "t.json", *figure,
         outputs=("t.json", "r.jsonl", *(("t.gp", "t.dat") if figure else ())))
    same(*FLOCK, "--sweep", "noise=0.3/0.6", "-o", "t.npy", outputs=("t.npy",))
    same(*FLOCK, "--noise", 0.3, "--sweep", "boids=10/90/30", "--precision", "double",
         "--flock-velocity", 0.1, "-o", "t.npy", outputs=("t.npy",))
    same("flock", "--boids", 80, "--box", 12, "--sweep", "heed-others=-0.5/0/1", "--flock-species",
         2, "--heed", "0,0,2,1,1", "--noise", 0.1, "--reflect", "z", "--predator", "1,2,3,1,0.5,4",
         "--sphere", "6,6,6,2,0.3,1", "--wall", "0,0,1,0,0,1,0.1,2", "--leaders", 0.1, "--sample",
         100, "--measure-every", 5, "--equilibrate", 20, "-o", "t.npy", outputs=("t.npy",))
    cli.ok("make", "clustered", "500", "--seed", "3", "-o", "p.npy")
    same("flock", "p.npy", "--separation", "0.02,0.1", "--alignment", "0.1,0.1", "--cohesion",
         "0.1,0.01", "--max-speed", "0.01", "--noise", "0.1", "--sweep", "nearest=3/7",
         "--replicas", 2, "--sample", 100, "--measure-every", 5, "--equilibrate", 20, "-o",
         "t.npy", outputs=("t.npy",))
    same("flock", "--boids", 20001, "--box", 80, "--sweep", "noise=0.1/0.4/0.7", "--sample", 20,
         "--measure-every", 1, "--equilibrate", 2, "-o", "t.npy", outputs=("t.npy",))


def test_found():
    """One process goes on with what ranks have made, and the reverse; runs of other values, and of
    more replicas, stay in the file, behind those of the sweep."""
    some = (*FLOCK, "--sweep", "noise=0.5/0.2", "--replicas", 2, "--restart", "r.jsonl", "--json")
    more = (*FLOCK, "--sweep", "noise=0.2/0.4/0.5", "--replicas", 3, "--restart", "r.jsonl",
            "--json")
    clear()
    cli.ok(*more, "--threads", 1)
    whole = contents("r.jsonl")
    for name, run in ways():
        for first, second in ((run, cli.run), (cli.run, run)):
            clear()
            assert json.loads(first(*some).stdout)["found"] == 0, name
            found = json.loads(second(*more).stdout)
            assert found["found"] == 4 and contents("r.jsonl") == whole, (name, found)
    cli.ok(*FLOCK, "--sweep", "noise=0.6/0.5", "--restart", "r.jsonl", "-q")
    lines = contents("r.jsonl").splitlines()
    values = [(line["value"], line["replica"]) for line in map(json.loads, lines[1:])]
    rest = [("0.2", 0), ("0.2", 1), ("0.2", 2), ("0.4", 0), ("0.4", 1), ("0.4", 2), ("0.5", 1),
            ("0.5", 2)]
    assert values == [("0.6", 0), ("0.5", 0), *rest], values


def below(root):
    """The processes that descend from one, and have no others below them: the ranks."""
    parents = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
                parents[int(pid)] = int(file.read().rpartition(")")[2].split()[1])
        except OSError:  # it has ended
            continue

    def descends(pid):
        while pid in parents and pid != root:
            pid = parents[pid]
        return pid == root
    return [pid for pid in parents if pid not in parents.values() and pid != root and descends(pid)]


def test_killed():
    """Ranks killed with kill -9, one and all, then the sweep goes on with other ranks."""
    if not LAUNCHERS:
        raise needs.Skip("no MPI (apt-get install openmpi-bin libopenmpi-dev mpich libmpich-dev)")
    sweep = (*FLOCK, "--sweep", "noise=0.1:0.9:0.2", "--replicas", 8, "--sample", 5000, "-q", "-o",
             "t.npy", "--restart", "r.jsonl")
    clear()
    cli.ok(*sweep)
    whole = contents("t.npy"), contents("r.jsonl")
    for launcher in SOME:
        clear()
        for moment, (victim, ranks) in enumerate(((0, 2), (1, 3), (2, 3))):
            told = {**os.environ, "KITH_MPI": launcher[1],
                    "KITH_TEST_KILL": f"{victim}:{25 + 5 * moment}"}
            done = launched(launcher, ranks, *sweep, env=told)
            assert done.returncode != 0 and not os.path.exists("t.npy"), (launcher, victim, done)
        lines = contents("r.jsonl").count(b"\n")
        assert 1 <= lines <= 1 + 38, lines  # the head, and runs
        with subprocess.Popen(command(launcher, 2, *sweep)) as run:
            while contents("r.jsonl").count(b"\n") < lines + 1 and run.poll() is None:
                time.sleep(0.01)
            for pid in [run.pid, *below(run.pid)]:
                with contextlib.suppress(ProcessLookupError):  # it follows the launcher
                    os.kill(pid, signal.SIGKILL)
        assert not os.path.exists("t.npy") and contents("r.jsonl").count(b"\n") < 1 + 40
        for name, go_on in (("ranks", lambda: launched(launcher, 3, *sweep)),
                            ("one process", lambda: cli.run(*sweep))):
            if os.path.exists("t.npy"):
                os.remove("t.npy")
            done = go_on()
            assert done.returncode == 0, (launcher, name, done)
            assert (contents("t.npy"), contents("r.jsonl")) == whole, (launcher, name)


def test_fails():
    """A call of a transport that fails, and a file that cannot be written: one message."""
    sweep = (*FLOCK, "--sweep", "noise=0.1:0.9:0.2", "--replicas", 2, "-o", "t.npy", "-q")
    clear()
    for launcher in SOME:
        for victim, moment in ((0, 6), (1, 7), (2, 8)):
            told = {**os.environ, "KITH_MPI": launcher[1], "KITH_TEST_FAIL": f"{victim}:{moment}"}
            done = launched(launcher, 3, *sweep, env=told)
            assert done.returncode != 0 and not os.path.exists("t.npy"), (victim, moment, done)
            said = done.stderr.count("kith: ")
            assert said <= 1 and done.stderr.count("a rank was lost") == said, done
            assert said == 1 or victim > 0, done
    wrong = ((6, "half the box", (*FLOCK, "--sweep", "max-speed=0.1/9")),
             (6, "--sweep was", (*FLOCK, "--sweep", "max-speed=0.1/0.2", "--restart", "o.jsonl")),
             (3, "none.xyz", ("flock", "none.xyz", "--sweep", "noise=0.1/0.2")))
    cli.ok(*FLOCK, "--sweep", "noise=0.2/0.6", "--restart", "o.jsonl", "-q")
    for status, words, arguments in wrong:
        for name, run in ways():
            done = run(*arguments)
            said = [line for line in done.stderr.splitlines() if line.startswith("kith")]
            assert done.returncode == status and len(said) == 1 and words in said[0], (name, done)
    if os.path.exists("/dev/full"):
        for name, run in ways():
            done = run(*FLOCK, "--sweep", "noise=0.2/0.6", "--restart", "/dev/full", "-q")
            said = [line for line in done.stderr.splitlines() if line.startswith("kith")]
            assert done.returncode == 9 and len(said) == 1 and "/dev/full" in said[0], (name, done)


def interrupted(words, send):
    """Start a long sweep, interrupt it when some runs are done, and check how it ends."""
    clear()
    start = [*words[0], *map(str, (*FLOCK, "--sweep", "noise=0.1:0.9:0.1", "--replicas", 500,
                                   "--restart", "r.jsonl", "-q")), *words[1]]
    with subprocess.Popen(start, stderr=subprocess.PIPE, text=True) as run:
        while not os.path.exists("r.jsonl") or contents("r.jsonl").count(b"\n") < 4:
            time.sleep(0.01)
            assert run.poll() is None, run.stderr.read()
        send(run)
        begin = time.monotonic()
        text = run.stderr.read()
    assert time.monotonic() - begin < 5 * cli.SLOW, words
    assert text.count("kith: interrupted") == 1 and "run the command again" in text, (words, text)
    return run.returncode


def test_interrupt():
    """Ctrl-C ends all ranks with one message, and the runs that were made are there."""
    def to_all(run):
        run.send_signal(signal.SIGINT)
    assert interrupted(([cli.KITH], ["--backend", "cpu,cpu"]), to_all) == 130

    def to_rank(run):  # the last process that the launcher started
        os.kill(max(below(run.pid)), signal.SIGINT)
    for launcher in LAUNCHERS:
        interrupted((command(launcher, 3), []), to_rank)


def test_no_memory():
    """Allocations that fail, in all moments of a short sweep of ranks that are threads."""
    if "LSAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ:
        raise needs.Skip("a sanitizer has allocations of its own")
    task = (*FLOCK, "--boids", 20, "--sweep", "noise=0.1/0.3/0.5", "--equilibrate", 0, "--sample",
            20, "--measure-every", 1, "--backend", "cpu,cpu", "--json")
    fault = dict(os.environ, KITH_FAULT_COUNT="count", LD_PRELOAD=os.environ["KITH_FAULT_MODULE"])
    whole = json.loads(cli.ok(*task, env={**fault, "KITH_FAULT": "own 1000000000 1"}))["rows"]
    with open("count", encoding="ascii") as file:
        moments = int(file.read().split()[0])
    assert moments > 100, moments
    for moment in range(0, moments, 1 if cli.DEEP else 13):
        done = cli.run(*task, env={**fault, "KITH_FAULT": f"own {moment} 1"})
        assert done.returncode in (0, 8, 10), (moment, done)
        assert done.returncode != 0 or json.loads(done.stdout)["rows"] == whole, (moment, done)
        assert done.returncode == 0 or done.stderr.count("kith: ") == 1, (moment, done)


sys.exit(cli.main(globals()))
