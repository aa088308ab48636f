#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Build the wheel as `pip install .` does, install it into a fresh virtual environment of every
Python that is here, and run its tests there: wheel.py SOURCE WORK"""
import glob
import os
import re
import shutil
import subprocess
import sys

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
    if not run(builder, *pip, "wheel", "--no-deps", "--wheel-dir", f"{work}/dist", source,
               env={**os.environ, "CMAKE_BUILD_PARALLEL_LEVEL": str(os.cpu_count())}):
        return 1
    (wheel,) = os.listdir(f"{work}/dist")
    assert re.fullmatch(r"pykith-[0-9.]+-py3-none-.*linux.*\.whl", wheel), wheel
    environ = {name: value for name, value in os.environ.items()
               if name not in ("KITH_LIBRARY", "KITH_IO_LIBRARY")}
    environ["PYTHONPATH"] = f"{source}/tests/common"
    failed = 0
    for python in found:
        here = environment(python, os.path.join(work, os.path.basename(python)))
        well = (run(here, *pip, "install", "--only-binary", ":all:", f"{work}/dist/{wheel}")
                and all(run(here, f"{source}/tests/python/test_{name}.py", cwd=work,
                            well=(0, 77), env=environ) for name in ("kith", "arrays", "io")))
        print(os.path.basename(python), "passed" if well else "failed", flush=True)
        failed += not well
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
