# SPDX-License-Identifier: BSD-3-Clause
"""Random boxes, points and options: the library against NumPy, through the shared library."""

import needs

try:
    import numpy as np
    from hypothesis import HealthCheck, assume, given, settings
    from hypothesis import strategies as st
except ImportError as error:
    needs.leave(error)

import kith
import numpy_pairs

SETTINGS = settings(max_examples=400, deadline=None, derandomize=True, database=None,
                    suppress_health_check=list(HealthCheck))

sides = st.sampled_from([0.5, 0.7, 1.0, 1.1, 2.0, 3.3])
skews = st.sampled_from([-2.3, -0.6, -0.25, 0.0, 0.0, 0.3, 0.5, 1.9])


@st.composite
def questions(draw):
    """A search: coordinates and the arguments of numpy_pairs.find()."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    real = draw(st.sampled_from([np.float32, np.float64]))
    dim = draw(st.sampled_from([3, 3, 3, 2]))
    rows = np.diag([draw(sides) for _ in range(3)])
    if draw(st.booleans()):
        rows[1, 0], rows[2, 0], rows[2, 1] = draw(skews), draw(skews), draw(skews)
        if dim == 2:
            rows[2, :2] = 0
        elif draw(st.booleans()):
            rows = rows @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
    rows = rows.astype(real).astype(np.float64)
    straight = numpy_pairs.is_straight(rows)
    periodic = tuple(draw(st.booleans()) for _ in range(3))
    origin = np.array([draw(st.sampled_from([0.0, -0.5, 0.1, 7.3])) for _ in range(3)])

    def points(most):
        n = draw(st.integers(0, most))
        kind = draw(st.sampled_from(["uniform", "grid", "ulps"] if straight else ["uniform"]))
        if kind == "uniform":
            xyz = origin + rng.random((n, 3)) @ rows
            xyz += rng.integers(-2, 3, (n, 3)) * np.array(periodic) @ rows
        else:
            xyz = origin + rng.integers(-8, 13, (n, 3)) * np.diag(rows) / 4
        if kind == "ulps":
            xyz = xyz * (1 + rng.integers(-2, 3, (n, 3)) * np.finfo(real).eps)
        return np.ascontiguousarray(xyz, real)

    xyz = points(25)
    against = points(25) if draw(st.booleans()) else None
    if not straight:
        where = [p for p in (xyz, against) if p is not None and len(p)]
        for p in where:
            f = numpy_pairs.fractions(p, rows.astype(real), origin.astype(real))[:, :dim]
            assume(np.abs(f - np.round(f)).min() > 1e-11)
    cutoff = draw(st.sampled_from([0.1, 0.25, 0.35, 0.5, 0.75, 1.0, 1.3]))
    return xyz, cutoff, dict(rows=rows, origin=origin, periodic=periodic, dim=dim, against=against,
                             full=draw(st.booleans()))


def ask(context, question, csr, sort):
    """Return i, j, S, d, r of kith's list."""
    xyz, cutoff, arguments = question
    dim, against = arguments["dim"], arguments["against"]
    box = kith.Box(arguments["rows"][:dim, :dim], arguments["periodic"][:dim],
                   arguments["origin"][:dim])
    first, *rest = kith.pairs(xyz[:, :dim], cutoff, box, "ojSDd" if csr else "ijSDd",
                              layout="csr" if csr else "ij", full=arguments["full"], sort=sort,
                              against=None if against is None else against[:, :dim], ctx=context)
    if csr:
        first = np.repeat(np.arange(len(xyz), dtype=np.int32), np.diff(first))
    return first, *rest


def by_name(lists):
    """Sort an unsorted list's arrays."""
    i, j, shift, _, _ = lists
    order = np.lexsort((*shift.T, j, i))
    return tuple(array[order] for array in lists)


def check(context, question):
    xyz, cutoff, arguments = question
    want = numpy_pairs.find(xyz, cutoff, **arguments)
    want = [array[:, :arguments["dim"]] if array.ndim == 2 else array for array in want]
    for csr in (False, True):
        for sort in (True, False):
            got = ask(context, question, csr, sort)
            got = got if sort else by_name(got)
            for name, g, w in zip("ijSdr", got, want):
                assert g.shape == w.shape, f"{len(got[0])} pairs, expected {len(want[0])}"
                assert np.array_equal(g, w), f"{name} differs, csr {csr}, sort {sort}"


def main():
    with kith.Context(threads=2) as context:
        SETTINGS(given(questions())(lambda question: check(context, question)))()


main()
