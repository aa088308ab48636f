# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch with a CUDA graph: each replay finds the neighbours of particles that have moved, and the
energy of their pairs, with nothing that waits for the host. The list has a fixed shape; `count`
counts rows that are too short on the GPU, so that an overflow is seen when the host looks."""
import sys

try:
    import numpy as np
    import torch
except ImportError as error:
    print(f"skipped: {error} (pip install numpy torch)")
    sys.exit(77)
if not torch.cuda.is_available():
    print("skipped: PyTorch has no GPU (a machine with one)")
    sys.exit(77)

import kith

N, WIDTH, CUTOFF, BOX = 20000, 96, 0.08, 1.0
x = torch.rand((N, 3), device="cuda", dtype=torch.float64)
j = torch.empty((N, WIDTH), device="cuda", dtype=torch.int32)
d = torch.empty((N, WIDTH), device="cuda", dtype=torch.float64)
count = torch.empty(3, device="cuda", dtype=torch.int64)


def energy():
    """Find the neighbours, and add up a potential; entries without a neighbour are at infinity."""
    kith.pairs(x, CUTOFF, BOX, "jd", layout="matrix", out=(j, d), count=count)
    return ((CUTOFF - d).clamp(min=0) ** 2).sum() / 2


stream = torch.cuda.Stream()
with torch.cuda.stream(stream):
    energy()  # makes the scratch memory that the graph uses
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        total = energy()

for step in range(5):
    x.uniform_()
    torch.cuda.synchronize()
    graph.replay()
    torch.cuda.synchronize()
    pairs, widest, overflowed = count.tolist()
    distances = kith.pairs(x.cpu().numpy(), CUTOFF, BOX, "d")
    expected = ((CUTOFF - distances) ** 2).sum()
    print(f"step {step}: {pairs} pairs, at most {widest} neighbours, energy {total.item():.6f}")
    if overflowed:
        print(f"{overflowed} particles have more than {WIDTH} neighbours")
    assert not overflowed and pairs == 2 * len(distances)
    assert np.isclose(total.item(), expected, rtol=1e-10)
