# SPDX-License-Identifier: BSD-3-Clause
"""The same points given to other programs: scipy's cKDTree, vesin, matscipy (also
as matscipy-neighbours); what is installed.

They round in their own ways, so a pair may be missing from one list if its distance is the cutoff
to within a few units of the last place; all others must agree.
"""
import importlib
import sys

import needs

try:
    import numpy as np
except ImportError as error:
    needs.leave(error)

import kith

N, CUTOFF, TOLERANCE = 20000, 0.06, 1e-12
CELL = np.array([[1.0, 0.0, 0.0], [0.35, 0.9, 0.0], [-0.2, 0.25, 1.1]])
BRICK = np.diag([1.0, 0.9, 1.1])


def compare(what, mine, theirs, distance):
    """Compare sets of rows (i, j, S...); distance gives a row's length."""
    mine, theirs = ({tuple(row) for row in rows.tolist()} for rows in (mine, theirs))
    assert len(mine) > N, f"{what}: only {len(mine)} pairs"
    for row in mine ^ theirs:
        off = abs(distance(row) / CUTOFF - 1)
        assert off < TOLERANCE, f"{what}: {row} is in one list, {off:.1e} from the cutoff"


def length(xyz, rows):
    def of(row):
        shift = np.array(row[2:] or (0, 0, 0), float)
        return np.linalg.norm(xyz[row[1]] - xyz[row[0]] + shift @ rows)
    return of


def scipy(spatial, context, rng):
    xyz = rng.random((N, 3))
    theirs = spatial.cKDTree(xyz).query_pairs(CUTOFF, output_type="ndarray")
    i, j = kith.pairs(xyz, CUTOFF, ctx=context)
    compare("scipy, open", np.column_stack((i, j)), theirs, length(xyz, BRICK))
    sides = np.diag(BRICK)
    xyz = np.ascontiguousarray(xyz * sides)
    theirs = spatial.cKDTree(xyz, boxsize=sides).query_pairs(CUTOFF, output_type="ndarray")
    i, j = kith.pairs(xyz, CUTOFF, BRICK, ctx=context)

    def nearest(row):
        gap = xyz[row[1]] - xyz[row[0]]
        return np.linalg.norm(gap - sides * np.round(gap / sides))
    compare("scipy, periodic", np.column_stack((i, j)), theirs, nearest)


def periodic_cases(context, rng):
    """Yield a name, points, rows, periodic axes and our full list with shifts."""
    for name, rows in (("brick", BRICK), ("cell", CELL)):
        for periodic in ((1, 1, 1), (1, 0, 1), (0, 0, 0)):
            xyz = np.ascontiguousarray(rng.random((N, 3)) @ rows)
            i, j, shift = kith.pairs(xyz, CUTOFF, kith.Box(rows, periodic), "ijS", full=True,
                                     ctx=context)
            yield f"{name} {periodic}", xyz, rows, periodic, np.column_stack((i, j, shift))


def vesin(module, context, rng):
    for name, xyz, rows, periodic, mine in periodic_cases(context, rng):
        if len(set(periodic)) > 1:
            continue
        search = module.NeighborList(cutoff=CUTOFF, full_list=True)
        i, j, shift = search.compute(points=xyz, box=rows, periodic=bool(periodic[0]),
                                     quantities="ijS")
        compare(f"vesin, {name}", mine, np.column_stack((i, j, shift)).astype(np.int64),
                length(xyz, rows))


def matscipy(module, context, rng):
    for name, xyz, rows, periodic, mine in periodic_cases(context, rng):
        i, j, shift = module.neighbour_list("ijS", cutoff=CUTOFF, positions=xyz, cell=rows,
                                            pbc=np.array(periodic, bool))
        compare(f"matscipy, {name}", mine, np.column_stack((i, j, shift)).astype(np.int64),
                length(xyz, rows))


def main():
    peers = [("scipy.spatial", scipy), ("vesin", vesin), ("matscipy.neighbours", matscipy),
             ("matscipy_neighbours", matscipy)]
    asked = 0
    with kith.Context(threads=2) as context:
        for name, compare_with in peers:
            try:
                module = importlib.import_module(name)
            except ImportError as error:
                needs.tell(needs.missing(error.name))
                continue
            compare_with(module, context, np.random.default_rng(12))
            asked += 1
    if asked == 0:
        sys.exit(needs.SKIPPED)


main()
