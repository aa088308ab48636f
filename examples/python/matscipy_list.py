# SPDX-License-Identifier: BSD-3-Clause
"""Coordination numbers and bond lengths of a crystal, as in matscipy's documentation:
neighbour_list."""

# %%
import kith
import numpy as np
from ase.build import bulk
from matscipy.neighbours import neighbour_list

atoms = bulk("Si", cubic=True) * (4, 4, 4)
atoms.rattle(0.05, seed=3)

# %%
# matscipy
i, d = neighbour_list("id", atoms, cutoff=2.8)
coordination = np.bincount(i, minlength=len(atoms))

# %%
# kith
own_i, own_d = kith.ase.neighbor_list("id", atoms, 2.8)
assert np.array_equal(np.bincount(own_i, minlength=len(atoms)), coordination)
assert np.allclose(np.sort(own_d), np.sort(d), atol=1e-12)
n, own = kith.count_pairs(atoms, 2.8, neighbours=True)  # without a list
assert np.array_equal(own, coordination) and 2 * n == len(d)

# %%
# matscipy, radii by pairs of elements, against itself: kith takes the same dict
salt = bulk("NaCl", "rocksalt", a=5.64) * (3, 3, 3)
radii = {("Na", "Cl"): 3.0, ("Cl", "Cl"): 4.5}
assert len(neighbour_list("i", salt, radii)) == len(kith.ase.neighbor_list("i", salt, radii))
print(f"coordination {coordination.mean():.3f}, mean bond {own_d.mean():.6f} A")
