# SPDX-License-Identifier: BSD-3-Clause
"""The public structs of kith.h and its companions for ctypes. A test compares every size and offset
with the C compiler's (tests/common/struct_layout.c)."""
import ctypes as C

DISTANCES, VECTORS, SHIFTS = 1, 2, 4  # extras of kith_pairs_options, kith_nearest_options
IJ, CSR, MATRIX = 0, 1, 2  # kith_layout
RESULTS = 3  # KITH_RESULTS
TYPES, SPHERES = 8, 4  # KITH_TYPES, KITH_SPHERES
WATCH = C.CFUNCTYPE(C.c_int, C.c_void_p, C.c_int64, C.c_int64)
# Functions of kith_transport.
COUNTS = C.CFUNCTYPE(C.c_int, C.c_void_p, C.c_void_p, C.c_void_p)
EXCHANGE = C.CFUNCTYPE(C.c_int, C.c_void_p, C.c_void_p, C.c_int64, C.c_void_p, C.c_int64,
                       C.c_void_p)
GATHER = C.CFUNCTYPE(C.c_int, C.c_void_p, C.c_void_p, C.c_int64, C.c_void_p)
COMBINE = C.CFUNCTYPE(C.c_int, C.c_void_p, C.c_int, C.c_void_p, C.c_int64)
END = C.CFUNCTYPE(None, C.c_void_p)


class Options(C.Structure):
    _fields_ = [("size", C.c_size_t), ("backend", C.c_char_p), ("threads", C.c_int),
                ("watch", C.c_void_p), ("user", C.c_void_p), ("stream", C.c_void_p)]


class Points(C.Structure):
    _fields_ = [("n", C.c_int64), ("x", C.c_void_p), ("y", C.c_void_p), ("z", C.c_void_p),
                ("stride", C.c_int64), ("precision", C.c_int), ("memory", C.c_int)]


class Box(C.Structure):
    _fields_ = [("origin", C.c_double * 3), ("row", (C.c_double * 3) * 3),
                ("periodic", C.c_int * 3), ("dim", C.c_int)]


class Batch(C.Structure):
    _fields_ = [("size", C.c_size_t), ("systems", C.c_int64), ("offsets", C.c_void_p),
                ("against_offsets", C.c_void_p), ("boxes", C.c_void_p), ("dim", C.c_int),
                ("memory", C.c_int)]


class PairsOptions(C.Structure):
    _fields_ = [("size", C.c_size_t), ("against", C.POINTER(Points)), ("full", C.c_int),
                ("sorted", C.c_int), ("unordered", C.c_int), ("layout", C.c_int),
                ("extras", C.c_uint), ("block_pairs", C.c_int64), ("batch", C.POINTER(Batch)),
                ("width", C.c_int64), ("fill", C.c_int32), ("queued", C.c_int),
                ("n_species", C.c_int32), ("radius_rule", C.c_int), ("species", C.c_void_p),
                ("species_against", C.c_void_p), ("cutoffs", C.c_void_p), ("radii", C.c_void_p),
                ("radii_against", C.c_void_p), ("r_min", C.c_double), ("molecules", C.c_void_p),
                ("molecules_against", C.c_void_p), ("bond_offsets", C.c_void_p),
                ("bonds", C.c_void_p), ("active", C.c_void_p)]


class Pairs(C.Structure):
    _fields_ = [("n", C.c_int64), ("rows", C.c_int64), ("i", C.c_void_p), ("j", C.c_void_p),
                ("offsets", C.c_void_p), ("distances", C.c_void_p), ("vectors", C.c_void_p),
                ("shifts", C.c_void_p), ("capacity", C.c_int64), ("memory", C.c_int),
                ("size", C.c_uint32),
                ("owner", C.c_void_p), ("counts", C.c_void_p), ("width", C.c_int64),
                ("widest", C.c_int64), ("overflowed", C.c_int64)]


class NearestOptions(C.Structure):
    _fields_ = [("size", C.c_size_t), ("against", C.POINTER(Points)), ("cutoff", C.c_double),
                ("extras", C.c_uint), ("batch", C.POINTER(Batch)), ("radii", C.c_void_p),
                ("radii_against", C.c_void_p), ("radius_rule", C.c_int)]


class Nearest(C.Structure):
    _fields_ = [("rows", C.c_int64), ("k", C.c_int64), ("counts", C.c_void_p), ("j", C.c_void_p),
                ("distances", C.c_void_p), ("vectors", C.c_void_p), ("shifts", C.c_void_p),
                ("memory", C.c_int), ("size", C.c_uint32), ("owner", C.c_void_p)]


class VerletOptions(C.Structure):
    _fields_ = [("size", C.c_size_t), ("cutoff", C.c_double), ("skin", C.c_double),
                ("with_skin", C.c_int), ("full", C.c_int), ("layout", C.c_int),
                ("extras", C.c_uint)]


class VerletState(C.Structure):
    _fields_ = [("updates", C.c_int64), ("rebuilds", C.c_int64), ("reason", C.c_int),
                ("rebuilt", C.c_int), ("kept", C.c_int64), ("displacement", C.c_double),
                ("allowed", C.c_double)]


class Order(C.Structure):
    _fields_ = [("n", C.c_int64), ("order", C.c_void_p), ("memory", C.c_int), ("size", C.c_uint32),
                ("owner", C.c_void_p)]


class FofOptions(C.Structure):
    _fields_ = [("size", C.c_size_t), ("min_members", C.c_int64), ("ids", C.c_void_p),
                ("roles", C.c_void_p), ("min_links", C.c_int64), ("velocities", C.c_void_p),
                ("velocity_length", C.c_double), ("batch", C.POINTER(Batch))]


class Groups(C.Structure):
    _fields_ = [("n", C.c_int64), ("points", C.c_int64), ("labels", C.c_void_p),
                ("members", C.c_void_p), ("memory", C.c_int), ("size", C.c_uint32),
                ("owner", C.c_void_p), ("systems", C.c_int64), ("offsets", C.c_void_p)]


class HaloInput(C.Structure):
    _fields_ = [("size", C.c_size_t), ("masses", C.c_void_p), ("velocities", C.c_void_p),
                ("types", C.c_void_p), ("potentials", C.c_void_p), ("densities", C.c_void_p),
                ("sphere_density", C.c_double * SPHERES)]


class Halo(C.Structure):
    _fields_ = [("members", C.c_int64), ("members_of_type", C.c_int64 * TYPES),
                ("mass", C.c_double), ("mass_of_type", C.c_double * TYPES),
                ("centre_of_mass", C.c_double * 3), ("centre", C.c_double * 3),
                ("particle", C.c_int64), ("velocity", C.c_double * 3), ("dispersion", C.c_double),
                ("radius_rms", C.c_double), ("radius_max", C.c_double),
                ("angular_momentum", C.c_double * 3), ("inertia", C.c_double * 6),
                ("axis_length", C.c_double * 3), ("axis", (C.c_double * 3) * 3),
                ("sphere_radius", C.c_double * SPHERES), ("sphere_mass", C.c_double * SPHERES)]


class Halos(C.Structure):
    _fields_ = [("n", C.c_int64), ("halo", C.POINTER(Halo)), ("memory", C.c_int),
                ("size", C.c_uint32),
                ("owner", C.c_void_p), ("sphere_seconds", C.c_double), ("stride", C.c_int64)]


class RdfOptions(C.Structure):
    _fields_ = [("size", C.c_size_t), ("bins", C.c_int64), ("r_min", C.c_double),
                ("r_max", C.c_double), ("edges", C.c_void_p), ("against", C.POINTER(Points)),
                ("species", C.c_void_p), ("species_against", C.c_void_p), ("n_species", C.c_int32),
                ("molecules", C.c_void_p), ("molecules_against", C.c_void_p),
                ("bond_offsets", C.c_void_p), ("bonds", C.c_void_p), ("weights", C.c_void_p),
                ("weights_against", C.c_void_p), ("minimum_image", C.c_int),
                ("forces", C.c_void_p), ("forces_against", C.c_void_p), ("batch", C.POINTER(Batch))]


class DebyeOptions(C.Structure):
    _fields_ = [("size", C.c_size_t), ("q_min", C.c_double), ("q_width", C.c_double),
                ("n_q", C.c_int64), ("species", C.c_void_p), ("n_species", C.c_int32)]


class Histogram(C.Structure):
    _fields_ = [("bins", C.c_int64), ("n_species", C.c_int32), ("partials", C.c_int32),
                ("against", C.c_int), ("size", C.c_uint32), ("frames", C.c_int64),
                ("edges", C.c_void_p),
                ("counts", C.c_void_p), ("sums", C.c_void_p), ("ideal", C.c_void_p),
                ("pairs", C.c_void_p), ("centres", C.c_void_p), ("dim", C.c_int),
                ("pushes", C.c_void_p), ("density", C.c_void_p), ("owner", C.c_void_p)]


class FlockRule(C.Structure):
    _fields_ = [("radius", C.c_double), ("weight", C.c_double)]


class FlockFactors(C.Structure):
    _fields_ = [("separation", C.c_double), ("alignment", C.c_double), ("cohesion", C.c_double)]


class FlockThing(C.Structure):
    _fields_ = [("kind", C.c_int), ("place", C.c_double * 3), ("normal", C.c_double * 3),
                ("radius", C.c_double), ("speed", C.c_double), ("reach", C.c_double),
                ("weight", C.c_double)]


class FlockOptions(C.Structure):
    _fields_ = [("size", C.c_size_t), ("model", C.c_int), ("separation", FlockRule),
                ("alignment", FlockRule), ("cohesion", FlockRule), ("relative", C.c_int),
                ("min_speed", C.c_double), ("max_speed", C.c_double), ("time_step", C.c_double),
                ("reflecting", C.c_int * 3), ("nearest", C.c_int64), ("blind_angle", C.c_double),
                ("noise", C.c_double), ("things", C.POINTER(FlockThing)), ("n_things", C.c_int64),
                ("seed", C.c_uint64), ("first_step", C.c_int64), ("gaussian", C.c_int),
                ("turn_rate", C.c_double), ("repulsion", FlockRule),
                ("factors", C.POINTER(FlockFactors)), ("n_species", C.c_int64),
                ("species", C.POINTER(C.c_uint8)), ("leaders", C.c_double),
                ("leader_weight", C.c_double), ("leader_direction", C.c_double * 3)]


class FlockMeasures(C.Structure):
    _fields_ = [("polarisation", C.c_double), ("milling", C.c_double),
                ("mean_speed", C.c_double), ("neighbours", C.c_double)]


class Replicas(C.Structure):
    _fields_ = [("n", C.c_int64), ("dim", C.c_int64), ("values", C.c_void_p),
                ("stride", C.c_int64), ("type", C.c_int)]


class OverlapOptions(C.Structure):
    _fields_ = [("size", C.c_size_t), ("measure", C.c_int), ("subtract_mean", C.c_int),
                ("bins", C.c_int64), ("low", C.c_double), ("high", C.c_double)]


class Overlaps(C.Structure):
    _fields_ = [("bins", C.c_int64), ("edges", C.c_void_p), ("counts", C.c_void_p),
                ("pairs", C.c_int64), ("spins", C.c_int), ("size", C.c_uint32),
                ("owner", C.c_void_p)]


class Waves(C.Structure):
    _fields_ = [("size", C.c_size_t), ("n", C.c_int64), ("hkl", C.c_void_p),
                ("species", C.c_void_p), ("n_species", C.c_int32)]


class Transport(C.Structure):
    _fields_ = [("size", C.c_size_t), ("self", C.c_void_p), ("rank", C.c_int), ("ranks", C.c_int),
                ("device", C.c_int), ("counts", COUNTS), ("exchange", EXCHANGE),
                ("gather", GATHER), ("combine", COMBINE), ("abort", END), ("close", END)]


class TeamLoad(C.Structure):
    _fields_ = [("size", C.c_size_t), ("points", C.c_int64), ("owned", C.c_int64),
                ("ghosts", C.c_int64), ("most_owned", C.c_int64), ("most_ghosts", C.c_int64)]


class TeamGroups(C.Structure):
    _fields_ = [("n", C.c_int64), ("points", C.c_int64), ("labels", C.c_void_p),
                ("first", C.c_int64), ("held", C.c_int64), ("members", C.c_void_p),
                ("memory", C.c_int), ("size", C.c_uint32), ("owner", C.c_void_p)]


class TeamHalos(C.Structure):
    _fields_ = [("n", C.c_int64), ("first", C.c_int64), ("held", C.c_int64),
                ("halo", C.POINTER(Halo)), ("memory", C.c_int), ("size", C.c_uint32),
                ("owner", C.c_void_p), ("stride", C.c_int64)]


class TeamPairs(C.Structure):
    _fields_ = [("n", C.c_int64), ("all", C.c_int64), ("rows", C.c_int64), ("points", C.c_int64),
                ("ids", C.c_void_p), ("ids_against", C.c_void_p), ("i", C.c_void_p),
                ("j", C.c_void_p), ("distances", C.c_void_p), ("vectors", C.c_void_p),
                ("shifts", C.c_void_p), ("capacity", C.c_int64), ("memory", C.c_int),
                ("size", C.c_uint32), ("owner", C.c_void_p), ("offsets", C.c_void_p)]


class TeamNearest(C.Structure):
    _fields_ = [("rows", C.c_int64), ("k", C.c_int64), ("counts", C.c_void_p), ("j", C.c_void_p),
                ("distances", C.c_void_p), ("vectors", C.c_void_p), ("shifts", C.c_void_p),
                ("memory", C.c_int), ("size", C.c_uint32), ("owner", C.c_void_p)]


STRUCTS = {"kith_options": Options, "kith_points": Points, "kith_box": Box,
           "kith_batch": Batch, "kith_pairs_options": PairsOptions, "kith_pairs": Pairs,
           "kith_nearest_options": NearestOptions, "kith_nearest": Nearest, "kith_order": Order,
           "kith_fof_options": FofOptions, "kith_groups": Groups,
           "kith_halo_input": HaloInput, "kith_halo": Halo, "kith_halos": Halos,
           "kith_rdf_options": RdfOptions, "kith_histogram": Histogram,
           "kith_debye_options": DebyeOptions,
           "kith_flock_rule": FlockRule, "kith_flock_factors": FlockFactors,
           "kith_flock_thing": FlockThing,
           "kith_flock_options": FlockOptions, "kith_flock_measures": FlockMeasures,
           "kith_replicas": Replicas, "kith_overlap_options": OverlapOptions,
           "kith_overlaps": Overlaps,
           "kith_verlet_options": VerletOptions, "kith_verlet_state": VerletState,
           "kith_waves": Waves, "kith_transport": Transport, "kith_team_load": TeamLoad,
           "kith_team_groups": TeamGroups, "kith_team_halos": TeamHalos,
           "kith_team_pairs": TeamPairs, "kith_team_nearest": TeamNearest}
