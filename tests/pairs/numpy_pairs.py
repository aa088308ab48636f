# SPDX-License-Identifier: BSD-3-Clause
"""The definition of a pair in NumPy: every i, j and image, in the precision of the coordinates."""
import itertools

import numpy as np


def is_straight(rows):
    """Nothing off the diagonal, nothing negative on it."""
    return not np.any(rows - np.diag(np.diag(rows))) and np.all(np.diag(rows) >= 0)


def fractions(xyz, rows, origin):
    """Fractional coordinates, in double."""
    return (xyz.astype(np.float64) - origin.astype(np.float64)) @ np.linalg.inv(
        rows.astype(np.float64))


def wrap(xyz, rows, origin, periodic):
    """Return the wrapped coordinates and how many boxes each was moved down."""
    x, w = xyz.copy(), np.zeros_like(xyz)
    if not is_straight(rows):
        whole = np.floor(fractions(xyz, rows, origin)).astype(xyz.dtype)
        w = np.where(np.array(periodic, bool), whole, w)
        for k in (2, 1, 0):
            x = x - w[:, k, None] * rows[k]
        return x, w
    for k in np.flatnonzero(periodic):
        side, lo = rows[k, k], origin[k]
        hi = lo + side
        outside = ~((lo <= x[:, k]) & (x[:, k] < hi))
        t, v = x[outside, k], w[outside, k]
        v = np.floor((t - lo) / side)
        t = t - v * side
        t, v = np.where(t >= hi, t - side, t), np.where(t >= hi, v + 1, v)
        t, v = np.where(t < lo, t + side, t), np.where(t < lo, v - 1, v)
        x[outside, k], w[outside, k] = np.where(t >= hi, lo, t), v
    return x, w


def find(xyz, cutoff, *, rows, origin=(0, 0, 0), periodic=(0, 0, 0), dim=3, against=None,
         full=False):
    """Return i, j, S, d, r of the sorted list. rows must be independent, also of open axes."""
    real = xyz.dtype.type
    rows, origin = np.array(rows, real), np.array(origin, real)
    if dim == 2:
        periodic = (periodic[0], periodic[1], 0)
        rows[2], rows[:2, 2], xyz = (0, 0, 1), 0, xyz * np.array([1, 1, 0], real)
        against = None if against is None else against * np.array([1, 1, 0], real)
    height = 1 / np.linalg.norm(np.linalg.inv(rows.astype(np.float64)), axis=0)
    reach = [int(np.ceil(cutoff / height[k])) + 1 if periodic[k] else 0 for k in range(3)]
    a, a_boxes = wrap(xyz, rows, origin, periodic)
    b, b_boxes = (a, a_boxes) if against is None else wrap(against, rows, origin, periodic)
    rc2 = real(cutoff) * real(cutoff)
    found = []
    for image in itertools.product(*(range(-r, r + 1) for r in reach)):
        d = b[None, :] - a[:, None]
        for k in (2, 1, 0):
            d = d + real(image[k]) * rows[k]
        r2 = (d[..., 0] * d[..., 0] + d[..., 1] * d[..., 1]) + d[..., 2] * d[..., 2]
        near = r2 <= rc2
        if against is None:
            last = next((s for s in image[::-1] if s), 0)
            if last == 0:
                np.fill_diagonal(near, False)
            if not full:
                near &= np.triu(np.ones(near.shape, bool), 0 if last > 0 else 1)
        i, j = np.nonzero(near)
        shift = np.array(image) - b_boxes[j].astype(np.int64) + a_boxes[i].astype(np.int64)
        found.append((i, j, shift, d[i, j], np.sqrt(r2[i, j])))
    i, j, shift, d, r = (np.concatenate(parts) for parts in zip(*found))
    order = np.lexsort((shift[:, 0], shift[:, 1], shift[:, 2], j, i))
    return i[order], j[order], shift[order], d[order], r[order]
