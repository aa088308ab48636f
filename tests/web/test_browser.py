# SPDX-License-Identifier: BSD-3-Clause
"""The page in headless Chromium: particles light up, sliders steer, nothing is complained about."""
import base64
import socket
import struct
import sys
import time

import chromium
import needs
from viewer import Served, cli

FLOCK = ("flock", "--boids", "800", "--box", "30", "--seed", "1", "--threads", "1", "--view",
         "--model", "vicsek", "--noise", "1", "--alignment", "8")
POLARISATION = "Number(document.querySelectorAll('.curve output')[0].textContent)"
STEP = "Number(document.body.dataset.step)"


HEADING = 2
# The names that a screen reader tells: of controls, and of canvases that are not decoration.
NAMELESS = """[...document.querySelectorAll('button, input, canvas, section, aside')].filter(e => {
  const name = e.getAttribute('aria-label') || e.textContent.trim() || e.title ||
               (e.labels && e.labels.length && e.labels[0].textContent.trim());
  return !name && !e.closest('[aria-hidden=true], .curve'); }).map(e => e.outerHTML)"""
# What lies over the box: parts of the page that hold a corner of it.
COVERED = """(() => {
  const s = kith.scene, box = [0, 1, 2, 3, 4, 5, 6, 7].map(
    k => s.project(s.inBox([k & 1, k >> 1 & 1, k >> 2 & 1])));
  const [x0, x1] = [Math.min(...box.map(p => p.x)), Math.max(...box.map(p => p.x))];
  const [y0, y1] = [Math.min(...box.map(p => p.y)), Math.max(...box.map(p => p.y))];
  const parts = [...document.querySelectorAll('header, #side, #fold')].filter(e => {
    const r = e.getBoundingClientRect();
    return r.width && r.left < x1 - 1 && r.right > x0 + 1 && r.top < y1 - 1 && r.bottom > y0 + 1;
  });
  const inside = x0 > -1 && y0 > -1 && x1 < innerWidth + 1 && y1 < innerHeight + 1;
  return parts.map(e => e.id || e.tagName).concat(inside ? [] : ['it is cut off'],
    document.documentElement.scrollWidth > innerWidth ? ['the page scrolls'] : []); })()"""


def move(browser, rule, value):
    """Drag a slider."""
    browser.js(f"(() => {{ const s = document.getElementById('rule-{rule}'); s.value = {value};"
               " s.dispatchEvent(new Event('input')); })()")


def octahedral(v):
    """The direction of a velocity as the server sends it (web/frame.c)."""
    size = sum(map(abs, v))
    x, y = v[0] / size, v[1] / size
    if v[2] < 0:
        x, y = ((1 - abs(y)) * (-1 if x < 0 else 1), (1 - abs(x)) * (-1 if y < 0 else 1))
    return (int(x * 127.5 + 128) | int(y * 127.5 + 128) << 8) or 65535


def draw(browser, velocities, bodies):
    """Give the page points in a row with these velocities. @return the colour of each, as drawn"""
    n = len(velocities)
    data = struct.pack("<3d2I2f2I12f4I", 0, 0, n, 8, HEADING, 0, 1, 3, 0, 0, 0, 0,
                       10, 0, 0, 0, 10, 0, 0, 0, 10, 0, 99, 6, 0)
    for k, v in enumerate(velocities):
        data += struct.pack("<4H", int(65536 * (k + 0.5) / n), 32768, 32768, octahedral(v))
    return browser.js(f"""(() => {{
      const s = kith.scene, gl = s.gl;
      s.setPoints(Uint8Array.from(atob('{base64.b64encode(data).decode()}'), c => c.charCodeAt(0)));
      s.home(); s.style.trails = 0; s.style.bodies = '{bodies}'; s.style.size = 4;
      s.length = 0.7; s.measured = 1e12;
      s.draw(performance.now());
      const colours = Array.from({{length: {n}}}, (_, k) => {{
        const p = s.project(s.inBox(s.fractions(k))), out = new Uint8Array(4);
        gl.readPixels(Math.round(p.x * s.scale), Math.round(s.height - p.y * s.scale), 1, 1,
                      gl.RGBA, gl.UNSIGNED_BYTE, out);
        return [...out].slice(0, 3); }});
      s.style.size = 1; s.measured = 0;
      return colours; }})()""")


def look_at_directions(browser):
    """Directions next to each other have colours next to each other, and others differ."""
    def apart(a, b):
        return max(abs(x - y) for x, y in zip(a, b))
    near_x = [(1, 0, 0), (1, -0.004, -0.05), (1, 0.004, 0.05), (1, -0.05, 0.004), (1, 0.05, -0.004)]
    near_z = [(0, 0, 1), (0.04, 0.02, 1), (-0.04, 0.02, 1), (0.02, -0.04, 1), (-0.03, -0.03, 1)]
    for group in (near_x, near_z, [tuple(-x for x in v) for v in near_x],
                  [tuple(-x for x in v) for v in near_z]):
        colours = draw(browser, group, "points")
        assert max(apart(colours[0], c) for c in colours) < 40, (group, colours)
    axes = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
    for bodies in ("points", "arrows"):
        colours = draw(browser, axes, bodies)
        assert all(apart(a, b) > 30 for k, a in enumerate(colours) for b in colours[:k]), colours
        assert min(apart(c, [8, 9, 18]) for c in colours) > 40, ("not drawn", bodies, colours)
    told = browser.js("[[1, 0, 0], [0, -1, 0], [0, 0, 1]].map(d => headingColour(d, 0))")
    for c, d in zip(draw(browser, [(1, 0, 0), (0, -1, 0), (0, 0, 1)], "points"), told):
        assert c.index(max(c)) == d.index(max(d)), ("the legend has other colours", c, d)


def select_and_follow(browser, run):
    """By keyboard alone: select a particle, follow it, and come back by the link."""
    browser.js("document.activeElement.blur()")
    browser.key("s")
    browser.until("kith.values && kith.values.point === kith.scene.mark")
    browser.key("f")
    browser.until("kith.scene.follow && kith.scene.camera.zoom >= 3")
    off = browser.js("kith.scene.draw(performance.now()), kith.values.position.map((x, k) => "
                     "Math.abs(x - kith.scene.camera.centre[k])).reduce((a, b) => Math.max(a, b))")
    assert off < 0.1, off
    titles = browser.js("document.querySelector('#halo h2').textContent")
    assert titles.startswith("particle "), titles
    browser.js("kith.scene.camera.yaw = 0.25, kith.remember()")
    link, mark = browser.js("location.hash"), browser.js("kith.scene.mark")
    assert "yaw=0.25" in link and f"particle={mark}" in link and "follow=1" in link, link
    browser.open("about:blank")
    browser.open(run.address + link)
    browser.until("window.kith && kith.scene.mark >= 0 && kith.scene.follow")
    assert browser.js("[kith.scene.camera.yaw, kith.scene.mark]") == [0.25, mark]
    browser.key("Escape")
    assert browser.js("kith.scene.mark") == -1
    browser.js("location.hash = '#yaw=1.5&bodies=arrows'")
    browser.until("kith.scene.camera.yaw === 1.5 && kith.scene.style.bodies === 'arrows'")
    kept = browser.js("kith.scene.past.length")
    browser.key("s")                   # the frame comes once more; trails stay as they are
    browser.until("kith.values && kith.values.point === kith.scene.mark")
    assert browser.js("kith.scene.past.length") == kept > 0
    browser.key("Escape")
    browser.js("kith.setBodies('auto'), kith.scene.home()")
    size = browser.js("takePicture(kith).then(b => b.size)")
    assert size > 2000, size
    film = browser.js("""new Promise(done => {
      const film = new Film(kith.scene.canvas, (blob, kind) => done([blob.size, kind]));
      const draw = k => { kith.scene.dirty = true; k ? setTimeout(() => draw(k - 1), 40)
                                                     : film.stop(); };
      draw(12); })""")
    assert film[0] > 500 and film[1] in ("mp4", "webm"), film


def look_at_layouts(browser):
    """Nothing covers the box; everything has a name; light ground; motion is reduced."""
    for width, height, mobile in ((360, 640, True), (1000, 420, False), (500, 300, False),
                                  (1280, 800, False)):
        browser.size(width, height, 1, mobile)
        browser.until(f"kith.scene.width === {width} && kith.scene.height === {height}")
        covered = browser.js("new Promise(go => setTimeout(go, 60))"
                             f".then(() => (kith.scene.draw(performance.now()), {COVERED}))")
        assert covered == [], (width, height, covered)
    browser.size(480, 320)
    nameless = browser.js(NAMELESS)
    assert nameless == [], nameless
    browser.prefer(color_scheme="light", reduced_motion="reduce")
    browser.until("kith.scene.paper === 1")
    ground = browser.js("""(() => { const s = kith.scene, out = new Uint8Array(4);
      s.dirty = true; s.draw(performance.now());
      s.gl.readPixels(1, 1, 1, 1, s.gl.RGBA, s.gl.UNSIGNED_BYTE, out); return out[0]; })()""")
    assert ground > 200 and browser.js("kith.scene.lit()") > 0.002, ground
    browser.prefer(color_scheme="dark")
    browser.until("kith.scene.paper === 0")


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
    """Points and bodies behind a sphere are not drawn, and those before it are."""
    look = """(bodies => {
      const s = kith.scene, gl = s.gl;
      const pixel = bodies === 'points' ? new Float32Array(4) : new Uint8Array(4);
      const middle = s.camera.centre, {back} = s.camera.axes();
      const seen = away => {
        kith.things.set({most: 16, things: [{
          kind: 'sphere', radius: 8, weight: 0, reach: 0, speed: 0, normal: [0, 0, 0],
          place: middle.map((x, k) => x + away * back[k])}]});
        s.style.trails = 0;
        kith.setBodies(bodies);
        kith.things.paint = () => {};       // the sphere itself is not counted
        s.draw(performance.now());
        delete kith.things.paint;
        gl.bindFramebuffer(gl.FRAMEBUFFER, bodies === 'points' ? s.target : null);
        let sum = 0;
        const p = s.project(middle), y = s.height - p.y * s.scale, half = 8 * s.scale;
        for (let dx = -half; dx <= half; dx += 2) {
          for (let dy = -half; dy <= half; dy += 2) {
            gl.readPixels(p.x * s.scale + dx, y + dy, 1, 1, gl.RGBA,
                          bodies === 'points' ? gl.FLOAT : gl.UNSIGNED_BYTE, pixel);
            sum += bodies === 'points' ? pixel[3] : Math.max(...pixel.slice(0, 3)) > 60 ? 1 : 0;
          }
        }
        gl.bindFramebuffer(gl.FRAMEBUFFER, null);
        return sum;
      };
      const all = seen(-200), none = seen(30);
      kith.things.set({most: 16, things: []});
      kith.setBodies('auto');
      return [all, none];
    })"""
    for bodies in ("points", "arrows"):
        behind, before = browser.js(f"{look}('{bodies}')")
        assert behind > 0 and before < 0.1 * behind, (bodies, behind, before)


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
        browser.js("kith.mark(3)")         # a selection is no first press of "r"
        browser.key("r", "r")
        browser.until("/once more/.test(document.getElementById('message').textContent)")
        assert browser.js(STEP) == 1
        browser.key("r", "r")
        browser.until(f"{STEP} === 0")
        browser.js("kith.mark(-1)")
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
        browser.js("document.querySelector('#colours [aria-checked=true]').focus()")
        browser.key("ArrowLeft")           # as radio buttons; the focus stays
        browser.until("document.activeElement.textContent === 'speed'")
        browser.key("ArrowRight")
        browser.until("kith.state.colour === 'heading'")
        browser.js("document.activeElement.blur()")
        yaw = browser.js("kith.scene.camera.yaw")
        browser.key("ArrowLeft")
        assert browser.js("kith.scene.camera.yaw") != yaw
        select_and_follow(browser, run)
        look_at_layouts(browser)
        look_at_directions(browser)
        curves_stay_in_their_frames(browser)
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


def look_at_species_and_masses(browser):
    """Each species is drawn in its colour of the legend; masses have a range; nothing else is
    offered."""
    atoms = (("O", 2, 16), ("H", 5, 1), ("Na", 8, 23))
    with open("w.xyz", "w", encoding="ascii") as file:
        file.write('3\nLattice="10 0 0 0 10 0 0 0 10" Properties=species:S:1:pos:R:3:mass:R:1\n')
        file.writelines(f"{name} {x} 5 5 {mass}\n" for name, x, mass in atoms)
    with Served("view", "w.xyz") as run:
        browser.open(run.address)
        browser.until("document.querySelectorAll('#legend li').length === 3 && "
                      "kith.state.colour === 'species' && kith.scene.head.colour === 5")
        offered = browser.js("[...document.querySelectorAll('#colours button')].map("
                             "b => b.textContent)")
        assert offered == ["density", "mass", "species"], offered
        told = browser.js("""[...document.querySelectorAll('#legend li')].map(row => [
          row.childNodes[1].textContent,
          row.firstChild.style.background.match(/\\d+/g).map(Number)])""")
        drawn = browser.js("""(() => {
          const s = kith.scene, gl = s.gl, out = new Uint8Array(4);
          s.style.exposure = 0.3;
          s.dirty = true;
          s.draw(performance.now());
          return [2, 5, 8].map(x => {
            const p = s.project([x, 5, 5]);
            gl.readPixels(Math.round(p.x * s.scale), Math.round(s.height - p.y * s.scale), 1, 1,
                          gl.RGBA, gl.UNSIGNED_BYTE, out);
            return [...out].slice(0, 3); }); })()""")
        assert sorted(name for name, _ in told) == ["H", "Na", "O"], told
        for (name, _, _), pixel in zip(atoms, drawn):
            colour = dict(told)[name]
            order = [sorted(range(3), key=c.__getitem__) for c in (colour, pixel)]
            assert order[0] == order[1] and max(pixel) > 40, (name, colour, pixel)
        browser.js("[...document.querySelectorAll('#colours button')][1].click()")
        browser.until("kith.state.colour === 'mass' && kith.scene.head.colour === 4")
        ends = browser.until("[...document.querySelectorAll('#legend span')].map("
                             "e => e.textContent).join()")
        assert ends == "1,23", ends
        assert browser.js("document.querySelectorAll('#legend li').length") == 0
        assert browser.js("kith.scene.lit()") > 0.0001
        assert browser.errors == [], browser.errors


def curves_stay_in_their_frames(browser):
    """The axis of a curve holds its values, also where they hardly differ."""
    for values in ([1, 1.019], [1.019, 1], [0.5], [0, 0], [-3, -3.01, -3.05], [2, 4, 3]):
        low, high = browser.js(f"curveRange('speed', {values})")
        assert low <= min(values) and max(values) <= high and low < high, (values, low, high)
        near = 0.0099 * max(map(abs, values))
        assert high - low >= near, (values, low, high)
    assert browser.js("curveRange('milling', [0.2, 0.3])") == [0, 1]


# The images of a sphere that are drawn, beside the sphere itself. @param box  rows, dim and wraps
IMAGES = """kith.things.images.call({scene: {head: {origin: [0, 0, 0], %s}}},
  {place: %s, radius: 1}).map(c => c.join(' ')).filter(c => c !== '%s').sort()"""


def see_images(browser):
    """A sphere at a face of a skew box has an image at the opposite face, and no other."""
    skew = "rows: [[10, 0, 0], [8, 6, 0], [0, 0, 10]], dim: 3, wraps: [1, 1, 1]"
    left = skew.replace("[10, 0, 0], [8, 6, 0]", "[8, 6, 0], [10, 0, 0]")
    flat = "rows: [[10, 0, 0], [8, 6, 0], [0, 0, 0]], dim: 2, wraps: [1, 1, 0]"
    expected = (([4, 3, 5], ["14 3 5"]), ([9, 3, 5], []), ([8, 0.5, 5], ["16 6.5 5"]))
    for box in (skew, left, flat):
        for place, images in expected:
            found = browser.js(IMAGES % (box, place, " ".join(map(str, place))))
            assert found == images, (box, place, found)


def look_at_recorded_things(browser):
    """The sphere of a recording is drawn at its frames, and cannot be dragged or removed."""
    cli.ok("flock", "--boids", "60", "--box", "20", "--seed", "2", "--steps", "20", "-q",
           "--record-every", "10", "--sphere", "10,10,10,4,0.2,1", "--at", "15:no-things",
           "-o", "a.gsd")
    count = """(() => { const s = kith.scene; s.dirty = true; s.draw(performance.now());
      const p = s.project([0, 0, 0]), out = new Uint8Array(4);
      s.gl.readPixels(Math.round(p.x * s.scale), Math.round(s.height - p.y * s.scale), 1, 1,
                      s.gl.RGBA, s.gl.UNSIGNED_BYTE, out);
      return out[2]; })()"""
    with Served("view", "a.gsd") as run:
        browser.open(run.address)
        browser.until("document.body.dataset.frames > 0 && kith.things.list.length === 1")
        assert browser.js("kith.things.list[0].kind") == "sphere"
        see_images(browser)
        assert browser.js("document.getElementById('things').hidden")
        filled = browser.js(count)
        place, yaw = "String(kith.things.list[0].place)", browser.js("kith.scene.camera.yaw")
        before = browser.js(place)
        at = browser.js("(p => [p.x, p.y])(kith.scene.project([0, 0, 0]))")
        browser.drag(at, [at[0] + 20, at[1]], [at[0] + 40, at[1]])
        assert browser.js(place) == before and browser.js("kith.scene.camera.yaw") != yaw
        browser.js("kith.things.choose(0)")
        browser.key("Delete")
        browser.js("kith.things.choose(-1)")
        browser.js("new Promise(go => setTimeout(go, 200))")
        assert browser.js("kith.things.list.length") == 1
        browser.js("kith.goTo(2)")
        browser.until("kith.state.frame === 2 && kith.things.list.length === 0")
        bare = browser.js(count)
        assert filled > bare + 15, (filled, bare)
        assert browser.errors == [], browser.errors


def test_the_page():
    browser = chromium.Browser()
    browser.size(480, 320)             # software draws it: few pixels
    browser.prefer(color_scheme="dark")
    try:
        watch_a_flock(browser)
        look_at_halos(browser)
        look_at_species_and_masses(browser)
        look_at_recorded_things(browser)
        open_tabs(browser)
    finally:
        browser.close()


if not chromium.find():
    needs.tell(needs.missing("chromium"))
    sys.exit(needs.SKIPPED)
sys.exit(cli.main(globals()))
