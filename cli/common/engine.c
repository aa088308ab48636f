/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opening a context of the library, and the lines of summaries that name its backend.
 */
#include "engine.h"

#include <string.h>

int engine_open(const options *o, kith_watch_fn watch, void *user, kith_ctx **out)
{
    kith_options settings;
    if (o->backend && strchr(o->backend, ',')) {
        return report_error(STATUS_INVALID, NULL,
                            "--backend: got %s, expected one backend; kith fof, rdf, pairs, "
                            "nearest and flock take several",
                            o->backend);
    }
    kith_options_init(&settings);
    settings.backend = o->backend;
    settings.threads = o->threads;
    settings.watch = watch;
    settings.user = user;
    progress_unstoppable(true); /* to open a GPU takes most of a second */
    const kith_status status = kith_open(&settings, out);
    progress_unstoppable(false);
    return report_kith(NULL, status, NULL);
}

bool engine_open_lane(const kith_ctx *ctx, kith_ctx **out)
{
    kith_options settings;
    kith_options_init(&settings);
    settings.backend = kith_backend(ctx);
    settings.threads = 1;
    settings.watch = progress_watch_interrupt;
    return kith_open(&settings, out) == KITH_OK;
}

int engine_status(const kith_ctx *ctx, kith_status status, const char *about)
{
    return status == KITH_CANCELLED ? STATUS_INTERRUPTED : report_kith(ctx, status, about);
}

printed engine_words(const kith_ctx *ctx)
{
    const int threads = kith_threads(ctx);
    return report_format("%s, %d thread%s", kith_backend(ctx), threads, threads == 1 ? "" : "s");
}

void engine_print_count(const char *engine, int64_t pairs, double seconds)
{
    report_line("count", "%s pairs in %s on %s; %s/s\n", report_count(pairs).s,
                report_seconds(seconds).s, engine,
                report_count((int64_t)report_rate((double)pairs, seconds)).s);
}
