#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Make the tables of measured figures, in Markdown, from results files.

    table.py FILE.json              print all tables that a file has results for
    table.py --write README.md      make the tables of a page anew
    table.py --check README.md      say whether they are what its results files give

On a page a table stands between the lines

    <!-- table KIND FILE.json -->   KIND: one of KINDS; the path is from the page
    <!-- end -->
"""

import argparse
import functools
import math
import pathlib
import re
import sys

import results

MARKED = re.compile(r"(<!-- table (\w+) (\S+) -->\n).*?(<!-- end -->)", re.S)
ONE_BINNING = 200  # of peers that count by distance


def three_digits(x):
    """A number with three digits that matter."""
    text = f"{x:#.3g}".rstrip(".")
    return f"{x:.0f}" if "e" in text else text


def time(seconds):
    """A duration in the unit that suits it."""
    for unit, size in (("s", 1), ("ms", 1e-3)):
        if seconds >= 0.0995 * size:
            return f"{three_digits(seconds / size)} {unit}"
    return f"{three_digits(1e6 * seconds)} µs"


def rate(per_second, what):
    for name, size in (("billion", 1e9), ("million", 1e6), ("thousand", 1e3)):
        if per_second >= size:
            return f"{three_digits(per_second / size)} {name} {what}/s"
    return f"{three_digits(per_second)} {what}/s"


def count(n):
    """10^6 where it is one, else 137,842."""
    zeros = len(str(n)) - 1
    return f"10^{zeros}" if n == 10**zeros and n >= 10**4 else f"{n:,}"


def rows_of(lines, head):
    widths = "|".join("---" for _ in head)
    return "\n".join(["| " + " | ".join(head) + " |", f"|{widths}|",
                      *("| " + " | ".join(line) + " |" for line in lines)])


def question(r):
    """What a result of a peer answers."""
    if r["case"] == "fof":
        kind = r["set"].replace("soneira_peebles", "Soneira-Peebles")
        return f"groups, {kind}" + ("" if r["periodic"] else ", open box")
    if r["case"] == "flock vicsek":
        kind = {"vicsek": "", "heading": ", noise on the heading"}[r["model"]]
        return f"a step of Vicsek's model in 2-D{kind}"
    if r["case"] == "frames":
        return f"g(r), {count(r['frames'])} frames of a GSD file, {r['bins']} bins, a process"
    if "bins" in r:
        return f"g(r), {r['bins']} bins, {r['precision']}"
    if "k" in r:
        return f"{r['k']} nearest" + ("" if r["periodic"] else ", open box")
    return r["case"].split()[0] + " list" + (
        (", periodic" + (", with shifts" if r["shifts"] else "")) if r["periodic"] else "")


def products(data, many):
    """Overlaps beside the product of matrices that they rest on, by itself: OpenBLAS does that and
    nothing else. Rows as those of peers."""
    rows = {r["threads"]: r for r in pick(data, "cpu", "results", {"case": "overlap"})
            if r["product_library"] != "none"}
    line = []
    for threads in dict.fromkeys((1, many)):
        r = rows.get(threads)
        line += [time(r["seconds"]), time(r["product_seconds"]),
                 f"{1 / r['ratio']:.2f}"] if r else ["", "", ""]
    return [[OVERLAPS, count(next(iter(rows.values()))["n"]), "OpenBLAS, product alone",
             *line]] if rows else []


def compared(data):
    """The results of peers."""
    return [r for r in data.get("results", [])
            if "kith_backend" in r and r.get("bins", ONE_BINNING) == ONE_BINNING]


def peers(data):
    """kith beside its peers: one row for each question to each, one thread and all of them."""
    found = {}
    for r in compared(data):
        key = question(r), f"{r['program']} {r['version']}", count(r["n"])
        found.setdefault(key, {})[r["threads"]] = r
    many = max((threads for row in found.values() for threads in row), default=1)
    lines = []
    for (asked, peer, n), row in found.items():
        line = [asked, n, peer]
        for threads in dict.fromkeys((1, many)):
            r = row.get(threads)
            line += [time(r["kith_seconds"]), time(r["seconds"]),
                     f"{r['ratio']:.1f}"] if r else ["", "", ""]
        lines.append(line)
    lines += products(data, many)
    head = ["question", "n", "peer", "kith", "peer, 1 thread", "ratio"]
    return rows_of(lines, head + (["kith", f"peer, {many} threads", "ratio"] if many > 1 else []))


def closest(data):
    """Of each kind of question that peers answer, the row in which one comes closest to kith, with
    one thread."""
    best = {}
    for r in compared(data):
        kind = question(r).split(",")[0]
        if r["threads"] == 1 and (kind not in best or r["ratio"] < best[kind]["ratio"]):
            best[kind] = r
    lines = [[question(r), count(r["n"]), f"{r['program']} {r['version']}", time(r["seconds"]),
              time(r["kith_seconds"]), f"{r['ratio']:.1f}"] for r in best.values()]
    return rows_of(lines, ["question", "n", "peer", "time", "kith", "ratio"])


def speed(r):
    for key, size, what in (("million_half_pairs_per_second", 1e6, "half pairs"),
                            ("million_particles_per_second", 1e6, "particles"),
                            ("million_pairs_per_second", 1e6, "pairs"),
                            ("billion_pairs_per_second", 1e9, "pairs"),
                            ("frames_per_second", 1, "frames"),
                            ("billion_terms_per_second", 1e9, "terms"),
                            ("steps_per_second", 1, "steps")):
        if key in r:
            return rate(size * r[key], what)
    raise ValueError(f"no speed in {r}")


OVERLAPS = "overlaps of vectors of 1,024 floats"
# What a row says, and the results that it is of: where, and which.
CPU = [
    ("half list, cutoff 0.03, double", "results", {"case": "half"}),
    ("the same, periodic", "results", {"case": "periodic"}),
    ("the same, full list in compressed rows", "results", {"case": "full csr"}),
    ("groups at b = 0.2, periodic, uniform", "results", {"case": "fof", "set": "uniform"}),
    ("groups, halos over a background", "results", {"case": "fof", "set": "clustered"}),
    ("groups, Soneira-Peebles", "results", {"case": "fof", "set": "soneira_peebles"}),
    ("g(r) to 0.033, 2,000 bins, float", "results",
     {"case": "short", "bins": 2000, "precision": "float"}),
    ("g(r) of all pairs, nearest image, 2,000 bins, float", "results",
     {"case": "all", "precision": "float"}),
    ("g(r) of 10^4 frames of a GSD file, 200 bins, a process", "results",
     {"case": "frames", "frames": 10**4}),
    ("a step of boids, 31 neighbours", "results", {"case": "flock", "set": "31"}),
    (OVERLAPS, "results", {"case": "overlap"}),
]
GPU = [
    ("half list, cutoff 0.03, double, in any order", "results", {"case": "half one pass"}),
    ("the same, deterministic order", "results", {"case": "half"}),
    ("the same, sorted", "results", {"case": "half sorted"}),
    ("the same, full list in compressed rows", "results", {"case": "full csr"}),
    ("half list, float, in any order", "results", {"case": "half one pass float"}),
    *((f"full lists with shifts of {systems:,} systems of {n:,}, float", "batches",
       {"case": f"batch {n}"}) for systems, n in ((512, 6144), (10**4, 64), (10**5, 20))),
    *((f"the {k} nearest of each, float", "nearest", {"case": f"nearest {k}{what}"})
      for what in ("", ", ten times") for k in (8, 16, 32)),
    ("a permutation that orders particles by rows of cells, float", "orders",
     {"case": "order by rows"}),
    *((f"{text}{what}", "results",
       {"case": "fof", "set": kind, "n": n, "periodic": True, "catalogue": catalogue})
      for text, kind, n in (("groups at b = 0.2, periodic, uniform", "uniform", 10**7),
                            ("groups, halos over a background", "clustered", 10**8))
      for what, catalogue in (("", False), (", with the catalogue", True))),
    ("g(r) of all pairs, nearest image, 2,000 bins, float (host to host)", "distributions",
     {"case": "rdf all pairs"}),
    ("g(r) of the pairs in reach, 200 bins, float (host to host)", "distributions",
     {"case": "rdf short"}),
    ("g(r) of 10^4 frames of 1,000 particles in one call (host to host)", "batches",
     {"case": "batch frames"}),
    (OVERLAPS + " (host to host)", "overlaps", {"case": "overlap"}),
    ("a step of boids, 31 neighbours, float", "flocks", {"case": "flock 31"}),
    ("a step of boids, 61 neighbours, float", "flocks", {"case": "flock 61"}),
    ("a step of boids, 302 neighbours, float", "flocks", {"case": "flock 302"}),
    ("a step of boids, 7 neighbours, float", "flocks", {"case": "flock 7"}),
    ("the same", "flocks", {"case": "flock 100 million"}),
    ("Debye's I(q) of a cluster by its distances, 600 q, counting alone", "debye",
     {"case": "debye histogram"}),
]


def pick(data, device, where, which):
    """The results of kith on a device that a row is of."""
    return [r for r in data.get(where, [])
            if r.get("backend", "").startswith(device) and not r.get("roles")
            and all(r.get(key) == value for key, value in which.items())]


def cpu(data):
    """kith alone, by threads; of several instruction sets the fastest."""
    found = [(text, pick(data, "cpu", where, which)) for text, where, which in CPU]
    threads = sorted({r["threads"] for _, row in found for r in row})
    lines = []
    for text, row in found:
        if row:
            best = {t: min((r for r in row if r["threads"] == t), key=lambda r: r["seconds"])
                    for t in threads if any(r["threads"] == t for r in row)}
            fastest = best[max(best)]
            lines.append([text, count(fastest["n"]),
                          *(time(best[t]["seconds"]) if t in best else "" for t in threads),
                          speed(fastest)])
    return rows_of(lines, ["question", "n", *(f"{t} thread{'s' if t > 1 else ''}" for t in threads),
                           "rate"])


def gpu(data):
    lines = []
    for text, where, which in GPU:
        for r in pick(data, "cuda", where, which):
            lines.append([text, count(r["n"]), time(r["seconds"]), speed(r)])
    return rows_of(lines, ["question", "n", "time", "rate"])


def asked_on_gpu(r):
    """What a program for GPUs answers."""
    words = r["case"].split()
    kind = r["set"].replace("soneira_peebles", "Soneira-Peebles")
    if words[0] == "nearest":
        return f"{words[1]} nearest, {kind}"
    if words[0] == "groups":
        return f"groups, {kind}"
    if words[1] == "batch":
        return f"full list with shifts, {count(r['systems'])} systems of {words[2]}"
    return f"full list with shifts, crystal, {words[2]} Å"


def gpu_peers(data, lists):
    """kith beside programs for GPUs, and what these cannot do: lists, or other questions."""
    lines = []
    for r in data.get("gpu_peers", []):
        if r["case"].startswith("list") != lists:
            continue
        method = f", {r['method']}" if "method" in r else ""
        line = [asked_on_gpu(r), count(r["n"]), f"{r['program']} {r['version']}{method}"]
        lines.append(line + ([f"fails: {r['failed']}", "", ""] if "failed" in r else
                             [time(r["seconds"]), time(r["kith_seconds"]), f"{r['ratio']:.1f}"]))
    return rows_of(lines, ["question", "n", "peer", "time", "kith", "ratio"])


def end_to_end(data):
    """kith as a whole process from file to file, before and after, and what it cannot be faster
    than."""
    lines = []
    for r in data.get("end_to_end", []):
        parts = r["after"]["parts"]
        writes = r["case"].startswith("pairs into")
        part = parts["write"] if writes else parts.get("read")
        lines.append([r["case"], f"{r['bytes'] / 1e6:.0f} MB",
                      time(r["before"]["wall"]) if "before" in r else "", time(r["after"]["wall"]),
                      f"{r['ratio']:.2f}" if "ratio" in r else "",
                      f"{r['processor_ratio']:.2f}" if "ratio" in r else "",
                      "" if part is None else time(part),
                      *(time(r["floors"][key]) if key in r["floors"] else ""
                        for key in ("hot", "cold", "decoder"))])
    return rows_of(lines, ["question", "file", "before", "after", "ratio", "of processor time",
                           "reading or writing", "page cache", "disk", "zlib"])


AGREEMENTS = {"vicsek": "noise in angle", "vectorial": "noise on the vectors",
              "heading": "noise on the heading", "abp": "diffusion of discs"}


def flocks(data):
    """A step of flocks beside peers, in processor time of all threads together."""
    found = {}
    for r in compared(data):
        if r["case"] == "flock vicsek":
            key = r["model"], count(r["n"]), f"{r['program']} {r['version']}"
            found.setdefault(key, {})[r["threads"]] = r
    many = max((threads for row in found.values() for threads in row), default=1)
    columns = dict.fromkeys((1, many))
    lines = []
    for (model, n, peer), row in found.items():
        line = [AGREEMENTS[model], n, peer]
        for threads in columns:
            r = row.get(threads)
            own, theirs = (r["kith_processor_seconds"], r["processor_seconds"]) if r else (0, 0)
            line += [time(own), time(theirs), f"{theirs / own:.1f}"] if r else ["", "", ""]
        lines.append(line)
    head = ["a step with", "n", "peer"]
    for threads in columns:
        head += [f"kith, {threads} thread{'s' if threads > 1 else ''}", "peer", "ratio"]
    return rows_of(lines, head)


def with_error(value, error):
    """A number with its standard error in units of the last digit: 0.971(12)."""
    if error == 0:
        return f"{value:.4f}"
    digits = max(0, 1 - math.floor(math.log10(error)))
    return f"{value:.{digits}f}({error * 10**digits:.0f})"


def agreement(data):
    """Averages of steady states by kith, and by each peer, with how far they are apart."""
    found, programs = {case: {} for case in AGREEMENTS}, {}
    for r in data.get("agreement", []):
        row = found[r["case"]].setdefault(r["at"], {})
        row["kith"] = with_error(r["kith_value"], r["kith_error"])
        row[r["program"]] = f"{with_error(r['value'], r['error'])}, {r['deviation']:.1f}"
        programs[r["program"]] = r["version"]
    lines = [[AGREEMENTS[case], f"{at:g}", row["kith"], *(row.get(name, "") for name in programs)]
             for case, rows in found.items() for at, row in rows.items()]
    return rows_of(lines, ["average", "at", "kith",
                           *(f"{name} {version}".strip() for name, version in programs.items())])


KINDS = {"peers": peers, "closest": closest, "flocks": flocks, "agreement": agreement,
         "cpu": cpu, "gpu": gpu, "end_to_end": end_to_end,
         "gpu_nearest": functools.partial(gpu_peers, lists=False),
         "gpu_lists": functools.partial(gpu_peers, lists=True)}


def made_on(data):
    """The machine and the build."""
    machine, build = data["machine"], data["build"]
    gpu_too = f", {data['gpu']['name']}" if "gpu" in data else ""
    return (f"{machine['cpu']}, {machine['cores']} cores{gpu_too}; kith {build['version']}, "
            f"commit {build['commit']}, {build['compiler']}")


def everything(data):
    """All tables that have rows, with the machine."""
    tables = [text for text in (make(data) for make in KINDS.values() if make is not closest)
              if text.count("\n") > 1]
    return "\n\n".join([made_on(data), *tables])


def page_with_tables(page):
    """The page's text with its tables made anew."""
    def renew(found):
        start, kind, name, end = found.groups()
        data = results.load(page.parent / name)
        return f"{start}\n{KINDS[kind](data)}\n\n{made_on(data)}: [{name}]({name})\n\n{end}"
    text = page.read_text(encoding="utf-8")
    if not MARKED.search(text):
        raise ValueError("no tables")
    return MARKED.sub(renew, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("file", type=pathlib.Path)
    args = parser.parse_args()
    if not args.write and not args.check:
        print(everything(results.load(args.file)))
        return 0
    new = page_with_tables(args.file)
    if args.write:
        args.file.write_text(new, encoding="utf-8")
    elif new != args.file.read_text(encoding="utf-8"):
        sys.exit(f"{args.file}: a table is not what its results file gives; "
                 f"bench/table.py --write {args.file} makes it anew")
    return 0


if __name__ == "__main__":
    sys.exit(main())
