/* SPDX-License-Identifier: BSD-3-Clause */
#include "batches.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static kith_box random_box(rng *r, double side, int dim, int kind)
{
    kith_box box = kith_box_periodic(side * rng_uniform(r, 0.7, 1.4),
                                     side * rng_uniform(r, 0.7, 1.4),
                                     side * rng_uniform(r, 0.7, 1.4));
    if (kind == 1 || kind == 2) {
        box.row[1][0] = side * rng_uniform(r, -0.4, 0.4);
        box.row[2][0] = side * rng_uniform(r, -0.4, 0.4);
        box.row[2][1] = side * rng_uniform(r, -0.4, 0.4);
    }
    for (int k = 0; k < 3; k++) {
        box.origin[k] = rng_uniform(r, -3, 3);
        if (kind >= 2)
            box.periodic[k] = (int)rng_below(r, 2);
        if (kind == 4)
            box.periodic[k] = 0;
    }
    box.dim = dim;
    return box;
}

static int64_t random_size(rng *r, int large)
{
    static const int64_t sizes[] = {0,  0,  1,  1,  2,  3,  5,   8,   17, 20,
                                    31, 32, 33, 60, 64, 65, 100, 129, 700};
    const int64_t n = sizes[rng_below(r, (int64_t)(sizeof sizes / sizeof *sizes))];
    return large && rng_below(r, 6) == 0 ? 2000 + rng_below(r, 3000) : n;
}

double *batch_append(rng *r, double *xyz, int64_t at, int64_t n, const kith_box *box, double side,
                     int tight)
{
    double *all = realloc(xyz, (size_t)(3 * (at + n) + 1) * sizeof *all);
    double *some = tight && n > 40 ? points_clustered(r, n, 3, side, 0.2 * side)
                                   : points_in_box(r, n, box);
    if (!all || !some)
        exit(1);
    if (rng_below(r, 2)) /* a GPU corrects images for up to 127 boxes in another way */
        points_drift(r, some, n, box, rng_below(r, 4) ? 2 : 300);
    memcpy(all + 3 * at, some, (size_t)(3 * n) * sizeof *all);
    free(some);
    return all;
}

random_batch batch_make(uint64_t seed, int large)
{
    rng r = {seed};
    random_batch batch = {.systems = rng_below(&r, MOST_SYSTEMS + 1), .cutoff = 1.0};
    const int dim = rng_below(&r, 4) == 0 ? 2 : 3;
    const int cross = seed % 3 == 2;
    double *xyz = NULL, *other = NULL;
    batch.has_boxes = rng_below(&r, 3) > 0;
    batch.precision = rng_below(&r, 2) ? KITH_FLOAT : KITH_DOUBLE;
    batch.how = (layout)rng_below(&r, LAYOUTS);
    batch.one = random_box(&r, 3.0, dim, (int)rng_below(&r, 5));
    for (int64_t s = 0; s < batch.systems; s++) {
        const int64_t n = random_size(&r, large && batch.has_boxes),
                      m = cross ? random_size(&r, 0) : 0;
        const double density = rng_uniform(&r, 1, 4);
        const double side = fmax(dim == 3 ? cbrt((double)n / density) : sqrt((double)n / density),
                                 0.6);
        batch.boxes[s] = random_box(&r, side, dim, (int)rng_below(&r, 5));
        const kith_box *box = batch.has_boxes ? &batch.boxes[s] : &batch.one;
        xyz = batch_append(&r, xyz, batch.a[s], n, box, side, rng_below(&r, 4) == 0);
        other = batch_append(&r, other, batch.b[s], m, box, side, 0);
        batch.a[s + 1] = batch.a[s] + n;
        batch.b[s + 1] = batch.b[s] + m;
    }
    batch.points = stored_make(xyz, batch.a[batch.systems], batch.precision, batch.how);
    batch.other = stored_make(other, batch.b[batch.systems], batch.precision, batch.how);
    free(xyz);
    free(other);
    snprintf(batch.name, sizeof batch.name, "seed %llu, %lld systems, %lld particles, %s, %s%s",
             (unsigned long long)seed, (long long)batch.systems, (long long)batch.points.points.n,
             batch.precision == KITH_FLOAT ? "float" : "double", cross ? "two sets" : "one set",
             batch.has_boxes ? ", a box each" : "");
    return batch;
}

void batch_free(random_batch *batch)
{
    stored_free(&batch->points);
    stored_free(&batch->other);
}

kith_batch batch_public(const random_batch *batch, int cross)
{
    kith_batch given;
    kith_batch_init(&given);
    given.systems = batch->systems;
    given.offsets = batch->a;
    given.against_offsets = cross ? batch->b : NULL;
    given.boxes = batch->has_boxes ? batch->boxes : NULL;
    return given;
}

kith_points batch_slice(const kith_points *all, int64_t begin, int64_t end)
{
    kith_points part = *all;
    const int64_t skip = begin * all->stride * (int64_t)all->precision;
    part.n = end - begin;
    part.x = (const char *)all->x + skip;
    part.y = (const char *)all->y + skip;
    part.z = (const char *)all->z + skip;
    return part;
}

const kith_box *batch_box(const random_batch *batch)
{
    return batch->has_boxes ? NULL : &batch->one;
}

const kith_box *batch_box_of(const random_batch *batch, int64_t system)
{
    return batch->has_boxes ? &batch->boxes[system] : &batch->one;
}
