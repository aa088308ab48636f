/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kith_pairs_enqueue in CUDA graphs, and streams that change. Replays of a captured call, with
 * particles that have moved, give the bits of plain calls of another context; a list that is too
 * long is counted, and nothing is written behind the arrays. A capture is refused where scratch
 * memory would have to grow, and later calls that need more leave the graph's memory alone.
 */
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "points.h"

enum { N = 6000, OTHERS = 1500, MANY = 50000, CAPACITY = 60000, BEHIND = 64, UNWRITTEN = 0xee };

static const double cutoff = 0.06;

/* ------------------------------------------------------------------------------- device memory */

#define CU(call) CHECK((call) == cudaSuccess, "%s", cudaGetErrorString(cudaGetLastError()))

static void *device_alloc(size_t bytes)
{
    void *data = NULL;
    CU(cudaMalloc(&data, bytes));
    return data;
}

static void *to_host(const void *from, size_t bytes)
{
    void *to = check_malloc(bytes);
    CU(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
    return to;
}

/** A list in the caller's arrays on the device, each BEHIND elements longer than its capacity. */
typedef struct room {
    kith_pairs list;
    int64_t *result;
} room;

enum { ARRAYS = 6 };

/** Size of an array of a room, with what is behind its capacity. */
static size_t room_bytes(int array)
{
    static const size_t element[ARRAYS] = {4, 4, 0, 8, 24, 12};
    return element[array] ? (CAPACITY + BEHIND) * element[array] : (MANY + 1) * sizeof(int64_t);
}

static void **room_array(room *r, int array)
{
    void **const at[ARRAYS] = {(void **)&r->list.i, (void **)&r->list.j, (void **)&r->list.offsets,
                               &r->list.distances,  &r->list.vectors,    (void **)&r->list.shifts};
    return at[array];
}

static room room_make(void)
{
    room r = {.list = {.capacity = CAPACITY, .memory = KITH_DEVICE}};
    for (int a = 0; a < ARRAYS; a++)
        *room_array(&r, a) = device_alloc(room_bytes(a));
    r.result = device_alloc(sizeof *r.result);
    return r;
}

static void room_free(room *r)
{
    for (int a = 0; a < ARRAYS; a++)
        CU(cudaFree(*room_array(r, a)));
    CU(cudaFree(r->result));
}

/** Overwrite a room, so that what is not written afterwards is seen. */
static void room_clear(room *r)
{
    for (int a = 0; a < ARRAYS; a++)
        CU(cudaMemset(*room_array(r, a), UNWRITTEN, room_bytes(a)));
    CU(cudaMemset(r->result, UNWRITTEN, sizeof *r->result));
    CU(cudaDeviceSynchronize());
}

static int64_t room_pairs(const room *r)
{
    int64_t n = 0;
    CU(cudaMemcpy(&n, r->result, sizeof n, cudaMemcpyDeviceToHost));
    return n;
}

/* ---------------------------------------------------------------------------------- comparison */

static int ascending(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/** The pairs of an (i, j) list, sorted. */
static uint64_t *sorted_pairs(const room *r, int64_t n)
{
    int32_t *i = to_host(r->list.i, (size_t)n * 4), *j = to_host(r->list.j, (size_t)n * 4);
    uint64_t *pairs = check_malloc((size_t)n * sizeof *pairs);
    for (int64_t p = 0; p < n; p++)
        pairs[p] = (uint64_t)i[p] << 32 | (uint32_t)j[p];
    qsort(pairs, (size_t)n, sizeof *pairs, ascending);
    free(i);
    free(j);
    return pairs;
}

static void check_behind(room *r, const char *what)
{
    for (int a = 0; a < ARRAYS; a++) {
        if (a == 2)
            continue; /* offsets have no capacity */
        const size_t bytes = room_bytes(a), end = bytes / (CAPACITY + BEHIND) * CAPACITY;
        unsigned char *copy = to_host(*room_array(r, a), bytes);
        for (size_t b = end; b < bytes; b++)
            if (!CHECK(copy[b] == UNWRITTEN, "%s: array %d is written behind its end", what, a))
                break;
        free(copy);
    }
}

/** Compare the list of a replay with that of a plain call, to the last bit. */
static void check_equal(const char *what, room *replayed, room *plain, int unordered)
{
    const int64_t n = room_pairs(plain);
    check_behind(replayed, what);
    if (!CHECK(room_pairs(replayed) == n, "%s: %lld pairs, a plain call %lld", what,
               (long long)room_pairs(replayed), (long long)n) ||
        n < 0 || n > CAPACITY)
        return;
    if (unordered) {
        uint64_t *a = sorted_pairs(replayed, n), *b = sorted_pairs(plain, n);
        CHECK(memcmp(a, b, (size_t)n * sizeof *a) == 0, "%s: other pairs", what);
        free(a);
        free(b);
        return;
    }
    for (int a = 0; a < ARRAYS; a++) {
        void *left = to_host(*room_array(replayed, a), room_bytes(a));
        void *right = to_host(*room_array(plain, a), room_bytes(a));
        CHECK(memcmp(left, right, room_bytes(a)) == 0, "%s: array %d differs", what, a);
        free(left);
        free(right);
    }
}

/* -------------------------------------------------------------------------------------- graphs */

/** A search whose coordinates are in device memory. */
typedef struct search {
    kith_points points, against;
    const kith_box *box;
    kith_pairs_options options;
} search;

static kith_status enqueue(kith_ctx *ctx, const search *s, room *r)
{
    return kith_pairs_enqueue(ctx, &s->points, s->box, cutoff, &s->options, &r->list, r->result);
}

static void must_enqueue(kith_ctx *ctx, const search *s, room *r)
{
    CHECK(enqueue(ctx, s, r) == KITH_OK, "%s", kith_message(ctx));
}

static void begin_capture(cudaStream_t stream)
{
    CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
}

/** End a capture that is valid. @return the number of its nodes */
static size_t end_capture(cudaStream_t stream, cudaGraphExec_t *exec)
{
    cudaGraph_t graph = NULL;
    size_t nodes = 0;
    if (CU(cudaStreamEndCapture(stream, &graph))) {
        CU(cudaGraphGetNodes(graph, NULL, &nodes));
        CU(cudaGraphInstantiate(exec, graph, 0));
        CU(cudaGraphDestroy(graph));
    }
    return nodes;
}

static cudaGraphExec_t capture(kith_ctx *ctx, cudaStream_t stream, const search *s, room *r)
{
    cudaGraphExec_t exec = NULL;
    begin_capture(stream);
    must_enqueue(ctx, s, r);
    CHECK(end_capture(stream, &exec) > 0, "an empty graph");
    return exec;
}

static void replay(cudaGraphExec_t exec, cudaStream_t stream)
{
    CU(cudaGraphLaunch(exec, stream));
    CU(cudaStreamSynchronize(stream));
}

/** Replay a graph and make the plain call of another context; compare. */
static void check_replay(const char *what, cudaGraphExec_t exec, cudaStream_t stream,
                         kith_ctx *plain, const search *s, room *rooms)
{
    room_clear(&rooms[0]);
    room_clear(&rooms[1]);
    replay(exec, stream);
    must_enqueue(plain, s, &rooms[1]);
    CU(cudaDeviceSynchronize());
    check_equal(what, &rooms[0], &rooms[1], s->options.unordered);
}

/** What a test needs: two contexts, the stream of the first, coordinates, two rooms. */
typedef struct bed {
    kith_ctx *ctx, *plain;
    cudaStream_t stream;
    double *xyz; /**< [MANY][3] in the unit box */
    void *x;     /**< [MANY][3] on the device */
    room rooms[2];
} bed;

static const kith_box unit = {
    .row = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, .periodic = {1, 1, 1}, .dim = 3};

static search search_of(const bed *b, int64_t n, kith_precision precision)
{
    search s = {.points = kith_points_packed(b->x, n, precision), .box = &unit};
    s.points.memory = KITH_DEVICE;
    kith_pairs_options_init(&s.options);
    return s;
}

/** Write coordinates to the device, in the precision of a search. */
static void put_points(const bed *b, const double *xyz, int64_t n, kith_precision precision)
{
    stored host = stored_make(xyz, n, precision, LAYOUT_PACKED);
    CU(cudaMemcpy(b->x, host.points.x, (size_t)n * 3 * (size_t)precision, cudaMemcpyHostToDevice));
    CU(cudaDeviceSynchronize());
    stored_free(&host);
}

/* ------------------------------------------------------------------------------------- replays */

static const struct form {
    const char *name;
    int full, sorted, unordered, cross;
    kith_layout layout;
    unsigned extras;
} forms[] = {
    {"half", 0, 0, 0, 0, KITH_IJ, 0},
    {"half, extras", 0, 0, 0, 0, KITH_IJ, KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS},
    {"full", 1, 0, 0, 0, KITH_IJ, KITH_SHIFTS},
    {"any order", 0, 0, 1, 0, KITH_IJ, 0},
    {"sorted, extras", 0, 1, 0, 0, KITH_IJ, KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS},
    {"rows", 1, 1, 0, 0, KITH_CSR, KITH_VECTORS},
    {"two sets", 1, 0, 0, 1, KITH_IJ, KITH_DISTANCES},
    {"two sets, rows", 1, 1, 0, 1, KITH_CSR, KITH_SHIFTS},
};

/** Coordinates of a step: those of the bed, moved. In step 2 they are so close that the list does
 *  not fit, in step 3 one is no number. @return the coordinates, malloced */
static double *moved(const bed *b, int step)
{
    rng r = {(uint64_t)step + 5};
    double *xyz = check_malloc((size_t)N * 3 * sizeof *xyz);
    for (int k = 0; k < 3 * N; k++)
        xyz[k] = (b->xyz[k] + 0.3 * step * rng_uniform(&r, 0, 1)) * (step == 2 ? 0.4 : 1);
    if (step == 3)
        xyz[3 * 77 + 1] = (double)NAN;
    return xyz;
}

static void check_form(bed *b, const struct form *f, const kith_box *box, kith_precision precision)
{
    enum { STEPS = 6 };
    search s = search_of(b, N, precision);
    const size_t real = (size_t)precision;
    s.box = box;
    s.options.full = f->full;
    s.options.sorted = f->sorted;
    s.options.unordered = f->unordered;
    s.options.layout = f->layout;
    s.options.extras = f->extras;
    s.against = s.points;
    s.against.n = OTHERS;
    s.against.x = (const char *)s.points.x + 3 * 1000 * real;
    s.against.y = (const char *)s.against.x + real;
    s.against.z = (const char *)s.against.y + real;
    s.options.against = f->cross ? &s.against : NULL;
    put_points(b, b->xyz, N, precision);
    must_enqueue(b->ctx, &s, &b->rooms[0]);
    CU(cudaStreamSynchronize(b->stream));
    const int64_t scratch = kith_scratch_bytes(b->ctx);
    const cudaGraphExec_t exec = capture(b->ctx, b->stream, &s, &b->rooms[0]);
    CHECK(kith_scratch_bytes(b->ctx) == scratch, "%s: the capture allocates", f->name);
    int too_many = 0, refused = 0;
    for (int step = 0; step < STEPS; step++) {
        double *xyz = moved(b, step);
        put_points(b, xyz, N, precision);
        free(xyz);
        check_replay(f->name, exec, b->stream, b->plain, &s, b->rooms);
        too_many += room_pairs(&b->rooms[0]) > CAPACITY;
        refused += room_pairs(&b->rooms[0]) == KITH_NOT_FINITE;
        if (step % 2) { /* a plain call of the graph's own context between its replays */
            must_enqueue(b->ctx, &s, &b->rooms[1]);
            CU(cudaStreamSynchronize(b->stream));
        }
    }
    CHECK(too_many >= (f->cross ? 0 : 1) && refused == 1, "%s: %d lists too long, %d refused",
          f->name, too_many, refused);
    CU(cudaGraphExecDestroy(exec));
}

static void check_forms(bed *b)
{
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        for (int k = 0; k < 4; k++)
            check_form(b, &forms[f], k & 1 ? &unit : NULL, k & 2 ? KITH_FLOAT : KITH_DOUBLE);
}

/** Two lists in one graph, which share scratch memory. */
static void check_two(bed *b)
{
    room more[2] = {room_make(), room_make()};
    search s = search_of(b, N, KITH_DOUBLE), t = s;
    t.options.sorted = 1;
    t.points.n = N / 3;
    put_points(b, b->xyz, N, KITH_DOUBLE);
    cudaGraphExec_t exec = NULL;
    must_enqueue(b->ctx, &s, &b->rooms[0]);
    begin_capture(b->stream);
    must_enqueue(b->ctx, &s, &b->rooms[0]);
    must_enqueue(b->ctx, &t, &more[0]);
    end_capture(b->stream, &exec);
    room_clear(&more[0]);
    room_clear(&more[1]);
    check_replay("first of two", exec, b->stream, b->plain, &s, b->rooms);
    must_enqueue(b->plain, &t, &more[1]);
    CU(cudaDeviceSynchronize());
    check_equal("second of two", &more[0], &more[1], 0);
    CU(cudaGraphExecDestroy(exec));
    room_free(&more[0]);
    room_free(&more[1]);
}

/* -------------------------------------------------------------------------------------- growth */

enum { BLOCKS = 600, BLOCK = 1 << 16 };

/** Take memory that may have been freed, and overwrite it. */
static void take_memory(unsigned char *block[BLOCKS])
{
    for (int k = 0; k < BLOCKS; k++) {
        block[k] = device_alloc(BLOCK);
        CU(cudaMemset(block[k], UNWRITTEN, BLOCK));
    }
}

static void free_memory(unsigned char *block[BLOCKS])
{
    int changed = 0;
    for (int k = 0; k < BLOCKS; k++) {
        unsigned char *copy = to_host(block[k], BLOCK);
        for (int at = 0; at < BLOCK && !changed; at++)
            changed = copy[at] != UNWRITTEN;
        free(copy);
        CU(cudaFree(block[k]));
    }
    CHECK(!changed, "a replay wrote to memory that the context had freed");
}

static void check_growth(bed *b, const char *backend)
{
    search few = search_of(b, N, KITH_DOUBLE), many = search_of(b, MANY, KITH_DOUBLE);
    static const double cells[2] = {0.06, 0.02};
    cudaGraphExec_t of_few = NULL, of_many = NULL, none = NULL;
    kith_options options;
    kith_options_init(&options);
    options.backend = backend;
    options.stream = b->stream;
    kith_ctx *ctx = NULL;
    if (!CHECK(kith_open(&options, &ctx) == KITH_OK, "%s", kith_message(NULL)))
        return;
    many.options.extras = few.options.extras = KITH_SHIFTS;
    put_points(b, b->xyz, MANY, KITH_DOUBLE);

    begin_capture(b->stream); /* without a call before it */
    CHECK(enqueue(ctx, &few, &b->rooms[0]) == KITH_LIMIT, "%s", kith_message(ctx));
    CHECK(strstr(kith_message(ctx), "make the call once before the capture"), "%s",
          kith_message(ctx));
    CHECK(end_capture(b->stream, &none) == 0, "the refused call is in the graph");
    CU(cudaGraphExecDestroy(none));

    must_enqueue(ctx, &few, &b->rooms[0]);
    of_few = capture(ctx, b->stream, &few, &b->rooms[0]);
    begin_capture(b->stream); /* after a smaller call */
    CHECK(enqueue(ctx, &many, &b->rooms[0]) == KITH_LIMIT, "%s", kith_message(ctx));
    CHECK(end_capture(b->stream, &none) == 0, "the refused call is in the graph");
    CU(cudaGraphExecDestroy(none));
    check_replay("after a refusal", of_few, b->stream, b->plain, &few, b->rooms);

    unsigned char *block[BLOCKS];
    const int64_t before = kith_scratch_bytes(ctx);
    room_clear(&b->rooms[0]);
    CHECK(kith_pairs_enqueue(ctx, &many.points, &unit, cells[1], &many.options, &b->rooms[0].list,
                             b->rooms[0].result) == KITH_OK,
          "%s", kith_message(ctx));
    CU(cudaStreamSynchronize(b->stream));
    const int64_t after = kith_scratch_bytes(ctx);
    CHECK(after > before + MANY * 40, "%lld bytes of scratch, %lld before", (long long)after,
          (long long)before);
    take_memory(block);
    for (int turn = 0; turn < 3; turn++)
        check_replay("after growth", of_few, b->stream, b->plain, &few, b->rooms);
    free_memory(block);

    begin_capture(b->stream);
    CHECK(kith_pairs_enqueue(ctx, &many.points, &unit, cells[1], &many.options, &b->rooms[0].list,
                             b->rooms[0].result) == KITH_OK,
          "%s", kith_message(ctx));
    end_capture(b->stream, &of_many);
    CHECK(kith_scratch_bytes(ctx) == after, "%lld bytes of scratch, %lld before",
          (long long)kith_scratch_bytes(ctx), (long long)after);
    for (int turn = 0; turn < 3; turn++) {
        check_replay("small by turns", of_few, b->stream, b->plain, &few, b->rooms);
        room_clear(&b->rooms[0]);
        room_clear(&b->rooms[1]);
        replay(of_many, b->stream);
        CHECK(kith_pairs_enqueue(b->plain, &many.points, &unit, cells[1], &many.options,
                                 &b->rooms[1].list, b->rooms[1].result) == KITH_OK,
              "%s", kith_message(b->plain));
        CU(cudaDeviceSynchronize());
        check_equal("large by turns", &b->rooms[0], &b->rooms[1], 0);
    }
    CU(cudaGraphExecDestroy(of_few));
    CU(cudaGraphExecDestroy(of_many));
    kith_close(ctx);
}

/** Calls that a graph cannot hold leave the capture and the context valid. */
static void check_refused(bed *b)
{
    search s = search_of(b, N, KITH_DOUBLE);
    kith_pairs found = {.memory = KITH_DEVICE};
    kith_groups groups = {.memory = KITH_DEVICE};
    int64_t n = 0;
    put_points(b, b->xyz, N, KITH_DOUBLE);
    must_enqueue(b->ctx, &s, &b->rooms[0]);
    begin_capture(b->stream);
    must_enqueue(b->ctx, &s, &b->rooms[0]);
    CHECK(kith_pairs_count(b->ctx, &s.points, s.box, cutoff, NULL, &n, NULL) == KITH_UNSUPPORTED &&
              strstr(kith_message(b->ctx), "is being captured in a graph"),
          "%s", kith_message(b->ctx));
    CHECK(kith_pairs_find(b->ctx, &s.points, s.box, cutoff, NULL, &found) == KITH_UNSUPPORTED, "%s",
          kith_message(b->ctx));
    CHECK(kith_fof_find(b->ctx, &s.points, s.box, 0.01, NULL, &groups) == KITH_UNSUPPORTED, "%s",
          kith_message(b->ctx));
    cudaGraphExec_t exec = NULL;
    end_capture(b->stream, &exec);
    check_replay("with refused calls", exec, b->stream, b->plain, &s, b->rooms);
    CU(cudaGraphExecDestroy(exec));

    begin_capture(b->stream); /* the capture fails by the caller's fault */
    CHECK(cudaStreamSynchronize(b->stream) != cudaSuccess, "a captured stream was waited for");
    (void)cudaGetLastError();
    CHECK(enqueue(b->ctx, &s, &b->rooms[0]) == KITH_UNSUPPORTED, "%s", kith_message(b->ctx));
    cudaGraph_t graph = NULL;
    CHECK(cudaStreamEndCapture(b->stream, &graph) != cudaSuccess && !graph, "a valid capture");
    (void)cudaGetLastError();
    CHECK(kith_pairs_count(b->ctx, &s.points, s.box, cutoff, NULL, &n, NULL) == KITH_OK && n > 0,
          "%s", kith_message(b->ctx));
}

/* ------------------------------------------------------------------------------------- streams */

/** Function of a stream: what is queued behind it waits. */
static void sleep_long(void *user)
{
    usleep(150000);
    __atomic_store_n((int *)user, 1, __ATOMIC_SEQ_CST);
}

static void must_set_stream(kith_ctx *ctx, cudaStream_t stream)
{
    CHECK(kith_set_stream(ctx, stream) == KITH_OK, "%s", kith_message(ctx));
}

/** The new stream waits for what was queued on the old one. */
static void check_order(bed *b)
{
    static int slept;
    cudaStream_t other, third;
    search s = search_of(b, N, KITH_DOUBLE), t = s;
    t.points.n = N / 2;
    put_points(b, b->xyz, N, KITH_DOUBLE);
    CU(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    CU(cudaStreamCreateWithFlags(&third, cudaStreamNonBlocking));
    must_enqueue(b->ctx, &s, &b->rooms[0]); /* makes scratch memory: allocations wait */
    CU(cudaDeviceSynchronize());
    room_clear(&b->rooms[0]);
    room_clear(&b->rooms[1]);
    slept = 0;
    CU(cudaLaunchHostFunc(b->stream, sleep_long, &slept));
    must_enqueue(b->ctx, &s, &b->rooms[0]);
    must_set_stream(b->ctx, other);
    CHECK(!__atomic_load_n(&slept, __ATOMIC_SEQ_CST), "the host waited");
    must_set_stream(b->ctx, third); /* without a call on the other */
    must_enqueue(b->ctx, &t, &b->rooms[1]);
    CU(cudaStreamSynchronize(third));
    CHECK(cudaStreamQuery(b->stream) == cudaSuccess && slept, "the new stream was ahead");
    int64_t n = 0;
    CHECK(kith_pairs_count(b->plain, &s.points, s.box, cutoff, NULL, &n, NULL) == KITH_OK &&
              room_pairs(&b->rooms[0]) == n,
          "%lld pairs, expected %lld", (long long)room_pairs(&b->rooms[0]), (long long)n);
    CHECK(kith_pairs_count(b->plain, &t.points, t.box, cutoff, NULL, &n, NULL) == KITH_OK &&
              room_pairs(&b->rooms[1]) == n,
          "%lld pairs, expected %lld", (long long)room_pairs(&b->rooms[1]), (long long)n);
    CU(cudaStreamDestroy(third)); /* the old stream may be gone */
    must_set_stream(b->ctx, other);
    CHECK(kith_pairs_count(b->ctx, &t.points, t.box, cutoff, NULL, &n, NULL) == KITH_OK &&
              room_pairs(&b->rooms[1]) == n,
          "%lld pairs: %s", (long long)n, kith_message(b->ctx));
    must_set_stream(b->ctx, b->stream);
    CU(cudaStreamDestroy(other));
}

/** Set the stream to one that is being captured: the host waits for earlier work. */
static void check_set_in_capture(bed *b)
{
    static int slept;
    cudaStream_t other;
    search s = search_of(b, N, KITH_DOUBLE);
    put_points(b, b->xyz, N, KITH_DOUBLE);
    CU(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    must_enqueue(b->ctx, &s, &b->rooms[0]);
    CU(cudaDeviceSynchronize());
    CU(cudaLaunchHostFunc(b->stream, sleep_long, &slept));
    must_enqueue(b->ctx, &s, &b->rooms[0]);
    begin_capture(other);
    must_set_stream(b->ctx, other);
    CHECK(__atomic_load_n(&slept, __ATOMIC_SEQ_CST), "a replay could overtake the earlier call");
    must_enqueue(b->ctx, &s, &b->rooms[0]);
    must_set_stream(b->ctx, b->stream); /* a stream that is captured may be left */
    cudaGraphExec_t exec = NULL;
    CHECK(end_capture(other, &exec) > 0, "an empty graph");
    check_replay("on another stream", exec, b->stream, b->plain, &s, b->rooms);
    CU(cudaGraphExecDestroy(exec));
    CU(cudaStreamDestroy(other));
}

/** NULL is the default stream, which waits for all streams that are ordered with it. A stream of
 *  the context's own would not wait for them. */
static void check_default(bed *b)
{
    static int slept;
    cudaStream_t blocking;
    search s = search_of(b, N, KITH_DOUBLE);
    int64_t n = 0, expected = 0;
    void *far = device_alloc((size_t)N * 24);
    double *xyz = moved(b, 1);
    CU(cudaMemcpy(far, xyz, (size_t)N * 24, cudaMemcpyHostToDevice));
    put_points(b, xyz, N, KITH_DOUBLE);
    free(xyz);
    CHECK(kith_pairs_count(b->plain, &s.points, s.box, cutoff, NULL, &expected, NULL) == KITH_OK,
          "%s", kith_message(b->plain));
    put_points(b, b->xyz, N, KITH_DOUBLE);
    CU(cudaStreamCreate(&blocking));
    must_set_stream(b->ctx, NULL);
    CU(cudaLaunchHostFunc(blocking, sleep_long, &slept));
    CU(cudaMemcpyAsync(b->x, far, (size_t)N * 24, cudaMemcpyDeviceToDevice, blocking));
    CHECK(kith_pairs_count(b->ctx, &s.points, s.box, cutoff, NULL, &n, NULL) == KITH_OK &&
              n == expected && slept,
          "%lld pairs, expected %lld: %s", (long long)n, (long long)expected, kith_message(b->ctx));

    /* its work cannot be queued while a stream that it waits for is captured */
    cudaGraphExec_t exec = NULL;
    CU(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeThreadLocal));
    CHECK(enqueue(b->ctx, &s, &b->rooms[0]) == KITH_UNSUPPORTED &&
              strstr(kith_message(b->ctx), "captured in a graph"),
          "%s", kith_message(b->ctx));
    CHECK(kith_set_stream(b->ctx, NULL) == KITH_UNSUPPORTED, "%s", kith_message(b->ctx));
    end_capture(blocking, &exec);
    CU(cudaGraphExecDestroy(exec));
    CHECK(kith_pairs_count(b->ctx, &s.points, s.box, cutoff, NULL, &n, NULL) == KITH_OK &&
              n == expected,
          "%lld pairs, expected %lld: %s", (long long)n, (long long)expected, kith_message(b->ctx));
    must_set_stream(b->ctx, b->stream);
    CU(cudaStreamDestroy(blocking));
    CU(cudaFree(far));
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    bed b = {.plain = check_open(backend, 1)};
    CU(cudaStreamCreateWithFlags(&b.stream, cudaStreamNonBlocking));
    kith_options options;
    kith_options_init(&options);
    options.backend = backend;
    options.stream = b.stream;
    if (!CHECK(kith_open(&options, &b.ctx) == KITH_OK, "%s", kith_message(NULL)))
        return check_done();
    rng r = {29};
    b.xyz = points_in_box(&r, MANY, &unit);
    b.x = device_alloc((size_t)MANY * 24);
    b.rooms[0] = room_make();
    b.rooms[1] = room_make();
    check_forms(&b);
    check_two(&b);
    check_growth(&b, backend);
    check_refused(&b);
    check_order(&b);
    check_set_in_capture(&b);
    check_default(&b);
    room_free(&b.rooms[0]);
    room_free(&b.rooms[1]);
    CU(cudaFree(b.x));
    free(b.xyz);
    kith_close(b.ctx);
    kith_close(b.plain);
    CU(cudaStreamDestroy(b.stream));
    return check_done();
}
