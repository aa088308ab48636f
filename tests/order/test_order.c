/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Orders of particles: against a sort by the numbers of cells that shares no code with the library;
 * along the curve, consecutive cells of a lattice are neighbours; every backend gives the order of
 * the baseline of the CPU; arguments that are refused.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "oracle.h"
#include "points.h"

static kith_order find(kith_ctx *ctx, const kith_points *points, const kith_box *box, double cell)
{
    kith_order order = {.size = sizeof order};
    CHECK(kith_order_find(ctx, points, box, cell, &order) == KITH_OK && order.n == points->n, "%s",
          kith_message(ctx));
    return order;
}

/** Check that an order has each particle once. */
static int check_each_once(const kith_order *order)
{
    int good = 1;
    char *seen = check_malloc((size_t)order->n);
    memset(seen, 0, (size_t)order->n);
    for (int64_t k = 0; k < order->n && good; k++) {
        const int64_t p = order->order[k];
        good = CHECK(p >= 0 && p < order->n && !seen[p], "place %lld has particle %lld",
                     (long long)k, (long long)p);
        if (good)
            seen[p] = 1;
    }
    free(seen);
    return good;
}

/* --------------------------------------------------------------------------------- by the rows */

/** A particle, and its cell. */
typedef struct numbered {
    int64_t cell[3], p;
} numbered;

static int by_row(const void *left, const void *right)
{
    const numbered *a = left, *b = right;
    for (int k = 2; k >= 0; k--)
        if (a->cell[k] != b->cell[k])
            return a->cell[k] < b->cell[k] ? -1 : 1;
    return (a->p > b->p) - (a->p < b->p);
}

/** Compare the order by rows of cells with a sort of the wrapped positions. */
static void check_rows(kith_ctx *ctx, const char *name, const kith_points *points,
                       const kith_box *box, double cell)
{
    const int64_t n = points->n;
    const int dim = box ? box->dim : 3;
    double *xyz = check_malloc((size_t)n * 3 * sizeof *xyz);
    int64_t *boxes = check_malloc((size_t)n * 3 * sizeof *boxes);
    numbered *expected = check_malloc((size_t)n * sizeof *expected);
    oracle_wrap(points, box, xyz, boxes);
    double low[3] = {0, 0, 0};
    for (int k = 0; k < dim; k++)
        for (int64_t p = 0; p < n; p++)
            low[k] = p == 0 || xyz[3 * p + k] < low[k] ? xyz[3 * p + k] : low[k];
    for (int64_t p = 0; p < n; p++) {
        expected[p] = (numbered){.p = p};
        for (int k = 0; k < dim; k++) {
            const volatile double apart = xyz[3 * p + k] - low[k], scaled = apart * (1 / cell);
            expected[p].cell[k] = (int64_t)floor(scaled);
        }
    }
    qsort(expected, (size_t)n, sizeof *expected, by_row);
    kith_order order = find(ctx, points, box, cell);
    for (int64_t k = 0; k < n; k++)
        if (!CHECK(order.order[k] == expected[k].p, "%s: place %lld has particle %d, not %lld",
                   name, (long long)k, order.order[k], (long long)expected[k].p))
            break;
    kith_order_free(&order);
    free(expected);
    free(boxes);
    free(xyz);
}

/* -------------------------------------------------------------------------------- along a curve */

/** Particles in the middles of side^dim cells, in random order, and two in the corners that set the
 *  extents. The order visits neighbouring cells one after the other, and each corner once. */
static void check_curve(kith_ctx *ctx, int dim, int side, rng *r)
{
    const int64_t cells = dim == 3 ? (int64_t)side * side * side : (int64_t)side * side;
    double *xyz = check_malloc((size_t)(cells + 2) * 3 * sizeof *xyz);
    for (int64_t c = 0; c < cells; c++) {
        xyz[3 * c] = (double)(c % side) + 0.5;
        xyz[3 * c + 1] = (double)(c / side % side) + 0.5;
        xyz[3 * c + 2] = dim == 3 ? (double)(c / side / side) + 0.5 : 0;
    }
    for (int64_t c = cells - 1; c > 0; c--) {
        const int64_t other = rng_below(r, c + 1);
        for (int k = 0; k < 3; k++) {
            const double x = xyz[3 * c + k];
            xyz[3 * c + k] = xyz[3 * other + k];
            xyz[3 * other + k] = x;
        }
    }
    for (int k = 0; k < 3; k++) {
        xyz[3 * cells + k] = 0;
        xyz[3 * cells + 3 + k] = k < dim ? side : 0;
    }
    kith_box box = kith_box_open();
    box.dim = dim;
    for (int p = 0; p < 2; p++) {
        stored s = stored_make(xyz, cells + 2, p ? KITH_DOUBLE : KITH_FLOAT, LAYOUT_PACKED);
        kith_order order = find(ctx, &s.points, &box, 0);
        const int good = check_each_once(&order);
        int64_t last = -1;
        for (int64_t k = 0; k < order.n && good; k++) {
            const int64_t at = order.order[k];
            double apart = 0;
            if (at >= cells)
                continue; /* a corner */
            for (int m = 0; m < dim && last >= 0; m++)
                apart += fabs(xyz[3 * at + m] - xyz[3 * last + m]);
            if (!CHECK(last < 0 || apart == 1, "%d dimensions: cells %g apart at place %lld", dim,
                       apart, (long long)k))
                break;
            last = at;
        }
        kith_order_free(&order);
        stored_free(&s);
    }
    free(xyz);
}

/* --------------------------------------------------------------------------------- on a backend */

/** Compare an order with that of another context, found and filled. */
static void check_same(kith_ctx *ctx, kith_ctx *right, const char *name, const double *xyz,
                       int64_t n, const kith_box *box, double cell)
{
    static int turn;
    for (int p = 0; p < 2; p++) {
        stored s = stored_make(xyz, n, p ? KITH_DOUBLE : KITH_FLOAT, (layout)(turn++ % LAYOUTS));
        kith_order a = find(ctx, &s.points, box, cell), b = find(right, &s.points, box, cell);
        int32_t *array = check_malloc(((size_t)n + 1) * sizeof *array);
        kith_order filled = {.size = sizeof filled, .order = array};
        array[n] = 77;
        CHECK(kith_order_fill(ctx, &s.points, box, cell, &filled) == KITH_OK && filled.n == n, "%s",
              kith_message(ctx));
        check_each_once(&a);
        for (int64_t k = 0; k < n; k++)
            if (!CHECK(a.order[k] == b.order[k] && array[k] == a.order[k],
                       "%s: place %lld has %d, filled %d, of the CPU %d", name, (long long)k,
                       a.order[k], array[k], b.order[k]))
                break;
        CHECK(array[n] == 77, "%s: wrote behind the array", name);
        if (cell > 0 && (!box || box->dim == 3))
            check_rows(ctx, name, &s.points, box, cell);
        kith_order_free(&a);
        kith_order_free(&b);
        free(array);
        stored_free(&s);
    }
}

static void check_sets(kith_ctx *ctx, kith_ctx *right)
{
    rng r = {41};
    const kith_box brick = kith_box_periodic(1.0, 1.25, 0.75);
    const kith_box cell = kith_box_triclinic(1.0, 0.9, 1.1, 0.4, -0.3, 0.2);
    kith_box plane = kith_box_triclinic(1.0, 0.9, 0.0, 0.4, 0.0, 0.0);
    plane.dim = 2;
    const kith_box *boxes[] = {NULL, &brick, &cell, &plane};
    const double widths[] = {0, 0.07, 0.4, 3, 1e-9};
    const int64_t sizes[] = {0, 1, 2, 700, 20000};
    for (int b = 0; b < 4; b++)
        for (int w = 0; w < 4; w++)
            for (int s = 0; s < 5; s++) {
                double *xyz = points_in_box(&r, sizes[s], boxes[b] ? boxes[b] : &brick);
                if (boxes[b])
                    points_drift(&r, xyz, sizes[s], boxes[b], 2);
                check_same(ctx, right, "a box", xyz, sizes[s], boxes[b], widths[w]);
                free(xyz);
            }
    double *xyz = points_clustered(&r, 30000, 5, 1.0, 1e-4);
    for (int w = 0; w < 4; w++) /* keys of more bits than fit beside an index */
        check_same(ctx, right, "clusters", xyz, 30000, NULL, w == 3 ? 1e-6 : widths[w]);
    xyz[0] = 1e7; /* a particle far from all others: more cells than 2^21 */
    kith_points points = kith_points_packed(xyz, 30000, KITH_DOUBLE);
    kith_order a = find(ctx, &points, NULL, widths[4]), b = find(right, &points, NULL, widths[4]);
    CHECK(check_each_once(&a) && memcmp(a.order, b.order, 30000 * sizeof *a.order) == 0,
          "too many cells");
    CHECK(a.order[29999] == 0, "the farthest along x is not last");
    kith_order_free(&a);
    kith_order_free(&b);
    for (int k = 0; k < 3 * 700; k++)
        xyz[k] = 0.3;
    a = find(ctx, (points.n = 700, &points), NULL, 0);
    for (int k = 0; k < 700; k++)
        if (!CHECK(a.order[k] == k, "coincident particles change places"))
            break;
    kith_order_free(&a);
    free(xyz);
}

static void check_arguments(kith_ctx *ctx)
{
    double xyz[2][3] = {{0, 0, 0}, {1, (double)NAN, 1}};
    kith_points points = kith_points_packed(xyz, 2, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(1, 1, 1);
    int32_t array[2];
    kith_order order = {.size = sizeof order, .order = array};
#define REFUSED(status, box, cell, text) \
    CHECK(kith_order_fill(ctx, &points, box, cell, &order) == (status) && order.n == 0 && \
              strstr(kith_message(ctx), text) != NULL, \
          "%s", kith_message(ctx))
    REFUSED(KITH_NOT_FINITE, NULL, 0, "particle 1");
    xyz[1][1] = 1e30;
    REFUSED(KITH_LIMIT, &box, 0, "particle 1");
    xyz[1][1] = 1;
    REFUSED(KITH_INVALID, NULL, -1, "cell is -1");
    REFUSED(KITH_INVALID, NULL, (double)INFINITY, "cell is inf");
    order.order = NULL;
    REFUSED(KITH_INVALID, NULL, 0, "out->order is NULL");
    order.order = array;
    CHECK(kith_order_find(ctx, &points, NULL, 0, &order) == KITH_INVALID, "%s", kith_message(ctx));
    CHECK(kith_order_fill(ctx, &points, NULL, 0, NULL) == KITH_INVALID, "%s", kith_message(ctx));
    CHECK(kith_order_fill(ctx, &points, NULL, 0, &order) == KITH_OK && order.n == 2 &&
              array[0] == 0 && array[1] == 1,
          "%s", kith_message(ctx));
    kith_order found = find(ctx, &points, NULL, 0);
    kith_order lent = found;
    CHECK(kith_order_fill(ctx, &points, NULL, 0, &lent) == KITH_INVALID, "%s", kith_message(ctx));
    kith_order_free(&found);
    CHECK(found.order == NULL && found.n == 0 && found.size == sizeof found, "not freed");
    kith_order_free(&found);
    kith_order_free(NULL);
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    kith_ctx *ctx = check_open(backend, 3), *right = check_open("cpu:baseline", 1);
    rng r = {40};
    for (int dim = 2; dim <= 3; dim++)
        for (int side = 1; side <= 32; side *= 2)
            check_curve(ctx, dim, side, &r);
    check_sets(ctx, right);
    check_arguments(ctx);
    kith_close(right);
    kith_close(ctx);
    return check_done();
}
