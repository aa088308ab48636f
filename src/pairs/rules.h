/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rules of a list: which of the pairs within the cutoff of the search are listed. The search
 * finds all pairs within one cutoff, the largest that any pair may have; each of these hits is then
 * tested by kith__is_listed, which the C and the CUDA compiler read. So a rule is decided by the
 * definition of a pair (engine/pair.h), with equal bits on every backend.
 *
 * Lists without rules have operations of the sweep without this test.
 */
#ifndef KITH_PAIRS_RULES_H
#define KITH_PAIRS_RULES_H

#include "engine/excluded.h"

/** The rules of a list: fields of kith_pairs_options, checked. In members of two elements, element
 *  0 is for set a, the points, and element 1 for set b, the points given as `against`; without set
 *  b both are equal. Arrays are in the caller's order, in the memory that the backend's kernels
 *  read. */
struct kith__rules {
    struct kith__excluded excluded; /**< pairs that are not listed */
    int32_t n_species;              /**< number of species */
    const int32_t *species[2];      /**< [n] species of each particle; NULL: no table of cutoffs */
    const void *squares;            /**< [n_species][n_species] squared cutoff of each pair of
                                         species, in the points' precision [length^2]; negative: no
                                         pairs */
    kith_radius_rule radius_rule;   /**< how the radii of a pair decide */
    const void *radii[2];           /**< [n] radius of each particle, in the points' precision
                                         [length]; NULL: none */
    double most_cutoff;             /**< largest entry of the table of cutoffs; infinity without one
                                         [length] */
    double most_radius[2];          /**< largest radius of each set; infinity where none were read,
                                         -1 of an empty set [length] */
    double least2;                  /**< smaller squared distances are not listed, in the points'
                                         precision [length^2] */
    const uint8_t *active;          /**< [n] 0 where a particle's row is empty; NULL: nowhere */
    int32_t first[2]; /**< added to the indices of a hit before arrays are read: in a batch, the
                           first particle of a system */
    bool by_distance; /**< a rule depends on the distance: kith__is_listed needs r2 */
    bool one_sided;   /**< (i, j) may be listed where (j, i) is not: pairs must be found from both
                           ends */
    bool no_self;     /**< remove hits of a particle with itself at image 0. Set where a list of one
                           set is made by searches between two sets that share particles
                           (classes.h) */
    bool two_sets;    /**< i is of set a, and j of set b */
    kith_memory memory; /**< where the arrays but `squares` are, before a backend copies them */
};

#define KITH_PER_PRECISION "pairs/rules_real.h"
#include "core/per_precision.h"

/** Return true when particle i, by the caller's index, has a row in the list. */
KITH_FN bool kith__is_active(const struct kith__rules *rules, int32_t i)
{
    return !rules->active || rules->active[i + rules->first[0]];
}

/** Return true when the caller's options have rules. */
bool kith__has_rules(const kith_pairs_options *options);

/** Read the rules of the caller's options, and check those arrays that are in host memory.
 *  @param options       with all fields of this version (core/sized.h)
 *  @param points        the particles
 *  @param full          the list is full
 *  @param enqueued      nothing may wait for the device: radii in its memory are not read
 *  @param[out] rules    the rules; arrays are the caller's but the table of squares, which is
 *                       scratch memory of the context in host memory
 *  @param[out] has_rules  false: the options have no rules, or the sets of particles are refused
 *                         when the question is built
 *  @return KITH_OK, KITH_INVALID, KITH_NO_MEMORY */
kith_status kith__rules_read(kith_ctx *ctx, const kith_pairs_options *options,
                             const kith_points *points, bool full, bool enqueued,
                             struct kith__rules *rules, bool *has_rules);

/** Find the cutoff of the search: the largest distance that the rules permit, up to the caller's
 *  cutoff.
 *  @param precision       of the points
 *  @param[in,out] cutoff  the caller's cutoff, 0 where the rules alone decide. A cutoff that is
 *                         negative or not finite stays: kith__question_init refuses it
 *  @return KITH_OK; KITH_INVALID (no pair can be listed); KITH_UNSUPPORTED (a cutoff is needed,
 *          because radii were not read) */
kith_status kith__rules_cutoff(kith_ctx *ctx, const struct kith__rules *rules,
                               kith_precision precision, double *cutoff);

#endif
