/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rules of a list: which of the pairs within the cutoff of the search are listed. A search
 * finds all pairs within its cutoff, the largest distance that the rules permit
 * (kith__rules_cutoff; with radii there may be several searches, classes.h). Each of these hits is
 * then tested by kith__is_listed, which the C and the CUDA compiler read. It compares the squared
 * distance by the definition of a pair (engine/pair.h), so every backend lists identical pairs.
 *
 * Lists without rules have operations of the sweep without this test.
 */
#ifndef KITH_PAIRS_RULES_H
#define KITH_PAIRS_RULES_H

#include "engine/excluded.h"

/** The rules of a list: fields of kith_pairs_options, checked. In members of two elements, element
 *  0 is for set a, the points, and element 1 for set b, the points given as `against`; in a list of
 *  one set both are equal. [n] is the number of particles of the set; an array without elements for
 *  both sets is for set a. Arrays are in the caller's order. They are the caller's arrays, in
 *  `memory`, until the cuda backend replaces them by copies (gpu/rules_gpu.h). */
struct kith__rules {
    struct kith__excluded excluded; /**< pairs that are not listed */
    int32_t n_species;              /**< number of species */
    const int32_t *species[2];      /**< [n] species of each particle; NULL: no table of cutoffs */
    const void *squares;            /**< [n_species][n_species] squared cutoff of each pair of
                                         species, in the points' precision [length^2]; -1: no pairs.
                                         In host memory first, whatever `memory` is */
    kith_radius_rule radius_rule;   /**< how the radii of a pair decide; KITH_RADIUS_NONE without
                                         radii */
    const void *radii[2];           /**< [n] radius of each particle, in the points' precision
                                         [length]; NULL: none */
    double most_cutoff;             /**< largest entry of the table of cutoffs; infinity without one
                                         [length] */
    double most_radius[2];          /**< largest radius of each set; infinity where none were read,
                                         -1 of an empty set [length] */
    double least2;                  /**< r_min squared, rounded to the points' precision: pairs with
                                         a smaller squared distance are not listed [length^2] */
    const uint8_t *active;          /**< [n of set a] 0 where a particle's row is empty; NULL:
                                         nowhere */
    int32_t first[2]; /**< added to the indices of a hit before arrays are read: the first particle
                           of a system of a batch, where the search has the particles of that system
                           alone (pairs_batch.c); else 0 */
    bool by_distance; /**< a rule depends on the distance: kith__is_listed needs r2 */
    bool one_sided;   /**< (i, j) may be listed where (j, i) is not: pairs must be found from both
                           ends */
    bool no_self;     /**< remove hits of a particle with itself at image 0. Set where a list of one
                           set is made by searches between two sets that share particles
                           (classes.h). kith__is_listed does not test it: keep_listed does, in
                           cpu/extras_real.h and gpu/listed.cuh */
    bool two_sets;    /**< i is of set a, and j of set b */
    kith_memory memory; /**< where the caller's arrays are: all but `squares` */
};

#define KITH_PER_PRECISION "pairs/rules_real.h"
#include "core/per_precision.h"

/** Return true when particle i, by the caller's index, has a row in the list. */
KITH_FN bool kith__is_active(const struct kith__rules *rules, int32_t i)
{
    return !rules->active || rules->active[i + rules->first[0]];
}

/** Return true when the caller's options set a field of a rule, valid or not. */
bool kith__has_rules(const kith_pairs_options *options);

/** Read the rules of the caller's options, and check arrays that are in host memory. Radii in
 *  device memory are copied to the host and checked, too.
 *  @param options       with all fields of this version (core/sized.h)
 *  @param points        the particles; not checked yet, may be NULL
 *  @param full          the list is full
 *  @param enqueued      nothing may wait for the device: radii are neither read nor checked
 *  @param[out] rules    the rules; arrays are the caller's but the table of squares, which is
 *                       scratch memory of the context in host memory
 *  @param[out] has_rules  false: *rules is not set, as the options have no rules, or as the number,
 *                         precision or memory of the particles is invalid: the caller builds the
 *                         question next, which refuses these
 *  @return KITH_OK, KITH_INVALID, KITH_NO_MEMORY, or the failure of a copy from the device */
kith_status kith__rules_read(kith_ctx *ctx, const kith_pairs_options *options,
                             const kith_points *points, bool full, bool enqueued,
                             struct kith__rules *rules, bool *has_rules);

/** Find the cutoff of the search: the largest distance that the rules permit, up to the caller's
 *  cutoff.
 *  @param precision       of the points
 *  @param[in,out] cutoff  the caller's cutoff, 0 where the rules alone decide. A cutoff that is
 *                         negative or not finite stays, as does 0 where neither species nor radii
 *                         are given: kith__question_init refuses it
 *  @return KITH_OK; KITH_INVALID (the cutoff is 0, and radii permit no distance above 0, or the
 *          largest is infinite in the precision); KITH_UNSUPPORTED (the cutoff is 0, and radii were
 *          not read, and there is no table of cutoffs) */
kith_status kith__rules_cutoff(kith_ctx *ctx, const struct kith__rules *rules,
                               kith_precision precision, double *cutoff);

/** Return the name that messages have for the cutoff of kith__rules_cutoff: of the caller's cutoff,
 *  or of his radii where they set it.
 *  @param asked  the caller's cutoff   @param cutoff  what kith__rules_cutoff has made of it */
const char *kith__rules_cutoff_name(const kith_pairs_options *options, double asked, double cutoff);

#endif
