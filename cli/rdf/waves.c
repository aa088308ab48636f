/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Vectors q of a box for the direct sum. Of q and -q, whose sums are complex conjugates, one is
 * chosen. In bins with few vectors all are visited, twice: to count them, and to choose evenly. In
 * other bins directions are spread over a half sphere, and the vector of the box next to each is
 * taken.
 */
#include "waves.h"

#include "common/box.h"

#include <math.h>
#include <stdlib.h>

/** Rows a*, b*, c* of 2 pi times the inverse of the box, transposed: q = h a* + k b* + l c*. In 2-D
 *  c* is 0. */
typedef struct basis {
    double row[3][3]; /* a*, b*, c* [1/length] */
} basis;

/** Compute the reciprocal lattice of a box. */
static basis reciprocal(const kith_box *box)
{
    basis out = {0};
    double n[3][3];
    box_normals(box, n);
    for (int k = 0; k < box->dim; k++) {
        const double *r = box->row[k];
        const double volume = n[k][0] * r[0] + n[k][1] * r[1] + n[k][2] * r[2];
        for (int m = 0; m < 3; m++) {
            out.row[k][m] = 2 * M_PI * n[k][m] / volume;
        }
    }
    return out;
}

static double length(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

double waves_least(const kith_box *box)
{
    const basis rows = reciprocal(box);
    double least = INFINITY;
    for (int k = 0; k < box->dim; k++) {
        least = fmin(least, length(rows.row[k]));
    }
    return least;
}

/** Return |q| of a vector. */
static double length_of(const basis *rows, const int32_t hkl[3])
{
    double q[3];
    for (int m = 0; m < 3; m++) {
        q[m] = hkl[0] * rows->row[0][m] + hkl[1] * rows->row[1][m] + hkl[2] * rows->row[2][m];
    }
    return length(q);
}

double waves_length(const waves *w, const kith_box *box, int64_t wave)
{
    const basis rows = reciprocal(box);
    return length_of(&rows, w->hkl[wave]);
}

/** Append a vector, or its opposite, whose first number that is not 0 is positive.
 *  @return false: no memory */
static bool add(waves *w, const int32_t hkl[3])
{
    if (w->n == w->capacity) {
        w->capacity = 2 * w->capacity + 64;
        int32_t(*grown)[3] = realloc(w->hkl, (size_t)w->capacity * sizeof *grown);
        if (!grown) {
            return false;
        }
        w->hkl = grown;
    }
    const int32_t first = hkl[0] ? hkl[0] : hkl[1] ? hkl[1] : hkl[2];
    for (int k = 0; k < 3; k++) {
        const int32_t at = first < 0 ? -hkl[k] : hkl[k];
        w->hkl[w->n][k] = at;
    }
    w->n++;
    return true;
}

/** Which vectors to choose: at most `each` of a bin, evenly from the order of h, k, l. */
typedef struct selection {
    double q_min;   /* lower edge of the first bin */
    double width;   /* width of every bin */
    int64_t bins;   /* number of bins */
    int64_t each;   /* largest number of vectors to choose in a bin */
    int64_t *there; /* [bins] vectors of the lattice in each bin */
    int64_t *seen;  /* [bins] vectors visited so far, while they are chosen */
} selection;

/** Visit all vectors of the bins: count them, or with `out` choose. @return false: no memory. */
static bool visit(const kith_box *box, const basis *rows, const selection *s, waves *out)
{
    int32_t most[3] = {0};
    const double end = s->q_min + (double)s->bins * s->width;
    for (int k = 0; k < box->dim; k++) {
        most[k] = (int32_t)(end * length(box->row[k]) / (2 * M_PI)) + 1;
    }
    /* Half of the vectors: the first of h, k, l that is not 0 is positive. */
    for (int32_t h = 0; h <= most[0]; h++) {
        for (int32_t k = h ? -most[1] : 0; k <= most[1]; k++) {
            for (int32_t l = h || k ? -most[2] : 1; l <= most[2]; l++) {
                const int32_t hkl[3] = {h, k, l};
                const int64_t bin = waves_bin(length_of(rows, hkl), s->q_min, s->width);
                if (bin < 0 || bin >= s->bins) {
                    continue;
                }
                if (!out) {
                    s->there[bin]++;
                    continue;
                }
                const int64_t all = s->there[bin], taken = s->each < all ? s->each : all;
                /* Take vector n of `all` where floor(n taken / all) grows. */
                const int64_t n = ++s->seen[bin];
                if (n * taken / all != (n - 1) * taken / all && !add(out, hkl)) {
                    return false;
                }
            }
        }
    }
    return true;
}

/** Choose among all vectors of the bins. @return false: no memory. */
static bool all_of_bins(const kith_box *box, const basis *rows, double q_min, double width,
                        int64_t bins, int64_t each, waves *out)
{
    selection s = {.q_min = q_min, .width = width, .bins = bins, .each = each};
    s.there = calloc(2 * (size_t)bins + 1, sizeof *s.there);
    s.seen = s.there + bins;
    const bool fits = s.there && visit(box, rows, &s, NULL) && visit(box, rows, &s, out);
    free(s.there);
    return fits;
}

/** Compute unit vector i of n that are spread over a half sphere, in 2-D a half circle: a spiral
 *  with the golden angle pi (3 - sqrt 5) between neighbours. R. Swinbank and R. J. Purser, Q. J. R.
 *  Meteorol. Soc. 132, 1769 (2006). */
static void direction(int dim, int64_t i, int64_t n, double out[3])
{
    const double golden = 2.399963229728653, z = ((double)i + 0.5) / (double)n;
    const double angle = dim == 2 ? M_PI * z : golden * (double)i;
    const double across = dim == 2 ? 1 : sqrt(1 - z * z);
    out[0] = across * cos(angle);
    out[1] = across * sin(angle);
    out[2] = dim == 2 ? 0 : z;
}

/** Choose the vectors of the box next to `each` points that are spread over the shell of a bin: q
 *  is rounded to whole h, k, l, and dropped if it then lies in another bin.
 *  @return false: no memory */
static bool some_of_bin(const kith_box *box, const basis *rows, double q_min, double width,
                        int64_t bin, int64_t each, waves *out)
{
    const double from = q_min + (double)bin * width;
    const double plastic = 0.7548776662466927; /* its multiples modulo 1 fill [0, 1) evenly */
    for (int64_t i = 0; i < each; i++) {
        double d[3];
        const double t = plastic * (double)(i + 1);
        const double q = from + (t - floor(t)) * width;
        direction(box->dim, i, each, d);
        int32_t hkl[3] = {0};
        for (int k = 0; k < box->dim; k++) {
            const double *r = box->row[k];
            hkl[k] = (int32_t)lround(q * (d[0] * r[0] + d[1] * r[1] + d[2] * r[2]) / (2 * M_PI));
        }
        const bool inside = waves_bin(length_of(rows, hkl), q_min, width) == bin;
        if (inside && !add(out, hkl)) {
            return false;
        }
    }
    return true;
}

int64_t waves_bin(double q, double q_min, double width)
{
    return (int64_t)floor((q - q_min) / width);
}

bool waves_choose(const kith_box *box, double q_min, double width, int64_t bins, int64_t each,
                  waves *out)
{
    enum { MANY = 8 }; /* factor over the vectors wanted: not all need to be visited */
    *out = (waves){0};
    const basis rows = reciprocal(box);
    const double cell = pow(2 * M_PI, box->dim) / box_volume(box);
    int64_t few = 0; /* bins up to this one have few vectors: shells grow with q */
    for (; few < bins; few++) {
        const double from = q_min + (double)few * width, to = from + width;
        /* Volume of half the shell of the bin, as one of q and -q is chosen. */
        const double shell = box->dim == 3 ? 2 * M_PI / 3 * (to * to * to - from * from * from)
                                           : M_PI / 2 * (to * to - from * from);
        if (shell / cell > (double)(MANY * each)) {
            break;
        }
    }
    bool fits = all_of_bins(box, &rows, q_min, width, few, each, out);
    for (int64_t b = few; b < bins && fits; b++) {
        fits = some_of_bin(box, &rows, q_min, width, b, each, out);
    }
    return fits;
}

void waves_free(waves *w)
{
    free(w->hkl);
    *w = (waves){0};
}
