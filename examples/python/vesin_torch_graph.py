# SPDX-License-Identifier: BSD-3-Clause
"""A neighbour list with gradients, as in vesin-torch's documentation: NeighborList.compute."""

# %%
import kith
import torch
import vesin_torch

generator = torch.Generator().manual_seed(1)
points = (torch.rand((300, 3), generator=generator, dtype=torch.float64) * 8).requires_grad_()
box = 8 * torch.eye(3, dtype=torch.float64)

# %%
# vesin-torch: a full list, and the gradient of a sum over its distances
calculator = vesin_torch.NeighborList(cutoff=2.4, full_list=True)
i, j, d = calculator.compute(points=points, box=box, periodic=True, quantities="ijd")
(theirs,) = torch.autograd.grad((-d).exp().sum(), points)

# %%
# kith
graph = kith.torch.radius_graph(points, 2.4, box)
(own,) = torch.autograd.grad((-graph.distances).exp().sum(), points)

# %%
assert graph.edge_index.shape[1] == len(d)
assert torch.equal(torch.bincount(graph.edge_index[1]), torch.bincount(i.to(torch.int64)))
assert torch.allclose(graph.distances.sort().values, d.sort().values, atol=1e-12)
assert torch.allclose(own, theirs, atol=1e-10)
print(f"{len(d)} edges, largest gradient {own.abs().max():.6f}")
