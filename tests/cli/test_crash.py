# SPDX-License-Identifier: BSD-3-Clause
"""Crashes: within HDF5 and chemfiles they end in one sentence, those of kith are told as such; no
file is left half written. tests/common/crash.c makes them happen at a chosen place."""
import os
import random
import resource
import shutil
import signal
import struct
import sys
import time

import cli

HOWS = {"segv": signal.SIGSEGV, "bus": signal.SIGBUS, "fpe": signal.SIGFPE, "ill": signal.SIGILL,
        "abort": signal.SIGABRT, "stack": signal.SIGSEGV}
RDF = ("--box", "10", "--r-max", "2", "--threads", "1")


def no_sanitizer():
    if "LSAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ:
        raise cli.Skip("a sanitizer has its own handler of crashes")


def no_core():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def crash(where, how, *words):
    """Run kith, which crashes in the function `where`."""
    env = dict(os.environ, LD_PRELOAD=os.environ["KITH_CRASH_MODULE"], KITH_CRASH=f"{where} {how}")
    return cli.run(*words, env=env, preexec_fn=no_core)


def is_sentence(done, name, library):
    """One line about the file and the library; libc and libstdc++ may print before they abort."""
    lines = done.stderr.splitlines()
    told = [line for line in lines if line.startswith("kith")]
    assert done.returncode == 4 and len(told) == 1 and lines[-1] == told[0], done
    assert f"{name}: the library {library} " in told[0] and "crashed" in told[0], done
    assert len(lines) == 1 or done.stderr.count("\n") <= 4, done


def netcdf(frames=2, atoms=4):
    """A trajectory in AMBER's convention, by the format's description: NetCDF 3, 64-bit offsets."""
    def text(word):
        data = word.encode()
        return struct.pack(">i", len(data)) + data + b"\0" * (-len(data) % 4)

    def attribute(key, value):
        return text(key) + struct.pack(">i", 2) + text(value)
    dims = [("frame", 0), ("spatial", 3), ("atom", atoms)]
    head = b"CDF\x02" + struct.pack(">i", frames)
    head += struct.pack(">ii", 10, len(dims)) + b"".join(
        text(word) + struct.pack(">i", size) for word, size in dims)
    pairs = (("Conventions", "AMBER"), ("ConventionVersion", "1.0"), ("program", "kith"))
    head += struct.pack(">ii", 12, len(pairs)) + b"".join(attribute(*pair) for pair in pairs)
    size = 12 * atoms
    variable = text("coordinates") + struct.pack(">i3i", 3, 0, 2, 1)
    variable += struct.pack(">ii", 12, 1) + attribute("units", "angstrom")
    head += struct.pack(">ii", 11, 1) + variable
    begin = len(head) + 16
    head += struct.pack(">iiq", 5, size, begin)
    numbers = [0.1 * k for k in range(3 * atoms * frames)]
    return head + struct.pack(f">{len(numbers)}f", *numbers)


def write_netcdf(name, data):
    with open(name, "wb") as file:
        file.write(data)
    done = cli.run("rdf", name, *RDF)
    if done.returncode == 10:
        raise cli.Skip(done.stderr.strip())
    return done


def write_hdf5(name):
    if cli.run("make", "uniform", "100", "-o", name, "-q").returncode == 10:
        raise cli.Skip("a build without HDF5")


def test_within_hdf5():
    no_sanitizer()
    write_hdf5("a.h5")
    cli.ok("make", "uniform", "50", "-o", "last.npy", "-q")
    for how in HOWS:
        is_sentence(crash("H5Dread", how, "info", "a.h5"), "a.h5", "HDF5")
    for words in (("rdf", "a.h5", *RDF), ("fof", "a.h5", "--box", "1"),
                  ("pairs", "a.h5", "--cutoff", "0.1", "--against", "last.npy")):
        is_sentence(crash("H5Dread", "segv", *words), "a.h5", "HDF5")


def test_within_chemfiles():
    """Which reads in a thread of its own; 0.10 and 0.11 have two names for its function."""
    no_sanitizer()
    assert write_netcdf("a.nc", netcdf()).returncode == 0
    for how in HOWS:
        where = "chfl_trajectory_read_step"
        done = crash(where, how, "rdf", "a.nc", *RDF)
        if done.returncode == 0:
            done = crash("chfl_trajectory_read_at", how, "rdf", "a.nc", *RDF)
        is_sentence(done, "a.nc", "chemfiles")


def test_damaged_netcdf():
    """Some of these crash chemfiles 0.10.4; whatever it does, the command ends in a sentence."""
    no_sanitizer()
    whole = netcdf()
    write_netcdf("a.nc", whole)
    dice = random.Random(7)
    crashes = 0
    for _ in range(400 if "KITH_TEST_DEEP" in os.environ else 25):
        data = bytearray(whole)
        for _ in range(dice.randrange(1, 4)):
            data[dice.randrange(4, len(whole) - 100)] = dice.choice((0, 1, 127, 128, 255))
        done = write_netcdf("b.nc", data)
        assert done.returncode in (0, 4, 6, 8), done
        assert done.returncode == 0 or "b.nc" in done.stderr, done
        crashes += "crashed" in done.stderr
    print(f"{crashes} crashes within chemfiles")


def test_own():
    """The signal is that of the crash; what was being written is gone, the old file whole."""
    no_sanitizer()
    cli.ok("make", "uniform", "100", "-o", "a.npy", "-q")
    for how, number in HOWS.items():
        with open("o.npy", "wb") as file:
            file.write(b"as it was")
        done = crash("fsync", how, "pairs", "a.npy", "--cutoff", "0.1", "-o", "o.npy")
        assert done.returncode == -number, (how, done)
        assert done.stderr.startswith("kith: crashed by a fault of its own"), (how, done)
        with open("o.npy", "rb") as file:
            assert file.read() == b"as it was"
        assert sorted(os.listdir()) == ["a.npy", "o.npy"], (how, os.listdir())


def test_own_has_a_core():
    no_sanitizer()
    with open("/proc/sys/kernel/core_pattern", encoding="ascii") as file:
        if file.read().strip() != "core" or resource.getrlimit(resource.RLIMIT_CORE)[1] == 0:
            raise cli.Skip("cores do not come into the working folder here")
    cli.ok("make", "uniform", "100", "-o", "a.npy", "-q")
    env = dict(os.environ, LD_PRELOAD=os.environ["KITH_CRASH_MODULE"], KITH_CRASH="fsync segv")
    most = resource.RLIM_INFINITY
    cli.run("pairs", "a.npy", "--cutoff", "0.1", "-o", "o.npy", env=env,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (most, most)))
    assert any(name.startswith("core") for name in os.listdir()), os.listdir()


def test_any_end_leaves_no_lock():
    """Whatever signal ends a run, the next one goes on. SIGKILL alone leaves files to it."""
    no_sanitizer()
    run = ["flock", "--boids", "30", "--box", "9", "-q", "--restart-every", "1", "--record-every",
           "1", "-o", "t.gsd", "--restart", "t.state", "--record", "f/", "--film-size", "16x16"]
    for name in ("TERM", "INT", "HUP", "QUIT", "XCPU", "ABRT", "SEGV", "KILL"):
        number = getattr(signal, f"SIG{name}")
        with cli.subprocess.Popen([cli.KITH, *run, "--steps", "1G"], stderr=cli.subprocess.PIPE,
                                  text=True, preexec_fn=no_core) as process:
            for _ in range(300):
                if os.path.exists("t.state") and os.path.exists("f/000001.png"):
                    break
                time.sleep(0.05)
            process.send_signal(number)
            _, told = process.communicate(timeout=30)
        assert process.returncode in (130, -number), (name, process.returncode)
        assert "fault of its own" not in told, (name, told)
        left = [file for file in os.listdir() if file.endswith(".lock")]
        assert not left or name == "KILL", (name, left)
        cli.ok(*run, "--steps", "1")  # the flock is beyond that step already
        left = [file for file in os.listdir() if file.endswith(".lock")]
        assert not left, (name, left)
        for file in ("t.gsd", "t.state"):
            os.remove(file)
        shutil.rmtree("f")


def test_a_signal_from_outside():
    """Of another process: nothing is a fault of kith, and the status is that of the signal."""
    no_sanitizer()
    cli.ok("make", "uniform", "30k", "-o", "a.npy", "-q")
    words = [cli.KITH, "pairs", "a.npy", "--cutoff", "0.25", "--box", "1", "-o", "o.txt", "-q"]
    for number in (signal.SIGSEGV, signal.SIGABRT):
        with cli.subprocess.Popen(words, stderr=cli.subprocess.PIPE, preexec_fn=no_core) as process:
            for _ in range(1000):
                if any(name.endswith(".part") for name in os.listdir()):
                    break
                time.sleep(0.02)
            process.send_signal(number)
            _, told = process.communicate(timeout=30)
        assert (process.returncode, told) == (-number, b""), (process.returncode, told)
        assert os.listdir() == ["a.npy"], os.listdir()


sys.exit(cli.main(globals()))
