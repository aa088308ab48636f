/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opening and closing a team, the agreement at the end of each phase, and exchanges in parcels of a
 * bounded size.
 */
#include "team.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/sized.h"

/* Largest and default size of a parcel, as MPI counts bytes by an int (transport_mpi.c) [bytes]. */
static const int64_t most_chunk_bytes = (int64_t)1 << 30;

/* Sizes of the structs in the version that introduced them (core/sized.h) [bytes]. */
enum {
    KITH_TRANSPORT_0_2 = KITH_SIZE_UP_TO(kith_transport, close),
    KITH_TEAM_OPTIONS_0_2 = KITH_SIZE_UP_TO(kith_team_options, chunk_bytes),
    KITH_TEAM_LOAD_0_2 = KITH_SIZE_UP_TO(kith_team_load, most_ghosts)
};

static const kith_team_options defaults = {.size = sizeof(kith_team_options)};

/* kith_team_options_init_sized, kith_team_options_init */
KITH_INIT_CALLS(kith_team_options, KITH_TEAM_OPTIONS_0_2)

kith_status kith__team_check(const kith_team *team)
{
    kith__clear_message();
    KITH_CHECK(NULL, team != NULL, KITH_INVALID, "team is NULL");
    return KITH_OK;
}

kith_status kith__team_lose(kith_team *team)
{
    if (!team->lost) {
        team->lost = true;
        team->transport.abort(team->transport.self);
    }
    return kith__fail(team->ctx, KITH_TEAM_LOST,
                      "the team is lost: a rank left it or could not be reached");
}

kith_status kith__team_begin(kith_team *team)
{
    team->load = (kith_team_load){.size = sizeof team->load};
    return team->lost ? kith__team_lose(team) : KITH_OK;
}

kith_status kith__team_begin_with(kith_team *team, const void *object, const char *what)
{
    KITH_TRY(kith__team_begin(team));
    return kith__team_agree(
        team,
        object ? KITH_OK : kith__fail(team->ctx, KITH_NO_MEMORY, "out of memory for %s", what));
}

void kith__team_copy_member(const kith_team *team, kith_team *member)
{
    *member = *team;
    memset(member->buffer, 0, sizeof member->buffer);
}

kith_status kith__team_combine(kith_team *team, int op, int64_t *inout, int64_t n)
{
    const kith_transport *t = &team->transport;
    return team->lost || t->combine(t->self, op, inout, n) ? kith__team_lose(team) : KITH_OK;
}

kith_status kith__team_largest(kith_team *team, double *number, int n)
{
    /* The bits of doubles, read as int64, are in the order of the doubles where these are 0 or
     * more. The bits of -1 are a negative int64, less than all of them. */
    enum { MOST = 4 };
    int64_t bits[MOST];
    assert(n <= MOST);
    for (int k = 0; k < n; k++) {
        bits[k] = kith__bits(number[k]);
    }
    KITH_TRY(kith__team_combine(team, KITH_MAX, bits, n));
    memcpy(number, bits, (size_t)n * sizeof *number);
    return KITH_OK;
}

kith_status kith__team_gather(kith_team *team, const void *mine, size_t bytes, void *all)
{
    const kith_transport *t = &team->transport;
    return team->lost || t->gather(t->self, mine, (int64_t)bytes, all) ? kith__team_lose(team)
                                                                       : KITH_OK;
}

kith_status kith__team_agree(kith_team *team, kith_status status)
{
    enum { STATUSES = 256 }; /* more than there are statuses, which are 0 or negative */
    kith_ctx *ctx = team->ctx;
    /* rank * STATUSES - status of the lowest rank that failed; INT64_MAX: none failed */
    int64_t worst = INT64_MAX;
    if (team->lost) {
        return kith__team_lose(team);
    }
    if (status != KITH_OK) {
        worst = (int64_t)team->rank * STATUSES - (int64_t)status;
    }
    KITH_TRY(kith__team_combine(team, KITH_MIN, &worst, 1));
    if (worst == INT64_MAX) {
        return KITH_OK;
    }
    char mine[sizeof team->messages[0]];
    snprintf(mine, sizeof mine, "%s", ctx->message);
    KITH_TRY(kith__team_gather(team, mine, sizeof mine, team->messages));
    const int rank = (int)(worst / STATUSES);
    bool alike = true; /* all ranks failed with one message: a number would mislead */
    for (int r = 0; r < team->ranks; r++) {
        alike = alike && strcmp(team->messages[r], team->messages[rank]) == 0;
    }
    if (alike) {
        return kith__fail(ctx, (kith_status) - (worst % STATUSES), "%s", team->messages[rank]);
    }
    /* 480: with the longest number of a rank, 17 characters in front, the message fits 512 bytes */
    return kith__fail(ctx, (kith_status) - (worst % STATUSES), "rank %d: %.480s", rank,
                      team->messages[rank]);
}

int64_t kith__bits(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

int64_t kith__digest(const double *number, int64_t n)
{
    /* a multiplicative hash with xorshift; the multiplier is 2^64 / golden ratio (Knuth) */
    uint64_t digest = number != NULL;
    for (int64_t k = 0; number && k < n; k++) {
        digest = (digest ^ (uint64_t)kith__bits(number[k])) * 0x9e3779b97f4a7c15u;
        digest ^= digest >> 31;
    }
    return (int64_t)digest;
}

kith_status kith__team_equal(kith_team *team, const struct kith__equal *argument, int n)
{
    /* The largest complement ~x of all ranks is the complement of the smallest x. So one maximum of
     * both finds the largest and the smallest number: equal where all numbers are. */
    int64_t most[2 * KITH_TEAM_EQUALS];
    assert(n <= KITH_TEAM_EQUALS);
    for (int k = 0; k < n; k++) {
        most[2 * k] = argument[k].value;
        most[2 * k + 1] = ~argument[k].value;
    }
    KITH_TRY(kith__team_combine(team, KITH_MAX, most, 2 * (int64_t)n));
    for (int k = 0; k < n; k++) {
        KITH_CHECK(team->ctx, most[2 * k] == ~most[2 * k + 1], KITH_INVALID,
                   "%s differs between the ranks of the team", argument[k].name);
    }
    return KITH_OK;
}

kith_status kith__team_same_call(kith_team *team, const char *name)
{
    uint64_t digest = 0xcbf29ce484222325u; /* hash of the name: FNV-1a */
    for (const char *c = name; *c; c++) {
        digest = (digest ^ (unsigned char)*c) * 0x100000001b3u;
    }
    int64_t most[2] = {(int64_t)digest, (int64_t)~digest}; /* compared as in kith__team_equal */
    KITH_TRY(kith__team_combine(team, KITH_MAX, most, 2));
    KITH_CHECK(team->ctx, most[0] == ~most[1], KITH_INVALID,
               "the ranks of the team make different calls; this rank's is %s", name);
    return KITH_OK;
}

int kith__team_space(const kith_points *points, const kith_box *box, struct kith__equal *argument)
{
    const kith_box open = kith_box_open();
    const kith_box *b = box ? box : &open;
    int n = 0;
    argument[n++] = (struct kith__equal){"points: precision", points ? (int)points->precision : 0};
    argument[n++] = (struct kith__equal){"box: dim", b->dim};
    for (int k = 0; k < 3; k++) {
        argument[n++] = (struct kith__equal){"box: periodic", b->periodic[k]};
        argument[n++] = (struct kith__equal){"box: origin", kith__bits(b->origin[k])};
        for (int m = 0; m < 3; m++) {
            argument[n++] = (struct kith__equal){"box: row", kith__bits(b->row[k][m])};
        }
    }
    assert(n == KITH_TEAM_SPACE);
    return n;
}

kith_status kith__team_host(kith_team *team, const char *name, const kith_points *points)
{
    KITH_CHECK(team->ctx, points != NULL, KITH_INVALID, "%s is NULL", name);
    KITH_CHECK(team->ctx, points->memory != KITH_DEVICE, KITH_UNSUPPORTED,
               "%s: in device memory, which teams do not take yet", name);
    return KITH_OK;
}

kith_status kith__team_fill(kith_team *team, const struct kith__team_out *out,
                            kith__team_work_fn *work, void *call)
{
    KITH_TRY(kith__team_begin(team));
    KITH_AGREE(team, kith__result_read(team->ctx, "out", out->given, out->size, out->least,
                                       out->own, out->own_size));
    const kith_status status = work(call);
    kith__result_write(out->own, out->own_size, out->size, out->least, out->given);
    return status;
}

kith_status kith__team_check_out(kith_team *team, const void *owner, bool arrays,
                                 kith_memory memory)
{
    KITH_CHECK(team->ctx, owner || !arrays, KITH_INVALID,
               "out holds arrays that are not the library's: zero it");
    KITH_CHECK(team->ctx, memory == KITH_HOST, KITH_UNSUPPORTED,
               "out: in device memory, which teams do not write yet");
    return KITH_OK;
}

kith_status kith__team_need(kith_team *team, int buffer, int64_t n, size_t size, void *out)
{
    assert(buffer >= 0 && buffer < KITH_TEAM_BUFFERS && n >= 0);
    const bool fits = (uint64_t)n < (uint64_t)(INT64_MAX / 2) / size;
    void *data = fits ? kith__buffer_need(&team->buffer[buffer], (size_t)n * size) : NULL;
    KITH_CHECK(team->ctx, data != NULL, KITH_NO_MEMORY,
               "out of memory for %lld items of a team's work", (long long)n);
    memcpy(out, &data, sizeof data); /* *out may be a pointer of any type */
    return KITH_OK;
}

int kith__team_rank_of(const int64_t *first, int ranks, int64_t item)
{
    int rank = 0;
    for (int n = ranks; n > 1;) {
        const int half = n / 2;
        rank += item >= first[rank + half] ? half : 0;
        n -= half;
    }
    return rank;
}

/** Return the number of parcels, of at most chunk_bytes each, of a message of `bytes` bytes. */
static int64_t parcels_of(const kith_team *team, int64_t bytes)
{
    return bytes / team->chunk_bytes + (bytes % team->chunk_bytes > 0);
}

kith_status kith__team_parcels(kith_team *team, const struct kith__ranges *ranges, size_t size)
{
    int64_t parcels = 0;
    for (int r = 0; r < team->ranks; r++) {
        if (r != team->rank) {
            parcels += parcels_of(team, (ranges->to[r + 1] - ranges->to[r]) * (int64_t)size) +
                       parcels_of(team, (ranges->from[r + 1] - ranges->from[r]) * (int64_t)size);
        }
    }
    kith_parcel *list;
    return kith__team_need(team, KITH_TEAM_PARCELS, parcels, sizeof *list, &list);
}

/** List the parcels of the items for, or from, all other ranks, beginning with the next rank: so
 *  each rank has another one first, and not all of them rank 0.
 *  @param first    [ranks + 1] first item for, or from, each rank, then the number of all
 *  @param items    the items
 *  @param size     bytes of an item
 *  @param[out] to  the list
 *  @return parcels in the list */
static int64_t list_parcels(const kith_team *team, const int64_t *first, char *items, size_t size,
                            kith_parcel *to)
{
    int64_t n = 0;
    for (int away = 1; away < team->ranks; away++) {
        const int peer = (team->rank + away) % team->ranks;
        const int64_t end = first[peer + 1] * (int64_t)size;
        for (int64_t at = first[peer] * (int64_t)size; at < end; at += team->chunk_bytes) {
            const int64_t rest = end - at;
            to[n++] = (kith_parcel){.peer = peer,
                                    .memory = KITH_HOST,
                                    .data = items + at,
                                    .bytes = rest < team->chunk_bytes ? rest : team->chunk_bytes};
        }
    }
    return n;
}

kith_status kith__team_exchange(kith_team *team, const struct kith__ranges *ranges, bool back,
                                const void *out, void *in, size_t size)
{
    const kith_transport *t = &team->transport;
    const int64_t *sent = back ? ranges->from : ranges->to;
    const int64_t *received = back ? ranges->to : ranges->from;
    const int me = team->rank;
    kith_parcel *to = team->buffer[KITH_TEAM_PARCELS].data;
    char *items;
    memcpy(&items, &out, sizeof items); /* kith_parcel.data is not const; it is not written */
    const int64_t n_to = list_parcels(team, sent, items, size, to);
    const int64_t n_from = list_parcels(team, received, in, size, to + n_to);
    const int64_t own = sent[me + 1] - sent[me];
    assert(own == received[me + 1] - received[me]);
    if (own > 0) {
        memcpy((char *)in + received[me] * (int64_t)size, items + sent[me] * (int64_t)size,
               (size_t)own * size);
    }
    return team->lost || t->exchange(t->self, to, n_to, to + n_to, n_from, team->ctx->stream)
               ? kith__team_lose(team)
               : KITH_OK;
}

/** Check the transport's rank and the options, set the size of parcels, and allocate messages. */
static kith_status prepare(kith_ctx *ctx, const kith_transport *t, const kith_team_options *options,
                           kith_team *team)
{
    KITH_CHECK(ctx, t->rank >= 0 && t->rank < t->ranks, KITH_INVALID,
               "transport: rank is %d of %d ranks", t->rank, t->ranks);
    KITH_CHECK(ctx, options->chunk_bytes >= 0 && options->chunk_bytes <= most_chunk_bytes,
               KITH_INVALID, "options.chunk_bytes is %lld, expected 0 (the default) to 2^30",
               (long long)options->chunk_bytes);
    team->chunk_bytes = options->chunk_bytes ? options->chunk_bytes : most_chunk_bytes;
    team->messages = calloc((size_t)t->ranks, sizeof *team->messages);
    KITH_CHECK(ctx, team->messages != NULL, KITH_NO_MEMORY, "out of memory for a team");
    return KITH_OK;
}

/** Set up a team, and compare its options with those of the other ranks. A failure before the
 *  comparison aborts the transport, so that the comparison fails on the ranks that wait in it:
 *  kith__team_agree, which would tell them, needs the memory of messages. */
static kith_status open_checked(kith_ctx *ctx, const kith_team_options *given, kith_team *team)
{
    kith_team_options own = defaults;
    kith_status status = kith__options_read(ctx, "options", "kith_team_options_init", given,
                                            KITH_TEAM_OPTIONS_0_2, &own);
    status = status == KITH_OK ? prepare(ctx, &team->transport, &own, team) : status;
    if (status != KITH_OK) {
        team->transport.abort(team->transport.self);
        return status;
    }
    const struct kith__equal equal[] = {
        {"the version of kith",
         KITH_VERSION_MAJOR * 1000000 + KITH_VERSION_MINOR * 1000 + KITH_VERSION_PATCH},
        {"options.chunk_bytes", own.chunk_bytes},
    };
    return kith__team_equal(team, equal, sizeof equal / sizeof equal[0]);
}

/** Open a team, which owns the transport; it is closed where this fails.
 *  @param transport  complete: all functions are set */
static kith_status open_team(kith_ctx *ctx, const kith_transport *transport,
                             const kith_team_options *options, kith_team **out)
{
    kith_team *team = calloc(1, sizeof *team);
    if (!team) {
        kith_transport given = *transport;
        given.abort(given.self);
        kith_transport_close(&given);
        return kith__fail(ctx, KITH_NO_MEMORY, "out of memory for a team");
    }
    *team = (kith_team){.ctx = ctx,
                        .transport = *transport,
                        .rank = transport->rank,
                        .ranks = transport->ranks,
                        .load = {.size = sizeof team->load}};
    const kith_status status = open_checked(ctx, options, team);
    if (status != KITH_OK) {
        kith_team_close(team);
        return status;
    }
    *out = team;
    return KITH_OK;
}

kith_status kith_team_open(kith_ctx *ctx, const kith_transport *transport,
                           const kith_team_options *options, kith_team **out)
{
    kith__clear_message();
    if (out) {
        *out = NULL;
    }
    const bool complete = transport && transport->size >= KITH_TRANSPORT_0_2 && transport->counts &&
                          transport->exchange && transport->gather && transport->combine &&
                          transport->abort && transport->close;
    KITH_CHECK(NULL, complete, KITH_INVALID,
               "transport is NULL, or a function of it is, or its size is not set");
    kith_status status = KITH_INVALID;
    if (out) {
        KITH_CALL(ctx, &status, open_team(ctx, transport, options, out));
    } else {
        (void)kith__fail(NULL, KITH_INVALID, "kith_team_open: out is NULL");
    }
    if (!out || !ctx || status == KITH_BUSY) { /* open_team did not take the transport */
        kith_transport given = *transport;
        given.abort(given.self);
        kith_transport_close(&given);
    }
    return status;
}

void kith_team_close(kith_team *team)
{
    if (team) {
        kith_transport_close(&team->transport);
        for (int b = 0; b < KITH_TEAM_BUFFERS; b++) {
            kith__buffer_free(&team->buffer[b]);
        }
        kith_groups_free(&team->groups);
        kith_halos_free(&team->halos);
        free(team->messages);
        free(team);
    }
}

kith_status kith__team_measure_load(kith_team *team)
{
    int64_t most[2] = {team->load.owned, team->load.ghosts};
    KITH_TRY(kith__team_combine(team, KITH_MAX, most, 2));
    team->load.most_owned = most[0];
    team->load.most_ghosts = most[1];
    return KITH_OK;
}

kith_status kith_team_load_read(const kith_team *team, kith_team_load *out)
{
    KITH_TRY(kith__team_check(team));
    KITH_CHECK(NULL, out != NULL && out->size >= KITH_TEAM_LOAD_0_2 && out->size <= KITH_MOST_SIZE,
               KITH_INVALID, "out is NULL, or out->size is not set");
    const size_t size = out->size;
    memset(out, 0, size);
    memcpy(out, &team->load, size < sizeof team->load ? size : sizeof team->load);
    out->size = size;
    return KITH_OK;
}

void kith__team_deal_by(kith_team *team, kith__team_deal_fn *fn, void *user)
{
    team->deal = fn;
    team->deal_user = user;
}
