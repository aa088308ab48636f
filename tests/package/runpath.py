#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""No library is loaded from a relative or empty path: runpath.py CC FOLDER...

Reads the dynamic section of every program and library under the folders (the build tree, the
installed tree), then plants libraries in the working directory that leave a mark when loaded.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

ENTRY = re.compile(r"\((RPATH|RUNPATH|NEEDED|AUXILIARY|FILTER)\).*\[(.*)\]$")
PLANT = """#include <stdlib.h>
#include <stdio.h>
__attribute__((constructor)) static void mark(void)
{
    FILE *file = fopen(getenv("PLANTED_MARK"), "w");
    if (file)
        fclose(file);
}
"""


def is_elf(path):
    """Whether the file is a program or a library."""
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def built(folders):
    """All programs and libraries under the folders."""
    for top in folders:
        for folder, _, names in os.walk(top):
            for path in (os.path.join(folder, name) for name in names):
                if os.path.isfile(path) and not path.endswith((".o", ".a")) and is_elf(path):
                    yield path


def entries(path):
    """Pairs of kind and value of the dynamic section's entries that name files or folders."""
    text = subprocess.run(["readelf", "-dW", path], stdout=subprocess.PIPE, text=True,
                          check=True).stdout
    return [match.groups() for match in map(ENTRY.search, text.splitlines()) if match]


def faults(path):
    """What is wrong with the search paths of one file."""
    found = []
    for kind, value in entries(path):
        if kind in ("RPATH", "RUNPATH"):
            for part in value.split(":"):
                if not (part.startswith("/") or re.match(r"\$ORIGIN(/|$)", part)):
                    found.append(f"{path}: {kind} [{value}] has the entry '{part}'")
        elif "/" in value and not value.startswith("/"):
            found.append(f"{path}: {kind} [{value}] is a relative path")
    return found


def plant(folder, compiler, names):
    """Put a library that leaves a mark under each of the names."""
    source, library = os.path.join(folder, "plant.c"), os.path.join(folder, "plant.so")
    with open(source, "w", encoding="ascii") as file:
        file.write(PLANT)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    for name in names:
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        shutil.copy(library, path)


def run(command, folder, words, **environment):
    """Run the command in the folder; fail when a planted library was loaded."""
    mark = os.path.join(folder, "mark")
    clean = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}
    done = subprocess.run([command, *words], cwd=folder, text=True, stderr=subprocess.PIPE,
                          stdout=subprocess.DEVNULL, check=False,
                          env={**clean, "PLANTED_MARK": mark, **environment})
    assert not os.path.exists(mark), f"{command} {words} {environment}: a planted library ran"
    return done


def try_command(command, compiler):
    """Run a command in a folder with planted libraries."""
    site = "lib/python3.11/site-packages/chemfiles/libchemfiles.so"
    own = [value for kind, value in entries(command) if kind == "NEEDED"]
    chemfiles = ["libchemfiles.so", "libchemfiles.so.0.11", "libchemfiles.so.0.10",
                 "lib/libchemfiles.so", "venv/" + site, ".local/" + site, site]
    with tempfile.TemporaryDirectory(prefix="kith-") as folder:
        plant(folder, compiler, own + chemfiles)
        with open(os.path.join(folder, "a.xtc"), "wb") as file:
            file.write(bytes([0, 0, 7, 203]) + bytes(200))
        done = run(command, folder, ["--version"])
        assert done.returncode == 0, f"{command}: a planted library was opened: {done.stderr}"
        for name, value in (("HOME", "."), ("HOME", ""), ("VIRTUAL_ENV", "venv"),
                            ("VIRTUAL_ENV", "."), ("CONDA_PREFIX", "."), ("CONDA_PREFIX", "")):
            run(command, folder, ["info", "a.xtc"], **{name: value})
        for path in ("libchemfiles.so", "./libchemfiles.so"):
            done = run(command, folder, ["info", "a.xtc"], KITH_CHEMFILES=path)
            assert done.returncode == 10 and "absolute" in done.stderr, done.stderr


def main():
    """Check what was built, then run the commands."""
    compiler, *folders = sys.argv[1:]
    if not shutil.which("readelf"):
        print("skipped: no readelf (apt-get install binutils)")
        return 77
    files = list(built(folders))
    assert len(files) > 20, f"only {len(files)} programs and libraries under {folders}"
    found = [fault for path in files for fault in faults(path)]
    print("\n".join(found), end="\n" if found else "")
    for path in files:
        if os.path.basename(path) == "kith" and os.path.basename(os.path.dirname(path)) != \
                "installed":
            try_command(path, compiler)
    return 1 if found else 0


sys.exit(main())
