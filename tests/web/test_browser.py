# SPDX-License-Identifier: BSD-3-Clause
"""The page in headless Chromium: particles light up, sliders steer, nothing is complained about."""
import socket
import sys
import time

import chromium
import needs
from viewer import Served, cli

FLOCK = ("flock", "--boids", "800", "--box", "30", "--seed", "1", "--threads", "1", "--view",
         "--model", "vicsek", "--noise", "1", "--alignment", "8")
POLARISATION = "Number(document.querySelectorAll('.curve output')[0].textContent)"
STEP = "Number(document.body.dataset.step)"


def move(browser, rule, value):
    """Drag a slider."""
    browser.js(f"(() => {{ const s = document.getElementById('rule-{rule}'); s.value = {value};"
               " s.dispatchEvent(new Event('input')); })()")


def use_things(browser):
    """A sphere is added by a click, hides points, is dragged, and removed by a key."""
    place = "kith.things.list[0].place.map(x => Math.round(x))"
    at = browser.js("(p => [p.x + 20, p.y - 10])(kith.scene.project(kith.scene.camera.centre))")
    browser.js("kith.things.buttons.sphere.click()")
    browser.drag(at)
    browser.until("kith.things.list.length === 1 && kith.things.list[0].kind === 'sphere'")
    before = browser.js(place)
    spot = browser.js("(p => [p.x, p.y])(kith.scene.project(kith.things.list[0].place))")
    assert max(abs(spot[k] - at[k]) for k in (0, 1)) < 3, (spot, at)
    browser.drag(at, [at[0] + 10, at[1]], [at[0] + 30, at[1] - 10])
    text = ",".join(map(str, before))
    browser.until(f"kith.things.held === null && String({place}) !== '{text}'")
    moved = browser.js(place)
    yaw = browser.js("kith.scene.camera.yaw")
    browser.drag([at[0] + 30, at[1] - 10])
    browser.until("kith.things.chosen === 0")
    browser.key("Delete")
    browser.until("kith.things.list.length === 0")
    assert moved != before and browser.js("kith.scene.camera.yaw") == yaw
    browser.js("kith.things.buttons.wall.click()")
    sent = browser.js("""(() => {
      const link = kith.link, send = link.send, sent = [];
      link.send = command => sent.push(command);
      kith.escape();
      kith.escape();
      link.send = send;
      return sent;
    })()""")
    assert sent == [] and browser.js("kith.things.adding === null"), sent


def spheres_hide(browser):
    """Points behind a sphere are not drawn, and those before it are."""
    look = """(() => {
      const s = kith.scene, gl = s.gl, pixel = new Float32Array(4);
      const middle = s.camera.centre, {back} = s.camera.axes();
      const seen = away => {
        kith.things.set({most: 16, things: [{
          kind: 'sphere', radius: 8, weight: 0, reach: 0, speed: 0, normal: [0, 0, 0],
          place: middle.map((x, k) => x + away * back[k])}]});
        s.style.trails = 0;
        s.wipe = true;
        s.draw(performance.now());
        gl.bindFramebuffer(gl.FRAMEBUFFER, s.target);
        let sum = 0;
        const p = s.project(middle), y = s.height - p.y * s.scale, half = 8 * s.scale;
        for (let dx = -half; dx <= half; dx += 2) {
          for (let dy = -half; dy <= half; dy += 2) {
            gl.readPixels(p.x * s.scale + dx, y + dy, 1, 1, gl.RGBA, gl.FLOAT, pixel);
            sum += pixel[3];
          }
        }
        gl.bindFramebuffer(gl.FRAMEBUFFER, null);
        return sum;
      };
      const all = seen(-200), none = seen(30);
      kith.things.set({most: 16, things: []});
      return [all, none];
    })()"""
    behind, before = browser.js(look)
    assert behind > 0 and before < 0.1 * behind, (behind, before)


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def watch_a_flock(browser):
    port = free_port()
    with Served(*FLOCK, "--port", port) as run:
        browser.open(run.address)
        browser.until("document.body.dataset.frames > 2")
        assert 0.002 < browser.js("kith.scene.lit()") < 0.9
        browser.until(f"{POLARISATION} < 0.4")
        move(browser, "noise", 0)
        browser.until(f"{POLARISATION} > 0.8")
        browser.key(" ", " ")
        browser.until("document.getElementById('pause').textContent === 'go on'")
        browser.until("kith.state.paused && kith.state.rate === 0 && !kith.waiting")
        step = browser.js(STEP)
        browser.js("new Promise(go => setTimeout(go, 300))")
        assert browser.js(STEP) == step, "paused, and it goes on"
        browser.key(".", ".")
        browser.until(f"{STEP} === {step + 1}")
        browser.js("document.getElementById('seed').value = '12x',"
                   "document.getElementById('reset').click()")
        browser.until("/seed/.test(document.getElementById('message').textContent)")
        browser.js("document.getElementById('seed').value = 12,"
                   "document.getElementById('reset').click(), document.activeElement.blur()")
        browser.until(f"{STEP} === 0 && kith.state.seed === '12'")
        browser.key(".", ".")
        browser.until(f"{STEP} === 1")
        browser.key("r", "r")
        browser.until("/once more/.test(document.getElementById('message').textContent)")
        assert browser.js(STEP) == 1
        browser.key("r", "r")
        browser.until(f"{STEP} === 0")
        assert browser.js("document.getElementById('rule-nearest').parentNode.textContent") == (
            "nearestall")
        use_things(browser)
        spheres_hide(browser)
        for colour in ("density", "speed", "flock", "heading"):
            browser.js(f"[...document.querySelectorAll('#colours button')].find(b => "
                       f"b.textContent === '{colour}').click()")
            browser.until("document.querySelector('#colours [aria-checked=true]').textContent === "
                          f"'{colour}'")
            assert browser.js("kith.scene.lit()") > 0.002, colour
        yaw = browser.js("kith.scene.camera.yaw")
        browser.key("ArrowLeft")
        assert browser.js("kith.scene.camera.yaw") != yaw
        browser.size(390, 500, 1, True)
        browser.until("kith.scene.height === 500 && kith.scene.lit() > 0.001")
        assert browser.js("document.documentElement.scrollWidth") <= 390
        assert browser.errors == [], browser.errors
        run.end()
    browser.until("/run has ended/.test(document.getElementById('link').textContent)")
    assert browser.js("['pause', 'rule-noise', 'seed'].every(id => "
                      "document.getElementById(id).matches(':disabled'))")
    with Served(*FLOCK, "--port", port):
        browser.until("/another run/.test(document.getElementById('link').textContent)")
    browser.open("about:blank")
    browser.errors.clear()             # that nobody answers was noted
    browser.size(480, 320)


def connections(port):
    """How many connections a server has."""
    with open("/proc/net/tcp", encoding="ascii") as file:
        rows = [line.split() for line in file.readlines()[1:]]
    return sum(row[1].endswith(f":{port:04X}") and row[3] == "01" for row in rows)


def open_tabs(browser):
    """The page in front has the stream; those that are hidden hold no connection."""
    with Served(*FLOCK) as run:
        tabs = [browser.tab(run.address) for _ in range(12)]
        for tab in (tabs[-1], tabs[0]):
            browser.call("Target.activateTarget", targetId=tab.identity)
            tab.until("document.body.dataset.frames > 2")
            frames = tab.js("Number(document.body.dataset.frames)")
            tab.until(f"document.body.dataset.frames > {frames + 2}")
            tab.js("kith.link.send({limit: 20})")
        end = time.monotonic() + 20
        while connections(run.port) != 1:
            assert time.monotonic() < end, connections(run.port)
            time.sleep(0.05)
        for tab in tabs:
            tab.socket.raw.close()
            browser.call("Target.closeTarget", targetId=tab.identity)


def look_at_halos(browser):
    cli.ok("make", "clustered", "5000", "--seed", "1", "-o", "halos.npy")
    with Served("view", "halos.npy", "--box", "1", "--link", "0.006") as run:
        browser.open(run.address)
        browser.until("document.body.dataset.frames > 0 && window.kith && kith.groups"
                      " && kith.groups.length > 3")
        assert browser.js("kith.scene.lit()") > 0.002
        browser.js("requestAnimationFrame(() => { const g = kith.groups[0], "
                   "p = kith.scene.project(g.centre); kith.pick(p.x, p.y); })")
        members = browser.until("document.querySelector('#halo dd') && "
                                "document.querySelector('#halo dd').textContent")
        assert int(members.replace(",", "")) > 20, members
        assert browser.errors == [], browser.errors


def test_the_page():
    browser = chromium.Browser()
    browser.size(480, 320)             # software draws it: few pixels
    try:
        watch_a_flock(browser)
        look_at_halos(browser)
        open_tabs(browser)
    finally:
        browser.close()


if not chromium.find():
    needs.tell(needs.missing("chromium"))
    sys.exit(needs.SKIPPED)
sys.exit(cli.main(globals()))
