#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Report the coverage of the sources after the tests of a coverage build: coverage.py BUILD

Counts lines and branches in C files and headers under src/ (without the folders gpu/), io/, cli/,
web/ and sets/. gcovr merges all objects of a source: those of each instruction set, and of each
program that includes a header. A branch of a function that is compiled for float and for double
counts once. Prints a table by folder and the files with most branches not taken; writes HTML into
BUILD/html and summary.json into BUILD. Ends with 1 below the goals.
"""
import collections
import json
import pathlib
import sys

import gcovr.__main__
import gcovr.merging

FOLDERS = ("src", "io", "cli", "web", "sets")
LINES, BRANCHES = 97, 90  # percent
root = pathlib.Path(__file__).resolve().parents[1]


def collect(build):
    """Run gcovr; return a record of each file."""
    html = build / "html"
    html.mkdir(exist_ok=True)
    arguments = ["--root", root, build, "--exclude", "src/.*/gpu/", "--html-details",
                 html / "index.html", "--json-summary", build / "summary.json"]
    for folder in FOLDERS:
        arguments += ["--filter", f"{root}/{folder}/"]
    # A process that exits while its threads work may leave counts that contradict each other.
    arguments += ["--gcov-ignore-parse-errors"]
    # simd.h defines a function once for each instruction set, in another line each time
    gcovr.merging.DEFAULT_MERGE_OPTIONS.ignore_function_lineno = True
    if gcovr.__main__.main(list(map(str, arguments))):
        sys.exit("coverage.py: gcovr failed")
    return json.loads((build / "summary.json").read_text(encoding="utf-8"))["files"]


def row(name, sums):
    """A line of the table."""
    parts = [f"{name:16}"]
    for kind in ("line", "branch"):
        covered, total = sums[f"{kind}_covered"], sums[f"{kind}_total"]
        parts.append(f"{covered:7} of {total:6} {100 * covered / max(total, 1):6.2f} %")
    return "  ".join(parts)


def main():
    """Print the table."""
    build = pathlib.Path(sys.argv[1]).resolve()
    files = collect(build)
    sums = collections.defaultdict(collections.Counter)
    for file in files:
        for name in (file["filename"].split("/")[0] + "/", "all"):
            sums[name].update({key: value for key, value in file.items()
                               if key.endswith(("_covered", "_total"))})
    print(f"{'':16}  {'lines':>25}  {'branches':>25}")
    for name in [f"{folder}/" for folder in FOLDERS] + ["all"]:
        print(row(name, sums[name]))
    missed = sorted((file["branch_covered"] - file["branch_total"], file["filename"])
                    for file in files)
    print("\nbranches not taken:", ", ".join(f"{name} {-n}" for n, name in missed[:12]))
    print(f"all files: {build}/html/index.html")
    every = sums["all"]
    return (every["line_covered"] * 100 < LINES * every["line_total"] or
            every["branch_covered"] * 100 < BRANCHES * every["branch_total"])


sys.exit(main())
