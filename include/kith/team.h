/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Teams: one question answered by several ranks, each a context with particles of its own.
 *
 * The answer of P ranks is that of one process which was given rank 0's particles, then rank 1's,
 * and so on, to the last bit. The global index of particle p of rank r is p plus the number of
 * particles of the ranks before r. docs/team.md says how the work is divided, and what it costs.
 *
 *     kith_transport transport[4];                    // ranks that are threads of this process
 *     kith_transport_threads(4, transport);
 *     // in thread r, with a context ctx of its own:
 *     kith_team *team = NULL;
 *     kith_team_open(ctx, &transport[r], NULL, &team);
 *     kith_team_fof_find(team, &points, &box, length, NULL, &groups);
 *     kith_team_close(team);
 *
 * DOMAINS. Most calls divide the space into a domain for each rank, and deal each particle to the
 * rank in whose domain it is: the particles that a rank was dealt are not those that it gave. A
 * ghost is a copy of a particle of another rank, near a domain.
 *
 * COLLECTIVE CALLS. All ranks make them, in one order, with equal boxes, lengths, options and
 * precisions, which is checked; numbers of particles may differ, and be 0. All ranks return one
 * status: where ranks fail, that of the lowest one, with its message, which begins with the rank. A
 * coordinate that cannot be used, and what kith_team_halos_measure is given of a particle, is named
 * by the global index of the particle; elements of other arrays by their index on the rank. Ranks
 * that make different calls are all told KITH_INVALID.
 *
 * A LOST RANK. When a transport fails, or a rank of threads closes its team while others are in a
 * collective call, these return KITH_TEAM_LOST, as does each later call of the team, which can only
 * be closed. MPI tells nothing of a rank that has closed its team: the others wait for it. A
 * process that cannot go on should end all by MPI_Abort.
 *
 * See kith.h for pairs, boxes, memory, threads and errors.
 */
#ifndef KITH_API_TEAM_H
#define KITH_API_TEAM_H

#include <kith/core.h>
#include <kith/flock.h>
#include <kith/fof.h>
#include <kith/halos.h>
#include <kith/nearest.h>
#include <kith/pairs.h>
#include <kith/rdf.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------ transport */

/** A message: bytes that one rank sends to another. */
typedef struct kith_parcel {
    int peer;           /**< the other rank, never the own one */
    kith_memory memory; /**< KITH_HOST, or KITH_DEVICE where the transport takes it */
    void *data;         /**< the bytes; not written by the sender's call */
    int64_t bytes;      /**< size, 1 or more */
} kith_parcel;

/** What kith_transport.combine makes of the numbers of all ranks: their sum, minimum or maximum. */
typedef enum kith_combine { KITH_SUM = 0, KITH_MIN = 1, KITH_MAX = 2 } kith_combine;

/**
 * How ranks exchange bytes: five functions, and one that ends the rank's part.
 * kith_transport_threads and kith_transport_mpi (kith_mpi.h) make one; a program may bring another.
 * All functions but abort and close are collective. They return 0; anything else is a failure,
 * after which the team is lost. They know only bytes and int64: no sum of floating numbers depends
 * on the ranks.
 */
typedef struct kith_transport {
    size_t size; /**< sizeof(kith_transport) */
    void *self;  /**< first argument of each function */
    int rank;    /**< this rank, 0 to ranks - 1 */
    int ranks;   /**< number of ranks */
    int device;  /**< 1: parcels may be in device memory */

    /** Send to[r] to rank r, and receive from[r] from it. Both have `ranks` elements. */
    int (*counts)(void *self, const int64_t *to, int64_t *from);

    /** Send and receive parcels. Of the parcels between two ranks the k-th sent is the k-th
     *  received, and both state its size.
     *  @param to      [n_to] parcels to send
     *  @param from    [n_from] parcels to receive; their bytes are written
     *  @param stream  cudaStream_t of parcels in device memory */
    int (*exchange)(void *self, const kith_parcel *to, int64_t n_to, kith_parcel *from,
                    int64_t n_from, void *stream);

    /** Gather `bytes` bytes of each rank. @param[out] all  [ranks][bytes] */
    int (*gather)(void *self, const void *mine, int64_t bytes, void *all);

    /** Replace each of n numbers by the sum (which wraps), minimum or maximum of those of all
     *  ranks. @param op  a kith_combine */
    int (*combine)(void *self, int op, int64_t *inout, int64_t n);

    /** Make the functions of all ranks fail, now and later. Called by the rank itself, between two
     *  other calls. */
    void (*abort)(void *self);

    /** End this rank's part; `self` is not used again. */
    void (*close)(void *self);
} kith_transport;

/**
 * Make transports between ranks that are threads of one process. Each has one thread at a time.
 * @param ranks     1 to 4096
 * @param[out] out  [ranks] a transport for each rank; close each, by kith_team_close or
 *                  kith_transport_close. Zeroed on failure.
 * @return KITH_OK; KITH_INVALID; KITH_NO_MEMORY. kith_message(NULL) says why.
 */
KITH_API kith_status kith_transport_threads(int ranks, kith_transport *out);

/** Close a transport that no team has taken, and zero it. @param transport  NULL or zeroed is
 *  fine. */
KITH_API void kith_transport_close(kith_transport *transport);

/* ----------------------------------------------------------------------------------------- team */

/** A context and a transport. Opaque; made by kith_team_open. */
typedef struct kith_team kith_team;

/** How a team works. Fill with kith_team_options_init, then change what you need. No field changes
 *  an answer. */
typedef struct kith_team_options {
    size_t size;         /**< sizeof(kith_team_options): set by the init call */
    int64_t chunk_bytes; /**< largest parcel [bytes], at most and by default 2^30; 0: the default */
} kith_team_options;

/** Set every field to its default: parcels of up to 2^30 bytes. */
KITH_API void kith_team_options_init(kith_team_options *options);

/** Set the fields of a struct of `size` bytes to their defaults. kith_team_options_init is a macro
 *  that passes sizeof, so that a library of a later version knows which fields there are. */
KITH_API void kith_team_options_init_sized(kith_team_options *options, size_t size);
#define kith_team_options_init(options) \
    kith_team_options_init_sized(options, sizeof(kith_team_options))

/**
 * Join a team. Collective.
 * @param ctx        this rank's context, which must stay until kith_team_close. It may be used for
 *                   other calls between those of the team
 * @param transport  taken over, also when the call fails: do not close it
 * @param options    NULL: the defaults. Equal on all ranks
 * @param[out] out   the team; kith_team_close it. NULL on failure: kith_message(ctx) says why.
 * @return KITH_OK; KITH_INVALID; KITH_NO_MEMORY; KITH_TEAM_LOST
 */
KITH_API kith_status kith_team_open(kith_ctx *ctx, const kith_transport *transport,
                                    const kith_team_options *options, kith_team **out);

/** Leave a team, close its transport and free its scratch memory. Not collective: ranks of threads
 *  that are in a collective call are told KITH_TEAM_LOST, those of MPI wait. Close results and
 *  teams before their contexts.
 *  @param team  NULL is fine. */
KITH_API void kith_team_close(kith_team *team);

/** How the last collective call divided the work. */
typedef struct kith_team_load {
    size_t size;         /**< sizeof(kith_team_load), set by the caller */
    int64_t points;      /**< particles of all ranks together */
    int64_t owned;       /**< particles that this rank was dealt */
    int64_t ghosts;      /**< copies of particles of other ranks that it received; queries in a
                              search for nearest neighbours */
    int64_t most_owned;  /**< largest `owned` of all ranks; the imbalance is most_owned * ranks /
                              points, 1 or more */
    int64_t most_ghosts; /**< largest `ghosts` of all ranks */
} kith_team_load;

/**
 * Say how the last collective call divided the work. Not collective.
 * @param[in,out] out  size is set by the caller; zeros before the first call
 * @return KITH_OK; KITH_INVALID
 */
KITH_API kith_status kith_team_load_read(const kith_team *team, kith_team_load *out);

/* -------------------------------------------------------------------------------- distributions */

/**
 * Count one frame's pairs by distance, and add them to a histogram: kith_rdf_count over all ranks.
 * Collective. Where r_max is short, ranks count the pairs of the domains that they are dealt; where
 * it reaches about everything, each pair of ranks counts the pairs between their particles.
 * @param points      this rank's particles, in host memory
 * @param box         NULL: open space
 * @param options     batches are not offered yet: KITH_UNSUPPORTED. Arrays are of this rank's
 *                    particles; molecules have one numbering for all ranks, and bonds are global
 *                    indices
 * @param[in,out] out as in kith_rdf_count; equal on all ranks
 * @return KITH_OK; KITH_INVALID; KITH_NOT_FINITE; KITH_LIMIT; KITH_NO_MEMORY; KITH_CANCELLED;
 *         KITH_UNSUPPORTED; KITH_DEVICE_LOST; KITH_TEAM_LOST. On failure nothing is added.
 */
KITH_API kith_status kith_team_rdf_count(kith_team *team, const kith_points *points,
                                         const kith_box *box, const kith_rdf_options *options,
                                         kith_histogram *out);

/* --------------------------------------------------------------------------------------- groups */

/**
 * Groups of particles of all ranks. Zero it before its first use. The labels are those that one
 * process would give, in 64 bits. Ranks hold consecutive parts of `members`: put together in the
 * order of the ranks, they are the array of one process.
 */
typedef struct kith_team_groups {
    int64_t n;          /**< groups of all ranks */
    int64_t points;     /**< particles of this rank */
    int64_t *labels;    /**< [points] the group of each, 1 to n; 0: in none */
    int64_t first;      /**< groups before those of `members`: members[0] is of group first + 1 */
    int64_t held;       /**< groups of which this rank has the size */
    int64_t *members;   /**< [held] size of each, descending */
    kith_memory memory; /**< where the arrays are: KITH_HOST */
    uint32_t size;      /**< sizeof(kith_team_groups) of the caller; 0: the fields of version 0.2 */
    void *owner;        /**< private to the library */
} kith_team_groups;

/**
 * Find groups by friends-of-friends over all ranks: kith_fof_find. Collective.
 * Cost: that of kith_fof_find for the particles that a rank is dealt; each particle travels twice.
 * Groups that span ranks are united in about as many rounds of messages as their number has bits.
 * @param points      this rank's particles, in host memory
 * @param box         NULL: open space
 * @param length      the linking length, of any size; as in kith_fof_find
 * @param options     NULL: the defaults. Arrays are of this rank's particles. Batches are not
 *                    offered yet: KITH_UNSUPPORTED
 * @param[in,out] out the groups. Zeroed, or from an earlier call on this team, whose arrays are
 *                    then reused. Free with kith_team_groups_free, before kith_close.
 * @return KITH_OK; KITH_INVALID; KITH_NOT_FINITE; KITH_LIMIT; KITH_NO_MEMORY; KITH_CANCELLED;
 *         KITH_UNSUPPORTED; KITH_DEVICE_LOST; KITH_TEAM_LOST. On failure n, points and held are 0,
 *         and out is still to be freed.
 */
KITH_API kith_status kith_team_fof_find(kith_team *team, const kith_points *points,
                                        const kith_box *box, double length,
                                        const kith_fof_options *options, kith_team_groups *out);

/** Free the arrays and zero the struct but for its size. @param groups  NULL or zeroed is fine. */
KITH_API void kith_team_groups_free(kith_team_groups *groups);

/* ---------------------------------------------------------------------------------------- halos */

/**
 * Halos of all ranks. Zero it before its first use. Ranks hold consecutive parts: put together in
 * the order of the ranks, they are the halos of one process, which are kith_halos.
 */
typedef struct kith_team_halos {
    int64_t n;          /**< groups of all ranks */
    int64_t first;      /**< groups before those of `halo`: halo[0] is of group first + 1 */
    int64_t held;       /**< groups of which this rank has the halo: n / ranks, or one more */
    kith_halo *halo;    /**< [held], `stride` bytes apart; `particle` is a global index */
    kith_memory memory; /**< where the array is: KITH_HOST */
    uint32_t size;      /**< sizeof(kith_team_halos) of the caller; 0: the fields of version 0.2 */
    void *owner;        /**< private to the library */
    int64_t stride;     /**< sizeof(kith_halo) of the caller, as in kith_halos */
} kith_team_halos;

/**
 * Measure groups of particles of all ranks: kith_halos_measure. Collective.
 * Each group is measured by one rank, which receives its members: those of group g by rank (g - 1)
 * modulo the number of ranks. Cost: that of kith_halos_measure for these groups; each member
 * travels once. A rank needs memory for the members of its groups, 2^31 - 65 at most.
 * @param points      this rank's particles, in host memory
 * @param box         NULL: open space
 * @param groups      from kith_team_fof_find, or labels of your own: n, points and labels are read
 * @param input       NULL: only positions are available. Arrays are of this rank's particles.
 *                    sphere_density is equal on all ranks. Spheres take all particles: these
 *                    travel to domains, and copies of those within a search radius to where the
 *                    halos' centres are, for some 100 bytes of memory each
 * @param[in,out] out the halos. Zeroed, or from an earlier call on this team, whose array is then
 *                    reused. Free with kith_team_halos_free, before kith_close.
 * @return KITH_OK; KITH_INVALID; KITH_NOT_FINITE; KITH_LIMIT; KITH_NO_MEMORY; KITH_CANCELLED;
 *         KITH_UNSUPPORTED; KITH_DEVICE_LOST; KITH_TEAM_LOST. On failure n, first and held are 0,
 *         and out is still to be freed.
 */
KITH_API kith_status kith_team_halos_measure(kith_team *team, const kith_points *points,
                                             const kith_box *box, const kith_team_groups *groups,
                                             const kith_halo_input *input, kith_team_halos *out);

/** Free the array and zero the struct but for its size. @param halos  NULL or zeroed is fine. */
KITH_API void kith_team_halos_free(kith_team_halos *halos);

/* ---------------------------------------------------------------------------------------- pairs */

/**
 * This rank's part of a pair list of all ranks: the pairs (i, j) whose i it was dealt. Zero it
 * before its first use. Particles have numbers on the rank: first those that it was dealt, the
 * rows, then copies of others. `ids` has the global index of each. With these for i and j, the
 * lists of all ranks together are the list of one process; a half list has pairs with ids[i] <
 * ids[j]. Of two sets, i is a row of the points, and j has a number in the other set, whose global
 * indices are in `ids_against`.
 */
typedef struct kith_team_pairs {
    int64_t n;      /**< pairs of this rank */
    int64_t all;    /**< pairs of all ranks */
    int64_t rows;   /**< particles that this rank was dealt: i is 0 to rows - 1 */
    int64_t points; /**< particles with a number: j is 0 to points - 1 */
    int64_t *ids;   /**< [points], of two sets [rows]: global index of each; ascending among the
                         rows */
    int64_t *ids_against; /**< [points] of two sets: global index of each j in its set; else NULL */
    int32_t *i;           /**< [n] number of particle i of each pair */
    int32_t *j;           /**< [n] number of particle j of each pair */
    void *distances;      /**< [n] as in kith_pairs */
    void *vectors;        /**< [n][3] as in kith_pairs */
    int32_t *shifts;      /**< [n][3] as in kith_pairs */
    int64_t capacity;     /**< number of pairs that the arrays can hold */
    kith_memory memory;   /**< where the arrays are: KITH_HOST */
    uint32_t size;        /**< sizeof(kith_team_pairs) of the caller; 0: the fields up to owner */
    void *owner;          /**< private to the library */
    int64_t *offsets;     /**< [rows + 1] KITH_CSR: row r has pairs offsets[r] to offsets[r + 1] -
                               1, and i is NULL; else NULL */
} kith_team_pairs;

/**
 * Find all pairs within the cutoff over all ranks: kith_pairs_find. Collective.
 * Cost: that of kith_pairs_find for the particles that a rank was dealt, and the copies.
 * @param points      this rank's particles, in host memory
 * @param box         NULL: open space
 * @param cutoff      as in kith_pairs_find
 * @param options     NULL: the defaults. KITH_MATRIX and batches are not offered yet:
 *                    KITH_UNSUPPORTED. `against` are this rank's particles of the other set.
 *                    Arrays of rules are of this rank's particles, given on all ranks or on none;
 *                    molecules have one numbering for all ranks, and bonds are global indices of
 *                    the other particle. With radii and cutoff 0 a pair is as far apart as the
 *                    largest radii of all ranks permit
 *                    sorted: by ids[i], then the global index of j, then Sc, Sb, Sa; lists of
 *                    layout KITH_CSR, whose rows are the particles that the rank was dealt, are so
 * @param[in,out] out the list. Zeroed, or from an earlier call on this team, whose arrays are then
 *                    reused. Free with kith_team_pairs_free, before kith_close.
 * @return KITH_OK; KITH_INVALID; KITH_NOT_FINITE; KITH_LIMIT; KITH_NO_MEMORY; KITH_CANCELLED;
 *         KITH_UNSUPPORTED; KITH_DEVICE_LOST; KITH_TEAM_LOST. On failure n, all, rows and points
 *         are 0, and out is still to be freed.
 */
KITH_API kith_status kith_team_pairs_find(kith_team *team, const kith_points *points,
                                          const kith_box *box, double cutoff,
                                          const kith_pairs_options *options, kith_team_pairs *out);

/**
 * Count the pairs of all ranks, storing none: kith_pairs_count. Collective.
 * @param[out] n           pairs in the list of all ranks that the options describe
 * @param[out] neighbours  [points->n] for each of this rank's particles, in the order in which they
 *                         are given, its entries in the full list; NULL if not wanted
 * @return as kith_team_pairs_find. On failure n is 0, and neighbours are undefined.
 */
KITH_API kith_status kith_team_pairs_count(kith_team *team, const kith_points *points,
                                           const kith_box *box, double cutoff,
                                           const kith_pairs_options *options, int64_t *n,
                                           int64_t *neighbours);

/** Free a list's arrays and zero it but for its size. @param pairs  NULL or a zeroed list is
 *  fine. */
KITH_API void kith_team_pairs_free(kith_team_pairs *pairs);

/* --------------------------------------------------------------------------- nearest neighbours */

/**
 * The k nearest neighbours of each of this rank's particles: the rows of kith_nearest, with the
 * global indices of neighbours, in 64 bits. Put together in the order of the ranks, they are the
 * rows of one process. Zero it before its first use.
 */
typedef struct kith_team_nearest {
    int64_t rows;       /**< particles of this rank */
    int64_t k;          /**< entries of a row */
    int32_t *counts;    /**< [rows] neighbours found, k at most */
    int64_t *j;         /**< [rows][k] global indices, ascending where distances are equal; -1 */
    void *distances;    /**< [rows][k] as in kith_nearest */
    void *vectors;      /**< [rows][k][3] as in kith_nearest */
    int32_t *shifts;    /**< [rows][k][3] as in kith_nearest */
    kith_memory memory; /**< where the arrays are: KITH_HOST */
    uint32_t size; /**< sizeof(kith_team_nearest) of the caller; 0: the fields of version 0.2 */
    void *owner;   /**< private to the library */
} kith_team_nearest;

/**
 * Find the k nearest neighbours of each particle over all ranks: kith_nearest_find. Collective.
 * Cost: that of kith_nearest_find for the particles that a rank was dealt, and for those of other
 * ranks whose neighbours may be among them; each particle travels to its domain, and each row back.
 * Domains are joined until each has more than k particles that may be neighbours.
 * @param points      this rank's particles, in host memory
 * @param box         NULL: open space
 * @param k           as in kith_nearest_find
 * @param options     NULL: the defaults. Batches and radii are not offered yet: KITH_UNSUPPORTED
 * @param[in,out] out the result. Zeroed, or from an earlier call on this team, whose arrays are
 *                    then reused. Free with kith_team_nearest_free, before kith_close.
 * @return KITH_OK; KITH_INVALID; KITH_NOT_FINITE; KITH_LIMIT; KITH_NO_MEMORY; KITH_CANCELLED;
 *         KITH_UNSUPPORTED; KITH_DEVICE_LOST; KITH_TEAM_LOST. On failure rows is 0, and out is
 *         still to be freed.
 */
KITH_API kith_status kith_team_nearest_find(kith_team *team, const kith_points *points,
                                            const kith_box *box, int64_t k,
                                            const kith_nearest_options *options,
                                            kith_team_nearest *out);

/** Free the arrays and zero the struct but for its size. @param nearest  NULL or zeroed is fine. */
KITH_API void kith_team_nearest_free(kith_team_nearest *nearest);

/* --------------------------------------------------------------------------------------- flocks */

/**
 * A flock of the particles of all ranks. It stays dealt to domains from step to step: a particle
 * that leaves the domain of its rank travels to another rank. After any number of steps the state
 * has the bits of the flock of one process (kith_flock). Opaque; it has memory of its own, so that
 * several may be open, and other calls of the team made.
 */
typedef struct kith_team_flock kith_team_flock;

/**
 * Start a flock of all ranks: kith_flock_open. Collective.
 * Cost on each rank: about 200 bytes in float, 350 in double, for each of its particles and copies.
 * @param team        its contexts must be on CPUs: those of GPUs are refused, KITH_UNSUPPORTED
 * @param points      this rank's particles, in host memory; not needed after the call
 * @param velocities  theirs, in host memory, in the precision of the points
 * @param box         NULL: open space
 * @param options     NULL: the defaults. Equal on all ranks. Species are those of this rank's
 *                    particles, given on all ranks or on none. Options of a later version
 *                    that are not at their defaults: KITH_UNSUPPORTED
 * @param[out] out    the flock; kith_team_flock_close it before the team. NULL on failure
 * @return KITH_OK; KITH_INVALID; KITH_NOT_FINITE; KITH_LIMIT; KITH_NO_MEMORY; KITH_CANCELLED;
 *         KITH_UNSUPPORTED; KITH_TEAM_LOST
 */
KITH_API kith_status kith_team_flock_open(kith_team *team, const kith_points *points,
                                          const kith_points *velocities, const kith_box *box,
                                          const kith_flock_options *options, kith_team_flock **out);

/**
 * Change the options from the next step on: kith_flock_change. Collective.
 * @param options  as in kith_team_flock_open
 * @return KITH_OK; KITH_INVALID; KITH_LIMIT; KITH_NO_MEMORY; KITH_CANCELLED; KITH_UNSUPPORTED;
 *         KITH_TEAM_LOST: nothing is changed
 */
KITH_API kith_status kith_team_flock_change(kith_team_flock *flock,
                                            const kith_flock_options *options);

/**
 * Advance by some steps: kith_flock_step. Collective.
 * Cost of each: that of a step of the particles that a rank was dealt, and of copies of those
 * within the largest radius of them, which travel, as do particles that leave their domain.
 * @param steps  0 or more; equal on all ranks
 * @return KITH_OK; KITH_INVALID; KITH_NOT_FINITE, KITH_LIMIT when a particle left the range of
 *         numbers; KITH_NO_MEMORY; KITH_CANCELLED; KITH_TEAM_LOST. On failure the flock is in the
 *         state after its last whole step (kith_team_flock_steps).
 */
KITH_API kith_status kith_team_flock_step(kith_team_flock *flock, int64_t steps);

/** Return the steps done, first_step included; 0 if flock is NULL. Not collective. */
KITH_API int64_t kith_team_flock_steps(const kith_team_flock *flock);

/**
 * Copy the state to the ranks that gave the particles, in the order in which they gave them:
 * kith_flock_read. Collective. Put together in the order of the ranks, the arrays are those of one
 * process.
 * @param[out] positions   [points.n][3] as in kith_flock_read. NULL: not wanted by this rank
 * @param[out] velocities  [points.n][3] as in kith_flock_read. NULL: not wanted by this rank
 * @return KITH_OK; KITH_NO_MEMORY; KITH_TEAM_LOST. On failure nothing is written.
 */
KITH_API kith_status kith_team_flock_read(kith_team_flock *flock, void *positions,
                                          void *velocities);

/** Copy obstacles and attractors as they are now: predators have moved. Not collective; equal on
 *  all ranks. @param[out] things  [n_things] of the options; NULL: nothing is copied */
KITH_API void kith_team_flock_read_things(const kith_team_flock *flock, kith_flock_thing *things);

/**
 * Measure the flock of all ranks, into the first `size` bytes of the struct: kith_flock_measure.
 * Collective. Equal on all ranks. Cost: O(n + pairs); sums are in the order of the particles, so
 * that ranks add theirs one after the other.
 * @param[out] out  written on success alone
 * @return KITH_OK; KITH_INVALID; KITH_NO_MEMORY; KITH_CANCELLED; KITH_TEAM_LOST
 */
KITH_API kith_status kith_team_flock_measure_sized(kith_team_flock *flock, kith_flock_measures *out,
                                                   size_t size);
#define kith_team_flock_measure(flock, out) \
    kith_team_flock_measure_sized(flock, out, sizeof(kith_flock_measures))

/** Free a flock. Not collective. @param flock  NULL is fine */
KITH_API void kith_team_flock_close(kith_team_flock *flock);

/* -------------------------------------------------------------------------------------- domains */

/**
 * A decomposition that is kept: the particles that each rank was dealt, and copies of those within
 * a width of them, with the ways by which they came. A program computes where the particles are,
 * and exchanges what it computed; kith.h's calls on the particles and copies of a rank find all
 * pairs of its particles within the width.
 *
 *     kith_domain_open(team, &points, &box, cutoff, &domain);
 *     kith_domain_view here = {.size = sizeof here};
 *     kith_domain_read(domain, &here);                        // here.n + here.ghosts particles
 *     kith_domain_send(domain, charge, sizeof *charge, q);    // q[here.n + here.ghosts]
 *     ... // a force f on each of the here.n particles
 *     kith_domain_home(domain, f, 3 * sizeof *f, force);      // force[points.n][3]
 *     kith_domain_close(domain);
 *
 * Opaque; it has memory of its own, so that several may be open, and other calls of the team made.
 */
typedef struct kith_domain kith_domain;

/** The particles of a rank, in memory of the domain. */
typedef struct kith_domain_view {
    size_t size;        /**< sizeof(kith_domain_view), set by the caller */
    int64_t n;          /**< particles that this rank was dealt */
    int64_t ghosts;     /**< copies of particles of other ranks, after these */
    const void *xyz;    /**< [n + ghosts][3] coordinates as given, in the precision of the points; z
                             is 0 in 2-D. Each particle is there once at most, without images */
    const int64_t *ids; /**< [n + ghosts] global index of each; ascending among the first n */
} kith_domain_view;

/**
 * Deal the particles to domains, and bring copies of particles near each rank's own. Collective.
 * Cost: each particle travels once; copies are those of a shell of this width around each domain.
 * @param points      this rank's particles, in host memory; not needed after the call
 * @param box         NULL: open space
 * @param width       distance within which pairs are to be found on each rank [length]; limited as
 *                    the cutoff of kith_pairs_find
 * @param[out] out    the domain; kith_domain_close it before the team. NULL on failure
 * @return KITH_OK; KITH_INVALID; KITH_NOT_FINITE; KITH_LIMIT; KITH_NO_MEMORY; KITH_CANCELLED;
 *         KITH_UNSUPPORTED; KITH_DEVICE_LOST; KITH_TEAM_LOST
 */
KITH_API kith_status kith_domain_open(kith_team *team, const kith_points *points,
                                      const kith_box *box, double width, kith_domain **out);

/**
 * Say which particles this rank has. Not collective.
 * @param[in,out] out  size is set by the caller; arrays are the domain's, until it is closed
 * @return KITH_OK; KITH_INVALID
 */
KITH_API kith_status kith_domain_read(const kith_domain *domain, kith_domain_view *out);

/**
 * Send a value of each particle to where it was dealt, and to its copies. Collective.
 * @param given     [points.n] values in the order of the points of kith_domain_open
 * @param size      bytes of a value, 1 to 2^20; equal on all ranks
 * @param[out] out  [n + ghosts] values in the order of kith_domain_view
 * @return KITH_OK; KITH_INVALID; KITH_NO_MEMORY; KITH_CANCELLED; KITH_TEAM_LOST
 */
KITH_API kith_status kith_domain_send(kith_domain *domain, const void *given, size_t size,
                                      void *out);

/**
 * Give copies the values that their particles have now. Collective.
 * @param[in,out] values  [n + ghosts] in the order of kith_domain_view: the first n are read, the
 *                        others written
 * @param size            as in kith_domain_send
 * @return as kith_domain_send
 */
KITH_API kith_status kith_domain_refresh(kith_domain *domain, void *values, size_t size);

/**
 * Send a value of each particle back to the rank that gave it. Collective.
 * @param values    [n] in the order of kith_domain_view
 * @param size      as in kith_domain_send
 * @param[out] out  [points.n] values in the order of the points of kith_domain_open
 * @return as kith_domain_send
 */
KITH_API kith_status kith_domain_home(kith_domain *domain, const void *values, size_t size,
                                      void *out);

/** Free a domain. Not collective. @param domain  NULL is fine */
KITH_API void kith_domain_close(kith_domain *domain);

#ifdef __cplusplus
}
#endif

#endif
