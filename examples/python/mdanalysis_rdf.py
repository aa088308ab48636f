# SPDX-License-Identifier: BSD-3-Clause
"""g(r) over a trajectory, as in MDAnalysis's user guide: InterRDF between two groups of atoms."""

# %%
import kith
import MDAnalysis as mda
import numpy as np
from MDAnalysis.analysis.rdf import InterRDF

random = np.random.default_rng(9)
universe = mda.Universe.empty(900, trajectory=True)
universe.add_TopologyAttr("names", ["OW", "HW1", "HW2"] * 300)
universe.load_new(random.random((6, 900, 3)).astype(np.float32) * 20,
                  dimensions=np.tile([20, 20, 20, 90, 90, 90], (6, 1)))
oxygen, hydrogen = universe.select_atoms("name OW"), universe.select_atoms("name HW*")

# %%
# MDAnalysis
theirs = InterRDF(oxygen, hydrogen, nbins=60, range=(0.0, 9.0)).run()

# %%
# kith: pairs of one group with the other, frame by frame
histogram = kith.rdf.Histogram(r_max=9.0, bins=60)
for frame in kith.frames(universe):
    histogram.add(frame.positions[oxygen.indices], frame.box,
                  against=frame.positions[hydrogen.indices])

assert np.abs(histogram.counts() - theirs.results.count).max() <= 2  # distances of float32
assert np.allclose(histogram.edges, theirs.results.edges)
some = histogram.counts() > 50
assert np.allclose(histogram.g()[some], theirs.results.rdf[some], rtol=0.05)
print(f"{histogram.counts().sum()} pairs, g at {histogram.r[-1]:.2f} A: {histogram.g()[-1]:.4f}, "
      f"MDAnalysis {theirs.results.rdf[-1]:.4f}")
