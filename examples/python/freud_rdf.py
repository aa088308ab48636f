# SPDX-License-Identifier: BSD-3-Clause
"""Neighbours and g(r), as in freud's documentation: AABBQuery and freud.density.RDF."""

# %%
import freud
import kith
import numpy as np

box, points = freud.data.make_random_system(12, 2000, seed=5)

# %%
# freud: a query with r_max, then g(r) averaged over two systems
query = freud.locality.AABBQuery(box, points)
bonds = query.query(points, {"r_max": 1.5, "exclude_ii": True}).toNeighborList()
rdf = freud.density.RDF(bins=50, r_max=4)
rdf.compute((box, points), reset=False)
other = freud.data.make_random_system(12, 2000, seed=6)
rdf.compute(other, reset=False)

# %%
# kith; coordinates of freud are float32, around 0
cell = kith.Box(box.to_matrix().T, origin=[-6, -6, -6])
i, j = kith.pairs(points, 1.5, cell, full=True)
assert abs(len(i) - len(bonds)) <= 4, (len(i), len(bonds))  # freud rounds elsewhere
assert len(set(zip(i.tolist(), j.tolist())) ^ set(map(tuple, bonds[:].tolist()))) <= 8
histogram = kith.rdf.Histogram(r_max=4, bins=50)
histogram.add(points, cell).add(other[1], cell)

# %%
# freud takes n^2 pairs as the ideal gas, kith n (n - 1)
assert np.allclose(rdf.rdf, histogram.g() * (1999 / 2000), rtol=2e-3, atol=2e-3)
print(f"{len(i)} bonds, g(r) in the last bin {histogram.g()[-1]:.4f}, freud {rdf.rdf[-1]:.4f}")
