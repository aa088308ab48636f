# SPDX-License-Identifier: BSD-3-Clause
"""Where the library chemfiles is searched for, and what is said where it cannot be loaded. The
library is tests/io/fake_chemfiles.c, which says that it is version 0.11-fake."""
import os
import shutil
import sys

import cli

FAKE, LACKING = os.environ["KITH_FAKE_CHEMFILES"].split(":")
SITE = "lib/python3.{}/site-packages/chemfiles/libchemfiles.so"


def plant(path, library=FAKE):
    """Put a library where one may be searched for."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    shutil.copy(library, path)


def info(**variables):
    """Run kith on a file that chemfiles reads, with these environment variables alone."""
    with open("a.dcd", "wb") as file:
        file.write(b"\x54\0\0\0CORD" + bytes(64))
    known = ("KITH_CHEMFILES", "VIRTUAL_ENV", "CONDA_PREFIX", "HOME", "LD_LIBRARY_PATH")
    environment = {name: value for name, value in os.environ.items() if name not in known}
    return cli.run("info", "a.dcd", env={**environment, **variables})


def found(**variables):
    done = info(**variables)
    assert done.returncode == 0 and "0.11-fake" in done.stdout, (variables, done)


def not_found(reason, **variables):
    """Nothing planted is loaded. Without a reason, the machine's own chemfiles may be."""
    done = info(**variables)
    assert "0.11-fake" not in done.stdout, (variables, done)
    if reason or done.returncode != 0:
        assert done.returncode == 10, (variables, done)
        assert f"chemfiles, which {reason or 'is not installed'}" in done.stderr, done.stderr
        assert "pip install chemfiles" in done.stderr, done.stderr


def test_environment_variable():
    plant("here/libchemfiles.so")
    found(KITH_CHEMFILES=os.path.abspath("here/libchemfiles.so"))
    not_found("cannot be loaded (KITH_CHEMFILES is not an absolute path)",
              KITH_CHEMFILES="here/libchemfiles.so")
    not_found("cannot be loaded (KITH_CHEMFILES: /nowhere.so: cannot open shared object file",
              KITH_CHEMFILES="/nowhere.so")
    not_found("cannot be loaded (its libchemfiles has no chfl_residue_atoms)",
              KITH_CHEMFILES=LACKING)
    # no other is tried
    not_found("cannot be loaded (KITH_CHEMFILES: ", KITH_CHEMFILES="/nowhere.so",
              LD_LIBRARY_PATH=os.path.abspath("here"))


def test_dynamic_linker():
    for name in ("libchemfiles.so", "libchemfiles.so.0.11", "libchemfiles.so.0.10"):
        plant(f"{name}.d/{name}")
        found(LD_LIBRARY_PATH=os.path.abspath(f"{name}.d"), KITH_CHEMFILES="")


def test_prefixes():
    here = os.getcwd()
    plant(f"python/{SITE.format(11)}")
    plant("conda/lib/libchemfiles.so")
    plant(f"home/.local/{SITE.format(9)}")
    for name, folder in (("VIRTUAL_ENV", "python"), ("CONDA_PREFIX", "python"),
                         ("CONDA_PREFIX", "conda"), ("HOME", "home")):
        found(**{name: f"{here}/{folder}"})
        not_found("", **{name: folder})  # whoever writes to a working directory could plant one
    not_found("", VIRTUAL_ENV=f"{here}/conda", HOME=f"{here}/python")
    not_found("", VIRTUAL_ENV=f"{here}/{'./' * 256}python", HOME=f"{here}/{'./' * 256}home")


def test_one_that_lacks_a_function():
    prefix = os.path.abspath("python")
    plant(f"python/{SITE.format(10)}", LACKING)
    done = info(VIRTUAL_ENV=prefix)
    assert done.returncode == 0 or "its libchemfiles has no chfl_residue_atoms" in done.stderr, done
    plant(f"python/{SITE.format(11)}")
    found(VIRTUAL_ENV=prefix)


sys.exit(cli.main(globals()))
