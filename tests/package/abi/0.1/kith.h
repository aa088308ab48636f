/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kith: which particles are near each other?
 *
 * One engine finds all pairs of particles within a radius, on CPU cores and on GPUs.
 *
 *     kith_ctx *ctx = NULL;
 *     kith_open(NULL, &ctx);                                        // best backend, all cores
 *     kith_points points = kith_points_packed(xyz, n, KITH_DOUBLE); // double xyz[n][3]
 *     kith_box box = kith_box_periodic(lx, ly, lz);
 *     kith_pairs pairs = {0};
 *     if (kith_pairs_find(ctx, &points, &box, cutoff, NULL, &pairs) != KITH_OK)
 *         puts(kith_message(ctx));
 *     for (int64_t p = 0; p < pairs.n; p++)
 *         use(pairs.i[p], pairs.j[p]);
 *     kith_pairs_free(&pairs);
 *     kith_close(ctx);
 *
 * UNITS. None: lengths are in the caller's unit, the same for coordinates, box and cutoff.
 *
 * A PAIR. Particles i and j, with j taken at the periodic image S = (Sa, Sb, Sc), are a pair when
 *     r2 <= cutoff * cutoff,   r2 = (dx*dx + dy*dy) + dz*dz,
 *     d  = (((r_j - r_i) + Sc*c) + Sb*b) + Sa*a,
 * every operation rounded in the precision of the coordinates (what NumPy gives), the coordinates
 * wrapped into the box first (from at most 2^30 boxes away, 2^20 in float), and (i, S) != (j, 0).
 * Every backend, instruction set and number of threads gives this same set. All images count: a
 * cutoff beyond half the box is allowed, and the same i, j then appears once for each image within
 * it.
 *
 * A HALF list holds each pair once, with i < j; an image of a particle itself (i = j) is held once,
 * with the last non-zero of Sa, Sb, Sc positive. A FULL list holds (i, j, S) and (j, i, -S).
 *
 * A BOX has an origin o and three row vectors. Any axis may be periodic or open.
 *
 *                 c                      a = ( lx,  0,  0)
 *                /       b               b = ( xy, ly,  0)     LAMMPS, HOOMD, GROMACS
 *               /      .                 c = ( xz, yz, lz)
 *              / .
 *             o--------------> a         or any three independent vectors (ASE, vesin)
 *
 * MEMORY. Inputs are borrowed for the call, never written, never kept. Where the library allocates
 * (kith_pairs_find), the result owns its arrays until kith_pairs_free. Scratch is kept in the
 * context and reused: a second call of the same size allocates nothing.
 *
 * THREADS. A context serves one call at a time; different contexts are independent. The library
 * starts OpenMP threads inside a call, and never prints, exits or touches signal handlers.
 *
 * ERRORS. Every fallible call returns a kith_status; kith_message() has the sentence.
 */
#ifndef KITH_H
#define KITH_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define KITH_API
#elif defined(__GNUC__)
#define KITH_API __attribute__((visibility("default")))
#else
#define KITH_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------ status */

/** What a call returns: 0 is success, errors are negative, values are never reused. */
typedef enum kith_status {
    KITH_OK = 0,
    KITH_INVALID = -1,     /**< an argument makes no sense; the message names it */
    KITH_NOT_FINITE = -2,  /**< a coordinate is NaN or infinite; the message has the first index */
    KITH_CAPACITY = -3,    /**< the caller's arrays are too small; the size needed is returned */
    KITH_LIMIT = -4,       /**< beyond a limit of this build (2^31 - 65 particles, say) */
    KITH_NO_MEMORY = -5,   /**< memory could not be had; the context stays usable */
    KITH_CANCELLED = -6,   /**< a callback asked to stop */
    KITH_UNSUPPORTED = -7, /**< this backend does not offer the operation */
    KITH_NO_BACKEND = -8,  /**< the backend exists but cannot run here (not built, no device) */
    KITH_DEVICE_LOST = -9  /**< the device failed, now or in an earlier call; close the context */
} kith_status;

/** Return the name of a status, such as "KITH_CAPACITY". @return static text, never NULL. */
KITH_API const char *kith_status_name(kith_status status);

/* ----------------------------------------------------------------------------------- context */

/** A backend, its threads, callbacks and scratch. Opaque; made by kith_open. */
typedef struct kith_ctx kith_ctx;

/**
 * Called from the thread that made the call, a few times a second while work goes on.
 * @param user   kith_options.user
 * @param done   work finished so far, from 0 to total
 * @param total  all of the work, in units of the operation
 * @return 0 to go on; anything else stops the call, which then returns KITH_CANCELLED.
 */
typedef int (*kith_watch_fn)(void *user, int64_t done, int64_t total);

/** How to open a context. Fill with kith_options_init, then change what you need. */
typedef struct kith_options {
    size_t size;         /**< sizeof(kith_options): set by kith_options_init */
    const char *backend; /**< "auto", "cpu", "cpu:baseline", "cpu:avx2", "cpu:avx512", "cuda",
                              "cuda:1"; NULL: the environment's KITH_BACKEND, else "auto".
                              The thread's current GPU is the same after each call as before */
    int threads;         /**< CPU threads; 0: OMP_NUM_THREADS, else all cores */
    kith_watch_fn watch; /**< progress and cancellation; may be NULL */
    void *user;          /**< handed to watch */
    void *stream; /**< backend "cuda": the cudaStream_t that work is queued on; NULL: a stream
                              of the context's own, ordered with the device's default stream */
} kith_options;

/** Set every field to its default. @param[out] options  the caller's struct; not NULL. */
KITH_API void kith_options_init(kith_options *options);

/**
 * Open a context.
 * @param options   NULL: the defaults
 * @param[out] out  the context; kith_close it. NULL on failure: kith_message(NULL) says why.
 * @return KITH_OK; KITH_INVALID for an unknown backend or bad option; KITH_NO_BACKEND when the
 *         backend is known but cannot run here; KITH_NO_MEMORY.
 */
KITH_API kith_status kith_open(const kith_options *options, kith_ctx **out);

/** Close a context and free its scratch. @param ctx  NULL is fine. */
KITH_API void kith_close(kith_ctx *ctx);

/**
 * Say what went wrong in the last call that failed.
 * @param ctx  the context, or NULL for the last kith_open that failed in this thread
 * @return a sentence, owned by the library, valid until the next call on ctx; "" if none failed.
 */
KITH_API const char *kith_message(const kith_ctx *ctx);

/** Name the backend chosen, such as "cpu:avx512". @return text owned by ctx. */
KITH_API const char *kith_backend(const kith_ctx *ctx);

/** Number of CPU threads the context uses. */
KITH_API int kith_threads(const kith_ctx *ctx);

/** Bytes of scratch the context holds now. Thread safety: not during a call on ctx. */
KITH_API int64_t kith_scratch_bytes(const kith_ctx *ctx);

/* ------------------------------------------------------------------------------ points, boxes */

/** The type of coordinates, distances and vectors. */
typedef enum kith_precision { KITH_FLOAT = 4, KITH_DOUBLE = 8 } kith_precision;

/** Where an array lives. Always said by the caller, never guessed. */
typedef enum kith_memory { KITH_HOST = 0, KITH_DEVICE = 1 } kith_memory;

/**
 * A borrowed set of coordinates. Coordinate k of particle p is the element at x[p*stride],
 * y[p*stride], z[p*stride] of the given precision, so that both [n][3] and separate arrays fit.
 */
typedef struct kith_points {
    int64_t n;                /**< particles, 0 to 2^31 - 65 */
    const void *x, *y, *z;    /**< first particle's coordinates; z may be NULL in a 2-D box */
    int64_t stride;           /**< elements from one particle to the next, 1 or more */
    kith_precision precision; /**< element type */
    kith_memory memory;       /**< where the arrays live */
} kith_points;

/** Describe an array [n][3] in host memory. @param xyz  n*3 elements; borrowed. */
KITH_API kith_points kith_points_packed(const void *xyz, int64_t n, kith_precision precision);

/** Describe three arrays [n] in host memory. @param z  may be NULL in a 2-D box. */
KITH_API kith_points kith_points_split(const void *x, const void *y, const void *z, int64_t n,
                                       kith_precision precision);

/**
 * The space. Rows a, b, c as drawn above. The vector of an open axis gives only a direction and
 * may be zero. In a 2-D box (dim 2) z is ignored and c is unused. For float coordinates the box is
 * rounded to float first.
 */
typedef struct kith_box {
    double origin[3]; /**< where fractional coordinates are 0 */
    double row[3][3]; /**< a, b, c */
    int periodic[3];  /**< along a, b, c: 1 periodic, 0 open */
    int dim;          /**< 3 or 2 */
} kith_box;

/** Open space without any boundary. */
KITH_API kith_box kith_box_open(void);

/** A box [0, lx) x [0, ly) x [0, lz), periodic on all axes. */
KITH_API kith_box kith_box_periodic(double lx, double ly, double lz);

/** A box with rows (lx, 0, 0), (xy, ly, 0), (xz, yz, lz), periodic on all axes. */
KITH_API kith_box kith_box_triclinic(double lx, double ly, double lz, double xy, double xz,
                                     double yz);

/* ------------------------------------------------------------------------------------- pairs */

/** How a list is laid out. */
typedef enum kith_layout {
    KITH_IJ = 0, /**< two arrays: pair p is (i[p], j[p]) */
    KITH_CSR = 1 /**< the neighbours of i are j[offsets[i]] to j[offsets[i + 1] - 1] */
} kith_layout;

/** What else to store for each pair; a bit set. */
enum { KITH_DISTANCES = 1, KITH_VECTORS = 2, KITH_SHIFTS = 4 };

/** What list to make. Fill with kith_pairs_options_init, then change what you need. */
typedef struct kith_pairs_options {
    size_t size;                /**< sizeof(kith_pairs_options): set by the init call */
    const kith_points *against; /**< B: pairs of i in the points with j in B; NULL: one set. Lists
                                     against B are always full: each (i, j, S) once */
    int full;                   /**< 0: half list; 1: full list */
    int sorted;                 /**< 1: by i, then j, then Sc, Sb, Sa */
    int unordered;              /**< 1: kith_pairs_fill and kith_pairs_enqueue may write an unsorted
                                     (i, j) list in an order that changes from run to run: a GPU
                                     then needs one pass instead of two. Ignored elsewhere */
    kith_layout layout;         /**< KITH_IJ or KITH_CSR */
    unsigned extras;            /**< KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS */
    int64_t block_pairs;        /**< kith_pairs_each: the most pairs in a block; 0: 2^24 */
} kith_pairs_options;

/** Set every field to its default: half (i, j), unsorted, no extras. */
KITH_API void kith_pairs_options_init(kith_pairs_options *options);

/**
 * A pair list. Zero it before its first use. The order of pairs depends on the input and the kind
 * of backend alone: not on threads, instruction set or run. Sorted lists are the same on all
 * backends.
 */
typedef struct kith_pairs {
    int64_t n;          /**< pairs in the list */
    int64_t rows;       /**< particles i may name; offsets has rows + 1 entries */
    int32_t *i;         /**< [n], KITH_IJ only */
    int32_t *j;         /**< [n] */
    int64_t *offsets;   /**< [rows + 1], KITH_CSR only */
    void *distances;    /**< [n], precision of the points: |r_j + S.cell - r_i| */
    void *vectors;      /**< [n][3], precision of the points: r_j + S.cell - r_i */
    int32_t *shifts;    /**< [n][3]: S for the coordinates as given, so also when some lie outside
                           the box */
    int64_t capacity;   /**< pairs that the arrays have room for */
    kith_memory memory; /**< where the arrays live: KITH_HOST unless set, before the first call */
    void *owner;        /**< the library's; NULL when the arrays are the caller's */
} kith_pairs;

/**
 * Find all pairs within the cutoff, into arrays that the library allocates.
 * Cost: O(n + pairs) time; at most 64 bytes of scratch a particle beyond the list.
 * @param ctx         the context
 * @param points      the particles
 * @param box         NULL: open space
 * @param cutoff      radius, > 0, its square a normal number in the points' precision; along a
 *                    periodic axis at most 500 times the box's height
 * @param options     NULL: the defaults
 * @param[in,out] out the list. Zeroed, or a list from an earlier call on ctx, whose arrays are then
 *                    reused and grown as needed. Free with kith_pairs_free, before kith_close.
 * @return KITH_OK; KITH_INVALID; KITH_NOT_FINITE; KITH_LIMIT; KITH_NO_MEMORY; KITH_CANCELLED;
 *         KITH_UNSUPPORTED; KITH_DEVICE_LOST. On failure the list is empty, and still to be freed.
 */
KITH_API kith_status kith_pairs_find(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                                     double cutoff, const kith_pairs_options *options,
                                     kith_pairs *out);

/**
 * Count the pairs, storing none.
 * @param[out] n           pairs in the list that the options describe
 * @param[out] neighbours  [points->n]: the entries of each i in the full list; host memory; NULL if
 *                         not wanted
 * @return as kith_pairs_find.
 */
KITH_API kith_status kith_pairs_count(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                                      double cutoff, const kith_pairs_options *options, int64_t *n,
                                      int64_t *neighbours);

/**
 * Find all pairs, into the caller's arrays. options->layout says whether i or offsets is written;
 * the extras named must have arrays.
 * @param[in,out] out  capacity, memory and the arrays set by the caller; n and rows are returned
 * @return as kith_pairs_find, and KITH_CAPACITY: out->n is then the capacity needed, and the
 *         contents of the arrays are undefined.
 */
KITH_API kith_status kith_pairs_fill(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                                     double cutoff, const kith_pairs_options *options,
                                     kith_pairs *out);

/**
 * Receives one block of a list.
 * @param block  the pairs, KITH_IJ, host memory, owned by the library and valid during this call
 * @param first  index in the whole list of the block's first pair
 * @return 0 to go on; anything else stops, and kith_pairs_each returns KITH_CANCELLED.
 */
typedef int (*kith_block_fn)(void *user, const kith_pairs *block, int64_t first);

/**
 * Find all pairs and hand them over in blocks, so that memory stays bounded whatever their number.
 * The blocks in order are the list of kith_pairs_find with layout KITH_IJ.
 * @param fn    called from the calling thread
 * @param user  handed to fn
 * @return as kith_pairs_find; KITH_CANCELLED when fn stopped it.
 */
KITH_API kith_status kith_pairs_each(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                                     double cutoff, const kith_pairs_options *options,
                                     kith_block_fn fn, void *user);

/**
 * Queue the search and return without waiting: for programs that go on with the list on the GPU.
 * Nothing is copied to or from the host, and no memory is allocated unless the context's scratch is
 * too small: not after a call of the same size. What is queued is done in the order of
 * kith_options.stream; the arrays must stay until then.
 * @param points       in device memory, as options->against
 * @param out          arrays in device memory, and capacity, set by the caller; not written itself
 * @param[out] result  in device memory: receives the number of pairs. Larger than the capacity: the
 *                     arrays are undefined. Negative: a kith_status, such as KITH_NOT_FINITE.
 * @return KITH_OK when queued; KITH_INVALID; KITH_LIMIT; KITH_NO_MEMORY; KITH_UNSUPPORTED on a CPU;
 *         KITH_DEVICE_LOST.
 */
KITH_API kith_status kith_pairs_enqueue(kith_ctx *ctx, const kith_points *points,
                                        const kith_box *box, double cutoff,
                                        const kith_pairs_options *options, const kith_pairs *out,
                                        int64_t *result);

/** Free a list's arrays and zero it. @param pairs  NULL or a zeroed list is fine. */
KITH_API void kith_pairs_free(kith_pairs *pairs);

/* -------------------------------------------------------------------------- friends of friends */

/** What a particle does in the search for groups. */
typedef enum kith_role {
    KITH_LINK = 0,   /**< it links with others that do */
    KITH_ATTACH = 1, /**< it joins the group of the nearest particle that links, within the length;
                          of equally near ones, that with the smallest index */
    KITH_IGNORE = 2  /**< it is in no group */
} kith_role;

/** How to find groups. Fill with kith_fof_options_init, then change what you need. Arrays are in
 *  host memory, borrowed for the call. */
typedef struct kith_fof_options {
    size_t size;          /**< sizeof(kith_fof_options): set by the init call */
    int64_t min_members;  /**< smaller groups get label 0; 1: every particle that links is in one.
                               Attached particles do not count */
    const int64_t *ids;   /**< [n] the particles' ids, each its own; groups of one size are numbered
                               by the smallest id of those that link, so that labels do not depend
                               on the order of the particles. NULL: the index is the id */
    const uint8_t *roles; /**< [n] kith_role of each; NULL: all link */
    int64_t min_links;    /**< a particle links only when at least this many others that link are
                               within the length; the rest are attached: DBSCAN* with border points
                               (Ester et al. 1996), which takes thin bridges away. 0: all link */
    const void *velocities; /**< [n][3], precision of the points: friends are then those with
                                 r2 / length^2 + |v_j - v_i|^2 / velocity_length^2 <= 1, rounded
                                 step by step. NULL: positions alone */
    double velocity_length; /**< the linking length of velocities, > 0 where these are given */
} kith_fof_options;

/** Set every field to its default: groups of 20 and more by positions alone; all link. */
KITH_API void kith_fof_options_init(kith_fof_options *options);

/**
 * Groups of particles. Zero it before its first use. Group 1 is the largest; groups of one size are
 * numbered by their smallest particle id. The labels depend on the particles alone: not on backend,
 * threads or run.
 */
typedef struct kith_groups {
    int64_t n;          /**< groups */
    int64_t points;     /**< particles */
    int32_t *labels;    /**< [points] the group of each, 1 to n; 0: in none */
    int64_t *members;   /**< [n] particles in each group, falling; members[0] is of group 1 */
    kith_memory memory; /**< where the arrays live: KITH_HOST unless set, before the first call */
    void *owner;        /**< the library's */
} kith_groups;

/**
 * Find groups by friends-of-friends: particles that are a pair (see the top) are friends, and
 * friends of friends are in one group (Davis, Efstathiou, Frenk & White 1985, ApJ 292, 371).
 * Coincident particles are friends.
 * Cost: O(n) time for any distribution; at 0.2 of the mean spacing 28 bytes of scratch a particle
 * in float, 40 in double; on a GPU 42 and 54, and room for what is brought from host memory.
 * @param ctx         the context
 * @param points      the particles; roles, min_links: in host memory, up to 140 bytes of scratch
 * @param box         NULL: open space
 * @param length      the linking length, > 0; as cutoff in kith_pairs_find
 * @param options     NULL: the defaults
 * @param[in,out] out the groups. Zeroed, or from an earlier call on ctx, whose arrays are then
 *                    reused. Free with kith_groups_free, before kith_close.
 * @return KITH_OK; KITH_INVALID; KITH_NOT_FINITE; KITH_LIMIT; KITH_NO_MEMORY; KITH_CANCELLED;
 *         KITH_UNSUPPORTED; KITH_DEVICE_LOST. On failure there are no groups, and out is still to
 *         be freed.
 */
KITH_API kith_status kith_fof_find(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                                   double length, const kith_fof_options *options,
                                   kith_groups *out);

/** Free the arrays and zero the struct. @param groups  NULL or zeroed is fine. */
KITH_API void kith_groups_free(kith_groups *groups);

/* ------------------------------------------------------------------------------------- halos */

enum { KITH_TYPES = 8, KITH_SPHERES = 4 };

/** What is known of the particles beside their positions. Fill with kith_halo_input_init, then set
 *  what there is. Arrays are in the memory of the points, borrowed for the call; reals have the
 *  precision of the points. */
typedef struct kith_halo_input {
    size_t size;            /**< sizeof(kith_halo_input): set by the init call */
    const void *masses;     /**< [n] m, > 0; NULL: each is 1 */
    const void *velocities; /**< [n][3] v; NULL: not known, and what needs them is 0 */
    const uint8_t *types;   /**< [n] from 0 to KITH_TYPES - 1; NULL: all are 0 */
    const void *potentials; /**< [n] the lowest marks the centre; NULL: not known */
    const void *densities;  /**< [n] the highest marks the centre where there are no potentials */
    double sphere_density[KITH_SPHERES]; /**< mass / length^3, for kith_halo.sphere_radius; 0: not
                                              wanted. Only in 3-D, with points and halos in
                                              host memory */
} kith_halo_input;

/** Set every field to its default: nothing is known or wanted. */
KITH_API void kith_halo_input_init(kith_halo_input *input);

/**
 * One group. Sums are over its members; x is a member's position beside the others, across periodic
 * faces: the box is cut, along each axis, where the widest part of it without members ends. Units
 * are those of positions, masses and velocities.
 */
typedef struct kith_halo {
    int64_t members;                     /**< particles */
    int64_t members_of_type[KITH_TYPES]; /**< likewise, of each type */
    double mass;                         /**< M = sum m */
    double mass_of_type[KITH_TYPES];     /**< likewise, of each type */
    double centre_of_mass[3];            /**< X = sum m x / M, wrapped into the box */
    double centre[3];                    /**< where `particle` is, wrapped; without it X */
    int64_t particle;                    /**< the member of lowest potential, else of highest
                                              density, else -1; of equals the smallest index */
    double velocity[3];                  /**< V = sum m v / M */
    double dispersion;                   /**< in one dimension: sqrt(sum m |v - V|^2 / (dim M)) */
    double radius_rms;                   /**< sqrt(sum m |x - X|^2 / M) */
    double radius_max;                   /**< largest |x - X| */
    double angular_momentum[3];          /**< sum m (x - X) x (v - V) */
    double inertia[6];                   /**< sum m (|r|^2 delta_jk - r_j r_k), r = x - X: xx, yy,
                                              zz, xy, xz, yz */
    double axis_length[3];               /**< a >= b >= c: sqrt(s), s the eigenvalues of
                                              sum m r_j r_k / M; b/a and c/a are the shape */
    double axis[3][3];                   /**< unit vectors along a, b, c */
    double sphere_radius[KITH_SPHERES];  /**< R: all particles within R of `centre`, members or not,
                                              have the mean density wanted; 0: there is none. Of
                                              several R the first beyond R_g, the radius that M
                                              alone would have, where the density within R_g is
                                              higher than wanted; else the last before it */
    double sphere_mass[KITH_SPHERES];    /**< 4 pi / 3 sphere_density R^3 */
} kith_halo;

/** Halos. Zero it before its first use. */
typedef struct kith_halos {
    int64_t n;          /**< groups */
    kith_halo *halo;    /**< [n]: halo[0] is group 1 */
    kith_memory memory; /**< where they live: KITH_HOST unless set, before the first call */
    void *owner;        /**< the library's */
} kith_halos;

/**
 * Measure groups of particles. Sums are in double and in a fixed order, that of the caller's
 * particles: the same bits in every run, for any number of threads, and on every backend.
 * Cost: O(n) time; scratch as in kith_fof_find, in the same memory. Spheres: some pair searches
 * around the centres, and the largest sphere's particles in memory.
 * @param ctx         the context
 * @param points      the particles that groups has labels of
 * @param box         NULL: open space
 * @param groups      from kith_fof_find, or labels of your own: n, points and labels are read
 * @param input       NULL: only positions are known
 * @param[in,out] out the halos. Zeroed, or from an earlier call on ctx, whose arrays are then
 *                    reused. Free with kith_halos_free.
 * @return KITH_OK; KITH_INVALID; KITH_NOT_FINITE; KITH_LIMIT; KITH_NO_MEMORY; KITH_CANCELLED;
 *         KITH_UNSUPPORTED; KITH_DEVICE_LOST. On failure there are no halos, and out is still to be
 *         freed.
 */
KITH_API kith_status kith_halos_measure(kith_ctx *ctx, const kith_points *points,
                                        const kith_box *box, const kith_groups *groups,
                                        const kith_halo_input *input, kith_halos *out);

/** Free the arrays and zero the struct. @param halos  NULL or zeroed is fine. */
KITH_API void kith_halos_free(kith_halos *halos);

/* --------------------------------------------------------------------------- pair distributions */

/**
 * What to count. Fill with kith_rdf_options_init, set r_max or edges, then change what you need.
 * Arrays are in host memory, borrowed for the call; those called _against belong to the particles
 * of `against` and are needed there where their partner is given.
 */
typedef struct kith_rdf_options {
    size_t size;                /**< sizeof(kith_rdf_options): set by the init call */
    int64_t bins;               /**< number of bins, 1 to 2^20 */
    double r_min, r_max;        /**< edges are r_min + k (r_max - r_min) / bins, unless */
    const double *edges;        /**< [bins + 1] they are given: ascending, the first 0 or more */
    const kith_points *against; /**< B: pairs of i in the points with j in B; NULL: one set, each
                                     unordered pair once, as in a half list */
    const int32_t *species;     /**< [n] of each particle, 0 to n_species - 1; NULL: all are 0 */
    const int32_t *species_against;
    int32_t n_species;        /**< 1 to 1024 */
    const int32_t *molecules; /**< [n] pairs of one molecule are left out; a negative number is no
                                   molecule; NULL: none is left out */
    const int32_t *molecules_against;
    const int64_t *bond_offsets; /**< [n + 1] pairs of i with bonds[bond_offsets[i]] to
                                      bonds[bond_offsets[i + 1] - 1] are left out, given from either
                                      end or both; NULL: none */
    const int32_t *bonds;
    const double *weights; /**< [n] w: sums of w_i * w_j are wanted too; NULL: counts alone */
    const double *weights_against;
    int minimum_image;  /**< 0: all images of a pair that are within r_max count; 1: the nearest
                            alone, which beyond half the box needs all axes periodic and
                            perpendicular. r_max then makes sense up to half the diagonal */
    const void *forces; /**< [n][3] F, precision of the points: what kith_rdf_force needs is summed
                             too. Not with nearest images beyond half the box. NULL: counts alone */
    const void *forces_against;
} kith_rdf_options;

/** Set every field to its default: 200 linear bins from 0, one species; r_max is 0, to be set. */
KITH_API void kith_rdf_options_init(kith_rdf_options *options);

/**
 * Numbers of pairs by distance and species, summed over frames. Zero it before its first use.
 *
 * A pair of squared distance r2 (see the top) is in bin k when e[k]^2 <= r2 < e[k + 1]^2, the last
 * bin holding r2 = e[bins]^2 too; edges are rounded to the precision of the points first, their
 * squares likewise. Counts are the same on every backend and with any number of threads.
 *
 * Partial (a, b), a <= b, of one set holds the unordered pairs of species a and b; of two sets,
 * partial (a, b) holds those of a in the points with b in the others. kith_histogram_partial
 * numbers them.
 */
typedef struct kith_histogram {
    int64_t bins;
    int32_t n_species;
    int32_t partials; /**< n_species (n_species + 1) / 2; of two sets n_species^2 */
    int against;      /**< 1: of two sets */
    int64_t frames;   /**< calls that were added up */
    double *edges;    /**< [bins + 1] not rounded */
    int64_t *counts;  /**< [partials][bins] pairs */
    double *sums;     /**< [partials][bins] of w_i * w_j: products are cut to multiples of 2^-62 of
                           the largest w^2, and these are added exactly in each frame; else NULL */
    double *ideal;    /**< [partials][bins] counts expected of the same numbers of particles strewn
                           uniformly: in each frame pairs * shell / volume, with its own box. NaN
                           where an axis was open, so that there was no volume */
    int64_t *pairs;   /**< [partials] pairs of particles: N (N - 1) / 2 or N_a N_b in each frame,
                           with those left out */
    int64_t *centres; /**< [n_species] particles of the points */
    int dim;          /**< of the first frame's box */
    double *pushes;   /**< [partials][2][bins + 1] with forces, else NULL: of the pairs below the
                           first edge, then in each bin, first the sums of p = (F_j - F_i).d, d from
                           i to j, then of p / r^dim (r at least r_max / 1024 or a 64th of the first
                           edge above 0, whichever is less). Terms are rounded to 2^-40 of
                           their bounds and added exactly in each frame: the same bits for any
                           number of threads and instruction set */
    double *density;  /**< [partials] with forces, else NULL: pairs / volume, over frames */
    void *owner;      /**< the library's */
} kith_histogram;

/**
 * Count one frame's pairs by distance, and add them to a histogram. Images of a particle itself
 * count as in a half list.
 * Cost: O(n + pairs); with minimum_image beyond half the box O(n^2). The number of bins does not
 * matter while their counters fit the caches.
 * @param ctx         the context
 * @param points      the particles
 * @param box         NULL: open space
 * @param options     r_max is limited as cutoff in kith_pairs_find
 * @param[in,out] out zeroed, or from earlier calls with the same bins, species, sets and weights:
 *                    this frame is then added. Free with kith_histogram_free.
 * @return KITH_OK; KITH_INVALID; KITH_NOT_FINITE; KITH_LIMIT; KITH_NO_MEMORY; KITH_CANCELLED;
 *         KITH_UNSUPPORTED; KITH_DEVICE_LOST. On failure nothing is added.
 */
KITH_API kith_status kith_rdf_count(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                                    const kith_rdf_options *options, kith_histogram *out);

/** Number of partial (a, b); (b, a) is the same in one set. @return -1 where there is none. */
KITH_API int32_t kith_histogram_partial(const kith_histogram *histogram, int32_t a, int32_t b);

/**
 * Pair distribution g_ab(r) = counts / ideal: frames are weighted by what an ideal gas would count,
 * so that with changing boxes an ideal gas gives 1.
 * @param[out] g  [bins]; NaN where no count is expected
 */
KITH_API void kith_rdf_g(const kith_histogram *histogram, int32_t a, int32_t b, double *g);

/**
 * Pair distribution from the forces that were summed beside the counts: with few frames far less
 * noisy than counts, above all in narrow bins. Exact averages over each bin of
 *     g(r) =     1 / (C kT density) <sum over pairs nearer than r of p / r^dim>      from zero,
 *     g(r) = 1 - 1 / (C kT density) <sum over the others up to r_max of p / r^dim>   from infinity,
 * C = 8 pi, in 2-D 4 pi. The second takes g as 1 at the last edge. For particles in equilibrium at
 * temperature T with the whole forces on them, and no constraints (Borgis, Assaraf, Rotenberg &
 * Vuilleumier 2013, Mol. Phys. 111, 3486; Rotenberg 2020, J. Chem. Phys. 153, 150902).
 * @param kT         k_B T in units of force times length, > 0
 * @param[out] zero, infinity  [bins] each; NaN without forces or volume
 */
KITH_API void kith_rdf_force(const kith_histogram *histogram, int32_t a, int32_t b, double kT,
                             double *zero, double *infinity);

/**
 * Running coordination number n_ab: particles of species b around one of a, from edges[0] to the
 * end of each bin. From the counts alone, in any box.
 * @param[out] n  [bins]; NaN where there is no particle of species a
 */
KITH_API void kith_rdf_coordination(const kith_histogram *histogram, int32_t a, int32_t b,
                                    double *n);

/**
 * Volumes of the shells between edges; areas of rings in 2-D.
 * @param box            NULL: 3-D
 * @param minimum_image  1: of each shell the part that is inside the box when it is put in its
 *                       middle, in closed form; the box is then orthorhombic and periodic
 * @param bins           shells
 * @param edges          [bins + 1] ascending, the first 0 or more
 * @param[out] volumes   [bins]
 * @return KITH_OK; KITH_INVALID: kith_message(NULL) says why.
 */
KITH_API kith_status kith_shell_volumes(const kith_box *box, int minimum_image, int64_t bins,
                                        const double *edges, double *volumes);

/** Free the arrays and zero the struct. @param histogram  NULL or zeroed is fine. */
KITH_API void kith_histogram_free(kith_histogram *histogram);

/* ------------------------------------------------------------------------------------- flocks */

/** How a particle's new velocity follows from those of the others. */
typedef enum kith_flock_model {
    KITH_BOIDS = 0,           /**< separation, alignment and cohesion (Reynolds 1987, SIGGRAPH) */
    KITH_VICSEK_ANGULAR = 1,  /**< the mean heading within alignment.radius, itself included, turned
                                   by a random angle (Vicsek et al. 1995, PRL 75, 1226) */
    KITH_VICSEK_VECTORIAL = 2 /**< that sum of headings, and a random vector added before it is
                                   normalised (Gregoire & Chate 2004, PRL 92, 025702) */
} kith_flock_model;

/** A rule looks at the others within a radius. Without a radius or weight (0) it is off. */
typedef struct kith_flock_rule {
    double radius, weight;
} kith_flock_rule;

/** What bends the paths of particles. */
typedef enum kith_flock_kind {
    KITH_POINT = 0,  /**< draws those within `reach`: u gains weight d / |d|, d from the particle to
                           `place`. A weight below 0 drives them away; reach 0: all */
    KITH_SPHERE = 1, /**< an obstacle of `radius` around `place`. Those within `reach` of it turn
                           away: u gains weight (1 - gap / reach) along its outward normal. Those
                           that would end inside are put on its surface, and what of v' leads
                           inward is turned round */
    KITH_WALL = 2,   /**< likewise what lies behind the plane through `place` with `normal` */
    KITH_PREDATOR = 3 /**< starts at `place` and goes `speed` towards the nearest particle, of
                           equally near ones that of smallest index. Drives away as a point */
} kith_flock_kind;

enum { KITH_MOST_THINGS = 16 };

/** Such a thing. Images are the nearest, in fractional coordinates; planes have none. */
typedef struct kith_flock_thing {
    kith_flock_kind kind;
    double place[3];
    double normal[3]; /**< KITH_WALL: of any length above 0 */
    double radius;    /**< KITH_SPHERE: > 0 */
    double speed;     /**< KITH_PREDATOR */
    double reach;
    double weight; /**< KITH_PREDATOR: 0 or more */
} kith_flock_thing;

/** How a flock moves. Fill with kith_flock_options_init, then change what you need. */
typedef struct kith_flock_options {
    size_t size; /**< sizeof(kith_flock_options): set by the init call */
    kith_flock_model model;
    kith_flock_rule separation, alignment, cohesion; /**< Vicsek: alignment.radius alone */
    int relative;       /**< alignment with the mean of the others' v minus one's own (Parker);
                              0: with that mean alone */
    double min_speed;   /**< |v'| is brought between this */
    double max_speed;   /**< and this, 0: no limit. Vicsek: |v'| is max_speed, > 0 */
    double time_step;   /**< > 0 */
    int reflecting[3];  /**< 1: an open axis of an upright box has walls at origin and origin +
                              row, which turn positions and velocities round */
    int64_t nearest;    /**< k up to 64: the rules look at the k nearest others alone, within the
                              largest radius; of equally near ones at those of smallest index
                              (Ballerini et al. 2008, PNAS 105, 1232: 7). 0: at all */
    double blind_angle; /**< full angle [radian] of the cone behind v, 0 to 2 pi, in which others
                              are not seen; 0: all are */
    double noise;       /**< Vicsek: eta, 0 to 1. Angular: turned by up to eta pi, uniform in angle
                              (2-D) or on the sphere's cap (3-D); vectorial: a random vector of
                              length eta (n + 1) max_speed */
    const kith_flock_thing *things; /**< [n_things] copied; NULL: none */
    int64_t n_things;               /**< up to KITH_MOST_THINGS */
    uint64_t seed;      /**< random numbers are a function of seed, step and index alone */
    int64_t first_step; /**< steps done before: goes on where another flock was read */
} kith_flock_options;

/** Set every field to its default: boids with radii 3, 5, 5, weights 0.1, 0.1, 0.01, max_speed 1,
 *  time_step 0.2 (the constants of UPenn's CIS 565). */
KITH_API void kith_flock_options_init(kith_flock_options *options);

/**
 * Particles on their way, kept by the library in the order of the cells. Opaque; kith_flock_open.
 *
 * A STEP takes all particles at once from the old state r, v to the new one r', v'. Sums are over
 * the others j, and their images, that are pairs with i (see the top) for the rule's radius, with
 * d = r_j - r_i:
 *     boids:      u = v + cohesion.weight sum d / n - separation.weight sum d
 *                       + alignment.weight (sum v_j / n  [- v])
 *     Vicsek:     u = turn(v + sum v_j), or v + sum v_j + noise (n + 1) max_speed x, |x| = 1
 *     and what things add to u,
 *     v' = u with |u| between the speeds,   r' = r + v' time_step, wrapped or reflected.
 * In double, v' and r' rounded to the precision of the points. A u of 0 that must not stand is v.
 *
 * THE SAME BITS come out for any number of threads, any backend, and when a flock is read
 * and opened again. Sums are of integers, so that their order does not matter: r and v are first
 * rounded to multiples of 2^-23 R and 2^-23 V, R and V the powers of 2 next above the largest
 * radius and the largest component of a velocity.
 */
typedef struct kith_flock kith_flock;

/**
 * Start a flock. Cost: two states, 28 bytes a particle each in float, 52 in double; on a GPU one,
 * and 96 or 160 bytes a particle there, where it stays from the first step on.
 * @param ctx         the context that steps it; to be closed after the flock
 * @param points      r, in host memory; in a 2-D box z is not read
 * @param velocities  v: as many, of the same precision, laid out in any way
 * @param box         NULL: open space. A radius reaches no further than a periodic axis is long
 * @param options     NULL: the defaults
 * @param[out] out    the flock; kith_flock_close it. NULL on failure
 * @return KITH_OK; KITH_INVALID; KITH_NOT_FINITE; KITH_LIMIT; KITH_NO_MEMORY; KITH_UNSUPPORTED.
 */
KITH_API kith_status kith_flock_open(kith_ctx *ctx, const kith_points *points,
                                     const kith_points *velocities, const kith_box *box,
                                     const kith_flock_options *options, kith_flock **out);

/**
 * Change how it moves from the next step on. first_step is not looked at.
 * @return KITH_OK; KITH_INVALID; KITH_LIMIT: nothing is changed.
 */
KITH_API kith_status kith_flock_change(kith_flock *flock, const kith_flock_options *options);

/**
 * Go some steps further. Cost of each: O(n + pairs).
 * @param steps  0 or more
 * @return KITH_OK; KITH_NOT_FINITE, KITH_LIMIT when a particle left what numbers can say;
 *         KITH_NO_MEMORY; KITH_CANCELLED; KITH_UNSUPPORTED; KITH_DEVICE_LOST. On failure the flock
 *         stands where its last whole step took it (kith_flock_steps).
 */
KITH_API kith_status kith_flock_step(kith_flock *flock, int64_t steps);

/** Steps done, first_step included. */
KITH_API int64_t kith_flock_steps(const kith_flock *flock);

/**
 * Copy the state, in the order that the caller gave. Opened again with it, first_step =
 * kith_flock_steps and the same options, a flock goes on with the same bits.
 * @param[out] positions   [n][3], precision of the points, wrapped; z is 0 in a 2-D box. NULL: not
 *                         wanted
 * @param[out] velocities  [n][3] likewise
 * @return KITH_OK; on a GPU KITH_NO_MEMORY, KITH_DEVICE_LOST too.
 */
KITH_API kith_status kith_flock_read(const kith_flock *flock, void *positions, void *velocities);

/** Copy the things as they are now: predators have moved. @param[out] things  [n_things] */
KITH_API void kith_flock_read_things(const kith_flock *flock, kith_flock_thing *things);

/** What a flock does as a whole. Sums are in double, in the order that the caller gave. */
typedef struct kith_flock_measures {
    double polarisation; /**< |sum v/|v|| / n: 1 when all fly the same way. NaN without particles */
    double milling;      /**< |sum s x v| / sum |s| |v|, s from the centre: 1 when all go round it.
                              The centre is the mean; along periodic axes that of the angles 2 pi f
                              (Bai & Breen 2008), s the nearest image */
    double mean_speed;   /**< sum |v| / n */
    double neighbours;   /**< mean number of others within the largest radius */
} kith_flock_measures;

/**
 * Measure a flock as it stands. Cost: O(n + pairs), less than a step.
 * @param[out] out  written on success alone
 * @return KITH_OK; KITH_NO_MEMORY; KITH_CANCELLED; KITH_DEVICE_LOST.
 */
KITH_API kith_status kith_flock_measure(kith_flock *flock, kith_flock_measures *out);

/** Free a flock. @param flock  NULL is fine. */
KITH_API void kith_flock_close(kith_flock *flock);

/* ----------------------------------------------------------------------------------- version */

#define KITH_VERSION_MAJOR 0
#define KITH_VERSION_MINOR 1
#define KITH_VERSION_PATCH 0
#define KITH_VERSION "0.1.0"

/** True when this header is at least version major.minor. */
#define KITH_VERSION_GE(major, minor) \
    (KITH_VERSION_MAJOR > (major) || \
     (KITH_VERSION_MAJOR == (major) && KITH_VERSION_MINOR >= (minor)))

/** Version of the library that is running, such as "0.1.0". */
KITH_API const char *kith_version(void);

#ifdef __cplusplus
}
#endif

#endif
