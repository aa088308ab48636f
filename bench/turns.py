# SPDX-License-Identifier: BSD-3-Clause
"""What comparisons with other programs share: a child for each number of threads, timing by turns,
and adding to the results file of kith_bench."""

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import time


def seconds(call):
    """Return how long a call takes, and its result."""
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def spread(times):
    """Return what the results file says of repeated times."""
    return {"repeats": len(times), "seconds": statistics.median(times), "seconds_min": min(times),
            "seconds_max": max(times)}


def processor_seconds(call):
    """Return how much processor time a call takes, of all threads of this process together."""
    start = time.process_time()
    call()
    return time.process_time() - start


def take_turns(own, theirs, first, prepare=None, turns=5):
    """Time kith and a peer by turns, five times, three where the peer's first call was long.
    Return what the results file says of both. Processor time is that of all threads: other
    programs on the machine do not add to it."""
    own_times, times, own_work, work = [], [], [], []
    for _ in range(turns if first < 20 else 3):
        if prepare:
            prepare()
        own_work.append(processor_seconds(lambda: own_times.append(seconds(own)[0])))
        work.append(processor_seconds(lambda: times.append(seconds(theirs)[0])))
    own_median, own_work_median = statistics.median(own_times), statistics.median(own_work)
    return {
        **spread(times), "kith_seconds": own_median, "kith_seconds_min": min(own_times),
        "kith_seconds_max": max(own_times), "ratio": statistics.median(times) / own_median,
        "processor_seconds": statistics.median(work), "kith_processor_seconds": own_work_median,
    }


def per_step(times, steps):
    """What take_turns returned of calls that made some steps, for one step."""
    return {name: value / steps if "seconds" in name else value for name, value in times.items()}


def report(result, what):
    """Print one line of a comparison."""
    print(f"{result['program']:20} {result['threads']} threads {what:24} "
          f"{result['seconds']:9.4f} s, kith {result['kith_seconds']:.4f} s: "
          f"{result['ratio']:.1f} x", file=sys.stderr)


def add_results(path, results, key="results", made_by=("set",)):
    """Replace in a results file what the list `key` had of kith or of peers with equal values of
    these fields, in one step. What kith did by itself is replaced where the results have it."""
    def identity(result):
        return result["program"] == "kith", *(result[name] for name in made_by)
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    made = set(map(identity, results))
    data[key] = [r for r in data.get(key, []) if identity(r) not in made] + results
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(data, file, indent=2)
        file.write("\n")
    os.replace(path + ".new", path)


def compare_peers(peers, asks, say):
    """Ask peers, with what asks(peer) gives for each question, as many functions that return a
    result, None when it is wrong. Those that cannot be imported are left out. Print what say makes
    of a result. Return the results, and whether one was wrong."""
    results, wrong = [], False
    for peer in peers:
        try:
            found = [ask() for ask in asks(peer)]
        except ImportError as error:
            print(f"{peer.name} is left out: {error}", file=sys.stderr)
            continue
        wrong = wrong or None in found
        for result in filter(None, found):
            results.append(result)
            report(result, say(result))
    return results, wrong


def run(doc, compare_all):
    """Do the work of a comparison program: have compare_all(args, threads) return results, and
    whether one was wrong, in a child for each number of threads, which the environment tells to all
    programs."""
    parser = argparse.ArgumentParser(description=doc.split("\n", maxsplit=1)[0])
    parser.add_argument("--points", required=True, help=".npy of [n][3] in the unit cube")
    parser.add_argument("--set", default="uniform", help="name of the points in the results")
    parser.add_argument("--kith", required=True,
                        help="the shared library; the command for peers_frames.py")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("-o", "--output", help="results file of kith_bench to add to")
    parser.add_argument("--child", type=int, help="for the program itself")
    args = parser.parse_args()
    if args.child:
        with contextlib.redirect_stdout(sys.stderr):  # what a peer prints is no result
            results, wrong = compare_all(args, args.child)
        json.dump(results, sys.stdout)
        return 1 if wrong else 0

    results, status = in_children((threads, {"OMP_NUM_THREADS": threads})
                                  for threads in args.threads.split(","))
    if args.output:
        add_results(args.output, results)
    return status


def in_children(children):
    """Run this program again with each --child of (name, environment). Return the results that they
    print, and the worst exit status."""
    results, status = [], 0
    for name, environment in children:
        child = subprocess.run([sys.executable, *sys.argv, "--child", name],
                               env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True,
                               check=False)
        status = max(status, abs(child.returncode))
        results += json.loads(child.stdout or "[]")
    return results, status
