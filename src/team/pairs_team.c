/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pair lists over all ranks. Each rank has the pairs whose i it was dealt. It has copies of all
 * particles near its own (KITH_TWO_SIDED), and searches these and its own in ascending order of
 * their global indices: a half list, the vectors of its pairs and a sorted list then have the order
 * and the bits that they have in one process. Pairs between two copies are skipped. Of two sets,
 * copies are of particles of the second one alone.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/owned.h"
#include "core/sized.h"
#include "ghosts.h"
#include "pairs/list.h"

/** Buffers of the team's scratch memory. */
enum {
    NEAR = KITH_TEAM_QUESTION,                /**< particles and ghosts */
    MERGED = NEAR + KITH_NEAR_BUFFERS,        /**< particles in the order of their global indices */
    NEIGHBOURS = MERGED + KITH_MERGE_BUFFERS, /**< neighbours of each particle */
    BUFFERS_END
};
_Static_assert((int)BUFFERS_END <= (int)KITH_TEAM_BUFFERS, "every purpose needs its own buffer");

/* Numbers of the arrays in kith__owned.array. A list has i or offsets. */
enum { IDS, I, J, DISTANCES, VECTORS, SHIFTS, IDS_AGAINST, OFFSETS = I };

/* Size of the struct in the version that brought it (core/sized.h) [bytes]. */
enum { KITH_TEAM_PAIRS_0_2 = KITH_SIZE_UP_TO(kith_team_pairs, owner) };

/** One call. */
struct pairs_team {
    kith_team *team;                 /**< the team */
    struct kith__question q;         /**< checked arguments */
    const kith_box *box;             /**< the box as given */
    double cutoff;                   /**< the cutoff as given */
    const kith_points *points;       /**< the particles as given */
    const kith_pairs_options *given; /**< the options as given */
    kith_pairs_options options;      /**< of full size */
    int n_sets;                      /**< sets of particles, 1 or 2 */
    struct kith__set set[2];         /**< particles of this rank, as given */
    struct kith__dealt dealt[2];     /**< particles that it was dealt; those of the last set with
                                          ghosts */
    int32_t *order;                  /**< numbers of the last set by ascending global index */
    kith_team_pairs *out;            /**< the list */
    bool full;                       /**< the list could not grow: there is no memory */
};

/** Make one array of the list hold `capacity` elements, keeping those of the pairs so far.
 *  @return the array; NULL where it is not wanted, or there is no memory */
static void *grow(struct pairs_team *w, int array, size_t size, bool wanted, int64_t capacity)
{
    struct kith__owned *owned = w->out->owner;
    void *data = wanted ? kith__buffer_grow(&owned->array[array], (size_t)w->out->n * size,
                                            (size_t)capacity * size)
                        : NULL;
    w->full = w->full || (wanted && !data);
    return data;
}

/** Make the list hold n more pairs. @return false when there is no memory */
static bool make_room(struct pairs_team *w, int64_t n)
{
    enum { FIRST = 1024 };
    kith_team_pairs *out = w->out;
    const unsigned extras = w->options.extras;
    const size_t real = (size_t)w->q.precision;
    const int64_t least = out->n + n;
    if (least <= out->capacity) {
        return true;
    }
    int64_t capacity = out->capacity + out->capacity / 2 + FIRST;
    capacity = capacity > least ? capacity : least;
    out->i = grow(w, I, sizeof *out->i, !out->offsets, capacity);
    out->j = grow(w, J, sizeof *out->j, true, capacity);
    out->distances = grow(w, DISTANCES, real, extras & KITH_DISTANCES, capacity);
    out->vectors = grow(w, VECTORS, 3 * real, extras & KITH_VECTORS, capacity);
    out->shifts = grow(w, SHIFTS, 3 * sizeof *out->shifts, extras & KITH_SHIFTS, capacity);
    out->capacity = w->full ? out->capacity : capacity;
    return !w->full;
}

/** kith_block_fn: append the pairs whose i this rank was dealt.
 *  @return 1, which ends the search, where there is no memory */
static int append_block(void *user, const kith_pairs *block, int64_t first)
{
    struct pairs_team *w = user;
    kith_team_pairs *out = w->out;
    const size_t real = (size_t)w->q.precision;
    (void)first;
    if (!make_room(w, block->n)) {
        return 1;
    }
    for (int64_t p = 0; p < block->n; p++) {
        const int32_t i = w->n_sets == 2 ? block->i[p] : w->order[block->i[p]];
        const int64_t at = out->n;
        if (i >= w->dealt[0].n) {
            continue;
        }
        if (out->offsets) {
            out->offsets[i + 1]++; /* numbers of pairs, of which search() makes offsets */
        } else {
            out->i[at] = i;
        }
        out->j[at] = w->order[block->j[p]];
        if (out->distances) {
            memcpy((char *)out->distances + (size_t)at * real,
                   (const char *)block->distances + (size_t)p * real, real);
        }
        if (out->vectors) {
            memcpy((char *)out->vectors + (size_t)at * 3 * real,
                   (const char *)block->vectors + (size_t)p * 3 * real, 3 * real);
        }
        if (out->shifts) {
            memcpy(out->shifts + 3 * at, block->shifts + 3 * p, 3 * sizeof *out->shifts);
        }
        out->n++;
    }
    return 0;
}

/** Make an array of the list with the global indices of particles and ghosts.
 *  @param[out] ids  the array */
static kith_status write_ids(struct pairs_team *w, int array, const struct kith__dealt *dealt,
                             int64_t **ids)
{
    kith_ctx *ctx = w->team->ctx;
    struct kith__owned *owned = kith__owned_in(ctx, KITH_HOST, &w->out->owner);
    const int64_t n = dealt->n + dealt->ghosts;
    *ids = owned ? kith__owned_need(owned, array, (size_t)(n + 1) * sizeof **ids) : NULL;
    KITH_CHECK(ctx, *ids != NULL, KITH_NO_MEMORY, "out of memory for %lld particles", (long long)n);
    if (n > 0) {
        memcpy(*ids, dealt->global, (size_t)n * sizeof **ids);
    }
    return KITH_OK;
}

/** Make the offsets of the rows, as zeros, where the list has them. */
static kith_status begin_rows(struct pairs_team *w)
{
    kith_ctx *ctx = w->team->ctx;
    kith_team_pairs *out = w->out;
    const size_t bytes = (size_t)(w->dealt[0].n + 1) * sizeof *out->offsets;
    out->offsets = NULL;
    out->i = NULL;
    if (w->options.layout == KITH_CSR) {
        out->offsets = kith__owned_need(out->owner, OFFSETS, bytes);
        KITH_CHECK(ctx, out->offsets, KITH_NO_MEMORY, "out of memory for %lld rows",
                   (long long)w->dealt[0].n);
        memset(out->offsets, 0, bytes);
    }
    return KITH_OK;
}

/** Search, and list the pairs of this rank. */
static kith_status search(struct pairs_team *w)
{
    enum { BLOCK_PAIRS = 1 << 18 };
    kith_ctx *ctx = w->team->ctx;
    kith_team_pairs *out = w->out;
    const struct kith__dealt *last = &w->dealt[w->n_sets - 1];
    kith_points points, merged;
    kith_pairs_options o = w->options;
    KITH_TRY(kith__team_merge(w->team, MERGED, &w->q, last, &w->order, &merged));
    points = merged;
    out->n = 0;
    out->capacity = 0;
    out->ids_against = NULL;
    KITH_TRY(write_ids(w, IDS, &w->dealt[0], &out->ids));
    KITH_TRY(begin_rows(w));
    if (w->n_sets == 2) {
        points = kith__dealt_points(&w->q, &w->dealt[0], 0, w->dealt[0].n);
        o.against = &merged;
        KITH_TRY(write_ids(w, IDS_AGAINST, last, &out->ids_against));
    }
    o.block_pairs = o.block_pairs ? o.block_pairs : BLOCK_PAIRS;
    o.unordered = 0;
    o.sorted = o.sorted || out->offsets;
    o.layout = KITH_IJ;
    const bool some = make_room(w, 1); /* so that no array is NULL */
    const kith_status status = some ? kith__pairs_each(ctx, &points, w->box, w->cutoff, &o,
                                                       append_block, w)
                                    : KITH_OK;
    KITH_CHECK(ctx, !w->full, KITH_NO_MEMORY, "out of memory for a list of more than %lld pairs",
               (long long)out->n);
    out->rows = w->dealt[0].n;
    out->points = merged.n;
    for (int64_t row = 0; row < out->rows && out->offsets; row++) {
        out->offsets[row + 1] += out->offsets[row];
    }
    return status;
}

/** Check the arguments of this rank. */
static kith_status check(struct pairs_team *w)
{
    kith_ctx *ctx = w->team->ctx;
    const kith_pairs_options *o = &w->options;
    KITH_TRY(kith__team_host(w->team, "points", w->points));
    KITH_TRY(kith__pairs_options(ctx, w->given, &w->options));
    KITH_CHECK(ctx, !o->batch, KITH_UNSUPPORTED, "options.batch: teams do not take batches yet");
    KITH_TRY(o->against ? kith__team_host(w->team, "against", o->against) : KITH_OK);
    KITH_CHECK(ctx, !kith__has_rules(o), KITH_UNSUPPORTED,
               "options: teams take no species, radii, r_min, molecules, bonds or active particles "
               "yet");
    KITH_CHECK(ctx, o->layout != KITH_MATRIX, KITH_UNSUPPORTED,
               "options.layout is KITH_MATRIX, which teams do not make yet");
    return kith__question_init(ctx, w->points, o->against, w->box, w->cutoff, "cutoff", &w->q);
}

/** Check that the arguments that must be equal on all ranks are. */
static kith_status check_equal(const struct pairs_team *w, bool neighbours)
{
    struct kith__equal equal[KITH_TEAM_EQUALS];
    const kith_pairs_options *o = &w->options;
    int n = kith__team_space(w->points, w->box, equal);
    equal[n++] = (struct kith__equal){"cutoff", kith__bits(w->cutoff)};
    equal[n++] = (struct kith__equal){"options.full", o->full};
    equal[n++] = (struct kith__equal){"options.sorted", o->sorted};
    equal[n++] = (struct kith__equal){"options.layout", o->layout};
    equal[n++] = (struct kith__equal){"options.extras", (int64_t)o->extras};
    equal[n++] = (struct kith__equal){"options.against", o->against != NULL};
    equal[n++] = (struct kith__equal){"neighbours: given or NULL", neighbours};
    return kith__team_equal(w->team, equal, n);
}

/** Check all arguments but out, deal the particles and bring ghosts. */
static kith_status begin(struct pairs_team *w, bool neighbours)
{
    KITH_AGREE(w->team, check(w));
    KITH_TRY(check_equal(w, neighbours));
    w->n_sets = w->q.cross ? 2 : 1;
    w->set[0] = (struct kith__set){"points", w->q.a, NULL};
    w->set[1] = (struct kith__set){"against", w->q.b, NULL};
    struct kith__route reach;
    return kith__team_deal_near(w->team, NEAR, &w->q, KITH_TWO_SIDED, w->set, w->n_sets, w->dealt,
                                &reach);
}

/** Check that the caller's list has the field that KITH_CSR returns. */
static kith_status check_size(const struct pairs_team *w)
{
    KITH_CHECK(w->team->ctx,
               w->options.layout != KITH_CSR ||
                   w->out->size >= KITH_SIZE_UP_TO(kith_team_pairs, offsets),
               KITH_INVALID,
               "out->size is %u, but the layout is KITH_CSR: set it to sizeof(kith_team_pairs)",
               (unsigned)w->out->size);
    return KITH_OK;
}

/** kith__team_work_fn: find the pairs. */
static kith_status find(void *call)
{
    struct pairs_team *w = call;
    kith_team *team = w->team;
    kith_team_pairs *out = w->out;
    KITH_AGREE(team,
               kith__team_check_out(team, out->owner, out->i || out->j || out->ids, out->memory));
    KITH_TRY(begin(w, false));
    KITH_AGREE(team, check_size(w));
    KITH_AGREE(team, search(w));
    out->all = out->n;
    return kith__team_combine(team, KITH_SUM, &out->all, 1);
}

kith_status kith_team_pairs_find(kith_team *team, const kith_points *points, const kith_box *box,
                                 double cutoff, const kith_pairs_options *options,
                                 kith_team_pairs *out)
{
    kith_status status;
    kith_team_pairs own = {0};
    struct pairs_team w = {.team = team,
                           .points = points,
                           .box = box,
                           .cutoff = cutoff,
                           .given = options,
                           .out = &own};
    const struct kith__team_out result = KITH_TEAM_OUT(out, KITH_TEAM_PAIRS_0_2, &own);
    KITH_TEAM_CALL(team, &status, kith__team_fill(team, &result, find, &w));
    if (status != KITH_OK && out) {
        out->n = out->all = out->rows = out->points = 0;
    }
    return status;
}

/** Count the neighbours of this rank's particles. */
static kith_status count_own(struct pairs_team *w, int64_t **neighbours)
{
    const struct kith__dealt *last = &w->dealt[w->n_sets - 1];
    const kith_points all = kith__dealt_points(&w->q, last, 0, last->n + last->ghosts);
    const kith_points own = kith__dealt_points(&w->q, &w->dealt[0], 0, w->dealt[0].n);
    const kith_points *points = w->n_sets == 2 ? &own : &all;
    kith_pairs_options o = w->options;
    int64_t n;
    KITH_TRY(kith__team_need(w->team, NEIGHBOURS, points->n, sizeof **neighbours, neighbours));
    o.full = 1;
    o.against = w->n_sets == 2 ? &all : NULL;
    return kith__pairs_count(w->team->ctx, points, w->box, w->cutoff, &o, &n, *neighbours);
}

static kith_status count(kith_team *team, const kith_points *points, const kith_box *box,
                         double cutoff, const kith_pairs_options *options, int64_t *n,
                         int64_t *neighbours)
{
    struct pairs_team w = {
        .team = team, .points = points, .box = box, .cutoff = cutoff, .given = options};
    int64_t *own = NULL;
    int64_t all = 0;
    KITH_TRY(kith__team_begin(team));
    KITH_AGREE(team, n ? KITH_OK : kith__fail(team->ctx, KITH_INVALID, "n is NULL"));
    KITH_TRY(begin(&w, neighbours != NULL));
    KITH_AGREE(team, count_own(&w, &own));
    for (int64_t p = 0; p < w.dealt[0].n; p++) {
        all += own[p];
    }
    KITH_TRY(kith__team_combine(team, KITH_SUM, &all, 1));
    const bool once = w.n_sets == 1 && !w.options.full;
    assert(!once || all % 2 == 0);
    KITH_TRY(neighbours ? kith__route_home(team, &w.dealt[0].route, own, sizeof *own, neighbours)
                        : KITH_OK);
    *n = once ? all / 2 : all;
    return KITH_OK;
}

kith_status kith_team_pairs_count(kith_team *team, const kith_points *points, const kith_box *box,
                                  double cutoff, const kith_pairs_options *options, int64_t *n,
                                  int64_t *neighbours)
{
    kith_status status;
    KITH_TEAM_CALL(team, &status, count(team, points, box, cutoff, options, n, neighbours));
    if (status != KITH_OK && n) {
        *n = 0;
    }
    return status;
}

void kith_team_pairs_free(kith_team_pairs *pairs)
{
    if (pairs) {
        kith__owned_free(pairs->owner);
        KITH_RESULT_CLEAR(pairs, kith_team_pairs, KITH_TEAM_PAIRS_0_2);
    }
}
