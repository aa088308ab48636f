# SPDX-License-Identifier: BSD-3-Clause
"""Help, version, wrong usage."""
import re
import shlex
import sys

import cli
import needs

VERBS = ("pairs", "nearest", "fof", "rdf", "overlap", "flock", "info", "make", "bench")


def test_help():
    text = cli.ok("--help")
    for verb in VERBS:
        assert f"kith {verb}" in text, verb
    for status in (0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 130):
        assert re.search(rf"^ +{status}  |  +{status}  ", text, re.M), status


def test_verb_help_fits_a_screen():
    for verb in VERBS:
        lines = cli.ok(verb, "--help").splitlines()
        assert 15 <= len(lines) <= 50, (verb, len(lines))
        assert max(map(len, lines)) <= 80, verb


def test_help_names_every_option():
    """--usage, from which the completion is made, lists them all."""
    for verb in (*VERBS, "debye", "view"):
        text = re.sub(r"--([a-z-]*)\{([a-z,]*)\}([a-z-]*)",
                      lambda fold: " ".join(f"--{fold[1]}{name}{fold[3]}"
                                            for name in fold[2].split(",")),
                      cli.ok(verb, "--help"))
        options = re.findall(r"\[--([a-z-]+)", cli.ok(verb, "--usage"))
        assert len(options) >= 9, verb
        for option in options:
            assert re.search(rf"(--|:){option}(?![a-z-])", text), (verb, option)


def test_examples_work_when_pasted():
    short = [verb for verb in VERBS if verb != "bench"]
    for text in [cli.ok("--help")] + [cli.ok(verb, "--help") for verb in short]:
        examples = re.findall(
            r"^  kith ((?:make|info|pairs|nearest|fof|rdf|overlap|flock) .*[^ .]\.\w+.*)$", text,
            re.M)
        assert len(examples) >= 2, text
        for line in examples:
            if ".h5" in line and needs.lacking(cli.run("make", "uniform", "1", "-o", "try.h5")):
                break
            # The sets of the examples are large; a small one shows the same, as do few steps.
            line = line.replace("--steps 1000", "--steps 9")
            words = shlex.split(re.sub(r"\b(1M|100k)\b", "2k", line))
            if "--plot" in words and (not needs.found("gnuplot") or needs.lacking(cli.run(*words))):
                continue
            cli.ok(*words)


def test_version():
    assert re.fullmatch(r"kith \d+\.\d+\.\d+\n(HDF5 [\d.]+|without HDF5)\n", cli.ok("--version"))


def test_unknown_verb():
    cli.fails(2, says=["--help"])
    cli.fails(2, "pars", says=["'pars'", "did you mean kith pairs?"])
    cli.fails(2, "xyzzy", says=["--help"])


def test_wrong_usage():
    cli.write_npy("a.npy", [(0, 0, 0)])
    for arguments in (["pairs"], ["pairs", "a.npy"], ["pairs", "--cutoff", "1"],
                      ["pairs", "a.npy", "a.npy", "--cutoff", "1"],
                      ["pairs", "a.npy", "--cutoff", "1x"], ["pairs", "a.npy", "--cutoff", ""],
                      ["pairs", "a.npy", "--cutoff", " 1"], ["pairs", "a.npy", "--nonsense"],
                      ["pairs", "a.npy", "--cutoff", "1", "--box", "1,2,3,4"],
                      ["pairs", "a.npy", "--cutoff", "1", "--box", "1,"],
                      ["pairs", "a.npy", "--cutoff", "1", "--box", "1", "--periodic", "xx"],
                      ["pairs", "a.npy", "--cutoff", "1", "--box", "1", "--origin", "1,2"],
                      ["pairs", "a.npy", "--cutoff", "1", "--threads", "two"],
                      ["pairs", "a.npy", "--cutoff", "1", "--threads", "1.5"],
                      ["pairs", "a.npy", "--cutoff", "1", "--precision", "half"],
                      ["pairs", "a.npy", "--cutoff", "1", "--distances"],
                      ["pairs", "a.npy", "--cutoff", "1", "--count", "-o", "x.npy"],
                      ["pairs", "a.npy", "--cutoff", "1", "-o", "-", "--json"],
                      ["info"], ["info", "a.npy", "b.npy"], ["info", "a.npy", "-o", "x"],
                      ["make"], ["make", "uniform"], ["make", "uniform", "10"],
                      ["make", "spiral", "10", "-o", "x.npy"],
                      ["make", "uniform", "10", "-o", "x.unknown"],
                      ["make", "uniform", "10", "-o", "x.npy", "--seed", "-1"],
                      ["make", "uniform", "10", "-o", "x.npy", "--basis", "fcc"],
                      ["make", "uniform", "10", "-o", "x.npy", "--model", "halos"],
                      ["make", "uniform", "1.5", "-o", "x.npy"],
                      ["make", "uniform", "10q", "-o", "x.npy"],
                      ["make", "uniform", "1__0", "-o", "x.npy"]):
        cli.fails(2, *arguments)


def test_whole_numbers():
    """All are written as users write them; the same words are none anywhere."""
    cli.ok("make", "uniform", "1e2", "-o", "a.npy", "-q")
    fof = ("fof", "a.npy", "--box", "1", "-q", "--min-members")
    rdf = ("rdf", "a.npy", "--box", "1", "--r-max", "0.2", "-q", "--bins")
    flock = ("flock", "--box", "20", "--boids", "10", "-q", "--steps")
    for command in (fof, rdf, flock, ("make", "uniform", "-o", "b.npy", "-q"),
                    ("pairs", "a.npy", "-c", "0.1", "--count", "--threads")):
        every = command == fof
        for number in ("10", "1_0", "0.01k", "1e1")[0 if every else 3:]:
            cli.ok(*command, number)
        for word in ("", "x", "1.5", "1e", "10 ", " 10", "nan", "inf", "1e99", "0x10")[
                0 if every else 9:]:
            cli.fails(2, *command, word, says=["whole number"])
    cli.fails(6, *fof, "-1", says=["--min-members", "expected"])


sys.exit(cli.main(globals()))
