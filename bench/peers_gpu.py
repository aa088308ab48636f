#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Time programs for GPUs beside kith: same arrays in device memory, same process, by turns.

    peers_gpu.py --kith libkith.so --bench kith_bench [--quick] [-o results.json]

jztree (with jztree-cu13) finds nearest neighbours and groups of JAX arrays, nvalchemi-toolkit-ops
lists of PyTorch tensors. Answers must agree with kith's first: distances to a few units in the last
place, sizes of groups, numbers of neighbours but for one pair in a million, which is as far apart
as the radius itself. Then both run by turns, each until the device is ready, and the medians and
their ratio are added to the results file of kith_bench. A peer's memory is made before, as kith's
is. jztree is asked again with more memory where it refuses, the lists of nvalchemi-toolkit-ops are
those of its fastest method with the right answer. What a peer cannot do is reported with its words.
"""

import argparse
import dataclasses
import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

from turns import add_results, in_children, seconds, take_turns

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "python"))
CUTOFF, DENSITY = 5.0, 0.1  # of lists: the case that nvalchemi-toolkit-ops publishes for batches
BATCHES = ((512, 6144), (10000, 64), (100000, 20))
CRYSTALS = ((41, 6.0), (41, 15.0), (32, 25.0))  # CsCl, cells an axis; the cutoff in angstrom
SPACING = 4.119  # of CsCl, angstrom


class Different(Exception):
    """A peer's answer is not kith's."""


def timed(program, version, case, own, theirs, **what):
    """Time two calls by turns. Return a result."""
    first, _ = seconds(theirs)
    for call in (own, theirs, own):
        call()
    return {"program": program, "version": version, "case": case, **what,
            **take_turns(own, theirs, first)}


def report(result):
    print(f"{result['program']:22} {result['case']:24} {result['set']:16} n {result['n']:9} "
          f"{1e3 * result['seconds']:9.3f} ms, kith {1e3 * result['kith_seconds']:.3f} ms: "
          f"{result['ratio']:.2f} x", file=sys.stderr, flush=True)


def jax_sets(bench, quick):
    """Points of every set in the unit cube, as arrays of JAX."""
    import jax.numpy as jnp
    for n in (30000,) if quick else (10 ** 6, 10 ** 7):
        for name in ("uniform", "clustered", "soneira_peebles"):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "points.npy")
                subprocess.run([bench, "points", name, str(n), path], check=True)
                yield name, n, jnp.asarray(np.load(path).astype(np.float32))


def compare_jztree(kith, bench, quick):
    """Nearest neighbours and groups, in open space."""
    import jax
    from jztree.config import FofConfig, KNNConfig
    from jztree.fof import fof_labels
    from jztree.knn import knn
    program, version = "jztree", importlib.metadata.version("jztree")
    for name, n, x in jax_sets(bench, quick):
        for k in (8, 16, 32):
            def own():
                return jax.block_until_ready(kith.nearest(x, k, want="jd"))

            def theirs(config):  # the first neighbour there is the particle itself
                return jax.block_until_ready(knn.jit(x, k + 1, cfg=config))
            what = {"set": name, "n": n, "precision": "float", "k": k}
            config, found = enlarged(theirs, KNNConfig())
            if config is None:
                yield failed(program, version, f"nearest {k}", found, what)
                continue
            if not np.allclose(np.asarray(own()[1]), np.asarray(found[0][:, 1:]), rtol=0,
                               atol=2e-6):
                raise Different(f"distances of {k} nearest, {name} of {n}")
            yield timed(program, version, f"nearest {k}", own, lambda: theirs(config), **what)
        length = 0.2 * n ** (-1 / 3)

        def own_groups():
            return kith.fof(x, length, min_members=1)

        def their_groups(config):
            return jax.block_until_ready(fof_labels.jit(x, length, cfg=config))
        what = {"set": name, "n": n, "precision": "float", "length": length}
        config, found = enlarged(their_groups, FofConfig())
        if config is None:
            yield failed(program, version, "groups", found, what)
            continue
        groups = len(np.unique(np.asarray(found[1])))
        ours = len(own_groups().members)
        if abs(groups - ours) > 1e-6 * n:
            raise Different(f"{groups} groups of {name} of {n}, kith {ours}")
        yield timed(program, version, "groups", own_groups, lambda: their_groups(config),
                    groups=ours, **what)


def enlarged(call, config):
    """Call with a configuration of jztree that has enough memory: up to 16 times its own for nodes
    of trees and for interactions. Return it and the answer; None and the error where that fails."""
    for factor in (1, 2, 4, 16):
        nodes = factor * config.tree.alloc_fac_nodes
        tree = dataclasses.replace(config.tree, alloc_fac_nodes=nodes)
        larger = dataclasses.replace(config, tree=tree,
                                     alloc_fac_ilist=factor * config.alloc_fac_ilist)
        try:
            return larger, call(larger)
        except Exception as error:  # of JAX or the peer, by the backend: not one class
            last = error
    return None, last


def failed(program, version, case, error, what):
    """What the results file says of a search that failed in a peer."""
    lines = [line.strip() for line in str(error).split("\n")]
    text = next((line for line in lines if "too small" in line or "out of memory" in line.lower()),
                lines[0])[:200]
    print(f"{program} {case} {what['set']} n {what['n']}: failed: {text}", file=sys.stderr)
    return {"program": program, "version": version, "case": case, **what, "failed": text}


def compare_list(kith, name, x, cell, cutoff, systems, width):
    """A full list with images, of one system or a batch, beside every method there."""
    import torch
    from nvalchemiops.torch.neighbors import prepare_neighbor_list, neighbor_list
    program = "nvalchemi-toolkit-ops"
    version = importlib.metadata.version(program)
    n, box = len(x), kith.Box(cell)
    boxes = torch.tensor(cell, dtype=torch.float32, device="cuda") * torch.eye(3, device="cuda")
    periodic = torch.ones(max(systems, 1), 3, dtype=torch.bool, device="cuda")
    theirs_of = {"cell": boxes.expand(max(systems, 1), 3, 3).contiguous(), "pbc": periodic}
    ours_of = {}
    if systems:
        first = torch.arange(systems + 1, device="cuda") * (n // systems)
        of = torch.arange(systems, device="cuda", dtype=torch.int32).repeat_interleave(n // systems)
        theirs_of |= {"batch_ptr": first.to(torch.int32), "batch_idx": of}
        ours_of = {"batch": first}
    found = kith.pairs(x, cutoff, box, "ojS", full=True, layout="csr", **ours_of)
    counts = found[0].diff()
    room = found[0], *(torch.empty((len(a) + 64, *a.shape[1:]), dtype=a.dtype, device="cuda")
                       for a in found[1:])
    number = torch.zeros(1, dtype=torch.int64, device="cuda")
    pairs = len(found[1])
    del found

    def own():
        kith.pairs(x, cutoff, box, "ojS", full=True, layout="csr", out=room, count=number,
                   **ours_of)
        torch.cuda.synchronize()

    best = None
    prefix = "batch_" if systems else ""
    for method in ("naive", "cell_list", "cluster_tile"):
        what = {"set": name, "n": n, "precision": "float", "systems": max(systems, 1),
                "cutoff": cutoff, "pairs": pairs, "method": prefix + method}
        if method == "naive" and n // max(systems, 1) > 20000:
            continue
        try:
            state = prepare_neighbor_list(x, cutoff, **theirs_of, method=prefix + method,
                                          max_neighbors=width)

            def theirs():
                made = neighbor_list(x, state=state)
                torch.cuda.synchronize()
                return made
            made = theirs()
        except Exception as error:  # of PyTorch, Warp or the peer
            yield failed(program, version, f"list {name}", error, what)
            continue
        different = int((made[1] - counts).abs().sum())
        if different > 1e-6 * pairs:
            yield failed(program, version, f"list {name}", f"it finds {int(made[1].sum())} pairs, "
                         f"kith {pairs}, in numbers of neighbours {different} differ", what)
            continue
        result = timed(program, version, f"list {name}", own, theirs, **what)
        best = result if best is None or result["seconds"] < best["seconds"] else best
    if best:
        yield best


def compare_nvalchemi(kith, bench, quick):
    """Lists of batches, and of the crystals that it is published with."""
    del bench  # for the points of jztree
    import torch
    torch.manual_seed(1)
    for systems, each in BATCHES[1:2] if quick else BATCHES:
        side = (each / DENSITY) ** (1 / 3)
        x = torch.rand(systems * each, 3, device="cuda") * side
        width = 160 if each < 1000 else 128
        yield from compare_list(kith, f"batch {each}", x, side, CUTOFF, systems, width)
    for cells, cutoff in CRYSTALS[:1] if quick else CRYSTALS:
        at = torch.arange(cells, device="cuda", dtype=torch.float32)
        corner = torch.cartesian_prod(at, at, at)
        x = ((torch.cat([corner, corner + 0.5]) + 0.01) * SPACING).contiguous()
        x += 0.1 * torch.rand_like(x)  # so that no pair is as far apart as the cutoff
        width = 1 + int(1.2 * 2 / SPACING ** 3 * 4.19 * cutoff ** 3) + 16
        yield from compare_list(kith, f"crystal {cutoff:.0f}", x, cells * SPACING, cutoff, 0, width)


PEERS = {"jztree": compare_jztree, "nvalchemi-toolkit-ops": compare_nvalchemi}


def compare(name, bench, quick):
    """Compare with one peer. Return the results, and an exit status."""
    import kith
    results, status = [], 0
    try:
        for result in PEERS[name](kith, bench, quick):
            results.append(result)
            if "failed" not in result:
                report(result)
    except ImportError as error:
        print(f"{name} cannot be imported, left out: {error}", file=sys.stderr)
    except Different as error:
        print(f"peers_gpu.py: {name} differs: {error}", file=sys.stderr)
        status = 1
    return results, status


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--kith", required=True, help="the shared library")
    parser.add_argument("--bench", required=True, help="kith_bench, which makes points")
    parser.add_argument("--quick", action="store_true", help="small sets")
    parser.add_argument("-o", "--output", help="results file of kith_bench to add to")
    parser.add_argument("--only", choices=PEERS, action="append", help="these peers alone")
    parser.add_argument("--child", choices=PEERS, help="for the program itself")
    args = parser.parse_args()
    os.environ["KITH_LIBRARY"] = os.path.abspath(args.kith)
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    if args.child:
        results, status = compare(args.child, args.bench, args.quick)
        json.dump(results, sys.stdout)
        return status
    results, status = in_children((name, {}) for name in args.only or PEERS)
    if args.output:
        add_results(args.output, results, "gpu_peers", ("program",))
    return status


if __name__ == "__main__":
    sys.exit(main())
