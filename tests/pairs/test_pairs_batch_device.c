/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lists of a batch whose points, offsets, boxes and arrays are in device memory are those of the
 * CPU, found, filled and enqueued.
 */
#include "batches.h"
#include "check.h"
#include "device.h"

#include <cuda_runtime_api.h>
#include <string.h>

/* A sorted list on the device equals one on the host. */
static void check_same(const random_batch *batch, const kith_pairs_options *o,
                       const kith_pairs *device, const kith_pairs *host, const char *how)
{
    const size_t n = (size_t)host->n, real = (size_t)batch->precision;
    if (!CHECK(device->n == host->n, "%s: %s %lld pairs, the CPU %lld", batch->name, how,
               (long long)device->n, (long long)host->n))
        return;
    CHECK(device_holds(device->j, host->j, n * 4), "%s: %s: j", batch->name, how);
    if (o->layout == KITH_IJ)
        CHECK(device_holds(device->i, host->i, n * 4), "%s: %s: i", batch->name, how);
    else
        CHECK(device_holds(device->offsets, host->offsets, (size_t)(host->rows + 1) * 8),
              "%s: %s: offsets", batch->name, how);
    if (o->extras & KITH_DISTANCES)
        CHECK(device_holds(device->distances, host->distances, n * real), "%s: %s: distances",
              batch->name, how);
    if (o->extras & KITH_VECTORS)
        CHECK(device_holds(device->vectors, host->vectors, 3 * n * real), "%s: %s: vectors",
              batch->name, how);
    if (o->extras & KITH_SHIFTS)
        CHECK(device_holds(device->shifts, host->shifts, 12 * n), "%s: %s: shifts", batch->name,
              how);
}

/* Rows of a fixed width on the device equal those on the host. */
static void check_same_matrix(const random_batch *batch, const kith_pairs *device,
                              const kith_pairs *host, const char *how)
{
    const size_t rows = (size_t)host->rows, real = (size_t)batch->precision;
    const size_t n = rows * (size_t)host->width;
    CHECK(device->n == host->n && device->widest == host->widest &&
              device->overflowed == host->overflowed,
          "%s: %s rows: %lld pairs, widest %lld, %lld overflowed; the CPU %lld, %lld, %lld",
          batch->name, how, (long long)device->n, (long long)device->widest,
          (long long)device->overflowed, (long long)host->n, (long long)host->widest,
          (long long)host->overflowed);
    CHECK(device_holds(device->counts, host->counts, rows * 4), "%s: %s rows: counts", batch->name,
          how);
    CHECK(device_holds(device->j, host->j, n * 4), "%s: %s rows: j", batch->name, how);
    CHECK(!host->distances || device_holds(device->distances, host->distances, n * real),
          "%s: %s rows: distances", batch->name, how);
    CHECK(!host->vectors || device_holds(device->vectors, host->vectors, 3 * n * real),
          "%s: %s rows: vectors", batch->name, how);
    CHECK(!host->shifts || device_holds(device->shifts, host->shifts, 12 * n),
          "%s: %s rows: shifts", batch->name, how);
}

/* Rows of a fixed width of a batch in device memory: found wide enough by both, then too narrow
 * ones filled and enqueued.
 *   o, own  options of the CPU and of the GPU, sorted, without the layout
 *   given   the batch in device memory */
static void check_matrix(kith_ctx *gpu, kith_ctx *cpu, const random_batch *batch,
                         const kith_points *a, kith_pairs_options o, kith_pairs_options own,
                         const kith_batch *given)
{
    kith_pairs want = {.size = sizeof want};
    kith_pairs found = {.size = sizeof found, .memory = KITH_DEVICE};
    const kith_box *box = batch_box(batch);
    const double rc = batch->cutoff;
    o.layout = own.layout = KITH_MATRIX;
    o.width = own.width = 0;
    if (!CHECK(kith_pairs_find(cpu, &batch->points.points, box, rc, &o, &want) == KITH_OK, "%s: %s",
               batch->name, kith_message(cpu)) ||
        !CHECK(kith_pairs_find(gpu, a, box, rc, &own, &found) == KITH_OK, "%s: %s", batch->name,
               kith_message(gpu)))
        return;
    check_same_matrix(batch, &found, &want, "found");
    for (int64_t width = want.widest / 3; width <= want.widest; width += 1 + want.widest / 2) {
        kith_pairs few = want, into = found;
        int64_t result[KITH_RESULTS] = {-1, -1, -1};
        int64_t *on_device = device_make(result, sizeof result);
        o.width = own.width = width;
        few.owner = into.owner = NULL;
        const kith_status status = kith_pairs_fill(cpu, &batch->points.points, box, rc, &o, &few);
        own.batch = o.batch;
        CHECK(kith_pairs_fill(gpu, a, box, rc, &own, &into) == status, "%s: fill: %s", batch->name,
              kith_message(gpu));
        check_same_matrix(batch, &into, &few, "filled");
        own.batch = given;
        CHECK(kith_pairs_enqueue(gpu, a, box, rc, &own, &into, on_device) == KITH_OK &&
                  cudaMemcpy(result, on_device, sizeof result, cudaMemcpyDeviceToHost) ==
                      cudaSuccess,
              "%s: enqueue: %s", batch->name, kith_message(gpu));
        into.n = result[KITH_RESULT_PAIRS];
        into.widest = result[KITH_RESULT_WIDEST];
        into.overflowed = result[KITH_RESULT_OVERFLOWED];
        check_same_matrix(batch, &into, &few, "enqueued");
        cudaFree(on_device);
    }
    kith_pairs_free(&want);
    kith_pairs_free(&found);
}

static void check_batch(kith_ctx *gpu, kith_ctx *cpu, uint64_t seed)
{
    random_batch batch = batch_make(seed, seed % 4 == 3);
    rng r = {seed + 77};
    const int cross = seed % 3 == 2;
    const kith_batch on_host = batch_public(&batch, cross);
    kith_batch on_device = on_host;
    void *memory[2];
    const kith_points a = device_points(&batch.points, &memory[0]);
    const kith_points b = device_points(&batch.other, &memory[1]);
    const size_t bytes = (size_t)(batch.systems + 1) * 8;
    int64_t *first_a = device_make(batch.a, bytes), *first_b = device_make(batch.b, bytes);
    kith_box *boxes = device_make(batch.boxes, (size_t)batch.systems * sizeof *boxes);
    int64_t *result = device_make(NULL, 0);
    on_device.memory = KITH_DEVICE;
    on_device.offsets = first_a;
    on_device.against_offsets = cross ? first_b : NULL;
    on_device.boxes = batch.has_boxes ? boxes : NULL;
    on_device.dim = batch.systems > 0 ? batch.boxes[0].dim : 0;
    kith_pairs found = {.memory = KITH_DEVICE}, want = {0};
    for (int turn = 0; turn < 4; turn++) {
        kith_pairs_options o;
        kith_pairs_options_init(&o);
        o.full = (int)rng_below(&r, 2);
        o.sorted = 1;
        o.layout = rng_below(&r, 2) ? KITH_CSR : KITH_IJ;
        o.extras = (unsigned)rng_below(&r, 8);
        kith_pairs_options own = o;
        o.batch = &on_host;
        o.against = cross ? &batch.other.points : NULL;
        own.batch = turn % 2 ? &on_host : &on_device;
        own.against = cross ? &b : NULL;
        const kith_box *box = batch_box(&batch);
        const double rc = batch.cutoff;
        if (!CHECK(kith_pairs_find(cpu, &batch.points.points, box, rc, &o, &want) == KITH_OK,
                   "%s: %s", batch.name, kith_message(cpu)) ||
            !CHECK(kith_pairs_find(gpu, &a, box, rc, &own, &found) == KITH_OK, "%s: %s", batch.name,
                   kith_message(gpu)))
            break;
        check_same(&batch, &o, &found, &want, "found");
        kith_pairs into = found;
        into.owner = NULL;
        CHECK(kith_pairs_fill(gpu, &a, box, rc, &own, &into) == KITH_OK, "%s: fill: %s", batch.name,
              kith_message(gpu));
        check_same(&batch, &o, &into, &want, "filled");
        own.batch = &on_device;
        int64_t n = -1;
        CHECK(kith_pairs_enqueue(gpu, &a, box, rc, &own, &into, result) == KITH_OK &&
                  cudaDeviceSynchronize() == cudaSuccess,
              "%s: enqueue: %s", batch.name, kith_message(gpu));
        CHECK(cudaMemcpy(&n, result, sizeof n, cudaMemcpyDeviceToHost) == cudaSuccess &&
                  n == want.n,
              "%s: enqueued %lld pairs, the CPU %lld", batch.name, (long long)n, (long long)want.n);
        into.n = n;
        check_same(&batch, &o, &into, &want, "enqueued");
        check_matrix(gpu, cpu, &batch, &a, o, own, &on_device);
    }
    kith_pairs_free(&found);
    kith_pairs_free(&want);
    cudaFree(memory[0]);
    cudaFree(memory[1]);
    cudaFree(first_a);
    cudaFree(first_b);
    cudaFree(boxes);
    cudaFree(result);
    batch_free(&batch);
}

/* What is wrong with arrays in device memory is said as for those in host memory. */
static void check_refused(kith_ctx *gpu)
{
    float xyz[12] = {0.1f, 0.1f, 0.1f, 0.2f, 0.2f, 0.2f, 0.3f, 0.3f, 0.3f, 0.4f, 0.4f, 0.4f};
    int64_t offsets[] = {0, 2, 1, 4};
    kith_box boxes[3] = {kith_box_periodic(1, 1, 1), kith_box_periodic(2, 2, 2),
                         kith_box_periodic(1, 1, 1)};
    kith_batch batch;
    kith_pairs_options o;
    kith_pairs list = {.memory = KITH_DEVICE};
    kith_batch_init(&batch);
    kith_pairs_options_init(&o);
    o.batch = &batch;
    batch.systems = 3;
    batch.memory = KITH_DEVICE;
    for (int fault = 0; fault < 6; fault++) {
        static const char *const says[] = {"offsets[2] is 1, expected 2 or more",
                                           "offsets[3] is 3, expected 4",
                                           "system 1 of the batch: box: row b is zero",
                                           "system 2 of the batch: points: a coordinate of "
                                           "particle 1 ",
                                           "dim of box 2 is 2",
                                           "system 1 of the batch: cutoff is 0.3, and distances of "
                                           "its images are rounded by up to"};
        static const kith_status statuses[] = {KITH_INVALID,    KITH_INVALID, KITH_INVALID,
                                               KITH_NOT_FINITE, KITH_INVALID, KITH_LIMIT};
        offsets[2] = fault == 0 ? 1 : 2;
        offsets[3] = fault == 1 ? 3 : 4;
        boxes[1].row[0][0] = fault == 5 ? 10 : 2;
        boxes[1].row[1][0] = fault == 5 ? 10 : 0;
        boxes[1].row[1][1] = fault == 2 ? 0 : fault == 5 ? 0.3 / 495 : 2;
        boxes[2].dim = fault == 4 ? 2 : 3;
        const uint32_t nan = 0x7fc00000;
        const float good = 0.4f;
        memcpy(&xyz[10], fault == 3 ? (const void *)&nan : (const void *)&good, 4);
        void *memory = device_make(xyz, sizeof xyz);
        kith_points points = kith_points_packed(memory, 4, KITH_FLOAT);
        points.memory = KITH_DEVICE;
        int64_t *first = device_make(offsets, sizeof offsets);
        kith_box *space = device_make(boxes, sizeof boxes);
        batch.offsets = first;
        batch.boxes = space;
        const kith_status status = kith_pairs_find(gpu, &points, NULL, 0.3, &o, &list);
        CHECK(status == statuses[fault] && strstr(kith_message(gpu), says[fault]),
              "fault %d: %s: %s", fault, kith_status_name(status), kith_message(gpu));
        cudaFree(memory);
        cudaFree(first);
        cudaFree(space);
    }
    kith_pairs_free(&list);
}

int main(int argc, char **argv)
{
    const int cases = check_deep() ? 2000 : 60;
    kith_ctx *gpu = check_open(check_backend(argc, argv), 0);
    kith_ctx *cpu = check_open("cpu", 0);
    check_refused(gpu);
    for (int seed = 0; seed < cases; seed++)
        check_batch(gpu, cpu, (uint64_t)seed + 500000);
    kith_close(gpu);
    kith_close(cpu);
    return check_done();
}
