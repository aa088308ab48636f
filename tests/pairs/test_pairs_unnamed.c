/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kith_pairs_fill writes the arrays that the options name, and no others: a program may leave old
 * pointers in the rest of the struct. All layouts and extras, with radii and without, of one
 * system and of batches of small and large systems. The pointers stay in the caller's struct.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "points.h"

enum {
    SYSTEM = 1300, /* particles of a small system: with radii, enough to be divided into classes */
    LARGE = 33000, /* particles of a system that a batch runs on all threads */
    WIDTH = 24,
    ARRAYS = 7,
    CANARY = 0x5a
};

/** One array of a list. */
typedef struct array {
    const char *name;
    bool named; /* the options name it */
    size_t bytes;
    unsigned char *data;
} array;

/** The particles, with a radius each. */
typedef struct input {
    const char *name;
    int64_t n;
    double *xyz, *radii;
    kith_box box;
    const kith_batch *batch;
} input;

static bool is_untouched(const array *a)
{
    for (size_t k = 0; k < a->bytes; k++)
        if (a->data[k] != CANARY)
            return false;
    return true;
}

/* Fill a list all of whose arrays exist. */
static void check_fill(kith_ctx *ctx, const input *in, const kith_pairs_options *o, int64_t pairs)
{
    const int64_t capacity = o->layout == KITH_MATRIX ? in->n * WIDTH : pairs;
    const size_t room = (size_t)capacity, rows = (size_t)in->n;
    array arrays[ARRAYS] = {
        {"i", o->layout == KITH_IJ, room * sizeof(int32_t), NULL},
        {"j", true, room * sizeof(int32_t), NULL},
        {"offsets", o->layout == KITH_CSR, (rows + 1) * sizeof(int64_t), NULL},
        {"distances", o->extras & KITH_DISTANCES, room * sizeof(double), NULL},
        {"vectors", o->extras & KITH_VECTORS, 3 * room * sizeof(double), NULL},
        {"shifts", o->extras & KITH_SHIFTS, 3 * room * sizeof(int32_t), NULL},
        {"counts", o->layout == KITH_MATRIX, rows * sizeof(int32_t), NULL},
    };
    for (int k = 0; k < ARRAYS; k++) {
        arrays[k].data = check_malloc(arrays[k].bytes);
        memset(arrays[k].data, CANARY, arrays[k].bytes);
    }
    const kith_pairs given = {.size = sizeof given,
                              .capacity = capacity,
                              .i = (int32_t *)arrays[0].data,
                              .j = (int32_t *)arrays[1].data,
                              .offsets = (int64_t *)arrays[2].data,
                              .distances = arrays[3].data,
                              .vectors = arrays[4].data,
                              .shifts = (int32_t *)arrays[5].data,
                              .counts = (int32_t *)arrays[6].data};
    const kith_points points = kith_points_packed(in->xyz, in->n, KITH_DOUBLE);
    kith_pairs list = given;
    const kith_status status = kith_pairs_fill(ctx, &points, &in->box, 0.05, o, &list);
    CHECK(status == KITH_OK && list.n == pairs && list.rows == in->n, "%s: %s: %lld pairs of %lld",
          in->name, kith_message(ctx), (long long)list.n, (long long)pairs);
    for (int k = 0; k < ARRAYS; k++) {
        CHECK(is_untouched(&arrays[k]) == !arrays[k].named,
              "%s: layout %d, sorted %d, extras %u, %s: %s is %s", in->name, (int)o->layout,
              o->sorted, o->extras, o->radii ? "radii" : "no radii", arrays[k].name,
              arrays[k].named ? "not written" : "written, but not named");
        free(arrays[k].data);
    }
    CHECK(list.i == given.i && list.j == given.j && list.offsets == given.offsets &&
              list.distances == given.distances && list.vectors == given.vectors &&
              list.shifts == given.shifts && list.counts == given.counts && !list.owner &&
              list.capacity == capacity && list.memory == KITH_HOST && list.size == sizeof list,
          "%s: layout %d: the caller's struct has lost arrays", in->name, (int)o->layout);
}

static void check_forms(kith_ctx *ctx, const input *in)
{
    const kith_points points = kith_points_packed(in->xyz, in->n, KITH_DOUBLE);
    for (int form = 0; form < 2 * 2 * 3; form++) {
        kith_pairs_options o;
        int64_t pairs = 0;
        kith_pairs_options_init(&o);
        o.full = 1;
        o.batch = in->batch;
        o.sorted = form & 1;
        o.radii = form & 2 ? in->radii : NULL;
        o.radius_rule = form & 2 ? KITH_RADIUS_EITHER : KITH_RADIUS_NONE;
        o.layout = (kith_layout)(form / 4);
        o.width = WIDTH;
        const kith_status status = kith_pairs_count(ctx, &points, &in->box, 0.05, &o, &pairs, NULL);
        CHECK(status == KITH_OK && pairs > in->n / 4, "%s: %s: %lld pairs", in->name,
              kith_message(ctx), (long long)pairs);
        for (o.extras = 0; o.extras <= (KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS); o.extras++)
            check_fill(ctx, in, &o, pairs);
    }
}

/* Points with about `each` neighbours within 0.05, and radii of several classes. */
static input make_input(rng *r, const char *name, int64_t n, double each, const kith_batch *batch)
{
    enum { CLASSES = 3 };
    const double ball = 4.0 / 3 * 3.14159 * 0.05 * 0.05 * 0.05;
    const double area = (double)n * ball / each;
    input in = {.name = name, .n = n, .box = kith_box_periodic(1, 1, area), .batch = batch};
    in.xyz = points_in_box(r, n, &in.box);
    in.radii = check_malloc((size_t)n * sizeof *in.radii);
    for (int64_t p = 0; p < n; p++)
        in.radii[p] = 0.05 / (double)(1 << rng_below(r, CLASSES));
    return in;
}

static void free_input(input *in)
{
    free(in->xyz);
    free(in->radii);
}

int main(int argc, char **argv)
{
    kith_ctx *ctx = check_open(check_backend(argc, argv), 2);
    rng r = {81};
    input one = make_input(&r, "one system", SYSTEM, 4, NULL);
    check_forms(ctx, &one);
    free_input(&one);

    const int64_t offsets[] = {0, SYSTEM, SYSTEM + 7, SYSTEM + 7 + SYSTEM};
    kith_batch batch;
    kith_batch_init(&batch);
    batch.systems = 3;
    batch.offsets = offsets;
    input small = make_input(&r, "small systems", offsets[3], 8, &batch);
    check_forms(ctx, &small);
    free_input(&small);

    const int64_t large_offsets[] = {0, 9, LARGE};
    batch.systems = 2;
    batch.offsets = large_offsets;
    input large = make_input(&r, "a large system", LARGE, 4, &batch);
    check_forms(ctx, &large);
    free_input(&large);
    kith_close(ctx);
    return check_done();
}
