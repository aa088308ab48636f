/* SPDX-License-Identifier: BSD-3-Clause
 *
 * exp(i q.r) = A^h B^k C^l with phases A, B, C of a particle's fractional coordinates: for a chunk
 * of particles their powers are tabulated once, and each vector then costs two products of complex
 * numbers a particle. A vector's sum is taken in one order whatever the number of threads.
 */
#include "waves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.141592653589793;

/** Rows a*, b*, c* of 2 pi times the inverse of the box, transposed: q = h a* + k b* + l c*. */
typedef struct basis {
    double row[3][3];
} basis;

static basis reciprocal(const kith_box *box)
{
    basis out;
    double r[3][3];
    memcpy(r, box->row, sizeof r);
    if (box->dim == 2) {
        r[0][2] = r[1][2] = r[2][0] = r[2][1] = 0;
        r[2][2] = 1;
    }
    for (int k = 0; k < 3; k++) {
        const double *a = r[(k + 1) % 3], *b = r[(k + 2) % 3];
        const double n[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                             a[0] * b[1] - a[1] * b[0]};
        const double volume = n[0] * r[k][0] + n[1] * r[k][1] + n[2] * r[k][2];
        for (int m = 0; m < 3; m++) {
            out.row[k][m] = 2 * pi * n[m] / volume;
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

static bool add(waves *w, const int32_t hkl[3])
{
    if (w->n == w->room) {
        w->room = 2 * w->room + 64;
        int32_t(*grown)[3] = realloc(w->hkl, (size_t)w->room * sizeof *grown);
        if (!grown) {
            return false;
        }
        w->hkl = grown;
    }
    const int32_t first = hkl[0] ? hkl[0] : hkl[1] ? hkl[1] : hkl[2];
    for (int k = 0; k < 3; k++) {
        const int32_t at = first < 0 ? -hkl[k] : hkl[k];
        w->hkl[w->n][k] = at;
        w->most[k] = at > w->most[k] ? at : -at > w->most[k] ? -at : w->most[k];
    }
    w->n++;
    return true;
}

/** Of all vectors of a bin take some, evenly; without `out` count them. */
static int64_t all_of_bin(const kith_box *box, const basis *rows, double from, double to,
                          int64_t each, int64_t there, waves *out)
{
    int32_t most[3] = {0};
    for (int k = 0; k < box->dim; k++) {
        most[k] = (int32_t)(to * length(box->row[k]) / (2 * pi)) + 1;
    }
    int64_t n = 0;
    const int64_t among = there > 0 ? there : 1, taken = each < among ? each : among;
    for (int32_t h = 0; h <= most[0]; h++) {
        for (int32_t k = h ? -most[1] : 0; k <= most[1]; k++) {
            for (int32_t l = h || k ? -most[2] : 1; l <= most[2]; l++) {
                const int32_t hkl[3] = {h, k, l};
                const double q = length_of(rows, hkl);
                if (q < from || q >= to) {
                    continue;
                }
                n++;
                const bool turn = n * taken / among != (n - 1) * taken / among;
                if (out && turn && !add(out, hkl)) {
                    return -1;
                }
            }
        }
    }
    return n;
}

/** Point i of n spread over a half sphere (a half circle) of vectors. R. Swinbank and
 *  R. J. Purser, Q. J. R. Meteorol. Soc. 132, 1769 (2006). */
static void direction(int dim, int64_t i, int64_t n, double out[3])
{
    const double golden = 2.399963229728653, z = ((double)i + 0.5) / (double)n;
    const double angle = dim == 2 ? pi * z : golden * (double)i;
    const double across = dim == 2 ? 1 : sqrt(1 - z * z);
    out[0] = across * cos(angle);
    out[1] = across * sin(angle);
    out[2] = dim == 2 ? 0 : z;
}

/** Vectors of the box next to points spread over a shell. */
static bool some_of_bin(const kith_box *box, const basis *rows, double from, double to,
                        int64_t each, waves *out)
{
    const double plastic = 0.7548776662466927; /* multiples of it fill [0, 1) evenly */
    for (int64_t i = 0; i < each; i++) {
        double d[3];
        const double t = plastic * (double)(i + 1);
        const double q = from + (t - floor(t)) * (to - from);
        direction(box->dim, i, each, d);
        int32_t hkl[3] = {0};
        for (int k = 0; k < box->dim; k++) {
            const double *r = box->row[k];
            hkl[k] = (int32_t)lround(q * (d[0] * r[0] + d[1] * r[1] + d[2] * r[2]) / (2 * pi));
        }
        const double found = length_of(rows, hkl);
        if (found >= from && found < to && !add(out, hkl)) {
            return false;
        }
    }
    return true;
}

bool waves_choose(const kith_box *box, double q_min, double width, int64_t bins, int64_t each,
                  waves *out)
{
    enum { MANY = 8 }; /* times as many as are wanted: they need not all be looked at */
    *out = (waves){.q_min = q_min, .width = width, .bins = bins};
    const basis rows = reciprocal(box);
    const double(*r)[3] = rows.row;
    const double cell = fabs(r[0][0] * (r[1][1] * r[2][2] - r[1][2] * r[2][1]) -
                             r[0][1] * (r[1][0] * r[2][2] - r[1][2] * r[2][0]) +
                             r[0][2] * (r[1][0] * r[2][1] - r[1][1] * r[2][0]));
    for (int64_t b = 0; b < bins; b++) {
        const double from = q_min + (double)b * width, to = from + width;
        const double space = box->dim == 3 ? 2 * pi / 3 * (to * to * to - from * from * from)
                                           : pi / 2 * (to * to - from * from) * 2 * pi;
        if (space / cell > (double)(MANY * each)) {
            if (!some_of_bin(box, &rows, from, to, each, out)) {
                return false;
            }
        } else {
            const int64_t there = all_of_bin(box, &rows, from, to, each, 0, NULL);
            if (all_of_bin(box, &rows, from, to, each, there, out) < 0) {
                return false;
            }
        }
    }
    size_t powers = 0;
    for (int k = 0; k < 3; k++) {
        powers += (size_t)out->most[k] + 1;
    }
    out->table = malloc(powers * 2 * WAVES_CHUNK * sizeof *out->table);
    return out->table != NULL;
}

/** Fractional coordinates in order of class. @param[out] begin  [classes + 1] */
static void sort_places(waves *w, const kith_points *points, const basis *rows,
                        const int32_t *classes, int n_classes, int64_t *begin)
{
    memset(begin, 0, ((size_t)n_classes + 1) * sizeof *begin);
    for (int64_t p = 0; p < points->n; p++) {
        begin[classes[p] + 1]++;
    }
    for (int c = 0; c < n_classes; c++) {
        begin[c + 1] += begin[c];
    }
    for (int64_t p = 0; p < points->n; p++) {
        const int64_t from = p * points->stride, to = begin[classes[p]]++;
        const void *const axis[3] = {points->x, points->y, points->z};
        double r[3];
        for (int k = 0; k < 3; k++) {
            r[k] = points->precision == KITH_FLOAT ? (double)((const float *)axis[k])[from]
                                                   : ((const double *)axis[k])[from];
        }
        for (int k = 0; k < 3; k++) {
            w->place[to][k] = r[0] * rows->row[k][0] + r[1] * rows->row[k][1] +
                              r[2] * rows->row[k][2];
        }
    }
    memmove(begin + 1, begin, (size_t)n_classes * sizeof *begin);
    begin[0] = 0;
}

/** Powers 0 to most of the phases along one axis: [power][real, imaginary][chunk]. Where there is
 *  no particle they are 0. */
static void fill_powers(const waves *w, int axis, int64_t first, int n, double *table)
{
    double *one = table + 2 * (size_t)WAVES_CHUNK;
    for (int p = 0; p < WAVES_CHUNK; p++) {
        const double x = p < n ? w->place[first + p][axis] : 0;
        table[p] = p < n ? 1 : 0;
        table[WAVES_CHUNK + p] = 0;
        if (w->most[axis] > 0) {
            one[p] = p < n ? cos(x) : 0;
            one[WAVES_CHUNK + p] = p < n ? sin(x) : 0;
        }
    }
    for (int32_t m = 2; m <= w->most[axis]; m++) {
        const double *a = table + 2 * (size_t)(m / 2) * WAVES_CHUNK;
        const double *b = table + 2 * (size_t)(m - m / 2) * WAVES_CHUNK;
        double *to = table + 2 * (size_t)m * WAVES_CHUNK;
        for (int p = 0; p < WAVES_CHUNK; p++) {
            to[p] = a[p] * b[p] - a[WAVES_CHUNK + p] * b[WAVES_CHUNK + p];
            to[WAVES_CHUNK + p] = a[p] * b[WAVES_CHUNK + p] + a[WAVES_CHUNK + p] * b[p];
        }
    }
}

/** Sum of A^h B^k C^l over the chunk, in lanes that a processor adds side by side. */
static void add_wave(const int32_t hkl[3], double *const table[3], double sum[2])
{
    enum { LANES = 2 };
    const double *t[3];
    double sign[3];
    for (int k = 0; k < 3; k++) {
        const int32_t power = hkl[k] < 0 ? -hkl[k] : hkl[k];
        t[k] = table[k] + 2 * (size_t)power * WAVES_CHUNK;
        sign[k] = hkl[k] < 0 ? -1 : 1;
    }
    double real[LANES] = {0}, imaginary[LANES] = {0};
    for (int at = 0; at < WAVES_CHUNK; at += LANES) {
        for (int lane = 0; lane < LANES; lane++) {
            const int p = at + lane;
            const double ai = sign[0] * t[0][WAVES_CHUNK + p], bi = sign[1] * t[1][WAVES_CHUNK + p];
            const double ci = sign[2] * t[2][WAVES_CHUNK + p];
            const double re = t[0][p] * t[1][p] - ai * bi, im = t[0][p] * bi + ai * t[1][p];
            real[lane] += re * t[2][p] - im * ci;
            imaginary[lane] += re * ci + im * t[2][p];
        }
    }
    for (int lane = 0; lane < LANES; lane++) {
        sum[0] += real[lane];
        sum[1] += imaginary[lane];
    }
}

static bool need(waves *w, int64_t n, int n_classes)
{
    if (!w->sum) {
        w->sum = malloc((size_t)w->n * (size_t)n_classes * 2 * sizeof *w->sum + 1);
    }
    if (n > w->n_place) {
        free(w->place);
        w->place = malloc((size_t)n * sizeof *w->place);
        w->n_place = w->place ? n : 0;
    }
    return w->sum && (w->place || n == 0);
}

int waves_sum(waves *w, const kith_points *points, const kith_box *box, const int32_t *classes,
              int n_classes, int threads, bool (*stop)(void))
{
    int64_t *begin = malloc(((size_t)n_classes + 1) * sizeof *begin);
    int status = begin && need(w, points->n, n_classes) ? 0 : -1;
    const basis rows = reciprocal(box);
    double *table[3] = {w->table};
    for (int k = 1; k < 3; k++) {
        table[k] = table[k - 1] + 2 * ((size_t)w->most[k - 1] + 1) * WAVES_CHUNK;
    }
    if (status == 0) {
        memset(w->sum, 0, (size_t)w->n * (size_t)n_classes * 2 * sizeof *w->sum);
        sort_places(w, points, &rows, classes, n_classes, begin);
    }
    (void)threads; /* a build without OpenMP */
    for (int c = 0; c < n_classes && status == 0; c++) {
        for (int64_t at = begin[c]; at < begin[c + 1] && status == 0; at += WAVES_CHUNK) {
            const int64_t left = begin[c + 1] - at;
            const int n = left < WAVES_CHUNK ? (int)left : WAVES_CHUNK;
            for (int k = 0; k < 3; k++) {
                fill_powers(w, k, at, n, table[k]);
            }
#pragma omp parallel for num_threads(threads) schedule(static)
            for (int64_t v = 0; v < w->n; v++) {
                add_wave(w->hkl[v], table, w->sum + 2 * (v * n_classes + c));
            }
            status = stop() ? 1 : 0;
        }
    }
    free(begin);
    return status;
}

void waves_free(waves *w)
{
    free(w->hkl);
    free(w->table);
    free(w->sum);
    free(w->place);
    *w = (waves){0};
}
