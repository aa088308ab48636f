/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lists of pairs that are kept over the steps of a simulation: Verlet lists.
 *
 * See kith.h for pairs, boxes, memory, threads and errors.
 */
#ifndef KITH_API_VERLET_H
#define KITH_API_VERLET_H

#include <kith/core.h>
#include <kith/pairs.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What list to keep. Fill with kith_verlet_options_init, then set cutoff and skin. */
typedef struct kith_verlet_options {
    size_t size;   /**< sizeof(kith_verlet_options): set by the init call */
    double cutoff; /**< radius of a pair, as the cutoff of kith_pairs_find [length] */
    double skin;   /**< 0 or more [length]: the pairs within cutoff + skin are kept, and searched
                        again only when a pair that is not among them could be within the cutoff. 0:
                        each update searches */
    int with_skin; /**< 0: the list has exactly the pairs within the cutoff; 1: all pairs that are
                        kept, among them those within the cutoff */
    int full;      /**< 0: half list; 1: full list */
    kith_layout layout; /**< KITH_IJ or KITH_CSR */
    unsigned extras;    /**< KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS */
} kith_verlet_options;

/** Set every field to its default: half (i, j), the pairs within the cutoff, no extras; cutoff and
 *  skin 0. */
KITH_API void kith_verlet_options_init(kith_verlet_options *options);

/** Set the fields of a struct of `size` bytes to their defaults; kith_verlet_options_init is a
 *  macro that passes sizeof. */
KITH_API void kith_verlet_options_init_sized(kith_verlet_options *options, size_t size);
#define kith_verlet_options_init(options) \
    kith_verlet_options_init_sized(options, sizeof(kith_verlet_options))

/**
 * A list that is kept over steps. It holds the pairs within cutoff + skin of the positions at the
 * last rebuild, the kept pairs, and these positions: 17 bytes for each kept pair, and some 60
 * (float) or 90 (double) for each particle, in host memory. On a GPU it takes 25 bytes for each
 * kept pair, and 40 (float) or 72 (double) for each particle, in device memory.
 *
 * EXACT. After any history, the list of an update has the bits of kith_pairs_find with `sorted`
 * (with_skin 0). It is made from the kept pairs, each of which is decided anew: by the definition
 * of a pair where its distance at the last rebuild leaves that open. The kept pairs are used while
 * no other pair can be within the cutoff: (cutoff + 2 u) / s <= cutoff + skin, less bounds on
 * rounding errors. u is the longest displacement since the rebuild, beyond that of a particle whose
 * fractional coordinates stay while the box changes. s is 1 in an unchanged box: the change of the
 * box alone makes no distance shorter than s times what it was. Displacements are between nearest
 * images: positions may be wrapped, or not, in each step.
 *
 * BOXES may change from step to step in shape and size. A box that is sheared slowly with its
 * particles needs few rebuilds; one that jumps to an equivalent shape (a tilt from L / 2 to -L / 2)
 * needs one.
 *
 * PARTICLES may be added, removed and renumbered: indices are those of the points given now. A
 * change of their number leads to a rebuild, and so does a new particle under the index of another
 * one, as its displacement is too long; where it is not, the list is exact without a rebuild.
 * Programs that keep ids carry them along as they carry velocities.
 */
typedef struct kith_verlet kith_verlet;

/** Why a list was rebuilt. */
typedef enum kith_verlet_reason {
    KITH_VERLET_KEPT = 0,      /**< the list was not rebuilt */
    KITH_VERLET_FIRST = 1,     /**< there are no kept pairs: at the first update, and after one that
                                    failed while it rebuilt, that searched for the reason
                                    KITH_VERLET_ALWAYS, or that found S too large to keep */
    KITH_VERLET_ASKED = 2,     /**< kith_verlet_rebuild was called */
    KITH_VERLET_PARTICLES = 3, /**< the number of particles changed, or the precision */
    KITH_VERLET_BOX = 4,       /**< the box changed too much, or its periodic axes, or dim */
    KITH_VERLET_MOVED = 5,     /**< the displacement of a particle was too long */
    KITH_VERLET_ALWAYS = 6     /**< nothing can be kept: the skin is 0, or no longer than rounding
                                    errors, or cutoff + skin exceeds 400 heights of the box */
} kith_verlet_reason;

/** What the last successful update did, and what all of them did. Of a batch: of all its systems
 *  together. kith_verlet_reasons tells which systems were rebuilt. */
typedef struct kith_verlet_state {
    int64_t updates;           /**< successful updates */
    int64_t rebuilds;          /**< number of updates that searched, and so rebuilt the list; of a
                                    batch a search of each system counts */
    kith_verlet_reason reason; /**< why the last update searched; KITH_VERLET_KEPT: it did not; of a
                                    batch why the first system did that was searched */
    int rebuilt;               /**< 1: the last update searched; of a batch in any system */
    int64_t kept;              /**< number of kept pairs; 0 after KITH_VERLET_ALWAYS */
    double displacement;       /**< longest displacement since the last rebuild, as the last update
                                    found it, before it rebuilt the list; 0 where the box, or
                                    another reason, decided without it; infinite where a particle
                                    crossed more than 4 boxes along an axis, or rounding errors have
                                    no bound [length] */
    double allowed;            /**< displacement up to which the list could be kept in the last
                                    update's box; 0 where it could not; of a batch the least of all
                                    systems [length] */
} kith_verlet_state;

/**
 * Open a list that is kept over steps.
 * @param ctx      the context of all updates; outlives the list
 * @param options  cutoff and skin are to be set
 * @param[out] out the list, without particles; NULL after a failure. Close with kith_verlet_close,
 *                 before kith_close.
 * @return KITH_OK; KITH_INVALID; KITH_NO_MEMORY
 */
KITH_API kith_status kith_verlet_open(kith_ctx *ctx, const kith_verlet_options *options,
                                      kith_verlet **out);

/**
 * Make the list of the present positions, from the kept pairs where that is possible.
 * Cost: O(n + kept pairs), a fraction of that of a sorted search; a rebuild is a sorted search with
 * the radius cutoff + skin, and then makes the list of its pairs. On a GPU displacements are
 * compared on the device; with points in device memory the host waits once for an update that keeps
 * its pairs and makes a list in device memory whose arrays suffice.
 * @param points  the particles, in any memory, precision and number, as in kith_pairs_find
 * @param box     NULL: open space
 * @param[in,out] list  the list, sorted by i, then j, then Sc, Sb, Sa. Zeroed, or a list from an
 *                      earlier call on the context, whose arrays are then reused and grown as
 *                      needed. With options.with_skin distances, vectors and S are those of the
 *                      present positions, too. Free with kith_pairs_free, before kith_close.
 * @return as kith_pairs_find. On failure n and rows are 0, list is still to be freed, and the next
 *         update is as exact as any.
 */
KITH_API kith_status kith_verlet_update(kith_verlet *verlet, const kith_points *points,
                                        const kith_box *box, kith_pairs *list);

/**
 * Make the list of the present positions of a batch: many systems in one call, as in
 * kith_pairs_find with options.batch. Each system has kept pairs of its own, and is rebuilt for
 * reasons of its own: where its particles moved too far, or its box changed too much. A list is of
 * one system or of batches: the first update that succeeds decides. Offsets, boxes and the number
 * of systems may change from update to update. Kept pairs belong to the number of a system in the
 * batch. Where systems are renumbered, displacements, or numbers of particles, lead to rebuilds;
 * the list is exact in any case.
 * Cost: that of kith_verlet_update in each system, and a copy of the list. Small systems are
 * updated beside each other, on all threads. Memory is that of kith_verlet and the list of each
 * system, and some kilobytes for each system. On CPU cores alone.
 * @param points  the particles of all systems
 * @param box     one box for all systems; NULL: those of the batch, or open space
 * @param batch   offsets and boxes, borrowed for the call
 * @param[in,out] list  as for kith_verlet_update. Indices are those of the particles of all systems
 * @return as kith_verlet_update; KITH_UNSUPPORTED on a GPU. After a failure in one system the
 *         counters of all are those before the call, and the next update is as exact as any.
 */
KITH_API kith_status kith_verlet_update_batch(kith_verlet *verlet, const kith_points *points,
                                              const kith_box *box, const kith_batch *batch,
                                              kith_pairs *list);

/** Read which systems the last update of a batch has rebuilt, and why.
 *  @param systems       number of systems of that update
 *  @param[out] reasons  [systems] kith_verlet_reason of each; KITH_VERLET_KEPT: it was not rebuilt
 *  @return KITH_OK; KITH_INVALID, also where the last update failed or was not of a batch;
 *          KITH_BUSY */
KITH_API kith_status kith_verlet_reasons(const kith_verlet *verlet, int64_t systems,
                                         int32_t *reasons);

/** Search at the next update, whatever it is given. @return KITH_OK; KITH_INVALID; KITH_BUSY */
KITH_API kith_status kith_verlet_rebuild(kith_verlet *verlet);

/** Read what the last update did. @param[out] out  set to zeros after a failure
 *  @return KITH_OK; KITH_INVALID; KITH_BUSY */
KITH_API kith_status kith_verlet_read(const kith_verlet *verlet, kith_verlet_state *out);

/** Read what the last update did, into the first `size` bytes of the struct. kith_verlet_read is a
 *  macro that passes sizeof.
 *  @return as kith_verlet_read */
KITH_API kith_status kith_verlet_read_sized(const kith_verlet *verlet, kith_verlet_state *out,
                                            size_t size);
#define kith_verlet_read(verlet, out) kith_verlet_read_sized(verlet, out, sizeof(kith_verlet_state))

/** Close a list that is kept, and free its memory. Lists that its updates made stay valid.
 *  @param verlet  NULL is fine */
KITH_API void kith_verlet_close(kith_verlet *verlet);

#ifdef __cplusplus
}
#endif

#endif
