/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What `kith pairs` says at the end, to a person or to a script.
 */
#include "pairs.h"
#include "common/report.h"

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

void pairs_print(const pairs_task *task, const pairs_outcome *found)
{
    listing_print_space(&task->listing, &found->listing);
    report_line("cutoff", "%s\n", report_real(task->listing.cutoff).s);
    report_line("pairs", "%s, %s\n", report_bold(report_count(found->n).s).s,
                task->listing.against ? "each (i, j) once"
                : task->list.full     ? "each twice: full list"
                                      : "each once: half list");
    print_neighbours(&found->spread);
    listing_print_search(&task->listing, &found->listing, found->n, "pairs");
}

json_t *pairs_json(const pairs_task *task, const pairs_outcome *found)
{
    json_t *list = listing_extras_json(&task->listing);
    json_object_set_new(list, "full",
                        json_boolean(task->list.full || task->listing.against != NULL));
    json_object_set_new(list, "sorted", json_boolean(task->list.sorted));
    json_t *facts = json_pack(
        "{s:f, s:o, s:I, s:o, s:f}", "cutoff", task->listing.cutoff, "list", list, "pairs",
        (json_int_t)found->n, "neighbours",
        found->neighbours ? spread_json(&found->spread, "particles") : json_null(),
        "pairs_per_second", report_rate((double)found->n, found->listing.search_seconds));
    return listing_json(&task->listing, &found->listing, "pairs", facts);
}
