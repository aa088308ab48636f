# SPDX-License-Identifier: BSD-3-Clause
"""Structure factors, records of flocks, and plots: what is drawn, its labels, vector output."""
import os
import subprocess
import sys
import tempfile

import numpy as np

import functions
import kith
import needs
from functions import raises

random = np.random.default_rng(23)
X = random.random((500, 3))
os.environ["MPLBACKEND"] = "agg"


def test_structure_factor():
    """S(q) is the sum over waves by its definition."""
    box = kith.Box([[1, 0, 0], [0.2, 1.1, 0], [0, 0.1, 0.9]])
    x = X @ box.cell
    found = kith.rdf.structure_factor(x, 30.0, box)
    inverse = 2 * np.pi * np.linalg.inv(box.cell)
    some = {}
    for hkl in np.ndindex(13, 13, 13):
        wave = inverse @ (np.array(hkl) - 6)
        q = np.linalg.norm(wave)
        if 0 < q <= 30.0:
            some.setdefault(round(q, 6), []).append(abs(np.exp(1j * x @ wave).sum()) ** 2 / 500)
    q = sorted(some)
    assert np.allclose(found.q, q, atol=1e-5) and len(q) > 20
    assert np.allclose(found.s, [np.mean(some[one]) for one in q], rtol=1e-9)
    assert found.waves.sum() * 2 == sum(map(len, some.values()))
    wide = kith.rdf.structure_factor(x, 30.0, box, width=5.0)
    assert np.isclose((wide.s * wide.waves).sum(), (found.s * found.waves).sum())
    two = kith.rdf.structure_factor(iter([kith.Frame(x, box), kith.Frame(x, box)]), 30.0)
    assert two.frames == 2 and np.allclose(two.s, found.s)
    flat = kith.rdf.structure_factor(X[:, :2], 20.0, 1.0)
    wave = np.abs(np.exp(2j * np.pi * X[:, :2]).sum(axis=0)) ** 2 / 500
    assert np.isclose(flat.q[0], 2 * np.pi) and np.isclose(flat.s[0], wave.mean())
    raises(ValueError, lambda: kith.rdf.structure_factor(x, 30.0), "periodic")
    raises(ValueError, lambda: kith.rdf.structure_factor(x, 1.0, box), "no wave")
    raises(ValueError, lambda: kith.rdf.structure_factor(x, 1e4, box), "waves")
    raises(ValueError, lambda: kith.rdf.structure_factor(x, -1, box), "q_max")
    raises(ValueError, lambda: kith.rdf.structure_factor(
        iter([kith.Frame(x, box), kith.Frame(x, kith.Box(2.0))]), 30.0), "changes")


def test_record():
    how = {"separation": (0.5, 1), "alignment": (1, 1), "cohesion": (1, 1)}
    with kith.Flock(X * 5, X - 0.5, 5.0, **how) as flock, \
            kith.Flock(X * 5, X - 0.5, 5.0, **how) as other:
        record = flock.record(7, 3)
        assert record["step"].tolist() == [0, 3, 6, 7] and flock.steps == 7
        other.step(6)
        assert record["polarisation"][2] == other.measure()["polarisation"]


def labels_apart(ax):
    """Whether no two labels of ticks of an axis touch."""
    ax.figure.draw_without_rendering()
    for axis, end in ((ax.xaxis, 0), (ax.yaxis, 1)):
        low, high = sorted(axis.get_view_interval())
        boxes = [tick.label1.get_window_extent().get_points()[:, end]
                 for tick in axis.get_major_ticks() + axis.get_minor_ticks()
                 if tick.label1.get_text() and low <= tick.get_loc() <= high]
        assert len(boxes) > 1, (axis, "has no labels")
        boxes.sort(key=lambda box: box[0])
        if any(one[1] >= other[0] for one, other in zip(boxes, boxes[1:])):
            return False
    return True


def test_plots():
    """Every plot has labels with units, and becomes a vector file."""
    matplotlib = needs.module("matplotlib")
    import matplotlib.pyplot as plt
    histogram = kith.rdf.Histogram(0.4, 30, n_species=2)
    histogram.add(X, 1.0, species=np.arange(500) % 2)
    halos = kith.make("clustered", 5000, 1)
    groups = kith.fof(halos, 0.2 / 5000 ** (1 / 3))
    with kith.Flock(X * 20, X - 0.5, 20.0) as flock:
        record = flock.record(5)
    found = kith.rdf.structure_factor(X, 40.0, 1.0)
    cases = [(lambda ax: histogram.plot(unit="A", names=["O", "H"], ax=ax), "$r$ / Å", "$g(r)$"),
             (lambda ax: histogram.plot(0, 1, ax=ax), "$r$", "$g(r)$"),
             (lambda ax: found.plot(unit="nm", ax=ax), "$q$ / nm$^{-1}$", "$S(q)$"),
             (lambda ax: groups.plot(unit="Mpc", ax=ax), "$x$ / Mpc", "$y$ / Mpc"),
             (lambda ax: groups.plot("mass_function", ax=ax), "$N$", "d$n$/dlog$_{10}$$N$"),
             (lambda ax: kith.plot.mass_function(groups.halos(), 8.0, mass_unit="Msun", unit="Mpc",
                                                 ax=ax), "$M$ / Msun",
              "d$n$/dlog$_{10}$$M$ / Mpc$^{-3}$"),
             (lambda ax: kith.plot.order_parameters(record, ax=ax), "step", "order parameter")]
    with tempfile.TemporaryDirectory(prefix="kith-") as folder:
        for k, (draw, across, up) in enumerate(cases):
            for ax in (None, plt.figure().add_subplot()):
                drawn = draw(ax)
                assert ax in (None, drawn) and drawn.get_xlabel() == across, drawn.get_xlabel()
                assert drawn.get_ylabel() == up, drawn.get_ylabel()
                assert labels_apart(drawn), k
                legend = drawn.get_legend()
                assert legend is None or not legend.get_frame_on()
                for ending, head in (("pdf", b"%PDF"), ("svg", b"<?xml")):
                    path = os.path.join(folder, f"{k}.{ending}")
                    kith.plot.save(drawn, path)
                    with open(path, "rb") as file:
                        data = file.read()
                    assert data.startswith(head)
                    if ending == "svg" and k == 1:
                        assert b"<text" in data, "text became outlines"
                plt.close("all")
    drawn = histogram.plot(0, 1)
    (line,) = [line for line in drawn.get_lines() if len(line.get_xdata()) == 30]
    assert np.array_equal(line.get_ydata(), histogram.g(0, 1))
    assert len(histogram.plot().get_legend().get_texts()) == 3
    drawn = kith.plot.mass_function(np.array([1.0, 1, 20, 100]), bins=2)
    (bars,) = drawn.containers
    assert np.allclose(bars[0].get_ydata(), [2, 2])  # two halos in each decade
    drawn = groups.plot(most=3)
    assert len(drawn.patches) == 3
    for masses in ([20, 300], [1, 3.0], [1e10, 2e15], [0.001, 0.9]):
        assert labels_apart(kith.plot.mass_function(np.geomspace(*masses, 40))), masses
    raises(ValueError, lambda: groups.plot("cake"), "what")
    raises(ValueError, lambda: kith.plot.mass_function(np.zeros(3)), "no halo")
    plt.close("all")
    assert matplotlib.rcParams["font.size"] == matplotlib.rcParamsDefault["font.size"]


def test_without_matplotlib():
    """Without matplotlib the package works, and a plot says what is missing."""
    code = ("import sys; sys.modules['matplotlib'] = None\nimport kith\n"
            "h = kith.rdf.Histogram(0.4).add(kith.make('uniform', 100))\n"
            "try:\n    h.plot()\nexcept ImportError as e:\n    assert 'pip install matplotlib' in"
            " str(e), e\nelse:\n    raise SystemExit('drawn')")
    subprocess.run([sys.executable, "-c", code], check=True)


def test_imports():
    """Importing the package imports NumPy alone."""
    code = ("import sys, kith\nnames = {name.partition('.')[0] for name in sys.modules}\n"
            "assert not names & {'ase', 'torch', 'matplotlib', 'MDAnalysis', 'jax'}, names")
    subprocess.run([sys.executable, "-c", code], check=True)


if __name__ == "__main__":
    sys.exit(functions.main(globals()))
