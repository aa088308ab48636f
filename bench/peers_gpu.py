#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Time other programs beside kith on a GPU: same points, same process, by turns.

    peers_gpu.py --kith libkith.so --points FILE.npy [-o results.json]

As peers.py, from device memory to device memory, which PyTorch or else CuPy provides. kith gives
its list in the deterministic order.
"""

import argparse
import importlib.metadata
import sys

import numpy as np

from kith_ctypes import Kith
from peers import CUBE, STANDARD_CUTOFF, STANDARD_N, set_hash
from turns import report, run, seconds, take_turns


class Device:
    """Arrays on the first GPU, by PyTorch or CuPy. Raises ImportError where there is neither."""

    def __init__(self):
        try:
            import torch
            self.put = lambda array: torch.from_numpy(np.array(array)).cuda()
            self.get = lambda array: array.cpu().numpy()
            self.address = lambda array: array.data_ptr()
            self.wait = torch.cuda.synchronize
            if not torch.cuda.is_available():
                raise ImportError("PyTorch without CUDA")
        except ImportError:
            import cupy
            self.put, self.get = cupy.asarray, cupy.asnumpy
            self.address = lambda array: array.data.ptr
            self.wait = cupy.cuda.runtime.deviceSynchronize


def compare(kith, device, points, full, periodic, args):
    """Verify, then time by turns. Return a result, or None when the lists differ."""
    import vesin
    n = len(points)
    cutoff = STANDARD_CUTOFF * (STANDARD_N / n) ** (1 / 3)
    finder = vesin.NeighborList(cutoff=cutoff, full_list=full)
    box, there = device.put(CUBE), device.address(points)

    def find():
        found = finder.compute(points, box, periodic, "PS" if periodic else "P", copy=False)[0]
        device.wait()
        return found

    def own():
        kith.find_on_device(there, n, cutoff, periodic, full, periodic)
        device.wait()

    ours = set_hash(*kith.find_from_device(there, n, cutoff, periodic, full), full)
    first, found = seconds(find)
    theirs = set_hash(*device.get(found).T, full)
    del found
    own()
    if ours != theirs:
        print(f"peers_gpu.py: lists differ: vesin {theirs[0]} pairs, kith {ours[0]}",
              file=sys.stderr)
        return None
    times = take_turns(own, find, first)
    return {
        "program": "vesin", "version": importlib.metadata.version("vesin"),
        "case": ("full" if full else "half") + (" periodic" if periodic else ""),
        "set": args.set, "n": n, "cutoff": cutoff, "periodic": periodic, "precision": "double",
        "list": "ij", "full": full, "sorted": False, "shifts": periodic, "threads": 1,
        "pairs": ours[0],
        "million_half_pairs_per_second": 1e-6 * ours[0] / (2 if full else 1) / times["seconds"],
        "keeps_memory": True, "kith_backend": kith.backend, **times,
    }


def compare_all(args, threads):
    """Lists of vesin, which is all that PyPI has for a GPU and points in any order."""
    results, wrong = [], False
    try:
        device = Device()
        import vesin  # noqa: F401
    except ImportError as error:
        print(f"peers_gpu.py: left out: {error}", file=sys.stderr)
        return results, wrong
    points = device.put(np.load(args.points).astype(np.float64))
    kith = Kith(args.kith, threads, "cuda")
    for full in (False, True):
        for periodic in (False, True):
            result = compare(kith, device, points, full, periodic, args)
            wrong = wrong or result is None
            if result:
                results.append(result)
                report(result, result["case"])
    kith.close()
    return results, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--points", required=True, help=".npy of [n][3] in the unit cube")
    parser.add_argument("--set", default="uniform", help="name of the points in the results")
    return run(parser, compare_all)


if __name__ == "__main__":
    sys.exit(main())
