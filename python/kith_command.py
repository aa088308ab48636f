# SPDX-License-Identifier: BSD-3-Clause
"""The command `kith` of the wheel: replaces the process by the program that the package carries.

Not part of the package kith, whose import would import NumPy first.
"""
from __future__ import annotations

import importlib.util
import os
import sys


def main() -> None:
    """Run the program with the arguments of this process."""
    site = os.path.dirname(os.path.abspath(__file__))
    program = os.path.join(site, "kith", "bin", "kith")
    if not os.path.exists(program):
        sys.exit("kith: this installation has no command: it was built where jansson is missing "
                 "(Debian: libjansson-dev)")
    environment = dict(os.environ)
    gpu = importlib.util.find_spec("kith_cu13")
    if gpu is not None and gpu.origin is not None:
        library = os.path.join(os.path.dirname(gpu.origin), "lib", "libkith.so.0")
        if os.path.exists(library):  # takes the place of the wheel's libkith, which has no GPU code
            loaded = environment.get("LD_PRELOAD")
            environment["LD_PRELOAD"] = f"{library}:{loaded}" if loaded else library
    os.execve(program, [program, *sys.argv[1:]], environment)
