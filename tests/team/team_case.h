/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Inputs for teams, ways to split them among ranks, ways to deal them, and ranks that are threads.
 */
#ifndef KITH_TEST_TEAM_CASE_H
#define KITH_TEST_TEAM_CASE_H

#include "check.h"
#include "points.h"

/** Particles, a box and a cutoff. */
typedef struct team_input {
    char name[96];
    double *xyz; /**< [n][3] */
    int64_t n;
    kith_box box;
    double cutoff;
} team_input;

/** The number of different inputs. */
int team_inputs(void);

/** Make input k of about n particles. Free input->xyz. */
team_input team_input_make(rng *r, int k, int64_t n);

/** Test one input.
 *  @param how  a random number that chooses the ranks and how particles are dealt */
typedef void team_try_fn(kith_ctx *ctx, const char *backend, rng *r, int k, int how);

/** Test all inputs; a part of them in the short form of the tests, 100 times in the long one. */
void team_try_inputs(kith_ctx *ctx, const char *backend, uint64_t seed, team_try_fn *try_input);

/** main() of a test that tests all inputs and nothing else: returns the exit status. */
int team_main(int argc, char **argv, uint64_t seed, team_try_fn *try_input);

/** Ways to split n particles, in their order, among ranks. */
typedef enum team_split { SPLIT_EVEN, SPLIT_UNEVEN, SPLIT_GAPS, SPLIT_LAST, SPLITS } team_split;

/** First particle of each rank. @param[out] first  [ranks + 1] */
void team_split_at(team_split how, int64_t n, int ranks, int64_t *first);

/** Return a random number below `most` for each of n particles, -1 too where most is more than 8.
 *  Free it. */
int32_t *team_random_column(rng *r, int64_t n, int64_t most);

/** Return the partners of random bonds of n particles with some of m: none, one or several, also
 *  twice or with itself. Free them.
 *  @param[out] offsets  [n + 1] free it */
int32_t *team_random_bonds(rng *r, int64_t n, int64_t m, int64_t **offsets);

/** Ways to deal particles: by domains, by a random number, all to one rank, by planes that
 *  particles lie on, by thin slices of which most are empty, by index. */
typedef enum team_deal {
    DEAL_DOMAINS,
    DEAL_RANDOM,
    DEAL_ONE,
    DEAL_PLANES,
    DEAL_THIN,
    DEAL_INDEX,
    DEALS
} team_deal;

/** A rank: a thread with a context. */
typedef struct team_rank {
    int rank, ranks;
    kith_ctx *ctx;
    kith_team *team;
    void *user;
} team_rank;

/** How to run a team. */
typedef struct team_run {
    const char *backend; /**< of the contexts */
    int ranks;
    int64_t chunk_bytes; /**< 0: the default */
    team_deal deal;
    void (*work)(team_rank *rank); /**< what each rank does; it reports no failures itself */
    void *user;
    kith_watch_fn watch; /**< callback of the context of one rank; NULL: none */
    int watched;         /**< that rank */
} team_run;

/** Return a team that `how` chooses: 1 to 8, 13 or 64 ranks, chunks of different sizes, ways to
 *  deal particles. `work` and `user` are to be set. */
team_run team_run_of(const char *backend, int how);

/** Run the ranks of a team, and wait until all have ended. */
void team_go(const team_run *run);

/** Particles [begin, end) of stored points. */
kith_points team_slice(const kith_points *all, int64_t begin, int64_t end);

#endif
