/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Halos over all ranks. The sums of a halo are rounded, in an order that depends on nothing but the
 * order of its members: so all members of a group travel to one rank, where they arrive in the
 * order of their global indices, and are measured by the operation of one process. Groups are dealt
 * to the ranks in turn: where they are numbered by falling size, ranks have about equally many
 * members, but for the largest group. Spheres take all particles, members or not
 * (spheres_team.c). The halos then travel to consecutive parts of the catalogue.
 */
#include <stdatomic.h>
#include <string.h>

#include "core/atomics.h"
#include "core/owned.h"
#include "core/sized.h"
#include "halos/halo.h"
#include "move.h"
#include "spheres_team.h"

/** Buffers of the team's scratch memory. */
enum {
    BASE = KITH_TEAM_QUESTION,                /**< global indices */
    LABELS,                                   /**< halos_team.label */
    MEMBERS,                                  /**< route of members */
    XYZ = MEMBERS + KITH_ROUTE_BUFFERS,       /**< coordinates of members */
    MEMBER_LABELS,                            /**< number of each member's group on this rank */
    ITEMS,                                    /**< halos_team.item */
    MASSES,                                   /**< masses of members */
    VELOCITIES,                               /**< velocities of members */
    TYPES,                                    /**< types of members */
    POTENTIALS,                               /**< potentials of members */
    DENSITIES,                                /**< densities of members */
    SEEN,                                     /**< groups that have members */
    CATALOGUE,                                /**< route of halos */
    ARRIVED = CATALOGUE + KITH_ROUTE_BUFFERS, /**< halos in the order of their arrival */
    BUFFERS_END
};
_Static_assert((int)BUFFERS_END <= (int)KITH_TEAM_BUFFERS, "every purpose needs its own buffer");

enum { SPHERES = LABELS }; /* first buffer of spheres_team.c: members are not needed by then */
_Static_assert((int)SPHERES + KITH_SPHERES_BUFFERS <= (int)KITH_TEAM_BUFFERS,
               "every purpose needs its own buffer");

enum { HALOS }; /* number of the array in kith__owned.array */

/* Size of the struct in the version that introduced it (core/sized.h) [bytes]. */
enum { KITH_TEAM_HALOS_0_2 = KITH_SIZE_UP_TO(kith_team_halos, stride) };

/** One call. */
struct halos_team {
    kith_team *team;                /**< the team */
    const kith_points *points;      /**< the particles as given */
    const kith_box *box;            /**< the box as given */
    const kith_team_groups *groups; /**< the groups of the particles as given */
    const kith_halo_input *given;   /**< the input as given */
    kith_halo_input input;          /**< the input, of full size (core/sized.h) */
    kith_team_halos *out;           /**< the result, of full size */
    struct kith__question q;        /**< checked arguments */
    struct kith__set set;           /**< particles of this rank, as given */
    int32_t *label;                 /**< [points->n] number of each one's group on the rank that
                                         measures it, from 1; 0: in none; -1: label is invalid */
    struct kith__route route;       /**< of the members */
    struct kith__members members;   /**< members of this rank's groups */
    int32_t *item; /**< [members.points.n] number of each member on the rank that gave it;
                                         NULL: no halo has a `particle`, as there are neither
                                         potentials nor densities */
};

/** Check the arguments of this rank, all but its arrays, and set w->input and w->q. */
static kith_status check(struct halos_team *w)
{
    kith_ctx *ctx = w->team->ctx;
    const kith_team_groups *g = w->groups;
    const kith_team_halos *out = w->out;
    KITH_TRY(kith__team_check_out(w->team, out->owner, out->halo, out->memory));
    KITH_TRY(kith__halos_check_stride(ctx, out->stride, out->memory));
    KITH_TRY(kith__halo_input(ctx, w->given, &w->input));
    KITH_TRY(kith__team_host(w->team, "points", w->points));
    KITH_TRY(kith__question_space(ctx, w->points, NULL, w->box, &w->q));
    KITH_CHECK(ctx, g != NULL, KITH_INVALID, "groups is NULL");
    KITH_CHECK(ctx, g->points == w->points->n, KITH_INVALID,
               "groups are of %lld particles, but there are %lld", (long long)g->points,
               (long long)w->points->n);
    KITH_CHECK(ctx, g->n >= 0, KITH_INVALID, "groups.n is %lld, expected 0 or more",
               (long long)g->n);
    KITH_CHECK(ctx, g->points == 0 || g->labels, KITH_INVALID, "groups.labels is NULL");
    KITH_CHECK(ctx, g->memory == KITH_HOST, KITH_UNSUPPORTED,
               "groups: in device memory, which teams do not take yet");
    return kith__spheres_check(ctx, w->q.dim, &w->input);
}

/** Check that the arguments that must be equal on all ranks are. */
static kith_status check_equal(const struct halos_team *w)
{
    struct kith__equal equal[KITH_TEAM_EQUALS];
    const kith_halo_input *input = &w->input;
    int n = kith__team_space(w->points, w->box, equal);
    equal[n++] = (struct kith__equal){"groups.n", w->groups->n};
    equal[n++] = (struct kith__equal){"masses: given or NULL", input->masses != NULL};
    equal[n++] = (struct kith__equal){"velocities: given or NULL", input->velocities != NULL};
    equal[n++] = (struct kith__equal){"types: given or NULL", input->types != NULL};
    equal[n++] = (struct kith__equal){"potentials: given or NULL", input->potentials != NULL};
    equal[n++] = (struct kith__equal){"densities: given or NULL", input->densities != NULL};
    equal[n++] = (struct kith__equal){"sphere_density",
                                      kith__digest(input->sphere_density, KITH_SPHERES)};
    return kith__team_equal(w->team, equal, n);
}

/** Return how many of n groups a rank measures: groups g = 1 to n with (g - 1) % ranks == rank. */
static int64_t groups_of(int64_t n, int ranks, int rank)
{
    return n / ranks + (rank < n % ranks);
}

/** State of the loop that numbers groups and checks particles. */
struct check_loop {
    struct halos_team *w;              /**< the call */
    const struct kith__members *given; /**< the particles, in group 1 of 1 or in none */
    _Atomic int64_t first_fault;       /**< smallest number of a fault (halos/halo.h) so far */
};

/** kith__range_fn: check particles [begin, end), and number their groups on the ranks that measure
 *  them. For the check a label is 1, 0 or -1: in a group, in none, invalid. */
static void check_range(void *state, int64_t begin, int64_t end)
{
    struct check_loop *loop = state;
    struct halos_team *w = loop->w;
    const int64_t groups = w->groups->n;
    const int64_t ranks = w->team->ranks;
    for (int64_t p = begin; p < end; p++) {
        const int64_t g = w->groups->labels[p];
        w->label[p] = g < 0 || g > groups ? -1 : g > 0;
        const int fault = kith__particle_fault(loop->given, w->q.precision, p);
        if (fault < KITH_FAULTS) {
            kith__atomic_min64(&loop->first_fault, p * KITH_FAULTS + fault);
        }
        w->label[p] = w->label[p] > 0 ? (int32_t)((g - 1) / ranks + 1) : w->label[p];
    }
}

/** Store the message of a fault, which names the particle by its global index.
 *  @param fault  number of the fault: particle of this rank * KITH_FAULTS + enum kith__fault
 *  @return the status of the failed call */
static kith_status refuse(const struct halos_team *w, const struct kith__members *given,
                          int64_t fault)
{
    kith_ctx *ctx = w->team->ctx;
    const int64_t base = w->set.base[w->team->rank];
    const int64_t p = fault / KITH_FAULTS;
    const int what = (int)(fault % KITH_FAULTS);
    if (what == KITH_FAULT_LABEL) {
        return kith__fail(ctx, KITH_INVALID,
                          "groups.labels: the label of particle %lld (counted from 0) is %lld, "
                          "expected 0 to %lld",
                          (long long)(base + p), (long long)w->groups->labels[p],
                          (long long)w->groups->n);
    }
    const bool place = what == KITH_FAULT_FINITE || what == KITH_FAULT_FAR;
    const double value = place ? 0 : kith__fault_value(given, fault);
    return kith__halo_refuse(ctx, &w->q, given, fault + base * KITH_FAULTS, value);
}

/** Check the number of groups, and all particles, and set w->label. Not collective. */
static kith_status number(struct halos_team *w)
{
    kith_team *team = w->team;
    const int64_t n = w->groups->n;
    const int64_t all = w->set.base[team->ranks];
    KITH_CHECK(team->ctx, n <= all, KITH_INVALID,
               "groups.n is %lld, expected 0 to the number of particles of all ranks, %lld",
               (long long)n, (long long)all);
    KITH_TRY(kith__team_check_number(team, groups_of(n, team->ranks, 0))); /* rank 0 has most */
    KITH_TRY(kith__team_need(team, LABELS, w->points->n, sizeof *w->label, &w->label));
    const struct kith__members given = {.points = w->q.a,
                                        .box = w->q.box_d,
                                        .dim = w->q.dim,
                                        .input = w->input,
                                        .labels = w->label,
                                        .groups = 1};
    struct check_loop loop = {.w = w, .given = &given, .first_fault = KITH_NO_FAULT};
    kith__loop(team->ctx, w->points->n, check_range, &loop);
    KITH_TRY(kith__proceed(team->ctx));
    const int64_t fault = loop.first_fault;
    return fault == KITH_NO_FAULT ? KITH_OK : refuse(w, &given, fault);
}

/* ---------------------------------------------------------------------------------- members */

/** kith__targets_fn: the rank that measures a particle's group; none for a particle in no group.
 *  @param state  a struct halos_team */
static int measurer_of(const void *state, int64_t p, int *to)
{
    const struct halos_team *w = state;
    const int64_t g = w->groups->labels[p];
    *to = g > 0 ? (int)((g - 1) % w->team->ranks) : -1;
    return g > 0;
}

/** Send a column of the input to the ranks that measure its particles. Collective.
 *  @param given        the column as given; NULL: none
 *  @param size         bytes of an element
 *  @param buffer       a buffer of the team, which holds what arrives
 *  @param[out] column  its elements for the members of this rank's groups; NULL: none */
static kith_status send_column(struct halos_team *w, const void *given, size_t size, int buffer,
                               const void **column)
{
    void *in = NULL;
    *column = NULL;
    if (given) {
        KITH_AGREE(w->team, kith__team_need(w->team, buffer, w->route.received, size, &in));
        KITH_TRY(kith__route_send(w->team, &w->route, given, size, in));
        *column = in;
    }
    return KITH_OK;
}

/** Send all members to the ranks that measure their groups, and set w->members and the load.
 *  Collective. */
static kith_status send_members(struct halos_team *w)
{
    kith_team *team = w->team;
    const kith_halo_input *input = &w->input;
    const size_t real = (size_t)w->q.precision;
    struct kith__members *m = &w->members;
    void *xyz = NULL;
    const void *labels = NULL;
    const void *types = NULL;
    KITH_TRY(kith__route_open(team, MEMBERS, w->points->n, measurer_of, w, &w->route));
    const int64_t n = w->route.received;
    kith_status status = kith__team_check_number(team, n);
    status = status ? status : kith__team_need(team, XYZ, n, 3 * real, &xyz);
    KITH_AGREE(team, status);
    KITH_TRY(kith__route_points(team, &w->route, &w->q, w->points, xyz));
    KITH_TRY(send_column(w, w->label, sizeof *w->label, MEMBER_LABELS, &labels));
    KITH_TRY(send_column(w, input->masses, real, MASSES, &m->input.masses));
    KITH_TRY(send_column(w, input->velocities, 3 * real, VELOCITIES, &m->input.velocities));
    KITH_TRY(send_column(w, input->types, sizeof *input->types, TYPES, &types));
    KITH_TRY(send_column(w, input->potentials, real, POTENTIALS, &m->input.potentials));
    KITH_TRY(send_column(w, input->densities, real, DENSITIES, &m->input.densities));
    if (input->potentials || input->densities) {
        KITH_AGREE(team, kith__team_need(team, ITEMS, n, sizeof *w->item, &w->item));
        KITH_TRY(kith__route_items(team, &w->route, w->item));
    }
    m->points = kith_points_packed(xyz, n, w->q.precision);
    m->box = w->q.box_d;
    m->dim = w->q.dim;
    m->input.types = types;
    m->labels = labels;
    m->groups = groups_of(w->groups->n, team->ranks, team->rank);
    team->load.points = w->set.base[team->ranks];
    team->load.owned = n;
    return kith__team_measure_load(team);
}

/** Refuse groups without members, among those of this rank. */
static kith_status check_groups(struct halos_team *w)
{
    kith_team *team = w->team;
    uint8_t *seen = NULL;
    KITH_TRY(kith__team_need(team, SEEN, w->members.groups, 1, &seen));
    if (w->members.groups > 0) {
        memset(seen, 0, (size_t)w->members.groups);
    }
    for (int64_t p = 0; p < w->members.points.n; p++) {
        seen[w->members.labels[p] - 1] = 1;
    }
    for (int64_t g = 0; g < w->members.groups; g++) {
        if (!seen[g]) {
            return kith__halo_empty(team->ctx, g * team->ranks + team->rank + 1);
        }
    }
    return kith__proceed(team->ctx);
}

/** Return the global index of member p of this rank's groups. */
static int64_t global_of(const struct halos_team *w, int64_t p)
{
    const int rank = kith__team_rank_of(w->route.ranges.from, w->team->ranks, p);
    return w->set.base[rank] + w->item[p];
}

/** Measure the groups of this rank, into team->halos. Not collective. */
static kith_status measure(struct halos_team *w)
{
    kith_ctx *ctx = w->team->ctx;
    kith_halos *halos = &w->team->halos;
    struct kith__question q = w->q;
    q.a = q.b = w->members.points;
    KITH_TRY(check_groups(w));
    KITH_TRY(kith__end_call(ctx, ctx->backend->halos->measure(ctx, &q, &w->members, halos)));
    for (int64_t g = 0; g < halos->n && w->item; g++) {
        halos->halo[g].particle = global_of(w, halos->halo[g].particle);
    }
    return KITH_OK;
}

/* -------------------------------------------------------------------------------- catalogue */

/** kith__targets_fn: the rank whose part of the catalogue has a group of this rank.
 *  @param state  a struct halos_team
 *  @param item   number of the group on this rank, from 0 */
static int holder_of(const void *state, int64_t item, int *to)
{
    const struct halos_team *w = state;
    const int ranks = w->team->ranks;
    *to = kith__piece_of(w->groups->n, ranks, item * ranks + w->team->rank);
    return 1;
}

/** Make the array of the result, with one element more than needed, so that it is not NULL. */
static kith_status need_result(struct halos_team *w)
{
    kith_ctx *ctx = w->team->ctx;
    kith_team_halos *out = w->out;
    struct kith__owned *owned = kith__owned_in(ctx, KITH_HOST, &out->owner);
    const size_t bytes = (size_t)(out->held + 1) * sizeof *out->halo;
    out->halo = owned ? kith__owned_need(owned, HALOS, bytes) : NULL;
    KITH_CHECK(ctx, out->halo, KITH_NO_MEMORY, "out of memory for %lld halos",
               (long long)out->held);
    return KITH_OK;
}

/** Send the halos to the ranks that have their parts of the catalogue: consecutive groups. What
 *  arrives is put in the order of the groups. Collective. */
static kith_status write_result(struct halos_team *w)
{
    kith_team *team = w->team;
    kith_team_halos *out = w->out;
    const int ranks = team->ranks;
    struct kith__route route;
    kith_halo *arrived = NULL;
    out->n = w->groups->n;
    out->first = kith__piece_begin(out->n, ranks, team->rank);
    out->held = kith__piece_begin(out->n, ranks, team->rank + 1) - out->first;
    KITH_TRY(kith__route_open(team, CATALOGUE, w->members.groups, holder_of, w, &route));
    kith_status status = need_result(w);
    status = status ? status
                    : kith__team_need(team, ARRIVED, route.received, sizeof *arrived, &arrived);
    KITH_AGREE(team, status);
    KITH_TRY(kith__route_send(team, &route, team->halos.halo, sizeof *arrived, arrived));
    for (int r = 0; r < ranks; r++) {
        /* of rank r come the groups g = r modulo ranks, counted from 0, of this part */
        int64_t g = out->first + (r - out->first % ranks + ranks) % ranks;
        for (int64_t k = route.ranges.from[r]; k < route.ranges.from[r + 1]; k++) {
            out->halo[g - out->first] = arrived[k];
            g += ranks;
        }
    }
    KITH_AGREE(team, kith__halos_spread(team->ctx, out->stride, out->held, out->owner, &out->halo));
    return KITH_OK;
}

/** kith__team_work_fn: measure the groups. */
static kith_status find(void *call)
{
    struct halos_team *w = call;
    kith_team *team = w->team;
    KITH_AGREE(team, check(w));
    KITH_TRY(check_equal(w));
    w->set = (struct kith__set){"points", *w->points, NULL};
    KITH_TRY(kith__team_base(team, BASE, &w->set));
    KITH_AGREE(team, number(w));
    KITH_TRY(send_members(w));
    KITH_AGREE(team, measure(w));
    if (kith__spheres_wanted(&w->input)) {
        KITH_TRY(kith__team_spheres(team, SPHERES, w->box, &w->set, &w->input, &team->halos));
    }
    return write_result(w);
}

kith_status kith_team_halos_measure(kith_team *team, const kith_points *points, const kith_box *box,
                                    const kith_team_groups *groups, const kith_halo_input *input,
                                    kith_team_halos *out)
{
    kith_status status;
    kith_team_halos own = {0};
    struct halos_team w = {
        .team = team, .points = points, .box = box, .groups = groups, .given = input, .out = &own};
    const struct kith__team_out result = KITH_TEAM_OUT(out, KITH_TEAM_HALOS_0_2, &own);
    KITH_TEAM_CALL(team, &status, kith__team_fill(team, &result, find, &w));
    if (status != KITH_OK && out) {
        out->n = out->first = out->held = 0;
    }
    return status;
}

void kith_team_halos_free(kith_team_halos *halos)
{
    if (halos) {
        kith__owned_free(halos->owner);
        KITH_RESULT_CLEAR(halos, kith_team_halos, KITH_TEAM_HALOS_0_2);
    }
}
