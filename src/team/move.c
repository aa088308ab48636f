/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Routes by counting sort: ranges of items are counted for each target rank by all threads, a
 * prefix sum gives each range its place in each message, and the threads list the items. O(items).
 */
#include "move.h"

#include <assert.h>
#include <string.h>

/* Ranges of items for each thread: several, so that one slow thread does not delay the others. */
enum { RANGES_EACH = 4 };

/** State of the two loops that make a route. */
struct route_loop {
    kith_team *team;           /**< the team */
    kith__targets_fn *targets; /**< gives the ranks that an item goes to */
    const void *state;         /**< first argument of `targets` */
    int64_t n;                 /**< number of items */
    int64_t pieces;            /**< number of ranges of items */
    int64_t *count;            /**< [pieces][ranks] items of each range for each rank; then the next
                                    position in the messages */
    int *to;                   /**< [threads][ranks] scratch: targets of an item */
    int32_t *order;            /**< the items in the order of the messages; NULL: count alone */
};

/** kith__piece_fn: count, or list, the items of a range for each rank. */
static void route_range(void *state, int64_t piece, int worker)
{
    const struct route_loop *loop = state;
    const int ranks = loop->team->ranks;
    int64_t *count = loop->count + piece * ranks;
    int *to = loop->to + (int64_t)worker * ranks;
    const int64_t begin = kith__piece_begin(loop->n, loop->pieces, piece);
    const int64_t end = kith__piece_begin(loop->n, loop->pieces, piece + 1);
    enum { COST = 30 }; /* of an item [ns] */
    for (int64_t p = begin; p < end && !kith__skip(loop->team->ctx, p - begin, COST); p++) {
        const int n = loop->targets(loop->state, p, to);
        for (int k = 0; k < n; k++) {
            if (loop->order) {
                loop->order[count[to[k]]] = (int32_t)p;
            }
            count[to[k]]++;
        }
    }
}

/** Turn the counts into positions: where each range begins in the message for each rank.
 *  @param[out] first  [ranks + 1] first position of the message for each rank */
static void place_ranges(const struct route_loop *loop, int64_t *first)
{
    const int ranks = loop->team->ranks;
    int64_t sum = 0;
    for (int r = 0; r < ranks; r++) {
        first[r] = sum;
        for (int64_t piece = 0; piece < loop->pieces; piece++) {
            const int64_t here = loop->count[piece * ranks + r];
            loop->count[piece * ranks + r] = sum;
            sum += here;
        }
    }
    first[ranks] = sum;
}

/** List the items for all ranks. */
static kith_status list_items(kith_team *team, int buffer, int64_t n, kith__targets_fn *targets,
                              const void *state, struct kith__route *route)
{
    kith_ctx *ctx = team->ctx;
    const int64_t ranks = team->ranks;
    const int threads = kith__threads_for(ctx, n);
    struct route_loop loop = {.team = team,
                              .targets = targets,
                              .state = state,
                              .n = n,
                              .pieces = (int64_t)RANGES_EACH * threads};
    int64_t *first;
    KITH_TRY(kith__team_need(team, buffer, 2 * (ranks + 1), sizeof *first, &first));
    route->ranges = (struct kith__ranges){first, first + ranks + 1};
    const int64_t counts = loop.pieces * ranks;
    /* ctx->threads * ranks elements are more than the ints of loop.to, [threads][ranks], need */
    KITH_TRY(kith__team_need(team, KITH_TEAM_COUNTS, counts + ctx->threads * ranks,
                             sizeof *loop.count, &loop.count));
    loop.to = (int *)(void *)(loop.count + counts); /* behind the counts, in one buffer */
    memset(loop.count, 0, (size_t)counts * sizeof *loop.count);
    kith__pool_run(ctx->pool, threads, loop.pieces, route_range, &loop);
    KITH_TRY(kith__proceed(ctx));
    place_ranges(&loop, first);
    route->sent = first[ranks];
    KITH_TRY(kith__team_need(team, buffer + 1, route->sent, sizeof *route->order, &route->order));
    loop.order = route->order;
    kith__pool_run(ctx->pool, threads, loop.pieces, route_range, &loop);
    return kith__proceed(ctx);
}

kith_status kith__route_open(kith_team *team, int buffer, int64_t n, kith__targets_fn *targets,
                             const void *state, struct kith__route *route)
{
    const kith_transport *t = &team->transport;
    const int ranks = team->ranks;
    KITH_AGREE(team, list_items(team, buffer, n, targets, state, route));
    int64_t *to = route->ranges.to;
    int64_t *from = route->ranges.from;
    for (int r = 0; r < ranks; r++) { /* lengths; the prefix sum makes positions of them again */
        to[r] = to[r + 1] - to[r];
    }
    if (t->counts(t->self, to, from)) {
        return kith__team_lose(team);
    }
    (void)kith__prefix_sum(to, ranks);
    route->received = from[ranks] = kith__prefix_sum(from, ranks);
    return KITH_OK;
}

/** kith__targets_fn: the one target of an item. @param state  [n] rank of each item */
static int one_target(const void *state, int64_t item, int *to)
{
    *to = ((const int32_t *)state)[item];
    return 1;
}

kith_status kith__route_to(kith_team *team, int buffer, int64_t n, const int32_t *to,
                           struct kith__route *route)
{
    return kith__route_open(team, buffer, n, one_target, to, route);
}

/** State of the loops that copy items to the order of the messages. */
struct pack_loop {
    const struct kith__route *route; /**< the route */
    const char *items;               /**< pack_items: the column to send */
    size_t size;                     /**< bytes of an element */
    const kith_points *points;       /**< pack_points: the coordinates to send */
    int dim;                         /**< pack_points: dimensions; 2: z is 0 */
    char *out;                       /**< elements in the order of the messages */
};

/** kith__range_fn: copy the elements at positions [begin, end) of the messages. */
static void pack_items(void *state, int64_t begin, int64_t end)
{
    const struct pack_loop *loop = state;
    const size_t size = loop->size;
    for (int64_t k = begin; k < end; k++) {
        memcpy(loop->out + (size_t)k * size, loop->items + (size_t)loop->route->order[k] * size,
               size);
    }
}

/** kith__range_fn: copy the coordinates at positions [begin, end) of the messages. */
static void pack_points(void *state, int64_t begin, int64_t end)
{
    const struct pack_loop *loop = state;
    const kith_points *points = loop->points;
    const char *const axis[3] = {points->x, points->y, points->z};
    const size_t size = (size_t)points->precision;
    for (int64_t k = begin; k < end; k++) {
        char *out = loop->out + (size_t)k * 3 * size;
        const size_t at = (size_t)(loop->route->order[k] * points->stride) * size;
        for (int m = 0; m < 3; m++) {
            if (m < loop->dim) {
                memcpy(out + (size_t)m * size, axis[m] + at, size);
            } else {
                memset(out + (size_t)m * size, 0, size);
            }
        }
    }
}

/** Copy items to the order of the messages, and send them.
 *  @param pack  pack_items or pack_points */
static kith_status pack_and_send(kith_team *team, struct pack_loop *loop, kith__range_fn *pack,
                                 void *in)
{
    const struct kith__route *route = loop->route;
    kith_status status = kith__team_need(team, KITH_TEAM_SEND, route->sent, loop->size, &loop->out);
    if (status == KITH_OK) {
        status = kith__team_parcels(team, &route->ranges, loop->size);
    }
    if (status == KITH_OK) {
        kith__loop(team->ctx, route->sent, pack, loop);
        status = kith__proceed(team->ctx);
    }
    KITH_AGREE(team, status);
    return kith__team_exchange(team, &route->ranges, false, loop->out, in, loop->size);
}

kith_status kith__route_send(kith_team *team, const struct kith__route *route, const void *items,
                             size_t size, void *in)
{
    struct pack_loop loop = {.route = route, .items = items, .size = size};
    return pack_and_send(team, &loop, pack_items, in);
}

kith_status kith__route_points(kith_team *team, const struct kith__route *route,
                               const struct kith__question *q, const kith_points *points, void *in)
{
    struct pack_loop loop = {
        .route = route, .size = 3 * (size_t)q->precision, .points = points, .dim = q->dim};
    return pack_and_send(team, &loop, pack_points, in);
}

kith_status kith__route_items(kith_team *team, const struct kith__route *route, int32_t *in)
{
    KITH_AGREE(team, kith__team_parcels(team, &route->ranges, sizeof *in));
    /* `order` is the column of the numbers in the order of the messages already */
    return kith__team_exchange(team, &route->ranges, false, route->order, in, sizeof *in);
}

kith_status kith__route_back(kith_team *team, const struct kith__route *route, const void *answers,
                             size_t size, void *in)
{
    KITH_AGREE(team, kith__team_parcels(team, &route->ranges, size));
    return kith__team_exchange(team, &route->ranges, true, answers, in, size);
}

kith_status kith__route_home(kith_team *team, const struct kith__route *route, const void *answers,
                             size_t size, void *in)
{
    char *arrived = NULL; /* in the send buffer, which is not used: `answers` is sent as it is */
    KITH_AGREE(team, kith__team_need(team, KITH_TEAM_SEND, route->sent, size, &arrived));
    KITH_TRY(kith__route_back(team, route, answers, size, arrived));
    for (int64_t k = 0; k < route->sent; k++) {
        memcpy((char *)in + (size_t)route->order[k] * size, arrived + (size_t)k * size, size);
    }
    return KITH_OK;
}

kith_status kith__team_base(kith_team *team, int buffer, struct kith__set *set)
{
    KITH_AGREE(team, kith__team_need(team, buffer, (int64_t)team->ranks + 1, sizeof *set->base,
                                     &set->base));
    KITH_TRY(kith__team_gather(team, &set->points.n, sizeof set->points.n, set->base));
    set->base[team->ranks] = kith__prefix_sum(set->base, team->ranks);
    return KITH_OK;
}

/** State of the loop that deals particles to ranks. */
struct deal {
    kith_team *team;                     /**< the team */
    const struct kith__question *q;      /**< the box */
    const struct kith__set *set;         /**< the particles */
    const struct kith__domains *domains; /**< the decomposition; NULL: consecutive global indices */
};

int kith__piece_of(int64_t n, int pieces, int64_t item)
{
    const int64_t longer = n % pieces; /* the first pieces have one item more */
    const int64_t each = n / pieces;
    const int64_t piece = item < longer * (each + 1) ? item / (each + 1) : (item - longer) / each;
    return (int)piece;
}

/** kith__targets_fn: the rank that a particle is dealt to. @param state  a struct deal */
static int owner_of(const void *state, int64_t p, int *to)
{
    const struct deal *deal = state;
    const kith_team *team = deal->team;
    const int64_t global = deal->set->base[team->rank] + p;
    double f[3];
    if (!deal->domains) {
        *to = kith__piece_of(deal->set->base[team->ranks], team->ranks, global);
        return 1;
    }
    kith__team_fractions(deal->q, &deal->set->points, p, f);
    const int domain = team->deal ? team->deal(team->deal_user, f, global, team->ranks)
                                  : kith__domain_of(deal->domains, f);
    *to = deal->domains->host ? deal->domains->host[domain] : domain;
    return 1;
}

kith_status kith__team_check_number(const kith_team *team, int64_t n)
{
    KITH_CHECK(
        team->ctx, n <= INT32_MAX - 64, KITH_LIMIT,
        "%lld particles and copies of particles come to one rank, the most is 2^31 - 65; use "
        "more ranks",
        (long long)n);
    return KITH_OK;
}

/** Make arrays for the particles that arrive. @param[in,out] dealt  n and xyz_buffer are set */
static kith_status need_arrays(kith_team *team, const struct kith__question *q,
                               struct kith__dealt *dealt)
{
    KITH_TRY(kith__team_check_number(team, dealt->n));
    KITH_TRY(
        kith__team_need(team, dealt->xyz_buffer, dealt->n, 3 * (size_t)q->precision, &dealt->xyz));
    return kith__team_need(team, dealt->xyz_buffer + 1, dealt->n, sizeof *dealt->global,
                           &dealt->global);
}

kith_status kith__team_deal(kith_team *team, int buffer, const struct kith__question *q,
                            const struct kith__set *set, const struct kith__domains *domains,
                            struct kith__dealt *dealt)
{
    const struct deal deal = {team, q, set, domains};
    struct kith__route *route = &dealt->route;
    dealt->xyz_buffer = buffer + KITH_ROUTE_BUFFERS;
    dealt->ghosts = 0;
    KITH_TRY(kith__route_open(team, buffer, set->points.n, owner_of, &deal, route));
    dealt->n = route->received;
    KITH_AGREE(team, need_arrays(team, q, dealt));
    KITH_TRY(kith__route_points(team, route, q, &set->points, dealt->xyz));
    /* The items' numbers, of 32 bits, arrive in the first half of `global`. They become global
     * indices, of 64 bits, from the last one down, so that none is overwritten before it is read.
     * memcpy, as the memory holds both types. */
    int32_t *item = (int32_t *)(void *)dealt->global;
    KITH_TRY(kith__route_items(team, route, item));
    int rank = team->ranks - 1;
    for (int64_t p = dealt->n - 1; p >= 0; p--) {
        while (p < route->ranges.from[rank]) {
            rank--;
        }
        int32_t number;
        memcpy(&number, item + p, sizeof number);
        const int64_t global = set->base[rank] + number;
        memcpy(dealt->global + p, &global, sizeof global);
    }
    return KITH_OK;
}

kith_status kith__dealt_grow(kith_team *team, const struct kith__question *q,
                             struct kith__dealt *dealt, int64_t ghosts)
{
    const size_t size[2] = {3 * (size_t)q->precision, sizeof *dealt->global};
    void *data[2];
    KITH_TRY(kith__team_check_number(team, dealt->n + ghosts));
    for (int k = 0; k < 2; k++) {
        data[k] = kith__buffer_grow(&team->buffer[dealt->xyz_buffer + k],
                                    (size_t)dealt->n * size[k],
                                    (size_t)(dealt->n + ghosts) * size[k]);
        KITH_CHECK(team->ctx, data[k] != NULL, KITH_NO_MEMORY, "out of memory for %lld particles",
                   (long long)(dealt->n + ghosts));
    }
    dealt->xyz = data[0];
    dealt->global = data[1];
    dealt->ghosts = ghosts;
    return KITH_OK;
}

kith_points kith__dealt_points(const struct kith__question *q, const struct kith__dealt *dealt,
                               int64_t first, int64_t n)
{
    return kith_points_packed((char *)dealt->xyz + (size_t)first * 3 * (size_t)q->precision, n,
                              q->precision);
}
