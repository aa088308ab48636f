/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Several ranks that answer the questions of one command, as a team (kith/team.h): processes that a
 * launcher of MPI started, or threads with a backend each (--backend cuda:0,cuda:1).
 *
 * Rank 0 is the command: it parses the options, reads the files, prints, and writes the outputs.
 * The other ranks wait for jobs. A job is a struct that rank 0 sends to all, then arrays of which
 * each rank receives its part, one call of the team, and results that travel back. So a command has
 * the messages and outputs of one process; rank 0 holds all particles.
 */
#ifndef KITH_CLI_RANKS_H
#define KITH_CLI_RANKS_H

#include "options.h"
#include "report.h"

/** The ranks of a command, as rank 0 sees them. */
typedef struct ranks ranks;

/** Join the processes that a launcher of MPI started with this one; to be called first. All but
 *  rank 0 then do their jobs, and end the process with the exit status of rank 0. Rank 0 lets them
 *  end when it ends by exit().
 *  @param[out] several  true: there are other processes
 *  @return exit status, reported */
int ranks_join(bool *several);

/** Open a context, as engine_open does, and those of the other ranks.
 *  @param[out] out  the ranks; NULL: the context works alone. ranks_close it before the context
 *  @return exit status, reported */
int ranks_open(const options *o, kith_watch_fn watch, void *user, kith_ctx **ctx, ranks **out);

/** Close the contexts of the other ranks, and free the arrays of results. @param r  may be NULL */
void ranks_close(ranks *r);

/** Return the number of ranks. @param r  NULL: 1 */
int ranks_number(const ranks *r);

/** Return the backend of the context, or the list of backends where ranks have several:
 *  "cuda:0,cuda:1". */
printed ranks_backend(const ranks *r, const kith_ctx *ctx);

/** Return the ranks, their backends and the threads of each as text: "3 ranks of cpu:avx512, 1
 *  thread". @param r  NULL: as engine_words */
printed ranks_words(const ranks *r, const kith_ctx *ctx);

/** Report a failed call of this header, as report_kith does. @return exit status */
int ranks_status(const ranks *r, const kith_ctx *ctx, kith_status status, const char *about);

/** Call kith_fof_find, or do it over all ranks. @param out  its arrays stay until ranks_close
 *  @return as kith_fof_find; ranks_status reports it */
kith_status ranks_fof_find(ranks *r, kith_ctx *ctx, const kith_points *points, const kith_box *box,
                           double length, const kith_fof_options *how, kith_groups *out);

/** Call kith_rdf_count, or do it over all ranks, without `against`.
 *  @return as kith_rdf_count; ranks_status reports it */
kith_status ranks_rdf_count(ranks *r, kith_ctx *ctx, const kith_points *points, const kith_box *box,
                            const kith_rdf_options *how, kith_histogram *out);

/** Call kith_halos_measure, or do it over all ranks; where spheres are wanted, in the context.
 *  @param groups  numbered as the caller likes: n and labels are read
 *  @param out     its array stays until ranks_close
 *  @return as kith_halos_measure; ranks_status reports it */
kith_status ranks_halos_measure(ranks *r, kith_ctx *ctx, const kith_points *points,
                                const kith_box *box, const kith_groups *groups,
                                const kith_halo_input *input, kith_halos *out);

/** Call kith_pairs_count, or do it over all ranks.
 *  @return as kith_pairs_count; ranks_status reports it */
kith_status ranks_pairs_count(ranks *r, kith_ctx *ctx, const kith_points *points,
                              const kith_box *box, double cutoff, const kith_pairs_options *how,
                              int64_t *n, int64_t *neighbours);

/** Call kith_pairs_each, or do it over all ranks, for sorted lists: each rank holds its part of the
 *  list. @return as kith_pairs_each; ranks_status reports it */
kith_status ranks_pairs_each(ranks *r, kith_ctx *ctx, const kith_points *points,
                             const kith_box *box, double cutoff, const kith_pairs_options *how,
                             kith_block_fn fn, void *user);

/** Call kith_nearest_find, or do it over all ranks. @param out  its arrays stay until ranks_close
 *  @return as kith_nearest_find; ranks_status reports it */
kith_status ranks_nearest_find(ranks *r, kith_ctx *ctx, const kith_points *points,
                               const kith_box *box, int64_t k, const kith_nearest_options *how,
                               kith_nearest *out);

#endif
