# SPDX-License-Identifier: BSD-3-Clause
"""Processes that Python forks: workers that use their parent's context, workers that open their
own, and a loader that makes batches in forked processes while its parent goes on computing."""
import multiprocessing
import sys

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing} (Debian: python3-numpy)")
    sys.exit(77)

import kith

SECONDS = 100
WORKERS = 3
forked = multiprocessing.get_context("fork")
shared = kith.Context("cpu", threads=4)


def points(seed):
    """Points in the unit cube, enough of them for several threads."""
    return np.random.default_rng(seed).random((20000, 3))


def count(context, seed):
    """Half pairs within 0.05."""
    return kith.count_pairs(points(seed), 0.05, kith.Box(1.0), ctx=context)


def with_parents(seed):
    """In a child: the context that the parent opened."""
    return count(shared, seed)


def with_own(seed):
    """In a child: a context of its own."""
    with kith.Context("cpu", threads=4) as context:
        return count(context, seed)


def load(tasks, results):
    """A worker of a loader: seeds in, counts out."""
    for seed in iter(tasks.get, None):
        results.put((seed, with_parents(seed)))


def main():
    """Compare what children find with what the parent finds."""
    seeds = range(6)
    expected = {seed: count(shared, seed) for seed in seeds}
    for work in (with_parents, with_own):
        with forked.Pool(WORKERS) as pool:
            found = pool.map_async(work, seeds).get(SECONDS)
        assert found == list(expected.values()), (work.__name__, found)

    tasks, results = forked.Queue(), forked.Queue()
    workers = [forked.Process(target=load, args=(tasks, results)) for _ in range(WORKERS)]
    for worker in workers:
        worker.start()
    for seed in seeds:
        tasks.put(seed)
    for seed in seeds:
        assert count(shared, seed) == expected[seed]
    assert dict(results.get(timeout=SECONDS) for _ in seeds) == expected
    for worker in workers:
        tasks.put(None)
    for worker in workers:
        worker.join(SECONDS)
        assert worker.exitcode == 0, worker.exitcode


main()
