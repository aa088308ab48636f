# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the command share: running it, small files, a brute-force list of pairs."""
import ast
import json
import os
import struct
import subprocess
import sys
import tempfile
import traceback

import needs
from needs import Skip

KITH = os.environ["KITH_COMMAND"]
SLOW = 10 if "GCOV_ERROR_FILE" in os.environ else 1  # a build that counts branches is not optimised
DEEP = "KITH_TEST_DEEP" in os.environ  # run the long forms of the tests: `make deep`

# By the names of --radii-rule: the largest distance of a pair of particles with radii h and k.
RADIUS_RULES = {"gather": lambda h, k: h, "scatter": lambda h, k: k, "either": max, "both": min,
                "sum": lambda h, k: h + k}


def run(*arguments, **options):
    """Run kith; return the finished process with .returncode, .stdout, .stderr."""
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    options.setdefault("timeout", 60 * SLOW)
    return subprocess.run([KITH, *map(str, arguments)], text=True, check=False, **options)


def ok(*arguments, **options):
    """Run kith, which must succeed and say nothing on stderr; return what it printed."""
    done = run(*arguments, **options)
    assert done.returncode == 0, f"kith {arguments}: exit {done.returncode}: {done.stderr}"
    assert done.stderr == "", f"kith {arguments}: stderr: {done.stderr}"
    return done.stdout


def fails(status, *arguments, says=(), **options):
    """Run kith, which must end with this status and one message that holds the words of `says`."""
    done = run(*arguments, **options)
    where = f"kith {' '.join(map(str, arguments))}: exit {done.returncode}, stderr: {done.stderr!r}"
    assert done.returncode == status, f"expected exit {status}; {where}"
    assert done.stderr.startswith("kith"), where
    for word in says:
        assert word in done.stderr, f"expected {word!r}; {where}"
    return done


def report(*arguments):
    """Run kith with --json; return the parsed report."""
    return json.loads(ok(*arguments, "--json"))


def npy_head(shape, descr="<f8", fortran=False):
    """Return the head of an .npy array."""
    text = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def write_npy_array(path, shape, numbers, kind="d"):
    """Write numbers as an .npy array of a shape; kind: d (double), f (float), i or q (integers of
    4 and 8 bytes)."""
    with open(path, "wb") as file:
        file.write(npy_head(shape, {"d": "<f8", "f": "<f4", "i": "<i4", "q": "<i8"}[kind]))
        file.write(struct.pack(f"<{len(numbers)}{kind}", *numbers))


def write_npy(path, points, kind="d"):
    """Write points as .npy [n][3]."""
    write_npy_array(path, (len(points), 3), [x for point in points for x in point], kind)


def read_npy(path):
    """Read an .npy file; return its header and its data's bytes."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:6] == b"\x93NUMPY", path
    wide = data[6] > 1
    length = struct.unpack("<I" if wide else "<H", data[8:12 if wide else 10])[0]
    start = (12 if wide else 10) + length
    return ast.literal_eval(data[start - length:start].decode()), data[start:]


def read_points(path):
    """Read doubles [n][3]."""
    header, data = read_npy(path)
    assert header["descr"] == "<f8" and not header["fortran_order"], header
    values = struct.unpack(f"<{len(data) // 8}d", data)
    return list(zip(values[0::3], values[1::3], values[2::3]))


def listed(path, *arguments):
    """Return the (i, j, S) of the list that `kith pairs` writes; each is there once."""
    ok("pairs", path, "--shifts", "-o", "out.txt", "-q", *arguments)
    with open("out.txt", encoding="ascii") as file:
        rows = [tuple(map(int, line.split())) for line in file if line[0] != "#"]
    assert len(set(rows)) == len(rows)
    return {(r[0], r[1], r[2:]) for r in rows}


def brute_force(a, cutoff, side=None, full=False, b=None):
    """All pairs of doubles by the definition: set of (i, j, S), with their r2 and vectors.

    side: of a cubic periodic box that the points lie in; cutoff at most side."""
    reach = range(-1, 2) if side else range(1)
    images = [(sa, sb, sc) for sa in reach for sb in reach for sc in reach]
    shift = side or 0.0
    found = {}
    for i, p in enumerate(a):
        for j, q in enumerate(b if b is not None else a):
            for s in images:
                d = tuple((q[k] - p[k]) + s[k] * shift for k in range(3))
                r2 = (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2]
                if r2 <= cutoff * cutoff and wanted(i, j, s, full or b is not None, b is None):
                    found[(i, j, s)] = (r2, d)
    return found


def wanted(i, j, s, full, one_set):
    """Whether the list holds (i, j, s)."""
    if one_set and i == j and s == (0, 0, 0):
        return False
    if full or i < j:
        return True
    last = [v for v in s if v != 0][-1:]
    return i == j and last[0] > 0


def snapshot_modules():
    """h5py, NumPy and what makes snapshots; skips without them or without HDF5 in kith."""
    h5py, numpy = needs.module("h5py"), needs.module("numpy")
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "io"))
    snapshots = needs.module("snapshots")
    write_npy("try.npy", [(0, 0, 0)])
    needs.built(run("pairs", "try.npy", "--cutoff", "0.1", "-o", "try.h5"))
    return h5py, numpy, snapshots


def main(names):
    """Run every test_* function, each in an empty folder."""
    skipped = failed = 0
    tests = [(n, f) for n, f in sorted(names.items()) if n.startswith("test_") and callable(f)]
    for name, test in tests:
        with tempfile.TemporaryDirectory(prefix="kith-") as folder:
            os.chdir(folder)
            try:
                test()
            except Skip as reason:
                print(f"{name}: skipped: {reason}")
                skipped += 1
            except Exception:  # noqa: every failure of a case is shown, and the next case run
                print(f"{name}: failed", file=sys.stderr)
                traceback.print_exc()
                failed += 1
            os.chdir("/")
    if failed:
        return 1
    return needs.SKIPPED if skipped == len(tests) else 0
