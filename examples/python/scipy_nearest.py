# SPDX-License-Identifier: BSD-3-Clause
"""The nearest neighbours of points, as in SciPy's documentation of scipy.spatial.cKDTree.query."""

# %%
import kith
import numpy as np
from scipy.spatial import cKDTree

# %%
# The documentation's lattice: the nearest of its points, and the first and second nearest
x, y = np.mgrid[0:5, 2:8]
lattice = np.c_[x.ravel(), y.ravel()]
tree = cKDTree(lattice)
asked = np.array([[0, 0], [2.2, 2.9]])
j, d = kith.nearest(asked, 2, against=lattice)
for k in (1, 2):
    dd, ii = tree.query(asked, k=[k])
    assert np.array_equal(ii[:, 0], j[:, k - 1]) and np.array_equal(dd[:, 0], d[:, k - 1])
print(d, j, sep="\n")

# %%
# The eight nearest in a periodic box. A particle is SciPy's first neighbour of itself, not kith's
random = np.random.default_rng(21701)
points = random.random((10000, 3))
dd, ii = cKDTree(points, boxsize=1.0).query(points, k=9)
j, d, S = kith.nearest(points, 8, 1.0, "jdS")
assert np.array_equal(ii[:, 1:], j) and np.allclose(dd[:, 1:], d)
print(f"{np.count_nonzero(S.any(axis=2))} of {j.size} neighbours are in another image of the box")

# %%
# distance_upper_bound: SciPy fills rows with n, kith with -1; both with infinite distances
dd, ii = cKDTree(points).query(points, k=9, distance_upper_bound=0.05)
j, n, d = kith.nearest(points, 8, want="jnd", cutoff=0.05)
assert np.array_equal(np.where(ii == len(points), -1, ii)[:, 1:], j)
assert np.allclose(dd[:, 1:], d) and np.array_equal(np.isfinite(d).sum(axis=1), n)
print(f"{n.mean():.3f} neighbours of a particle within 0.05, 8 at most")
