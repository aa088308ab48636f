# SPDX-License-Identifier: BSD-3-Clause
"""Files that are replaced: mode, attributes and symbolic links are kept, special files are written,
and what cannot be written is refused."""
import contextlib
import os
import stat
import subprocess
import sys
import threading

import cli
import fault_runs
import needs

RUNS = fault_runs.RUNS[::4 if "KITH_TEST_BRIEF" in os.environ else 1]
PAIRS = ("pairs", "a.npy", "--cutoff", "0.2", "--box", "1", "-q", "-o")


def mode_of(name):
    return stat.S_IMODE(os.stat(name).st_mode)


def test_mode_is_kept():
    """Each verb, each kind of output."""
    for words, whole, _ in fault_runs.whole_runs(RUNS):
        fault_runs.leave_old(whole)
        for name in whole:
            os.chmod(name, 0o600)
        done = fault_runs.start(words)
        assert done.returncode == 0, (words, done)
        for name, right in whole.items():
            assert fault_runs.same(name, fault_runs.read(name), right), (words, name)
            assert mode_of(name) == 0o600, (words, name, oct(mode_of(name)))


def test_links_are_followed():
    """To a file, and to one that does not exist yet."""
    for words, whole, _ in fault_runs.whole_runs(RUNS):
        for exists in (True, False):
            os.makedirs("elsewhere")
            for name in whole:
                with contextlib.suppress(FileNotFoundError):
                    os.remove(name)
                os.symlink(f"elsewhere/{name}", name)
                if exists or name.endswith(".state"):
                    fault_runs.leave_old([name])
            done = fault_runs.start(words)
            assert done.returncode == 0, (words, done)
            for name, right in whole.items():
                assert os.path.islink(name), (words, name)
                assert fault_runs.same(name, fault_runs.read(name), right), (words, name, exists)
            assert sorted(os.listdir("elsewhere")) == sorted(whole), os.listdir("elsewhere")
            for name in whole:
                os.remove(f"elsewhere/{name}")
            os.rmdir("elsewhere")
        for name in whole:  # whole_runs removes files
            os.remove(name)
            fault_runs.leave_old([name])


def test_film():
    """By a stand-in for ffmpeg, which copies frames into the file that its last word names."""
    os.mkdir("bin")
    with open("bin/ffmpeg", "w", encoding="ascii") as file:
        file.write('#!/bin/sh\nfor last; do :; done\nexec cat > "$last"\n')
    os.chmod("bin/ffmpeg", 0o755)
    env = dict(os.environ, PATH=f"{os.getcwd()}/bin:{os.environ['PATH']}")
    words = (*fault_runs.FLOCK, "--record", "o.mp4", "--film-size", "64x48", "-q")
    os.symlink("film.mp4", "o.mp4")
    for _ in range(2):  # the first creates the film
        done = cli.run(*words, env=env)
        if "libpng" in done.stderr or done.returncode == 10:
            raise cli.Skip(done.stderr)
        assert done.returncode == 0, done
        os.chmod("film.mp4", 0o600)
    assert os.path.islink("o.mp4") and os.path.getsize("film.mp4") > 64 * 48 * 4
    assert sorted(os.listdir()) == ["bin", "film.mp4", "o.mp4"], os.listdir()
    cli.ok(*words, env=env)
    assert mode_of("film.mp4") == 0o600
    os.remove("o.mp4")
    os.mkfifo("o.mp4")
    cli.fails(6, *words, env=env, says=["o.mp4", "regular file"])


def test_links_in_a_row():
    cli.ok("make", "uniform", "100", "-o", "a.npy", "-q")
    os.makedirs("sub")
    os.symlink("sub/b.npy", "a-link.npy")
    os.symlink("../c.npy", "sub/b.npy")
    cli.ok(*PAIRS, "a-link.npy")
    assert os.path.isfile("c.npy") and os.path.islink("sub/b.npy") and os.path.islink("a-link.npy")
    os.symlink("loop.npy", "loop.npy")
    cli.fails(9, *PAIRS, "loop.npy", says=["loop.npy", "symbolic links"])


def test_attributes_are_kept():
    cli.ok("make", "uniform", "100", "-o", "a.npy", "-q")
    cli.ok(*PAIRS, "o.npy")
    try:
        os.setxattr("o.npy", "user.origin", b"run 7")
    except OSError as error:
        raise cli.Skip(f"no extended attributes here: {error}") from error
    cli.ok(*PAIRS, "o.npy")
    assert os.getxattr("o.npy", "user.origin") == b"run 7"


def test_owner_is_kept():
    if os.geteuid() != 0:
        raise cli.Skip("only root may give files away")
    cli.ok("make", "uniform", "100", "-o", "a.npy", "-q")
    cli.ok(*PAIRS, "o.npy")
    os.chown("o.npy", 1234, 4321)
    os.chmod("o.npy", 0o640)
    cli.ok(*PAIRS, "o.npy")
    facts = os.stat("o.npy")
    assert (facts.st_uid, facts.st_gid, mode_of("o.npy")) == (1234, 4321, 0o640), facts


def test_special_files_are_written():
    cli.ok("make", "uniform", "100", "-o", "a.npy", "-q")
    right = cli.ok(*PAIRS, "-")
    os.mkfifo("pipe.txt")
    got = []
    reader = threading.Thread(daemon=True,
                              target=lambda: got.append(fault_runs.read("pipe.txt").decode()))
    reader.start()
    cli.ok(*PAIRS, "pipe.txt")
    reader.join(timeout=30)
    assert stat.S_ISFIFO(os.stat("pipe.txt").st_mode)
    assert rows(got[0]) == rows(right)
    for name in ("null", "full"):
        os.symlink(f"/dev/{name}", f"{name}.txt")
    cli.ok(*PAIRS, "null.txt")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode) and os.path.islink("null.txt")
    cli.fails(9, *PAIRS, "full.txt", says=["full.txt", "No space"])


def rows(text):
    return [line for line in text.splitlines() if not line.startswith("#")]


def test_open_files_are_written_on():
    """A shell may have written into what /dev/stdout is, or append to it."""
    cli.ok("make", "uniform", "100", "-o", "a.npy", "-q")
    right = rows(cli.ok(*PAIRS, "-"))
    words = " ".join((cli.KITH, *PAIRS))
    for name, target in (("a.txt", "/dev/stdout"), ("b.txt", "/dev/fd/1")):
        os.symlink(target, name)
        for how in (">", ">>"):
            with open("all.txt", "w", encoding="ascii") as file:
                file.write("before\n")
            script = f"(echo first; {words} {name}; echo last) {how} all.txt"
            subprocess.run(["sh", "-c", script], check=True, timeout=60)
            lines = fault_runs.read("all.txt").decode().splitlines()
            lines = lines[1:] if how == ">>" and lines[0] == "before" else lines
            assert (lines[0], lines[-1]) == ("first", "last"), (name, how, lines[:3])
            assert rows("\n".join(lines[1:-1])) == right, (name, how)


def as_nobody():
    """For the child: root may write everywhere."""
    if os.geteuid() == 0:
        os.setgid(65534)
        os.setuid(65534)


def test_refused_targets():
    os.chmod(".", 0o755)
    cli.ok("make", "uniform", "100", "-o", "a.npy", "-q")
    os.mkdir("folder.npy")
    cli.fails(9, *PAIRS, "none/o.npy", says=["none/o.npy", "folder", "none", "No such file"])
    cli.fails(9, *PAIRS, "a.npy/o.npy", says=["a.npy/o.npy", "Not a directory"])
    cli.fails(9, *PAIRS, "folder.npy", says=["folder.npy: is a directory"])
    with open("kept.npy", "wb") as file:
        file.write(b"kept")
    os.chmod("kept.npy", 0o444)
    os.mkdir("open", 0o777)
    os.chmod("open", 0o777)
    os.rename("kept.npy", "open/kept.npy")
    nobody = {"preexec_fn": as_nobody}
    cli.fails(9, *PAIRS, "open/kept.npy", says=["open/kept.npy", "Permission denied"], **nobody)
    assert fault_runs.read("open/kept.npy") == b"kept"
    os.mkdir("closed", 0o555)
    cli.fails(9, *PAIRS, "closed/o.npy", says=["closed/o.npy", "folder", "Permission denied"],
              **nobody)


def test_refused_before_work():
    """Every output of every verb: before an input is opened, so that no work is lost."""
    for words, names in RUNS:
        for name in names:
            if name not in words:  # a companion or a frame
                continue
            ended = [f"none/{name}" if word == name else word for word in words]
            ended = ["missing" if word in ("a.npy", "a.xyz", "b.xyz", "s.hdf5") else word
                     for word in ended]
            done = fault_runs.start(ended)
            if needs.lacking(done):
                continue
            assert done.returncode == 9, (ended, done)
            assert f"none/{name}: no file can be created in the folder none: No such" in done.stderr
            assert not os.listdir(), os.listdir()


sys.exit(cli.main(globals()))
