/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups of particles that four ranks hold, each a thread with a context of its own. Under MPI a
 * rank is a process, and kith_transport_mpi (kith_mpi.h) takes the place of kith_transport_threads.
 * With a GPU for each rank, options.backend is "cuda:0", "cuda:1", ...
 *
 * The labels are those that one process finds: the example checks that.
 */
#include <kith.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 4, EACH = 5000, ALL = RANKS * EACH };

static double xyz[ALL][3];  /* particles of rank r: [r * EACH, (r + 1) * EACH) */
static int64_t labels[ALL]; /* what the ranks find */
static kith_transport transport[RANKS];

/** End the program with a message. */
static void fail(const char *message)
{
    fprintf(stderr, "%s\n", message);
    exit(1);
}

/** Find the groups of one rank's particles: every rank makes the call. */
static void *work(void *argument)
{
    const int rank = *(const int *)argument;
    kith_options options;
    kith_options_init(&options);
    options.threads = 1;
    kith_ctx *ctx = NULL;
    kith_team *team = NULL;
    if (kith_open(&options, &ctx) != KITH_OK ||
        kith_team_open(ctx, &transport[rank], NULL, &team) != KITH_OK) {
        fail("a rank cannot join the team");
    }
    const kith_points points = kith_points_packed(xyz[rank * EACH], EACH, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(1, 1, 1);
    kith_team_groups groups = {0};
    if (kith_team_fof_find(team, &points, &box, 0.015, NULL, &groups) != KITH_OK) {
        fail(kith_message(ctx));
    }
    memcpy(labels + rank * EACH, groups.labels, EACH * sizeof *labels);
    kith_team_load load = {.size = sizeof load};
    if (rank == 0 && kith_team_load_read(team, &load) == KITH_OK) {
        printf("%lld groups; the largest share is %lld of %lld particles\n", (long long)groups.n,
               (long long)load.most_owned, (long long)load.points);
    }
    kith_team_groups_free(&groups);
    kith_team_close(team);
    kith_close(ctx);
    return NULL;
}

int main(void)
{
    for (int p = 0; p < ALL; p++) { /* clusters of 40 particles */
        for (int k = 0; k < 3; k++) {
            const double centre = rand() / (RAND_MAX + 1.0);
            xyz[p][k] = p % 40 == 0 ? centre : xyz[p - p % 40][k] + 0.01 * (centre - 0.5);
        }
    }
    pthread_t thread[RANKS];
    int rank[RANKS];
    if (kith_transport_threads(RANKS, transport) != KITH_OK) {
        fail(kith_message(NULL));
    }
    for (int r = 0; r < RANKS; r++) {
        rank[r] = r;
        if (pthread_create(&thread[r], NULL, work, &rank[r]) != 0) {
            fail("no thread");
        }
    }
    for (int r = 0; r < RANKS; r++) {
        pthread_join(thread[r], NULL);
    }

    kith_ctx *ctx = NULL;
    const kith_points points = kith_points_packed(xyz, ALL, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(1, 1, 1);
    kith_groups groups = {0};
    if (kith_open(NULL, &ctx) != KITH_OK ||
        kith_fof_find(ctx, &points, &box, 0.015, NULL, &groups) != KITH_OK) {
        fail("one process cannot find the groups");
    }
    for (int p = 0; p < ALL; p++) {
        if (labels[p] != groups.labels[p]) {
            fail("the ranks find other labels");
        }
    }
    kith_groups_free(&groups);
    kith_close(ctx);
    return 0;
}
