# SPDX-License-Identifier: BSD-3-Clause
"""Coordination numbers, as in ASE's documentation of ase.neighborlist.neighbor_list."""

# %%
import kith
import numpy as np
from ase.build import bulk, molecule
from ase.neighborlist import neighbor_list

atoms = bulk("Cu", "fcc", a=3.6) * (4, 4, 4)
atoms.rattle(0.1, seed=1)

# %%
# ASE: coordination, and a histogram of distances
i = neighbor_list("i", atoms, 3.0)
coordination = np.bincount(i)
d = neighbor_list("d", atoms, 10.0)
h, edges = np.histogram(d, bins=100)

# %%
# kith: the same calls, in another module
assert np.array_equal(np.bincount(kith.ase.neighbor_list("i", atoms, 3.0)), coordination)
assert np.array_equal(np.histogram(kith.ase.neighbor_list("d", atoms, 10.0), edges)[0], h)

# %%
# radii by pairs of elements, and radii of atoms
ethanol = molecule("CH3CH2OH")
for cutoff in ({("C", "H"): 1.3, ("C", "C"): 1.85, ("C", "O"): 1.85, ("H", "O"): 1.2},
               [0.8 if one == "H" else 1.0 for one in ethanol.symbols]):
    theirs = neighbor_list("ij", ethanol, cutoff)
    own = kith.ase.neighbor_list("ij", ethanol, cutoff)
    assert set(zip(*theirs)) == set(zip(*own)) and len(own[0]) == len(theirs[0])
print(f"coordination {coordination.mean():.3f}, {h.sum()} distances")
