#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Build the wheel of a release, install it into a fresh virtual environment of every Python that is
here, run its tests and the command there; then use it in a bare Debian root, which has neither HDF5
nor jansson: wheel.py SOURCE WORK"""
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys

import needs

NEWEST_TRIED = 14  # minor version


def pythons():
    """Yield one interpreter of each version from 3.9 on that has venv."""
    places = ["/usr/bin", "/usr/local/bin", *os.environ["PATH"].split(":"),
              *glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin"))]
    for minor in range(9, NEWEST_TRIED + 1):
        for place in places:
            path = os.path.join(place, f"python3.{minor}")
            code = "import sys, venv, ensurepip; print(sys.version_info[:2])"
            if os.path.exists(path):
                done = subprocess.run([path, "-c", code], capture_output=True, text=True,
                                      check=False)
                if done.stdout.strip() == f"(3, {minor})":
                    yield path
                    break


def run(*command, well=(0,), **how):
    """Run a command; show its output when its exit status is not one of `well`."""
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, **how)
    if done.returncode not in well:
        print(" ".join(command), done.stdout[-4000:], sep="\n")
    return done.returncode in well


def environment(python, folder):
    """Make a virtual environment. Return its interpreter."""
    if not run(python, "-m", "venv", folder):
        sys.exit(1)
    return os.path.join(folder, "bin", "python3")


# What the command and the package do with an HDF5 file. $1 is the folder of programs.
USE = """
set -e
$1/kith --version
$1/kith make clustered 20k --seed 1 -o set.h5
$1/kith fof set.h5 --box 1 -o halos.csv
$1/python3 -c '
import csv, kith
frame = kith.read("set.h5")
groups = kith.fof(frame, 0.2 * len(frame) ** (-1 / 3), 1.0)
rows = [row for row in csv.reader(open("halos.csv")) if row and row[0][:1].isdigit()]
assert len(groups) == len(rows) > 10, (len(groups), len(rows))
assert "canvas" in kith.view(groups)._repr_html_()
'
"""
BARE = """
set -e
! ls /usr/lib/x86_64-linux-gnu | grep -E "hdf5|jansson|civetweb|curl"
python3 -m venv /v
/v/bin/python3 -m pip install --quiet --no-index --find-links /dist pykith
cd /tmp
sh /use.sh /v/bin
"""


def bare(source, work, builder, wheel):
    """Install and use the wheel in a bare Debian 12. Return whether that went well."""
    tar, root = f"{source}/build/fresh/python.tar", f"{work}/root"
    made = subprocess.run([f"{source}/.ci/root", "make", tar, "python3-venv"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if made.returncode == 77:
        needs.tell(f"no bare root: {made.stdout.strip().removeprefix('skipped: ')}")
        return True
    os.makedirs(f"{root}/dist")
    shutil.copy(wheel, f"{root}/dist")
    with open(f"{root}/use.sh", "w", encoding="utf-8") as file:
        file.write(USE)
    return (made.returncode == 0 and run("tar", "-xf", tar, "-C", root)
            and run(builder, "-m", "pip", "download", "--quiet", "--dest", f"{root}/dist",
                    "--only-binary", ":all:", "--python-version", "3.11", "numpy")
            and run(f"{source}/.ci/root", "enter", root, BARE))


def main():
    """Build, install and test. Return the exit status."""
    source, work = sys.argv[1:3]
    found = list(pythons())
    if not found:
        print("skipped: no Python from 3.9 on with venv (apt-get install python3-venv)")
        return 77
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    pip = ("-m", "pip", "--disable-pip-version-check", "--quiet", "--retries", "1", "--timeout",
           "10")
    builder = environment(found[-1], os.path.join(work, "build"))
    if not run(builder, *pip, "download", "--dest", f"{work}/reach", "--no-deps", "numpy"):
        print("skipped: PyPI cannot be reached")
        return 77
    if not run(builder, f"{source}/packaging/wheel.py", f"{work}/dist"):
        return 1
    (wheel,) = glob.glob(f"{work}/dist/pykith-*.whl")
    name = os.path.basename(wheel)
    assert re.fullmatch(r"pykith-[0-9.]+-py3-none-manylinux_2_\d+_\w+\.whl", name), name
    environ = {name: value for name, value in os.environ.items()
               if name not in ("KITH_LIBRARY", "KITH_IO_LIBRARY")}
    environ["PYTHONPATH"] = f"{source}/tests/common"
    def use(python):
        """Install and test the wheel with one Python. Return whether that went well."""
        folder = os.path.join(work, os.path.basename(python))
        here = environment(python, folder)
        # The oldest Python tries the oldest NumPy that is supported, the others the newest.
        numpy = "numpy==1.26.*" if python == found[0] else "numpy"
        return (run(here, *pip, "install", "--only-binary", ":all:", wheel, numpy)
                and run("sh", "-c", USE, "sh", os.path.dirname(here), cwd=folder, env=environ)
                and all(run(here, f"{source}/tests/python/test_{name}.py", cwd=folder,
                            well=(0, 77), env=environ) for name in ("kith", "arrays", "io")))

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
        for python, well in zip(found, threads.map(use, found)):
            print(os.path.basename(python), "passed" if well else "failed", flush=True)
            failed += not well
    well = bare(source, work, builder, wheel)
    print("a bare Debian 12", "passed" if well else "failed", flush=True)
    failed += not well
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
