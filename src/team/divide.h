/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The decomposition: which rank works on which part of space. It decides who works, never what is
 * true, so that any will do; this one gives all ranks about equal numbers of particles.
 */
#ifndef KITH_DIVIDE_H
#define KITH_DIVIDE_H

#include "engine/bounds.h"
#include "team.h"

/** One level of the decomposition: every section of space is cut into parts by planes across one
 *  axis. The parts of a level are the sections of the next one; those of the last level are the
 *  domains, of which rank r has number r. */
struct kith__level {
    int axis;      /**< axis across which this level cuts */
    int sections;  /**< sections before the cuts */
    int *first;    /**< [sections + 1] index of the first part of each section, then the number of
                       all parts */
    int *rank;     /**< [parts + 1] first rank whose domain is in each part, then `ranks` */
    double *plane; /**< [parts] lower end of each part along the axis, a fractional coordinate
                        [boxes]; that of the first part of a section is not used */
};

/** A decomposition. Equal on all ranks. */
struct kith__domains {
    int levels;                  /**< number of levels: one for each axis of the box; a level
                                      whose sections have one part each cuts nothing */
    struct kith__level level[3]; /**< the levels */
    const int *host; /**< [ranks] rank that gets the particles of each domain, where domains are
                          joined (nearest_team.c); NULL: rank r gets those of domain r */
};

/** A set of particles of this rank. */
struct kith__set {
    const char *name;   /**< "points" or "against", for messages */
    kith_points points; /**< the particles */
    int64_t *base;      /**< [ranks + 1] global index of each rank's first particle, then the number
                             of all */
};

/** Check the coordinates of a rank's particles, and find the bounds of those of all ranks.
 *  Collective.
 *  @param question     box and precision
 *  @param sets         the sets, each with `base` set
 *  @param[out] bounds  lo and hi are of all particles of all sets and ranks; `wrapped` stays 0
 *  @return KITH_OK; KITH_NOT_FINITE or KITH_LIMIT with a particle's global index; KITH_NO_MEMORY;
 *          KITH_CANCELLED; KITH_TEAM_LOST */
kith_status kith__team_bounds(kith_team *team, const struct kith__question *question,
                              const struct kith__set *sets, int n_sets,
                              struct kith__bounds *bounds);

/** Cut space into domains for all ranks. Collective.
 *  @param bounds        of all particles of all ranks (kith__team_bounds)
 *  @param[out] domains  in the team's scratch memory, until the next call of this function
 *  @return KITH_OK, KITH_NO_MEMORY, KITH_CANCELLED, KITH_TEAM_LOST */
kith_status kith__team_divide(kith_team *team, const struct kith__question *question,
                              const struct kith__set *sets, int n_sets,
                              const struct kith__bounds *bounds, struct kith__domains *domains);

/** Return the number of the domain in which a position lies, by a binary search among the planes of
 *  each level. It is the rank's too, unless domains->host is set. A coordinate that is not a number
 *  is before all planes.
 *  @param f  fractional coordinates of the position */
static inline int kith__domain_of(const struct kith__domains *domains, const double f[3])
{
    int section = 0;
    for (int l = 0; l < domains->levels; l++) {
        const struct kith__level *level = &domains->level[l];
        const double at = f[level->axis];
        int part = level->first[section];
        for (int n = level->first[section + 1] - part; n > 1;) { /* f is in part to part + n - 1 */
            const int half = n / 2;
            part += at >= level->plane[part + half] ? half : 0;
            n -= half;
        }
        section = part;
    }
    return section;
}

/** Read particle p, wrap it into the box, and return its fractional coordinates. That it can be
 *  wrapped was checked by kith__team_bounds. */
static inline void kith__team_fractions(const struct kith__question *question,
                                        const kith_points *points, int64_t p, double f[3])
{
    double r[3];
    int32_t image[3];
    (void)kith__load(question, points, p, r, image);
    kith__fractions_d(&question->box_d, r, f);
}

#endif
