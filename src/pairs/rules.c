/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading and checking the rules of a list (rules.h): the table of cutoffs is rounded and squared,
 * and the largest distance that the rules permit becomes the cutoff of the search.
 */
#include "rules.h"

#include <math.h>

#include "core/backend.h"

/* Buffers of the context's scratch memory, behind those of pairs_batch.c. */
enum {
    KITH_RULES_SQUARES = KITH_WORK_OF(pairs) + 16, /**< kith__rules.squares */
    KITH_RULES_RADII,                              /**< copy of radii that are in device memory */
};

/** The caller's rules that are being read. */
struct reading {
    const kith_pairs_options *options; /**< with all fields of this version */
    int64_t n[2];                      /**< particles of each set; of one set both are equal */
    kith_precision precision;          /**< precision of the points */
    bool on_host;                      /**< the points, and so the arrays of rules, are in host
                                            memory */
};

/** Check that an array is given for both sets or for none; where there is one set, that it is not
 *  given for `against`.
 *  @param name  the field of the options, for the message; with `_against`, that of set b */
static kith_status check_both(kith_ctx *ctx, const struct reading *r, const char *name,
                              const void *array, const void *against)
{
    KITH_CHECK(ctx, r->options->against ? !array == !against : !against, KITH_INVALID,
               "options.%s_against is %s, but options.%s is %s, and options.against is %s", name,
               against ? "given" : "NULL", name, array ? "given" : "NULL",
               r->options->against ? "given" : "NULL");
    return KITH_OK;
}

/** Return the square of a length, rounded to a precision. */
static double square_of(double length, kith_precision precision)
{
    return kith__rounded(length * length, precision);
}

/** Read the species, and the table of cutoffs, whose squares are stored in scratch memory. The
 *  table is always in host memory; species in device memory are not checked. */
static kith_status read_table(kith_ctx *ctx, const struct reading *r, struct kith__rules *rules)
{
    const kith_pairs_options *o = r->options;
    const int32_t n = o->n_species;
    KITH_TRY(check_both(ctx, r, "species", o->species, o->species_against));
    KITH_CHECK(ctx, o->species ? n >= 1 && n <= 1024 : n == 0, KITH_INVALID,
               "options.n_species is %d, expected 1 to 1024, or 0 without options.species", (int)n);
    KITH_CHECK(ctx, !o->species == !o->cutoffs, KITH_INVALID,
               "options.species is %s, but options.cutoffs is %s", o->species ? "given" : "NULL",
               o->cutoffs ? "given" : "NULL");
    if (!o->species) {
        return KITH_OK;
    }
    const int32_t *other = o->against ? o->species_against : o->species;
    if (r->on_host) {
        KITH_TRY(kith__check_species(ctx, "options.n_species", "options.species", o->species,
                                     r->n[0], n));
        KITH_TRY(kith__check_species(ctx, "options.n_species", "options.species_against", other,
                                     r->n[1], n));
    }
    const size_t bytes = (size_t)n * (size_t)n * (size_t)r->precision;
    void *squares = kith__work_need(&ctx->work, KITH_RULES_SQUARES, bytes);
    KITH_CHECK(ctx, squares != NULL, KITH_NO_MEMORY, "out of memory for %d species", (int)n);
    double largest = 0;
    for (int32_t a = 0; a < n; a++) {
        for (int32_t b = 0; b < n; b++) {
            const double cutoff = o->cutoffs[(int64_t)a * n + b];
            KITH_CHECK(ctx, isfinite(cutoff) && cutoff >= 0, KITH_INVALID,
                       "options.cutoffs[%d][%d] is %g, expected a finite length, 0 or more", (int)a,
                       (int)b, cutoff);
            KITH_CHECK(ctx, o->against || cutoff == o->cutoffs[(int64_t)b * n + a], KITH_INVALID,
                       "options.cutoffs[%d][%d] is %.17g, but [%d][%d] is %.17g", (int)a, (int)b,
                       cutoff, (int)b, (int)a, o->cutoffs[(int64_t)b * n + a]);
            const double c = kith__rounded(cutoff, r->precision);
            kith__set_real(squares, (int64_t)a * n + b, r->precision,
                           cutoff > 0 ? square_of(c, r->precision) : -1);
            largest = fmax(largest, c);
        }
    }
    KITH_CHECK(ctx, largest > 0, KITH_INVALID,
               "options.cutoffs: all are 0, expected a positive one");
    rules->most_cutoff = largest;
    rules->n_species = n;
    rules->species[0] = o->species;
    rules->species[1] = other;
    rules->squares = squares;
    rules->by_distance = true;
    return KITH_OK;
}

/** Find the largest radius of a set, and check all radii. Radii in device memory are copied to the
 *  host first.
 *  @param name          field of the options, for the message
 *  @param[out] largest  -1 where there are no particles */
static kith_status largest_radius(kith_ctx *ctx, const struct reading *r, const char *name,
                                  const void *radii, int64_t n, double *largest)
{
    *largest = n > 0 ? 0 : -1;
    if (!r->on_host) {
        const size_t bytes = (size_t)n * (size_t)r->precision;
        void *copy = kith__work_need(&ctx->work, KITH_RULES_RADII, bytes);
        KITH_CHECK(ctx, copy != NULL, KITH_NO_MEMORY, "out of memory for %lld radii", (long long)n);
        KITH_TRY(kith__end_call(ctx, ctx->backend->fetch(ctx, copy, radii, bytes)));
        radii = copy;
    }
    for (int64_t p = 0; p < n; p++) {
        const double h = kith__real_at(radii, p, r->precision);
        KITH_CHECK(ctx, isfinite(h) && h >= 0, KITH_INVALID,
                   "options.%s[%lld] is %g, expected a finite length, 0 or more", name,
                   (long long)p, h);
        *largest = h > *largest ? h : *largest;
    }
    return KITH_OK;
}

/** Read the radii.
 *  @param full      the list is full. A rule that is not symmetric in i and j, KITH_RADIUS_GATHER
 *                   or KITH_RADIUS_SCATTER, is refused otherwise
 *  @param enqueued  nothing may wait for the device: rules->most_radius stays infinite */
static kith_status read_radii(kith_ctx *ctx, const struct reading *r, bool full, bool enqueued,
                              struct kith__rules *rules)
{
    const kith_pairs_options *o = r->options;
    const kith_radius_rule rule = o->radius_rule;
    KITH_TRY(check_both(ctx, r, "radii", o->radii, o->radii_against));
    KITH_CHECK(ctx, (unsigned)rule <= KITH_RADIUS_SUM && (rule != KITH_RADIUS_NONE) == !!o->radii,
               KITH_INVALID, "options.radius_rule is %d, but options.radii is %s", (int)rule,
               o->radii ? "given: expected KITH_RADIUS_GATHER to KITH_RADIUS_SUM" : "NULL");
    if (!o->radii) {
        return KITH_OK;
    }
    const bool one_sided = rule == KITH_RADIUS_GATHER || rule == KITH_RADIUS_SCATTER;
    KITH_CHECK(ctx, full || !one_sided, KITH_INVALID,
               "options.radius_rule is KITH_RADIUS_%s, which needs options.full: (i, j) may be a "
               "pair where (j, i) is none",
               rule == KITH_RADIUS_GATHER ? "GATHER" : "SCATTER");
    rules->radius_rule = rule;
    rules->radii[0] = o->radii;
    rules->radii[1] = o->against ? o->radii_against : o->radii;
    rules->by_distance = true;
    rules->one_sided = rules->one_sided || one_sided;
    if (enqueued) {
        return KITH_OK;
    }
    double *most = rules->most_radius;
    KITH_TRY(largest_radius(ctx, r, "radii", rules->radii[0], r->n[0], &most[0]));
    most[1] = most[0];
    return o->against ? largest_radius(ctx, r, "radii_against", rules->radii[1], r->n[1], &most[1])
                      : KITH_OK;
}

/** Read molecules, bonds, r_min and active particles.
 *  @param full  the list is full; options.active is refused otherwise */
static kith_status read_exclusions(kith_ctx *ctx, const struct reading *r, bool full,
                                   struct kith__rules *rules)
{
    const kith_pairs_options *o = r->options;
    KITH_TRY(check_both(ctx, r, "molecules", o->molecules, o->molecules_against));
    KITH_CHECK(ctx, o->bond_offsets || !o->bonds, KITH_INVALID,
               "options.bonds is given, but options.bond_offsets is NULL");
    KITH_TRY(r->on_host ? kith__check_bonds(ctx, o->bond_offsets, o->bonds, r->n[0], r->n[1])
                        : KITH_OK);
    KITH_CHECK(ctx, isfinite(o->r_min) && o->r_min >= 0, KITH_INVALID,
               "options.r_min is %g, expected a finite length, 0 or more", o->r_min);
    KITH_CHECK(
        ctx, full || !o->active, KITH_INVALID,
        "options.active needs options.full: rows of particles that are not active are empty");
    rules->excluded = (struct kith__excluded){
        .molecules = {o->molecules, o->against ? o->molecules_against : o->molecules},
        .bond_offsets = o->bond_offsets,
        .bonds = o->bonds};
    rules->least2 = square_of(kith__rounded(o->r_min, r->precision), r->precision);
    KITH_CHECK(ctx, isfinite(rules->least2), KITH_INVALID,
               "options.r_min is %g: its square leaves the range of %s coordinates", o->r_min,
               r->precision == KITH_FLOAT ? "float" : "double");
    rules->by_distance = rules->by_distance || rules->least2 > 0;
    rules->active = o->active;
    rules->one_sided = rules->one_sided || o->active;
    return KITH_OK;
}

bool kith__has_rules(const kith_pairs_options *o)
{
    return o->species || o->species_against || o->cutoffs || o->n_species != 0 || o->radii ||
           o->radii_against || o->radius_rule != KITH_RADIUS_NONE || o->r_min != 0 ||
           o->molecules || o->molecules_against || o->bond_offsets || o->bonds || o->active;
}

/** Return true when the numbers, precisions and memory of the particles are valid, as far as
 *  reading the rules needs it. Other sets are refused when the question is built. */
static bool are_sets(const kith_points *points, const kith_points *against)
{
    return points && points->n >= 0 && points->n <= INT32_MAX &&
           (points->precision == KITH_FLOAT || points->precision == KITH_DOUBLE) &&
           (!against ||
            (against->n >= 0 && against->n <= INT32_MAX &&
             against->precision == points->precision && against->memory == points->memory));
}

kith_status kith__rules_read(kith_ctx *ctx, const kith_pairs_options *o, const kith_points *points,
                             bool full, bool enqueued, struct kith__rules *rules, bool *has_rules)
{
    *has_rules = kith__has_rules(o) && are_sets(points, o->against);
    if (!*has_rules) {
        return KITH_OK;
    }
    const struct reading r = {
        .options = o,
        .n = {points->n, o->against ? o->against->n : points->n},
        .precision = points->precision,
        .on_host = points->memory == KITH_HOST,
    };
    KITH_TRY(kith__check_memory(ctx, "points", points->memory));
    *rules = (struct kith__rules){.two_sets = o->against != NULL,
                                  .memory = points->memory,
                                  .most_cutoff = INFINITY,
                                  .most_radius = {INFINITY, INFINITY}};
    KITH_TRY(read_table(ctx, &r, rules));
    KITH_TRY(read_radii(ctx, &r, full, enqueued, rules));
    return read_exclusions(ctx, &r, full, rules);
}

kith_status kith__rules_cutoff(kith_ctx *ctx, const struct kith__rules *rules,
                               kith_precision precision, double *cutoff)
{
    const double *h = rules->most_radius;
    const bool empty = h[0] < 0 || h[1] < 0;
    const bool unread = rules->radii[0] && !isfinite(h[0]); /* radii that were read are finite */
    double by_radii = INFINITY;
    if (empty) {
        by_radii = 0;
    } else if (rules->radii[0] && !unread) {
        by_radii = precision == KITH_FLOAT ? (double)kith__radius_of_pair_f(
                                                 rules->radius_rule, (float)h[0], (float)h[1])
                                           : kith__radius_of_pair_d(rules->radius_rule, h[0], h[1]);
    }
    const double largest = fmin(rules->most_cutoff, by_radii);
    KITH_CHECK(ctx, *cutoff != 0 || isfinite(largest) || !unread, KITH_UNSUPPORTED,
               "cutoff is 0, but kith_pairs_enqueue cannot read options.radii: give the largest "
               "distance of a pair");
    KITH_CHECK(ctx, *cutoff != 0 || isfinite(largest) || !rules->radii[0], KITH_INVALID,
               "options.radii: the largest distance of a pair leaves the range of %s coordinates; "
               "choose another unit",
               precision == KITH_FLOAT ? "float" : "double");
    KITH_CHECK(ctx, *cutoff != 0 || largest > 0 || empty, KITH_INVALID,
               "options.radii: the largest distance of a pair is 0, expected a positive one, or a "
               "cutoff");
    if (*cutoff == 0 && isfinite(largest)) {
        *cutoff = largest > 0 ? largest : 1; /* 0: a set is empty, so any cutoff serves */
    } else if (*cutoff > 0 && isfinite(*cutoff) && largest > 0) {
        /* where `largest` is 0, no pair is listed, and the caller's cutoff stays */
        *cutoff = fmin(*cutoff, largest);
    }
    return KITH_OK;
}

const char *kith__rules_cutoff_name(const kith_pairs_options *options, double asked, double cutoff)
{
    const bool by_radii = options->radius_rule && (asked == 0 || cutoff < asked);
    return by_radii ? "the largest distance that options.radii permit" : "cutoff";
}
