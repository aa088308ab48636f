/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Halos against sums in long double over members that were never wrapped, in open, periodic,
 * oblique and flat boxes; against bodies whose moments are known; and what must not change them:
 * threads, the order of the particles, faces of the box.
 */
#include "check.h"
#include "points.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/** Groups with all that is known of them; xyz [n][3] as they are beside each other. */
typedef struct world {
    int64_t n;
    kith_box box;
    double *xyz, *mass, *velocity, *potential;
    uint8_t *type;
    int32_t *labels;
    kith_groups groups;
} world;

static double *reals(int64_t n)
{
    return check_malloc((size_t)n * sizeof(double));
}

/** Blobs of particles, anywhere in the box, some particles in none. */
static world make_world(rng *r, int64_t n, int64_t groups, const kith_box *box, double width)
{
    world w = {
        .n = n, .box = *box, .xyz = reals(3 * n), .mass = reals(n), .velocity = reals(3 * n)};
    w.potential = reals(n);
    w.type = check_malloc((size_t)n);
    w.labels = check_malloc((size_t)n * sizeof *w.labels);
    double *centre = points_in_box(r, groups + 1, box);
    for (int64_t p = 0; p < n; p++) {
        const int64_t g = p <= groups ? p : rng_below(r, groups + 1);
        w.labels[p] = (int32_t)g;
        w.mass[p] = (double)(float)rng_uniform(r, 0.5, 2);
        w.potential[p] = (double)(float)rng_normal(r);
        w.type[p] = (uint8_t)rng_below(r, KITH_TYPES);
        for (int k = 0; k < 3; k++) {
            const bool flat = box->dim == 2 && k == 2;
            w.xyz[3 * p + k] = flat ? 0 : centre[3 * g + k] + width * rng_uniform(r, -1, 1);
            w.velocity[3 * p + k] = flat ? 0 : (double)(float)(100 * rng_normal(r) + 50 * k);
        }
    }
    w.groups = (kith_groups){.n = groups, .points = n, .labels = w.labels};
    free(centre);
    return w;
}

static void free_world(world *w)
{
    free(w->xyz);
    free(w->mass);
    free(w->velocity);
    free(w->potential);
    free(w->type);
    free(w->labels);
}

/** Arrays in the precision of the points; each freed with stored_free. */
typedef struct given {
    stored points, mass, potential, velocity;
    kith_halo_input input;
} given;

/** Store n reals as the points' precision has them; three at a time, as points. */
static stored store(const double *data, int64_t n, kith_precision precision)
{
    return stored_make(data, n, precision, LAYOUT_PACKED);
}

static given give(const world *w, const double *xyz, kith_precision precision, layout how)
{
    given g = {.points = stored_make(xyz, w->n, precision, how),
               .velocity = store(w->velocity, w->n, precision)};
    /* n reals as n / 3 points, and two more so that none is lost */
    double *padded = calloc((size_t)w->n + 3, sizeof *padded);
    memcpy(padded, w->mass, (size_t)w->n * sizeof *padded);
    g.mass = store(padded, w->n / 3 + 1, precision);
    memcpy(padded, w->potential, (size_t)w->n * sizeof *padded);
    g.potential = store(padded, w->n / 3 + 1, precision);
    free(padded);
    kith_halo_input_init(&g.input);
    g.input.masses = g.mass.points.x;
    g.input.velocities = g.velocity.points.x;
    g.input.potentials = g.potential.points.x;
    g.input.types = w->type;
    return g;
}

static void take_back(given *g)
{
    stored_free(&g->points);
    stored_free(&g->mass);
    stored_free(&g->potential);
    stored_free(&g->velocity);
}

static void close_to(double got, long double expected, long double scale, double tolerance,
                     const char *what, int64_t group)
{
    CHECK(fabsl(got - expected) <= tolerance * scale, "%s of group %lld: %.17g, expected %.17Lg",
          what, (long long)group, got, expected);
}

/** How far two positions are from each other, over all images next to them. */
static double apart(const kith_box *box, const double a[3], const double b[3])
{
    double least = INFINITY;
    for (int image = 0; image < 27; image++) {
        const int s[3] = {image % 3 - 1, image / 3 % 3 - 1, image / 9 - 1};
        double r2 = 0;
        for (int m = 0; m < box->dim; m++) {
            double d = a[m] - b[m];
            for (int k = 0; k < box->dim; k++) {
                d += box->periodic[k] ? s[k] * box->row[k][m] : 0;
            }
            r2 += d * d;
        }
        least = fmin(least, r2);
    }
    return sqrt(least);
}

/** Compare a halo with sums over its members where they truly are. */
static void check_halo(const world *w, const kith_halo *halo, int64_t group, double eps)
{
    long double mass = 0, x[3] = {0}, v[3] = {0}, s[6] = {0}, spin[3] = {0}, stir = 0, far = 0;
    int64_t members = 0, best = -1;
    for (int64_t p = 0; p < w->n; p++) {
        if (w->labels[p] != group) {
            continue;
        }
        members++;
        mass += w->mass[p];
        best = best < 0 || w->potential[p] < w->potential[best] ? p : best;
        for (int k = 0; k < 3; k++) {
            x[k] += (long double)w->mass[p] * w->xyz[3 * p + k];
            v[k] += (long double)w->mass[p] * w->velocity[3 * p + k];
        }
    }
    for (int64_t p = 0; p < w->n; p++) {
        if (w->labels[p] != group) {
            continue;
        }
        long double d[3], u[3];
        for (int k = 0; k < 3; k++) {
            d[k] = w->xyz[3 * p + k] - x[k] / mass;
            u[k] = w->velocity[3 * p + k] - v[k] / mass;
        }
        const long double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2], m = w->mass[p];
        far = fmaxl(far, r2);
        stir += m * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
        for (int k = 0; k < 3; k++) {
            const int y = (k + 1) % 3, z = (k + 2) % 3;
            s[k] += m * (r2 - d[k] * d[k]);
            spin[k] += m * (d[y] * u[z] - d[z] * u[y]);
        }
        s[3] -= m * d[0] * d[1];
        s[4] -= m * d[0] * d[2];
        s[5] -= m * d[1] * d[2];
    }
    const long double trace = (s[0] + s[1] + s[2]) / 2, size = sqrtl(far);
    const double place[3] = {(double)(x[0] / mass), (double)(x[1] / mass), (double)(x[2] / mass)};
    CHECK(halo->members == members && halo->particle == best, "group %lld: %lld, %lld",
          (long long)group, (long long)halo->members, (long long)halo->particle);
    close_to(halo->mass, mass, mass, eps, "mass", group);
    CHECK(apart(&w->box, halo->centre_of_mass, place) < eps * 10, "centre of group %lld",
          (long long)group);
    CHECK(apart(&w->box, halo->centre, &w->xyz[3 * best]) < eps * 10, "place of group %lld",
          (long long)group);
    close_to(halo->radius_max, size, size, 10 * eps / (double)size, "largest radius", group);
    close_to(halo->radius_rms, sqrtl(trace / mass), size, 10 * eps / (double)size, "radius", group);
    close_to(halo->dispersion, sqrtl(stir / mass / w->box.dim), 100, eps, "dispersion", group);
    for (int k = 0; k < 3; k++) {
        close_to(halo->velocity[k], v[k] / mass, 100, eps, "velocity", group);
        close_to(halo->angular_momentum[k], spin[k], mass * 100, 10 * eps, "spin", group);
    }
    for (int k = 0; k < 6; k++) {
        close_to(halo->inertia[k], s[k], trace, 20 * eps / (double)size, "inertia", group);
    }
}

/** The axes are eigenvectors of the second moments, whose eigenvalues are a^2, b^2, c^2. */
static void check_axes(const kith_halo *halo, int64_t group)
{
    const double *i = halo->inertia, trace = (i[0] + i[1] + i[2]) / 2;
    const double s[3][3] = {
        {trace - i[0], -i[3], -i[4]}, {-i[3], trace - i[1], -i[5]}, {-i[4], -i[5], trace - i[2]}};
    const double *length = halo->axis_length;
    CHECK(length[0] >= length[1] && length[1] >= length[2], "axes of group %lld not in order",
          (long long)group);
    for (int a = 0; a < 3; a++) {
        for (int k = 0; k < 3; k++) {
            const double *v = halo->axis[a];
            const double turned = (s[k][0] * v[0] + s[k][1] * v[1] + s[k][2] * v[2]) / halo->mass;
            close_to(turned, length[a] * length[a] * v[k], trace / halo->mass, 1e-13, "axis",
                     group);
            const double *other = halo->axis[k];
            close_to(v[0] * other[0] + v[1] * other[1] + v[2] * other[2], a == k, 1, 1e-14,
                     "product of axes", group);
        }
    }
}

static void test_sums(kith_ctx *ctx, const kith_box *box, kith_precision precision, layout how,
                      double width)
{
    rng r = {(uint64_t)precision + (uint64_t)how};
    world w = make_world(&r, 3000, 37, box, width);
    double *moved = points_copy(w.xyz, w.n);
    points_drift(&r, moved, w.n, box, 3);
    given g = give(&w, moved, precision, how);
    kith_halos halos = {0};
    const double eps = precision == KITH_FLOAT ? 3e-6 : 1e-12;
    if (CHECK(kith_halos_measure(ctx, &g.points.points, box, &w.groups, &g.input, &halos) ==
                      KITH_OK &&
                  halos.n == 37,
              "%s", kith_message(ctx))) {
        int64_t of_type = 0;
        for (int64_t h = 0; h < halos.n; h++) {
            check_halo(&w, &halos.halo[h], h + 1, eps);
            check_axes(&halos.halo[h], h + 1);
            for (int t = 0; t < KITH_TYPES; t++) {
                of_type += halos.halo[h].members_of_type[t] * (t + 1);
            }
        }
        for (int64_t p = 0; p < w.n; p++) {
            of_type -= w.labels[p] ? w.type[p] + 1 : 0;
        }
        CHECK(of_type == 0, "types are not counted right");
    }
    kith_halos_free(&halos);
    take_back(&g);
    free(moved);
    free_world(&w);
}

/** One group of many pieces among small ones: the same bits for any number of threads. */
static void test_threads(const char *backend)
{
    rng r = {7};
    const kith_box box = kith_box_periodic(1, 1, 1);
    world w = make_world(&r, 90000, 2, &box, 0.2);
    w.labels[0] = w.labels[1] = w.labels[2] = 1; /* 30,000 in none, the rest in two groups */
    for (int64_t p = 3; p < w.n; p++) {
        w.labels[p] = p % 9 == 0 ? 0 : p % 999 == 1 ? 2 : 1;
    }
    for (int64_t p = 0; p < w.n; p++) {
        w.xyz[3 * p] = fmod(w.xyz[3 * p] + 1, 1);
    }
    given g = give(&w, w.xyz, KITH_DOUBLE, LAYOUT_PACKED);
    kith_halos halos[3] = {{0}};
    for (int t = 0; t < 3; t++) {
        kith_ctx *ctx = check_open(backend, t + 1);
        CHECK(kith_halos_measure(ctx, &g.points.points, &box, &w.groups, &g.input, &halos[t]) ==
                  KITH_OK,
              "%s", kith_message(ctx));
        CHECK(halos[t].n == halos[0].n &&
                  memcmp(halos[t].halo, halos[0].halo, (size_t)halos[0].n * sizeof(kith_halo)) == 0,
              "%d threads give other bits", t + 1);
        kith_close(ctx);
    }
    for (int t = 0; t < 3; t++) {
        kith_halos_free(&halos[t]);
    }
    take_back(&g);
    free_world(&w);
}

/** A solid ball: inertia 2/5 M R^2, all axes R / sqrt(5); stretched by 3, 2, 1 an ellipsoid. */
static void test_ball(kith_ctx *ctx, const double stretch[3])
{
    enum { SIDE = 40 };
    double *xyz = reals(3 * SIDE * SIDE * SIDE);
    int64_t n = 0;
    for (int k = 0; k < SIDE * SIDE * SIDE; k++) {
        const double d[3] = {k % SIDE + 0.5 - SIDE / 2, k / SIDE % SIDE + 0.5 - SIDE / 2,
                             k / SIDE / SIDE + 0.5 - SIDE / 2};
        if (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] <= SIDE * SIDE / 4) {
            for (int m = 0; m < 3; m++) {
                xyz[3 * n + m] = d[m] * stretch[m];
            }
            n++;
        }
    }
    int32_t *labels = check_malloc((size_t)n * sizeof *labels);
    for (int64_t p = 0; p < n; p++) {
        labels[p] = 1;
    }
    const kith_groups groups = {.n = 1, .points = n, .labels = labels};
    const kith_points points = kith_points_packed(xyz, n, KITH_DOUBLE);
    kith_halos halos = {0};
    CHECK(kith_halos_measure(ctx, &points, NULL, &groups, NULL, &halos) == KITH_OK, "%s",
          kith_message(ctx));
    const kith_halo *halo = halos.halo;
    const double radius = SIDE / 2;
    for (int k = 0; k < 3; k++) {
        const double y = stretch[(k + 1) % 3] * radius, z = stretch[(k + 2) % 3] * radius;
        close_to(halo->axis_length[k], stretch[k] * radius / sqrt(5), radius, 0.005, "axis", k);
        close_to(halo->inertia[k], (double)n * (y * y + z * z) / 5, halo->inertia[k], 0.01,
                 "inertia", k);
        close_to(fabs(halo->axis[k][k]), 1, 1, stretch[0] > stretch[2] ? 1e-12 : 1, "axis", k);
    }
    CHECK(halo->mass == (double)n && halo->particle == -1 && halo->dispersion == 0, "a bare halo");
    kith_halos_free(&halos);
    free(labels);
    free(xyz);
}

/** Particles in another order are in the same halos. */
static void test_order(kith_ctx *ctx)
{
    rng r = {11};
    const kith_box box = kith_box_periodic(1, 2, 3);
    world w = make_world(&r, 20000, 3, &box, 0.2), v = make_world(&r, 20000, 3, &box, 0.2);
    for (int64_t p = 0; p < w.n; p++) {
        const int64_t q = (p * 7919 + 13) % w.n; /* 7919 is prime */
        memcpy(&v.xyz[3 * q], &w.xyz[3 * p], 3 * sizeof(double));
        memcpy(&v.velocity[3 * q], &w.velocity[3 * p], 3 * sizeof(double));
        v.mass[q] = w.mass[p];
        v.potential[q] = w.potential[p];
        v.type[q] = w.type[p];
        v.labels[q] = w.labels[p];
    }
    given a = give(&w, w.xyz, KITH_DOUBLE, LAYOUT_PACKED);
    given b = give(&v, v.xyz, KITH_DOUBLE, LAYOUT_SPLIT);
    kith_halos one = {0}, two = {0};
    CHECK(kith_halos_measure(ctx, &a.points.points, &box, &w.groups, &a.input, &one) == KITH_OK &&
              kith_halos_measure(ctx, &b.points.points, &box, &v.groups, &b.input, &two) == KITH_OK,
          "%s", kith_message(ctx));
    for (int h = 0; h < 3; h++) {
        const kith_halo *x = &one.halo[h], *y = &two.halo[h];
        close_to(x->mass, y->mass, y->mass, 1e-13, "mass", h);
        close_to(x->radius_max, y->radius_max, 1, 1e-13, "radius", h);
        close_to(x->dispersion, y->dispersion, y->dispersion, 1e-13, "dispersion", h);
        CHECK(memcmp(x->centre, y->centre, sizeof x->centre) == 0, "centre of %d", h);
    }
    kith_halos_free(&one);
    kith_halos_free(&two);
    take_back(&a);
    take_back(&b);
    free_world(&w);
    free_world(&v);
}

/** A group that is torn by two gaps of one width in a periodic box: it is cut at the end of the
 *  first. Gaps are measured in 64ths of the box. */
static void test_gaps(kith_ctx *ctx)
{
    static const int slice[3] = {0, 25, 50}; /* gaps of 24, 24 and 13 */
    const kith_box box = kith_box_periodic(1, 1, 1);
    double xyz[9];
    for (int axis = 0; axis < 3; axis++) {
        for (int k = 0; k < 9; k++) {
            xyz[k] = k % 3 == axis ? (slice[k / 3] + 0.5) / 64 : 0.5;
        }
        int32_t labels[3] = {1, 1, 1};
        const kith_groups groups = {.n = 1, .points = 3, .labels = labels};
        const kith_points points = kith_points_packed(xyz, 3, KITH_DOUBLE);
        kith_halos halos = {0};
        CHECK(kith_halos_measure(ctx, &points, &box, &groups, NULL, &halos) == KITH_OK, "%s",
              kith_message(ctx));
        const double middle = (25.5 + 50.5 + 64.5) / 3 / 64;
        close_to(halos.halo[0].centre_of_mass[axis], middle, 1, 1e-14, "centre", axis);
        kith_halos_free(&halos);
    }
}

static void refused(kith_ctx *ctx, const kith_groups *groups, const kith_halo_input *input,
                    kith_status expected, const char *word)
{
    static const double xyz[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    const kith_points points = kith_points_packed(xyz, 3, KITH_DOUBLE);
    kith_halos halos = {0};
    const kith_status status = kith_halos_measure(ctx, &points, NULL, groups, input, &halos);
    CHECK(status == expected && strstr(kith_message(ctx), word) && halos.n == 0, "%s: %s", word,
          kith_message(ctx));
    kith_halos_free(&halos);
}

/** Finite coordinates whose sum overflows are no fault in open space; in a box they are too far. */
static void test_huge(kith_ctx *ctx)
{
    static const double xyz[6] = {1e308, 1e308, 1e308, 1e308, 1e308, 1e308};
    int32_t labels[2] = {1, 1};
    const kith_points points = kith_points_packed(xyz, 2, KITH_DOUBLE);
    const kith_groups groups = {.n = 1, .points = 2, .labels = labels};
    const kith_box box = kith_box_periodic(1, 1, 1);
    kith_halos halos = {0};
    CHECK(kith_halos_measure(ctx, &points, NULL, &groups, NULL, &halos) == KITH_OK &&
              halos.halo[0].centre_of_mass[2] == 1e308 && halos.halo[0].radius_max == 0,
          "coordinates whose sum overflows: %s", kith_message(ctx));
    CHECK(kith_halos_measure(ctx, &points, &box, &groups, NULL, &halos) == KITH_LIMIT, "%s",
          kith_message(ctx));
    kith_halos_free(&halos);
}

static void test_bad_input(kith_ctx *ctx)
{
    const double masses[3] = {1, 0, 1}, odd[9] = {0, 0, 0, 0, NAN};
    const uint8_t types[3] = {0, 1, KITH_TYPES};
    int32_t labels[3] = {1, 0, 2};
    kith_groups groups = {.n = 1, .points = 3, .labels = labels};
    kith_halo_input input;
    kith_halo_input_init(&input);
    refused(ctx, &groups, &input, KITH_INVALID, "label of particle 2 (counted from 0) is 2");
    refused(ctx, NULL, &input, KITH_INVALID, "groups is NULL");
    groups.n = 3;
    refused(ctx, &groups, &input, KITH_INVALID, "group 3 has no particle");
    groups.n = 2;
    groups.points = 4;
    refused(ctx, &groups, &input, KITH_INVALID, "groups are of 4 particles");
    groups.points = 3;
    input.masses = masses;
    refused(ctx, &groups, &input, KITH_INVALID, "masses: the mass of particle 1");
    input.masses = NULL;
    input.velocities = odd;
    refused(ctx, &groups, &input, KITH_NOT_FINITE, "velocities: the velocity of particle 1");
    input.velocities = NULL;
    input.types = types;
    refused(ctx, &groups, &input, KITH_INVALID, "types: the type of particle 2");
    input.types = NULL;
    input.sphere_density[1] = -1;
    refused(ctx, &groups, &input, KITH_INVALID, "sphere_density[1] is -1");
    input.size = 1;
    refused(ctx, &groups, &input, KITH_INVALID, "kith_halo_input_init");
    kith_halos halos = {0};
    const kith_groups none = {0};
    const kith_points nothing = kith_points_packed(NULL, 0, KITH_FLOAT);
    CHECK(kith_halos_measure(ctx, &nothing, NULL, &none, NULL, &halos) == KITH_OK && halos.n == 0,
          "no particles: %s", kith_message(ctx));
    kith_halos_free(&halos);
    kith_halos_free(NULL);
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    kith_ctx *ctx = check_open(backend, 2);
    kith_box flat = kith_box_periodic(2, 3, 1), slab = kith_box_periodic(1, 1, 1);
    const kith_box open = kith_box_open(),
                   oblique = kith_box_triclinic(1, 1.2, 0.9, 0.4, -0.3, 0.2);
    flat.dim = 2;
    slab.origin[0] = slab.origin[1] = -0.5;
    slab.periodic[2] = 0;
    for (int k = 0; k < 2; k++) {
        const kith_precision precision = k ? KITH_FLOAT : KITH_DOUBLE;
        test_sums(ctx, &open, precision, LAYOUT_PACKED, 0.3);
        test_sums(ctx, &slab, precision, LAYOUT_SPLIT, 0.3);
        test_sums(ctx, &oblique, precision, LAYOUT_STRIDE7, 0.1);
        test_sums(ctx, &flat, precision, LAYOUT_PACKED, 0.9);
    }
    /* longer than half the box: nearest images of a member would tear it */
    test_sums(ctx, &slab, KITH_DOUBLE, LAYOUT_PACKED, 0.4);
    test_threads(backend);
    test_ball(ctx, (const double[3]){1, 1, 1});
    test_ball(ctx, (const double[3]){3, 2, 1});
    test_order(ctx);
    test_gaps(ctx);
    test_huge(ctx);
    test_bad_input(ctx);
    kith_close(ctx);
    return check_done();
}
