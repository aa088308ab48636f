# SPDX-License-Identifier: BSD-3-Clause
"""Text from outside runs nothing and breaks no line: names of files, units and species that hold
newlines, quotes, commands and escape sequences, in figures, headers, messages and the web page."""
import glob
import os
import re
import shutil
import subprocess
import sys

import cli
import needs

ESC = "\x1b[31m\x1b]0;title\x07"
NEWLINE = '\nsystem("touch pwned")\n'
SHELL = "`touch pwned`$(touch pwned)"
NAMES = ["x" + NEWLINE + "#", "x'" + NEWLINE + "#'", 'x"' + NEWLINE + "#", SHELL, "<touch pwned;",
         "|touch pwned;", "-x", "@x{a}^b_c~&", "x\\", "x" + ESC + "\u009b31m\u202e", "x\r y"]
UNITS = ["A" + NEWLINE, "A'" + NEWLINE + "'", 'A"' + NEWLINE + '"', SHELL, "@x{a}^b_c~&\\", ESC]
RAW = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|Function\(")


def harmless(text, where):
    """The text moves no cursor and opens no line of its own."""
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text), f"{where}: {text!r}"
    for line in text.split("\n"):
        assert not line.startswith("system("), f"{where}: {text!r}"


def run(*arguments):
    """Run kith, which must succeed; nothing else may have run."""
    done = cli.run(*arguments)
    assert done.returncode == 0, f"kith {arguments}: exit {done.returncode}: {done.stderr}"
    harmless(done.stdout, arguments)
    harmless(done.stderr, arguments)
    assert not glob.glob("pwned*"), f"kith {arguments}: a command ran"


def read(path):
    """The text of an output, which must consist of whole lines."""
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        text = file.read()
    assert text.endswith("\n"), path
    return text


def check_table(path):
    """A file of text has comments and numbers alone."""
    text = read(path)
    harmless(text, path)
    for line in text.splitlines():
        words = line.split()
        assert line[:1] in "#@" or all(re.fullmatch(r"[-+.\de]+|nan", w) for w in words), \
            f"{path}: {line!r}"


def check_figure(path):
    """A figure, its script and its data; the script draws it again, and runs nothing."""
    needs.program("gnuplot")
    stem = path[:path.rindex(".")]
    assert os.path.getsize(path) > 500, path
    check_table(stem + ".dat")
    harmless(read(stem + ".gp"), path)
    os.remove(path)
    subprocess.run(["gnuplot", "./" + stem.removeprefix("./") + ".gp"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert os.path.getsize(path) > 500, path
    assert not glob.glob("pwned*"), f"{path}: its script runs a command"


def particles():
    """A small set of particles as XYZ."""
    cli.ok("make", "clustered", "60", "-o", "a.xyz", "-q")


def outputs(name, *endings):
    """Names of outputs in the working directory; one that begins with - needs its folder."""
    here = "./" if name.startswith("-") else ""
    return [here + name + ending for ending in endings]


def test_figures():
    particles()
    for name in NAMES:
        figure, given, table = outputs(name, ".svg", ".xyz", ".txt")
        os.rename("a.xyz", given)
        run("rdf", given, "--box", "1", "--r-max", "0.3", "--bins", "20", "--plot", figure,
            "-o", table)
        check_table(table)
        check_figure(figure)
        os.rename(given, "a.xyz")


def test_units():
    particles()
    for k, unit in enumerate(UNITS):
        tables = [f"{k}.txt", f"{k}.xvg", f"{k}.rdf"]
        for table in tables:
            run("rdf", "a.xyz", "--box", "1", "--r-max", "0.3", "--bins", "20", "--unit", unit,
                "--sq", "q.txt", "-o", table)
            check_table(table)
        run("rdf", "a.xyz", "--box", "1", "--r-max", "0.3", "--bins", "20", "--unit", unit,
            "--plot", f"{k}.svg", "--json")
        check_figure(f"{k}.svg")


def test_species():
    names = ["A'", 'B"', "`touch_pwned`", "@x{a}", "\\", "\xff"]
    with open("a.xyz", "w", encoding="latin-1") as file:
        file.write(f"{len(names)}\n\n")
        for k, name in enumerate(names):
            file.write(f"{name} 0.{k} 0.5 0.5\n")
    for table in ("a.txt", "a.xvg"):
        run("rdf", "a.xyz", "--box", "1", "--r-max", "0.3", "--bins", "4", "--partials", "-o",
            table, "--plot", "a.svg")
        check_table(table)
        check_figure("a.svg")
    run("info", "a.xyz")


def test_units_of_files():
    h5py, numpy, _ = cli.snapshot_modules()
    for k, unit in enumerate(UNITS):
        with h5py.File(f"{k}.h5", "w") as file:
            points = numpy.random.default_rng(1).uniform(0, 1, (1, 40, 3))
            position = file.create_dataset("particles/s/position/value", data=points)
            position.attrs["unit"] = unit
        run("rdf", f"{k}.h5", "--box", "1", "--r-max", "0.3", "--bins", "9", "-o", f"{k}.txt",
            "--plot", f"{k}.svg")
        check_table(f"{k}.txt")
        check_figure(f"{k}.svg")
        run("info", f"{k}.h5")
        done = cli.run("debye", f"{k}.h5", "--box", "1", "--elements", "X=O")
        harmless(done.stderr, unit)


def test_verbs():
    particles()
    with open("c.xyz", "w", encoding="ascii") as file:
        file.write("3\n\nO 0 0 0\nH 0 0 1\nH 0 1 0\n")
    cli.ok("make", "uniform", "60", "-o", "a.npy", "-q")
    for name in NAMES[::2]:
        given, out, other, figure = outputs(name, ".npy", ".txt", "2.txt", ".svg")
        shutil.copy("a.npy", given)
        for words in (["pairs", given, "--cutoff", "0.2", "--box", "1", "-o", out],
                      ["pairs", given, "--against", "a.npy", "--cutoff", "0.2", "-o", out],
                      ["nearest", given, "-k", "3", "--against", "a.npy", "-o", out],
                      ["overlap", given, "--bins", "4", "-o", out, "--plot", figure]):
            run(*words)
            check_table(out)
        check_figure(figure)
        run("info", given)
        if name[0] in "x-":  # the film's name as a folder of frames, and what ffmpeg is told
            cli.run("view", given, "--record", outputs(name, ".mp4")[0], "--film-size", "16x16")
            run("view", given, "--record", outputs(name, "/")[0], "--film-size", "16x16")
        run("make", "lattice", "27", "-o", out)
        shutil.copy("c.xyz", other)
        run("debye", other, "--q-max", "3", "--q-width", "0.5", "-o", out)
        check_table(out)
        os.remove(given)


def test_fof():
    cli.ok("make", "clustered", "200", "-o", "a.npy", "-q")
    for name in NAMES[::3]:
        given, text, table, figure = outputs(name, ".npy", ".list", ".csv", ".png")
        shutil.copy("a.npy", given)
        run("fof", given, "--box", "1", "--min-members", "2", "-o", text)
        check_table(text)
        run("fof", given, "--box", "1", "--min-members", "2", "-o", table, "--plot", figure)
        rows = read(table).splitlines()
        assert len({row.count(",") for row in rows}) == 1, rows[:2]


def test_flock():
    base = ["flock", "--boids", "20", "--box", "9", "--steps", "4"]
    for name in NAMES[::3]:
        track, state, figure, lines, film = outputs(name, ".xyz", ".state", ".svg", ".jsonl",
                                                    ".mp4")
        run(*base, "-o", track, "--restart", state, "--plot", figure, "--measures", lines)
        check_figure(figure)
    run(*base[:-1], "2", "--record", film, "--film-size", "32x32")


def test_messages():
    """Whatever reaches standard error: own messages, those of argp and of getopt."""
    for words in (["info", ESC], ["pairs", "a", "b" + ESC], ["pairs", f"--nosuch{ESC}=1"],
                  ["rdf", f"--frames={ESC}", "a"], [ESC], ["make", ESC], ["fof", f"--box={ESC}"],
                  ["flock", "--parameters", "none" + NEWLINE], ["pairs", "a", "--backend", ESC]):
        done = cli.run(*words)
        assert done.returncode != 0, words
        harmless(done.stderr, words)
        harmless(done.stdout, words)


def test_usage_errors():
    """A value that a usage error repeats opens no line of its own."""
    particles()
    value = "1\nfake: line\x1b[31m"
    for words in (("rdf", "a.npy", "--box", value), ("rdf", "a.npy", "--periodic", value),
                  ("rdf", "a.npy", "--bins", value), ("rdf", "a.npy", "--precision", value),
                  ("rdf", "a.npy", "--origin", value), ("rdf", "a.npy", "--r-max", value),
                  ("rdf", "a.npy", value), ("rdf", "a.npy", "--" + value), (value,),
                  ("rdf", "a.npy", "--box=1", "--r=" + value), ("rdf", "-\nfake: line"),
                  ("rdf", "a.npy", "--json=" + value), ("make", value),
                  ("fof", "a.npy", "--cosmology", value), ("fof", "a.npy", "--format", value),
                  ("flock", "--boids", "9", "--reflect", value),
                  ("flock", "--boids", "9", "--at", value), ("flock", "--point", value),
                  ("overlap", "a.npy", "--range", value), ("bench", value),
                  ("view", "a.npy", "--film-size", value)):
        done = cli.run(*words)
        assert done.returncode != 0, words
        harmless(done.stderr, words)
        assert not re.search("^fake", done.stderr, re.M), (words, done.stderr)


def test_command_reads_back():
    """The command in a header is that of the run, for a shell."""
    bash = needs.program("bash")
    particles()
    for unit in UNITS + NAMES + ["", "å b", "'"]:
        words = ["rdf", "a.xyz", "--box", "1", "--r-max", "0.3", "--bins=4", "--unit", unit, "-o",
                 "t.txt"]
        run(*words)
        line = read("t.txt").splitlines()[1].removeprefix("# command: kith ")
        told = subprocess.run([bash, "-c", f"printf '%s\\0' {line}"], stdout=subprocess.PIPE,
                              check=True).stdout.decode().split("\0")[:-1]
        assert told == words, (told, words)


def test_page():
    """The page of the live view puts text in as text."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "web")
    pages = [p for p in os.listdir(folder) if p.endswith((".js", ".html"))]
    assert len(pages) > 4, pages
    for page in pages:
        with open(os.path.join(folder, page), encoding="utf-8") as file:
            found = RAW.search(file.read())
        assert not found, f"{page}: {found.group()}"


sys.exit(cli.main(globals()))
