# SPDX-License-Identifier: BSD-3-Clause
"""What kith pairs says: for people and for scripts."""
import json
import os
import pty
import subprocess
import sys

import cli


def made():
    cli.ok("make", "clustered", "3k", "--seed", "1", "-o", "a.npy", "-q")
    return "a.npy"


def test_json_agrees_with_brute_force():
    cli.ok("make", "uniform", "150", "--seed", "1", "-o", "b.npy", "-q")
    expected = cli.brute_force(cli.read_points("b.npy"), 0.2, 1.0, full=True)
    neighbours = [0] * 150
    for i, _, _ in expected:
        neighbours[i] += 1
    # Counted, and added up from the blocks of a list that is written.
    for output in ([], ["-o", "x.npy"], ["-o", "x.npy", "--full"]):
        found = cli.report("pairs", "b.npy", "--cutoff", "0.2", "--box", "1", *output)
        full = "--full" in output
        assert found["pairs"] == len(expected) // (1 if full else 2)
        assert found["list"]["full"] == full
        spread = found["neighbours"]
        assert (spread["least"], spread["most"]) == (min(neighbours), max(neighbours))
        assert abs(spread["mean"] - sum(neighbours) / 150) < 1e-12
        assert sum(bin["particles"] for bin in spread["histogram"]) == 150
        for bar in spread["histogram"]:
            inside = sum(bar["from"] <= n <= bar["to"] for n in neighbours)
            assert inside == bar["particles"], bar
        if output:
            assert found["output"] == {"path": "x.npy", "bytes": os.path.getsize("x.npy")}
        else:
            assert found["output"] is None


def test_long_tail_histogram():
    # 200 coincident points among 2000 that are alone: bins that double in width.
    points = [(0, 0, 0)] * 200 + [(10 * k, 0, 0) for k in range(1, 2001)]
    cli.write_npy("a.npy", points)
    bars = cli.report("pairs", "a.npy", "--cutoff", "1")["neighbours"]["histogram"]
    assert bars[0] == {"from": 0, "to": 0, "particles": 2000}
    assert bars[-1] == {"from": 128, "to": 255, "particles": 200}
    assert [bar["from"] for bar in bars] == [0, 1, 2, 4, 8, 16, 32, 64, 128]


def test_long_box_is_wrapped():
    """A box of many digits goes on in lines of its own; no digit is lost."""
    cli.ok("make", "uniform", "300", "-o", "b.xyz", "-q")
    long = "-0.12345678901234567e-5"
    rows = f"1.23456789012345,0,0,{long},1.3456789012345,0,{long},{long},1.4567890123456789"
    for words in (["rdf"], ["debye", "--elements", "X=O", "--q-max", "20"], ["fof"],
                  ["pairs", "--cutoff", "0.1"]):
        text = cli.ok(*words, "b.xyz", f"--box={rows}", f"--origin={long},{long},{long}")
        lines = text.splitlines()
        first = next(k for k, line in enumerate(lines) if line.startswith("  box "))
        more = next(k for k in range(first + 1, 99) if lines[k][2] != " ")
        assert max(map(len, lines[first:more])) <= 80, text
        told = " ".join(line[14:] for line in lines[first:more])
        value = "-1.2345678901234567e-06"
        assert told == (f"(1.23456789012345, 0, 0) ({value}, 1.3456789012345, 0) ({value}, {value},"
                        f" 1.4567890123456788) from ({value}, {value}, {value}), periodic xyz "
                        "(from --box)"), told
    with open("a.xyz", "w", encoding="ascii") as file:
        file.write(f'1\nLattice="{rows.replace(",", " ")}"\nO 0 0 0\n')
    assert max(map(len, cli.ok("info", "a.xyz").splitlines())) <= 80


def test_box_is_told():
    found = cli.report("pairs", made(), "--cutoff", "0.01", "--box", "1,2,3", "--periodic", "xy")
    assert found["box"]["source"] == "option"
    assert found["box"]["rows"] == [[1, 0, 0], [0, 2, 0], [0, 0, 3]]
    assert found["box"]["periodic"] == [True, True, False]
    found = cli.report("pairs", "a.npy", "--cutoff", "0.01", "--box", "4,5,6,1,0.5,0.25")
    assert found["box"]["rows"] == [[4, 0, 0], [1, 5, 0], [0.5, 0.25, 6]]
    assert cli.report("pairs", "a.npy", "--cutoff", "0.01")["box"]["source"] == "none"
    assert "open space" in cli.ok("pairs", "a.npy", "--cutoff", "0.01")
    text = cli.ok("pairs", "a.npy", "--cutoff", "0.01", "--box", "1", "--origin", "-0.5,0,0")
    assert "1 x 1 x 1 from (-0.5, 0, 0), periodic xyz (from --box)" in text
    cli.ok("make", "uniform", "20", "--box", "7", "-o", "b.xyz", "-q")
    found = cli.report("pairs", "b.xyz", "--cutoff", "0.01")["box"]
    assert found["source"] == "file" and found["rows"][0] == [7, 0, 0]


def test_text():
    text = cli.ok("pairs", made(), "--cutoff", "0.02", "--box", "1")
    for word in ("particles", "box", "cutoff", "pairs", "neighbours", "search", "memory"):
        assert f"\n  {word} " in text, word
    assert "\033" not in text
    assert max(len(line) for line in text.splitlines()) <= 80
    plain = cli.ok("pairs", "a.npy", "--cutoff", "0.02", "--box", "1",
                   env=dict(os.environ, LC_ALL="C"))
    assert plain.isascii() and "###" in plain


def test_quiet_and_count():
    cli.fails(2, "pairs", made(), "--cutoff", "0.02", "-q", says=["--quiet", "-o FILE"])
    count = cli.ok("pairs", "a.npy", "--cutoff", "0.02", "--count", "-q")
    assert int(count) == cli.report("pairs", "a.npy", "--cutoff", "0.02")["pairs"]
    found = cli.report("pairs", "a.npy", "--cutoff", "0.02", "--count")
    assert found["pairs"] == int(count) and found["neighbours"] is None


def test_memory_is_of_kith_alone():
    # A process started by a large one inherits the largest ru_maxrss across fork and exec.
    program = ("import os, sys\nlarge = bytearray(b'x') * 300_000_000\n"
               "if os.fork() == 0:\n    os.execv(sys.argv[1], sys.argv[1:])\n"
               "sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))\n")
    done = subprocess.run([sys.executable, "-c", program, cli.KITH, "pairs", made(), "--cutoff",
                           "0.02", "--threads", "1", "--json"], stdout=subprocess.PIPE, check=True)
    peak = json.loads(done.stdout)["memory"]["peak_bytes"]
    assert 1e6 < peak < 100e6, peak


def on_terminal(*arguments, **environment):
    """Run kith with standard output on a terminal; return what it shows."""
    reader, writer = pty.openpty()
    environment = dict({k: v for k, v in os.environ.items() if k != "NO_COLOR"}, TERM="xterm",
                       **environment)
    with subprocess.Popen([cli.KITH, *arguments], stdout=writer, env=environment) as process:
        os.close(writer)
        shown = b""
        while True:
            try:
                part = os.read(reader, 65536)
            except OSError:  # how a pty says that nobody writes any more
                break
            if not part:
                break
            shown += part
    os.close(reader)
    assert process.returncode == 0
    return shown


def test_colour_only_on_a_terminal():
    arguments = ("pairs", made(), "--cutoff", "0.02")
    assert b"\033[1m" in on_terminal(*arguments)
    assert b"\033" not in on_terminal(*arguments, NO_COLOR="1")


sys.exit(cli.main(globals()))
