/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Halos: two clouds of particles, one of them across a face of the periodic box, among a few that
 * belong to none.
 */
#include <kith.h>
#include <math.h>
#include <stdio.h>

enum { CLOUD = 1000, LONE = 20, N = 2 * CLOUD + LONE };

static double xyz[N][3], velocity[N][3];

/** The k-th of N places in [-0.5, 0.5)^3 that look random (Roberts' sequence). */
static double scattered(int k, int axis)
{
    static const double step[3] = {0.8191725134, 0.6710436067, 0.5497004779};
    const double x = k * step[axis];
    return x - floor(x) - 0.5;
}

int main(void)
{
    static const double centre[2][3] = {{0.3, 0.4, 0.5}, {0.98, 0.7, 0.2}};
    for (int p = 0; p < N; p++) {
        const int cloud = p / CLOUD; /* 2: alone */
        for (int k = 0; k < 3; k++) {
            xyz[p][k] = cloud < 2 ? centre[cloud][k] + 0.1 * scattered(p, k)
                                  : scattered(p, k) + 0.5;
            velocity[p][k] = cloud == 1 ? 100 : 0;
        }
    }

    kith_ctx *ctx = NULL;
    kith_groups groups = {0};
    kith_halos halos = {0};
    kith_halo_input known;
    kith_halo_input_init(&known);
    known.velocities = velocity;
    const kith_points points = kith_points_packed(xyz, N, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(1, 1, 1);

    kith_status status = kith_open(NULL, &ctx);
    if (status == KITH_OK) {
        status = kith_fof_find(ctx, &points, &box, 0.02, NULL, &groups);
    }
    if (status == KITH_OK) {
        status = kith_halos_measure(ctx, &points, &box, &groups, &known, &halos);
    }
    if (status != KITH_OK) {
        fprintf(stderr, "%s\n", kith_message(ctx));
    }
    for (int64_t h = 0; h < halos.n; h++) {
        const kith_halo *halo = &halos.halo[h];
        printf("halo %d: %d members around (%.2f, %.2f, %.2f), rms radius %.3f, moving at %.0f\n",
               (int)h + 1, (int)halo->members, halo->centre[0], halo->centre[1], halo->centre[2],
               halo->radius_rms, halo->velocity[0]);
    }
    const int right = halos.n == 2 && fabs(halos.halo[0].radius_rms - 0.05) < 0.002;
    kith_halos_free(&halos);
    kith_groups_free(&groups);
    kith_close(ctx);
    return right ? 0 : 1;
}
