# SPDX-License-Identifier: BSD-3-Clause
"""Progress on a terminal; Ctrl-C during a long write leaves nothing behind."""
import contextlib
import os
import pty
import signal
import subprocess
import sys
import time

import cli

# About 3 * 10^7 pairs, 1.3 GB with all extras, more as text: counted at once, written in seconds.
LONG = ("--cutoff", "0.25", "--box", "1", "--threads", "1")
EXTRAS = ("--distances", "--vectors", "--shifts")


@contextlib.contextmanager
def started(*arguments, n="30k", **options):
    """Run kith on a long job; whatever happens, it does not outlive the block."""
    cli.ok("make", "uniform", n, "-o", "a.npy", "-q")
    command = [cli.KITH, "pairs", "a.npy", *LONG, *arguments]
    with subprocess.Popen(command, **options) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for(condition):
    for _ in range(2000):
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("nothing happened for 40 s")


def parts():
    return [name for name in os.listdir() if name.endswith(".part")]


def test_signals_leave_nothing():
    for number, output in ((signal.SIGINT, "x.txt"), (signal.SIGTERM, "x.npy"),
                           (signal.SIGHUP, "x.txt")):
        with started("-o", output, *EXTRAS, stderr=subprocess.PIPE, text=True) as process:
            wait_for(lambda: parts() and os.path.getsize(parts()[0]) > 0)
            process.send_signal(number)
            _, message = process.communicate(timeout=30)
        assert process.returncode == 130, process.returncode
        assert message == f"kith: interrupted; {output} was not written\n", message
        assert os.listdir() == ["a.npy"], os.listdir()


def test_an_earlier_file_stays():
    with open("x.txt", "wb") as file:
        file.write(b"earlier")
    with started("-o", "x.txt", *EXTRAS, stderr=subprocess.DEVNULL) as process:
        wait_for(parts)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30)
    assert process.returncode == 130
    with open("x.txt", "rb") as file:
        assert file.read() == b"earlier"
    assert sorted(os.listdir()) == ["a.npy", "x.txt"]


def test_counting_can_be_interrupted():
    with started("--json", n="1M", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                 text=True) as process:
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, message = process.communicate(timeout=30)
    assert (process.returncode, out, message) == (130, "", "kith: interrupted\n")


def test_bar_on_a_terminal():
    reader, writer = pty.openpty()
    terminal = {"stderr": writer, "env": dict(os.environ, TERM="xterm")}
    words = (b"\rwriting", b" %", b"pairs/s", b" left")
    with started("-o", "x.txt", *EXTRAS, **terminal) as process:
        os.close(writer)
        shown = b""
        # The terminal hands a bar over in parts, and the first bars, while the pairs are being
        # counted, have no rate yet.
        while not all(word in shown for word in words) and len(shown) < 100000:
            shown += os.read(reader, 4096)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30)
    os.close(reader)
    assert all(word in shown for word in words), shown
    assert process.returncode == 130 and not parts()


sys.exit(cli.main(globals()))
