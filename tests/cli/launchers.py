# SPDX-License-Identifier: BSD-3-Clause
"""Ways to run kith on several ranks: threads with a backend each, and processes of MPI."""
import concurrent.futures
import itertools
import os
import shutil
import subprocess

import cli

# "openmpi=LIBRARY=mpirun -x|mpich=...": the launchers, and libraries whose ranks kill themselves or
# write to the standard output.
LAUNCHERS = [word.split("=") for word in os.environ["KITH_TEST_LAUNCHERS"].split("|") if word]
RANKS = (1, 2, 3, 4, 5, 6, 7, 8) if cli.DEEP else (3,)
TURNS = itertools.count()
BRIEF = int(os.environ.get("KITH_TEST_BRIEF", "0")) >= 9


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
    for backends in ("cpu:baseline,cpu,cpu,cpu,cpu", "cpu,cpu")[:1 if BRIEF else 2]:
        told = {**os.environ, "KITH_BACKEND": backends}
        yield backends, lambda *arguments, told=told, **options: cli.run(*arguments, env=told,
                                                                         **options)
    # All but the deep form start one MPI for each command, in turn, the short form for every third:
    # they differ in the transport alone, which tests/team/ runs over both, and to start one takes
    # longer than the command.
    turn = next(TURNS)
    if BRIEF and turn % 3 > 0:
        return
    turn %= max(len(LAUNCHERS), 1)
    for launcher in LAUNCHERS if cli.DEEP else LAUNCHERS[turn:turn + 1]:
        for ranks in RANKS:
            yield (f"{launcher[0]} {ranks}",
                   lambda *arguments, launcher=launcher, ranks=ranks, **options:
                   launched(launcher, ranks, *arguments, **options))


def everywhere(*arguments, outputs=()):
    """Run kith in all ways at once, as a launcher waits most of its time: each in a folder of its
    own, with links to the files that are here. Yield the name of the way, the finished process and
    the folder."""
    def begin(number, run):
        folder = f"way.{number}"
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        for name in files:
            os.symlink(os.path.abspath(name), os.path.join(folder, name))
        return pool.submit(run, *arguments, cwd=folder), folder
    files = [name for name in os.listdir() if not name.startswith("way.") and name not in outputs]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        begun = [(name, *begin(number, run)) for number, (name, run) in enumerate(ways())]
        for name, done, folder in begun:
            yield name, done.result(), folder
