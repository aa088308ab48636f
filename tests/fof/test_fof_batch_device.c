/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups of a batch on a GPU are those of the CPU: points, offsets and boxes in host and in device
 * memory; small systems, which are searched together, and large ones; and what is wrong with one.
 */
#include "batches.h"
#include "check.h"
#include "device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_groups(const char *name, const kith_groups *got, const kith_groups *want,
                         const char *where)
{
    CHECK(got->n == want->n && got->points == want->points && got->systems == want->systems,
          "%s, %s: %lld groups, the CPU %lld", name, where, (long long)got->n, (long long)want->n);
    if (got->n != want->n)
        return;
    CHECK(memcmp(got->offsets, want->offsets, (size_t)(want->systems + 1) * 8) == 0,
          "%s, %s: offsets", name, where);
    CHECK(want->n == 0 || memcmp(got->members, want->members, (size_t)want->n * 8) == 0,
          "%s, %s: members", name, where);
    CHECK(want->points == 0 || memcmp(got->labels, want->labels, (size_t)want->points * 4) == 0,
          "%s, %s: labels", name, where);
}

static void check_batch(kith_ctx *gpu, kith_ctx *cpu, const random_batch *batch, double length,
                        int64_t min_members)
{
    const kith_batch on_host = batch_public(batch, 0);
    device_batch made = device_batch_make(batch, 0);
    kith_groups want = {.size = sizeof want}, got = {.size = sizeof got};
    const kith_box *box = batch_box(batch);
    kith_fof_options o;
    kith_fof_options_init(&o);
    o.min_members = min_members;
    o.batch = &on_host;
    const kith_status right = kith_fof_find(cpu, &batch->points.points, box, length, &o, &want);
    for (int device = 0; device < 2; device++) {
        o.batch = device ? &made.given : &on_host;
        const kith_status status = kith_fof_find(gpu, device ? &made.a : &batch->points.points, box,
                                                 length, &o, &got);
        const char *where = device ? "device" : "host";
        CHECK(status == right, "%s, %s: %s: %s, the CPU %s", batch->name, where,
              kith_status_name(status), kith_message(gpu), kith_status_name(right));
        if (status == KITH_OK && right == KITH_OK)
            check_groups(batch->name, &got, &want, where);
    }
    kith_groups_free(&want);
    kith_groups_free(&got);
    device_batch_free(&made);
}

/* Systems of given sizes in one box; with `equal`, all particles of a system coincide. */
static void check_sizes(kith_ctx *gpu, kith_ctx *cpu, const int64_t *sizes, int systems, int equal,
                        kith_precision precision)
{
    rng r = {(uint64_t)systems};
    random_batch batch = {.systems = systems, .precision = precision};
    double *xyz = NULL;
    batch.one = kith_box_periodic(1, 1.2, 0.9);
    for (int s = 0; s < systems; s++) {
        xyz = batch_append(&r, xyz, batch.a[s], sizes[s], &batch.one, 1, 0);
        batch.a[s + 1] = batch.a[s] + sizes[s];
    }
    for (int64_t c = 0; c < 3 * batch.a[systems] && equal; c++)
        xyz[c] = 0.25;
    batch.points = stored_make(xyz, batch.a[systems], precision, LAYOUT_PACKED);
    batch.other = stored_make(xyz, 0, precision, LAYOUT_PACKED);
    free(xyz);
    snprintf(batch.name, sizeof batch.name, "%d systems of %lld to %lld, equal %d", systems,
             (long long)sizes[0], (long long)sizes[systems - 1], equal);
    check_batch(gpu, cpu, &batch, 0.04, 2);
    check_batch(gpu, cpu, &batch, 0.07, 1);
    batch_free(&batch);
}

/* A coordinate that is not finite is refused by the number of its system. */
static void check_refused(kith_ctx *gpu, kith_ctx *cpu)
{
    random_batch batch = {.systems = 4, .precision = KITH_DOUBLE};
    double xyz[3 * 8];
    batch.one = kith_box_periodic(1, 1, 1);
    for (int s = 0; s < 4; s++)
        batch.a[s + 1] = 2 * s + 2;
    for (int c = 0; c < 24; c++)
        xyz[c] = 0.03 * c;
    xyz[13] = NAN;
    batch.points = stored_make(xyz, 8, KITH_DOUBLE, LAYOUT_PACKED);
    batch.other = stored_make(xyz, 0, KITH_DOUBLE, LAYOUT_PACKED);
    snprintf(batch.name, sizeof batch.name, "not finite");
    check_batch(gpu, cpu, &batch, 0.1, 1);
    CHECK(strstr(kith_message(gpu), "system 2 of the batch"), "%s", kith_message(gpu));
    batch_free(&batch);
}

int main(int argc, char **argv)
{
    static const int64_t small[] = {1, 20, 64, 65, 0, 700, 8192, 33, 3000};
    static const int64_t mixed[] = {20000, 64, 0, 8193, 3};
    const int cases = check_deep() ? 3000 : check_brief() ? 10 : 120;
    kith_ctx *gpu = check_open(check_backend(argc, argv), 0);
    kith_ctx *cpu = check_open("cpu", 0);
    check_refused(gpu, cpu);
    for (int turn = 0; turn < 4 && !check_brief(); turn++) {
        const kith_precision precision = turn % 2 ? KITH_FLOAT : KITH_DOUBLE;
        check_sizes(gpu, cpu, small, 9, turn / 2, precision);
        check_sizes(gpu, cpu, mixed, 5, 0, precision);
    }
    for (int seed = 0; seed < cases; seed++) {
        rng r = {(uint64_t)seed + 5};
        random_batch batch = batch_make((uint64_t)(3 * seed + 900001), seed % 4 == 3);
        check_batch(gpu, cpu, &batch, rng_uniform(&r, 0.1, 1.2), 1 + rng_below(&r, 3));
        batch_free(&batch);
    }
    kith_close(gpu);
    kith_close(cpu);
    return check_done();
}
