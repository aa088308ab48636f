/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Roles and min_links on a GPU, from and into host and device memory, with ids, roles and
 * velocities in either: groups are bitwise those of the CPU. In open space, periodic, skewed and
 * flat boxes and in 2-D; uniform sets, clusters, lattices (friends at equal distances) and few
 * positions (coincident particles); where no particle links, all are attached or all are ignored;
 * with min_links, ids and velocities. Sets of thousands of particles have cells with and without a
 * table, and dense cells.
 */
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "device.h"
#include "points.h"

enum { MOST = 6000, ROUNDS = 160 };

/** One search, with the arrays of its options for MOST particles. */
typedef struct search {
    kith_ctx *cpu, *gpu;
    stored s;            /**< particles in host memory */
    kith_points there;   /**< the particles in device memory */
    const kith_box *box; /**< NULL: open space */
    double length;
    kith_fof_options options;
    char name[128];
} search;

/** Compare the groups that a GPU finds with those of the CPU. Twice, as scratch memory and arrays
 *  are used again. */
static void check_memory(const search *s, const kith_points *points,
                         const kith_fof_options *options, kith_memory memory,
                         const kith_groups *right)
{
    const size_t labels = (size_t)right->points * sizeof *right->labels;
    const size_t members = (size_t)right->n * sizeof *right->members;
    char *copy = check_malloc(labels + members + 1);
    kith_groups found = {.memory = memory};
    for (int again = 0; again < 2; again++) {
        const kith_status status = kith_fof_find(s->gpu, points, s->box, s->length, options,
                                                 &found);
        if (!CHECK(status == KITH_OK && found.n == right->n && found.points == right->points,
                   "%s: %lld groups, expected %lld: %s", s->name, (long long)found.n,
                   (long long)right->n, kith_message(s->gpu))) {
            break;
        }
        CHECK(cudaMemcpy(copy, found.labels, labels, cudaMemcpyDefault) == cudaSuccess &&
                  memcmp(copy, right->labels, labels) == 0,
              "%s, memory %d, %d to %d: other labels", s->name, (int)points->memory,
              (int)options->memory, (int)memory);
        CHECK(cudaMemcpy(copy, found.members, members, cudaMemcpyDefault) == cudaSuccess &&
                  memcmp(copy, right->members, members) == 0,
              "%s, memory %d, %d to %d: other members", s->name, (int)points->memory,
              (int)options->memory, (int)memory);
    }
    kith_groups_free(&found);
    free(copy);
}

/** Copy the arrays of options for n particles to device memory.
 *  @param[out] memory  [3] what to free */
static kith_fof_options options_there(const kith_fof_options *options, int64_t n,
                                      kith_precision precision, void **memory)
{
    kith_fof_options there = *options;
    const size_t count = (size_t)n;
    memory[0] = options->ids ? device_make(options->ids, count * sizeof *options->ids) : NULL;
    memory[1] = options->roles ? device_make(options->roles, count) : NULL;
    memory[2] = options->velocities
                    ? device_make(options->velocities, 3 * count * (size_t)precision)
                    : NULL;
    there.ids = memory[0];
    there.roles = memory[1];
    there.velocities = memory[2];
    there.memory = KITH_DEVICE;
    return there;
}

static void free_all(void *const memory[3])
{
    for (int k = 0; k < 3; k++) {
        CHECK(cudaFree(memory[k]) == cudaSuccess, "free");
    }
}

/** Compare the groups from and into both memories. */
static void check_search(const search *s)
{
    void *memory[3];
    const kith_points *here = &s->s.points;
    const kith_fof_options there = options_there(&s->options, here->n, here->precision, memory);
    kith_groups right = {0};
    const kith_status status = kith_fof_find(s->cpu, &s->s.points, s->box, s->length, &s->options,
                                             &right);
    if (CHECK(status == KITH_OK, "%s: %s", s->name, kith_message(s->cpu))) {
        check_memory(s, here, &s->options, KITH_HOST, &right);
        check_memory(s, here, &s->options, KITH_DEVICE, &right);
        check_memory(s, &s->there, &s->options, KITH_HOST, &right);
        check_memory(s, &s->there, &s->options, KITH_DEVICE, &right);
        check_memory(s, &s->there, &there, KITH_HOST, &right);
        check_memory(s, here, &there, KITH_DEVICE, &right);
    }
    kith_groups_free(&right);
    free_all(memory);
}

/** Boxes: open space, a cube, a skewed box, one so skewed that subcells do not suit it, one open
 *  along y, one that is shorter than some linking lengths, and a square in 2-D. */
enum { OPEN, CUBE, SKEWED, VERY_SKEWED, SLAB, FLAT, SQUARE, BOXES };

/** Make box number `which` around the unit cube.
 *  @return NULL in open space */
static const kith_box *make_box(int which, kith_box *box)
{
    *box = which == SKEWED        ? kith_box_triclinic(1, 0.9, 1.1, 0.3, -0.2, 0.4)
           : which == VERY_SKEWED ? kith_box_triclinic(1, 1, 0.1, 0.4, 3.3, -2.2)
           : which == FLAT        ? kith_box_periodic(1, 1, 0.06)
                                  : kith_box_periodic(1, 1, 1);
    box->periodic[1] = which != SLAB;
    box->dim = which == SQUARE ? 2 : 3;
    return which == OPEN ? NULL : box;
}

/** Sets: uniform, clusters, a lattice with several particles on a site, few positions, and uniform
 *  but for particles many boxes away. */
enum { UNIFORM, CLUSTERED, LATTICE, FEW_POSITIONS, FAR_AWAY, SETS };

static double *make_set(rng *r, int which, int64_t n, const kith_box *box)
{
    const kith_box cube = kith_box_periodic(1, 1, 1);
    double *xyz = which == CLUSTERED ? points_clustered(r, n, 6, 1, 0.02)
                                     : points_in_box(r, n, box ? box : &cube);
    for (int64_t k = 0; k < 3 * n && which == LATTICE; k++) {
        xyz[k] = (double)(int)(xyz[k] * 8) / 8;
    }
    for (int64_t p = 20; p < n && which == FEW_POSITIONS; p++) {
        memcpy(xyz + 3 * p, xyz + 3 * rng_below(r, 20), 3 * sizeof *xyz);
    }
    if (which == FAR_AWAY && box) {
        points_drift(r, xyz, n, box, 5);
    }
    for (int64_t p = 0; p < n && which == FAR_AWAY && !box; p += 97) {
        xyz[3 * p] *= 1e6;
    }
    return xyz;
}

/** Fill the roles of a round: random in most; none links, all link, all are attached, all are
 *  ignored, one links. */
static void make_roles(rng *r, int round, int64_t n, uint8_t *roles)
{
    for (int64_t p = 0; p < n; p++) {
        const uint8_t mixed = (uint8_t)rng_below(r, 3);
        const uint8_t form[8] = {mixed,
                                 (uint8_t)(p % 2),
                                 (uint8_t)(KITH_ATTACH + p % 2),
                                 KITH_LINK,
                                 KITH_ATTACH,
                                 KITH_IGNORE,
                                 p == n / 2 ? KITH_LINK : KITH_ATTACH,
                                 (uint8_t)(mixed == KITH_IGNORE ? KITH_ATTACH : mixed)};
        roles[p] = form[round % 16 < 8 ? round % 8 : round % 2 * 7];
    }
}

/** Check one random search. */
static void check_round(kith_ctx *cpu, kith_ctx *gpu, int round)
{
    static uint8_t roles[MOST];
    static int64_t ids[MOST];
    rng r = {(uint64_t)round * 7919 + 3};
    kith_box box;
    search s = {.cpu = cpu, .gpu = gpu};
    const int which_box = (int)rng_below(&r, BOXES), which_set = (int)rng_below(&r, SETS);
    const int64_t n = round % 3 ? 1 + rng_below(&r, 700) : 1 + rng_below(&r, MOST);
    const kith_precision precision = round % 2 ? KITH_FLOAT : KITH_DOUBLE;
    s.box = make_box(which_box, &box);
    double *xyz = make_set(&r, which_set, n, s.box);
    double *v = points_uniform(&r, n, (const double[3]){0, 0, 0}, (const double[3]){1, 1, 1});
    stored velocities = stored_make(v, n, precision, LAYOUT_PACKED);
    void *memory;
    make_roles(&r, round, n, roles);
    for (int64_t p = 0; p < n; p++) {
        ids[p] = (int64_t)rng_bits(&r);
    }
    kith_fof_options_init(&s.options);
    s.options.min_members = 1 + rng_below(&r, 3);
    s.options.roles = round % 8 == 7 ? NULL : roles;
    s.options.min_links = round % 8 == 7 || rng_below(&r, 3) == 0 ? 1 + rng_below(&r, 30) : 0;
    s.options.min_links *= rng_below(&r, 10) == 0 ? 1000 : 1; /* mostly, no particle links then */
    s.options.ids = rng_below(&r, 3) == 0 ? ids : NULL;
    s.options.velocities = rng_below(&r, 3) == 0 ? velocities.memory : NULL;
    s.options.velocity_length = 0.7;
    s.length = (which_set == LATTICE ? 0.126 : 0.02) +
               (n < 700 ? 0.1 : 0.03) * rng_uniform(&r, 0, 1);
    s.s = stored_make(xyz, n, precision, (layout)rng_below(&r, LAYOUTS));
    s.there = device_points(&s.s, &memory);
    snprintf(
        s.name, sizeof s.name,
        "round %d, box %d, set %d, %lld particles, precision %d, length %g, min_links %lld%s%s",
        round, which_box, which_set, (long long)n, (int)precision, s.length,
        (long long)s.options.min_links, s.options.ids ? ", ids" : "",
        s.options.velocities ? ", velocities" : "");
    check_search(&s);
    CHECK(cudaFree(memory) == cudaSuccess, "free");
    stored_free(&s.s);
    stored_free(&velocities);
    free(v);
    free(xyz);
}

/** Thousands of particles that link within a subcell, around a corner of the box, so near that each
 *  attached particle would be compared with all of them: distinct positions, or a few sites, at
 *  which attached particles have many friends at equal distances. */
static void check_crowded(kith_ctx *cpu, kith_ctx *gpu, int form)
{
    enum { N = 30000, EACH = 40 }; /* one of EACH particles is attached */
    rng r = {(uint64_t)form + 77};
    const kith_box cube = kith_box_periodic(1, 1, 1);
    const bool sites = form & 1, open = form & 2;
    double *xyz = check_malloc(3 * N * sizeof *xyz);
    uint8_t *roles = check_malloc(N);
    search s = {.cpu = cpu, .gpu = gpu, .box = open ? NULL : &cube, .length = 0.01};
    void *memory;
    for (int p = 0; p < N; p++) {
        roles[p] = p % EACH ? KITH_LINK : KITH_ATTACH;
        for (int k = 0; k < 3; k++) {
            const double site = 0.0005 * (double)(rng_below(&r, 3) - 1);
            const double by = sites ? (roles[p] == KITH_LINK || k > 0 ? site : 0.00025)
                                    : rng_uniform(&r, -0.001, 0.001);
            xyz[3 * p + k] = by + (by < 0 && !open ? 1 : 0);
        }
    }
    kith_fof_options_init(&s.options);
    s.options.roles = roles;
    s.s = stored_make(xyz, N, form & 4 ? KITH_FLOAT : KITH_DOUBLE, LAYOUT_PACKED);
    s.there = device_points(&s.s, &memory);
    snprintf(s.name, sizeof s.name, "crowded, form %d", form);
    check_search(&s);
    CHECK(cudaFree(memory) == cudaSuccess, "free");
    stored_free(&s.s);
    free(roles);
    free(xyz);
}

/** A particle that is not finite is refused, by the index that the caller gave it, whatever its
 *  role. */
static void check_not_finite(kith_ctx *cpu, kith_ctx *gpu)
{
    enum { N = 100, BAD = 70 };
    rng r = {5};
    uint8_t roles[N];
    const kith_box cube = kith_box_periodic(1, 1, 1);
    for (int role = KITH_LINK; role <= KITH_IGNORE; role++) {
        double *xyz = points_in_box(&r, N, &cube);
        xyz[3 * BAD] = INFINITY;
        memset(roles, KITH_ATTACH, sizeof roles);
        roles[0] = KITH_LINK;
        roles[BAD] = (uint8_t)role;
        kith_fof_options options;
        kith_fof_options_init(&options);
        options.roles = roles;
        const kith_points points = kith_points_packed(xyz, N, KITH_DOUBLE);
        kith_groups found = {0};
        CHECK(kith_fof_find(cpu, &points, NULL, 0.1, &options, &found) == KITH_NOT_FINITE, "cpu");
        CHECK(kith_fof_find(gpu, &points, NULL, 0.1, &options, &found) == KITH_NOT_FINITE, "gpu");
        CHECK(strcmp(kith_message(cpu), kith_message(gpu)) == 0, "\"%s\", expected \"%s\"",
              kith_message(gpu), kith_message(cpu));
        kith_groups_free(&found);
        free(xyz);
    }
}

/** A role that is none, and a velocity that is not finite, are refused in device memory as in host
 *  memory. */
static void check_wrong_options(kith_ctx *cpu, kith_ctx *gpu)
{
    enum { N = 300, BAD = 70 };
    rng r = {6};
    static uint8_t roles[N];
    const kith_box cube = kith_box_periodic(1, 1, 1);
    double *xyz = points_in_box(&r, N, &cube);
    double *velocities = points_in_box(&r, N, &cube);
    const kith_points points = kith_points_packed(xyz, N, KITH_DOUBLE);
    for (int fault = 0; fault < 4; fault++) {
        void *memory[3];
        kith_fof_options options;
        kith_groups found = {0};
        roles[BAD] = roles[BAD + 9] = fault == 0 ? 3 : KITH_LINK;
        velocities[3 * BAD + 2] = fault == 1 ? NAN : fault == 2 ? INFINITY : 0;
        kith_fof_options_init(&options);
        options.roles = roles;
        options.velocities = velocities;
        options.velocity_length = 1;
        const kith_fof_options there = options_there(&options, N, KITH_DOUBLE, memory);
        const kith_status right = kith_fof_find(cpu, &points, NULL, 0.1, &options, &found);
        CHECK(right == (fault == 0  ? KITH_INVALID
                        : fault < 3 ? KITH_NOT_FINITE
                                    : KITH_OK),
              "fault %d: %s", fault, kith_status_name(right));
        CHECK(kith_fof_find(gpu, &points, NULL, 0.1, &there, &found) == right &&
                  strcmp(kith_message(cpu), kith_message(gpu)) == 0,
              "fault %d: \"%s\", expected \"%s\"", fault, kith_message(gpu), kith_message(cpu));
        CHECK(kith_fof_find(cpu, &points, NULL, 0.1, &there, &found) == KITH_UNSUPPORTED, "cpu");
        kith_groups_free(&found);
        free_all(memory);
    }
    free(velocities);
    free(xyz);
}

int main(int argc, char **argv)
{
    kith_ctx *gpu = check_open(check_backend(argc, argv), 2);
    kith_ctx *cpu = check_open("cpu", 2);
    cudaStream_t stream = NULL;
    const int step = check_brief() > 0 ? 1 + check_brief() : 1;
    check_not_finite(cpu, gpu);
    check_wrong_options(cpu, gpu);
    for (int form = 0; form < 8; form += step) {
        check_crowded(cpu, gpu, form);
    }
    for (int round = 0; round < ROUNDS / 2; round += step) {
        check_round(cpu, gpu, round);
    }
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess &&
              kith_set_stream(gpu, stream) == KITH_OK,
          "%s", kith_message(gpu));
    for (int round = ROUNDS / 2; round < ROUNDS; round += step) {
        check_round(cpu, gpu, round);
    }
    kith_close(cpu);
    kith_close(gpu);
    CHECK(cudaStreamDestroy(stream) == cudaSuccess, "stream");
    return check_done();
}
