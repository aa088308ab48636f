/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Errors of teams: all ranks return one status and the message of the lowest rank that failed; a
 * rank that leaves ends the calls of the others; arguments that differ are refused.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "team_case.h"

enum { RANKS = 5, EACH = 40 };

/** What happens on which rank. */
typedef enum trouble {
    NONE,
    NOT_A_NUMBER,
    TOO_FAR,
    NO_POINTS,
    OTHER_CUTOFF,
    OTHER_PRECISION,
    OTHER_BOX,
    NO_OUT,
    CANCELLED,
    BAD_SPECIES,
    BATCH,
    RADII,
    OTHER_CALL,
    LEAVES,
    TROUBLES
} trouble;

/** The calls. */
typedef enum call { RDF, FOF, PAIRS, COUNT, NEAREST, HALOS, CALLS } call;

/** One collective call with trouble on ranks `bad` and, if it is not negative, `bad_too`. */
typedef struct error_work {
    call call;
    trouble what;
    int bad, bad_too;
    kith_status status[RANKS], again[RANKS];
    char message[RANKS][512];
} error_work;

static int stop(void *user, int64_t done, int64_t total)
{
    (void)user;
    (void)done;
    (void)total;
    return 1;
}

/** Make the call on one rank. @return its status */
static kith_status make_call(const error_work *w, team_rank *rank, kith_team *team, trouble what)
{
    double xyz[3 * EACH];
    float single[3 * EACH];
    rng random = {(uint64_t)rank->rank};
    for (int k = 0; k < 3 * EACH; k++) {
        xyz[k] = rng_uniform(&random, 0, 10);
        single[k] = (float)xyz[k];
    }
    kith_points points = kith_points_packed(xyz, EACH, KITH_DOUBLE);
    kith_box box = kith_box_periodic(10, 10, 10);
    double cutoff = 1;
    int32_t species[EACH] = {0};
    const int64_t offsets[] = {0, EACH};
    kith_batch one_system;
    kith_batch_init(&one_system);
    one_system.systems = 1;
    one_system.offsets = offsets;
    const kith_batch *batch = what == BATCH ? &one_system : NULL;
    kith_fof_options fof;
    kith_fof_options_init(&fof);
    fof.batch = batch;
    kith_pairs_options pairs;
    kith_pairs_options_init(&pairs);
    pairs.batch = batch;
    kith_nearest_options nearest;
    kith_nearest_options_init(&nearest);
    nearest.batch = batch;
    nearest.radius_rule = what == RADII ? KITH_RADIUS_SUM : KITH_RADIUS_NONE;
    nearest.radii = what == RADII ? xyz : NULL;
    switch (what) {
    case NOT_A_NUMBER: xyz[3 * 7 + 1] = NAN; break;
    case TOO_FAR: xyz[3 * 7] = 1e30; break;
    case OTHER_CUTOFF: cutoff = 1.5; break;
    case OTHER_PRECISION: points = kith_points_packed(single, EACH, KITH_FLOAT); break;
    case OTHER_BOX: box.row[1][1] = 11; break;
    case BAD_SPECIES: species[3] = 9; break;
    default: break;
    }
    const kith_points *given = what == NO_POINTS ? NULL : &points;
    const int no_out = what == NO_OUT;
    kith_status status = KITH_OK;
    const call which = what == OTHER_CALL ? (call)((w->call + 1) % CALLS) : w->call;
    if (which == RDF) {
        kith_rdf_options o;
        kith_histogram out = {0};
        kith_rdf_options_init(&o);
        o.r_max = cutoff;
        o.species = species;
        o.batch = batch;
        status = kith_team_rdf_count(team, given, &box, &o, no_out ? NULL : &out);
        kith_histogram_free(&out);
    } else if (which == FOF) {
        kith_team_groups out = {0};
        status = kith_team_fof_find(team, given, &box, cutoff, &fof, no_out ? NULL : &out);
        CHECK(status == KITH_OK || (out.n == 0 && out.points == 0 && out.held == 0),
              "groups after a failure");
        kith_team_groups_free(&out);
    } else if (which == PAIRS) {
        kith_team_pairs out = {0};
        status = kith_team_pairs_find(team, given, &box, cutoff, &pairs, no_out ? NULL : &out);
        CHECK(status == KITH_OK || (out.n == 0 && out.all == 0 && out.rows == 0),
              "pairs after a failure");
        kith_team_pairs_free(&out);
    } else if (which == NEAREST) {
        kith_team_nearest out = {0};
        nearest.cutoff = cutoff;
        status = kith_team_nearest_find(team, given, &box, 3, &nearest, no_out ? NULL : &out);
        CHECK(status == KITH_OK || out.rows == 0, "rows after a failure");
        kith_team_nearest_free(&out);
    } else if (which == HALOS) {
        int64_t labels[EACH];
        for (int p = 0; p < EACH; p++) {
            labels[p] = 1;
        }
        const kith_team_groups groups = {.n = cutoff > 1 ? 2 : 1, .points = EACH, .labels = labels};
        kith_team_halos out = {0};
        status = kith_team_halos_measure(team, given, &box, &groups, NULL, no_out ? NULL : &out);
        CHECK(status == KITH_OK || (out.n == 0 && out.held == 0), "halos after a failure");
        kith_team_halos_free(&out);
    } else {
        int64_t n = 0;
        status = kith_team_pairs_count(team, given, &box, cutoff, &pairs, no_out ? NULL : &n, NULL);
    }
    return status;
}

static void work(team_rank *rank)
{
    error_work *w = rank->user;
    const int r = rank->rank;
    const int bad = r == w->bad || r == w->bad_too;
    if (bad && w->what == LEAVES) {
        kith_team_close(rank->team);
        rank->team = NULL;
        w->status[r] = KITH_TEAM_LOST;
        return;
    }
    w->status[r] = make_call(w, rank, rank->team, bad ? w->what : NONE);
    snprintf(w->message[r], sizeof w->message[r], "%s", kith_message(rank->ctx));
    w->again[r] = make_call(w, rank, rank->team, NONE);
}

/** Radii that are too large are called by their name, as in one process. The message names no rank,
 *  as all ranks fail alike. */
static void find_by_large_radii(team_rank *rank)
{
    static const char permit[] = "the largest distance that options.radii permit is 2e+06";
    const double xyz[3] = {rank->rank, 1, 1}, radius = 1e6;
    const kith_points points = kith_points_packed(xyz, 1, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(10, 10, 10);
    kith_pairs_options o;
    kith_team_pairs out = {0};
    kith_pairs_options_init(&o);
    o.radii = &radius;
    o.radius_rule = KITH_RADIUS_SUM;
    for (int given = 0; given < 2; given++) { /* no cutoff, or one above what radii permit */
        const kith_status status = kith_team_pairs_find(rank->team, &points, &box, given ? 1e9 : 0,
                                                        &o, &out);
        CHECK(status == KITH_LIMIT && strncmp(kith_message(rank->ctx), permit, strlen(permit)) == 0,
              "%s: \"%s\"", kith_status_name(status), kith_message(rank->ctx));
    }
    o.radius_rule = KITH_RADIUS_NONE;
    o.radii = NULL;
    const kith_status status = kith_team_pairs_find(rank->team, &points, &box, 1e9, &o, &out);
    CHECK(status == KITH_LIMIT && strncmp(kith_message(rank->ctx), "cutoff is 1e+09", 15) == 0,
          "%s: \"%s\"", kith_status_name(status), kith_message(rank->ctx));
    kith_team_pairs_free(&out);
}

static void try_trouble(const char *backend, call which, trouble what, int bad, int bad_too)
{
    static const struct {
        kith_status status;
        const char *message;
    } expected[TROUBLES] = {[NONE] = {KITH_OK, ""},
                            [NOT_A_NUMBER] = {KITH_NOT_FINITE, "is not finite"},
                            [TOO_FAR] = {KITH_LIMIT, "too far outside"},
                            [NO_POINTS] = {KITH_INVALID, "points is NULL"},
                            [OTHER_CUTOFF] = {KITH_INVALID, "differs between the ranks"},
                            [OTHER_PRECISION] = {KITH_INVALID, "points: precision differs"},
                            [OTHER_BOX] = {KITH_INVALID, "box: row differs"},
                            [NO_OUT] = {KITH_INVALID, " is NULL"},
                            [BAD_SPECIES] = {KITH_INVALID, "options.species[3] is 9"},
                            [BATCH] = {KITH_UNSUPPORTED, "options.batch: teams"},
                            [RADII] = {KITH_UNSUPPORTED, "options.radii: teams"},
                            [OTHER_CALL] = {KITH_INVALID, "make different calls; this rank's is "},
                            [LEAVES] = {KITH_TEAM_LOST, "the team is lost"}};
    error_work w = {.call = which, .what = what, .bad = bad, .bad_too = bad_too};
    char text[64], rank[64], particle[64];
    snprintf(text, sizeof text, "call %d, trouble %d on ranks %d, %d", (int)which, (int)what, bad,
             bad_too);
    snprintf(rank, sizeof rank, "rank %d: ", bad);
    snprintf(particle, sizeof particle, "particle %d ", bad * EACH + 7);
    check_case(text);
    team_run run = {.backend = backend, .ranks = RANKS, .work = work, .user = &w};
    team_go(&run);
    const int own = what != NONE && what != LEAVES && what != OTHER_CALL &&
                    strstr(expected[what].message, "differs") == NULL;
    for (int r = 0; r < RANKS; r++) {
        const int left = what == LEAVES && (r == bad || r == bad_too);
        CHECK(w.status[r] == expected[what].status, "rank %d: %s", r,
              kith_status_name(w.status[r]));
        CHECK(left || strstr(w.message[r], expected[what].message), "rank %d: \"%s\"", r,
              w.message[r]);
        CHECK(!own || strncmp(w.message[r], rank, strlen(rank)) == 0, "rank %d: \"%s\"", r,
              w.message[r]);
        CHECK((what != NOT_A_NUMBER && what != TOO_FAR) || strstr(w.message[r], particle),
              "rank %d: \"%s\"", r, w.message[r]);
        CHECK(left || w.again[r] == (what == LEAVES ? KITH_TEAM_LOST : KITH_OK),
              "rank %d, next call: %s", r, kith_status_name(w.again[r]));
    }
    check_case(NULL);
}

/** A rank whose callback stops its calls. */
static void cancelled(team_rank *rank)
{
    error_work *w = rank->user;
    const int r = rank->rank;
    enum { MANY = 20000 };
    double *xyz = check_malloc((size_t)3 * MANY * sizeof *xyz);
    rng random = {(uint64_t)r};
    for (int k = 0; k < 3 * MANY; k++) {
        xyz[k] = rng_uniform(&random, 0, 1);
    }
    const kith_points points = kith_points_packed(xyz, MANY, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(1, 1, 1);
    kith_rdf_options o;
    kith_histogram out = {0};
    kith_rdf_options_init(&o);
    o.r_max = 0.4;
    w->status[r] = kith_team_rdf_count(rank->team, &points, &box, &o, &out);
    snprintf(w->message[r], sizeof w->message[r], "%s", kith_message(rank->ctx));
    CHECK(out.frames == 0, "a cancelled frame was added");
    kith_histogram_free(&out);
    free(xyz);
}

static void try_cancel(const char *backend)
{
    error_work w = {.what = CANCELLED, .bad = 1, .bad_too = -1};
    team_run run = {
        .backend = backend, .ranks = 2, .work = cancelled, .user = &w, .watch = stop, .watched = 1};
    team_go(&run);
    for (int r = 0; r < run.ranks; r++) {
        CHECK(w.status[r] == KITH_CANCELLED && strncmp(w.message[r], "rank 1: ", 8) == 0,
              "rank %d: %s, \"%s\"", r, kith_status_name(w.status[r]), w.message[r]);
    }
}

/** Arguments of the calls that are not collective. */
static void try_arguments(const char *backend)
{
    kith_ctx *ctx = check_open(backend, 1);
    kith_transport t[2];
    kith_team *team = (kith_team *)t;
    kith_team_options o;
    CHECK(kith_transport_threads(0, t) == KITH_INVALID && t != NULL, "no ranks");
    CHECK(kith_transport_threads(1, NULL) == KITH_INVALID, "no transports");
    CHECK(kith_team_open(ctx, NULL, NULL, &team) == KITH_INVALID, "no transport");
    CHECK(kith_transport_threads(1, t) == KITH_OK, "%s", kith_message(NULL));
    CHECK(kith_team_open(NULL, t, NULL, &team) == KITH_INVALID && !team, "no context");
    CHECK(kith_transport_threads(1, t) == KITH_OK, "%s", kith_message(NULL));
    CHECK(kith_team_open(ctx, t, NULL, NULL) == KITH_INVALID, "no out");
    CHECK(kith_transport_threads(1, t) == KITH_OK, "%s", kith_message(NULL));
    kith_team_options_init(&o);
    o.chunk_bytes = -1;
    CHECK(kith_team_open(ctx, t, &o, &team) == KITH_INVALID && !team &&
              strstr(kith_message(ctx), "chunk_bytes is -1"),
          "%s", kith_message(ctx));
    CHECK(kith_transport_threads(2, t) == KITH_OK, "%s", kith_message(NULL));
    kith_transport_close(&t[0]);
    kith_transport_close(&t[0]);
    kith_transport_close(NULL);
    CHECK(kith_team_open(ctx, &t[1], NULL, &team) == KITH_TEAM_LOST && !team, "%s",
          kith_message(ctx));
    CHECK(strcmp(kith_status_name(KITH_TEAM_LOST), "KITH_TEAM_LOST") == 0, "no name");
    int64_t n = 1;
    CHECK(kith_team_pairs_count(NULL, NULL, NULL, 1, NULL, &n, NULL) == KITH_INVALID && n == 0 &&
              strstr(kith_message(NULL), "team is NULL"),
          "%s", kith_message(NULL));
    kith_team_load load = {.size = sizeof load};
    CHECK(kith_team_load_read(NULL, &load) == KITH_INVALID, "a load without a team");
    kith_team_close(NULL);
    kith_team_groups_free(NULL);
    kith_team_pairs_free(NULL);
    kith_team_nearest_free(NULL);
    kith_close(ctx);
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    try_arguments(backend);
    for (int one = 0; one < CALLS; one++) {
        for (int what = 0; what < TROUBLES; what++) {
            if (what == CANCELLED || (what == BAD_SPECIES && one != RDF) ||
                (what == BATCH && one == HALOS) || (what == RADII && one != NEAREST)) {
                continue;
            }
            try_trouble(backend, (call)one, (trouble)what, 0, -1);
            try_trouble(backend, (call)one, (trouble)what, 2, 4);
            try_trouble(backend, (call)one, (trouble)what, RANKS - 1, -1);
        }
    }
    try_cancel(backend);
    team_run run = {.backend = backend, .ranks = RANKS, .work = find_by_large_radii};
    team_go(&run);
    return check_done();
}
