# SPDX-License-Identifier: BSD-3-Clause
"""Pairs within a radius, as in SciPy's documentation of scipy.spatial.cKDTree."""

# %%
import kith
import numpy as np
from scipy.spatial import cKDTree

random = np.random.default_rng(21701)
points, others = random.random((1000, 2)), random.random((600, 2))

# %%
# query_pairs: a set of pairs i < j
tree = cKDTree(points)
i, j = kith.pairs(points, 0.05)
assert set(zip(i.tolist(), j.tolist())) == tree.query_pairs(0.05)

# %%
# query_ball_point: the indices within a radius of each point of another set
offsets, near = kith.pairs(others, 0.05, layout="csr", sort=True, against=points)
for k, theirs in enumerate(tree.query_ball_point(others, 0.05)):
    assert near[offsets[k]:offsets[k + 1]].tolist() == sorted(theirs)

# %%
# sparse_distance_matrix
i, j, d = kith.pairs(others, 0.05, want="ijd", against=points)
matrix = cKDTree(others).sparse_distance_matrix(tree, 0.05).tocsr()
assert matrix.nnz == len(d) and np.allclose(matrix[i, j], d)

# %%
# count_neighbors, and a periodic box
assert cKDTree(others).count_neighbors(tree, 0.05) == len(d)
periodic = cKDTree(points, boxsize=1.0)
assert kith.count_pairs(points, 0.05, kith.Box([1, 1])) == len(periodic.query_pairs(0.05))
print(f"{len(tree.query_pairs(0.05))} pairs, {len(d)} between the sets")
