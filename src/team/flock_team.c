/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Flocks over all ranks. A flock stays dealt to domains from step to step. At each step the
 * particles that have left their domain travel, and ghosts come, with velocities and global
 * indices, from within the largest radius: all neighbours of a rank's particles are there, also the
 * nearest ones, which are sought within that radius. Each rank then steps its part of the flock
 * (flock/flock.h). Neighbour sums are of integers, so that a particle gets the bits of one process,
 * whatever the order of its neighbours.
 *
 * What depends on all particles is agreed on before a rank steps its part: the largest component of
 * a velocity, from which the unit of the sums follows, and the prey of each predator. Random
 * numbers, and the choice between equally near particles, are by global index.
 *
 * The state is kept as records, which travel whole. A step computes new states from them, and
 * replaces them when it has succeeded on all ranks: after a failure the flock is in the state of
 * its last whole step.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/backend.h"
#include "flock/flock.h"
#include "ghosts.h"
#include "pairs_team.h"

/** Buffers of the member's scratch memory. */
enum {
    BASE = KITH_TEAM_QUESTION,           /**< global index of each rank's first given particle */
    HERE,                                /**< records of this rank's particles */
    ARRIVED,                             /**< records that arrive from other ranks */
    NOW_BASE,                            /**< number of particles on the ranks before each */
    MOVE,                                /**< route to the domains, or to where they were given */
    GHOSTS = MOVE + KITH_ROUTE_BUFFERS,  /**< records of ghosts */
    REACH,                               /**< route of the ghosts */
    GLOBAL = REACH + KITH_ROUTE_BUFFERS, /**< global index of each particle of the part */
    SURVEYS,                             /**< surveys of all ranks, or sums */
    PLACES,                              /**< particles of the part, to be sorted */
    ORDER,                               /**< place of each in the order of the global indices */
    BUFFERS_END
};
_Static_assert((int)BUFFERS_END <= (int)KITH_TEAM_BUFFERS, "every purpose needs its own buffer");

/** Steps after which space is cut into domains again: by then ranks may have unequal numbers. */
enum { DIVIDE_EVERY = 16 };

/** A flock over all ranks, opaque to callers (kith/team.h). Its records have three coordinates and
 *  three components of the velocity, in the precision of the points, then 64 bits: the global index
 *  in the lower 48, and the species. */
struct kith_team_flock {
    kith_team *team;  /**< the team */
    kith_team member; /**< a copy of it, whose scratch memory is the flock's (as in domain.c) */
    struct kith_flock local; /**< the part of the flock that this rank steps: box, rules, number of
                                  steps; its particles are valid within a step alone */
    struct kith__set given;  /**< the particles as given: their number and `base`; their coordinates
                                  may be gone after kith_team_flock_open */
    int64_t n;               /**< particles of this rank: records in buffer HERE */
    int64_t ghosts;          /**< ghosts of the last step */
    struct kith__domains domains; /**< the decomposition */
    struct kith__bounds bounds;   /**< of all particles of all ranks */
    int64_t divided;              /**< steps since space was cut; -1: not yet */
};

/* ------------------------------------------------------------------------------------ records */

/** Return the bytes of a record. */
static size_t record_size(const struct kith_team_flock *flock)
{
    return 6 * (size_t)flock->local.question.precision + sizeof(int64_t);
}

enum { INDEX_BITS = 48 }; /* enough for 4096 ranks of 2^31 particles */

/** Return the last 64 bits of a record. */
static int64_t tail_of(const struct kith_team_flock *flock, const char *record)
{
    int64_t tail;
    memcpy(&tail, record + record_size(flock) - sizeof tail, sizeof tail);
    return tail;
}

/** Return the global index of a record. */
static int64_t index_of(const struct kith_team_flock *flock, const char *record)
{
    return tail_of(flock, record) & (((int64_t)1 << INDEX_BITS) - 1);
}

/** Set the last 64 bits of a record. */
static void set_tail(const struct kith_team_flock *flock, char *record, int64_t index,
                     uint8_t species)
{
    const int64_t tail = index | (int64_t)species << INDEX_BITS;
    memcpy(record + record_size(flock) - sizeof tail, &tail, sizeof tail);
}

/** Return the positions of n records as points. */
static kith_points positions_of(const struct kith_team_flock *flock, const char *record, int64_t n)
{
    const kith_precision precision = flock->local.question.precision;
    kith_points points = kith_points_packed(record, n, precision);
    points.stride = (int64_t)record_size(flock) / (int64_t)precision;
    return points;
}

/** Return the records of this rank's particles. */
static char *records(const struct kith_team_flock *flock)
{
    return flock->member.buffer[HERE].data;
}

/** State of the loop that reads records into the state of the part. */
struct load_loop {
    struct kith_team_flock *flock; /**< the flock */
    const char *from;              /**< the records */
    int64_t first;                 /**< entry of the first record */
    int64_t *global;               /**< receives the global index of each entry */
};

/** kith__range_fn: read records [begin, end). */
static void load_range(void *state, int64_t begin, int64_t end)
{
    const struct load_loop *loop = state;
    struct kith__flock_state *now = &loop->flock->local.now;
    const kith_precision precision = loop->flock->local.question.precision;
    const size_t size = record_size(loop->flock);
    uint8_t *species = loop->flock->local.species.data;
    for (int64_t p = begin; p < end; p++) {
        const char *record = loop->from + (size_t)p * size;
        const int64_t s = loop->first + p;
        for (int k = 0; k < 3; k++) {
            kith__set_real(now->r[k], s, precision, kith__real_at(record, k, precision));
            kith__set_real(now->v[k], s, precision, kith__real_at(record, 3 + k, precision));
        }
        now->id[s] = (int32_t)s;
        loop->global[s] = index_of(loop->flock, record);
        if (species) {
            species[s] = (uint8_t)(tail_of(loop->flock, record) >> INDEX_BITS);
        }
    }
}

/** Set local.order, by which equally near particles are chosen. Not collective. O(n log n). */
static kith_status set_order(struct kith_team_flock *flock)
{
    struct kith_flock *local = &flock->local;
    struct kith__by_index *place = NULL;
    int32_t *order = NULL;
    local->order = NULL;
    if (local->rules.nearest == 0) {
        return KITH_OK;
    }
    KITH_TRY(kith__team_need(&flock->member, PLACES, local->n, sizeof *place, &place));
    KITH_TRY(kith__team_need(&flock->member, ORDER, local->n, sizeof *order, &order));
    for (int64_t p = 0; p < local->n; p++) {
        place[p] = (struct kith__by_index){local->global[p], (int32_t)p};
    }
    kith__sort_by_index(place, local->n);
    for (int64_t k = 0; k < local->n; k++) {
        order[place[k].number] = (int32_t)k;
    }
    local->order = order;
    return KITH_OK;
}

/** Make the part of this rank from its records and those of ghosts. Not collective. */
static kith_status load(struct kith_team_flock *flock, int64_t ghosts)
{
    kith_team *member = &flock->member;
    struct kith_flock *local = &flock->local;
    struct load_loop loop = {flock, records(flock), 0, NULL};
    local->n = flock->n + ghosts;
    local->own = flock->n;
    KITH_TRY(kith__team_check_number(member, local->n));
    KITH_TRY(kith__flock_lay_out(local));
    if (local->rules.n_species > 0) {
        KITH_CHECK(member->ctx, kith__buffer_need(&local->species, (size_t)local->n + 1) != NULL,
                   KITH_NO_MEMORY, "out of memory for the species of %lld particles",
                   (long long)local->n);
    }
    KITH_TRY(kith__team_need(member, GLOBAL, local->n, sizeof *loop.global, &loop.global));
    kith__loop(member->ctx, flock->n, load_range, &loop);
    loop.from = member->buffer[GHOSTS].data;
    loop.first = flock->n;
    kith__loop(member->ctx, ghosts, load_range, &loop);
    local->global = loop.global;
    kith__flock_set_points(local);
    KITH_TRY(kith__proceed(member->ctx));
    return set_order(flock);
}

/** Write record `at` of this rank from entry s of the state. */
static void store(struct kith_team_flock *flock, int64_t s, int64_t at)
{
    const struct kith__flock_state *now = &flock->local.now;
    const kith_precision precision = flock->local.question.precision;
    const size_t size = record_size(flock);
    char *record = records(flock) + (size_t)at * size;
    const uint8_t *species = flock->local.species.data;
    const int32_t id = now->id[s];
    for (int k = 0; k < 3; k++) {
        kith__set_real(record, k, precision, kith__real_at(now->r[k], s, precision));
        kith__set_real(record, 3 + k, precision, kith__real_at(now->v[k], s, precision));
    }
    set_tail(flock, record, kith__flock_index(&flock->local, id), species ? species[id] : 0);
}

/** Write the records of this rank from the state, in its order, that of cells, without ghosts. */
static void unload(struct kith_team_flock *flock)
{
    const struct kith_flock *local = &flock->local;
    int64_t at = 0;
    for (int64_t s = 0; s < local->n; s++) {
        if (local->now.id[s] < local->own) {
            store(flock, s, at++);
        }
    }
}

/* --------------------------------------------------------------------------------------- step */

/** kith__targets_fn: the rank in whose domain a particle is. @param state  the flock */
static int owner_of(const void *state, int64_t p, int *to)
{
    const struct kith_team_flock *flock = state;
    const kith_team *member = &flock->member;
    const kith_points points = positions_of(flock, records(flock), flock->n);
    double f[3];
    kith__team_fractions(&flock->local.question, &points, p, f);
    const char *record = records(flock) + (size_t)p * record_size(flock);
    *to = member->deal ? member->deal(member->deal_user, f, index_of(flock, record), member->ranks)
                       : kith__domain_of(&flock->domains, f);
    return 1;
}

/** Send the records along a route. Collective. @param buffer  where they arrive */
static kith_status send(struct kith_team_flock *flock, const struct kith__route *route, int buffer)
{
    char *in = NULL;
    KITH_AGREE(&flock->member,
               kith__team_need(&flock->member, buffer, route->received, record_size(flock), &in));
    return kith__route_send(&flock->member, route, records(flock), record_size(flock), in);
}

/** Make the records that have arrived those of this rank. @param n  their number */
static void keep_arrived(struct kith_team_flock *flock, int64_t n)
{
    struct kith__buffer *buffer = flock->member.buffer;
    const struct kith__buffer before = buffer[HERE];
    buffer[HERE] = buffer[ARRIVED];
    buffer[ARRIVED] = before;
    flock->n = n;
}

/** Send each particle to the rank in whose domain it is. Collective. */
static kith_status migrate(struct kith_team_flock *flock)
{
    kith_team *member = &flock->member;
    struct kith__set set = {"points", positions_of(flock, records(flock), flock->n), NULL};
    struct kith__route route;
    KITH_TRY(kith__team_base(member, NOW_BASE, &set));
    KITH_TRY(kith__team_bounds(member, &flock->local.question, &set, 1, &flock->bounds));
    if (flock->divided < 0 || flock->divided >= DIVIDE_EVERY) {
        flock->divided = -1; /* also where dividing fails */
        KITH_TRY(kith__team_divide(member, &flock->local.question, &set, 1, &flock->bounds,
                                   &flock->domains));
        flock->divided = 0;
    }
    KITH_TRY(kith__route_open(member, MOVE, flock->n, owner_of, flock, &route));
    KITH_AGREE(member, kith__team_check_number(member, route.received));
    KITH_TRY(send(flock, &route, ARRIVED));
    keep_arrived(flock, route.received);
    flock->divided++;
    return KITH_OK;
}

/** Bring the records of ghosts, to buffer GHOSTS. Collective. @param[out] n  their number */
static kith_status bring_ghosts(struct kith_team_flock *flock, int64_t *n)
{
    kith_team *member = &flock->member;
    const struct kith__question *q = &flock->local.question;
    const kith_points points = positions_of(flock, records(flock), flock->n);
    struct kith__range3 own, *box = NULL;
    struct kith__route route;
    KITH_TRY(kith__team_box_pair(member, q, &points, NULL, &own, &box));
    KITH_TRY(kith__team_reach(member, REACH, q, &flock->bounds, box, &own, &points, KITH_TWO_SIDED,
                              &route));
    KITH_TRY(send(flock, &route, GHOSTS));
    *n = route.received;
    return KITH_OK;
}

/** Find what the step needs to know of the particles of all ranks. Collective. */
static kith_status survey_all(struct kith_team_flock *flock, struct kith__flock_survey *out)
{
    kith_team *member = &flock->member;
    kith_ctx *ctx = member->ctx;
    const int n_things = flock->local.rules.n_things;
    const size_t size = offsetof(struct kith__flock_survey, prey) +
                        (size_t)n_things * sizeof out->prey[0];
    char *all = NULL;
    kith_status status = ctx->backend->flock->survey(ctx, &flock->local, out);
    status = status ? status : kith__team_need(member, SURVEYS, member->ranks, size, &all);
    KITH_AGREE(member, status);
    KITH_TRY(kith__team_gather(member, out, size, all));
    for (int r = 0; r < member->ranks; r++) {
        struct kith__flock_survey one;
        memcpy(&one, all + (size_t)r * size, size);
        out->fastest = fmax(out->fastest, one.fastest);
        for (int t = 0; t < n_things; t++) {
            out->prey[t] = kith__is_nearer(&one.prey[t], &out->prey[t]) ? one.prey[t]
                                                                        : out->prey[t];
        }
    }
    return KITH_OK;
}

/** Advance by one step. Collective. @param nth, of  the step is nth, from 0, of `of` */
static kith_status step_once(struct kith_team_flock *flock, int64_t nth, int64_t of)
{
    kith_team *member = &flock->member;
    kith_ctx *ctx = member->ctx;
    struct kith__flock_survey found;
    int64_t ghosts = 0;
    int64_t lost = INT64_MAX;
    if (member->ranks > 1) {
        KITH_TRY(migrate(flock));
    }
    if (member->ranks > 1 && flock->local.rules.reach > 0) {
        KITH_TRY(bring_ghosts(flock, &ghosts));
    }
    KITH_AGREE(member, load(flock, ghosts));
    KITH_TRY(survey_all(flock, &found));
    KITH_AGREE(member, ctx->backend->flock->advance(ctx, &flock->local, &found, nth, of, &lost));
    KITH_TRY(kith__team_combine(member, KITH_MIN, &lost, 1));
    if (lost < INT64_MAX) {
        return kith__flock_refuse_lost(&flock->local, lost);
    }
    kith__flock_commit(&flock->local, &found);
    unload(flock);
    flock->ghosts = ghosts;
    return KITH_OK;
}

/* --------------------------------------------------------------------------------------- open */

/** Arguments of kith_team_flock_open. */
struct opening {
    const kith_points *points, *velocities; /**< as given */
    const kith_box *box;                    /**< as given */
    const kith_flock_options *given;        /**< as given */
    kith_flock_options options;             /**< the options, of full size */
    bool has_out;                           /**< there is a place for the result */
};

/** Read and check options that a team can take.
 *  @param[out] own  the options, of full size */
static kith_status read_options(kith_ctx *ctx, const kith_flock_options *given,
                                kith_flock_options *own)
{
    KITH_TRY(kith__flock_options_read(ctx, given, own));
    return kith__flock_options_known(ctx, own, "flocks over ranks");
}

/** Check the arguments of this rank, and read the options. */
static kith_status check_open(struct kith_team_flock *flock, struct opening *o)
{
    kith_ctx *ctx = flock->team->ctx;
    const kith_box open = kith_box_open();
    KITH_CHECK(ctx, o->has_out, KITH_INVALID, "out is NULL");
    KITH_CHECK(ctx, ctx->backend->flock->advance != NULL, KITH_UNSUPPORTED,
               "flocks over ranks are stepped on CPUs only: backend \"%s\" is not offered yet",
               ctx->name);
    KITH_TRY(kith__team_host(flock->team, "points", o->points));
    KITH_TRY(kith__team_host(flock->team, "velocities", o->velocities));
    KITH_TRY(read_options(ctx, o->given, &o->options));
    return kith__question_space(ctx, o->points, NULL, o->box ? o->box : &open,
                                &flock->local.question);
}

/** Return a digest of obstacles and attractors, by which ranks compare them. */
static int64_t digest_things(const kith_flock_options *o)
{
    enum { NUMBERS = 11 };
    double number[NUMBERS * KITH_MOST_THINGS];
    int64_t n = 0;
    for (int64_t t = 0; t < o->n_things; t++) {
        const kith_flock_thing *thing = &o->things[t];
        number[n++] = (double)thing->kind;
        for (int k = 0; k < 3; k++) {
            number[n++] = thing->place[k];
            number[n++] = thing->normal[k];
        }
        number[n++] = thing->radius;
        number[n++] = thing->speed;
        number[n++] = thing->reach;
        number[n++] = thing->weight;
    }
    return kith__digest(number, n);
}

/** Return a digest of the factors between species. */
static int64_t digest_factors(const kith_flock_options *o)
{
    enum { EACH = sizeof(kith_flock_factors) / sizeof(double) };
    const int64_t n = EACH * o->n_species * o->n_species;
    return kith__digest(n > 0 ? &o->factors->separation : NULL, n);
}

/** List the options as arguments that must be equal on all ranks.
 *  @param[out] equal  array of KITH_TEAM_EQUALS elements, of which `n` are used already
 *  @return the number of elements used */
static int list_options(const kith_flock_options *o, struct kith__equal *equal, int n)
{
    const struct kith__equal list[] = {
        {"options.model", (int64_t)o->model},
        {"options.separation.radius", kith__bits(o->separation.radius)},
        {"options.separation.weight", kith__bits(o->separation.weight)},
        {"options.alignment.radius", kith__bits(o->alignment.radius)},
        {"options.alignment.weight", kith__bits(o->alignment.weight)},
        {"options.cohesion.radius", kith__bits(o->cohesion.radius)},
        {"options.cohesion.weight", kith__bits(o->cohesion.weight)},
        {"options.relative", o->relative},
        {"options.min_speed", kith__bits(o->min_speed)},
        {"options.max_speed", kith__bits(o->max_speed)},
        {"options.time_step", kith__bits(o->time_step)},
        {"options.reflecting[0]", o->reflecting[0]},
        {"options.reflecting[1]", o->reflecting[1]},
        {"options.reflecting[2]", o->reflecting[2]},
        {"options.nearest", o->nearest},
        {"options.blind_angle", kith__bits(o->blind_angle)},
        {"options.noise", kith__bits(o->noise)},
        {"options.gaussian", o->gaussian},
        {"options.n_things", o->n_things},
        {"options.things", digest_things(o)},
        {"options.seed", (int64_t)o->seed},
        {"options.first_step", o->first_step},
        {"options.turn_rate", kith__bits(o->turn_rate)},
        {"options.repulsion.radius", kith__bits(o->repulsion.radius)},
        {"options.repulsion.weight", kith__bits(o->repulsion.weight)},
        {"options.n_species", o->n_species},
        {"options.factors", digest_factors(o)},
        {"options.species", o->species != NULL},
        {"options.leaders", kith__bits(o->leaders)},
        {"options.leader_weight", kith__bits(o->leader_weight)},
        {"options.leader_direction", kith__digest(o->leader_direction, 3)},
    };
    enum { LISTED = sizeof list / sizeof list[0] };
    _Static_assert((int)LISTED + (int)KITH_TEAM_SPACE <= (int)KITH_TEAM_EQUALS, "all have room");
    memcpy(equal + n, list, sizeof list);
    return n + LISTED;
}

/** Make the records of the particles as given. Not collective. */
static kith_status start(struct kith_team_flock *flock, const struct opening *o)
{
    kith_team *member = &flock->member;
    struct kith_flock *local = &flock->local;
    const int64_t first = flock->given.base[member->rank];
    char *to = NULL;
    int64_t *global = NULL;
    local->first = first;
    local->all = flock->given.base[member->ranks];
    KITH_TRY(kith__flock_start(local, o->points, o->velocities, o->box, &o->options));
    flock->n = local->n;
    KITH_TRY(kith__team_need(member, HERE, flock->n, record_size(flock), &to));
    KITH_TRY(kith__team_need(member, GLOBAL, flock->n, sizeof *global, &global));
    for (int64_t p = 0; p < flock->n; p++) {
        global[p] = first + p;
    }
    local->global = global;
    unload(flock);
    return KITH_OK;
}

/** Check the arguments, and make the records. Collective. */
static kith_status begin(struct kith_team_flock *flock, struct opening *o)
{
    kith_team *member = &flock->member;
    struct kith__equal equal[KITH_TEAM_EQUALS];
    KITH_AGREE(member, check_open(flock, o));
    const int n = kith__team_space(o->points, o->box, equal);
    KITH_TRY(kith__team_equal(member, equal, list_options(&o->options, equal, n)));
    flock->given = (struct kith__set){"points", *o->points, NULL};
    KITH_TRY(kith__team_base(member, BASE, &flock->given));
    member->load.points = flock->given.base[member->ranks];
    member->load.owned = o->points->n;
    KITH_AGREE(member, start(flock, o));
    return kith__team_measure_load(member);
}

/** Do the work of kith_team_flock_open between kith__enter and kith__exit. Collective. */
static kith_status open_flock(kith_team *team, struct opening *o, kith_team_flock **out)
{
    struct kith_team_flock *flock = calloc(1, sizeof *flock);
    kith_status status = kith__team_begin_with(team, flock, "a flock");
    if (status == KITH_OK) {
        flock->team = team;
        kith__team_copy_member(team, &flock->member);
        flock->local.ctx = team->ctx;
        flock->divided = -1;
        status = begin(flock, o);
        team->load = flock->member.load;
        team->lost = flock->member.lost;
    }
    if (status != KITH_OK) {
        kith_team_flock_close(flock);
        return status;
    }
    *out = flock;
    return KITH_OK;
}

kith_status kith_team_flock_open(kith_team *team, const kith_points *points,
                                 const kith_points *velocities, const kith_box *box,
                                 const kith_flock_options *options, kith_team_flock **out)
{
    kith_status status;
    struct opening o = {.points = points,
                        .velocities = velocities,
                        .box = box,
                        .given = options,
                        .has_out = out != NULL};
    if (out) {
        *out = NULL;
    }
    KITH_TEAM_CALL(team, &status, open_flock(team, &o, out));
    return status;
}

void kith_team_flock_close(kith_team_flock *flock)
{
    if (flock) {
        for (int b = 0; b < KITH_TEAM_BUFFERS; b++) {
            kith__buffer_free(&flock->member.buffer[b]);
        }
        kith__buffer_free(&flock->local.memory);
        kith__buffer_free(&flock->local.species);
        kith__buffer_free(&flock->local.heed);
        free(flock);
    }
}

/* -------------------------------------------------------------------------------------- calls */

/** A call of an open flock. */
struct call {
    struct kith_team_flock *flock;     /**< the flock */
    const kith_flock_options *options; /**< change */
    int64_t steps;                     /**< step */
    void *positions, *velocities;      /**< read */
    kith_flock_measures *measures;     /**< measure */
    size_t size;                       /**< measure: bytes of *measures */
};

/** Refuse a flock that is NULL. @return KITH_OK, KITH_INVALID */
static kith_status check_flock(const kith_team_flock *flock)
{
    kith__clear_message();
    KITH_CHECK(NULL, flock != NULL, KITH_INVALID, "flock is NULL");
    return KITH_OK;
}

/** Do the work of a call as the member. A team that is lost on the way is lost for all its calls.
 *  Collective. @param work  the work; its argument is `call` */
static kith_status run(kith_status (*work)(struct call *call), struct call *call)
{
    struct kith_team_flock *flock = call->flock;
    KITH_TRY(kith__team_begin(flock->team));
    /* kith__team_begin zeroed the load: that of this call is that of the last step */
    flock->member.lost = flock->team->lost;
    const kith_status status = work(call);
    flock->team->load = flock->member.load;
    flock->team->lost = flock->team->lost || flock->member.lost;
    return status;
}

/** kith__targets_fn: the rank that gave a particle. @param state  the flock */
static int giver_of(const void *state, int64_t p, int *to)
{
    const struct kith_team_flock *flock = state;
    const int64_t index = index_of(flock, records(flock) + (size_t)p * record_size(flock));
    *to = kith__team_rank_of(flock->given.base, flock->member.ranks, index);
    return 1;
}

/** Send the records to the ranks that gave the particles, to buffer ARRIVED. Collective. */
static kith_status send_home(struct kith_team_flock *flock)
{
    struct kith__route route;
    KITH_TRY(kith__route_open(&flock->member, MOVE, flock->n, giver_of, flock, &route));
    return send(flock, &route, ARRIVED);
}

/** Bring the records to the ranks that gave the particles, and set their species. Collective.
 *  @param species  [given.points.n] species of the particles as given */
static kith_status bring_home(struct kith_team_flock *flock, const uint8_t *species)
{
    const int64_t base = flock->given.base[flock->member.rank];
    KITH_TRY(send_home(flock));
    keep_arrived(flock, flock->given.points.n);
    for (int64_t p = 0; p < flock->n; p++) {
        char *record = records(flock) + (size_t)p * record_size(flock);
        const int64_t index = index_of(flock, record);
        set_tail(flock, record, index, species[index - base]);
    }
    return KITH_OK;
}

/** Change the options: kith_team_flock_change. */
static kith_status change(struct call *call)
{
    struct kith_team_flock *flock = call->flock;
    kith_team *member = &flock->member;
    struct kith__equal equal[KITH_TEAM_EQUALS];
    kith_flock_options own;
    KITH_AGREE(member, read_options(member->ctx, call->options, &own));
    KITH_TRY(kith__team_equal(member, equal, list_options(&own, equal, 0)));
    struct kith_flock changed = flock->local;
    struct kith__buffer old[2] = {changed.species, changed.heed};
    changed.n = flock->given.points.n; /* as species are given */
    changed.species = changed.heed = (struct kith__buffer){NULL, 0};
    kith_status status = kith__team_agree(member, kith__flock_change(&changed, &own));
    if (status == KITH_OK && changed.rules.n_species > 0) {
        status = bring_home(flock, changed.species.data);
    }
    if (status == KITH_OK) {
        flock->local = changed;
    } else {
        old[0] = changed.species;
        old[1] = changed.heed;
    }
    kith__buffer_free(&old[0]);
    kith__buffer_free(&old[1]);
    return status;
}

kith_status kith_team_flock_change(kith_team_flock *flock, const kith_flock_options *options)
{
    kith_status status;
    struct call call = {.flock = flock, .options = options};
    KITH_TRY(check_flock(flock));
    KITH_TEAM_CALL(flock->team, &status, run(change, &call));
    return status;
}

/** Advance by some steps: kith_team_flock_step. */
static kith_status advance(struct call *call)
{
    kith_team *member = &call->flock->member;
    const struct kith__equal equal = {"steps", call->steps};
    kith_status status = KITH_OK;
    if (call->steps < 0) {
        status = kith__fail(member->ctx, KITH_INVALID, "steps is %lld, expected 0 or more",
                            (long long)call->steps);
    }
    KITH_AGREE(member, status);
    KITH_TRY(kith__team_equal(member, &equal, 1));
    for (int64_t s = 0; s < call->steps; s++) {
        KITH_TRY(step_once(call->flock, s, call->steps));
    }
    member->load.owned = call->flock->n;
    member->load.ghosts = call->flock->ghosts;
    return kith__team_measure_load(member);
}

kith_status kith_team_flock_step(kith_team_flock *flock, int64_t steps)
{
    kith_status status;
    struct call call = {.flock = flock, .steps = steps};
    KITH_TRY(check_flock(flock));
    KITH_TEAM_CALL(flock->team, &status, run(advance, &call));
    return status;
}

int64_t kith_team_flock_steps(const kith_team_flock *flock)
{
    return flock ? flock->local.step : 0;
}

/** State of the loop that reads records that have come home. */
struct home_loop {
    const struct kith_team_flock *flock; /**< the flock */
    void *positions, *velocities;        /**< [given.points.n][3]; NULL: not wanted */
    kith_precision precision;            /**< of these arrays */
};

/** kith__range_fn: read records [begin, end). */
static void read_range(void *state, int64_t begin, int64_t end)
{
    const struct home_loop *loop = state;
    const struct kith_team_flock *flock = loop->flock;
    const kith_precision precision = flock->local.question.precision;
    const int64_t base = flock->given.base[flock->member.rank];
    const char *arrived = flock->member.buffer[ARRIVED].data;
    for (int64_t p = begin; p < end; p++) {
        const char *record = arrived + (size_t)p * record_size(flock);
        const int64_t at = 3 * (index_of(flock, record) - base);
        for (int k = 0; k < 3 && loop->positions; k++) {
            kith__set_real(loop->positions, at + k, loop->precision,
                           kith__real_at(record, k, precision));
        }
        for (int k = 0; k < 3 && loop->velocities; k++) {
            kith__set_real(loop->velocities, at + k, loop->precision,
                           kith__real_at(record, 3 + k, precision));
        }
    }
}

/** Copy the state: kith_team_flock_read. */
static kith_status read_state(struct call *call)
{
    struct kith_team_flock *flock = call->flock;
    kith__cancel_never(flock->member.ctx); /* as kith_flock_read */
    KITH_TRY(send_home(flock));
    struct home_loop loop = {flock, call->positions, call->velocities,
                             flock->local.question.precision};
    kith__loop(flock->member.ctx, flock->given.points.n, read_range, &loop);
    return KITH_OK;
}

kith_status kith_team_flock_read(kith_team_flock *flock, void *positions, void *velocities)
{
    kith_status status;
    struct call call = {.flock = flock, .positions = positions, .velocities = velocities};
    KITH_TRY(check_flock(flock));
    KITH_TEAM_CALL(flock->team, &status, run(read_state, &call));
    return status;
}

void kith_team_flock_read_things(const kith_team_flock *flock, kith_flock_thing *things)
{
    if (flock) {
        kith_flock_read_things(&flock->local, things);
    }
}

/** Adds the terms of the particles of a view to sums (flock/flock.h). */
typedef void add_fn(kith_ctx *ctx, const struct kith__question *q,
                    const struct kith__flock_view *view, double *sum);

/** Sum over the particles of all ranks in their order: the sums travel from rank to rank.
 *  Collective.
 *  @param terms     number of sums
 *  @param all       [ranks][terms] scratch
 *  @param[out] sum  [terms] */
static kith_status add_in_order(struct kith_team_flock *flock, const struct kith__flock_view *view,
                                add_fn *add, int terms, double *all, double *sum)
{
    kith_team *member = &flock->member;
    const size_t bytes = (size_t)terms * sizeof *sum;
    memset(sum, 0, bytes);
    for (int r = 0; r < member->ranks; r++) {
        if (r == member->rank) {
            add(member->ctx, &flock->local.question, view, sum);
        }
        KITH_TRY(kith__team_gather(member, sum, bytes, all));
        memcpy(sum, all + (ptrdiff_t)r * terms, bytes);
    }
    return KITH_OK;
}

/** Count the pairs within the largest radius. Collective. */
static kith_status count_pairs(struct kith_team_flock *flock, int64_t *n)
{
    const kith_points points = positions_of(flock, records(flock), flock->n);
    *n = 0;
    if (!(flock->local.rules.reach > 0)) {
        return KITH_OK;
    }
    const kith_status status = kith__team_pairs_count(flock->team, &points, &flock->local.box,
                                                      flock->local.rules.reach, NULL, n, NULL);
    flock->member.lost = flock->team->lost;
    return status;
}

/** Measure the flock: kith_team_flock_measure_sized. */
static kith_status measure(struct call *call)
{
    struct kith_team_flock *flock = call->flock;
    kith_team *member = &flock->member;
    kith_ctx *ctx = member->ctx;
    const struct kith__question *q = &flock->local.question;
    const int64_t n = flock->given.base[member->ranks];
    struct kith__flock_view view;
    double centre[KITH_CENTRE_TERMS], motion[KITH_MOTION_TERMS];
    double *all = NULL;
    int64_t pairs;
    KITH_AGREE(member, call->measures ? KITH_OK : kith__fail(ctx, KITH_INVALID, "out is NULL"));
    KITH_TRY(count_pairs(flock, &pairs));
    KITH_TRY(send_home(flock));
    kith_status status = kith__flock_view_need(ctx, flock->given.points.n, &view);
    status = status ? status
                    : kith__team_need(member, SURVEYS, member->ranks,
                                      KITH_CENTRE_TERMS * sizeof *all, &all);
    KITH_AGREE(member, status);
    struct home_loop loop = {flock, view.r, view.v, KITH_DOUBLE};
    kith__loop(ctx, flock->given.points.n, read_range, &loop);
    KITH_TRY(add_in_order(flock, &view, kith__flock_add_centre, KITH_CENTRE_TERMS, all, centre));
    kith__flock_set_centre(q, centre, n, &view);
    KITH_TRY(add_in_order(flock, &view, kith__flock_add_motion, KITH_MOTION_TERMS, all, motion));
    KITH_AGREE(member, kith__proceed(ctx));
    kith__flock_write_measures(motion, n, pairs, call->measures, call->size);
    return KITH_OK;
}

kith_status kith_team_flock_measure_sized(kith_team_flock *flock, kith_flock_measures *out,
                                          size_t size)
{
    kith_status status;
    struct call call = {.flock = flock, .measures = out, .size = size};
    KITH_TRY(check_flock(flock));
    KITH_TEAM_CALL(flock->team, &status, run(measure, &call));
    return status;
}
