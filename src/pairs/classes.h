/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Classes of radius. Where particles have radii (rules.h), one search with the largest radius would
 * test far more candidates than there are pairs. Particles are divided into classes instead: class
 * c has the radii h with 2^c <= H / h < 2^(c + 1), H the largest radius. A list is made by searches
 * between ranges of classes, each with the largest distance that their radii permit. Radii of one
 * class differ by less than a factor of 2, so that this is less than twice the distance that the
 * rule permits for any of the query particles, or of the candidates. So the candidates are in
 * proportion to the pairs, where the density of the particles does not vary on the scale of a
 * radius. By kith_radius_rule, the searches are
 *
 *     gather       rows of class c, against all particles
 *     scatter      all rows, against the particles of class c
 *     either, sum  rows of class c, against radii of class c and smaller ones; and rows of smaller
 *                  radii, against class c
 *     both         rows of class c, against radii of class c and larger ones; and rows of larger
 *                  radii, against class c
 *
 * Classes of small radii may be searched as one, the tail: its class c then holds all classes from
 * c on. That pays where few particles are within the largest radius of the tail.
 *
 * Each pair (i, j) belongs to one search, which finds all of its images. Pairs are found from both
 * ends, so that a search never writes to the row of a candidate. Cost: O(n) for each search, of
 * which there are at most twice as many as classes.
 */
#ifndef KITH_PAIRS_CLASSES_H
#define KITH_PAIRS_CLASSES_H

#include "pairs.h"

enum {
    KITH_CLASSES = 32, /**< most classes: the last one has all radii that are smaller */
    KITH_CLASS_SEARCHES = 2 * KITH_CLASSES /**< most searches */
};

/** The particles of both sets by class. */
struct kith__classes {
    kith_radius_rule rule; /**< how radii decide */
    bool two_sets;         /**< the list is of two sets */
    /** [n] indices of the particles of a set, by class; in a class ascending. Of set 0 only those
     *  that are active. */
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
    double cutoff;    /**< largest distance of a pair [length] */
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

/** Divide the particles into classes.
 *  @param radii    [n] radius of each particle of a set, in host memory, in the points' precision
 *  @param active   [a.n] kith__rules.active, in host memory
 *  @param[in,out] classes  its `order` points to room for the particles of each set; all is set
 *  @return the number of classes that are not empty */
int kith__classes_find(const struct kith__question *q, const struct kith__rules *rules,
                       const void *const radii[2], const uint8_t *active,
                       struct kith__classes *classes);

/** List the searches.
 *  @param precision    of the points
 *  @param most         no pair is further apart: the cutoff of the question [length]
 *  @param[out] search  [KITH_CLASS_SEARCHES] those whose sets are not empty
 *  @return their number */
int kith__class_searches(const struct kith__classes *classes, kith_precision precision, double most,
                         struct kith__class_search search[KITH_CLASS_SEARCHES]);

/** List the searches where the classes from `tail` on are searched as one.
 *  @return as kith__class_searches */
int kith__class_searches_to(const struct kith__classes *classes, kith_precision precision,
                            double most, int tail,
                            struct kith__class_search search[KITH_CLASS_SEARCHES]);

/** Describe the search in which the rows of a tail have most of their candidates. The
 *  caller estimates their number to choose where the tail begins.
 *  @param tail  first class of the tail
 *  @return the number of classes of the tail that are not empty; 0 where there is no search */
int kith__class_tail(const struct kith__classes *classes, kith_precision precision, double most,
                     int tail, struct kith__class_search *search);

#endif
