/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pair distributions from forces (see Rotenberg 2020, J. Chem. Phys. 153, 150902): the check of the
 * forces, their fixed-point units, and g(r) from the sums.
 *
 * With n(R) the density of pairs whose vector d from i to j is R, moving i by -dR/2 and j by dR/2
 * gives grad n = <sum of (F_j - F_i) / (2 kT) delta(R - d)>. The average over all directions is
 * dg/dr = <sum of p / r delta(r - |d|)> / (2 kT density S r^(dim - 1)), with p = (F_j - F_i).d and
 * S r^(dim - 1) the area of the sphere of radius r, in 2-D the circumference of the circle.
 */
#include "pair_force.h"

#include "core/atomics.h"

static const double pi = 3.141592653589793;

/** Return the bits of |component p| of an array of forces, as a double. As integers, they have the
 *  order of the numbers, and those of infinity and NaN are above all others: so an atomic maximum
 *  of integers finds the largest component, and any that is not finite. */
static inline int64_t bits_of_size(const void *forces, kith_precision precision, int64_t p)
{
    const double f = fabs(kith__real_at(forces, p, precision));
    int64_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

/** State of the loop that finds the largest |component| of forces. */
struct largest_loop {
    const void *forces;       /**< [n][3] forces */
    kith_precision precision; /**< of the forces */
    _Atomic int64_t bits;     /**< bits of the largest |component| so far, as a double */
};

/** Raise loop->bits to the largest |component| of the forces on particles [begin, end): a
 *  kith__range_fn. */
static void find_largest(void *state, int64_t begin, int64_t end)
{
    struct largest_loop *loop = state;
    int64_t most = 0;
    for (int64_t p = 3 * begin; p < 3 * end; p++) {
        const int64_t size = bits_of_size(loop->forces, loop->precision, p);
        most = size > most ? size : most;
    }
    kith__atomic_max64(&loop->bits, most);
}

/** Check that the forces on n particles are finite. The first one that is not is searched for only
 *  when the largest is not finite.
 *  @param name          name of the array in the options, for the message
 *  @param[out] largest  the largest |component| [force] */
static kith_status check_forces(kith_ctx *ctx, const char *name, const void *forces, int64_t n,
                                kith_precision precision, double *largest)
{
    struct largest_loop loop = {.forces = forces, .precision = precision};
    kith__loop(ctx, n, find_largest, &loop);
    KITH_TRY(kith__proceed(ctx));
    const int64_t most = loop.bits;
    memcpy(largest, &most, sizeof most);
    for (int64_t p = 0; p < 3 * n && !isfinite(*largest); p++) {
        const int64_t size = bits_of_size(forces, precision, p);
        double f;
        memcpy(&f, &size, sizeof f);
        KITH_CHECK(ctx, isfinite(f), KITH_NOT_FINITE,
                   "options.%s: the force on particle %lld (counted from 0) is not finite", name,
                   (long long)(p / 3));
    }
    return KITH_OK;
}

/** Return 1 / unit of a fixed-point sum whose terms are less than `bound`: the power of 2 whose
 *  product with bound is in [2^39, 2^40); 1 when bound is 0. */
static double scale_below(double bound)
{
    enum { BITS = 40 };
    int exponent = BITS;
    (void)frexp(bound, &exponent);
    return bound > 0 ? ldexp(1, BITS - exponent) : 1;
}

/** Return the upper edge e of the pairs of counter k, which pair_force.h defines [length]. Where
 *  bins begin at 0 there are no pairs below the first edge, and the upper edge of the first bin
 *  serves for counter 0: e must be above 0. */
static double edge_of(const double *edges, int64_t k)
{
    return k == 0 && !(edges[0] > 0) ? edges[1] : edges[k];
}

kith_status kith__forces_measure(kith_ctx *ctx, const kith_rdf_options *o,
                                 const struct kith__question *q, struct kith__rdf *rdf)
{
    double *most = rdf->most_forces;
    KITH_CHECK(ctx, !q->cross || o->forces_against, KITH_INVALID,
               "options.forces_against is NULL: forces are given for both sets or for none");
    rdf->forces[0] = o->forces;
    rdf->forces[1] = q->cross ? o->forces_against : o->forces;
    KITH_TRY(check_forces(ctx, "forces", rdf->forces[0], q->a.n, q->precision, &most[0]));
    most[1] = most[0];
    return q->cross
               ? check_forces(ctx, "forces_against", rdf->forces[1], q->b.n, q->precision, &most[1])
               : KITH_OK;
}

kith_status kith__forces_check(kith_ctx *ctx, const struct kith__question *q, struct kith__rdf *rdf)
{
    const double *most = rdf->most_forces;
    const double largest = fmax(most[0], most[1]);
    KITH_CHECK(ctx, largest == 0 || (largest > 1e-100 && largest < 1e100), KITH_INVALID,
               "options.forces: the largest is %g, expected 1e-100 to 1e100", largest);
    KITH_CHECK(ctx, q->cutoff > 1e-30 && q->cutoff < 1e30, KITH_INVALID,
               "options.forces: options.r_max is %g, expected 1e-30 to 1e30", q->cutoff);
    rdf->most_force = most[0] + most[1];
    return KITH_OK;
}

void kith__force_units(const struct kith__question *q, const double *edges, double *over,
                       struct kith__rdf *rdf)
{
    /* Each |component| of F_j - F_i is at most most_force, so the length of F_j - F_i is less than
     * 2 most_force, as sqrt(3) < 2. |p| is at most r times this length, and the term of the second
     * sum at most (e / r)^dim |p|. 2.04 instead of 2 allows for rounding errors, also where r is
     * rounded beyond the cutoff. */
    const double least = fmin(edge_of(edges, 0) / 64, q->cutoff / 1024); /* smallest r in 1 / r */
    const double force = 2.04 * rdf->most_force;
    double farthest = 0; /* largest r (e / r)^dim of all bins */
    for (int64_t k = 0; k <= rdf->bins; k++) {
        const double low = fmax(k > 0 ? edges[k - 1] : 0, least);
        over[k] = pow(edge_of(edges, k), q->dim);
        farthest = fmax(farthest, over[k] / pow(low, q->dim - 1));
    }
    const double scale = scale_below(force * farthest);
    for (int64_t k = 0; k <= rdf->bins; k++) {
        over[k] *= scale;
    }
    rdf->force_units = (struct kith__force_units){
        .plain = scale_below(force * q->cutoff), .least2 = least * least, .over = over};
}

/* kith/rdf.h gives the formulas. h->pushes has for each counter k the sum of p, sums[k], and that
 * of p / r^dim, over[k]. */
void kith_rdf_force(const kith_histogram *h, int32_t a, int32_t b, double kT, double *zero,
                    double *infinity)
{
    const int32_t partial = kith_histogram_partial(h, a, b);
    if (partial < 0 || !zero || !infinity) {
        return;
    }
    const double density = h->pushes && h->density[partial] > 0 ? h->density[partial] : (double)NAN;
    const double unit = 1 / ((h->dim == 3 ? 8 : 4) * pi * kT * density);
    const double *sums = h->pushes ? h->pushes + (int64_t)2 * partial * (h->bins + 1) : NULL;
    const double *over = sums ? sums + h->bins + 1 : NULL;
    double below = sums ? over[0] : 0; /* sum of p / r^dim over the pairs below the bin */
    double all = 0;                    /* sum of p / r^dim over all pairs */
    for (int64_t k = 0; k <= h->bins && sums; k++) {
        all += over[k];
    }
    for (int64_t k = 0; k < h->bins; k++) {
        const double low = pow(h->edges[k], h->dim);
        const double high = pow(h->edges[k + 1], h->dim);
        /* The average over the volume of the bin of the sum over pairs nearer than x: a pair of the
         * bin at distance r is nearer than x in the part (high - r^dim) / (high - low) of the
         * volume. */
        const double inside = sums ? (high * over[k + 1] - sums[k + 1]) / (high - low) : 0;
        zero[k] = unit * (below + inside);
        infinity[k] = 1 - unit * (all - below - inside);
        below += sums ? over[k + 1] : 0;
    }
}
