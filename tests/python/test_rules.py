# SPDX-License-Identifier: BSD-3-Clause
"""Rules of lists in Python: cutoffs by species, radii, exclusions, against lists of one cutoff that
NumPy filters; beside ASE, matscipy and SciPy. test_pairs_types.c, _radii.c and _exclusions.c have
the oracle."""
import os
import sys

import functions
import needs
from functions import raises

try:
    import numpy as np
except ImportError as error:
    needs.leave(error)

os.environ["KITH_BACKEND"] = "cpu"
import kith

random = np.random.default_rng(17)
N = 900
X = random.random((N, 3))
BOX = kith.Box([1.0, 1.2, 0.9])
NAMES = np.array(["Si", "O", "Na"])[random.integers(0, 3, N)]
H = 0.2 * 1000 ** -random.random(N)
TABLE = {("Si", "O"): 0.12, ("O", "O"): 0.2, ("Na", "Na"): 0.07}
RULES = {"gather": lambda a, b: a, "scatter": lambda a, b: b, "either": np.maximum,
         "both": np.minimum, "sum": lambda a, b: a + b}


def filtered(x, reach, keep, full=True, against=None, box=BOX):
    """Return the sorted list of one cutoff, of what keep(i, j, d) says."""
    i, j, d, v, s = kith.pairs(x, reach, box, "ijdDS", full=full, sort=True, against=against)
    kept = keep(i, j, d)
    return [one[kept] for one in (i, j, d, v, s)]


def same(one, other):
    return len(one) == len(other) and all(
        np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(one, other))


def in_table(a, b):
    """Return the radii of pairs of names."""
    return np.array([TABLE.get((p, q), TABLE.get((q, p), 0.0)) for p, q in zip(a, b)])


def test_species():
    for dtype in (np.float32, np.float64):
        x = X.astype(dtype)
        for full in (False, True):
            want = filtered(x, 0.2, lambda i, j, d: d <= in_table(NAMES[i], NAMES[j]).astype(dtype),
                            full)
            found = kith.pairs(x, TABLE, BOX, "ijdDS", full=full, sort=True, species=NAMES)
            assert same(found, want) and len(want[0]) > 100
            assert kith.count_pairs(x, TABLE, BOX, full=full, species=NAMES) == len(want[0])
    numbers = np.array([["Si", "O", "Na"].index(name) for name in NAMES])
    table = np.array([[0, 0.12, 0], [0.12, 0.2, 0], [0, 0, 0.07]])
    for cutoff, species in ((table, numbers.astype(np.int32)), (table, numbers),
                            ({(0, 1): 0.12, (1, 1): 0.2, (2, 2): 0.07}, numbers),
                            (TABLE, list(NAMES))):
        assert same(kith.pairs(X, cutoff, BOX, "ijdDS", full=True, sort=True, species=species),
                    filtered(X, 0.2, lambda i, j, d: d <= in_table(NAMES[i], NAMES[j])))
    radii = {"Si": 0.05, "O": 0.03, "Na": 0.01}  # sums
    h = np.array([radii[name] for name in NAMES])
    assert same(kith.pairs(X, radii, BOX, "ijdDS", full=True, sort=True, species=NAMES),
                filtered(X, 0.1, lambda i, j, d: d <= h[i] + h[j]))


def test_two_sets():
    other, names = X[:100] * 0.9 + 0.01, NAMES[:100]
    found = kith.pairs(X, TABLE, BOX, "ijdDS", sort=True, against=other, species=(NAMES, names))
    assert same(found, filtered(X, 0.2, lambda i, j, d: d <= in_table(NAMES[i], names[j]),
                                against=other))
    for rule, of in RULES.items():
        found = kith.pairs(X, None, BOX, "ijdDS", sort=True, against=other, radii=(H, H[:100]),
                           rule=rule)
        assert same(found, filtered(X, 0.4, lambda i, j, d: d <= of(H[i], H[:100][j]),
                                    against=other))


def test_radii():
    for dtype in (np.float32, np.float64):
        x, h = X.astype(dtype), H.astype(dtype)
        for rule, of in RULES.items():
            want = filtered(x, 0.41, lambda i, j, d: d <= of(h[i], h[j]))
            found = kith.pairs(x, None, BOX, "ijdDS", full=True, sort=True, radii=h, rule=rule)
            assert same(found, want) and len(want[0]) > 0
            n, each = kith.count_pairs(x, box=BOX, full=True, radii=h, rule=rule, neighbours=True)
            assert n == len(want[0]) and np.array_equal(each, np.bincount(want[0], minlength=N))
            j, number = kith.pairs(x, None, BOX, layout="matrix", sort=True, radii=h, rule=rule)
            assert np.array_equal(number, each) and j[0, 0] == (want[1][0] if each[0] else -1)
            near = kith.pairs(x, 0.05, BOX, "ijdDS", full=True, sort=True, radii=h, rule=rule)
            assert same(near, [one[want[2] <= dtype(0.05)] for one in want])


def test_exclusions():
    molecules = random.integers(-3, 60, N)
    bonds = random.integers(0, N, (3000, 2))
    active = random.random(N) < 0.3
    bonded = {(int(a), int(b)) for a, b in bonds} | {(int(b), int(a)) for a, b in bonds}

    def keep(i, j, d):
        loose = np.array([pair not in bonded for pair in zip(i.tolist(), j.tolist())], bool)
        apart = (molecules[i] < 0) | (molecules[i] != molecules[j])
        return loose & apart & (d >= 0.08) & active[i]

    found = kith.pairs(X, 0.2, BOX, "ijdDS", full=True, sort=True, molecules=molecules,
                       bonds=bonds, r_min=0.08, active=active)
    assert same(found, filtered(X, 0.2, keep))
    assert len(kith.pairs(X, 0.2, BOX, bonds=[])[0]) == len(kith.pairs(X, 0.2, BOX)[0])
    out = np.empty(100000, np.int32), np.empty(100000, np.int32)
    i, _ = kith.pairs(X, 0.2, BOX, full=True, active=active, out=out)
    assert active[i].all() and i.base is out[0]


def test_batch():
    offsets = [0, 300, 300, N]
    found = kith.pairs(X, TABLE, BOX, sort=True, species=NAMES, batch=offsets)
    parts = [kith.pairs(X[a:b], TABLE, BOX, sort=True, species=NAMES[a:b])
             for a, b in zip(offsets, offsets[1:])]
    assert np.array_equal(found[0], np.concatenate([p[0] + a for p, a in zip(parts, offsets)]))
    assert np.array_equal(found[1], np.concatenate([p[1] + a for p, a in zip(parts, offsets)]))


def test_frame():
    frame = kith.Frame(X, BOX, species=np.array([["Si", "O", "Na"].index(n) for n in NAMES]),
                       names=["Si", "O", "Na"])
    assert same(kith.pairs(frame, TABLE, sort=True),
                kith.pairs(X, TABLE, BOX, sort=True, species=NAMES))


def test_errors():
    raises(TypeError, lambda: kith.pairs(X), "cutoff is not given")
    raises(ValueError, lambda: kith.pairs(X, TABLE), "species is not given")
    raises(ValueError, lambda: kith.pairs(X, {}, species=NAMES), "cutoff")
    raises(ValueError, lambda: kith.pairs(X, {("O", "Si"): 1, ("Si", "O"): 2}, species=NAMES), "2")
    raises(ValueError, lambda: kith.pairs(X, 0.1, species=NAMES), "species is given")
    raises(ValueError, lambda: kith.pairs(X, TABLE, species=NAMES[:5]), "species has the shape")
    raises(ValueError, lambda: kith.pairs(X, np.ones((2, 3)), species=NAMES), "cutoff has the")
    raises(ValueError, lambda: kith.pairs(X, TABLE, against=X, species=NAMES), "pair of arrays")
    raises(ValueError, lambda: kith.pairs(X, radii=H), "'gather', 'scatter', 'either', 'both' or")
    raises(ValueError, lambda: kith.pairs(X, rule="sum"), "rule is 'sum', but radii are not given")
    for radii in (H, None), (None, H):
        raises(ValueError, lambda radii=radii: kith.pairs(X, radii=radii, rule="sum", against=X),
               "a pair of arrays, of x and of against")
    raises(ValueError, lambda: kith.pairs(X, 0.1, radii=0 * H, rule="mean"), "'both' or 'sum'")
    raises(kith.LimitError, lambda: kith.pairs(X, box=1.0, radii=1e9 + H, rule="sum"),
           "the largest distance that radii permit is")
    raises(ValueError, lambda: kith.pairs(X, radii=H, rule="mean"), "rule is 'mean'")
    raises(ValueError, lambda: kith.pairs(X, radii=H, rule="gather"), "full=True")
    raises(ValueError, lambda: kith.pairs(X, radii=-H, rule="sum"), "radii[0]")
    raises(ValueError, lambda: kith.pairs(X, 0.1, active=np.ones(N, bool)), "full=True")
    raises(ValueError, lambda: kith.pairs(X, 0.1, full=True, active=np.ones(3, bool)), "active has")
    raises(ValueError, lambda: kith.pairs(X, 0.1, bonds=[(0, N)]), "bonds")
    raises(ValueError, lambda: kith.pairs(X, 0.1, bonds=[(0, 1, 2)]), "bonds has the shape")
    raises(ValueError, lambda: kith.pairs(X, 0.1, molecules=np.zeros(4, int)), "molecules has")
    raises(ValueError, lambda: kith.pairs(X, 0.1, r_min=-1.0), "r_min")


def test_ase():
    """Cutoffs by pairs of elements, and radii of atoms, as ASE takes them; no pair is at one."""
    needs.module("ase")
    from ase import Atoms
    from ase.neighborlist import neighbor_list
    atoms = Atoms(NAMES, positions=10 * X, cell=10 * np.diag([1.0, 1.2, 0.9]), pbc=[1, 1, 0])
    dictionary = {("Si", "O"): 1.2, ("O", "O"): 2.0, ("Na", "Na"): 0.7}
    i, j, d = neighbor_list("ijd", atoms, dictionary)
    found = kith.pairs(atoms, dictionary, want="ijd", full=True, sort=True)
    order = np.lexsort((d, j, i))
    assert np.array_equal(found[0], i[order]) and np.array_equal(found[1], j[order])
    assert np.allclose(np.sort(found[2]), np.sort(d))
    radii = 10 * H / 2
    i, j = neighbor_list("ij", atoms, radii)
    found = kith.pairs(atoms, radii=radii, rule="sum", full=True, sort=True)
    order = np.lexsort((j, i))
    assert np.array_equal(found[0], i[order]) and np.array_equal(found[1], j[order])


def test_matscipy():
    matscipy = needs.module("matscipy.neighbours")
    table = np.array([[0, 0.12, 0], [0.12, 0.2, 0], [0, 0, 0.07]])
    numbers = np.array([["Si", "O", "Na"].index(name) for name in NAMES])
    i, j = matscipy.neighbour_list("ij", positions=X, cell=BOX.cell, pbc=[True] * 3,
                                   numbers=numbers.astype(np.int32) + 1,
                                   cutoff={(a + 1, b + 1): table[a, b] for a in range(3)
                                           for b in range(3) if table[a, b] > 0})
    found = kith.pairs(X, table, BOX, full=True, sort=True, species=numbers)
    order = np.lexsort((j, i))
    assert np.array_equal(found[0], i[order]) and np.array_equal(found[1], j[order])


def test_names():
    """A name that no particle has is refused, not taken as one that has no pairs."""
    x, names = [[0, 0, 0], [0.1, 0, 0]], ["A", "B"]
    for cutoff, words in (({("A", "C"): 1.0}, "names 'C', which is no species; there are 'A', 'B'"),
                          ({("a", "B"): 1.0}, "names 'a', which is no species"),
                          ({"A": 0.2}, "no radius for the species 'B'"),
                          ({("A", "B"): -1.0}, "expected a finite number, 0 or more"),
                          ({("A", "B"): float("nan")}, "is nan, expected a finite number")):
        functions.raises(ValueError,
                         lambda cutoff=cutoff: kith.pairs(x, cutoff, species=names), words)
    assert kith.count_pairs(x, {("A", "A"): 1.0}, species=names) == 0
    assert kith.count_pairs(np.empty((0, 3)), {("A", "C"): 1.0}, species=[]) == 0


def test_names_of_ase():
    atoms = needs.module("ase").Atoms("NaCl", [[0, 0, 0], [0.1, 0, 0]])
    for cutoff in ({("Na", "Cl"): 1.0}, {(11, 17): 1.0}, {"Na": 0.5, "Cl": 0.5, "O": 3.0}):
        assert kith.count_pairs(atoms, cutoff) == 1, cutoff
    assert kith.count_pairs(atoms, {("O", "H"): 1.0}) == 0  # right names, which may be absent
    functions.raises(ValueError, lambda: kith.pairs(atoms, {("NA", "Cl"): 1.0}),
                     "names 'NA', which is no species")


def test_scipy():
    """SciPy's tree gathers with a radius for each point."""
    spatial = needs.module("scipy.spatial")
    offsets, j = kith.pairs(X, want="oj", layout="csr", full=True, sort=True, radii=H,
                            rule="gather")
    rows = spatial.cKDTree(X).query_ball_point(X, H, return_sorted=True)
    for p, row in enumerate(rows):
        assert [q for q in row if q != p] == j[offsets[p]:offsets[p + 1]].tolist()


if __name__ == "__main__":
    sys.exit(functions.main(globals()))
