#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Build the commit HEAD twice, in two folders and at two times, and compare the bytes of what is
installed and packaged: reproduce.py SOURCE WORK [installed]

First the installation, with debug information, which names paths; then, unless `installed` is
given, all that packaging/packages.sh makes: the source archive, the Debian packages, the wheel and
the list of their contents. The second build has another umask, time zone and language, and where
faketime is installed, the clock of its installation is 40 days ahead. ccache is off. Twenty
minutes on two cores.
"""
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

PLACES = ("one", "another/folder/of/a/longer/name")  # both below WORK


def run(log, *command, **how):
    """Run a command with its output in a file; end with the last of it where it fails."""
    with open(log, "ab") as file:
        done = subprocess.run([str(part) for part in command], stdout=file, stderr=file,
                              check=False, **how)
    if done.returncode:
        tail = log.read_text(encoding="utf-8", errors="replace")[-6000:]
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{tail}")


def digests(folder):
    """Return the SHA-256 of each file below a folder; of a symbolic link, where it leads."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = f"-> {os.readlink(path)}"
        elif path.is_file():
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def build(source, head, place, second, parts):
    """Build a commit in a place. Return the folders to compare."""
    os.makedirs(place)
    log, tree = place / "log", place / "kith"
    run(log, "git", "clone", "--quiet", "--no-local", source, tree)
    run(log, "git", "-C", tree, "checkout", "--quiet", "--detach", head)
    epoch = subprocess.run(["git", "-C", tree, "log", "-1", "--format=%ct"], text=True, check=True,
                           stdout=subprocess.PIPE).stdout.strip()
    environment = {**os.environ, "CCACHE_DISABLE": "1", "SOURCE_DATE_EPOCH": epoch, "LC_ALL": "C",
                   "TZ": "UTC", "DEB_BUILD_OPTIONS": "noautodbgsym nocheck"}
    later = []
    if second:
        environment.update(LC_ALL="C.UTF-8", TZ="Asia/Kathmandu")
        if shutil.which("faketime"):
            later = ["faketime", "-f", "+40d"]
        else:
            print("skipped: the clock that is ahead: no faketime (apt-get install faketime)")
    how = {"cwd": tree, "env": environment, "umask": 0o027 if second else 0o022}
    run(log, *later, "cmake", "-S", tree, "-B", place / "build", "-DCMAKE_C_FLAGS=-g",
        "-DCMAKE_INSTALL_PREFIX=/opt/kith", "-DKITH_TESTS=OFF", "-DKITH_CUDA=OFF", **how)
    run(log, *later, "cmake", "--build", place / "build", "-j", os.cpu_count(), **how)
    environment["DESTDIR"] = str(place / "installed")
    run(log, *later, "cmake", "--install", place / "build", **how)
    del environment["DESTDIR"]
    shutil.rmtree(place / "build")
    if "packages" in parts:
        run(log, "packaging/packages.sh", place / "packages", **how)
    return [place / part for part in parts]


def main():
    """Build twice and compare. Return the exit status."""
    source, work = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    parts = ["installed"] if sys.argv[3:] == ["installed"] else ["installed", "packages"]
    if not (source / ".git").exists() or not shutil.which("git"):
        print("skipped: no git repository (a commit is built)")
        return 77
    if "packages" in parts and not shutil.which("dpkg-buildpackage"):
        print("skipped: no dpkg-buildpackage (.ci/packages deb)")
        return 77
    shutil.rmtree(work, ignore_errors=True)
    head = subprocess.run(["git", "-C", source, "rev-parse", "HEAD"], text=True, check=True,
                          stdout=subprocess.PIPE).stdout.strip()
    one, other = (build(source, head, work / place, place == PLACES[1], parts)
                  for place in PLACES)
    faults = 0
    for first, second in zip(one, other):
        a, b = digests(first), digests(second)
        differ = sorted(name for name in a.keys() | b.keys() if a.get(name) != b.get(name))
        print(f"{first.name}: {len(a)} files, {len(differ)} differ", *differ, sep="\n  ")
        faults += len(differ) + (len(a) < 2)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
