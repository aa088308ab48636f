# SPDX-License-Identifier: BSD-3-Clause
"""Random points, boxes, lengths and ids: groups against scipy's cKDTree and connected components,
through the shared library. Coordinates and lengths are multiples of 1/32, so that squared distances
are exact and both programs see the same pairs."""

import needs

try:
    import numpy as np
    from hypothesis import HealthCheck, given, settings
    from hypothesis import strategies as st
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree
except ImportError as error:
    needs.leave(error)

import kith

SETTINGS = settings(max_examples=200, deadline=None, derandomize=True, database=None,
                    suppress_health_check=list(HealthCheck))
UNIT, SIDE = 32, 64  # steps in 1, and in the box


@st.composite
def questions(draw):
    """A search: coordinates, length and the arguments of expected()."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    real = draw(st.sampled_from([np.float32, np.float64]))
    n = draw(st.integers(0, 300))
    if draw(st.booleans()):
        steps = rng.integers(0, SIDE, (n, 3))
    else:  # clumps of close and coincident points
        steps = rng.integers(0, SIDE, (8, 3))[rng.integers(0, 8, n)] + rng.integers(0, 4, (n, 3))
    length = draw(st.sampled_from([1, 2, 3, 5, 8, 13, 24])) / UNIT
    ids = rng.permutation(n).astype(np.int64) - n // 2 if draw(st.booleans()) else None
    return np.ascontiguousarray(steps % SIDE / UNIT, real), length, dict(
        periodic=(draw(st.booleans()),) * 3, min_members=draw(st.sampled_from([1, 1, 2, 5])),
        ids=ids)


def expected(xyz, length, periodic, min_members, ids):
    """Labels and members as kith.h defines them."""
    n = len(xyz)
    if n == 0:
        return np.empty(0, np.int32), np.empty(0, np.int64)
    tree = cKDTree(xyz.astype(np.float64), boxsize=SIDE / UNIT if periodic[0] else None)
    i, j = tree.query_pairs(length, output_type="ndarray").reshape(-1, 2).T
    graph = coo_matrix((np.ones(len(i), bool), (i, j)), (n, n))
    _, group = connected_components(graph, directed=False)
    sizes = np.bincount(group)
    least = np.full(len(sizes), np.iinfo(np.int64).max)
    np.minimum.at(least, group, np.arange(n) if ids is None else ids)
    order = np.lexsort((least, -sizes))
    order = order[sizes[order] >= min_members]
    label = np.zeros(len(sizes), np.int32)
    label[order] = np.arange(1, len(order) + 1)
    return label[group], sizes[order]


def check(context, question):
    xyz, length, arguments = question
    groups = kith.fof(xyz, length, kith.Box(SIDE / UNIT, pbc=arguments["periodic"]), ctx=context,
                      min_members=arguments["min_members"], ids=arguments["ids"])
    right_labels, right_members = expected(xyz, length, **arguments)
    assert np.array_equal(groups.members, right_members), \
        f"{groups.members}, expected {right_members}"
    assert np.array_equal(groups.labels, right_labels), f"{groups.labels}, expected {right_labels}"


def main():
    with kith.Context(threads=2) as context:
        SETTINGS(given(questions())(lambda question: check(context, question)))()


main()
