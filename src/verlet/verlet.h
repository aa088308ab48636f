/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Verlet lists, which are kept over the steps of a simulation: what they hold, how far particles
 * may move before a list has to be rebuilt, and the operations that a backend offers. A rebuild
 * searches the pairs within cutoff + skin, the kept pairs. It and later updates make the list of
 * these.
 *
 * WHEN A LIST STAYS VALID. The reference is the positions and the box at the last rebuild. x0 and x
 * are the wrapped coordinates of a particle at the reference and now, as stored numbers, row
 * vectors; B0 and B are the boxes, matrices of their rows. A is any matrix and t any vector; the
 * nearer A is to inverse(B0) B, the shorter are the displacements below (choose_map in verlet.c
 * chooses both). For each particle choose any whole numbers v[k] along the periodic axes, its turn:
 * the boxes that it has crossed since the reference. Let
 *
 *     u = x - (x0 A + t + v B)                                            (displacement)
 *
 * For a pair (i, j, S) now let S0 = S + v_j - v_i, and, in exact arithmetic, d = x_j - x_i + S B,
 * d0 = x0_j - x0_i + S0 B0. Then d = d0 A + S0 E + u_j - u_i with E = B - B0 A (rows), so
 *
 *     |d0| <= (|d| + sum |S0_k| |E_k| + 2 max |u|) / s,   s: the smallest singular value of A.
 *
 * X is the cutoff, and Y is C = cutoff + skin, but for rounding errors (below): if (i, j, S) is a
 * pair by the definition (engine/pair.h), then |d| <= X; and if |d0| <= Y, then (i, j, S0) is among
 * the pairs that the search at the reference found, with the radius C. So the list is valid while
 *
 *     2 max |u| <= Y s - X - sum (X / h_k + 12) |E_k|,
 *
 * h being the heights of the box now, as |S0_k| <= X / h_k + 12 (below).
 *
 * ROUNDING. eps is twice the unit roundoff of the precision. The definition computes each component
 * of d by a difference, three products and three sums: each of its terms is rounded 4 times, so
 * |d' - d| <= 2.1 eps (|x_j - x_i| + sum |S_k| |B_k|) <= 2.1 eps (|d| + 2 sum |S_k| |B_k|). It
 * finds r2' <= fl(cutoff^2), and r2' has a relative error below 2 eps, and an absolute one below
 * eps cutoff^2, as cutoff^2 is a normal number: |d'| <= cutoff (1 + 3 eps). Fractional coordinates
 * are between -1 and 2 (kith__lies_outside) up to rounding errors, which kith__verlet_map.far keeps
 * below 1/2 each, so |S_k| <= |d| / h_k + 4. Then
 *
 *     X (1 - q) = cutoff (1 + 8 eps) + 24 eps sum |B_k|,   q = 3 eps (1 + 2 sum |B_k| / h_k),
 *     Y (1 + q) = C (1 - 8 eps) - 24 eps sum |B_k|,        with C, B and h of the reference,
 *
 * where the constants are rounded up, which covers the rounding of these formulas as well. |v_k| <=
 * 4 is tested, so |S0_k| <= |S_k| + 8, which is the 12 above. The displacements, s and E are
 * computed in double precision with bounds on their rounding errors, which are added.
 *
 * BANDS. Most of the kept pairs need no test. At a rebuild each of them is put into a band of
 * distance, of which there are 256 of one width around the cutoff (kith__verlet_scale). By the
 * inequalities above, a pair with |d0| > (X + R + 2 max |u|) / s is beyond the cutoff now, R being
 * a bound on sum |S0_k| |E_k|. And |d| <= S |d0| + R + 2 max |u|, S being the largest singular
 * value of A: where this is at most Y of the cutoff and of the box now, the pair is within the
 * cutoff. So only pairs in the bands between these two distances are tested. Here |S0_k| <= |d0| /
 * h0_k + 4 with the heights at the reference, so R has the larger of both bounds of |S0_k|. |d0| is
 * known with the rounding error of the definition, 3 eps (1 + 2 sum |B_k| / h_k) |d0| + 24 eps sum
 * |B_k|, and that of its root.
 */
#ifndef KITH_VERLET_H
#define KITH_VERLET_H

#include <float.h>

#include "core/backend.h"
#include "engine/box.h"
#include "engine/cells.h"
#include "pairs/pairs.h"

enum {
    KITH_VERLET_MOST_TURN = 4,    /**< largest |v_k| of a list that is kept */
    KITH_VERLET_MOST_SHIFT = 500, /**< largest |S0_k| of a list that is kept: S = S0 + v_i - v_j can
                                       then be packed (kith__pack_shift) */
    KITH_VERLET_MOST_BOXES = 400, /**< longest cutoff + skin of a list that is kept [heights] */
    KITH_VERLET_ROWS = 256,       /**< rows of a group, which a thread processes at a time (cpu/);
                                       their numbers in the group fit a uint8_t */
    KITH_VERLET_FIRST_BAND = -128, /**< smallest number of a band: bands are stored as int8_t */
    KITH_VERLET_LAST_BAND = 127    /**< largest number of a band */
};

/** The map x0 A + t from reference coordinates to present ones (see above), and numbers that bound
 *  the rounding errors of a displacement. */
struct kith__verlet_map {
    double a[3][3];       /**< A */
    double by[3];         /**< t: moves the origin of the box [length] */
    double row[3][3];     /**< rows of the box now; 0 along open axes [length] */
    double inverse[3][3]; /**< inverse of the box now, transposed: inverse[k] . u is fractional
                               coordinate k of u; 0 along open axes [1 / length] */
    double norm_a;        /**< largest sum of absolute elements of a row of A */
    double norm_by;       /**< sum of absolute components of t and of the origins of both boxes
                               [length] */
    double norm_row[3];   /**< sum of absolute components of each element of `row` [length] */
    double far;           /**< bound on the rounding error of a fractional coordinate, for each unit
                               of the sum of absolute coordinates [1 / length]; 0 where both boxes
                               are orthorhombic, as wrapping then leaves no coordinate outside */
};

/** How the distance of a pair at the reference, |d0|, bounds its distance now, |d|, and so tells
 *  pairs from others (BANDS above). u is the longest displacement. */
struct kith__verlet_limits {
    double farthest; /**< X + R, rounded up: pairs have |d0| <= (farthest + 2 u) / least [length] */
    double nearest;  /**< Y of the cutoff and of the box now, less R, rounded down: kept pairs with
                          most |d0| + 2 u <= nearest are pairs; may be negative [length] */
    double least;    /**< s: lower bound on the singular values of A */
    double most;     /**< S: upper bound on the singular values of A */
};

/** The bands of distance. Band b has the kept pairs with (|d0| - cutoff) / width in [b, b + 1). The
 *  first band, KITH_VERLET_FIRST_BAND, also has all that are nearer, and the last band all that are
 *  farther. */
struct kith__verlet_scale {
    double cutoff; /**< lower end of band 0 [length] */
    double width;  /**< width of a band [length] */
    double error;  /**< bound on the rounding error of |d0| as computed when bands are found
                        [length] */
};

/** What is known about an update before coordinates are read. */
struct kith__verlet_plan {
    bool keep;                         /**< the list may be made from the kept pairs, as far as box
                                            and number of particles say; displacements decide */
    kith_verlet_reason reason;         /**< KITH_VERLET_KEPT, or why the list has to be rebuilt */
    double allowed;                    /**< longest displacement with which the kept pairs are
                                            enough; 0 unless keep [length] */
    struct kith__verlet_map map;       /**< from the reference to now; set when keep is true */
    struct kith__verlet_limits limits; /**< limits of the kept pairs; set when keep is true */
    struct kith__verlet_limits fresh;  /**< limits of the pairs that a rebuild in this update
                                            searches: the reference is the present state */
    struct kith__question now;         /**< points, box and cutoff */
    struct kith__question skin;        /**< points and box with the radius cutoff + skin */
    struct kith__list kept;            /**< form of the kept list: rows with shifts */
    struct kith__list list;            /**< form of the caller's list */
    bool with_skin;                    /**< the list has all kept pairs */
};

/** Data of a list on the host's side, and of its backend. */
struct kith_verlet {
    kith_ctx *ctx;               /**< context of the list */
    kith_verlet_options options; /**< checked options */
    kith_verlet_state state;     /**< counters, and what the last update did */
    bool asked;                  /**< the next update is to search: kith_verlet_rebuild */
    bool valid;                  /**< there are kept pairs, those of `reference`, and their S
                                          can be packed in later updates, too; false: the next
                                          update rebuilds */
    double displacement;         /**< longest displacement in the running update [length] */
    bool rebuilt;                /**< true when the running update has searched */
    kith_verlet_reason reason;   /**< why it has; KITH_VERLET_KEPT: it has not */
    double allowed;              /**< kith__verlet_plan.allowed of the running update [length] */
    struct kith__question reference;  /**< box, precision, n and radius of the last rebuild; its
                                          pointers to coordinates are not valid any more */
    void *data;                       /**< the backend's data; NULL: none yet */
    struct kith__verlet_batch *batch; /**< kept lists of the systems of a batch (verlet_batch.h);
                                           NULL: the list is of one system, or of none yet. The
                                           first update that succeeds decides */
    bool batch_updated; /**< the last update was one of a batch, and succeeded: the counters of its
                             systems are those of it */
};

/** The operations of a backend. */
struct kith__verlet_backend {
    /** Make the list: from the kept pairs where plan->keep, and where no displacement is longer
     *  than plan->allowed; else rebuild first. Not called for the reason KITH_VERLET_ALWAYS. Sets
     *  verlet->rebuilt and, where plan->keep, verlet->displacement, which is 0 before; a rebuild
     *  also valid, reference and state.kept. Allocates verlet->data where it is NULL.
     *  @param[in,out] out  the list, whose arrays the library owns and grows
     *  @return KITH_OK, KITH_NOT_FINITE, KITH_LIMIT, KITH_NO_MEMORY, KITH_CANCELLED,
     *          KITH_DEVICE_LOST */
    kith_status (*update)(kith_ctx *ctx, struct kith_verlet *verlet,
                          const struct kith__verlet_plan *plan, kith_pairs *out);

    /** Free verlet->data, which is not NULL. */
    void (*forget)(struct kith_verlet *verlet);

    bool batches; /**< updates of the systems of a batch may run on lanes, and their lists are in
                       host memory; false: lists of batches are not offered */
};

extern const struct kith__verlet_backend kith__cpu_verlet, kith__cuda_verlet;

/** Update a list in a running call, without its counters: plan, then make the list from the kept
 *  pairs, or by a search. Sets displacement, rebuilt, reason and allowed of the list.
 *  @param ctx   the context of the call, or a lane of it
 *  @param now   points, box and cutoff
 *  @param skin  points and box with the radius cutoff + skin
 *  @return as kith__verlet_backend.update */
kith_status kith__verlet_make(kith_ctx *ctx, struct kith_verlet *verlet,
                              const struct kith__question *now, const struct kith__question *skin,
                              kith_pairs *out);

/** Add an update that kith__verlet_make has made to the counters of a list. */
void kith__verlet_add_update(struct kith_verlet *verlet);

/** Return the form of the list that is made. */
struct kith__list kith__verlet_form(const struct kith_verlet *verlet);

/** Free what a list keeps. */
void kith__verlet_forget(struct kith_verlet *verlet);

/** Return the bands of a list that is rebuilt now: their width is skin / KITH_VERLET_LAST_BAND, so
 *  that the last band begins at cutoff + skin. */
struct kith__verlet_scale kith__verlet_scale_of(const struct kith__verlet_plan *plan);

/** Estimate the number of pairs of the list, for its capacity: all kept pairs with plan->with_skin;
 *  else the part of the kept pairs that is within the cutoff at uniform density, plus 10 % and 64
 *  for later steps, and at most all.
 *  @param kept  number of kept pairs */
int64_t kith__verlet_guess(const struct kith__verlet_plan *plan, int64_t kept);

/** Find which bands need no test.
 *  @param displacement  the longest displacement; at most kith__verlet_plan.allowed [length]
 *  @param[out] inner    kept pairs in bands up to this one are pairs now; may be below the first
 *                       band: then there are none
 *  @param[out] outer    kept pairs in bands beyond this one are no pairs now */
KITH_FN void kith__verlet_bands(const struct kith__verlet_limits *limits,
                                const struct kith__verlet_scale *scale, double displacement,
                                int *inner, int *outer)
{
    /* more than the rounding errors of a band's ends, and of finding a pair's band [widths] */
    const double slack = 1.0 / 64;
    const double near = (limits->nearest - 2 * displacement) / limits->most - scale->error;
    const double far = (limits->farthest + 2 * displacement) / limits->least + scale->error;
    /* the last band whose upper end is at most `near`, and the last whose lower end is below
     * `far` */
    const double first = floor((near - scale->cutoff) / scale->width - slack) - 1;
    const double last = ceil((far - scale->cutoff) / scale->width + slack) - 1;
    /* the last band has no upper end, so its pairs are never certain; the first band has no lower
     * end, so its pairs are never excluded */
    const double lowest = KITH_VERLET_FIRST_BAND;
    const double highest = KITH_VERLET_LAST_BAND;
    *inner = (int)fmax(lowest - 1, fmin(first, highest - 1));
    *outer = (int)fmax(lowest, fmin(last, highest));
}

/** Return an upper bound on the longest displacement, with the rounding errors of its computation
 *  [length].
 *  @param square  largest u . u of the particles, u being the computed displacement [length^2]
 *  @param size    largest sum of the absolute values of the terms of which u was computed [length]
 *  @return infinity where a fractional coordinate may be rounded by 1/2 or more (ROUNDING above),
 *          or a coordinate overflows */
KITH_FN double kith__verlet_displacement(const struct kith__verlet_map *map, double square,
                                         double size)
{
    /* Each term of u is rounded 9 times at most, which is 9 DBL_EPSILON / 2 of it. The square may
     * underflow where u is below 1e-160. The factor covers roundings of square, root and sum. */
    const double error = 16 * DBL_EPSILON * size + 1e-160;
    const double bound = (sqrt(square) + error) * (1 + 8 * DBL_EPSILON);
    return size * map->far < 0.5 && bound < (double)INFINITY ? bound : (double)INFINITY;
}

#endif
