/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Open a context of the library with the backend and threads that the options choose.
 */
#ifndef KITH_CLI_ENGINE_H
#define KITH_CLI_ENGINE_H

#include "options.h"
#include "progress.h"
#include "report.h"

/** Open a context whose calls report to `watch`, for example to progress_watch with a bar.
 *  @return STATUS_OK, or another after reporting. */
int engine_open(const options *o, kith_watch_fn watch, void *user, kith_ctx **out);

/** Open a context of one thread for a lane beside `ctx`, with its backend. Signals cancel its
 *  calls; it shows no progress. @return false: no memory */
bool engine_open_lane(const kith_ctx *ctx, kith_ctx **out);

/** Report a failed call, as report_kith does, except KITH_CANCELLED: the verb reports an interrupt
 *  when it ends.
 *  @return exit status */
int engine_status(const kith_ctx *ctx, kith_status status, const char *about);

/** Return the backend and its threads as text: "cpu:avx512, 2 threads". */
printed engine_words(const kith_ctx *ctx);

/** Print a line of a summary: the number of pairs counted, the time [s] and the rate.
 *  @param engine  what counted them: engine_words */
void engine_print_count(const char *engine, int64_t pairs, double seconds);

#endif
