/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What bends the paths of particles: points, obstacles, predators, each against its formula.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "points.h"

static kith_flock_options alone(const kith_flock_thing *things, int n)
{
    kith_flock_options o;
    kith_flock_options_init(&o);
    o.separation.radius = o.alignment.radius = o.cohesion.radius = 0;
    o.max_speed = 0;
    o.time_step = 0.5;
    o.things = things;
    o.n_things = n;
    return o;
}

/* One particle after some steps. */
static void fly(kith_ctx *ctx, const kith_box *box, const kith_flock_options *o, int steps,
                double r[3], double v[3])
{
    const kith_points at = kith_points_packed(r, 1, KITH_DOUBLE);
    const kith_points speed = kith_points_packed(v, 1, KITH_DOUBLE);
    kith_flock *flock = NULL;
    CHECK(kith_flock_open(ctx, &at, &speed, box, o, &flock) == KITH_OK, "%s", kith_message(ctx));
    CHECK(kith_flock_step(flock, steps) == KITH_OK, "%s", kith_message(ctx));
    kith_flock_read(flock, r, v);
    kith_flock_close(flock);
}

static void expect(const char *what, const double got[3], double x, double y, double z)
{
    const double wanted[3] = {x, y, z};
    for (int k = 0; k < 3; k++)
        CHECK(fabs(got[k] - wanted[k]) < 1e-12, "%s: %.17g at %d, expected %.17g", what, got[k], k,
              wanted[k]);
}

static void check_points(kith_ctx *ctx)
{
    kith_flock_thing point = {.kind = KITH_POINT, .place = {4, 3, 0}, .weight = 0.5};
    kith_flock_options o = alone(&point, 1);
    double r[3] = {0, 0, 0}, v[3] = {0, 0, 1};
    fly(ctx, NULL, &o, 1, r, v);
    expect("drawn", v, 0.4, 0.3, 1);
    expect("drawn to", r, 0.2, 0.15, 0.5);
    point.weight = -0.5;
    point.reach = 5; /* the particle is a little further away now */
    double far[3] = {0, 0, 1}, still[3] = {0, 0, 0};
    fly(ctx, NULL, &o, 1, far, still);
    expect("out of reach", still, 0, 0, 0);
    double near[3] = {0, 0, 0};
    fly(ctx, NULL, &o, 1, near, still);
    expect("driven away", still, -0.4, -0.3, 0);
    /* across the face of a box: the point is nearer behind it */
    const kith_box box = kith_box_periodic(10, 10, 10);
    point = (kith_flock_thing){.kind = KITH_POINT, .place = {9, 5, 5}, .weight = 1, .reach = 3};
    double low[3] = {1, 5, 5}, slow[3] = {0, 0, 0};
    fly(ctx, &box, &o, 1, low, slow);
    expect("across", slow, -1, 0, 0);
}

static void check_obstacles(kith_ctx *ctx)
{
    kith_flock_thing sphere = {.kind = KITH_SPHERE, .place = {5, 0, 0}, .radius = 2};
    kith_flock_options o = alone(&sphere, 1);
    double r[3] = {2.75, 0, 0}, v[3] = {1, 0.5, 0};
    fly(ctx, NULL, &o, 1, r, v);
    /* it would come to (3.25, 0.25, 0): normal (-7, 1, 0) / sqrt 50, put 2 from the middle */
    const double nx = -7 / sqrt(50), ny = 1 / sqrt(50), inward = nx + 0.5 * ny;
    expect("on the sphere", r, 5 + 2 * nx, 2 * ny, 0);
    expect("turned round", v, 1 - 2 * inward * nx, 0.5 - 2 * inward * ny, 0);
    sphere.reach = 4;
    sphere.weight = 0.8;
    double before[3] = {2, 0, 0}, still[3] = {0, 0, 0};
    fly(ctx, NULL, &o, 1, before, still);
    expect("turned away", still, -0.8 * (1 - 1 / 4.0), 0, 0);
    kith_flock_thing wall = {.kind = KITH_WALL, .place = {0, 0, 1}, .normal = {0, 0, 3}};
    o = alone(&wall, 1);
    double above[3] = {7, 7, 1.25}, down[3] = {1, 0, -1};
    fly(ctx, NULL, &o, 1, above, down);
    expect("on the wall", above, 7.5, 7, 1);
    expect("off the wall", down, 1, 0, 1);
    wall.reach = 2;
    wall.weight = 1;
    double low[3] = {0, 0, 2}, slow[3] = {0, 0, 0};
    fly(ctx, NULL, &o, 1, low, slow);
    expect("away from the wall", slow, 0, 0, 0.5);
}

/* The surface of an obstacle lies behind a wall of the box: particles are put on it, and are then
 * turned back into the box, from where the flock can be opened again. */
static void check_enclosed(kith_ctx *ctx)
{
    const kith_flock_thing sphere = {.kind = KITH_SPHERE, .place = {1, 5, 5}, .radius = 2};
    kith_flock_options o = alone(&sphere, 1);
    kith_box box = kith_box_periodic(10, 10, 10);
    for (int k = 0; k < 3; k++) {
        box.periodic[k] = 0;
        o.reflecting[k] = 1;
    }
    double r[3] = {0.25, 5, 5}, v[3] = {0, 0, 0};
    fly(ctx, &box, &o, 1, r, v); /* the surface is at -1 */
    expect("in the box", r, 1, 5, 5);
    fly(ctx, &box, &o, 1, r, v);
}

/* A step over several widths of the box is folded between its walls, and each reflection turns the
 * velocity. A step to infinity is an error. */
static void check_folded(kith_ctx *ctx)
{
    kith_flock_options o = alone(NULL, 0);
    kith_box box = kith_box_periodic(10, 10, 10);
    for (int k = 0; k < 3; k++) {
        box.periodic[k] = 0;
        box.origin[k] = -4;
        o.reflecting[k] = 1;
    }
    o.time_step = 1;
    for (int step = -400; step <= 400; step++) { /* from 1, by an eighth of `step` */
        double r[3] = {1, 1, 1}, v[3] = {step / 8.0, 0, -step / 4.0};
        double at[3] = {1 + v[0], 1, 1 + v[2]}, turned[3] = {v[0], 0, v[2]};
        for (int k = 0; k < 3; k++) {
            while (at[k] < -4 || at[k] > 6) {
                at[k] = at[k] < -4 ? -8 - at[k] : 12 - at[k];
                turned[k] = -turned[k];
            }
        }
        fly(ctx, &box, &o, 1, r, v);
        expect("folded", r, at[0], at[1], at[2]);
        expect("turned", v, turned[0], turned[1], turned[2]);
    }
    kith_box thin = box; /* far away, where both walls are one number */
    thin.row[0][0] = 1;
    thin.origin[0] = 1e17;
    double far[3] = {1e17, 0, 0}, fast[3] = {8e17, 0, 0};
    fly(ctx, &thin, &o, 1, far, fast);
    expect("between walls at one place", far, 1e17, 0, 0);
    const double two[6] = {0, 0, 0, 1, 0, 0}, still[6] = {0};
    const kith_points at = kith_points_packed(two, 2, KITH_DOUBLE);
    const kith_points speed = kith_points_packed(still, 2, KITH_DOUBLE);
    for (int times = 0; times < 2; times++) {
        kith_flock *flock = NULL;
        o.repulsion.radius = 2;
        o.repulsion.weight = times ? 1e308 : 40; /* pushes by an infinite length, or by 20 */
        o.time_step = times ? 10 : 1;
        CHECK(kith_flock_open(ctx, &at, &speed, &box, &o, &flock) == KITH_OK, "%s",
              kith_message(ctx));
        const kith_status status = kith_flock_step(flock, 1);
        CHECK(status == (times ? KITH_NOT_FINITE : KITH_OK), "%s", kith_status_name(status));
        double r[6] = {0}, v[6] = {0};
        if (times == 0) {
            kith_flock_read(flock, r, v);
            expect("pushed to -40", r, 0, 0, 0);
            expect("pushed to 41", r + 3, 1, 0, 0);
        }
        kith_flock_close(flock);
    }
}

/* Things that were read make a flock that goes on with the same bits: normals are not changed. */
static void check_read_again(kith_ctx *ctx)
{
    rng random = {9};
    const double r[3] = {0, 0, 0};
    const kith_points at = kith_points_packed(r, 1, KITH_DOUBLE);
    for (int times = 0; times < 200; times++) {
        kith_flock_thing things[2][1] = {{{.kind = KITH_WALL}}};
        for (int k = 0; k < 3; k++)
            things[0][0].normal[k] = rng_normal(&random);
        for (int turn = 0; turn < 2; turn++) {
            const kith_flock_options o = alone(things[0], 1);
            kith_flock *flock = NULL;
            CHECK(kith_flock_open(ctx, &at, &at, NULL, &o, &flock) == KITH_OK, "%s",
                  kith_message(ctx));
            kith_flock_read_things(flock, things[turn]);
            kith_flock_close(flock);
        }
        CHECK(memcmp(things[0], things[1], sizeof things[0]) == 0, "a normal changed, turn %d",
              times);
    }
}

/* Two images of one neighbour are equally near: the one of the smaller shift counts, on every
 * backend. Half a box apart, both particles take the image at -5 for the nearest, and both turn
 * away from it. */
static void check_image_ties(kith_ctx *ctx)
{
    const kith_box box = kith_box_periodic(10, 10, 10);
    for (int axis = 0; axis < 3; axis++) {
        double r[2][3] = {{0}}, v[2][3] = {{0}};
        r[1][axis] = 5;
        kith_flock_options o = alone(NULL, 0);
        o.separation = (kith_flock_rule){6, 0.125};
        o.nearest = 1;
        const kith_points at = kith_points_packed(r, 2, KITH_DOUBLE);
        const kith_points speed = kith_points_packed(v, 2, KITH_DOUBLE);
        kith_flock *flock = NULL;
        CHECK(kith_flock_open(ctx, &at, &speed, &box, &o, &flock) == KITH_OK &&
                  kith_flock_step(flock, 1) == KITH_OK,
              "%s", kith_message(ctx));
        kith_flock_read(flock, NULL, v);
        kith_flock_close(flock);
        CHECK(v[0][axis] == 0.625 && v[1][axis] == 0.625, "axis %d: %g and %g", axis, v[0][axis],
              v[1][axis]);
    }
}

enum { N = 500 };

/* Many particles never end up inside, in a periodic box, and the bits do not depend on threads or a
 * stop on the way. */
static void check_many(const char *backend)
{
    static double r[3 * N], v[3 * N], got[3][3 * N];
    rng random = {3};
    for (int e = 0; e < 3 * N; e++) {
        r[e] = rng_uniform(&random, 0, 20);
        v[e] = rng_uniform(&random, -1, 1);
    }
    kith_flock_thing things[3] = {
        {.kind = KITH_PREDATOR, .place = {1, 1, 1}, .speed = 2, .reach = 4, .weight = 1},
        {.kind = KITH_SPHERE, .place = {19, 10, 10}, .radius = 4, .reach = 1, .weight = 0.5},
        {.kind = KITH_WALL, .place = {10, 10, 2}, .normal = {0, 0.1, 1}},
    };
    const kith_box box = kith_box_periodic(20, 20, 20);
    for (int way = 0; way < 3; way++) {
        kith_flock_options o = alone(things, 3);
        kith_flock_thing moved[3];
        kith_ctx *ctx = check_open(backend, way == 1 ? 2 : 1);
        kith_points at = kith_points_packed(r, N, KITH_DOUBLE);
        kith_points speed = kith_points_packed(v, N, KITH_DOUBLE);
        kith_flock *flock = NULL;
        o.cohesion.radius = 4;
        o.max_speed = 1;
        CHECK(kith_flock_open(ctx, &at, &speed, &box, &o, &flock) == KITH_OK, "%s",
              kith_message(ctx));
        CHECK(kith_flock_step(flock, 20) == KITH_OK, "%s", kith_message(ctx));
        kith_flock_read_things(flock, moved);
        CHECK(moved[0].place[0] != 1 && memcmp(&moved[1], &things[1], sizeof moved[1]) == 0,
              "things moved");
        if (way == 2) {
            static double half[2][3 * N];
            kith_flock_read(flock, half[0], half[1]);
            kith_flock_close(flock);
            at = kith_points_packed(half[0], N, KITH_DOUBLE);
            speed = kith_points_packed(half[1], N, KITH_DOUBLE);
            o.things = moved;
            CHECK(kith_flock_open(ctx, &at, &speed, &box, &o, &flock) == KITH_OK, "%s",
                  kith_message(ctx));
        }
        CHECK(kith_flock_step(flock, 20) == KITH_OK, "%s", kith_message(ctx));
        kith_flock_read(flock, got[way], NULL);
        CHECK(memcmp(got[0], got[way], sizeof got[0]) == 0, "way %d: other bits", way);
        kith_flock_close(flock);
        kith_close(ctx);
    }
    for (int p = 0; p < N; p++) {
        const double *x = got[0] + 3 * p;
        const double dx = fmin(fabs(x[0] - 19), 20 - fabs(x[0] - 19));
        const double d = sqrt(dx * dx + (x[1] - 10) * (x[1] - 10) + (x[2] - 10) * (x[2] - 10));
        CHECK(d > 4 - 1e-9, "%d is %g within the sphere", p, 4 - d);
    }
}

/* Return the distance from the plane of a wall, positive in front of it. */
static double in_front(const kith_flock_thing *wall, const double *r)
{
    double sum = 0, square = 0;
    for (int k = 0; k < 3; k++) {
        sum += (r[k] - wall->place[k]) * wall->normal[k];
        square += wall->normal[k] * wall->normal[k];
    }
    return sum / sqrt(square);
}

/* No particle passes a wall from behind, through a periodic face: along the axis that the wall
 * closes, no step is longer than one at full speed, and none ends behind the plane. Along the other
 * axes particles cross the faces. */
static void check_walls_are_closed(kith_ctx *ctx)
{
    kith_box skew = kith_box_periodic(20, 20, 20);
    skew.row[1][0] = 7;
    skew.row[2][1] = -4;
    const struct {
        const char *name;
        kith_box box;
        kith_flock_thing wall;
        bool oblique; /* particles come round the corners of the plane, and are put on it */
    } cases[] = {
        {"2 from the low face",
         kith_box_periodic(20, 20, 20),
         {.place = {2, 0, 0}, .normal = {1}},
         false},
        {"in the low face", kith_box_periodic(20, 20, 20), {.normal = {2}}, false},
        {"in the high face", kith_box_periodic(20, 20, 20), {.place = {20}, .normal = {-1}}, false},
        {"in the middle", kith_box_periodic(20, 20, 20), {.place = {9}, .normal = {-3}}, false},
        {"skew box", skew, {.place = {0, 0, 1}, .normal = {0, 0, 1}}, false},
        {"oblique",
         kith_box_periodic(20, 20, 20),
         {.place = {6, 6, 6}, .normal = {1, 0.5, 0.25}},
         true},
        {"oblique in a skew box", skew, {.place = {9, 6, 6}, .normal = {0.5, 1, -0.5}}, true},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (int single = 0; single < 2; single++) {
            static double xyz[3 * N], vel[3 * N];
            kith_flock_thing wall = cases[c].wall;
            wall.kind = KITH_WALL;
            rng random = {c + 1};
            int n = 0;
            while (n < N) {
                double *r = xyz + 3 * n, f[3];
                for (int k = 0; k < 3; k++) {
                    f[k] = rng_uniform(&random, 0, 1);
                    vel[3 * n + k] = rng_uniform(&random, -0.5, 0.5);
                }
                for (int k = 0; k < 3; k++)
                    r[k] = f[0] * cases[c].box.row[0][k] + f[1] * cases[c].box.row[1][k] +
                           f[2] * cases[c].box.row[2][k];
                n += in_front(&wall, r) > 1e-3;
            }
            stored at = stored_make(xyz, N, single ? KITH_FLOAT : KITH_DOUBLE, LAYOUT_PACKED);
            stored speed = stored_make(vel, N, single ? KITH_FLOAT : KITH_DOUBLE, LAYOUT_PACKED);
            const kith_flock_options o = alone(&wall, 1);
            kith_flock *flock = NULL;
            CHECK(kith_flock_open(ctx, &at.points, &speed.points, &cases[c].box, &o, &flock) ==
                      KITH_OK,
                  "%s", kith_message(ctx));
            const double rounding = single ? 1e-5 : 1e-12;
            int crossed = 0, moved = 0;
            for (int step = 0; step < 150; step++) {
                static double before[3 * N];
                memcpy(before, xyz, sizeof before);
                CHECK(kith_flock_step(flock, 1) == KITH_OK, "%s", kith_message(ctx));
                if (single) {
                    static float r[3 * N];
                    kith_flock_read(flock, r, NULL);
                    for (int e = 0; e < 3 * N; e++)
                        xyz[e] = (double)r[e];
                } else {
                    kith_flock_read(flock, xyz, NULL);
                }
                for (int p = 0; p < N; p++) {
                    const double gap = in_front(&wall, xyz + 3 * p);
                    const double by = fabs(gap - in_front(&wall, before + 3 * p));
                    CHECK(gap > -rounding, "%s: %d is %g behind the wall after step %d",
                          cases[c].name, p, -gap, step);
                    CHECK(cases[c].oblique || by < 0.5 * sqrt(0.75) + rounding,
                          "%s: %d went %g through the wall in step %d", cases[c].name, p, by, step);
                    double d2 = 0;
                    for (int k = 0; k < 3; k++)
                        d2 += (xyz[3 * p + k] - before[3 * p + k]) *
                              (xyz[3 * p + k] - before[3 * p + k]);
                    crossed += d2 > 25;
                    moved += d2 > 0;
                }
            }
            CHECK(crossed > N && moved > 140 * N, "%s: %d crossings, %d moves of %d", cases[c].name,
                  crossed, moved, 150 * N);
            kith_flock_close(flock);
            stored_free(&at);
            stored_free(&speed);
        }
    }
}

/* It goes for the nearest, which flees. */
static void check_predator(kith_ctx *ctx)
{
    const double r[6] = {3, 0, 0, 0, 4, 0}, v[6] = {0, 0, 0, 0, 0, 0};
    const kith_flock_thing predator = {
        .kind = KITH_PREDATOR, .speed = 1, .reach = 3.5, .weight = 0.25};
    const kith_flock_options o = alone(&predator, 1);
    const kith_points at = kith_points_packed(r, 2, KITH_DOUBLE);
    const kith_points speed = kith_points_packed(v, 2, KITH_DOUBLE);
    kith_flock *flock = NULL;
    kith_flock_thing moved;
    double now[6];
    CHECK(kith_flock_open(ctx, &at, &speed, NULL, &o, &flock) == KITH_OK, "%s", kith_message(ctx));
    CHECK(kith_flock_step(flock, 1) == KITH_OK, "%s", kith_message(ctx));
    kith_flock_read_things(flock, &moved);
    kith_flock_read(flock, NULL, now);
    expect("predator", moved.place, 0.5, 0, 0);
    expect("prey", now, 0.25, 0, 0);
    expect("another", now + 3, 0, 0, 0);
    kith_flock_close(flock);
}

/* Of prey at one distance it goes for that of the smallest index, and stops on what it reaches. */
static void check_predator_reaches(kith_ctx *ctx)
{
    const double r[9] = {0, 3, 0, 0, -3, 0, 3, 0, 0}, v[9] = {0};
    kith_flock_thing predator = {.kind = KITH_PREDATOR, .speed = 100, .reach = 1};
    const kith_flock_options o = alone(&predator, 1);
    const kith_points at = kith_points_packed(r, 3, KITH_DOUBLE);
    const kith_points speed = kith_points_packed(v, 3, KITH_DOUBLE);
    kith_flock *flock = NULL;
    CHECK(kith_flock_open(ctx, &at, &speed, NULL, &o, &flock) == KITH_OK, "%s", kith_message(ctx));
    for (int step = 0; step < 2; step++) { /* the second from the prey itself */
        CHECK(kith_flock_step(flock, 1) == KITH_OK, "%s", kith_message(ctx));
        kith_flock_read_things(flock, &predator);
        expect("the first of equals", predator.place, 0, 3, 0);
    }
    kith_flock_close(flock);
}

/* A neighbour exactly on the edge of the blind cone is seen; of particles that leave the range of
 * numbers the first is named. */
static void check_edges(kith_ctx *ctx)
{
    const double r[6] = {0, 0, 0, 0, 2, 0}, v[6] = {1, 0, 0, 1, 0, 0};
    kith_flock_options o = alone(NULL, 0);
    o.cohesion = (kith_flock_rule){3, 0.5};
    o.blind_angle = 3.14159265358979323846; /* a half space */
    const kith_points at = kith_points_packed(r, 2, KITH_DOUBLE);
    const kith_points speed = kith_points_packed(v, 2, KITH_DOUBLE);
    kith_flock *flock = NULL;
    double now[6];
    CHECK(kith_flock_open(ctx, &at, &speed, NULL, &o, &flock) == KITH_OK, "%s", kith_message(ctx));
    CHECK(kith_flock_step(flock, 1) == KITH_OK, "%s", kith_message(ctx));
    kith_flock_read(flock, NULL, now);
    expect("beside", now, 1, 1, 0);
    kith_flock_close(flock);
    const double still[9] = {0}, fast[9] = {0, 0, 0, 1e300, 0, 0, 1e300, 0, 0};
    const kith_points three = kith_points_packed(still, 3, KITH_DOUBLE);
    const kith_points jump = kith_points_packed(fast, 3, KITH_DOUBLE);
    o.time_step = 1e300;
    CHECK(kith_flock_open(ctx, &three, &jump, NULL, &o, &flock) == KITH_OK, "%s",
          kith_message(ctx));
    CHECK(kith_flock_step(flock, 1) == KITH_NOT_FINITE && strstr(kith_message(ctx), "particle 1 "),
          "%s", kith_message(ctx));
    kith_flock_close(flock);
}

/* Many neighbours at almost the largest offset: their sum leaves 32 bits, in which parts of it are
 * added up. */
static void check_crowd(kith_ctx *ctx)
{
    enum { CROWD = 2000 };
    static double r[3 * (CROWD + 1)], v[3 * (CROWD + 1)];
    for (int p = 1; p <= CROWD; p++)
        r[3 * p] = 0.75;
    kith_flock_options o = alone(NULL, 0);
    o.cohesion = (kith_flock_rule){0.999, 0.5};
    const kith_points at = kith_points_packed(r, CROWD + 1, KITH_DOUBLE);
    const kith_points speed = kith_points_packed(v, CROWD + 1, KITH_DOUBLE);
    kith_flock *flock = NULL;
    CHECK(kith_flock_open(ctx, &at, &speed, NULL, &o, &flock) == KITH_OK &&
              kith_flock_step(flock, 1) == KITH_OK,
          "%s", kith_message(ctx));
    kith_flock_read(flock, NULL, v);
    expect("towards the crowd", v, 0.375, 0, 0);
    kith_flock_close(flock);
}

static void check_refusals(kith_ctx *ctx)
{
    const double r[3] = {0, 0, 0};
    const kith_points at = kith_points_packed(r, 1, KITH_DOUBLE);
    const kith_flock_thing bad[] = {
        {.kind = (kith_flock_kind)4},
        {.kind = KITH_POINT, .place = {NAN, 0, 0}},
        {.kind = KITH_POINT, .weight = INFINITY},
        {.kind = KITH_POINT, .reach = -1},
        {.kind = KITH_SPHERE},
        {.kind = KITH_SPHERE, .radius = 1, .weight = 1},
        {.kind = KITH_WALL},
        {.kind = KITH_PREDATOR, .speed = -1},
        {.kind = KITH_PREDATOR, .weight = -1},
    };
    kith_flock *flock = NULL;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        const kith_flock_options o = alone(&bad[k], 1);
        CHECK(kith_flock_open(ctx, &at, &at, NULL, &o, &flock) == KITH_INVALID, "thing %zu", k);
        CHECK(strstr(kith_message(ctx), "things[0]"), "%s", kith_message(ctx));
    }
    kith_flock_options o = alone(NULL, 1);
    CHECK(kith_flock_open(ctx, &at, &at, NULL, &o, &flock) == KITH_INVALID, "no things");
    o = alone(bad, 17);
    CHECK(kith_flock_open(ctx, &at, &at, NULL, &o, &flock) == KITH_INVALID, "17 things");
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    kith_ctx *ctx = check_open(backend, 2);
    check_points(ctx);
    check_obstacles(ctx);
    check_enclosed(ctx);
    check_folded(ctx);
    check_read_again(ctx);
    check_image_ties(ctx);
    check_walls_are_closed(ctx);
    check_predator(ctx);
    check_predator_reaches(ctx);
    check_edges(ctx);
    check_crowd(ctx);
    check_refusals(ctx);
    kith_close(ctx);
    check_many(backend);
    return check_done();
}
