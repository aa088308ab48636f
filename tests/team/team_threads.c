/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks that are threads, and decompositions that are forced on them.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "team_case.h"
#include "team/team.h"

/** Deal as team_run.deal says. */
static int deal_by(void *user, const double f[3], int64_t global, int ranks)
{
    const team_deal how = *(const team_deal *)user;
    switch (how) {
    case DEAL_RANDOM: return (int)((uint64_t)global * 0x9e3779b97f4a7c15u >> 33) % ranks;
    case DEAL_ONE: return ranks - 1;
    case DEAL_PLANES: return f[0] >= 0.5 ? (f[1] >= 0.25 ? ranks - 1 : ranks / 2) : 0;
    case DEAL_THIN: return fabs(f[0] - 0.5) < 0.01 ? ranks / 2 : f[1] <= 0 ? 0 : ranks - 1;
    case DEAL_INDEX: return (int)(global % ranks);
    case DEAL_DOMAINS:
    case DEALS: break;
    }
    return 0;
}

/** A thread's part of a run. */
typedef struct thread_part {
    const team_run *run;
    team_deal deal;
    kith_transport transport;
    team_rank rank;
    kith_status status;
} thread_part;

static void *run_rank(void *argument)
{
    thread_part *part = argument;
    const team_run *run = part->run;
    kith_options options;
    kith_options_init(&options);
    options.backend = run->backend;
    options.threads = part->rank.rank % 2 + 1;
    options.watch = part->rank.rank == run->watched ? run->watch : NULL;
    part->status = kith_open(&options, &part->rank.ctx);
    if (part->status != KITH_OK) {
        kith_transport_close(&part->transport);
        return NULL;
    }
    kith_team_options how;
    kith_team_options_init(&how);
    how.chunk_bytes = run->chunk_bytes;
    part->status = kith_team_open(part->rank.ctx, &part->transport, &how, &part->rank.team);
    if (part->status == KITH_OK) {
        part->deal = run->deal;
        kith__team_deal_by(part->rank.team, run->deal == DEAL_DOMAINS ? NULL : deal_by,
                           &part->deal);
        run->work(&part->rank);
    }
    kith_team_close(part->rank.team);
    kith_close(part->rank.ctx);
    return NULL;
}

void team_go(const team_run *run)
{
    const size_t ranks = (size_t)run->ranks;
    kith_transport *transport = check_malloc(ranks * sizeof *transport);
    thread_part *part = check_malloc(ranks * sizeof *part);
    pthread_t *thread = check_malloc(ranks * sizeof *thread);
    CHECK(kith_transport_threads(run->ranks, transport) == KITH_OK, "%s", kith_message(NULL));
    for (int r = 0; r < run->ranks; r++) {
        part[r] = (thread_part){.run = run,
                                .transport = transport[r],
                                .rank = {.rank = r, .ranks = run->ranks, .user = run->user}};
        CHECK(pthread_create(&thread[r], NULL, run_rank, &part[r]) == 0, "no thread");
    }
    for (int r = 0; r < run->ranks; r++) {
        pthread_join(thread[r], NULL);
        CHECK(part[r].status == KITH_OK, "rank %d: %s", r, kith_status_name(part[r].status));
    }
    free(transport);
    free(part);
    free(thread);
}
