/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The verbs of the command, called by main.c. Each parses its own arguments (argv[0] is "kith
 * VERB"), does its work, reports its errors, and returns an exit status of common/report.h.
 */
#ifndef KITH_CLI_VERBS_H
#define KITH_CLI_VERBS_H

#include <kith.h>

int verb_pairs(int argc, char **argv);
int verb_nearest(int argc, char **argv);
int verb_fof(int argc, char **argv);
int verb_rdf(int argc, char **argv);
int verb_debye(int argc, char **argv);
int verb_flock(int argc, char **argv);
int verb_overlap(int argc, char **argv);
int verb_view(int argc, char **argv);
int verb_info(int argc, char **argv);
int verb_make(int argc, char **argv);
int verb_bench(int argc, char **argv);

/** What ranks above 0 do when a verb deals whole tasks to the ranks: a ranks_deal_fn
 *  (ranks/ranks.h). The only tasks are the runs of kith flock --sweep. */
kith_status sweep_help(const kith_transport *transport, kith_ctx *ctx, void *user);

#endif
