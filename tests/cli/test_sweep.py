# SPDX-License-Identifier: BSD-3-Clause
"""kith flock --sweep: its numbers against those of single runs, computed again here; equal bytes
for any number of threads and after kills; what it refuses."""
import itertools
import json
import math
import os
import signal
import subprocess
import sys
import time

import cli
import needs

FLOCK = ("flock", "--boids", "60", "--box", "5", "--dim", "2", "--model", "vicsek", "--alignment",
         "1", "--max-speed", "0.1", "--time-step", "1", "--flock-members", "2")
EQUILIBRATE, SAMPLE, EVERY, BLOCKS, LOOKS, SEED = 30, 200, 4, 10, 20, 5
RUN = (*FLOCK, "--equilibrate", EQUILIBRATE, "--sample", SAMPLE, "--measure-every", EVERY,
       "--seed", SEED)
NAMES = ("order", "susceptibility", "binder")


def single_run(noise, seed):
    """The lines of --measures of a run without a sweep, by step, and its frames."""
    cli.ok(*FLOCK, "--noise", noise, "--seed", seed, "--steps", EQUILIBRATE + SAMPLE,
           "--measure-every", 1, "--measures", "m.jsonl", "-o", "m.xyz", "--record-every", 1,
           "--bins", 0, "--quiet")
    with open("m.jsonl", encoding="ascii") as file:
        measures = {line["step"]: line for line in map(json.loads, file)}
    frames = {}
    with open("m.xyz", encoding="ascii") as file:
        for line in file:
            step = int(next(file).split("step=")[1].split()[0])
            frames[step] = [tuple(map(float, next(file).split()[1:])) for _ in range(int(line))]
    return measures, frames


def powers(samples, boids):
    """Order, susceptibility and Binder's cumulant of samples."""
    mean, square, fourth = (sum(x ** p for x in samples) / len(samples) for p in (1, 2, 4))
    return mean, boids * (square - mean ** 2), 1 - fourth / (3 * square ** 2)


def correlation_time(x):
    """Sokal's integrated correlation time, in samples."""
    mean = sum(x) / len(x)
    d = [value - mean for value in x]
    variance = sum(value * value for value in d) / len(d)
    time_ = 0.5
    for t in range(1, len(d)):
        if t >= 5 * time_:
            break
        time_ += sum(map(lambda a, b: a * b, d, d[t:])) / (len(d) - t) / variance
    return time_


def correlation_length(frames, side, bins=100, enough=1000):
    """First zero of the correlations of headings, over all pairs of some frames, bins joined until
    they hold enough pairs; None: there is none."""
    n, width = len(frames[0]), side / 2 / bins
    sums, pairs = [0.0] * bins, [0] * bins
    for frame in frames:
        u = [(row[3] / math.hypot(*row[3:5]), row[4] / math.hypot(*row[3:5])) for row in frame]
        mean = [sum(v[k] for v in u) / n for k in range(2)]
        for i, j in itertools.combinations(range(n), 2):
            d = [frame[j][k] - frame[i][k] for k in range(2)]
            r = math.hypot(*(x - side * round(x / side) for x in d))
            if r < side / 2:
                k = int(r / width)
                pairs[k] += 1
                sums[k] += sum((u[i][a] - mean[a]) * (u[j][a] - mean[a]) for a in range(2))
    joined, held = [], [0, 0.0, 0.0]  # pairs, sum of r, sum of products
    for k in range(bins):
        held = [held[0] + pairs[k], held[1] + pairs[k] * (k + 0.5) * width, held[2] + sums[k]]
        if held[0] >= enough:
            joined.append((held[1] / held[0], held[2] / held[0]))
            held = [0, 0.0, 0.0]
    for before, here in zip(joined, joined[1:]):
        if here[1] <= 0:
            if before[1] <= 0:
                return None
            return before[0] + (here[0] - before[0]) * before[1] / (before[1] - here[1])
    return None


def close(a, b, tolerance=1e-9):
    if a is None or b is None:
        return a is None and b is None
    return abs(a - b) <= tolerance * max(abs(a), abs(b), 1e-12)


def spread(values):
    """Standard error of the mean."""
    mean = sum(values) / len(values)
    return math.sqrt(sum((x - mean) ** 2 for x in values) / (len(values) - 1) / len(values))


def test_numbers():
    replicas = 2
    found = cli.ok(*RUN, "--sweep", "noise=0.3/0.7", "--replicas", replicas, "--json")
    rows = json.loads(found)["rows"]
    assert [row["noise"] for row in rows] == [0.3, 0.7]
    for row in rows:
        series, times, means = [], [], {}
        for replica in range(replicas):
            measures, frames = single_run(row["noise"], SEED + replica)
            steps = range(EQUILIBRATE + EVERY, EQUILIBRATE + SAMPLE + 1, EVERY)
            series.append([measures[step]["polarisation"] for step in steps])
            times.append(EVERY * correlation_time(series[-1]))
            looks = [step for m, step in enumerate(steps)
                     if (m + 1) * LOOKS // len(steps) > m * LOOKS // len(steps)]
            length = correlation_length([frames[step] for step in looks], 5)
            for name, values in (
                    ("milling", [measures[s]["milling"] for s in steps]),
                    ("neighbours", [measures[s]["neighbours"] for s in steps]),
                    ("flocks", [measures[s]["flocks"] for s in looks]),
                    ("largest", [measures[s]["largest"] / 60 for s in looks]),
                    ("correlation_length", [length])):
                means.setdefault(name, []).append(sum(values) / len(values))
        blocks = [[x for m, x in enumerate(one) if m * BLOCKS // len(one) == b]
                  for one in series for b in range(BLOCKS)]
        whole = powers([x for one in series for x in one], 60)
        without = [powers([x for c, other in enumerate(blocks) if c != b for x in other], 60)
                   for b in range(len(blocks))]
        for q, name in enumerate(NAMES):
            assert close(row[name], whole[q]), (name, row[name], whole[q])
            mean = sum(w[q] for w in without) / len(without)
            error = math.sqrt(sum((w[q] - mean) ** 2 for w in without) * (len(without) - 1)
                              / len(without))
            assert close(row[name + "_error"], error, 1e-6), (name, row[name + "_error"], error)
            each = [powers(one, 60)[q] for one in series]
            assert close(row[name + "_spread"], spread(each), 1e-6), name
        for name, values in (("correlation_time", times), *means.items()):
            tolerance = 1e-5 if name == "correlation_length" else 1e-9  # frames are of float
            assert close(row[name], sum(values) / replicas, tolerance), (name, row[name], values)
            assert close(row[name + "_spread"], spread(values), 1e-3), name


def table(path):
    with open(path, "rb") as file:
        return file.read()


SWEEP = (*RUN, "--sweep", "noise=0.1:0.9:0.2", "--replicas", 3, "--quiet", "-o", "t.npy")


def test_threads():
    cli.ok(*SWEEP, "--threads", 1)
    alone = table("t.npy")
    for threads in (2, 5):
        cli.ok(*SWEEP, "--threads", threads)
        assert table("t.npy") == alone, threads


def test_kill():
    """Killed again and again, it ends with the bytes of a sweep that was not."""
    sweep = (*SWEEP, "--sample", 10 * SAMPLE)  # long enough to be killed on a fast machine
    cli.ok(*sweep, "--restart", "whole.jsonl")
    whole = table("t.npy")
    os.remove("t.npy")
    kills = 0
    for wait in itertools.count(0.05, 0.05):
        with subprocess.Popen([cli.KITH, *map(str, sweep), "--restart", "r.jsonl"]) as run:
            try:
                run.wait(wait)
            except subprocess.TimeoutExpired:
                run.kill()
                kills += 1
        if run.returncode == 0:
            break
    assert table("t.npy") == whole
    assert kills > 0
    with open("r.jsonl", "ab") as file:  # a line that a kill cut short is dropped
        file.write(b'{"value":"0.1","repl')
    os.remove("t.npy")
    cli.ok(*sweep, "--restart", "r.jsonl")
    assert table("t.npy") == whole
    with open("whole.jsonl", "rb") as file:
        assert sum(1 for _ in file) == 1 + 5 * 3
    head = table("whole.jsonl").split(b"\n")[0]
    with open("cut.jsonl", "wb") as file:
        file.write(head[:50])
    cli.ok(*sweep, "--restart", "cut.jsonl")
    assert table("t.npy") == whole


def test_more():
    """More values and more replicas use the runs that are there."""
    some = (*RUN, "--sweep", "noise=0.2/0.4", "--replicas", 2, "--json", "--restart", "r.jsonl")
    more = (*RUN, "--sweep", "noise=0.2/0.4/0.6", "--replicas", 3, "--json")
    assert json.loads(cli.ok(*some))["found"] == 0
    found = json.loads(cli.ok(*more, "--restart", "r.jsonl"))
    assert found["found"] == 4 and found["rows"] == json.loads(cli.ok(*more))["rows"]


def test_interrupt():
    args = [cli.KITH, *map(str, FLOCK), "--sweep", "noise=0.1:0.9:0.1", "--replicas", "50",
            "--restart", "i.jsonl", "--quiet"]
    with subprocess.Popen(args, stderr=subprocess.PIPE, text=True) as run:
        while not os.path.exists("i.jsonl") or sum(1 for _ in open("i.jsonl", "rb")) < 3:
            time.sleep(0.01)
        run.send_signal(signal.SIGINT)
        start = time.monotonic()
        text = run.stderr.read()
    assert run.returncode == 130, (run.returncode, text)
    assert time.monotonic() - start < 2
    assert "of 9 values are done" in text and "run the command again" in text, text


def test_boids():
    """The number of boids varies: the density does."""
    rows = json.loads(cli.ok(*RUN, "--noise", 0.3, "--sweep", "boids=20:60:20", "--json"))["rows"]
    assert [row["boids"] for row in rows] == [20, 40, 60]
    assert rows[0]["neighbours"] < rows[1]["neighbours"] < rows[2]["neighbours"]
    assert all(row["order_spread"] is None for row in rows)  # one replica


def test_density():
    """Sweeps of boids need no --boids, and take runs of other lists of numbers."""
    rest = (*RUN[:1], *RUN[3:], "--noise", 0.3, "--json", "--restart", "d.jsonl")
    cli.ok(*rest, "--sweep", "boids=20/40")
    assert json.loads(cli.ok(*rest, "--sweep", "boids=20/40/30"))["found"] == 2


def test_input():
    """Replicas of one start without noise are one run; another file of the same name is refused."""
    cli.ok(*FLOCK, "--noise", 0.3, "--steps", 20, "-o", "in.xyz", "--record-every", 0, "--quiet")
    cli.ok(*FLOCK, "--noise", 0.5, "--steps", 20, "-o", "other.xyz", "--record-every", 0,
           "--quiet")
    run = ("flock", "in.xyz", "--model", "vicsek", "--alignment", "1", "--max-speed", "0.1",
           "--time-step", "1", "--sample", SAMPLE, "--restart", "i.jsonl", "--sweep")
    cli.fails(6, *run, "noise=0.2/0", "--replicas", 2, says=("all are one run at noise = 0",))
    cli.ok(*run, "noise=0.2/0.4", "--replicas", 2, "--quiet")
    cli.ok(*FLOCK, "--steps", 3, "-o", "many.xyz", "--record-every", 1, "--quiet")
    noted = cli.run(run[0], "many.xyz", *run[2:-3], "--sweep", "noise=0.2/0.4", "--replicas", 2)
    assert noted.returncode == 0 and noted.stderr.count("note: frame 0") == 1, noted
    os.replace("other.xyz", "in.xyz")
    cli.fails(6, *run, "noise=0.2/0.4", "--replicas", 2, says=("checksum of INPUT was",))


def test_outputs():
    text = cli.ok(*RUN, "--sweep", "noise=0.2/0.6", "-o", "-")
    rows = [line.split() for line in text.splitlines() if not line.startswith("#")]
    assert [row[0] for row in rows] == ["0.2", "0.6"]
    names = text.split("\n# noise ")[1].split("\n")[0].split()
    assert len(rows[0]) == 1 + len(names) and names[0] == "order"
    if needs.program("gnuplot"):
        cli.ok(*RUN, "--sweep", "noise=0.2/0.6", "--plot", "s.svg", "--quiet")
        assert table("s.svg").rstrip().endswith(b"</svg>")


def test_refused():
    for status, words, arguments in (
            (2, "expected NAME=FROM:TO:STEP", ("--sweep", "noise")),
            (2, "is no option of the model", ("--sweep", "colour=1/2")),
            (2, "is no option of the model", ("--sweep", "relative=1/2")),
            (2, "expected a number", ("--sweep", "noise=0.1/high")),
            (2, "that rises", ("--sweep", "noise=1:0:0.1")),
            (2, "that rises", ("--sweep", "noise=0:1:0")),
            (2, "a value twice", ("--sweep", "noise=0.1/0.1")),
            (6, "noise", ("--sweep", "noise=0:2:0.5")),
            (2, "in place of --steps", ("--sweep", "noise=0/1", "--steps", "10")),
            (2, "neither seen nor filmed", ("--sweep", "noise=0/1", "--view")),
            (2, "exclude each other", ("--sweep", "noise=0/1", "--at", "5:noise=0.1")),
            (2, "20 samples", ("--sweep", "noise=0/1", "--sample", "100")),
            (2, "need --sweep", ("--steps", "10", "--replicas", "3")),
            (2, "need --sweep", ("--replicas", "3")),
            (2, "writes a table", ("--sweep", "noise=0/1", "-o", "a.gsd")),
            (2, "needs 1 or more", ("--sweep", "noise=0/1", "--measure-every", "0")),
            (6, "half the box", ("--sweep", "max-speed=0.1/9"))):
        cli.fails(status, *FLOCK, *arguments, says=(words,))
    cli.ok(*RUN, "--sweep", "noise=0.2/0.6", "--restart", "f.jsonl", "--quiet")
    for words, arguments in (("--equilibrate was 30 and is 31", ("--equilibrate", "31")),
                             ("--seed was 5 and is 6", ("--seed", "6")),
                             ('--sweep was "noise" and is', ("--sweep", "max-speed=0.1/0.2"))):
        cli.fails(6, *RUN, "--sweep", "noise=0.2/0.6", *arguments, "--restart", "f.jsonl",
                  says=(words,))
    found = json.loads(cli.ok(*RUN, "--noise", "0.3", "--sweep", "noise=0.2/0.6", "--json",
                              "--restart", "f.jsonl"))["found"]
    assert found == 2, found  # no run depends on the --noise that the sweep replaces
    alignment = ("--sweep", "alignment=1/1.5", "--restart", "g.jsonl")
    cli.ok(*RUN, "--noise", "0.3", *alignment, "--quiet")
    cli.fails(6, *RUN, "--noise", "0.4", *alignment, says=("--noise was 0.3 and is 0.4",))
    with open("other.jsonl", "w", encoding="ascii") as file:
        file.write("a text\n")
    cli.fails(4, *RUN, "--sweep", "noise=0.2/0.6", "--restart", "other.jsonl",
              says=("is not a file of finished runs",))
    assert table("other.jsonl") == b"a text\n"


sys.exit(cli.main(globals()))
