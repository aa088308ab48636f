/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is known of flocks: momentum is kept where rules are symmetric, speeds and turns keep their
 * limits, Vicsek's order goes with noise, random angles have their distribution; measures of known
 * states.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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

/* One step of particles that are too far apart to see each other, and fly along y. v is left in
 * vel. */
static void fly_apart(kith_ctx *ctx, int dim, const kith_flock_options *o)
{
    kith_box box = kith_box_open();
    box.dim = dim;
    for (int p = 0; p < N; p++) {
        for (int k = 0; k < 3; k++) {
            xyz[3 * p + k] = k == 0 ? 10 * p : 0;
            vel[3 * p + k] = k == 1 ? 2 : 0;
        }
    }
    kith_flock *flock = open_flock(ctx, N, &box, o);
    CHECK(kith_flock_step(flock, 1) == KITH_OK, "%s", kith_message(ctx));
    kith_flock_read(flock, NULL, vel);
    kith_flock_close(flock);
    for (int p = 0; p < N; p++) {
        const double *v = vel + 3 * p;
        CHECK(fabs(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] - 1) < 1e-12, "speed");
        CHECK(dim == 3 || v[2] == 0, "out of the plane");
    }
}

/* The mean of N numbers is what it should be, within five standard errors.
 *  @param variance  of each number */
static void check_mean(const char *what, int dim, double sum, double mean, double variance)
{
    CHECK(fabs(sum / N - mean) < 5 * sqrt(variance / N), "%d-D, %s: mean %g, not %g", dim, what,
          sum / N, mean);
}

/* Fly apart with noise of strength eta. */
static void turn_randomly(kith_ctx *ctx, kith_flock_model model, int dim, double eta, int gaussian)
{
    kith_flock_options o;
    kith_flock_options_init(&o);
    o.model = model;
    o.noise = eta;
    o.gaussian = gaussian;
    fly_apart(ctx, dim, &o);
}

/* Uniform noise: headings turn by up to eta pi, evenly in angle (2-D) or on the cap (3-D). */
static void check_noise(kith_ctx *ctx, kith_flock_model model, int dim)
{
    const double eta = 0.4, pi = acos(-1.0);
    turn_randomly(ctx, model, dim, eta, 0);
    double sum = 0, square = 0, most = 0;
    for (int p = 0; p < N; p++) {
        const double *v = vel + 3 * p;
        const double along = dim == 2 ? atan2(v[0], v[1]) / (eta * pi)
                                      : (1 - v[1]) / (1 - cos(eta * pi)) * 2 - 1;
        sum += along;
        square += along * along;
        most = fmax(most, fabs(along));
    }
    check_mean("uniform in [-1, 1]", dim, sum, 0, 1.0 / 3);
    check_mean("its square", dim, square, 1.0 / 3, 4.0 / 45);
    CHECK(most <= 1 + 1e-9 && most > 0.98, "%d-D: angles up to %g", dim, most);
}

/* Gaussian noise: the angle of the turn is normal in 2-D. In 3-D its two components are, so that
 * its size has Rayleigh's distribution, and its direction none. */
static void check_gaussian(kith_ctx *ctx, kith_flock_model model, int dim)
{
    const double eta = 0.1, pi = acos(-1.0);
    turn_randomly(ctx, model, dim, eta, 1);
    double first[2] = {0, 0}, second[2] = {0, 0}, fourth[2] = {0, 0}, product = 0, tail = 0;
    for (int p = 0; p < N; p++) {
        const double *v = vel + 3 * p;
        const double aside = hypot(v[0], v[2]);
        const double angle = atan2(aside, v[1]) / (eta * pi);
        const double x[2] = {angle * v[0] / aside, angle * v[2] / aside};
        for (int k = 0; k < dim - 1; k++) {
            first[k] += x[k];
            second[k] += x[k] * x[k];
            fourth[k] += x[k] * x[k] * x[k] * x[k];
        }
        product += x[0] * x[1];
        tail += fabs(x[0]) > 1.959963984540054;
    }
    for (int k = 0; k < dim - 1; k++) {
        check_mean("normal", dim, first[k], 0, 1);
        check_mean("its square", dim, second[k], 1, 2);
        check_mean("its fourth power", dim, fourth[k], 3, 96);
    }
    check_mean("the product of components", dim, product, 0, 1);
    check_mean("the share beyond 1.96", dim, tail, 0.05, 0.05 * 0.95);
}

/* No heading turns by more than turn_rate time_step, also where noise turns it or where u is
 * opposite to v; smaller turns are left alone. */
static void check_turns(kith_ctx *ctx, int dim)
{
    const double pi = acos(-1.0), most = 0.3;
    kith_flock_options o;
    kith_flock_options_init(&o);
    o.model = KITH_VICSEK_ANGULAR;
    o.noise = 1;
    o.time_step = 0.5;
    o.turn_rate = most / o.time_step;
    fly_apart(ctx, dim, &o);
    double limited = 0, left = 0;
    for (int p = 0; p < N; p++) {
        const double *v = vel + 3 * p;
        const double angle = atan2(hypot(v[0], v[2]), v[1]);
        CHECK(angle <= most + 1e-12, "%d-D: a turn of %g", dim, angle);
        limited += angle > most - 1e-12;
        left += v[0] < 0;
    }
    const double share = dim == 2 ? 1 - most / pi : (1 + cos(most)) / 2;
    check_mean("the share of limited turns", dim, limited, share, share * (1 - share));
    check_mean("the share of turns to the left", dim, left, 0.5, 0.25);

    /* an attractor behind each particle makes u exactly opposite to v */
    const kith_flock_thing behind = {.kind = KITH_POINT, .place = {0, -50, 0}, .weight = 4};
    kith_box box = kith_box_open();
    box.dim = dim;
    kith_flock_options_init(&o);
    o.things = &behind;
    o.n_things = 1;
    o.time_step = 0.5;
    o.turn_rate = most / o.time_step;
    memcpy(xyz, (double[]){0, 0, 0}, 3 * sizeof *xyz);
    memcpy(vel, (double[]){0, 1, 0}, 3 * sizeof *vel);
    kith_flock *flock = open_flock(ctx, 1, &box, &o);
    CHECK(kith_flock_step(flock, 1) == KITH_OK, "%s", kith_message(ctx));
    kith_flock_read(flock, NULL, vel);
    kith_flock_close(flock);
    CHECK(fabs(vel[1] - cos(most)) < 1e-12 && fabs(hypot(vel[0], vel[2]) - sin(most)) < 1e-12 &&
              (dim == 3 || vel[0] < 0),
          "%d-D: turning round: %g, %g, %g", dim, vel[0], vel[1], vel[2]);
}

/* Two that overlap and do not move by themselves part as a spring relaxes, by what theory says: the
 * overlap shrinks by the factor 1 - 2 weight time_step in each step; their centre stays. */
static void check_spring(kith_ctx *ctx, int dim)
{
    kith_box box = kith_box_periodic(20, 20, 20);
    box.dim = dim;
    kith_flock_options o;
    kith_flock_options_init(&o);
    o.separation.radius = o.alignment.radius = o.cohesion.radius = 0;
    o.repulsion = (kith_flock_rule){2, 0.7};
    o.time_step = 0.05;
    memcpy(xyz, (double[]){19.9, 7, 3, 0.4, 7.3, dim == 3 ? 3.2 : 3}, 6 * sizeof *xyz);
    memset(vel, 0, 6 * sizeof *vel);
    const double first = sqrt(0.25 + 0.09 + (dim == 3 ? 0.04 : 0));
    kith_flock *flock = open_flock(ctx, 2, &box, &o);
    for (int step = 1; step <= 40; step++) {
        CHECK(kith_flock_step(flock, 1) == KITH_OK, "%s", kith_message(ctx));
        kith_flock_read(flock, xyz, vel);
        double square = 0;
        for (int k = 0; k < dim; k++) {
            const double d = xyz[3 + k] - xyz[k] + (k == 0 ? 20 : 0);
            square += d * d;
            CHECK(vel[k] == 0 && vel[3 + k] == 0, "repulsion changed a velocity");
        }
        const double law = 2 - (2 - first) * pow(1 - 2 * 0.7 * 0.05, step);
        CHECK(fabs(sqrt(square) - law) < 1e-5, "%d-D: %g apart after %d steps, not %g", dim,
              sqrt(square), step, law);
        CHECK(fabs(xyz[1] + xyz[4] - 14.3) < 1e-12, "the centre moved");
    }
    kith_flock_close(flock);
}

/* Active Brownian particles that are too far apart to touch: the mean square displacement of a
 * persistent walk in the plane, 2 (v / D)^2 (D t - 1 + exp(-D t)), here summed over the steps. */
static void check_walk(kith_ctx *ctx)
{
    enum { LONG = 400 };
    const double pi = acos(-1.0), diffusion = 0.5, step = 0.05, speed = 0.5;
    kith_box box = kith_box_open();
    box.dim = 2;
    kith_flock_options o;
    kith_flock_options_init(&o);
    o.separation.radius = o.alignment.radius = o.cohesion.radius = 0;
    o.repulsion = (kith_flock_rule){1, 10};
    o.min_speed = o.max_speed = speed;
    o.time_step = step;
    o.gaussian = 1;
    o.noise = sqrt(2 * diffusion * step) / pi;
    o.seed = 5;
    for (int e = 0; e < 3 * N; e++) {
        xyz[e] = e % 3 == 0 ? 100.0 * (e / 3) : 0; /* a walk is at most 10 long */
        vel[e] = e % 3 == 1 ? speed : 0;
    }
    kith_flock *flock = open_flock(ctx, N, &box, &o);
    for (int done = 0; done < LONG;) {
        const int end = done == 0 ? 1 : done == 1 ? 20 : LONG; /* straight, bent, diffusive */
        CHECK(kith_flock_step(flock, end - done) == KITH_OK, "%s", kith_message(ctx));
        done = end;
        kith_flock_read(flock, xyz, NULL);
        double sum = 0, law = 0;
        for (int p = 0; p < N; p++) {
            const double x = xyz[3 * p] - 100.0 * p, y = xyz[3 * p + 1];
            sum += x * x + y * y;
        }
        for (int k = 0; k < end; k++)
            law += (k == 0 ? end : 2 * (end - k)) * exp(-diffusion * step * k);
        law *= speed * speed * step * step;
        const double t = end * step * diffusion;
        CHECK(end < 20 ||
                  fabs(law / (2 * pow(speed / diffusion, 2) * (t - 1 + exp(-t))) - 1) < 0.01,
              "the law of steps is not that of time");
        /* squares of a plane walk scatter by their mean, at most */
        CHECK(fabs(sum / N / law - 1) < (end == 1 ? 1e-9 : 5 / sqrt(N)),
              "%d steps: mean square displacement %g, not %g", end, sum / N, law);
    }
    kith_flock_close(flock);
}

/* Active particles that touch push each other, keep their speed, and leave their centre to the
 * velocities: repulsion is equal and opposite. */
static void check_crowd(kith_ctx *ctx)
{
    kith_box box = kith_box_open();
    kith_flock_options o;
    kith_flock_options_init(&o);
    o.separation.radius = o.alignment.radius = o.cohesion.radius = 0;
    o.repulsion = (kith_flock_rule){1.5, 5};
    o.min_speed = o.max_speed = 1;
    o.time_step = 0.02;
    scatter(6, 12, 3, 1);
    double before[3] = {0, 0, 0}, after[3] = {0, 0, 0};
    kith_flock *flock = open_flock(ctx, N, &box, &o);
    for (int step = 0; step < 20; step++) {
        kith_flock_step(flock, 1);
        kith_flock_read(flock, xyz, vel);
        for (int e = 0; e < 3 * N; e++)
            after[e % 3] += (step == 19 ? xyz[e] : 0) - (step > 0 ? vel[e] * o.time_step : 0);
        for (int e = 0; e < 3 * N && step == 0; e++)
            before[e % 3] += xyz[e];
    }
    kith_flock_close(flock);
    for (int k = 0; k < 3; k++)
        CHECK(fabs(after[k] - before[k]) < 1e-8, "repulsion moved the centre by %g",
              (after[k] - before[k]) / N);
}

/* Fly a flock, a share of which leads along x, or against it.
 *  @param sign  1 or -1: of the direction of the leaders
 *  @return the component of the mean direction along that of the leaders, from -1 to 1 */
static double follow(kith_ctx *ctx, double leaders, int sign)
{
    const double side = 45;
    kith_box box = kith_box_periodic(side, side, side);
    box.dim = 2;
    kith_flock_options o;
    kith_flock_options_init(&o);
    o.model = KITH_VICSEK_ANGULAR;
    o.alignment.radius = 2;
    o.max_speed = 0.3;
    o.time_step = 1;
    o.noise = 0.1;
    o.leaders = leaders;
    o.leader_weight = 0.5;
    o.leader_direction[0] = sign;
    o.seed = 3;
    scatter(7, side, 2, 0.3);
    kith_flock *flock = open_flock(ctx, N, &box, &o);
    CHECK(kith_flock_step(flock, 1000) == KITH_OK, "%s", kith_message(ctx));
    kith_flock_read(flock, NULL, vel);
    kith_flock_close(flock);
    double sum[2] = {0, 0};
    for (int p = 0; p < N; p++)
        for (int k = 0; k < 2; k++)
            sum[k] += vel[3 * p + k] / 0.3;
    CHECK(hypot(sum[0], sum[1]) / N > 0.8, "no order: %g", hypot(sum[0], sum[1]) / N);
    return sign * sum[0] / N;
}

/* Couzin et al. 2005: a few that know the way, 1 in 50, take the flock along, whichever way it is;
 * without leaders the flock has a direction of its own. */
static void check_leaders(kith_ctx *ctx)
{
    const double none = follow(ctx, 0, 1) + follow(ctx, 0, -1);
    CHECK(none == 0, "leaders that are none changed the flock: %g", none);
    for (int sign = -1; sign <= 1; sign += 2) {
        const double few = follow(ctx, 0.02, sign);
        CHECK(few > 0.8, "the flock flies %g along its leaders", few);
    }
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
        check_noise(ctx, KITH_VICSEK_ANGULAR, dim);
        check_noise(ctx, KITH_BOIDS, dim);
        check_gaussian(ctx, KITH_VICSEK_ANGULAR, dim);
        check_gaussian(ctx, KITH_BOIDS, dim);
        check_turns(ctx, dim);
        check_spring(ctx, dim);
        if (dim == 2 || !check_brief()) {
            check_order(ctx, KITH_VICSEK_ANGULAR, dim);
            check_order(ctx, KITH_VICSEK_VECTORIAL, dim);
        }
    }
    check_walk(ctx);
    if (!check_brief())
        check_leaders(ctx);
    check_crowd(ctx);
    check_measures(ctx);
    kith_close(ctx);
    return check_done();
}
