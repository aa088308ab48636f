/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What `kith pairs` says at the end, to a person or to a script.
 */
#include "common/engine.h"
#include "pairs.h"
#include "common/report.h"

#include <stdio.h>

static void print_neighbours(const spread *s)
{
    if (s->n == 0) {
        report_line("neighbours", "no particles\n");
        return;
    }
    report_line("neighbours", "mean %.4g, least %s, most %s\n", s->mean, report_count(s->least).s,
                report_count(s->most).s);
    spread_draw(s);
}

static void print_search(const pairs_outcome *found)
{
    report_line("search", "%s on %s", report_seconds(found->search_seconds).s,
                engine_words(found->ctx).s);
    if (found->n > 0) {
        const double rate = report_rate((double)found->n, found->search_seconds);
        printf("; %s pairs/s", report_count((int64_t)rate).s);
    }
    putchar('\n');
}

void pairs_print(const pairs_task *task, const pairs_outcome *found)
{
    report_title(task->input);
    report_line("particles", "%s\n", input_words(&found->a).s);
    if (task->against) {
        report_line("against", "%s: %s\n", report_text(task->against).s, input_words(&found->b).s);
    }
    space_print(&found->space);
    report_line("cutoff", "%s\n", report_real(task->cutoff).s);
    report_line("pairs", "%s, %s\n", report_bold(report_count(found->n).s).s,
                task->against     ? "each (i, j) once"
                : task->list.full ? "each twice: full list"
                                  : "each once: half list");
    print_neighbours(&found->spread);
    print_search(found);
    report_line("memory", "%s at most, %s of it scratch\n", report_bytes(report_peak_memory()).s,
                report_bytes(kith_scratch_bytes(found->ctx)).s);
    if (task->shared.output) {
        report_line("output", "%s, %s in %s\n", report_text(task->shared.output).s,
                    report_bytes(report_file_bytes(task->shared.output)).s,
                    report_seconds(found->write_seconds).s);
    }
}

json_t *pairs_json(const pairs_task *task, const pairs_outcome *found)
{
    const options *o = &task->shared;
    json_t *list = json_pack(
        "{s:b, s:b, s:b, s:b, s:b}", "full", task->list.full || task->against != NULL, "sorted",
        task->list.sorted, "distances", task->list.extras & KITH_DISTANCES, "vectors",
        task->list.extras & KITH_VECTORS, "shifts", task->list.extras & KITH_SHIFTS);
    json_t *seconds = json_pack("{s:f, s:f, s:f}", "read", found->a.seconds + found->b.seconds,
                                "search", found->search_seconds, "write", found->write_seconds);
    json_t *memory = json_pack("{s:I, s:I}", "peak_bytes", (json_int_t)report_peak_memory(),
                               "scratch_bytes", (json_int_t)kith_scratch_bytes(found->ctx));
    json_t *output = json_null();
    if (o->output) {
        output = json_pack("{s:o, s:I}", "path", report_json_text(o->output), "bytes",
                           (json_int_t)report_file_bytes(o->output));
    }
    return json_pack(
        "{s:s, s:s, s:o, s:o, s:o, s:f, s:o, s:I, s:o, s:s, s:i, s:o, s:f, s:o, s:o}", "kith",
        kith_version(), "verb", "pairs", "input", input_json(&found->a), "against",
        task->against ? input_json(&found->b) : json_null(), "box", space_json(&found->space),
        "cutoff", task->cutoff, "list", list, "pairs", (json_int_t)found->n, "neighbours",
        found->neighbours ? spread_json(&found->spread, "particles") : json_null(), "backend",
        kith_backend(found->ctx), "threads", kith_threads(found->ctx), "seconds", seconds,
        "pairs_per_second", report_rate((double)found->n, found->search_seconds), "memory", memory,
        "output", output);
}
