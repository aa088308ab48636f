/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Particles of a simulation, in an order that has nothing to do with their places, are moved to an
 * order in which neighbours in space are neighbours in memory: positions, velocities and ids. Lists
 * are then made faster, and so is the program's own loop over neighbours. No pair changes.
 *
 *     reorder_particles [N]
 */
#include <kith.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/** The arrays of a simulation. */
typedef struct particles {
    int32_t n;
    float (*x)[3], (*v)[3];
    int64_t *id;
} particles;

static double seconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/** Allocate the arrays. */
static particles make_arrays(int32_t n)
{
    const particles made = {n, malloc((size_t)n * sizeof *made.x),
                            malloc((size_t)n * sizeof *made.v),
                            malloc((size_t)n * sizeof *made.id)};
    if (!made.x || !made.v || !made.id) {
        puts("no memory");
        exit(1);
    }
    return made;
}

static void free_arrays(particles *all)
{
    free(all->x);
    free(all->v);
    free(all->id);
}

/** Move all arrays to an order. */
static void reorder(particles *all, const int32_t *order)
{
    particles moved = make_arrays(all->n);
    for (int32_t k = 0; k < all->n; k++) {
        for (int m = 0; m < 3; m++) {
            moved.x[k][m] = all->x[order[k]][m];
            moved.v[k][m] = all->v[order[k]][m];
        }
        moved.id[k] = all->id[order[k]];
    }
    free_arrays(all);
    *all = moved;
}

/** Sum over all neighbours of how fast they move apart, weighted by their ids: an example of what a
 *  simulation does with a list. The weights make a sum that moves with no order. */
static double work(const particles *all, const kith_pairs *list)
{
    double sum = 0;
    for (int32_t i = 0; i < all->n; i++) {
        double mine = 0;
        for (int64_t p = list->offsets[i]; p < list->offsets[i + 1]; p++) {
            const int32_t j = list->j[p];
            double along = 0;
            for (int m = 0; m < 3; m++) {
                along += (double)(all->x[j][m] - all->x[i][m]) * (all->v[j][m] - all->v[i][m]);
            }
            mine += along;
        }
        sum += mine * (double)(all->id[i] % 1000);
    }
    return sum;
}

/** Time the list and the loop over it, the fastest of three.
 *  @param[out] sum  what the loop adds up
 *  @return pairs of the list; -1 when a call failed */
static int64_t measure(kith_ctx *ctx, const particles *all, const kith_box *box, double cutoff,
                       double *sum, double time[2])
{
    kith_pairs list = {.size = sizeof list};
    kith_pairs_options options;
    kith_pairs_options_init(&options);
    options.full = 1;
    options.layout = KITH_CSR;
    const kith_points points = kith_points_packed(all->x, all->n, KITH_FLOAT);
    int64_t n = -1;
    time[0] = time[1] = INFINITY;
    for (int turn = 0; turn < 3; turn++) {
        const double begin = seconds();
        if (kith_pairs_find(ctx, &points, box, cutoff, &options, &list) != KITH_OK) {
            puts(kith_message(ctx));
            n = -1;
            break;
        }
        const double found = seconds();
        *sum = work(all, &list);
        time[0] = fmin(time[0], found - begin);
        time[1] = fmin(time[1], seconds() - found);
        n = list.n;
    }
    kith_pairs_free(&list);
    return n;
}

int main(int argc, char **argv)
{
    const int32_t n = argc > 1 ? (int32_t)strtol(argv[1], NULL, 10) : 100000;
    const double cutoff = cbrt(40.0 / (4.0 / 3 * 3.14159265358979) / n); /* some 40 neighbours */
    const kith_box box = kith_box_periodic(1, 1, 1);
    kith_ctx *ctx = NULL;
    if (n < 1000 || kith_open(NULL, &ctx) != KITH_OK) {
        puts(n < 1000 ? "N is to be 1000 or more" : kith_message(NULL));
        return 1;
    }
    particles all = make_arrays(n);
    uint64_t state = 1;
    for (int32_t p = 0; p < n; p++) {
        for (int m = 0; m < 6; m++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            (m < 3 ? all.x[p] : all.v[p])[m % 3] = (float)((double)(state >> 40) * 0x1p-24);
        }
        all.id[p] = p;
    }

    double before[2], after[2], sum[2];
    const int64_t pairs = measure(ctx, &all, &box, cutoff, &sum[0], before);
    kith_order order = {.size = sizeof order};
    const double begin = seconds();
    const kith_points points = kith_points_packed(all.x, n, KITH_FLOAT);
    if (kith_order_find(ctx, &points, &box, cutoff, &order) != KITH_OK) {
        puts(kith_message(ctx));
        return 1;
    }
    reorder(&all, order.order);
    const double spent = seconds() - begin;
    kith_order_free(&order);
    const int64_t again = measure(ctx, &all, &box, cutoff, &sum[1], after);
    printf("%d particles, %lld pairs; list and loop over neighbours: %.1f and %.1f ms in random "
           "order, %.1f and %.1f ms in order, into which they were moved in %.1f ms\n",
           n, (long long)pairs, 1e3 * before[0], 1e3 * before[1], 1e3 * after[0], 1e3 * after[1],
           1e3 * spent);
    const int right = pairs > 0 && again == pairs &&
                      fabs(sum[1] - sum[0]) <= 1e-9 * (double)pairs * 1000;
    free_arrays(&all);
    kith_close(ctx);
    if (!right) {
        printf("%lld pairs in order, sums %.10g and %.10g\n", (long long)again, sum[0], sum[1]);
    }
    return right ? 0 : 1;
}
