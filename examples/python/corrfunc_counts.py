# SPDX-License-Identifier: BSD-3-Clause
"""Pair counts and the correlation function of a periodic box, as in Corrfunc's documentation:
Corrfunc.theory.DD and Corrfunc.theory.xi."""

# %%
import kith
import numpy as np
from Corrfunc.theory.DD import DD
from Corrfunc.theory.xi import xi

points = np.random.default_rng(42).uniform(0, 250.0, (20000, 3))
X, Y, Z = points.T.copy()
edges = np.linspace(0.5, 15.0, 15)

# %%
# Corrfunc: pairs in each bin, each pair in both orders, and xi(r)
theirs = DD(1, 1, edges, X, Y, Z, boxsize=250.0, periodic=True)
correlation = xi(250.0, 1, edges, X, Y, Z)

# %%
# kith: each pair once; g(r) = 1 + xi(r)
histogram = kith.rdf.Histogram(edges=edges)
histogram.add(points, 250.0)
own = histogram.g() - 1

# %%
assert np.array_equal(theirs["npairs"], 2 * histogram.counts())
assert np.allclose(correlation["xi"], own, rtol=0, atol=1e-9)
print(f"{histogram.counts().sum()} pairs, xi in the last bin {own[-1]:.6f}")
