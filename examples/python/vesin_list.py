# SPDX-License-Identifier: BSD-3-Clause
"""A neighbour list, as in vesin's documentation: NeighborList.compute."""

# %%
import kith
import numpy as np
import vesin

points = np.random.default_rng(1).random((500, 3)) * 8
box = 8 * np.eye(3)

# %%
# vesin
calculator = vesin.NeighborList(cutoff=2.4, full_list=True)
i, j, S, d, D = calculator.compute(points=points, box=box, periodic=True, quantities="ijSdD")

# %%
# kith: the letters are the same
found = kith.pairs(points, 2.4, box, "ijSdD", full=True, sort=True)

order = np.lexsort((*S.T, j, i))
ours = np.lexsort((*found[2].T, found[1], found[0]))
for theirs, own in zip((i, j, S, d, D), found):
    assert np.allclose(theirs[order], own[ours], atol=1e-12)
print(f"{len(d)} pairs, mean distance {found[3].mean():.6f}")
