# SPDX-License-Identifier: BSD-3-Clause
"""The shared library: found on first use, and its functions declared."""
from __future__ import annotations

import ctypes as C
import importlib.util
import os
import pathlib
import warnings
from collections.abc import Iterator
from typing import Any, Optional, Union

from . import _abi

_P: Any = C.POINTER
_CTX = C.c_void_p

# Name: type of the result, types of the arguments. A status is an int.
_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "kith_version": (C.c_char_p, []),
    "kith_status_name": (C.c_char_p, [C.c_int]),
    "kith_message": (C.c_char_p, [_CTX]),
    "kith_backend": (C.c_char_p, [_CTX]),
    "kith_threads": (C.c_int, [_CTX]),
    "kith_scratch_bytes": (C.c_int64, [_CTX]),
    "kith_options_init_sized": (None, [_P(_abi.Options), C.c_size_t]),
    "kith_open": (C.c_int, [_P(_abi.Options), _P(_CTX)]),
    "kith_close": (None, [_CTX]),
    "kith_set_stream": (C.c_int, [_CTX, C.c_void_p]),
    "kith_batch_init_sized": (None, [_P(_abi.Batch), C.c_size_t]),
    "kith_pairs_options_init_sized": (None, [_P(_abi.PairsOptions), C.c_size_t]),
    "kith_pairs_find": (C.c_int, [_CTX, _P(_abi.Points), _P(_abi.Box), C.c_double,
                                  _P(_abi.PairsOptions), _P(_abi.Pairs)]),
    "kith_pairs_count": (C.c_int, [_CTX, _P(_abi.Points), _P(_abi.Box), C.c_double,
                                   _P(_abi.PairsOptions), _P(C.c_int64), C.c_void_p]),
    "kith_pairs_fill": (C.c_int, [_CTX, _P(_abi.Points), _P(_abi.Box), C.c_double,
                                  _P(_abi.PairsOptions), _P(_abi.Pairs)]),
    "kith_pairs_enqueue": (C.c_int, [_CTX, _P(_abi.Points), _P(_abi.Box), C.c_double,
                                     _P(_abi.PairsOptions), _P(_abi.Pairs), C.c_void_p]),
    "kith_pairs_free": (None, [_P(_abi.Pairs)]),
    "kith_verlet_options_init_sized": (None, [_P(_abi.VerletOptions), C.c_size_t]),
    "kith_verlet_open": (C.c_int, [_CTX, _P(_abi.VerletOptions), _P(C.c_void_p)]),
    "kith_verlet_update": (C.c_int, [C.c_void_p, _P(_abi.Points), _P(_abi.Box),
                                     _P(_abi.Pairs)]),
    "kith_verlet_update_batch": (C.c_int, [C.c_void_p, _P(_abi.Points), _P(_abi.Box),
                                           _P(_abi.Batch), _P(_abi.Pairs)]),
    "kith_verlet_reasons": (C.c_int, [C.c_void_p, C.c_int64, C.c_void_p]),
    "kith_verlet_rebuild": (C.c_int, [C.c_void_p]),
    "kith_verlet_read_sized": (C.c_int, [C.c_void_p, _P(_abi.VerletState), C.c_size_t]),
    "kith_verlet_close": (None, [C.c_void_p]),
    "kith_nearest_options_init_sized": (None, [_P(_abi.NearestOptions), C.c_size_t]),
    "kith_nearest_find": (C.c_int, [_CTX, _P(_abi.Points), _P(_abi.Box), C.c_int64,
                                    _P(_abi.NearestOptions), _P(_abi.Nearest)]),
    "kith_nearest_fill": (C.c_int, [_CTX, _P(_abi.Points), _P(_abi.Box), C.c_int64,
                                    _P(_abi.NearestOptions), _P(_abi.Nearest)]),
    "kith_nearest_free": (None, [_P(_abi.Nearest)]),
    "kith_order_find": (C.c_int, [_CTX, _P(_abi.Points), _P(_abi.Box), C.c_double,
                                  _P(_abi.Order)]),
    "kith_order_fill": (C.c_int, [_CTX, _P(_abi.Points), _P(_abi.Box), C.c_double,
                                  _P(_abi.Order)]),
    "kith_order_free": (None, [_P(_abi.Order)]),
    "kith_fof_options_init_sized": (None, [_P(_abi.FofOptions), C.c_size_t]),
    "kith_fof_find": (C.c_int, [_CTX, _P(_abi.Points), _P(_abi.Box), C.c_double,
                                _P(_abi.FofOptions), _P(_abi.Groups)]),
    "kith_groups_free": (None, [_P(_abi.Groups)]),
    "kith_halo_input_init_sized": (None, [_P(_abi.HaloInput), C.c_size_t]),
    "kith_halos_measure": (C.c_int, [_CTX, _P(_abi.Points), _P(_abi.Box), _P(_abi.Groups),
                                     _P(_abi.HaloInput), _P(_abi.Halos)]),
    "kith_halos_free": (None, [_P(_abi.Halos)]),
    "kith_rdf_options_init_sized": (None, [_P(_abi.RdfOptions), C.c_size_t]),
    "kith_rdf_count": (C.c_int, [_CTX, _P(_abi.Points), _P(_abi.Box), _P(_abi.RdfOptions),
                                 _P(_abi.Histogram)]),
    "kith_rdf_g": (None, [_P(_abi.Histogram), C.c_int32, C.c_int32, C.c_void_p]),
    "kith_rdf_coordination": (None, [_P(_abi.Histogram), C.c_int32, C.c_int32, C.c_void_p]),
    "kith_histogram_partial": (C.c_int32, [_P(_abi.Histogram), C.c_int32, C.c_int32]),
    "kith_histogram_free": (None, [_P(_abi.Histogram)]),
    "kith_waves_init_sized": (None, [_P(_abi.Waves), C.c_size_t]),
    "kith_waves_sum": (C.c_int, [_CTX, _P(_abi.Points), _P(_abi.Box), _P(_abi.Waves),
                                 C.c_void_p]),
    "kith_overlap_options_init_sized": (None, [_P(_abi.OverlapOptions), C.c_size_t]),
    "kith_overlap_count": (C.c_int, [_CTX, _P(_abi.Replicas), _P(_abi.OverlapOptions),
                                     _P(_abi.Overlaps)]),
    "kith_overlaps_free": (None, [_P(_abi.Overlaps)]),
    "kith_debye_options_init_sized": (None, [_P(_abi.DebyeOptions), C.c_size_t]),
    "kith_debye_sum": (C.c_int, [_CTX, _P(_abi.Points), _P(_abi.DebyeOptions), C.c_void_p]),
    "kith_flock_options_init_sized": (None, [_P(_abi.FlockOptions), C.c_size_t]),
    "kith_flock_open": (C.c_int, [_CTX, _P(_abi.Points), _P(_abi.Points), _P(_abi.Box),
                                  _P(_abi.FlockOptions), _P(C.c_void_p)]),
    "kith_flock_change": (C.c_int, [C.c_void_p, _P(_abi.FlockOptions)]),
    "kith_flock_step": (C.c_int, [C.c_void_p, C.c_int64]),
    "kith_flock_steps": (C.c_int64, [C.c_void_p]),
    "kith_flock_read": (C.c_int, [C.c_void_p, C.c_void_p, C.c_void_p]),
    "kith_flock_read_device": (C.c_int, [C.c_void_p, C.c_void_p, C.c_void_p]),
    "kith_flock_measure": (C.c_int, [C.c_void_p, _P(_abi.FlockMeasures)]),
    "kith_flock_close": (None, [C.c_void_p]),
    "kith_transport_threads": (C.c_int, [C.c_int, _P(_abi.Transport)]),
    "kith_transport_close": (None, [_P(_abi.Transport)]),
    "kith_team_open": (C.c_int, [_CTX, _P(_abi.Transport), C.c_void_p, _P(C.c_void_p)]),
    "kith_team_close": (None, [C.c_void_p]),
    "kith_team_load_read": (C.c_int, [C.c_void_p, _P(_abi.TeamLoad)]),
    "kith_team_fof_find": (C.c_int, [C.c_void_p, _P(_abi.Points), _P(_abi.Box), C.c_double,
                                     _P(_abi.FofOptions), _P(_abi.TeamGroups)]),
    "kith_team_groups_free": (None, [_P(_abi.TeamGroups)]),
    "kith_team_halos_measure": (C.c_int, [C.c_void_p, _P(_abi.Points), _P(_abi.Box),
                                          _P(_abi.TeamGroups), _P(_abi.HaloInput),
                                          _P(_abi.TeamHalos)]),
    "kith_team_halos_free": (None, [_P(_abi.TeamHalos)]),
    "kith_team_pairs_find": (C.c_int, [C.c_void_p, _P(_abi.Points), _P(_abi.Box), C.c_double,
                                       _P(_abi.PairsOptions), _P(_abi.TeamPairs)]),
    "kith_team_pairs_count": (C.c_int, [C.c_void_p, _P(_abi.Points), _P(_abi.Box), C.c_double,
                                        _P(_abi.PairsOptions), _P(C.c_int64), C.c_void_p]),
    "kith_team_pairs_free": (None, [_P(_abi.TeamPairs)]),
    "kith_team_nearest_find": (C.c_int, [C.c_void_p, _P(_abi.Points), _P(_abi.Box), C.c_int64,
                                         _P(_abi.NearestOptions), _P(_abi.TeamNearest)]),
    "kith_team_nearest_free": (None, [_P(_abi.TeamNearest)]),
    "kith_team_flock_open": (C.c_int, [C.c_void_p, _P(_abi.Points), _P(_abi.Points), _P(_abi.Box),
                                       _P(_abi.FlockOptions), _P(C.c_void_p)]),
    "kith_team_flock_change": (C.c_int, [C.c_void_p, _P(_abi.FlockOptions)]),
    "kith_team_flock_step": (C.c_int, [C.c_void_p, C.c_int64]),
    "kith_team_flock_steps": (C.c_int64, [C.c_void_p]),
    "kith_team_flock_read": (C.c_int, [C.c_void_p, C.c_void_p, C.c_void_p]),
    "kith_team_flock_measure_sized": (C.c_int, [C.c_void_p, _P(_abi.FlockMeasures), C.c_size_t]),
    "kith_team_flock_close": (None, [C.c_void_p]),
    "kith_team_rdf_count": (C.c_int, [C.c_void_p, _P(_abi.Points), _P(_abi.Box),
                                      _P(_abi.RdfOptions), _P(_abi.Histogram)]),
}
_loaded: Optional[C.CDLL] = None


def _candidates(name: str, variable: str, folder: str) -> Iterator[Union[str, pathlib.Path]]:
    """Yield the places where a library may be: the environment's, the wheel's for GPUs, the
    wheel's, the checkout's, the system's."""
    given = os.environ.get(variable)
    if given:
        yield given
        return
    gpu = importlib.util.find_spec("kith_cu13") if name == "libkith" else None
    if gpu is not None and gpu.origin is not None:
        yield pathlib.Path(gpu.origin).parent / "lib" / f"{name}.so.0"
    here = pathlib.Path(__file__).resolve().parent
    yield here / "lib" / f"{name}.so.0"
    yield here.parents[1] / "build" / "release" / folder / f"{name}.so"
    yield f"{name}.so.0"  # where the system has it


def find_library(name: str, variable: str, folder: str,
                 functions: dict[str, tuple[Any, list[Any]]]) -> C.CDLL:
    """Load a library from the first place where it is, and declare its functions.

    `variable` of the environment may name it; `folder` is where a build has it.
    """
    tried = []
    for place in _candidates(name, variable, folder):
        if isinstance(place, pathlib.Path) and not place.exists():
            tried.append(str(place))
            continue
        try:
            library = C.CDLL(str(place))
            for function_name, (result, arguments) in functions.items():
                function = getattr(library, function_name)
                function.restype, function.argtypes = result, arguments
        except (OSError, AttributeError) as error:
            if "kith_cu13" in str(place):
                warnings.warn(f"the GPU library of pykith-cu13 is not used: {error}", stacklevel=2)
            tried.append(str(error))
            continue
        return library
    raise ImportError(f"kith's shared library {name} was not found; set {variable} to its path. "
                      "Tried: " + "; ".join(tried))


def library() -> C.CDLL:
    """Return the loaded library. ctypes releases the interpreter's lock during its calls."""
    global _loaded
    if _loaded is None:
        _loaded = find_library("libkith", "KITH_LIBRARY", "src", _FUNCTIONS)
    return _loaded
