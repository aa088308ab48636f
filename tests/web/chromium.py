# SPDX-License-Identifier: BSD-3-Clause
"""Headless Chromium, driven through its DevTools protocol by Python's standard library alone."""
import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request

FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu-sandbox", "--use-gl=angle",
         "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--mute-audio",
         "--no-first-run", "--no-default-browser-check", "--disable-extensions",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-dev-shm-usage", "--remote-debugging-port=0"]


def find():
    """The path of Chromium; None without."""
    return os.environ.get("KITH_CHROMIUM") or shutil.which("chromium") or shutil.which(
        "chromium-browser") or shutil.which("google-chrome")


class Socket:
    """A web socket: text both ways, no extensions."""

    def __init__(self, address):
        host, path = address.split("://")[1].split("/", 1)
        self.raw = socket.create_connection(tuple(host.split(":")), timeout=30)
        key = base64.b64encode(os.urandom(16)).decode()
        self.raw.sendall(f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\n"
                         f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
                         "Sec-WebSocket-Version: 13\r\n\r\n".encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.raw.recv(1)
        assert b" 101 " in head.split(b"\r\n")[0], head

    def send(self, text):
        data, mask = text.encode(), os.urandom(4)
        size = struct.pack("!B", 0x80 | len(data)) if len(data) < 126 else struct.pack(
            "!BH", 0xFE, len(data)) if len(data) < 65536 else struct.pack("!BQ", 0xFF, len(data))
        masked = bytes(b ^ mask[k % 4] for k, b in enumerate(data))
        self.raw.sendall(b"\x81" + size + mask + masked)

    def exactly(self, size):
        parts, left = [], size
        while left:
            part = self.raw.recv(left)
            assert part, "Chromium went away"
            parts.append(part)
            left -= len(part)
        return b"".join(parts)

    def receive(self):
        text = b""
        while True:
            first, size = self.exactly(2)
            if size == 126:
                size = struct.unpack("!H", self.exactly(2))[0]
            elif size == 127:
                size = struct.unpack("!Q", self.exactly(8))[0]
            data = self.exactly(size)
            if first & 15 in (0, 1):
                text += data
                if first & 128:
                    return text.decode()


class Browser:
    """One page. Errors of its console gather in .errors."""

    def __init__(self, width=1280, height=800):
        self.folder = tempfile.mkdtemp(prefix="kith-chromium-")
        self.process = subprocess.Popen(
            [find(), *FLAGS, f"--window-size={width},{height}", f"--user-data-dir={self.folder}",
             "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True)
        port = os.path.join(self.folder, "DevToolsActivePort")
        end = time.monotonic() + 30
        while not (os.path.exists(port) and open(port, encoding="ascii").read().count("\n")):
            assert time.monotonic() < end and self.process.poll() is None, "Chromium did not start"
            time.sleep(0.05)
        number = open(port, encoding="ascii").read().split("\n")[0]
        with urllib.request.urlopen(f"http://127.0.0.1:{number}/json/list", timeout=30) as answer:
            pages = [p for p in json.load(answer) if p["type"] == "page"]
        self.port = int(number)
        self.attach(pages[0]["webSocketDebuggerUrl"])

    def attach(self, address):
        self.socket = Socket(address)
        self.number = 0
        self.errors = []
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def tab(self, address):
        """Open a tab in front of the others. @return one who drives it"""
        other = Browser.__new__(Browser)
        identity = self.call("Target.createTarget", url=address)["targetId"]
        other.attach(f"ws://127.0.0.1:{self.port}/devtools/page/{identity}")
        other.identity = identity
        return other

    def note(self, message):
        method, p = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.errors.append(str(p["exceptionDetails"])[:2000])
        elif method == "Log.entryAdded" and p["entry"]["level"] == "error":
            if "/frames?" not in p["entry"].get("url", ""):  # a stream that is lost comes back
                self.errors.append(str(p["entry"])[:2000])
        elif method == "Runtime.consoleAPICalled" and p["type"] in ("error", "assert"):
            self.errors.append(str(p["args"])[:2000])

    def call(self, method, **parameters):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.receive())
            if message.get("id") == self.number:
                assert "error" not in message, (method, message["error"])
                return message["result"]
            self.note(message)

    def size(self, width, height, scale=1, mobile=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=scale, mobile=mobile)
        self.call("Emulation.setTouchEmulationEnabled", enabled=mobile)

    def prefer(self, **features):
        """Set what the user prefers: prefer(color_scheme="light"); nothing again without."""
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-" + name.replace("_", "-"), "value": value}
                            for name, value in features.items()])

    def open(self, address):
        self.call("Page.navigate", url=address)

    def js(self, text):
        result = self.call("Runtime.evaluate", expression=text, returnByValue=True,
                           awaitPromise=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def until(self, text, seconds=40):
        """Wait until the expression is true, and return it."""
        end = time.monotonic() + seconds
        while True:
            value = self.js(f"document.body && ({text})")
            if value:
                return value
            assert time.monotonic() < end, f"never true: {text}; {self.errors}"
            time.sleep(0.05)

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def key(self, key, text=None):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key,
                      **({"text": text} if text and kind == "keyDown" else {}))

    def drag(self, *places):
        """Press the mouse at the first place, move it to the others, let go. One place: a click"""
        moves = [("mouseMoved", place) for place in places]
        for kind, (x, y) in [("mousePressed", places[0]), *moves, ("mouseReleased", places[-1])]:
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, clickCount=1, button="left",
                      buttons=0 if kind == "mouseReleased" else 1)

    def close(self):
        try:
            self.call("Browser.close")
        except (AssertionError, OSError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
