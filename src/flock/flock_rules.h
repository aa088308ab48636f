/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The equations of motion of a flock's particle, from its neighbour sums: boids (Reynolds 1987) and
 * Vicsek's models. Read by the C and the CUDA compiler. All arithmetic is in double, without fused
 * operations, and sines are a polynomial of our own, so that every backend gives equal bits.
 */
#ifndef KITH_FLOCK_RULES_H
#define KITH_FLOCK_RULES_H

#include <kith.h>
#include <math.h>
#include <string.h>

#include "engine/pair.h"

/* Begins a function that few flocks need. On a GPU it is not inlined: inlined, it would enlarge
 * every kernel. */
#if defined(__CUDACC__) || defined(__HIPCC__)
#define KITH_RARE_FN static inline __host__ __device__ __noinline__
#else
#define KITH_RARE_FN static inline
#endif

/* Rules: indices of radii, weights and sums. */
enum { KITH_SEPARATION, KITH_ALIGNMENT, KITH_COHESION, KITH_RULES };

enum { KITH_MOST_NEAREST = 64 }; /**< largest number of nearest neighbours */

/* Offsets and velocities are summed in fixed point: the unit is 2^-KITH_FLOCK_BITS times the
 * smallest power of 2 above the largest value. */
enum { KITH_FLOCK_BITS = 23 };

/** Checked copy of kith_flock_options. */
struct kith__flock_rules {
    kith_flock_model model; /**< boids, or one of Vicsek's models */
    int dim;                /**< 2 or 3 dimensions */
    /** Radius of each rule, rounded to the precision; 0: off [length]. */
    double radius[KITH_RULES];
    double weight[KITH_RULES]; /**< weight of each rule; 0 when the rule is off */
    double push_radius;  /**< range of the repulsion, rounded to the precision; 0: off [length] */
    double push_rate;    /**< strength of the repulsion [1 / time] */
    double reach;        /**< largest radius, of the repulsion too; 0: all rules are off [length] */
    int relative;        /**< alignment is relative to the particle's own velocity */
    double min_speed;    /**< smallest speed; of Vicsek's models max_speed [length / time] */
    double max_speed;    /**< largest speed; INFINITY: no limit [length / time] */
    double time_step;    /**< [time] */
    int reflecting[3];   /**< the axis has reflecting walls */
    double lo[3], hi[3]; /**< positions of the walls, of axes that have them [length] */
    int64_t nearest;     /**< number of nearest neighbours that count; 0: all count */
    int sees_all;        /**< 1: there is no blind angle */
    double blind;        /**< cosine of half the blind angle */
    double noise;        /**< strength of the noise, 0 to 1 */
    int gaussian;        /**< the angle of the noise is normal, not uniform */
    int turns_freely;    /**< 1: there is no largest angle of a turn */
    double turn_cos, turn_sin; /**< cosine and sine of the largest angle of a turn in a step */
    uint64_t seed;             /**< seed of the random numbers */
    int n_species;             /**< number of species; 0: none */
    int64_t n_leaders;         /**< particles of smaller indices lead; 0: no particle does */
    double goal[3];            /**< direction of the leaders, of length leader_weight */
    int n_things;              /**< number of obstacles and attractors */
    kith_flock_thing thing[KITH_MOST_THINGS]; /**< obstacles and attractors at the current step;
                                                   normals of walls have length 1 */
};

/** Neighbour sums of one particle, in fixed point: integers of the units of offsets and velocities
 *  (kith__flock_unit). */
struct kith__flock_sums {
    int64_t n[KITH_RULES];      /**< neighbours within the radius of each rule */
    int64_t sum[KITH_RULES][3]; /**< sums of their offsets; of velocities for KITH_ALIGNMENT */
};

/** Sums over neighbours that few flocks need, in fixed point. */
struct kith__flock_more {
    int64_t push[3]; /**< sum of the overlaps with neighbours, along the vectors from them [units of
                          offsets] */
    /** Of a flock of several species: kith__flock_sums.sum is a number of 2^32 / KITH_FACTOR units,
     *  and this the number of 1 / KITH_FACTOR units that follow. */
    uint64_t low[KITH_RULES][3];
    int64_t factors; /**< of a flock of several species: sum of the factors of alignment
                          [1 / KITH_FACTOR] */
};

/** What the particles of one species heed of those of another. */
struct kith__flock_heed {
    int32_t factor[KITH_RULES]; /**< factor of each rule [1 / KITH_FACTOR] */
    int32_t any; /**< 1: a factor of a rule that is on is not 0; 0: they are ignored */
};

enum {
    KITH_FACTOR = 1 << 24,   /**< factors between species are integers of 1 / KITH_FACTOR */
    KITH_LARGEST_FACTOR = 64 /**< largest absolute factor, so that its integer fits 32 bits */
};

/** Return 1 when particles are moved with kith__flock_more: by rules that the fast kernels do not
 *  have, so that these do not pay for them. */
KITH_FN int kith__flock_has_more(const struct kith__flock_rules *rules)
{
    return rules->push_radius > 0 || rules->n_species > 0 || rules->n_leaders > 0;
}

/** Return 1 when the neighbour sums are those of the three rules over all neighbours, so that the
 *  fast kernels apply; 0 when neighbours are selected, or there are more sums. */
KITH_FN int kith__flock_is_plain(const struct kith__flock_rules *rules)
{
    return rules->nearest == 0 && rules->sees_all && !kith__flock_has_more(rules);
}

/** Return the unit in which numbers up to `largest` are rounded to integers of KITH_FLOCK_BITS
 *  bits: a power of 2, at least 2^-1000, so that 1 / unit is finite. */
KITH_FN double kith__flock_unit(double largest)
{
    int exponent = 0;
    if (largest > 0) {
        (void)frexp(largest, &exponent);
    }
    const int least = -1000;
    const int unit_exponent = exponent - KITH_FLOCK_BITS;
    return ldexp(1.0, unit_exponent > least ? unit_exponent : least);
}

/** Return the nearest integer of t, |t| < 2^50, modulo 2^32, without a function call: adding
 *  1.5 * 2^52 leaves it in the lower bits of the fraction. */
KITH_FN int32_t kith__flock_round_near(double t)
{
    const double shifted = t + 6755399441055744.0;
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    return (int32_t)(uint32_t)bits;
}

/** Return the nearest integer of any t, modulo 2^32; 0 when t is not finite. */
KITH_FN int32_t kith__flock_round(double t)
{
    if (!(t > -1125899906842624.0 && t < 1125899906842624.0)) { /* 2^50 */
        t = isfinite(t) ? fmod(rint(t), 4294967296.0) : 0;
    }
    return kith__flock_round_near(t);
}

/** Return a coordinate as an integer of units, modulo 2^32. Differences, modulo 2^32 too, are exact
 *  for coordinates less than 2^31 units apart. @param inverse  1 / unit */
KITH_FN int32_t kith__flock_in_units(double x, double inverse)
{
    return kith__flock_round(x * inverse);
}

/** Return the offset from i to j, of coordinates as integers. */
KITH_FN int32_t kith__flock_offset(int32_t i, int32_t j)
{
    return (int32_t)((uint32_t)j - (uint32_t)i);
}

/** Return random number `nth` of a particle in a step, uniform in [0, 1), by a counter-based
 *  generator: the mixing function of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014) applied to the
 *  four arguments one after another. */
KITH_FN double kith__flock_random(uint64_t seed, int64_t step, int64_t id, int nth)
{
    const uint64_t counter[4] = {seed, (uint64_t)step, (uint64_t)id, (uint64_t)nth};
    uint64_t z = 0;
    for (int k = 0; k < 4; k++) {
        z += counter[k] + 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        z ^= z >> 31;
    }
    return (double)(z >> 11) / 9007199254740992.0; /* 53 bits, divided by 2^53 */
}

/** Compute cosine and sine of pi t, for |t| <= 2^30, with an error of 2e-16: Taylor series within
 *  an eighth of a turn. */
KITH_FN void kith__flock_cos_sin(double t, double *cosine, double *sine)
{
    const double quarter = rint(2 * t);
    const double x = 3.14159265358979323846 * (t - 0.5 * quarter);
    const double x2 = x * x;
    double c = 1;
    double s = 1;
    for (int k = 18; k > 0; k -= 2) {
        c = 1 - c * x2 / (double)(k * (k - 1));
        s = 1 - s * x2 / (double)(k * (k + 1));
    }
    s *= x;
    switch ((int64_t)quarter & 3) {
    case 0: *cosine = c, *sine = s; break;
    case 1: *cosine = -s, *sine = c; break;
    case 2: *cosine = -c, *sine = -s; break;
    default: *cosine = s, *sine = -c; break;
    }
}

/** Return the Euclidean length of v. */
KITH_FN double kith__flock_length(const double v[3])
{
    return sqrt((v[0] * v[0] + v[1] * v[1]) + v[2] * v[2]);
}

/** Return 1 when an offset is outside the blind cone, whose axis is -v; else 0.
 *  @param d  offset to a neighbour, in any unit */
KITH_FN int kith__flock_sees(const struct kith__flock_rules *rules, const double v[3],
                             const double d[3])
{
    const double along = (d[0] * v[0] + d[1] * v[1]) + d[2] * v[2];
    const double most = kith__flock_length(d) * kith__flock_length(v);
    return along >= -rules->blind * most;
}

/** Add the overlap with a neighbour to the sum of the repulsion: the vector of length
 *  push_radius - |d| along -d, rounded to integers, so that the sum does not depend on its order.
 *  @param inverse  1 / unit of offsets, a power of 2
 *  @param d        offset to the neighbour [units]; 0: the direction is not defined, and nothing is
 *                  added */
KITH_FN void kith__flock_add_push(const struct kith__flock_rules *rules, double inverse,
                                  const int32_t d[3], struct kith__flock_more *more)
{
    const double wide[3] = {(double)d[0], (double)d[1], (double)d[2]};
    const double range = rules->push_radius * inverse, distance = kith__flock_length(wide);
    if (distance > 0 && distance < range) {
        const double part = (range - distance) / distance;
        for (int k = 0; k < 3; k++) {
            more->push[k] -= kith__flock_round_near(part * wide[k]);
        }
    }
}

/** Add a neighbour of a species to the sums of one rule: x times the factor of that species, a
 *  product of up to 62 bits, as its upper and lower 32 bits. 2^31 neighbours overflow neither.
 *  @param x       offset or velocity of the neighbour [units]
 *  @param factor  of the rule; 0: the neighbour is ignored */
KITH_FN void kith__flock_add_heeded(int rule, const int32_t x[3], int32_t factor,
                                    struct kith__flock_sums *sums, struct kith__flock_more *more)
{
    sums->n[rule] += factor != 0;
    for (int k = 0; k < 3; k++) {
        const int64_t product = (int64_t)factor * x[k];
        const int64_t low = (int64_t)((uint64_t)product & 0xffffffffu);
        sums->sum[rule][k] += (product - low) / 4294967296;
        more->low[rule][k] += (uint64_t)low;
    }
    more->factors += rule == KITH_ALIGNMENT ? factor : 0;
}

/** Compute the sums of a flock of several species, as numbers [units]. */
KITH_FN void kith__flock_total(const struct kith__flock_sums *sums,
                               const struct kith__flock_more *more, double total[KITH_RULES][3])
{
    const double unit = 1.0 / KITH_FACTOR;
    for (int rule = 0; rule < KITH_RULES; rule++) {
        for (int k = 0; k < 3; k++) {
            total[rule][k] = (double)sums->sum[rule][k] * (4294967296.0 * unit) +
                             (double)more->low[rule][k] * unit;
        }
    }
}

/** Scale velocity u to a speed between the limits. If u is 0 and min_speed is not, u is first
 *  replaced by v, the velocity before the step. */
KITH_FN void kith__flock_limit(const struct kith__flock_rules *rules, const double v[3],
                               double u[3])
{
    double speed = kith__flock_length(u);
    if (!(speed > 0) && rules->min_speed > 0) {
        for (int k = 0; k < 3; k++) {
            u[k] = v[k];
        }
        speed = kith__flock_length(u);
    }
    const double limited = speed > rules->max_speed   ? rules->max_speed
                           : speed < rules->min_speed ? rules->min_speed
                                                      : speed;
    const double factor = limited / speed;
    for (int k = 0; k < 3 && limited != speed && speed > 0; k++) {
        u[k] = factor * u[k];
    }
}

/** Compute a random unit vector, uniform on the circle (2-D) or the sphere (3-D). */
KITH_RARE_FN void kith__flock_random_direction(const struct kith__flock_rules *rules, int64_t step,
                                               int64_t id, double x[3])
{
    double c, s;
    kith__flock_cos_sin(2 * kith__flock_random(rules->seed, step, id, 0), &c, &s);
    const double z = rules->dim == 3 ? 2 * kith__flock_random(rules->seed, step, id, 1) - 1 : 0;
    const double around = sqrt(1 - z * z);
    x[0] = around * c;
    x[1] = around * s;
    x[2] = z;
}

/** Return the natural logarithm of x, 0 < x <= 1, with a relative error of 3e-16, by the series
 *  of artanh: the logarithms of C libraries differ in the last bits. */
KITH_FN double kith__flock_log(double x)
{
    int exponent;
    double m = frexp(x, &exponent);
    if (m < 0.70710678118654752440) {
        m = 2 * m;
        exponent--;
    }
    const double s = (m - 1) / (m + 1); /* |s| < 0.172, so that s^24 is below the rounding */
    const double s2 = s * s;
    double sum = 0;
    for (int k = 23; k > 0; k -= 2) {
        sum = sum * s2 + 1 / (double)k;
    }
    return 2 * s * sum + exponent * 0.69314718055994530942;
}

/** Compute two vectors of length 1 at right angles to u and to each other: a, from the axis
 *  with u's smallest absolute component, and b along u x a. For u = 0 they are 0.
 *  @param length  |u| */
KITH_FN void kith__flock_across(const double u[3], double length, double a[3], double b[3])
{
    double e[3] = {0, 0, 0};
    const double ux = fabs(u[0]), uy = fabs(u[1]), uz = fabs(u[2]);
    e[ux <= uy && ux <= uz ? 0 : uy <= uz ? 1 : 2] = 1;
    a[0] = u[1] * e[2] - u[2] * e[1];
    a[1] = u[2] * e[0] - u[0] * e[2];
    a[2] = u[0] * e[1] - u[1] * e[0];
    const double size = kith__flock_length(a);
    for (int k = 0; k < 3; k++) {
        a[k] = size > 0 ? a[k] / size : 0;
    }
    b[0] = length > 0 ? (u[1] * a[2] - u[2] * a[1]) / length : 0;
    b[1] = length > 0 ? (u[2] * a[0] - u[0] * a[2]) / length : 0;
    b[2] = length > 0 ? (u[0] * a[1] - u[1] * a[0]) / length : 0;
}

/** Rotate u by a random angle: of up to noise * pi, uniform in the angle in 2-D, uniform on the
 *  sphere's cap in 3-D; or normal, by the transform of Box & Muller (1958). */
KITH_RARE_FN void kith__flock_rotate_randomly(const struct kith__flock_rules *rules, int64_t step,
                                              int64_t id, double u[3])
{
    const double first = kith__flock_random(rules->seed, step, id, 0);
    const double normal = rules->gaussian ? sqrt(-2 * kith__flock_log(1 - first)) : 0;
    double c, s; /* of the angle in 2-D, of the direction of the turn in 3-D */
    if (rules->dim == 2) {
        double angle = 2 * first - 1;
        if (rules->gaussian) {
            kith__flock_cos_sin(2 * kith__flock_random(rules->seed, step, id, 1), &c, &s);
            angle = normal * c;
        }
        kith__flock_cos_sin(rules->noise * angle, &c, &s);
        const double x = c * u[0] - s * u[1];
        u[1] = s * u[0] + c * u[1];
        u[0] = x;
        return;
    }
    const double length = kith__flock_length(u);
    double along, aside, a[3], b[3]; /* components of the turned u: along u, and across it */
    if (rules->gaussian) {
        kith__flock_cos_sin(rules->noise * normal, &along, &aside);
    } else {
        double least, unused;
        kith__flock_cos_sin(rules->noise, &least, &unused);
        along = 1 - first * (1 - least);
        aside = sqrt(1 - along * along > 0 ? 1 - along * along : 0);
    }
    kith__flock_cos_sin(2 * kith__flock_random(rules->seed, step, id, 1), &c, &s);
    kith__flock_across(u, length, a, b);
    for (int k = 0; k < 3 && length > 0; k++) {
        u[k] = along * u[k] + aside * length * (c * a[k] + s * b[k]);
    }
}

/** Limit the angle between v, the velocity before a step, and u, the velocity after it: where it is
 *  larger than the largest angle of a turn, u is rotated towards v until it is that angle. */
KITH_RARE_FN void kith__flock_limit_turn(const struct kith__flock_rules *rules, const double v[3],
                                         double u[3])
{
    const double before = kith__flock_length(v), speed = kith__flock_length(u);
    const double dot = (u[0] * v[0] + u[1] * v[1]) + u[2] * v[2];
    if (!(before > 0 && speed > 0) || dot >= rules->turn_cos * (before * speed)) {
        return;
    }
    double e[3], a[3], b[3]; /* e: the direction of the turn, at right angles to v */
    for (int k = 0; k < 3; k++) {
        e[k] = u[k] / speed - dot / (before * speed) * (v[k] / before);
    }
    const double aside = kith__flock_length(e), least = 1e-8; /* below, e is rounding errors */
    if (aside < least && dot > 0) {
        return;
    }
    kith__flock_across(v, before, a, b);
    for (int k = 0; k < 3; k++) {
        const double left = rules->dim == 2 ? (k == 0 ? -v[1] : k == 1 ? v[0] : 0) / before : a[k];
        e[k] = aside < least ? left : e[k] / aside; /* left where u is opposite to v */
    }
    for (int k = 0; k < 3; k++) {
        u[k] = speed * (rules->turn_cos * (v[k] / before) + rules->turn_sin * e[k]);
    }
}

/** Compute the vector d from a to the image of b that is nearest in fractional coordinates
 *  [length]. */
KITH_FN void kith__flock_nearest_image(const struct kith__lattice_d *box, const double a[3],
                                       const double b[3], double d[3])
{
    double f[3];
    for (int k = 0; k < 3; k++) {
        d[k] = b[k] - a[k];
    }
    for (int k = 0; k < 3; k++) {
        const double *inverse = box->inverse[k];
        f[k] = (inverse[0] * d[0] + inverse[1] * d[1]) + inverse[2] * d[2];
        f[k] = box->periodic[k] ? rint(f[k]) : 0;
    }
    for (int k = 0; k < 3; k++) {
        d[k] -= (f[0] * box->row[0][k] + f[1] * box->row[1][k]) + f[2] * box->row[2][k];
    }
}

/** Return the distance of r from the surface of an obstacle, negative inside [length].
 *  @param thing     a sphere or a wall
 *  @param[out] out  outward normal, of length 1; the x axis when r is the centre of a sphere */
KITH_FN double kith__flock_gap(const struct kith__lattice_d *box, const kith_flock_thing *thing,
                               const double r[3], double out[3])
{
    double d[3];
    if (thing->kind == KITH_WALL) {
        for (int k = 0; k < 3; k++) {
            d[k] = r[k] - thing->place[k];
            out[k] = thing->normal[k];
        }
        return (d[0] * out[0] + d[1] * out[1]) + d[2] * out[2];
    }
    kith__flock_nearest_image(box, thing->place, r, d);
    const double distance = kith__flock_length(d);
    for (int k = 0; k < 3; k++) {
        out[k] = distance > 0 ? d[k] / distance : k == 0;
    }
    return distance - thing->radius;
}

/** Add the velocities that obstacles and attractors give to a particle at r to its velocity u. */
KITH_RARE_FN void kith__flock_add_things(const struct kith__flock_rules *rules,
                                         const struct kith__lattice_d *box, const double r[3],
                                         double u[3])
{
    for (int t = 0; t < rules->n_things; t++) {
        const kith_flock_thing *thing = &rules->thing[t];
        double d[3];
        double strength = 0;
        if (thing->kind == KITH_SPHERE || thing->kind == KITH_WALL) {
            const double gap = kith__flock_gap(box, thing, r, d);
            strength = gap < thing->reach && thing->reach > 0
                           ? thing->weight * (1 - gap / thing->reach)
                           : 0;
        } else {
            kith__flock_nearest_image(box, r, thing->place, d);
            const double distance = kith__flock_length(d);
            const double weight = thing->kind == KITH_PREDATOR ? -thing->weight : thing->weight;
            const int near = distance > 0 && (!(thing->reach > 0) || distance <= thing->reach);
            strength = near ? weight / distance : 0;
        }
        for (int k = 0; k < 3; k++) {
            u[k] += strength * d[k];
        }
    }
}

/** If r, the position of a particle after its step, is inside an obstacle, move it to the surface,
 *  and reflect the inward component of its velocity u. */
KITH_RARE_FN void kith__flock_keep_outside(const struct kith__flock_rules *rules,
                                           const struct kith__lattice_d *box, double r[3],
                                           double u[3])
{
    for (int t = 0; t < rules->n_things; t++) {
        const kith_flock_thing *thing = &rules->thing[t];
        if (thing->kind != KITH_SPHERE && thing->kind != KITH_WALL) {
            continue;
        }
        double out[3];
        const double gap = kith__flock_gap(box, thing, r, out);
        const double inward = (u[0] * out[0] + u[1] * out[1]) + u[2] * out[2];
        for (int k = 0; k < 3 && gap < 0; k++) {
            r[k] -= gap * out[k];
            u[k] -= inward < 0 ? 2 * inward * out[k] : 0;
        }
    }
}

/** Return 1 when a step across a periodic axis would pass a wall from behind: when the image of the
 *  old position from which it would come, or the new position, is behind the plane. Also when
 *  wrapping would put a particle that is on the plane, as the plane is in the face, behind it.
 *  @param old    position before the step
 *  @param r      position after the step, before it is wrapped
 *  @param shift  what wrapping subtracts from r */
KITH_RARE_FN int kith__flock_passes_wall(const struct kith__flock_rules *rules,
                                         const struct kith__lattice_d *box, const double old[3],
                                         const double r[3], const double shift[3])
{
    int passes = 0;
    for (int t = 0; t < rules->n_things; t++) {
        const kith_flock_thing *thing = &rules->thing[t];
        if (thing->kind != KITH_WALL) {
            continue;
        }
        double out[3];
        const double from = kith__flock_gap(box, thing, old, out);
        const double to = kith__flock_gap(box, thing, r, out);
        const double across = (shift[0] * out[0] + shift[1] * out[1]) + shift[2] * out[2];
        /* A shift along the plane has a product of 0 but for rounding errors. */
        const double rounding = 1e-9 * kith__flock_length(shift);
        passes = passes || (across > rounding && fmin(from, to) < across) ||
                 (across < -rounding && to <= rounding);
    }
    return passes;
}

/** Reflect a velocity u that points out of the box at the faces that a step would cross.
 *  @param image  number of boxes that wrapping subtracts along each axis */
KITH_RARE_FN void kith__flock_turn_at_faces(const struct kith__lattice_d *box,
                                            const int32_t image[3], double u[3])
{
    for (int k = 0; k < 3; k++) {
        const double *normal = box->inverse[k]; /* at right angles to the face */
        const double square = (normal[0] * normal[0] + normal[1] * normal[1]) +
                              normal[2] * normal[2];
        const double along = (u[0] * normal[0] + u[1] * normal[1]) + u[2] * normal[2];
        for (int m = 0; m < 3 && along * image[k] > 0; m++) {
            u[m] -= 2 * along / square * normal[m];
        }
    }
}

/** Turn velocity u of a leader towards the goal, at its speed: to the direction of the unit vector
 *  of u plus the goal (Couzin et al. 2005). */
KITH_RARE_FN void kith__flock_lead(const struct kith__flock_rules *rules, double u[3])
{
    const double speed = kith__flock_length(u);
    double e[3];
    for (int k = 0; k < 3; k++) {
        e[k] = (speed > 0 ? u[k] / speed : 0) + rules->goal[k];
    }
    const double length = kith__flock_length(e);
    for (int k = 0; k < 3 && length > 0; k++) {
        u[k] = speed * (e[k] / length);
    }
}

/** Compute the velocity u after a step of a particle at r with velocity v: the equations of A STEP
 *  in kith/flock.h, before u is rounded.
 *  @param sums  its neighbour sums
 *  @param more  sums that few flocks need; NULL: there are none, and no leaders
 *  @param unit  units of the sums, for each rule [length] or [length / time]
 *  @param step  number of the step: with `id` it determines the random numbers
 *  @param id    index of the particle in the caller's order */
KITH_FN void kith__flock_velocity(const struct kith__flock_rules *rules,
                                  const struct kith__lattice_d *box,
                                  const struct kith__flock_sums *sums,
                                  const struct kith__flock_more *more,
                                  const double unit[KITH_RULES], int64_t step, int64_t id,
                                  const double r[3], const double v[3], double u[3])
{
    const double n_a = (double)sums->n[KITH_ALIGNMENT];
    const double n_c = (double)sums->n[KITH_COHESION];
    const double *w = rules->weight;
    const double share_a = n_a > 0 ? 1 / n_a : 0;
    const double share_c = n_c > 0 ? 1 / n_c : 0;
    double relative = rules->relative && n_a > 0 ? 1 : 0; /* factor of v */
    double total[KITH_RULES][3];                          /* the sums [units] */
    for (int rule = 0; rule < KITH_RULES; rule++) {
        for (int k = 0; k < 3; k++) {
            total[rule][k] = (double)sums->sum[rule][k];
        }
    }
    if (more && rules->n_species > 0) {
        kith__flock_total(sums, more, total);
        relative = n_a > 0 ? relative * ((double)more->factors / KITH_FACTOR / n_a) : 0;
    }
    for (int k = 0; k < 3; k++) {
        const double a = total[KITH_ALIGNMENT][k] * unit[KITH_ALIGNMENT];
        const double c = total[KITH_COHESION][k] * unit[KITH_COHESION];
        const double s = total[KITH_SEPARATION][k] * unit[KITH_SEPARATION];
        u[k] = v[k];
        if (rules->model != KITH_BOIDS) {
            u[k] += a;
            continue;
        }
        u[k] += w[KITH_COHESION] * (c * share_c);
        u[k] -= w[KITH_SEPARATION] * s;
        u[k] += w[KITH_ALIGNMENT] * (a * share_a - relative * v[k]);
    }
    if (rules->model == KITH_VICSEK_VECTORIAL) {
        double x[3];
        kith__flock_random_direction(rules, step, id, x);
        for (int k = 0; k < 3; k++) {
            u[k] += rules->noise * (n_a + 1) * rules->max_speed * x[k];
        }
    }
    /* Copies, as arguments of functions that are not inlined would keep the originals in memory. */
    if (rules->n_things > 0) {
        const double at[3] = {r[0], r[1], r[2]};
        double bent[3] = {u[0], u[1], u[2]};
        kith__flock_add_things(rules, box, at, bent);
        memcpy(u, bent, sizeof bent);
    }
    if (more && id < rules->n_leaders) {
        double led[3] = {u[0], u[1], u[2]};
        kith__flock_lead(rules, led);
        memcpy(u, led, sizeof led);
    }
    kith__flock_limit(rules, v, u);
    if (rules->noise > 0 && rules->model != KITH_VICSEK_VECTORIAL) {
        double turned[3] = {u[0], u[1], u[2]};
        kith__flock_rotate_randomly(rules, step, id, turned);
        memcpy(u, turned, sizeof turned);
    }
    if (!rules->turns_freely) {
        const double old[3] = {v[0], v[1], v[2]};
        double turned[3] = {u[0], u[1], u[2]};
        kith__flock_limit_turn(rules, old, turned);
        memcpy(u, turned, sizeof turned);
    }
}

/** Fold a coordinate that one reflection has left beyond the other wall between the walls lo and
 *  hi, by as many more reflections as it takes, each of which turns the velocity v. As fmod is
 *  exact, only the differences are rounded.
 *  @return the coordinate; NaN when x is infinite */
KITH_RARE_FN double kith__flock_fold(double lo, double hi, double x, double *v)
{
    const double width = hi - lo;
    if (!(width > 0)) { /* the walls are one number in the precision of the particles */
        return lo;
    }
    /* two reflections more shift by twice the width; a path that ends on a wall is not reflected */
    const double beyond = fmod(x > hi ? x - hi : lo - x, 2 * width);
    const int odd = beyond > 0 && beyond <= width;
    const double back = odd || !(beyond > 0) ? beyond : 2 * width - beyond;
    *v = odd ? -*v : *v;
    return x > hi ? hi - back : lo + back;
}

/** Reflect a coordinate and its velocity at the walls of axis k, as often as the path meets one. An
 *  infinite coordinate becomes NaN. */
KITH_FN void kith__flock_reflect(const struct kith__flock_rules *rules, int k, double *x, double *v)
{
    const double lo = rules->lo[k];
    const double hi = rules->hi[k];
    if (*x < lo || *x > hi) {
        *x = *x < lo ? lo + (lo - *x) : hi - (*x - hi);
        *v = -*v;
        if (*x < lo || *x > hi) { /* a copy, as the argument of a function that is not inlined */
            double turned = *v;
            *x = kith__flock_fold(lo, hi, *x, &turned);
            *v = turned;
        }
    }
    *x = *x < lo ? lo : *x > hi ? hi : *x;
}

/** Move a predator towards the nearest particle by speed * time_step, but not beyond it.
 *  @param way  vector from the predator to the particle [length] */
KITH_FN void kith__flock_chase(const struct kith__flock_rules *rules,
                               const struct kith__lattice_d *box, const double way[3],
                               kith_flock_thing *predator)
{
    const double far = predator->speed * rules->time_step;
    const double distance = kith__flock_length(way);
    const double part = distance > far ? far / distance : 1;
    int32_t image[3];
    for (int k = 0; k < 3; k++) {
        predator->place[k] += part * way[k];
    }
    (void)kith__wrap_d(box, predator->place, image);
}

#define KITH_PER_PRECISION "flock/flock_move_real.h"
#include "core/per_precision.h"

#endif
