/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Kept lists on a GPU, with particles and lists in device and in host memory, on streams that
 * change: after each step, the bits of a fresh search.
 */
#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "points.h"

enum { N = 6000, STEPS = 24 };

static const double SIDE = 20, CUTOFF = 1.5, SKIN = 0.4;

static void must(cudaError_t error, const char *doing)
{
    CHECK(error == cudaSuccess, "%s: %s", doing, cudaGetErrorString(error));
}

/* Copy an array of the device to the host. NULL: there is none. */
static void *fetch(const void *from, size_t bytes)
{
    char *to = from ? check_malloc(bytes + 1) : NULL;
    if (from && bytes > 0)
        must(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "copying the list");
    return to;
}

/* Compare an array in device memory, or in host memory, with one in host memory. */
static int same(const void *found, const void *right, size_t bytes, kith_memory memory)
{
    void *copy = memory == KITH_DEVICE ? fetch(found, bytes) : NULL;
    const void *at = memory == KITH_DEVICE ? copy : found;
    const int good = !right == !at && (!right || bytes == 0 || memcmp(at, right, bytes) == 0);
    free(copy);
    return good;
}

static int same_lists(const kith_pairs *found, const kith_pairs *right, size_t real)
{
    const size_t n = (size_t)right->n;
    const kith_memory memory = found->memory;
    return found->n == right->n && found->rows == right->rows &&
           same(found->i, right->i, n * sizeof *right->i, memory) &&
           same(found->j, right->j, n * sizeof *right->j, memory) &&
           same(found->offsets, right->offsets, ((size_t)right->rows + 1) * sizeof *right->offsets,
                memory) &&
           same(found->distances, right->distances, n * real, memory) &&
           same(found->vectors, right->vectors, 3 * n * real, memory) &&
           same(found->shifts, right->shifts, 3 * n * sizeof *right->shifts, memory);
}

static kith_box box_of(int kind, int step)
{
    kith_box box = kith_box_periodic(SIDE, SIDE, SIDE);
    if (kind == 1)
        box = kith_box_triclinic(SIDE, 0.9 * SIDE, SIDE, 0.4 * SIDE, -0.3 * SIDE, 0.2 * SIDE);
    if (kind == 2)
        box.periodic[0] = box.periodic[2] = 0;
    if (kind == 3) /* sheared */
        box.row[1][0] = 0.001 * SIDE * step;
    return box;
}

/* A history: particles drift out of the box, and come back by a jump that wraps them. */
static void check_history(kith_ctx *ctx, cudaStream_t stream[2], uint64_t seed, int kind,
                          kith_precision precision, kith_memory points_in, kith_memory list_in)
{
    rng r = {seed};
    const int64_t n = seed % 8 == 0 ? kind : N; /* few particles, or none */
    const size_t bytes = 3 * (size_t)n * (size_t)precision;
    const kith_box first = box_of(kind, 0);
    double *xyz = points_in_box(&r, n, &first);
    void *device = NULL;
    kith_verlet *verlet = NULL;
    kith_verlet_options o;
    kith_pairs_options same_form;
    kith_verlet_options_init(&o);
    kith_pairs_options_init(&same_form);
    o.cutoff = CUTOFF;
    o.skin = SKIN;
    o.full = same_form.full = (int)rng_below(&r, 2);
    o.layout = same_form.layout = rng_below(&r, 2) ? KITH_CSR : KITH_IJ;
    o.extras = same_form.extras = (unsigned)rng_below(&r, 8);
    same_form.sorted = 1;
    kith_pairs list = {.size = sizeof list, .memory = list_in};
    kith_pairs fresh = {.size = sizeof fresh};
    must(cudaMalloc(&device, bytes + 1), "reserving memory");
    CHECK(kith_verlet_open(ctx, &o, &verlet) == KITH_OK, "%s", kith_message(ctx));
    int64_t kept = 0, rebuilt = 0;
    int good = 1;
    for (int step = 0; step < STEPS && good; step++) {
        const kith_box box = box_of(kind, step);
        stored s = stored_make(xyz, n, precision, LAYOUT_PACKED);
        kith_points points = s.points;
        if (points_in == KITH_DEVICE) {
            must(cudaMemcpy(device, s.points.x, bytes, cudaMemcpyHostToDevice), "copying points");
            /* pageable memory may still be on its way, and stream[1] does not wait for it */
            must(cudaStreamSynchronize(NULL), "waiting for the points");
            points = kith_points_packed(device, n, precision);
            points.memory = KITH_DEVICE;
        }
        CHECK(kith_set_stream(ctx, stream[step / 3 % 2]) == KITH_OK, "%s", kith_message(ctx));
        good = CHECK(kith_verlet_update(verlet, &points, &box, &list) == KITH_OK, "%s",
                     kith_message(ctx)) &&
               CHECK(kith_pairs_find(ctx, &s.points, &box, CUTOFF, &same_form, &fresh) == KITH_OK,
                     "%s", kith_message(ctx)) &&
               CHECK(same_lists(&list, &fresh, (size_t)precision),
                     "seed %llu, box %d, step %d: %lld pairs, a fresh search has %lld; full %d, "
                     "layout %d, extras %u, %s, points %d, list %d",
                     (unsigned long long)seed, kind, step, (long long)list.n, (long long)fresh.n,
                     o.full, (int)o.layout, o.extras, precision == KITH_FLOAT ? "float" : "double",
                     (int)points_in, (int)list_in);
        kith_verlet_state state;
        CHECK(kith_verlet_read(verlet, &state) == KITH_OK, "%s", kith_message(ctx));
        kept += !state.rebuilt;
        rebuilt += state.rebuilt;
        stored_free(&s);
        for (int64_t p = 0; p < 3 * n; p++)
            xyz[p] += 0.02 * rng_normal(&r);
        if (kind != 2 && step % 5 == 4)
            points_drift(&r, xyz, n, &box, 2);
    }
    CHECK(n < N || (kept > STEPS / 3 && rebuilt >= 2),
          "box %d: %lld updates kept the pairs, %lld searched", kind, (long long)kept,
          (long long)rebuilt);
    kith_verlet_close(verlet);
    kith_pairs_free(&list);
    kith_pairs_free(&fresh);
    must(cudaFree(device), "freeing memory");
    free(xyz);
}

int main(int argc, char **argv)
{
    kith_ctx *ctx = check_open(check_backend(argc, argv), 2);
    cudaStream_t stream[2];
    must(cudaStreamCreate(&stream[0]), "creating a stream");
    must(cudaStreamCreateWithFlags(&stream[1], cudaStreamNonBlocking), "creating a stream");
    const int rounds = check_deep() ? 40 : 4 / (1 + check_brief());
    uint64_t seed = 1;
    for (int round = 0; round <= rounds; round++)
        for (int kind = 0; kind < 4; kind++)
            for (int c = 0; c < 8; c++)
                check_history(ctx, stream, seed++, kind, c & 1 ? KITH_FLOAT : KITH_DOUBLE,
                              c & 2 ? KITH_DEVICE : KITH_HOST, c & 4 ? KITH_DEVICE : KITH_HOST);
    CHECK(kith_set_stream(ctx, NULL) == KITH_OK, "%s", kith_message(ctx));
    must(cudaStreamDestroy(stream[0]), "destroying a stream");
    must(cudaStreamDestroy(stream[1]), "destroying a stream");
    kith_close(ctx);
    return check_done();
}
