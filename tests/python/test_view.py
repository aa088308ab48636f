# SPDX-License-Identifier: BSD-3-Clause
"""kith.view: the points that a notebook's cell gets, the cell in Chromium, a flock that runs."""
import base64
import pathlib
import re
import sys
import tempfile
import types

import numpy as np

import functions
import kith
import needs
from functions import raises

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "web"))
import chromium  # noqa: E402

random = np.random.default_rng(3)
X = random.random((400, 3)) * [10, 20, 5] - [0, 5, 0]
BOX = kith.Box([10, 20, 5], origin=[0, -5, 0])


def points(message):
    """Return the head's numbers and the points [n][4] of a message."""
    assert (len(message) - 112) % 8 == 0
    head = {"step": np.frombuffer(message, "<f8", 1)[0], "all": np.frombuffer(message, "<f8", 3)[2],
            "kinds": np.frombuffer(message, "<u4", 2, 24),
            "dim": np.frombuffer(message, "<u4", 2, 40),
            "space": np.frombuffer(message, "<f4", 12, 48)}
    return head, np.frombuffer(message, "<u2", offset=112).reshape(-1, 4)


def sent(html):
    """Return the message that a cell's text gives to its canvas."""
    return base64.b64decode(re.search(r'\.show\("([^"]*)"\)', html).group(1))


def test_points():
    seen = kith.view(X, BOX)
    head, shown = points(sent(seen._repr_html_()))
    expected = (X - BOX.origin) / np.diag(BOX.cell)
    assert np.abs(shown[:, :3] / 65536 - expected).max() < 1 / 60000 and not shown[:, 3].any()
    assert head["kinds"].tolist() == [8, 0] and head["dim"].tolist() == [3, 7]
    assert np.allclose(head["space"], [0, -5, 0, 10, 0, 0, 0, 20, 0, 0, 0, 5])
    few = points(kith.view(X, BOX, most=50).message())
    assert len(few[1]) == 50 and few[0]["all"] == 400
    flat, shown = points(kith.view(X[:, :2]).message())  # open: the points are enclosed
    assert flat["dim"].tolist() == [2, 0] and 0 < shown[:, :2].min() and shown[:, :2].max() < 65535
    assert len(points(kith.view(np.zeros((0, 3))).message())[1]) == 0
    groups = kith.fof(X, 1.0, BOX, min_members=2)
    head, shown = points(kith.view(groups).message())
    assert head["kinds"][1] == 3 and np.array_equal(shown[:, 3], groups.labels)
    v = np.array([[1., 0, 0], [0, 1, 0], [0, 0, -1], [0, 0, 0]])
    head, shown = points(kith.view(X[:4], BOX, velocities=v).message())
    assert head["kinds"][1] == 2
    assert shown[:, 3].tolist() == [255 | 128 << 8, 128 | 255 << 8, 255 | 255 << 8, 0]
    raises(ValueError, lambda: kith.view(X, kith.Box([1, 1])).message(), "x has the shape")
    raises(TypeError, lambda: kith.view(X).run(3), "ndarray")


def flock():
    return kith.Flock(X, random.random((400, 3)) - 0.5, BOX, separation=(1, 0.1),
                      alignment=(1, 0.1), cohesion=(1, 0.01))


def test_run():
    """A running flock sends its points to the display that the first of them made."""
    shown = []

    class Display(types.ModuleType):
        HTML = staticmethod(str)

        @staticmethod
        def display(html, display_id):
            shown.append((display_id, html))
            return types.SimpleNamespace(update=lambda text: shown.append((display_id, text)))
    before = {name: sys.modules.get(name) for name in ("IPython", "IPython.display")}
    sys.modules.update({"IPython": types.ModuleType("IPython"),
                        "IPython.display": Display("IPython.display")})
    try:
        birds = flock()
        seen = kith.view(birds)
        name = re.search(r'canvas id="([^"]+)"', seen._repr_html_()).group(1)
        seen.run(10, 4)
    finally:
        for key, module in before.items():
            if module is None:
                del sys.modules[key]
            else:
                sys.modules[key] = module
    assert [points(sent(html))[0]["step"] for _, html in shown] == [4, 8, 10]
    assert {which for which, _ in shown} == {f"{name}-points"}
    assert all(name in html for _, html in shown) and birds.steps == 10
    last = points(sent(shown[-1][1]))[1][:, :3] / 65536
    expected = (birds.positions - BOX.origin) / np.diag(BOX.cell)
    assert np.abs(last - expected).max() < 1 / 60000


def test_chromium():
    """Two cells of one page light up, and take later points."""
    if not chromium.find():
        raise needs.Skip(needs.missing("chromium"))
    birds = flock()
    one, other = kith.view(birds, height=200), kith.view(X, height=200)
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder, "page.html")
        page.write_text(f"<!doctype html><body>{one._repr_html_()}{other._repr_html_()}</body>",
                        encoding="utf-8")
        browser = chromium.Browser()
        try:
            browser.size(480, 480)
            browser.open(page.as_uri())
            browser.until("Object.values(window.kithCells || {}).length === 2")
            for k in range(2):
                assert 0.002 < browser.js(f"Object.values(kithCells)[{k}].scene.lit()") < 0.9
            birds.step(5)
            browser.js(one._show())
            assert browser.js("Object.values(kithCells).map(c => c.scene.head.step)") == [5, 0]
            assert browser.errors == [], browser.errors
        finally:
            browser.close()


if __name__ == "__main__":
    sys.exit(functions.main(globals()))
