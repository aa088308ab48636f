/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The density sum of smoothed-particle hydrodynamics, rho_i = sum_j m W(r_ij, h), with a full list
 * in compressed rows. The list goes into the caller's own arrays: count, allocate, fill.
 */
#include <kith.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 12, N = SIDE * SIDE * SIDE };

/** The cubic spline kernel in three dimensions; zero from r = 2 h on. */
static double kernel(double r, double h)
{
    const double q = r / h, norm = 1 / (acos(-1) * h * h * h);
    const double outer = fmax(2 - q, 0), inner = fmax(1 - q, 0);
    return norm * (0.25 * outer * outer * outer - inner * inner * inner);
}

int main(void)
{
    static double xyz[N][3];
    for (int p = 0; p < N; p++) {
        xyz[p][0] = p % SIDE;
        xyz[p][1] = p / SIDE % SIDE;
        xyz[p][2] = p / SIDE / SIDE % SIDE;
    }
    kith_ctx *ctx = NULL;
    if (kith_open(NULL, &ctx) != KITH_OK) {
        fprintf(stderr, "neighbour_list_csr: %s\n", kith_message(NULL));
        return 1;
    }
    const double h = 1.3;
    const kith_points points = kith_points_packed(xyz, N, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(SIDE, SIDE, SIDE);
    kith_pairs_options options;
    kith_pairs_options_init(&options);
    options.full = 1;
    options.layout = KITH_CSR;
    options.extras = KITH_DISTANCES;

    int64_t n = 0;
    kith_status status = kith_pairs_count(ctx, &points, &box, 2 * h, &options, &n, NULL);
    static int64_t offsets[N + 1];
    int32_t *j = malloc((size_t)(n + 1) * sizeof *j);
    double *r = malloc((size_t)(n + 1) * sizeof *r);
    kith_pairs list = {.capacity = n, .offsets = offsets, .j = j, .distances = r};
    if (status == KITH_OK && j && r) {
        status = kith_pairs_fill(ctx, &points, &box, 2 * h, &options, &list);
    }
    if (status != KITH_OK) {
        fprintf(stderr, "neighbour_list_csr: %s\n", kith_message(ctx));
    }

    double worst = 0; /* unit masses on a unit lattice: the density is 1 */
    for (int i = 0; i < N; i++) {
        double rho = kernel(0, h);
        for (int64_t p = offsets[i]; p < offsets[i + 1]; p++) {
            rho += kernel(r[p], h);
        }
        worst = fmax(worst, fabs(rho - 1));
    }
    printf("%d particles, %.1f neighbours each, density 1 within %.2g\n", N, (double)n / N, worst);

    free(r);
    free(j);
    kith_close(ctx);
    return status == KITH_OK && worst < 0.01 ? 0 : 1;
}
