# SPDX-License-Identifier: BSD-3-Clause
"""Molecular dynamics of soft spheres under jax.jit: neighbours in arrays of a fixed shape, found
inside the compiled step; the energy is that of all pairs in JAX."""

# %%
import jax
import kith
import numpy as np

import kith.jax

jax.config.update("jax_enable_x64", True)
N, SIDE, CUTOFF, WIDTH = 500, 8.0, 1.2, 40
x = jax.numpy.asarray(np.random.default_rng(1).random((N, 3)) * SIDE)
v = jax.numpy.zeros_like(x)

# %%
# JAX: all pairs, N^2 of them


def energy_of_all(x):
    apart = x[:, None] - x[None]
    apart = apart - SIDE * jax.numpy.round(apart / SIDE)
    square = (apart ** 2).sum(-1) + 1e9 * jax.numpy.eye(N)
    return ((CUTOFF - jax.numpy.sqrt(square)).clip(0) ** 2).sum() / 2


# %%
# kith: rows of WIDTH neighbours. Where a particle has more, distances are NaN, and so is the energy


def energy(x):
    near = kith.jax.neighbours(x, CUTOFF, SIDE, width=WIDTH)
    return ((CUTOFF - near.distances).clip(0) ** 2).sum() / 2


@jax.jit
def step(x, v):
    half = v - 0.005 * jax.grad(energy)(x)
    x = x + 0.01 * half
    return x, half - 0.005 * jax.grad(energy)(x)


# %%
before = float(energy(x))
for _ in range(100):
    x, v = step(x, v)
now, everything = float(energy(x)), float(energy_of_all(x))
assert np.isclose(now, everything, rtol=1e-9)
assert np.allclose(jax.grad(energy)(x), jax.grad(energy_of_all)(x), atol=1e-9)
kinetic = float((v ** 2).sum() / 2)
assert np.isclose(now + kinetic, before, rtol=1e-3)
print(f"energy {before:.4f}: {now:.4f} potential and {kinetic:.4f} kinetic after 100 steps")
