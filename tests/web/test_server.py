# SPDX-License-Identifier: BSD-3-Clause
"""kith flock --view: who may ask, what is shown and steered, and nothing that stops the flight."""
import os
import random
import re
import signal
import socket
import struct
import sys
import time

import needs
import viewer
from viewer import CURVES, POINTS, THINGS, Served, Viewer, cli

N, SIDE = 200, 15
START = ("flock", "--boids", N, "--box", SIDE, "--seed", "4", "--threads", "1")
BRIEF = os.environ.get("KITH_TEST_BRIEF")


def test_token_origin_and_host():
    with Served(*START, "--view") as run:
        wrong = [run.token[:-1] + ("0" if run.token[-1] != "0" else "1"), "0" * 32, run.token[:-1],
                 run.token + "0", "", run.token.upper() if not run.token.isdigit() else "x" * 32]
        paths = [("GET", ""), ("GET", "view.js"), ("GET", "frames"), ("POST", "control"),
                 ("POST", "seen")]
        for method, path in paths:
            for token in wrong:
                status, said = run.request(method, path, token=token)
                assert status == 403 and run.token.encode() not in said, (method, path, token)
            for origin in ("http://evil.example", "null", f"http://127.0.0.1:{run.port + 1}", "",
                           f"http://127.0.0.1:{run.port}.evil.example"):
                assert run.request(method, path, Origin=origin)[0] == 403, (method, path, origin)
            for host in ("evil.example", f"evil.example:{run.port}", "127.0.0.1.evil.example", ""):
                assert run.request(method, path, Host=host)[0] == 403, (method, path, host)
        status, _ = run.request("POST", "control", '{"pause": true}', token=wrong[0],
                                Content_Type="application/json")
        assert status == 403
        watch = Viewer(run).until(lambda w: w.state and w.head["step"] > 0)
        assert watch.state["paused"] is False
        watch.close()
        own = f"http://127.0.0.1:{run.port}"
        assert run.request("GET", "", Origin=own)[0] == 200
        assert run.request("GET", "", Host="localhost:9", Origin="http://localhost:9")[0] == 200
        assert run.request("OPTIONS", "control")[0] == 405
        assert run.request("GET", "../etc/passwd")[0] in (403, 404)
        assert run.request("GET", "nothing.js")[0] == 404
        assert run.end() == 0


def test_page_is_small_and_whole():
    with Served(*START, "--view") as run:
        status, page = run.request("GET", "")
        size = len(page)
        names = re.findall(r'(?:src|href)="([^"]+)"', page.decode())
        assert status == 200 and len(names) >= 5, names
        for name in names:
            status, part = run.request("GET", name)
            assert status == 200 and part, name
            assert b"http://" not in part.replace(b"http://www.w3.org/2000/svg", b""), name
            assert b"https://" not in part, name
            size += len(part)
        assert size <= 140000, size  # with its comments


def test_points_are_the_flock():
    cli.ok(*START, "--steps", "3", "-o", "a.xyz", "--record-every", "3", "-q")
    with open("a.xyz", encoding="ascii") as file:
        lines = file.read().splitlines()
    rows = [tuple(map(float, line.split()[1:])) for line in lines[N + 4:2 * N + 4]]
    with Served(*START, "--view") as run:
        run.send(pause=True)
        run.send(reset=4)
        run.send(step=3)
        watch = Viewer(run).until(
            lambda w: w.head["step"] == 3 and w.state["paused"] and w.head["epoch"] == 1)
        found, head = watch.points(), watch.head
        assert (head["all"], head["item"], head["dim"], head["periodic"]) == (N, 8, 3, 7), head
        assert len(found) == N
        where = {tuple(int(x / SIDE * 65536 + 1e-6) for x in row[:3]): row for row in rows}
        missed = 0
        for place, colour in found:
            cell = tuple(round(x / SIDE * 65536) for x in place)
            row = where.get(cell)
            missed += row is None      # text has fewer digits: some lie on an edge
            if row:
                x, y = (colour & 255) / 127.5 - 1, (colour >> 8) / 127.5 - 1
                d = [x, y, 1 - abs(x) - abs(y)]
                if d[2] < 0:
                    d[:2] = [(1 - abs(y)) * (1 if x >= 0 else -1),
                             (1 - abs(x)) * (1 if y >= 0 else -1)]
                size = sum(e * e for e in d) ** 0.5 * sum(e * e for e in row[3:]) ** 0.5
                assert sum(d[k] * row[3 + k] for k in range(3)) / size > 0.999, (d, row)
        assert missed < 10, missed
        few = Viewer(run, points=100).until(lambda w: w.head["step"] == 3)
        assert few.points() == found[:100]
        few.close()
        watch.close()


def test_steering():
    with Served(*START, "--view") as run:
        run.send(limit=0)
        watch = Viewer(run).until(lambda w: w.head["step"] > 3 and CURVES in w.newest)
        run.send(pause=True)
        first = watch.until(lambda w: w.state["paused"] and w.state["rate"] == 0 and
                            w.state["step"] == w.head["step"]).head["step"]
        run.send(step=2)
        watch.until(lambda w: w.head["step"] == first + 2)
        run.send(step=5)
        watch.until(lambda w: w.head["step"] == first + 7)
        run.send(set={"separation.radius": 1.5, "max_speed": 0.5})
        rules = {r["name"]: r["value"] for r in watch.until(lambda w: any(
            r["value"] == 1.5 for r in w.state["rules"])).state["rules"]}
        assert rules["max_speed"] == 0.5 and rules["alignment.radius"] == 5
        for wrong in ({"noise": 2}, {"nonsense": 1}, {"max_speed": -1}, {"time_step": 0},
                      {"separation.radius": 1e300}, {"nearest": 2.5}, {"max_speed": "fast"},
                      {"time_step": 1e6}, {"model": 7}):
            run.send(set=wrong)
            said = watch.until(lambda w: w.state["message"]).state
            assert {r["name"]: r["value"] for r in said["rules"]} == rules, (wrong, said)
            run.send(colour="heading")
            watch.until(lambda w: not w.state["message"])
        run.send(set={"model": 1, "noise": 0.0, "alignment.radius": 6, "max_speed": 1})
        run.send(pause=False)
        ordered = struct.Struct("<7f")
        watch.until(lambda w: ordered.unpack(w.newest[CURVES][-28:])[1] > 0.9)
        for colour, number in (("speed", 1), ("group", 3), ("plain", 0), ("heading", 2)):
            run.send(colour=colour)
            watch.until(lambda w, n=number: w.head["colour"] == n)
        run.send(reset=9)
        watch.until(lambda w: w.state["seed"] == "9" and w.head["epoch"] == 1)
        assert run.end() == 0


def test_sliders_fit_each_other():
    """Values within the ends of sliders are never refused; 0 is named where it means no limit."""
    with Served(*START, "--view", "--min-speed", "0.35") as run:
        rules = {r["name"]: r for r in Viewer(run).until(lambda w: w.state).state["rules"]}
        assert rules["min_speed"]["max"] == 1 and abs(rules["max_speed"]["min"] - 0.35) < 1e-9
        assert rules["max_speed"]["zero"] == "no limit" and rules["nearest"]["zero"] == "all"
        assert rules["cohesion.radius"]["max"] == SIDE / 2 and rules["time_step"]["min"] > 0
        for name in ("min_speed", "max_speed", "time_step", "cohesion.radius"):
            for end in ("min", "max"):
                run.send(set={name: rules[name][end]})
                watch = Viewer(run).until(lambda w, n=name, e=end: any(
                    r["name"] == n and abs(r["value"] - rules[n][e]) < 1e-9
                    for r in w.state.get("rules", ())))
                assert not watch.state["message"], (name, end, watch.state["message"])
                watch.close()
            run.send(set={name: rules[name]["value"]})


def test_a_run_that_leaves_the_numbers_goes_on():
    with Served(*START, "--view") as run:
        run.send(limit=0)
        run.send(set={"max_speed": 0})
        run.send(set={"alignment.weight": 20})
        watch = Viewer(run).until(lambda w: w.state and w.state["held"])
        step, said = watch.state["step"], watch.state["message"]
        assert watch.state["paused"] and step > 0
        assert f"step {step}:" in said and "alignment weight" in said and "most speed" in said, said
        run.send(pause=False)                          # nothing was changed: held once more
        watch.until(lambda w: w.state["paused"] and w.state["held"])
        assert watch.state["step"] == step
        run.send(set={"alignment.weight": 0.1, "max_speed": 1})
        run.send(pause=False)
        watch.until(lambda w: w.state["step"] > step + 3)
        assert not watch.state["held"] and not watch.state["message"] and not watch.state["paused"]
        assert run.end() == 0


def test_seeds():
    with Served(*START, "--view") as run:
        watch = Viewer(run)
        for wrong in (-1, 1.5, "x", "", "1.5", "-3", str(2 ** 64), None, [], True):
            run.send(reset=wrong)
            watch.until(lambda w: "seed" in w.state.get("message", ""))
            assert watch.state["seed"] == "4"
            run.send(colour="heading")
            watch.until(lambda w: not w.state["message"])
        run.send(reset=str(2 ** 64 - 1))
        watch.until(lambda w: w.state["seed"] == str(2 ** 64 - 1) and w.head["epoch"] == 1)


def test_presets():
    """A viewer begins another flock, in another box; runs that are bound to theirs refuse."""
    with Served(*START, "--view", "--sphere", "3,3,3,1,0,0") as run:
        watch = Viewer(run).until(lambda w: w.state and w.head["step"] > 0)
        assert "bands" in watch.state["presets"] and watch.head["dim"] == 3
        run.send(preset="nothing")
        watch.until(lambda w: "nothing" in w.state["message"])
        run.send(pause=True)
        for name, n, dim, side, kinds in (("bands", 16200, 2, 90, []),
                                          ("mill", 2500, 3, 60, ["point"])):
            run.send(preset=name)
            watch.until(lambda w, n=n: w.state["particles"] == n and w.head["all"] == n)
            assert watch.state["title"] == f"kith flock: {name}"
            assert watch.head["dim"] == dim and watch.head["rows"][0][0] == side, watch.head
            assert watch.head["origin"][:2] == (-side / 2, -side / 2)
            watch.until(lambda w, kinds=kinds: [
                t["kind"] for t in w.newest[THINGS]["things"]] == kinds)
        rules = {r["name"]: r["value"] for r in watch.state["rules"]}
        assert rules["alignment.radius"] == 2.5 and rules["max_speed"] == 1
        run.send(pause=False)
        watch.until(lambda w: w.head["step"] > 2)
    with Served(*START, "--view", "--at", "9:noise=0") as run:
        watch = Viewer(run).until(lambda w: w.state)
        assert watch.state["presets"] == []
        run.send(preset="mill")
        watch.until(lambda w: "no preset" in w.state["message"])


def test_things():
    """A thing that a viewer adds acts as one that was given; predators are seen to move."""
    hunted = (*START, "--view", "--predator", "1,2,3,1,0.5,4")
    with Served(*hunted) as run:
        watch = Viewer(run).until(lambda w: w.newest.get(THINGS))
        first = watch.newest[THINGS]["things"]
        assert [t["kind"] for t in first] == ["predator"] and first[0]["reach"] == 4
        watch.until(lambda w: w.newest[THINGS]["things"][0]["place"] != first[0]["place"])
        run.send(pause=True)
        run.send(reset=4)
        watch.until(lambda w: w.newest[THINGS]["things"][0]["place"] == [1, 2, 3])
        run.send(step=1)
        watch.until(lambda w: w.head["step"] == 1)
        run.send(thing={"add": {"kind": "sphere", "place": [7, 8, 9]}})
        run.send(thing={"add": {"kind": "wall", "place": [1, 8, 9]}})
        run.send(thing={"add": {"kind": "point", "place": [1, 99, 9]}})
        watch.until(lambda w: len(w.newest[THINGS]["things"]) == 4)
        things = watch.newest[THINGS]["things"]
        assert things[1]["place"] == [7, 8, 9]
        assert things[2]["normal"] == [1, 0, 0] and things[3]["place"] == [1, 0, 9]
        run.send(thing={"remove": 2})
        run.send(thing={"move": 1, "place": [6, 8, 9]})
        watch.until(lambda w: w.newest[THINGS]["things"][1]["place"] == [6, 8, 9])
        for wrong in ({"remove": 3}, {"remove": -1}, {"move": 9, "place": [1, 1, 1]}, {"move": "x"},
                      {"add": {"kind": "tree", "place": [1, 1, 1]}}, {}, 7,
                      {"add": {"kind": "point", "place": [1, 1]}}, {"add": {"kind": "point"}}):
            run.send(thing=wrong)
            watch.until(lambda w: w.state["message"])
            run.send(colour="heading")
            watch.until(lambda w: not w.state["message"])
        run.send(step=6)
        watch.until(lambda w: w.head["step"] == 7)
        sphere, point = watch.newest[THINGS]["things"][1:]
        words = [f"1:sphere=6,8,9,{sphere['radius']},{sphere['weight']},{sphere['reach']}",
                 f"1:point=1,{SIDE},9,{point['weight']},{point['reach']}"]
        with Served(*hunted, "--at", words[0], "--at", words[1]) as other:
            other.send(pause=True)
            other.send(reset=4)
            other.send(step=7)
            same = Viewer(other).until(lambda w: w.head["step"] == 7 and w.head["epoch"] == 1)
            assert same.points() == watch.points()
        for _ in range(13):
            run.send(thing={"add": {"kind": "point", "place": [1, 1, 1]}})
        watch.until(lambda w: len(w.newest[THINGS]["things"]) == 16)
        run.send(thing={"add": {"kind": "point", "place": [1, 1, 1]}})
        watch.until(lambda w: "16" in w.state["message"])


def test_recorded_runs_are_not_reset_and_end():
    with Served(*START, "--view", "--steps", "900", "-o", "a.xyz") as run:
        run.send(pause=True)
        watch = Viewer(run).until(lambda w: w.state and w.state["paused"])
        run.send(reset=1)
        watch.until(lambda w: "record" in w.state["message"])
        assert watch.state["can_reset"] is False
        run.send(pause=False)
        while watch.read() is not None:
            pass
        assert watch.state["ended"] is True
        run.process.stdout.read()
        assert run.process.wait(20) == 0
    with open("a.xyz", encoding="ascii") as file:
        assert "step=900" in file.read()
    cli.ok(*START, "--steps", "900", "-o", "b.xyz", "-q")
    with open("a.xyz", "rb") as a, open("b.xyz", "rb") as b:
        assert a.read() == b.read(), "watching changed the flight"


def raw(run, data, wait=0.0):
    with socket.create_connection(("127.0.0.1", run.port), timeout=10) as link:
        try:
            link.sendall(data)
            time.sleep(wait)
            return link.recv(100)
        except OSError:
            return b""


def test_bad_requests():
    rng = random.Random(5)
    with Served(*START, "--view") as run:
        head = {"Content_Type": "application/json"}
        assert run.request("POST", "control", "[1]", **head)[0] == 400
        assert run.request("POST", "control", '{"a":', **head)[0] == 400
        assert run.request("POST", "control", '{"pause": true, "pause": false}', **head)[0] == 400
        assert run.request("POST", "control", "[" * 4000, **head)[0] == 400
        assert run.request("POST", "control", '{"a": 1e999}', **head)[0] == 400
        assert run.request("POST", "control", b"\xff\x00" * 50, **head)[0] == 400
        assert run.request("POST", "control", "{}" + " " * 5000, **head)[0] == 413
        assert run.request("POST", "control", "{}")[0] == 415
        assert run.request("DELETE", "control")[0] == 405
        path = f"/{run.token}/control HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json"
        for more in (b"\r\n\r\n", b"\r\nContent-Length: -5\r\n\r\n",
                     b"\r\nContent-Length: x\r\n\r\n",
                     b"\r\nContent-Length: 99999999999999999999\r\n\r\n",
                     b"\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"):
            said = raw(run, b"POST " + path.encode() + more)
            assert b" 200 " not in said, (more, said)
        good = f"POST {path}\r\nContent-Length: 15\r\n\r\n{{\"pause\": true}}".encode()
        for _ in range(60 if BRIEF else 250):
            data = bytearray(good)
            for _ in range(rng.randint(1, 12)):
                k = rng.randrange(len(data))
                data[k:k + rng.randint(0, 3)] = bytes(rng.randrange(256)
                                                      for _ in range(rng.randint(0, 3)))
            with socket.create_connection(("127.0.0.1", run.port), timeout=10) as link:
                link.sendall(data)
        raw(run, b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n")
        raw(run, b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 5000 + b"\r\n")
        for odd in ({"pause": 7}, {"step": -1}, {"step": 10 ** 18}, {"limit": -1e300},
                    {"limit": "x"}, {"colour": "none"}, {"frame": 3}, {"set": []},
                    {"inspect": -5}, {"inspect": 10 ** 18}, {"inspect": "x"},
                    {"set": {"noise": None}}, {"pause": None, "step": [], "set": {}}):
            run.send(**odd)
        run.send(pause=False, limit=0)
        Viewer(run).until(lambda w: w.state and not w.state["paused"])
        watch = Viewer(run)
        step = watch.until(lambda w: w.head["step"] > 0).head["step"]
        watch.until(lambda w: w.head["step"] > step)
        assert run.process.poll() is None


def test_a_hundred_viewers_and_one_that_stops_reading():
    with Served("flock", "--boids", "20000", "--box", "100", "--seed", "1", "--threads", "1",
                "--alignment", "2", "--cohesion", "2", "--separation", "1", "--view") as run:
        deaf = Viewer(run)                             # never read from again
        crowd = [Viewer(run, client=k + 2) for k in range(99)]
        assert all(w.status == 200 for w in crowd)
        for w in crowd[:20]:
            w.until(lambda w: w.head["step"] >= 0)
        late = Viewer(run)
        assert late.status == 503, late.status
        late.close()
        used = run.memory()
        for k, w in enumerate(crowd):                  # killed: by a reset, or closed
            if k % 2:
                w.link.sock and w.link.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                                       struct.pack("ii", 1, 0))
            w.close()
        end = time.monotonic() + 20
        while True:
            watch = Viewer(run)
            if watch.status == 200:
                break
            assert time.monotonic() < end, "no place was freed"
            time.sleep(0.1)
        first = watch.until(lambda w: w.head["step"] >= 0).head["step"]
        frames = 10 if BRIEF else 25
        for _ in range(frames):
            version = watch.versions[POINTS]
            watch.until(lambda w, v=version: w.versions[POINTS] > v)
        assert watch.head["step"] >= first + frames - 1
        assert run.memory() < used + 24 * 2 ** 20, (used, run.memory())
        deaf.close()
        watch.close()
        assert run.end() == 0


def test_a_window_is_kept():
    with Served(*START, "--view") as run:
        run.send(limit=0)
        watch = Viewer(run, window=2, client=99)
        watch.until(lambda w: w.versions.get(POINTS, 0) > 0)
        seen, end = set(), time.monotonic() + 0.5
        while time.monotonic() < end:
            watch.read()
            seen.add(watch.versions[POINTS])
        assert len(seen) <= 2, seen
        step = watch.head["step"]
        assert run.request("POST", "seen?client=99&points=50")[0] == 200
        watch.until(lambda w: w.head["step"] > step)
        assert len(watch.points()) == 50
        watch.close()


def test_silent_connections_delay_nobody():
    with Served(*START, "--view") as run:
        silent = [socket.create_connection(("127.0.0.1", run.port), timeout=10)
                  for _ in range(200)]
        for link in silent[::2]:
            link.sendall(b"GET / HTTP/1.1\r\nHost: 127")
        time.sleep(0.2)
        for _ in range(3):
            start = time.monotonic()
            assert run.request("GET", "")[0] == 200
            assert time.monotonic() - start < 0.5 * cli.SLOW
        start = time.monotonic()
        Viewer(run).until(lambda w: w.head["step"] >= 0)
        assert time.monotonic() - start < 0.5 * cli.SLOW
        for link in silent:
            link.close()


def has_ipv6():
    """The machine and civetweb have it."""
    said = cli.run(*START, "--view", "--address", "::2", "--steps", "0").stderr
    return os.path.exists("/proc/net/if_inet6") and "no IPv6" not in said


def test_ports_and_addresses():
    with Served(*START, "--view") as run:
        cli.fails(9, *START, "--view", "--port", run.port, says=(str(run.port), "in use"))
        with Served(*START, "--view") as other:
            assert other.port != run.port and other.token != run.token
        assert "ssh" in run.process.stdout.readline()
    with Served(*START, "--view", "--json") as run:
        assert run.lines[0].startswith('{"view":"http://127.0.0.1:')
        Viewer(run).until(lambda w: w.head["step"] >= 0)
        assert run.end(signal.SIGTERM) == 0
    with Served(*START, "--view", "--address", "0.0.0.0") as run:
        assert run.request("GET", "", Host="cluster.example")[0] == 200
        assert run.request("GET", "", token="0" * 32)[0] == 403
        run.end()
        assert "warning" in run.process.stderr.read()
    for address in ("127.0.0.2", "localhost", "::1", "[::1]"):
        if ":" in address and not has_ipv6():
            cli.fails(9, *START, "--view", "--address", address, says=(address, "no IPv6"))
            continue
        with Served(*START, "--view", "--address", address) as run:
            assert run.host == address.strip("[]") and run.request("GET", "")[0] == 200, address
            assert run.request("GET", "", Host="evil.example")[0] == 403, address
            own = f"http://{run.address.split('/')[2]}"
            assert run.request("GET", "view.js", Origin=own)[0] == 200, address
            Viewer(run).until(lambda w: w.head["step"] >= 0).close()
            assert run.end() == 0 and "warning" not in run.process.stderr.read()
    cli.fails(9, *START, "--view", "--address", "203.0.113.7", says=("203.0.113.7",))
    for wrong in ("no-host.invalid", "a b", "::1::", ""):
        cli.fails(9, *START, "--view", "--address", wrong, says=(f"'{wrong}'",))
    cli.fails(6, *START, "--view", "--port", "70000", says=("65535",))
    cli.fails(2, *START, "--view", "-o", "a.xyz", says=("--record-every",))


if viewer.cli.run(*START, "--view", "--port", "1", "--steps", "0").stderr.find("libciv") >= 0:
    needs.tell("kith was built without the live view (apt-get install libcivetweb-dev)")
    sys.exit(needs.SKIPPED)
sys.exit(cli.main(globals()))
