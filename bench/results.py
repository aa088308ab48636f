#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Read and check a results file of kith_bench; results/README.md describes it.

    results.py FILE...      exit 0 when every file is whole
"""

import json
import sys

RUN = {
    "machine": {"cpu": str, "cores": int, "memory_bytes": int},
    "build": {"version": str, "commit": str, "compiler": str, "flags": str},
    "run": {"date": str, "command": list, "environment": dict},
}
RESULT = {
    "program": str, "version": str, "case": str, "set": str, "n": int, "periodic": bool,
    "precision": str, "threads": int, "repeats": int, "seconds": float, "seconds_min": float,
    "seconds_max": float,
}
PAIRS = {"cutoff": float, "list": str, "full": bool, "sorted": bool, "pairs": int,
         "million_half_pairs_per_second": float}
FOF = {"length": float, "spacings": float, "min_members": int, "groups": int, "largest": int,
       "million_particles_per_second": float}
RDF = {"r_max": float, "bins": int, "minimum_image": bool, "counted": int,
       "million_half_pairs_per_second": float}
FRAMES = {**RDF, "frames": int}
NEAREST = {"k": int, "million_particles_per_second": float}
ORDER = {"million_particles_per_second": float}
BATCH = {"systems": int}
FLOCK = {"side": float, "steps": int, "neighbours": float, "polarisation": float,
         "million_particles_per_second": float}
OVERLAP = {"dim": int, "bins": int, "counted": int, "million_half_pairs_per_second": float,
           "product_library": str}
OWN = {"backend": str, "seconds_first": float, "scratch_bytes_per_particle": float}
OWN_FRAMES = {"backend": str, "seconds_first": float}  # of a process: nothing is kept
OWN_PAIRS = {"distances": bool, "gigabytes_per_second": float, "store_floor_seconds": float}
ON_GPU = {"unordered": bool, "shifts": bool, "device_seconds": float, "device_seconds_min": float,
          "device_seconds_max": float}
KEPT_ON_GPU = {"shifts": bool}
FOF_ON_GPU = {"catalogue": bool}
GPU = {"name": str, "compute_capability": str, "processors": int, "memory_bytes": int,
       "store_gigabytes_per_second": float, "cuda_runtime": int, "cuda_driver": int,
       "compiler": str, "architectures": str}
PEER = {"kith_seconds": float, "ratio": float}
GPU_PEER = {"program": str, "version": str, "case": str, "set": str, "n": int, "precision": str}
AGREEMENT = {"program": str, "version": str, "case": str, "at": float, "n": int, "steps": int,
             "value": float, "error": float, "kith_value": float, "kith_error": float,
             "deviation": float}
TIMED = {"repeats": int, "seconds": float, "seconds_min": float, "seconds_max": float,
         "kith_seconds_min": float, "kith_seconds_max": float}
FAILED = {"failed": str}
BUSY = {  # of one machine that is not idle: times of calls, or calls of several processes
    True: {"spinning": int, "calls": int, "one_thread_seconds": float, "ratio": float,
           "threads": int, "seconds": float},
    False: {"processes": int, "throughput_ratio": float, "throughput_ratio_min": float,
            "throughput_ratio_max": float},
}

STUDY = {"rung": str, "backend": str, "n": int, "threads": int, "viewed": bool,
         "cell_width": float, "steps_per_second": float, "repeats": int, "seconds": float,
         "seconds_min": float, "seconds_max": float}
SKIN = {"backend": str, "n": int, "skin": float, "searches": int, "updates": int,
        "entries_per_boid": float, "search_seconds": float, "update_seconds": float,
        "ratio": float, "repeats": int, "seconds": float, "seconds_min": float,
        "seconds_max": float}
END_TO_END = {"case": str, "particles": int, "bytes": int, "kith": list, "turns": int,
              "after": dict, "floors": dict}
CORES = {"threads": int, "one_thread_seconds": float, "gain": float, "seconds": float}


def refuse(constant):
    raise ValueError(f"{constant} is not JSON")


def check_fields(where, value, fields):
    for name, kind in fields.items():
        if name not in value:
            raise ValueError(f"{where}: no \"{name}\"")
        found = value[name]
        right = isinstance(found, kind) or (kind is float and isinstance(found, int))
        if not right or (kind is not bool and isinstance(found, bool)):
            raise ValueError(f"{where}: {name} is {found!r}, expected {kind.__name__}")


def is_pairs(result):
    """Whether it is a result of pair lists."""
    return "pairs" in result


def counts_pairs(result):
    """Whether its speed is in half pairs, else in particles."""
    return "million_half_pairs_per_second" in result


def fields_of(result):
    """What a result must say of its question and answer."""
    if result["case"].split()[0] == "flock":
        return FLOCK
    if result["case"] == "frames":
        return FRAMES
    for name, fields in (("nearest", NEAREST), ("order", ORDER), ("batch", BATCH)):
        if result["case"].startswith(f"{name} "):
            return fields
    if result["case"].startswith("overlap"):
        return OVERLAP
    return PAIRS if is_pairs(result) else RDF if "bins" in result else FOF


def check(data):
    if data.get("schema") != 1:
        raise ValueError("schema is not 1")
    for name, fields in RUN.items():
        check_fields(name, data[name], fields)
    if not any(isinstance(found, list) and found for found in data.values()):
        raise ValueError("no results")
    for k, result in enumerate(data.get("busy", [])):
        check_fields(f"busy[{k}]", result, BUSY["spinning" in result])
    for k, result in enumerate(data.get("gpu_peers", [])):
        check_fields(f"gpu_peers[{k}]", result, GPU_PEER)
        check_fields(f"gpu_peers[{k}]", result, FAILED if "failed" in result else TIMED | PEER)
    for k, result in enumerate(data.get("cores", [])):
        check_fields(f"cores[{k}]", result, CORES)
    for k, result in enumerate(data.get("study", [])):
        check_fields(f"study[{k}]", result, STUDY)
    for k, result in enumerate(data.get("end_to_end", [])):
        check_fields(f"end_to_end[{k}]", result, END_TO_END)
    for k, result in enumerate(data.get("skins", [])):
        check_fields(f"skins[{k}]", result, SKIN)
    for k, result in enumerate(data.get("agreement", [])):
        check_fields(f"agreement[{k}]", result, AGREEMENT)
    for k, result in enumerate(data.get("results", [])):
        where = f"results[{k}]"
        check_fields(where, result, RESULT)
        own = result["program"] == "kith"
        own_fields = OWN_FRAMES if result["case"] == "frames" else OWN
        check_fields(where, result, own_fields if own else PEER)
        check_fields(where, result, fields_of(result))
        if own and is_pairs(result):
            check_fields(where, result, OWN_PAIRS)
        if result.get("backend", "").startswith("cuda"):
            check_fields("gpu", data["gpu"], GPU)
            kept = result["case"].startswith("kept ")
            check_fields(where, result, KEPT_ON_GPU if kept else
                         ON_GPU if is_pairs(result) else FOF_ON_GPU)
        if not 0 < result["seconds_min"] <= result["seconds"] <= result["seconds_max"]:
            raise ValueError(f"{where}: seconds are not in order")
        if result["repeats"] < 3 or (is_pairs(result) and result["pairs"] <= 0):
            raise ValueError(f"{where}: no pairs, or fewer than 3 repeats")


def load(path):
    """Return a checked results file."""
    with open(path, encoding="utf-8") as file:
        data = json.load(file, parse_constant=refuse)
    check(data)
    return data


def main():
    for path in sys.argv[1:]:
        try:
            load(path)
        except (OSError, ValueError, KeyError) as error:
            sys.exit(f"{path}: {error}")
    if len(sys.argv) < 2:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
