# SPDX-License-Identifier: BSD-3-Clause
"""Plots for a paper, by matplotlib: axis labels with units, sizes of a column, text as text.

Each function draws into the axes that are given, else into new ones, and returns them. `save`
writes a figure as PDF or SVG, whose text stays text.
"""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Optional, TypeVar

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap, LogNorm
from matplotlib.ticker import (FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator,
                               ScalarFormatter)

__all__ = ["halo_map", "mass_function", "order_parameters", "pair_distribution", "save",
           "structure_factor"]

COLUMN = 3.4, 2.5  # width and height of a figure in one column of a journal [inch]
_STYLE = {"font.size": 8, "axes.labelsize": 9, "legend.fontsize": 8, "axes.linewidth": 0.6,
          "lines.linewidth": 1.0, "pdf.fonttype": 42, "svg.fonttype": "none",
          "xtick.direction": "in", "ytick.direction": "in", "xtick.top": True,
          "ytick.right": True, "legend.frameon": False}


Drawing = TypeVar("Drawing", bound=Callable[..., Any])


def _styled(function: Drawing) -> Drawing:
    """Let a function that draws use the style of a paper. matplotlib reads the style of axes when
    they are made, but that of legends, lines and labels when these are drawn."""
    @functools.wraps(function)
    def run(*arguments: Any, **how: Any) -> Any:
        with matplotlib.rc_context(_STYLE):
            return function(*arguments, **how)
    return run  # type: ignore[return-value]


def _axes(ax: Any) -> Any:
    """Return the axes that are given, or new ones."""
    return ax if ax is not None else plt.subplots(figsize=COLUMN, layout="constrained")[1]


def _plain(value: float, _position: Any = None) -> str:
    """Return the label of a tick of a logarithmic axis: 200, but 10^6."""
    if 0.01 <= value < 10000:
        return f"{value:g}"
    power = int(np.floor(np.log10(value) + 1e-9))
    first = round(value / 10.0 ** power)
    return rf"${first} \times 10^{{{power}}}$" if first > 1 else f"$10^{{{power}}}$"


def _logarithmic(axis: Any, low: float, high: float) -> None:
    """Make an axis logarithmic. Its ticks have labels at powers of ten, at 2 and 5 times these
    where it has few of them, and at equal distances where it has less than one: matplotlib's own
    run into each other."""
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(FuncFormatter(_plain))
    decades = np.log10(high / low)
    if decades < 0.9:
        axis.set_major_locator(MaxNLocator(4))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(ScalarFormatter())
    else:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if decades < 2 else (1.0,)))
        axis.set_minor_locator(LogLocator(subs=tuple(range(2, 10))))


def label(symbol: str, unit: str = "") -> str:
    """Return the label of an axis: the quantity over its unit.

    Examples
    --------
    >>> kith.plot.label("$r$", "A")
    '$r$ / Å'
    """
    base, inverse = (unit[:-3], "$^{-1}$") if unit.endswith("^-1") else (unit, "")
    base = {"A": "Å", "sigma": r"$\sigma$"}.get(base, base)
    return f"{symbol} / {base}{inverse}" if unit else symbol


@_styled
def save(ax: Any, path: Any) -> None:
    """Write the figure of axes to a file: .pdf or .svg, or .png with 300 dots per inch."""
    ax.figure.savefig(path, dpi=300)


@_styled
def pair_distribution(histogram: Any, a: Optional[int] = None, b: Optional[int] = None, *,
                      ax: Any = None, unit: str = "", names: Any = None, **how: Any) -> Any:
    """Draw g(r) of a Histogram: of species a and b, or of every pair of species.

    Parameters
    ----------
    histogram : kith.rdf.Histogram
    a, b : int, optional
        Default: all partials; where one of the two is given, 0 for the other.
    ax : matplotlib.axes.Axes, optional
    unit : str, optional
        Of length.
    names : list of str, optional
        Names of the species, for the legend.
    **how
        Passed to Axes.plot.
    """
    ax = _axes(ax)
    n = histogram.n_species
    chosen = [(a or 0, b or 0)] if n == 1 or a is not None or b is not None else [
        (k, m) for k in range(n) for m in range(k, n)]
    for k, m in chosen:
        text = f"{names[k]}\N{EN DASH}{names[m]}" if names else f"{k}\N{EN DASH}{m}"
        ax.plot(histogram.r, histogram.g(k, m), **{"label": text if n > 1 else None, **how})
    ax.axhline(1, color="0.7", lw=0.6, zorder=0)
    ax.set(xlabel=label("$r$", unit), ylabel="$g(r)$", xlim=(0, histogram.edges[-1]))
    ax.set_ylim(bottom=0)
    if n > 1:
        ax.legend()
    return ax


@_styled
def structure_factor(found: Any, *, ax: Any = None, unit: str = "", **how: Any) -> Any:
    """Draw S(q) of a StructureFactor. `unit` is that of length."""
    ax = _axes(ax)
    ax.plot(found.q, found.s, **how)
    ax.axhline(1, color="0.7", lw=0.6, zorder=0)
    ax.set(xlabel=label("$q$", f"{unit}^-1" if unit else ""), ylabel="$S(q)$")
    ax.set_xlim(left=0)
    ax.set_ylim(bottom=0)
    return ax


@_styled
def mass_function(masses: Any, volume: Optional[float] = None, *, bins: int = 20, ax: Any = None,
                  mass_unit: str = "", unit: str = "", **how: Any) -> Any:
    """Draw the number of halos per interval of log10 mass, with the error of counting.

    Parameters
    ----------
    masses : array, structured array of Groups.halos, or Groups
        Masses of halos; of Groups the numbers of members.
    volume : float, optional
        Divide by it.
    bins : int, optional
    mass_unit, unit : str, optional
        Of masses and lengths.
    """
    if hasattr(masses, "members"):
        masses, symbol = np.asarray(masses.members), "$N$"
    else:
        masses, symbol = np.asarray(masses), "$M$"
        masses = masses["mass"] if masses.dtype.names else masses
    masses = np.asarray(masses, dtype=float)
    masses = masses[masses > 0]
    if not len(masses):
        raise ValueError("masses has no halo with a mass")
    ax = _axes(ax)
    logs = np.log10(masses)
    ends = logs.min(), logs.max()
    if ends[1] - ends[0] < 1e-9:
        ends = ends[0] - 0.5, ends[1] + 0.5
    counts, edges = np.histogram(logs, bins=bins, range=ends)
    scale = 1 / ((edges[1] - edges[0]) * (volume or 1.0))
    some = counts > 0
    per = counts[some] * scale
    _logarithmic(ax.xaxis, 10 ** edges[0], 10 ** edges[-1])
    _logarithmic(ax.yaxis, per.min(), per.max())
    ax.errorbar(10 ** ((edges[1:] + edges[:-1]) / 2)[some], per,
                np.sqrt(counts[some]) * scale,
                **{"fmt": "o-", "ms": 2.5, "elinewidth": 0.6, "capsize": 1.5, **how})
    what = f"d$n$/dlog$_{{10}}${symbol}"
    ax.set(xlabel=label(symbol, mass_unit),
           ylabel=label(what, f"{unit}$^{{-3}}$" if unit and volume else ""))
    return ax


# Greys in which single particles can be seen on white.
_SEEN = LinearSegmentedColormap.from_list("seen", ["0.75", "0.4", "0.0"])


@_styled
def halo_map(groups: Any, x: Any, *, axes: tuple[int, int] = (0, 1), bins: int = 256,
             ax: Any = None, unit: str = "", most: int = 500) -> Any:
    """Draw the density of particles, projected, with a circle around each of the largest halos.

    Parameters
    ----------
    groups : kith.Groups
    x : array [n][dim]
        The coordinates that the groups are of.
    axes : (int, int), optional
        The coordinates that are drawn, from left to right and upwards.
    bins : int, optional
        Pixels along each.
    unit : str, optional
        Of length.
    most : int, optional
        The number of halos with a circle, whose radius is radius_max.
    """
    ax = _axes(ax)
    x = np.asarray(x)
    k, m = axes
    density, across, up = np.histogram2d(x[:, k], x[:, m], bins=bins)
    density[density == 0] = np.nan
    image = ax.imshow(density.T, origin="lower", extent=(across[0], across[-1], up[0], up[-1]),
                      norm=LogNorm(), cmap=_SEEN, interpolation="nearest")
    halos = groups.halos()[:most]
    for halo in halos:
        ax.add_patch(plt.Circle((halo["centre"][k], halo["centre"][m]), halo["radius_max"],
                                fill=False, color="C3", lw=0.5))
    ax.figure.colorbar(image, ax=ax, label="particles per pixel")
    ax.set(xlabel=label("$" + "xyz"[k] + "$", unit), ylabel=label("$" + "xyz"[m] + "$", unit),
           aspect="equal")
    return ax


@_styled
def order_parameters(record: Any, names: Any = ("polarisation", "milling"), *, ax: Any = None,
                     **how: Any) -> Any:
    """Draw measures of a flock over its steps, as Flock.record returns them."""
    ax = _axes(ax)
    for name in names:
        ax.plot(record["step"], record[name], label=name, **how)
    ax.set(xlabel="step", ylabel="order parameter" if len(names) > 1 else names[0])
    if set(names) <= {"polarisation", "milling"}:
        ax.set_ylim(0, 1.02)
    if len(names) > 1:
        ax.legend()
    return ax
