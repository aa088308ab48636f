# SPDX-License-Identifier: BSD-3-Clause
"""kith view FILE: snapshots, labelled groups, frames of trajectories with g(r), and bad input."""
import math
import random
import struct
import sys

import needs
import viewer  # noqa: F401
from viewer import GROUPS, PARTICLE, PLOT, POINTS, STATE, THINGS, Served, Viewer, cli


def blobs(side=10.0):
    """Three clumps of 60, 40, 25 points and 75 alone; their labels by size."""
    rng = random.Random(2)
    points, labels = [], []
    for label, (n, centre) in enumerate(((60, (2, 2, 2)), (40, (7, 7, 2)), (25, (9.95, 5, 8))), 1):
        points += [tuple((c + rng.uniform(-0.2, 0.2)) % side for c in centre) for _ in range(n)]
        labels += [label] * n
    points += [tuple(rng.uniform(0, side) for _ in range(3)) for _ in range(75)]
    return points, labels + [0] * 75


def write_labels(path, labels, kind="i"):
    cli.write_npy_array(path, (len(labels),), labels, kind)


def write_xyz(path, frames, side):
    with open(path, "w", encoding="ascii") as file:
        for points in frames:
            file.write(f'{len(points)}\nLattice="{side} 0 0 0 {side} 0 0 0 {side}" '
                       "Properties=species:S:1:pos:R:3\n")
            for p in points:
                file.write("Ar %.9g %.9g %.9g\n" % p)


def check_groups(watch, labels):
    """Colours are the labels; the properties are those of the points."""
    found = watch.points()
    assert sorted(c for _, c in found) == sorted(labels)
    for h in watch.newest[GROUPS]["largest"]:
        members = [p for p, c in found if c == h["label"]]
        assert len(members) == h["members"] == labels.count(h["label"])
        away = [[(p[k] - h["centre"][k] + 5) % 10 - 5 for k in range(3)] for p in members]
        assert all(abs(sum(a[k] for a in away)) / len(away) < 1e-5 for k in range(3))
        rms = math.sqrt(sum(x * x for a in away for x in a) / len(away))
        assert abs(rms - h["radius"]) < 1e-5, (rms, h)


def test_labels_from_files_and_found():
    points, labels = blobs()
    cli.write_npy("p.npy", points)
    write_labels("labels.npy", labels)
    write_labels("other.npy", [{0: -1, 1: 900, 2: 17, 3: 2 ** 31 - 2}[k] for k in labels], "q")
    with open("labels.grp", "w", encoding="ascii") as file:
        file.write("\n".join(map(str, [len(labels), *labels])) + "\n")
    for more in (("--labels", "labels.npy"), ("--labels", "other.npy"), ("--labels", "labels.grp"),
                 ("--link", "0.3", "--members", "10")):
        with Served("view", "p.npy", "--box", "10", *more) as run:
            watch = Viewer(run).until(lambda w: GROUPS in w.newest and w.head["step"] == 0)
            assert watch.state["colour"] == "group" and watch.state["grouped"] is True
            assert watch.newest[GROUPS]["groups"] == 3
            check_groups(watch, labels)
            watch.close()
            assert run.end() == 0


def same_groups(run, labels):
    watch = Viewer(run).until(lambda w: GROUPS in w.newest and w.head["step"] == 0)
    assert watch.newest[GROUPS]["groups"] == 3
    check_groups(watch, labels)
    watch.close()
    assert run.end() == 0


def test_labels_in_hdf5():
    """As kith fof writes them: labels and catalogue know particles by their ids, in any order."""
    h5py, numpy, _ = cli.snapshot_modules()
    points, labels = blobs()
    ids = random.Random(5).sample(range(10, 10 ** 6), len(points))

    def snapshot(path, order, known=True):
        with h5py.File(path, "w") as file:
            head, part = file.create_group("Header"), file.create_group("PartType1")
            for name in ("NumPart_ThisFile", "NumPart_Total"):
                head.attrs[name] = [0, len(order), 0, 0, 0, 0]
            head.attrs["MassTable"], head.attrs["BoxSize"] = numpy.zeros(6), 10.0
            part["Coordinates"] = numpy.array([points[k] for k in order])
            part["Masses"] = numpy.ones(len(order))
            if known:
                part["ParticleIDs"] = numpy.array([ids[k] for k in order], "u8")
    order = list(range(len(points)))
    snapshot("s.hdf5", order)
    snapshot("turned.hdf5", order[::-1])
    snapshot("nameless.hdf5", order, False)
    cli.ok("fof", "s.hdf5", "--length", "0.3", "--min-members", "10", "-q", "-o", "halos.hdf5",
           "--labels", "labels.hdf5")
    cli.ok("fof", "s.hdf5", "--length", "0.3", "--min-members", "10", "-q", "-o", "swift.hdf5",
           "--format", "swift")
    with h5py.File("s.hdf5", "r+") as file:  # as SWIFT keeps them, in the snapshot itself
        file["PartType1/FOFGroupIDs"] = [k if k else 2 ** 31 - 1 for k in labels]
    for particles, groups, expected in (("s.hdf5", "labels.hdf5", labels),
                                        ("turned.hdf5", "labels.hdf5", labels[::-1]),
                                        ("nameless.hdf5", "labels.hdf5", labels),
                                        ("turned.hdf5", "halos.hdf5", labels[::-1]),
                                        ("s.hdf5", "s.hdf5", labels)):
        with Served("view", particles, "--labels", groups) as run:
            same_groups(run, expected)
    cli.write_npy("few.npy", points[:5])
    with h5py.File("strange.hdf5", "w") as file:
        file["FOFGroupIDs"], file["ParticleIDs"] = [1] * 200, [1] * 200
    with h5py.File("reals.hdf5", "w") as file:
        file["FOFGroupIDs"] = [0.5] * 200
    with h5py.File("torn.hdf5", "w") as file:
        file["Group/GroupLen"], file["IDs/ID"] = [3, 9], [1, 2, 3, 4]
    for status, particles, groups, says in ((6, "few.npy", "labels.hdf5", "200 labels"),
                                            (6, "few.npy", "halos.hdf5", "have none"),
                                            (6, "s.hdf5", "swift.hdf5", "kith fof --labels"),
                                            (6, "s.hdf5", "strange.hdf5", "other particles"),
                                            (4, "s.hdf5", "reals.hdf5", "whole numbers"),
                                            (4, "s.hdf5", "torn.hdf5", "4 ids")):
        cli.fails(status, "view", particles, "--box", "10", "--labels", groups, says=(groups, says))


def test_frames_with_their_g_of_r():
    rng = random.Random(3)
    frames = [[tuple(rng.uniform(0, 8) for _ in range(3)) for _ in range(400)] for _ in range(4)]
    frames[2] = [(x, y, z / 2) for x, y, z in frames[2]]
    write_xyz("t.xyz", frames, 8)
    with Served("view", "t.xyz", "--frame", "1") as run:
        watch = Viewer(run)
        for number in (1, 2, 3, 0, 2, 1):
            if number != 1 or watch.state:
                run.send(frame=number)
            watch.until(lambda w, n=number: w.head["frame"] == n and PLOT in w.newest
                        and w.state["frame"] == n)
            shown = sorted(p for p, _ in watch.points())
            for p, q in zip(shown, sorted(frames[number])):
                assert max(abs(p[k] - q[k]) for k in range(3)) < 1e-5, (p, q)
        run.send(frame=2)
        plot = watch.until(lambda w: w.newest[PLOT]["frame"] == 2
                           and w.state["frame"] == 2).newest[PLOT]
        width = plot["x"][1] - plot["x"][0]
        r_max, count = width * len(plot["x"]), 0
        for i, p in enumerate(frames[2]):
            for q in frames[2][:i]:
                d2 = sum(((p[k] - q[k] + 4) % 8 - 4) ** 2 for k in range(3))
                count += d2 <= r_max * r_max
        edges = [k * width for k in range(len(plot["x"]) + 1)]
        ideal = [400 * 399 / 2 * 4 / 3 * math.pi * (b ** 3 - a ** 3) / 512
                 for a, b in zip(edges, edges[1:])]
        total = sum(g * i for g, i in zip(plot["y"], ideal) if g is not None)
        assert abs(total - count) < 2, (total, count)
        before = watch.versions[STATE]
        run.send(frame=99)
        run.send(frame=-1)
        run.send(colour="speed")         # not known here: stays
        watch.until(lambda w: w.versions[STATE] > before)
        assert watch.state["colour"] == "plain" and watch.state["frame"] == 2
        watch.close()
        assert run.end() == 0


def test_range_of_speeds():
    """The colours of speeds fit most particles, whatever the slowest and the fastest do."""
    rng = random.Random(6)
    speeds = [rng.uniform(0.9, 1.1) for _ in range(300)] + [0, 50]
    with open("v.xyz", "w", encoding="ascii") as file:
        file.write(f'{len(speeds)}\nLattice="8 0 0 0 8 0 0 0 8" '
                   "Properties=species:S:1:pos:R:3:vel:R:3\n")
        for v in speeds:
            file.write("Ar %.9g %.9g %.9g 0 0 %.9g\n" % (*(rng.uniform(0, 8) for _ in range(3)), v))
    with Served("view", "v.xyz") as run:
        watch = Viewer(run).until(lambda w: w.state and POINTS in w.newest)
        low, high = watch.head["range"]
        assert watch.state["colour"] == "speed" and 0.9 <= low < 0.92 and 1.08 < high <= 1.1
        watch.close()
        assert run.end() == 0


def test_colours_of_groups_last():
    """A group keeps its colour when it loses members and another is the largest."""
    rng = random.Random(4)
    near = {k: [tuple(c + rng.uniform(-0.2, 0.2) for _ in range(3)) for _ in range(n)]
            for k, (c, n) in enumerate(((2, 60), (6, 50)), 1)}
    lost = [(0.25 * k + 0.1, 4.0, 7.5) for k in range(30)]
    whole, fewer = near[1] + near[2], near[1][:30] + lost + near[2]
    write_xyz("t.xyz", [whole, fewer, whole], 8)
    with Served("view", "t.xyz", "--link", "0.2", "--members", "10") as run:
        watch = Viewer(run)
        for frame, largest in ((0, 1), (1, 2), (2, 1)):
            run.send(frame=frame)
            watch.until(lambda w, f=frame: w.head["frame"] == f and GROUPS in w.newest
                        and w.state["frame"] == f)
            colours = {tuple(round(x, 1) > 4 for x in p): c for p, c in watch.points() if c}
            assert colours == {(False,) * 3: 1, (True,) * 3: 2}, (frame, colours)
            groups = watch.until(lambda w, n=largest: w.newest[GROUPS]["largest"][0]["colour"] == n
                                 ).newest[GROUPS]["largest"]
            assert groups[0]["label"] == 1 and len(groups) == 2
            assert watch.head["epoch"] == 1 and watch.state["step"] is None
        run.send(inspect=3)
        value = watch.until(lambda w: PARTICLE in w.newest).newest[PARTICLE]
        place, colour = watch.points()[3]
        assert value["point"] == 3 and value["group"] == colour, value
        assert max(abs(a - b) for a, b in zip(value["position"], whole[value["index"]])) < 1e-6
        assert max(abs(a - b) for a, b in zip(value["position"], place)) < 1e-5
        watch.close()
        assert run.end() == 0


def write_gadget(path, points, masses, types):
    """A Gadget-1 snapshot in a box of 8; points are sorted by type, and each has its mass."""
    counts = [types.count(k) for k in range(6)]
    head = struct.pack("<6I6d2d2i6I2i4d", *counts, *[0.0] * 6, 1.0, 0.0, 0, 0, *counts, 0, 1, 8.0,
                       0.3, 0.7, 0.7).ljust(256, b"\0")
    n, flat = len(points), [x for p in points for x in p]
    with open(path, "wb") as file:
        for block in (head, struct.pack(f"<{3 * n}f", *flat), struct.pack(f"<{3 * n}f", *flat),
                      struct.pack(f"<{n}I", *range(1, n + 1)), struct.pack(f"<{n}f", *masses)):
            file.write(struct.pack("<I", len(block)) + block + struct.pack("<I", len(block)))


def write_atoms(path, frames, columns="species:S:1:pos:R:3"):
    """Extended XYZ in a box of 8. frames: of (species, position, further numbers)"""
    with open(path, "w", encoding="ascii") as file:
        for atoms in frames:
            file.write(f'{len(atoms)}\nLattice="8 0 0 0 8 0 0 0 8" Properties={columns}\n')
            for name, r, *more in atoms:
                file.write(" ".join([name, *(f"{x:.9g}" for x in (*r, *more))]) + "\n")


def named(watch):
    return [c["name"] for c in watch.state["colours"]]


def colours_at(watch, points):
    """The colour of each of these points."""
    shown = watch.points()
    return [min(shown, key=lambda s: sum((a - b) ** 2 for a, b in zip(s[0], p)))[1]
            for p in points]


def test_masses_and_types_of_snapshots():
    rng = random.Random(8)
    points = [tuple(rng.uniform(0, 8) for _ in range(3)) for _ in range(60)]
    types = [0] * 30 + [1] * 20 + [4] * 10
    masses = [0.5 * 100 ** rng.random() for _ in points]
    masses[7], masses[8], masses[9] = 0.5, 50.0, 0.0
    write_gadget("snap", points, masses, types)
    with Served("view", "snap") as run:
        watch = Viewer(run).until(lambda w: w.state and POINTS in w.newest)
        assert named(watch) == ["plain", "speed", "heading", "mass", "species"], named(watch)
        assert watch.state["legend"] is None
        run.send(colour="mass")
        watch.until(lambda w: w.state["colour"] == "mass" and w.head["colour"] == 4)
        legend = watch.state["legend"]
        assert legend["unit"] == "1e10 Msun/h", legend
        assert all(abs(a / b - 1) < 1e-6 for a, b in zip(legend["range"], (0.5, 50))), legend
        for m, c in zip(masses, colours_at(watch, points)):
            expected = 65535 * math.log(m / 0.5) / math.log(100) if m else 0
            assert abs(c - expected) < 2, (m, c, expected)
        run.send(colour="species")
        watch.until(lambda w: w.state["colour"] == "species" and w.head["colour"] == 5)
        species = watch.state["legend"]["species"]
        assert [(s["name"], s["n"]) for s in species] == [("gas", 30), ("dark", 20), ("star", 10)]
        assert watch.state["legend"]["others"] == 0
        colour = {s["name"]: s["colour"] for s in species}
        known = {0: "gas", 1: "dark", 4: "star"}
        assert colours_at(watch, points) == [colour[known[t]] for t in types]
        run.send(inspect=0)
        value = watch.until(lambda w: PARTICLE in w.newest).newest[PARTICLE]
        assert value["species"] == known[value["type"]] == known[types[value["index"]]], value
        assert abs(value["mass"] - masses[value["index"]]) < 1e-5, value
        watch.close()
        assert run.end() == 0


def test_species_of_trajectories():
    """A species keeps its colour through the frames; masses are offered where a frame has them."""
    rng = random.Random(9)

    def atoms(names):
        return [(name, tuple(rng.uniform(0, 8) for _ in range(3))) for name in names]
    frames = [atoms(["O"] * 20 + ["H"] * 40), atoms(["H"] * 15 + ["Na"] * 3 + ["O"] * 30),
              atoms(["H"] * 12)]
    write_atoms("t.xyz", frames)
    with Served("view", "t.xyz") as run:
        watch, seen = Viewer(run), {}
        for number in (0, 1, 0):
            run.send(frame=number)
            watch.until(lambda w, f=number: w.state.get("frame") == f and w.head["frame"] == f)
            assert watch.state["colour"] == "species" and named(watch) == ["plain", "species"]
            legend = watch.state["legend"]["species"]
            for s in legend:
                assert seen.setdefault(s["name"], s["colour"]) == s["colour"], (number, legend)
            assert [s["n"] for s in legend] == ([40, 20] if number == 0 else [30, 15, 3]), legend
            assert colours_at(watch, [r for _, r in frames[number]]) == [
                seen[name] for name, _ in frames[number]]
        assert len(set(seen.values())) == 3, seen
        run.send(frame=2)                # of one species: the colour is not offered
        watch.until(lambda w: w.state["frame"] == 2 and w.head["frame"] == 2)
        assert named(watch) == ["plain"] and watch.state["colour"] == "plain"
        assert watch.head["colour"] == 0
        for refused in ("mass", "species", "group"):
            before = watch.versions[STATE]
            run.send(colour=refused)
            watch.until(lambda w, b=before: w.versions[STATE] > b)
            assert watch.state["colour"] == "plain", refused
        watch.close()
        assert run.end() == 0
    many = [(f"X{k}", (k % 8, 1, 1), 1 + k) for k in range(30)]
    write_atoms("one.xyz", [many + many[:1]], "species:S:1:pos:R:3:mass:R:1")
    with Served("view", "one.xyz") as run:
        watch = Viewer(run).until(lambda w: w.state and POINTS in w.newest)
        assert named(watch) == ["plain", "mass", "species"] and watch.state["colour"] == "species"
        legend = watch.state["legend"]
        assert len(legend["species"]) == 24 and legend["others"] == 6, legend
        assert legend["species"][0]["name"] == "X0" and legend["species"][0]["n"] == 2
        assert len({s["name"] for s in legend["species"]}) == 24
        run.send(colour="mass")
        watch.until(lambda w: w.state["colour"] == "mass")
        assert watch.state["legend"] == {"range": [1, 30], "unit": ""}, watch.state["legend"]
        watch.close()
        assert run.end() == 0


def things_of(watch):
    return [(t["kind"], t["place"]) for t in watch.newest[THINGS]["things"]]


def test_things_of_recordings():
    """A recording has the obstacles, points and predators of each frame, also those that change;
    GSD is centred on the box, and reads as the text does."""
    flock = ("flock", "--boids", "50", "--box", "20", "--seed", "4", "--threads", "1", "--steps",
             "40", "--record-every", "10", "--predator", "1,1,1,2,0.5,6", "--sphere",
             "10,10,12,3,0.2,1", "--wall", "0,0,1,0,0,1,0.1,2", "--at", "25:no-things", "--at",
             "35:point=5,5,5,0.05,0", "-q")
    cli.ok(*flock, "-o", "a.xyz")
    cli.ok(*flock, "-o", "a.gsd")
    shown = {}
    for name, shift in (("a.xyz", 0), ("a.gsd", 10)):
        with Served("view", name) as run:
            watch = Viewer(run)
            for frame, kinds in ((0, ["predator", "sphere", "wall"]), (4, ["point"]), (3, []),
                                 (2, ["predator", "sphere", "wall"])):
                run.send(frame=frame)
                watch.until(lambda w, f=frame: w.state.get("frame") == f and THINGS in w.newest
                            and w.newest[THINGS]["step"] == 10 * f)
                found = things_of(watch)
                assert sorted(k for k, _ in found) == kinds, (name, frame, found)
                places = [[x + shift for x in place] for _, place in found]
                before = shown.setdefault(frame, places)
                assert all(abs(a - b) < 1e-9 for p, q in zip(places, before)
                           for a, b in zip(p, q)), (name, frame, places, before)
            assert [10, 10, 12] in shown[0] and [5, 5, 5] in [[round(x, 9) for x in p]
                                                              for p in shown[4]]
            predator = [things_of(watch)[k][1] for k in range(3)
                        if things_of(watch)[k][0] == "predator"][0]
            assert abs(predator[0] + shift - 1) > 0.1, "it did not move"
            watch.close()
            assert run.end() == 0
    with open("a.xyz", encoding="ascii") as file:
        text = file.read()
    assert '="1 10 10 12 0 0 0 3 0 0.20000000000000001 1"' in text  # radius, speed, weight, reach
    for bad in ("7 10 10", "nan 10 10", "1 10"):
        with open("bad.xyz", "w", encoding="ascii") as file:
            file.write(text.replace("1 10 10", bad, 1))
        cli.fails(4, "view", "bad.xyz", says=("kith_thing",))


def test_a_frame_that_breaks_off():
    write_xyz("t.xyz", [[(1, 1, 1), (2, 2, 2)], [(1, 1, 1), (2, 2, float("nan"))],
                        [(3, 3, 3), (4, 4, 4)]], 8)
    with Served("view", "t.xyz") as run:
        watch = Viewer(run).until(lambda w: w.head["frame"] == 0)
        run.send(frame=1)
        watch.until(lambda w: w.state["message"])
        run.send(frame=2)
        watch.until(lambda w: w.head["frame"] == 2)
        watch.close()


def test_bad_input():
    points, labels = blobs()
    cli.write_npy("p.npy", points)
    write_labels("short.npy", labels[:-1])
    cli.write_npy("reals.npy", points)
    with open("words.grp", "w", encoding="ascii") as file:
        file.write("200\none\n")
    with open("few.grp", "w", encoding="ascii") as file:
        file.write("200\n1\n2\n")
    with open("other.grp", "w", encoding="ascii") as file:
        file.write("7\n1\n")
    for status, name, says in ((6, "short.npy", "199"), (6, "reals.npy", "whole"),
                               (4, "words.grp", "one"), (4, "few.grp", "2 labels"),
                               (6, "other.grp", "7 particles"), (3, "none.npy", "none")):
        cli.fails(status, "view", "p.npy", "--box", "10", "--labels", name, says=(says,))
    cli.fails(2, "view", "p.npy", "--labels", "a.npy", "--link", "1", says=("leave one out",))
    cli.fails(2, "view", says=("FILE",))
    cli.fails(3, "view", "missing.npy", says=("missing.npy",))
    cli.write_npy("nan.npy", [(0, 0, 0), (1, float("nan"), 0)])
    cli.fails(5, "view", "nan.npy", says=("particle 1",))
    write_xyz("t.xyz", [[(1, 1, 1)], [(2, 2, 2)]], 8)
    cli.fails(6, "view", "t.xyz", "--labels", "short.npy", says=("2 frames",))


if cli.run("view", __file__).stderr.find("libciv") >= 0:
    needs.tell("kith was built without the live view (apt-get install libcivetweb-dev)")
    sys.exit(needs.SKIPPED)
sys.exit(cli.main(globals()))
