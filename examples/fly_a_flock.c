/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A flock of boids agrees on a way; then the rules change while it flies: cohesion alone is left.
 */
#include <kith.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000 };

static double uniform(double low, double high)
{
    return low + (high - low) * rand() / RAND_MAX; /* NOLINT(cert-msc30-c): any will do here */
}

static int fly(kith_ctx *ctx, kith_flock *flock, int64_t steps, kith_flock_measures *now)
{
    if (kith_flock_step(flock, steps) != KITH_OK || kith_flock_measure(flock, now) != KITH_OK) {
        fprintf(stderr, "fly_a_flock: %s\n", kith_message(ctx));
        return 0;
    }
    printf("step %4lld: polarisation %.3f, %.1f neighbours\n", (long long)kith_flock_steps(flock),
           now->polarisation, now->neighbours);
    return 1;
}

int main(void)
{
    static float r[N][3], v[N][3];
    for (int p = 0; p < N; p++) {
        for (int k = 0; k < 3; k++) {
            r[p][k] = (float)uniform(0, 30);
            v[p][k] = (float)uniform(-1, 1);
        }
    }
    kith_ctx *ctx = NULL;
    if (kith_open(NULL, &ctx) != KITH_OK) {
        fprintf(stderr, "fly_a_flock: %s\n", kith_message(NULL));
        return 1;
    }
    const kith_points points = kith_points_packed(r, N, KITH_FLOAT);
    const kith_points velocities = kith_points_packed(v, N, KITH_FLOAT);
    const kith_box box = kith_box_periodic(30, 30, 30);
    kith_flock_options options;
    kith_flock_options_init(&options);
    kith_flock *flock = NULL;
    if (kith_flock_open(ctx, &points, &velocities, &box, &options, &flock) != KITH_OK) {
        fprintf(stderr, "fly_a_flock: %s\n", kith_message(ctx));
        return 1;
    }
    kith_flock_measures start, agreed, crowded;
    int fine = fly(ctx, flock, 0, &start) && fly(ctx, flock, 300, &agreed);

    options.separation.weight = options.alignment.weight = 0;
    fine = fine && kith_flock_change(flock, &options) == KITH_OK && fly(ctx, flock, 100, &crowded);
    kith_flock_close(flock);
    kith_close(ctx);
    return fine && start.polarisation < 0.2 && agreed.polarisation > 0.9 &&
                   crowded.neighbours > 1.5 * agreed.neighbours
               ? 0
               : 1;
}
