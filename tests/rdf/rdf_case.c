/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Brute force: the oracle's pairs, put into bins by halving; where only nearest
 * images count, all of i and j, with the least |d| along each axis.
 */
#include "rdf_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct tally {
    const rdf_case *c;
    kith_precision precision;
    int64_t partials;
    double *edge2;
    int64_t *counts;
    double *sums;
    double *pushes, *sizes; /* with forces: as kith_histogram.pushes, and of |terms| */
    const double *xyz[2];   /* wrapped */
} tally;

kith_rdf_options rdf_linear(int64_t bins, double r_max)
{
    kith_rdf_options o;
    kith_rdf_options_init(&o);
    o.bins = bins;
    o.r_max = r_max;
    return o;
}

static double rounded(kith_precision precision, double x)
{
    return precision == KITH_FLOAT ? (double)(float)x : x;
}

static int is_bonded(const kith_rdf_options *o, int32_t i, int32_t j)
{
    int found = 0;
    for (int64_t at = o->bond_offsets[i]; at < o->bond_offsets[i + 1]; at++)
        found |= o->bonds[at] == j;
    return found;
}

static int is_left_out(const rdf_case *c, int32_t i, int32_t j)
{
    const kith_rdf_options *o = &c->options;
    const int32_t *other = c->against ? o->molecules_against : o->molecules;
    if (o->molecules && o->molecules[i] >= 0 && o->molecules[i] == other[j])
        return 1;
    return o->bond_offsets && (is_bonded(o, i, j) || (!c->against && is_bonded(o, j, i)));
}

static int64_t partial_of(const rdf_case *c, int32_t i, int32_t j)
{
    const kith_rdf_options *o = &c->options;
    const int32_t n = o->n_species;
    int32_t a = o->species ? o->species[i] : 0;
    int32_t b = !o->species ? 0 : c->against ? o->species_against[j] : o->species[j];
    if (c->against)
        return (int64_t)a * n + b;
    if (a > b) {
        const int32_t swap = a;
        a = b;
        b = swap;
    }
    int64_t partial = 0;
    for (int32_t row = 0; row < a; row++)
        partial += n - row;
    return partial + b - a;
}

/* The push of a pair, of which the other end is moved by an image. */
static void add_push(tally *t, const oracle_pair *p, int64_t partial, int64_t k)
{
    const rdf_case *c = t->c;
    const double *other = c->against ? c->forces_against : c->forces;
    const int dim = c->box && c->box->dim == 2 ? 2 : 3;
    double push = 0, r2 = 0;
    for (int m = 0; m < dim; m++) {
        double d = t->xyz[1][3 * p->j + m];
        for (int row = 2; row >= 0 && c->box; row--)
            d += p->image[row] * rounded(t->precision, c->box->row[row][m]);
        d -= t->xyz[0][3 * p->i + m];
        push += (rounded(t->precision, other[3 * p->j + m]) -
                 rounded(t->precision, c->forces[3 * p->i + m])) *
                d;
        r2 += d * d;
    }
    const double first = c->options.r_min > 0 ? c->options.r_min
                                              : c->options.r_max / (double)c->options.bins;
    const double r = fmax(sqrt(r2), fmin(first / 64, c->options.r_max / 1024));
    const double terms[2] = {push, push / (dim == 3 ? r * r * r : r * r)};
    for (int which = 0; which < 2; which++) {
        const int64_t at = (2 * partial + which) * (c->options.bins + 1) + k;
        t->pushes[at] += terms[which];
        t->sizes[at] += fabs(terms[which]);
    }
}

static void add(tally *t, int32_t i, int32_t j, double r2, const oracle_pair *pair)
{
    const rdf_case *c = t->c;
    const int64_t bins = c->options.bins;
    if (is_left_out(c, i, j) || r2 > t->edge2[bins])
        return;
    if (r2 < t->edge2[0]) {
        if (c->forces)
            add_push(t, pair, partial_of(c, i, j), 0);
        return;
    }
    int64_t k = 0, end = bins; /* the bin is one of [k, end) */
    while (end - k > 1) {
        const int64_t middle = k + (end - k) / 2;
        if (r2 >= t->edge2[middle])
            k = middle;
        else
            end = middle;
    }
    const int64_t at = partial_of(c, i, j) * bins + k;
    t->counts[at]++;
    if (c->forces)
        add_push(t, pair, at / bins, k + 1);
    if (c->options.weights)
        t->sums[at] += c->options.weights[i] *
                       (c->against ? c->options.weights_against : c->options.weights)[j];
}

static void add_pair(void *user, const oracle_pair *p)
{
    tally *t = user;
    const int32_t *s = p->image;
    const int32_t last = s[2] != 0 ? s[2] : s[1] != 0 ? s[1] : s[0];
    if (t->c->against || p->i < p->j || (p->i == p->j && last > 0))
        add(t, p->i, p->j, p->r2, p);
}

/* The nearest images of all pairs. */
static void add_nearest(tally *t, const kith_points *points, const kith_points *against)
{
    const kith_points *other = against ? against : points;
    const kith_box *box = t->c->box;
    const kith_precision p = t->precision;
    double *x = check_malloc((size_t)points->n * 3 * sizeof *x);
    double *y = check_malloc((size_t)other->n * 3 * sizeof *y);
    int64_t *boxes = check_malloc((size_t)(points->n + other->n) * 3 * sizeof *boxes);
    oracle_wrap(points, box, x, boxes);
    oracle_wrap(other, box, y, boxes);
    for (int32_t i = 0; i < points->n; i++)
        for (int32_t j = against ? 0 : i + 1; j < other->n; j++) {
            double square[3] = {0, 0, 0};
            for (int k = 0; k < box->dim; k++) {
                const double side = rounded(p, box->row[k][k]);
                const double d = rounded(p, y[3 * j + k] - x[3 * i + k]);
                double least = fabs(d);
                least = fmin(least, fabs(rounded(p, d + side)));
                least = fmin(least, fabs(rounded(p, d - side)));
                square[k] = rounded(p, least * least);
            }
            add(t, i, j, rounded(p, rounded(p, square[0] + square[1]) + square[2]), NULL);
        }
    free(boxes);
    free(y);
    free(x);
}

static void compare(const tally *t, const kith_histogram *h, const char *backend)
{
    const int64_t bins = t->c->options.bins;
    const char *precision = t->precision == KITH_FLOAT ? "float" : "double";
    if (!CHECK(h->partials == t->partials && h->bins == bins, "%s: %d partials of %lld bins",
               t->c->name, h->partials, (long long)h->bins))
        return;
    for (int64_t at = 0; at < h->partials * bins; at++) {
        if (!CHECK(h->counts[at] == t->counts[at],
                   "%s, %s, %s: partial %lld of %d, bin %lld of %lld: %lld, expected %lld",
                   t->c->name, backend, precision, (long long)(at / bins), h->partials,
                   (long long)(at % bins), (long long)bins, (long long)h->counts[at],
                   (long long)t->counts[at]))
            return;
        if (h->sums)
            CHECK(fabs(h->sums[at] - t->sums[at]) <= 1e-13 * (1 + (double)t->counts[at]),
                  "%s: sum %.17g, expected %.17g", t->c->name, h->sums[at], t->sums[at]);
    }
}

/* Terms are rounded to 2^-40 of their bounds, or the second power of 2 above that. */
static double cut_of(const rdf_case *c, int which, int64_t k)
{
    const kith_rdf_options *o = &c->options;
    const double width = (o->r_max - o->r_min) / (double)o->bins;
    const double first = o->r_min > 0 ? o->r_min : width;
    const double least = fmin(first / 64, o->r_max / 1024), cut = 4 * 20 * pow(2, -40);
    const int dim = c->box ? c->box->dim : 3;
    double most = 0;
    for (int64_t at = 0; at <= o->bins; at++) {
        const double edge = at == 0 ? first : o->r_min + (double)at * width;
        const double low = fmax(at == 0 ? 0 : o->r_min + (double)(at - 1) * width, least);
        most = fmax(most, pow(edge, dim) / pow(low, dim - 1));
    }
    const double edge = k == 0 ? first : o->r_min + (double)k * width;
    return which ? cut * most / pow(edge, dim) : cut * o->r_max;
}

static void compare_pushes(const tally *t, const kith_histogram *h, const char *backend)
{
    const int64_t row = t->c->options.bins + 1;
    for (int64_t at = 0; at < 2 * t->partials * row; at++) {
        const double cut = 30 * cut_of(t->c, at / row % 2 != 0, at % row);
        if (!CHECK(fabs(h->pushes[at] - t->pushes[at]) <= 1e-9 * t->sizes[at] + cut,
                   "%s, %s, %s: sum %lld of pushes, bin %lld of %lld: %.17g, expected %.17g",
                   t->c->name, backend, t->precision == KITH_FLOAT ? "float" : "double",
                   (long long)(at / row), (long long)(at % row) - 1, (long long)row - 1,
                   h->pushes[at], t->pushes[at]))
            return;
    }
}

static void *real_copy(const double *from, int64_t n, kith_precision precision)
{
    char *to = from ? check_malloc((size_t)n * precision) : NULL;
    for (int64_t k = 0; k < n && from; k++) {
        if (precision == KITH_FLOAT)
            ((float *)(void *)to)[k] = (float)from[k];
        else
            ((double *)(void *)to)[k] = from[k];
    }
    return to;
}

/* Make room for pushes, and wrap both sets. @return memory, to be freed. */
static double *begin_pushes(tally *t, const kith_points *points, const kith_points *against)
{
    const size_t row = 2 * (size_t)(t->partials * (t->c->options.bins + 1));
    const size_t places = 3 * (size_t)(points->n + (against ? against->n : 0));
    double *memory = check_malloc((2 * row + places) * sizeof *memory);
    int64_t *boxes = check_malloc(places * sizeof *boxes);
    memset(memory, 0, 2 * row * sizeof *memory);
    t->pushes = memory;
    t->sizes = memory + row;
    double *xyz = memory + 2 * row;
    t->xyz[0] = t->xyz[1] = xyz;
    oracle_wrap(points, t->c->box, xyz, boxes);
    if (against) {
        t->xyz[1] = xyz + 3 * points->n;
        oracle_wrap(against, t->c->box, xyz + 3 * points->n, boxes);
    }
    free(boxes);
    return memory;
}

/* Make the brute-force tally: the edges are those of the histogram h. */
static void tally_all(tally *t, const kith_points *points, const kith_points *against,
                      const kith_histogram *h)
{
    const int64_t bins = t->c->options.bins;
    for (int64_t k = 0; k <= bins; k++) {
        const double edge = rounded(t->precision, h->edges[k]);
        t->edge2[k] = rounded(t->precision, edge * edge);
    }
    if (t->c->options.minimum_image)
        add_nearest(t, points, against);
    else
        oracle_each(points, against, t->c->box, h->edges[bins], add_pair, t);
}

static int same_numbers(const void *a, const void *b, int64_t n)
{
    return (!a && !b) || (a && b && memcmp(a, b, (size_t)n * 8) == 0);
}

/* Two contexts give the same bits: of all that is not a sum of pushes, and of these on CPUs. */
static void compare_bits(const rdf_case *c, const kith_histogram *a, const kith_histogram *b,
                         int cpus)
{
    const int64_t all = a->partials * a->bins;
    CHECK(a->partials == b->partials && a->bins == b->bins && a->frames == b->frames &&
              same_numbers(a->counts, b->counts, all) && same_numbers(a->sums, b->sums, all) &&
              same_numbers(a->ideal, b->ideal, all) &&
              same_numbers(a->edges, b->edges, a->bins + 1) &&
              same_numbers(a->pairs, b->pairs, a->partials) &&
              same_numbers(a->centres, b->centres, a->n_species),
          "%s: other bits on another context", c->name);
    CHECK(!cpus || (same_numbers(a->pushes, b->pushes, 2 * a->partials * (a->bins + 1)) &&
                    same_numbers(a->density, b->density, a->partials)),
          "%s: other bits of pushes on another context", c->name);
}

/* Count on each context, tally once, compare. */
static void check_contexts(kith_ctx *const *ctx, int contexts, tally *t, const kith_points *points,
                           const kith_rdf_options *o)
{
    const rdf_case *c = t->c;
    kith_histogram first = {0};
    for (int k = 0; k < contexts; k++) {
        kith_histogram h = {0};
        const kith_status status = kith_rdf_count(ctx[k], points, c->box, o, &h);
        if (CHECK(status == KITH_OK, "%s, %s: %s", c->name, kith_backend(ctx[k]),
                  kith_message(ctx[k]))) {
            if (!first.owner)
                tally_all(t, points, o->against, &h);
            compare(t, &h, kith_backend(ctx[k]));
            if (CHECK((h.pushes != NULL) == (c->forces != NULL), "%s: pushes", c->name) &&
                c->forces)
                compare_pushes(t, &h, kith_backend(ctx[k]));
            if (first.owner)
                compare_bits(c, &first, &h,
                             !strncmp(kith_backend(ctx[0]), "cpu", 3) &&
                                 !strncmp(kith_backend(ctx[k]), "cpu", 3));
        }
        if (first.owner)
            kith_histogram_free(&h);
        else
            first = h;
    }
    kith_histogram_free(&first);
}

void rdf_check_form(kith_ctx *const *ctx, int contexts, const rdf_case *c, kith_precision precision,
                    layout how)
{
    kith_rdf_options o = c->options;
    stored points = stored_make(c->xyz, c->n, precision, how);
    stored other = stored_make(c->against, c->against ? c->m : 0, precision, LAYOUT_PACKED);
    o.against = c->against ? &other.points : NULL;
    void *forces = real_copy(c->forces, 3 * c->n, precision);
    void *forces_against = real_copy(c->forces_against, 3 * c->m, precision);
    o.forces = forces;
    o.forces_against = forces_against;
    const int64_t n = o.n_species;
    tally t = {.c = c, .precision = precision};
    t.partials = c->against ? n * n : n * (n + 1) / 2;
    const size_t all = (size_t)(t.partials * o.bins);
    t.edge2 = check_malloc((size_t)(o.bins + 1) * sizeof *t.edge2);
    t.counts = check_malloc(all * sizeof *t.counts);
    t.sums = check_malloc(all * sizeof *t.sums);
    memset(t.counts, 0, all * sizeof *t.counts);
    memset(t.sums, 0, all * sizeof *t.sums);
    double *pushes = c->forces ? begin_pushes(&t, &points.points, o.against) : NULL;
    check_contexts(ctx, contexts, &t, &points.points, &o);
    free(pushes);
    free(forces_against);
    free(forces);
    free(t.sums);
    free(t.counts);
    free(t.edge2);
    stored_free(&other);
    stored_free(&points);
}

void rdf_check(kith_ctx *ctx, const rdf_case *c)
{
    static int turn;
    rdf_check_form(&ctx, 1, c, KITH_FLOAT, (layout)(turn++ % LAYOUTS));
    rdf_check_form(&ctx, 1, c, KITH_DOUBLE, (layout)(turn++ % LAYOUTS));
}
