# SPDX-License-Identifier: BSD-3-Clause
"""The page in headless Chromium: particles light up, sliders steer, nothing is complained about."""
import sys

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


def watch_a_flock(browser):
    with Served(*FLOCK) as run:
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
        browser.js("document.getElementById('seed').value = 12,"
                   "document.getElementById('reset').click()")
        browser.until(f"{STEP} === 0")
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
    browser.until("document.body.dataset.link === 'lost' || "
                  "/ended/.test(document.getElementById('link').textContent)")
    browser.open("about:blank")
    browser.errors.clear()             # that nobody answers was noted
    browser.size(480, 320)


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
    finally:
        browser.close()


if not chromium.find():
    needs.tell(needs.missing("chromium"))
    sys.exit(needs.SKIPPED)
sys.exit(cli.main(globals()))
