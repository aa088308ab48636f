# SPDX-License-Identifier: BSD-3-Clause
"""Friends of friends, as in pyfof's README: groups of points in two dimensions."""

# %%
import kith
import numpy as np
import pyfof

random = np.random.default_rng(2)
data = np.concatenate([random.normal(loc=centre, scale=0.4, size=(80, 2))
                       for centre in ((-2, -1.5), (0, 1.5), (2, -1))])

# %%
# pyfof: a list of the indices of each group
theirs = pyfof.friends_of_friends(data, 0.4)

# %%
# kith: labels, falling by size
groups = kith.fof(data, 0.4, min_members=1)
own = [np.flatnonzero(groups.labels == k + 1) for k in range(len(groups))]

assert sorted(map(sorted, theirs)) == sorted(map(list, own))
print(f"{len(groups)} groups, the largest of {groups.members[0]} points")
