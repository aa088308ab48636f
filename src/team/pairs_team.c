/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pair lists over all ranks. Each rank has the pairs whose i it was dealt. It has copies of all
 * particles near its own (KITH_TWO_SIDED), and searches these and its own in ascending order of
 * their global indices: a half list, the vectors of its pairs and a sorted list then have the order
 * and the bits that they have in one process. Pairs between two copies are skipped. Of two sets,
 * copies are of particles of the second one alone. The arrays of rules (pairs/rules.h) travel with
 * the particles; the search reaches as far as the largest radius of all ranks permits.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "bonds.h"
#include "columns.h"
#include "core/owned.h"
#include "core/sized.h"
#include "ghosts.h"
#include "pairs/list.h"
#include "pairs/rules.h"
#include "pairs_team.h"

/** Buffers of the team's scratch memory. */
enum {
    NEAR = KITH_TEAM_QUESTION,                /**< particles and ghosts */
    MERGED = NEAR + KITH_NEAR_BUFFERS,        /**< particles in the order of their global indices */
    NEIGHBOURS = MERGED + KITH_MERGE_BUFFERS, /**< neighbours of particles; next: of queries */
    COLUMNS = NEIGHBOURS + 2,                 /**< columns of two sets */
    ORDERED = COLUMNS + 2 * KITH_COLUMNS,     /**< columns in the order of the global indices */
    GLOBAL = ORDERED + KITH_COLUMNS,          /**< global indices in that order */
    BONDS,                                    /**< bonds of the particles dealt to this rank */
    BOND_ROWS = BONDS + KITH_BONDS_BUFFERS,   /**< bonds of the particles that are searched */
    BUFFERS_END = BOND_ROWS + KITH_BOND_ROWS_BUFFERS
};
_Static_assert((int)BUFFERS_END <= (int)KITH_TEAM_BUFFERS, "every purpose needs its own buffer");

/** Columns of a set (columns.h). */
enum { SPECIES, RADII, MOLECULES, ACTIVE, N_COLUMNS };
_Static_assert((int)N_COLUMNS <= (int)KITH_COLUMNS, "every column needs room");

/* Numbers of the arrays in kith__owned.array. A list has i or offsets, which share a number. */
enum { IDS, I, J, DISTANCES, VECTORS, SHIFTS, IDS_AGAINST, OFFSETS = I };

/* Size of the struct in the version that introduced it (core/sized.h) [bytes]. */
enum { KITH_TEAM_PAIRS_0_2 = KITH_SIZE_UP_TO(kith_team_pairs, owner) };

/** One call. */
struct pairs_team {
    kith_team *team;                      /**< the team */
    struct kith__question q;              /**< checked arguments */
    const kith_box *box;                  /**< the box as given */
    double cutoff;                        /**< the cutoff as given; then that of the search */
    const kith_points *points;            /**< the particles as given */
    const kith_pairs_options *given;      /**< the options as given */
    kith_pairs_options options;           /**< the options, of full size (core/sized.h) */
    int n_sets;                           /**< sets of particles, 1 or 2 */
    struct kith__set set[2];              /**< particles of this rank, as given */
    struct kith__dealt dealt[2];          /**< particles dealt to this rank; those of the last set
                                               with ghosts */
    struct kith__columns columns[2];      /**< arrays of the rules */
    struct kith__bonds_given bonds_given; /**< bonds as given */
    struct kith__bonds bonds;             /**< bonds of the particles dealt to this rank */
    int32_t *order;                       /**< [dealt.n + ghosts] numbers, in `dealt` of the last
                                               set, of its particles by ascending global index */
    kith_team_pairs *out;                 /**< the list, of full size */
    bool full;                            /**< the list could not grow: there is no memory */
};

/** Make one array of the list hold `capacity` elements, keeping those of the pairs so far. Sets
 *  w->full where there is no memory.
 *  @param array   number of the array in kith__owned.array
 *  @param size    bytes of an element
 *  @param wanted  the list has this array
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

/** Make the list hold n more pairs: its capacity grows by half at least. @return true when there is
 *  memory for them */
static bool make_room(struct pairs_team *w, int64_t n)
{
    enum { FIRST = 1024 }; /* least growth [pairs] */
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
        if (i >= w->dealt[0].n) { /* i is a ghost: its own rank lists the pair */
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
 *  @param array     its number in kith__owned.array
 *  @param[out] ids  [dealt->n + dealt->ghosts] the array; it is never NULL */
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

/** Make the offsets of the rows, as zeros, where the list has them (KITH_CSR). */
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

/** The search of this rank. */
struct own_search {
    kith_points points;         /**< query particles: of two sets those dealt of the first one, else
                                     equal to merged */
    kith_points merged;         /**< the last set with its ghosts, by ascending global index */
    kith_pairs_options options; /**< those of the call, with arrays of these particles */
};

/** Set the bonds of a search. @param global  [own->merged.n] global index of each of own->merged */
static kith_status set_bonds(struct pairs_team *w, const int64_t *global, struct own_search *own)
{
    struct kith__bond_rows rows;
    const bool two = w->n_sets == 2;
    KITH_TRY(kith__bond_rows(w->team, BOND_ROWS, &w->bonds, own->points.n,
                             two ? w->dealt[0].global : global, own->merged.n, global, &rows));
    own->options.bond_offsets = rows.offsets;
    own->options.bonds = rows.partner;
    return KITH_OK;
}

/** Get the search of this rank ready: the particles of the last set in the order of their global
 *  indices, with the arrays of the rules.
 *  @param[out] own  must stay where it is: its options refer to it */
static kith_status prepare(struct pairs_team *w, struct own_search *own)
{
    const struct kith__dealt *last = &w->dealt[w->n_sets - 1];
    const struct kith__columns *columns = &w->columns[w->n_sets - 1];
    kith_pairs_options *o = &own->options;
    const void *ordered[N_COLUMNS];
    KITH_TRY(kith__team_merge(w->team, MERGED, &w->q, last, &w->order, &own->merged));
    for (int c = 0; c < N_COLUMNS; c++) {
        KITH_TRY(kith__column_in_order(w->team, ORDERED + c, columns, c, w->order, own->merged.n,
                                       &ordered[c]));
    }
    *o = w->options;
    own->points = own->merged;
    const void *const *first = ordered;
    if (w->n_sets == 2) {
        own->points = kith__dealt_points(&w->q, &w->dealt[0], 0, w->dealt[0].n);
        o->against = &own->merged;
        o->species_against = ordered[SPECIES];
        o->radii_against = ordered[RADII];
        o->molecules_against = ordered[MOLECULES];
        first = (const void *const *)w->columns[0].column;
    }
    o->species = first[SPECIES];
    o->radii = first[RADII];
    o->molecules = first[MOLECULES];
    o->active = first[ACTIVE];
    if (!w->bonds_given.offsets) {
        return KITH_OK;
    }
    int64_t *global = NULL;
    KITH_TRY(kith__team_need(w->team, GLOBAL, own->merged.n, sizeof *global, &global));
    for (int64_t k = 0; k < own->merged.n; k++) {
        global[k] = last->global[w->order[k]];
    }
    return set_bonds(w, global, own);
}

/** Search, and list the pairs of this rank. */
static kith_status search(struct pairs_team *w)
{
    enum { BLOCK_PAIRS = 1 << 18 }; /* most pairs that append_block gets at a time */
    kith_ctx *ctx = w->team->ctx;
    kith_team_pairs *out = w->out;
    struct own_search own;
    KITH_TRY(prepare(w, &own));
    out->n = 0;
    out->capacity = 0;
    out->ids_against = NULL;
    KITH_TRY(write_ids(w, IDS, &w->dealt[0], &out->ids));
    KITH_TRY(begin_rows(w));
    if (w->n_sets == 2) {
        KITH_TRY(write_ids(w, IDS_AGAINST, &w->dealt[1], &out->ids_against));
    }
    kith_pairs_options *o = &own.options;
    o->block_pairs = o->block_pairs ? o->block_pairs : BLOCK_PAIRS;
    /* append_block takes (i, j) lists; in a sorted one the pairs of a row follow each other */
    o->unordered = 0;
    o->sorted = o->sorted || out->offsets;
    o->layout = KITH_IJ;
    const bool some = make_room(w, 1); /* so that no array is NULL */
    const kith_status status = some ? kith__pairs_each(ctx, &own.points, w->box, w->cutoff, o,
                                                       append_block, w)
                                    : KITH_OK;
    KITH_CHECK(ctx, !w->full, KITH_NO_MEMORY, "out of memory for a list of more than %lld pairs",
               (long long)out->n);
    out->rows = w->dealt[0].n;
    out->points = own.merged.n;
    for (int64_t row = 0; row < out->rows && out->offsets; row++) { /* inclusive prefix sum */
        out->offsets[row + 1] += out->offsets[row];
    }
    return status;
}

/** Check the arguments of this rank, and set w->options. */
static kith_status check(struct pairs_team *w)
{
    kith_ctx *ctx = w->team->ctx;
    const kith_pairs_options *o = &w->options;
    KITH_TRY(kith__team_host(w->team, "points", w->points));
    KITH_TRY(kith__pairs_options(ctx, w->given, &w->options));
    KITH_CHECK(ctx, !o->batch, KITH_UNSUPPORTED, "options.batch: teams do not take batches yet");
    KITH_TRY(o->against ? kith__team_host(w->team, "against", o->against) : KITH_OK);
    KITH_CHECK(ctx, o->bond_offsets || !o->bonds, KITH_INVALID,
               "options.bonds is given, but options.bond_offsets is NULL");
    KITH_CHECK(ctx, o->layout != KITH_MATRIX, KITH_UNSUPPORTED,
               "options.layout is KITH_MATRIX, which teams do not make yet");
    return KITH_OK;
}

/** Return a hash of the table of cutoffs, to be compared across ranks. The number of species is not
 *  checked yet. */
static int64_t cutoffs_digest(const kith_pairs_options *o)
{
    const bool some = o->cutoffs && o->n_species >= 1 && o->n_species <= 1024;
    const int64_t n = some ? (int64_t)o->n_species * o->n_species : 0;
    return kith__digest(o->cutoffs, n);
}

/** Check that the arguments that must be equal on all ranks are. Collective.
 *  @param neighbours  the call has an array of numbers of neighbours to fill */
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
    equal[n++] = (struct kith__equal){"options.species", o->species != NULL};
    equal[n++] = (struct kith__equal){"options.n_species", o->n_species};
    equal[n++] = (struct kith__equal){"options.cutoffs", cutoffs_digest(o)};
    equal[n++] = (struct kith__equal){"options.radii", o->radii != NULL};
    equal[n++] = (struct kith__equal){"options.radius_rule", o->radius_rule};
    equal[n++] = (struct kith__equal){"options.r_min", kith__bits(o->r_min)};
    equal[n++] = (struct kith__equal){"options.molecules", o->molecules != NULL};
    equal[n++] = (struct kith__equal){"options.bond_offsets", o->bond_offsets != NULL};
    equal[n++] = (struct kith__equal){"options.active", o->active != NULL};
    equal[n++] = (struct kith__equal){"neighbours: given or NULL", neighbours};
    return kith__team_equal(w->team, equal, n);
}

/** Read this rank's rules, all but the bonds, whose partners are global indices: they are moved
 *  from w->options to w->bonds_given.
 *  @param[out] has_rules  false: there are none */
static kith_status read_rules(struct pairs_team *w, struct kith__rules *rules, bool *has_rules)
{
    kith_pairs_options *o = &w->options;
    w->bonds_given = (struct kith__bonds_given){o->bond_offsets, o->bonds};
    o->bond_offsets = NULL;
    o->bonds = NULL;
    return kith__rules_read(w->team->ctx, o, w->points, o->full || o->against, false, rules,
                            has_rules);
}

/** Read the rules, and set w->q and w->columns; w->cutoff becomes the largest distance that the
 *  rules permit on any rank. Collective. */
static kith_status read_question(struct pairs_team *w)
{
    kith_team *team = w->team;
    kith_ctx *ctx = team->ctx;
    struct kith__rules rules;
    bool has_rules = false;
    const double asked = w->cutoff;
    KITH_AGREE(team, read_rules(w, &rules, &has_rules));
    if (has_rules && rules.radii[0]) {
        KITH_TRY(kith__team_largest(team, rules.most_radius, 2));
    }
    KITH_AGREE(team, has_rules ? kith__rules_cutoff(ctx, &rules, w->points->precision, &w->cutoff)
                               : KITH_OK);
    KITH_AGREE(team,
               kith__question_init(ctx, w->points, w->options.against, w->box, w->cutoff,
                                   kith__rules_cutoff_name(&w->options, asked, w->cutoff), &w->q));
    w->n_sets = w->q.cross ? 2 : 1;
    for (int s = 0; s < w->n_sets; s++) {
        w->columns[s] = (struct kith__columns){
            .n = N_COLUMNS,
            .buffer = COLUMNS + s * N_COLUMNS,
            .size = {[SPECIES] = sizeof(int32_t),
                     [RADII] = (size_t)w->q.precision,
                     [MOLECULES] = sizeof(int32_t),
                     [ACTIVE] = sizeof(uint8_t)},
        };
        if (has_rules) {
            w->columns[s].given[SPECIES] = rules.species[s];
            w->columns[s].given[RADII] = rules.radii[s];
            w->columns[s].given[MOLECULES] = rules.excluded.molecules[s];
            w->columns[s].given[ACTIVE] = s == 0 ? rules.active : NULL;
        }
    }
    return KITH_OK;
}

/** Check all arguments but out, deal the particles and bring ghosts, with the arrays of rules.
 *  Collective. @param neighbours  as for check_equal */
static kith_status begin(struct pairs_team *w, bool neighbours)
{
    kith_team *team = w->team;
    struct kith__route reach;
    KITH_AGREE(team, check(w));
    KITH_TRY(check_equal(w, neighbours));
    KITH_TRY(read_question(w));
    const int last = w->n_sets - 1;
    w->set[0] = (struct kith__set){"points", w->q.a, NULL};
    w->set[1] = (struct kith__set){"against", w->q.b, NULL};
    KITH_TRY(kith__team_deal_near(team, NEAR, &w->q, KITH_TWO_SIDED, w->set, w->n_sets, w->dealt,
                                  &reach));
    for (int s = 0; s < w->n_sets; s++) {
        KITH_TRY(kith__columns_deal(team, &w->dealt[s], &w->columns[s]));
    }
    KITH_TRY(kith__columns_ghosts(team, &reach, &w->dealt[last], &w->columns[last]));
    if (!w->bonds_given.offsets) {
        return KITH_OK;
    }
    KITH_AGREE(team, kith__check_bonds(team->ctx, w->bonds_given.offsets, w->bonds_given.partner,
                                       w->set[0].points.n, w->set[last].base[team->ranks]));
    return kith__bonds_deal(team, BONDS, &w->bonds_given, &w->set[0], &w->dealt[0], last == 0,
                            &w->bonds);
}

/** Check that the caller's struct has the field `offsets`, which KITH_CSR needs and structs of
 *  version 0.2 need not have. */
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

/** Count the neighbours of this rank's particles, in the full list.
 *  @param[out] neighbours  [dealt[0].n] */
static kith_status count_own(struct pairs_team *w, int64_t **neighbours)
{
    struct own_search own;
    int64_t n;
    int64_t *found = NULL;
    KITH_TRY(prepare(w, &own));
    KITH_TRY(kith__team_need(w->team, NEIGHBOURS, w->dealt[0].n, sizeof **neighbours, neighbours));
    KITH_TRY(kith__team_need(w->team, NEIGHBOURS + 1, own.points.n, sizeof *found, &found));
    own.options.full = 1;
    KITH_TRY(
        kith__pairs_count(w->team->ctx, &own.points, w->box, w->cutoff, &own.options, &n, found));
    for (int64_t k = 0; k < own.points.n; k++) {
        const int64_t p = w->n_sets == 2 ? k : w->order[k];
        if (p < w->dealt[0].n) {
            (*neighbours)[p] = found[k];
        }
    }
    return KITH_OK;
}

kith_status kith__team_pairs_count(kith_team *team, const kith_points *points, const kith_box *box,
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
    /* a half list has each pair once, but both of its particles have counted it */
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
    KITH_TEAM_CALL(team, &status,
                   kith__team_pairs_count(team, points, box, cutoff, options, n, neighbours));
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
