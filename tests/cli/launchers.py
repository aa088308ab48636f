# SPDX-License-Identifier: BSD-3-Clause
"""Ways to run kith on several ranks: threads with a backend each, and processes of MPI."""
import os
import subprocess

import cli

# "openmpi=LIBRARY=mpirun -x|mpich=...": the launchers, and libraries whose ranks kill themselves or
# write to the standard output.
LAUNCHERS = [word.split("=") for word in os.environ["KITH_TEST_LAUNCHERS"].split("|") if word]
RANKS = (1, 2, 3, 4, 5, 6, 7, 8) if cli.DEEP else (3,)


def command(launcher, ranks, *arguments):
    """The words that run kith by a launcher of MPI."""
    return [*launcher[2].split(), "-n", str(ranks), cli.KITH, *map(str, arguments)]


def launched(launcher, ranks, *arguments, **options):
    """Run kith by a launcher of MPI."""
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    return subprocess.run(command(launcher, ranks, *arguments), text=True, check=False, timeout=110,
                          **options)


def ways():
    """Ways to run kith on several ranks: a name, and a function of its arguments."""
    for backends in ("cpu,cpu", "cpu:baseline,cpu,cpu,cpu,cpu"):
        told = {**os.environ, "KITH_BACKEND": backends}
        yield backends, lambda *arguments, told=told: cli.run(*arguments, env=told)
    for launcher in LAUNCHERS:
        for ranks in RANKS:
            yield (f"{launcher[0]} {ranks}",
                   lambda *arguments, launcher=launcher, ranks=ranks:
                   launched(launcher, ranks, *arguments))
