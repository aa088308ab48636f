# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of kith flock share: runs, and what they leave."""
import struct

START = ("flock", "--boids", "300", "--box", "20", "--seed", "4", "--threads", "1")
RUN = (*START, "--steps", "40", "--predator", "1,1,1,2,0.5,6", "--sphere", "10,10,10,3,0.2,1",
       "--point", "5,5,5,0.05,0", "--wall", "0,0,1,0,0,1,0.1,2", "--model", "vectorial",
       "--noise", "0.2", "--record-every", "4", "--measure-every", "5")


def read(path):
    with open(path, "rb") as file:
        return file.read()


def frames(path):
    """Frames of extended XYZ: a list of (step, rows of six numbers)."""
    found = []
    with open(path, encoding="ascii") as file:
        for line in file:
            comment = next(file)
            step = int(comment.split("step=")[1].split()[0])
            found.append((step, [tuple(map(float, next(file).split()[1:]))
                                 for _ in range(int(line))]))
    return found


def gsd_chunks(path):
    """Chunks of a GSD file as its documentation has them: {(frame, name): tuple of numbers}."""
    data = read(path)
    magic, index, entries, names, blocks, schema, version = struct.unpack_from("<5Q2I", data)
    assert (magic, schema, version) == (0x65DF65DF65DF65DF, 0x10004, 0x20000)
    assert data[112:118] == b"hoomd\0"
    name = data[names:names + 64 * blocks].rstrip(b"\0").decode().split("\0")
    kinds = {1: "B", 3: "I", 4: "Q", 9: "f", 10: "d"}
    found, order = {}, []
    for k in range(entries):
        frame, n, at, m, number, kind, _ = struct.unpack_from("<QQqIHBB", data, index + 32 * k)
        if at == 0:
            break
        order.append((frame, number))
        found[frame, name[number]] = struct.unpack_from(f"<{n * m}{kinds[kind]}", data, at)
    assert order == sorted(order) and len(set(order)) == len(order)
    return found
