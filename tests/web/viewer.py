# SPDX-License-Identifier: BSD-3-Clause
"""A viewer without a browser: kith with a live view, its messages, requests of every kind."""
import http.client
import json
import os
import re
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import cli  # noqa: E402  pylint: disable=wrong-import-position,unused-import

STATE, POINTS, CURVES, GROUPS, PLOT, THINGS, PARTICLE = 1, 2, 3, 4, 5, 6, 7
HEAD = struct.Struct("<3d2I2f2I12f2I")


class Served:
    """kith running with a live view; .host, .port and .token of its address."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([cli.KITH, *map(str, arguments)], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.lines = []
        found = None
        while not found:
            line = self.process.stdout.readline()
            assert line, self.process.stderr.read()
            self.lines.append(line)
            found = re.search(r"http://(\[[\da-f:]+\]|[\w.-]+):(\d+)/([0-9a-f]{32})/", line)
        self.address, self.host = found.group(0), found.group(1).strip("[]")
        self.port, self.token = int(found.group(2)), found.group(3)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if self.process.poll() is None:
            self.end()
        self.process.stdout.close()
        self.process.stderr.close()

    def end(self, number=signal.SIGINT):
        """Stop it by a signal. @return its exit status"""
        self.process.send_signal(number)
        self.process.stdout.read()
        return self.process.wait(30)

    def request(self, method, path, body=None, token=None, **headers):
        """@return status, body"""
        link = http.client.HTTPConnection(self.host, self.port, timeout=20)
        try:
            link.request(method, f"/{self.token if token is None else token}/{path}", body,
                         {k.replace("_", "-"): v for k, v in headers.items()})
            answer = link.getresponse()
            return answer.status, answer.read()
        finally:
            link.close()

    def send(self, **command):
        status, said = self.request("POST", "control", json.dumps(command),
                                    Content_Type="application/json")
        assert status == 200, (status, said)

    def memory(self):
        """Bytes that it uses."""
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Viewer:
    """One who watches. .newest has the last message of each channel, .versions their numbers."""

    def __init__(self, served, window=0, points=0, client=1):
        self.link = http.client.HTTPConnection(served.host, served.port, timeout=20)
        self.link.request("GET", f"/{served.token}/frames?client={client}&window={window}"
                                 f"&points={points}")
        self.answer = self.link.getresponse()
        self.status = self.answer.status
        self.newest, self.versions, self.ended = {}, {}, False

    def read(self):
        """Take a message. @return its channel; None at the end"""
        head = self.answer.read(16)
        if len(head) < 16:
            self.ended = True
            return None
        magic, channel, size, version = struct.unpack("<4I", head)
        assert magic == 0x3156574b, hex(magic)
        body = self.answer.read(size)
        assert len(body) == size
        if channel:
            assert version > self.versions.get(channel, 0), (channel, version)
            self.versions[channel] = version
            self.newest[channel] = body if channel in (POINTS, CURVES) else json.loads(body)
        return channel

    def until(self, holds, seconds=20):
        """Read until holds(self). @return self"""
        end = time.monotonic() + seconds
        while not holds(self):
            assert self.read() is not None, "the stream ended"
            assert time.monotonic() < end, "it does not come"
        return self

    @property
    def state(self):
        return self.newest.get(STATE, {})

    @property
    def head(self):
        """The numbers before the points."""
        if POINTS not in self.newest:
            return {"step": -1, "frame": -1, "epoch": -1, "colour": -1}
        v = HEAD.unpack(self.newest[POINTS][:HEAD.size])
        return {"step": v[0], "time": v[1], "all": v[2], "item": v[3], "colour": v[4],
                "range": v[5:7], "dim": v[7], "periodic": v[8], "origin": v[9:12],
                "rows": (v[12:15], v[15:18], v[18:21]), "frame": v[21], "epoch": v[22]}

    def points(self):
        """A list of ((x, y, z), colour), the box upright."""
        h, data = self.head, self.newest[POINTS][112:]
        form = {8: "<4H", 10: "<5H", 16: "<3f2H"}[h["item"]]
        scale = 65536 if h["item"] < 16 else 1
        return [(tuple(h["origin"][k] + p[k] / scale * h["rows"][k][k] for k in range(3)), p[3])
                for p in struct.iter_unpack(form, data)]

    def close(self):
        self.answer.close()
        self.link.close()
