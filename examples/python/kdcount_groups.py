# SPDX-License-Identifier: BSD-3-Clause
"""Friends of friends and pair counts of a periodic box, as in kdcount's documentation:
kdcount.cluster.fof and kdcount.KDTree."""

# %%
import kdcount
import kith
import numpy as np
from kdcount import cluster, models

points = np.random.default_rng(7).random((3000, 3))
length = 0.7 * len(points) ** (-1 / 3)

# %%
# kdcount: labels by numbers of members, and the pairs within a radius, each in both orders
theirs = cluster.fof(models.dataset(points, boxsize=1.0), length)
tree = kdcount.KDTree(points, boxsize=1.0)
r, i, j = tree.root.enum(tree.root, 0.05)

# %%
# kith
groups = kith.fof(points, length, 1.0, min_members=1)
pairs, d = kith.count_pairs(points, 0.05, 1.0), kith.pairs(points, 0.05, 1.0, "d")

# %%
assert theirs.N == len(groups)
assert sorted(theirs.length.tolist(), reverse=True) == groups.members.tolist()
assert len(set(zip(theirs.labels.tolist(), groups.labels.tolist()))) == len(groups)
different = i != j
assert different.sum() == 2 * pairs
assert np.allclose(np.sort(r[different])[::2], np.sort(d), atol=1e-12)
print(f"{len(groups)} groups, the largest of {groups.members[0]} points; {pairs} pairs")
