/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Neighbour lists: all pairs of particles within a radius.
 *
 * See kith.h for pairs, boxes, memory, threads and errors.
 */
#ifndef KITH_API_PAIRS_H
#define KITH_API_PAIRS_H

#include <kith/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How a list is laid out. */
typedef enum kith_layout {
    KITH_IJ = 0,    /**< two arrays: pair p is (i[p], j[p]) */
    KITH_CSR = 1,   /**< the neighbours of i are j[offsets[i]] to j[offsets[i + 1] - 1] */
    KITH_MATRIX = 2 /**< arrays of a fixed shape: row i is j[i * width] to j[(i + 1) * width - 1],
                         of which the first counts[i], at most width, are the neighbours of i.
                         Always full */
} kith_layout;

/** Extras to store for each pair: the arrays distances, vectors and shifts of kith_pairs. Combined
 *  by |. */
enum { KITH_DISTANCES = 1, KITH_VECTORS = 2, KITH_SHIFTS = 4 };

/** How the radii h of two particles decide whether they are a pair: r2 <= H * H, with r2 the
 *  squared distance (kith.h), and the product rounded in the points' precision. */
typedef enum kith_radius_rule {
    KITH_RADIUS_NONE = 0,    /**< there are no radii */
    KITH_RADIUS_GATHER = 1,  /**< H = h_i. Not in half lists */
    KITH_RADIUS_SCATTER = 2, /**< H = h_j. Not in half lists */
    KITH_RADIUS_EITHER = 3,  /**< H = the larger of h_i and h_j */
    KITH_RADIUS_BOTH = 4,    /**< H = the smaller of h_i and h_j */
    KITH_RADIUS_SUM = 5      /**< H = h_i + h_j, rounded in the points' precision */
} kith_radius_rule;

/** What list to make. Fill with kith_pairs_options_init, then change what you need. */
typedef struct kith_pairs_options {
    size_t size;                /**< sizeof(kith_pairs_options): set by the init call */
    const kith_points *against; /**< B: pairs of i in the points with j in B; NULL: one set. Lists
                                     against B are always full: each (i, j, S) once */
    int full;                   /**< 0: half list; 1: full list */
    int sorted;                 /**< 1: pairs are sorted by i, then j, then Sc, Sb, Sa */
    int unordered;              /**< 1: kith_pairs_fill and kith_pairs_enqueue may write an (i, j)
                                     list that is not `sorted` in an order that changes from run to
                                     run: a GPU then fills arrays in device memory by one pass
                                     instead of two. Ignored elsewhere */
    kith_layout layout;         /**< KITH_IJ, KITH_CSR or KITH_MATRIX */
    unsigned extras;            /**< KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS */
    int64_t block_pairs;        /**< kith_pairs_each: largest number of pairs in a block; 0: 2^24 */
    const kith_batch *batch;    /**< many systems in one call; NULL: one system */
    int64_t width;              /**< KITH_MATRIX: entries of a row, 0 to 2^31 - 1. kith_pairs_find
                                     widens all rows where one has more neighbours */
    int32_t fill;               /**< KITH_MATRIX: j of the entries behind the neighbours of a row;
                                     any number, by default -1 */
    int queued;                 /**< 1: kith_pairs_find with a list in device memory returns when
                                     its length is known; the arrays are written in the order of
                                     the context's stream. Ignored for KITH_MATRIX lists, for
                                     batches, for lists in host memory and by other calls */
    int32_t n_species;          /**< 1 to 1024 with `species`, else 0 */
    kith_radius_rule radius_rule;   /**< how `radii` decide; KITH_RADIUS_NONE without them */
    const int32_t *species;         /**< [n] of each particle, 0 to n_species - 1; NULL: there is no
                                         table of cutoffs */
    const int32_t *species_against; /**< [n of against] species of each particle of `against` */
    const double *cutoffs;          /**< [n_species][n_species] radius of the pairs of species s_i
                                         and s_j [length]; 0: none are listed. Equal for (s, t)
                                         and (t, s) without `against`. Always in host memory */
    const void *radii;              /**< [n] h of each particle, 0 or more, precision of the points
                                         [length]; NULL: none */
    const void *radii_against;      /**< [n of against] h of each particle of `against` */
    double r_min;             /**< pairs nearer than this are not listed [length]; 0: all are */
    const int32_t *molecules; /**< [n] number of each particle's molecule: pairs of two particles
                                   with one number are not listed; a negative number is no
                                   molecule; NULL: there are no molecules */
    const int32_t *molecules_against; /**< [n of against] molecule of each particle of `against` */
    const int64_t *bond_offsets;      /**< [n + 1] pairs of i with bonds[bond_offsets[i]] to
                                           bonds[bond_offsets[i + 1] - 1] are not listed. With one
                                           set a bond may be given in the range of one of its
                                           particles, or of both; with `against` in that of its
                                           particle of the points. NULL: no bonds */
    const int32_t *bonds;             /**< [bond_offsets[n]] index of the other particle of each
                                           bond, in the points; with `against`, in that set */
    const uint8_t *active;            /**< [n] 0: no pair (i, j) with this particle as i is listed,
                                           but pairs with it as j are; not in half lists; NULL: all
                                           particles have rows */
} kith_pairs_options;

/*
 * RULES. `species`, `radii`, `r_min`, `molecules`, `bonds` and `active` are rules. A list holds the
 * pairs that all given rules permit:
 *     species    r2 <= c * c, c = cutoffs[s_i][s_j] rounded, and the product rounded
 *     radii      r2 <= H * H (kith_radius_rule)
 *     r_min      r2 >= m * m, m = r_min rounded, and the product rounded
 *     cutoff     r2 <= cutoff * cutoff, as always. With species or radii the argument may be 0:
 *                these alone decide; then a search is refused where the radii permit only H = 0
 * all rounded in the precision of the points. A pair that is bonded, or in one molecule, is not
 * listed at any shift S; and a particle that is in a molecule has no pairs with its own images.
 *
 * Arrays of rules are in the memory of the points, but `cutoffs` always in host memory. Arrays in
 * host memory are checked (KITH_INVALID). Radii in device memory are checked, too, except by
 * kith_pairs_enqueue, where a particle whose radius is negative or NaN has no pairs that its radius
 * would decide: none with KITH_RADIUS_EITHER, _BOTH and _SUM, none as i with _GATHER, none as j
 * with _SCATTER. They are not in the number of pairs. In device memory a particle whose species is
 * outside the table has no pairs, and other arrays must be as described.
 *
 * With radii, particles are divided into classes of radius, by powers of 2. The cost is O(n +
 * candidates). The candidates are in proportion to the pairs, provided that the density of the
 * particles does not vary on the scale of a radius; particles with less than 2^-31 of the largest
 * radius form one class. On a GPU batches, KITH_MATRIX lists and kith_pairs_enqueue search with the
 * largest radius instead. kith_pairs_enqueue needs a cutoff with radii; for more than 64 species it
 * cannot be captured in a graph (KITH_UNSUPPORTED).
 */

/** Set every field to its default: half (i, j), unsorted, no extras, fill -1. */
KITH_API void kith_pairs_options_init(kith_pairs_options *options);

/** Set the fields of a struct of `size` bytes to their defaults. kith_pairs_options_init is a
 *  macro that passes sizeof, so that a library of a later version knows which fields there are;
 *  the function of that name sets those of version 0.1. */
KITH_API void kith_pairs_options_init_sized(kith_pairs_options *options, size_t size);
#define kith_pairs_options_init(options) \
    kith_pairs_options_init_sized(options, sizeof(kith_pairs_options))

/**
 * A pair list. Zero it before its first use. Without options.unordered, the order of pairs depends
 * on the input and the kind of backend (CPU or GPU) alone: not on threads, instruction set or run.
 * Sorted lists are equal on all backends.
 */
typedef struct kith_pairs {
    int64_t n;          /**< number of pairs in the list */
    int64_t rows;       /**< number of particles of the points: i is 0 to rows - 1 */
    int32_t *i;         /**< [n] index i of each pair, KITH_IJ only */
    int32_t *j;         /**< [n] index j of each pair; KITH_MATRIX: [rows][width] */
    int64_t *offsets;   /**< [rows + 1], KITH_CSR only: pairs offsets[i] to offsets[i + 1] - 1 are
                             those of particle i */
    void *distances;    /**< [n], precision of the points: length of the vector [length] */
    void *vectors;      /**< [n][3], precision of the points: r_j + Sa a + Sb b + Sc c - r_i, with
                             the rows a, b, c of the box [length] */
    int32_t *shifts;    /**< [n][3]: S for the coordinates as given, so also when some lie outside
                             the box */
    int64_t capacity;   /**< number of pairs that the arrays can hold */
    kith_memory memory; /**< where the arrays are: KITH_HOST unless set, before the first call */
    uint32_t size;      /**< sizeof(kith_pairs) of the caller; 0: the fields of version 0.1 */
    void *owner;        /**< private to the library; NULL when the arrays are the caller's */
    int32_t *counts;    /**< [rows], KITH_MATRIX only: number of all neighbours of each particle,
                             also where it exceeds width; 2^31 - 1 where it exceeds that */
    int64_t width;      /**< KITH_MATRIX only: entries of a row */
    int64_t widest;     /**< KITH_MATRIX only: neighbours of the particle with the most: the width
                             that this list needs */
    int64_t overflowed; /**< KITH_MATRIX only: rows with more than width neighbours */
} kith_pairs;

/*
 * KITH_MATRIX: j, distances, vectors and shifts are [rows][width], so that programs whose arrays
 * have fixed shapes (CUDA graphs, jit) can use them. Set `size` of the list to sizeof(kith_pairs).
 * The first min(counts[i], width) entries of row i are those of the row of a KITH_CSR list that is
 * full and made with equal options: in the order j, Sc, Sb, Sa when `sorted`, else in an order that
 * the backend chooses. On a GPU with `radii` and without `sorted` it may differ from that of a
 * KITH_CSR list. The entries behind them have j = fill, infinite distance, and 0 for vector and S.
 * An overflow, a row with more than width neighbours, is never silent: counts, n, widest and
 * overflowed count all neighbours, and the status is KITH_CAPACITY. kith_pairs_enqueue, which
 * returns before it is known, tells it by element KITH_RESULT_OVERFLOWED of its result.
 */

/**
 * Find all pairs within the cutoff, into arrays that the library allocates.
 * Cost: O(n + pairs) time; at most 64 bytes of scratch memory for each particle beyond the list.
 * With radii it is about 200 bytes for each particle and, on a CPU, 8 bytes for each pair of a
 * sorted list.
 * On a CPU the candidates of some neighbouring particles, and the images of the candidates, take up
 * to 40 MB in each thread, for any number of them. A sorted list without radii has to hold all of
 * them at once: 128 bytes in each thread for each particle or image in the cells within the cutoff
 * of a particle. Where that is estimated as more than 4 GB for each thread, a sorted list is
 * refused (KITH_LIMIT).
 * @param ctx         the context
 * @param points      the particles
 * @param box         NULL: open space
 * @param cutoff      radius, > 0, its square a normal number in the points' precision; with a table
 *                    of cutoffs, or radii, it may be 0: no limit but theirs (RULES). The radius of
 *                    the search, which is the cutoff or the largest distance that the rules permit
 *                    if that is shorter, is at most 500 heights of the box along each periodic
 *                    axis. A height is the distance between the two faces of the box that the row
 *                    of the axis connects. The limit is lower in a box so flat and skewed that the
 *                    bound on the rounding error of an image's position exceeds 8 heights
 * @param options     NULL: the defaults
 * @param[in,out] out the list. Zeroed, or a list from an earlier call on ctx, whose arrays are then
 *                    reused and grown as needed. Free with kith_pairs_free, before kith_close.
 * @return KITH_OK; KITH_INVALID; KITH_NOT_FINITE; KITH_LIMIT; KITH_NO_MEMORY; KITH_CANCELLED;
 *         KITH_UNSUPPORTED; KITH_DEVICE_LOST. On failure n and rows are 0, and out is
 *         still to be freed.
 */
KITH_API kith_status kith_pairs_find(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                                     double cutoff, const kith_pairs_options *options,
                                     kith_pairs *out);

/**
 * Count the pairs, storing none.
 * @param[out] n           pairs in the list that the options describe
 * @param[out] neighbours  [points->n] number of pairs of each i in the full list, also where the
 *                         options describe a half list; host memory; NULL: not wanted
 * @return as kith_pairs_find. On failure n is 0, and neighbours are undefined.
 */
KITH_API kith_status kith_pairs_count(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                                      double cutoff, const kith_pairs_options *options, int64_t *n,
                                      int64_t *neighbours);

/**
 * Find all pairs, into the caller's arrays. options->layout says whether i or offsets is written;
 * the extras named must have arrays; other arrays are not written. All have room for `capacity`
 * pairs, but offsets, which has points->n + 1 elements for any capacity. With KITH_MATRIX the
 * capacity must be at least points->n times options->width, and counts, of points->n elements, may
 * be NULL.
 * @param[in,out] out  capacity, memory and the arrays set by the caller; the other fields are
 *                     returned
 * @return as kith_pairs_find, and KITH_CAPACITY: out->n is then the capacity needed; with
 *         KITH_MATRIX out->widest is the width needed, and the arrays hold what fits. On any other
 *         failure n and rows are 0; on all failures but an overflow of KITH_MATRIX the contents of
 *         the arrays are undefined.
 */
KITH_API kith_status kith_pairs_fill(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                                     double cutoff, const kith_pairs_options *options,
                                     kith_pairs *out);

/**
 * Receives one block of a list.
 * @param block  the pairs, KITH_IJ, host memory, owned by the library and valid during this call
 * @param first  index in the whole list of the block's first pair
 * @return 0 to continue; anything else stops, and kith_pairs_each returns KITH_CANCELLED.
 */
typedef int (*kith_block_fn)(void *user, const kith_pairs *block, int64_t first);

/**
 * Find all pairs and pass them to a callback in blocks, so that memory stays bounded for any number
 * of pairs, unless those of one particle are more than a block. The blocks in order are the list of
 * kith_pairs_find with layout KITH_IJ, also when options->layout is KITH_CSR; KITH_MATRIX is
 * refused.
 * @param fn    called from the calling thread
 * @param user  passed to fn
 * @return as kith_pairs_find; KITH_CANCELLED also when fn returned a number that is not 0.
 */
KITH_API kith_status kith_pairs_each(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                                     double cutoff, const kith_pairs_options *options,
                                     kith_block_fn fn, void *user);

/** Indices of the elements of the result of kith_pairs_enqueue with KITH_MATRIX. Where element
 *  KITH_RESULT_OVERFLOWED is not 0, the arrays hold what fits. */
enum {
    KITH_RESULT_PAIRS = 0,      /**< pairs of the list, or a negative kith_status */
    KITH_RESULT_WIDEST = 1,     /**< kith_pairs.widest; 0 where the first element is a status */
    KITH_RESULT_OVERFLOWED = 2, /**< kith_pairs.overflowed; 0 where the first element is a status */
    KITH_RESULTS = 3            /**< number of elements */
};

/**
 * Queue the search and return without waiting: for programs that use the list on the GPU. Nothing
 * is copied to or from the host, and no memory is allocated unless the context's scratch memory is
 * too small; it is large enough after a call of equal size. Queued work is done in the order of
 * the context's stream (kith_options.stream, kith_set_stream); the arrays must stay until then.
 *
 * GRAPHS. While the stream is being captured in a CUDA graph, the call becomes a part of the graph;
 * no other call can (KITH_UNSUPPORTED, the capture stays valid). Make the call once before the
 * capture, with equal arguments: where scratch memory would have to grow, a captured call queues
 * nothing and returns KITH_LIMIT. Each replay reads the coordinates that the arrays hold then, and
 * writes the bits that a call would. The graph keeps the number of particles, the addresses, box,
 * cutoff, options and capacity; memory of the context that it uses stays as it is until kith_close,
 * also when later calls need more. Replays and calls of one context share that memory: let them run
 * one after the other, on one stream or by events.
 * @param points       in device memory, as are options->against and the arrays of options->batch
 * @param out          arrays in device memory, and capacity, set by the caller; not written itself
 * @param[out] result  in device memory: receives the number of pairs. Larger than the capacity: the
 *                     arrays are undefined. Negative: a kith_status, for example KITH_NOT_FINITE.
 *                     With KITH_MATRIX [3], see KITH_RESULT_OVERFLOWED
 * @return KITH_OK when queued; KITH_INVALID; KITH_LIMIT; KITH_NO_MEMORY; KITH_UNSUPPORTED on a CPU,
 *         with radii and cutoff 0, for more than 64 species in a capture, and in a capture that has
 *         failed; KITH_CANCELLED; KITH_DEVICE_LOST. On failure arrays and result are undefined.
 */
KITH_API kith_status kith_pairs_enqueue(kith_ctx *ctx, const kith_points *points,
                                        const kith_box *box, double cutoff,
                                        const kith_pairs_options *options, const kith_pairs *out,
                                        int64_t *result);

/** Free a list's arrays and zero it but for its size. @param pairs  NULL or a zeroed list is
 *  fine. */
KITH_API void kith_pairs_free(kith_pairs *pairs);

#ifdef __cplusplus
}
#endif

#endif
