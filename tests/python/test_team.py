# SPDX-License-Identifier: BSD-3-Clause
"""Teams in Python: the answers of backends of this process, and of processes of MPI, are equal to
those of one context. Processes run this script again: test_team.py TEAM."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time

import numpy as np

import functions
import needs
from functions import raises

os.environ["KITH_BACKEND"] = "cpu"
import kith

LAUNCHERS = {"openmpi": ("mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"),
             "mpich": ("mpiexec.mpich",)}
EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "team_of_processes.py"
BOXES = {"open": None, "periodic": kith.Box([1.0, 1.2, 0.9]),
         "triclinic": kith.Box([[1.0, 0, 0], [0.3, 1.1, 0], [-0.2, 0.4, 0.9]],
                               pbc=[True, False, True]),
         "flat": kith.Box([1.0, 0.8])}


class Whole:
    """Ranks of this process: one call has all particles."""

    def share(self, array):
        """Return the part of an array that this process gives."""
        return array

    def join(self, array):
        """Return the parts of all processes as one array."""
        return array


class Part:
    """A process of MPI: rank 1 has no particles, and the last one the most."""

    def __init__(self, comm):
        self.comm = comm

    def share(self, array):
        """Return the part of an array that this process gives."""
        rank, ranks = self.comm.Get_rank(), self.comm.Get_size()
        ends = [0] + [len(array) * (k + 1) ** 2 // ranks ** 2 for k in range(ranks)]
        if ranks > 2:
            ends[2] = ends[1]
        return array[ends[rank]:ends[rank + 1]]

    def join(self, array):
        """Return the parts of all processes as one array."""
        return np.concatenate(self.comm.allgather(array))


def equal(one, other, *about):
    """Check that two arrays have the same values, bit for bit, and but for indices one type."""
    one, other = np.asarray(one), np.asarray(other)
    assert one.shape == other.shape, (one.shape, other.shape, *about)
    if one.dtype.kind == "f":
        assert one.dtype == other.dtype and one.tobytes() == other.tobytes(), about
    else:
        assert np.array_equal(one, other), about


def particles(name, dtype):
    """Return the box, clustered coordinates, and a second set."""
    random = np.random.default_rng(5)
    box = BOXES[name]
    dim = 3 if box is None else box.dim
    centres = random.random((12, dim))
    x = (centres[random.integers(0, 12, 700)] + 0.05 * random.normal(size=(700, dim))).astype(dtype)
    return box, x, random.random((300, dim)).astype(dtype)


def check_groups(team, way, box, x, about):
    """Groups with all options, and halos."""
    random = np.random.default_rng(6)
    n, dim = x.shape
    v, masses = random.normal(size=(n, dim)), random.random(n).astype(x.dtype)
    v = v.astype(x.dtype)
    types, ids = random.integers(0, 3, n).astype(np.uint8), random.permutation(n) + 7
    roles = random.integers(0, 3, n)
    for options in ({}, {"ids": ids, "min_members": 2}, {"min_links": 3, "min_members": 1},
                    {"roles": roles, "min_members": 2},
                    {"velocities": v, "velocity_length": 9.0, "min_members": 2}):
        mine = {name: way.share(one) if isinstance(one, np.ndarray) else one
                for name, one in options.items()}
        one = kith.fof(x, 0.04, box, **options)
        found = team.fof(way.share(x), 0.04, box, **mine)
        assert len(found) == len(one) and found.labels.dtype == np.int64
        equal(way.join(found.labels), one.labels, about, options)
        equal(way.join(found.members), one.members, about, options)
    assert len(one) > 1
    one, found = kith.fof(x, 0.04, box, min_members=3), team.fof(way.share(x), 0.04, box,
                                                                  min_members=3)
    given = {"masses": masses, "velocities": v, "types": types, "potentials": -masses}
    for names in ((), tuple(given)):
        spheres = (3.0, 50.0) if names and x.shape[1] == 3 else ()
        whole = one.halos(sphere_density=spheres, **{name: given[name] for name in names})
        halos = way.join(found.halos(sphere_density=spheres,
                                     **{name: way.share(given[name]) for name in names}))
        assert len(whole) > 1 and halos.dtype == whole.dtype
        assert halos.tobytes() == whole.tobytes(), about


def check_lists(team, way, box, x, y, about):
    """Pairs and nearest neighbours."""
    for how in ({}, {"full": True}, {"against": y}):
        mine = {name: way.share(one) if name == "against" else one for name, one in how.items()}
        whole = kith.pairs(x, 0.06, box, "ijdDS", sort=True, **how)
        for sort in (True, False):
            found = team.pairs(way.share(x), 0.06, box, "ijdDS", sort=sort, **mine)
            assert found[0].dtype == found[1].dtype == np.int64
            if sort and isinstance(way, Whole):
                for one, other in zip(found, whole):
                    equal(one, other, about, how)
                continue
            found = [way.join(one) for one in found]
            if sort:  # of each process; all pairs of one i are of one process
                order = np.argsort(found[0], kind="stable")
            else:
                order = np.lexsort((*found[4].T, found[1], found[0]))
            for one, other in zip(found, whole):
                equal(one[order], other, about, how)
        n, each = team.count_pairs(way.share(x), 0.06, box, neighbours=True, **mine)
        expected = kith.count_pairs(x, 0.06, box, neighbours=True, **how)
        assert n == expected[0] > 0 and team.count_pairs(way.share(x), 0.06, box, **mine) == n
        equal(way.join(each), expected[1], about, how)
        if "full" in how:
            continue
        for cutoff in (None, 0.05):
            whole = kith.nearest(x, 5, box, "jndDS", cutoff=cutoff, **how)
            found = team.nearest(way.share(x), 5, box, "jndDS", cutoff=cutoff, **mine)
            for one, other in zip(found, whole):
                equal(way.join(one), other, about, how, cutoff)


def check_histograms(team, way, box, x, y, about):
    """Histograms of two frames, with species and molecules."""
    random = np.random.default_rng(7)
    species, molecules = random.integers(0, 2, len(x)), random.integers(0, 100, len(x))
    of_y = random.integers(0, 2, len(y))
    weights = random.normal(size=len(x)) * 1e3 ** np.linspace(0, 1, len(x))
    for how, columns in (({}, {}), ({"n_species": 2}, {"species": species, "weights": weights}),
                         ({}, {"molecules": molecules}),
                         ({"n_species": 2},
                          {"species": species, "against": y, "species_against": of_y})):
        one = kith.rdf.Histogram(0.2, 17, **how)
        found = team.rdf(0.2, 17, **how)
        for scale in (1, 1.1):
            one.add((x * scale).astype(x.dtype), box, **columns)
            found.add(way.share((x * scale).astype(x.dtype)), box,
                      **{name: way.share(values) for name, values in columns.items()})
        assert found.frames == 2
        for a in range(how.get("n_species", 1)):
            for b in range(how.get("n_species", 1)):
                equal(found.counts(a, b), one.counts(a, b), about, columns.keys())
                equal(found.ideal(a, b), one.ideal(a, b), about)
                equal(found.g(a, b), one.g(a, b), about)
                if "weights" in columns:
                    equal(found.sums(a, b), one.sums(a, b), about)
    assert one.counts(0, 1).sum() > 0


def check_flocks(team, way, box, x, about):
    """A flock after some steps, a change, and more steps; its order parameters."""
    v = np.random.default_rng(8).uniform(-1, 1, x.shape).astype(x.dtype)
    how = {"separation": (0.05, 0.1), "alignment": (0.1, 0.1), "cohesion": (0.1, 0.01),
           "time_step": 0.02, "noise": 0.1, "seed": 3}
    with kith.Flock(x, v, box, **how) as one, team.flock(way.share(x), way.share(v), box,
                                                         **how) as found:
        species = np.random.default_rng(9).integers(0, 2, len(x))
        for flock, own in ((one, species), (found, way.share(species))):
            flock.step(3).change(model="vicsek", nearest=5, factors=[[1, 0.5], [-1, 1]],
                                 species=own)
            flock.step()
        assert len(found) == len(way.share(x)) and found.steps == one.steps == 4
        assert found.record(2).tobytes() == one.record(2).tobytes(), about
        positions, velocities = found.read()
        equal(way.join(positions), one.positions, about)
        equal(way.join(velocities), one.velocities, about)
        equal(way.join(found.positions), one.positions, about)
        equal(way.join(found.velocities), one.velocities, about)
        assert found.measure() == one.measure() and 0 < one.measure()["polarisation"] < 1
    assert found.steps == 0


def check(team, way, names=tuple(BOXES)):
    """All questions on all boxes."""
    for name in names:
        for dtype in (np.float32, np.float64):
            box, x, y = particles(name, dtype)
            check_groups(team, way, box, x, (name, dtype))
            check_lists(team, way, box, x, y, (name, dtype))
            check_rules(team, way, box, x, y, (name, dtype))
            check_histograms(team, way, box, x, y, (name, dtype))
            check_flocks(team, way, box, x, (name, dtype))


def check_rules(team, way, box, x, y, about):
    """Pairs by cutoffs of species, radii, molecules, bonds, and of active particles."""
    rng = np.random.default_rng(6)
    species, others = (rng.integers(0, 2, len(one)).astype(np.int32) for one in (x, y))
    radii, molecules = rng.uniform(0, 0.05, len(x)).astype(x.dtype), rng.integers(-1, 50, len(x))
    table = [[0.06, 0.04], [0.04, 0.0]]
    some = {"radii": radii, "rule": "sum", "molecules": molecules.astype(np.int32), "r_min": 0.01}
    cases = [{"cutoff": table, "species": species}, some,
             {**some, "rule": "gather", "full": True, "active": species == 1, "cutoff": 0.05},
             {"cutoff": table, "species": (species, others), "against": y}]
    if isinstance(way, Whole):
        bonds = rng.integers(0, len(x), (4000, 2))
        cases += [{"cutoff": {("a", "b"): 0.06}, "species": np.array(["a", "b"])[species],
                   "bonds": bonds}]
    for how in cases:
        mine = {name: tuple(map(way.share, one)) if isinstance(one, tuple)
                else way.share(one) if isinstance(one, np.ndarray) else one
                for name, one in how.items()}
        whole = kith.pairs(x, box=box, want="ijdS", sort=True, **how)
        found = [way.join(one) for one in team.pairs(way.share(x), box=box, want="ijdS", sort=True,
                                                     **mine)]
        order = np.argsort(found[0], kind="stable")
        assert len(whole[0]) > 0
        for one, other in zip(found, whole):
            equal(one[order], other, about, how)
        assert team.count_pairs(way.share(x), box=box, **mine) == len(whole[0])


def check_errors(team, way, rank):
    """An error of one rank is raised on all; the team can be used further."""
    box, x, _ = particles("periodic", np.float64)
    mine = way.share(x)
    last = rank == team.ranks - 1 or isinstance(way, Whole)
    bad = mine.copy()
    if last:
        bad[-1, 0] = np.nan
    raises(ValueError, lambda: team.fof(bad, 0.1, box), f"{len(x) - 1}", "finite")
    raises(ValueError, lambda: team.fof(mine[:, :2] if last else mine, 0.1, box), "shape")
    raises(TypeError, lambda: team.pairs(mine.astype(str) if last else mine, 0.1, box), "numbers")
    raises(ValueError, lambda: team.pairs(mine, -1.0, box), "cutoff")
    raises(ValueError, lambda: team.pairs(mine, 1.0, box, want="x"), "want")
    raises(ValueError, lambda: team.nearest(mine, 0, box), "k is 0")
    radii = np.ones(len(mine), mine.dtype)
    radii[len(mine) // 2:] = -1 if last else 1
    raises(ValueError, lambda: team.pairs(mine, box=box, radii=radii, rule="sum"), "is -1")
    raises(TypeError, lambda: team.pairs(mine, box=box), "cutoff is not given")
    if isinstance(way, Part) and team.ranks > 1:
        raises(ValueError, lambda: team.pairs(mine, {"a": 0.1}, box, species=["a"] * len(mine)),
               "table")
        raises(ValueError, lambda: team.pairs(mine, 0.1, box, bonds=[[0, 0]] if len(mine) else []),
               "bonds")
    still, near = np.zeros_like(mine), {"alignment": (0.1, 1), "cohesion": (0.1, 1),
                                        "separation": (0.1, 1)}
    raises(ValueError, lambda: team.flock(bad, still, box, **near), f"{len(x) - 1}", "finite")
    raises(ValueError, lambda: team.flock(mine, still[1:] if last else still, box), "v has")
    raises(ValueError, lambda: team.flock(mine, still, box, noise=2), "noise is 2")
    raises(ValueError, lambda: team.flock(mine, still, box), "a radius of 5")
    raises(TypeError, lambda: team.flock(mine, still, box, speed=2), "speed")
    with team.flock(mine, still, box, **near) as flock:
        raises(ValueError, lambda: flock.step(-1 if last else 1), "steps is -1")
        raises(ValueError, lambda: flock.change(model="fish"), "fish")
        raises(ValueError, lambda: flock.change(time_step=0), "time_step")
        assert flock.step().steps == 1
    raises(ValueError, flock.step, "flock is closed")
    raises(NotImplementedError, lambda: team.rdf(0.1).add(mine, box, batch=[0, len(mine)]), "batch")
    raises(ValueError, lambda: team.rdf(0.1).counts(), "no frames")
    if isinstance(way, Part) and team.ranks > 1:
        raises(ValueError, lambda: team.fof(mine, 0.1 if last else 0.2, box), "length", "differs")
    equal(way.join(team.fof(mine, 0.04, box).labels), kith.fof(x, 0.04, box).labels)


def test_backends():
    """Several backends of this process."""
    for ranks in (1, 2, 3, 4):
        with kith.Team(["cpu"] * ranks) as team:
            assert team.ranks == ranks and team.rank == 0 and len(team.backends) == ranks
            check(team, Whole(), list(BOXES) if ranks == 3 else ["periodic"])
            check_errors(team, Whole(), 0)
    with kith.Team("cpu:baseline,cpu", threads=2) as team:
        assert team.backends[0] == "cpu:baseline"
        check(team, Whole(), ["flat"])


def test_few():
    """Fewer particles than ranks, none at all, integers, lists, two dimensions."""
    with kith.Team(["cpu"] * 3) as team:
        for n in (0, 1, 2):
            x = np.arange(3.0 * n).reshape(n, 3)
            assert team.fof(x, 9.0, min_members=1).labels.tolist() == [1] * n
            assert team.count_pairs(x, 9.0) == n * (n - 1) // 2
            assert team.nearest(x, 2)[0].shape == (n, 2)
            assert [len(one) for one in team.pairs(x, 9.0, want="ijD", sort=True)] == [
                n * (n - 1) // 2] * 3
            assert len(team.fof(x, 9.0, min_members=1).halos()) == min(n, 1)
        assert team.count_pairs([[0, 0, 0], [0, 0, 1]], 1.0) == 1
        assert team.pairs(np.zeros((2, 2)), 1.0, want="d").tolist() == [0.0]
        i, j = team.pairs(np.zeros((2, 2)), 1.0, want=None)  # as kith.pairs
        assert i.tolist() == [0] and j.tolist() == [1]
        for want in ("q", "", 3):
            text = str(raises(ValueError, lambda: team.pairs(np.zeros((2, 2)), 1.0, want=want),
                              f"want is {want!r}; it may have the letters ijdDS"))
            assert "layout" not in text, text  # which Team.pairs does not have


def test_lives():
    """Results outlive their team; a team in use or closed, or of a parent, refuses calls."""
    box, x, _ = particles("periodic", np.float64)
    team = kith.Team(["cpu", "cpu"])
    groups, histogram = team.fof(x, 0.04, box), team.rdf(0.1).add(x, box)
    halos, (j, d) = groups.halos(), team.nearest(x, 3, box)
    flock = team.flock(x, x, box, separation=(0.1, 1), alignment=(0.1, 1), cohesion=(0.1, 1))
    if hasattr(os, "fork"):
        child = os.fork()
        if child == 0:
            try:
                raises(RuntimeError, lambda: team.fof(x, 0.04, box), "fork")
                team.close()
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
    assert "rank 0 of 2" in repr(team)
    team.close()
    team.close()
    raises(ValueError, lambda: team.fof(x, 0.04, box), "closed")
    raises(ValueError, groups.halos, "closed")
    raises(ValueError, flock.read, "closed")
    flock.close()
    raises(ValueError, lambda: histogram.add(x, box), "closed")
    del team
    equal(groups.labels, kith.fof(x, 0.04, box).labels)
    assert halos.tobytes() == kith.fof(x, 0.04, box).halos().tobytes()
    equal(j, kith.nearest(x, 3, box)[0])
    equal(d, kith.nearest(x, 3, box)[1])
    assert histogram.frames == 1 and not groups.labels.flags.writeable
    raises(ValueError, lambda: kith.Team(["cpu", "none"]), "none")
    raises(TypeError, lambda: kith.Team(3), "communicator")
    raises(ValueError, lambda: kith.Team([]), "0 backends")
    raises(ValueError, lambda: kith.Team(["cpu"], backend="cpu"), "backend")
    raises(kith.NoBackend, lambda: kith.Team(["cpu", "cuda:77"]), "")


def test_signals():
    """Ctrl-C ends a call of all ranks; a second call from another thread is refused."""
    x = np.random.default_rng(1).random((60000, 3))
    with kith.Team(["cpu", "cpu"]) as team:
        found = []
        threading.Timer(0.5, lambda: found.append(
            raises(kith.Busy, lambda: team.count_pairs(x, 0.1)))).start()
        threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        start = time.monotonic()
        raises(KeyboardInterrupt, lambda: team.count_pairs(x, 3.0, 1.0), "")
        assert 0.9 < time.monotonic() - start < 20 and found
        assert team.count_pairs(x[:100], 0.1) == kith.count_pairs(x[:100], 0.1)


def run(launcher, script, env, *words):
    """Run a script by a launcher of MPI."""
    return subprocess.run([*launcher, sys.executable, "-B", script, *words], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=200,
                          check=False, env={**env, "OMPI_MCA_mpi_yield_when_idle": "1"})


def test_processes():
    """Processes of each MPI that mpi4py runs with."""
    needs.module("mpi4py")
    ran = 0
    for mpi, launcher in LAUNCHERS.items():
        told = {**os.environ, "MPI4PY_MPIABI": mpi}  # for mpi4py's wheel, which knows both
        if not shutil.which(launcher[0]):
            needs.tell(f"no {launcher[0]} (apt-get install openmpi-bin mpich)")
            continue
        for ranks in (1, 2, 3, 4):
            done = run([*launcher, "-n", str(ranks)], __file__, told, "TEAM", str(ranks))
            if "another MPI" in done.stdout:
                needs.tell(f"mpi4py is not of {launcher[0]}")
                break
            assert done.returncode == 0 and done.stdout.count("passed") == ranks, done.stdout
            ran += 1
        else:
            example = [run([*launcher, "-n", str(ranks)], EXAMPLE, told) for ranks in (1, 3)]
            assert [done.returncode for done in example] == [0, 0], example
            # MPI's libraries may write lines like "[hwloc/linux] failed to find ..."
            said = [[line for line in done.stdout.splitlines() if not line.startswith("[")]
                    for done in example]
            assert said[0] == said[1] and "halos" in said[0][0], example
    if not ran:
        raise needs.Skip("no launcher of mpi4py's MPI (apt-get install openmpi-bin mpich)")


def process(ranks):
    """One process of a team."""
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:  # its library of MPI is missing
        print("another MPI", error)
        return
    comm = MPI.COMM_WORLD
    if comm.Get_size() != ranks:
        print("another MPI")
        return
    way = Part(comm)
    with kith.Team(comm, threads=1) as team:
        assert team.ranks == ranks and team.rank == comm.Get_rank()
        check(team, way, ["triclinic", "flat"] if ranks == 3 else ["periodic"])
        check_errors(team, way, team.rank)
    kind = kith.NoBackend if ranks == comm.Get_rank() + 1 else (kith.NoBackend, ValueError)
    raises(kind, lambda: kith.Team(comm, backend="cuda:77" if ranks == comm.Get_rank() + 1 else
                                   "cpu"), "")
    half = comm.Split(comm.Get_rank() % 2)
    with kith.Team(half) as team:  # two teams at one time
        check(team, Part(half), ["open"] if ranks == 4 else [])
    print("passed", flush=True)


if __name__ == "__main__":
    if "TEAM" in sys.argv:
        process(int(sys.argv[-1]))
    else:
        sys.exit(functions.main(globals()))
