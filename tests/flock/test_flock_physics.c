/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is known of flocks: momentum is kept where rules are symmetric, speeds keep their limits,
 * Vicsek's order goes with noise, random angles have their distribution; measures of known states.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "check.h"
#include "points.h"

enum { N = 2000 };

static double xyz[3 * N], vel[3 * N];

static kith_flock *open_flock(kith_ctx *ctx, int64_t n, const kith_box *box,
                              const kith_flock_options *o)
{
    const kith_points r = kith_points_packed(xyz, n, KITH_DOUBLE);
    const kith_points v = kith_points_packed(vel, n, KITH_DOUBLE);
    kith_flock *flock = NULL;
    CHECK(kith_flock_open(ctx, &r, &v, box, o, &flock) == KITH_OK, "%s", kith_message(ctx));
    return flock;
}

static void scatter(uint64_t seed, double side, int dim, double speed)
{
    rng random = {seed};
    for (int e = 0; e < 3 * N; e++) {
        const bool flat = dim == 2 && e % 3 == 2;
        xyz[e] = flat ? 0 : rng_uniform(&random, 0, side);
        vel[e] = flat ? 0 : rng_uniform(&random, -speed, speed);
    }
}

/* Separation is equal and opposite: without limits the sum of velocities stays. */
static void check_momentum(kith_ctx *ctx)
{
    const kith_box box = kith_box_periodic(30, 30, 30);
    scatter(1, 30, 3, 1);
    double before[3] = {0, 0, 0}, after[3] = {0, 0, 0};
    for (int e = 0; e < 3 * N; e++)
        before[e % 3] += vel[e];
    kith_flock_options o;
    kith_flock_options_init(&o);
    o.max_speed = o.alignment.radius = o.cohesion.radius = 0;
    kith_flock *flock = open_flock(ctx, N, &box, &o);
    kith_flock_step(flock, 5);
    kith_flock_read(flock, NULL, vel);
    kith_flock_close(flock);
    for (int e = 0; e < 3 * N; e++)
        after[e % 3] += vel[e];
    for (int k = 0; k < 3; k++)
        CHECK(fabs(after[k] - before[k]) < 1e-9, "momentum went from %g to %g", before[k],
              after[k]);
}

static void check_speeds(kith_ctx *ctx)
{
    const kith_box box = kith_box_periodic(30, 30, 30);
    scatter(2, 30, 3, 3);
    kith_flock_options o;
    kith_flock_options_init(&o);
    o.min_speed = 0.8;
    kith_flock *flock = open_flock(ctx, N, &box, &o);
    kith_flock_step(flock, 3);
    kith_flock_read(flock, NULL, vel);
    kith_flock_close(flock);
    for (int p = 0; p < N; p++) {
        const double *v = vel + 3 * p;
        const double speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        CHECK(speed > 0.8 - 1e-12 && speed < 1 + 1e-12, "speed %g", speed);
    }
}

/* Vicsek et al. 1995, figure 2: rho = 4, v = 0.03: order at small noise, none at large. Vectorial
 * noise likewise. */
static void check_order(kith_ctx *ctx, int model, int dim)
{
    const double side = dim == 2 ? 16 : 8;
    kith_box box = kith_box_periodic(side, side, side);
    box.dim = dim;
    double polarisation[2];
    for (int noisy = 0; noisy < 2; noisy++) {
        scatter(3, side, dim, 0.03);
        kith_flock_options o;
        kith_flock_options_init(&o);
        o.model = (kith_flock_model)model;
        o.alignment.radius = 1;
        o.max_speed = 0.3;
        o.time_step = 1;
        o.noise = noisy ? 1 : 0.1;
        kith_flock *flock = open_flock(ctx, N / 2, &box, &o);
        CHECK(kith_flock_step(flock, 150) == KITH_OK, "%s", kith_message(ctx));
        kith_flock_measures m;
        CHECK(kith_flock_measure(flock, &m) == KITH_OK, "%s", kith_message(ctx));
        CHECK(fabs(m.mean_speed - 0.3) < 1e-12, "speed %g", m.mean_speed);
        polarisation[noisy] = m.polarisation;
        kith_flock_close(flock);
    }
    CHECK(polarisation[0] > 0.85, "model %d, %d-D: polarisation %g at noise 0.1", model, dim,
          polarisation[0]);
    CHECK(polarisation[1] < 0.3, "model %d, %d-D: polarisation %g at noise 1", model, dim,
          polarisation[1]);
}

/* One step of particles that see nobody: headings turn by up to eta pi, evenly. */
static void check_noise(kith_ctx *ctx, int dim)
{
    const double eta = 0.4, pi = acos(-1.0);
    kith_box box = kith_box_open();
    box.dim = dim;
    for (int p = 0; p < N; p++) {
        for (int k = 0; k < 3; k++) {
            xyz[3 * p + k] = k == 0 ? 10 * p : 0;
            vel[3 * p + k] = k == 1 ? 2 : 0;
        }
    }
    kith_flock_options o;
    kith_flock_options_init(&o);
    o.model = KITH_VICSEK_ANGULAR;
    o.noise = eta;
    kith_flock *flock = open_flock(ctx, N, &box, &o);
    kith_flock_step(flock, 1);
    kith_flock_read(flock, NULL, vel);
    kith_flock_close(flock);
    double sum = 0, square = 0, most = 0;
    for (int p = 0; p < N; p++) {
        const double *v = vel + 3 * p;
        const double angle = atan2(v[0], v[1]);
        CHECK(fabs(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] - 1) < 1e-12, "speed");
        CHECK(dim == 3 || v[2] == 0, "out of the plane");
        const double along = dim == 2 ? angle / (eta * pi)
                                      : (1 - v[1]) / (1 - cos(eta * pi)) * 2 - 1;
        sum += along;
        square += along * along;
        most = fmax(most, fabs(along));
    }
    /* uniform in [-1, 1]: mean 0, variance 1/3; five standard errors */
    CHECK(fabs(sum / N) < 5 * sqrt(1.0 / 3 / N), "%d-D: mean %g", dim, sum / N);
    CHECK(fabs(square / N - 1.0 / 3) < 5 * sqrt(4.0 / 45 / N), "%d-D: variance %g", dim,
          square / N);
    CHECK(most <= 1 + 1e-9 && most > 0.98, "%d-D: angles up to %g", dim, most);
}

/* A ring that goes round mills, a block that flies is polarised; across faces too. */
static void check_measures(kith_ctx *ctx)
{
    const kith_box box = kith_box_periodic(100, 100, 100);
    kith_flock_options o;
    kith_flock_options_init(&o);
    kith_flock_measures m;
    for (int p = 0; p < 100; p++) {
        const double angle = p * acos(-1.0) / 50;
        const double s[3] = {20 * cos(angle), 20 * sin(angle), 0};
        for (int k = 0; k < 3; k++)
            xyz[3 * p + k] = (k == 0 ? 95 : 50) + s[k];
        vel[3 * p] = -s[1];
        vel[3 * p + 1] = s[0];
        vel[3 * p + 2] = 0;
    }
    kith_flock *flock = open_flock(ctx, 100, &box, &o);
    CHECK(kith_flock_measure(flock, &m) == KITH_OK, "%s", kith_message(ctx));
    CHECK(fabs(m.milling - 1) < 1e-6 && m.polarisation < 1e-9, "a ring: %g, %g", m.milling,
          m.polarisation);
    CHECK(fabs(m.mean_speed - 20) < 1e-9, "speed %g", m.mean_speed);
    CHECK(m.neighbours == 6, "%g neighbours", m.neighbours); /* 1.257 apart: 3 within 5 each way */
    kith_flock_close(flock);
    for (int e = 0; e < 300; e++)
        vel[e] = 1;
    flock = open_flock(ctx, 100, &box, &o);
    CHECK(kith_flock_measure(flock, &m) == KITH_OK, "%s", kith_message(ctx));
    CHECK(fabs(m.polarisation - 1) < 1e-12, "a block: %g", m.polarisation);
    kith_flock_close(flock);
}

int main(int argc, char **argv)
{
    kith_ctx *ctx = check_open(check_backend(argc, argv), 2);
    check_momentum(ctx);
    check_speeds(ctx);
    for (int dim = 2; dim <= 3; dim++) {
        check_noise(ctx, dim);
        if (dim == 2 || !check_brief()) {
            check_order(ctx, KITH_VICSEK_ANGULAR, dim);
            check_order(ctx, KITH_VICSEK_VECTORIAL, dim);
        }
    }
    check_measures(ctx);
    kith_close(ctx);
    return check_done();
}
