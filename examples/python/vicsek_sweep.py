# SPDX-License-Identifier: BSD-3-Clause
"""Vicsek's transition, from a sweep to a figure: the order of a flock against noise, by kith, drawn
by Matplotlib, and checked against the model written in NumPy. From a shell, `kith flock --sweep`
makes such a table, with more columns, and goes on after it was killed."""

# %%
import kith
import matplotlib.pyplot as plt
import numpy as np

side, speed, n = 5.0, 0.1, 100  # density 4; the radius, and the time step, are 1
equilibrate, sample, every, replicas = 200, 1000, 5, 4
noises = np.arange(0.1, 1, 0.1)  # of pi: new headings are within noise * pi of the mean heading


def start(seed):
    """Random places and headings."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(-np.pi, np.pi, n)
    return rng.random((n, 2)) * side, speed * np.stack([np.cos(angle), np.sin(angle)], axis=1), rng


# %% [markdown]
# The sweep: runs for each noise, which differ in their seeds. A context of one thread is enough for
# a small flock.

# %%
context = kith.Context(threads=1)


def fly(noise, seed):
    """The polarisation of a flock by kith, in equilibrium, every few steps."""
    x, v, _ = start(seed)
    flock = kith.Flock(x, v, kith.Box([side, side]), ctx=context, model="vicsek", alignment=(1, 1),
                       max_speed=speed, time_step=1, noise=noise, seed=seed)
    with flock:
        return flock.step(equilibrate).record(sample, every)["polarisation"]


runs = np.array([[fly(noise, seed) for seed in range(replicas)] for noise in noises])

# %% [markdown]
# Order, susceptibility and Binder's cumulant of each run. Their means over the replicas have the
# standard errors that the replicas show.

# %%


def mean(values):
    """Mean over the replicas, and its standard error."""
    return values.mean(axis=1), values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])


first, second, fourth = ((runs ** k).mean(axis=2) for k in (1, 2, 4))
order, order_error = mean(first)
susceptibility, susceptibility_error = mean(n * (second - first ** 2))
binder, binder_error = mean(1 - fourth / (3 * second ** 2))

# %% [markdown]
# The model in NumPy: all pairs, the nearest image, the mean heading of those within the radius, a
# turn at random. Other random numbers, so the order is equal within the errors.

# %%


def fly_by_numpy(noise, seed):
    """The same quantity of a flock by NumPy."""
    x, v, rng = start(seed + 1000)
    orders = []
    for step in range(equilibrate + sample):
        d = x[:, None] - x
        d -= side * np.round(d / side)
        u = ((d ** 2).sum(axis=2) <= 1) @ v
        angle = np.arctan2(u[:, 1], u[:, 0]) + noise * np.pi * rng.uniform(-1, 1, n)
        v = speed * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        x = (x + v) % side
        if step >= equilibrate and step % every == 0:
            orders.append(np.linalg.norm(v.mean(axis=0)) / speed)
    return orders


checked = [1, 4, 7]  # noise 0.2, 0.5, 0.8
numpy_order, numpy_error = mean(np.array([[np.mean(fly_by_numpy(noises[k], seed))
                                           for seed in range(replicas)] for k in checked]))
apart = np.abs(order[checked] - numpy_order)
assert (apart < 6 * np.hypot(order_error[checked], numpy_error) + 0.005).all(), apart
assert order[0] > 0.95 and order[-1] < 0.2, order

# %%
figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained")
for axis, name, values, errors in ((axes[0], "order", order, order_error),
                                   (axes[1], "susceptibility", susceptibility,
                                    susceptibility_error),
                                   (axes[2], "Binder's cumulant", binder, binder_error)):
    axis.errorbar(noises, values, errors, marker="o", label="kith")
    axis.set(xlabel="noise / pi", ylabel=name)
axes[0].errorbar(noises[checked], numpy_order, numpy_error, fmt="kx", label="NumPy", zorder=3)
axes[0].legend()
figure.savefig("vicsek_sweep.png", dpi=150)

# %%
largest = susceptibility.argmax()
print(f"order {order[1]:.3f}, NumPy {numpy_order[0]:.3f} at noise 0.2; susceptibility is largest "
      f"at noise {noises[largest]:.1f}: {susceptibility[largest]:.2f}")
