# SPDX-License-Identifier: BSD-3-Clause
"""Every kind of bad input ends with its own exit status and a message that names it."""
import math
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import time

import cli
import needs

POINTS = [(0.1, 0.2, 0.3), (0.15, 0.2, 0.3), (0.9, 0.9, 0.9)]


def test_missing_input():
    for verb in (["info"], ["pairs", "--cutoff", "1"]):
        cli.fails(3, *verb, "nowhere.npy", says=["nowhere.npy", "No such file"])


def test_folder_as_input():
    os.mkdir("folder")
    cli.fails(3, "info", "folder", says=["folder"])


def test_not_a_particle_file():
    with open("noise", "wb") as file:
        file.write(bytes(range(256)) * 8)
    cli.fails(4, "info", "noise", says=["noise"])


def test_truncated_tipsy():
    cli.ok("make", "uniform", "100", "-o", "a.std", "-q")
    with open("a.std", "r+b") as file:
        file.truncate(1000)
    cli.fails(4, "info", "a.std", says=["a.std"])
    cli.fails(4, "pairs", "a.std", "--cutoff", "0.1", says=["a.std"])


def test_truncated_npy():
    cli.write_npy("a.npy", POINTS)
    os.truncate("a.npy", os.path.getsize("a.npy") - 8)
    cli.fails(4, "pairs", "a.npy", "--cutoff", "0.1", says=["a.npy"])


def test_not_finite():
    for kind in "df":
        for bad in (math.nan, math.inf, -math.inf):
            cli.write_npy("a.npy", POINTS + [(0, bad, 0)] + POINTS, kind)
            cli.fails(5, "pairs", "a.npy", "--cutoff", "0.1", says=["a.npy", "3"])
            cli.fails(5, "pairs", "a.npy", "--cutoff", "0.1", "-o", "x.npy", says=["a.npy"])
            assert os.listdir() == ["a.npy"]
            assert cli.report("info", "a.npy")["bounds"]["first_not_finite"] == 3


def test_bad_cutoff():
    cli.write_npy("a.npy", POINTS)
    for cutoff in ("0", "-1", "nan", "inf", "1e400", "1e300", "1e-300"):
        cli.fails(6, "pairs", "a.npy", "--cutoff", cutoff, says=["cutoff"])
    cli.write_npy("f.npy", POINTS, "f")
    for cutoff in ("1e30", "1e-30"):
        cli.fails(6, "pairs", "f.npy", "--cutoff", cutoff, says=["cutoff"])


def test_bad_box():
    cli.write_npy("a.npy", POINTS)
    pairs = ["pairs", "a.npy", "--cutoff", "0.1"]
    for box in ("0", "-1", "1,1,0", "nan", "1,inf,1", "1,0,0,1,0,0,0,0,1"):
        cli.fails(6, *pairs, "--box", box)
    cli.fails(6, *pairs, "--periodic", "xyz", says=["a.npy", "--box"])
    cli.fails(6, *pairs, "--origin", "0,0,0", says=["a.npy", "--box"])
    cli.fails(6, *pairs, "--box", "1,1", says=["a.npy"])
    cli.ok(*pairs, "--periodic", "none")


def test_bad_threads_and_backends():
    cli.write_npy("a.npy", POINTS)
    pairs = ["pairs", "a.npy", "--cutoff", "0.1"]
    for threads in ("0", "-1", "99999999999"):
        cli.fails(6, *pairs, "--threads", threads, says=["--threads", threads])
    cli.fails(6, *pairs, "--backend", "abacus", says=["abacus"])
    # the names of the library's options are translated, not the words of the user
    cli.fails(6, *pairs, "--backend", "options.threads", says=['"options.threads"'])
    cli.fails(6, *pairs, env=dict(os.environ, KITH_BACKEND="abacus"), says=["abacus"])
    if os.environ.get("KITH_TEST_CUDA") not in ("ON", "TRUE", "1"):
        cli.fails(10, *pairs, "--backend", "cuda", says=["cuda"])
        cli.fails(10, *pairs, "--backend", "cuda:1", says=["cuda"])


def test_limits():
    cli.fails(7, "make", "uniform", "3G", "-o", "a.npy", says=["2147483647"])
    cli.fails(6, "make", "uniform", "-o", "a.npy", "--", "-5")
    with open("big.npy", "wb") as file:
        file.write(cli.npy_head((3000000000, 3)))
        file.truncate(file.tell() + 3000000000 * 24)
    cli.fails(7, "pairs", "big.npy", "--cutoff", "0.1", says=["big.npy"])


def test_unknown_species_and_columns():
    cli.ok("make", "uniform", "10", "-o", "a.std", "-q")
    cli.fails(6, "pairs", "a.std", "--cutoff", "0.1", "--species", "quark", says=["quark"])
    with open("a.csv", "w", encoding="ascii") as file:
        file.write("x,y,z\n1,2,3\n4,5,6\n")
    cli.fails(6, "pairs", "a.csv", "--cutoff", "0.1", "--columns", "x,y,w", says=["w"])


def test_output_cannot_be_written():
    cli.write_npy("a.npy", POINTS)
    pairs = ["pairs", "a.npy", "--cutoff", "0.1", "-o"]
    cli.fails(9, *pairs, "nowhere/x.npy", says=["nowhere/x.npy"])
    cli.fails(9, "make", "uniform", "10", "-o", "nowhere/x.npy", says=["nowhere/x.npy"])
    cli.fails(6, *pairs, "x.unknown", says=["x.unknown"])
    os.mkdir("x.npy")
    cli.fails(9, *pairs, "x.npy", says=["x.npy"])
    assert sorted(os.listdir()) == ["a.npy", "x.npy"]


def test_view_cannot_be_served():
    """The port is taken; or this build has no server, which has a status of its own."""
    cli.ok("make", "uniform", "100", "-o", "a.npy", "-q")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        view = ("view", "a.npy", "--port", str(taken.getsockname()[1]))
        done = cli.run(*view, stdin=subprocess.DEVNULL)
        lacks = "this kith was built without the live view" in done.stderr
        cli.fails(needs.LACKING if lacks else 9, *view, says=["live view"])


def test_view_needs_a_box():
    """The one message is that of the box."""
    cli.write_npy("a.npy", POINTS)
    done = cli.fails(6, "view", "a.npy", "--origin", "0,0,0", says=["no box"])
    assert done.stderr.count("kith:") == 1, done.stderr


def test_empty_names():
    """A name that is empty, as of a variable that is not set, is called that; `-` is no input."""
    cli.write_npy("a.npy", POINTS)
    for words in (("info", ""), ("pairs", "", "-c", "1"), ("flock", "", "--steps", "1")):
        cli.fails(2, *words, says=["the name is empty"])
    cli.fails(2, "pairs", "a.npy", "-c", "1", "--against", "", says=["--against: the name is"])
    cli.fails(3, "pairs", "-", "-c", "1", says=["standard input is not read"])


def test_blanks_in_lists():
    cli.write_npy("a.npy", POINTS)
    pairs = ("pairs", "a.npy", "-c", "0.1", "--count")
    assert cli.ok(*pairs, "--box", "9, 8,\t7", "--origin", "-1, -1, -1") == cli.ok(
        *pairs, "--box", "9,8,7", "--origin", "-1,-1,-1")
    cli.ok("make", "uniform", "50", "-o", "a.std", "-q")
    cli.ok("fof", "a.std", "--length", "0.1", "--link", "gas, dark", "-q")
    for wrong in ("9, 8, ", "9 8 7", "9,,7", " 9,8,7"):
        cli.fails(2, *pairs, "--box", wrong, says=["--box: got"])


def test_no_frames():
    """A file of no frames is called that, not one whose frame 0 was asked for by mistake."""
    cli.write_npy_array("e.npy", (0, 5, 3), [])
    words = ["e.npy: holds no frames", "run it again"]
    for verb in (("pairs", "e.npy", "-c", "1"), ("fof", "e.npy", "--length", "1"),
                 ("rdf", "e.npy", "--box", "3", "--r-max", "1"),
                 ("rdf", "e.npy", "--box", "3", "--r-max", "1", "--frames", "2:")):
        done = cli.run(*verb)
        assert done.returncode in (4, 6), done
        assert all(word in done.stderr for word in words), done.stderr
    assert "bounds      not read: e.npy: holds no frames" in cli.ok("info", "e.npy")
    cli.write_npy_array("one.npy", (1, 1, 3), [0, 0, 0])
    cli.fails(6, "pairs", "one.npy", "-c", "1", "--frame", "3",
              says=["has 1 frame, counted from 0; frame 3 was asked for"])


def test_status_of_labels():
    """Labels that cannot be opened are an input that cannot be read, as with other verbs."""
    cli.write_npy("a.npy", POINTS)
    cli.fails(3, "view", "a.npy", "--labels", "none.npy", says=["none.npy: cannot open"])
    cli.write_npy("few.npy", POINTS[:1])
    cli.fails(6, "view", "a.npy", "--labels", "few.npy", says=["few.npy"])
    cli.fails(6, "view", "a.npy", "--frame", "7", says=["a.npy: has 1 frame"])


def test_view_names_the_file():
    """What stops the view before it is served names the file; masses that are all 0 are none."""
    cli.ok("make", "clustered", "200", "--seed", "1", "-o", "a.std", "-q")
    with open("a.std", "rb") as file:
        whole = file.read()

    def save(mass, x=None):
        data = bytearray(whole)
        for k in range(200):
            at = 32 + 36 * k
            data[at:at + 4] = struct.pack(">f", mass if k == 7 else 0 if mass == 0 else 1)
            data[at + 4:at + 8] = struct.pack(">f", x) if x and k == 3 else data[at + 4:at + 8]
        with open("b.std", "wb") as file:
            file.write(data)
    with socket.create_server(("127.0.0.1", 0)) as taken:  # where the view can be served no more
        view = ("view", "b.std", "--box", "1", "--link", "0.05", "--port",
                str(taken.getsockname()[1]))
        save(math.nan)
        cli.fails(6, *view, says=["kith: b.std: ", "masses", "particle 7 ", "nan", "--species"])
        save(1, math.nan)
        cli.fails(5, *view, says=["kith: b.std: ", "particle 3 "])
        save(0)
        lacks = "without the live view" in cli.run(*view).stderr
        cli.fails(needs.LACKING if lacks else 9, *view, says=["live view"])


def test_disk_full():
    cli.ok("make", "uniform", "2000", "-o", "a.npy", "-q")
    limited = ["sh", "-c", 'ulimit -f 64; exec "$0" "$@"', cli.KITH]
    before = b"as it was"
    for name in ("x.txt", "x.npy"):
        with open(name, "wb") as file:
            file.write(before)
        done = subprocess.run(limited + ["pairs", "a.npy", "--cutoff", "0.5", "-o", name],
                              capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 9 and name in done.stderr, done
        with open(name, "rb") as file:
            assert file.read() == before
    done = subprocess.run(limited + ["make", "uniform", "100k", "-o", "new.npy"],
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 9 and "new.npy" in done.stderr, done
    assert sorted(os.listdir()) == ["a.npy", "x.npy", "x.txt"]


def test_full_standard_output():
    cli.ok("make", "uniform", "2000", "-o", "a.npy", "-q")
    for arguments in (["--help"], ["--version"], ["pairs", "--help"], ["info", "a.npy"],
                      ["info", "a.npy", "--json"], ["pairs", "a.npy", "--cutoff", "0.1"],
                      ["pairs", "a.npy", "--cutoff", "0.1", "--json"],
                      ["pairs", "a.npy", "--cutoff", "0.1", "-o", "-"]):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = cli.fails(9, *arguments, stdout=full, says=["standard output", "No space"])
        assert len(done.stderr.splitlines()) == 1, done.stderr


def test_broken_pipe():
    cli.ok("make", "uniform", "2000", "-o", "a.npy", "-q")
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w", encoding="ascii") as pipe:
        done = cli.fails(9, "pairs", "a.npy", "--cutoff", "0.3", "-o", "-", stdout=pipe,
                         says=["standard output", "Broken pipe"])
    assert len(done.stderr.splitlines()) == 1, done.stderr



def test_crash_within_hdf5():
    """Kept inputs of the fuzzer on which HDF5 1.10.8 reads beyond its buffers: in pages of their
    own, so that it is no matter of luck."""
    if "LSAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ:
        raise cli.Skip("a sanitizer judges this its own way")
    cli.snapshot_modules()
    corpus = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz", "corpus")
    alone = dict(os.environ, MALLOC_MMAP_THRESHOLD_="1024")
    for name in ("307f677c4957a22438192c7f21d2cb03222cf52a",
                 "95500cc191e7f1288d67c1160fc96284642daf72",
                 "bc7402fd1c4f5796d41d5d5a1991b66e9b7b3455"):
        os.symlink(os.path.join(corpus, "hdf5", name), name)
        for words in (("info", name), ("pairs", name, "--cutoff", "1"),
                      ("rdf", name, "--box", "10", "--r-max", "1")):
            done = cli.run(*words, env=alone)
            assert done.returncode in (0, 4, 6), (words, done.returncode, done.stderr)
            assert done.returncode == 0 or name in done.stderr, (words, done.stderr)


def test_other_crashes_stay():
    if "LSAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ:
        raise cli.Skip("a sanitizer judges this its own way")
    no_core = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0))}
    for number in (signal.SIGSEGV, signal.SIGABRT):
        with subprocess.Popen([cli.KITH, "flock", "--boids", "100", "--box", "20", "--steps",
                               "100000000", "-q"], **no_core) as process:
            time.sleep(0.3)
            process.send_signal(number)
            assert process.wait(timeout=20) == -number


sys.exit(cli.main(globals()))
