/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pair distributions over all ranks. Counts are integers, and each pair is counted by one rank; so
 * the sums over all ranks are those of one process. Sums of products of weights and of pair forces
 * are integers of 128 bits, in units that follow from the largest weights and forces of all ranks;
 * they are added up as four numbers of 32 bits each. The frame is the particles of this call: its
 * counts are added to the histogram at the end. A partial is the histogram of a pair of species.
 *
 * By domains: particles are dealt to domains. A rank counts the pairs among its particles, and
 * those between them and ghosts. Of two ranks one alone has ghosts of the other (KITH_ONE_SIDED),
 * so that it counts the pairs between the two. Pairs between two sets are counted by the rank that
 * has the particle of the first one.
 *
 * The ring: where there are more than two ranks and more than half of all possible ghosts would be
 * made, or where nearest images alone count and others may be within the last edge too
 * (kith__rdf.nearest: it is then at least about half as long as the box along some axis), particles
 * are dealt by number, also those that were dealt to domains first. In step s each rank receives
 * the particles of the rank s places further on, and counts the pairs between them and its own. One
 * set needs half of the steps. A rank has the particles of two ranks at a time.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "bonds.h"
#include "columns.h"
#include "core/sized.h"
#include "ghosts.h"
#include "rdf/histogram.h"
#include "rdf/pair_force.h"

/** Columns of a set (columns.h). */
enum { SPECIES, MOLECULES, WEIGHTS, FORCES, N_COLUMNS };

/** Buffers of the team's scratch memory. */
enum {
    BASE = KITH_TEAM_QUESTION,              /**< global indices, of two sets */
    DEALT = BASE + 2,                       /**< particles, of two sets */
    REACH = DEALT + 2 * KITH_DEALT_BUFFERS, /**< route of ghosts, or of a step of the ring */
    COLUMNS = REACH + KITH_ROUTE_BUFFERS,   /**< columns of two sets */
    VISITOR = COLUMNS + 2 * N_COLUMNS,      /**< ring: coordinates of the other rank's particles */
    VISITOR_COLUMNS,                        /**< ring: columns of the other rank's particles */
    COUNTS = VISITOR_COLUMNS + N_COLUMNS,   /**< counts of the pairs of two blocks */
    SUMS,                                   /**< sums of two blocks; the next one: of all blocks */
    FORCE_SUMS = SUMS + 2,                  /**< pair-force sums of two blocks; next: of all */
    LIMBS = FORCE_SUMS + 2,                 /**< sums as numbers of 32 bits, while they travel */
    BONDS,                                  /**< bonds of the particles dealt to this rank */
    BOND_ROWS = BONDS + KITH_BONDS_BUFFERS, /**< bonds of one block */
    VISITOR_GLOBAL = BOND_ROWS + KITH_BOND_ROWS_BUFFERS, /**< ring: global indices of the other
                                                              rank's particles */
    BUFFERS_END
};
_Static_assert((int)BUFFERS_END <= (int)KITH_TEAM_BUFFERS, "every purpose needs its own buffer");

/** Particles with their columns: this rank's, ghosts, or another rank's. */
struct block {
    kith_points points;            /**< coordinates */
    const void *column[N_COLUMNS]; /**< [points.n] NULL: none */
    const int64_t *global;         /**< [points.n] global indices; set where there are bonds */
};

/** One call. */
struct rdf_team {
    kith_team *team;                      /**< the team */
    const kith_points *points;            /**< the particles as given */
    const kith_box *box;                  /**< the box as given */
    const kith_rdf_options *options;      /**< the options as given */
    kith_histogram *out;                  /**< the histogram, of full size (core/sized.h) */
    struct kith__rdf_call call;           /**< checked arguments, and the frame */
    int n_sets;                           /**< sets of particles, 1 or 2 */
    struct kith__set set[2];              /**< particles of this rank, as given */
    struct kith__dealt dealt[2];          /**< particles dealt to this rank; without the ring those
                                               of the last set with ghosts */
    struct kith__columns columns[2];      /**< columns of the sets */
    struct kith__bonds_given bonds_given; /**< bonds as given */
    struct kith__bonds bonds;             /**< bonds of the particles dealt to this rank */
    kith__wide *sums;       /**< kith__rdf.wide_sums of all blocks; NULL: no weights */
    kith__wide *force_sums; /**< kith__rdf.wide_force_sums of all blocks; NULL: no forces */
};

/** Return particles [first, first + n) of set s on this rank: those dealt to it, then ghosts. */
static struct block block_of(const struct rdf_team *w, int s, int64_t first, int64_t n)
{
    struct block block = {.points = kith__dealt_points(&w->call.question, &w->dealt[s], first, n),
                          .global = w->dealt[s].global + first};
    for (int c = 0; c < N_COLUMNS; c++) {
        block.column[c] = kith__column_from(&w->columns[s], c, first);
    }
    return block;
}

/** Make a zeroed buffer of n integers of 128 bits.
 *  @param[out] out  the buffer; NULL where it is not wanted
 *  @return KITH_OK, KITH_NO_MEMORY */
static kith_status need_sums(kith_team *team, int buffer, bool wanted, int64_t n, kith__wide **out)
{
    *out = NULL;
    if (wanted) {
        KITH_TRY(kith__team_need(team, buffer, n, sizeof **out, out));
        memset(*out, 0, (size_t)n * sizeof **out);
    }
    return KITH_OK;
}

/** Add the arrays of one partial of a block to those of a partial of the frame.
 *  @param block  the arrays of the block
 *  @param from   the block's partial
 *  @param to     the frame's partial */
static void add_partial(struct rdf_team *w, const struct kith__rdf *block, int32_t from, int32_t to)
{
    for (int64_t k = 0; k < block->bins; k++) {
        w->call.frame.counts[to * block->bins + k] += block->counts[from * block->bins + k];
        if (w->sums) {
            w->sums[to * block->bins + k] += block->wide_sums[from * block->bins + k];
        }
    }
    const int64_t begin = kith__force_sum_at(block, from, 0, 0);
    const int64_t end = kith__force_sum_at(block, from + 1, 0, 0);
    kith__wide *sums = w->force_sums ? w->force_sums + kith__force_sum_at(block, to, 0, 0) : NULL;
    for (int64_t at = begin; at < end && sums; at++) {
        sums[at - begin] += block->wide_force_sums[at];
    }
}

/** Count the pairs of one block of particles, or between two, and add them to the frame. Not
 *  collective.
 *  @param b  NULL: the pairs within a */
static kith_status count_block(struct rdf_team *w, const struct block *a, const struct block *b)
{
    kith_ctx *ctx = w->team->ctx;
    struct kith__question q = w->call.question;
    struct kith__rdf rdf = w->call.rdf;
    const int32_t species = rdf.n_species;
    const struct block *other = b ? b : a;
    enum { MOST_COUNTERS = 1 << 24 }; /* limit of kith_rdf_count too (rdf/rdf.c) */
    q.a = a->points;
    q.b = other->points;
    q.cross = b != NULL;
    /* between two blocks (i, j) and (j, i) are two partials; the frame may have one for both */
    rdf.partials = q.cross ? species * species : species * (species + 1) / 2;
    KITH_CHECK(ctx, rdf.partials * rdf.bins <= MOST_COUNTERS, KITH_LIMIT,
               "%d histograms of %lld bins between two ranks are more than 2^24 counters",
               (int)rdf.partials, (long long)rdf.bins);
    for (int side = 0; side < 2; side++) {
        rdf.species[side] = (side ? other : a)->column[SPECIES];
        rdf.excluded.molecules[side] = (side ? other : a)->column[MOLECULES];
        rdf.weights[side] = (side ? other : a)->column[WEIGHTS];
        rdf.forces[side] = (side ? other : a)->column[FORCES];
    }
    if (w->bonds_given.offsets) {
        struct kith__bond_rows rows;
        KITH_TRY(kith__bond_rows(w->team, BOND_ROWS, &w->bonds, a->points.n, a->global,
                                 other->points.n, other->global, &rows));
        rdf.excluded.bond_offsets = rows.offsets;
        rdf.excluded.bonds = rows.partner;
    }
    const int64_t counters = rdf.partials * rdf.bins;
    KITH_TRY(kith__team_need(w->team, COUNTS, counters, sizeof *rdf.counts, &rdf.counts));
    memset(rdf.counts, 0, (size_t)counters * sizeof *rdf.counts);
    KITH_TRY(need_sums(w->team, SUMS, w->sums != NULL, counters, &rdf.wide_sums));
    KITH_TRY(need_sums(w->team, FORCE_SUMS, w->force_sums != NULL,
                       kith__force_sum_at(&rdf, rdf.partials, 0, 0), &rdf.wide_force_sums));
    KITH_TRY(kith__end_call(ctx, ctx->backend->rdf->count(ctx, &q, &rdf)));
    const bool all_cross = w->call.question.cross;
    for (int32_t i = 0; i < species; i++) {
        for (int32_t j = q.cross ? 0 : i; j < species; j++) {
            add_partial(w, &rdf, kith__partial(species, q.cross, i, j),
                        kith__partial(species, all_cross, i, j));
        }
    }
    return KITH_OK;
}

/** Deal set s, with its columns. Collective. @param domains  NULL: by number */
static kith_status deal_set(struct rdf_team *w, int s, const struct kith__domains *domains)
{
    KITH_TRY(kith__team_deal(w->team, DEALT + s * KITH_DEALT_BUFFERS, &w->call.question, &w->set[s],
                             domains, &w->dealt[s]));
    return kith__columns_deal(w->team, &w->dealt[s], &w->columns[s]);
}

/** Bring ghosts of set s, with their columns. Collective. @param route  from kith__team_reach */
static kith_status bring_ghosts(struct rdf_team *w, int s, const struct kith__route *route)
{
    struct kith__dealt *dealt = &w->dealt[s];
    KITH_TRY(kith__team_copy(w->team, &w->call.question, route, dealt, dealt));
    return kith__columns_ghosts(w->team, route, dealt, &w->columns[s]);
}

/** Bring the bonds of the particles that this rank was dealt, if there are bonds. Collective. */
static kith_status deal_bonds(struct rdf_team *w)
{
    return w->bonds_given.offsets ? kith__bonds_deal(w->team, BONDS, &w->bonds_given, &w->set[0],
                                                     &w->dealt[0], w->n_sets == 1, &w->bonds)
                                  : KITH_OK;
}

/** Count the pairs of this rank's domain. Not collective. */
static kith_status count_domain(struct rdf_team *w)
{
    const struct kith__dealt *last = &w->dealt[w->n_sets - 1];
    const struct block own = block_of(w, 0, 0, w->dealt[0].n);
    if (w->n_sets == 2) {
        const struct block other = block_of(w, 1, 0, last->n + last->ghosts);
        return count_block(w, &own, &other);
    }
    const struct block ghosts = block_of(w, 0, last->n, last->ghosts);
    KITH_TRY(count_block(w, &own, NULL));
    return ghosts.points.n > 0 ? count_block(w, &own, &ghosts) : KITH_OK;
}

/** Deal the particles to domains, and find which ranks need ghosts. Collective.
 *  @param[out] route  of the ghosts; not set where kith__rdf.nearest is true
 *  @param[out] ring   true where the ring is to be used, equal on all ranks */
static kith_status divide(struct rdf_team *w, struct kith__route *route, bool *ring)
{
    kith_team *team = w->team;
    const struct kith__question *q = &w->call.question;
    const int last = w->n_sets - 1;
    struct kith__bounds bounds;
    struct kith__domains domains;
    struct kith__range3 *box = NULL;
    KITH_TRY(kith__team_bounds(team, q, w->set, w->n_sets, &bounds));
    *ring = w->call.rdf.nearest;
    if (*ring) {
        return KITH_OK;
    }
    KITH_TRY(kith__team_divide(team, q, w->set, w->n_sets, &bounds, &domains));
    for (int s = 0; s <= last; s++) {
        KITH_TRY(deal_set(w, s, &domains));
    }
    const kith_points mine = kith__dealt_points(q, &w->dealt[last], 0, w->dealt[last].n);
    const kith_points first = kith__dealt_points(q, &w->dealt[0], 0, w->dealt[0].n);
    struct kith__range3 own;
    KITH_TRY(kith__team_box_pair(team, q, &mine, last == 1 ? &first : NULL, &own, &box));
    KITH_TRY(kith__team_reach(team, REACH, q, &bounds, box, &own, &mine,
                              last == 1 ? KITH_TWO_SIDED : KITH_ONE_SIDED, route));
    int64_t ghosts = route->received;
    KITH_TRY(kith__team_combine(team, KITH_SUM, &ghosts, 1));
    /* all possible ghosts: each particle on each other rank; with one set, whose ghosts are on one
     * rank of each pair of ranks alone, half of that: `sides` is the divisor */
    const int64_t sides = last == 1 ? 1 : 2;
    const int64_t most = w->set[last].base[team->ranks] / sides * (team->ranks - 1);
    *ring = team->ranks > 2 && ghosts > most / 2;
    return KITH_OK;
}

/** State of a step of the ring: all particles go to one rank, or none does. */
struct step {
    int target; /**< the rank; -1: none */
};

/** kith__targets_fn: the rank of a step of the ring. @param state  a struct step */
static int to_one(const void *state, int64_t item, int *to)
{
    const struct step *step = state;
    (void)item;
    *to = step->target;
    return step->target >= 0;
}

/** Receive the particles that another rank was dealt. Collective.
 *  @param step         the rank that this rank's particles go to
 *  @param[out] block   the particles that arrive */
static kith_status receive(struct rdf_team *w, const struct step *step, struct block *block)
{
    kith_team *team = w->team;
    const int s = w->n_sets - 1;
    const struct kith__question *q = &w->call.question;
    struct kith__route route;
    const size_t size = 3 * (size_t)q->precision;
    void *xyz = NULL;
    KITH_TRY(kith__route_open(team, REACH, w->dealt[s].n, to_one, step, &route));
    KITH_AGREE(team, kith__team_need(team, VISITOR, route.received, size, &xyz));
    KITH_TRY(kith__route_send(team, &route, w->dealt[s].xyz, size, xyz));
    *block = (struct block){.points = kith_points_packed(xyz, route.received, q->precision)};
    if (w->bonds_given.offsets) {
        int64_t *global = NULL;
        KITH_AGREE(team,
                   kith__team_need(team, VISITOR_GLOBAL, route.received, sizeof *global, &global));
        KITH_TRY(kith__route_send(team, &route, w->dealt[s].global, sizeof *global, global));
        block->global = global;
    }
    const struct kith__columns *columns = &w->columns[s];
    for (int c = 0; c < N_COLUMNS; c++) {
        void *column = NULL;
        if (columns->column[c]) {
            KITH_AGREE(team, kith__team_need(team, VISITOR_COLUMNS + c, route.received,
                                             columns->size[c], &column));
            KITH_TRY(kith__route_send(team, &route, columns->column[c], columns->size[c], column));
            block->column[c] = column;
        }
    }
    return KITH_OK;
}

/** Count by the ring. Collective. */
static kith_status count_ring(struct rdf_team *w)
{
    kith_team *team = w->team;
    const int ranks = team->ranks;
    const int s = w->n_sets - 1;
    const int steps = s == 0 ? ranks / 2 : ranks - 1;
    for (int k = 0; k <= s; k++) {
        KITH_TRY(deal_set(w, k, NULL));
    }
    KITH_TRY(deal_bonds(w));
    const struct block own = block_of(w, 0, 0, w->dealt[0].n);
    const struct block other = block_of(w, s, 0, w->dealt[s].n);
    KITH_AGREE(team, count_block(w, &own, s == 0 ? NULL : &other));
    for (int k = 1; k <= steps; k++) {
        /* halfway round, each of two ranks would get the particles of the other one: of both, the
         * lower one sends nothing, and counts the pairs between them */
        const bool once = s == 0 && 2 * k == ranks;
        const struct step step = {once && team->rank < k ? -1 : (team->rank + ranks - k) % ranks};
        struct block visitor;
        KITH_TRY(receive(w, &step, &visitor));
        team->load.ghosts += visitor.points.n;
        KITH_AGREE(team, visitor.points.n > 0 ? count_block(w, &own, &visitor) : KITH_OK);
    }
    return KITH_OK;
}

/** Count the pairs of this rank's share, into the frame, and set the load. Collective. */
static kith_status count_share(struct rdf_team *w)
{
    kith_team *team = w->team;
    const int last = w->n_sets - 1;
    struct kith__route route;
    bool ring;
    for (int s = 0; s <= last; s++) {
        KITH_TRY(kith__team_base(team, BASE + s, &w->set[s]));
        team->load.points += w->set[s].base[team->ranks];
    }
    KITH_AGREE(team, kith__check_bonds(team->ctx, w->bonds_given.offsets, w->bonds_given.partner,
                                       w->set[0].points.n, w->set[last].base[team->ranks]));
    KITH_AGREE(team, team->load.points <= UINT32_MAX /* fewer than 2^63 pairs of them */
                         ? KITH_OK
                         : kith__fail(team->ctx, KITH_LIMIT,
                                      "%lld particles have too many pairs for int64, the most is "
                                      "2^32 - 1",
                                      (long long)team->load.points));
    KITH_TRY(divide(w, &route, &ring));
    if (ring) {
        KITH_TRY(count_ring(w));
    } else {
        KITH_TRY(bring_ghosts(w, last, &route));
        KITH_TRY(deal_bonds(w));
        KITH_AGREE(team, count_domain(w));
        team->load.ghosts = w->dealt[last].ghosts;
    }
    team->load.owned = w->dealt[0].n + (last ? w->dealt[1].n : 0);
    return kith__team_measure_load(team);
}

/** Check the arguments of this rank that may differ between ranks.
 *  @param[out] own  the options, of full size */
static kith_status check(kith_team *team, const kith_points *points, const kith_rdf_options *given,
                         kith_rdf_options *own)
{
    kith_ctx *ctx = team->ctx;
    KITH_TRY(kith__team_host(team, "points", points));
    KITH_TRY(kith__rdf_options(ctx, given, own));
    KITH_TRY(own->against ? kith__team_host(team, "against", own->against) : KITH_OK);
    KITH_CHECK(ctx, !own->batch, KITH_UNSUPPORTED, "options.batch: teams do not take batches yet");
    return KITH_OK;
}

/** Check that the arguments that must be equal on all ranks are. */
static kith_status check_equal(kith_team *team, const kith_points *points, const kith_box *box,
                               const kith_rdf_options *o, const kith_histogram *out)
{
    struct kith__equal equal[KITH_TEAM_EQUALS];
    /* more than 2^20 bins are refused later (check_edges in rdf.c): their edges are not read */
    const int64_t edges = o->bins > 0 && o->bins <= 1 << 20 ? o->bins + 1 : 0;
    int n = kith__team_space(points, box, equal);
    equal[n++] = (struct kith__equal){"options.bins", o->bins};
    equal[n++] = (struct kith__equal){"options.r_min", kith__bits(o->r_min)};
    equal[n++] = (struct kith__equal){"options.r_max", kith__bits(o->r_max)};
    equal[n++] = (struct kith__equal){"options.edges", kith__digest(o->edges, edges)};
    equal[n++] = (struct kith__equal){"options.against", o->against != NULL};
    equal[n++] = (struct kith__equal){"options.species", o->species != NULL};
    equal[n++] = (struct kith__equal){"options.n_species", o->n_species};
    equal[n++] = (struct kith__equal){"options.molecules", o->molecules != NULL};
    equal[n++] = (struct kith__equal){"options.bond_offsets", o->bond_offsets != NULL};
    equal[n++] = (struct kith__equal){"options.weights", o->weights != NULL};
    equal[n++] = (struct kith__equal){"options.forces", o->forces != NULL};
    equal[n++] = (struct kith__equal){"options.minimum_image", o->minimum_image};
    equal[n++] = (struct kith__equal){"out: frames", out->owner ? out->frames : -1};
    return kith__team_equal(team, equal, n);
}

/** Make the arrays of the histogram and of sums, whose units follow from the weights and forces of
 *  all ranks. Collective. @param o  the options, of full size, without bonds */
static kith_status begin_arrays(struct rdf_team *w, const kith_rdf_options *o)
{
    kith_team *team = w->team;
    struct kith__rdf *rdf = &w->call.rdf;
    if (rdf->weights[0]) {
        KITH_TRY(kith__team_largest(team, rdf->most_weight, 2));
    }
    if (rdf->forces[0]) {
        KITH_TRY(kith__team_largest(team, rdf->most_forces, 2));
    }
    KITH_AGREE(team, kith__rdf_begin(team->ctx, o, w->out, &w->call));
    kith_status status = need_sums(team, SUMS + 1, rdf->weights[0] != NULL,
                                   (int64_t)rdf->partials * rdf->bins, &w->sums);
    status = status ? status
                    : need_sums(team, FORCE_SUMS + 1, rdf->forces[0] != NULL,
                                kith__force_sum_at(rdf, rdf->partials, 0, 0), &w->force_sums);
    KITH_AGREE(team, status);
    return KITH_OK;
}

/** Replace n integers of 128 bits by their sums over all ranks. An integer is split into limbs of
 *  32 bits, each an int64, so that sums over up to 2^31 ranks do not overflow. The highest limb has
 *  the sign. Collective. */
static kith_status combine_wide(kith_team *team, kith__wide *sum, int64_t n)
{
    enum { N_LIMBS = 4, BITS = 32 };
    const int64_t mask = ((int64_t)1 << BITS) - 1;
    int64_t *limb = NULL;
    KITH_AGREE(team, kith__team_need(team, LIMBS, N_LIMBS * n, sizeof *limb, &limb));
    for (int64_t k = 0; k < n; k++) {
        kith__wide rest = sum[k];
        for (int l = 0; l < N_LIMBS - 1; l++) {
            limb[N_LIMBS * k + l] = (int64_t)(rest & mask);
            rest >>= BITS;
        }
        limb[N_LIMBS * k + N_LIMBS - 1] = (int64_t)rest;
    }
    KITH_TRY(kith__team_combine(team, KITH_SUM, limb, N_LIMBS * n));
    for (int64_t k = 0; k < n; k++) {
        sum[k] = limb[N_LIMBS * k + N_LIMBS - 1];
        for (int l = N_LIMBS - 2; l >= 0; l--) {
            sum[k] = sum[k] * (mask + 1) + limb[N_LIMBS * k + l];
        }
    }
    return KITH_OK;
}

/** Add up the sums of all ranks, and convert them to the caller's units, into the frame.
 *  Collective. */
static kith_status end_sums(struct rdf_team *w)
{
    kith_team *team = w->team;
    const struct kith__rdf *rdf = &w->call.rdf;
    const int64_t n = (int64_t)rdf->partials * rdf->bins;
    const int64_t m = kith__force_sum_at(rdf, rdf->partials, 0, 0);
    KITH_TRY(w->sums ? combine_wide(team, w->sums, n) : KITH_OK);
    KITH_TRY(w->force_sums ? combine_wide(team, w->force_sums, m) : KITH_OK);
    for (int64_t at = 0; at < n && w->sums; at++) {
        rdf->sums[at] = (double)w->sums[at] / rdf->weight_scale;
    }
    for (int64_t at = 0; at < m && w->force_sums; at++) {
        const int64_t row = at / (rdf->bins + 1); /* the array is [partials][2][bins + 1] */
        rdf->force_sums[at] = kith__force_sum_value(rdf, (int)(row % 2), at % (rdf->bins + 1),
                                                    w->force_sums[at]);
    }
    return KITH_OK;
}

/** kith__team_work_fn: count the pairs. */
static kith_status count(void *call)
{
    struct rdf_team *w = call;
    kith_team *team = w->team;
    kith_rdf_options o;
    KITH_AGREE(team, check(team, w->points, w->options, &o));
    KITH_TRY(check_equal(team, w->points, w->box, &o, w->out));
    w->bonds_given = (struct kith__bonds_given){o.bond_offsets, o.bonds};
    o.bond_offsets = NULL; /* partners are of all ranks: count_share checks them */
    o.bonds = NULL;
    KITH_AGREE(team, kith__rdf_check(team->ctx, w->points, w->box, &o, &w->call));
    const struct kith__rdf *rdf = &w->call.rdf;
    KITH_TRY(begin_arrays(w, &o));
    w->n_sets = w->call.question.cross ? 2 : 1;
    w->set[0] = (struct kith__set){"points", w->call.question.a, NULL};
    w->set[1] = (struct kith__set){"against", w->call.question.b, NULL};
    for (int s = 0; s < w->n_sets; s++) {
        w->columns[s] = (struct kith__columns){
            .n = N_COLUMNS,
            .buffer = COLUMNS + s * N_COLUMNS,
            .given = {[SPECIES] = rdf->species[s],
                      [MOLECULES] = rdf->excluded.molecules[s],
                      [WEIGHTS] = rdf->weights[s],
                      [FORCES] = rdf->forces[s]},
            .size = {[SPECIES] = sizeof(int32_t),
                     [MOLECULES] = sizeof(int32_t),
                     [WEIGHTS] = sizeof(double),
                     [FORCES] = 3 * (size_t)w->call.question.precision},
        };
    }
    KITH_TRY(count_share(w));
    KITH_TRY(kith__team_combine(team, KITH_SUM, w->call.frame.counts,
                                (int64_t)rdf->partials * rdf->bins));
    KITH_TRY(end_sums(w));
    KITH_TRY(
        kith__team_combine(team, KITH_SUM, w->call.frame.members, 2 * (int64_t)rdf->n_species));
    kith__rdf_end(&w->call, w->out);
    return KITH_OK;
}

kith_status kith_team_rdf_count(kith_team *team, const kith_points *points, const kith_box *box,
                                const kith_rdf_options *options, kith_histogram *out)
{
    kith_status status;
    kith_histogram own = {0};
    struct rdf_team w = {
        .team = team, .points = points, .box = box, .options = options, .out = &own};
    const struct kith__team_out result = KITH_TEAM_OUT(out, KITH_HISTOGRAM_0_1, &own);
    KITH_TEAM_CALL(team, &status, kith__team_fill(team, &result, count, &w));
    return status;
}
