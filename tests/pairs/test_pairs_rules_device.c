/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rules of lists whose points and arrays are in device memory: sorted lists have the CPU's bits,
 * for cutoffs by species, radii of every rule, exclusions; found, counted, queued, captured in a
 * graph; what a queued call cannot do is refused.
 */
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "points.h"

enum { N = 6000, BONDS = 2000, SPECIES = 3, CAPACITY = 400000 };
enum { ALL_EXTRAS = KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS };

#define CU(call) CHECK((call) == cudaSuccess, "%s", cudaGetErrorString(cudaGetLastError()))

static void *device_alloc(size_t bytes)
{
    void *data = NULL;
    CU(cudaMalloc(&data, bytes + 1));
    return data;
}

static void *to_device(const void *from, size_t bytes)
{
    void *to = device_alloc(bytes);
    CU(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
    return to;
}

static int same_on_host(const void *host, const void *device, size_t bytes)
{
    void *copy = check_malloc(bytes + 1);
    CU(cudaMemcpy(copy, device, bytes, cudaMemcpyDefault));
    const int same = memcmp(host, copy, bytes) == 0;
    free(copy);
    return same;
}

/** Everything that rules are made of, on the host and on the device. */
typedef struct world {
    kith_ctx *cpu, *gpu;
    cudaStream_t stream;
    kith_points host, device;
    kith_box box;
    double h[N], cutoffs[SPECIES * SPECIES];
    int32_t species[N], molecules[N], bonds[BONDS];
    int64_t offsets[N + 1];
    uint8_t active[N];
    kith_pairs_options on_device; /**< arrays in device memory */
} world;

static void world_make(world *w, const double *xyz)
{
    rng r = {97};
    w->host = kith_points_packed(xyz, N, KITH_DOUBLE);
    w->device = kith_points_packed(to_device(xyz, 24 * N), N, KITH_DOUBLE);
    w->device.memory = KITH_DEVICE;
    w->box = kith_box_periodic(1, 1, 1);
    for (int p = 0; p < N; p++) {
        w->h[p] = 0.2 * pow(300, -rng_uniform(&r, 0, 1));
        w->species[p] = (int32_t)rng_below(&r, SPECIES);
        w->molecules[p] = (int32_t)rng_below(&r, 900) - 50;
        w->active[p] = rng_below(&r, 2) != 0;
        w->offsets[p + 1] = w->offsets[p] + (p % 3 == 0);
    }
    for (int b = 0; b < BONDS; b++)
        w->bonds[b] = (int32_t)rng_below(&r, N);
    for (int k = 0; k < SPECIES * SPECIES; k++)
        w->cutoffs[k] = 0.02 * (1 + k % SPECIES) * (1 + k / SPECIES);
    kith_pairs_options_init(&w->on_device);
    w->on_device.radii = to_device(w->h, sizeof w->h);
    w->on_device.species = to_device(w->species, sizeof w->species);
    w->on_device.molecules = to_device(w->molecules, sizeof w->molecules);
    w->on_device.bond_offsets = to_device(w->offsets, sizeof w->offsets);
    w->on_device.bonds = to_device(w->bonds, sizeof w->bonds);
    w->on_device.active = to_device(w->active, sizeof w->active);
}

enum { BY_SPECIES = 1, EXCLUDED = 2, ACTIVE = 4 };

/** Options with some rules. @param rule  of radii; 0: none */
static kith_pairs_options options_of(const world *w, int on_device, int kinds, int rule)
{
    const kith_pairs_options *d = &w->on_device;
    kith_pairs_options o;
    kith_pairs_options_init(&o);
    o.sorted = 1;
    if (kinds & BY_SPECIES) {
        o.species = on_device ? d->species : w->species;
        o.cutoffs = w->cutoffs;
        o.n_species = SPECIES;
    }
    if (kinds & EXCLUDED) {
        o.molecules = on_device ? d->molecules : w->molecules;
        o.bond_offsets = on_device ? d->bond_offsets : w->offsets;
        o.bonds = on_device ? d->bonds : w->bonds;
        o.r_min = 0.01;
    }
    if (kinds & ACTIVE) {
        o.active = on_device ? d->active : w->active;
        o.full = 1;
    }
    if (rule) {
        o.radius_rule = (kith_radius_rule)rule;
        o.radii = on_device ? d->radii : w->h;
        o.full = o.full || rule <= KITH_RADIUS_SCATTER;
    }
    return o;
}

/** A list in device memory has the bits of the CPU's. */
static void check_find(const world *w, int kinds, int rule, double cutoff)
{
    kith_pairs_options o = options_of(w, 0, kinds, rule), on = options_of(w, 1, kinds, rule);
    for (int form = 0; form < 4; form++) {
        kith_pairs right = {0}, list = {.memory = form & 1 ? KITH_DEVICE : KITH_HOST};
        o.layout = on.layout = form & 2 ? KITH_CSR : KITH_IJ;
        o.extras = on.extras = ALL_EXTRAS;
        CHECK(kith_pairs_find(w->cpu, &w->host, &w->box, cutoff, &o, &right) == KITH_OK, "%s",
              kith_message(w->cpu));
        CHECK(kith_pairs_find(w->gpu, &w->device, &w->box, cutoff, &on, &list) == KITH_OK, "%s",
              kith_message(w->gpu));
        const size_t n = (size_t)right.n;
        if (CHECK(list.n == right.n && n > 0, "kinds %d, rule %d: %lld pairs, not %lld", kinds,
                  rule, (long long)list.n, (long long)right.n))
            CHECK((form & 2 ? same_on_host(right.offsets, list.offsets, (N + 1) * 8)
                            : same_on_host(right.i, list.i, 4 * n)) &&
                      same_on_host(right.j, list.j, 4 * n) &&
                      same_on_host(right.distances, list.distances, 8 * n) &&
                      same_on_host(right.vectors, list.vectors, 24 * n) &&
                      same_on_host(right.shifts, list.shifts, 12 * n),
                  "kinds %d, rule %d, form %d: other pairs", kinds, rule, form);
        int64_t counted = -1;
        CHECK(kith_pairs_count(w->gpu, &w->device, &w->box, cutoff, &on, &counted, NULL) ==
                      KITH_OK &&
                  counted == right.n,
              "kinds %d, rule %d: %lld counted, not %lld: %s", kinds, rule, (long long)counted,
              (long long)right.n, kith_message(w->gpu));
        kith_pairs_free(&right);
        kith_pairs_free(&list);
    }
}

/** A queued call, and a captured one that is replayed, have the CPU's bits. */
static void check_enqueue(const world *w, int kinds, int rule, double cutoff)
{
    kith_pairs_options o = options_of(w, 0, kinds, rule), on = options_of(w, 1, kinds, rule);
    kith_pairs right = {0}, list = {.memory = KITH_DEVICE, .capacity = CAPACITY};
    list.i = device_alloc(4 * CAPACITY);
    list.j = device_alloc(4 * CAPACITY);
    int64_t *result = device_alloc(sizeof *result), n = -1;
    CHECK(kith_pairs_find(w->cpu, &w->host, &w->box, cutoff, &o, &right) == KITH_OK, "%s",
          kith_message(w->cpu));
    for (int captured = 0; captured < 2; captured++) {
        cudaGraph_t graph = NULL;
        cudaGraphExec_t replay = NULL;
        if (captured)
            CU(cudaStreamBeginCapture(w->stream, cudaStreamCaptureModeThreadLocal));
        CHECK(kith_pairs_enqueue(w->gpu, &w->device, &w->box, cutoff, &on, &list, result) ==
                  KITH_OK,
              "kinds %d, rule %d: %s", kinds, rule, kith_message(w->gpu));
        if (captured) {
            CU(cudaStreamEndCapture(w->stream, &graph));
            CU(cudaGraphInstantiate(&replay, graph, 0));
            CU(cudaMemset(list.j, 0xff, 4 * CAPACITY));
            CU(cudaGraphLaunch(replay, w->stream));
        }
        CU(cudaStreamSynchronize(w->stream));
        CU(cudaMemcpy(&n, result, sizeof n, cudaMemcpyDeviceToHost));
        CHECK(n == right.n && n > 0 && same_on_host(right.i, list.i, 4 * (size_t)n) &&
                  same_on_host(right.j, list.j, 4 * (size_t)n),
              "kinds %d, rule %d, captured %d: %lld pairs, not %lld, or others", kinds, rule,
              captured, (long long)n, (long long)right.n);
        if (captured) {
            CU(cudaGraphExecDestroy(replay));
            CU(cudaGraphDestroy(graph));
        }
    }
    kith_pairs_free(&right);
    CU(cudaFree(list.i));
    CU(cudaFree(list.j));
    CU(cudaFree(result));
}

/** kith_pairs_enqueue reads no radii before the kernels do: where the rule reads one that is
 *  negative or NaN, the pair is not listed, and all others are. */
static void check_bad_radii(const world *w, int rule)
{
    enum { BAD = 40 };
    static double h[N];
    kith_pairs_options o = options_of(w, 0, 0, rule), on = options_of(w, 1, 0, rule);
    kith_pairs right = {0}, list = {.memory = KITH_DEVICE, .capacity = CAPACITY};
    memcpy(h, w->h, sizeof h);
    for (int p = 0; p < BAD; p++)
        h[p] = p % 3 == 0 ? NAN : p % 3 == 1 ? -h[p] : -INFINITY;
    double *device = to_device(h, sizeof h);
    on.radii = device;
    list.i = device_alloc(4 * CAPACITY);
    list.j = device_alloc(4 * CAPACITY);
    int64_t *result = device_alloc(sizeof *result), n = -1, kept = 0;
    CHECK(kith_pairs_find(w->cpu, &w->host, &w->box, 0.1, &o, &right) == KITH_OK, "%s",
          kith_message(w->cpu));
    for (int64_t p = 0; p < right.n; p++) {
        const bool reads_bad = (rule != KITH_RADIUS_SCATTER && right.i[p] < BAD) ||
                               (rule != KITH_RADIUS_GATHER && right.j[p] < BAD);
        if (!reads_bad) {
            right.i[kept] = right.i[p];
            right.j[kept++] = right.j[p];
        }
    }
    CHECK(kith_pairs_enqueue(w->gpu, &w->device, &w->box, 0.1, &on, &list, result) == KITH_OK, "%s",
          kith_message(w->gpu));
    CU(cudaStreamSynchronize(w->stream));
    CU(cudaMemcpy(&n, result, sizeof n, cudaMemcpyDeviceToHost));
    CHECK(n == kept && n > 0 && same_on_host(right.i, list.i, 4 * (size_t)n) &&
              same_on_host(right.j, list.j, 4 * (size_t)n),
          "bad radii, rule %d: %lld pairs, not %lld, or others", rule, (long long)n,
          (long long)kept);
    CHECK(kept < right.n, "rule %d: no pair has a bad radius", rule);
    kith_pairs_free(&right);
    CU(cudaFree(list.i));
    CU(cudaFree(list.j));
    CU(cudaFree(result));
    CU(cudaFree(device));
}

/** Radii that are not read, and others that make no sense. */
static void check_refused(const world *w)
{
    kith_pairs_options o = options_of(w, 1, 0, KITH_RADIUS_EITHER);
    kith_pairs list = {.memory = KITH_DEVICE};
    int64_t *result = device_alloc(sizeof *result), n;
    CHECK(kith_pairs_enqueue(w->gpu, &w->device, &w->box, 0, &o, &list, result) ==
                  KITH_UNSUPPORTED &&
              strstr(kith_message(w->gpu), "give the largest distance") != NULL,
          "%s", kith_message(w->gpu));
    double *h = to_device(w->h, sizeof w->h);
    const double bad = -1;
    CU(cudaMemcpy(h + 9, &bad, sizeof bad, cudaMemcpyHostToDevice));
    o.radii = h;
    CHECK(kith_pairs_count(w->gpu, &w->device, &w->box, 0, &o, &n, NULL) == KITH_INVALID &&
              strstr(kith_message(w->gpu), "options.radii[9] is -1") != NULL,
          "%s", kith_message(w->gpu));
    CU(cudaFree(h));
    CU(cudaFree(result));
}

int main(int argc, char **argv)
{
    static world w;
    const char *backend = check_backend(argc, argv);
    kith_options options;
    rng r = {98};
    kith_options_init(&options);
    kith_close(check_open(backend, 1)); /* ends the program where there is no GPU */
    CU(cudaStreamCreate(&w.stream));
    options.backend = backend;
    options.stream = w.stream;
    w.cpu = check_open("cpu", 2);
    if (!CHECK(kith_open(&options, &w.gpu) == KITH_OK, "%s", kith_message(NULL)))
        return check_done();
    const kith_box box = kith_box_periodic(1, 1, 1);
    double *xyz = points_in_box(&r, N, &box);
    points_drift(&r, xyz, N, &box, 1);
    world_make(&w, xyz);
    check_find(&w, BY_SPECIES, 0, 0);
    check_find(&w, EXCLUDED, 0, 0.08);
    check_find(&w, BY_SPECIES | EXCLUDED | ACTIVE, 0, 0);
    for (int rule = KITH_RADIUS_GATHER; rule <= KITH_RADIUS_SUM; rule++) {
        check_find(&w, 0, rule, 0);
        check_find(&w, rule % 2 ? EXCLUDED : BY_SPECIES | ACTIVE, rule, 0.1);
        check_enqueue(&w, 0, rule, 0.1);
        check_bad_radii(&w, rule);
    }
    check_enqueue(&w, BY_SPECIES, 0, 0);
    check_enqueue(&w, BY_SPECIES | EXCLUDED | ACTIVE, 0, 0);
    check_refused(&w);
    free(xyz);
    kith_close(w.gpu);
    kith_close(w.cpu);
    return check_done();
}
