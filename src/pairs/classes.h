/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Classes of radius. Where particles have radii (rules.h), one search with the largest radius would
 * test far more candidates than there are pairs. Particles are divided into classes instead: class
 * c has the radii h with 2^c <= H / h < 2^(c + 1), H the largest radius. The last class also has
 * all smaller radii, and 0. A list is made by searches between ranges of classes. The cutoff of a
 * search is the largest distance that its radii permit. Radii of class c differ by less than a
 * factor of 2, and the searches below are so chosen that the cutoff is less than twice (sum: four
 * times) the distance that the rule permits to any pair of radii of the search. So the candidates
 * are in proportion to the pairs, where the density of the particles does not vary on the scale of
 * a radius. That bound does not hold for the last class, nor for a tail (below), whose radii may
 * differ by any factor. By kith_radius_rule, the searches are
 *
 *     gather       rows of class c, against all particles
 *     scatter      all rows, against the particles of class c
 *     either, sum  rows of class c, against radii of class c and smaller ones; and rows of smaller
 *                  radii, against class c
 *     both         rows of class c, against radii of class c and larger ones; and rows of larger
 *                  radii, against class c
 *
 * Classes of small radii may be searched as one, the tail, which holds all classes from some class
 * c on. That saves searches, and pays where few particles are within the largest radius of the
 * tail.
 *
 * Each pair (i, j) belongs to one search, which finds all of its images. In a list of one set pairs
 * are found from both ends, as (i, j) and as (j, i), so that a search never writes to the row of a
 * candidate. Cost: O(n) and O(candidates) for each search, of which there are at most twice as many
 * as classes.
 */
#ifndef KITH_PAIRS_CLASSES_H
#define KITH_PAIRS_CLASSES_H

#include "pairs.h"

enum {
    KITH_CLASSES = 32, /**< number of classes: the last one has all radii up to H / 2^31 */
    KITH_CLASS_SEARCHES = 2 * KITH_CLASSES /**< most searches */
};

/** The particles of both sets by class. Set 0 is the points, whose rows the list has, and set 1 is
 *  the candidates; in a list of one set both are the points. */
struct kith__classes {
    kith_radius_rule rule; /**< how radii decide */
    bool two_sets;         /**< the list is of two sets */
    /** [n] indices of the particles of a set, by class; in a class ascending. Of set 0 only those
     *  that are active (kith__rules.active). */
    int32_t *order[2];
    int64_t start[2][KITH_CLASSES + 1]; /**< index in `order` at which each class begins */
    /** Largest radius of each class, 0 where it is empty [length]. */
    double largest[2][KITH_CLASSES];
};

/** One of the searches that make a list. */
struct kith__class_search {
    int64_t first[2]; /**< index in kith__classes.order of the first particle of each set. Rows of
                           the particles of set 0 are written; those of set 1 are the candidates */
    int64_t last[2];  /**< index behind the last particle of each set */
    double cutoff;    /**< largest distance that the radii of the search permit, at most the cutoff
                           of the question, and raised to the least length that a search can
                           take [length] */
};

/** Return true when a list with these rules is worth the division into classes: there are radii,
 *  and so many particles that testing all of them against all may take longer than some tens of
 *  searches of few particles, each of which takes about 100 microseconds. */
static inline bool kith__wants_classes(const struct kith__question *q,
                                       const struct kith__list *list)
{
    enum { FEW = 1 << 20 };
    return list->rules && list->rules->radii[0] && q->a.n * q->b.n >= FEW;
}

/** Divide the particles into classes. H is the largest radius of both sets, also of particles that
 *  are not active.
 *  @param radii    [n] radii of the particles of each set, in host memory, in the points' precision
 *  @param active   [a.n] kith__rules.active, in host memory; NULL: all are active
 *  @param[in,out] classes  order[0] and order[1] point to room for the particles of each set; all
 *                          members are set
 *  @return the number of classes that have particles of at least one set */
int kith__classes_find(const struct kith__question *q, const struct kith__rules *rules,
                       const void *const radii[2], const uint8_t *active,
                       struct kith__classes *classes);

/** List the searches, without a tail.
 *  @param precision    of the points
 *  @param most         no pair is further apart: the cutoff of the question [length]
 *  @param[out] search  [KITH_CLASS_SEARCHES] the searches whose two ranges both have particles
 *  @return their number */
int kith__class_searches(const struct kith__classes *classes, kith_precision precision, double most,
                         struct kith__class_search search[KITH_CLASS_SEARCHES]);

/** List the searches where the classes from `tail` on are searched as one.
 *  @param tail  first class of the tail; KITH_CLASSES: there is no tail
 *  @return as kith__class_searches */
int kith__class_searches_to(const struct kith__classes *classes, kith_precision precision,
                            double most, int tail,
                            struct kith__class_search search[KITH_CLASS_SEARCHES]);

/** Describe the first search of a tail, which has most of its candidates: by kith_radius_rule,
 *  gather and both: the rows of the tail, against all particles; either and sum: the rows of the
 *  tail, against the particles of the tail; scatter: all rows, against the particles of the tail.
 *  The caller estimates the number of candidates to choose where the tail begins.
 *  @param most          as for kith__class_searches
 *  @param tail          first class of the tail
 *  @param[out] *search  the search; undefined where 0 is returned
 *  @return the number of classes of the tail that have particles of at least one set; 0 where a
 *          range of the search has no particles */
int kith__class_tail(const struct kith__classes *classes, kith_precision precision, double most,
                     int tail, struct kith__class_search *search);

#endif
