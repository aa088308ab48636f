/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The Lennard-Jones liquid of examples/lennard_jones.c, its forces from a kept list that is
 * compared with a fresh search after each step. In its long form a million steps.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verlet_case.h"

enum { CELLS = 4, N = 4 * CELLS * CELLS * CELLS };

static const double DENSITY = 0.8442, CUTOFF = 1.6, SKIN = 0.3, STEP = 0.004;

static double v[N][3], f[N][3];

/* Forces of 4 (r^-12 - r^-6) within the cutoff. */
static void find_forces(const kith_pairs *list)
{
    memset(f, 0, sizeof f);
    for (int64_t p = 0; p < list->n; p++) {
        const double *d = (const double *)list->vectors + 3 * p;
        const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2], r6 = 1 / (r2 * r2 * r2);
        const double push = 24 * r6 * (2 * r6 - 1) / r2;
        for (int k = 0; k < 3; k++) {
            f[list->i[p]][k] -= push * d[k];
            f[list->j[p]][k] += push * d[k];
        }
    }
}

/* Keep the temperature at 0.722, as the cut forces do not conserve energy. */
static void set_temperature(void)
{
    double sum = 0;
    for (int p = 0; p < N; p++)
        for (int k = 0; k < 3; k++)
            sum += v[p][k] * v[p][k];
    for (int p = 0; p < N; p++)
        for (int k = 0; k < 3; k++)
            v[p][k] *= sqrt(3 * N * 0.722 / sum);
}

int main(int argc, char **argv)
{
    kith_ctx *ctx = check_open(check_backend(argc, argv), 1);
    const int steps = check_deep() ? 1000000 : 1000 / (1 + check_brief());
    const double side = cbrt(N / DENSITY);
    double *x = points_lattice(LATTICE_FCC, CELLS, side / CELLS);
    const kith_points points = kith_points_packed(x, N, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(side, side, side);
    kith_verlet_options o;
    kith_verlet_options_init(&o);
    o.cutoff = CUTOFF;
    o.skin = SKIN;
    o.extras = KITH_VECTORS;
    kept k = kept_open(ctx, &o, "liquid");
    rng r = {1};
    for (int p = 0; p < N; p++)
        for (int m = 0; m < 3; m++)
            v[p][m] = rng_normal(&r);
    int good = 1;
    for (int s = 0; s < steps && good; s++) {
        good = kept_check(&k, &points, &box);
        find_forces(&k.list);
        for (int p = 0; p < N; p++)
            for (int m = 0; m < 3; m++) {
                v[p][m] += STEP * f[p][m];
                x[3 * p + m] += STEP * v[p][m];
            }
        if (s % 10 == 0)
            set_temperature();
    }
    const kith_verlet_state state = kept_state(&k);
    CHECK(state.rebuilds > steps / 200 && state.rebuilds < steps / 8, "%lld rebuilds in %d steps",
          (long long)state.rebuilds, steps);
    kept_close(&k);
    free(x);
    kith_close(ctx);
    return check_done();
}
