# SPDX-License-Identifier: BSD-3-Clause
"""What kith pairs says: for people and for scripts."""
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
    assert cli.ok("pairs", made(), "--cutoff", "0.02", "-q") == ""
    count = cli.ok("pairs", "a.npy", "--cutoff", "0.02", "--count")
    assert int(count) == cli.report("pairs", "a.npy", "--cutoff", "0.02")["pairs"]
    found = cli.report("pairs", "a.npy", "--cutoff", "0.02", "--count")
    assert found["pairs"] == int(count) and found["neighbours"] is None


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
