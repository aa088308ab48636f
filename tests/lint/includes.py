#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Which folder may include which, from the #include lines alone. Each folder's README.md says so in
words; the questions that may use another question are in the table of docs/design.md."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
QUESTIONS = ("pairs", "nearest", "fof", "halos", "rdf", "waves", "debye", "overlap", "flock",
             "order", "verlet")
TOPS = {  # what a folder at the top may include beside itself
    "threads": (), "sets": ("include",), "io": ("include", "threads"),
    "web": ("include", "threads", "io"), "src": ("include", "threads"), "mpi": ("include",),
    "cli": ("include", "threads", "io", "sets", "web"),
}


def sources():
    """The C and CUDA sources of the folders that have a rule."""
    paths = (path for top in (*TOPS, "include") for path in (ROOT / top).rglob("*"))
    return {str(path.relative_to(ROOT)) for path in paths
            if path.suffix in (".c", ".h", ".cu", ".cuh")}


def used_questions():
    """{question: those it may include}, from lines `| halos | pairs | why |` of docs/design.md."""
    text = (ROOT / "docs/design.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `src/(\w+)/` \| `src/(\w+)/` \|", text, re.M)
    return {a: {b for x, b in rows if x == a} for a, _ in rows}


def find(name, included, files):
    """The path in the tree of what a file includes; None: a header of the system."""
    top = name.split("/")[0]
    roots = [str(pathlib.PurePosixPath(name).parent), top, "include", "threads", "io", "web",
             "sets"]
    for root in roots:
        path = str(pathlib.PurePosixPath(root) / included)
        if path in files:
            return path
    return None


def fault_in_src(file, other, uses):
    """Why a file of src/ may not include another of src/, or ""; paths from src/."""
    a, b = file.split("/"), other.split("/")
    sides = ("cpu", "gpu")
    if b[-2] in sides and a[-2] != b[-2]:
        return f"{a[-2]} does not see {b[-2]}"
    if a[0] == b[0] or b[0] == "core" or (b[0] == "engine" and a[0] != "core"):
        return ""
    if a[0] in (*QUESTIONS, "team") and b[0] in uses.get(a[0], ()):
        return ""
    return f"{a[0]} may not use {b[0]}"


def main():
    files, uses, faults = sources(), used_questions(), []
    for name in sorted(files):
        top = name.split("/")[0]
        if top not in TOPS:
            continue
        text = (ROOT / name).read_text(encoding="utf-8")
        for included in re.findall(r'^#include ["<]([^">]+)[">]', text, re.M):
            path = find(name, included, files)
            to = path.split("/")[0] if path else top
            if to != top and to not in TOPS[top]:
                faults.append(f"{name}: {top}/ may not use {path}")
            elif path and top == to == "src":
                why = fault_in_src(name[4:], path[4:], uses)
                if why:
                    faults.append(f"{name}: includes {path[4:]}: {why}")
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


sys.exit(main())
