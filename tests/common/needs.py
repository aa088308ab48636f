# SPDX-License-Identifier: BSD-3-Clause
"""What tests need besides Python's standard library: Debian packages, PyPI packages, data.

Where one is missing, a test is skipped, or leaves out a part. It then prints a line that holds
"skipped: ", the reason and how to get what is missing. tests/skipped.py collects these lines."""
import importlib
import os
import shutil
import sys

PACKAGES = {"chromium": "chromium", "ffmpeg": "ffmpeg", "ffprobe": "ffmpeg",
            "gnuplot": "gnuplot-nox", "h5py": "python3-h5py", "hypothesis": "python3-hypothesis",
            "numpy": "python3-numpy", "scipy": "python3-scipy"}
SKIPPED = 77  # exit status of a test
LACKING = 10  # exit status of kith if its build lacks a library; the message names its package


class Skip(Exception):
    """Raised by a test that cannot run on this machine. Its text is the reason."""


def missing(name):
    """The reason of a skip: the name of a program or module, and the command that installs it."""
    command = f"apt-get install {PACKAGES[name]}" if name in PACKAGES else f"pip install {name}"
    return f"no {name} ({command})"


def module(name):
    """Import a module; skip the test without it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Skip(missing(error.name or name)) from error


def program(name):
    """The path of a program; skip the test without it."""
    path = shutil.which(name)
    if not path:
        raise Skip(missing(name))
    return path


def data(path):
    """Skip the test without these data, which are public but not part of the repository."""
    if not os.path.exists(path):
        raise Skip(f"no {os.path.relpath(path, os.environ['KITH_TEST_DATA'])} in "
                   f"{os.path.normpath(os.environ['KITH_TEST_DATA'])} (public data, kept apart)")


def built(done):
    """Skip the test if this build of kith lacks what a run needs."""
    if done.returncode == LACKING:
        raise Skip(done.stderr.strip())


def tell(reason):
    """Say that a part of a test is left out."""
    print(f"skipped: {reason}")


def found(name):
    """Whether a program is installed. If not, says that a part of the test is left out."""
    path = shutil.which(name)
    if not path:
        tell(missing(name))
    return path is not None


def lacking(done):
    """Whether this build of kith lacks what a run needs. If so, says that a part of the test is
    left out."""
    if done.returncode == LACKING:
        tell(done.stderr.strip())
    return done.returncode == LACKING


def leave(error):
    """End the program as skipped, because an import failed."""
    tell(missing(error.name))
    sys.exit(SKIPPED)
