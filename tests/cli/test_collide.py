# SPDX-License-Identifier: BSD-3-Clause
"""Each file of a command has one use: no output overwrites an input or another output, for every
verb and every pair of options that take a path, under one name or several."""
import itertools
import os
import re
import shutil
import sys

import cli

READ, WRITTEN = "reads", "writes"
FIGURE = ("{stem}.svg", "{stem}.gp", "{stem}.dat")
PLAIN = ("{stem}{end}",)
FRAMES = ("{stem}.mp4", "{stem}.mp4.frames/000003.png", "{stem}.12.mp4")
# Verb: the words that it needs, then option (None: the operand), use, ending, files beside.
VERBS = {
    "pairs": (["--cutoff", "0.1"], [
        (None, READ, ".npy", PLAIN), ("--against", READ, ".npy", PLAIN),
        ("--output", WRITTEN, ".npy", PLAIN)]),
    "nearest": (["-k", "2"], [
        (None, READ, ".npy", PLAIN), ("--against", READ, ".npy", PLAIN),
        ("--output", WRITTEN, ".npy", PLAIN)]),
    "fof": (["--box", "1"], [
        (None, READ, ".npy", PLAIN), ("--output", WRITTEN, ".csv", PLAIN),
        ("--labels", WRITTEN, ".npy", PLAIN), ("--sort-snapshot", WRITTEN, ".hdf5", PLAIN),
        ("--plot", WRITTEN, ".png", PLAIN)]),
    "rdf": (["--box", "1", "--r-max", "0.2"], [
        (None, READ, ".xyz", PLAIN), ("--topology", READ, ".xyz", PLAIN),
        ("--weights", READ, ".txt", PLAIN), ("--output", WRITTEN, ".txt", PLAIN),
        ("--sq", WRITTEN, ".txt", PLAIN), ("--plot", WRITTEN, ".svg", FIGURE)]),
    "rdf ": (["--box", "1"], [
        ("--edges", READ, ".txt", PLAIN), ("--output", WRITTEN, ".txt", PLAIN),
        ("--plot", WRITTEN, ".svg", FIGURE)]),
    "debye": (["--q-max", "3"], [
        (None, READ, ".xyz", PLAIN), ("--topology", READ, ".xyz", PLAIN),
        ("--output", WRITTEN, ".txt", PLAIN), ("--gr", WRITTEN, ".txt", PLAIN)]),
    "overlap": ([], [
        (None, READ, ".npy", PLAIN), ("--output", WRITTEN, ".txt", PLAIN),
        ("--matrix", WRITTEN, ".npy", PLAIN), ("--plot", WRITTEN, ".svg", FIGURE)]),
    "flock": (["--box", "9", "--steps", "2"], [
        (None, READ, ".xyz", PLAIN), ("--parameters", READ, ".txt", PLAIN),
        ("--output", WRITTEN, ".xyz", PLAIN), ("--measures", WRITTEN, ".jsonl", PLAIN),
        ("--restart", WRITTEN, ".state", ("{stem}.state", "{stem}.state.part")),
        ("--plot", WRITTEN, ".svg", FIGURE), ("--record", WRITTEN, ".mp4", FRAMES)]),
    "view": ([], [
        (None, READ, ".npy", PLAIN), ("--labels", READ, ".npy", PLAIN),
        ("--record", WRITTEN, ".mp4", FRAMES)]),
    "bench": (["--quick"], [
        ("--python", READ, ".py", PLAIN), ("--output", WRITTEN, ".json", PLAIN)]),
    "make": (["uniform", "9"], [("--output", WRITTEN, ".npy", PLAIN)]),
    "info": ([], [(None, READ, ".npy", PLAIN)]),
}
OPERAND = {"pairs": "INPUT", "nearest": "INPUT", "fof": "INPUT", "rdf": "INPUT", "debye": "INPUT",
           "flock": "INPUT", "overlap": "REPLICAS", "view": "FILE", "info": "FILE"}
# Endings that an option insists on: no other option's file can be given to it.
FIXED = {"--plot", "--record", "--restart"}


def words(verb, option, path):
    """The words that give a path to an option, or as the operand."""
    return [path] if option is None else [f"{option}={path}"]


def refused(verb, one, other, *arguments):
    """The command must be refused, with both options named, and leave all files as they were."""
    before = {name: os.lstat(name).st_mtime_ns for name in os.listdir()}
    done = cli.run(*arguments)
    names = [option or OPERAND[verb] for option in (one, other)]
    where = f"kith {arguments}: exit {done.returncode}, stderr: {done.stderr!r}"
    assert done.returncode == 2 and "two uses" in done.stderr, where
    for name in names:
        assert name in done.stderr, f"expected {name}; {where}"
    assert before == {name: os.lstat(name).st_mtime_ns for name in os.listdir()}, where


def given(verb, needed, options, replaced):
    """The command line of the two options of a case, with an operand where the verb wants one."""
    line = [verb, *needed]
    for option, path in replaced:
        line += words(verb, option, path)
    has_operand = any(option is None for option, _ in replaced)
    if verb in OPERAND and not has_operand:
        end = next((end for option, _, end, _ in options if option is None), ".xyz")
        line.append("base" + end)
    return line


def each_pair():
    """Every verb with each pair of options, one of which is written: (verb, needed, options, a,
    b)."""
    for key, (needed, options) in VERBS.items():
        for a, b in itertools.permutations(options, 2):
            if a[1] == WRITTEN:
                yield key.strip(), needed, options, a, b


def stage():
    """Files that the operands and the options read."""
    cli.ok("make", "uniform", "20", "-o", "base.npy", "-q")
    cli.ok("make", "uniform", "20", "-o", "base.xyz", "-q")


def put(path, like):
    """Make a file that is there before the command."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        file.write("" if like == "--parameters" else "0.1\n0.2\n")


def test_pairs_of_options():
    """Each file of the first option as the path of the second, where it exists and where not."""
    stage()
    cases = 0
    for verb, needed, options, a, b in each_pair():
        for beside in a[3]:
            path = beside.format(stem="x", end=a[2])
            if b[0] in FIXED and not path.endswith(b[2]):
                continue
            if (verb, b[0]) == ("flock", "--output") and not path.endswith(".xyz"):
                continue  # a trajectory has an ending of its own
            line = given(verb, needed, options, [(a[0], "x" + a[2]), (b[0], path)])
            if b[1] == WRITTEN:
                refused(verb, a[0], b[0], *line)  # neither exists
                cases += 1
            put(path, b[0])
            refused(verb, a[0], b[0], *line)
            cases += 1
            shutil.rmtree(path.split("/")[0]) if "/" in path else os.remove(path)
    assert cases > 100, cases


def test_other_names():
    """Hard links, symbolic links, folders and links to nothing are other names of one file."""
    stage()
    os.mkdir("d")
    os.symlink("d", "e")
    os.link("base.npy", "hard.npy")
    os.symlink("base.npy", "soft.npy")
    os.symlink("d/new.npy", "dangling.npy")
    for name in ("base.npy", "./base.npy", "d/../base.npy", "hard.npy", "soft.npy",
                 os.path.abspath("base.npy")):
        refused("pairs", "--output", None, "pairs", "base.npy", "--cutoff", "0.1", "-o", name)
        refused("flock", "--output", None, "flock", "base.xyz", "--steps", "1", "-o", "base.xyz")
    for one, other in (("d/new.npy", "e/new.npy"), ("dangling.npy", "e/new.npy"),
                       ("d/none/x.npy", "e/none/x.npy"), ("new.npy", "./d/../new.npy")):
        refused("fof", "--output", "--labels", "fof", "base.npy", "--box", "1", "--format", "csv",
                "-o", one, "--labels", other)


def test_issue():
    """`--plot traj.png` overwrote `traj.dat`, its input."""
    stage()
    shutil.copy("base.xyz", "traj.dat")
    done = cli.fails(2, "rdf", "traj.dat", "--box", "1", "--r-max", "0.2", "--plot", "traj.png")
    assert "--plot would write traj.dat, which INPUT reads" in done.stderr, done.stderr


def test_standard_output():
    stage()
    with open("base.npy", "ab") as out:
        done = cli.run("pairs", "base.npy", "--cutoff", "0.1", stdout=out)
    assert done.returncode == 2 and "standard output would write base.npy" in done.stderr, done
    with open("out.txt", "wb") as out:
        done = cli.run("pairs", "base.npy", "--cutoff", "0.1", "-o", "out.txt", stdout=out)
    assert done.returncode == 2 and "standard output" in done.stderr, done
    with open("out.txt", "wb") as out:
        done = cli.run("pairs", "base.npy", "--cutoff", "0.1", "-o", "-", stdout=out)
    assert done.returncode == 0, done


def test_file_named_dash():
    """An INPUT "-" is a file of that name, never standard output or standard input."""
    stage()
    shutil.copy("base.npy", "-")
    for name in ("-", "./-"):
        assert cli.ok("pairs", name, "--cutoff", "0.1", "--box", "1", "--count")
        with open("out.txt", "wb") as out:
            done = cli.run("pairs", name, "--cutoff", "0.1", "--box", "1", "-o", "-", stdout=out)
        assert done.returncode == 0, done
    with open("-", "ab") as out:
        done = cli.run("pairs", "./-", "--cutoff", "0.1", "--box", "1", stdout=out)
    assert done.returncode == 2 and "would write ./-, which INPUT reads" in done.stderr, done
    os.remove("-")
    for words in (("info", "-"), ("rdf", "-", "--box", "1", "-o", "zz")):
        cli.fails(3, *words, says=["-: ", "is no file here"])


def test_two_outputs_on_one_descriptor():
    stage()
    names = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
    for one in names:
        for other in names[1:]:
            with open("mix", "wb") as out:
                done = cli.run("rdf", "base.npy", "--box", "1", "-o", one, "--sq", other,
                               stdout=out)
            assert done.returncode == 2 and os.path.getsize("mix") == 0, (one, other, done)
            assert f"would write {other}" in done.stderr and one in done.stderr, done.stderr
    with open("one", "wb") as out:
        done = cli.run("rdf", "base.npy", "--box", "1", "-o", "/dev/fd/1", "--sq", "sq.txt", "-q",
                       stdout=out)
    assert done.returncode == 0 and os.path.getsize("sq.txt") > 0, done


def test_devices_and_neighbours():
    """Devices may have two uses; names that only look alike are others."""
    stage()
    cli.ok("flock", "--boids", "9", "--steps", "1", "-q", "-o", "/dev/null", "--measures",
           "/dev/null")
    shutil.copy("base.npy", "run.0.npy")
    shutil.copy("base.npy", "run.1.npy")
    cli.ok("pairs", "run.0.npy", "--cutoff", "0.1", "-q", "-o", "run.1.npy")
    cli.ok("flock", "--boids", "9", "--steps", "1", "-q", "--record", "f%d.png", "--film-size",
           "16x16", "--measures", "f1.jsonl")
    refused("flock", "--record", "--plot", "flock", "--boids", "9", "--steps", "1", "--record",
            "g1%02d.png", "--plot", "g107.png")


def test_snapshot_in_many_files():
    """An output is none of the files that are read with INPUT, by whatever name that is given."""
    _, _, snapshots = cli.snapshot_modules()
    snap = snapshots.make({1: 60})
    os.mkdir("d")
    for k, part in enumerate(snapshots.split(snap, 2)):
        snapshots.hdf5(f"d/snap.{k}.hdf5", part, snapshots.UNIVERSE, files=2, number=k,
                       total=snapshots.counts_of(snap))
    for name in ("d/snap.0.hdf5", "d/snap", "d", "d/snap.hdf5"):
        cli.ok("pairs", name, "--cutoff", "0.1", "--count")
        for k in range(2):
            refused("pairs", "--output", None, "pairs", name, "--cutoff", "0.1", "-o",
                    f"d/snap.{k}.hdf5")
    cli.ok("pairs", "d", "--cutoff", "0.1", "-q", "-o", "d/pairs.0.npy")


def test_all_options_are_known():
    """Every option that takes a FILE is in the table above."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "cli")
    known = {option for _, options in VERBS.values() for option, *_ in options}
    sources = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names
               if name.endswith((".c", ".h"))]
    assert len(sources) > 50, sources
    for name in sorted(sources):
        with open(name, encoding="utf-8") as file:
            for option in re.findall(r'\{"([a-z-]+)", [^,]+, "FILE"', file.read()):
                assert "--" + option in known, f"{name}: --{option} takes a file; see files_check"


sys.exit(cli.main(globals()))
