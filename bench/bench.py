#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reproduce the figures of the README on this machine: verify, time, and compare with other
programs from PyPI; on a GPU too, where the build has CUDA and there is one.

`kith bench` calls it. Results go to one JSON file, described in bench/results/README.md, and as
tables to standard output. The peers are installed into a virtual environment, which is kept; those
that cannot be are named in the file and on the screen, and left out.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from typing import NamedTuple

import results
import table

HERE = pathlib.Path(__file__).resolve().parent
QUICK_PEERS_N, STANDARD_N = 30000, 1000000
NOTHING_TO_RUN_ON = 77  # what kith_bench ends with where there is no GPU


class Comparison(NamedTuple):
    script: str
    peers: tuple                # packages of PyPI, with extras where needed
    sets: tuple = ("uniform",)  # of points that they are compared on; (): it makes its own
    times: int = 1              # as many points as in the standard cases
    command: bool = False       # the command is compared, not the library
    asks_bench: bool = False    # it asks kith_bench itself for what it needs


class Question(NamedTuple):
    name: str
    comparisons: tuple = ()


# SiSyPHE is compared where it is installed: it needs PyTorch, some 5 GB.
FLOCK_PEERS = "pyvicsek", "atooms-active", "scipy"
QUESTIONS = (
    Question("pairs", (Comparison("peers.py", ("vesin", "matscipy-neighbours", "scipy")),)),
    Question("lists", (Comparison("peers_radii.py", ("scipy",)),)),
    Question("fof", (Comparison("peers_fof.py", ("kdcount", "scipy", "pyfof"),
                                ("uniform", "clustered", "soneira_peebles")),)),
    Question("rdf", (Comparison("peers_rdf.py", ("Corrfunc", "freud-analysis")),
                     Comparison("peers_frames.py", ("freud-analysis", "MDAnalysis", "gsd"),
                                times=10, command=True))),
    Question("nearest", (Comparison("peers_nearest.py", ("scipy", "pykdtree", "freud-analysis")),)),
    Question("batch"),
    Question("flock", (Comparison("peers_flock.py", FLOCK_PEERS),
                       Comparison("peers_agree.py", FLOCK_PEERS, ()))),
    Question("overlap"),
    Question("gpu", (Comparison("peers_gpu.py", (
        "jax[cuda13]", "jztree", "jztree-cu13", "torch", "nvalchemi-toolkit-ops"), (),
                                asks_bench=True),)),
)


def say(text):
    print(f"kith bench: {text}", file=sys.stderr, flush=True)


def run(*words, quiet=False):
    """Run a program. Return its exit status."""
    return subprocess.run([str(word) for word in words], check=False,
                          stdout=sys.stderr, stderr=subprocess.DEVNULL if quiet else None
                          ).returncode


class Peers:
    """A Python that other programs are installed for, and which they are."""

    def __init__(self, args):
        self.given, self.quick, self.versions = args.python, args.quick, {}
        self.python = args.python or pathlib.Path(args.work) / "peers-venv" / "bin" / "python"
        if not self.given and not self.python.exists():
            os.makedirs(args.work, exist_ok=True)
            if run(sys.executable, "-m", "venv", self.python.parent.parent) != 0:
                say("no virtual environment (Debian: python3-venv)")

    def provide(self, names):
        """Install what is not there, if it can be. Return whether any of it is there."""
        only = ["--only-binary", ":all:"] if self.quick else []
        for name in ("numpy", *names):
            if name not in self.versions and not self.given and not self.version_of(name):
                say(f"installing {name}")
                run(self.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                    *only, name, quiet=True)
            self.versions[name] = self.version_of(name)
            if not self.versions[name]:
                say(f"{name} could not be installed, left out")
        # A Python that was given may have peers that PyPI has not.
        return self.versions["numpy"] and (self.given or any(self.versions[n] for n in names))

    def version_of(self, name):
        found = subprocess.run(
            [str(self.python), "-c", "import importlib.metadata, sys;"
             "print(importlib.metadata.version(sys.argv[1].partition('[')[0]))", name],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False
        ) if os.path.exists(self.python) else None
        return found.stdout.strip() if found else ""

    def compare(self, args, comparison, path):
        """Add to a results file what the peers do on the same question. Return whether all of
        their answers were kith's."""
        right = True
        if not self.provide(comparison.peers):
            return right
        if not comparison.sets:
            return run(self.python, HERE / comparison.script, "--kith", args.library,
                       *(["--bench", args.bench] if comparison.asks_bench else []),
                       "--output", path, *(["--quick"] if args.quick else [])) == 0
        points = path.with_suffix(".npy")
        for name in comparison.sets:
            made = run(args.bench, "points", name,
                       QUICK_PEERS_N if args.quick else comparison.times * args.points, points)
            right = made == 0 and right and run(
                self.python, HERE / comparison.script,
                "--kith", args.command if comparison.command else args.library,
                "--points", points, "--set", name, "--threads", args.threads, "--output", path
            ) == 0
        points.unlink(missing_ok=True)
        return right


def merge(files, peers):
    """Put the results of all questions into one. What describes machine and build is the same in
    all."""
    whole = {}
    for data in files:
        found = whole.get("results", []) + data["results"]
        whole = {**data, **whole, "results": found}
    whole["run"]["command"] = sys.argv
    whole["peers"] = peers
    return whole


def measure(args, folder, peers):
    """Ask all questions. Return what each gave, and whether all was right."""
    files, right = [], True
    for question in QUESTIONS:
        if question.name not in args.only:
            continue
        say(question.name)
        path = pathlib.Path(folder) / f"{question.name}.json"
        size = ["--quick"] if args.quick else ["--points", args.points]
        threads = [] if question.name == "gpu" else ["--threads", args.threads]
        status = run(args.bench, question.name, *size, *threads, "--output", path)
        if status == NOTHING_TO_RUN_ON:
            continue
        if status != 0:
            say(f"{question.name}: failed")
            right = False
            continue
        for comparison in question.comparisons if peers else ():
            right = peers.compare(args, comparison, path) and right
        files.append(json.loads(path.read_text(encoding="utf-8")))
    return files, right


def name_of(data):
    """A file's name: date and machine."""
    kind = re.search(r"xeon|epyc|ryzen|core|neoverse", data["machine"]["cpu"], re.I)
    return (f"{datetime.date.today().isoformat()}-{kind[0].lower() if kind else 'cpu'}"
            f"{data['machine']['cores']}.json")


def save(data, path):
    """Write beside the file and move it into place."""
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        json.dump(data, file, indent=1)
        file.write("\n")
    os.replace(f"{path}.new", path)


def parse():
    cores = os.cpu_count() or 1
    names = ",".join(question.name for question in QUESTIONS)
    parser = argparse.ArgumentParser(prog="kith bench", description=__doc__)
    parser.add_argument("--bench", required=True, help="the program kith_bench")
    parser.add_argument("--library", required=True, help="libkith.so")
    parser.add_argument("--command", required=True, help="the command kith")
    parser.add_argument("--work", required=True, help="folder to keep the peers in")
    parser.add_argument("-t", "--threads", default="1" if cores == 1 else f"1,{cores}")
    parser.add_argument("--points", type=int, default=STANDARD_N)
    parser.add_argument("--only", default=names)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--python", default="")
    parser.add_argument("-o", "--output", default="")
    args = parser.parse_args()
    args.only = args.only.split(",")
    unknown = set(args.only) - set(names.split(","))
    if unknown:
        say(f"--only: got {', '.join(sorted(unknown))}, expected some of {names}")
        sys.exit(2)
    return args


def main():
    args = parse()
    wanted = any(question.comparisons for question in QUESTIONS if question.name in args.only)
    peers = Peers(args) if wanted and not args.no_peers else None
    with tempfile.TemporaryDirectory() as folder:
        files, right = measure(args, folder, peers)
    if not files:
        say("nothing was measured")
        return 1
    data = merge(files, peers.versions if peers else {})
    results.check(data)
    path = args.output or name_of(data)
    save(data, path)
    print(table.everything(data))
    print(f"All of it is in {path}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
