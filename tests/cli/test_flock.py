# SPDX-License-Identifier: BSD-3-Clause
"""kith flock: what it measures, the options of models and when they change, bad input."""
import json
import math
import os
import random
import re
import sys

import cli
from flock_runs import RUN, START, frames, read


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


def groups(n, friends):
    """Sizes of groups, falling, by search through all pairs."""
    left, sizes = set(range(n)), []
    while left:
        seen = [left.pop()]
        for i in seen:
            near = {j for j in left if friends(i, j)}
            left -= near
            seen.extend(near)
        sizes.append(len(seen))
    return sorted(sizes, reverse=True)


def test_flocks_and_g_against_all_pairs():
    """Positions alone and with velocities; g(r) of the pairs in each shell, in 3-D and 2-D."""
    for dim, length, velocity, side in ((3, 2.0, None, 20), (3, 3.0, 1.2, 20), (2, 1.5, 0.9, 40)):
        words = ["--flock-length", length, "--flock-members", "2", "--r-max", "6", "--bins", "9",
                 "--dim", dim, "--box", side, "--precision", "double"]
        words += ["--flock-velocity", velocity] if velocity else []
        sample = json.loads(cli.ok(*START, *words, "--steps", "0", "-o", "a.xyz", "--json")
                            .splitlines()[0])
        rows = frames("a.xyz")[0][1]

        def square(i, j, first=0, box=side, rows=rows):
            apart = [abs(rows[i][first + k] - rows[j][first + k]) for k in range(3)]
            return sum(min(d, box - d) ** 2 if box else d * d for d in apart)

        def friends(i, j, length=length, velocity=velocity, square=square):
            return square(i, j) / length ** 2 + (square(i, j, 3, 0) / velocity ** 2
                                                 if velocity else 0) <= 1

        members = [size for size in groups(300, friends) if size > 1]
        assert sample["members"] == members[:100] and sample["flocks"] == len(members), dim
        assert sample["largest"] == members[0]
        edges = [6 * k / 9 for k in range(10)]
        count = [0] * 9
        for i in range(300):
            for j in range(i):
                r = square(i, j) ** 0.5
                if r < 6:
                    count[int(r / 6 * 9)] += 1
        assert sample["r_max"] == 6 and len(sample["g"]) == 9
        for k, g in enumerate(sample["g"]):
            shell = math.pi * ((edges[k + 1] ** 2 - edges[k] ** 2) if dim == 2 else
                               4 / 3 * (edges[k + 1] ** 3 - edges[k] ** 3))
            expected = count[k] / (300 * 299 / 2 * shell / side ** dim)
            assert abs(g - expected) < 1e-9 * (1 + expected), (dim, k, g, expected)
    for words in (("--bins", "0"), ("--periodic", "none")):  # not wanted; no density
        text = cli.ok(*START, *words, "--steps", "0", "--json").splitlines()[0]
        assert json.loads(text)["g"] is None
    assert ", g " in cli.ok(*START, "--steps", "0")


def comments(path):
    return [line for line in read(path).splitlines() if b"Properties" in line]


def thingless(path):
    """A recording without its obstacles, points and predators."""
    return re.sub(rb'kith_thing\d+="[^"]*" ', b"", read(path))


def test_options_of_input():
    for option, value in (("--frame", "1"), ("--columns", "1,2,3"), ("--species", "O"),
                          ("--dataset", "x")):
        cli.fails(2, *START, option, value, "--steps", "1", says=(f"{option} is of INPUT",))
    cli.ok(*START, "--precision", "double", "--steps", "1", "-q")


def test_messages_of_the_library():
    """They name the options of the command line, not fields of a struct."""
    for words, says in ((("--model", "vicsek", "--max-speed", "0"), "--max-speed is 0: Vicsek's"),
                        (("--nearest", "65"), "--nearest is 65, expected 0 to 64"),
                        (("--min-speed", "2"), "--min-speed is 2, more than --max-speed, 1"),
                        (("--separation", "30,1"), "kith: a radius of 30 is no less than"),
                        (("--separation", "1e30,1"), "the largest radius of the rules is 1e+30")):
        done = cli.run(*START, *words, "--steps", "1")
        assert done.returncode in (6, 7) and says in done.stderr, (words, done)
        assert "options" not in done.stderr, done.stderr


def test_noise_and_turns():
    """Gaussian noise and the limit of turns act, and go on from a restart file with equal bits."""
    model = ("--noise", "0.05", "--gaussian", "--turn-rate", "90", "--record-every", "10")
    cli.ok(*START, *model, "--steps", "10", "-o", "n.xyz", "--restart", "n.state", "-q")
    cli.ok(*START, *model, "--steps", "30", "-o", "n.xyz", "--restart", "n.state", "-q")
    cli.ok(*START, *model, "--steps", "30", "-o", "m.xyz", "-q")
    assert read("n.xyz") == read("m.xyz")
    cli.fails(6, *START, "--gaussian", "--turn-rate", "90", "--steps", "9",
              says=("--gaussian: there is no noise", "--noise ETA"))
    cli.fails(6, *START, "--at", "5:gaussian", "--at", "5:noise=0", "--noise", "0.1", "--steps",
              "9", says=("--gaussian: there is no noise",))
    cli.ok(*START, "--gaussian", "--at", "5:noise=0.1", "--steps", "9", "-q")
    for other in (("--noise", "0.05", "--turn-rate", "90"), ("--noise", "0.05", "--gaussian"),
                  ("--turn-rate", "90")):
        cli.ok(*START, *other, "--record-every", "10", "--steps", "30", "-o", "o.xyz", "-q")
        assert read("o.xyz") != read("m.xyz"), other
        cli.fails(6, *START, *other, "--record-every", "10", "--steps", "40", "-o", "n.xyz",
                  "--restart", "n.state", "-q",
                  says=(({"--noise", "--gaussian", "--turn-rate"} - set(other)).pop() + " was",))
    for words in (("--at", "0:gaussian=0"), ("--at", "0:gaussian=1", "--at", "0:gaussian=0")):
        cli.ok(*START, *model[:2], *model[3:], *words, "--steps", "30", "-o", "p.xyz", "-q")
        cli.ok(*START, *model[:2], *model[3:], "--steps", "30", "-o", "q.xyz", "-q")
        assert read("p.xyz") == read("q.xyz"), words
    cli.fails(2, *START, "--steps", "9", "--at", "5:gaussian=no", says=("0, 1 or no value",))
    cli.fails(2, *START, "--steps", "9", "--at", "5:no-things=1", says=("expected no value",))
    with open("flag.txt", "w", encoding="ascii") as file:
        file.write("gaussian = maybe\n")
    cli.fails(2, *START, "--steps", "9", "--parameters", "flag.txt", says=("'maybe'",))
    out = cli.ok(*START, "--turn-rate", "9", "--at", "5:gaussian", "--at", "5:noise=1", "--steps",
                 "10", "--measure-every", "1", "--json").splitlines()
    order = [json.loads(line)["polarisation"] for line in out[:-1]]
    assert all(abs(a - b) < 2 * math.sin(math.radians(9 * 0.2) / 2) + 1e-9
               for a, b in zip(order, order[1:])), order


def test_changes_on_the_way():
    """A change at a step gives the bits of a run that goes on from there with other options."""
    model = ("--model", "vectorial", "--noise", "0.1", "--record-every", "10",
             "--predator", "1,1,1,1,0.5,6")
    cli.ok(*START, *model, "--steps", "20", "-o", "a.xyz", "--restart", "a.state", "-q")
    cli.ok(*START, *model, "--noise", "0.6", "--alignment", "4", "--steps", "30", "-o", "a.xyz",
           "--restart", "a.state", "--restart-change", "-q")
    cli.ok(*START, *model, "--noise", "0.6", "--alignment", "4", "--point", "5,5,5,0.3,8",
           "--steps", "40", "-o", "a.xyz", "--restart", "a.state", "--restart-change", "-q")
    changes = ("--at", "30:point=5,5,5,0.3,8", "--at", "20:noise=0.6", "--at", "20:alignment 4")
    cli.ok(*START, *model, *changes, "--steps", "40", "-o", "b.xyz", "-q")
    # The frame of step 30 alone differs: the earlier run ended there before the point was added.
    assert [frame for frame in comments("a.xyz")
            if frame not in comments("b.xyz")] == [comments("a.xyz")[3]]
    assert thingless("a.xyz") == thingless("b.xyz")
    with open("p.txt", "w", encoding="ascii") as file:  # so do a file of all, and a stop between
        file.write("box = 20\nat = 20:noise=0.6\nat 20:alignment=4 # nearer\n"
                   "at = 30:point=5,5,5,0.3,8\nthreads = 1\noutput = c.xyz\n")
    words = ("flock", "--boids", "300", "--seed", "4", *model, "--parameters", "p.txt",
             "--restart", "c.state", "-q")
    for steps in ("10", "30", "40"):
        cli.ok(*words, "--steps", steps)
    assert read("b.xyz") == read("c.xyz")
    cli.ok(*START, *model, *changes, "--at", "35:no-things", "--steps", "40", "-o", "b.xyz", "-q")
    assert read("a.xyz") != read("b.xyz")
    out = cli.ok(*START, "--at", "4:time-step=0.5", "--at", "6:relative", "--steps", "8",
                 "--measure-every", "2", "--json").splitlines()
    times = [json.loads(line)["time"] for line in out[:-1]]
    assert max(abs(a - b) for a, b in zip(times, (0, 0.4, 0.8, 1.8, 2.8))) < 1e-12, times
    for at, status, says in (("x", 2, "STEP:NAME=VALUE"), ("5:noise", 2, "no value"),
                             ("5:boids=3", 2, "boids"), ("5:reflect=x", 2, "reflect"),
                             ("x:noise=0.1", 2, "'x'"), ("-1:noise=0.1", 6, "-1"),
                             ("5:noise=2", 6, "0 to 1"), ("5:max-speed=1000", 6, "half the box"),
                             ("5:cohesion=30", 6, "--at 5"),
                             ("5:sphere=1,1,1,0,0,0", 6, "a radius")):
        cli.fails(status, *START, "--steps", "9", "--at", at, "-o", "d.xyz", says=(says,))
    assert "d.xyz" not in os.listdir()


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


def test_presets():
    """Values that are given win over a preset, wherever they are; its box is centred on 0."""
    with open("p.txt", "w", encoding="ascii") as file:
        file.write("boids = 40\npreset = mill\nalignment = 3,0.1\n")
    words = ("--steps", "20", "--record-every", "20", "-q")
    full = ("--box", "60", "--origin=-30,-30,-30", "--separation", "2,0.04", "--cohesion", "0,0",
            "--min-speed", "1", "--point", "0,0,0,0.015,0")
    cli.ok("flock", "--boids", "40", "--alignment", "3,0.1", *full, *words, "-o", "a.xyz")
    cli.ok("flock", "--boids", "40", "--preset", "mill", "--alignment", "3,0.1", *words, "-o",
           "b.xyz")
    cli.ok("flock", "--alignment", "3,0.1", "--preset", "mill", "--boids", "40", *words, "-o",
           "c.xyz")
    cli.ok("flock", "--parameters", "p.txt", *words, "-o", "d.xyz")
    cli.ok("flock", "a.xyz", "--frame", "0", "--preset", "mill", "--alignment", "3,0.1", *words,
           "-o", "e.xyz")
    assert read("a.xyz") == read("b.xyz") == read("c.xyz") == read("d.xyz")
    assert frames("a.xyz")[-1][1] != frames("a.xyz")[0][1] and read("e.xyz") != read("a.xyz")
    cli.fails(2, "flock", "--preset", "swarm", "--steps", "1",
              says=("'swarm'", "murmuration, mill, bands, shoal or abp"))
    cli.fails(6, "flock", "--preset", "mill", "--model", "vicsek", "--steps", "1",
              says=("--separation",))
    assert "preset     mill\n" in cli.ok("flock", "--preset", "mill", "--steps", "0")
    order = {}
    for name, steps in (("mill", 1500), ("shoal", 600), ("murmuration", 0)):
        out = cli.ok("flock", "--preset", name, "--steps", steps, "--measure-every", "0", "--json")
        order[name] = json.loads(out.splitlines()[-2])
        assert json.loads(out.splitlines()[-1])["preset"] == name
    assert order["mill"]["milling"] > 0.7 and order["mill"]["polarisation"] < 0.3, order["mill"]
    assert order["shoal"]["polarisation"] > 0.5 and order["shoal"]["largest"] > 1500, order["shoal"]


def test_a_flag_of_a_preset_taken_back():
    """A 0 in a file wins over the flag of a preset; noise 0 that is given is no error of it."""
    start = ("flock", "--preset", "abp", "--boids", "200", "--box", "20", "--steps", "10", "-q")
    with open("g.txt", "w", encoding="ascii") as file:
        file.write("gaussian = 0\n")
    cli.ok(*start, "--parameters", "g.txt", "-o", "a.xyz")
    cli.ok(*start, "--at", "0:gaussian=0", "-o", "b.xyz")
    cli.ok(*start, "-o", "c.xyz")
    assert read("a.xyz") == read("b.xyz") != read("c.xyz")
    cli.ok(*start, "--noise", "0")
    cli.fails(6, *start, "--noise", "0", "--gaussian", says=("--gaussian: there is no noise",))


def test_repulsion():
    """Active Brownian particles push each other apart, and keep their speed; a run goes on from a
    restart file with equal bits, --at changes the repulsion, a sweep varies its range."""
    own = ("flock", "--preset", "abp", "--boids", "400", "--box", "20")
    model = (*own, "--record-every", "50")
    cli.ok(*model, "--steps", "100", "-o", "r.xyz", "--restart", "r.state", "-q")
    cli.ok(*model, "--steps", "200", "-o", "r.xyz", "--restart", "r.state", "-q")
    cli.ok(*model, "--steps", "200", "-o", "s.xyz", "-q")
    assert read("r.xyz") == read("s.xyz")

    def nearest(rows):
        return min(math.hypot(*((p[k] - q[k] + 10) % 20 - 10 for k in range(2)))
                   for i, p in enumerate(rows) for q in rows[:i])
    rows = frames("r.xyz")[-1][1]
    assert nearest(frames("r.xyz")[0][1]) < 0.3 and nearest(rows) > 0.8, nearest(rows)
    assert max(abs(math.hypot(*row[3:5]) - 1) for row in rows) < 1e-6
    cli.fails(6, *model, "--repulsion", "1,20", "--steps", "300", "-o", "r.xyz", "--restart",
              "r.state", "-q", says=("--repulsion was 1,12 and is 1,20",))
    cli.ok(*model, "--at", "0:repulsion=0", "--steps", "200", "-o", "t.xyz", "-q")
    assert nearest(frames("t.xyz")[-1][1]) < 0.3
    cli.ok(*own, "--sweep", "repulsion=0.5/1", "--equilibrate", "10", "--sample", "200",
           "-o", "r.txt", "-q")
    table = [line.split() for line in read("r.txt").decode().splitlines() if line[0] != "#"]
    assert [row[0] for row in table] == ["0.5", "1"] and table[0] != table[1], table
    for name, words in (("a", ("--repulsion", "0.8")), ("b", ("--repulsion", "0.8,12"))):
        cli.ok(*model, *words, "--steps", "50", "-o", f"{name}.xyz", "-q")  # K is the preset's
    assert read("a.xyz") == read("b.xyz") != read("s.xyz")
    warned = "warning: --repulsion: K 50 times the time step 0.02"
    assert warned in cli.run(*own, "--repulsion", "1,50", "--steps", "1").stderr
    assert warned in cli.run(*own, "--repulsion", "0", "--at", "1:repulsion=1,50", "--steps",
                             "2").stderr
    assert cli.run(*own, "--repulsion", "1,49", "--steps", "1").stderr == ""
    assert cli.run(*own, "--repulsion", "1,50", "--steps", "1", "-q").stderr == ""
    cli.fails(6, *START, "--steps", "1", "--repulsion=1,-2", says=("--repulsion", "0 or more"))
    cli.fails(6, *START, "--steps", "1", "--repulsion=nan,2", says=("--repulsion", "finite"))


def test_species():
    """Species that ignore each other fly as if alone; trajectories name them; a run goes on from
    a restart file with equal bits, and is refused with other factors."""
    model = ("--flock-species", "2", "--record-every", "10")
    cli.ok(*START, *model, "--heed-others", "0", "--steps", "30", "-o", "i.xyz", "--at",
           "20:heed=0,1,1,-0.5,2", "-q")
    cli.ok(*START, *model, "--heed", "0,1,0", "--heed", "1,0,0,0,0", "--steps", "10", "-o", "j.xyz",
           "--restart", "j.state", "-q")
    late = ("--heed-others", "0", "--at", "20:heed=0,1,1,-0.5,2", "-o", "j.xyz", "--restart",
            "j.state", "-q")
    cli.ok(*START, *model, *late, "--steps", "30")
    assert read("i.xyz") == read("j.xyz")
    text = read("i.xyz").decode().splitlines()
    assert [line[:2] for line in text[2:302]] == ["A ", "B "] * 150
    cli.fails(6, *START, *model, "--heed", "0,1,3", "--steps", "40", "-o", "j.xyz", "--restart",
              "j.state", "-q", says=("--heed 0,1 was 1,-0.5,2 and is 3,3,3",))
    cli.fails(6, *START, "--steps", "40", "-o", "j.xyz", "--restart", "j.state", "-q",
              says=("2 species", "--flock-species is 0"))
    cli.ok(*START, *model, "--heed-others", "0", "--steps", "20", "-o", "k.gsd", "-q")
    both = cli.ok("rdf", "k.gsd", "--select", "A", "--with", "B", "--r-max", "3", "-o", "-", "-q")
    assert "A" in both and "B" in both
    # half of the flock, alone
    alone = frames("i.xyz")[0][1][::2]
    with open("half.xyz", "w", encoding="ascii") as file:
        file.write(f"{len(alone)}\n{text[1]}\n")
        file.writelines("X " + " ".join(map(repr, row)) + "\n" for row in alone)
    cli.ok("flock", "half.xyz", "--threads", "1", "--steps", "20", "--record-every", "20", "-o",
           "half_on.xyz", "-q", "--precision", "float")
    there = frames("half_on.xyz")[-1][1]
    assert there == frames("i.xyz")[2][1][::2]
    cli.fails(6, *START, "--steps", "1", "--heed", "0,1,0", says=("needs --flock-species",))
    cli.fails(6, *START, "--steps", "1", "--flock-species", "2", "--heed", "0,2,0",
              says=("species 2", "--flock-species is 2"))
    cli.fails(6, *START, "--steps", "1", "--flock-species", "2", "--heed", "0,1,nan",
              says=("--heed", "-64 to 64"))
    cli.fails(6, *START, "--steps", "1", "--flock-species", "9", says=("--flock-species", "0 to 8"))
    cli.fails(2, *START, "--steps", "9", "--flock-species", "2", "--at", "5:flock-species=3",
              says=("whole run",))
    cli.ok("flock", "--boids", "60", "--box", "9", "--flock-species", "2", "--sweep",
           "heed-others=0/1", "--equilibrate", "10", "--sample", "200", "--replicas", "2", "-o",
           "h.txt", "-q")


SPECIES = ("--flock-species", "3", "--heed-others", "-0.5", "--heed", "0,1,2,1,-1")
FROM_10 = (*SPECIES, "--at", "15:heed=1,2,3", "--steps", "20", "--record-every", "10", "-q")


def last_frame(path):
    return read(path).decode().splitlines()[-60:]


def names_of(*arguments):
    """What the summary calls the species."""
    words = ("--steps", "0", "--bins", "0", "--json")
    return json.loads(cli.ok(*arguments, *words).splitlines()[-1])["species_names"]


def three_species():
    """Record a flock of three species in s.xyz; return its steps 10 and 30, as lines."""
    cli.ok("flock", "--boids", "60", "--box", "9", "--seed", "4", "--precision", "double", *SPECIES,
           "--at", "25:heed=1,2,3", "--steps", "30", "--record-every", "10", "-q", "-o", "s.xyz")
    text = read("s.xyz").decode().splitlines()
    assert [row[0] for row in text[-60:]] == ["A", "B", "C"] * 20
    return text[62:124], text[-60:]


def test_species_of_input():
    """Particles of INPUT are of the species that it names, in any order of particles: recordings go
    on with the bytes of one run, also over ranks, from a restart file and in a sweep."""
    start, end = three_species()
    cli.ok("flock", "s.xyz", "--frame", "1", *FROM_10, "-o", "on.xyz")
    assert last_frame("on.xyz") == end
    order = list(range(60))
    random.Random(5).shuffle(order)
    end = [end[k] for k in order]
    for names, more in (("A B C", ()), ("H O Si", ()), ("7 20 100", ()),
                        ("Si H O", ("--species", "Si,H,O"))):
        name = dict(zip("ABC", names.split()))
        with open("i.xyz", "w", encoding="ascii") as file:
            file.write("\n".join(start[:2]) + "\n")
            file.writelines(name[start[2 + k][0]] + start[2 + k][1:] + "\n" for k in order)
        cli.ok("flock", "i.xyz", *FROM_10, *more, "-o", "on.xyz")
        assert last_frame("on.xyz") == end, names
        assert names_of("flock", "i.xyz", *SPECIES, *more) == names.split()
    text = cli.ok("flock", "i.xyz", *SPECIES, *more, "--steps", "0")
    assert "3 species: Si is 0, H is 1, O is 2" in text, text
    several = {**os.environ, "KITH_BACKEND": "cpu,cpu,cpu"}
    cli.ok("flock", "i.xyz", *FROM_10, *more, "-o", "on.xyz", env=several)
    assert last_frame("on.xyz") == end
    restart = (*FROM_10, *more, "-o", "r.xyz", "--restart", "r.state")
    cli.ok("flock", "i.xyz", *restart, "--steps", "10")
    cli.ok("flock", "i.xyz", *restart)
    again = [word for word in restart if word != "-q"]
    report = json.loads(cli.ok("flock", "i.xyz", *again, "--json").splitlines()[-1])
    assert report["species_names"] == ["Si", "H", "O"]
    assert last_frame("r.xyz") == end
    sweep = (*SPECIES, "--sweep", "noise=0.1/0.3", "--sample", "200", "--equilibrate", "0", "-q")
    kept = (*sweep, "--restart", "s.jsonl")
    cli.ok("flock", "i.xyz", *kept, *more, "-o", "one.npy")
    cli.ok("flock", "i.xyz", *sweep, *more, "-o", "ranks.npy", env=several)
    assert read("one.npy") == read("ranks.npy")
    cli.ok("flock", "i.xyz", *sweep, "-o", "other.npy")  # H is 0
    assert read("one.npy") != read("other.npy")
    cli.fails(6, "flock", "i.xyz", *kept, says=("checksum of INPUT was",))


def test_names_of_species():
    """Formats; letters where one has no particle; one name; more or fewer names than species."""
    three_species()
    cli.ok("flock", "--boids", "60", *SPECIES, "--steps", "1", "-q", "-o", "g.gsd")
    assert names_of("flock", "g.gsd", *SPECIES) == ["A", "B", "C"]
    with open("d.lammpstrj", "w", encoding="ascii") as file:
        file.write("ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n3\nITEM: BOX BOUNDS pp pp pp\n"
                   "0 9\n0 9\n0 9\nITEM: ATOMS id type x y z\n1 10 1 1 1\n2 9 2 2 2\n3 1 4 4 4\n")
    assert names_of("flock", "d.lammpstrj", *SPECIES) == ["1", "9", "10"]

    def written(*names):
        with open("n.xyz", "w", encoding="ascii") as file:
            file.write(f"{len(names)}\n\n")
            file.writelines(f"{name} {k} 0 0\n" for k, name in enumerate(names))
        return "flock", "n.xyz", *SPECIES
    assert names_of(*written("C", "A")) == ["A", None, "C"]
    cli.ok(*written("X", "X", "X", "X"), "--steps", "0", "-q", "-o", "v.xyz")
    assert [line[0] for line in read("v.xyz").decode().splitlines()[2:]] == ["A", "B", "C", "A"]
    for names, said in ((("Si", "H"), "2 species: H, Si"), (("Si", "H", "O", "C"), "C, H, O, Si")):
        cli.fails(6, *written(*names), "--steps", "3", "-o", "no.xyz",
                  says=(said, "--flock-species is 3", f"give --flock-species {len(names)}"))
    cli.fails(6, *written(*(f"N{k}" for k in range(9))), "--steps", "3",
              says=("9 species, but", "choose at most 8 by --species"))
    assert not os.path.exists("no.xyz")


def test_heed_wins_over_heed_others():
    """--heed holds for the two species that it names, before and after --heed-others, swept too."""
    model = (*START, "--flock-species", "2", "--steps", "20", "-q")
    others, heed = ("--heed-others", "0"), ("--heed", "0,1,1,-1,1")
    for k, words in enumerate(((*others, *heed), (*heed, *others),
                               (*heed, "--at", "0:heed-others=0"), ("--heed", "1,0,0", *heed))):
        cli.ok(*model, *words, "-o", f"{k}.xyz")
    assert read("0.xyz") == read("1.xyz") == read("2.xyz") == read("3.xyz")
    small = ("flock", "--boids", "60", "--box", "9", "--flock-species", "2", "--equilibrate", "10",
             "--sample", "200", "-q")
    cli.ok(*small, "--heed", "0,1,3", "--heed", "1,0,3", "--sweep", "heed-others=-1/1", "-o",
           "s.txt")
    rows = [line.split() for line in read("s.txt").decode().splitlines() if line[0] != "#"]
    assert rows[0][1:] == rows[1][1:], rows


def test_leaders():
    """A tenth of a flock takes it along; a run goes on from a restart file with equal bits, and
    --at may change the direction."""
    model = ("flock", "--boids", "400", "--box", "14", "--dim", "2", "--model", "vicsek",
             "--alignment", "1.5", "--max-speed", "0.3", "--time-step", "1", "--noise", "0.1", "-q",
             "--seed", "2",
             "--leaders", "0.1", "--leader-direction", "0,1", "--record-every", "300")
    turn = ("--at", "300:leader-direction=-1,0", "--at", "300:leader-weight=1")
    cli.ok(*model, *turn, "--steps", "100", "-o", "l.xyz", "--restart", "l.state")
    cli.ok(*model, *turn, "--steps", "600", "-o", "l.xyz", "--restart", "l.state")
    cli.ok(*model, *turn, "--steps", "600", "-o", "m.xyz", "--record-every", "300")

    def heading(rows):
        return [sum(row[3 + k] for row in rows) / 0.3 / len(rows) for k in range(2)]
    recorded = dict(frames("m.xyz"))
    assert heading(recorded[300])[1] > 0.8 and heading(recorded[600])[0] < -0.8, "not led"
    assert recorded[600] == dict(frames("l.xyz"))[600]
    cli.fails(6, *model, *turn, "--steps", "900", "-o", "l.xyz", "--restart", "l.state",
              "--leaders", "0.2", says=("--leaders was 0.1 and is 0.2",))
    cli.ok(*model[:-2], "--sweep", "leaders=0/0.1", "--equilibrate", "10", "--sample", "200", "-o",
           "l.txt")
    for bad in (("--leaders", "1.5"), ("--leaders", "nan"), ("--leader-weight=-1",),
                ("--leader-weight=1e300",),
                ("--leader-direction", "0,0,0"), ("--leader-direction", "nan,1")):
        cli.fails(6, *START, "--steps", "1", *bad, says=(bad[0].split("=")[0],))


def test_summary_of_the_model():
    """The summary and --json say what of noise, repulsion, species and leaders is on at the end."""
    roles = ("--flock-species", "2", "--heed-others", "0", "--leaders", "0.1", "--noise", "0.25",
             "--gaussian", "--repulsion", "0.5,2", "--steps", "4")
    text = cli.ok(*START, *roles)
    assert ("model      time step 0.2, seed 4, normal noise 0.25, repulsion 0.5,2, 2 species, "
            "30 leaders\n") in text, text
    told = json.loads(cli.ok(*START, *roles, "--at", "2:noise=0.5", "--json").splitlines()[-1])
    assert {name: told[name] for name in ("time_step", "seed", "noise", "gaussian", "repulsion",
                                          "species", "leaders")} == {
        "time_step": 0.2, "seed": 4, "noise": 0.5, "gaussian": True, "repulsion": [0.5, 2],
        "species": 2, "leaders": 30}, told
    large = cli.ok(*START, "--seed", 2 ** 64 - 1, "--steps", "0", "--json").splitlines()[-1]
    assert json.loads(large)["seed"] == str(2 ** 64 - 1), large
    plain = cli.ok(*START, "--steps", "1")
    assert "model      time step 0.2, seed 4\n" in plain, plain


def test_bands():
    """Vicsek's particles gather in bands across their way: stripes of it hold far more than others,
    and stripes along it do not."""
    cli.ok("flock", "--preset", "bands", "--boids", "8000", "--box", "64", "--steps", "1500",
           "--record-every", "1500", "-o", "a.xyz", "-q")
    rows = frames("a.xyz")[-1][1]
    way = [sum(row[k] for row in rows) for k in (3, 4)]
    axis = 0 if abs(way[0]) > abs(way[1]) else 1
    spread = []
    for k in (axis, 1 - axis):
        stripes = [0] * 8
        for row in rows:
            stripes[int((row[k] + 32) / 64 * 8) % 8] += 1
        spread.append(max(stripes) / (len(rows) / 8))
    assert spread[0] > 1.8 and spread[0] > spread[1], (spread, way)


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


def test_nonsense():
    for name, value in (("separation", "-1"), ("alignment", "nan,1"), ("cohesion", "5,inf"),
                        ("time-step", "0"), ("time-step", "-1"), ("noise", "1.5"),
                        ("max-speed", "-1"), ("blind-angle", "400"), ("steps", "-1"),
                        ("boids", "0"), ("nearest", "-1"), ("flock-length", "0")):
        cli.fails(6, *START, "--steps", "1", f"--{name}={value}", says=(name, "expected"))
    cli.fails(6, *START, "--steps", "1", "--alignment", "20", says=("20", "box"))
    cli.fails(6, *START, "--steps", "1", "--time-step", "11", says=("--time-step", "half the box"))
    cli.fails(6, *START, "--steps", "1", "--nearest", "65", says=("nearest", "64"))
    cli.fails(6, *START, "--steps", "1", "--min-speed", "2", says=("--min-speed",))
    cli.fails(6, *START, "--steps", "1", "--model", "vicsek", "--max-speed", "0",
              says=("--max-speed is 0",))
    cli.fails(7, *START, "--steps", "1", *(17 * ("--point", "1,1,1,1,1")), says=("16",))
    for words in (("--steps", "x"), ("--sphere", "1,1,1"), ("--seed", "-1"),
                  ("--model", "birds"), ("--reflect", "w"), ("--dim", "4"),
                  ("--separation", "a"), ("a.xyz",), ("-o", "-"), ("-o", "a.h5"), ("-o", "a.npy")):
        cli.fails(2, *START, "--steps", "1", *words)
    for words in (("-o", "b.xyz", "--measures", "b.xyz"), ("--measures", "b", "--restart", "b")):
        cli.fails(2, *START, "--steps", "1", *words, says=("two uses",))
    cli.fails(6, *START, "--steps", "1", "--model", "vectorial", "--gaussian", says=("no angle",))
    cli.fails(6, *START, "--steps", "1", "--turn-rate=-1", says=("--turn-rate", "0 to 1e9"))
    cli.fails(7, "flock", "--boids", "3G", "--steps", "1", says=("2147483647",))
    cli.fails(9, *START, "--steps", "1", "--restart", ".", says=("directory",))
    cli.fails(2, *START)
    cli.fails(2, "flock", "--steps", "1", says=("--boids",))
    cli.fails(3, "flock", "none.xyz", "--steps", "1", says=("none.xyz",))
    assert not os.listdir(), os.listdir()


def test_options_without_effect():
    """An option that would do nothing is refused, with the one that it needs."""
    for words in (("--port", "9000"), ("--address", "::1")):
        cli.fails(2, *START, "--steps", "1", *words, says=(words[0], "needs --view"))
    for words, says in ((("--record-every", "2"), "needs -o FILE or --record FILE"),
                        (("--record-every", "2", "--restart", "a.state"), "needs -o FILE"),
                        (("--restart-every", "2"), "needs --restart FILE"),
                        (("--restart-every", "2", "-o", "a.xyz"), "needs --restart FILE")):
        cli.fails(2, *START, "--steps", "1", *words, says=(words[0], says))
    for words in (("--cohesion", "3,1"), ("--separation", "1,1"), ("--relative",),
                  ("--min-speed", "0.5")):
        cli.fails(6, *START, "--steps", "1", "--model", "vicsek", *words, says=(words[0], "vicsek"))
        cli.fails(6, *START, "--steps", "1", "--at", "0:model=vectorial", *words,
                  says=(words[0], "vectorial"))


def test_roles_without_effect():
    """Options of species, leaders and repulsion that would do nothing are refused; so is a change
    after the last step."""
    small = ("flock", "--boids", "60", "--box", "14", "--equilibrate", "10", "--sample", "200")
    for words, says in (
            (("--heed-others", "0"), "--flock-species N of 2"),
            (("--heed-others", "0", "--flock-species", "1"), "--flock-species N of 2"),
            (("--flock-species", "2"), "as if they were one"),
            (("--leader-weight", "1"), "--leaders S"),
            (("--leader-direction", "0,1"), "--leaders S"),
            (("--leaders", "0.001"), "less than half a boid"),
            (("--leaders", "0.1", "--leader-weight", "0"), "--leader-weight 0"),
            (("--repulsion", "0,5"), "above 0"), (("--repulsion", "1,0"), "above 0"),
            (("--dim", "2", "--reflect", "z"), "no z"),
            (("--at", "1:noise=0.1"), "not before the last step, 1"),
            (("--model", "vicsek", "--flock-species", "2", "--heed", "0,1,1,1,0"), "alignment")):
        option = words[-2] if words[0] in ("--model", "--dim") else words[0]
        cli.fails(6, *START, *words, "--steps", "1", says=(option, says))
    for words in (("heed-others=-1:1:1",), ("leader-weight=0/1",), ("flock-species=1/2",),
                  ("leaders=0/0.001",), ("leader-weight=0/1", "--leaders", "0"),
                  ("leader-weight=1/2", "--leaders", "0.001")):
        cli.fails(6, *small, "--sweep", *words, says=("kith: --" + words[0][:6],))
    for words in (("--leaders", "0", "--leader-weight", "1"), ("--repulsion", "0"),
                  ("--flock-species", "2", "-o", "s.xyz"), ("--dim", "2", "--reflect", "xyz"),
                  ("--model", "vicsek", "--flock-species", "2", "--heed", "0,1,0,0,0")):
        cli.ok(*START, *words, "--steps", "1", "-q")
    cli.ok("flock", "s.xyz", "--leaders", "0.1", "--steps", "1", "-q")
    cli.fails(6, "flock", "s.xyz", "--leaders", "0.001", "--steps", "1", says=("--leaders",))


def test_starts_outside_obstacles():
    """Boids are placed outside spheres, images too; particles of a file inside one are refused."""
    sphere = ("--sphere", "19,1,10,7,1,2")
    cli.ok(*START, *sphere, "--steps", "0", "-o", "a.xyz", "-q")

    def nearest(row):
        apart = [min(abs(row[k] - at), 20 - abs(row[k] - at)) for k, at in enumerate((19, 1, 10))]
        return sum(x * x for x in apart) ** 0.5

    rows = frames("a.xyz")[0][1]
    assert len(rows) == 300 and min(map(nearest, rows)) >= 7 - 1e-5
    cli.ok(*START, "--steps", "0", "-o", "b.xyz", "-q")
    before = frames("b.xyz")[0][1]
    moved = [i for i in range(300) if nearest(before[i]) < 7]
    assert moved and [i for i in range(300) if before[i] != rows[i]] == moved
    cli.fails(6, "flock", "b.xyz", *sphere, "--steps", "1",
              says=(f"particle {moved[0]} ", "--sphere 19,1,10,7"))
    cli.ok("flock", "a.xyz", *sphere, "--steps", "1", "-q")
    cli.fails(6, *START, "--sphere", "10,10,10,18,1,2", "--steps", "1", says=("fill the box",))


def test_starts_in_front_of_walls():
    """Boids are placed in front of walls; particles of a file behind one are refused, those that a
    run left at its plane not."""
    wall = ("--wall", "0,8,0,0,2,1,0.5,2")
    cli.ok(*START, *wall, "--steps", "20", "--record-every", "20", "-o", "a.xyz", "-q")
    cli.ok(*START, "--steps", "0", "-o", "b.xyz", "-q")

    def behind(row):
        return 2 * (row[1] - 8) + row[2] < -1e-4
    rows, before = frames("a.xyz")[0][1], frames("b.xyz")[0][1]
    assert len(rows) == 300 and not any(map(behind, rows))
    moved = [i for i in range(300) if behind(before[i])]
    assert moved and [i for i in range(300) if before[i] != rows[i]] == moved
    cli.ok("flock", "a.xyz", *wall, "--steps", "1", "-q")
    cli.fails(6, "flock", "b.xyz", *wall, "--steps", "1",
              says=(f"particle {moved[0]} ", "behind --wall 0,8,0"))


def test_refused_things():
    """What a thing lacks is said of its option; so are walls that no particle meets, or all."""
    for kind, numbers, lacks in (
            ("sphere", "5,5,5,-1,1,2", "a radius"), ("sphere", "5,5,5,1,1,0", "a REACH above"),
            ("wall", "3,0,0,0,0,0,1,2", "a normal"), ("predator", "1,1,1,-1,1,1", "a speed"),
            ("predator", "1,1,1,1,-1,1", "a weight"), ("point", "1,1,1,1,-1", "a REACH of 0"),
            ("point", "1,1,1,inf,0", "finite")):
        cli.fails(6, *START, f"--{kind}={numbers}", "--steps", "1",
                  says=(f"--{kind}: got {numbers}, expected {lacks}",))
    for x, says in ((-9, "acts on no particle"), (20.5, "which it fills")):
        wall = f"{x},0,0,1,0,0,1,2"
        cli.fails(6, *START, f"--wall={wall}", "--steps", "1", says=(f"{x},0,0", says))
        cli.fails(6, *START, f"--at=3:wall={wall}", "--steps", "5", says=(f"{x},0,0", says))
    for x in (-1.9, 0, 19.9):
        cli.ok(*START, f"--wall={x},0,0,1,0,0,1,2", "--steps", "1", "-q")


def test_two_coordinates():
    """In 2-D things have two coordinates, and do what those with a third of 0 do."""
    flat = (*START, "--dim", "2", "--steps", "20")
    cli.ok(*flat, "--sphere", "10,10,3,0.2,1", "--point", "5,5,0.05,0", "--wall", "0,1,0,1,0.1,2",
           "--predator", "1,1,2,0.5,6", "-o", "a.xyz", "-q")
    cli.ok(*flat, "--sphere", "10,10,0,3,0.2,1", "--point", "5,5,0,0.05,0", "--wall",
           "0,1,0,0,1,0,0.1,2", "--predator", "1,1,0,2,0.5,6", "-o", "b.xyz", "-q")
    assert read("a.xyz") == read("b.xyz")
    for words in (("--point", "5,5,0.05,0"), ("--at", "3:sphere=10,10,3,0.2,1")):
        cli.fails(6, *START, "--steps", "4", *words, says=("two coordinates", "3-D"))


def test_a_flock_is_one_flock():
    """Boids that see each other are of one flock by default; g of too few pairs has no peak."""
    last = cli.ok("flock", "--boids", "500", "--box", "28", "--steps", "1500", "--measure-every",
                  "1500").splitlines()[1]
    assert "1 flock, largest 500" in last and ", g " in last, last
    assert ", g " not in cli.ok("flock", "--boids", "10", "--steps", "0")


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


sys.exit(cli.main(globals()))
